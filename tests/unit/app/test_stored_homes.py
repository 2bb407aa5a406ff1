"""Homes of earlier versions open for ever: chats, settings, edits, and the index without loss."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.library.library import IndexFinished
from app.wiring import build
from chains.cancel import CancelToken
from context.log.entries import MessageEntry
from tests.support.stored_homes import NAMES, StoredHome, unpack
from vault.embedder import Embedder
from vault.migrations import MIGRATIONS


@pytest.fixture(params=NAMES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> StoredHome:
    return unpack(request.param, tmp_path)


@pytest.fixture
def opened(home: StoredHome, embedder: Embedder) -> Iterator[Assistant]:
    assistant = build(home.paths, embedder=embedder)
    yield assistant
    assistant.close()


def test_there_are_homes_of_this_schema_and_the_two_before() -> None:
    newest = len(MIGRATIONS)
    assert {f"catalog-{number}" for number in range(newest - 2, newest + 1)} <= set(NAMES)


def test_a_stored_home_opens_with_everything(
    home: StoredHome, opened: Assistant, caplog: pytest.LogCaptureFixture
) -> None:
    chats = {chat.title: chat for chat in opened.list_sessions()}
    assert {"Water", "When do tomatoes ripen?"} <= chats.keys()
    assert (chats["Water"].turns, chats["When do tomatoes ripen?"].pinned) == (1, True)
    for chat in chats.values():
        read = opened.sessions.read(chat.session)
        assert read.problems == ()
        assert chat.vault == str(home.notes)
        with opened.sessions.open(chat.session) as written:
            assert written.path()
    water = opened.sessions.read(chats["Water"].session)
    assert [e.message.text for e in water.path() if isinstance(e, MessageEntry)] == [
        "How much water is in the barrel?",
        "210 litres [1].",
    ]
    assert opened.settings.problems == ()
    assert (opened.settings.get("retrieval.topK"), opened.settings.get("chat.titles")) == (9, False)
    assert opened.paths.memories.read_text("utf-8") == "- The barrel is blue.\n"
    assert opened.take_warnings() == ()
    opened.open_vault(home.notes)
    undone = opened.edits.undo()
    assert [step.path for step in undone.steps] == ["Created.md"]
    assert not (home.notes / "Created.md").exists()
    assert not caplog.records


def test_the_index_is_upgraded_without_embedding_equal_passages(
    home: StoredHome, opened: Assistant
) -> None:
    (home.notes / "Created.md").unlink()  # it was made after the index
    opened.open_vault(home.notes)
    (report,) = [
        event.report for event in opened.index(CancelToken()) if isinstance(event, IndexFinished)
    ]
    assert report.embedded_chunks == 0
    assert report.notes == 4
    hits = opened.search("water in the barrel", 3).hits
    assert hits[0].path == "Watering.md"
    for database in home.list_databases():
        assert not list(database.parent.glob("*.damaged*"))
