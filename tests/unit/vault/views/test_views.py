"""Bases and Dataview queries, from their text to the rows that they show."""

import os
from datetime import date, datetime

import pytest

from resources.system.calls import read_creation_s
from tests.unit.vault.views.conftest import WordIndexer, update_words
from vault.vault import Vault
from vault.views.blocks import (
    ComputedBlock,
    ViewBlock,
    compute_block,
    find_view_blocks,
    write_markdown,
)
from vault.views.view import ComputedView

NOTES = {
    "Books/Dune.md": "---\nrating: 5\nprice: 12.5\nage: 5\nstatus: done\ngenre: [sci-fi, epic]\n"
    "tags: [book/novel]\nread: 2026-03-01\nauthor: '[[Frank Herbert]]'\n---\nSee [[Sand]].\n",
    "Books/Emma.md": "---\nrating: 4\nprice: 8\nage: 2\nstatus: reading\nread: 2026-01-10\n---\n"
    "#book and [[Sand|sand]]\n- [ ] Finish it 📅 2026-11-20\n- [x] Buy it\n",
    "Books/Old/Iliad.md": "---\nrating: 3\nauthor: Homer\ndue date: 2026-02-02\n---\n#book\n"
    "- [ ] Lend it\n- [-] Sell it\n",
    "Sand.md": "Grains.\nweight:: 3 kg\n",
    "Secret.md": "---\nprivate: true\nrating: 5\n---\n#book\n",
    "Empty.md": "",
    "Frank Herbert.md": "A writer. #person\n",
    "Plan.pdf.txt": "Not Markdown. rating 5",
}
NOW = datetime(2026, 11, 27, 12, 0)


@pytest.fixture(scope="module")
def vault(index_words: WordIndexer) -> Vault:
    return index_words(NOTES)


@pytest.fixture(scope="module")
def numbers(index_words: WordIndexer) -> Vault:
    amounts = ("4,5", "1,400", None, "3 kg", "-1,5")
    return index_words(
        {
            f"n{number}.md": "Nothing." if amount is None else f"---\namount: {amount}\n---\n"
            for number, amount in enumerate(amounts)
        }
    )


def run(vault: Vault, kind: str, text: str, path: str = "Books/Dune.md") -> ComputedBlock:
    block = ViewBlock("base" if kind == "base" else "dataview", text, (1, 1))
    return compute_block(vault, block, path, now=NOW)


def names(vault: Vault, kind: str, text: str) -> list[str]:
    (view,) = run(vault, kind, text).views
    assert isinstance(view, ComputedView), view
    return [row.path.rpartition("/")[2].partition(".")[0] for row in view.rows]


ALL = ["Dune", "Emma", "Iliad"]


@pytest.mark.parametrize(
    ("filter_", "found"),
    [
        ('file.hasTag("book")', ALL),
        ('file.hasTag("#book/novel", "person")', ["Dune", "Frank Herbert"]),
        ('!file.hasTag("book") && file.ext == "md"', ["Empty", "Frank Herbert", "Sand"]),
        ('file.inFolder("Books")', ALL),
        ('file.inFolder("Old")', []),
        ('file.hasLink("Sand")', ["Dune", "Emma"]),
        ('file.hasProperty("author")', ["Dune", "Iliad"]),
        ("rating > 3", ["Dune", "Emma"]),
        ("3 < note.rating", ["Dune", "Emma"]),
        ('rating >= 3 && status != "done"', ["Emma", "Iliad"]),
        ('genre.contains("epic")', ["Dune"]),
        (
            'genre.containsAny("epic", "x") || note["due date"] < date("2026-03-01")',
            ["Dune", "Iliad"],
        ),
        ('author == link("Frank Herbert")', ["Dune"]),
        ('author == "homer"', ["Iliad"]),
        ("status.isEmpty() && rating", ["Iliad"]),
        ('read > date("2026-02-01")', ["Dune"]),
        ('read < today() - "300 days"', ["Emma"]),
        ('file.folder == "Books"', ["Dune", "Emma"]),
        ('file.name.contains("a") && file.folder == "/"', ["Frank Herbert", "Plan", "Sand"]),
        ('file.basename.startsWith("I")', ["Iliad"]),
        ("formula.ppu > 3", ["Emma"]),
        ('formula.ppu > 3 || file.hasTag("person")', ["Emma", "Frank Herbert"]),
        ('!(formula.ppu > 3) && file.inFolder("Books")', ["Dune", "Iliad"]),
        ("file.size == 0", ["Empty"]),
        ('file.mtime > now() - "1 week" && file.ext == "txt"', ["Plan"]),
    ],
)
def test_a_filter_of_a_base_chooses_the_notes(vault: Vault, filter_: str, found: list[str]) -> None:
    base = f"formulas: {{ppu: price / age}}\nfilters: {filter_!r}\n"
    if "'" not in filter_:
        base = f"formulas: {{ppu: price / age}}\nfilters: '{filter_}'\n"
    assert sorted(names(vault, "base", base)) == sorted(found)


