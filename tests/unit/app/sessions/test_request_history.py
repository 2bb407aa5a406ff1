"""Why a note was given to the model for the last question of a chat, or why not."""

import pytest

from app.assistant import Assistant
from app.library.library import Library
from app.sessions.request_history import why_sent
from chains.request.session import SessionPort
from tests.support.sessions.turns import ask, result_of


@pytest.fixture
def library(reading: Assistant) -> Library:
    assert reading.library is not None
    return reading.library


@pytest.fixture
def chat(reading: Assistant) -> SessionPort:
    return chat_with(reading, "How much does the barrel hold?")


def chat_with(reading: Assistant, question: str, *attached: str) -> SessionPort:
    events = ask(reading, question, attach=attached, model="extractive")
    return reading.sessions.read(result_of(events).session)


def test_a_note_that_was_given_to_the_model_is_told_with_what_speaks_for_it(
    chat: SessionPort, library: Library
) -> None:
    said = why_sent(library, chat, "Watering.md", 8)
    assert said.startswith("Watering.md ranks 1st: words ")


def test_a_note_that_was_not_given_is_compared_with_the_last_one_that_was(
    chat: SessionPort, library: Library
) -> None:
    said = why_sent(library, chat, "garden/Tomatoes.md", 1)
    assert said.startswith("garden/Tomatoes.md ranks ")
    assert "meaning" in said


def test_an_attached_note_is_told_as_such(reading: Assistant, library: Library) -> None:
    chat = chat_with(reading, "What is this?", "garden/Kompost.md")
    said = why_sent(library, chat, "garden/Kompost.md", 8)
    assert said == "garden/Kompost.md was attached to the question."


def test_the_notes_that_were_in_play_count_as_they_did(
    reading: Assistant, library: Library
) -> None:
    chat = chat_with(reading, "Where is it told?", "Welcome.md")
    assert "links 1.00" in why_sent(library, chat, "garden/Tomatoes.md", 8)


def test_before_the_first_question_that_is_said(reading: Assistant, library: Library) -> None:
    chat = reading.sessions.create("extractive", None)
    assert "Nothing was asked" in why_sent(library, chat, "Welcome.md", 8)
