"""An answer that was arriving when its process was killed is shown as broken off."""

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.behaviours.behaviour import played
from tests.support.models.model_server import Answer, ModelServer
from tests.support.models.strict_server import strict
from tests.support.processes.program import Program, ended, kill, wait_until
from tests.support.processes.rpc import Rpc, next_event, response, send

QUESTION, TEXT = "How is compost made?", "Leaves rot in a heap for a year."


@pytest.fixture
def killed(
    program: Program, asking: Callable[[Program], Program], server: ModelServer
) -> tuple[Program, str]:
    """The program, and a chat whose process was killed while an answer arrived."""
    return (asked := asking(program)), kill_while_answering(asked, server)


def kill_while_answering(program: Program, server: ModelServer) -> str:
    """Ask a question, kill the process when all of the answer but its end is there."""
    server.script(Answer(TEXT, chunk_chars=8, stall_after=5))
    child = program.start("rpc")
    send(child, id=1, type="prompt", text=QUESTION, mode="chat")
    session = str(next_event(child, "text_delta")["session"])
    wait_until(lambda: contains(program.home, TEXT), "the text is on the disk")
    kill(child)
    return session


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("verb", ["ask", "rpc"])
def test_before_the_first_text_too_the_chat_says_that_the_answer_broke_off(
    program: Program,
    asking: Callable[[Program], Program],
    server: ModelServer,
    verb: str,
    number: int,
) -> None:
    asked, is_over = asking(program), threading.Event()
    server.script(played(lambda _stage: is_over.wait(60)))
    child = asked.start(*(("ask", QUESTION, "--mode", "chat") if verb == "ask" else ("rpc",)))
    if verb == "rpc":
        send(child, id=1, type="prompt", text=QUESTION, mode="chat")
    wait_until(lambda: contains(asked.home, "Strata was closed"), "the wait is on the disk")
    child.send_signal(number)
    ended(child)
    is_over.set()
    (chat,) = asked.json("sessions", "list")["sessions"]
    entries = asked.json("sessions", "show", chat["session"])["entries"]
    assert [entry["role"] for entry in entries] == ["user", "assistant"]
    assert (entries[-1]["content"], entries[-1]["status"]) == ("", "interrupted")
    server.script(strict())
    again = asked.json("ask", "Again?", "--mode", "chat", "--session", chat["session"])
    assert again["answer"] == "All is well."


def contains(home: Path, text: str) -> bool:
    """Return whether any of the program's files contains a text."""
    return any(text.encode() in file.read_bytes() for file in home.rglob("*") if file.is_file())


def find_answer(entries: list[dict[str, Any]]) -> tuple[str, str, str]:
    """Return the text, status and reason of the last entry, which is an answer."""
    last = entries[-1]
    assert last["role"] == "assistant"
    return last["content"], last["status"], last["reason"]


def test_the_answer_is_in_the_chat_after_the_kill(killed: tuple[Program, str]) -> None:
    program, session = killed
    entries = program.json("sessions", "show", session)["entries"]
    assert find_answer(entries) == (TEXT, "interrupted", "Strata was closed")
    assert program.json("sessions", "show", session)["entries"] == entries
    shown = program.run("sessions", "show", session).out
    assert TEXT in shown
    assert "Strata was closed" in shown


def test_rpc_shows_the_answer_and_regenerates_it(
    killed: tuple[Program, str], server: ModelServer
) -> None:
    program, session = killed
    rpc = Rpc(program)
    entries = rpc.do("get_entries", session=session)["entries"]
    assert find_answer(entries) == (TEXT, "interrupted", "Strata was closed")
    server.script(Answer("It rots."))
    result = rpc.turn("regenerate", session=session, entry=entries[-1]["id"])
    assert (result["answer"], result["status"]) == ("It rots.", "complete")
    rpc.close()


def test_the_next_request_holds_the_answer_as_an_interrupted_one(
    killed: tuple[Program, str], server: ModelServer
) -> None:
    program, session = killed
    server.script(Answer("It rots."))
    assert program.json("ask", "And then?", "--mode", "chat", "--session", session)["answer"]
    *_, question, broken, _then = server.bodies[-1]["messages"]
    assert (question["role"], broken["role"]) == ("user", "assistant")
    assert str(broken["content"]).startswith(TEXT)
    assert str(broken["content"]).endswith("[interrupted]")


def test_a_deleted_chat_leaves_no_text_of_its_answer(killed: tuple[Program, str]) -> None:
    program, session = killed
    assert contains(program.home, TEXT)
    program.json("sessions", "delete", session)
    program.json("sessions", "restore", session)
    assert contains(program.home, TEXT)
    program.json("sessions", "delete", session, "--now")
    assert not contains(program.home, TEXT)


def test_an_answer_that_another_process_receives_is_not_broken_off(
    program: Program, asking: Callable[[Program], Program], server: ModelServer
) -> None:
    asked = asking(program)
    server.script(Answer(TEXT, chunk_chars=8, stall_after=5))
    child = asked.start("rpc")
    send(child, id=1, type="prompt", text=QUESTION, mode="chat")
    session = str(next_event(child, "text_delta")["session"])
    wait_until(lambda: contains(asked.home, TEXT), "the text is on the disk")
    entries = asked.json("sessions", "show", session)["entries"]
    assert [entry.get("role") for entry in entries] == ["user"]
    send(child, id=2, type="abort", session=session)
    end = next_event(child, "turn_end")["data"]
    assert (end["answer"], end["status"]) == (TEXT, "interrupted")
    assert response(child, type="get_entries", session=session)["entries"][-1]["id"] == end["entry"]
