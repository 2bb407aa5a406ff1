"""Which days a question means: two of them, a range, and dates that are written short."""

from datetime import date, timedelta
from typing import Final

import pytest

from vault.questions.reader import read_question
from vault.questions.vocabulary import VaultNames
from vault.search.query import parse_query

TODAY: Final = date(2026, 11, 26)
YESTERDAY, TOMORROW = "date:2026-11-25", "date:2026-11-27"
RANGE: Final = frozenset({"date:2026-11-25..2026-11-27"})


def read_days(question: str) -> frozenset[str] | None:
    """Return the filters for days of a question that is read as a list, or None."""
    reading = read_question(question, VaultNames, TODAY)
    if reading is None or reading.operation != "list":
        return None
    return frozenset(reading.query.split())


@pytest.mark.parametrize(
    "question",
    [
        "notes from yesterday and tomorrow",
        "Which notes are from yesterday and from tomorrow?",
        "Notizen von gestern und morgen",
        "Welche Notizen sind vom 25. November 2026 und vom 27. November 2026?",
        "notes d'hier et de demain",
        "quelles notes datent d'hier et demain ?",
        "notas de ayer y 2026-11-27",
        "notes from 25 and 27 November 2026",
        "Notizen vom 25. und 27. November 2026",
        "notes du 25 et 27 novembre 2026",
        "notas del 25 y 27 de noviembre de 2026",
    ],
)
def test_two_days_are_no_range(question: str) -> None:
    assert read_days(question) == {YESTERDAY, TOMORROW}


@pytest.mark.parametrize(
    "question",
    [
        "notes between yesterday and tomorrow",
        "notes from yesterday to tomorrow",
        "notes between 25 and 27 November 2026",
        "Notizen zwischen dem 25. und 27. November 2026",
        "Notizen von gestern bis morgen",
        "Notizen zwischen dem 25. November 2026 und dem 27. November 2026",
        "notes entre hier et demain",
        "notas entre ayer y 2026-11-27",
        "notas entre el 25 y 27 de noviembre de 2026",
    ],
)
def test_a_range_has_the_days_between(question: str) -> None:
    assert read_days(question) == RANGE


@pytest.mark.parametrize(
    ("question", "days"),
    [
        (
            "notes from October and December 2025",
            {"date:2025-10-01..2025-10-31", "date:2025-12-01..2025-12-31"},
        ),
        ("notes from October to December 2025", {"date:2025-10-01..2025-12-31"}),
        ("notes from 1 May and 3 June 2025", {"date:2025-05-01", "date:2025-06-03"}),
        (
            "notes from January, March and May 2025",
            {
                *("date:2025-01-01..2025-01-31", "date:2025-03-01..2025-03-31"),
                "date:2025-05-01..2025-05-31",
            },
        ),
        (
            "Notizen von Oktober und Dezember 2025",
            {"date:2025-10-01..2025-10-31", "date:2025-12-01..2025-12-31"},
        ),
    ],
)
def test_dates_share_their_year(question: str, days: set[str]) -> None:
    assert read_days(question) == days


def test_dates_with_different_limits_are_not_claimed() -> None:
    assert read_days("notes before 3 May 2025 and after 7 July 2025") is None


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("notes from 10/10/26", "2026-10-10"),
        ("notes from 19/11/26", "2026-11-19"),
        ("notes from 11/19/2026", "2026-11-19"),
        ("Notizen vom 10.10.26", "2026-10-10"),
        ("Notizen vom 3.2.23", "2023-02-03"),
        ("notes from 3rd of Feb '23", "2023-02-03"),
        ("notes from 3 February ’23", "2023-02-03"),
        ("notes from Feb 3rd, '23", "2023-02-03"),
        ("notes du 3 février '23", "2023-02-03"),
        ("notas del 3 de febrero de '23", "2023-02-03"),
    ],
)
def test_a_short_date_is_understood(question: str, day: str) -> None:
    assert read_days(question) == {f"date:{day}"}


def test_a_short_month_is_understood() -> None:
    assert read_days("notes from Feb '23") == {"date:2023-02-01..2023-02-28"}


@pytest.mark.parametrize("written", ["3/4/26", "31/31/26", "1/2", "192.168.10.20", "1.2.34"])
def test_a_date_with_two_readings_is_not_claimed(written: str) -> None:
    reading = read_question(f"notes about {written}", VaultNames, TODAY)
    assert reading is None or "date:" not in reading.query


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("notes before June", "date:..2026-05-31"),
        ("Welche Notizen sind nach Juni?", "date:2026-07-01.."),
        ("notes avant juin", "date:..2026-05-31"),
        ("notas antes de junio", "date:..2026-05-31"),
        ("notes until June", "date:..2026-06-30"),
        ("notes between May and July", "date:2026-05-01..2026-07-31"),
        ("notes from May to July", "date:2026-05-01..2026-07-31"),
        ("Notizen zwischen Mai und Juli", "date:2026-05-01..2026-07-31"),
        ("notes entre mai et juillet", "date:2026-05-01..2026-07-31"),
        ("notas entre mayo y julio", "date:2026-05-01..2026-07-31"),
    ],
)
def test_a_month_without_a_year_is_a_limit(question: str, days: str) -> None:
    assert read_days(question) == {days}


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Which tasks are due tomorrow?", "task:open due:2026-11-27"),
        ("Welche Aufgaben sind morgen fällig?", "task:open due:2026-11-27"),
        ("Quelles tâches sont dues demain ?", "task:open due:2026-11-27"),
        ("¿Qué tareas vencen mañana?", "task:open due:2026-11-27"),
        ("Welche Aufgaben habe ich morgen?", "task:any date:2026-11-27"),
        ("tareas de mañana", "task:any date:2026-11-27"),
        ("Aufgaben von übermorgen und morgen", "task:any date:2026-11-28 date:2026-11-27"),
        ("¿Qué tareas de la mañana vencen mañana?", "task:open due:2026-11-27 mañana"),
        ("Which tasks are due today or tomorrow?", "task:open due:2026-11-26 due:2026-11-27"),
        ("Aufgaben von heute oder morgen", "task:any date:2026-11-26 date:2026-11-27"),
        (
            "Quelles tâches sont dues aujourd’hui ou demain ?",
            "task:open due:2026-11-26 due:2026-11-27",
        ),
        ("¿Qué tareas vencen hoy o mañana?", "task:open due:2026-11-26 due:2026-11-27"),
    ],
)
def test_tomorrow_is_named_in_four_languages(question: str, query: str) -> None:
    reading = read_question(question, VaultNames, TODAY)
    assert reading is not None
    assert reading.query == query


@pytest.mark.parametrize(
    "question",
    ["Which tasks are not due today or tomorrow?", "notes from yesterday or tagged house"],
)
def test_or_between_a_date_and_something_else_is_not_claimed(question: str) -> None:
    assert read_question(question, VaultNames, TODAY) is None


@pytest.mark.parametrize(
    "question", ["Notizen vom Morgen", "notas de la mañana", "Notizen von Frau Morgen"]
)
def test_a_morning_is_not_tomorrow(question: str) -> None:
    assert TOMORROW not in (read_days(question) or ())


@pytest.mark.parametrize(
    ("word", "day"), [("tomorrow", 1), ("morgen", 1), ("demain", 1), ("mañana", 1), ("hier", -1)]
)
def test_a_filter_takes_the_name_of_a_day(word: str, day: int) -> None:
    first = date.today() + timedelta(days=day)
    for key in ("due", "date"):
        query = parse_query(f"{key}:{word}")
        assert (query.due or query.days) == ((first, first + timedelta(days=1)),)
