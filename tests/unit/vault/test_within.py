from pathlib import Path

import pytest

from vault.store import VaultIndex
from vault.within import Text, search_within

CHAPTERS = "\n".join(
    f"# Chapter {number}\n\nThe {word} stands by the {number}th gate and is painted {colour}.\n"
    for number, (word, colour) in enumerate(
        [("well", "green"), ("barrel", "red"), ("wagon", "blue"), ("plough", "white")] * 3, start=1
    )
)
BOOK = Text("/elsewhere/book.txt", "Book", "v1", CHAPTERS)


def test_passages_are_found_with_their_lines_in_the_text() -> None:
    hits = search_within([BOOK], "Which colour has the barrel?", 3)
    assert hits
    lines = CHAPTERS.split("\n")
    for hit in hits:
        first, last = hit.lines
        assert hit.text == "\n".join(lines[first - 1 : last]).strip("\n")
    assert "barrel" in hits[0].text


def test_hits_say_which_text_they_are_of() -> None:
    other = Text("Diary.md", "Diary", "v2", "# May\n\nSold the barrel.\n")
    found = search_within([BOOK, other], "barrel sold", 5)
    assert {(hit.path, hit.title, hit.version) for hit in found} == {
        ("/elsewhere/book.txt", "Book", "v1"),
        ("Diary.md", "Diary", "v2"),
    }
    assert found[0].path == "Diary.md"


def test_two_states_of_one_note_are_two_texts() -> None:
    old, new = (Text("A.md", "A", v, f"# A\n\nThe barrel is {v}.\n") for v in ("old", "new"))
    assert {hit.version for hit in search_within([old, new], "barrel", 5)} == {"old", "new"}


@pytest.mark.parametrize("text", ["", "\n\n", "\ud800", "x" * 100_000])
def test_a_text_of_any_kind_is_searched(text: str) -> None:
    assert search_within([Text("a", "a", "v", text)], "barrel", 3) == ()


def test_nothing_is_found_where_no_word_fits() -> None:
    assert search_within([BOOK], "zeppelin", 3) == ()


def test_what_an_index_holds_is_found_by_meaning_too(small_vault: Path, tmp_path: Path) -> None:
    index = VaultIndex(small_vault, tmp_path / "index")
    try:
        index.update()
        note = index.read_note("Watering.md")
        text = Text(note.path, note.title, note.version, note.text)
        hits = index.search_within([text], "where is rain collected", 2)
        assert any(hit.signals["dense"] is not None for hit in hits)
    finally:
        index.close()
