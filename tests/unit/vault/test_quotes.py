import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.catalog import Catalog
from vault.errors import EmbedderFailed
from vault.options import SearchOptions
from vault.quotes.spelling import correct_spelling, join_separated, measure_edits
from vault.vault import Vault

QUOTED = SearchOptions(is_quoted=True)
TURN = "turn the valve slowly " * 9
STEPS = "\n\n".join(f"{n}. Step {n} of the boiler: {TURN}." for n in range(1, 6))
# Over 1,000 tokens: more than one passage, but a section that can be shown whole.
LONG_STEPS = "\n\n".join(f"{n}. Stage {n} of the kiln: {TURN}." for n in range(1, 15))
NOTES = {
    "Kiln.md": f"# Kiln\n\n{LONG_STEPS}\n\n# Glaze\n\nIt is blue.\n",
    "Boiler.md": f"# Boiler\n\nOn heating.\n\n## Service\n\n{STEPS}\n\n## Costs\n\nIt is dear.\n",
    "Keys.md": "# Keyboard\n\nThe keyboard needs a cleaning in spring.\n",
    "Garden.md": "# Garden\n\nBeans need warm soil and some patience. They drive up the poles.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.fixture(scope="module")
def umlauts(index_of_notes: NotesIndexer) -> Vault:
    text = "Müller und Baecker bauen grüne Häuser und Mühlen. Nu, Quölle, pött, Bär, Bür."
    return index_of_notes({"Dorf.md": f"# Dorf\n\n{text}\n"})


@pytest.mark.parametrize(
    ("query", "corrected"),
    [
        ("clean the keybord", "clean the keyboard"),
        ("which patiense", "which patience"),
        ("the boilre", "the boiler"),
        ("the keyboard", "the keyboard"),
        ("who is Hamlet", "who is Hamlet"),
        ("do bears need patience", "do bears need patience"),
        ("how cars are driven", "how cars are drive"),
        ('the "keybord"', 'the "keybord"'),
        ("tag:keybord", "tag:keybord"),
    ],
)
def test_a_slip_is_corrected_by_the_words_of_the_notes(
    index: Vault, query: str, corrected: str
) -> None:
    assert index.search(query, options=QUOTED).query == corrected


def test_a_very_long_word_is_not_searched_for_filters_again_and_again(tmp_path: Path) -> None:
    with closing(Catalog(tmp_path / "catalog.db", is_writable=True)) as catalog:
        started = time.process_time()
        assert correct_spelling(catalog, "x" * 100_000) == "x" * 100_000
        assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("Mueller", "Müller"),
        ("haeuser", "häuser"),
        ("Gruene Muehlen", "Grüne Mühlen"),
        ("Bäcker", "Baecker"),
        ("Quelle neue Bauer", "Quelle neue Bauer"),
        ("poet", "poet"),
        ('"Mueller"', '"Mueller"'),
    ],
)
def test_umlauts_are_searched_as_the_notes_write_them(
    umlauts: Vault, query: str, written: str
) -> None:
    assert umlauts.search(query).query == written


def test_a_search_that_is_not_quoted_takes_the_query_as_it_is(index: Vault) -> None:
    found = index.search("keybord")
    assert (found.query, found.support) == ("keybord", None)


def test_the_best_passage_gets_the_others_of_its_section(index: Vault) -> None:
    found = index.search("step 3 of the boiler service", 1, QUOTED)
    texts = "\n".join(hit.text for hit in found.hits)
    assert all(f"{n}. Step {n}" in texts for n in range(1, 6))


def test_a_long_section_of_one_of_the_first_passages_comes_whole(index: Vault) -> None:
    found = index.search("stage 9 of the kiln", 1, QUOTED)
    texts = "\n".join(hit.text for hit in found.hits)
    assert [n for n in range(1, 15) if f"{n}. Stage {n} " not in texts] == []
    assert "blue" not in texts


def test_an_answerable_question_has_more_support_than_another(index: Vault) -> None:
    good = index.search("What soil do beans need?", options=QUOTED).support
    bad = index.search("Who won the football world cup?", options=QUOTED).support
    assert good is not None
    assert bad is not None
    assert good.score > 1.0
    assert bad.score < 0.5


def test_the_words_of_a_question_weigh_more_the_rarer_they_are(index: Vault) -> None:
    support = index.search("Which boiler has a football?", options=QUOTED).support
    assert support is not None
    assert list(support.weights) == ["boiler", "football"]
    assert 0.0 < support.weights["boiler"] < 0.5 < support.weights["football"]


def test_texts_that_are_not_indexed_are_compared_by_meaning(index: Vault) -> None:
    near, far = index.measure_cosines("warm ground for beans", ["Soil is heated.", "A fee is due."])
    assert near > far


def test_nothing_is_compared_without_an_index_or_a_model(
    index: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Vault(tmp_path, tmp_path / "none")
    assert empty.measure_cosines("beans", ["Soil"]) == ()
    empty.close()

    def fail(*_: object) -> None:
        raise EmbedderFailed("no model")

    monkeypatch.setattr("vault.embedder.Embedder.measure_cosines", fail)
    assert index.measure_cosines("beans", ["Soil"]) == ()


def test_words_that_are_in_no_note_lower_the_support(index: Vault) -> None:
    known = index.search("Does the keyboard need soil?", options=QUOTED).support
    unknown = index.search("Does the keyboard need diesel?", options=QUOTED).support
    assert known is not None
    assert unknown is not None
    assert unknown.score < known.score - 0.1


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("valve", "valve", 0), ("vavle", "valve", 1), ("valv", "valve", 1), ("value", "valve", 1)],
)
def test_swapped_letters_are_one_edit(one: str, other: str, edits: int) -> None:
    assert measure_edits(one, other) == edits


def test_the_dates_of_notes_are_those_of_properties_that_date_them(
    index_of_notes: NotesIndexer,
) -> None:
    index = index_of_notes(
        {
            "Log.md": "---\ncreated: 2024-03-05\n---\n\nThe pump was mended.\n",
            "Plan.md": "---\ndate: 2024-01-02\ndeadline: 2024-02-03\n---\n\nDig on 2020-01-01.\n",
            "Ann.md": "---\nbirthday: 1984-03-14\n---\n\nA friend.\n",
            "Idea.md": "Dig a pond on 2020-01-01.\n",
        }
    )
    assert index.find_days(["Log.md", "Plan.md", "Ann.md", "Idea.md", "None.md"]) == {
        "Log.md": ["2024-03-05"],
        "Plan.md": ["2024-01-02"],
    }


@pytest.mark.parametrize(
    ("question", "joined"),
    [
        ("Wann fängt die Sitzung an?", "Wann anfangen die Sitzung an?"),
        ("Wie viele Leute nahmen teil?", "Wie viele Leute teilnehmen teil?"),
        ("Wer stellte den Plan vor?", "Wer vorgestellt den Plan vor?"),
        ("Findet das Fest am Montag statt?", "stattfinden das Fest am Montag statt?"),
    ],
)
def test_a_verb_is_joined_with_the_particle_at_the_end(question: str, joined: str) -> None:
    assert join_separated(question) == joined


@pytest.mark.parametrize(
    "text",
    [
        *("What is it for, an?", "Wann beginnt die Sitzung?", "", "an", "Was haben wir vor?"),
        *("Wann ist der Kurs?", "Der Zug kommt an, und wer holt ihn ab, sagt Ida", "aus an auf ab"),
    ],
)
def test_other_questions_stay_as_they_are(text: str) -> None:
    assert join_separated(text) == text
