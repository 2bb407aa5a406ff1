"""A chat reads the same after a restart, which reads it from its file and not from memory."""

from contextlib import closing
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import TurnFailed
from app.paths import Paths
from app.sessions.transcript import AnswerItem
from app.wiring import build
from chains.cancel import CancelToken
from chains.request.ask import Selection
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.sessions.turns import ask, result_of
from vault.embedder import Embedder

QUESTIONS = (
    "How many litres does the rain barrel hold?",
    "Which tasks are open?",
    "List all notes with the tag #start",
    "List the next ones",
    "Thanks!",
    "What is a zeppelin?",
)


def check_after_restart(
    assistant: Assistant, embedder: Embedder, vault: Path, session: str
) -> tuple[AnswerItem, ...]:
    """Compare a chat with what the next start of the program reads, and return its answers."""
    before = assistant.history.transcript(session)
    with closing(build(Paths.find(), embedder=embedder)) as restarted:
        restarted.open_vault(vault, remember=False)
        after = restarted.history.transcript(session)
    assert after == before
    return tuple(item for item in after.items if isinstance(item, AnswerItem))


def test_answers_without_a_model_read_the_same_after_a_restart(
    reading: Assistant, embedder: Embedder, small_vault: Path
) -> None:
    for _ in reading.index(CancelToken()):
        pass
    session, told = None, []
    for question in QUESTIONS:
        result = result_of(ask(reading, question, session=session))
        session = str(result.session)
        told.append(result.answer.sections)
    assert any(told), "an answer without a model shows sections of notes"
    answers = check_after_restart(reading, embedder, small_vault, str(session))
    assert [item.answer.sections for item in answers] == told


def test_answers_of_a_model_read_the_same_after_a_restart(
    reading: Assistant, server: ModelServer, embedder: Embedder, small_vault: Path
) -> None:
    note = next(small_vault.rglob("*.md")).relative_to(small_vault).as_posix()
    search = ("call1", "search_notes", '{"query": "barrel"}')
    server.script(
        Answer("It holds 210 litres [1].", reasoning="Let me see."),
        Answer("", calls=(search,)),
        Answer("Nothing else."),
        Answer("It begins, and then the line is cut.", break_after=4),
        Failure(400),
    )
    first = result_of(ask(reading, "How much?", attach=(note,)))
    session = str(first.session)
    ask(reading, "Search.", mode="agent", session=session)
    ask(reading, "These lines?", session=session, selections=(Selection(note, 1, 1),), mode="chat")
    with pytest.raises(TurnFailed):
        ask(reading, "And now?", session=session, mode="chat")
    answers = check_after_restart(reading, embedder, small_vault, session)
    assert len(answers) == 4
