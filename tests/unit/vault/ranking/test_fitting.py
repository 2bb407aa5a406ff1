"""The weights of the ranking are chosen by a vault's own questions, if both halves gain."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vault.catalog import CATALOG_FILE, Catalog
from vault.ranking.fitting import Fit, fit_weights, is_of_size, read_fit, store_fit
from vault.ranking.fusion import DEFAULT_WEIGHTS, RankingWeights, Scores
from vault.ranking.questions import VaultQuestion

FILES = {item: item for item in range(20)}


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / CATALOG_FILE, is_writable=True)
    yield opened
    opened.close()


def ask(count: int, kind: str = "heading") -> list[VaultQuestion]:
    return [VaultQuestion(f"the question number {n}", kind, frozenset({1})) for n in range(count)]


def find_by_words(_text: str, _weights: RankingWeights) -> Scores:
    """Words find the right note, meaning finds others."""
    dense = dict.fromkeys(range(2, 14), 0.9) | {1: 0.1}
    return Scores({1: 9.0, 2: 4.0}, dense, {1: 9.0, 2: 4.0}, FILES)


def find_at_once(_text: str, _weights: RankingWeights) -> Scores:
    return Scores({1: 9.0}, {1: 0.9, 2: 0.1}, {1: 9.0}, FILES)


def test_where_words_find_what_meaning_does_not_words_weigh_more() -> None:
    fit = fit_weights(ask(48), find_by_words, lambda: False)
    assert fit is not None
    assert fit.has_changed
    assert fit.weights.words > DEFAULT_WEIGHTS.words
    assert fit.after > fit.before
    assert fit.questions == 48


def test_where_nothing_is_gained_the_usual_weights_stay() -> None:
    fit = fit_weights(ask(48), find_at_once, lambda: False)
    assert fit is not None
    assert (fit.weights, fit.before, fit.after) == (DEFAULT_WEIGHTS, 1.0, 1.0)


def test_what_only_one_half_or_one_kind_gains_by_is_not_kept() -> None:
    def find_in_first_half(text: str, weights: RankingWeights) -> Scores:
        is_first = int(text.rsplit(maxsplit=1)[-1]) % 4 < 2
        return (find_by_words if is_first else find_at_once)(text, weights)

    def find_links_by_meaning(text: str, weights: RankingWeights) -> Scores:
        if "number" in text:
            return find_by_words(text, weights)
        words = {2: 9.0, 3: 9.0, 1: 0.1}
        return Scores(words, {1: 0.9, 2: 0.01, 3: 0.01}, words, FILES)

    links = [VaultQuestion(f"a link with name {n}", "link", frozenset({1})) for n in range(24)]
    for asked, find in (
        (ask(48), find_in_first_half),
        (
            [each for pair in zip(ask(24), links, strict=True) for each in pair],
            find_links_by_meaning,
        ),
    ):
        fit = fit_weights(asked, find, lambda: False)
        assert fit is not None
        assert not fit.has_changed


def find_by_meaning(_text: str, _weights: RankingWeights) -> Scores:
    """Meaning finds the right note; whatever words weigh, they find two others."""
    words = {2: 9.0, 3: 8.9, 1: 0.1}
    return Scores(words, {1: 0.9, 2: 0.8, 3: 0.79, 4: 0.1}, words, FILES)


def find_tenth(_text: str, _weights: RankingWeights) -> Scores:
    """Words find the right note as the tenth; if meaning weighs much, others come before it."""
    words = {item: 9.0 - item / 100 for item in range(2, 11)} | {1: 8.8, 11: 8.7, 12: 8.6}
    return Scores(words, dict.fromkeys(range(2, 13), 0.9) | {1: 0.85}, words, FILES)


def find_second(_text: str, _weights: RankingWeights) -> Scores:
    """Meaning finds the right note, and words find another one just before it."""
    words = {2: 9.0, 1: 8.5}
    return Scores(words, {1: 0.9, 2: 0.3}, words, FILES)


def test_a_single_kind_of_score_ranks_alone_where_no_mixture_reaches_it() -> None:
    fit = fit_weights(ask(48), find_by_meaning, lambda: False)
    assert fit is not None
    assert (fit.single, fit.single_recall) == (1.0, 1.0)
    assert fit.before < fit.single
    assert fit.after == fit.single
    assert fit.weights.words < 0.01


def test_titles_count_as_in_a_search() -> None:
    def find(_text: str, _weights: RankingWeights) -> Scores:
        words = {2: 9.0, 1: 1.0}
        return Scores(words, {1: 0.1, 2: 0.9}, words, FILES, titles={1: 1.0})

    fit = fit_weights(ask(48), find, lambda: False)
    assert fit is not None
    assert (fit.weights, fit.before) == (DEFAULT_WEIGHTS, 1.0)
    assert fit.single < 1.0


def test_no_note_is_lost_from_the_first_ten_that_one_kind_of_score_finds() -> None:
    def find(text: str, weights: RankingWeights) -> Scores:
        is_rare = text.endswith((" 0", " 2"))
        return (find_tenth if is_rare else find_second)(text, weights)

    fit = fit_weights(ask(80), find, lambda: False)
    assert fit is not None
    assert (fit.recall, fit.single_recall) == (1.0, 1.0)
    assert fit.after >= max(fit.before, fit.single)


def test_few_questions_sentences_alone_and_a_stop_choose_nothing() -> None:
    assert fit_weights(ask(20), find_by_words, lambda: False) is None
    assert fit_weights(ask(48, "sentence"), find_by_words, lambda: False) is None
    assert fit_weights(ask(48), find_by_words, lambda: True) is None


def test_the_weights_are_kept_until_the_model_changes_or_the_index_is_emptied(
    catalog: Catalog,
) -> None:
    fit = Fit(RankingWeights(words=0.75), 48, 0.5, 0.7, 0.6, 0.9, 0.8, notes=100)
    assert read_fit(catalog) is None
    with catalog.transaction():
        store_fit(catalog, fit)
    stored = read_fit(catalog)
    assert stored is not None
    assert stored.weights == fit.weights
    assert is_of_size(stored, 110)
    assert not is_of_size(stored, 150)
    with catalog.transaction():
        catalog.set_meta("embedder", "another")
    assert read_fit(catalog) is None
    with catalog.transaction():
        store_fit(catalog, fit)
        catalog.clear()
    assert read_fit(catalog) is None


@pytest.mark.parametrize("stored", ["", "[]", "{}", '{"weights": {"other": 1}}', "no json"])
def test_what_another_version_stored_is_not_used(catalog: Catalog, stored: str) -> None:
    with catalog.transaction():
        catalog.set_meta("ranking", stored)
    assert read_fit(catalog) is None
