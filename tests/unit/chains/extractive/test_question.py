from time import process_time

import pytest

from chains.extractive.question import (
    can_be_looked_up,
    extract_subject,
    read_question,
    split_question,
)
from chains.extractive.words import list_names


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How do I reset the router?", "how_to"),
        ("How many routers are there?", "fact"),
        ("What are the steps to reset it?", "how_to"),
        ("Which plugins must be on?", "list"),
        ("Who are the editors?", "list"),
        ("compare the three quotes", "list"),
        ("What can I count with it?", "list"),
        ("When was it planted?", "time"),
        ("Since when has it been running?", "time"),
        ("Do my notes say when it was planted?", "time"),
        ("What has to be done when a seed is sown?", "how_to"),
        ("How big is the garden?", "fact"),
        ("What is the largest bed?", "fact"),
        ("Since which version can one plant beans?", "fact"),
        ("Which sign marks a tree?", "fact"),
        ("Which beds can I use?", "list"),
        ("What is transient storage?", "fact"),
        ("Wie kann ich den Router zurücksetzen?", "how_to"),
        ("Could you walk me through sowing beans?", "how_to"),
        ("pin a note to the sidebar", "how_to"),
        ("setting up the router at home", "how_to"),
        ("What do I type to end it?", "how_to"),
        ("make the router show how long it ran", "how_to"),
        ("ingredients for the soup", "list"),
        ("keyboard shortcuts on a mac", "list"),
        ("number of beds in the garden", "fact"),
        ("set theory", "fact"),
    ],
)
def test_what_a_question_asks_for_is_read_from_its_words(text, kind):
    assert read_question(text).kind == kind


def test_the_first_and_the_last_of_several_times_are_told_apart():
    assert read_question("When was it last watered?").order == "last"
    assert read_question("When was it first watered?").order == "first"
    assert read_question("What is the last step?").order == ""


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Wann war sie zuletzt hier?", "last"),
        ("Wann war das letzte Treffen?", "last"),
        ("Wann fand das letztjährige Treffen statt?", ""),
        ("Wann war sie erstmals hier?", "first"),
        ("Quand l'ai-je vue la dernière fois ?", "last"),
        ("Quand l'ai-je vue pour la premiere fois ?", "first"),
        ("¿Cuándo la vi por última vez?", "last"),
        ("¿Cuándo la vi por primera vez?", "first"),
    ],
)
def test_the_first_and_the_last_time_are_asked_for_in_other_languages(text, order):
    assert read_question(text).order == order


def test_each_of_several_things_has_its_own_words():
    facets = read_question("How do I list the sessions in tmux and in screen?").facets
    assert [facet.own for facet in facets] == [{"tmux"}, {"screen"}]


@pytest.mark.parametrize(
    "text", ["Which range of ports is free?", "Which addresses are set aside?", "How old is it?"]
)
def test_a_question_for_a_value_asks_for_a_number(text):
    assert read_question(text).answer_type == "number"


def test_a_name_that_is_a_function_word_of_another_language_is_asked_for():
    question = read_question("What is the difference between du and df?")
    assert question.words == {"du", "df"}
    assert [facet.own for facet in question.facets] == [{"du"}, {"df"}]
    assert read_question("Wann kommst du zum Essen?").words == {"kommst", "essen"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "How do I extract zip, 7z and tar archives?",
            [
                "How do I extract zip, and archives?",
                "How do I extract 7z and archives?",
                "How do I extract and tar archives?",
            ],
        ),
        ("How do I water the beans?", []),
        ("I grow beans and peas. How do I water them?", []),
    ],
)
def test_a_question_about_several_things_becomes_a_query_for_each(text, parts):
    assert split_question(text) == parts


def test_words_of_the_last_turn_are_known_as_added():
    question = read_question("And how do I end it?", "And how do I end it? bisect session")
    assert question.added == {"bisect", "session"}
    assert question.text == "And how do I end it?"


