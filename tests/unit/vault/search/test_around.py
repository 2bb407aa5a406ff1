"""What else can be asked of an index: notes beside a note, why not this one, how good it is."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from context.json_codec import encode
from tests.unit.vault.conftest import IndexMaker, NotesIndexer
from vault.catalog import CATALOG_FILE, Catalog
from vault.embedder import Embedder
from vault.errors import IndexUnusable
from vault.search.exact import ExactScan
from vault.search.selftest import fit_ranking
from vault.vault import Vault

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOTES = {
    "Tomatoes.md": "# Tomatoes\n\nWater tomatoes early and tie the plants to a stake of wood.\n",
    "Beans.md": "# Beans\n\nSow beans in May and let the plants climb on poles of wood.\n",
    "Tax.md": "# Tax\n\nThe return is due in July; see [[Tomatoes]] for nothing at all.\n",
    "Fees.md": "# Fees\n\nThe base fee of a block is burned with every transaction in it.\n",
    "Diary.md": "---\nprivate: true\n---\nTomatoes, again.\n",
}

BIRDS = (
    *("heron", "wren", "kite", "owl", "swift", "robin", "crane", "stork", "rook", "finch", "tit"),
    *("dove", "eagle", "lark", "gull", "tern", "coot", "grebe", "snipe", "plover", "jay", "shrike"),
)

SAME_NAMES = {
    "a/Plan.md": "# The plan of the garden\n\nBeds of beans.\n",
    "b/Plan.md": "# Another plan\n\nBeds of peas.\n",
    "b/Start.md": "# Start\n\nSee [[Plan]] and [[side]], not [[Nothing]].\n",
    "c/Other.md": "---\naliases: [Side]\n---\n# Other\n\nA hedge.\n",
    "Secret.md": "---\nprivate: true\n---\nNobody reads this.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.fixture(scope="module")
def same_names(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(SAME_NAMES)


def test_related_notes_are_near_in_meaning_or_linked(index: Vault) -> None:
    related = index.find_related("Tomatoes.md")
    assert {related[0].path, related[1].path} == {"Beans.md", "Tax.md"}
    assert {note.path: note.is_linked for note in related} == {
        "Beans.md": False,
        "Tax.md": True,
        "Fees.md": False,
    }
    assert [note.score for note in related] == sorted((n.score for n in related), reverse=True)
    assert len(index.find_related("Tomatoes.md", 1)) == 1


def test_of_five_related_notes_one_is_of_a_day_unless_it_is_linked(
    index_of_notes: NotesIndexer,
) -> None:
    bed = "The tomatoes need water early in the day.\n"
    days = [f"Daily/2026-05-{day:02}.md" for day in range(1, 21)]
    notes = {f"Bed {n}.md": f"# Bed {n}\n\n{bed}" for n in range(8)}
    index = index_of_notes(
        {**notes, **dict.fromkeys(days, bed), "Daily/2026-06-01.md": f"{bed}\n[[Bed 0]]\n"}
    )
    found = index.find_related("Bed 0.md", 10)
    daily = [note for note in found if note.path.startswith("Daily/")]
    assert [note.path for note in daily if note.is_linked] == ["Daily/2026-06-01.md"]
    assert 1 <= len([note for note in daily if not note.is_linked]) <= 2
    assert len([note for note in found if note.path.startswith("Bed")]) == 7


def test_a_diary_alone_has_its_days_as_related_notes(index_of_notes: NotesIndexer) -> None:
    days = {f"2026-05-{day:02}.md": "Water the tomatoes early.\n" for day in range(1, 9)}
    assert len(index_of_notes(days).find_related("2026-05-01.md", 5)) == 5


def test_a_note_that_is_not_indexed_has_no_related_ones(index: Vault) -> None:
    assert index.find_related("Diary.md") == index.find_related("None.md") == []


def test_a_note_is_linked_with_the_note_that_a_link_means(same_names: Vault) -> None:
    index = same_names
    linked = {note.path for note in index.find_related("b/Start.md", 20) if note.is_linked}
    assert linked == {"b/Plan.md", "c/Other.md"}
    assert not any(note.is_linked for note in index.find_related("a/Plan.md", 20))
    assert [n.path for n in index.find_related("b/Plan.md", 20) if n.is_linked] == ["b/Start.md"]


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("Plan", "a/Plan.md"),
        ("b/plan", "b/Plan.md"),
        ("Side", "c/Other.md"),
        ("The plan of the garden", "a/Plan.md"),
        ("Secret", "Secret.md"),
        ("Nothing", None),
    ],
)
def test_a_link_that_is_clicked_leads_to_the_note_that_it_means(
    same_names: Vault, link: str, path: str | None
) -> None:
    assert same_names.build_link_resolver().resolve(link) == path


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("None.md", "is not in the index"),
        ("Diary.md", "Diary.md: excluded (private: the note says so)"),
        ("Tomatoes.md", "ranks 1st: words"),
        ("Fees.md", "Compared with the 1st result: words"),
    ],
)
def test_why_a_note_is_not_shown_is_said_in_words(index: Vault, path: str, words: str) -> None:
    assert words in index.why_not("tomatoes", path, index.excerpts("tomatoes", 1).hits)


def test_the_self_test_finds_most_notes_and_is_the_same_each_time(index: Vault) -> None:
    first, second = index.self_test(), index.self_test()
    assert first.questions == 4
    assert first.recall_at_10 == 1.0
    assert 0.5 <= first.recall_at_1 <= first.mrr <= 1.0
    assert first.p50_ms <= first.p95_ms
    assert (first.questions, first.recall_at_1, first.mrr) == (
        second.questions,
        second.recall_at_1,
        second.mrr,
    )
    assert set(encode(first)) == {
        "questions",
        "recall_at_1",
        "recall_at_10",
        "mrr",
        "p50_ms",
        "p95_ms",
        "ranking",
        "tuning",
    }
    assert first.ranking is None


def test_a_self_test_can_be_stopped(index: Vault) -> None:
    assert index.self_test(lambda: True).questions == 0


def test_samples_of_passages_take_no_query_for_each_passage(
    index: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    rows = Catalog.rows

    def count(catalog: Catalog, statement: str, *rest: Any) -> Any:
        asked.append(statement)
        return rows(catalog, statement, *rest)

    monkeypatch.setattr(Catalog, "rows", count)
    assert any(index.draw_passages(1, is_quoted=False))
    few = len(asked)
    assert any(index.draw_passages(50, is_quoted=False))
    assert len(asked) - few <= few


def test_without_an_index_the_self_test_says_how_to_make_one(tmp_path: Path) -> None:
    index = Vault(tmp_path, tmp_path / "none")
    with pytest.raises(IndexUnusable, match="strata index"):
        index.self_test()
    index.close()


def test_the_ranking_is_fitted_once_and_the_self_test_shows_what_it_gained(
    make_index: IndexMaker, tmp_path: Path, embedder: Embedder
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir(exist_ok=True)
    for number, name in enumerate(BIRDS):
        text = f"How the {name} lives through the year is told here, and where it breeds. " * 5
        sections = [f"## {part} of the {name}\n\n{text}" for part in ("Life", "Nest", "Voice")]
        (notes / f"{name}.md").write_text(f"# Note {number}\n\n" + "\n\n".join(sections) + "\n")
    index = make_index(notes)
    index.update()
    catalog = Catalog(index.index_dir / CATALOG_FILE, is_writable=True)
    asked = list[str]()

    def encode(text: str) -> "Callable[[], NDArray[np.float32]]":
        asked.append(text)
        return embedder.begin_query(text)

    try:
        for _ in range(2):
            fit_ranking(catalog, encode, ExactScan(catalog).query, "/", lambda: False)
    finally:
        catalog.close()
    ranking = index.self_test().ranking
    assert ranking is not None
    assert ranking.questions >= 40
    assert ranking.after >= ranking.before > 0.5
    assert len(asked) == ranking.questions
