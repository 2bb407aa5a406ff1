"""Dialogs that are opened and closed again and again, then a new chat: the window stays."""

import time

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
