"""The words, names and pairs of words of questions."""

import pytest

from chains.extractive.words import list_names, list_pairs, measure_match, split_words


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How do I connect MySQL with Obsidian?", {"mysql", "obsidian"}),
        ("Which port does Redis use?", {"redis"}),
        ("SQS: what is its limit?", {"sqs"}),
        ("Does the app run on x86 with I/O?", {"x86"}),
        ("What does it cost in 2024?", set()),
        ("Wann wird der Server gesichert?", set()),
    ],
)
def test_names_are_words_with_a_capital_letter_or_a_digit(question, names):
    assert list_names(question) == names


def test_pairs_are_adjacent_words_without_case_and_accents():
    assert list_pairs("Délete all-Stashes") == {("delete", "all"), ("all", "stashes")}


def test_an_irregular_form_counts_as_the_word_itself():
    assert measure_match("buy", split_words("Bought new gloves")) == 1.0
    assert measure_match("decide", split_words("Decisions")) == 1.0
    assert measure_match("saw", split_words("I see the garden")) == 0.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Straße, in DÉLETE-mode: x!", {"the", "strasse", "in", "delete", "mode"}),
        ("日本語のノート", {"日本", "本語", "語の", "のノ", "ノー", "ート"}),
        ("黒猫 猫", {"黒猫", "猫"}),
        ("김치찌개 cat", {"김치", "치찌", "찌개", "cat"}),
        ("snake_case", {"snake", "case"}),
    ],
)
def test_words_are_those_of_the_index_without_single_letters(text, words):
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("text", "other"),
    [("13mm", "13 mm"), ("80Nm", "80 Nm"), ("24l", "24 l"), ("1500W", "1500 W"), ("5min", "5 min")],
)
def test_a_number_with_its_unit_has_the_same_words_however_it_is_spaced(text, other):
    assert split_words(text) == split_words(other)
