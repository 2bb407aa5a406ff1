import ast
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import context

FOLDER = Path(context.__file__).parent


def imported(module):
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield str(node.module)


@cache
def list_packages():
    """The modules that import a package, by its name."""
    modules = defaultdict(set)
    for module in FOLDER.rglob("*.py"):
        for name in imported(module):
            modules[name.partition(".")[0]].add(module.relative_to(FOLDER).as_posix())
    assert len(modules) > 10
    return dict(modules)


def test_only_the_standard_library_is_imported():
    known = sys.stdlib_module_names | {"context"}
    others = {name: modules for name, modules in list_packages().items() if name not in known}
    assert others == {}


def test_no_clock_no_randomness_and_no_io_is_imported():
    forbidden = {
        "asyncio", "datetime", "io", "os", "pathlib", "random", "secrets", "shutil", "socket",
        "subprocess", "tempfile", "threading", "time", "urllib", "uuid",
    }  # fmt: skip
    found = {name: modules for name, modules in list_packages().items() if name in forbidden}
    assert found == {}
