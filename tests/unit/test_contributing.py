"""The recipes for contributors name files and symbols that exist, and setting up works as told."""

import ast
import re
from pathlib import Path

import pytest

from context.log.entries import ENTRY_TYPES, PATH_TYPES

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.py)`")
# `Symbol` … in `file.py`, within one sentence.
SYMBOL = re.compile(r"`(\w+(?:\.\w+)?)`[^.`]*?\b(?:in|from|to)\s+`((?:[a-z_]+/)+[a-z_]+\.py)`")


def defined_names(file: Path) -> set[str]:
    """Return the names that a module defines, those of its classes' members as `Class.member`."""
    names = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        for name in _targets(node):
            names.add(name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for below in node.body for name in _targets(below)}
    return names


def _targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@pytest.mark.parametrize("name", sorted(set(FILE.findall(TEXT))))
def test_a_file_that_is_named_exists(name: str) -> None:
    assert (ROOT / name).is_file()


def test_each_recipe_names_symbols() -> None:
    recipes = TEXT.split("\n## Add ")[1:]
    assert [bool(SYMBOL.search(recipe)) for recipe in recipes] == [True] * 9


@pytest.mark.parametrize(("symbol", "name"), SYMBOL.findall(TEXT))
def test_a_symbol_stands_in_the_file_that_is_named(symbol: str, name: str) -> None:
    assert symbol in defined_names(ROOT / name)


@pytest.mark.parametrize("symbol", ["_ROWS", "ENTRY_TYPES", "PATH_TYPES", "parse_entry"])
def test_the_log_entries_are_read_as_the_recipe_says(symbol: str) -> None:
    assert f"`{symbol}`" in TEXT
    assert symbol in defined_names(ROOT / "context/log/entries.py")


def test_the_packages_are_those_of_the_table() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)
    assert listed == ["ui", "app", "chains", "context", "vault"]
    assert all((ROOT / package / "__init__.py").is_file() for package in listed)


def test_the_targets_of_make_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"\bmake (\w+)", TEXT)
    assert targets
    assert all(f"\n{target}:" in makefile for target in targets)


def test_the_log_entries_of_the_tree_are_marked_as_the_recipe_says() -> None:
    assert "`on_path=True`" in TEXT
    assert {name for name, row in ENTRY_TYPES.items() if row.on_path} == PATH_TYPES
