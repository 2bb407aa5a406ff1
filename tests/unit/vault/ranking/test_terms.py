"""The terms of a query: words, names, pairs and dates, without function words."""

from datetime import date

import pytest

from vault.ranking.terms import NAME_WEIGHT, choose_terms

TODAY = date(2026, 11, 18)


def expressions(words: str) -> set[str]:
    return {term.expression for term in choose_terms(words, TODAY)}


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("what is the base fee", {'"base"', '"fee"', '"base fee"'}),
        ("how did he age", {'"he"', '"age"', '"he age"'}),
        ("wo liegt die Schere", {'("liegt" OR "gelegen" OR "lag" OR "liegen")', '"schere"'}),
        ("to be or not to be", {'"not"'}),
        ("what is it?", {'"what"', '"is"', '"it"'}),
        ("price of gas", {'"price"', '"gas"'}),
        ("剪定", {'"剪定"'}),
        ("bits of 13mm", {'"bits"', '("13mm" OR "13 mm")'}),
        ("bits of 13 mm", {'"bits"', '"13"', '"mm"', '"13mm"'}),
    ],
)
def test_function_words_of_its_language_are_left_out(words: str, kept: set[str]) -> None:
    assert expressions(words) == kept


def test_a_long_list_of_amounts_makes_few_terms() -> None:
    amounts = " ".join(f"{number} kg" for number in range(5_000))
    assert len(choose_terms(amounts, TODAY)) < 200


def test_a_word_is_searched_with_its_irregular_forms() -> None:
    assert '("buy" OR "bought")' in expressions("what did I buy")


def test_a_name_within_a_sentence_weighs_more() -> None:
    weights = {term.expression: term.weight for term in choose_terms("When did Ana dance?", TODAY)}
    assert weights['"ana"'] == NAME_WEIGHT
    assert weights['"dance"'] == 1.0
    assert {term.weight for term in choose_terms("The Salt Path", TODAY)} <= {1.0, 0.1}


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("what happened yesterday", '"2026 11 17"'),
        ("who came on 3 May", '"3 may 2026"'),
        ("notes of last March", '"2026 03"'),
        ("notes of last March", '"march 2026"'),
        ("the plan of last year", '"2025"'),
    ],
)
def test_dates_are_searched_as_notes_write_them(words: str, form: str) -> None:
    assert form in expressions(words)