def test_and_or_and_not_of_a_base_are_nested(vault: Vault) -> None:
    base = """
filters:
  or:
    - file.hasTag("person")
    - and: ['file.inFolder("Books")', rating >= 4]
    - not: ['file.hasTag("book")', 'file.ext == "txt"', 'file.basename == "Empty"']
views:
  - {type: table, name: All}
"""
    assert sorted(names(vault, "base", base)) == ["Dune", "Emma", "Frank Herbert", "Sand"]


def test_a_view_has_columns_order_groups_and_a_limit(vault: Vault) -> None:
    base = """
filters: file.hasTag("book")
formulas:
  ppu: (price / age).toFixed(2)
  shown: 'if(price, price.toFixed(2) + " €", "none")'
properties:
  rating: {displayName: Stars}
  formula.ppu: {displayName: Per year}
views:
  - type: cards
    name: Best
    order: [file.name, rating, formula.ppu, formula.shown, genre, file.tags]
    sort: [{property: rating, direction: ASC}]
    groupBy: {property: status, direction: DESC}
    limit: 2
  - type: list
    name: Names
    sort: [{property: file.name, direction: DESC}]
"""
    best, listed = run(vault, "base", base).views
    assert isinstance(best, ComputedView)
    assert isinstance(listed, ComputedView)
    assert [column.name for column in best.view.columns][:4] == [
        "Name",
        "Stars",
        "Per year",
        "shown",
    ]
    assert [(row.group, *row.cells[1:4]) for row in best.rows] == [
        ("reading", "4", "4.00", "8.00 €"),
        ("done", "5", "2.50", "12.50 €"),
    ]
    assert best.rows[1].cells[4:] == ("sci-fi, epic", "#book/novel")
    assert write_markdown(listed).splitlines()[0] == "- [[Books/Old/Iliad.md|Iliad]]"


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("filters: file.birth > now()", "file.birth is not understood."),
        ("filters: fancy(rating)", "The function fancy() is not understood."),
        ("filters: status.matches('a', '')", "The function matches() is not understood."),
        ("filters: {xor: [rating]}", "The filter"),
        ("filters: rating >", "rating > is not understood."),
        ("views: [{type: table, limit: soon}]", "limit: soon is not understood."),
        ("views: [{type: table, order: [formula.x]}]", "formula.x is not understood."),
        ("a: [", "no valid YAML"),
        ("sources: all", "sources: is not understood."),
    ],
)
def test_what_a_base_says_that_is_not_understood_is_named(
    vault: Vault, base: str, said: str
) -> None:
    (view,) = run(vault, "base", base).views
    assert isinstance(view, str)
    assert said in view


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("LIST FROM #book", ALL),
        ('list from "Books" and -#book/novel', ["Emma", "Iliad"]),
        ('LIST FROM "Books/Old" OR "Sand"', ["Iliad", "Sand"]),
        ('LIST FROM (#book OR #person) AND !"Books/Old"', ["Dune", "Emma", "Frank Herbert"]),
        ("LIST FROM [[Sand]]", ["Dune", "Emma"]),
        ("LIST FROM outgoing([[]])", ["Frank Herbert", "Sand"]),
        ("LIST WHERE rating >= 4", ["Dune", "Emma"]),
        ('LIST WHERE rating AND status != "done"', ["Emma", "Iliad"]),
        (
            'LIST WHERE contains(file.tags, "#book") and !contains(status, "done")',
            ["Emma", "Iliad"],
        ),
        ("LIST WHERE due-date < date(2026-03-01)", ["Iliad"]),
        ("LIST WHERE read > date(today) - dur(300 days)", ["Dune"]),
        ('LIST WHERE file.name = "Sand" OR file.folder = "Books/Old"', ["Iliad", "Sand"]),
        ('LIST WHERE startswith(file.name, "E")', ["Emma", "Empty"]),
        ("LIST WHERE author = [[Frank Herbert]]", ["Dune"]),
        ("LIST WHERE rating = this.rating", ["Dune"]),
        ("LIST WHERE weight", ["Sand"]),
        ("LIST FROM #book\nSORT rating DESC\nLIMIT 2", ["Dune", "Emma"]),
        ("LIST FROM #book SORT file.name desc\n// last first\nLIMIT 5", ["Iliad", "Emma", "Dune"]),
        ("TABLE rating FROM #book WHERE rating > 3 SORT read", ["Emma", "Dune"]),
    ],
)
def test_a_query_chooses_the_notes(vault: Vault, query: str, found: list[str]) -> None:
    assert names(vault, "dataview", query) == found


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("dataview", "LIST WHERE rating = this.rating"),
        ("dataview", "TABLE this.rating"),
        ("base", "filters: file.hasLink(this.file)\n"),
        ("base", "formulas: {a: this.rating, b: formula.a}\nviews: [{order: [formula.b]}]\n"),
    ],
)
def test_where_no_note_is_around_a_view_this_is_not_understood(
    vault: Vault, kind: str, source: str
) -> None:
    (found,) = run(vault, kind, source, path="").views
    assert found == '"this" outside of an indexed note is not understood.'


