"""Copies are ranked behind their originals, and marked."""

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

NOTES = {
    "People/Yusuf.md": "# Yusuf\n\nYusuf is allergic to peanuts. Born in 1984.\n",
    "People/Yusuf (conflicted copy 2026-11-02).md": "# Yusuf\n\n"
    "Yusuf is allergic to nothing. Born in 1984.\n",
    "Plan.md": "# Plan\n\nDig the pond.\n\nSow the beans.\n",
    "Plan 2.md": "# Plan\n\nDig the pond.\n\nSow the beans.\n\nThe pond needs a pump.\n",
    "Talk.md": "# Talk\n\nAbout the river.\n",
    "Talk 2.md": "# Talk 2\n\nAbout the heron and its nest.\n",
    "Alone (conflicted copy 2026-11-02).md": "# Alone\n\nThe lamp is green.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("query", "original", "copy"),
    [
        ("What is Yusuf allergic to?", "People/Yusuf.md", None),
        ("allergic to nothing", "People/Yusuf.md", None),
        ("the pond needs a pump", "Plan.md", "Plan 2.md"),
    ],
)
def test_a_copy_comes_behind_its_original(
    index: Vault, query: str, original: str, copy: str | None
) -> None:
    copy = copy or "People/Yusuf (conflicted copy 2026-11-02).md"
    found = index.search(query, 7).hits
    paths = [hit.path for hit in found]
    assert paths.index(original) < paths.index(copy)
    titles = {hit.path: hit.title for hit in found}
    assert titles[copy] == f"{titles[original]} (copy)"
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("path", ["Talk 2.md", "Alone (conflicted copy 2026-11-02).md"])
def test_a_note_without_an_original_is_no_copy(index: Vault, path: str) -> None:
    (hit,) = index.search(f'"{NOTES[path].split()[-1]}" path:"{path}"', 1).hits
    assert not hit.title.endswith("(copy)")
