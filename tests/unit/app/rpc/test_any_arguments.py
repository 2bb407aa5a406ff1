"""Tool calls over RPC: any JSON as arguments breaks neither the wire nor the chat."""

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from app.assistant import Assistant
from app.sessions.file import load_log
from chains.tool import Proposal, Tool
from context.layers import MOST_ARGUMENT_LEVELS
from context.log.entries import MessageEntry
from context.messages import ToolDefinition, list_tool_calls, thaw_mapping
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.any_json import generate_arguments
from tests.unit.app.rpc.test_server import Caller, Line

CALLS_PER_TURN = 50
# Schemas of MCP servers, which are not checked by anybody before they arrive.
SCHEMAS: dict[str, dict[str, Any]] = {
    "any": {"type": "object"},
    "strict": {"type": "object", "properties": {"x": {"type": "object"}}, "required": ["x"]},
    "counting": {"type": "object", "additionalProperties": {"multipleOf": 0.01, "maximum": 9}},
    "nested": {"type": "object", "properties": {"x": {"$ref": "#"}}, "propertyNames": {}},
    "unique": {"type": "object", "additionalProperties": {"uniqueItems": True, "minItems": 1}},
    "broken": {"type": "object", "properties": 7, "required": {"x": 1}},
}
NAMES = (
    *(f"leaves__{name}" for name in SCHEMAS),
    *(f"asking__{name}" for name in SCHEMAS),
    *("read_note", "create_note", "edit_note", "search_notes", "update_memory", "no_such_tool"),
)


def build_tools() -> Iterator[Tool]:
    def echo(arguments: Mapping[str, Any]) -> str:
        return json.dumps(arguments)[:500]

    def propose(arguments: Mapping[str, Any]) -> Proposal:
        return Proposal("mcp", "Measure a leaf.", lambda: echo(arguments))

    for name, schema in SCHEMAS.items():
        definition = ToolDefinition(f"leaves__{name}", "Measure.", schema)
        yield Tool(definition, run=echo, origin="mcp")
        definition = ToolDefinition(f"asking__{name}", "Measure.", schema)
        yield Tool(definition, propose=propose, origin="mcp")


@pytest.fixture
def caller(
    reading: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Caller]:
    ours = reading.agents._build_extra_tools
    monkeypatch.setattr(
        reading.agents, "_build_extra_tools", lambda *given: (*ours(*given), *build_tools())
    )
    caller = Caller(reading)
    caller.ask("set_mode", mode="agent")
    yield caller
    caller.hang_up()


def run_turn(caller: Caller, server: ModelServer, calls: list[tuple[str, str]]) -> Line:
    """Let the model make calls, approve what asks, and return the data of the turn's end."""
    made = tuple((f"c{at}", name, arguments) for at, (name, arguments) in enumerate(calls))
    server.script(Answer("", calls=made), Answer("Done."))
    id = caller.send("prompt", text="Go on.")
    assert caller.response(id)["success"]
    while True:
        said = caller.wait_for(lambda line: line["type"] == "event")
        if said["event"] == "approval_request":
            caller.send("approve", approval_id=said["data"]["approval_id"], decision="allow")
        if said["event"] == "turn_end":
            return dict(said["data"])


def test_arguments_with_an_object_arrive_as_they_are_and_the_chat_stays_free(
    caller: Caller, server: ModelServer
) -> None:
    given = {"path": "n.md", "x": {}, "y": [{"z": [None, 1.5, {"deep": [[]]}]}], "n": 10**300}
    calls = [("leaves__any", json.dumps(given)), ("asking__any", json.dumps(given))]
    end = run_turn(caller, server, calls)
    assert [(tool["status"], tool["arguments"]) for tool in end["tools"]] == [("ok", given)] * 2
    told = [line for line in caller.seen if line.get("event") in ("tool_start", "approval_request")]
    assert [line["data"]["arguments"] for line in told] == [given] * 3
    assert not caller.ask("get_state")["busy"]
    assert run_turn(caller, server, calls)["status"] == "complete"


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.soak)])
def test_generated_calls_are_never_internal_and_are_read_back(
    caller: Caller, server: ModelServer, reading: Assistant, count: int
) -> None:
    random = Random(27)
    for start in range(0, count, CALLS_PER_TURN):
        calls = [
            (random.choice(NAMES), generate_arguments(random, MOST_ARGUMENT_LEVELS))
            for _ in range(CALLS_PER_TURN)
        ]
        end = run_turn(caller, server, calls)
        assert end.get("status") == "complete", end
        assert len(end["tools"]) == CALLS_PER_TURN
        assert not [line for line in caller.seen if line.get("event") == "error"]
        check_log(caller, reading, end)
        caller.seen.clear()
        if start % (4 * CALLS_PER_TURN) == 0:
            caller.ask("new_session")


def check_log(caller: Caller, assistant: Assistant, end: Line) -> None:
    """Check that a program and the chat's file have the same arguments as the result."""
    expected = [tool["arguments"] for tool in end["tools"]]
    told = [line["data"] for line in caller.seen if line.get("event") == "tool_start"]
    assert [one["arguments"] for one in told] == expected
    log = load_log(end["session"], assistant.sessions.file(end["session"]).read_bytes())
    assert log.problems == ()
    said = (entry.message for entry in log.entries if isinstance(entry, MessageEntry))
    calls = [thaw_mapping(call.arguments) for message in said for call in list_tool_calls(message)]
    assert calls[-CALLS_PER_TURN:] == expected
