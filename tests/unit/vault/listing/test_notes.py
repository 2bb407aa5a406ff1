"""The whole set that a query selects, in pages."""

from dataclasses import replace
from pathlib import Path

import pytest

from context.json_codec import encode
from tests.unit.vault.conftest import NotesIndexer
from vault.embedder import Embedder
from vault.scope import Scope
from vault.vault import Vault

BEDS = {f"beds/Bed {n:02}.md": f"#bed\n\nBed {n} was dug in spring.\n" for n in range(30)}
NOTES = {
    **BEDS,
    "Tomatoes.md": "# Tomatoes\n\nTie them up.\n\nWater tomatoes early in the morning.\n",
    "Beans.md": "# Beans\n\nWatering beans late invites mildew.\n",
    "Both.md": "# Both\n\nTomatoes and beans\n\nshare the water butt.\n",
    "Diary.md": "---\nprivate: true\n---\nTomatoes and water, again. #bed\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


def paths(index: Vault, query: str) -> set[str]:
    return {hit.path for hit in index.list_notes(query, 100).hits}


def test_pages_together_are_the_whole_set_and_each_note_once(index: Vault) -> None:
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = index.list_notes("tag:bed", 7, offset)
        assert page.total == len(BEDS)
        found += [hit.path for hit in page.hits]
        offset = page.next
    assert found == sorted(BEDS)


def test_a_note_is_listed_that_holds_all_words_wherever_they_stand(index: Vault) -> None:
    assert paths(index, "the beans and the tomatoes") == {"Both.md"}
    assert paths(index, "water tomatoes") == {"Both.md", "Tomatoes.md"}


def test_words_and_filters_select_together(index: Vault) -> None:
    assert paths(index, "tag:bed dug 7") == {"beds/Bed 07.md"}
    assert paths(index, "path:beds tomatoes") == set()


def test_where_no_note_holds_all_words_those_with_the_most_are_listed(index: Vault) -> None:
    result = index.list_notes("tomatoes butt mildew", 10)
    assert [hit.path for hit in result.hits] == ["Both.md"]
    assert "hold the most" in result.warnings[0]


def test_a_list_says_how_many_notes_match_and_how_many_were_searched(index: Vault) -> None:
    beds = index.list_notes("tag:bed", 7)  # one note is private
    assert (
        beds.describe_total() == "30 notes with the tag #bed; searched all 33 notes."
    )  # one is private
    assert encode(beds)["searched"] == 33
    assert index.list_notes("slugs", 7).describe_total() == (
        "No note containing “slugs”; searched all 33 notes."
    )
    assert index.list_notes("tomatoes butt mildew", 7).describe_total() == (
        "No note holds all of the words, and 1 holds the most; searched all 33 notes."
    )


def test_a_list_of_a_part_of_the_vault_says_how_much_that_is(index: Vault) -> None:
    found = index.limit(Scope(exclude=("*/",))).list_notes("tomatoes", 7)
    assert found.describe_total() == "2 notes containing “tomatoes”; searched all 3 notes."


def test_a_list_of_an_unfinished_index_says_so(index: Vault) -> None:
    result = replace(index.list_notes("mildew", 7), is_whole=False)
    said = "1 note containing “mildew”; searched the 33 notes indexed so far."
    assert result.describe_total() == said


def test_a_hit_is_the_line_that_holds_the_words(index: Vault) -> None:
    (hit,) = (h for h in index.list_notes("early water", 10).hits if h.path == "Tomatoes.md")
    assert (hit.text, hit.lines) == ("Water tomatoes early in the morning.", (5, 5))


def test_what_became_private_since_is_neither_listed_nor_counted(
    tmp_path: Path, embedder: Embedder
) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    for name in ("a", "b"):
        (root / f"{name}.md").write_text(f"# {name}\n\nplum\n")
    index = Vault(root, tmp_path / "index", (), embedder)
    index.update()
    (root / "a.md").write_text("---\nprivate: true\n---\n# a\n\nplum\n")
    result = index.list_notes("plum", 10)
    index.close()
    assert ([hit.path for hit in result.hits], result.total) == (["b.md"], 1)


def test_without_an_index_the_list_is_empty(tmp_path: Path) -> None:
    index = Vault(tmp_path, tmp_path / "none")
    assert encode(index.list_notes("plum", 10))["total"] == 0
    index.close()


def test_notes_listed_by_their_change_begin_with_the_last_one(index: Vault) -> None:
    hits = index.list_notes("after:2000", 100).hits
    changes = [(index.root / hit.path).stat().st_mtime_ns for hit in hits]
    assert len(set(changes)) > 1
    assert changes == sorted(changes, reverse=True)
    listed = [hit.path for hit in index.list_notes("", 100).hits]
    assert listed == sorted(listed)


MEASURES = {
    "Chuck.md": "The chuck takes bits up to 13 mm.\n",
    "Vice.md": "The jaws open 125mm, the bolts are tightened with 80Nm.\n",
    "Spanner.md": "A spanner of 13mm.\n",
    "Tank.md": "The tank holds 24 l at 8bar and has 13 valves, 2 mm thick.\n",
}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("13mm", {"Chuck.md", "Spanner.md"}),
        ("13 mm", {"Chuck.md", "Spanner.md"}),
        ("80 Nm", {"Vice.md"}),
        ("24l", {"Tank.md"}),
        ("24 l 8 bar", {"Tank.md"}),
        ("bits 13mm", {"Chuck.md"}),
    ],
)
def test_a_unit_may_stand_apart_from_its_number(
    index_of_notes: NotesIndexer, query: str, found: set[str]
) -> None:
    result = index_of_notes(MEASURES).list_notes(query, 10)
    assert {hit.path for hit in result.hits} == found
    assert result.literal == len(found)
