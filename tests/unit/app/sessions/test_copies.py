"""Chats in a synced folder: what was written on two machines becomes one chat, in any order."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.sessions.branches import BranchEditor
from app.sessions.session_info import ARCHIVED, PINNED, write_title
from app.sessions.store import SessionStore
from app.state_db import StateDB
from context.log.entries import MessageEntry
from context.messages import Message
from tests.support.sessions.binned import let_pass
from tests.support.sessions.synced_folders import COPY_NAMES, SyncedFolders, make_old

OUTDATED = (
    '{"type":"session","id":"5ed00001","timestamp":"2026-01-01T00:00:00.000Z",'
    '"vault":"/notes","project":"work"}\n'
    '{"type":"message","role":"user","content":"both"}\n'
)
CURRENT = (
    '{"type":"session","version":2,"id":"5ed00001","timestamp":"2026-01-01T00:00:00.000Z",'
    '"vault":"/notes","project":"work"}\n'
    '{"type":"message","id":"aa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z",'
    '"role":"user","content":"both","turnId":"t"}\n'
)


class Home:
    """The chats on one machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "sessions"
        self.folder.mkdir(parents=True)
        self._state = StateDB(folder / "state.db")
        self.store = SessionStore(self.folder, self._state)
        self.branches = BranchEditor(self.store, None)  # type: ignore[arg-type]

    def close(self) -> None:
        self._state.close()

    def say(self, session: str, text: str) -> None:
        with self.store.open(session) as chat:
            place = chat.new_id(), chat.tree.leaf, chat.now()
            chat.append([MessageEntry(*place, Message("user", text), "t")])

    def list_ids(self) -> tuple[list[str], list[str]]:
        """Return the ids of the chats on the list and in the bin."""
        listed = [info.session for info in self.store.list()]
        return listed, [chat.info.session for chat in self.store.bin.list_chats()]

    def read_texts(self, session: str) -> list[str]:
        log = self.store.read(session).log
        return sorted(e.message.text for e in log.entries if isinstance(e, MessageEntry))


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[tuple[Home, Home]]:
    made = Home(tmp_path / "one"), Home(tmp_path / "two")
    yield made
    for home in made:
        home.close()


def begin(machines: tuple[Home, Home], program: str) -> tuple[str, SyncedFolders]:
    """Make a chat that both machines have."""
    session = machines[0].store.begin("/notes")
    machines[0].say(session, "both")
    synced = SyncedFolders(machines[0].folder, machines[1].folder, program)
    synced.sync(0)
    return session, synced


@pytest.mark.parametrize("winner", [0, 1])
@pytest.mark.parametrize("program", COPY_NAMES)
def test_what_two_machines_wrote_becomes_one_chat(
    machines: tuple[Home, Home], program: str, winner: int
) -> None:
    session, synced = begin(machines, program)
    for number, home in enumerate(machines):
        home.say(session, f"from {number}")
        with home.store.open(session) as chat:
            write_title(chat, f"Title {number}")
    machines[1].branches.mark(session, PINNED, True)
    synced.sync(winner)
    assert len(list(machines[0].folder.glob("*.jsonl"))) == 2
    for home in (machines[winner], machines[1 - winner]):
        (info,) = home.store.list()
        assert (info.session, info.title, info.pinned) == (session, "Title 1", True)
        assert home.read_texts(session) == ["both", "from 0", "from 1"]
        assert [path.name for path in home.folder.glob("*.jsonl")] == [f"{session}.jsonl"]
        synced.sync(winner)
    assert (
        machines[0].store.file(session).read_bytes() == machines[1].store.file(session).read_bytes()
    )


def test_a_copy_of_an_older_version_is_merged_too(machines: tuple[Home, Home]) -> None:
    home, session = machines[0], "01d00001"
    lines: list[dict[str, Any]] = [
        {"type": "session", "id": session, "timestamp": "2026-01-01T00:00:00.000Z"},
        {"type": "message", "role": "user", "content": "both"},
    ]
    more = [{"type": "message", "role": "user", "content": text} for text in ("here", "there")]
    for name, line in zip((session, f"{session} 2"), more, strict=True):
        text = "".join(json.dumps(one) + "\n" for one in (*lines, line))
        (home.folder / f"{name}.jsonl").write_text(text)
        make_old(home.folder / f"{name}.jsonl")
    assert len(home.store.list()) == 1
    assert home.read_texts(session) == ["both", "here", "there"]


