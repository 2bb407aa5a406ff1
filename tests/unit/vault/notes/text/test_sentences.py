"""Sentences end at the same places in notes, excerpts, findings and answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.notes.text.sentences import (
    find_sentence_ends,
    join_lines,
    list_whole_sentences,
    split_sentences,
)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ("Of e.g. 3 days, see Dr. J. Who. Done.", ["Of e.g. 3 days, see Dr. J. Who.", "Done."]),
        ("A limit of 16. Then it fails.", ["A limit of 16.", "Then it fails."]),
        ("Am 3. Mai. Im 19. Jahrhundert nicht.", ["Am 3. Mai.", "Im 19. Jahrhundert nicht."]),
        ("1. First do this. Then that.", ["1. First do this.", "Then that."]),
        ('He said "stop." Then (we left.) So.', ['He said "stop."', "Then (we left.)", "So."]),
        ("**Bold end.** Next.", ["**Bold end.**", "Next."]),
        ("一つの文。もう一つ！", ["一つの文。", "もう一つ！"]),
        ("Customer no. 55 called. It rains.", ["Customer no. 55 called.", "It rains."]),
        ("Version 1.5 of x.y is out", ["Version 1.5 of x.y is out"]),
        ("", []),
    ],
)
def test_a_paragraph_is_split_into_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(st.text(alphabet='aB1 .!?\n"*。e.g', max_size=80))
def test_ends_are_in_order_and_nothing_is_lost(text: str) -> None:
    at = 0
    for end, after in find_sentence_ends(text):
        assert at < end <= after
        assert not text[end:after].strip()
        at = after
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Costs 4.5 EUR at e.g. Aldi today. And", ["Costs 4.5 EUR at e.g. Aldi today."]),
        ("# A heading of some words\n\nIt rains on the beans!", ["It rains on the beans!"]),
        ("He said **“stop at once.”** Then so on", ["He said **“stop at once.”**"]),
        ("庭の水やりは毎朝六時に行う。次の文", ["庭の水やりは毎朝六時に行う。"]),
        ("A sentence that goes on\nin another line. Short.", ["in another line."]),
        ("Version 1.5 of the parser", []),
    ],
)
def test_samples_are_whole_sentences(text: str, sentences: list[str]) -> None:
    assert list_whole_sentences(text, 10, 40) == sentences


def test_lines_are_joined_as_their_script_is_written() -> None:
    assert join_lines(["A line", "goes on."]) == "A line goes on."
    assert join_lines(["一行目は", "続きます。"]) == "一行目は続きます。"


def test_a_long_run_of_signs_is_read_in_linear_time() -> None:
    run = "." * 300_000  # this took an hour when each sign was tried
    assert list(find_sentence_ends(f"{run}xy. Next.")) == [(300_003, 300_004)]
