"""Ranges of days."""

from datetime import date

import pytest

from vault.notes.date_spans import Span, build_month_span, build_unit_span, is_in_ranges

DAY: Span = (date(2026, 10, 29), date(2026, 10, 30))
WEEK: Span = (date(2026, 10, 26), date(2026, 11, 2))
MONTH: Span = (date(2026, 10, 1), date(2026, 11, 1))
YEAR: Span = (date(2026, 1, 1), date(2027, 1, 1))


@pytest.mark.parametrize(
    ("span", "asked", "is_in"),
    [
        (DAY, WEEK, True),
        (WEEK, DAY, True),
        (MONTH, DAY, False),
        (MONTH, MONTH, True),
        (YEAR, MONTH, False),
        (DAY, YEAR, True),
        (MONTH, (date(2026, 11, 1), date(2027, 1, 1)), False),
    ],
)
def test_a_note_of_a_month_is_not_about_each_day_of_it(
    span: Span, asked: Span, is_in: bool
) -> None:
    assert is_in_ranges(span, [asked]) is is_in


def test_there_is_no_month_before_the_first_year() -> None:
    assert build_unit_span("month", -1, date.min) is None
    assert build_unit_span("day", 1, date.max) is None
    assert build_month_span(2026, 13) is None
    assert build_month_span(9999, 12) == (date(9999, 12, 1), date.max)
