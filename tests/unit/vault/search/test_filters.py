"""Searches that are limited to the notes of certain days."""

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

NOTES = {
    "Journal/2026-11-03.md": "# Tuesday\n\nBought gloves.\n",
    "Journal/2026-11-04.md": "# Wednesday\n\nSold the bike.\n",
    "Meeting.md": "---\ndate: 2026-11-04\n---\n# Meeting\n\nThe roof was discussed.\n",
    "Log.md": "# Log\n\n## 3 November 2026\n\nRain.\n\n## 9 November 2026\n\nSun.\n",
    "Undated.md": "# Undated\n\nBeans were sown on 2026-11-03.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("date:2026-11-03", {"Journal/2026-11-03.md", "Log.md"}),
        ("date:2026-11-04", {"Journal/2026-11-04.md", "Meeting.md"}),
        ("date:2026-11-03..2026-11-04", set(NOTES) - {"Undated.md"}),
        ("date:2026-10", set()),
        ("gloves date:2026-11-04", {"Journal/2026-11-04.md", "Meeting.md"}),
        ("date:2026-11-03 date:2026-11-09 path:Log", {"Log.md"}),
    ],
)
def test_a_date_filter_keeps_the_passages_of_these_days(
    index: Vault, query: str, paths: set[str]
) -> None:
    assert {hit.path for hit in index.search(query, 20).hits} == paths
