"""The bin: chats are moved there, restored, and deleted for good after thirty days."""

import errno
import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.errors import InvalidRequest, SessionBusy, SessionMissing, StorageFailed
from app.request_images import StoredRequest
from app.sessions.bin import DAYS_IN_BIN
from app.sessions.file import open_locked
from app.sessions.search import search_chats
from app.sessions.store import SessionStore
from app.state_db import StateDB
from context.log.entries import MessageEntry
from context.messages import Message
from resources.system import calls
from tests.support.sessions.binned import let_pass, make_older, rename_deleted, set_checked


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDB]:
    state = StateDB(tmp_path / "state.db")
    yield state
    state.close()


@pytest.fixture
def store(tmp_path: Path, state: StateDB) -> SessionStore:
    return SessionStore(tmp_path / "sessions", state)


def chat(store: SessionStore, *texts: str) -> str:
    """Make a chat with these questions."""
    session = store.begin("/notes")
    for text in texts:
        say(store, session, text)
    return session


def say(store: SessionStore, session: str, text: str) -> None:
    with store.open(session) as opened:
        path = opened.path()
        parent = path[-1].id if path else None
        entry = MessageEntry(opened.new_id(), parent, opened.now(), Message("user", text), "t1")
        opened.append([entry])


def list_ids(store: SessionStore) -> tuple[list[str], list[str]]:
    """Return the ids of the chats on the list and in the bin."""
    listed = [info.session for info in store.list()]
    return listed, [chat.info.session for chat in store.bin.list_chats()]


def test_a_deleted_chat_is_only_in_the_bin_and_comes_back_as_it_was(
    store: SessionStore, state: StateDB
) -> None:
    result = state.keep_result("grep_notes", "found")
    session = chat(store, f"Where is the barrel? {result}")
    state.save_request(StoredRequest(session, "t1", 1, {}, {}, None))
    before, content = store.info(session), store.file(session).read_bytes()
    torn = store.file(session).with_suffix(".jsonl.torn")
    torn.write_text("x")
    binned = store.delete(session)
    assert binned is not None
    assert binned.info == before
    assert list_ids(store) == ([], [session])
    assert (search_chats(store, "barrel"), store.newest()) == ((), None)
    for use in (store.open, store.read, store.info, store.delete):
        with pytest.raises(SessionMissing, match="is in the bin") as caught:
            use(session)
        assert f"strata sessions restore {session}" in str(caught.value.hint[0])
    store.bin.restore(session)
    assert list_ids(store) == ([session], [])
    assert (store.info(session), store.file(session).read_bytes()) == (before, content)
    assert (state.result(result), torn.read_text()) == ("found", "x")
    assert state.request(session, "t1") is not None
    with pytest.raises(SessionMissing, match="in the bin"):
        store.bin.restore(session)


