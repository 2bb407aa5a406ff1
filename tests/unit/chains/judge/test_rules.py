"""A rule decides a question only if all of it is known: everything else is left to a model."""

import pytest

from chains.judge.rules import read_rules


@pytest.mark.parametrize(
    "question",
    [
        'Which notes say "*"?',
        'Which notes say "..."?',
        'Which notes say "one ... two"?',
        "Which notes aren't in folder:Journal?",
        "Which notes have tag:garden or tag:pets?",
        "tag:garden or tag:pets?",
        'Which notes contain "Anna" in folder:Journal?',
        "not folder:Journal",
        "Which notes without tag:garden mention Anna?",
        "Which notes should have tag:garden but do not?",
        "folder:Journal OR sister",
        "folder:Journal?",
        "tag:garden is missing where?",
        "Which notes mention an appointment tomorrow?",
        "Which notes talk about last year?",
        "Welche Notizen handeln von letztem Jahr?",
        "Which notes mention the folder Journal?",
        "Which notes could be tagged #recipe?",
        "Which notes are tagged twice?",
        "Which notes are in the folder above?",
        "Which notes link to Wikipedia?",
        "In how many meetings did we talk about the budget?",
        "Which recipes are desserts?",
        "Which notes from 2024 or about cats mention Anna?",
        "tag:garden a promise to my sister",
        "tag:garden apart from roses",
        "tag:garden and what belongs in there",
        "folder:Journal everything else",
        "#garden hardly any of them",
        "tag:garden außer Rosen",
        "tag:garden salvo las rosas",
        "tag:garden hormis les roses",
        'Which notes do not contain "Anna"?',
        'Which notes mention "Anna" or "Ben"?',
        'Welche Notizen enthalten nicht "ich"?',
    ],
)
def test_a_question_with_words_that_no_rule_knows_is_left_to_a_model(question: str) -> None:
    assert not read_rules(question).has_any


@pytest.mark.parametrize(
    ("question", "description"),
    [
        ('Which notes say "I"?', "containing “I”"),
        ("Welche Notizen enthalten „ich“?", "containing “ich”"),
        ('¿Qué notas contienen "mesa"?', "containing “mesa”"),
        ("Quelles notes contiennent « table » ?", "containing “table”"),
        ('Which notes mention "5 March 2024"?', "containing “5 March 2024”"),
        ("Which notes are tagged #garden?", "with the tag #garden"),
        ("Welche Notizen haben das Schlagwort #garten?", "with the tag #garten"),
        ("Which notes are in the folder Nowhere?", "in the folder “Nowhere”"),
        ("Which notes have open tasks?", "with an open task"),
        ("tag:garden OR tag:pets", "with the tag #garden or with the tag #pets"),
        ('tag:garden contain "Anna"', "with the tag #garden, containing “Anna”"),
    ],
)
def test_a_question_of_known_words_is_decided_whole(question: str, description: str) -> None:
    rules = read_rules(question)
    assert (rules.description, rules.is_whole) == (description, True)


@pytest.mark.parametrize(
    ("literal", "text", "outcome"),
    [
        ("I", "So I went.", "yes"),
        ("I", "We left, i.e. ran.", None),
        ("I", "We went.", "no"),
        ("the", "Where they are.", None),
        ("blue chair", "A **blue** [chair](x.md).", "yes"),
        ("blue chair", "A [blue](x.md) chair.", "yes"),
        ("blue chair", "# Blue\n\nchair", None),
        ("blue chair", "~~blue chair~~", None),
        ("6", "It was 24.6 %.", None),
        ("frost", "", "no"),
    ],
)
def test_a_literal_is_there_only_where_a_note_says_it(
    literal: str, text: str, outcome: str | None
) -> None:
    verdict = read_rules(f'Which notes say "{literal}"?').decide_literal("Note", text)
    assert (verdict.outcome if verdict else None) == outcome
