"""The note with the user's long-term memories."""

from pathlib import Path

import pytest

from app.customize.memory import MemoryNote
from app.errors import InvalidRequest, NotFound
from app.library.user_texts import MEMORIES, MOST_CHARS, UserTextFile
from chains.errors import ProposalOutdated, ToolFailed
from tests.support.processes.intruder import Intruder


@pytest.fixture
def note(tmp_path: Path) -> MemoryNote:
    return MemoryNote(UserTextFile(tmp_path / "config" / "memories.md", MEMORIES))


def remember(note: MemoryNote, *texts: str) -> None:
    for text in texts:
        note.propose(text).apply()


def test_a_proposal_writes_nothing_until_it_is_applied(note) -> None:
    proposal = note.propose("Garden notes\nare in German.")
    assert (proposal.kind, proposal.session_scope) == ("memory", "")
    assert proposal.summary == "Remember in all chats: Garden notes are in German."
    assert "+- Garden notes are in German." in proposal.diff.split("\n")
    assert note.list_memories() == ()
    assert "Remembered" in proposal.apply()
    assert note.list_memories() == ("Garden notes are in German.",)
    assert note.file.path.read_text() == "# Memories\n\n- Garden notes are in German.\n"


def test_a_proposal_is_outdated_once_the_note_has_changed(note) -> None:
    first, second = note.propose("One"), note.propose("Two")
    first.apply()
    with pytest.raises(ProposalOutdated):
        second.apply()
    assert note.list_memories() == ("One",)


def test_blank_and_known_memories_are_refused(note) -> None:
    remember(note, "One")
    for text in (" \n", "One"):
        with pytest.raises(ToolFailed):
            note.propose(text)


def test_lines_of_the_user_stay_when_memories_change(note) -> None:
    note.file.write("About me.\n\n* One\n- Two\n\nThe end.\n")
    assert note.list_memories() == ("One", "Two")
    note.edit(2, "Two,\nfor sure")
    note.forget(1)
    assert note.file.path.read_text() == "About me.\n\n- Two, for sure\n\nThe end.\n"
    remember(note, "Three")
    assert note.file.path.read_text().endswith("The end.\n\n- Three\n")


def test_forgetting_the_last_memory_removes_the_note(note) -> None:
    remember(note, "One")
    note.forget(1)
    assert not note.file.path.exists()


@pytest.mark.parametrize("number", [0, 2])
def test_a_number_that_is_not_listed_is_not_found(note, number) -> None:
    remember(note, "One")
    with pytest.raises(NotFound):
        note.forget(number)
    with pytest.raises(NotFound):
        note.edit(number, "x")
    with pytest.raises(InvalidRequest):
        note.edit(1, " ")


def test_a_note_that_cannot_be_read_is_a_failure_of_the_tool(note) -> None:
    note.file.path.parent.mkdir()
    note.file.path.write_text("- x\n" * MOST_CHARS)
    with pytest.raises(ToolFailed, match=r"Your memories in .* are longer than"):
        note.propose("One")


def test_a_memory_that_makes_the_note_too_long_is_a_failure_of_the_tool(note) -> None:
    remember(note, "One")
    with pytest.raises(ToolFailed, match="Memories may have 16,000 characters"):
        note.propose("x" * MOST_CHARS).apply()
    assert note.list_memories() == ("One",)


def test_a_folder_that_cannot_be_made_is_a_failure_of_the_tool(note) -> None:
    proposal = note.propose("One")
    note.file.path.parent.write_text("a file in place of the folder")
    with pytest.raises(ToolFailed, match="cannot be read or written"):
        proposal.apply()


def test_memories_that_are_changed_at_once_are_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that changes one memory between the look and the write of another waits."""
    file = tmp_path / "memories.md"
    file.write_text("- old 0\n- old 1\n")
    here, there = (MemoryNote(UserTextFile(file, MEMORIES)) for _ in range(2))
    intruder = Intruder(monkeypatch, lambda: there.edit(2, "new 1"))
    write = here.file.write

    def write_later(text: str) -> None:
        intruder.intrude()
        write(text)

    monkeypatch.setattr(here.file, "write", write_later)
    here.edit(1, "new 0")
    intruder.finish()
    assert list(here.list_memories()) == ["new 0", "new 1"]