def test_a_table_has_the_columns_that_it_names(vault: Vault) -> None:
    columns = 'file.link AS "Book", rating * 2 AS Points, default(status, "?")'
    query = f"TABLE WITHOUT ID {columns}\nFROM #book"
    (view,) = run(vault, "dataview", query).views
    assert isinstance(view, ComputedView)
    assert write_markdown(view).splitlines() == [
        '| Book | Points | default(status, "?") |',
        "| --- | --- | --- |",
        "| [[Books/Dune.md\\|Dune]] | 10 | done |",
        "| [[Books/Emma.md\\|Emma]] | 8 | reading |",
        "| [[Books/Old/Iliad.md\\|Iliad]] | 6 | ? |",
    ]


@pytest.mark.parametrize(
    ("field", "cells"),
    [
        ("amount + 1", ["5.5", "2.4", "", "3 kg1", "-0.5"]),
        ("1 + amount", ["5.5", "2.4", "", "13 kg", "-0.5"]),
        ('amount + " €"', ["4.5 €", "1.4 €", "", "3 kg €", "-1.5 €"]),
        ("amount * 2", ["9", "2.8", "", "", "-3"]),
        ("amount", ["4.5", "1.4", "", "3 kg", "-1.5"]),
        ("amount > 4", ["true", "false", "false", "false", "false"]),
        ("round(amount + 0.4)", ["5", "2", "", "", "-1"]),
        ("round(file.name, 15)", ["", "", "", "", ""]),  # a petabyte, if the text is repeated
        ("amount + missing", ["", "", "", "", ""]),
    ],
)
def test_what_is_missing_is_no_number_and_a_decimal_comma_is_one(
    numbers: Vault, field: str, cells: list[str]
) -> None:
    (view,) = run(numbers, "dataview", f"TABLE WITHOUT ID {field}", "n0.md").views
    assert isinstance(view, ComputedView)
    assert [row.cells[0] for row in view.rows] == cells


