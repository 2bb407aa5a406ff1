"""Questions for every note, and the pages that answer them."""

from collections.abc import Mapping

import pytest

from chains.extractive.model import LIST_SOURCE
from chains.retrieval.listing import build_page
from chains.retrieval.listing_query import (
    ListQuery,
    describe_list,
    list_filter_parts,
    read_list_query,
)
from context.tokens import ByteEstimator, count_segment
from tests.support.sessions.memory_session import hit
from vault.questions.reader import Operation, Reading
from vault.search.hits import SearchResult


@pytest.mark.parametrize(
    ("operation", "listed"),
    [
        ("list", ListQuery("tag:seeds")),
        ("count", ListQuery("tag:seeds")),
        ("about", ListQuery("tag:seeds", is_tentative=True)),
        ("value", None),
    ],
)
def test_a_reading_for_a_list_becomes_a_query(
    operation: Operation, listed: ListQuery | None
) -> None:
    reading = Reading(operation, "tag:seeds")
    assert read_list_query("Which seeds are there?", (), lambda _text: reading) == listed


def test_a_list_says_which_question_was_left_out() -> None:
    reading = Reading("count", "tag:seeds", left_out="and when are *they* sown?")
    message = "How many seeds are there, and when are *they* sown?"
    listed = read_list_query(message, (), lambda _text: reading)
    assert listed is not None
    page = build_page(SearchResult("", (), 0.0, total=0), listed, (), 1_000, ByteEstimator())
    told = r"Only the first question was read, not “and when are \*they\* sown?”."
    assert page.summary.endswith(told)


def test_a_message_that_asks_to_go_on_without_a_list_is_none() -> None:
    assert read_list_query("more", (), lambda _text: Reading("more", "")) is None


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        (
            "tag:recipe folder:House",
            {
                "with the tag #recipe": "List all notes folder:House",
                "in the folder “House”": "List all notes tag:recipe",
            },
        ),
        ("tag:recipe", {"with the tag #recipe": "List all notes"}),
        (
            "task:open folder:House date:..2026-11-30",
            {
                "in the folder “House”": "List all tasks task:open date:..2026-11-30",
                "dated until 2026-11-30": "List all tasks task:open folder:House",
            },
        ),
        (
            "tag:bees honey jars",
            {
                "with the tag #bees": "List all notes about honey jars",
                "containing “honey jars”": "List all notes tag:bees",
            },
        ),
        ("", {}),
    ],
)
def test_each_part_of_a_filter_can_be_taken_away(query: str, parts: Mapping[str, str]) -> None:
    found = list_filter_parts({"listed": {"query": query, "next": None, "total": 1}})
    assert {part.text: part.without for part in found} == parts
    told = describe_list(ListQuery(query))
    assert told["parts"] == [{"text": each.text, "without": each.without} for each in found]
    assert told["text"] == ", ".join(parts)


def test_an_answer_that_is_no_list_has_no_filter() -> None:
    assert list_filter_parts({"searchedBy": ["words"]}) == ()


def result(count: int, total: int) -> SearchResult:
    hits = tuple(hit(f"Note {n}.md", f"line {n}") for n in range(count))
    return SearchResult("q", hits, 0.0, total=total, searched=300)


def test_a_page_numbers_its_notes_and_says_how_many_there_are() -> None:
    page = build_page(result(3, 3), ListQuery("q"), (), 10_000, ByteEstimator())
    assert [s.number for s in page.segments] == [None, 1, 2, 3]
    assert page.segments[0].raw_content == "3 notes match; searched all 300 notes."
    assert page.stored_fields["listed"] == {"query": "q", "next": None, "total": 3}


def test_a_page_keeps_to_its_room_and_says_where_it_ends() -> None:
    page = build_page(result(100, 250), ListQuery("q", 20), (), 400, ByteEstimator())
    shown = len(page.segments) - 1
    assert 1 <= shown < 100
    assert page.stored_fields["listed"]["next"] == 20 + shown
    assert page.summary == (
        f"250 notes match; searched all 300 notes. 21 to {20 + shown} are listed here."
        " Ask for more to see the next."
    )
    assert page.segments[0].source == LIST_SOURCE


@pytest.mark.parametrize("room", [-500, 0, 10, 60, 100, 200, 400, 1_000])
@pytest.mark.parametrize(("count", "total"), [(1, 1), (30, 30), (30, 200)])
def test_a_page_never_takes_more_than_its_room(room: int, count: int, total: int) -> None:
    counter = ByteEstimator()
    page = build_page(result(count, total), ListQuery("q"), (), room, counter)
    shown = len(page.segments) - 1
    assert not shown or sum(count_segment(part, counter) for part in page.segments) <= room
    assert page.stored_fields["listed"]["next"] == (shown if shown < total else None)
    assert ("no room to list them" in page.summary) == (not shown)
    assert (f"1 to {shown} are listed" in page.summary) == (0 < shown < total)


def test_where_nothing_matches_that_is_the_answer() -> None:
    page = build_page(result(0, 0), ListQuery("q"), (), 400, ByteEstimator())
    assert page.summary == "No note matches; searched all 300 notes."
    assert [segment.raw_content for segment in page.segments] == [page.summary]
