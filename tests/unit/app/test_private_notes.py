"""Private and excluded notes are in no request, in every mode and through every tool.

The bytes that the model's server received are searched for words of these notes.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import TurnFailed
from chains.cancel import CancelToken
from chains.events import Mode
from chains.request.ask import Ask, Selection
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import result_of

HIDDEN = {
    "Private.md": "---\nprivate: true\ntags: [zebratag]\n---\nZebracode 7391, see [[Plan]].\n",
    "Diary/Tagged.md": "#private Zebraday in [[Plan]].\n",
    "Locked/Excluded.md": "Zebralock [[Plan]] #zebratag\n",
    "Locked/Data.txt": "Zebrafile\n",
}
PATHS = tuple(HIDDEN)
CALLS = [
    ("search_notes", {"query": "zebra code lock day"}),
    *(("read_note", {"path": path}) for path in PATHS),
    *(("read_note", {"path": path}) for path in ("Link.md", "Diary/../Private.md", "./Private.md")),
    *(("list_folder", {"path": path}) for path in ("", "Locked", "Diary")),
    ("grep_notes", {"pattern": "[Zz]ebra"}),
    *(("grep_notes", {"pattern": ".", "path": path}) for path in (*PATHS, "Locked")),
    *(("get_links", {"path": path}) for path in (*PATHS, "Plan.md")),
    ("list_tags", {}),
    ("recent_notes", {"days": 36_500, "limit": 100}),
    *(("edit_note", {"path": path, "old": "e", "new": "x"}) for path in PATHS),
    *(("append_to_note", {"path": path, "text": "x"}) for path in PATHS),
    *(("create_note", {"path": path, "text": "x"}) for path in PATHS),
    *(("move_note", {"path": path, "to": "Moved.md"}) for path in PATHS),
]


@pytest.fixture
def hiding(assistant: Assistant, tmp_path: Path) -> Assistant:
    """An assistant over one note that models may read, and several that they may not."""
    vault = tmp_path / "vault"
    for path, text in {"Plan.md": "# Plan\nSow in May.\n", **HIDDEN}.items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (vault / "Link.md").symlink_to("Private.md")
    assistant.settings.set("vault.exclude", ["Locked/"])
    assistant.settings.set("agent.maxSteps", 200)
    assistant.open_vault(vault, remember=False)
    return assistant


@pytest.fixture
def received(server: ModelServer) -> Iterator[ModelServer]:
    """The server; at the end nothing hidden may be in anything it received."""
    yield server
    assert server.bodies
    raw = b"\n".join(one.raw for one in server.received).lower()
    for word in (b"7391", b"zebraday", b"zebralock", b"zebrafile", b"zebratag"):
        assert word not in raw


@pytest.mark.parametrize("mode", ["chat", "vault"])
def test_no_mode_sends_them_named_or_not(
    hiding: Assistant, received: ModelServer, mode: Mode
) -> None:
    for question in ("What is the code?", "Read Private.md and Locked/Excluded.md to me."):
        result_of(list(hiding.ask(Ask(question, mode), CancelToken())))
    for path in PATHS[:3]:
        for fields in ({"attach": (path,)}, {"selections": (Selection(path, 1, 9),)}):
            with pytest.raises(TurnFailed):
                list(hiding.ask(Ask("Read it.", mode, **fields), CancelToken()))
    list(hiding.ask(Ask("Read all.", mode, attach=("Diary/../",)), CancelToken()))


def test_no_project_sends_them_named_or_not(
    hiding: Assistant, received: ModelServer, tmp_path: Path
) -> None:
    hiding.open_vault(tmp_path, remember=False)
    for include_text in ("auto", "never"):
        hiding.settings.set("project.includeText", include_text)
        for question in ("What is the code?", "Read Private.md and Locked/Excluded.md to me."):
            request = Ask(question, "project", project="vault")
            result_of(list(hiding.ask(request, CancelToken())))
    assert "Sow in May" in json.dumps(received.bodies)
    for path in PATHS[:3]:
        request = Ask("Read it.", "project", project="vault", attach=(f"vault/{path}",))
        with pytest.raises(TurnFailed):
            list(hiding.ask(request, CancelToken()))


def test_no_tool_brings_them_named_outright(hiding: Assistant, received: ModelServer) -> None:
    hiding.agents.connect(None, "all")  # whatever may be approved is approved
    calls = tuple((f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(CALLS))
    received.script(Answer("", calls=calls), Answer("Done."))
    events = list(hiding.ask(Ask("Tell me all.", "agent"), CancelToken()))
    steps = result_of(events).answer.steps
    assert len(steps) == len(CALLS)
    named = [step.status for step in steps if step.arguments.get("path") in PATHS]
    assert set(named) <= {"error", "denied"}
    for path, text in HIDDEN.items():
        assert ((hiding.vault or Path()) / path).read_text() == text


def test_a_rule_holds_from_the_moment_it_is_set(hiding: Assistant, received: ModelServer) -> None:
    """The vault stays open: the rule is set through RPC, for example."""
    hiding.settings.set("vault.exclude", ["Locked/", "Plan.md"])
    result_of(list(hiding.ask(Ask("When do I sow?", "vault"), CancelToken())))
    with pytest.raises(TurnFailed):
        list(hiding.ask(Ask("Read it.", "chat", attach=("Plan.md",)), CancelToken()))
    assert "Sow in May" not in json.dumps(received.bodies)
    hiding.settings.set("vault.exclude", ["Locked/"])
    list(hiding.ask(Ask("Read it.", "chat", attach=("Plan.md",)), CancelToken()))
    assert "Sow in May" in json.dumps(received.bodies[-1])


def hide_by_rule(assistant: Assistant, plan: Path) -> None:
    assistant.settings.set("vault.exclude", ["Locked/", plan.name])


def hide_by_front_matter(assistant: Assistant, plan: Path) -> None:
    plan.write_text(f"---\nprivate: true\n---\n{plan.read_text()}")


def hide_by_tag(assistant: Assistant, plan: Path) -> None:
    plan.write_text(f"{plan.read_text()}\n#private\n")


@pytest.mark.parametrize("hide", [hide_by_rule, hide_by_front_matter, hide_by_tag])
def test_a_project_leaves_out_a_note_that_is_hidden_after_the_chat_began(
    hiding: Assistant,
    received: ModelServer,
    tmp_path: Path,
    hide: Callable[[Assistant, Path], None],
) -> None:
    first = Ask("What is planned?", "project", project=".")
    chat = result_of(list(hiding.ask(first, CancelToken()))).session
    assert "Sow in May" in json.dumps(received.bodies[-1])
    hide(hiding, tmp_path / "vault/Plan.md")
    seen = len(received.bodies)
    result_of(list(hiding.ask(Ask("And now?", "project", session=chat), CancelToken())))
    assert len(received.bodies) > seen
    assert "Sow in May" not in json.dumps(received.bodies[seen:])