def test_what_is_no_copy_of_a_chat_stays(machines: tuple[Home, Home]) -> None:
    home = machines[0]
    session, _ = begin(machines, "iCloud")
    fork = home.branches.fork(session)
    (home.folder / f"{session}-mine.jsonl").write_bytes(home.store.file(fork).read_bytes())
    (home.folder / f"{session} (copy).jsonl").write_text("no chat\n")
    (home.folder / f"{session} 3.jsonl").symlink_to(home.store.file(session))
    before = sorted(path.name for path in home.folder.iterdir())
    home.store.list()
    assert sorted(path.name for path in home.folder.iterdir()) == before


@pytest.mark.parametrize("age_s", [0, 30, -3600])
@pytest.mark.parametrize("cut", [-1, -5, None])
def test_a_copy_that_may_still_be_written_waits(
    machines: tuple[Home, Home], cut: int | None, age_s: float
) -> None:
    home = machines[0]
    session, _ = begin(machines, "iCloud")
    machines[1].say(session, "there")
    whole = machines[1].store.file(session).read_bytes()
    first = whole[: whole.rindex(b'{"type":"message"')] if cut is None else whole[:cut]
    copy = home.folder / f"{session} 2.jsonl"
    copy.write_bytes(first)
    os.utime(copy, (time.time() - age_s,) * 2)
    home.store.list()
    assert copy.read_bytes() == first
    copy.write_bytes(whole)
    make_old(copy)
    home.store.list()
    assert not copy.exists()
    assert home.read_texts(session) == ["both", "there"]


