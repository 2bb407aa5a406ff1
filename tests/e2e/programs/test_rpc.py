"""`strata rpc` as another program meets it: a child process, its pipes, its exit code."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program, ended
from tests.support.processes.rpc import Rpc, next_event, response, send


@pytest.fixture
def child(
    program: Program, asking: Callable[[Program], Program]
) -> Iterator["subprocess.Popen[bytes]"]:
    child = asking(program).start("rpc")
    yield child
    if child.poll() is None:
        child.kill()
        child.communicate()


def test_the_end_of_input_is_the_end_of_the_program(child: "subprocess.Popen[bytes]") -> None:
    done = ended(child)
    assert (done.code, done.out) == (0, "")


def test_a_shutdown_ends_the_program(child: "subprocess.Popen[bytes]") -> None:
    send(child, id="bye", type="shutdown")
    assert child.stdout is not None
    said = json.loads(child.stdout.readline())
    assert (said["id"], said["success"]) == ("bye", True)
    assert child.wait(60) == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_program_with_its_exit_code(
    child: "subprocess.Popen[bytes]", number: signal.Signals, code: int
) -> None:
    assert response(child, type="get_state")["session"] is None
    child.send_signal(number)
    done = ended(child)
    assert (done.code, done.out) == (code, "")
    assert "Stopped." in done.err


def test_a_whole_turn_prints_lines_of_json_and_nothing_else(
    child: "subprocess.Popen[bytes]", server: ModelServer
) -> None:
    server.script(Answer("Understood."))
    send(child, id=1, type="prompt", text="Hello?", mode="chat")
    assert next_event(child, "turn_end")["data"]["answer"] == "Understood."
    send(child, id=2, type="shutdown")
    done = ended(child)
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == [2]


def test_an_answer_that_stalls_is_kept_when_the_input_ends(
    child: "subprocess.Popen[bytes]", server: ModelServer, program: Program
) -> None:
    server.script(Answer("One two three four.", stall_after=2))
    send(child, id=1, type="prompt", text="Go on.", mode="chat")
    session = next_event(child, "text_delta")["session"]
    assert ended(child).code == 0
    entries = program.json("sessions", "show", session)["entries"]
    assert entries[-1]["status"] == "interrupted"


def test_text_that_was_thinking_is_taken_back(
    child: "subprocess.Popen[bytes]", server: ModelServer
) -> None:
    server.script(Answer("They want a number.</think>42", chunk_chars=6))
    send(child, id=1, type="prompt", text="What is it?", mode="chat")
    assert next_event(child, "text_taken_back")["data"] == {}
    assert next_event(child, "thinking_delta")["data"] == {"text": "They want a number."}
    assert next_event(child, "text_delta")["data"] == {"text": "42"}
    assert next_event(child, "turn_end")["data"]["answer"] == "42"


def test_a_chat_that_another_process_writes_to_is_busy(
    child: "subprocess.Popen[bytes]", server: ModelServer, program: Program
) -> None:
    server.script(Answer("One two three four.", stall_after=2))
    send(child, id=1, type="prompt", text="Go on.", mode="chat")
    session = next_event(child, "text_delta")["session"]
    done = program.run("ask", "And?", "--mode", "chat", "--session", session, "--json")
    assert done.error["code"] == "busy"
    send(child, id=2, type="abort")
    assert next_event(child, "turn_end")["data"]["status"] == "interrupted"


def test_a_search_at_once_after_a_change_finds_the_notes_as_they_are_now(
    program: Program, small_vault: Path
) -> None:
    def found(word: str) -> list[str]:
        hits = response(rpc, type="search", query=f'"{word}"', k=1)["hits"]
        return [hit["path"] for hit in hits]

    program.json("index", str(small_vault))
    small_vault.joinpath("Orchard.md").write_text("# Orchard\n\nThe rhubarb ripens early.\n")
    rpc = program.start("--vault", str(small_vault), "rpc")
    assert found("rhubarb") == ["Orchard.md"]  # changed before anything was watched
    for number in range(20):
        note = small_vault / f"Note {number}.md"
        note.write_text(f"# Note\n\nThe quince{number} blooms in May.\n")
        assert found(f"quince{number}") == [note.name]
        note = note.rename(note.with_stem(f"Other {number}"))
        assert found(f"quince{number}") == [note.name]
        note.write_text(f"# Note\n\nThe medlar{number} blooms in June.\n")
        assert found(f"medlar{number}") == [note.name]
        note.unlink()
        assert found(f"medlar{number}") != [note.name]
    (small_vault / "garden").rename(small_vault / "beds")
    assert found("Matina") == ["beds/Tomatoes.md"]
    ended(rpc)


def test_half_a_surrogate_pair_breaks_no_chat_and_no_list(
    program: Program, asking: Callable[[Program], Program], server: ModelServer
) -> None:
    asked = asking(program)
    server.script(Answer("half \ud83d end"), Answer("Understood."))
    rpc = Rpc(asked)
    first = rpc.turn("prompt", text="\ud800", mode="chat")
    assert (first["status"], first["answer"]) == ("complete", "half \ufffd end")
    (chat,) = asked.json("sessions", "list")["sessions"]
    assert (chat["session"], chat["title"], chat["turns"]) == (first["session"], "\ufffd", 1)
    assert rpc.turn("prompt", text="And now?", mode="chat")["answer"] == "Understood."
    rpc.close()
    sent = [message["content"] for message in server.bodies[-1]["messages"][-3:]]
    assert sent == ["\ufffd", "half \ufffd end", "And now?"]
    assert asked.run("sessions", "list").code == 0
    shown = asked.json("sessions", "show", chat["session"])["entries"]
    assert [e["content"] for e in shown if e["type"] == "message"][:2] == sent[:2]


def test_another_program_adds_a_message_and_a_label(
    program: Program, asking: Callable[[Program], Program], server: ModelServer
) -> None:
    asked = asking(program)
    rpc = Rpc(asked)
    first = rpc.turn("prompt", text="Is it dry?", mode="chat")
    added = rpc.do("send_message", custom_type="weather", content="It rained.", display=True)
    assert added["session"] == first["session"]
    assert rpc.do("label", target=first["entry"], label="dry  spell")["session"] == first["session"]
    assert rpc.turn("prompt", text="And now?", mode="chat")["status"] == "complete"
    entries = rpc.do("get_entries")["entries"]
    (told,) = [entry for entry in entries if entry["id"] == added["entry"]]
    assert (told["type"], told["customType"], told["content"], told["display"]) == (
        *("custom_message", "weather", "It rained."),
        True,
    )
    (label,) = [entry for entry in entries if entry["type"] == "label"]
    assert (label["target"], label["label"]) == (first["entry"], "dry spell")
    sent = json.dumps(server.bodies[-1]["messages"])
    assert sent.index("It rained.") < sent.index("And now?")
    unknown = rpc.refuse("send_message", session="nowhere", custom_type="x", content="y")
    assert unknown["code"] == "session_missing"
    assert rpc.refuse("label", target="00000000", label="x")["code"] == "not_found"
    rpc.close()
