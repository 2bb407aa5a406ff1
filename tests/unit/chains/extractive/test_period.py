"""Answers without a model about a period, such as last week."""

import re
from dataclasses import replace
from datetime import date
from typing import Final

import pytest

from chains.extractive.model import (
    DOUBTFUL,
    FOUND,
    LIST_SOURCE,
    NO_SENTENCE,
    NOTHING_ANSWERS,
    OF_PERIOD,
)
from chains.extractive.period import list_days, read_period
from tests.unit.chains.extractive.conftest import read_quotations
from vault.quotes.sections import Support

FRIDAY: Final = date(2026, 3, 6)


@pytest.fixture
def diary(source):
    """Days of a diary, the last one first, dated by a name, a heading or a property."""
    return (
        source(1, "The roof is finished.", title="2026-03-05", source="Diary/2026-03-05.md"),
        source(2, "Met Ines in the garden. She brought seeds.", source="Diary/2026-03-03.md"),
        source(3, "Sowed peas.\n\nWatered them.", title="Log", heading=("Monday, 2 March 2026",)),
        source(4, "Beans are sown in May.", title="Beans"),
        source(5, "Bought the seeds.", title="Shopping"),
    )


def find_shopping_day(_paths):
    return {"Notes/Note 5.md": ["2026-03-04"]}


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("What did I do this week?", [3, 2, 5, 1]),
        ("What did I write yesterday?", [1]),
        ("What happened on 3 March?", [2]),
        ("What happened on Wednesday?", [5]),
    ],
)
def test_everything_at_a_time_is_quoted_in_the_order_of_the_days(answer, diary, question, numbers):
    text = answer(question, *diary, support=0.1, find_days=find_shopping_day, today=FRIDAY)
    assert text.startswith(OF_PERIOD)
    assert [int(number) for number in re.findall(r"\[(\d)\]$", text, re.MULTILINE)] == numbers


def test_of_a_long_time_each_note_is_quoted_by_its_beginning(answer, source):
    text = "\n\n".join(f"In row {number} grows another kind of bean." for number in range(7))
    days = [source(n, text, source=f"2026-02-{n:02}.md", title=f"Day {n}") for n in range(1, 13)]
    said = answer("What did I do last month?", *days, support=0.1, today=FRIDAY)
    assert len(list(re.finditer(r"^> In row 0 grows", said, re.MULTILINE))) == 12
    assert len(" ".join(read_quotations(said)).split()) < 600


def test_a_question_about_a_time_is_answered_by_its_notes_and_never_refused(answer, diary):
    text = answer("What did Ines carry this week?", *diary, support=0.1, today=FRIDAY)
    assert text.startswith(DOUBTFUL)
    assert read_quotations(text)[0] == "> Met Ines in the garden. She brought seeds. [2]"
    assert "Beans are sown" not in text


def test_a_note_of_another_year_may_not_answer(answer, source):
    beans = source(1, "Beans were sown in May 2026 below the wall.", source="Log.md", title="Log")
    sure = answer("When were the beans sown in May 2026?", beans, support=0.9, today=FRIDAY)
    other = answer("When were the beans sown in 2024?", beans, support=0.9, today=FRIDAY)
    assert sure.startswith(FOUND)
    assert other.startswith((DOUBTFUL, NOTHING_ANSWERS))


def test_a_note_of_a_season_is_not_of_each_day_in_it(answer, source, diary):
    calls = source(9, "Rough notes of all calls.", source="Calls.md", title="Calls, March 2026")
    text = answer("What did I do yesterday?", *diary, calls, support=0.1, today=FRIDAY)
    assert text.startswith(OF_PERIOD)
    assert "Rough notes" not in text


def test_of_a_log_only_the_sections_of_that_time_are_quoted(answer, source):
    text = "## 2026-03-03\n\nDug the bed.\n\n## 2026-03-05\n\nSowed peas below the wall."
    log = source(1, text, source="Log.md", title="Log")
    said = answer("What did I do on 5 March 2026?", log, support=0.1, today=FRIDAY)
    assert said.startswith(OF_PERIOD)
    assert "*Log › 2026-03-05* [1]" in said
    assert read_quotations(said) == ["> Sowed peas below the wall."]


def test_properties_are_not_quoted_for_a_period(answer, source):
    note = "---\nweather: cold and wet\n---\n\nSowed peas below the wall."
    day = source(1, note, first=1, source="2026-03-05.md", title="2026-03-05")
    said = answer("What did I do yesterday?", day, support=0.1, today=FRIDAY)
    assert read_quotations(said) == ["> Sowed peas below the wall."]


def test_a_day_without_a_text_to_show_is_named(answer, source):
    day = source(1, "## Rain", source="2026-03-05.md", title="Thursday")
    said = answer("What did I do yesterday?", day, support=0.1, today=FRIDAY)
    assert said.startswith(NO_SENTENCE)
    assert "- Thursday [1]" in said


