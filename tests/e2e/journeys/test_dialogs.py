"""Dialogs that are opened and closed: the window stays, and typing goes on where it was."""

import time
from collections.abc import Callable

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.remote_window import Opened, RemoteWindow

ANSWER = "The barrel stands behind the shed."
QUESTION = "Where is the barrel?"


@pytest.mark.parametrize(
    ("rounds", "pause_s"), [(2, 0), pytest.param(8, 31, marks=pytest.mark.soak)]
)
@pytest.mark.timeout(3_600)
def test_compare_name_and_save_can_be_closed_before_a_new_chat(
    at_home: Opened, server: ModelServer, rounds: int, pause_s: int
) -> None:
    server.script(Answer(ANSWER))
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    for _ in range(rounds):
        window.click("Message")
        window.type(QUESTION)
        window.press("Return")
        window.wait_for(ANSWER, under="Chat")
        open_and_close(window, "Compare with another model's answer", "Other answer")
        window.click("Name this answer")
        window.wait("Name of the message")
        window.press("Escape")
        window.wait_until(lambda: not window.find("Name of the message"), "no field for a name")
        open_and_close(window, "Save answer as a note", "Save as note")
        window.press("F1")
        window.wait("Shortcuts", "Dialog")
        window.press("Escape")
        window.wait_until(lambda: not window.find("Shortcuts", "Dialog"), "no list of shortcuts")
        time.sleep(pause_s)  # the pause itself is tried, not waited for
        window.press("ctrl+n")
        window.wait_until(lambda: not window.shows(ANSWER, under="Chat"), "a new chat")
    assert window.close() == 0


def open_and_close(window: RemoteWindow, button: str, shown: str) -> None:
    """Click a button, wait for what it opens, and close that with Escape."""
    window.click(button)
    window.wait_for(shown)
    window.press("Escape")
    window.wait_until(lambda: not window.shows(shown), f"no {shown!r}")


def press(*keys: str) -> Callable[[RemoteWindow], object]:
    return lambda window: window.press(*keys)


def choose_command(words: str) -> Callable[[RemoteWindow], object]:
    """Return a function that chooses a command in the palette."""

    def choose(window: RemoteWindow) -> None:
        window.press("ctrl+k")
        window.wait("A command", "EditableText")
        window.type(words)
        window.wait_for(words)
        window.press("Return")

    return choose


def pin_question(window: RemoteWindow) -> None:
    window.click("Pin the question in the message box")
    window.wait("Pin a question", "Dialog")
    window.type("open tasks")


Way = tuple[str, Callable[[RemoteWindow], object], Callable[[RemoteWindow], object]]
WAYS: tuple[Way, ...] = (
    ("Pin a question", pin_question, press("Return")),
    ("Pin a question", pin_question, lambda window: window.click("Cancel")),
    ("Settings", press("ctrl+comma"), press("Escape")),
    ("Shortcuts", press("F1"), press("Return")),
    ("Judge every note", choose_command("Judge every note"), press("Escape")),
    ("Quick ask", choose_command("Quick ask, in a small window"), press("Escape")),
    (
        "Open a folder as a project",
        lambda window: window.click("Open a folder as a project"),
        press("Escape"),
    ),
)


def test_without_a_window_manager_typing_goes_on_after_each_dialog(at_home: Opened) -> None:
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    window.is_managed = False
    window.screen.act("mousemove", 0, 0)
    for name, open_dialog, close_dialog in WAYS:
        open_dialog(window)
        window.wait(name, "Dialog" if name != "Quick ask" else "")
        close_dialog(window)
        window.wait_until(lambda name=name: not window.find(name, "Dialog"), f"no {name}")
        window.press("ctrl+l")
        window.type("typed")
        window.wait_until(lambda: window.read("Message") == "typed", f"text after {name}")
        window.press("ctrl+a", "BackSpace")
    assert window.close() == 0
