"""A query that is a title is recognised, and the passages with that title are found."""

from collections.abc import Iterator

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.catalog import CATALOG_FILE, Catalog
from vault.ranking.titles import NEAR_TITLE, find_titled, list_telling_words, measure_similarity

NOTES = {
    "Beds.md": "# Beds\n\n## Watering the beds\n\n" + "Before eight. " * 80 + "\n",
    "Barrel.md": "---\naliases: [Water butt]\n---\n# Barrel\n\nWatering the beds takes it all.\n",
}


@pytest.fixture
def catalog(index_of_notes: NotesIndexer) -> Iterator[Catalog]:
    opened = Catalog(index_of_notes(NOTES).index_dir / CATALOG_FILE, is_writable=False)
    yield opened
    opened.close()


def test_likeness_counts_words_that_are_shared_among_all() -> None:
    assert measure_similarity("gas fee market", ["other", "fee market"]) == pytest.approx(2 / 3)
    assert measure_similarity("庭の道具", ["庭の道具"]) == 1.0
    assert measure_similarity("", [""]) == measure_similarity("a", []) == 0.0
    assert measure_similarity("what is it?", ["where is it"]) < NEAR_TITLE


def test_function_words_alone_make_no_other_title() -> None:
    titles = ["What is sent to the model"]
    assert measure_similarity("what is sent to the model?", titles) == 1.0
    assert NEAR_TITLE <= measure_similarity("What gets sent to models?", ["gets sent to model"]) < 1
    assert measure_similarity("What is kept of the model?", titles) < NEAR_TITLE


def test_telling_words_are_those_of_the_subject() -> None:
    assert list_telling_words("Where are the beds?") == {"bed"}


def test_passages_are_found_by_their_titles_and_headings(catalog: Catalog) -> None:
    def find(words: str) -> set[str]:
        rows = catalog.rows("SELECT chunks.id, path FROM chunks JOIN files ON files.id = file_id")
        paths = dict(rows)
        return {paths[number] for number in find_titled(catalog, words, 9)}

    assert find("How are the beds watered?") == {"Beds.md"}
    assert find("water butt") == {"Barrel.md"}
    assert find("the water takes") == set()
    assert find("what is it") == set()
    assert find(" ".join(f"word{n}" for n in range(40))) == set()
    assert len(find_titled(catalog, "beds", 1)) == 1