@pytest.mark.parametrize("use", ["open", "delete"])
def test_a_chat_that_another_process_puts_into_the_bin_while_it_is_opened_is_there(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    """It was told as a file that cannot be read: seed 2091 of the simulator."""
    session = chat(store, "One?")
    target = store.bin.folder.name_file(session).path

    def lose(path: Path) -> int:
        target.parent.mkdir()
        path.rename(target)
        return open_locked(path)

    for module in ("store", "bin"):
        monkeypatch.setattr(f"app.sessions.{module}.open_locked", lose)
    with pytest.raises(SessionMissing, match="in the bin"):
        getattr(store, use)(session)


def test_the_bin_lists_the_chat_deleted_last_first_with_its_last_day(store: SessionStore) -> None:
    first, second = chat(store, "One?"), chat(store, "Two?")
    for session in (first, second):
        store.delete(session)
    newest, oldest = store.bin.list_chats()
    assert (newest.info.title, oldest.info.title) == ("Two?", "One?")
    lasts = datetime.fromisoformat(newest.until) - datetime.fromisoformat(newest.deleted)
    assert lasts == timedelta(days=DAYS_IN_BIN)
    assert newest.to_dict() == {
        **newest.info.to_dict(),
        "deleted": newest.deleted,
        "until": newest.until,
    }


def test_what_only_a_removed_copy_of_a_deleted_chat_refers_to_goes_along(
    store: SessionStore, state: StateDB
) -> None:
    """The copy counted as another chat: seed 32000014 of the simulator."""
    result = state.keep_result("grep_notes", "a")
    session = chat(store, result)
    file = store.file(session)
    copy = file.with_name(f"{session} (conflicted copy).jsonl")
    copy.write_bytes(file.read_bytes())
    store.delete_for_good(session)
    assert (copy.exists(), state.result(result)) == (False, None)


@pytest.mark.parametrize("is_binned", [True, False])
def test_a_chat_deleted_for_good_takes_along_what_only_it_refers_to(
    store: SessionStore, state: StateDB, is_binned: bool
) -> None:
    own, shared, binned_too = (state.keep_result("grep_notes", text) for text in "abc")
    gone = chat(store, f"{own} {shared} {binned_too}")
    kept, binned = chat(store, shared), chat(store, binned_too)
    for session in (gone, kept):
        state.save_request(StoredRequest(session, "t1", 1, {}, {}, None))
    store.list()
    store.file(gone).with_suffix(".jsonl.torn").write_text("x")
    store.delete(binned)
    if is_binned:
        store.delete(gone)
    store.delete_for_good(gone)
    assert list_ids(store) == ([kept], [binned])
    left = sorted(file.name for file in store.file(kept).parent.iterdir())
    assert left == sorted(["bin", f"{kept}.jsonl"])
    assert len(store.bin.list_all_files()) == 1
    assert [state.result(ref) for ref in (own, shared, binned_too)] == [None, "b", "c"]
    assert (state.request(gone, "t1"), state.request(kept, "t1") is None) == (None, False)
    for delete in (store.delete, store.delete_for_good):
        with pytest.raises(SessionMissing, match="There is no chat"):
            delete(gone)


def test_what_is_older_than_thirty_days_is_removed(store: SessionStore) -> None:
    old, young = chat(store, "Old?"), chat(store, "Young?")
    for session, days in ((young, DAYS_IN_BIN - 0.01), (old, DAYS_IN_BIN + 0.01)):
        store.delete(session)
        let_pass(store, session, days)
    assert store.bin.remove_expired() == (old,)
    assert list_ids(store) == ([], [young])
    assert store.bin.remove_expired() == ()
    assert store.bin.empty() == (young,)
    assert store.bin.list_all_files() == []


@pytest.mark.parametrize(
    "deleted",
    [
        datetime(2020, 1, 1, tzinfo=UTC),  # before its own entries
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(2099, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, tzinfo=UTC),
    ],
)
def test_a_wrong_clock_lets_the_thirty_days_begin_again(
    store: SessionStore, deleted: datetime
) -> None:
    session, begun = chat(store, "Where?"), datetime.now(UTC)
    store.delete(session)
    store.bin.remove_expired()
    rename_deleted(store, session, deleted)
    assert [one.info.session for one in store.bin.list_chats()] == [session]
    assert store.bin.remove_expired() == ()
    (binned,) = store.bin.list_chats()
    began = datetime.fromisoformat(binned.deleted)
    assert timedelta(seconds=-1) < began - begun < timedelta(hours=1)
    let_pass(store, session, days=29)
    assert store.bin.remove_expired() == ()
    let_pass(store, session, days=2)
    assert store.bin.remove_expired() == (session,)


@pytest.mark.parametrize(
    ("checked_days", "changed_days"),
    [
        (400, 40),  # the clock is a year ahead, or nobody has used Strata for a year
        (20, 40),
        (-400, 40),  # the clock was a year ahead and is right again
        (0, -400),  # the clock was a year ahead at the last change
        (20, -400),
    ],
)
def test_a_removal_in_doubt_is_put_off_once_by_seven_days(
    store: SessionStore, checked_days: float, changed_days: float
) -> None:
    session, begun = chat(store, "Where?"), datetime.now(UTC)
    store.delete(session)
    let_pass(store, session, days=40)
    (file,) = store.bin.find_files(session)
    changed_s = (begun - timedelta(days=changed_days)).timestamp()
    os.utime(file, (changed_s, changed_s))
    set_checked(store, checked_days)
    (before,) = store.bin.list_chats()
    assert store.bin.remove_expired() == ()
    (binned,) = store.bin.list_chats()
    assert binned.deleted == before.deleted
    until = datetime.fromisoformat(binned.until)
    assert timedelta(seconds=-1) < until - begun - timedelta(days=7) < timedelta(hours=1)
    let_pass(store, session, days=6)
    set_checked(store, checked_days)
    assert store.bin.remove_expired() == ()
    let_pass(store, session, days=2)
    set_checked(store, checked_days)
    assert store.bin.remove_expired() == (session,)
    assert store.bin.list_all_files() == []


def test_a_chat_leaves_the_bin_of_somebody_who_starts_strata_every_three_weeks(
    store: SessionStore,
) -> None:
    session = chat(store, "Where?")
    store.delete(session)
    removed = []
    for _start in range(3):
        let_pass(store, session, days=21)
        set_checked(store, 21)
        removed.append(store.bin.remove_expired())
    assert removed == [(), (), (session,)]


def test_a_removal_put_off_by_a_clock_that_was_ahead_begins_again(store: SessionStore) -> None:
    session, begun = chat(store, "Where?"), datetime.now(UTC)
    store.delete(session)
    let_pass(store, session, days=40)
    set_checked(store, 20)
    store.bin.remove_expired()
    let_pass(store, session, days=-30)
    store.bin.remove_expired()
    (binned,) = store.bin.list_chats()
    lasts = datetime.fromisoformat(binned.until) - begun
    assert timedelta(days=29) < lasts < timedelta(days=31)


@pytest.mark.parametrize("is_ahead", [False, True])
def test_a_copy_from_a_backup_has_thirty_days_though_its_removal_was_put_off_long_ago(
    store: SessionStore, is_ahead: bool
) -> None:
    session, begun = chat(store, "Where?"), datetime.now(UTC)
    store.delete(session)
    let_pass(store, session, days=-400 if is_ahead else 40)
    rename_deleted(store, session, begun - timedelta(days=40), begun - timedelta(days=2))
    (file,) = store.bin.find_files(session)
    file.write_bytes(file.read_bytes())
    assert store.bin.remove_expired() == ()
    (binned,) = store.bin.list_chats()
    lasts = datetime.fromisoformat(binned.until) - begun
    assert timedelta(days=29) < lasts < timedelta(days=31)


def test_a_chat_whose_removal_was_put_off_comes_back(store: SessionStore) -> None:
    session = chat(store, "Where?")
    store.delete(session)
    let_pass(store, session, days=40)
    set_checked(store, 20)
    store.bin.remove_expired()
    store.bin.restore(session)
    assert list_ids(store) == ([session], [])


def test_a_chat_is_gone_on_the_disk_before_its_requests_are_removed(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came back after a power failure, without its requests: seed 83000003."""
    session, done = chat(store, "One?"), list[str]()
    store.delete(session)

    def rename(source: Path, target: Path) -> None:
        done.append("renamed")
        calls.rename_path(source, target)

    def remove(_gone: Collection[str], _kept: Collection[str]) -> int:
        done.append("removed")
        return 0

    monkeypatch.setattr("app.sessions.bin.rename_path", rename)
    monkeypatch.setattr("app.sessions.bin.sync_folder", lambda folder: done.append(folder.name))
    monkeypatch.setattr(store.sent, "remove", remove)
    store.delete_for_good(session)
    assert done[:4] == ["renamed", "sessions", "bin", "removed"]


@pytest.mark.parametrize("use", ["restore", "delete_for_good"])
def test_a_chat_that_another_process_deletes_for_good_first_is_no_error_of_the_disk(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    """It was told as a file that cannot be read: seed 1091 of the simulator."""
    session = chat(store, "One?")
    store.delete(session)

    def lose(source: Path, target: Path) -> None:
        source.unlink()
        calls.rename_path(source, target)

    monkeypatch.setattr("app.sessions.bin.rename_path", lose)
    if use == "restore":
        with pytest.raises(SessionMissing, match="no chat"):
            store.bin.restore(session)
    else:
        store.delete_for_good(session)
    assert list_ids(store) == ([], [])


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_check_that_is_interrupted_is_made_again(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    """The clock is a year ahead, and the second of three chats cannot be renamed."""
    sessions = {chat(store, text) for text in ("One?", "Two?", "Three?")}
    for session in sessions:
        store.delete(session)
    store.bin.remove_expired()
    for session in sessions:
        make_older(store, session, days=400)
    set_checked(store, 400)
    left = iter([True])

    def rename_or_stop(source: Path, target: Path) -> None:
        if next(left, None) is None:
            raise _Killed if is_killed else OSError(errno.EIO, "Input/output error", str(source))
        calls.rename_path(source, target)

    with monkeypatch.context() as patched:
        patched.setattr("app.sessions.bin.rename_path", rename_or_stop)
        with pytest.raises(_Killed) if is_killed else nullcontext():
            assert store.bin.remove_expired() == ()
    for _start in range(2):
        assert store.bin.remove_expired() == ()
        assert set(list_ids(store)[1]) == sessions


def test_files_of_a_chat_that_begin_again_do_not_replace_each_other(store: SessionStore) -> None:
    session = chat(store, "First?")
    content = store.file(session).read_bytes()
    for year in range(2020, 2030):
        (store.bin.folder.path).mkdir(exist_ok=True)
        name = f"{session}.{year}0101T000000000000Z.jsonl"
        (store.bin.folder.path / name).write_bytes(content)
    store.file(session).unlink()
    store.bin.remove_expired()
    assert len(store.bin.find_files(session)) == 10


def test_what_is_deleted_for_good_is_forgotten_in_spite_of_what_is_no_chat(
    store: SessionStore, state: StateDB
) -> None:
    result = state.keep_result("grep_notes", "found")
    session = chat(store, f"Where? {result}")
    state.save_request(StoredRequest(session, "t1", 1, {}, {}, None))
    folder = store.file(session).parent
    (folder / "zzz.jsonl").mkdir()
    (folder / f"{session}.jsonl.mine").mkdir()
    (folder / "link.jsonl").symlink_to(folder / "nothing")
    store.delete(session)
    (store.bin.folder.path / f"{session}.20200101T000000000000Z.jsonl").mkdir()
    assert store.bin.empty() == (session,)
    assert store.bin.list_all_files() == []
    assert (state.request(session, "t1"), state.result(result)) == (None, None)


@pytest.mark.parametrize("broken", ["neighbour", "request", "result"])
def test_what_cannot_be_forgotten_now_is_forgotten_at_the_next_start(
    store: SessionStore, state: StateDB, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    result = state.keep_result("grep_notes", "found")
    session, other = chat(store, f"Where? {result}"), chat(store, "Beside it?")
    state.save_request(StoredRequest(session, "t1", 1, {}, {}, None))
    store.delete(session)
    with monkeypatch.context() as patched:
        if broken == "neighbour":
            _refuse(patched, store.file(other))
        else:
            name = "forget_chat" if broken == "request" else "forget_results"
            patched.setattr(state, name, _fail)
        with pytest.raises(StorageFailed, match="some of their data is still stored"):
            store.bin.empty()
        assert list_ids(store) == ([other], [])
        assert (state.request(session, "t1") is None) == (broken != "request")
        assert store.bin.remove_expired() == ()  # it is only logged
        assert len(store.bin.list_all_files()) == 1
    assert store.bin.remove_expired() == ()
    assert store.bin.list_all_files() == []
    assert (state.request(session, "t1"), state.result(result)) == (None, None)


def _fail(*_args: object) -> None:
    raise StorageFailed("The database is locked.")


def _refuse(patched: pytest.MonkeyPatch, refused: Path) -> None:
    """Let the operating system refuse to open a file."""
    opens = calls.open_file

    def open_or_refuse(path: Path, flags: int, mode: int = 0o600) -> int:
        if path == refused:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opens(path, flags, mode)

    patched.setattr(calls, "open_file", open_or_refuse)


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_lies_in_the_place_of_the_bin_hinders_only_deletions(
    store: SessionStore, tmp_path: Path, kind: str
) -> None:
    session = chat(store, "Where?")
    place = store.bin.folder.path
    place.write_text("mine") if kind == "file" else place.symlink_to(tmp_path / "nothing")
    begun = chat(store, "And the hose?")
    assert len(store.list()) == 2
    for delete in (store.delete, store.delete_for_good):
        with pytest.raises(StorageFailed, match="bin is no folder") as caught:
            delete(session)
        assert str(caught.value.hint[0]).startswith("Move it away")
    assert store.bin.remove_expired() == ()
    assert {info.session for info in store.list()} == {session, begun}
    with pytest.raises(SessionMissing if kind == "link" else StorageFailed):
        store.read("0badcafe")
    place.unlink()
    store.delete(session)
    assert list_ids(store) == ([begun], [session])


def test_files_of_others_in_the_bin_stay(store: SessionStore) -> None:
    store.delete(chat(store, "One?"))
    (file,) = store.bin.list_all_files()
    for name in ("mine.txt", "a.jsonl", "a.20260231T000000000000Z.jsonl", ".DS_Store"):
        file.with_name(name).write_text("x")
    store.bin.empty()
    assert len(list(file.parent.iterdir())) == 4


def test_a_chat_that_is_being_written_to_is_not_deleted(
    store: SessionStore, tmp_path: Path
) -> None:
    session = chat(store, "Where?")
    elsewhere = SessionStore(tmp_path / "sessions", StateDB(tmp_path / "state.db"))
    for delete in (store.delete, store.delete_for_good):
        with elsewhere.open(session), pytest.raises(SessionBusy):
            delete(session)
    assert store.read(session).path()
    store.delete(session)
    assert list_ids(store) == ([], [session])


def test_a_chat_without_a_readable_line_is_moved_and_restored(store: SessionStore) -> None:
    session = chat(store, "Where?")
    damaged = b"\x00\xff\n" + json.dumps([1]).encode()
    store.file(session).write_bytes(damaged)
    store.delete(session)
    assert list_ids(store) == ([], [session])
    store.bin.restore(session)
    assert store.file(session).read_bytes() == damaged


def test_a_chat_that_was_only_begun_is_gone_at_once(store: SessionStore) -> None:
    for delete in (store.delete, store.delete_for_good):
        session = store.begin("/notes")
        delete(session)
        with pytest.raises(SessionMissing):
            store.read(session)
    assert store.bin.list_chats() == []


@pytest.mark.parametrize("is_for_good", [False, True])
def test_a_begun_chat_that_is_deleted_elsewhere_is_not_written_anew(
    store: SessionStore, state: StateDB, tmp_path: Path, is_for_good: bool
) -> None:
    session = store.begin("/notes")
    late = store.open(session)  # before the first entry, and written to only after the deletion
    say(store, session, "First?")
    elsewhere = SessionStore(tmp_path / "sessions", state)
    elsewhere.delete(session)
    with pytest.raises(SessionMissing, match="in the bin"):
        late.append([MessageEntry(late.new_id(), None, late.now(), Message("user", "No"), "t2")])
    if is_for_good:
        elsewhere.bin.empty()
    for use in (store.open, store.read, store.info, store.delete):
        with pytest.raises(SessionMissing, match="There is no" if is_for_good else "in the bin"):
            use(session)
    if not is_for_good:
        elsewhere.bin.restore(session)
        say(store, session, "Second?")
        assert _read_texts(store, session) == ["First?", "Second?"]


def test_an_answer_that_was_cut_off_comes_back_with_its_chat(
    store: SessionStore, state: StateDB, tmp_path: Path
) -> None:
    """A process is killed during an answer, and another one deletes the chat."""
    session = store.begin("/notes")
    with store.open(session) as chat:
        asked = MessageEntry(chat.new_id(), None, chat.now(), Message("user", "First?"), "t1")
        chat.append([asked])
        said = Message("assistant", "Half of it")
        chat.save_partial(MessageEntry(chat.new_id(), asked.id, chat.now(), said, "t1"))
        elsewhere = SessionStore(tmp_path / "sessions", state)
        with pytest.raises(SessionBusy):
            elsewhere.delete(session)
    elsewhere.delete(session)
    with pytest.raises(SessionMissing, match="in the bin"):
        store.read(session)
    store.bin.restore(session)
    assert _read_texts(store, session) == ["First?", "Half of it"]


def test_a_new_chat_never_has_the_id_of_one_in_the_bin(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = chat(store, "Where?")
    store.delete(session)
    ids = iter([session, "0badcafe"])
    monkeypatch.setattr("app.sessions.store.secrets.token_hex", lambda _bytes: next(ids))
    assert store.begin("/notes") == "0badcafe"


def test_a_chat_restored_beside_its_copy_from_a_backup_has_the_entries_of_both(
    store: SessionStore, state: StateDB
) -> None:
    result = state.keep_result("grep_notes", "found")
    session = chat(store, f"First? {result}")
    backup = store.file(session).read_bytes()
    say(store, session, "Second?")
    store.delete(session)
    store.merge(session, backup)
    say(store, session, "Third?")
    store.delete(session)  # the bin has two files of this chat
    store.merge(session, backup)
    store.bin.restore(session)
    said = {e.message.text for e in store.read(session).log.entries if isinstance(e, MessageEntry)}
    assert said == {f"First? {result}", "Second?", "Third?"}
    assert list_ids(store) == ([session], [])


@pytest.mark.parametrize("act", ["empty", "remove_expired"])
def test_a_copy_on_the_list_takes_over_what_the_bin_has(
    store: SessionStore, state: StateDB, act: str
) -> None:
    result = state.keep_result("grep_notes", "found")
    session = chat(store, f"First? {result}")
    state.save_request(StoredRequest(session, "t1", 1, {}, {}, None))
    backup = store.file(session).read_bytes()
    say(store, session, "Second?")
    store.delete(session)
    rename_deleted(store, session, datetime(2020, 1, 1, tzinfo=UTC))
    store.merge(session, backup)
    assert getattr(store.bin, act)() == ()
    assert list_ids(store) == ([session], [])
    assert sorted(_read_texts(store, session)) == [f"First? {result}", "Second?"]
    assert (state.result(result), state.request(session, "t1") is None) == ("found", False)


def test_what_cannot_be_merged_stays_in_the_bin(store: SessionStore) -> None:
    session = chat(store, "First?")
    newer = store.file(session).read_bytes().replace(b'"version":', b'"version":9', 1)
    store.delete(session)
    store.file(session).write_bytes(newer)
    with pytest.raises(InvalidRequest):
        store.bin.restore(session)
    assert store.bin.holds(session)
    assert store.file(session).read_bytes() == newer


class _Killed(BaseException):
    """The process ends here."""


_STEPS = (
    "bin.rename_path",
    "bin.remove_path",
    "bin.sync_folder",
    "bin_folder.make_private_folder",
)


@pytest.mark.parametrize("act", ["delete", "restore", "remove", "merge"])
def test_a_kill_between_two_steps_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Stop each action before each of its steps, and look at what a new process finds."""
    stopped = 0
    for step in range(20):
        state = StateDB(tmp_path / f"{act}{step}" / "state.db")
        store = SessionStore(tmp_path / f"{act}{step}" / "sessions", state)
        session, result, work = _prepare(store, state, act)
        with monkeypatch.context() as patched:
            _stop_before(patched, step)
            try:
                work()
            except _Killed:
                stopped += 1
            else:
                break
        again = SessionStore(tmp_path / f"{act}{step}" / "sessions", state)
        again.bin.remove_expired()
        listed, binned = list_ids(again)
        if act != "remove" or binned:
            assert {session} == {*listed, *binned}
            assert state.result(result) == "found"
            if session in binned:
                again.bin.restore(session)
            assert f"Where? {result}" in _read_texts(again, session)
        else:
            assert (listed, again.bin.list_all_files()) == ([], [])
            assert (state.result(result), state.request(session, "t1")) == (None, None)
        state.close()
    assert stopped > 1
    state.close()


def _prepare(store: SessionStore, state: StateDB, act: str) -> tuple[str, str, Callable[[], None]]:
    result = state.keep_result("grep_notes", "found")
    session = chat(store, f"Where? {result}")
    state.save_request(StoredRequest(session, "t1", 1, {}, {}, None))
    content = store.file(session).read_bytes()
    if act == "delete":
        return session, result, lambda: store.delete(session) and None
    say(store, session, "And then?")
    store.delete(session)
    if act == "merge":
        store.merge(session, content)
    if act == "remove":
        return session, result, lambda: store.bin.remove(session)
    return session, result, lambda: store.bin.restore(session)


def _stop_before(patched: pytest.MonkeyPatch, number: int) -> None:
    left = iter(range(number))

    def stop_or(act: Callable[..., object]) -> Callable[..., object]:
        def run(*args: object) -> object:
            if next(left, None) is None:
                raise _Killed
            return act(*args)

        return run

    patched.setattr(calls, "rename_path", stop_or(calls.rename_path))
    for name in _STEPS:
        act = getattr(calls, name.partition(".")[2], _make_folder)
        patched.setattr(f"app.sessions.{name}", stop_or(act))


def _make_folder(folder: Path) -> None:
    folder.mkdir(exist_ok=True)


def _read_texts(store: SessionStore, session: str) -> list[str]:
    entries = store.read(session).log.entries
    return [entry.message.text for entry in entries if isinstance(entry, MessageEntry)]
