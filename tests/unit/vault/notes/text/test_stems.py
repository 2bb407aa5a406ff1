"""The words of a query are found in any of their forms, and other words are not."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from vault.notes.text.stems import WordStems, stem_word


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("watering tomatoes", "Water the tomato."),
        ("Who decided it?", "It was decided: we decide."),
        ("the servers", "A server is here."),
        ("When did I buy gloves?", "Bought a new glove."),
        ("die Häuser im Garten", "Das Haus mit dem Gartenzaun."),
        ("les chevaux sont dans le jardin", "Un cheval de jardins."),
        ("las flores para el jardín", "Una flor del jardin."),
        ("dove sono le case di mia nonna", "La casa della nonna."),
        ("книги", "Хорошая книга."),
        ("漢字", "これは漢字"),
        ("the", "The end."),
    ],
)
def test_all_words_of_a_query_are_found_in_their_forms(query: str, text: str) -> None:
    stems = WordStems(query)
    assert stems.find(text) == frozenset(stems.names)
    assert len(stems) == len(stems.names) > 0


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("eve", "The event is even later."),
        ("international", "An intern is here."),
        ("car", "A carpet of care."),
        ("constant", "The constitution."),
        ("", "Anything."),
        ("beans", ""),
    ],
)
def test_words_that_only_begin_alike_are_not_found(query: str, text: str) -> None:
    assert WordStems(query).find(text) == frozenset()


def test_two_forms_of_a_word_are_one_stem() -> None:
    assert len(WordStems("plant plants planting")) == 1


def test_words_are_stemmed_by_several_threads_at_once() -> None:
    words = [f"{stem}{ending}" for stem in ("water", "plant", "index") for ending in ("ing", "ed")]
    texts = [f"{word}{number}s" for number in range(300) for word in words]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda word: stem_word(word, "english"), texts))
    assert found == [stem_word.__wrapped__(word, "english") for word in texts]