def test_a_number_is_the_same_in_a_filter_and_in_a_formula(numbers: Vault) -> None:
    plain, formula = ("LIST WHERE amount > 4", "LIST WHERE amount + 0 > 4")
    assert names(numbers, "dataview", plain) == names(numbers, "dataview", formula) == ["n0"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("TASK", ["Finish it 📅 2026-11-20", "Buy it", "Lend it", "Sell it"]),
        ("TASK WHERE !completed", ["Finish it 📅 2026-11-20", "Lend it"]),
        ("TASK WHERE completed", ["Buy it"]),
        ("TASK WHERE !completed AND due < date(today)", ["Finish it 📅 2026-11-20"]),
        ('TASK FROM "Books/Old"', ["Lend it", "Sell it"]),
        ('TASK WHERE contains(text, "buy")', ["Buy it"]),
        ('TASK WHERE status = "-"', ["Sell it"]),
        ("TASK WHERE rating = 3 AND !completed", ["Lend it"]),
    ],
)
def test_a_query_for_tasks_lists_them(vault: Vault, query: str, found: list[str]) -> None:
    (view,) = run(vault, "dataview", query).views
    assert isinstance(view, ComputedView)
    assert [row.cells[0] for row in view.rows] == found
    assert all(row.version for row in view.rows)


TASKS = {
    "a": "scheduled first ⏳ 2020-01-01 📅 2030-01-01",
    "b": "late 🗓️2025-01-01 ➕ 2024-01-01",
    "c": "done late ✅ 2026-05-01 📅 2025-02-01",
    "d": "by fields [due:: 2025-03-01] [start:: 2026-01-01] [created:: 2020-02-02]",
    "e": "no mark 2020-01-01",
    "f": "only started 🛫 2020-01-01",
    "g": "no such day 📅 2020-13-45",
}


@pytest.fixture(scope="module")
def tasks(index_words: WordIndexer) -> Vault:
    plans = "".join(f"- [{'x' if n == 'c' else ' '}] {n} {text}\n" for n, text in TASKS.items())
    front = "---\ndue: 2000-01-01\nscheduled: 2000-01-01\ncreated: 2000-01-01\n---\n"
    return index_words({"Plan.md": f"{front}# Plan\n{plans}", "Other.md": "# Else\n- [ ] z\n"})


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("WHERE due < date(today)", "bcdefg"),
        ("WHERE date(today) > due", "bcdefg"),
        ("WHERE due", "abcdefg"),
        ("WHERE !due", "z"),
        ("WHERE due AND due <= date(2025-02-01)", "bcefg"),
        ("WHERE due = date(2030-01-01)", "a"),
        ("WHERE scheduled < date(today)", "abcdefg"),
        ("WHERE start < date(today)", "df"),
        ("WHERE completion > date(2026-01-01)", "c"),
        ("WHERE created < date(2021-01-01)", "acdefg"),
        ("WHERE !completed AND created", "abdefg"),
        ("WHERE due < date(today) OR start", "bcdefg"),
        ("WHERE due SORT due DESC", "adcbefg"),
        ("WHERE due - date(2024-01-01) < dur(370 days)", "befg"),
        ("WHERE section = [[Plan]]", "abcdefg"),
        ('WHERE meta(section).subpath = "Else"', "z"),
        ("WHERE line > 8 AND !completed", "defg"),
    ],
)
def test_a_day_of_a_task_is_that_of_its_mark_or_else_of_its_note(
    tasks: Vault, query: str, found: str
) -> None:
    (view,) = run(tasks, "dataview", f"TASK {query}", "Plan.md").views
    assert isinstance(view, ComputedView), view
    cells = [row.cells[0].partition(" ")[0] for row in view.rows]
    assert "".join(cells if "SORT" in query else sorted(cells)) == found


def test_a_day_of_a_note_makes_none_of_its_tasks_overdue(tasks: Vault) -> None:
    today = date(2026, 11, 27)
    for question in ("overdue tasks", "Which tasks are overdue?"):
        reading = tasks.read_question(question, today)
        assert reading is not None
        found = tasks.list_notes(reading.query, 50)
        assert {hit.text.partition("] ")[2][:1] for hit in found.hits} == set("bde")
    assert not tasks.list_notes("task:open due:2000-01-01", 50).hits


