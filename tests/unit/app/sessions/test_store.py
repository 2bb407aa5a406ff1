import errno
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import InvalidRequest, SessionBusy, SessionMissing, StorageFailed
from app.sessions.session import Session
from app.sessions.session_info import one_line
from app.sessions.store import SessionStore
from app.state_db import StateDB
from context.log.entries import Entry, MessageEntry, OtherEntry
from context.messages import Message
from resources.system import files as durable


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    store = SessionStore(tmp_path / "sessions", StateDB(tmp_path / "state" / "state.db"))
    yield store
    store.close()


def say(session: Session, role: str, text: str, turn: str = "t1") -> MessageEntry:
    """Append one message behind the last one."""
    path = session.path()
    entry = MessageEntry(
        id=session.new_id(),
        parent_id=path[-1].id if path else None,
        timestamp=session.now(),
        message=Message(role, text),  # type: ignore[arg-type]
        turn_id=turn,
        status="complete" if role == "assistant" else None,
    )
    session.append([entry])
    return entry


def chat(store: SessionStore, *texts: str) -> str:
    """Make a chat of questions and answers in turn, and close it."""
    with store.create("/notes") as session:
        for number, text in enumerate(texts):
            say(session, ("user", "assistant")[number % 2], text, f"t{number // 2}")
        return session.id


def texts_of(session: Session) -> list[str]:
    return [e.message.text for e in session.path() if isinstance(e, MessageEntry)]


def lines_of(store: SessionStore, session: str) -> list[Any]:
    return [json.loads(line) for line in store.file(session).read_bytes().splitlines()]


def test_a_chat_without_entries_leaves_no_file(store: SessionStore, tmp_path: Path) -> None:
    with store.create("/notes") as session:
        assert not session.is_stored
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_a_chat_is_a_header_and_readable_lines(store: SessionStore) -> None:
    session = chat(store, "Wo steht die Gießkanne? 🪣", "Im Schuppen.")
    header, question, answer = lines_of(store, session)
    assert header["type"] == "session"
    assert header["version"] == 2
    assert (header["id"], header["vault"], header["project"]) == (session, "/notes", None)
    assert question["parentId"] is None
    assert answer["parentId"] == question["id"]
    assert "Gießkanne? 🪣" in store.file(session).read_text("utf-8")


