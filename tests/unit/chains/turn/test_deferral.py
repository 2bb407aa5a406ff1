"""Many tools: those beyond their share of the budget are left out, searched for and promoted."""

import json
from itertools import pairwise

import pytest

from chains.events import ContextPrepared
from chains.tool import Tool
from chains.tools.schema import build_arguments_schema, build_text_schema
from chains.turn.agent import AGENT_TOOLS
from chains.turn.run import run_turn
from context.messages import ToolDefinition
from tests.support.models.model_server import Answer
from tests.support.sessions.asking_tools import NoNotes

BUILT_IN = [tool.name for tool in AGENT_TOOLS]
TOPICS = ("weather", "calendar", "mail", "music", "maps", "stocks")


def make_tools(count: int) -> tuple[Tool, ...]:
    """Make tools of a server, each with a description of some length."""
    found = []
    for number in range(count):
        topic = TOPICS[number % len(TOPICS)]
        schema = build_arguments_schema({f"{topic}_day": build_text_schema("Which day. " * 5)})
        definition = ToolDefinition(f"srv__{topic}_{number}", f"Read the {topic}. " * 5, schema)
        found.append(Tool(definition, lambda _arguments, n=number: f"Tool {n}.", origin="mcp"))
    return tuple(found)


def calling(*calls) -> Answer:
    return Answer(
        "", calls=tuple((f"c{n}", name, json.dumps(a)) for n, (name, a) in enumerate(calls))
    )


@pytest.fixture
def run(server, session, pause, ask):
    """Run a turn with tools of a server; return its events."""

    def running(tools, question="Go.", model="scripted", **fields):
        offered = (*AGENT_TOOLS, *(tool.definition for tool in tools))
        values = {"api_base": server.url, "threshold": 32_000, "pause": pause, "session": session}
        agent = {"mode": "agent", "vault": NoNotes(), "tools": offered, "extra_tools": tools}
        return list(run_turn(ask(question, model=model, **(values | agent | fields))))

    return running


def names_in(body) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def reports(events) -> list[dict]:
    return [event.report.to_dict() for event in events if isinstance(event, ContextPrepared)]


def test_tools_are_offered_up_to_their_share(run, server):
    server.script(Answer("Ok."))
    tools = make_tools(60)
    report = reports(run(tools))[-1]
    offered = names_in(server.bodies[0])
    assert offered[: len(BUILT_IN)] == BUILT_IN
    assert len(BUILT_IN) < len(offered) < len(BUILT_IN) + 60
    assert report["layers"]["T"]["tokens"] <= 0.10 * report["budget"]
    deferred = report["deferred_tools"]
    assert len(deferred) == 60 + len(BUILT_IN) - len(offered)
    note = f"[{len(deferred)} tools deferred to save context. Use tool_search to find them.]"
    assert note in str(server.bodies[0]["messages"][-1])
    assert report["layers"]["E"]["tokens"] > 0


def test_few_tools_are_all_offered_without_a_note(run, server):
    server.script(Answer("Ok."))
    run(make_tools(2))
    assert names_in(server.bodies[0])[len(BUILT_IN) :] == ["srv__weather_0", "srv__calendar_1"]
    assert "deferred to save" not in str(server.bodies[0]["messages"])


def test_a_tool_that_is_found_is_promoted_for_the_session(run, server):
    tools = make_tools(60)
    server.script(
        calling(("tool_search", {"query": "stocks"})),
        calling(("srv__stocks_59", {"stocks_day": "today"})),
        Answer("Ok."),
    )
    events = run(tools)
    first, second, third = server.bodies
    found = names_in(second)[len(names_in(first)) :]
    assert names_in(second)[: len(names_in(first))] == names_in(first)
    assert len(found) == 5
    assert all("stocks" in name for name in found)
    result = str(second["messages"][-1]["content"])
    assert all(name in result for name in found)
    prefixes = [report["prefix"]["reasons"] for report in reports(events)]
    assert prefixes[1:3] == [["tool promoted"], []]
    assert [m["messages"][1] for m in server.bodies] == [first["messages"][1]] * 3
    server.script(Answer("Again."))
    again = reports(run(tools, "More."))[0]
    assert names_in(server.bodies[-1]) == names_in(third)
    assert again["prefix"]["reasons"] == []
    note = f"[{len(again['deferred_tools'])} tools deferred"
    assert note in str(server.bodies[-1]["messages"][-1])


def test_a_promotion_is_logged_as_the_content_of_a_custom_entry(run, server, session):
    server.script(calling(("tool_search", {"query": "stocks"})), Answer("Ok."))
    run(make_tools(60))
    (promoted,) = session.custom("tools_promoted")
    assert promoted.to_dict()["content"]["names"] == names_in(server.bodies[1])[-5:]


def test_the_decision_rests_until_the_tools_change_and_then_what_was_used_is_first(run, server):
    tools = make_tools(60)
    server.script(
        calling(("tool_search", {"query": "stocks"})),
        calling(("srv__stocks_59", {"stocks_day": "today"})),
        Answer("Ok."),
    )
    run(tools)
    for _ in range(2):
        run(tools, "And?")
    for before, after in pairwise(server.bodies[2:]):
        assert names_in(before) == names_in(after)
    changed = (*tools[:30], *make_tools(61)[30:])
    run(changed, "Now?")
    assert names_in(server.bodies[-1])[len(BUILT_IN)] == "srv__stocks_59"


def test_a_small_budget_offers_the_core_tools_only(run, server):
    server.script(Answer("Ok."))
    run((), threshold=5_000)
    offered = names_in(server.bodies[0])
    assert offered[:4] == ["search_notes", "read_note", "read_result", "tool_search"]


@pytest.mark.parametrize("threshold", [6_000, 8_000, 12_000])
def test_a_window_under_16000_defers_the_built_in_tools_that_are_used_least(run, server, threshold):
    server.script(calling(("recent_notes", {}), ("current_time", {})), Answer("Ok."))
    report = reports(run((), threshold=threshold))[0]
    core, offered = ["search_notes", "read_note", "read_result", "tool_search"], names_in
    assert offered(server.bodies[0])[:4] == core
    assert report["layers"]["T"]["tokens"] <= max(0.10 * report["budget"], 500)
    deferred = report["deferred_tools"]
    assert {*deferred, *offered(server.bodies[0])} == set(BUILT_IN)
    note = f"[{len(deferred)} tools deferred to save context. Use tool_search to find them.]"
    assert note in str(server.bodies[0]["messages"][-1])
    run((), "With another model?", threshold=threshold, model="another")
    used = {"recent_notes", "current_time"} & set(offered(server.bodies[-1])[4:6])
    assert len(used) == (0 if threshold == 6_000 else 2)


def test_a_window_of_16000_offers_all_built_in_tools(run, server):
    server.script(Answer("Ok."))
    run((), threshold=16_000)
    assert names_in(server.bodies[0]) == BUILT_IN


def test_a_search_without_a_match_says_so(run, server):
    server.script(calling(("tool_search", {"query": "zebra"})), Answer("Ok."))
    run(make_tools(60))
    assert server.bodies[1]["messages"][-1]["content"].startswith("No other tool was found")
    assert names_in(server.bodies[0]) == names_in(server.bodies[1])