def test_tasks_are_grouped_by_their_note_or_section(vault: Vault) -> None:
    (view,) = run(vault, "dataview", "TASK WHERE !completed GROUP BY file.link").views
    assert isinstance(view, ComputedView)
    assert write_markdown(view).splitlines() == [
        "**[[Books/Emma.md|Emma]]**",
        "",
        "- [ ] Finish it 📅 2026-11-20 ([[Books/Emma.md|Emma]])",
        "",
        "**[[Books/Old/Iliad.md|Iliad]]**",
        "",
        "- [ ] Lend it ([[Books/Old/Iliad.md|Iliad]])",
    ]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("CALENDAR file.day", "CALENDAR is not understood."),
        ("LIST FROM #book GROUP BY status", "GROUP BY status is not understood."),
        ("TABLE x FLATTEN genre", "FLATTEN genre is not understood."),
        ('LIST FROM csv("a.csv")', "FROM csv"),
        ('LIST WHERE regexmatch("a", file.name)', "regexmatch()"),
        ("LIST WHERE file.day > date(today)", "file.day"),
        ("LIST LIMIT many", "LIMIT many"),
        ("LIST SORT", "is not understood"),
        ("TASK GROUP BY", "is not understood"),
        ("", "An empty query"),
    ],
)
def test_what_a_query_says_that_is_not_understood_is_named(
    vault: Vault, query: str, said: str
) -> None:
    (view,) = run(vault, "dataview", query).views
    assert isinstance(view, str)
    assert said in view


def test_an_empty_result_names_the_filter(vault: Vault) -> None:
    (view,) = run(vault, "base", "filters: 'file.hasTag(\"none\") && rating > 9'").views
    assert isinstance(view, ComputedView)
    assert write_markdown(view) == "No note matches: with the tag #none, with rating: above 9."


def test_rows_beyond_the_limit_are_counted(vault: Vault) -> None:
    block = ViewBlock("dataview", "LIST FROM #book", (1, 1))
    (view,) = compute_block(vault, block, "Sand.md", most=1, now=NOW).views
    assert isinstance(view, ComputedView)
    assert (view.total, len(view.rows)) == (3, 1)
    assert write_markdown(view).endswith("And 2 more.")


def test_the_blocks_of_a_note_are_found_also_in_a_callout(vault: Vault) -> None:
    text = (
        "# A\n```dataview\nLIST\n```\n\n> [!note]\n> ```base\n> views:\n>   - type: list\n> ```\n"
    )
    (vault.root / "Blocks.md").write_text(text, "utf-8")
    first, second = find_view_blocks(vault.read_note("Blocks.md"))
    assert (first.kind, first.text, first.lines) == ("dataview", "LIST", (2, 4))
    assert (second.kind, second.text, second.lines) == ("base", "views:\n  - type: list", (7, 10))


def test_a_base_file_is_a_note_with_one_block(vault: Vault) -> None:
    (vault.root / "Shelf.base").write_text("filters: rating > 4\r\n", "utf-8")
    (block,) = find_view_blocks(vault.read_note("Shelf.base"))
    assert (block.kind, block.text) == ("base", "filters: rating > 4")


def test_the_time_of_creation_is_that_of_the_file(index_words: WordIndexer) -> None:
    made = index_words({"New.md": "# New\n"})
    os.utime(made.root / "New.md", (1e9, 1e9))
    update_words(made)
    if read_creation_s(made.root / "New.md") is None:
        pytest.skip("this file system does not say when a file was created")
    assert names(made, "dataview", "LIST WHERE file.cday > date(2020-01-01)") == ["New"]
    assert names(made, "dataview", "LIST WHERE file.ctime > file.mtime") == ["New"]
    assert names(made, "base", "filters: 'file.ctime < date(\"2020-01-01\")'") == []
    table = "views: [{type: table, order: [file.name, file.ctime]}]"
    (view,) = run(made, "base", table, "New.md").views
    assert isinstance(view, ComputedView)
    assert [column.name for column in view.view.columns] == ["Name", "Created"]
