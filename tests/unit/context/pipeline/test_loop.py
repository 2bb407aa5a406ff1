"""A turn in which tools are called, request by request."""

import re

import pytest

from context.errors import BadInputs, ContextOverflow
from context.hooks import ContextResult, HookRegistry
from context.layers import Layer
from context.log.entries import (
    MemoryUpdateEntry,
    MessageEntry,
)
from context.messages import ToolCallPart, ToolDefinition, ToolResultPart
from context.tokens import count_message
from tests.support.sessions.chats import TIME, Chat, passage
from tests.support.sessions.loops import SEARCH, WHY, Loop, body_bytes, hooked
from tests.unit.context.history.test_tool_pairing import check_pairs

COMPACT = ToolDefinition("compact_context", "Frees space", {"type": "object"})


def test_calls_and_results_stand_behind_the_question():
    loop = Loop()
    loop.begin("Why?")
    prepared = loop.step("found a", "found b")
    body = prepared.request_body()
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    layers = prepared.report.layers
    assert layers[Layer.W].items == 3
    assert layers[Layer.W].tokens == sum(
        count_message(message, loop.chat.counter) for message in prepared.messages[1:]
    )


def test_a_request_of_a_turn_begins_with_the_one_before_it():
    loop = Loop()
    first = loop.begin("Why?", [passage(1, "a note")])
    for _ in range(15):
        second = loop.step("found something")
        assert body_bytes(second)[: len(first.messages)] == body_bytes(first)
        assert not second.report.prefix.changed
        first = second


def test_tools_that_come_or_leave_within_a_turn_are_the_only_reason_that_is_named():
    loop = Loop()
    loop.begin("Why?")
    loop.store("assistant", (ToolCallPart("c", "search", {}),))
    loop.store("tool", (ToolResultPart("c", "found"),))
    for tools in ((), (SEARCH,)):
        prepared = loop.send(tools=tools)
        assert prepared.report.prefix.reasons == ("the tools changed",)


def test_a_loop_that_ends_without_tools_names_what_changed_and_no_more():
    loop = Loop(Chat(threshold=4_000))
    loop.begin("Why?")
    prepared = loop.step("word " * 4_000)
    assert prepared.ends_loop
    assert prepared.report.prefix.reasons == ("the tools changed",)


def test_a_question_that_a_hook_redacts_within_a_turn_does_not_shorten_its_context():
    loop = Loop()
    loop.begin("My secret is 7.", [passage(1, "a note")])
    asked = next(e for e in loop.chat.path if isinstance(e, MessageEntry))
    parts = [{"type": "text", "text": "Redacted."}]
    patch = {"op": "message_replace", "entryId": asked.id, "parts": parts, **WHY}
    loop.hooks = hooked(lambda event: ContextResult((patch,)) if event.reason else None)
    prepared = loop.step("found")
    assert prepared.report.prefix.reasons == ("because",)


