"""A word such as "a" or "die" names a folder or note of that name only if it is marked as one."""

from typing import Final

import pytest

from tests.support.vaults.listed_notes import list_note_names
from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

FOLDERS: Final = ("A", "I", "Y", "The", "Die", "Las", "À", "Does", "All", "It", "No")
NOTES: Final = {
    "Books/Dune.md": "---\nscore: 4.5\ngrade: B\n---\n#las\n",
    "Books/Emma.md": "---\nscore: 3\ngrade: A\n---\n#the\n",
    "Un.md": "[[Dune]]\n",
} | {f"{folder}/In {folder}.md": f"Text of {folder}.\n" for folder in FOLDERS}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


def list_names(index: Vault, question: str) -> str | None:
    """Return the names that a question lists in one text, or None if it lists nothing."""
    names = list_note_names(index, question)
    return None if names is None else ", ".join(names)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have a score above 4?", "Dune"),
        ("Which notes have a score above the 4?", "Dune"),
        ("Which notes with the score 3 do I have?", "Emma"),
        ("Which Notes Have A Score Above 4?", "Dune"),
        ("The notes with a score above 4", "Dune"),
        ("How many of all the notes have a score above 4?", "Dune"),
        ("Which notes does Un link to?", "Dune"),
        ("Welche Notizen, die einen score über 4 haben, gibt es?", "Dune"),
        ("Die Notizen mit score über 4", "Dune"),
        ("Quelles notes ont un score supérieur à 4 ?", "Dune"),
        ("Y a-t-il des notes avec un score supérieur à 4 ?", "Dune"),
        ("¿Cuáles son las notas con score mayor que 4?", "Dune"),
    ],
)
def test_a_function_word_is_no_name(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes are in the folder A?", "In A, In À"),
        ("Which notes are in the folder a?", "In A, In À"),
        ("Which notes are in A?", "In A, In À"),
        ("Which notes are in the A folder?", "In A, In À"),
        ("Which notes are in the folder I?", "In I"),
        ("How many notes are in It?", "In It"),
        ("Which notes are in the folder All?", "In All"),
        ("List the notes with the tag the", "Emma"),
        ("List the notes tagged #the", "Emma"),
        ("Which notes have grade A?", "Emma"),
        ("Welche Notizen sind im Ordner Die?", "In Die"),
        ("Quelles notes sont dans le dossier À ?", "In A, In À"),
        ("¿Qué notas hay en la carpeta Y?", "In Y"),
    ],
)
def test_a_marked_function_word_is_a_name(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names
