"""A memory whose message was edited away: named with a way to remove it, on each way in."""

import json
from collections.abc import Callable

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc

GERMAN = "Answer in German."
ASKED = f"Remove this memory? “{GERMAN}” was remembered in a message that was edited away. "


def remembering(text: str) -> Answer:
    return Answer("", calls=(("c1", "remember", json.dumps({"text": text})),))


@pytest.fixture
def agent(with_notes: Program, asking: Callable[[Program], Program]) -> Program:
    return asking(with_notes)


def _find_question(entries: list[dict[str, str]], number: int) -> str:
    return [e["id"] for e in entries if e["type"] == "message" and e["role"] == "user"][number]


def test_it_is_asked_over_rpc_and_on_the_command_line(agent: Program, server: ModelServer) -> None:
    server.script(Answer("Hi."), remembering(GERMAN), Answer("Done."), Answer("Understood."))
    argv = ("--mode", "agent", "--approve", "all", "--no-index")
    hello = agent.json("ask", "Hello?", *argv)
    session = str(hello["session"])
    agent.json("ask", "Remember it.", *argv, "--session", session)
    assert agent.json("memory", "list")["memories"] == [GERMAN]
    assert agent.json("sessions", "memory", session)["abandoned"] == []

    rpc = Rpc(agent)
    question = _find_question(rpc.do("get_entries", session=session)["entries"], 1)
    edited = rpc.turn("edit", session=session, entry=question, text="Remember nothing.")
    assert f"{ASKED}`forget_memory{{number: 1}}` removes it." in edited["warnings"]
    (left,) = rpc.do("get_memory", session=session)["abandoned"]
    assert (left["number"], left["text"], left["project"]) == (1, GERMAN, None)
    back = rpc.do("select_leaf", session=session, entry=question)
    assert back["abandoned"] == rpc.do("get_memory", session=session)["abandoned"] == []
    new = _find_question(rpc.do("get_entries", session=session)["entries"], 2)
    assert rpc.do("select_leaf", session=session, entry=new)["abandoned"] == [left]
    rpc.do("select_leaf", session=session, entry=question)
    rpc.close()

    again = (*argv, "--session", session, "--parent", hello["entry"])
    done = agent.run("ask", "Remember nothing.", *again)
    assert f"strata: {ASKED}`strata memory forget 1` removes it." in done.err.splitlines(), done
    assert f"{ASKED}`strata memory forget 1`" in agent.run("sessions", "memory", session).out

    rpc = Rpc(agent)
    assert rpc.do("forget_memory", number=1) == rpc.do("list_memories") == {"memories": []}
    assert rpc.do("get_memory", session=session)["abandoned"] == []
    assert rpc.refuse("forget_memory", number=1)["hint"] == "`list_memories` shows all."
    rpc.close()
