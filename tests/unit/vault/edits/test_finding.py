"""The text to replace is found as a model types it, and the note keeps its own characters."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vault.edits.plan import plan_replacement
from vault.errors import EditRefused


def edit(before: str, old: str, new: str) -> str:
    after = plan_replacement("a.md", before.encode(), old, new).changes[0].after
    assert after is not None
    return after.decode()


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("He said “no” twice.\n", 'said "no" twice', 'said "yes" twice', "He said “yes” twice.\n"),
        ("It’s late.\n", "It's late", "It's early", "It’s early.\n"),
        ("„Nein“, sagte er.\n", '"Nein", sagte er', '"Nein", rief er', "„Nein“, rief er.\n"),
        ("«Non», dit-il.\n", '"Non", dit-il', '"Oui", dit-il', "«Oui», dit-il.\n"),
        ("10\u00a0000\u202f€ net\n", "10 000 € net", "12 000 € net", "12\u00a0000\u202f€ net\n"),
        ("a  \nb\t\nc\n", "a\nb\nc", "a\nx\nc", "a  \nx\t\nc\n"),
        ("a\nb\n", "a  \nb", "a  \nc", "a\nc\n"),
        ("one\ttwo\n", "one two", "one three", "one\tthree\n"),
        ("\tone\n", "    one", "    two", "\ttwo\n"),
        ("cafe\u0301 noir\n", "café noir", "café blanc", "cafe\u0301 blanc\n"),
        ("café noir\n", "cafe\u0301 noir", "cafe\u0301 blanc", "café blanc\n"),
        ("각 나라\n", unicodedata.normalize("NFD", "각 나라"), "x", "x\n"),
        ("pages 3–5\n", "pages 3-5", "pages 3-7", "pages 3–7\n"),
        ("wait — no\n", "wait - no", "wait - yes", "wait — yes\n"),
        ("and so on…\n", "and so on...", "and so on.", "and so on.\n"),
        ("soft\u00adly \u200bnow\n", "softly now", "softly then", "soft\u00adly \u200bthen\n"),
        ("a\r\nb “c”\r\nd\r\n", 'a\nb "c"\nd', 'a\nb "e"\nd', "a\r\nb “e”\r\nd\r\n"),
        ("foo  \nbar\n", "foo\nbar", "foo x\nbar", "foo x  \nbar\n"),
        ("“a” end\n", '"a" end', "", "\n"),
        ("It’s good.\n", "It's ", "", "good.\n"),
        ("It’s so  \nnow\n", "It's so ", "It is so ", "It is so  \nnow\n"),
        ("“a”\n", '"a"', "'a'", "'a'\n"),
        ("❤️ it\n", "❤ it", "❤ them", "❤️ them\n"),
    ],
)
def test_what_a_model_can_type_is_found_and_the_rest_is_kept(
    before: str, old: str, new: str, after: str
) -> None:
    assert edit(before, old, new) == after


def test_an_exact_match_wins() -> None:
    before = '“a”\n"a"\n'
    assert edit(before, '"a"', '"b"') == '“a”\n"b"\n'
    assert edit(before, "“a”", "“b”") == '“b”\n"a"\n'


def test_several_places_are_named_by_their_lines() -> None:
    with pytest.raises(EditRefused, match=r"2 times, in lines 1, 3: “'a'”"):
        plan_replacement("a.md", "‘a’\nb\n’a‘\n".encode(), "'a'", "c")
    with pytest.raises(EditRefused, match=r"12 times, in lines 1, 2, 3, .*, 10, …:"):
        plan_replacement("a.md", b"x\n" * 12, "x", "y")
    with pytest.raises(EditRefused, match="2 times, in line 1"):
        plan_replacement("a.md", b"x x\n", "x", "y")


@pytest.mark.parametrize(
    ("before", "old"),
    [
        ("café\n", "cafe"),  # not half a letter
        ("cafe\u0301\n", "caf\u0301e"),
        ("and so on…\n", "on.."),
        ("word\n", " \n"),
        ("`a`\n", "'a'"),  # code is no quotation
        ("ab\n", "a b"),
        ("A\n", "a"),
        ("\u200b\n", "\u200d"),
        ("Alice’s notebook\n", "Alice's note "),  # a blank is no place within a word
        ("didn’t win 10000\n", "didn't win 10 "),
    ],
)
def test_what_differs_for_a_reader_is_not_equal(before: str, old: str) -> None:
    with pytest.raises(EditRefused, match=r"is not in a\.md"):
        plan_replacement("a.md", before.encode(), old, "new")


def test_a_change_back_to_what_the_note_has_is_no_change() -> None:
    with pytest.raises(EditRefused, match="the same"):
        plan_replacement("a.md", "“a” b\n".encode(), '"a" b', "“a” b")


PLAIN = {"“": '"', "”": '"', "’": "'", "\u00a0": " ", "–": "-", "\t": " ", "é": "e\u0301"}
WORDS = st.text(st.sampled_from([*PLAIN, *"abcé \n"]), max_size=12)


def to_plain(text: str) -> str:
    return "".join(PLAIN.get(sign, sign) for sign in text)


@given(WORDS, WORDS, WORDS, st.text(st.sampled_from("abx \n\"'-"), max_size=8))
def test_an_edit_changes_nothing_outside_of_its_place(
    head: str, middle: str, tail: str, new: str
) -> None:
    typed = to_plain(middle)
    assume(typed.split() != to_plain(new).split())
    edited = edit(f"{head}<{middle}>{tail}", f"<{typed}>", f"<{new}>")
    assert edited.startswith(f"{head}<")
    assert edited.endswith(f">{tail}")
    inner = edited[len(head) + 1 : len(edited) - len(tail) - 1]
    assert to_plain(inner).split() == to_plain(new).split()
