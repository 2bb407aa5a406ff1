"""What every test stands on: folders of its own, no keyring, no display, no unseen error."""

import gc
import importlib
import itertools
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support.models.remembering_embedder import RememberingEmbedder
from tests.support.processes.forked_processes import FIRST_CALL, ForkedProcesses
from vault.workers.process import start_process

MEMORY, FREE_BYTES = Path("/dev/shm"), 6_000_000_000
# How many collections of young objects come before one of all objects. Python's own default is 10.
_YOUNG_COLLECTIONS = 20
SHARED = pytest.StashKey[ForkedProcesses]()


def use_memory_for_temporary_files() -> None:
    """Put temporary files into memory if there is plenty of it, unless `TMPDIR` is set.

    The tests flush many thousand small files. A disk takes milliseconds for each, memory none.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    memory, folder = os.statvfs(MEMORY), MEMORY / f"strata-tests-{os.getuid()}"
    has_space = memory.f_bavail * memory.f_frsize > FREE_BYTES
    if has_space and not memory.f_flag & os.ST_NOEXEC:  # some tests start scripts
        folder.mkdir(0o700, exist_ok=True)
        if folder.stat().st_uid == os.getuid():
            os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


use_memory_for_temporary_files()
# Without compiled files, each process of a test would compile all that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.umask(0o022)  # what others may write is refused in some places
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
# A shell starts what runs in the background with Ctrl-C ignored, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# `nohup` ignores this one, and some tests end a program by it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Property tests take the same examples in each run, so that a change is never refused for a defect
# that it did not make. `make fuzz` takes new ones.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.register_profile("fuzz", deadline=None)
settings.load_profile("same")

OUR_PACKAGES = ("app", "chains", "context", "ui", "vault")
NOTES = {
    "Welcome.md": """\
---
tags: [start]
---
# Welcome

This vault belongs to the tests. It holds a few notes about a small garden.

See [[Watering]] and [[garden/Tomatoes|the tomatoes]].
""",
    "Watering.md": """\
# Watering

## In summer

Water the beds before eight in the morning. The barrel behind the shed holds 210 litres.

## In winter

Empty the barrel in November, or the frost will crack it.
""",
    "garden/Tomatoes.md": """\
# Tomatoes

| Variety | Sown | Harvest |
|---|---|---|
| Matina | March | July |
| Berner Rose | March | August |

Matina is the earliest of our tomatoes and ripens in July.
""",
    "garden/Kompost.md": """\
# Kompost

Der Kompost braucht Luft. Alle sechs Wochen wird er umgesetzt.
""",
    "日本語.md": "# 庭の道具\n\n剪定ばさみは納屋の赤い箱に入っています。\n",
}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Turn automatic garbage collection off for all tests.

    Python collects in any thread that allocates memory. The garbage of an earlier test may hold a
    widget, and Qt crashes if a widget is destroyed outside the GUI thread. What was loaded and
    collected until here stays until the end, and is excluded from later collections.
    """
    gc.disable()
    result = yield
    gc.freeze()
    return result


def _collect_young_garbage() -> None:
    """Collect what the last test has made, if that is much."""
    assert not gc.isenabled()
    if gc.get_count()[0] > gc.get_threshold()[0]:
        gc.collect(1)


