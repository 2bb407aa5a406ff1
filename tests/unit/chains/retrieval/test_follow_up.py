"""Questions that lean on the last turn, and questions that stand by themselves."""

import pytest

from chains.retrieval.follow_up import LastTurn, expand_query, list_notes_in_play
from context.history.turns import LoggedTurn
from context.layers import Layer, Segment, SegmentKind
from context.log.entries import MessageEntry
from context.messages import Message

LAST = LastTurn(
    "Which beans climb on poles?",
    "Two kinds climb [1]:\n\n1. Runner beans, sown in May [1]\n2. Borlotto, sown in June [2]\n",
    ("Runner beans", "Borlotto"),
)


@pytest.mark.parametrize(
    "question",
    [
        "and the second one?",
        "Why?",
        "And in winter?",
        "when are they sown",
        "How often should I water them?",
        "What about slugs?",
        "more details please",
        "Und im Winter?",
        "Wann werden sie gesät?",
        "Et celui-là ?",
        "¿Y la segunda?",
        "А второй?",
        "它什么时候播种？",
    ],
)
def test_a_question_that_leans_is_searched_with_the_last_one(question: str) -> None:
    found = expand_query(question, LAST)
    assert found.startswith(f"{question} ")
    assert "beans" in found


@pytest.mark.parametrize(
    "question",
    [
        "Which tomatoes suit a greenhouse?",
        "Tomatoes",
        "How long does it take to grow leeks?",
        "What is the base fee and how is it burned?",
        "What did Anna say about this year's budget meeting?",
        "Was kostet das neue Gewächshaus?",
        "Qu'est-ce que la taille des rosiers ?",
        "¿Qué es la poda de invierno?",
        'and "runner beans" word for word?',
        "and [[Borlotto]]?",
        "tag:garden and this?",
        "今年的预算是多少？",
    ],
)
def test_a_question_that_stands_by_itself_is_searched_as_it_is(question: str) -> None:
    assert expand_query(question, LAST) == question


def test_an_ordinal_names_an_item_of_the_answer() -> None:
    assert "Borlotto" in expand_query("and the second one?", LAST)
    assert "June" in expand_query("and the last?", LAST)
    without_list = LastTurn("Which climb?", "Some do [1][2].", ("Runner beans", "Borlotto"))
    assert expand_query("and the second one?", without_list).split()[4] == "Borlotto"


def test_what_names_a_thing_of_its_own_takes_no_other_name_along() -> None:
    last = LastTurn("What does EIP-1559 say about the base fee?", "It burns it [1].", ("EIP-1559",))
    assert expand_query("and EIP-4844?", last) == "and EIP-4844? base fee"


def test_the_first_question_of_a_chat_is_searched_as_it_is() -> None:
    assert expand_query("and the second one?", None) == "and the second one?"


def test_what_is_added_is_bounded_and_said_once() -> None:
    last = LastTurn(" ".join(f"word{n}" for n in range(500)) + " beans beans")
    added = expand_query("Why?", last).split()[1:]
    assert len(added) == len(set(added)) <= 8


def test_what_is_attached_now_or_was_before_is_in_play_once_each() -> None:
    def segment(source: str, kind: SegmentKind, number: int | None = None) -> Segment:
        return Segment.build(
            id=source, layer=Layer.L3, kind=kind, source=source, text="Beans.", number=number
        )

    now, before = segment("Now.md", "note"), segment("Before.md", "selection")
    asked = MessageEntry("e1", None, "2026-01-01T00:00:00.000Z", Message("user", "Beans?"), "t1")
    turn = LoggedTurn("t1", ("e1",), asked, (), (before, segment("Not cited.md", "passage", 1)))
    assert list_notes_in_play([turn], [now, before]) == ("Now.md", "Before.md")
    assert list_notes_in_play([], []) == ()
