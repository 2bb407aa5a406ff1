"""The installed program, a scripted model server, and one indexed folder that the tests share."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import write_notes
from tests.support.models.model_server import ModelServer
from tests.support.processes import program as programs
from tests.support.processes.forked_processes import ForkedProcesses
from tests.support.processes.program import Program, end_all


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    end_all()


@pytest.fixture(autouse=True)
def _programs_are_forked(
    request: pytest.FixtureRequest,
    forked_processes: ForkedProcesses,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Start the program without importing its libraries again, except where that is tested."""
    if request.node.get_closest_marker("started") is None:
        monkeypatch.setattr(programs, "forked", forked_processes)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program with a home of its own and no notes."""
    return Program(tmp_path / "home")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder of notes and a home that holds its index; both are only copied from."""
    root = tmp_path_factory.mktemp("indexed")
    notes = write_notes(root / "notes")
    done = Program(root / "home").run("index", str(notes))
    assert done.code == 0, done
    return notes, root / "home"


@pytest.fixture
def with_notes(indexed: tuple[Path, Path], tmp_path: Path) -> Program:
    """The program on the shared notes, which nothing changes, with an index of its own."""
    notes, home = indexed
    shutil.copytree(home, tmp_path / "home")
    return Program(tmp_path / "home", ("--vault", str(notes)))


@pytest.fixture
def asking(server: ModelServer) -> Callable[[Program], Program]:
    """Turn a program into one that asks the scripted server."""

    def with_server(program: Program) -> Program:
        options = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
        return Program(program.home, (*program.options, *options))

    return with_server


@pytest.fixture
def without_rights() -> tuple[str, ...]:
    """A command that starts another one which file modes bind, whoever runs the tests."""
    if os.geteuid() != 0:
        return ()
    given_up = "-dac_override,-dac_read_search"
    return ("setpriv", f"--bounding-set={given_up}", f"--inh-caps={given_up}")
