"""Sent requests are stored once, survive damage and kills, and lose what has to go."""

import json
import os
from pathlib import Path

import pytest

from app.requests.pieces import KnownText, NoteRef, NoteTexts
from app.requests.record import GoneNote, SentTexts, build_objects
from app.requests.store import SentStore

SECRET = "The safe is behind the picture of the sea."
NOTES = NoteTexts(("/vault",), {"Safe.md": "v1"}, {}, (KnownText(SECRET, ("Safe.md",)),))
OTHER = "A long text that each request has, so that it is stored a single time. " * 9


def add(store: SentStore, question: str, *texts: str) -> tuple[str, str]:
    """Store a request, and return its reference and its JSON."""
    wire = json.dumps({"messages": [OTHER, *texts, question]})
    return store.add(build_objects(SentTexts(wire, wire, {"model": "m"}), NOTES)), wire


def load(folder: Path, reference: str) -> str | None:
    found = SentStore(folder).load(reference)
    return None if found is None or found.wire is None else found.wire.text


@pytest.fixture
def store(tmp_path: Path) -> SentStore:
    return SentStore(tmp_path / "sent")


def test_a_request_is_read_as_it_was_stored_by_another_process_too(store: SentStore) -> None:
    references = [add(store, f"Question {number}?", SECRET) for number in range(40)]
    for reference, wire in references:
        assert load(store.folder, reference) == wire
    assert store.list_notes().notes == {NoteRef("/vault", "Safe.md", "v1")}
    files = [file.stat().st_size for file in store.folder.iterdir()]
    assert sum(files[1:]) / len(files[1:]) < len(OTHER)


def test_a_long_chat_grows_by_what_is_new(store: SentStore) -> None:
    history: list[str] = []
    for number in range(120):
        history.append(f"Answer {number}: {os.urandom(200).hex()}")
        reference, wire = add(store, "And now?", *history)
    sizes = sorted(file.stat().st_size for file in store.folder.iterdir())
    assert sizes[-2] < 4 * sizes[0]
    assert load(store.folder, reference) == wire


def test_a_text_that_goes_leaves_every_file_and_the_request_says_so(store: SentStore) -> None:
    first, _ = add(store, "Where is the safe?", SECRET)
    second, kept = add(store, "Where is the sea?")
    assert store.forget_notes({NoteRef("/vault", "Safe.md", "v1")}, "excluded") == 1
    found = SentStore(store.folder).load(first)
    assert found is not None
    assert found.wire is not None
    assert (found.is_exact, found.gone) == (False, (GoneNote("Safe.md", "excluded"),))
    assert "picture" not in found.wire.text
    assert json.loads(found.wire.text)["messages"][-1] == "Where is the safe?"
    assert load(store.folder, second) == kept
    again, wire = add(store, "May I know again?", SECRET)
    assert load(store.folder, again) == wire


def test_requests_go_with_what_only_they_need(store: SentStore) -> None:
    first, _ = add(store, "Where is the safe?", SECRET)
    second, kept = add(store, "Where is the sea?")
    store.remove({first}, {second})
    assert load(store.folder, first) is None
    assert load(store.folder, second) == kept
    assert store.list_notes().notes == frozenset()
    store.remove({second}, set())
    assert list(store.folder.iterdir()) == []


def test_a_request_that_no_chat_names_goes_when_it_is_old(store: SentStore) -> None:
    left, wire = add(store, "Left behind?")
    store.remove(set(), set())
    assert load(store.folder, left) == wire
    for file in store.folder.iterdir():
        os.utime(file, (1_000_000_000, 1_000_000_000))
    store.remove(set(), set())
    assert load(store.folder, left) is None


@pytest.mark.parametrize("damage", [b"", b"strata sent 1\n", b"strata sent 1\n\0\0\0\5abcde"])
def test_a_damaged_file_loses_its_own_texts_alone(store: SentStore, damage: bytes) -> None:
    first, _ = add(store, "Where is the safe?", SECRET)
    (file,) = store.folder.iterdir()
    file.write_bytes(damage)
    fresh = SentStore(store.folder)
    assert fresh.load(first) is None
    second, wire = add(fresh, "Where is the safe?", SECRET)
    assert load(store.folder, second) == wire


def test_a_kill_between_the_new_file_and_the_old_one_leaves_nothing_behind(
    store: SentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next removal takes the old file, whose text is still there."""
    first, _ = add(store, "Where is the safe?", SECRET)
    gone = {NoteRef("/vault", "Safe.md", "v1")}

    def die(_path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("app.requests.store.remove_path", die)
        with pytest.raises(KeyboardInterrupt):
            store.forget_notes(gone, "excluded")
    fresh = SentStore(store.folder)
    assert fresh.list_notes().notes == gone
    assert fresh.forget_notes(gone, "excluded") == 1
    assert SentStore(store.folder).list_notes().notes == frozenset()
    found = fresh.load(first)
    assert found is not None
    assert [one.reason for one in found.gone] == ["excluded"]
