"""Searches for the notes of a period."""

from dataclasses import replace
from datetime import date

import pytest

from chains.retrieval.period_search import MOST_SEARCHED, PeriodSearch
from tests.support.sessions.memory_session import hit
from vault.search.hits import Hit, SearchResult

TODAY = date(2026, 11, 26)
OTHER = hit("Garden.md", "Beans need warm soil.")
DAYS = {day: hit(f"2026-11-{day}.md", f"Bought gloves on day {day}.") for day in ("18", "16", "17")}
MEETING = hit("Meeting.md", "The roof was discussed.")


class Searches:
    """Finds the notes of days if the query is limited to days, otherwise another note."""

    def __init__(self) -> None:
        self.queries: list[tuple[str, int]] = []

    def find(self, query: str, k: int) -> SearchResult:
        self.queries.append((query, k))
        found = (MEETING, *DAYS.values()) if "date:2026-11-16..2026-11-22" in query else (OTHER,)
        return SearchResult(query, () if "date:2025" in query else found, 0.0)


@pytest.fixture
def searches() -> Searches:
    return Searches()


@pytest.fixture
def search(searches: Searches) -> PeriodSearch:
    return PeriodSearch(searches.find, lambda _: {"Meeting.md": ["2026-11-17"]}, TODAY)


def paths(result: SearchResult | None) -> list[str]:
    hits: tuple[Hit, ...] = () if result is None else result.hits
    return [each.path for each in hits]


def test_everything_in_a_period_is_sorted_by_date(search: PeriodSearch, searches: Searches) -> None:
    found = search.list_period("What did I do last week?", 100)
    assert paths(found) == ["2026-11-16.md", "2026-11-17.md", "Meeting.md", "2026-11-18.md"]
    assert searches.queries == [("date:2026-11-16..2026-11-22", MOST_SEARCHED)]


@pytest.mark.parametrize(
    "question",
    ["What do beans need?", "What did Ines buy last week?", "What happened in 2020?"],
)
def test_other_questions_do_not_ask_for_everything_in_a_period(
    search: PeriodSearch, question: str
) -> None:
    assert search.list_period(question, 100) is None


def test_of_too_many_passages_the_first_ones_of_each_note_are_kept() -> None:
    lines = {"2026-11-16.md": (1, 5, 9), "2026-11-17.md": (1, 5)}
    hits = tuple(
        replace(hit(path, "Dug."), id=f"{path}:{line}", lines=(line, line))
        for path in lines
        for line in lines[path]
    )
    find = PeriodSearch(lambda q, _: SearchResult(q, hits, 0.0), lambda _: {}, TODAY)
    found = find.list_period("What did I do last week?", 3)
    assert found is not None
    assert [(each.path, each.lines[0]) for each in found.hits] == [
        ("2026-11-16.md", 1),
        ("2026-11-16.md", 5),
        ("2026-11-17.md", 1),
    ]


def test_the_section_of_a_log_is_dated_by_its_heading(searches: Searches) -> None:
    log = hit("Log.md", "## 2026-11-15\n\nDug.\n\n## 2026-11-16\n\nSowed.")
    undated = hit("Deadline.md", "To be done.")
    find = PeriodSearch(lambda q, _: SearchResult(q, (undated, log), 0.0), lambda _: {}, TODAY)
    assert paths(find.list_period("What did I do last week?", 100)) == ["Log.md"]


def test_a_period_without_notes_is_searched_as_any_other_question(search: PeriodSearch) -> None:
    assert search.list_period("What did I do on 3 May 2025?", 100) is None


def test_a_question_about_a_period_also_finds_the_best_notes_of_that_period(
    search: PeriodSearch, searches: Searches
) -> None:
    found = search.search("What did Ines buy last week?", 8)
    assert paths(found) == ["Garden.md", "Meeting.md", *(each.path for each in DAYS.values())]
    limited = "what did ines buy  ? date:2026-11-16..2026-11-22"
    assert [query.split() for query, _ in searches.queries[1:]] == [limited.split()]


def test_a_question_without_a_period_is_searched_once(
    search: PeriodSearch, searches: Searches
) -> None:
    assert paths(search.search("What do beans need?", 8)) == ["Garden.md"]
    assert searches.queries == [("What do beans need?", 8)]
