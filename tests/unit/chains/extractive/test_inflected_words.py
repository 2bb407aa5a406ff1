"""A question is not doubted because the notes have other forms of its verb."""

import pytest

from chains.extractive.words import measure_match, split_words


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("sweeps", "The chimney is swept by Tom every October."),
        ("sells", "She sold the boat to Henrik."),
        ("wins", "The cup was won by Jonas."),
        ("chooses", "The programme was chosen by Clara."),
        ("wechselt", "Das Öl wird alle 15.000 km gewechselt."),
        ("schweißt", "Der Auspuff wurde im Juli geschweißt."),
        ("findet", "Der Schlüssel wurde von Ina gefunden."),
        ("ouvre", "Le musée est ouvert à dix heures."),
        ("prend", "Nous avons pris le train."),
        ("escribe", "La receta fue escrita por la tía Lucía."),
        ("abre", "La tienda estuvo abierta hasta las nueve."),
    ],
)
def test_a_verb_matches_its_participle(asked: str, text: str) -> None:
    (word,) = split_words(asked)
    assert measure_match(word, split_words(text)) == 1.0


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("leaves", "Everything on the left is new."),
        ("paints", "The boat was sold."),
        ("wechselt", "Das Wetter war gut."),
        ("vend", "Le train est pris."),
    ],
)
def test_a_verb_does_not_match_another_one(asked: str, text: str) -> None:
    (word,) = split_words(asked)
    assert measure_match(word, split_words(text)) == 0.0
