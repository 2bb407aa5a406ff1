"""Tags, folders, days and links that a query names lift what they belong to, by a few places."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.vaults.old_catalogs import age_catalog
from tests.unit.vault.conftest import IndexMaker, NotesIndexer
from vault.options import SearchOptions
from vault.search.boosts import Booster, Boosts, apply_boosts
from vault.vault import Vault

Write = Callable[[str, str | bytes], Path]

WATER = "Give the beds water early.\n"
NOTES = {
    "Plain.md": f"# Watering\n\n{WATER}",
    "Carried.md": f"---\ntags: [garden/roses]\n---\n# Watering\n\n{WATER}",
    "greenhouse/Kept.md": f"# Watering\n\n{WATER}",
    "Journal/2024-03-05.md": f"# Watering\n\n{WATER}",
    "Dated.md": f"---\ncreated: 2023-06-01T09:30\n---\n# Watering\n\n{WATER}",
    "Log.md": f"# Log\n\n## 2022-07-08\n\n{WATER * 40}\n## 2022-07-19\n\n{WATER * 40}",
    "Rain barrel.md": "---\naliases: [Tonne]\n---\n# Barrel\n\nIt leads to [[linked|that]].\n",
    "Linked.md": f"# Watering\n\n{WATER}",
    "Linking.md": f"# Watering\n\n{WATER}\nSee [[Tonne]].\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


def lifted_by(index: Vault, query: str, signal: str, *in_play: str) -> set[str]:
    return {
        hit.path
        for hit in index.search(query, 20, SearchOptions(in_play)).hits
        if hit.signals[signal] == 1.0
    }


@pytest.mark.parametrize("words", ["roses", "rose", "garden rose"])
def test_a_tag_that_is_named_lifts_its_notes(index: Vault, words: str) -> None:
    assert lifted_by(index, f"watering {words}", "tags") == {"Carried.md"}
    assert index.search(f"watering {words}", 1).hits[0].path == "Carried.md"


def test_a_folder_that_is_named_lifts_its_notes(index: Vault) -> None:
    assert lifted_by(index, "watering in the greenhouse", "tags") == {"greenhouse/Kept.md"}
    assert index.search("watering in the greenhouse", 1).hits[0].path == "greenhouse/Kept.md"


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("on 5 March 2024", "Journal/2024-03-05.md"),
        ("in March 2024", "Journal/2024-03-05.md"),
        ("on June 1, 2023", "Dated.md"),
        ("during 2023", "Dated.md"),
    ],
)
def test_a_day_that_is_named_lifts_the_notes_of_that_day(
    index: Vault, words: str, path: str
) -> None:
    assert lifted_by(index, f"watering {words}", "dates") == {path}
    assert index.search(f"watering {words}", 1).hits[0].path == path


def test_in_a_log_a_day_lifts_its_own_passage_only(index: Vault) -> None:
    hits = [hit for hit in index.search("beds on 8 July 2022", 20).hits if hit.path == "Log.md"]
    assert {"2022-07-08" in hit.text: hit.signals["dates"] for hit in hits} == {
        True: 1.0,
        False: 0.0,
    }


def test_a_note_without_a_day_is_of_the_day_of_its_last_change(index: Vault) -> None:
    of_today = lifted_by(index, "watering today", "dates")
    assert {"Plain.md", "Carried.md"} <= of_today
    assert not of_today & {"Journal/2024-03-05.md", "Dated.md"}


@pytest.mark.parametrize("name", ["rain barrel", "Tonne"])
def test_a_note_that_is_named_lifts_what_it_links_to_and_what_links_to_it(
    index: Vault, name: str
) -> None:
    assert lifted_by(index, f"watering from the {name}", "links") == {"Linked.md", "Linking.md"}


def test_a_note_in_play_lifts_what_is_linked_with_it(index: Vault) -> None:
    assert lifted_by(index, "watering", "links", "Rain barrel.md") == {"Linked.md", "Linking.md"}
    found = index.search("watering", 1, SearchOptions(["Rain barrel.md"]))
    assert found.hits[0].path == "Linked.md"


def test_of_two_notes_with_one_name_a_link_lifts_the_one_that_it_means(
    index_of_notes: NotesIndexer,
) -> None:
    index = index_of_notes(
        {
            "a/Beds.md": f"# Watering\n\n{WATER}",
            "b/Beds.md": f"# Watering\n\n{WATER}",
            "b/Start.md": "# Start\n\nSee [[Beds]].\n",
        }
    )
    assert lifted_by(index, "early", "links", "b/Start.md") == {"b/Beds.md"}


def test_a_note_that_does_not_exist_is_not_in_play(index: Vault) -> None:
    hits = index.search("watering", 20, SearchOptions(["Gone.md", ""])).hits
    assert {hit.signals["links"] for hit in hits} == {None}


def test_a_signal_that_nothing_is_named_for_was_not_used(index: Vault) -> None:
    hit = index.search("beds early", 1).hits[0]
    assert [hit.signals[name] for name in ("tags", "dates", "links")] == [None] * 3


def test_whatever_is_asked_of_no_passages_nothing_is_lifted(index: Vault) -> None:
    assert index._handle.catalog is not None
    context = Booster(index._handle.catalog)
    assert context.compute_boosts("watering 2024-03-05", [], ["Plain.md"], date(2026, 1, 1)) == {}


def test_an_index_from_before_learns_the_days_and_embeds_nothing(
    make_index: IndexMaker, write: Write, tmp_path: Path
) -> None:
    write("Dated.md", NOTES["Dated.md"])
    before = make_index(tmp_path / "notes")
    before.update()
    before.close()
    age_catalog(before.index_dir / "catalog.db", 2)
    after = make_index(tmp_path / "notes")
    report = after.update()
    assert (report.embedded_chunks, report.notes) == (0, 1)
    assert lifted_by(after, "watering in June 2023", "dates") == {"Dated.md"}


_SHARES = st.floats(0.0, 1.0)
_MAYBE = st.none() | _SHARES


@given(_SHARES, _SHARES, _MAYBE, _MAYBE, _MAYBE)
def test_a_lifted_score_stays_from_0_to_1_and_never_sinks(
    score: float, title: float, tags: float | None, dates: float | None, links: float | None
) -> None:
    plain, whole = (
        apply_boosts(score, Boosts(title)),
        apply_boosts(score, Boosts(title, tags, dates, links)),
    )
    assert 0.0 <= apply_boosts(score, None) <= plain <= whole <= 1.0 + 1e-9


def test_all_lifts_but_the_names_never_bring_a_bad_passage_past_a_good_one() -> None:
    assert apply_boosts(0.2, Boosts(0.0, 1.0, 1.0, 1.0)) < apply_boosts(0.8, Boosts(0.0))
