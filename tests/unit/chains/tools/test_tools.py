"""Large results, and calls that come in pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.errors import ToolFailed
from chains.llm.incoming.tool_calls import CallAssembler, CallPiece
from chains.llm.port import RequestedCall
from chains.tools.context_tools import build_result_tool, offload_result
from chains.tools.registry import ToolOutcome, ToolRegistry
from chains.tools.schema import parse_arguments
from context.log.entries import MessageEntry, TransformEntry
from context.messages import Message, compact_json
from tests.support.sessions.memory_session import MemorySession


@given(st.text(min_size=1), st.integers(1, 50))
def test_what_is_kept_elsewhere_comes_back_page_by_page(text, limit):
    store = MemorySession()
    stored = offload_result("search_notes", ToolOutcome(text, is_offloaded=True), store, 0)
    tools, pages = ToolRegistry([build_result_tool(store)]), ""
    while len(pages) < len(text):
        page = {"ref_id": stored.ref_id, "offset": len(pages), "limit": limit}
        outcome = tools.run(RequestedCall("c", "read_result", compact_json(page)))
        assert not outcome.is_error
        pages += outcome.content.split("\n", 1)[1]
    assert pages == text


def test_a_result_at_the_threshold_stays():
    outcome = ToolOutcome("x" * 10, is_offloaded=True)
    assert offload_result("t", outcome, MemorySession(), 10).content == "x" * 10
    assert offload_result("t", outcome, MemorySession(), 9).ref_id == "r0"


def test_a_long_error_keeps_its_beginning_and_its_end():
    session = MemorySession()
    stored = offload_result("t", ToolOutcome(f"begin{'x' * 9_000}end", is_error=True), session, 9)
    assert stored.content.startswith("begin")
    assert stored.content.endswith("end")
    assert len(stored.content) <= 4_003
    assert (stored.is_error, session.results) == (True, {})


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_refused_in_arguments(number):
    for text in (f'{{"limit": {number}}}', f'{{"deep": [{{"k": {number}}}]}}'):
        with pytest.raises(ToolFailed, match="not a number that JSON has"):
            parse_arguments(RequestedCall("c", "read_result", text))


def test_failures_and_read_results_are_never_kept_elsewhere():
    for outcome in (ToolOutcome("x" * 10, is_error=True), ToolOutcome("x" * 10)):
        assert offload_result("t", outcome, MemorySession(), 1).ref_id is None


def test_where_nothing_can_be_kept_the_result_stays():
    class Full(MemorySession):
        def keep_result(self, tool: str, content: str) -> str | None:
            return None

    outcome = ToolOutcome("x" * 10, is_offloaded=True)
    assert offload_result("t", outcome, Full(), 1).content == "x" * 10


def delta(index, id=None, name=None, arguments=None):
    return CallPiece(index, id or "", name or "", arguments or "")


def test_calls_are_put_together_from_their_pieces():
    calls = CallAssembler()
    calls.add([delta(0, "a", "one", ""), delta(1, "b", "two", None)])
    calls.add([delta(0, None, None, '{"x"'), delta(1, None, None, "{}")])
    calls.add([delta(0, None, None, ": 1}")])
    assert calls.calls == (RequestedCall("a", "one", '{"x": 1}'), RequestedCall("b", "two", "{}"))


def test_another_id_at_the_same_place_is_another_call():
    calls = CallAssembler()
    calls.add([delta(0, "a", "one", "{}"), delta(0, "b", "two", "{}")])
    assert [call.id for call in calls.calls] == ["a", "b"]


def read_chat(entries, **arguments):
    """Call `read_result` for the turns before the compaction `t1`."""
    tools = ToolRegistry([build_result_tool(MemorySession(entries=entries))])
    page = compact_json({"ref_id": "t1", **arguments})
    return tools.run(RequestedCall("c", "read_result", page))


def test_the_turns_before_a_compaction_are_read_by_its_id_and_from_words_on():
    place = None, "2026-01-01T00:00:00Z"
    asked = MessageEntry("m1", *place, Message("user", "How strong is the pump? " * 40), "u1")
    said = MessageEntry("m2", "m1", place[1], Message("assistant", "It has 18.4 kW."), "u1")
    entries = [asked, said, TransformEntry("t1", "m2", place[1], "compaction", ())]
    assert read_chat(entries).content.endswith("Assistant: It has 18.4 kW.")
    found = read_chat(entries, find="18.4 KW", limit=300)
    assert "It has 18.4 kW." in found.content
    missing = read_chat(entries, find="bicycle")
    assert missing.is_error
    assert "Try fewer or other words" in missing.content
    assert read_chat(entries[:2]).is_error
