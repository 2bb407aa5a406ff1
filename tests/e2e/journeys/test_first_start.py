"""The first minutes: three steps, a server, a folder; with the mouse and the keys of a new user."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.remote_window import Opened

STEPS = ("Where are your notes?", "Which model answers?", "Ask something.")
ANSWER = "The server is backed up every night at 02:30."


@pytest.mark.started
def test_three_steps_lead_to_an_answer(open_window: Opened, server: ModelServer) -> None:
    server.script(Answer(ANSWER))
    window = open_window()
    window.wait_for(STEPS[0])
    window.click("The sample notes")
    window.click("Open the sample notes")
    window.wait_for(STEPS[1])
    window.click("A service with a key")
    window.click("Service: Anthropic")
    window.choose("Another server")
    window.click("Server address")
    window.type(server.url)
    window.click("Find its models")
    window.wait_until(lambda: window.read("Model", "EditableText") == "scripted", "the model")
    window.click("Test the connection")
    window.wait_for("It works: scripted")
    window.click("Use this model")
    window.wait_for(STEPS[2])
    window.click("Question")
    window.type("When is the server backed up?")
    window.press("Return")
    window.wait_for(ANSWER, under="Chat")
    window.wait("Model: scripted")
    window.wait("What the model saw")
    assert any("<source n=" in str(body["messages"]) for body in server.bodies)
    assert window.close() == 0

    window = open_window()
    window.wait_for(ANSWER, under="Chat")
    window.wait("Model: scripted")
    assert not window.shows(STEPS[0])


def test_each_step_can_be_skipped_and_they_are_offered_once(open_window: Opened) -> None:
    window = open_window()
    for step in STEPS:
        window.wait_for(step)
        window.click("Skip")
    window.wait_until_gone(STEPS[2])
    window.wait("Try the sample notes")
    assert window.close() == 0
    window = open_window()
    window.wait_for("No chats yet")
    window.click("Try the sample notes")
    window.wait("Guide", "TreeItem", "Notes")
    assert not window.shows(STEPS[0])


def test_a_server_is_set_later_and_a_wrong_address_is_named(
    open_window: Opened, add_settings: Callable[..., None], small_vault: Path, server: ModelServer
) -> None:
    add_settings({"vault.path": str(small_vault)})
    server.script(Answer("Behind the shed."))
    window = open_window()
    window.click("Set a model")
    window.wait_for(STEPS[1])
    window.click("A service with a key")
    window.click("Service: Anthropic")
    window.choose("Another server")
    window.click("Server address")
    window.type("http://127.0.0.1:9/v1")
    window.click("Find its models")
    window.wait_for("http://127.0.0.1:9/v1 does not answer. Start the server,")
    window.click("Server address")
    window.press("ctrl+a")
    window.type(server.url)
    window.click("Find its models")
    window.wait_until(lambda: window.read("Model", "EditableText") == "scripted", "the model")
    window.click("Use this model")
    window.wait("Model: scripted")
    assert not any(window.shows(step) for step in STEPS)
    window.click("Mode: Vault")
    window.choose("Chat")
    window.click("Message")
    window.type("Where is the barrel?")
    window.press("Return")
    window.wait_for("Behind the shed.", under="Chat")
    assert server.bodies[0]["model"] == "scripted"
