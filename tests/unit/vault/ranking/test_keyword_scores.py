"""Words in many texts still count, and whole notes have scores of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.vaults.old_catalogs import age_catalog
from tests.unit.vault.conftest import IndexMaker, NotesIndexer
from vault.catalog import CATALOG_FILE, Catalog
from vault.ranking.keyword_scores import KeywordScores, Table
from vault.ranking.terms import Term
from vault.vault import Vault

LINES = "\n\n".join(f"## Part {n}\n\n" + f"Nothing but filler text {n}. " * 40 for n in range(6))
NOTES = {
    "Long.md": f"# Long\n\nThe heron stood there.\n\n{LINES}\n\nLater a kayak passed.\n",
    "Heron.md": "# Birds\n\nA heron, once more a heron and another heron by the water.\n",
    "Boats.md": "# Boats\n\nThe water is high, and the water is cold.\n",
    "Water.md": "# Water\n\nOnly water.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.fixture
def catalog(index: Vault) -> Iterator[Catalog]:
    opened = Catalog(index.index_dir / CATALOG_FILE, is_writable=False)
    yield opened
    opened.close()


def find(catalog: Catalog, table: Table, *words: str) -> list[str]:
    columns = (2.0, 1.5, 1.0) if table == "words" else (1.0, 1.0)
    found = KeywordScores(catalog, table, columns).find_best([Term(f'"{w}"') for w in words], 9)
    key = "chunks.id" if table == "words" else "files.id"
    rows = catalog.rows(f"SELECT {key}, path FROM chunks JOIN files ON files.id = file_id")
    paths: dict[int, str] = dict(rows)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    return [paths[number] for number in found]


def test_a_word_in_more_than_half_of_the_texts_still_ranks_them(catalog: Catalog) -> None:
    scores = KeywordScores(catalog, "note_words", (1.0, 1.0)).find_best([Term('"water"')], 9)
    assert len(scores) == 3
    assert min(scores.values()) > 0


def test_words_in_different_passages_add_up_for_the_whole_note(catalog: Catalog) -> None:
    assert find(catalog, "note_words", "kayak", "filler")[0] == "Long.md"
    assert set(find(catalog, "note_words", "heron", "kayak")) == {"Long.md", "Heron.md"}
    assert find(catalog, "words", "heron")[0] == "Heron.md"


def test_a_search_finds_the_note_that_has_all_words_somewhere(index: Vault) -> None:
    assert index.search("heron kayak filler").hits[0].path == "Long.md"


def test_only_the_given_texts_are_scored(catalog: Catalog) -> None:
    scores = KeywordScores(catalog, "note_words", (1.0, 1.0))
    every = scores.find_best([Term('"water"')], 9)
    some = list(every)[1:]
    assert list(scores.find_best([Term('"water"')], 9, some)) == some
    assert scores.find_best([Term('"water"')], 9, []) == {}
    assert scores.find_best([Term('"nowhere"')], 9) == {}


def test_edits_moves_and_removals_keep_the_words_of_whole_notes(
    make_index: IndexMaker, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "A.md").write_text("# A\n\nA heron.\n")
    (notes / "B.md").write_text("# B\n\nA kayak.\n")
    index = make_index(notes)
    index.update()
    (notes / "A.md").write_text("# A\n\nAn otter.\n")
    (notes / "B.md").rename(notes / "Moved.md")
    index.update()
    catalog = Catalog(index.index_dir / CATALOG_FILE, is_writable=False)
    try:
        assert find(catalog, "note_words", "heron") == []
        assert find(catalog, "note_words", "otter") == ["A.md"]
        assert find(catalog, "note_words", "kayak", "moved") == ["Moved.md"]
        (notes / "A.md").unlink()
        index.update()
        assert find(catalog, "note_words", "otter") == []
        check = "SELECT count(*) FROM note_words_docsize"
        assert catalog.rows(check) == [(1,)]
    finally:
        catalog.close()


def test_an_index_from_before_gets_the_words_of_whole_notes(
    make_index: IndexMaker, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "A.md").write_text("---\naliases: [Bittern]\n---\n# A\n\nA heron.\n")
    first = make_index(notes)
    first.update()
    first.close()
    path = first.index_dir / CATALOG_FILE
    age_catalog(path, 4)
    after = Catalog(path, is_writable=True)
    try:
        assert find(after, "note_words", "heron") == ["A.md"]
        assert find(after, "note_words", "bittern") == ["A.md"]
    finally:
        after.close()