def test_what_is_written_to_a_copy_while_it_is_merged_stays(
    machines: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = machines[0]
    session, _ = begin(machines, "iCloud")
    machines[1].say(session, "there")
    whole = machines[1].store.file(session).read_bytes()
    copy = home.folder / f"{session} 2.jsonl"
    copy.write_bytes(home.store.file(session).read_bytes())
    make_old(copy)
    merge = home.store.merge
    monkeypatch.setattr(
        home.store, "merge", lambda *given: (merge(*given), copy.write_bytes(whole))[0]
    )
    home.store.list()
    assert copy.read_bytes() == whole
    monkeypatch.undo()
    make_old(copy)
    home.store.list()
    assert home.read_texts(session) == ["both", "there"]


def test_the_last_line_of_a_copy_that_stays_cut_off_is_kept(machines: tuple[Home, Home]) -> None:
    home = machines[0]
    session, _ = begin(machines, "iCloud")
    copy = home.folder / f"{session} 2.jsonl"
    copy.write_bytes(home.store.file(session).read_bytes() + b'{"type":"mess')
    make_old(copy)
    home.store.list()
    assert not copy.exists()
    assert (home.folder / f"{session}.jsonl.torn").read_bytes() == b'{"type":"mess\n'


@pytest.mark.parametrize("version", ["current", "outdated"])
@pytest.mark.parametrize(
    "harm",
    [
        lambda _content: b"",
        lambda content: content.replace(b'{"type":"session"', b"\0\0\0", 1),
        lambda content: content.partition(b"\n")[2],
        lambda content: b"{}\n" + content.partition(b"\n")[2],
        lambda content: content.replace(b'"id":', b'"id":7,"was":', 1),
        lambda content: b"[" + content[:30],
    ],
    ids=["empty", "NUL", "first line gone", "no header", "wrong type", "cut off"],
)
def test_a_chat_whose_first_line_is_broken_gets_that_of_its_copy(
    machines: tuple[Home, Home], harm: Callable[[bytes], bytes], version: str
) -> None:
    home, session = machines[0], "5ed00001"
    file, copy = home.store.file(session), home.folder / f"{session} 2.jsonl"
    text = OUTDATED if version == "outdated" else CURRENT
    copy.write_bytes(text.encode())
    file.write_bytes(harm(text.encode()))
    make_old(copy)
    (info,) = home.store.list()
    assert (info.session, info.vault, info.project) == (session, "/notes", "work")
    assert set(home.read_texts(session)) == {"both"}  # entries without an id may be there twice
    assert not copy.exists()
    kept = b"".join(path.read_bytes() for path in home.folder.iterdir())
    assert harm(text.encode()).partition(b"\n")[0] in kept


@pytest.mark.parametrize("version", ["current", "outdated"])
@pytest.mark.parametrize(
    "line", [b'{"type":"mess\xffage"}', b"\0\0\0\0", b'["no object"]', b'{"type": "message", "id"']
)
def test_a_line_of_a_copy_that_cannot_be_read_is_kept(
    machines: tuple[Home, Home], line: bytes, version: str
) -> None:
    home, session = machines[0], "5ed00001"
    text = (OUTDATED if version == "outdated" else CURRENT).encode()
    first, rest = text.split(b"\n", 1)
    home.store.file(session).write_bytes(text)
    for _ in range(2):  # the second copy has nothing new
        copy = home.folder / f"{session} 2.jsonl"
        copy.write_bytes(first + b"\n" + line + b"\n" + rest)
        make_old(copy)
        home.store.list()
        assert not copy.exists()
    assert home.read_texts(session) == ["both"]
    assert (home.folder / f"{session}.jsonl.torn").read_bytes() == line + b"\n"


def test_an_entry_of_an_outdated_copy_that_cannot_be_converted_is_kept(
    machines: tuple[Home, Home],
) -> None:
    home, session = machines[0], "5ed00001"
    home.store.file(session).write_text(OUTDATED)
    copy = home.folder / f"{session} 2.jsonl"
    content = OUTDATED + '{"type":"message","role":7,"content":"my words"}\n'
    copy.write_text(content)
    make_old(copy)
    home.store.list()
    assert not copy.exists()
    assert content in [path.read_text() for path in home.folder.glob("*.v1-*")]


def test_the_folder_of_chats_may_be_a_link_into_a_synced_folder(
    machines: tuple[Home, Home], tmp_path: Path
) -> None:
    home = machines[0]
    session, _ = begin(machines, "iCloud")
    home.folder.rename(tmp_path / "cloud")
    home.folder.symlink_to(tmp_path / "cloud")
    machines[1].say(session, "there")
    other = machines[1].store.file(session).read_bytes()
    (tmp_path / "cloud" / f"{session} 2.jsonl").write_bytes(other)
    make_old(tmp_path / "cloud" / f"{session} 2.jsonl")
    assert home.list_ids() == ([session], [])
    assert home.read_texts(session) == ["both", "there"]
    home.store.delete(session)
    assert home.list_ids() == ([], [session])
    assert home.folder.is_symlink()


def test_a_copy_of_a_chat_in_use_waits(machines: tuple[Home, Home]) -> None:
    home = machines[0]
    session, _ = begin(machines, "iCloud")
    copy = home.folder / f"{session} 2.jsonl"
    copy.write_bytes(home.store.file(session).read_bytes())
    make_old(copy)
    with home.store.open(session):
        home.store.list()
        assert copy.exists()
    home.store.list()
    assert not copy.exists()


def test_a_chat_that_is_deleted_here_and_used_there_is_where_it_was_put_last(
    machines: tuple[Home, Home],
) -> None:
    for is_used_later in (False, True):
        session, synced = begin(machines, "Syncthing")
        acts = [
            lambda name=session: machines[0].store.delete(name),
            lambda name=session: machines[1].say(name, "there"),
        ]
        for act in acts if is_used_later else reversed(acts):
            act()
            time.sleep(0.002)  # the times of entries are in milliseconds
        synced.sync(0)
        for home in machines:
            home.store.bin.reunite()
            listed, binned = home.list_ids()
            assert (session in listed, session in binned) == (is_used_later, not is_used_later)
        synced.sync(0)
        for home in machines:
            home.store.bin.restore(session) if not is_used_later else None
            assert home.read_texts(session) == ["both", "there"]


def test_copies_in_the_bin_are_merged_when_the_chat_is_restored(
    machines: tuple[Home, Home],
) -> None:
    home = machines[0]
    session, _ = begin(machines, "Dropbox")
    copy = home.store.file(session).read_bytes()
    home.say(session, "here")
    home.store.delete(session)
    (file,) = home.store.bin.find_files(session)
    line = (
        copy.splitlines(keepends=True)[1].replace(b"both", b"there").replace(b'"id":"', b'"id":"x')
    )
    file.with_name(f"{file.stem} (conflicted copy).jsonl").write_bytes(copy + line)
    home.store.bin.remove_expired()
    home.store.bin.restore(session)
    assert home.read_texts(session) == ["both", "here", "there"]
    assert home.list_ids() == ([session], [])


@st.composite
def build_story(draw: st.DrawFn) -> list[tuple[str, int]]:
    """Build what happens on two machines: acts, and syncs with the machine that wins."""
    acts = ["say", "title", "pin", "archive", "delete", "restore", "list", "sync"]
    return draw(st.lists(st.tuples(st.sampled_from(acts), st.integers(0, 1)), max_size=12))


@given(build_story(), st.sampled_from(sorted(COPY_NAMES)), st.integers(0, 1))
@settings(max_examples=15)
def test_every_order_of_syncs_ends_with_one_chat_that_has_all(
    story: list[tuple[str, int]], program: str, winner: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        machines = Home(Path(folder, "one")), Home(Path(folder, "two"))
        session, synced = begin(machines, program)
        texts = ["both"]
        for number, (act, at) in enumerate(story):
            if act == "sync":
                synced.sync(at)
            else:
                texts += _act(machines[at], session, act, str(number))
        for _ in range(6):
            for home in (machines[winner], machines[1 - winner]):
                home.store.list()
                home.store.bin.reunite()
                synced.sync(winner)
        ends = [_describe(home, session) for home in machines]
        assert ends[0] == ends[1]
        assert ends[0]["texts"] == sorted(texts)
        for home in machines:
            home.close()


def _act(home: Home, session: str, act: str, text: str) -> list[str]:
    """Do something on a machine, if the chat is there, and return the texts that were said."""
    home.store.list()
    is_listed = home.store.is_stored(session)
    if act == "restore" and not is_listed and home.store.bin.holds(session):
        home.store.bin.restore(session)
    if not is_listed or act == "restore":
        return []
    match act:
        case "say":
            home.say(session, text)
            return [text]
        case "title":
            with home.store.open(session) as chat:
                write_title(chat, text)
        case "pin" | "archive":
            home.branches.mark(session, PINNED if act == "pin" else ARCHIVED, int(text) % 2 == 0)
        case "delete":
            home.store.delete(session)
    return []


def _describe(home: Home, session: str) -> dict[str, Any]:
    """Return what a machine shows of a chat, on the list or in the bin."""
    is_listed = home.store.is_stored(session)
    if not is_listed:
        home.store.bin.restore(session)
    info = home.store.info(session)
    marks = info.title, info.pinned, info.archived
    return {"listed": is_listed, "marks": marks, "texts": home.read_texts(session)}


def list_rest(home: Home) -> list[str]:
    """Return the names of the files that are left of all chats."""
    files = (path for path in home.folder.rglob("*") if path.is_file())
    return sorted(path.name for path in files if path.name != ".strata-checked")


@pytest.mark.parametrize("act", ["empty", "remove"])
@pytest.mark.parametrize("program", COPY_NAMES)
@pytest.mark.parametrize("is_settled", [True, False])
def test_a_chat_that_is_deleted_for_good_does_not_come_back_from_a_copy(
    machines: tuple[Home, Home], program: str, act: str, is_settled: bool
) -> None:
    home = machines[0]
    session, _ = begin(machines, program)
    content = home.store.file(session).read_bytes()
    home.store.delete(session)
    (binned,) = home.store.bin.find_files(session)
    for stem, end, folder in (
        (session, ".jsonl", home.folder),
        (f"{session}.jsonl", ".torn", home.folder),
        (binned.stem, ".jsonl", binned.parent),
        (f"{binned.stem}.gone", ".jsonl", binned.parent),
    ):
        copy = folder / COPY_NAMES[program](stem, end)
        copy.write_bytes(content)
        if is_settled:
            make_old(copy)
    (home.folder / f".{session}.jsonl.ff8b5933").write_bytes(content)
    (binned.parent / f".{binned.name}.ff8b5933").write_bytes(content)
    if act == "empty":
        assert home.store.bin.empty() == (session,)
    else:
        home.store.bin.remove(session)
    home.store.bin.remove_expired()
    assert (home.list_ids(), list_rest(home)) == (([], []), [])


def test_emptying_the_bin_keeps_a_chat_whose_copy_was_used_later(
    machines: tuple[Home, Home],
) -> None:
    home = machines[0]
    session, _ = begin(machines, "Syncthing")
    home.store.delete(session)
    time.sleep(0.002)  # the times of entries are in milliseconds
    machines[1].say(session, "there")
    copy = home.folder / f"{session} 2.jsonl"
    copy.write_bytes(machines[1].store.file(session).read_bytes())
    make_old(copy)
    assert home.store.bin.empty() == ()
    assert home.list_ids() == ([session], [])
    assert home.read_texts(session) == ["both", "there"]


def test_a_chat_stays_in_the_bin_while_a_copy_of_it_is_written(
    machines: tuple[Home, Home],
) -> None:
    home = machines[0]
    session, _ = begin(machines, "iCloud")
    content = home.store.file(session).read_bytes()
    home.store.delete(session)
    let_pass(home.store, session, days=31)
    copy = home.folder / f"{session} 2.jsonl"
    copy.write_bytes(content)
    assert home.store.bin.remove_expired() == ()
    assert copy.exists()
    copy.unlink()
    assert home.store.bin.remove_expired() == (session,)
