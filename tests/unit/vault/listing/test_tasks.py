"""Lists of tasks, by their status, their dates and their words."""

from datetime import date

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

NOTES = {
    "Todo.md": (
        "# Todo\n\n## House\n\n- [ ] Call the roofer 📅 2026-11-28\n"
        "- [x] Change the bulb ✅ 2026-11-20\n- [ ] Paint the shed #garden\n\n"
        "## Work\n\n- [ ] Send the invoice to Peter 📅 2026-11-24\n"
    ),
    "Roof.md": "# Roof\n\nThe tiles are old.\n\n- [ ] Ask the insurance\n- [-] Buy a ladder\n",
    "Soup.md": "# Soup\n\nBoil the lentils.\n",
    "Secret.md": "---\nprivate: true\n---\n- [ ] Hide the gift\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("task:open", [("Roof.md", 5), ("Todo.md", 5), ("Todo.md", 7), ("Todo.md", 11)]),
        ("task:done", [("Todo.md", 6)]),
        ("task:open roof", [("Roof.md", 5), ("Todo.md", 5)]),
        ("task:open house", [("Todo.md", 5), ("Todo.md", 7)]),
        ("task:open date:..2026-11-30", [("Todo.md", 11), ("Todo.md", 5)]),
        ("task:done date:2026-11", [("Todo.md", 6)]),
        ("task:open path:Roof", [("Roof.md", 5)]),
        ("task:open lentils", []),
    ],
)
def test_tasks_are_listed_with_their_lines(
    index: Vault, query: str, lines: list[tuple[str, int]]
) -> None:
    result = index.list_notes(query, 10)
    assert [(hit.path, hit.lines[0]) for hit in result.hits] == lines
    assert result.total == len(lines)


def test_a_list_of_tasks_counts_tasks_and_has_pages(index: Vault) -> None:
    page = index.list_notes("task:open", 3)
    assert (len(page.hits), page.next) == (3, 3)
    assert page.describe_total() == "4 open tasks match; searched all 3 notes."
    assert page.hits[1].text == "- [ ] Call the roofer 📅 2026-11-28"
    (last,) = index.list_notes("task:open", 3, 3).hits
    assert last.text == "- [ ] Send the invoice to Peter 📅 2026-11-24"


def test_where_no_task_has_all_words_those_with_the_most_are_listed(index: Vault) -> None:
    result = index.list_notes("task:open insurance shed", 10)
    assert result.is_partial
    assert result.warnings == (
        "No open task holds all of the words; those that hold the most are listed.",
    )
    assert {hit.path for hit in result.hits} == {"Roof.md", "Todo.md"}


def test_a_search_can_be_limited_to_passages_with_tasks(index: Vault) -> None:
    assert {hit.path for hit in index.search("task:open roof", 10).hits} == {"Roof.md", "Todo.md"}


@pytest.fixture(scope="module")
def dated(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(
        {
            "Work.md": (
                "# Work\n\n- [ ] Pay the tax 📅 2026-11-20\n- [ ] Sort the shelf ⏳ 2026-11-19\n"
                "- [ ] Call Ann ⏳ 2026-11-18 📅 2026-12-24\n- [x] Post it 📅 2026-11-12\n"
                "- [ ] Write (due: 2026-11-21)\n- [ ] Ring Bo on 2026-11-22\n- [ ] Buy tea\n"
            )
        }
    )


@pytest.mark.parametrize(
    ("query", "lines", "told"),
    [
        (
            "task:open due:..2026-11-25",
            [3, 7, 8],
            "3 open tasks due until 2026-11-25; searched 1 note."
            " 2 others are scheduled for that time, but not due.",
        ),
        (
            "task:open due:2026-11-19",
            [],
            "No open task due 2026-11-19; searched 1 note."
            " 1 other is scheduled for that time, but not due.",
        ),
        ("due:2026-11-12", [6], "1 task due 2026-11-12; searched 1 note."),
        ("task:open due:2026-12", [5], None),
        ("task:open due:..", [3, 7, 8, 5], None),
    ],
)
def test_tasks_that_are_only_scheduled_are_not_due(
    dated: Vault, query: str, lines: list[int], told: str | None
) -> None:
    result = dated.list_notes(query, 10)
    assert [hit.lines[0] for hit in result.hits] == lines
    assert told is None or result.describe_total() == told


def test_what_is_overdue_is_asked_by_due_dates(dated: Vault) -> None:
    reading = dated.read_question("Which tasks are overdue?", date(2026, 11, 21))
    assert reading is not None
    assert reading.query == "task:open due:..2026-11-20"
    assert [hit.lines[0] for hit in dated.list_notes(reading.query, 10).hits] == [3]


@pytest.fixture(scope="module")
def planned(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(
        {
            "Plan.md": (
                "# Plan\n\n- [ ] Paint the fence 📅 2026-11-20\n- [ ] Paint the shed blue\n"
                "- [ ] Paint the door 📅 2026-11-21\n- [ ] Sort the shelf ⏳ 2026-11-19\n"
                "- [ ] Call Ann scheduled: 2026-11-18 📅 2026-12-24\n"
                "- [ ] File the report of 2026-10-05 📅 2026-12-30\n"
            )
        }
    )


@pytest.mark.parametrize(
    ("query", "lines", "scheduled"),
    [
        ("task:open due:..2026-11-26", [3, 5], 2),
        # Only a task that is not due holds both words.
        ("task:open due:..2026-11-26 paint blue", [3, 5], 0),
        ("task:open due:..2026-11-26 paint door", [5], 0),
        ("task:open due:..2026-11-26 shelf", [], 1),
        ("task:open due:..2026-11-26 shelf table", [], 0),
        # A condition of its own, beside the time of the due date.
        ("task:open due:..2026-11-26 date:2026-12", [], 1),
        ("task:open due:2026-11 date:2026-11-19", [], 1),
        # The report is from that month, which is no day that its task is scheduled for.
        ("task:open due:2026-10", [], 0),
    ],
)
def test_the_tasks_that_are_only_scheduled_are_counted(
    planned: Vault, query: str, lines: list[int], scheduled: int
) -> None:
    result = planned.list_notes(query, 10)
    assert [hit.lines[0] for hit in result.hits] == lines
    assert result.scheduled == scheduled
