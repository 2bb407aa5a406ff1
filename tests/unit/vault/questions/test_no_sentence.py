"""Messages that are no sentence: tags alone, and paths of files."""

from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

NOTES: Final = {
    "House/Feeding.md": "---\ntags: [bees]\n---\nSyrup.\n",
    "House/Hive.md": "---\ntags: [bees, hive]\n---\nA hive.\n",
    "House/Jam.md": "---\ntags: [recipe]\n---\nPlums.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("message", "paths"),
    [
        ("#bees and not #hive", ["House/Feeding.md"]),
        ("#bees #hive", ["House/Hive.md"]),
        ("#hive or #recipe", ["House/Hive.md", "House/Jam.md"]),
        ("#bees ohne #hive", ["House/Feeding.md"]),
        ("not #bees", ["House/Jam.md"]),
        ("-#bees", ["House/Jam.md"]),
        ("ohne #hive", ["House/Feeding.md", "House/Jam.md"]),
    ],
)
def test_tags_alone_ask_for_all_notes_that_have_them(
    index: Vault, message: str, paths: list[str]
) -> None:
    reading = index.read_question(message)
    assert reading is not None
    assert reading.operation == "list"
    assert sorted(hit.path for hit in index.list_notes(reading.query, 10).hits) == paths


@pytest.mark.parametrize(
    "message",
    [
        "/home/me/House/Feeding.md",
        "House/Feeding.md",
        "~/House/bees",
        r"C:\House\bees\recipe",
    ],
)
def test_the_path_of_a_file_names_no_folder_or_tag(index: Vault, message: str) -> None:
    assert index.read_question(message) is None
