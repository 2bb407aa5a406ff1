"""Deltas that each hold all the text so far are read once, and ordinary text is never changed."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.llm.incoming.text_pieces import DeltaReader

SAID = "The barrel stands behind the shed, left of the compost. It holds 300 litres."
WORDS = st.sampled_from(
    ["The", "the", "barrel", "Ha", "ha", "I", "am", "a", "1", "12", "123", "=", "if x:", "    y"]
)
GLUE = st.sampled_from([" ", "\n", ", ", ".\n\n", "\n- "])


def read(deltas: list[str]) -> str:
    reader = DeltaReader()
    return "".join(map(reader.add, deltas)) + reader.end()


@pytest.mark.parametrize(
    ("said", "size"),
    [
        (SAID, 1),
        (SAID, 2),
        (SAID, 3),
        ("Ja. Die Tonne steht hinter dem Schuppen.", 1),
        ("Water the beans:\n\n- in the morning\n- not at noon", 1),
        ("Ha ha, that is a good one, ha ha.", 1),
        ("Öl: der Mäher braucht 0,6 Liter davon.", 1),
        ("I look. The 4 notes say little of it, and 2 say nothing.", 2),
    ],
)
def test_deltas_with_all_the_text_so_far_are_read_once(said: str, size: int) -> None:
    words = said.split(" ")
    pieces = [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
    wholes = list(accumulate(pieces, "{} {}".format))
    assert read(wholes) == read([*wholes, said]) == said
    assert read([*wholes, " More."]) == f"{said} More."


def test_nothing_is_shown_twice_while_it_is_not_sure() -> None:
    reader, wholes = (
        DeltaReader(),
        ["The", "The barrel", "The barrel stands by", "The barrel x"],
    )
    assert [reader.add(whole) for whole in wholes] == ["The", "", "", "".join(wholes[1:])]


def test_deltas_that_stay_unsure_are_not_held_to_the_end() -> None:
    reader, words = DeltaReader(), [f"word{number} " for number in range(60)]
    wholes = [f"A {''.join(words[:end])}" for end in range(60)]
    shown = [reader.add(whole) for whole in wholes]
    assert shown[20:] == wholes[20:]
    assert "".join(shown) + reader.end() == "".join(wholes)


@pytest.mark.parametrize(
    "deltas",
    [
        ["ha", "haha", "hahaha", "hahahahaha"],
        ["Ha ha ha", "Ha ha ha ha", "Ha ha ha ha ha", "Ha ha ha ha ha ha"],
        ["1", "12", "123", "1234", "12345", "123456", "12345678", "123456789"],
        ["1 2 3 4 5 ", "1 2 3 4 5 6 ", "1 2 3 4 5 6 7 ", "1 2 3 4 5 6 7 8 "],
        ["\nThis is the house", "\nThis is the house that", "\nThis is the house that Jack built"],
        ["This is a house\n", "This is a house\n that", "This is a house\n that Jack"],
        [
            "The old red ",
            "The old red barrel ",
            "The old red barrel stands ",
            "The old red barrel x",
        ],
        ["        ", "            ", "                ", "                    "],
        ["--------", "----------------", "------------------------", "--------------------------"],
        [
            "def f(x): return",
            "def f(x): return x",
            "def f(x): return x + 1",
            "def f(x): return x + 12",
        ],
        ["This is the house", "This is the house that", "Something else"],
        ["This is the house", "This is the house that"],
        ["This is the house", "This is the house", "This is the house", "This is the house"],
        ["Good day to", "Good day to you", " and to you"],
    ],
)
def test_ordinary_text_that_repeats_itself_is_not_changed(deltas: list[str]) -> None:
    assert read(deltas) == "".join(deltas)


@given(
    parts=st.lists(st.tuples(WORDS, GLUE), max_size=40),
    cuts=st.lists(st.integers(0, 200), max_size=12),
)
def test_ordinary_text_is_never_changed_however_it_is_cut(
    parts: list[tuple[str, str]], cuts: list[int]
) -> None:
    whole = "".join(map("".join, parts))
    ends = sorted({min(cut, len(whole)) for cut in (0, *cuts, len(whole))})
    assert read([whole[start:end] for start, end in pairwise(ends)]) == whole


@given(st.lists(st.text(min_size=1, max_size=30), max_size=12))
def test_any_text_in_any_deltas_is_not_changed(deltas: list[str]) -> None:
    assert read(deltas) == "".join(deltas)
