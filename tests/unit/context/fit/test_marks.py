from dataclasses import replace

import pytest

from context.draft import RequestDraft, Tail, make_preamble
from context.envelope import System, SystemPart
from context.fit.marks import find_least_prefix, place_marks
from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.messages import Message, ToolCallPart, ToolDefinition, ToolResultPart
from context.tokens import ByteEstimator
from tests.support.sessions.chats import Chat

COUNTER = ByteEstimator()
CLAUDE = "anthropic/claude-sonnet-4-5"
TOOL = ToolDefinition("search", "", {})


def chars(tokens):
    return "x" * int(tokens * 3.5 / 1.05)


def draft(instructions=2_000, history=0, steps=0, tools=(TOOL,), calls=1):
    said = tuple(
        Message("user" if at % 2 == 0 else "assistant", chars(100), f"h{at}")
        for at in range(history)
    )
    turns = (MeasuredTurn.measure(LoggedTurn("t", ("h0",), None), said, COUNTER),) if said else ()
    work = []
    for at in range(steps):
        ids = [f"{at}.{number}" for number in range(calls)]
        work.append(Message("assistant", tuple(ToolCallPart(i, "search", {}) for i in ids)))
        work.append(Message("tool", tuple(ToolResultPart(i, "found") for i in ids)))
    before = make_preamble(System((SystemPart("base", chars(instructions)),)), tools, COUNTER)
    return RequestDraft(
        before, TurnList.of(turns), Tail((), Message("user", "Why?"), COUNTER), tuple(work)
    )


def places(*args, boundary=None, **fields):
    marks = place_marks(draft(**fields), CLAUDE, boundary)
    return [(str(mark.layer), mark.message) for mark in marks]


def test_instructions_and_history_are_marked_at_their_ends():
    assert places(history=4, tools=()) == [("L1", None), ("L4", 3)]


def test_in_a_tool_loop_the_end_of_the_work_is_marked():
    assert places(history=4) == [("L1", None), ("L4", 3), ("W", 4)]
    assert places(history=4, steps=2) == [("L1", None), ("L4", 3), ("W", 8)]


def test_long_work_is_marked_in_between_as_well():
    assert places(history=2, steps=10) == [("L1", None), ("L4", 1), ("W", 16), ("W", 22)]


def test_the_place_in_between_stays_where_it_is_while_the_work_grows():
    assert ("W", 16) in places(history=2, steps=12)


def test_a_summary_at_the_head_is_marked_where_there_is_a_mark_left():
    marks = [("L1", None), ("L4", 0), ("L4", 3), ("W", 4)]
    assert places(history=4, boundary="h0") == marks
    assert len(places(history=4, steps=20, boundary="h0")) == 4


def test_a_prefix_too_short_to_be_kept_is_not_marked():
    assert places(instructions=500, history=4) == []
    assert places(instructions=700, history=8) == [("L4", 7), ("W", 8)]


def test_the_uncached_message_is_never_marked():
    found = replace(draft(steps=1), uncached=Message("user", "once"))
    assert [mark.message for mark in place_marks(found, CLAUDE)] == [None, 2]


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("anthropic/claude-sonnet-4-5-20250929", 1_024),
        ("claude-opus-4-1", 1_024),
        ("anthropic/claude-opus-4-5", 4_096),
        ("openrouter/anthropic/claude-haiku-4.5", 4_096),
        ("bedrock/anthropic.claude-3-5-haiku-20241022-v1:0", 2_048),
        ("anthropic/claude-3-7-sonnet-latest", 1_024),
        ("vertex_ai/claude-from-the-future", 4_096),
        ("openai/gpt-x", None),
        ("openai/claude-sonnet-4-5", None),
        ("ollama/llama", None),
        ("openrouter/meta/llama", None),
        ("extractive", None),
    ],
)
def test_each_family_has_its_least_prefix_and_others_take_no_marks(model, least):
    assert find_least_prefix(model) == least


def test_a_request_carries_its_marks_only_where_they_are_taken():
    chat = Chat(threshold=50_000, system=chars(2_000))
    inputs = replace(chat.inputs("Why?"), model=CLAUDE)
    assert chat.prepare(inputs).request_body()["marks"] == [{"layer": "L1", "message": None}]
    elsewhere = replace(inputs, takes_marks=False)
    assert chat.prepare(elsewhere).request_body()["marks"] == []
    assert chat.prepare(chat.inputs("Why?")).request_body()["marks"] == []
