"""`strata memory`: long-term memories on the command line."""

import pytest

from app.cli.parser import run
from app.customize.memory import MemoryNote
from app.library.user_texts import MEMORIES, UserTextFile
from app.paths import Paths
from tests.support.processes.command_line import document


@pytest.fixture
def note() -> MemoryNote:
    note = MemoryNote(UserTextFile(Paths.find().memories, MEMORIES))
    for text in ("Answer in German.", "My garden is in\u202e Ulm."):
        note.propose(text).apply()
    return note


def test_memories_are_listed_edited_and_forgotten(
    note: MemoryNote, capsys: pytest.CaptureFixture[str]
) -> None:
    def strata(*argv: str) -> str:
        assert run(["memory", *argv], lambda _: 1) == 0
        return capsys.readouterr().out

    assert strata("list") == "1. Answer in German.\n2. My garden is in\\u{202e} Ulm.\n"
    assert document(strata("edit", "2", "My garden is in Ulm.", "--json")) == {
        "memories": ["Answer in German.", "My garden is in Ulm."]
    }
    assert strata("forget", "1") == "1. My garden is in Ulm.\n"
    assert strata("forget", "1") == "There are no memories.\n"
    assert document(strata("path", "--json")) == {"path": str(note.file.path)}


def test_a_memory_that_is_not_listed_is_an_error(
    note: MemoryNote, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["memory", "forget", "3", "--json"], lambda _: 1) == 1
    assert document(capsys.readouterr().out)["error"]["code"] == "not_found"
    assert len(note.list_memories()) == 2
