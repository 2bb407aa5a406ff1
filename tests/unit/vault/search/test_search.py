from collections.abc import Callable
from pathlib import Path
from typing import Never

import pytest

from context.json_codec import encode
from tests.unit.vault.conftest import IndexMaker, NotesIndexer
from vault.catalog import Catalog
from vault.embedder import Embedder
from vault.errors import EmbedderFailed
from vault.notes.note import read_note
from vault.ranking.titles import NEAR_TITLE
from vault.search.boosts import Boosts, apply_boosts
from vault.search.exact import ExactScan
from vault.search.search import SIGNALS, Searcher, SearchResult
from vault.vault import Vault

Write = Callable[[str, str | bytes], Path]

NOTES = {
    "garden/Water.md": "# Watering\n\nGive the beds water before eight in the morning.\n",
    "garden/Werkzeug.md": "# Werkzeug\n\nDie Gartenschere liegt im Schuppen über der Tür.\n",
    "garden/庭.md": "# 庭の道具\n\n剪定ばさみは納屋の赤い箱に入っています。\n",
    "work/预算.md": "# 会议\n\n我们在北京讨论了明年的预算。\n",
    "work/Planning.md": "---\naliases: [Roadmap]\n---\n# Planning\n\nWe ship in autumn.\n",
    "work/EIP-1559.md": "# Fee market\n\nThe base fee is burned in every block.\n",
    "other/كتاب.md": "# قراءة\n\nهَذَا كِتَابٌ جَدِيدٌ عن التاريخ.\n",
    "other/Кошки.md": "# Кошки\n\nКошки спят весь день на печи.\n",
    "work/Trip.md": "---\ntags: [plans/travel]\n---\n# Trip\n\nThe ship leaves at noon.\n",
    "other/Café.md": "# Le café\n\nUn crème brûlée, s'il vous plaît.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("watering", "garden/Water.md"),
        ("Gartenschere", "garden/Werkzeug.md"),
        ("TÜR schuppen", "garden/Werkzeug.md"),
        ("納屋", "garden/庭.md"),
        ("预算", "work/预算.md"),
        ("roadmap", "work/Planning.md"),
        ("EIP-1559", "work/EIP-1559.md"),
        ("كتاب", "other/كتاب.md"),
        ("кошка кошки", "other/Кошки.md"),
        ("creme brulee", "other/Café.md"),
    ],
)
def test_words_of_every_script_find_their_note(index: Vault, query: str, path: str) -> None:
    hit = index.search(query).hits[0]
    assert hit.path == path
    assert hit.signals["words"] is not None


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("when should plants get something to drink?", "garden/Water.md"),
        ("transaction costs destroyed", "work/EIP-1559.md"),
        ("release schedule", "work/Planning.md"),
    ],
)
def test_meaning_finds_a_note_without_its_words(index: Vault, query: str, path: str) -> None:
    hit = index.search(query).hits[0]
    assert hit.path == path
    assert hit.signals["dense"] is not None


def test_a_hit_has_its_exact_lines_and_all_signals(index: Vault) -> None:
    hit = index.search("ship in autumn").hits[0]
    lines = NOTES[hit.path].split("\n")
    assert hit.lines == (1, 6)
    assert hit.text == "\n".join(lines[:6])
    assert (hit.title, hit.heading) == ("Planning", ("Planning",))
    assert set(hit.signals) == set(SIGNALS)
    assert all(hit.signals[name] is not None for name in SIGNALS[:3])
    assert [hit.signals[name] for name in SIGNALS[3:]] == [None] * 4
    assert hit.version == read_note(index.root, hit.path).version
    assert set(encode(hit)) == {
        "id",
        "path",
        "title",
        "heading",
        "lines",
        "text",
        "score",
        "signals",
    }


def test_the_result_has_its_shape_and_falling_scores(index: Vault) -> None:
    result = index.search("water", 4)
    document = encode(result)
    assert set(document) == {"query", "filters", "hits", "by", "seconds"}
    assert len(result.hits) == 4
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("query", ["", "  \n", "\0"])
def test_an_empty_question_finds_nothing(index: Vault, query: str) -> None:
    assert index.search(query).hits == () or query == "\0"


@pytest.mark.parametrize(
    "query",
    ['"unclosed', "a AND OR NOT b", "title:x", "x*", "NEAR(a b)", "^a", "{a}", "\udcff", "'; --"],
)
def test_any_text_is_a_question(index: Vault, query: str) -> None:
    assert index.search(query).query == query


def test_a_question_of_200_000_characters_is_answered(index: Vault) -> None:
    result = index.search("water in the morning " * 10_000)
    assert result.hits[0].path == "garden/Water.md"
    assert result.seconds < 20


def test_more_is_not_given_than_there_is(index: Vault) -> None:
    assert len(index.search("water", 1000).hits) <= len(NOTES)
    assert index.search("water", 0).hits == ()


def test_chroma_and_the_exact_scan_give_the_same_hits(index: Vault, embedder: Embedder) -> None:
    path = index.index_dir / "catalog.db"
    catalog = Catalog(path, is_writable=False)
    try:
        exact = Searcher(catalog, embedder.begin_query, ExactScan(catalog).query)
        for query in ("water", "base fee", "预算"):
            by_scan = [(hit.id, hit.score) for hit in exact.search(query, 5).hits]
            by_chroma = [(hit.id, hit.score) for hit in index.search(query, 5).hits]
            assert [name for name, _ in by_scan] == [name for name, _ in by_chroma]
    finally:
        catalog.close()