def test_tasks_are_listed_below_their_notes(answer, source):
    head = replace(source(0, "3 open tasks match.", source=LIST_SOURCE), number=None)
    tasks = [
        source(1, "- [ ] Call the roofer", source="Todo.md", title="Todo"),
        source(2, "- [ ] Paint the shed", source="Todo.md", title="Todo"),
        source(3, "- [ ] Dig", source="2026-03-05.md", title="Thursday"),
    ]
    assert answer("What are my open tasks?", head, *tasks) == (
        "3 open tasks match.\n\n*Todo*\n\n- Call the roofer [1]\n- Paint the shed [2]"
        "\n\n*Thursday · 2026-03-05*\n\n- Dig [3]"
    )


def test_a_quotation_of_a_diary_is_below_its_date(answer, source):
    day = source(1, "Saw a kingfisher.", source="Diary/2026-03-05.md", title="Thursday")
    assert "*Thursday* · 2026-03-05\n" in answer("Where is the kingfisher?", day)


@pytest.mark.parametrize("question", ["What did I do in 2019?", "What happened last Monday?"])
def test_a_time_without_notes_is_refused(answer, source, question):
    days = source(1, "The roof is finished.", title="2026-03-05", source="Diary/2026-03-05.md")
    assert answer(question, days, support=0.1, today=FRIDAY).startswith(NOTHING_ANSWERS)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When did I last water the peas?", "> Watered the peas behind the house. [3]"),
        ("When did I first water the peas?", "> Watered the peas by the wall. [1]"),
    ],
)
def test_the_last_or_first_time_is_the_one_in_the_note_of_that_day(answer, source, question, first):
    days = (
        source(1, "Watered the peas by the wall.", source="2026-01-05.md", title="2026-01-05"),
        source(2, "Peas are watered in the morning.", title="Peas"),
        source(3, "Watered the peas behind the house.", source="2026-03-02.md", title="Monday"),
        source(4, "Dug the bed.", source="2026-03-04.md", title="2026-03-04"),
    )
    text = answer(question, *days, support=0.8, today=FRIDAY)
    assert read_quotations(text)[0] == first


def test_the_word_for_the_last_time_is_not_missing_in_the_notes(answer, source):
    day = source(1, "Called the bank about the loan.", source="2026-03-02.md", title="2026-03-02")
    weights = {"bank": 0.4, "called": 0.4, "last": 1.3}
    text = answer("When was the bank last called?", day, support=Support(0.5, weights))
    assert read_quotations(text) == ["> Called the bank about the loan. [1]"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What did I do last week?", "Say that last week you did me a favour."),
        ("What happened on 20 February?", "What happened in February stays there."),
    ],
)
def test_words_of_a_time_are_not_the_time_that_is_asked_about(answer, source, question, text):
    said = answer(question, source(1, text), support=1.0, today=FRIDAY)
    assert said.startswith(NOTHING_ANSWERS)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What happened on 20 February?", "We moved on 20 February."),
        ("What happened on 20 February?", "2026-02-20, what happened: We moved."),
        ("What happened in February?", "We moved in February."),
    ],
)
def test_a_note_without_a_date_may_name_the_time_that_is_asked_about(
    answer, source, question, text
):
    said = answer(question, source(1, text), support=2.0, today=FRIDAY)
    assert "We moved" in "".join(read_quotations(said))


@pytest.mark.parametrize(
    "name",
    [
        "12.03.2024",
        "12. März 2024",
        "Call with Dr. Berg, 12 March 2024",
        "12 March 2024 / Garden",
        "Diary/2024-03-12.md",
        "Diary/12.03.2024.markdown",
    ],
)
def test_a_date_in_a_name_is_found_beside_dots_and_slashes(name):
    assert list_days([name]) == {(date(2024, 3, 12), date(2024, 3, 13))}


def test_a_date_in_the_name_of_a_folder_is_not_the_date_of_a_note():
    assert list_days(["2024-03/Garden.md"]) == frozenset()


@pytest.mark.parametrize(
    "question",
    [
        "What happened after:2024-03-01?",
        "What happened date:2024-03-04..2024-03-10",
        "before:2024-03",
    ],
)
def test_a_filter_for_dates_names_no_period(question):
    assert read_period(question, date(2026, 11, 26)) is None


def test_a_filter_beside_a_period_is_kept():
    period = read_period("What did I do last week? after:2024-03", date(2026, 11, 26))
    assert period is not None
    assert period.spans == ((date(2026, 11, 16), date(2026, 11, 23)),)
    assert not period.words & {"after", "2024", "03"}


@pytest.mark.parametrize(
    "question",
    [
        "Which notes were not written in November 2026?",
        "Which notes in Daily are not from 24 November 2026?",
        "Welche Notizen sind nicht vom 24. November 2026?",
        "Quelles notes ne sont pas du 24 novembre 2026 ?",
        "¿Qué notas no son del 24 de noviembre de 2026?",
    ],
)
def test_days_that_are_not_meant_are_no_period(question: str) -> None:
    assert read_period(question, date(2026, 11, 27)) is None
