"""Answers without a model: which are refused, and which are doubted."""

from dataclasses import replace

import pytest

from chains.extractive.model import (
    DOUBTFUL,
    NOTHING_ANSWERS,
)
from tests.unit.chains.extractive.conftest import GARDEN, LONG, SERVER, find_lit, read_quotations
from vault.quotes.sections import Support


@pytest.mark.parametrize(("support", "refused"), [(0.3, True), (1.2, False)])
def test_what_the_search_found_too_weakly_is_refused(answer, source, support, refused):
    text = answer("What do beans cost in Paris?", source(1, GARDEN), support=support)
    assert ("No passage answers this clearly" in text) is refused


@pytest.mark.parametrize(("support", "refused"), [(0.2, True), (0.35, False)])
def test_most_of_the_words_are_enough_where_the_support_is_fair(answer, source, support, refused):
    section = "## Restoring\n\nA restore of one file of the server takes a minute."
    text = answer("How do I restore a lost server file?", source(1, section), support=support)
    assert ("No passage answers this clearly" in text) is refused


@pytest.mark.parametrize(
    ("weights", "refused"),
    [
        ({"saffron": 0.9, "warm": 0.3, "soil": 0.3}, True),
        ({"saffron": 0.2, "warm": 0.4, "soil": 0.4}, False),
        ({}, False),
    ],
)
def test_a_question_whose_rarest_word_is_in_no_quotation_is_refused(
    answer, source, weights, refused
):
    support = Support(0.65, weights)
    text = answer("Does saffron need warm soil?", source(1, GARDEN), support=support)
    assert ("No passage answers this clearly" in text) is refused
    known = answer("Do beans need warm soil?", source(1, GARDEN), support=support)
    assert "> Beans need warm soil" in known


def test_the_rarest_word_may_be_quoted_in_another_form_or_for_one_of_several_things(answer, source):
    support = Support(0.65, {"saffron": 0.9, "warm": 0.3, "soil": 0.3, "beans": 0.3})
    other = source(1, "Saffrons need warm soil.")
    text = answer("Does saffron need warm soil?", other, support=support)
    assert "> Saffrons need warm soil. [1]" in text
    both = source(1, GARDEN), source(2, "Saffron likes dry summers.")
    text = answer("What do beans and saffron need?", *both, support=support)
    assert "> Saffron likes dry summers. [2]" in text


@pytest.mark.parametrize(
    ("weights", "is_doubted"),
    [
        ({"companies": 0.5, "sponsor": 0.4, "beans": 0.2}, True),  # both are missing
        ({"companies": 0.5, "sponsor": 0.4, "beans": 0.8}, False),
        ({"companies": 0.5, "beans": 0.4}, False),
    ],
)
def test_a_question_of_which_two_rare_words_are_missing_is_doubted(
    answer, source, weights, is_doubted
):
    text = answer(
        "Which companies sponsor beans?", source(1, GARDEN), support=Support(3.0, weights)
    )
    assert (DOUBTFUL in text) is is_doubted
    assert NOTHING_ANSWERS not in text


MOVING = (
    "The gate is closed by hand in the evening. "
    "A motor of the gate was once considered. "
    "At dusk a hook keeps it shut."
)


class Nearness:
    """Compares by meaning: texts with one of some words are near every question."""

    def __init__(self, *words):
        self.words = words
        self.asked = []

    def __call__(self, question, texts):
        self.asked.append((question, list(texts)))
        return [0.8 if any(word in text for word in self.words) else 0.1 for text in texts]


def test_what_is_near_in_meaning_comes_before_what_shares_a_word(answer, source):
    question, text = "What fastens the gate?", MOVING.replace(". ", ".\n\n") + LONG
    near = Nearness("hook")
    by_words = find_lit(answer(question, source(1, text)))
    by_meaning = find_lit(answer(question, source(1, text), compare=near))
    assert not any("hook" in line for line in by_words)
    assert any("hook" in line for line in by_meaning)
    assert near.asked[0][0] == question


def test_only_the_beginnings_of_the_best_parts_are_compared(answer, source):
    near = Nearness()
    texts = [f"Bean {n} likes soil {'and sun ' * 60}." + LONG for n in range(20)]
    answer("Which soil do beans like?", *map(source, range(1, 21), texts), compare=near)
    compared = [text for _, texts in near.asked for text in texts]
    assert len(compared) <= 32
    assert max(len(text.split()) for text in compared) < 30


def test_without_vectors_the_words_alone_decide(answer, source):
    question, text = "What fastens the gate?", MOVING + " It rained all day." * 10 + LONG
    assert answer(question, source(1, text), compare=lambda *_: ()) == answer(
        question, source(1, text)
    )


def test_each_of_two_things_is_compared_without_the_other(answer, source):
    near = Nearness()
    sources = source(1, SERVER), source(2, GARDEN)
    answer("What do beans and the server need?", *sources, compare=near)
    assert [question for question, _ in near.asked] == [
        "What do beans and the",
        "What do and the server need?",
    ]


@pytest.mark.parametrize("near", [0.3, 0.8])
def test_a_near_part_answers_though_the_support_is_only_fair(answer, source, near):
    text = answer(
        "What do legumes cost in a market?",
        source(1, GARDEN),
        support=0.6,
        compare=lambda _, texts: [near] * len(texts),
    )
    assert ("No passage answers this clearly" in text) is (near < 0.5)


@pytest.mark.parametrize(("support", "doubts"), [(0.1, True), (0.4, False)])
def test_quotations_that_may_not_answer_are_shown_with_a_doubt(answer, source, support, doubts):
    text = answer("Do beans need warm soil?", source(1, GARDEN), support=support)
    assert (DOUBTFUL in text) is doubts
    assert read_quotations(text)


@pytest.mark.parametrize("support", [0.3, 0.8])
def test_notes_that_differ_are_told_in_an_answer_and_in_a_doubt(answer, source, support):
    said = "The frost guard switches on at {} °C."
    text = answer(
        "When does the frost guard switch on?",
        replace(source(1, said.format(4)), title="Frost guard"),
        replace(source(2, said.format(7)), title="Conservatory"),
        support=support,
    )
    lead, differing = text.split("\n")[0], "4 °C in *Frost guard*, 7 °C in *Conservatory*"
    assert ("may not answer" in lead) is (support < 0.5)
    assert f" Your notes differ: {differing}." in lead


@pytest.mark.parametrize("support", [0.3, 0.8])
def test_notes_on_two_flats_are_not_said_to_differ(answer, source, support):
    text = answer(
        "How much is the rent of the flat?",
        replace(source(1, "The rent is 900 €."), title="Flat Mozartstraße"),
        replace(source(2, "The rent is 1,100 €."), title="Flat Goethestraße"),
        support=support,
    )
    assert len(read_quotations(text)) == 2
    assert "Your notes differ" not in text


@pytest.mark.parametrize("name", ["Paris", "paris"])
def test_a_name_that_no_quotation_has_counts_as_missing(answer, source, name):
    text = answer(f"Do beans need warm soil in {name}?", source(1, GARDEN), support=0.6)
    assert (NOTHING_ANSWERS in text) is (name == "Paris")


def test_a_text_without_a_key_answers_no_question_for_a_shortcut(answer, source):
    question = "What is the keyboard shortcut for the graph?"
    opened = "The graph has a keyboard shortcut of its own, and a button in the ribbon."
    assert NOTHING_ANSWERS in answer(question, source(1, opened))
    keys = "To open the graph, press the keyboard shortcut `Ctrl+G`."
    assert "Ctrl+G" in answer(question, source(1, opened), source(2, keys))


def test_instructions_are_the_directions_and_not_the_ingredients(answer, source):
    text = """## Ingredients
- 100 g of sugar for the kvass
- 3 slices of bread to brew with

## Directions
1. Burn the bread.
2. Let it stand for a week."""
    quoted = read_quotations(answer("How do I brew kvass?", source(1, text, title="Kvass")))
    assert quoted[0] == "> 1. Burn the bread."


def test_of_a_long_list_every_outer_item_is_shown(answer, source):
    more = "\n  - It is told at length what grows on it, and how it is cut. " * 12
    trees = "\n\n".join(f"- **{name}** is a tree. It is old.{more}" for name in ("Ash", "Elm"))
    sources = [source(1, f"There are these kinds of trees:\n\n{trees}")]
    shown = "\n".join(read_quotations(answer("What kinds of trees are there?", *sources)))
    assert "> There are these kinds of trees:" in shown
    assert "**Ash** is a tree" in shown
    assert "**Elm** is a tree" in shown


TAGS = """# Searching for tags

## Exact tag

```
show notes with tag = x
```

## Start of a tag

```
show notes with tag ^ x
```"""


def test_two_ways_that_are_compared_are_quoted_with_their_code(answer, source):
    text = answer("How do an exact tag and the start of a tag differ?", source(1, TAGS))
    assert "tag = x" in text
    assert "tag ^ x" in text


def test_a_difference_is_answered_by_what_each_thing_is(answer, source):
    differences = source(1, "Show the difference between two files, line by line." + LONG)
    things = (
        source(2, "# tac\n\nEstimate the space that files use." + LONG),
        source(3, "# tee\n\nDisplay the free space of a disk." + LONG),
    )
    text = answer("What is the difference between tac and tee?", differences, *things)
    assert "Estimate the space that files use" in text
    assert "Display the free space of a disk" in text


def test_parts_are_compared_together_with_their_headings(answer, source):
    near = Nearness()
    answer("How many watts does a backup draw?", source(2, SERVER), compare=near)
    ((_, compared),) = near.asked
    assert "Note 2. Power. A full backup raises that to 58 watts." in compared


def test_a_number_of_something_else_is_no_count(answer, source):
    text = "The soup serves guests well. Let it simmer for 20 minutes on a low heat, and stir."
    question = "How many guests does the soup serve?"
    assert NOTHING_ANSWERS in answer(question, source(1, text), support=0.7)
    counted = text.replace("guests", "4 guests")
    assert NOTHING_ANSWERS not in answer(question, source(1, counted), support=0.7)


def test_a_price_that_is_told_before_a_question_is_not_asked_for(answer, source):
    text = "The large plan of the garden has room for ten beds."
    question = "The garden costs me a lot. Which plan of the garden has room for ten beds?"
    assert NOTHING_ANSWERS not in answer(question, source(1, text), support=1.2)


@pytest.mark.parametrize(
    ("question", "is_shown"),
    [
        ("When did I last meet Anna?", True),
        ("When did I first phone Anna Berger?", True),
        ("Wann habe ich Anna zuletzt getroffen?", True),
        ("When did I last meet Zora?", False),  # whom no note names
        ("When did I last meet Anna Schmidt?", False),
        ("Why did I meet Anna?", False),
    ],
)
def test_the_days_that_have_a_name_are_shown_with_a_doubt(answer, source, question, is_shown):
    words = {"meet": 0.9, "phone": 0.9, "getroffen": 0.9, "anna": 0.3, "zora": 0.9, "schmidt": 0.9}
    day = replace(source(1, "Lunch with Anna Berger at the lake."), title="2026-10-24")
    text = answer(question, day, support=Support(0.7, words))
    assert (DOUBTFUL in text and "Lunch with Anna" in text) is is_shown


@pytest.mark.parametrize(
    "question",
    [
        "Which notes are not about beans?",
        "Which notes mention soil but not beans?",
        "Welche Notizen handeln nicht von beans?",
        "Quelles notes ne parlent pas de beans ?",
        "¿Qué notas no tratan de beans?",
    ],
)
def test_notes_about_what_is_excluded_are_no_sure_answer(answer, source, question):
    assert "so here are the passages" not in answer(question, source(1, GARDEN), support=2.0)


@pytest.mark.parametrize(
    "question",
    [
        "When is Klara's birthday?",
        "What is Klara's address?",
        "Quand est l'anniversaire de Klara ?",
    ],
)
def test_a_note_that_has_the_name_alone_is_no_sure_answer(answer, source, question):
    friend = source(1, "Klara keeps goats near Thun. Met first on the boat in 2024.")
    assert "so here are the passages" not in answer(question, friend, support=2.0)


def test_a_note_that_says_what_is_asked_of_a_name_is_an_answer(answer, source):
    friend = source(1, "Klara has her birthday on 3 May.")
    text = answer("When is Klara's birthday?", friend, support=2.0)
    assert "so here are the passages" in text
