"""Dates that depend on the current date."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.notes.relative_dates import find_relative_spans, remove_relative_dates

WEDNESDAY = date(2026, 11, 18)
SUNDAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("the day before yesterday", (11, 16), (11, 17)),
        ("what did i eat last night", (11, 17), (11, 18)),
        ("this morning", (11, 18), (11, 19)),
        ("what is on tomorrow", (11, 19), (11, 20)),
        ("the day after tomorrow", (11, 20), (11, 21)),
        ("next week", (11, 23), (11, 30)),
        ("next month", (12, 1), (12, 32)),
        ("in the past week", (11, 12), (11, 19)),
        ("in the last 10 days", (11, 9), (11, 19)),
        ("the past two weeks", (11, 5), (11, 19)),
        ("over the last couple of days", (11, 17), (11, 19)),
        ("in the next three days", (11, 19), (11, 22)),
        ("last weekend", (11, 14), (11, 16)),
        ("on the weekend", (11, 14), (11, 16)),
        ("this weekend", (11, 21), (11, 23)),
        ("next weekend", (11, 21), (11, 23)),
        ("since monday", (11, 16), (11, 19)),
        ("since last week", (11, 9), (11, 19)),
        ("since yesterday", (11, 17), (11, 19)),
        ("next monday", (11, 23), (11, 24)),
        ("am montag", (11, 16), (11, 17)),
        ("letztes wochenende", (11, 14), (11, 16)),
        ("in den letzten zwei wochen", (11, 5), (11, 19)),
        ("vor drei tagen", (11, 15), (11, 16)),
        ("seit montag", (11, 16), (11, 19)),
        ("nachste woche", (11, 23), (11, 30)),
    ],
)
def test_a_question_names_days_relative_to_today(
    text: str, first: tuple[int, int], after: tuple[int, int]
) -> None:
    end = date(2027, 1, 1) if after == (12, 32) else date(2026, *after)
    assert list(find_relative_spans(text, WEDNESDAY)) == [(date(2026, *first), end)]


@pytest.mark.parametrize(
    ("text", "first"),
    [("this weekend", 21), ("the last weekend", 14), ("on the weekend", 21), ("next weekend", 28)],
)
def test_on_a_weekend_the_last_one_is_the_one_before(text: str, first: int) -> None:
    (span,) = find_relative_spans(text, SUNDAY)
    assert span[0] == date(2026, 11, first)


@pytest.mark.parametrize("text", ["monday", "a week last", "the weekend house", "past the river"])
def test_other_phrases_name_no_day(text: str) -> None:
    assert not list(find_relative_spans(text, WEDNESDAY))


def test_relative_dates_can_be_left_out() -> None:
    text = "what did i buy in the last two weeks, and since monday?"
    assert remove_relative_dates(text).split() == ["what", "did", "i", "buy", "in", ",", "and", "?"]


@given(
    st.sampled_from(["last week", "999 years ago", "next 999 years", "last 999 weeks"]), st.dates()
)
def test_every_span_has_at_least_one_day(text: str, today: date) -> None:
    assert all(first < after for first, after in find_relative_spans(text, today))
