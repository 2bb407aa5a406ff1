from typing import Any

from app.transcript import AnswerItem, DroppedItem, UserItem, build_transcript
from context.entries import DropEntry, Entry, MessageEntry, SegmentsEntry
from context.layers import Layer, Segment
from context.messages import Message

TIME = "2026-01-01T10:00:{:02d}.000Z"


def turn(number: int, answer: str = "Yes.", note: str = "") -> list[Entry]:
    """Make the entries of one turn."""
    name, parent = f"t{number}", f"{number - 1}a" if number > 1 else None
    segment = Segment.build(
        id=f"p{number}",
        layer=Layer.L3,
        kind="passage",
        source="Watering.md",
        text=note or "Water the beds before eight in the morning.",
        lines=(5, 5),
        number=1,
    )
    return [
        SegmentsEntry(f"{number}s", parent, TIME.format(0), name, (segment,)),
        MessageEntry(
            f"{number}q", f"{number}s", TIME.format(0), Message("user", f"Question {number}?"), name
        ),
        MessageEntry(
            f"{number}a",
            f"{number}q",
            TIME.format(7),
            Message("assistant", answer),
            name,
            model="m",
            status="complete",
        ),
    ]


def kinds(path: list[Entry], report: dict[str, Any] | None = None) -> list[str]:
    return [type(item).__name__ for item in build_transcript("t", path, report).items]


def test_questions_and_answers_come_in_order() -> None:
    chat = build_transcript("Title", [*turn(1), *turn(2)], None)
    assert chat.title == "Title"
    assert [item.text for item in chat.items if not isinstance(item, DroppedItem)] == [
        "Question 1?",
        "Yes.",
        "Question 2?",
        "Yes.",
    ]


def test_an_answer_brings_its_sources_its_model_and_its_time() -> None:
    answer = build_transcript("t", turn(1), None).items[1]
    assert isinstance(answer, AnswerItem)
    assert [segment.source for segment in answer.sources] == ["Watering.md"]
    assert (answer.model, answer.status, answer.seconds) == ("m", "complete", 7.0)


def test_citations_are_checked_against_what_was_sent_then() -> None:
    text = 'Early [1]: "Water the beds before eight" [1]. "Never water" [1]. Late [7].'
    answer = build_transcript("t", turn(1, text), None).items[1]
    assert isinstance(answer, AnswerItem)
    assert "Water the beds before eight" in [c.quote for c in answer.citations if c.verified]
    assert {claim.quote or claim.n for claim in answer.unverified} == {"Never water", 7}


def test_a_question_without_an_answer_stands_alone() -> None:
    path = turn(1)[:2]
    assert kinds(path) == ["UserItem"]
    assert isinstance(build_transcript("t", path, None).items[0], UserItem)


def test_a_time_that_makes_no_sense_costs_only_the_seconds() -> None:
    path = turn(1)
    question = path[1]
    assert isinstance(question, MessageEntry)
    path[1] = MessageEntry("1q", "1s", "yesterday", question.message, "t1")
    answer = build_transcript("t", path, None).items[1]
    assert isinstance(answer, AnswerItem)
    assert answer.seconds is None


def left_out(entries: list[str], turns: int, tokens: int, reason: str = "room") -> dict[str, Any]:
    return {"layer": "L4", "entries": entries, "turns": turns, "tokens": tokens, "reason": reason}


def test_what_the_last_request_left_out_is_said_above_the_oldest_turn_it_held() -> None:
    path = [*turn(1), *turn(2), *turn(3)]
    report = {"dropped": [left_out(["1s", "1q", "1a", "2s", "2q", "2a"], 2, 90)]}
    chat = build_transcript("t", path, report)
    assert kinds(path, report) == [
        "UserItem",
        "AnswerItem",
        "UserItem",
        "AnswerItem",
        "DroppedItem",
        "UserItem",
        "AnswerItem",
    ]
    assert chat.items[4] == DroppedItem(turns=2, tokens=90, reason="room")


def test_two_reasons_make_one_line() -> None:
    path = [*turn(1), *turn(2), *turn(3)]
    report = {"dropped": [left_out(["1q", "1a"], 1, 40), left_out(["2q", "2a"], 1, 50, "tail")]}
    assert DroppedItem(2, 90, "tail") in build_transcript("t", path, report).items


def test_what_else_was_left_out_draws_no_line() -> None:
    shortened = {**left_out(["1a"], 0, 9, "shortened")}
    passage = {**left_out(["p1"], 0, 9, "share"), "layer": "L3"}
    assert "DroppedItem" not in kinds([*turn(1), *turn(2)], {"dropped": [shortened, passage]})


def test_where_the_report_is_gone_the_log_says_what_was_cut() -> None:
    drop = DropEntry("d", "2a", TIME.format(9), "2s", 100, 60, "room")
    chat = build_transcript("t", [*turn(1), *turn(2), drop], None)
    assert chat.items[2] == DroppedItem(turns=1, tokens=40, reason="room")
