"""What comes back after the window was killed: chat, draft, text size and geometry."""

import json
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.durability.test_killed_answer import contains
from tests.support.behaviours.behaviour import played
from tests.support.kills.killed_window import DRAFT, QUESTION, SIZE
from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program, ended, kill, wait_until
from ui.state import load_drafts, load_state

MODULE = "tests.support.kills.killed_window"
Window = "subprocess.Popen[bytes]"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The window over a note, on a screen that is large enough, with somebody at it."""
    notes, screen = tmp_path / "notes", tmp_path / "screen.json"
    notes.mkdir()
    (notes / "Compost.md").write_text("# Compost\n\nCompost is rotten leaves.\n", "utf-8")
    shown = {"name": "s", "x": 0, "y": 0, "width": 1920, "height": 1080, "logicalDpi": 96, "dpr": 1}
    screen.write_text(json.dumps({"screens": [shown]}))
    platform = ("QT_QPA_PLATFORM", f"offscreen:configfile={screen}")
    options = ("--set", f"vault.path={notes}")
    return Program(tmp_path / "home", options, environ=(platform,), module=MODULE)


def read_until(window: Window, is_so: Callable[[Any], bool]) -> Any:
    """Read what the window shows until a condition is met, and return it."""
    shown = None
    for line in window.stdout:
        shown = json.loads(line)
        if is_so(shown):
            return shown
    raise AssertionError(f"the window ended and had shown {shown}")


def is_written(shown: Any) -> bool:
    return shown["draft"] == DRAFT and shown["size"] == list(SIZE)


def is_saved(state: Path, shown: Any) -> bool:
    drafts = [draft["text"] for draft in load_drafts(state / "drafts.json").values()]
    return (drafts, load_state(state / "window.json").font_scale) == ([DRAFT], shown["scale"])


def test_chat_draft_text_size_and_geometry_come_back_after_a_kill(program: Program) -> None:
    window = program.start("act")
    before = read_until(window, is_written)
    assert before["title"] == QUESTION
    assert before["scale"] > 1
    wait_until(lambda: is_saved(program.home / "state", before), "all is on the disk")
    kill(window)
    window = program.start("tell")
    read_until(window, lambda shown: shown == before)
    kill(window)


def test_an_answer_that_was_arriving_is_shown_as_broken_off(program: Program) -> None:
    text = "Leaves rot in a heap for a year."
    with ModelServer(Answer(text, chunk_chars=8, stall_after=5)) as server:
        options = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
        program = replace(program, options=(*program.options, *options))
        window = program.start("ask")
        read_until(window, lambda shown: shown["endings"] == [[text, ""]])
        wait_until(lambda: contains(program.home, text), "the text is on the disk")
        kill(window)
        window = program.start("tell")
        ending = "The answer broke off: Strata was closed. What had arrived is kept."
        after = read_until(window, lambda shown: shown["endings"] == [[text, ending]])
        assert after["title"] == QUESTION
        kill(window)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_answer_that_was_awaited_is_shown_as_broken_off(program: Program, number: int) -> None:
    is_over = threading.Event()
    with ModelServer(played(lambda _stage: is_over.wait(60))) as server:
        options = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
        program = replace(program, options=(*program.options, *options))
        window = program.start("wait")
        assert read_until(window, lambda shown: shown["isRunning"])["answers"] == 1
        wait_until(lambda: contains(program.home, "Strata was closed"), "the wait is on the disk")
        window.send_signal(number)
        ended(window)
        is_over.set()
        window = program.start("tell")
        after = read_until(window, lambda shown: shown["endings"])
        assert after["endings"] == [["", "No answer arrived: Strata was closed."]]
        assert (after["title"], after["retries"]) == (QUESTION, 1)
        kill(window)


def test_a_second_start_ends_and_the_first_window_goes_on(program: Program) -> None:
    first = program.start("act")
    assert read_until(first, is_written)["title"] == QUESTION
    second = ended(program.start("tell"))
    assert (second.code, second.out) == (0, "")
    assert first.poll() is None
    kill(first)
