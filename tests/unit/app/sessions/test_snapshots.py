"""What was counted before a compaction, kept beside it: a cache and nothing more."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.tokenizer import load_counter
from context.log.entries import MessageEntry
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of


@pytest.fixture
def compacted(assistant: Assistant, server: ModelServer) -> str:
    """A chat of a few turns that was compacted on request."""
    server.script(Answer("The barrel holds rain. " * 20))
    session = None
    for question in ("One?", "Two?", "Three?", "Four?"):
        session = result_of(ask(assistant, question, mode="chat", session=session)).session
    assert session is not None
    *_, ended = assistant.compact(session, CancelToken())
    assert type(ended).__name__ == "CompactionEnded"
    return session


def known(assistant: Assistant, session: str) -> int:
    """Count the messages that are not counted again."""
    chat = assistant.sessions.read(session)
    counter = load_counter("gpt-4o")
    chat.recall_counts(lambda: counter)
    messages = [entry.message for entry in chat.path() if isinstance(entry, MessageEntry)]
    return sum(counter in message.token_counts for message in messages)


def seen_anew(session: str) -> dict[str, Any]:
    """Return what another process would send next."""
    with closing(build(Paths.find())) as assistant:
        context = result_of(
            ask(assistant, "Five?", mode="chat", session=session, dry_run=True)
        ).context
        return {key: context[key] for key in ("used", "layers", "prefix", "compactions")}


def change(statement: str) -> Callable[[], None]:
    def run() -> None:
        with closing(sqlite3.connect(Paths.find().state_db)) as db, db:
            db.execute(statement)

    return run


def test_what_was_counted_before_a_compaction_is_known_afterwards(compacted: str) -> None:
    with closing(build(Paths.find())) as assistant:
        assert known(assistant, compacted) == 8


@pytest.mark.parametrize(
    "damage",
    [
        change("DELETE FROM session_snapshots"),
        change("UPDATE session_snapshots SET counts = x'00'"),
        change("UPDATE session_snapshots SET counts = 'text'"),
        change("UPDATE session_snapshots SET checksum = ''"),
    ],
)
def test_without_it_everything_is_the_same(compacted: str, damage: Callable[[], None]) -> None:
    before = seen_anew(compacted)
    damage()
    with closing(build(Paths.find())) as assistant:
        assert known(assistant, compacted) == 0
    assert seen_anew(compacted) == before
