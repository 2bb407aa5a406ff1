"""The simulator: its disk loses what was not synced, and the program loses nothing on it."""

import errno
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from app.customize.memory import MemoryNote
from app.library.user_texts import MEMORIES, UserTextFile
from resources.system.files import (
    append_synced,
    create_file,
    make_private_folder,
    remove_if_there,
    remove_synced,
    write_atomically,
)
from tests.support.simulator.bugs import BUGS
from tests.support.simulator.disk import Disk, Fault, Killed
from tests.support.simulator.run import (
    find_bug,
    find_mutation,
    list_steps,
    run_steps,
    shrink,
    simulate,
)
from vault.edits.files import remove_temporary

SEED = 2


def lose_power(folder: Path, write: Callable[[Path], object], seed: int) -> dict[str, bytes]:
    """Write into a new folder, and return the files that a power failure then leaves.

    Temporary files are left out: the next start removes them.
    """
    root = folder / f"disk{seed}"
    root.mkdir()
    disk = Disk(root)
    with disk.install():
        write(root)
        disk.begin(Fault("power", 1), random.Random(seed))
        with pytest.raises(Killed):
            append_synced(root / "later", b"later")
        disk.settle()
        kept = (
            path
            for path in root.iterdir()
            if path.is_file() and not path.name.startswith((".file.", "later"))
        )
        return {path.name: path.read_bytes() for path in kept}


def list_results(folder: Path, write: Callable[[Path], object]) -> list[dict[str, bytes]]:
    """Return what power failures leave, as chance decides, without repetitions."""
    found: list[dict[str, bytes]] = []
    for seed in range(40):
        left = lose_power(folder, write, seed)
        found += [] if left in found else [left]
    return found


@pytest.mark.parametrize("write", [write_atomically, append_synced, create_file])
def test_what_was_written_safely_stays(
    write: Callable[[Path, bytes], None], tmp_path: Path
) -> None:
    left = list_results(tmp_path, lambda root: write(root / "file", b"whole"))
    assert left == [{"file": b"whole"}]


def test_what_was_not_synced_may_be_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.system.calls.sync_file", lambda _handle: None)
    left = list_results(tmp_path, lambda root: append_synced(root / "file", b"whole"))
    assert {} in left
    assert {"file": b"who"} in left
    assert {"file": bytes(5)} in left


def test_a_file_whose_removal_was_not_synced_may_come_back(tmp_path: Path) -> None:
    def write(remove: Callable[[Path], None], root: Path) -> None:
        create_file(root / "file", b"old")
        remove(root / "file")

    assert list_results(tmp_path / "synced", lambda root: write(remove_synced, root)) == [{}]
    left = list_results(tmp_path / "not", lambda root: write(remove_if_there, root))
    assert {"file": b"old"} in left


@pytest.fixture(autouse=True)
def folders(tmp_path: Path) -> None:
    for name in ("synced", "not"):
        (tmp_path / name).mkdir()


def test_a_memory_that_was_forgotten_never_comes_back(tmp_path: Path) -> None:
    def write(root: Path) -> None:
        note = MemoryNote(UserTextFile(root / "memories.md", MEMORIES))
        note.propose("The pump is at home.").apply()
        note.forget(1)

    assert list_results(tmp_path, write) == [{}]


def test_what_a_killed_edit_left_in_a_folder_never_comes_back(tmp_path: Path) -> None:
    def write(root: Path) -> None:
        create_file(root / ".strata-1.tmp", b"half")
        remove_temporary(root, "Note.md", ".strata-1.tmp")

    assert list_results(tmp_path, write) == [{}]


@pytest.mark.parametrize("events", [700, pytest.param(20_000, marks=pytest.mark.soak)])
def test_nothing_is_lost_in_a_simulation(events: int) -> None:
    outcome = simulate(SEED, events)
    assert outcome.broken == ()
    assert outcome.missed == []


@pytest.mark.soak
@pytest.mark.parametrize("name", BUGS)
def test_a_bug_made_by_hand_is_found(name: str) -> None:
    assert find_bug(name, 20_000).broken


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_folder_whose_name_was_not_flushed_is_flushed_when_it_is_used(
    is_killed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that made it was killed before, or the flush has failed."""

    def fail(_folder: Path) -> None:
        raise Killed if is_killed else OSError(errno.EIO, "broken")

    def write(root: Path) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("resources.system.calls.sync_folder", fail)
            with pytest.raises((Killed, OSError)):
                make_private_folder(root / "inner")
        make_private_folder(root / "inner")
        create_file(root / "inner/file", b"whole")

    for seed in range(10):
        lose_power(tmp_path, write, seed)
        assert (tmp_path / f"disk{seed}/inner/file").read_bytes() == b"whole"


def test_a_seed_decides_what_happens() -> None:
    first, second = (run_steps(list_steps(SEED, 25)) for _ in range(2))
    assert first.done == second.done
    assert first.answers == second.answers


def test_a_sync_that_is_left_out_is_found_and_shrunk() -> None:
    outcome = find_mutation("files.write_synced", 500)
    assert outcome.broken
    assert len(shrink(outcome.steps, frozenset({"files.write_synced"}))) <= 8
