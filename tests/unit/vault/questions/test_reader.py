"""Questions are read against what the vault has, and claim nothing that was not understood."""

import json
from pathlib import PurePosixPath
from typing import Final

import pytest

from tests.benchmarks.retrieval.bench_phrasings import QUESTIONS, Phrasing, read_phrasings
from tests.unit.vault.conftest import NotesIndexer
from vault.questions.reader import Reading
from vault.vault import Vault

NOTES: Final = json.loads((QUESTIONS / "phrasings-notes.json").read_text("utf-8"))
PHRASINGS: Final = tuple(read_phrasings())
# Answered by a search, and read as a date in any property.
SEARCHED: Final = frozenset({"en-26", "en-40"})
OTHER_DATES: Final = frozenset({"fr-22"})


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize("phrasing", PHRASINGS, ids=lambda phrasing: phrasing.id)
def test_a_phrasing_is_read_as_what_it_asks_for(index: Vault, phrasing: Phrasing) -> None:
    reading = index.read_question(phrasing.question)
    if phrasing.id in SEARCHED:
        assert reading is None
        return
    assert reading is not None
    if reading.operation == "value":
        assert phrasing.asks == "value"
        path, name = reading.path, reading.property
        assert f"{name}: {phrasing.right[0]}" in NOTES[path]
        return
    found = index.list_notes(reading.query, 100)
    if phrasing.asks == "count":
        assert found.total == int(phrasing.right[0])
    elif phrasing.asks == "value":
        assert all(any(each in hit.text for hit in found.hits) for each in phrasing.right)
    elif phrasing.id not in OTHER_DATES:
        listed = {PurePosixPath(hit.path).stem for hit in found.hits}
        assert (reading.operation, listed) == ("list", set(phrasing.right))


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("List every note tagged #seeds", "tag:seeds"),
        ("list all of my notes", ""),
        ("Show me all notes about climbing beans.", "climbing beans"),
        ("Give me every note in the folder House that mentions the gutter", "folder:House gutter"),
        ("Which notes mention mildew?", "mildew"),
        ("List all notes tag:recipe before:2024", "tag:recipe before:2024-01-01"),
        ("How many notes are there?", ""),
        ("In how many notes is the base fee mentioned?", "base fee"),
        ("Wie viele Notizen erwähnen Kompost?", "Kompost"),
        ("Combien de notes parlent de compost ?", "compost"),
        ("¿Cuántas notas mencionan abono?", "abono"),
        ("Liste alle Notizen zu Kompost auf.", "Kompost"),
        ("Liste toutes les notes qui parlent de compost", "compost"),
        ("Lista todas las notas que mencionan abono", "abono"),
        ("Which notes have the tag sweet or house?", "tag:sweet OR tag:house"),
        ("Which recipes are not sweet?", "tag:recipe -tag:sweet"),
        ("all books with rating at least 4", "tag:book [rating:>=4]"),
        ("Which notes are not in House?", "-folder:House"),
        ("Which of my books are by Jane Austen?", "tag:book [author:Jane Austen]"),
        ("How many people are there?", "folder:People"),
        ("list all notes tag:house OR tag:book", "tag:house OR tag:book"),
    ],
)
def test_a_question_for_every_note_becomes_a_query(index: Vault, question: str, query: str) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert reading.operation in ("list", "count")
    assert reading.query == query


@pytest.mark.parametrize(
    "question",
    [
        "Which note says how deep beans are sown?",
        "How many notes fit into one message?",
        "How many eggs does the tortilla need?",
        "List the ingredients of every soup",
        "What do my notes say about mildew?",
        "Show me the budget",
        "Which books did I not finish?",
        "Which notes in House do not mention the gutter?",
        "How many notes did Maria write?",
        "What is the pressure of the boiler?",
        "Which notes have no tasks about mildew?",
        "Which notes have open tasks that mention compost?",
        "Welche Notizen haben keine Aufgaben zu Kompost?",
    ],
)
def test_what_is_not_understood_claims_nothing(index: Vault, question: str) -> None:
    reading = index.read_question(question)
    assert reading is None or reading.operation == "about"


def test_words_that_are_left_over_are_searched(index: Vault) -> None:
    reading = index.read_question("Which notes in House leak?")
    assert reading == Reading("about", "folder:House leak")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("List all notes with the tag #recipe", "3 notes with the tag #recipe"),
        ("Which notes have the tag #winter?", "No note with the tag #winter"),
        (
            "Which notes in House have the tag tech?",
            "1 note in the folder “House”, with the tag #tech",
        ),
        ("Which recipes are not sweet?", "2 notes with the tag #recipe, without the tag #sweet"),
        ("Which notes link to Server?", "1 note with a link to “Server”"),
        ("Which notes mention kernel?", "1 note containing “kernel”"),
        (
            "List recipes with a rating above 3",
            "2 notes with the tag #recipe, with rating: above 3",
        ),
        ("How many open tasks are there in House?", "2 open tasks in the folder “House”"),
    ],
)
def test_the_sentence_names_the_filter(index: Vault, question: str, told: str) -> None:
    reading = index.read_question(question)
    assert reading is not None
    said = index.list_notes(reading.query, 100).describe_total()
    assert said == f"{told}; searched all {len(NOTES)} notes."


