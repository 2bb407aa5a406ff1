import ast
import sys
from pathlib import Path

import pytest

import context

MODULES = sorted(Path(context.__file__).parent.rglob("*.py"))


def imported(module):
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield str(node.module)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_only_the_standard_library_is_imported(module):
    packages = {name.partition(".")[0] for name in imported(module)}
    assert packages <= sys.stdlib_module_names | {"context"}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_no_clock_no_randomness_and_no_io_is_imported(module):
    packages = {name.partition(".")[0] for name in imported(module)}
    assert not packages & {
        "asyncio", "datetime", "io", "os", "pathlib", "random", "secrets", "shutil", "socket",
        "subprocess", "tempfile", "threading", "time", "urllib", "uuid",
    }  # fmt: skip
