"""What was accepted over RPC is on the disk, whenever the program is killed after that."""

import json
import os
import select
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.models.model_server import Answer, ModelServer, Silence
from tests.support.processes.program import Program, children_of, command_of, kill, wait_until
from tests.support.processes.rpc import Line, next_event, respond, send

KILLS = 20


@pytest.fixture
def asked(
    with_notes: Program, asking: Callable[[Program], Program], server: ModelServer
) -> Program:
    """The program on notes, with a model that never answers."""
    server.script(Silence())
    return asking(with_notes)


def accepted_then_killed(program: Program, **fields: Any) -> Line:
    """Send a request to a program that has just been started, and kill that once it is accepted."""
    child = program.start("rpc")
    said = respond(child, **fields)
    kill(child)
    assert said["success"], said
    return dict(said["data"])


def entries_of(program: Program, session: str) -> list[Line]:
    lines = (program.home / "data" / "sessions" / f"{session}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in lines.splitlines()[1:]]


def texts_of(program: Program, session: str) -> list[str]:
    return [e["content"] for e in entries_of(program, session) if e["type"] == "message"]


def turn(program: Program, **fields: Any) -> Line:
    """Send a request, wait for the end of its turn, and return what that says."""
    child = program.start("rpc")
    assert respond(child, **fields)["success"]
    said = next_event(child, "turn_end")
    kill(child)
    return dict(said["data"])


@pytest.mark.parametrize("mode", ["vault", "chat", "agent"])
def test_no_prompt_is_lost_by_a_kill_after_its_response(asked: Program, mode: str) -> None:
    kept = {}
    for number in range(KILLS if mode == "vault" else 4):
        text = f"Where is the barrel number {number}?"
        said = accepted_then_killed(asked, type="prompt", text=text, mode=mode)
        kept[said["session"]] = text
        assert texts_of(asked, said["session"]) == [text]
    listed = asked.json("sessions", "list")["sessions"]
    assert {one["session"]: one["title"] for one in listed} == kept


def test_a_question_whose_program_was_killed_is_shown_and_can_be_answered(
    asked: Program, server: ModelServer
) -> None:
    text = "When do the beans go out?"
    session = accepted_then_killed(asked, type="prompt", text=text)["session"]
    (question,) = asked.json("sessions", "show", session)["entries"]
    server.script(Answer("In May [1]."))
    end = turn(asked, type="regenerate", session=session, entry=question["id"])
    assert (end["answer"], end["status"]) == ("In May [1].", "complete")
    assert end["context"]["layers"]["L3"]["items"] > 0
    sent = server.bodies[-1]["messages"][-1]["content"]
    assert text in json.dumps(sent)
    assert "<source n=" in json.dumps(sent)


def test_a_question_whose_program_was_killed_is_history_for_the_next(
    asked: Program, server: ModelServer
) -> None:
    session = accepted_then_killed(asked, type="prompt", text="First?", mode="chat")["session"]
    server.script(Answer("Understood."))
    turn(asked, type="prompt", session=session, text="Second?", mode="chat")
    said = [message["content"] for message in server.bodies[-1]["messages"]]
    assert said[-3:] == ["First?", "[interrupted]", "Second?"]


def test_an_edit_and_a_new_answer_keep_both_versions_when_the_program_is_killed(
    asked: Program, server: ModelServer
) -> None:
    server.script(Answer("In May."))
    first = turn(asked, type="prompt", text="When do the beans go out?")
    session, answer = first["session"], first["entry"]
    question = next(e for e in entries_of(asked, session) if e["type"] == "message")["id"]
    server.script(Silence())
    for number in range(4):
        text = f"When do the peas go out, {number}?"
        accepted_then_killed(asked, type="edit", session=session, entry=question, text=text)
        before = (asked.home / "data" / "sessions" / f"{session}.jsonl").read_bytes()
        accepted_then_killed(asked, type="regenerate", session=session, entry=answer)
        after = (asked.home / "data" / "sessions" / f"{session}.jsonl").read_bytes()
        assert after.startswith(before)
    texts = texts_of(asked, session)
    assert texts[:2] == ["When do the beans go out?", "In May."]
    assert [text for text in texts if "peas" in text] == [
        f"When do the peas go out, {number}?" for number in range(4)
    ]


@pytest.mark.started
def test_a_prompt_is_answered_while_the_index_stands_still(
    program: Program, small_vault: Path, server: ModelServer
) -> None:
    options = ("--vault", str(small_vault), "--set", f"chat.apiBase={server.url}")
    asked = Program(program.home, (*options, "--set", "chat.model=gpt-4o"))
    child = asked.start("rpc")
    send(child, id="index", type="index")
    embedder = wait_for_embedder(child.pid)
    os.kill(embedder, signal.SIGSTOP)
    said = respond(child, id="prompt", type="prompt", text="Where is the barrel?")
    assert (said["id"], said["success"]) == ("prompt", True)
    session = said["data"]["session"]
    assert texts_of(asked, session) == ["Where is the barrel?"]
    assert respond(child, type="get_state")["data"]["indexing"]
    assert server.bodies == []
    os.kill(embedder, signal.SIGCONT)
    assert next_event(child, "turn_end")["data"]["status"] == "complete"
    kill(child)


def wait_for_embedder(pid: int) -> int:
    """Return the id of the process that computes vectors, as soon as there is one."""
    found: list[int] = []

    def is_there() -> bool:
        found[:] = [one for one in children_of(pid) if "embed_worker" in command_of(one)]
        return bool(found)

    wait_until(is_there, "the process that computes vectors")
    return found[0]


@pytest.mark.parametrize("is_json", [False, True])
def test_a_question_is_in_the_chat_once_anything_is_printed(
    asked: Program, server: ModelServer, is_json: bool
) -> None:
    long = Answer("Behind the shed stands a barrel.", stall_after=None if is_json else 2)
    server.script(long)
    child = asked.start("ask", "Where is the barrel?", *(["--json"] if is_json else []))
    streams = [stream for stream in (child.stdout, child.stderr) if stream is not None]
    first, _, _ = select.select(streams, [], [])
    assert first[0].read(1)
    kill(child)
    (chat,) = asked.json("sessions", "list")["sessions"]
    assert chat["title"] == "Where is the barrel?"
    assert texts_of(asked, chat["session"])[0] == "Where is the barrel?"
