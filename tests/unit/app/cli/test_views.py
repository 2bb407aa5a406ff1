"""`strata table` prints what the bases and queries of a note show."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.parser import run
from tests.support.processes.command_line import document, no_window
from tests.support.vaults.views import write_view_vault

Table = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_view_vault(tmp_path_factory.mktemp("notes"))


@pytest.fixture
def table(folder: Path, capsys: pytest.CaptureFixture[str]) -> Table:
    """Run `strata table` over indexed notes: exit code, standard output, standard error."""
    run(["--vault", str(folder), "index", "--json"], no_window)
    capsys.readouterr()

    def call(*argv: str) -> tuple[int, str, str]:
        code = run(["--vault", str(folder), "table", *argv], no_window)
        return (code, *capsys.readouterr())

    return call


def test_a_note_is_printed_as_its_tables_and_as_json(table: Table) -> None:
    code, out, _ = table("Home.md")
    assert code == 0
    lines = out.splitlines()
    assert lines[:6] == [
        "Base in lines 5-14",
        "",
        "Books (2 notes)",
        "Name  rating  author         genre",
        "Dune  5       Frank Herbert  sci-fi, epic",
        "Emma  4",
    ]
    assert "[ ] Finish Emma  Books/Emma.md:9" in lines
    assert "No note matches: with the tag #nothing." in lines
    assert "GROUP BY status is not understood." in lines
    found = document(table("Home.md", "--json")[1])
    first, *others = (block["views"] for block in found["blocks"])
    assert [view["name"] for view in first] == ["Books", "Best"]
    assert first[0]["rows"][0] == {
        "path": "Books/Dune.md",
        "cells": ["[[Books/Dune.md|Dune]]", "5", "[[Frank Herbert]]", "sci-fi, epic"],
    }
    assert others[0][0]["rows"][1]["line"] == 9
    assert others[2][0] == {"problem": "GROUP BY status is not understood."}


def test_one_view_is_chosen_and_rows_are_limited(table: Table) -> None:
    found = document(table("Home.md", "--view", "best", "--json")[1])
    assert [view["name"] for block in found["blocks"] for view in block["views"]] == ["Best"]
    assert "and 1 more" in table("Home.md", "--view", "Books", "-k", "1")[1]
    code, _, said = table("Home.md", "--view", "Worst")
    assert (code, "no view named Worst in Home.md" in said) == (1, True)
    code, _, said = table("Textbook.md")
    assert (code, "no base or query in Textbook.md" in said) == (1, True)
    code, _, _ = table("None.md")
    assert code == 1


def test_a_long_list_is_complete_as_json_and_its_total_is_said(folder: Path, table: Table) -> None:
    tasks = "".join(f"- [ ] Step {number}.\n" for number in range(1_200))
    (folder / "Steps.md").write_text(tasks, "utf-8")
    (folder / "All.md").write_text('```dataview\nTASK FROM "Steps.md"\n```\n', "utf-8")
    run(["--vault", str(folder), "index", "--json"], no_window)
    out = table("All.md")[1]
    assert "1,200 tasks" in out
    assert "and 1,150 more; with -k 1200, all are shown" in out
    (view,) = document(table("All.md", "--json")[1])["blocks"][0]["views"]
    assert len(view["rows"]) == view["total"] == 1_200
