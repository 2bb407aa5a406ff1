"""Days in filters may be named in words: a month, a weekday, or by what they are to today."""

from datetime import date, timedelta

import pytest

from vault.search.query import parse_query, write_query

TODAY = date.today()
MONDAY = TODAY - timedelta(days=TODAY.weekday())


@pytest.mark.parametrize(
    ("value", "first", "days"),
    [
        ("today", TODAY, 1),
        ("tomorrow", TODAY + timedelta(days=1), 1),
        ("yesterday", TODAY - timedelta(days=1), 1),
        ('"next week"', MONDAY + timedelta(days=7), 7),
        ('"this week"', MONDAY, 7),
        ('"last week"', MONDAY - timedelta(days=7), 7),
        ('"nächste Woche"', MONDAY + timedelta(days=7), 7),
        ('"la semaine prochaine"', MONDAY + timedelta(days=7), 7),
        ('"próxima semana"', MONDAY + timedelta(days=7), 7),
        ('"5 March 2024"', date(2024, 3, 5), 1),
    ],
)
@pytest.mark.parametrize("key", ["due", "date"])
def test_days_can_be_named_in_words(key: str, value: str, first: date, days: int) -> None:
    query = parse_query(f"{key}:{value} roof")
    assert (query.words, query.problems) == ("roof", ())
    assert (query.due or query.days) == ((first, first + timedelta(days=days)),)
    assert parse_query(write_query(query)) == query


@pytest.mark.parametrize("month", ["december", "Dezember", "décembre", "diciembre"])
def test_a_month_is_the_next_one_for_tasks_and_else_the_last_one(month: str) -> None:
    ((first, after),) = parse_query(f"due:{month}").due
    assert (first.month, first.day, after > TODAY) == (12, 1, True)
    assert first - TODAY < timedelta(days=366)
    ((first, after),) = parse_query(f"date:{month}").days
    assert (first.month, first <= TODAY) == (12, True)


def test_a_weekday_is_the_next_one_for_tasks() -> None:
    ((first, after),) = parse_query("due:friday").due
    assert (first.weekday(), after - first) == (4, timedelta(days=1))
    assert timedelta(0) <= first - TODAY < timedelta(days=7)


def test_a_range_can_have_a_named_side() -> None:
    assert parse_query("due:..tomorrow").due == ((date.min, TODAY + timedelta(days=2)),)
    assert parse_query("due:<today").due == ((date.min, TODAY),)


@pytest.mark.parametrize("value", ["soon", "december-plan", '"next to the oven"'])
def test_other_words_are_no_days(value: str) -> None:
    assert not parse_query(f"due:{value}").due
