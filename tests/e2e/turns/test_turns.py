"""Questions to a model, through the installed program and real HTTP."""

import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.sessions.store import SessionStore
from app.state_db import StateDB
from context.log.entries import MessageEntry
from context.messages import Message
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.processes.program import Program, ended, kill, wait_until
from tests.support.sessions.recount import recount

TurnRunner = Callable[[Program], Program]
CHAT = ("--mode", "chat")


def seed_chat(home: Path, turns: int, words: int) -> str:
    """Write a chat of so many turns, with answers of so many words."""
    store = SessionStore(home / "data" / "sessions", StateDB(home / "state" / "state.db"))
    parent: str | None = None
    with store.create(None) as session:
        for number in range(turns):
            for role, text in (
                ("user", f"Question number {number}?"),
                ("assistant", f"Answer number {number}: " + "water the garden " * (words // 3)),
            ):
                message = Message(role, text)  # type: ignore[arg-type]
                turn = f"seed{number:04d}"
                entry = MessageEntry(session.new_id(), parent, session.now(), message, turn)
                session.append([entry])
                parent = entry.id
    store.close()
    return session.id


def history_of(body: dict[str, Any]) -> list[str]:
    """Return the texts between the system message and the question."""
    contents = [message["content"] for message in body["messages"][1:-1]]
    return [said if isinstance(said, str) else said[0]["text"] for said in contents]


def test_a_long_chat_stays_in_its_budget_with_a_summary_that_rests(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    session = seed_chat(program.home, turns=10, words=210)
    server.script(Answer("Noted. " + "The hose is green and long. " * 30))
    small = asking(program)
    firsts = []
    for number in range(5):
        result = small.json(
            *("ask", f"And now, question {number}?", *CHAT, "--session", session),
            *("--set", "autoCompactThreshold=4000"),
        )
        context = result["context"]
        body = next(b for b in reversed(server.bodies) if f"question {number}?" in str(b))
        counted = recount(body)
        assert sum(counted.values()) == context["used"] <= context["budget"] == 3_000
        assert context["dropped"] == []
        firsts.append(history_of(body)[0])
    changes = sum(before != after for before, after in pairwise(firsts))
    assert changes <= 2
    assert max(firsts.count(first) for first in firsts) >= 2
    assert firsts[-1].startswith("[Summary of the earlier conversation]\nNoted.")
    entries = program.json("sessions", "show", session)["entries"]
    said = [entry["content"] for entry in entries if entry["type"] == "message"]
    assert "Question number 0?" in said
    made = [entry["id"] for entry in entries if entry["type"] == "context_transform"]
    assert 1 <= len(made) <= 3
    assert [told["entry"] for told in context["compactions"]] == made[: len(context["compactions"])]


def test_two_processes_cannot_write_one_chat(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    session = seed_chat(program.home, turns=1, words=9)
    server.script(Answer("Slowly does it. " * 20, stall_after=5))
    first = asking(program).start("ask", "First?", *CHAT, "--session", session)
    wait_until(lambda: bool(server.bodies), "the first question")
    second = asking(program).run("ask", "Second?", *CHAT, "--session", session, "--json")
    assert (second.code, second.error["code"]) == (1, "busy")
    assert second.error["session"] == session
    kill(first)


def test_ctrl_c_keeps_what_had_arrived(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    server.script(Answer("Slowly does it. " * 20, stall_after=8))
    child = asking(program).start("ask", "First?", *CHAT)
    assert child.stdout is not None
    assert child.stdout.read(6) == b"Slowly"
    child.send_signal(signal.SIGINT)
    done = ended(child)
    assert done.code == 130
    assert "Traceback" not in done.err
    (chat,) = program.json("sessions", "list")["sessions"]
    question, answer = program.json("sessions", "show", chat["session"])["entries"][:2]
    assert question["content"] == "First?"
    assert answer["content"].startswith("Slowly")
    assert answer["status"] == "interrupted"


def test_kill_while_answering_loses_no_question_and_the_chat_goes_on(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    server.script(Answer("Slowly does it. " * 20, stall_after=8), Answer("At once."))
    child = asking(program).start("ask", "The first question?", *CHAT)
    assert child.stdout is not None
    assert child.stdout.read(6) == b"Slowly"
    kill(child)
    (chat,) = program.json("sessions", "list")["sessions"]
    assert chat["title"] == "The first question?"
    again = asking(program).json("ask", "And now?", *CHAT, "--session", chat["session"])
    assert again["answer"] == "At once."
    assert history_of(server.bodies[1]) == ["The first question?", "[interrupted]"]


def test_a_stream_that_breaks_off_is_kept_and_said(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    server.script(Answer("Half of what was to be said.", break_after=3))
    result = asking(program).json("ask", "x", *CHAT)
    assert result["status"] == "interrupted"
    assert "Half of what was to be said.".startswith(result["answer"])
    assert result["answer"]
    assert result["warnings"]


@pytest.fixture
def impatient(tmp_path: Path) -> dict[str, str]:
    """Variables of a forked program that tries again without a pause."""
    file = tmp_path / "impatient" / "sitecustomize.py"
    file.parent.mkdir()
    file.write_text("import chains.model\n\nchains.model.BACK_OFF_S = (0.0, 0.0)\n")
    return {"PYTHONPATH": str(file.parent)}


def test_a_server_that_fails_is_one_clear_error_and_the_question_is_kept(
    program: Program, asking: TurnRunner, server: ModelServer, impatient: dict[str, str]
) -> None:
    server.script(Failure.saying(500, "scripted"))
    asked = asking(program).with_environ(impatient)
    done = asked.run("ask", "Is anybody there?", *CHAT, "--json")
    assert len(server.bodies) == 3
    assert (done.code, done.error["code"]) == (1, "model_unavailable")
    assert done.complaints == []
    kept = program.json("sessions", "show", done.error["session"])["entries"]
    assert [entry["content"] for entry in kept] == ["Is anybody there?", ""]
    assert kept[1]["status"] == "error"


def test_a_server_that_is_down_is_named(program: Program, impatient: dict[str, str]) -> None:
    down = Program(
        program.home, ("--set", "chat.apiBase=http://127.0.0.1:9/v1", "--set", "chat.model=gpt-4o")
    )
    done = down.with_environ(impatient).run("ask", "x", *CHAT, "--json")
    assert (done.code, done.error["code"]) == (1, "model_unavailable")
    assert "127.0.0.1" in done.error["message"]


def test_a_database_that_cannot_be_used_is_a_warning_of_the_report(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    server.script(Answer("Yes."))
    (state := program.home / "state").mkdir(parents=True)
    (state / "state.db").symlink_to("state.db")  # a link to itself, which nothing can open
    result = asking(program).json("ask", "Does it go on?", *CHAT)
    assert result["answer"] == "Yes."
    told = [text for text in result["context"]["warnings"] if "database beside the chats" in text]
    assert len(told) == 1
    assert told[0] in result["warnings"]


def test_a_question_of_200000_characters_shows_the_layers_and_is_kept_unsent(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    question = ("Wann wird der Kompost umgesetzt? " * 6_100)[:200_000]
    small = asking(program)
    limit = ("--set", "autoCompactThreshold=16000")
    done = small.run("ask", "-", *CHAT, *limit, "--json", stdin=question)
    assert (done.code, done.error["code"]) == (1, "context_overflow")
    context = done.error["context"]
    assert context["layers"]["L5"]["tokens"] > context["budget"]
    assert context["used"] == sum(layer["tokens"] for layer in context["layers"].values())
    (kept,) = program.json("sessions", "list")["sessions"]
    assert (kept["session"], kept["turns"]) == (done.error["session"], 0)
    assert server.bodies == []
    again = ("--session", kept["session"])
    assert small.json("ask", "Und jetzt?", *CHAT, *again)["status"] == "complete"
