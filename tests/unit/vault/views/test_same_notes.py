"""A filter chooses the same notes, whichever way it is said: query, list, base or Dataview."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.vault.views.conftest import WordIndexer
from vault.search.conditions import Condition
from vault.search.query import Query, parse_query, write_query
from vault.vault import Vault
from vault.views.base import read_base
from vault.views.base_writer import write_base
from vault.views.blocks import ViewBlock, compute_block
from vault.views.view import ComputedView, View

STATUS = ("open", "done", "", None)
NOTES = {
    f"{folder}/Note {number}.md": "---\n"
    + (f"status: {STATUS[number % 4]}\n" if STATUS[number % 4] is not None else "")
    + (f"rating: {number % 6}\n" if number % 5 else "")
    + (f"due: 2026-0{number % 9 + 1}-10\n" if number % 3 else "")
    + ("genre: [epic, 'old: one']\n" if number % 4 == 1 else "")
    + "---\n"
    + ("#book/novel\n" if number % 7 == 0 else "#book\n" if number % 2 else "Nothing.\n")
    + ("[[Hub]]\n" if number % 3 == 1 else "")
    for number, folder in enumerate(("A", "A/B", "C", "B") * 6)
} | {"Hub.md": "See [[Note 1]] and [[Note 2]].\n", "Bare.md": "No properties.\n"}


@pytest.fixture(scope="module")
def vault(index_words: WordIndexer) -> Vault:
    return index_words(NOTES)


def conditions() -> st.SearchStrategy[Condition]:
    """Build conditions that each of the four ways can say."""
    values = st.sampled_from(["open", "done", "5", "epic", "old: one", "2026-04-10"])
    limits = st.sampled_from(["<", "<=", ">", ">="])
    numbers = st.sampled_from(["0", "3", "4.5", "2026-04-10"])
    names = st.sampled_from(["status", "rating", "due", "genre", "absent"])
    plain = st.one_of(
        st.builds(Condition, st.just("tag"), st.sampled_from(["book", "book/novel", "none"])),
        st.builds(Condition, st.just("folder"), st.sampled_from(["/A", "/A/B", "/B", "/x"])),
        st.builds(Condition, st.just("link"), st.sampled_from(["Hub", "Note 1", "Nobody"])),
        st.builds(Condition, st.just("property"), values, names),
        st.builds(Condition, st.just("property"), st.just("*"), names),
        st.builds(Condition, st.just("property"), numbers, names, limits),
        st.builds(
            Condition, st.just("property"), st.sampled_from(["e", "op"]), names, st.just("~")
        ),
        st.builds(
            Condition, st.just("property"), st.just("/A"), st.just("file.path"), st.just("~")
        ),
        st.builds(Condition, st.just("property"), st.just("md"), st.just("file.ext")),
    )
    return st.builds(
        lambda one, is_negated: Condition(one.key, one.value, one.name, one.comparison, is_negated),
        plain,
        st.booleans(),
    )


CLAUSES = st.lists(st.lists(conditions(), min_size=1, max_size=3).map(tuple), max_size=3).map(tuple)


def compute(vault: Vault, kind: str, text: str) -> set[str]:
    block = ViewBlock("base" if kind == "base" else "dataview", text, (1, 1))
    (view,) = compute_block(vault, block, "Hub.md").views
    assert isinstance(view, ComputedView), view
    return {row.path for row in view.rows}


@settings(deadline=None, max_examples=25)
@given(clauses=CLAUSES)
def test_a_filter_chooses_the_same_notes_in_a_query_a_base_and_dataview(
    vault: Vault, clauses: tuple[tuple[Condition, ...], ...]
) -> None:
    query = Query("", clauses=clauses)
    text = write_query(query)
    assert parse_query(text).clauses == clauses
    listed = {hit.path for hit in vault.list_notes(text, 100).hits}
    written = write_base(query, "All")
    assert written is not None
    assert compute(vault, "base", written) == listed
    assert compute(vault, "dataview", f"LIST WHERE {write_where(query)}") == listed


@settings(deadline=None, max_examples=60)
@given(clauses=CLAUSES)
def test_a_base_that_is_written_is_read_as_the_same_filter(
    clauses: tuple[tuple[Condition, ...], ...],
) -> None:
    written = write_base(Query("", clauses=clauses), "Books")
    assert written is not None
    (view,) = read_base(written, None, datetime(2026, 11, 27))
    assert isinstance(view, View)
    assert view.is_query
    assert set(view.query.clauses) == {tuple(dict.fromkeys(clause)) for clause in clauses}


def write_where(query: Query) -> str:
    """Write a query as a condition of Dataview."""
    clauses = (" OR ".join(map(write_condition, clause)) for clause in query.clauses)
    return " AND ".join(f"({clause})" for clause in clauses) or "true"


def write_condition(one: Condition) -> str:
    field = {"file.path": "file.path", "file.ext": "file.ext"}.get(one.name, one.name)
    value = f'"{one.value}"'
    if one.name in ("rating", "due") or one.comparison not in ("=", "~"):
        value = f"date({one.value})" if "-" in one.value else value.strip('"')
        value = value if one.value[0].isdigit() else f'"{one.value}"'
    text = {
        "tag": f'contains(file.tags, "#{one.value}")',
        "folder": f'file.infolder("{one.value}")',
        "link": f"contains(file.outlinks, [[{one.value}]])",
    }.get(one.key, f"{field} {one.comparison} {value}")
    if one.name and one.value == "*":
        text = f"{field} != null"
    elif one.comparison == "~":
        text = f'contains({field}, "{one.value}")'
    return f"!({text})" if one.is_negated else text


@pytest.mark.parametrize(
    "question",
    [
        "List all notes tagged #book",
        "Which notes have a rating of at least 3?",
        "How many notes with status done are tagged #book?",
        "List the notes that link to Hub",
        "Which notes are not tagged #book?",
        "List the notes in the folder B",
        "Which notes are not in the folder B?",
        "List the notes with a rating between 2 and 4",
    ],
)
def test_a_question_for_a_list_chooses_the_same_notes_as_its_base(
    vault: Vault, question: str
) -> None:
    reading = vault.read_question(question)
    assert reading is not None
    listed = {hit.path for hit in vault.list_notes(reading.query, 100).hits}
    written = write_base(parse_query(reading.query))
    assert written is not None
    assert compute(vault, "base", written) == listed
    assert listed


@pytest.mark.parametrize(
    "query",
    ["soup", "task:open", '"word for word"', "date:2024-03", "linked-from:Hub"],
)
def test_what_a_base_cannot_say_is_not_written(query: str) -> None:
    assert write_base(parse_query(query)) is None


@pytest.mark.parametrize(
    ("query", "filter_"),
    [
        ("tag:book", 'file.hasTag("book")'),
        ("-tag:book", '!file.hasTag("book")'),
        ("[rating:>=4 <=5]", "note.rating >= 4 && note.rating <= 5"),
        ("[due date:<2026-01-01]", 'note["due date"] < date("2026-01-01")'),
        ("[status:!=done]", '!note.status.isEmpty() && note.status != "done"'),
        ('path:"a b"', 'file.path.contains("a b")'),
        ("has:tag", "!file.tags.isEmpty()"),
    ],
)
def test_a_filter_is_written_as_obsidian_writes_it(query: str, filter_: str) -> None:
    written = write_base(parse_query(query), "Kept")
    assert written is not None
    assert filter_ in written.replace("'", "")
    assert written.endswith("views:\n- type: table\n  name: Kept\n  order:\n  - file.name\n")
