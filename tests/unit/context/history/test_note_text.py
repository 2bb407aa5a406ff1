"""`find_note_pieces` and `hide_note_text` find the text of notes in tool results."""

import pytest

from context.history.note_text import (
    EXCLUDED_LINE,
    NOTE_SUFFIXES,
    find_note_pieces,
    hide_note_text,
)
from vault.notes.kinds import SUFFIXES

SECRET = "The key is under the mat."


@pytest.mark.parametrize(
    "path",
    [
        "Code.md",
        "Diary v1.0: old/Code.md",
        "a.b: c.d: e/Code.md",
        "Log.md:3: x/Code.md",
        "x.y:12: Code.md",
        "v1.0/a: b.md",
    ],
)
@pytest.mark.parametrize("mark", [":3: ", ": "])
def test_a_line_belongs_to_each_path_that_it_may_begin_with(path: str, mark: str) -> None:
    text = f"Plan.md:1: Open.\n{path}{mark}{SECRET}\nTea.md:2: Green."
    hidden = hide_note_text(text, {path})
    assert hidden == f"Plan.md:1: Open.\n{path}{mark}{EXCLUDED_LINE}\nTea.md:2: Green."
    assert hide_note_text(text, {"Other.md"}) == text


def test_a_line_of_two_excluded_notes_gets_one_notice() -> None:
    text = f"A.md:1: B.md:2: {SECRET}\n"
    excluded = {"A.md", "A.md:1: B.md"}
    assert hide_note_text(text, excluded) == f"A.md:1: {EXCLUDED_LINE}\n"
    assert hide_note_text(text, excluded, 0, 20) == f"A.md:1: {EXCLUDED_LINE}"
    assert hide_note_text(text, excluded, 20, 30) == EXCLUDED_LINE


def test_only_what_the_tools_list_as_a_file_names_a_note() -> None:
    assert sorted(NOTE_SUFFIXES) == sorted(SUFFIXES)
    assert [piece.path for piece in find_note_pieces("A b/REPORT.PDF: Title")] == ["A b/REPORT.PDF"]


@pytest.mark.parametrize(
    "line",
    ["At 9.30: dentist", "Python 3.11: fine", "Version 2.mdx: no", "main.py:3: x", "e.g.: tea"],
)
def test_a_line_without_the_name_of_such_a_file_names_no_note(line: str) -> None:
    assert find_note_pieces(line) == ()


def test_what_is_in_no_piece_is_hidden_apart() -> None:
    text = f"Two notes.\nA.md:1: {SECRET}\nB.md:2: Open.\nThe end."
    hidden = f"TWO NOTES.\nA.md:1: {EXCLUDED_LINE}\nB.md:2: Open.\nTHE END."
    assert hide_note_text(text, {"A.md"}, hide_rest=str.upper) == hidden
    assert hide_note_text(text, {"A.md"}, 4, 15, str.upper) == "NOTES.\nA.MD"
    links = "Links in A.md:\nB.md: Open.\nC.md: Tea.\nLinks to A.md:\nnone"
    shown = hide_note_text(links, {"B.md"}, hide_rest=str.upper)
    assert shown == f"Links in A.md:\nB.md: {EXCLUDED_LINE}\nC.md: Tea.\nLINKS TO A.MD:\nNONE"


@pytest.mark.parametrize(
    "line",
    ["../src/app.py:12: Error", "src/../app.py: Error", "a/..: b.py:3: Error"],
)
def test_a_line_with_a_path_that_leads_upwards_names_no_note(line: str) -> None:
    paths = [piece.path for piece in find_note_pieces(line)]
    assert not [path for path in paths if ".." in path.split("/")]


def test_the_links_of_a_note_are_one_piece_wherever_they_stand() -> None:
    text = f"B.md: Open.\nLinks in A.md:\n{SECRET}, line 2\nLinks to A.md:\nnone\n"
    hidden = f"B.md: Open.\nLinks in A.md:\n{EXCLUDED_LINE}\nLinks to A.md:\nnone\n"
    assert hide_note_text(text, {"A.md"}) == hidden
    assert EXCLUDED_LINE in hide_note_text(text, {"B.md"})
    assert SECRET in hide_note_text(text, {"B.md"})


@pytest.mark.parametrize("line", ["Links in a:\n", ".a: ", "a.b:1: c\n", '<source a="x" '])
def test_a_long_result_is_read_in_linear_time(line: str) -> None:
    text = line * (240_000 // len(line))
    assert sum(len(piece.path) for piece in find_note_pieces(text)) <= len(text)