def test_files_are_for_their_owner_alone(store: SessionStore) -> None:
    file = store.file(chat(store, "a"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_new_chat_is_one_write_with_its_first_entries(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[bytes] = []
    write = os.write
    monkeypatch.setattr(durable.os, "write", lambda h, b: writes.append(bytes(b)) or write(h, b))
    chat(store, "Where?")
    assert [written.count(b"\n") for written in writes] == [2]


def test_entry_ids_are_eight_digits_and_never_twice(store: SessionStore) -> None:
    session = store.create(None)
    ids = [session.new_id() for _ in range(2_000)]
    assert len(set(ids)) == 2_000
    assert all(len(i) == 8 and int(i, 16) >= 0 for i in ids)


def test_a_closed_chat_goes_on_where_it_ended(store: SessionStore) -> None:
    session = chat(store, "first", "answer")
    with store.open(session) as again:
        say(again, "user", "second", "t9")
    assert texts_of(store.read(session)) == ["first", "answer", "second"]


def leave_partial(store: SessionStore, session: str, text: str) -> MessageEntry:
    """Leave a partial answer to the last message of a chat, as a killed process does."""
    with store.open(session) as chat:
        place = chat.new_id(), chat.path()[-1].id, chat.now()
        said = Message("assistant", text)
        entry = MessageEntry(*place, said, "t0", status="interrupted", reason="Strata was closed")
        chat.save_partial(entry)
    return entry


def test_a_partial_answer_of_a_killed_process_is_appended_once(store: SessionStore) -> None:
    session = chat(store, "first")
    entry = leave_partial(store, session, "half an ans")
    for _ in range(2):
        assert store.read(session).path()[-1] == entry
    assert texts_of(store.read(session)) == ["first", "half an ans"]
    with store.open(session) as again:
        assert again.path()[-1] == entry


def test_a_partial_answer_is_appended_when_its_chat_is_continued(store: SessionStore) -> None:
    session = chat(store, "first")
    entry = leave_partial(store, session, "half an ans")
    with store.open(session) as again:
        assert again.path()[-1] == entry
        say(again, "user", "second", "t9")
    assert texts_of(store.read(session)) == ["first", "half an ans", "second"]


def test_an_answer_that_is_arriving_elsewhere_is_left_alone(
    store: SessionStore, tmp_path: Path
) -> None:
    session = chat(store, "first")
    elsewhere = SessionStore(tmp_path / "sessions", StateDB(tmp_path / "state" / "state.db"))
    with elsewhere.open(session) as writing:
        leaf = writing.path()[-1].id
        said = Message("assistant", "half")
        writing.save_partial(MessageEntry(writing.new_id(), leaf, writing.now(), said, "t0"))
        assert texts_of(store.read(session)) == ["first"]
    elsewhere.close()
    assert texts_of(store.read(session)) == ["first", "half"]


def test_an_answer_that_the_log_has_is_not_appended_again(store: SessionStore) -> None:
    session = chat(store, "first", "whole")
    with store.open(session) as again:
        whole = again.path()[-1]
        assert isinstance(whole, MessageEntry)
        again.save_partial(whole)
    assert texts_of(store.read(session)) == ["first", "whole"]
    assert len(lines_of(store, session)) == 3


def test_readers_at_the_same_time_all_see_the_partial_answer(store: SessionStore) -> None:
    session = chat(store, "first")
    leave_partial(store, session, "half")
    found: list[list[str]] = []
    readers = [
        threading.Thread(target=lambda: found.append(texts_of(store.read(session))))
        for _ in range(8)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == [["first", "half"]] * 8


def test_a_partial_answer_that_cannot_be_read_is_left_out(
    store: SessionStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session = chat(store, "first")
    state = StateDB(tmp_path / "state" / "state.db")
    state.save_partial(session, {"type": "message", "role": "nobody"})
    state.close()
    assert texts_of(store.read(session)) == ["first"]
    assert "is not restored" in caplog.text


def test_a_second_writer_is_told_that_it_is_busy_and_a_reader_is_not(store: SessionStore) -> None:
    session = chat(store, "first")
    with store.open(session):
        with pytest.raises(SessionBusy, match=session):
            store.open(session)
        assert texts_of(store.read(session)) == ["first"]
    store.open(session).close()


def test_a_new_chat_is_locked_from_its_first_entry_on(store: SessionStore) -> None:
    with store.create(None) as session:
        say(session, "user", "first")
        with pytest.raises(SessionBusy):
            store.open(session.id)


def test_a_chat_that_was_opened_for_reading_takes_nothing(store: SessionStore) -> None:
    session = chat(store, "first")
    with pytest.raises(InvalidRequest):
        say(store.read(session), "user", "second")
    assert len(lines_of(store, session)) == 2


@pytest.mark.parametrize("name", ["nothere", "../settings", "", "a/b", ".."])
def test_a_chat_that_is_not_there_is_missing(store: SessionStore, name: str) -> None:
    for opening in (store.open, store.read, store.info):
        with pytest.raises(SessionMissing):
            opening(name)


def test_a_full_disk_loses_nothing_and_is_said(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = chat(store, "first", "answer")
    before = store.file(session).read_bytes()

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with store.open(session) as again:
        monkeypatch.setattr(durable.os, "fsync", full)
        with pytest.raises(StorageFailed, match="disk is full"):
            say(again, "user", "second")
        assert texts_of(again) == ["first", "answer"]
        monkeypatch.undo()
        say(again, "user", "third")
    assert store.file(session).read_bytes().startswith(before)
    assert texts_of(store.read(session)) == ["first", "answer", "third"]


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_a_chat_cut_off_anywhere_opens_and_goes_on(
    store: SessionStore, data: st.DataObject
) -> None:
    session = chat(store, "Wo?", "Dort.", "Und wann? 🕗", "Bald.")
    file = store.file(session)
    whole = file.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    file.write_bytes(whole[:cut])
    with store.open(session) as again:
        kept = texts_of(again)
        say(again, "user", "weiter", "t9")
    assert texts_of(store.read(session)) == [*kept, "weiter"]
    assert kept == ["Wo?", "Dort.", "Und wann? 🕗", "Bald."][: len(kept)]
    assert len(kept) >= max(0, whole[:cut].count(b"\n") - 1)
    torn = file.with_name(f"{file.name}.torn")
    if torn.exists():
        assert whole[:cut].endswith(torn.read_bytes().rstrip(b"\n"))
        torn.unlink()


def test_a_torn_line_is_kept_beside_the_chat(store: SessionStore) -> None:
    session = chat(store, "first", "answer")
    file = store.file(session)
    with file.open("ab") as log:
        log.write(b'{"type":"message","id":"12345678","role":"user","content":"hal')
    whole = texts_of(store.read(session))
    assert not file.with_name(f"{file.name}.torn").exists()
    store.open(session).close()
    assert whole == texts_of(store.read(session)) == ["first", "answer"]
    torn = file.with_name(f"{file.name}.torn").read_bytes()
    assert torn.startswith(b'{"type":"message"')
    assert file.read_bytes().endswith(b"\n")


def test_a_bad_line_in_the_middle_is_kept_skipped_and_reported(store: SessionStore) -> None:
    session = chat(store, "first", "answer")
    file = store.file(session)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b"\xff\x00 not json\n", lines[2]]))
    with store.open(session) as again:
        assert texts_of(again) == ["first", "answer"]
        assert again.problems == ("Line 3 cannot be read and is skipped.",)
        say(again, "user", "second")
    assert b"\xff\x00 not json\n" in file.read_bytes()


def test_a_lost_first_line_costs_no_message(store: SessionStore) -> None:
    session = chat(store, "first", "answer")
    file = store.file(session)
    file.write_bytes(b"garbage\n" + file.read_bytes().split(b"\n", 1)[1])
    with store.open(session) as again:
        say(again, "user", "second")
    assert texts_of(store.read(session)) == ["first", "answer", "second"]


def edited(store: SessionStore, session: str, change: dict[int, dict[str, Any]]) -> None:
    """Change fields of some lines of a chat's file."""
    lines = lines_of(store, session)
    for number, fields in change.items():
        lines[number].update(fields)
    store.file(session).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def test_a_missing_parent_is_the_entry_above_and_is_reported(store: SessionStore) -> None:
    session = chat(store, "first", "answer")
    edited(store, session, {2: {"parentId": "ffffffff"}})
    loaded = store.read(session)
    assert texts_of(loaded) == ["first", "answer"]
    assert len(loaded.problems) == 1


def test_an_id_that_stands_twice_becomes_two_and_later_ones_mean_the_nearest(
    store: SessionStore,
) -> None:
    session = chat(store, "first", "answer", "second")
    first = lines_of(store, session)[1]["id"]
    edited(store, session, {2: {"id": first}, 3: {"parentId": first}})
    loaded = store.read(session)
    assert texts_of(loaded) == ["first", "answer", "second"]
    assert len({entry.id for entry in loaded.log.entries}) == 3
    assert len(loaded.problems) == 1
    assert [e.id for e in store.read(session).log.entries] == [e.id for e in loaded.log.entries]


def test_entries_of_later_versions_are_kept_word_for_word(store: SessionStore) -> None:
    session = chat(store, "first")
    line = {"type": "new", "id": "aaaaaaaa", "parentId": None, "timestamp": "x", "target": "?"}
    with store.file(session).open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    kept: Entry = store.read(session).log.entries[-1]
    assert isinstance(kept, OtherEntry)
    assert kept.to_dict() == line


def test_a_chat_of_a_newer_version_is_read_and_not_written(store: SessionStore) -> None:
    session = chat(store, "first")
    edited(store, session, {0: {"version": 3}})
    with pytest.raises(InvalidRequest, match="newer version") as refused:
        store.open(session)
    assert f"sessions fork {session}" in str(refused.value.hint[0])
    assert texts_of(store.read(session)) == ["first"]


OLD = [
    {"type": "session", "id": "old", "timestamp": "2025-01-01T00:00:00Z", "vault": None},
    {"type": "message", "role": "user", "content": "first", "mood": "calm"},
    {"type": "message", "role": "assistant", "content": "answer"},
    {"type": "compaction", "summary": "Early.", "tokensBefore": 9, "firstKeptEntryIndex": 1},
    {"type": "message", "role": "user", "content": "second"},
]


def old_chat(store: SessionStore, lines: list[dict[str, Any]], end: bytes = b"\n") -> bytes:
    """Write the file of a chat named `old`, and return its bytes."""
    content = b"\n".join(json.dumps(line).encode() for line in lines) + end
    store.file("old").parent.mkdir(exist_ok=True)
    store.file("old").write_bytes(content)
    return content


def test_a_chat_of_the_first_version_is_brought_up_to_date_by_the_first_write(
    store: SessionStore,
) -> None:
    original = old_chat(store, OLD, end=b'\n{"type": "mess')
    aside = store.file("old").with_name("old.jsonl.v1")
    before = store.read("old").log.entries
    with store.open("old") as session:
        assert store.file("old").read_bytes() == original
        say(session, "assistant", "third")
        with pytest.raises(SessionBusy):
            store.open("old")
    assert aside.read_bytes() == original
    header, *lines = lines_of(store, "old")
    assert (header["version"], header["id"]) == (2, "old")
    assert [line["type"] for line in lines] == [
        *("message", "message", "context_transform", "message", "message"),
    ]
    assert lines[0]["mood"] == "calm"
    after = store.read("old").log
    assert after.entries[:-1] == before
    assert (after.problems, after.is_outdated) == ((), False)
    assert stat.S_IMODE(store.file("old").stat().st_mode) == 0o600


def test_an_old_kind_of_summary_alone_is_brought_up_to_date_too(store: SessionStore) -> None:
    entry = {"type": "message", "id": "a", "parentId": None, "role": "user", "content": "first"}
    summary = {"type": "compaction", "id": "b", "parentId": "a", "summary": "Early."}
    old_chat(store, [{**OLD[0], "version": 2}, entry, summary])
    with store.open("old") as session:
        say(session, "user", "second")
    assert "compaction" not in [line["type"] for line in lines_of(store, "old")]
    assert store.file("old").with_name("old.jsonl.v1").exists()


@pytest.mark.parametrize("failing", ["replace", "link"])
def test_a_chat_that_cannot_be_brought_up_to_date_stays_as_it_is(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_args: object, **_named: object) -> None:
        raise OSError(errno.EIO, "broken")

    original = old_chat(store, OLD)
    with monkeypatch.context() as patched, store.open("old") as session:
        patched.setattr(os, failing, fail)
        patched.setattr("app.sessions.file.write_atomically", fail)
        with pytest.raises(StorageFailed):
            say(session, "assistant", "third")
        assert store.file("old").read_bytes() == original
    with store.open("old") as session:
        say(session, "assistant", "third")
    assert texts_of(store.read("old")) == ["first", "answer", "second", "third"]
    kept = [file.name for file in store.file("old").parent.iterdir()]
    assert sorted(kept) == ["old.jsonl", "old.jsonl.v1"]


def test_a_file_system_without_links_keeps_a_copy(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    original = old_chat(store, OLD)
    monkeypatch.setattr(os, "link", fail)
    with store.open("old") as session:
        say(session, "assistant", "third")
    assert store.file("old").with_name("old.jsonl.v1").read_bytes() == original


def test_another_original_is_never_written_over(store: SessionStore) -> None:
    original = old_chat(store, OLD)
    aside = store.file("old").with_name("old.jsonl.v1")
    aside.write_text("something else")
    with store.open("old") as session:
        say(session, "assistant", "third")
    assert aside.read_text() == "something else"
    assert aside.with_name("old.jsonl.v1-2").read_bytes() == original


def test_an_entry_of_an_unknown_schema_makes_a_chat_that_is_only_read(store: SessionStore) -> None:
    session = chat(store, "first", "answer", "second")
    edited(store, session, {3: {"schemaVersion": 9}})
    with pytest.raises(InvalidRequest, match="schemaVersion 9, which is not known"):
        store.open(session)
    assert texts_of(store.read(session)) == ["first", "answer"]


def test_half_a_character_is_replaced_and_the_chat_goes_on(store: SessionStore) -> None:
    session = chat(store, "lone \ud83e surrogate")
    with store.open(session) as again:
        say(again, "assistant", "so it is")
    assert texts_of(store.read(session))[0] == "lone \ufffd surrogate"


def test_chats_of_the_same_millisecond_are_listed_by_their_files_with_the_newest_first(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.sessions.session.now", lambda: "2026-05-14T14:03:00.000Z")
    chats = [chat(store, f"Question {number}?") for number in range(8)]
    for number, session in enumerate(chats):
        os.utime(store.file(session), ns=(0, number))
    assert [info.session for info in store.list()] == chats[::-1]


def test_the_list_names_a_chat_by_its_first_question_and_the_newest_first(
    store: SessionStore,
) -> None:
    older = chat(store, "What\n is  this?", "That.")
    newer = chat(store, "word " * 40, "Long.", "Again?")
    first, second = store.list()
    assert (first.session, first.turns, first.vault) == (newer, 2, "/notes")
    assert (second.session, second.title, second.turns) == (older, "What is this?", 1)
    assert len(first.title) <= 80
    assert first.title.endswith("word…")
    assert first.created <= first.updated
    assert store.newest() == newer


def test_the_list_reads_only_files_that_changed(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = chat(store, "one"), chat(store, "two")
    store.list()
    with store.open(first) as session:
        say(session, "assistant", "more")
    read: list[str] = []
    load = SessionStore._load
    monkeypatch.setattr(
        SessionStore, "_load", lambda self, path: read.append(path.stem) or load(self, path)
    )
    assert {info.session for info in store.list()} == {first, second}
    assert read == [first]


def test_the_list_is_made_without_its_database_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    store = SessionStore(tmp_path / "sessions", StateDB(tmp_path / "file" / "state.db"))
    session = chat(store, "one")
    assert [info.session for info in store.list()] == [session]


def test_what_is_no_chat_is_not_listed(store: SessionStore) -> None:
    session = chat(store, "one")
    folder = store.file(session).parent
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "notes.txt").write_text("hello")
    assert [info.session for info in store.list()] == [session]


def test_a_folder_in_place_of_a_chat_is_listed_so_that_its_fault_is_seen(
    store: SessionStore,
) -> None:
    session = chat(store, "one")
    store.file("folder").mkdir()
    assert {info.session for info in store.list()} == {session, "folder"}


def test_requests_are_kept_by_turn_and_found_again(store: SessionStore) -> None:
    with store.create(None) as session:
        assert session.find_previous_body() is None
        say(session, "user", "one", "t1")
        session.save_request("t1", 1, {"used": 1}, {"messages": [1]}, None)
        session.save_request("t1", 2, {"used": 2}, {"messages": [2]}, {"model": "m"})
        say(session, "assistant", "answer", "t1")
        say(session, "user", "two", "t2")
    again = store.read(session.id)
    assert again.find_kept_request("t2") is None
    assert again.find_previous_body() == {"messages": [2]}
    kept = again.find_kept_request("t1")
    assert kept is not None
    assert (kept.number, kept.wire) == (2, {"model": "m"})


def test_the_last_request_is_that_of_an_answered_question_of_the_branch(
    store: SessionStore,
) -> None:
    with store.create(None) as session:
        for turn in ("t1", "t2", "t3"):
            say(session, "user", turn, turn)
            session.save_request(turn, 1, {}, {"messages": [turn]}, None)
            if turn != "t3":  # its answer did not arrive
                say(session, "assistant", "answer", turn)
        assert session.find_previous_body() == {"messages": ["t2"]}
        say(session, "user", "not kept", "t4")
        say(session, "assistant", "answer", "t4")
        assert session.find_previous_body() == {"messages": ["t2"]}


class CountedPath(tuple[Entry, ...]):
    """A branch that counts the entries that are read from its end."""

    read = 0

    def __iter__(self) -> Iterator[Entry]:
        raise AssertionError("the branch was read from its beginning")

    def __reversed__(self) -> Iterator[Entry]:
        for at in range(len(self) - 1, -1, -1):
            self.read += 1
            yield self[at]


def test_the_last_request_is_found_at_the_end_of_a_long_chat(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.create(None) as session:
        for number in range(50):
            say(session, "user", "question", f"t{number}")
            say(session, "assistant", "answer", f"t{number}")
        session.save_request("t49", 1, {}, {"messages": [49]}, None)
        path = CountedPath(session.path())
        monkeypatch.setattr(session, "path", lambda: path)
        assert session.find_previous_body() == {"messages": [49]}
        assert path.read == 2


def test_a_request_that_cannot_be_kept_does_not_stop_the_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    store = SessionStore(tmp_path / "sessions", StateDB(tmp_path / "file" / "state.db"))
    with store.create(None) as session:
        say(session, "user", "one", "t1")
        session.save_request("t1", 1, {}, {}, None)
    assert "is not kept" in caplog.text


@given(st.text(), st.integers(2, 60))
def test_a_title_is_one_line_and_no_longer_than_asked(text: str, most: int) -> None:
    title = one_line(text, most)
    assert len(title) <= most
    assert len(title.splitlines()) <= 1


def test_a_link_in_the_place_of_a_chat_is_not_followed(store: SessionStore, tmp_path: Path) -> None:
    session = chat(store, "first", "answer")
    file, outside = store.file(session), tmp_path / "outside.jsonl"
    file.rename(outside)
    before = outside.read_bytes()
    file.symlink_to(outside)
    for act in (store.open, store.read, store.info):
        with pytest.raises(SessionMissing):
            act(session)
    assert store.list() == []
    assert outside.read_bytes() == before


def test_a_chat_that_becomes_a_link_while_it_is_opened_is_not_followed(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = chat(store, "first", "answer")
    file, outside = store.file(session), tmp_path / "outside.jsonl"
    is_file = Path.is_file

    def swap_afterwards(path: Path) -> bool:
        found = is_file(path)
        if path == file and not file.is_symlink():
            file.rename(outside)
            file.symlink_to(outside)
        return found

    for act in (store.open, store.read):
        with monkeypatch.context() as patched:
            patched.setattr(Path, "is_file", swap_afterwards)
            with pytest.raises(StorageFailed):
                act(session)
        file.unlink()
        outside.rename(file)


def test_a_fifo_among_the_chats_is_not_waited_for(store: SessionStore) -> None:
    session = chat(store, "first", "answer")
    os.mkfifo(store.file("pipe"))
    assert [info.session for info in store.list()] == [session]