def test_work_becomes_history_when_the_turn_ends():
    loop = Loop()
    loop.begin("Why?")
    loop.step("found")
    loop.end()
    prepared = loop.begin("And?")
    assert [message.role for message in prepared.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert prepared.report.layers[Layer.W].tokens == 0
    assert prepared.report.layers[Layer.L4].items == 1
    assert not prepared.report.prefix.changed


def test_a_turn_that_has_its_answer_asks_for_nothing_more():
    loop = Loop()
    loop.begin("Why?")
    loop.step("found")
    loop.end()
    with pytest.raises(BadInputs):
        loop.send()


def test_older_results_shrink_before_anything_else_and_calls_stay():
    loop = Loop(Chat(threshold=6_000))
    loop.chat.ask("Earlier?", "Yes.")
    loop.begin("Why?")
    prepared = loop.step("line\n" * 900)
    assert prepared.report.guard == ()
    prepared = loop.step("line\n" * 2_200)
    assert prepared.report.guard == ("work",)
    results = [message.content[0] for message in prepared.messages if message.role == "tool"]
    assert len(results[0].content) == pytest.approx(2_250, abs=10)
    assert results[1].content == "line\n" * 2_200
    assert prepared.report.layers[Layer.L4].items == 1
    assert prepared.report.prefix.reasons == ("older results of this turn were shortened",)
    assert [out.layer for out in prepared.report.dropped] == [Layer.W]
    assert not prepared.ends_loop


def test_the_use_that_a_model_is_told_is_that_of_the_request_that_is_sent():
    loop = Loop(Chat(threshold=8_000), tools=(SEARCH, COMPACT))
    for turn in range(4):
        loop.begin(f"Why {turn}?")
        for _ in range(9):
            loop.step("word " * 300)
        loop.end()
    told = 0
    for prepared in loop.requests:
        found = re.search(r"\[Context: (\d+)% used", str(prepared.request_body()["messages"][-1]))
        if found is not None:
            told += 1
            assert abs(int(found[1]) - 100 * prepared.report.fraction) <= 1.5
        assert prepared.report.fraction <= 1
    assert any(prepared.report.guard for prepared in loop.requests)
    assert told > 5


def test_work_that_outgrows_the_budget_ends_the_loop_without_tools():
    loop = Loop(Chat(threshold=4_000))
    loop.begin("Why?")
    prepared = loop.step("word " * 4_000, "word " * 4_000)
    assert prepared.ends_loop
    assert prepared.request_body()["tools"] == []
    assert prepared.report.guard[-1] == "end_loop"
    assert prepared.report.used <= prepared.report.budget
    assert [message.role for message in prepared.messages][-1] == "tool"
    check_pairs(prepared.messages)


def test_calls_too_large_for_the_budget_leave_the_oldest_first():
    loop = Loop(Chat(threshold=4_000))
    loop.begin("Why?")
    loop.store("assistant", (ToolCallPart("c", "search", {"q": "word " * 5_000}),))
    loop.store("tool", (ToolResultPart("c", "ok"),))
    prepared = loop.step("found")
    assert prepared.ends_loop
    assert [message.role for message in prepared.messages] == ["user", "assistant", "tool"]
    assert prepared.report.used <= prepared.report.budget


def test_a_question_over_the_budget_overflows_in_a_loop_as_well():
    with pytest.raises(ContextOverflow):
        Loop(Chat(threshold=4_000)).begin("word " * 5_000)


def test_what_is_kept_in_mind_is_told_before_the_question_and_frozen():
    loop = Loop()
    loop.remember_first = loop.chat.path.append(
        MemoryUpdateEntry("m", None, TIME, scratchpad="a <b>", facts=("f",))
    )
    first = loop.begin("Why?")
    notes = first.messages[-1].content[0].text
    assert notes.startswith("<memory>")
    assert "a &lt;b&gt;" in notes
    loop.remember(scratchpad="changed")
    second = loop.step("found")
    assert second.messages[0] == first.messages[0]
    assert "changed" in second.messages[-1].text
    assert second.envelope.messages.uncached == second.messages[-1:]
    assert second.report.layers[Layer.E].items == 2
    third = loop.step("found more")
    assert body_bytes(third)[: len(body_bytes(second))] == body_bytes(second)
    assert not third.report.prefix.changed
    loop.end()
    fourth = loop.begin("And?")
    assert fourth.envelope.messages.uncached == ()
    assert "changed" in fourth.messages[-1].content[0].text


def test_a_tool_that_nothing_runs_is_left_out_and_told():
    def more(event):
        tools = [tool.to_dict() for tool in event.envelope.tools]
        made_up = {"name": "fly", "description": "", "parameters": {}}
        return ContextResult([WHY | {"op": "tools_replace", "tools": [*tools, made_up]}])

    loop = Loop(hooks=HookRegistry())
    loop.hooks.on("context", lambda event: more(event) if event.reason != "ephemeral" else None)
    prepared = loop.begin("Why?")
    assert [tool["name"] for tool in prepared.request_body()["tools"]] == ["search"]
    assert "fly" in prepared.report.warnings[0]