def test_a_corrected_word_is_not_an_added_one():
    question = read_question("reset the ruoter", "reset the router")
    assert (question.words, question.added) == ({"reset", "router"}, frozenset())


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("How long does a backup take?", "duration"),
        ("How often is it watered?", "duration"),
        ("Since which version can it be used?", "version"),
        ("How many beds are there?", "number"),
        ("number of beds in the garden", "number"),
        ("How hot does the greenhouse get?", "temperature"),
        ("What temperature do the seeds need?", "temperature"),
        ("What percentage of the seeds come up?", "percentage"),
        ("What do I pay for the seeds?", "price"),
        ("What does the garden cost per year?", "price"),
        ("How do I find out how long a backup takes?", ""),
        ("Who planted the beans?", ""),
    ],
)
def test_the_kind_of_number_that_is_asked_for_is_known(text, figure):
    assert read_question(text).answer_type == figure


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where do I have notes about the trash?", True),
        ("In which notes is the trash named?", True),
        ("When is the trash taken out?", False),
    ],
)
def test_a_question_for_notes_is_known(text, asks):
    assert read_question(text).asks_for_notes is asks


@pytest.mark.parametrize(
    "text", ["If it freezes and there is no snow, which beds do I cover?", "I water it, how?"]
)
def test_conditions_and_commas_are_no_list_of_things(text):
    assert len(read_question(text).facets) == 1


def test_what_is_said_before_a_question_is_not_asked_for():
    question = read_question("I have bought a greenhouse. How do I warm the beds?")
    assert question.kind == "how_to"
    assert question.added == {"bought", "greenhouse"}
    assert read_question("Who is Dr. Green married to?").added == frozenset()


@pytest.mark.parametrize("word", ["which ", "how many ", "cost ", "what! how ", "a and ", "x"])
def test_a_long_pasted_text_is_read_in_little_time(word):
    text = word * (100_000 // len(word))
    started = process_time()
    read_question(text)
    list_names(f"{text} {text}")
    assert process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Summarise my notes about compost", "compost"),
        ("Could you sum up the notes on climbing beans?", "climbing beans?"),
        ("What do my notes say about compost?", "compost?"),
        ("Give me a short overview of the garden", "the garden"),
        ("Tell me everything about the garden", "the garden"),
        ("Explain how beans climb", "how beans climb"),
        ("Beschreibe den Garten", "den Garten"),
        ("Explain", "Explain"),
        ("What do I need for beans?", "What do I need for beans?"),
        ("LCP meaning", "LCP"),
        ("the definition of a soak test?", "a soak test"),
    ],
)
def test_the_subject_of_a_request_is_what_stands_behind_it(text, subject):
    assert extract_subject(text) == subject


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("climbing beans", True),
        ("Tell me about climbing beans", True),
        ("What are climbing beans?", True),
        ("ingredients for the soup", False),
        ("pin a note to the sidebar", False),
        ("Where do climbing beans grow?", False),
    ],
)
def test_a_subject_alone_asks_what_it_is(text, is_asked):
    assert read_question(text).asks_for_definition == is_asked


@pytest.mark.parametrize(
    ("text", "can"),
    [
        ("Hi", False),
        ("thanks a lot!", False),
        ("Who are you?", False),
        ("What can you do?", False),
        ("What is 2+2?", False),
        ("Can you help me?", False),
        ("Danke", False),
        ("Tell me about R", True),
        ("beans", True),
        ("庭の道具", True),
    ],
)
def test_a_message_without_a_subject_cannot_be_looked_up(text, can):
    assert can_be_looked_up(text, ["Beans in summer"]) == can
    assert read_question(text).names_subject == can


@pytest.mark.parametrize(
    "text",
    [
        "notes by Will",
        "which notes are not by Will?",
        "what did May and Mark say?",
        "What is IT?",
        "notes with $5",
        "who owes me 7 €?",
    ],
)
def test_names_and_amounts_of_money_can_be_looked_up(text: str) -> None:
    assert can_be_looked_up(text, [])


def test_a_greeting_can_be_looked_up_where_a_note_is_named_after_it():
    assert can_be_looked_up("Good morning", ["Morning routine"])
    assert not can_be_looked_up("What can you do?", ["What to do"])


def test_a_request_for_a_meaning_with_many_dashes_is_read_in_little_time():
    began = process_time()
    text = f"meaning of {'-' * 20_000}\nx"
    assert extract_subject(text) == text
    assert process_time() - began < 1
