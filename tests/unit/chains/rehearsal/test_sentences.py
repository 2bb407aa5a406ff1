"""Answers are the same only word for word and sign for sign."""

import pytest

from chains.rehearsal.sentences import compare_answers, list_spoken


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Он живёт в Москве уже пять лет.", "Он не живёт в Москве уже пять лет."),
        ("Il barile del giardino è pieno.", "Il barile del giardino non è pieno."),
        ("De ton in de tuin is vol water.", "De ton in de tuin is niet vol water."),
        ("البرميل أحمر في الحديقة الكبيرة.", "البرميل ليس أحمر في الحديقة الكبيرة."),
        ("It holds twenty litres of rain here.", "It holds thirty litres of rain here."),
        ("It is -5 degrees.", "It is 5 degrees."),
        ("x <= 5", "x >= 5"),
        ("- [x] call Bob today", "- [ ] call Bob today"),
        ("C++ is used.", "C is used."),
        ("Das ist schon lange so.", "Das ist schön lange so."),
        ("Ask the US for it now.", "Ask us for it now."),
        ("### 210 litres", "### 90 litres"),
        ("# Yes", "# No"),
        ("```sh\n# run as root\nx 5\n```", "```sh\n# never run as root\nx 5\n```"),
        ("👍", "👎"),
        ("It works. ✓", "It works. ✗"),
        ("`a-b`", "`a+b`"),
    ],
)
def test_opposites_are_never_the_same(before: str, after: str) -> None:
    found = compare_answers(before, after)
    assert not found.is_none
    assert found.gone or found.reworded
    for one in found.reworded:
        assert before.startswith(one.before, one.before_start)
        assert after.startswith(one.after, one.after_start)
    for start, text in zip(found.gone_starts, found.gone, strict=True):
        assert before.startswith(text, start)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("**Yes.** The *barrel* is red.", "Yes. The barrel is red."),
        ("The price [1] is -5.", "The price [2] is -5."),
        ("It is red. [1]", "It is red. [2][3]"),
        ("One line\nof text.", "One line of text."),
        ("## Barrel\n\n- It is red.", "# Barrel\n* It is red."),
    ],
)
def test_marks_and_citations_are_no_words(before: str, after: str) -> None:
    assert compare_answers(before, after).is_none


def test_citations_after_a_sentence_belong_to_it() -> None:
    assert [(one.text, one.cited) for one in list_spoken("It is red. [1]")] == [
        ("It is red.", (1,))
    ]


def test_a_sentence_that_stands_in_another_is_found_where_it_begins() -> None:
    found = compare_answers("Soil is oily.\n\n- oil\n- beds\n", "Soil is oily.\n\n- beds\n")
    assert (found.gone, found.gone_starts) == (("oil",), (17,))