def test_without_an_embedder_words_still_find_and_the_result_says_so(index: Vault) -> None:
    def refuse(_text: str) -> Never:
        raise EmbedderFailed("The model is damaged.")

    catalog = Catalog(index.index_dir / "catalog.db", is_writable=False)
    try:
        result = Searcher(catalog, refuse, ExactScan(catalog).query).search("autumn", 3)
    finally:
        catalog.close()
    assert result.hits[0].path == "work/Planning.md"
    assert result.hits[0].signals["dense"] is None
    assert result.warnings == ("Searched by words only. The model is damaged.",)
    assert encode(result)["by"] == ["words"]
    assert result.misses_meaning


@pytest.mark.parametrize(
    ("query", "by"),
    [
        ("water", ["words", "meaning"]),
        ("zeppelins and dirigibles", ["words", "meaning"]),
        ("tag:nowhere water", ["words", "meaning"]),
        ('"base fee"', ["words", "meaning"]),
        ("预算", ["words", "meaning"]),
        ("path:work", []),
        ("", []),
        ("  \n", []),
    ],
)
def test_a_search_says_what_it_used(index: Vault, query: str, by: list[str]) -> None:
    result = index.search(query)
    assert encode(result)["by"] == by
    assert not result.misses_meaning


def test_a_list_of_notes_is_by_words_and_misses_no_meaning(index: Vault) -> None:
    result = index.list_notes("water", 5)
    assert encode(result)["by"] == ["words"]
    assert not result.misses_meaning
    assert index.list_notes("path:work", 5).by == ()


def test_ids_stay_when_another_part_of_the_vault_changes(
    make_index: IndexMaker, write: Write, tmp_path: Path
) -> None:
    write("Planning.md", NOTES["work/Planning.md"])
    index = make_index(tmp_path / "notes")
    index.update()
    before = index.search("autumn").hits[0].id
    (index.root / "extra.md").write_text("something else\n")
    index.update()
    assert index.search("autumn").hits[0].id == before


def paths_of(result: SearchResult) -> set[str]:
    return {hit.path for hit in result.hits}


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("path:garden", {"garden/Water.md", "garden/Werkzeug.md", "garden/庭.md"}),
        ("water path:garden file:water", {"garden/Water.md"}),
        ("ship tag:plans", {"work/Trip.md"}),
        ("tag:plans/travel", {"work/Trip.md"}),
        ("path:other after:1980", {path for path in NOTES if path.startswith("other/")}),
        ("path:other before:1980", set()),
        ('"base fee is burned"', {"work/EIP-1559.md"}),
        ('"剪定ばさみは納屋"', {"garden/庭.md"}),
        ('"creme brulee, s\'il"', {"other/Café.md"}),
    ],
)
def test_filters_leave_only_what_fits_them(index: Vault, query: str, paths: set[str]) -> None:
    result = index.search(query, 50)
    assert paths_of(result) == paths
    assert result.filters


def test_a_phrase_that_nothing_holds_is_searched_by_its_words_and_that_is_said(
    index: Vault,
) -> None:
    result = index.search('"fee base burned"', 3)
    assert result.hits[0].path == "work/EIP-1559.md"
    assert "word for word" in result.warnings[0]


def test_the_name_of_a_note_finds_the_note_before_what_mentions_it(
    make_index: IndexMaker, write: Write, tmp_path: Path
) -> None:
    write("Gas limit.md", "# Gas limit\n\nHow much work a block may hold.\n")
    write("Log.md", "The gas limit rose. " * 8 + "\n")
    index = make_index(tmp_path / "notes")
    index.update()
    hits = index.search("gas limit").hits
    assert [hit.path for hit in hits] == ["Gas limit.md", "Log.md"]
    assert hits[0].signals["title"] == 1.0


@pytest.fixture(scope="module")
def mentions(index_of_notes: NotesIndexer) -> Vault:
    """Index a hundred notes that mention what one short section is about."""
    text = "The model was sent back, and a model is sent to the model shop."
    many = {f"Log {n}.md": f"# Log {n}\n\n{text}\n" for n in range(120)}
    sections = "## What is sent to the model\n\nThis chat.\n\n## What is kept\n\nAll of it.\n"
    return index_of_notes({**many, "Privacy.md": f"# Files and privacy\n\n{sections}"})


@pytest.mark.parametrize(
    "query",
    [
        "What is sent to the model?",
        "what is sent to the model",
        "What will be sent to a model?",
    ],
)
def test_a_question_that_is_a_heading_finds_that_section_first(mentions: Vault, query: str) -> None:
    hit = mentions.search(query, 3).hits[0]
    assert (hit.path, hit.heading) == ("Privacy.md", ("Files and privacy",))
    assert hit.signals["title"] is not None
    assert hit.signals["title"] >= NEAR_TITLE


def test_no_other_passage_comes_before_one_of_which_the_query_is_a_title() -> None:
    assert apply_boosts(0.0, Boosts(NEAR_TITLE)) > apply_boosts(1.0, Boosts(NEAR_TITLE - 0.001))
    assert apply_boosts(0.0, Boosts(0.9)) < apply_boosts(0.0, Boosts(1.0))
    assert apply_boosts(1.0, Boosts(1.0)) == pytest.approx(0.9)


def test_a_note_has_a_property_if_it_has_others_within_it(index_of_notes: NotesIndexer) -> None:
    vault = index_of_notes(
        {
            "Alpha.md": "---\nproject:\n  state: open\n---\n",
            "Gamma.md": "---\nproject: Gamma\n---\n",
            "Other.md": "---\nprojects: [Alpha]\nproject_id: 3\n---\n",
        }
    )
    found = vault.list_notes("[project:*]", 10)
    assert {hit.path for hit in found.hits} == {"Alpha.md", "Gamma.md"}
    assert [hit.path for hit in vault.list_notes("-[project:*]", 10).hits] == ["Other.md"]
