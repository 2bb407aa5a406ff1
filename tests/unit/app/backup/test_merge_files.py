"""Files that are here and in a backup are merged: nothing is lost, and nothing comes twice."""

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from app.backup.merge import find_merge
from app.customize.memory import MemoryNote
from app.errors import InvalidRequest
from app.library.user_texts import MEMORIES, UserTextFile
from app.line_file import LineFile
from resources.system.files import lock_folder, write_atomically
from tests.support.simulator.disk import Disk, Fault, Killed
from vault.edits.journal import EditJournal, EditStep, hash_content


def make_step(id: str, time: str, root: str = "/notes") -> EditStep:
    """Return a step of an edit that created a note."""
    after = hash_content(id.encode())
    return EditStep(id, f"run {id}", "", time, root, "create", f"{id}.md", "", None, after)


def write_journal(folder: Path, *steps: EditStep) -> EditJournal:
    """Write a journal in which the steps are done."""
    journal = EditJournal(folder)
    for step in steps:
        with journal.lock():
            journal.begin([step], [step.id.encode()])
            journal.mark([step], "done")
    return journal


def merge(name: str, place: Path, content: bytes) -> bool:
    """Merge a content into a file, by its name in an archive."""
    found = find_merge(name)
    assert found is not None
    return found(place, content)


def test_edits_of_two_journals_are_in_the_order_of_their_times(tmp_path: Path) -> None:
    early, late = make_step("early", "2026-01-01T00:00Z"), make_step("late", "2026-01-03T00:00Z")
    between = make_step("between", "2026-01-02T00:00Z", "/other notes")
    own = write_journal(tmp_path / "own", early, late)
    other = write_journal(tmp_path / "other", early, between)
    other.mark([early], "undone")
    content = (tmp_path / "other" / "journal.jsonl").read_bytes()
    place = tmp_path / "own" / "journal.jsonl"
    assert merge("edits/journal.jsonl", place, content)
    steps = [(step.id, step.mark) for step in own.read()]
    assert steps == [("early", "undone"), ("between", "done"), ("late", "done")]
    merged = place.read_bytes()
    assert not merge("edits/journal.jsonl", place, content)
    assert place.read_bytes() == merged


LISTS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "pinned/0123456789abcdef.json": (
        {"version": 1, "answers": [{"id": "a", "title": "mine"}]},
        {"version": 1, "answers": [{"id": "a", "title": "mine"}, {"id": "b"}]},
        {"version": 1, "answers": [{"id": "a", "title": "mine"}, {"id": "b"}]},
    ),
    "reviews/0123456789abcdef.json": (
        {"dismissed": ["one", "two"]},
        {"dismissed": ["two", "three"]},
        {"dismissed": ["one", "two", "three"]},
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_entries_of_lists_are_added(name: str, tmp_path: Path) -> None:
    own, other, wanted = LISTS[name]
    place = tmp_path / "file.json"
    place.write_text(json.dumps(own))
    assert merge(name, place, json.dumps(other).encode())
    assert json.loads(place.read_text()) == wanted
    assert not merge(name, place, json.dumps(other).encode())


def test_an_answer_that_differs_is_not_dropped_silently(tmp_path: Path) -> None:
    place = tmp_path / "file.json"
    place.write_text('{"version": 1, "answers": [{"id": "a", "title": "mine"}]}')
    other = b'{"version": 1, "answers": [{"id": "a", "title": "newer"}, {"id": "b"}]}'
    for _ in range(2):
        with pytest.raises(InvalidRequest, match="differs"):
            merge("pinned/0.json", place, other)
        assert json.loads(place.read_text())["answers"] == [
            {"id": "a", "title": "mine"},
            {"id": "b"},
        ]


MERGED = {
    **{name: [json.dumps(one) for one in files] for name, files in LISTS.items()},
    "memories.md": ["- both\n- mine\n", "- both\n- theirs\n", "- both\n- mine\n- theirs\n"],
}


@pytest.mark.parametrize("name", MERGED)
@pytest.mark.parametrize("kill_at", range(1, 8))
def test_what_a_killed_merge_has_added_is_flushed_by_the_next(
    name: str, kill_at: int, tmp_path: Path
) -> None:
    own, other, wanted = MERGED[name]
    for seed in range(12):
        place = tmp_path / f"disk{seed}" / "file.json"
        place.parent.mkdir()
        place.write_text(own)
        disk, chance = Disk(place.parent), random.Random(seed)
        with disk.install():
            disk.begin(Fault("kill", kill_at), chance)
            with suppress(Killed):
                merge(name, place, other.encode())
            if disk.is_dead:
                disk.settle()
            disk.end()
            merge(name, place, other.encode())
            disk.cut_power(chance)
            disk.settle()
        left = place.read_text()
        assert left == wanted or json.loads(left) == json.loads(wanted)


@pytest.mark.parametrize("name", ["memories.md", "projects/0123456789abcdef/memory.md"])
def test_memories_get_the_lines_of_both(name: str, tmp_path: Path) -> None:
    place = tmp_path / "memory.md"
    place.write_text("- both\n- mine")
    assert merge(name, place, b"- both\n- theirs\n")
    assert place.read_text() == "- both\n- mine\n- theirs\n"


def test_no_memory_can_be_added_while_others_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "memories.md"
    place.write_text("- mine\n")
    note = MemoryNote(UserTextFile(place, MEMORIES))

    def write(path: Path, content: bytes) -> None:
        with pytest.raises(TimeoutError), lock_folder(note.file.path.parent, 0):
            pass
        write_atomically(path, content)

    monkeypatch.setattr("app.relocation.merge.write_atomically", write)
    assert merge("memories.md", place, b"- theirs\n")
    assert place.read_text() == "- mine\n- theirs\n"


def test_calls_of_two_ledgers_are_in_the_order_of_their_times(tmp_path: Path) -> None:
    def call(id: str, at: str) -> list[dict[str, Any]]:
        return [{"id": id, "at": at, "host": "x"}, {"id": id, "bytes_in": 1, "tokens": None}]

    place = tmp_path / "ledger.log"
    place.write_text("".join(f"{json.dumps(line)}\n" for line in call("b", "2026-01-02")))
    other = [*call("a", "2026-01-01"), *call("b", "2026-01-02"), *call("c", "2026-01-03")]
    content = "".join(f"{json.dumps(line)}\n" for line in other).encode()
    assert merge("ledger.log", place, content + b'{"id": "cut')
    file = LineFile(place)
    assert file.read() == other
    assert file.find_breaks() == []
    assert not merge("ledger.log", place, content)


@pytest.mark.parametrize(
    "name", ["edits/journal.jsonl", "ledger.log", "pinned/a.json", "reviews/a.json"]
)
@pytest.mark.parametrize("content", [b"nothing", b"[1]", b'{"version": 7, "answers": []}'])
def test_what_is_damaged_or_unknown_is_not_merged(
    name: str, content: bytes, tmp_path: Path
) -> None:
    place = tmp_path / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text('{"version": 1, "answers": [], "dismissed": []}')
    before = place.read_bytes()
    with pytest.raises(InvalidRequest):
        merge(name, place, content)
    assert place.read_bytes() == before


@pytest.mark.parametrize("name", ["prompts/mine.md", "settings.toml", "pinned/a/b.json"])
def test_other_files_are_not_merged(name: str) -> None:
    assert find_merge(name) is None
