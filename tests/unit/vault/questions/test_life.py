"""Questions for lists, counts and properties to the notes of three people's lives."""

from pathlib import PurePosixPath

import pytest

from tests.benchmarks.retrieval.bench_life import LIVES, LifeQuestion, read_questions
from tests.benchmarks.retrieval.life_vault import make_life_notes
from tests.unit.vault.conftest import NotesIndexer
from vault.questions.reader import Reading
from vault.vault import Vault

# It says "in German", which is no filter.
SEARCHED = frozenset({"life-27"})
LISTS = {
    name: [each for each in read_questions(name) if each.asks in ("notes", "count")]
    for name in LIVES
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(make_life_notes())


@pytest.fixture(scope="module")
def theatre(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(make_life_notes("theatre"))


@pytest.fixture(scope="module")
def nurse(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(make_life_notes("nurse"))


@pytest.mark.parametrize("question", LISTS["life"], ids=lambda question: question.id)
def test_what_is_listed_and_counted_is_right(index: Vault, question: LifeQuestion) -> None:
    check_list(index, question)


@pytest.mark.parametrize("question", LISTS["theatre"], ids=lambda question: question.id)
def test_another_life_is_listed_and_counted_right(theatre: Vault, question: LifeQuestion) -> None:
    check_list(theatre, question)


@pytest.mark.parametrize("question", LISTS["nurse"], ids=lambda question: question.id)
def test_a_third_life_is_listed_and_counted_right(nurse: Vault, question: LifeQuestion) -> None:
    check_list(nurse, question)


def check_list(index: Vault, question: LifeQuestion) -> None:
    reading = index.read_question(question.question)
    assert reading is not None
    if question.id in SEARCHED:
        assert reading.operation == "about"
        return
    found = index.list_notes(reading.query, 100)
    if question.asks == "count":
        assert found.total == int(question.right[0])
    else:
        assert {PurePosixPath(hit.path).stem for hit in found.hits} == set(question.right)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("vegan soup recipes", "tag:vegan tag:soup tag:recipe"),
        ("Which recipes are vegan and a soup?", "tag:recipe tag:vegan tag:soup"),
        ("Which meetings with Helen?", "tag:meeting [attendees:Helen Okafor]"),
        ("Which recipes are from Maria?", "tag:recipe [source:Maria Lopez]"),
        (
            "Which meetings did Priya and Helen attend?",
            "tag:meeting [attendees:Priya Raman] [attendees:Helen Okafor]",
        ),
        ("Which recipes serve 4?", "tag:recipe [serves:4]"),
        (
            "Welche Werkzeuge kosten mehr als 100?",
            "tag:werkzeug [preis:>100]",
        ),
        (
            "Which books did I finish since March 2026?",
            "tag:book [finished:>=2026-03-01]",
        ),
        ("Which books did I finish before April 2026?", "tag:book [finished:<2026-04-01]"),
        ("Welche Notizen verlinkt Hochbeet?", "linked-from:Hochbeet"),
        ("Was verlinkt auf Hochbeet?", "link:Hochbeet"),
        ("Welche Notizen verlinken Kompost?", "link:Kompost"),
        ("Welche Notizen sind mit Kompost verlinkt?", "link:Kompost"),
        ("Worauf verlinkt Hochbeet?", "linked-from:Hochbeet"),
    ],
)
def test_words_are_linked_to_what_the_vault_has(index: Vault, question: str, query: str) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert (reading.operation, reading.query) == ("list", query)


@pytest.mark.parametrize(
    ("question", "path", "name"),
    [
        ("Which tags does the oven have?", "House/Oven.md", "tags"),
        ("Which tags does Maria Lopez have?", "People/Maria Lopez.md", "tags"),
        ("Welche Tags hat der Hobel?", "Werkstatt/Hobel.md", "tags"),
        ("What are the tags of the pond?", "Garden/Pond.md", "tags"),
        ("Was hat die Bohrmaschine gekostet?", "Werkstatt/Bohrmaschine.md", "preis"),
        ("When was the boiler serviced?", "House/Boiler.md", "serviced"),
    ],
)
def test_a_property_of_a_note_is_asked_for(
    index: Vault, question: str, path: str, name: str
) -> None:
    assert index.read_question(question) == Reading("value", f'path:"{path}"', path, name)


def test_a_note_that_is_left_over_is_searched_by_its_words(index: Vault) -> None:
    reading = index.read_question("How many people attended the Retro?")
    assert reading == Reading("about", "folder:People attended Retro")


def test_a_list_shows_no_front_matter(index: Vault) -> None:
    hits = index.list_notes("tag:book", 100).hits
    assert {hit.text for hit in hits if hit.path == "Books/Dune.md"} == {""}
    assert not any(":" in hit.text.partition(" ")[0] for hit in hits)
