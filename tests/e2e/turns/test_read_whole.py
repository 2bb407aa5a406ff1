"""An attachment that is too large, read whole: told first, then done, by every way in."""

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import ModelServer
from tests.support.models.part_reader import ANSWER, days, is_part, reads_parts
from tests.support.processes.program import Program, ended
from tests.support.processes.rpc import next_event, send

ASKED = ("ask", "What happened?", "--mode", "chat")
SMALL = ("--set", "autoCompactThreshold=4000")
LINES = 900


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.txt"
    file.write_text(days(LINES))
    return file


@pytest.fixture
def reading(program: Program, asking: Callable[[Program], Program], server: ModelServer) -> Program:
    """The program with a small budget and a model that reads part by part."""
    server.script(reads_parts)
    over = asking(program)
    return Program(over.home, (*over.options, *SMALL))


def test_a_dry_run_tells_what_reading_would_take_and_calls_nobody(
    reading: Program, server: ModelServer, log: Path
) -> None:
    words = (*ASKED, "--attach", str(log), "--read-whole", "--dry-run")
    told = reading.json(*words)["read_whole"]
    (part,) = told["attachments"]
    assert (part["source"], part["lines"]) == (str(log), [1, LINES])
    assert told["parts"] == part["parts"] <= told["calls"]
    assert told["price"] is None
    assert told["done"] is None
    text = reading.run(*words).out
    assert f"{told['calls']:,} calls of the model: {told['prompt_tokens']:,} tokens sent" in text
    assert server.bodies == []


def test_it_is_read_and_the_answer_cites_its_lines(
    reading: Program, server: ModelServer, log: Path
) -> None:
    done = reading.run(*ASKED, "--attach", str(log), "--read-whole", "--json")
    result = done.document
    assert "calls of the model" in done.err
    assert result["answer"] == ANSWER
    (citation,) = result["citations"]
    assert (citation["path"], citation["lines"], citation["verified"]) == (str(log), [1, 1], True)
    read = sum(map(is_part, server.bodies))
    assert read == result["read_whole"]["parts"]
    assert result["usage"]["requests"] == len(server.bodies)
    assert result["context"]["used"] <= result["context"]["budget"]
    entries = reading.json("sessions", "show", result["session"])["entries"]
    (segments,) = [entry for entry in entries if entry["type"] == "segments"]
    assert segments["segments"][0]["derived"] == "map_reduce"


def test_without_a_model_it_is_refused_in_words(program: Program, log: Path) -> None:
    words = (*ASKED, *SMALL, "--attach", str(log), "--read-whole", "--json")
    done = program.run(*words)
    assert (done.code, done.error["code"]) == (1, "bad_request")
    assert "no model is set" in done.error["message"]


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 1)])
def test_at_a_terminal_it_is_asked_first(
    reading: Program, server: ModelServer, log: Path, typed: bytes, code: int
) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [reading.script, *reading.options, *ASKED, "--attach", log, "--read-whole"],
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "STRATA_HOME": str(reading.home)},
    )
    os.close(theirs)
    os.write(ours, typed)
    said = b""
    try:
        while piece := os.read(ours, 4_096):
            said += piece
    except OSError:
        pass  # the other end of the terminal is closed
    out, _ = child.communicate(timeout=120)
    os.close(ours)
    assert child.returncode == code
    assert b"Read it all? [y/N]" in said
    assert bool(server.bodies) is (code == 0)
    assert (ANSWER in out.decode()) is (code == 0)


def test_another_program_is_told_what_it_takes_and_how_far_it_is(
    reading: Program, log: Path
) -> None:
    child = reading.start("rpc")
    attached = {"text": "What happened?", "attach": [str(log)]}
    send(child, id=0, type="set_mode", mode="chat")
    send(child, id=1, type="get_context", when="next", **attached)
    send(child, id=2, type="prompt", read_whole=True, mode="chat", **attached)
    told = [next_event(child, "reading_progress")["data"]]
    end = next_event(child, "turn_end")["data"]
    parts = end["read_whole"]["parts"]
    assert told == [{"part": 1, "parts": parts}]
    assert end["answer"] == ANSWER
    send(child, id=3, type="get_context", when="next", **attached)
    assert child.stdout is not None
    found = next(line for line in map(bytes.decode, child.stdout) if '"id": 3' in line)
    assert f'"parts": {parts}' in found
    send(child, id=4, type="shutdown")
    assert ended(child).code == 0
