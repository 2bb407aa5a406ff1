"""The start after a crash: it is told once, the chats are there, details can be copied."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program, ended, wait_until
from tests.support.window.remote_window import Opened, RemoteWindow

CLOSED = "Strata closed unexpectedly"
ALL_IS_HERE = "All that was stored is here."
ANSWER = "The barrel stands behind the shed."


def end(window: RemoteWindow, number: int) -> None:
    """End the process of a window by a signal."""
    os.kill(window.child.pid, number)
    assert window.child.wait(60) == -number


def is_ready(window: RemoteWindow) -> bool:
    """Return whether the notes are listed, which comes after the look for crashes has begun."""
    return bool(window.find("Watering.md", "TreeItem", "Notes"))


def test_after_a_crash_the_next_start_tells_and_copies_details(
    at_home: Opened, server: ModelServer, program: Program
) -> None:
    server.script(Answer(ANSWER))
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    window.click("Message")
    window.type("Where is the barrel?")
    window.press("Return")
    window.wait_for(ANSWER, under="Chat")
    end(window, signal.SIGSEGV)

    window = at_home()
    window.wait_for(CLOSED)
    window.wait_for(ALL_IS_HERE)
    window.wait_for(ANSWER, under="Chat")
    notice = [node for node in window.nodes() if node.name.startswith(f"{CLOSED} at ")]
    assert any(node.name.endswith(f". {ALL_IS_HERE}") for node in notice)
    window.click("Copy details")
    window.wait_for("The details are copied.")
    window.click("Message")
    window.press("ctrl+v")
    window.wait_for("Fatal Python error")
    window.click("Dismiss", under=notice[0].name)
    window.wait_until_gone(CLOSED)
    assert window.close() == 0

    window = at_home()
    window.wait_for(ANSWER, under="Chat")
    assert not window.shows(CLOSED)


def test_the_notice_is_used_with_keys_alone(at_home: Opened) -> None:
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    end(window, signal.SIGABRT)
    window = at_home()
    window.wait_for(CLOSED)

    def reach(name: str) -> bool:
        window.press("Tab")
        return any(node.name == name and node.has_focus for node in window.nodes())

    wait_until(lambda: reach("Copy details"), "the focus on the button that copies")
    window.press("space")
    window.wait_for("The details are copied.")
    wait_until(lambda: reach("Dismiss"), "the focus on the button that closes")
    window.press("space")
    window.wait_until_gone(CLOSED)
    assert not window.shows(CLOSED)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_an_end_by_another_program_is_not_told(
    at_home: Opened, program: Program, number: int
) -> None:
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    end(window, number)
    for file in (program.home / "state" / "crashes").iterdir():
        os.utime(file, (0, 0))  # as if it had run for long
    window = at_home()
    window.wait_until(lambda: is_ready(window), "the notes")
    wait_until(lambda: len(crash_files(program)) == 1, "the file of the ended process removed")
    assert not window.shows(CLOSED)


def crash_files(program: Program) -> list[Path]:
    """Return the files in the folder of crashes."""
    return list((program.home / "state" / "crashes").iterdir())


def test_a_crashed_command_is_told_by_its_name_and_a_running_one_is_not(
    at_home: Opened, program: Program, add_chat: Callable[..., None]
) -> None:
    add_chat("earlier", 2, "What is compost?", "Rotten leaves.")
    running, crashing = program.start("rpc"), program.start("rpc")
    for child in (running, crashing):
        child.stdin.write(b'{"id": 1, "type": "get_state"}\n')
        child.stdin.flush()
        assert child.stdout.readline()
    crashing.send_signal(signal.SIGSEGV)
    assert ended(crashing).code == -signal.SIGSEGV
    window = at_home()
    window.wait_for("The command strata rpc closed unexpectedly at ")
    window.wait_for(ALL_IS_HERE)
    assert running.poll() is None
    assert len(crash_files(program)) == 3  # of the crash, of the other command and of the window
    running.stdin.close()
    running.wait(60)
    assert len(crash_files(program)) == 2