def test_literal_words_are_counted_literally(index_of_notes: NotesIndexer) -> None:
    notes = {
        "A.md": "The pump leaks.\n",
        "B.md": "A pump.\n",
        "C.md": "Two pumps.\n",
        "D.md": "Pumping took an hour.\n",
    }
    index = index_of_notes(notes)
    said = index.list_notes("pump", 10).describe_total()
    assert said == "2 notes containing “pump”; 2 more are close; searched all 4 notes."
    said = index.list_notes("leaking", 10).describe_total()
    assert said == "No note containing “leaking”; 1 is close; searched all 4 notes."
    assert [hit.path for hit in index.list_notes("pump", 10).hits[:2]] == ["B.md", "A.md"]


def test_an_amount_of_money_is_found_with_a_year_beside_it(index_of_notes: NotesIndexer) -> None:
    notes = {
        "2026-11-24.md": "Goggles, 20€ at the sale.\n",
        "2026-10-20.md": "The 20 eggs are laid, 20 in all, see 20.\n",
        "2025-11-24.md": "A lamp for 20 €.\n",
    }
    index = index_of_notes(notes)
    for question in ("Which notes mention 20€ in 2026?", "Which notes mention 20 EUR in 2026?"):
        reading = index.read_question(question)
        assert reading is not None
        listed = index.list_notes(reading.query, 10)
        assert (listed.literal, listed.hits[0].path) == (1, "2026-11-24.md")


@pytest.mark.parametrize(
    "asked", ["1000 €", "1.000 €", "1,000 EUR", "1 000 €", "€1000", "1000 euros", "1'000.00 €"]
)
def test_money_is_found_in_any_way_of_writing(index_of_notes: NotesIndexer, asked: str) -> None:
    notes = {
        "Pot.md": "A pot, 1000€.\n",
        "Rug.md": "A rug, 1.000 €.\n",
        "Sofa.md": "A sofa, 1,000 EUR.\n",
        "Jar.md": "A jar, 1 000 €.\n",
        "Mat.md": "A mat, EUR1000 or 1000EUR.\n",
        "Cup.md": "A cup, 1,000.00 €.\n",
        "Loan.md": "A loan, 12 000 €, less 1000 kg and -1000 €.\n",
        "Fund.md": "A fund, €1000 million.\n",
    }
    index = index_of_notes(notes)
    reading = index.read_question(f"Which notes mention {asked}?")
    assert reading is not None
    listed = index.list_notes(reading.query, 10)
    found = {hit.path for hit in listed.hits[: listed.literal]}
    assert found == {"Pot.md", "Rug.md", "Sofa.md", "Jar.md", "Mat.md", "Cup.md"}


def test_decimals_of_money_are_found_in_any_way_of_writing(index_of_notes: NotesIndexer) -> None:
    index = index_of_notes({"A.md": "A hose, $5.50.\n", "B.md": "A hat, 5,5 USD.\n"})
    listed = index.list_notes("5.5 dollars", 10)
    assert listed.literal == 2


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("list notes with author Old", ["B1.md"]),
        ("list notes with author Mark Old", ["B1.md"]),
        ("notes with author Will", ["B2.md"]),
        ("list notes with state old", ["B2.md"]),
        ("list old notes", ["B2.md"]),
    ],
)
def test_a_part_of_a_name_is_known_among_the_values_of_its_property(
    index_of_notes: NotesIndexer, question: str, paths: list[str]
) -> None:
    notes = {
        "B1.md": "---\nauthor: Mark Old\nstate: new\n---\nText.\n",
        "B2.md": "---\nauthor: Will New\nstate: old\n---\nText.\n",
    }
    index = index_of_notes(notes)
    reading = index.read_question(question)
    assert reading is not None
    assert reading.operation == "list"
    assert [hit.path for hit in index.list_notes(reading.query, 10).hits] == paths


def test_a_part_of_two_names_claims_no_list(index_of_notes: NotesIndexer) -> None:
    notes = {
        "B1.md": "---\nauthor: Mark Old\n---\nText.\n",
        "B2.md": "---\nauthor: Anna Old\n---\nText.\n",
    }
    reading = index_of_notes(notes).read_question("list notes with author Old")
    assert reading is None or reading.operation == "about"
