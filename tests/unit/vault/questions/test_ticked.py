"""A property that is true or false is had by the notes where it is true."""

from pathlib import PurePosixPath
from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

NOTES: Final = {
    "Papers/Moffatt.md": "---\ntags: [paper]\nread: false\n---\nUlcers.\n",
    "Papers/Molan.md": "---\ntags: [paper]\nread: true\n---\nHoney.\n",
    "Papers/Gohel.md": "---\ntags: [paper]\n---\nVeins.\n",
    "Bücher/Emma.md": "---\ntags: [buch]\ngelesen: false\nauthor: Austen\n---\nEin Roman.\n",
    "Bücher/Faust.md": "---\ntags: [buch]\ngelesen: true\n---\nEin Drama.\n",
}

# Words for a state, such as "paid", are neither passed over nor taken for another state.
STATES: Final = {"Power": "paid", "Water": "unpaid", "Gas": "open", "Phone": ""}
BILLS: Final = {
    f"Bills/{name}.md": f"---\ntags: [bill]\n{f'status: {state}' * bool(state)}\n---\nOf May.\n"
    for name, state in STATES.items()
}
BOOKS: Final = {"Emma.md": "A novel. #book\n", "Dune.md": "#book\n", "Bills/Gas.md": "#bill\n"}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which papers have I not read yet?", {"Moffatt", "Gohel"}),
        ("Which papers have I read?", {"Molan"}),
        ("How many papers have I not read?", {"Moffatt", "Gohel"}),
        ("Welche Bücher habe ich noch nicht gelesen?", {"Emma"}),
        ("Welche Bücher habe ich gelesen?", {"Faust"}),
        ("Which papers have the property read?", {"Moffatt", "Molan"}),
        ("Which books have an author?", {"Emma"}),
    ],
)
def test_what_is_had_is_true(index: Vault, question: str, found: set[str]) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert reading.operation in ("list", "count")
    hits = index.list_notes(reading.query, 100).hits
    assert {PurePosixPath(hit.path).stem for hit in hits} == found


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which books have I read?", {"Emma", "Dune", "Faust"}),
        ("Which books have I not read?", {"Moby", "Pan", "Ulysses", "Jaws"}),
        ("How many books have I read?", {"Emma", "Dune", "Faust"}),
        ("Which books have the property read?", {"Emma", "Dune", "Faust", "Moby", "Pan", "Jaws"}),
    ],
)
def test_yes_and_no_are_true_and_false(
    index_of_notes: NotesIndexer, question: str, found: set[str]
) -> None:
    values = {"Emma": "true", "Dune": "yes", "Faust": "ON", "Moby": "no", "Pan": "False"}
    notes = {f"{name}.md": f"---\nread: {value}\n---\n#book\n" for name, value in values.items()}
    index = index_of_notes(
        notes | {"Ulysses.md": "#book\n", "Jaws.md": "---\nread: Off\n---\n#book\n"}
    )
    reading = index.read_question(question)
    assert reading is not None
    assert reading.operation in ("list", "count")
    hits = index.list_notes(reading.query, 100).hits
    assert {PurePosixPath(hit.path).stem for hit in hits} == found


@pytest.mark.parametrize("question", ["Which books have I read?", "Which books have I not read?"])
def test_nothing_is_claimed_if_a_property_has_no_and_other_values(
    index_of_notes: NotesIndexer, question: str
) -> None:
    notes = {
        "Emma.md": "---\nread: 2026-01-02\n---\n#book\n",
        "Dune.md": "---\nread: no\n---\n#book\n",
    }
    reading = index_of_notes(notes).read_question(question)
    assert reading is None or reading.operation == "about"


def test_a_verb_behind_what_is_not_a_value_that_it_is_like(index_of_notes: NotesIndexer) -> None:
    notes = {"Impôts.md": "---\nstatus: payé\n---\nUne note.\n", "2026-01-02.md": "A day.\n"}
    index = index_of_notes(notes)
    assert index.read_question("What did I pay in 2026?") is None
    reading = index.read_question("Quelles notes sont payées ?")
    assert reading is not None
    assert reading.query == "[status:payé]"


@pytest.fixture(scope="module")
def of_states(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(BILLS)


@pytest.fixture(scope="module")
def without_states(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(BOOKS)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which bills are paid?", {"Power"}),
        ("Welche Rechnungen sind bezahlt?", {"Power"}),
        ("Quelles factures sont payées ?", {"Power"}),
        ("¿Qué facturas están pagadas?", {"Power"}),
        ("Welche Rechnungen sind unbezahlt?", {"Water"}),
        ("Quelles factures sont impayées ?", {"Water"}),
        ("¿Qué facturas están impagadas?", {"Water"}),
        ("Which bills have not been paid?", {"Water", "Gas", "Phone"}),
        ("Welche Rechnungen sind noch nicht bezahlt?", {"Water", "Gas", "Phone"}),
        ("¿Qué facturas no están pagadas?", {"Water", "Gas", "Phone"}),
    ],
)
def test_a_state_is_found_in_another_language(
    of_states: Vault, question: str, found: set[str]
) -> None:
    reading = of_states.read_question(question)
    assert reading is not None
    assert reading.operation == "list"
    hits = of_states.list_notes(reading.query, 100).hits
    assert {PurePosixPath(hit.path).stem for hit in hits} == found


@pytest.mark.parametrize(
    "question",
    [
        "Which bills are paid?",
        "How many bills are paid?",
        "Welche Rechnungen sind bezahlt?",
        "Quelles factures sont payées ?",
        "¿Qué facturas están pagadas?",
        "Which books are rated?",
        "Welche Bücher sind bewertet?",
        "List all books with a phone number",
    ],
)
def test_a_property_that_no_note_has_is_not_passed_over(
    without_states: Vault, question: str
) -> None:
    reading = without_states.read_question(question)
    assert reading is None or reading.operation not in ("list", "count")
