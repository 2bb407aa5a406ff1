"""The syntax trees of the product's modules, parsed once for all tests of a process."""

import ast
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("app", "ui", "chains", "context", "vault", "resources")


@cache
def read_modules() -> Mapping[str, ast.Module]:
    """Return the syntax tree of every module, by its path in order. Nobody changes the trees."""
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    return {
        file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8"))
        for file in sorted(files)
    }


def read_package(name: str) -> Mapping[str, ast.Module]:
    """Return the syntax tree of every module of a package, by its path within the package."""
    start = f"{name}/"
    modules = read_modules().items()
    return {path.removeprefix(start): tree for path, tree in modules if path.startswith(start)}


@cache
def list_nodes(tree: ast.Module) -> Sequence[ast.AST]:
    """List all nodes of a syntax tree in the order of `ast.walk`, which is slow to walk again."""
    return tuple(ast.walk(tree))
