"""A person is meant by one word of the name, if nobody and nothing else has it."""

from collections.abc import Mapping
from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.questions.reader import Reading
from vault.vault import Vault

NOTES: Final[Mapping[str, str]] = {
    "People/Anna Berger.md": "---\nbirthday: 1988-05-14\nphone: 079 555 01\n---\nA nurse.\n",
    "People/Klara Berger.md": "---\nbirthday: 1990-01-02\n---\nKeeps goats.\n",
    "People/Dr Luc Favre.md": "---\nbirthday: 1961-03-04\n---\nA supervisor.\n",
    "People/Rosa Weber.md": "---\nbirthday: 1979-08-09\n---\nA gardener.\n",
    "Garden/Rosa.md": "---\nheight: 2 m\n---\nA rose.\n",
    "Team/Nadia Horn.md": "---\nbirthday: 1983-12-24\ntags: [person]\n---\nA driver.\n",
    "Work/Plan.md": "---\nattendees: [Anna Berger, Luc Favre]\n---\nSee [[Anna Berger]].\n",
    "Work/Review.md": "---\nattendees: [Nadia Horn, Tim Lutz]\ntags: [meeting]\n---\nLong.\n",
    "Work/Tim.md": "---\nbirthday: 2000-01-01\n---\nNo note of people.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("When is Anna's birthday?", "People/Anna Berger.md"),
        ("When was klara born?", "People/Klara Berger.md"),
        ("When was Dr Favre born?", "People/Dr Luc Favre.md"),
        ("Wann hat Nadia Geburtstag?", "Team/Nadia Horn.md"),
    ],
)
def test_a_property_is_asked_for_by_one_word_of_a_name(
    index: Vault, question: str, path: str
) -> None:
    assert index.read_question(question) == Reading("value", f'path:"{path}"', path, "birthday")


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Which notes link to Anna?", 'link:"Anna Berger"'),
        ("Which meetings did Nadia attend?", 'tag:meeting [attendees:"Nadia Horn"]'),
    ],
)
def test_links_and_values_are_meant_by_one_word_of_a_name(
    index: Vault, question: str, query: str
) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert (reading.operation, reading.query.replace('"', "")) == ("list", query.replace('"', ""))


@pytest.mark.parametrize(
    "question",
    ["When is Berger's birthday?", "When is Rosa's birthday?", "When was Lutz born?"],
)
def test_a_word_that_several_names_have_means_no_one_of_them(index: Vault, question: str) -> None:
    reading = index.read_question(question)
    assert reading is None or reading.operation == "about"
