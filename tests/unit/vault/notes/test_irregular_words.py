"""Irregular forms of words in English, German, French and Spanish."""

import pytest

from vault.notes.irregular_words import list_other_forms


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("buy", "bought"),
        ("bought", "buy"),
        ("see", "saw"),
        ("written", "wrote"),
        ("decide", "decisions"),
        ("child", "children"),
        ("sweeps", "swept"),
        ("buys", "bought"),
        ("teaches", "taught"),
        ("met", "meet"),
        ("kauft", "gekauft"),
        ("findet", "gefunden"),
        ("wechselt", "gewechselt"),
        ("gewechselt", "wechselt"),
        ("schweisst", "geschweisst"),
        ("fangt", "fing"),
        ("nimmt", "genommen"),
        ("liegt", "gelegen"),
        ("angefangen", "fing"),
        ("anfangen", "angefangen"),
        ("ablaufen", "lauft"),
        ("vorgestellt", "stellte"),
        ("aufgehort", "aufhoren"),
        ("stand", "stood"),
        ("ouvre", "ouvert"),
        ("ecrit", "ecrite"),
        ("vendu", "vend"),
        ("escribe", "escrita"),
        ("abre", "abierto"),
    ],
)
def test_a_word_has_its_irregular_forms(word: str, other: str) -> None:
    assert other in list_other_forms(word)
    assert word not in list_other_forms(word)


@pytest.mark.parametrize(
    "word",
    [
        *("saw", "left", "death", "garden", "", "buying", "leaves", "gardens", "s", "lot"),
        *("set", "rungs", "miss", "gesicht", "dicht", "aufgaben", "abstand", "abfall", "zutaten"),
    ],
)
def test_ambiguous_and_regular_words_have_none(word: str) -> None:
    assert list_other_forms(word) == frozenset()
