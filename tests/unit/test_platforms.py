"""What differs between operating systems stands in one package, and all else runs without it."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.syntax_trees import list_nodes, read_modules

ROOT = Path(__file__).resolve().parents[2]
CALLS, FILES = "resources/system/calls.py", "resources/system/files.py"
PROCESSES = "resources/system/processes.py"
# The modules that only some systems have.
MODULES = frozenset(
    {"fcntl", "msvcrt", "resource", "termios", "pwd", "grp", "winreg", "_winapi", "ctypes", "pty"}
)
# The names of `os`, `signal`, `socket`, `select`, `sys` and `platform` that only some systems have,
# and those that tell which system it is.
NAMES = frozenset(
    {
        *("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "O_NONBLOCK", "O_PATH", "O_BINARY"),
        *("fork", "killpg", "geteuid", "getuid", "getpgid", "setsid", "wait", "waitpid", "pread"),
        *("fchmod", "sysconf", "set_blocking", "getloadavg", "nice", "prctl", "AF_UNIX", "poll"),
        *("SIGKILL", "SIGHUP", "SIGPIPE", "SIGCHLD", "SIGBUS", "SIGTRAP", "SIGQUIT", "SIGUSR1"),
        *("platform", "system", "name", "uname", "getwindowsversion", "startfile"),
    }
)
OWNERS = frozenset({"os", "signal", "socket", "select", "sys", "platform"})
# The versions in the text of a crash.
REPORTED = ("platform", "platform")
KEYWORDS = frozenset({"dir_fd", "src_dir_fd", "dst_dir_fd", "preexec_fn", "process_group"})
WRITING = frozenset(
    {
        *("replace", "rename", "renames", "link", "symlink", "unlink", "remove", "rmdir", "mkdir"),
        *("makedirs", "fsync", "fdatasync", "ftruncate", "truncate", "chmod"),
    }
)
# Methods of `Path` whose names no other type of the product has.
PATH_METHODS = frozenset(
    {"write_text", "write_bytes", "mkdir", "hardlink_to", "symlink_to", "unlink", "rmdir"}
)


def find_platform_calls(tree: ast.Module) -> Iterator[str]:
    """Yield what only some systems have, or what tells which system it is."""
    for node in list_nodes(tree):
        yield from _list_imports(node)
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                if owner in OWNERS and name in NAMES and (owner, name) != REPORTED:
                    yield f"{owner}.{name}"
            case ast.keyword(arg=str(name)) if name in KEYWORDS:
                yield name
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=name), *_]):
                if name in NAMES:
                    yield name


def _list_imports(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names if alias.name in MODULES)
        case ast.ImportFrom(module=str(module)) if module in MODULES:
            yield module
        case ast.ImportFrom(module=str(module), names=names) if module in OWNERS:
            yield from (alias.name for alias in names if alias.name in NAMES)


def find_direct_writes(tree: ast.Module) -> Iterator[str]:
    """Yield the calls that write, rename, remove or sync a file."""
    for node in list_nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in WRITING:
                yield f"os.{name}"
            case ast.Attribute(value=ast.Name(id="shutil"), attr=name):
                if name not in ("which", "disk_usage", "get_terminal_size"):
                    yield f"shutil.{name}"
            case ast.Attribute(attr=name) if name in PATH_METHODS:
                yield name
            case ast.Attribute(attr="open") | ast.Name(id="open") if _opens_to_write(node):
                yield "open"


def _opens_to_write(call: ast.Call) -> bool:
    """Return whether an argument of `open` is a mode for writing."""
    values = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    return any(re.fullmatch("[btr]*[wax+][btrwax+]*", str(value)) for value in values)


def test_only_two_modules_have_branches_for_the_systems() -> None:
    found = {path: set(find_platform_calls(tree)) for path, tree in read_modules().items()}
    assert {path for path, names in found.items() if names} == {CALLS, PROCESSES}, found


def test_files_are_written_by_the_file_module_alone() -> None:
    found = {path: set(find_direct_writes(tree)) for path, tree in read_modules().items()}
    writing = {path: names for path, names in found.items() if names and path not in (CALLS, FILES)}
    assert writing == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fcntl", ["fcntl"]),
        ("from resource import setrlimit", ["resource"]),
        ("from os import fork", ["fork"]),
        ("import os\nos.killpg(1, 9)", ["os.killpg"]),
        ("import os\nos.open('a', 0, dir_fd=3)", ["dir_fd"]),
        ("import sys\nsys.platform == 'win32'", ["sys.platform"]),
        ("import os\ngetattr(os, 'O_NOFOLLOW', 0)", ["O_NOFOLLOW"]),
        ("import os\nos.read(1, 2)", []),
    ],
)
def test_platform_calls_are_recognised(source: str, found: list[str]) -> None:
    assert list(find_platform_calls(ast.parse(source))) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("path.write_text('a')", ["write_text"]),
        ("open(path, 'wb')", ["open"]),
        ("path.open('a')", ["open"]),
        ("open(path, 'rb')", []),
        ("os.replace(a, b)", ["os.replace"]),
        ("shutil.rmtree(a)", ["shutil.rmtree"]),
        ("session.open('title')", []),
    ],
)
def test_direct_writes_are_recognised(source: str, found: list[str]) -> None:
    assert list(find_direct_writes(ast.parse(source))) == found


# Imports all modules once, so that the libraries are loaded. Then it takes away what macOS lacks,
# and what Windows lacks, and imports the modules of the product again each time.
IMPORT_ALL = """
import builtins, importlib, os, pkgutil, select, signal, socket, sys, types
packages = ("app", "ui", "chains", "context", "vault", "resources")
def list_names():
    for package in packages:
        yield package
        path = importlib.import_module(package).__path__
        for found in pkgutil.walk_packages(path, f"{package}."):
            yield found.name
names = list(list_names())
def import_all():
    for name in [name for name in sys.modules if name.split(".")[0] in packages]:
        del sys.modules[name]
    for name in names:
        importlib.import_module(name)
import_all()
blocked, real = (), builtins.__import__
def import_unless_blocked(name, globals=None, *more, **named):
    if (globals or {}).get("__name__", "").split(".")[0] in packages and name in blocked:
        raise ModuleNotFoundError(f"No module named {name!r}")
    return real(name, globals, *more, **named)
builtins.__import__ = import_unless_blocked
sys.platform, blocked = "darwin", ("msvcrt", "winreg", "_winapi")
import_all()
sys.platform, blocked = "win32", ("fcntl", "resource", "termios", "pwd", "grp")
os.O_BINARY, os.O_NOINHERIT = 0, 0
for owner, absent in (
    (os, "O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_NONBLOCK O_PATH fork killpg geteuid pread fchmod"),
    (os, "sysconf set_blocking getppid wait waitpid"),
    (signal, "SIGKILL SIGHUP SIGPIPE SIGCHLD SIGBUS SIGTRAP"),
    (select, "poll"),
    (socket, "AF_UNIX"),
):
    for name in absent.split():
        if hasattr(owner, name):
            delattr(owner, name)
import_all()
os._exit(0)
"""


def test_each_module_is_imported_where_those_of_other_systems_are_absent() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert done.returncode == 0, done.stderr


def test_the_test_command_needs_no_make_and_names_its_steps() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests", "lint", "all"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PATH": ""},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "There is no step all. The steps are install, lint, run.\n"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "-m tests lint run" in makefile