def _collect_old_garbage() -> None:
    """Collect all garbage from time to time. What is left stays, and is never looked at again."""
    if gc.get_count()[2] > _YOUNG_COLLECTIONS:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _temporary_files_are_removed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Remove the temporary files of all tests at the end, unless a test has failed."""
    folder = tmp_path_factory.getbasetemp()
    yield
    if not request.session.testsfailed:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _no_hidden_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the keys of other tests, which are hidden in all messages."""
    monkeypatch.setattr("app.secret_text._hidden", set())


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a new folder with each `next`. Pytest would look through those of all tests before."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def strata_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Strata's own files, in a folder of this test."""
    home = next(homes) / "strata"
    home.parent.mkdir(0o700)
    monkeypatch.setenv("STRATA_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def _no_local_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for no model server at the usual ports, which any program of this machine may use.

    The answers of servers are forgotten too: the server of a later test may get the same port.
    """
    monkeypatch.setattr("chains.llm.server.LOCAL_SERVERS", {})
    monkeypatch.setattr("chains.llm.server._queries._kept", {})


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.config.secrets._held", {})
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_API_BASE"))]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_unexpected_error(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail where our own code logs an error that the test did not take out of `caplog`."""
    yield
    errors = [
        record.getMessage()
        for when in ("setup", "call")
        for record in caplog.get_records(when)
        if record.levelno >= logging.ERROR and record.name.split(".")[0] in OUR_PACKAGES
    ]
    assert not errors, f"logged as errors: {errors}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Collect old garbage between two tests, when no test holds anything any more."""
    with _qt_must_not_warn():
        _collect_old_garbage()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Collect garbage, and fail where Qt warns while a window closes."""
    with _qt_must_not_warn():
        result = yield
        _collect_young_garbage()
    return result


@contextmanager
def _qt_must_not_warn() -> Iterator[None]:
    """Fail where Qt warns while pytest-qt does not listen to it."""
    if "PySide6.QtCore" not in sys.modules:
        yield
        return
    from PySide6.QtCore import QtMsgType, qInstallMessageHandler

    said: list[str] = []
    quiet = {QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg}
    before = qInstallMessageHandler(
        lambda kind, _context, text: None if kind in quiet else said.append(text)
    )
    try:
        yield
    finally:
        qInstallMessageHandler(before)
    said = [text for text in said if not text.startswith("This plugin does not support ")]
    assert not said, f"Qt warned while the test was cleaned up: {said}"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let the test processes of this run fork from the same servers."""
    stash = node.config.stash
    if SHARED not in stash:
        stash[SHARED] = ForkedProcesses()
        node.config.add_cleanup(stash[SHARED].__exit__)
    node.workerinput["fork_servers"] = stash[SHARED].addresses


@pytest.fixture(scope="session", autouse=True)
def forked_processes(request: pytest.FixtureRequest) -> Iterator[ForkedProcesses]:
    """Start workers without importing their libraries again, except where that is tested."""
    shared = getattr(request.config, "workerinput", {}).get("fork_servers")
    with ForkedProcesses(shared) as forked, pytest.MonkeyPatch.context() as patch:
        patch.setattr("vault.workers.process.start_process", forked.start_worker)
        yield forked


@pytest.fixture(scope="session")
def qapp_cls() -> type[Any]:
    """The class of the application, which is that of the program in all tests of this process."""
    from ui.instance import Application

    return Application


@pytest.fixture
def workers_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the workers of this test as the program does, with imports of their own."""
    monkeypatch.setattr("vault.workers.process.start_process", start_process)


@pytest.fixture(scope="session")
def embedder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RememberingEmbedder]:
    """The real embedding child, started once for all tests of this process."""
    folder = tmp_path_factory.getbasetemp()
    memory = (folder.parent if hasattr(request.config, "workerinput") else folder) / "vectors"
    memory.mkdir(exist_ok=True)
    shared = RememberingEmbedder(memory)
    yield shared
    shared.close()


@pytest.fixture(scope="session")
def model_library() -> None:
    """Load all that the first call of a model imports.

    On a busy computer this may take longer than any test waits for an answer.
    """
    from chains.model import _litellm

    _litellm()
    for name in FIRST_CALL:
        importlib.import_module(name)


@pytest.fixture
def small_vault(tmp_path: Path) -> Path:
    """A folder with five notes about a garden, for this test alone."""
    return write_notes(tmp_path / "notes")


def write_notes(folder: Path, notes: Mapping[str, str] = NOTES) -> Path:
    """Write notes, by their paths, into a folder, and return that."""
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder
