import pytest

from chains.extractive.answer_type import (
    contains_answer_of_type,
    contains_count,
    meets_expected_type,
)


@pytest.mark.parametrize(
    ("question", "text", "can"),
    [
        ("How hot should the oven be?", "Bake it until it is brown.", False),
        ("How hot should the oven be?", "Bake it at 180 °C.", True),
        ("How hot should the oven be?", "Bake it at a low heat.", True),
        ("What do I pay per month?", "The server has 2 processors.", False),
        ("What do I pay per month?", "The server is 4.50 a month.", True),
        ("What percentage of the seeds come up?", "Sow 40 seeds.", False),
        ("What percentage of the seeds come up?", "Nine of ten come up, or 90 %.", True),
        ("What is the shortcut of the scale tool?", "R: Scale tool", True),
        ("What is the shortcut of the scale tool?", "It scales what is selected.", False),
        ("How many beds are there?", "There are beds.", False),
        ("When is it watered?", "It is watered.", False),
        ("Who waters it?", "It is watered.", True),
    ],
)
def test_a_text_without_the_type_of_answer_asked_for_cannot_answer(question, text, can):
    assert meets_expected_type(question, text) is can


def test_each_text_has_an_answer_of_no_type():
    assert contains_answer_of_type("anything", "")
    assert not contains_answer_of_type("anything", "number")


@pytest.mark.parametrize(
    ("question", "text", "has"),
    [
        ("How many beds are there?", "There are *three* beds.", True),
        (
            "How many new cards a day do I set?",
            "Review all cards. Do not stay with one.",
            False,
        ),
        ("How many people does it serve?", "It simmers for 20 minutes.", False),
        ("Wie viele Beete gibt es?", "Es gibt drei Beete.", True),
        ("How hot is it?", "It is hot.", True),
    ],
)
def test_a_count_stands_near_what_is_counted(question, text, has):
    assert contains_count(question, text) is has


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("When do rehearsals begin?", "Rehearsals begin at twenty past seven.", True),
        ("When does the market open?", "The market opens at half past nine.", True),
        ("When is the lunch?", "We eat at noon.", True),
        ("When does the gate close?", "The gate closes at eleven o'clock.", True),
        ("When is the rent due?", "The rent is due on the third.", True),
        ("Wann beginnt die Probe?", "Die Probe beginnt um halb acht.", True),
        ("Wann schließt das Bad?", "Das Bad schließt gegen neun.", True),
        ("When do owls hunt?", "Owls hunt at dusk.", True),
        ("When do rehearsals begin?", "Rehearsals are in the hall with two doors.", False),
        ("Wann beginnt die Probe?", "Die Probe ist in der Halle.", False),
    ],
)
def test_a_time_in_words_answers_a_question_for_a_time(question, text, answers):
    assert meets_expected_type(question, text) is answers
