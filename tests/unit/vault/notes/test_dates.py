"""Days, months and years in a question, and days in the names and properties of notes."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.notes import dates
from vault.notes.dates import (
    find_date_spans,
    find_iso_days,
    find_written_spans,
    list_property_days,
    locate_dates,
    remove_dates,
    write_date_forms,
)

TODAY = date(2026, 11, 18)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("what did I plant on 2024-03-05?", (2024, 3, 5), (2024, 3, 6)),
        ("notes of 2024-03", (2024, 3, 1), (2024, 4, 1)),
        ("Termin am 5.3.2024", (2024, 3, 5), (2024, 3, 6)),
        ("the meeting on 5 March 2024", (2024, 3, 5), (2024, 3, 6)),
        ("the 31st of December, 2024", (2024, 12, 31), (2025, 1, 1)),
        ("March 5, 2024", (2024, 3, 5), (2024, 3, 6)),
        ("Sept 3rd", (2026, 9, 3), (2026, 9, 4)),
        ("december 24", (2025, 12, 24), (2025, 12, 25)),
        ("in December 2023", (2023, 12, 1), (2024, 1, 1)),
        ("holidays in 2023", (2023, 1, 1), (2024, 1, 1)),
        ("what was done today", (2026, 11, 18), (2026, 11, 19)),
        ("Yesterday's dinner", (2026, 11, 17), (2026, 11, 18)),
        ("this week", (2026, 11, 16), (2026, 11, 23)),
        ("the weather last week", (2026, 11, 9), (2026, 11, 16)),
        ("last month", (2026, 10, 1), (2026, 11, 1)),
        ("last year", (2025, 1, 1), (2026, 1, 1)),
        ("what we agreed in March", (2026, 3, 1), (2026, 4, 1)),
        ("Wofür waren im Juni 7 €?", (2026, 6, 1), (2026, 7, 1)),
        ("im Juni 7 Gäste", (2026, 6, 1), (2026, 7, 1)),
        ("the 5 € on June 7", (2026, 6, 7), (2026, 6, 8)),
        ("in December", (2025, 12, 1), (2026, 1, 1)),
        ("last November", (2025, 11, 1), (2025, 12, 1)),
        ("this November", (2026, 11, 1), (2026, 12, 1)),
        ("last summer", (2026, 6, 1), (2026, 9, 1)),
        ("winter 2023", (2023, 12, 1), (2024, 3, 1)),
        ("the plan for Q3 2024", (2024, 7, 1), (2024, 10, 1)),
        ("2024-W12", (2024, 3, 18), (2024, 3, 25)),
        ("who came on Monday", (2026, 11, 16), (2026, 11, 17)),
        ("last Wednesday", (2026, 11, 11), (2026, 11, 12)),
        ("three days ago", (2026, 11, 15), (2026, 11, 16)),
        ("two weeks ago", (2026, 11, 2), (2026, 11, 9)),
        ("12 months ago", (2025, 11, 1), (2025, 12, 1)),
        ("am 5. März 2024", (2024, 3, 5), (2024, 3, 6)),
        ("Was war gestern?", (2026, 11, 17), (2026, 11, 18)),
        ("in der letzten Woche", (2026, 11, 9), (2026, 11, 16)),
        ("diesen Monat", (2026, 11, 1), (2026, 12, 1)),
        ("¿Qué hice ayer?", (2026, 11, 17), (2026, 11, 18)),
        ("le 14 juillet 2024", (2024, 7, 14), (2024, 7, 15)),
        ("el 5 de mayo de 2024", (2024, 5, 5), (2024, 5, 6)),
        ("what happened from 3 to 10 November", (2026, 11, 3), (2026, 11, 11)),
        ("3–10 November 2025", (2025, 11, 3), (2025, 11, 11)),
        ("November 3-5", (2026, 11, 3), (2026, 11, 6)),
        ("what did I do since March", (2026, 3, 1), (2026, 11, 19)),
        ("since 5 November", (2026, 11, 5), (2026, 11, 19)),
        ("since 2024", (2024, 1, 1), (2026, 11, 19)),
    ],
)
def test_a_question_names_days_in_many_ways(
    text: str, first: tuple[int, int, int], after: tuple[int, int, int]
) -> None:
    assert find_date_spans(text, TODAY) == ((date(*first), date(*after)),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "EIP-1559 and EIP 2015",
        "the model 2024-13-45",
        "30 February 2024",
        "version 1.2.3",
        "port 2024",
        "12024-03-05",
        "a week last",
        "I may go in the morning",
        "mars rover",
        "the fall of 1 wall",
        "9999 years ago",
        "Juni 7 €",
        "What cost March 5 euros?",
        "June 7,50 €",
        "Mai 12 kg",
        "junio 7%",
        "juin 20 à 30 €",
    ],
)
def test_what_is_no_date_names_none(text: str) -> None:
    assert find_date_spans(text, TODAY) == ()


def test_several_days_may_be_named() -> None:
    assert (
        len(find_date_spans("between 2024-03-05 and 2024-03-09, and 2024-03-05 again", TODAY)) == 2
    )


@given(st.text(max_size=60), st.dates())
def test_whatever_is_typed_names_spans_that_are_not_empty(text: str, today: date) -> None:
    assert all(first <= after for first, after in find_date_spans(text, today))


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_a_day_is_read_as_it_is_written(day: date) -> None:
    assert day in [first for first, _ in find_date_spans(f"on {day.isoformat()}", TODAY)]
    assert list(find_iso_days(f"Log {day.isoformat()} Tue")) == [day]


def test_names_and_properties_say_their_days_in_iso_8601() -> None:
    assert list(find_iso_days("2024-03-05 to 2024-03-06, 2024-99-99")) == [
        date(2024, 3, 5),
        date(2024, 3, 6),
    ]
    properties = [("2024-03-05T08:00:00Z",), ("soon", "2023-01-02"), ("see 2022-01-01",), ()]
    assert list_property_days(properties) == ["2023-01-02", "2024-03-05"]


@pytest.mark.parametrize(
    ("name", "first", "after"),
    [
        ("Journal 2023-05-08", date(2023, 5, 8), date(2023, 5, 9)),
        ("1:56 pm on 8 May, 2023", date(2023, 5, 8), date(2023, 5, 9)),
        ("Montag, 8.5.2023", date(2023, 5, 8), date(2023, 5, 9)),
        ("May 8, 2023", date(2023, 5, 8), date(2023, 5, 9)),
        ("Review of May 2023", date(2023, 5, 1), date(2023, 6, 1)),
        ("2023-W19", date(2023, 5, 8), date(2023, 5, 15)),
    ],
)
def test_a_name_has_its_days_in_many_forms(name: str, first: date, after: date) -> None:
    assert find_written_spans(name) == ((first, after),)


@pytest.mark.parametrize("name", ["8 May", "last week", "yesterday", "Session 2023", "2023-02-31"])
def test_a_name_without_a_year_has_no_days(name: str) -> None:
    assert find_written_spans(name) == ()


def test_days_months_and_years_have_the_forms_in_which_notes_write_them() -> None:
    assert write_date_forms((date(2024, 3, 5), date(2024, 3, 6))) == [
        "2024-03-05",
        "5 march 2024",
        "march 5 2024",
    ]
    month = write_date_forms((date(2024, 12, 1), date(2025, 1, 1)))
    assert month == ["2024-12", "december 2024"]
    assert write_date_forms((date(2024, 1, 1), date(2025, 1, 1))) == ["2024"]
    assert len(write_date_forms((date(2024, 3, 4), date(2024, 3, 11)))) == 21
    assert write_date_forms((date(2024, 3, 4), date(2024, 6, 11))) == []


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_the_forms_of_a_day_are_read_as_that_day(day: date) -> None:
    span = (day, day + timedelta(days=1))
    assert {find_written_spans(form) for form in write_date_forms(span)} == {(span,)}


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What did Ines say yesterday?", "what did ines say ?"),
        ("beans on 5 March 2024", "beans on "),
        ("sown in May", "sown "),
        ("nothing else", "nothing else"),
    ],
)
def test_the_dates_of_a_question_can_be_left_out(text: str, rest: str) -> None:
    assert " ".join(remove_dates(text).split()) == " ".join(rest.split())


_PARTS = st.sampled_from(
    (
        *("5 May 2024", "2024", "march", "on 3 May", "12.5 kWh", "3-5 june", "last winter"),
        *("2024-05-01", "Q2 2023", "since", "maybe", "in 1999", "2024年5月1日", "the box", "31"),
    )
)


@given(st.lists(_PARTS, max_size=6))
def test_a_form_is_only_left_out_where_it_finds_nothing(parts: list[str]) -> None:
    text = " and ".join(parts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dates, "_FORMS", tuple((form, False, False) for form, *_ in dates._FORMS))
        expected = locate_dates(text)
    assert locate_dates(text) == expected


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("Monday", 0),
        ("mardis", 1),
        ("Miércoles", 2),
        ("Sonnabend", 5),
        ("sábados", 5),
        ("mon", None),
    ],
)
def test_a_weekday_is_known_by_its_names_in_four_languages(word: str, number: int | None) -> None:
    assert dates.find_weekday(word) == number


def test_sonnabend_is_a_saturday() -> None:
    (span,) = find_date_spans("Was war am Sonnabend?", TODAY)
    assert span[0] == date(2026, 11, 14)
