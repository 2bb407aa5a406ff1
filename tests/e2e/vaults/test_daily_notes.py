"""Questions about days, to daily notes with names as other programs write them."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.support.processes.program import Program

# A name for the day before, in each form; the notes of a folder have names of one form.
FORMS: dict[str, Callable[[date], str]] = {
    "Logseq": lambda day: f"{day:%Y_%m_%d}",
    "Compact": lambda day: f"{day:%Y%m%d}",
    "Dots": lambda day: f"{day:%Y.%m.%d}",
    "Day first": lambda day: f"{day:%d-%m-%Y}",
    "Month first": lambda day: f"{day:%m-%d-%Y}",
    "German": lambda day: f"{day:%d.%m.%Y}",
    "Words": lambda day: f"{day:%b %d, %Y}",
    "Chinese": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "Folders": lambda day: f"{day:%Y/%m/%d}",
    "Set": lambda day: f"{day:%y%m%d}",
}
VERBS = [
    "Repaired",
    "Painted",
    "Cleaned",
    "Oiled",
    "Moved",
    "Sold",
    "Washed",
    "Sharpened",
    "Weighed",
    "Mended",
]


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, date]:
    """A folder for each form, with a note of each of the last fourteen days, a home, and a day.

    The day is the one before this one, which is not the one on which the tests were collected.
    """
    today = date.today()
    root = tmp_path_factory.mktemp("journal") / "notes"
    root.mkdir()
    settings = root / ".obsidian" / "daily-notes.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"format": "YYMMDD", "folder": "Set"}))
    for verb, (folder, name) in zip(VERBS, FORMS.items(), strict=True):
        for number in range(14):
            day = today - timedelta(number)
            note = root / folder / f"{name(day)}.md"
            note.parent.mkdir(parents=True, exist_ok=True)
            done = f"{verb} the gutter." if number == 1 else "Rested all day."
            note.write_text(f"- {done}\n", "utf-8")
    return root, root.with_name("home"), today - timedelta(1)


@pytest.fixture
def program(journal: tuple[Path, Path, date]) -> Program:
    notes, home, _ = journal
    program = Program(home, ("--vault", str(notes)))
    assert program.run("index").code == 0
    return program


def test_notes_of_yesterday_are_found_whatever_the_form_of_their_names(
    program: Program, journal: tuple[Path, Path, date]
) -> None:
    found = program.json("search", f"date:{journal[2]}", "-k", "20")["hits"]
    assert {hit["text"].strip() for hit in found} == {f"- {verb} the gutter." for verb in VERBS}
    answer = program.json("ask", "What did I do yesterday?")["answer"]
    assert [verb for verb in VERBS if f"{verb} the gutter" not in answer] == []
    assert "Rested" not in answer
