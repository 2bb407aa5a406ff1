"""Past requests: why a note was given to the model, and requests that are not stored any more."""

from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.sessions.request_history import explain_sending
from chains.request.session import SessionPort
from tests.support.models.model_server import ModelServer
from tests.support.sessions.turns import ask, result_of
from vault.vault import Vault


@pytest.fixture
def vault(reading: Assistant) -> Vault:
    assert reading.library is not None
    return reading.library.vault


@pytest.fixture
def chat(reading: Assistant) -> SessionPort:
    return chat_with(reading, "How much does the barrel hold?")


def chat_with(reading: Assistant, question: str, *attached: str) -> SessionPort:
    events = ask(reading, question, attach=attached, model="extractive")
    return reading.sessions.read(result_of(events).session)


def test_a_note_that_was_given_to_the_model_is_told_with_what_speaks_for_it(
    chat: SessionPort, vault: Vault
) -> None:
    said = explain_sending(vault, chat, "Watering.md", 8)
    assert said.startswith("Watering.md ranks 1st: words ")


def test_a_note_that_was_not_given_is_compared_with_the_last_one_that_was(
    chat: SessionPort, vault: Vault
) -> None:
    said = explain_sending(vault, chat, "garden/Tomatoes.md", 1)
    assert said.startswith("garden/Tomatoes.md ranks ")
    assert "meaning" in said


def test_an_attached_note_is_told_as_such(reading: Assistant, vault: Vault) -> None:
    chat = chat_with(reading, "What is this?", "garden/Kompost.md")
    said = explain_sending(vault, chat, "garden/Kompost.md", 8)
    assert said == "garden/Kompost.md was attached to the question."


def test_the_notes_that_were_in_play_count_as_they_did(reading: Assistant, vault: Vault) -> None:
    chat = chat_with(reading, "Where is it told?", "Welcome.md")
    assert "links 1.00" in explain_sending(vault, chat, "garden/Tomatoes.md", 8)


def test_before_the_first_question_that_is_said(reading: Assistant, vault: Vault) -> None:
    chat = reading.sessions.create("extractive", None)
    assert "Nothing was asked" in explain_sending(vault, chat, "Welcome.md", 8)


def test_the_request_of_a_chat_of_another_vault_is_rebuilt_with_its_own_notes(
    reading: Assistant, server: ModelServer, small_vault: Path, tmp_path: Path
) -> None:
    session = _ask_twice(reading)
    sent = _last_context(reading, session)
    _lose_stored_requests(reading)
    (tmp_path / "other").mkdir()
    reading.open_vault(tmp_path / "other", remember=False)
    rebuilt = _last_context(reading, session)
    assert (sent["rebuilt"], rebuilt["rebuilt"]) == (False, True)
    assert _count_layers(rebuilt) == _count_layers(sent)
    assert reading.vault == tmp_path / "other"


def test_the_request_of_a_chat_whose_vault_was_moved_is_rebuilt(
    reading: Assistant, server: ModelServer, small_vault: Path, tmp_path: Path
) -> None:
    session = _ask_twice(reading)
    sent = _last_context(reading, session)
    _lose_stored_requests(reading)
    small_vault.rename(tmp_path / "moved")
    reading.open_vault(tmp_path / "moved", remember=False)
    assert _count_layers(_last_context(reading, session)) == _count_layers(sent)


def _ask_twice(assistant: Assistant) -> str:
    events = ask(assistant, "How much does the barrel hold?", attach=("Watering.md",))
    session = result_of(events).session
    ask(assistant, "And the can?", session=session)
    return session


def _last_context(assistant: Assistant, session: str) -> dict[str, Any]:
    found = assistant.history.read_last_context(session, full=True)
    assert found is not None
    return found


def _count_layers(context: dict[str, Any]) -> dict[str, int]:
    return {name: layer["tokens"] for name, layer in context["layers"].items()}


def _lose_stored_requests(assistant: Assistant) -> None:
    assistant.sessions.close()
    assistant.paths.state_db.unlink()
