"""Each tool of an agent, driven by a scripted model behind a real HTTP server."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.ledger import NoLedger
from chains.request.ask import Ask
from chains.web.client import WebClient
from tests.support.models.model_server import Answer, Body, ModelServer
from tests.support.servers.mcp_server import settings_entry
from tests.support.servers.web_server import Page, WebServer, allow_loopback
from tests.support.sessions.turns import result_of
from vault.embedder import Embedder

Call = tuple[str, dict[str, Any]]
# In the order of the calls; those of one line are made in one answer.
STEPS: tuple[tuple[Call, ...], ...] = (
    (("search_notes", {"query": "beans"}), ("list_folder", {}), ("list_tags", {})),
    (("grep_notes", {"pattern": "May"}), ("get_links", {"path": "Plan.md"})),
    (("recent_notes", {"days": 7}), ("current_time", {}), ("tool_search", {"query": "weigh"})),
    (("read_note", {"path": "Long.md"}),),
    (("read_result", {"ref_id": "{ref}", "offset": 9_000, "limit": 100}),),
    (("update_memory", {"scratchpad": "Beans."}), ("update_progress", {"currentObjective": "Sow"})),
    (("create_note", {"path": "New.md", "text": "See [[Plan]]."}),),
    (("edit_note", {"path": "Plan.md", "old": "May", "new": "June"}),),
    (("append_to_note", {"path": "New.md", "text": "And more."}),),
    (("move_note", {"path": "Plan.md", "to": "Garden/Plans.md"}),),
    (("remember", {"text": "The user sows in June."}),),
    (("fetch_url", {"url": "{web}/page"}), ("test__weigh", {"leaf": "oak"})),
    (("compact_context", {}),),
)
# What the results of some tools contain.
FOUND = {
    "search_notes": "Sow the beans in May.",
    "grep_notes": "Plan.md",
    "get_links": "Long.md",
    "list_tags": "#garden",
    "tool_search": "test__weigh",
    "read_result": "word",
    "fetch_url": "Oaks grow.",
    "test__weigh": "oak weighs 3 g",
}
NOTES = {
    "Plan.md": "# Plan\nSow the beans in May. #garden See [[Long]].\n",
    "Long.md": "word " * 4_000,
}


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as web:
        web.pages["/page"] = Page(b"<title>Oaks</title><p>Oaks grow.")
        yield web


@pytest.fixture
def equipped(embedder: Embedder, tmp_path: Path, web: WebServer) -> Iterator[Assistant]:
    """An assistant with notes, web pages and an MCP server, in which everything is approved."""
    for path, text in NOTES.items():
        (tmp_path / "vault").mkdir(exist_ok=True)
        (tmp_path / "vault" / path).write_text(text)
    client = WebClient(lambda: False, NoLedger(), is_allowed=allow_loopback)
    assistant = build(Paths.find(), embedder=embedder, web=client)
    assistant.settings.set("toolDeferralThreshold", 0.01)
    assistant.settings.set("mcp.servers", {"test": settings_entry(tmp_path)})
    assistant.open_vault(tmp_path / "vault", remember=False)
    assistant.agents.connect(None, "all")
    yield assistant
    assistant.close()


def read_results(body: Body) -> dict[str, str]:
    """Map the ids of the calls in a request to their results."""
    messages = (message for message in body["messages"] if message["role"] == "tool")
    return {str(message["tool_call_id"]): str(message["content"]) for message in messages}


def build_step(step: int, web: WebServer) -> Any:
    def reply(body: Body) -> Answer:
        kept = re.search(r"\br[0-9a-f]{20}\b", " ".join(read_results(body).values()))
        filled = json.dumps(STEPS[step]).replace("{web}", web.url)
        calls = json.loads(filled.replace("{ref}", kept[0] if kept else ""))
        return Answer(
            "",
            calls=tuple(
                (f"c{step}-{n}", name, json.dumps(given)) for n, (name, given) in enumerate(calls)
            ),
        )

    return reply


def test_a_scripted_model_drives_each_tool(
    equipped: Assistant, web: WebServer, tmp_path: Path
) -> None:
    with ModelServer() as model:
        equipped.settings.set("chat.apiBase", model.url)
        equipped.settings.set("chat.model", "gpt-4o")
        model.script(*(build_step(step, web) for step in range(len(STEPS))), Answer("Done."))
        result = result_of(list(equipped.ask(Ask("Do all.", "agent"), CancelToken())))
        bodies = [body for body in model.bodies if body.get("tools")]
    called = [name for step in STEPS for name, _ in step]
    assert [step.name for step in result.answer.steps] == called
    assert {step.name: step.status for step in result.answer.steps} == dict.fromkeys(called, "ok")
    offered = {tool["function"]["name"] for tool in bodies[0]["tools"]}
    assert {name for name in offered if "__" not in name} == {
        name for name in called if "__" not in name
    }
    results = {id: text for body in bodies for id, text in read_results(body).items()}
    for step, calls in enumerate(STEPS):
        for number, (name, _) in enumerate(calls):
            assert FOUND.get(name, "") in results[f"c{step}-{number}"], name
    assert (result.answer.text, result.answer.end.status) == ("Done.", "complete")
    assert (tmp_path / "vault/Garden/Plans.md").read_text().startswith("# Plan\nSow the beans in J")
    assert (tmp_path / "vault/New.md").read_text() == "See [[Plans]].\n\nAnd more.\n"
