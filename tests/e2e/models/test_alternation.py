"""A server that insists on roles that alternate, driven through what puts neighbours together."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.e2e.models.test_prefix import Sent, requests
from tests.support.models.model_server import Answer, Body, ModelServer, alternating, roles_of
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc
from tests.support.sessions.recount import recount

TurnRunner = Callable[[Program], Program]
ANSWER = "The barrel stands behind the shed, and holds two hundred litres of rain. " * 6
HOOK = """
def note(event):
    if event.reason == "ephemeral":
        op = {"op": "messages_uncached_append", "scope": "uncached",
              "messages": [{"role": "user", "content": "It is raining."}]}
        from context.hooks import ContextResult
        return ContextResult([op])
    return None

def register(registry):
    registry.on("context", note, name="weather")
"""


@pytest.fixture
def strict(with_notes: Program, asking: TurnRunner, server: ModelServer) -> Rpc:
    """The program, asking a server that refuses neighbours of the same role."""
    server.script(alternating(Answer(ANSWER, chunk_chars=400, usage=None)))
    return Rpc(asking(with_notes))


def put_hook(program: Program) -> None:
    """Add the hook that appends a note to each request."""
    hooks = program.home / "config" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "weather.py").write_text(HOOK, "utf-8")


def messages_of(server: ModelServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.bodies[-1]["messages"]
    return found


def test_every_turn_is_answered_behind_a_compaction_a_message_and_an_interruption(
    strict: Rpc, server: ModelServer
) -> None:
    for number in range(3):
        strict.turn("prompt", text=f"Question {number}?", mode="chat")
    strict.do("compact")
    assert strict.turn("prompt", text="And now?", mode="chat")["status"] == "complete"
    roles = [message["role"] for message in messages_of(server)]
    assert roles == ["system", "user", "assistant", "user"]
    summary, question = messages_of(server)[1]["content"]
    assert summary["text"].startswith("[Summary of the earlier conversation]")
    assert question == {"type": "text", "text": "Question 2?"}

    strict.do("send_message", custom_type="weather", content="It rained.", display=True)
    told = strict.turn("prompt", text="Is the barrel full?", mode="chat")
    assert told["status"] == "complete"
    assert [p["text"] for p in messages_of(server)[-1]["content"]] == [
        "It rained.",
        "Is the barrel full?",
    ]
    assert sum(recount(server.bodies[-1]).values()) == told["context"]["used"]
    wire = strict.do("get_context", when="last", format="full")["context"]["wire"]
    assert wire == server.bodies[-1]

    server.script(Answer("Half", break_after=2), alternating(Answer(ANSWER, usage=None)))
    assert strict.turn("prompt", text="And the hose?", mode="chat")["status"] == "interrupted"
    assert strict.turn("prompt", text="Go on.", mode="chat")["status"] == "complete"
    strict.close()


def test_a_note_of_one_request_joins_the_question_and_the_prefix_stays(
    with_notes: Program, asking: TurnRunner, server: ModelServer
) -> None:
    put_hook(with_notes)

    def work(body: Body) -> Answer:
        done = sum(message["role"] == "tool" for message in body["messages"])
        call = (f"c{done}", "read_note", json.dumps({"path": "Watering.md"}))
        return Answer(ANSWER, usage=None) if done > 1 else Answer("", calls=(call,), usage=None)

    server.script(alternating(work))
    program = asking(with_notes)
    options = (*program.options, "--set", "hooks.enabled=true")
    rpc = Rpc(Program(program.home, options))
    for question in ("Read it.", "Read it again."):
        told = rpc.turn("prompt", text=question, mode="agent")
        assert (told["status"], told["context"]["prefix"]["reasons"]) == ("complete", [])
    assert rpc.turn("prompt", text="Thanks.", mode="chat")["status"] == "complete"
    rpc.close()
    first, second, *_ = requests(server)
    stored_fields, bare = (
        json.loads(sent.messages[len(first.messages) - 1]) for sent in (first, second)
    )
    assert stored_fields["content"] == [
        *bare["content"],
        {"type": "text", "text": "It is raining."},
    ]
    assert begins_but_for_the_note(first, second)
    assert json.loads(second.messages[-1]) == {"role": "user", "content": "It is raining."}


@pytest.mark.parametrize(
    "model", ["anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash", "ollama/llama3"]
)
def test_every_service_gets_roles_that_alternate(
    with_notes: Program, server: ModelServer, model: str
) -> None:
    put_hook(with_notes)
    server.ollama_context = 64_000 if model.startswith("ollama") else None
    server.script(alternating(Answer(ANSWER, chunk_chars=400, usage=None)))
    options = ("--set", f"chat.apiBase={server.root}", "--set", f"chat.model={model}")
    allowed = ("--set", "hooks.enabled=true")
    rpc = Rpc(Program(with_notes.home, (*with_notes.options, *options, *allowed)))
    for number in range(3):
        asked = rpc.turn("prompt", text=f"Question {number}?", mode="chat")
        assert asked["status"] == "complete"
    assert rpc.do("compact")["by"] == "model"
    rpc.do("send_message", custom_type="weather", content="It rained.", display=True)
    call = ("c1", "read_note", json.dumps({"path": "Watering.md"}))
    reading = alternating(Answer("", calls=(call,), usage=None))
    server.script(reading, alternating(Answer("Behind the shed.", usage=None)))
    told = rpc.turn("prompt", text="Where is the barrel?", mode="agent")
    assert (told["status"], told["answer"]) == ("complete", "Behind the shed.")
    rpc.close()
    for body in server.bodies:
        roles = [role for role in roles_of(body) if role != "system"]
        assert roles[0] == "user"
        assert all(before != after for before, after in pairwise(roles))
    sent = json.dumps(server.bodies[-1])
    for text in ("[Summary of", "Question 2?", "It rained.", "Where is the barrel?", "210 litres"):
        assert text in sent
    assert sent.count("It is raining.") == 1


def begins_but_for_the_note(first: Sent, second: Sent) -> bool:
    """Return whether the bytes of a request up to its note are those of the next one."""
    at = len(first.messages) - 1
    whole = second.messages[at].removesuffix("]}")
    return second.messages[:at] == first.messages[:at] and first.messages[at].startswith(whole)
