"""Damaged files of the program's own: the next run sets them aside, says so once, and goes on."""

import shutil
from pathlib import Path

import pytest

from tests.support.processes.program import Program
from tests.support.vaults.damage import damage_file

STATE = "The list of chats and the last requests were damaged and are being rebuilt."
INDEX = "The index was damaged and is being rebuilt. Your notes are untouched."


@pytest.fixture(scope="module")
def used(indexed: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a few chats, which is only copied."""
    notes, home = indexed
    root = tmp_path_factory.mktemp("used")
    shutil.copytree(home, root / "home")
    program = Program(root / "home", ("--vault", str(notes)))
    for question in ("How much does the barrel hold?", "What grows in the garden?"):
        program.json("ask", question, "--no-index")
    program.json("sessions", "list")
    return root / "home"


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_a_damaged_state_database_stops_nothing(
    used: Path, indexed: tuple[Path, Path], tmp_path: Path, seed: int
) -> None:
    shutil.copytree(used, tmp_path / "home")
    damage_file(tmp_path / "home" / "state" / "state.db", seed)
    program = Program(tmp_path / "home", ("--vault", str(indexed[0])))
    first = program.run("sessions", "list")
    assert (first.code, first.out.count("\n")) == (0, 2)
    again = program.run("sessions", "list")
    assert (again.out, again.complaints) == (first.out, [])
    assert program.json("ask", "How much does the barrel hold?", "--no-index")["citations"]
    is_aside = bool(list((tmp_path / "home" / "state").glob("*.damaged*")))
    assert (STATE in first.err) or not is_aside


@pytest.mark.parametrize("verb", ["search", "index", "ask"])
@pytest.mark.parametrize("seed", [0, 3])
def test_a_damaged_catalog_is_made_anew_by_whatever_comes_first(
    used: Path, indexed: tuple[Path, Path], tmp_path: Path, verb: str, seed: int
) -> None:
    shutil.copytree(used, tmp_path / "home")
    (catalog,) = (tmp_path / "home").rglob("catalog.db")
    catalog.write_bytes(catalog.read_bytes()[:100] + b"\xff" * 4000)
    damage_file(catalog, seed)
    program = Program(tmp_path / "home", ("--vault", str(indexed[0])))
    words = {"search": ("search", "barrel"), "index": ("index",), "ask": ("ask", "The barrel?")}
    first = program.run(*words[verb])
    assert first.code == 0, first
    assert first.err.count(INDEX) == 1, first
    assert catalog.with_name("catalog.db.damaged").exists()
    second = program.run("search", "barrel")
    assert "Watering.md" in second.out
    assert second.complaints == []
