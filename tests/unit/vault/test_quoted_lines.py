"""The lines of a passage that are shown with a result are text about what was asked."""

import pytest

from vault.notes.text.markdown_text import read_text
from vault.notes.text.stems import WordStems
from vault.quotes.lines import choose_best_line, choose_lines

PREAMBLE = """---
eip: 20
title: Token Standard
author: Fabian Vogelsteller
---

# Token Standard

## Methods

First line of text.
The balance of an account.
"""


def choose(text: str, query: str, most: int = 2, *, is_first: bool = True) -> list[str]:
    return choose_lines(read_text(text, starts_note=is_first), query, most)


def test_text_is_shown_before_front_matter_and_headings() -> None:
    shown = ["First line of text.", "The balance of an account."]
    assert choose(PREAMBLE, "token standard methods balance") == shown


def test_a_property_is_shown_where_it_alone_has_the_words() -> None:
    shown = ["author: Fabian Vogelsteller", "First line of text."]
    assert choose(PREAMBLE, "Vogelsteller") == shown


def test_the_lines_with_the_most_words_of_the_query_are_shown() -> None:
    text = "\n".join(f"Line {number} about weather." for number in range(9))
    text += "\n\nSow beans in May.\nWater the beans at dawn.\nThe end."
    assert choose(text, "when to water beans") == ["Sow beans in May.", "Water the beans at dawn."]
    assert choose(text, "walrus") == ["Line 0 about weather.", "Line 1 about weather."]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## A heading\n", ["## A heading"]),
        ("---\ntags: [a]\n", ["tags: [a]"]),  # front matter that goes on in the next passage
        ("| a | b |\n|:--|--:|\n| 1 | 2 |\n", ["| a | b |", "| 1 | 2 |"]),
        ("```python\nprint(1)\n```\n", ["print(1)"]),
        ("***\n\n---\n", []),
        ("", []),
    ],
)
def test_what_is_shown_without_text(text: str, shown: list[str]) -> None:
    assert choose(text, "anything") == shown


def test_a_rule_at_the_start_of_a_later_passage_is_no_front_matter() -> None:
    assert choose("---\nText about beans.\n---\n", "x", is_first=False) == ["Text about beans."]


def test_a_long_line_is_cut_to_the_sentences_with_the_words() -> None:
    line = "Nothing of note. " * 40 + "Beans need water at dawn. " + "More of that. " * 40
    (shown,) = choose(line, "water the beans")
    assert shown.startswith("… Beans need water at dawn. More")
    assert shown.endswith(" …")
    assert len(shown) < 260


def test_the_best_line_has_the_most_words_and_is_text_rather_than_a_heading() -> None:
    text = read_text("# Beans\n\nBeans.\nWater beans.")
    assert choose_best_line(text, WordStems("beans")) == 2
    assert choose_best_line(text, WordStems("the beans, water")) == 3
