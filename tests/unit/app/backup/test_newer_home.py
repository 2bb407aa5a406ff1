"""A home of a newer version is opened, but nothing in it is changed, and one sentence says why."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from app.errors import StorageFailed
from app.migrations import HOME_IS_NEWER
from app.rpc.server import RPC
from app.wiring import build
from chains.cancel import CancelToken
from resources.system import calls
from tests.support.processes.command_line import document, no_window
from tests.support.stored_homes import NAMES, StoredHome, unpack
from vault.embedder import Embedder
from vault.errors import EditFailed, VaultError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredHome:
    """A home whose databases are of a later schema."""
    monkeypatch.setattr(calls, "_read_only", {})
    home = unpack(NAMES[-1], tmp_path)
    for database in home.list_databases():
        with closing(sqlite3.connect(database)) as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            db.execute(f"PRAGMA user_version = {version + 1}")
    return home


@pytest.fixture
def newer(home: StoredHome, embedder: Embedder) -> Iterator[Assistant]:
    assistant = build(home.paths, embedder=embedder)
    yield assistant
    assistant.close()


def hash_files(home: StoredHome) -> dict[str, str]:
    """Return the sums of all files of a home, without those of SQLite that only readers need."""
    files = (file for file in sorted(home.paths.config.parent.rglob("*")) if file.is_file())
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if not file.name.endswith(("-wal", "-shm"))
    }


def test_a_newer_home_is_read_and_nothing_is_changed(home: StoredHome, newer: Assistant) -> None:
    before = hash_files(home)
    assert newer.take_warnings() == (HOME_IS_NEWER,)
    assert newer.take_warnings() == ()
    chats = {chat.title: chat.session for chat in newer.list_sessions()}
    assert len(newer.sessions.read(chats["Water"]).path()) == 2
    assert newer.settings.get("retrieval.topK") == 9
    acts = [
        lambda: newer.settings.set("retrieval.topK", 5),
        lambda: newer.sessions.open(chats["Water"]),
        lambda: newer.sessions.delete(chats["Water"]),
        lambda: newer.branches.rename(chats["Water"], "Other"),
        lambda: newer.sessions.create(None).append([]),
    ]
    for act in acts:
        with pytest.raises(StorageFailed) as failed:
            act()
        assert str(failed.value) == HOME_IS_NEWER
    newer.sessions.bin.remove_expired()
    newer.open_vault(home.notes, remember=False)
    with pytest.raises(EditFailed, match="newer version"):
        newer.user_edits.create_note("New.md", "text")
    with pytest.raises(EditFailed, match="newer version"):
        newer.edits.undo()
    with pytest.raises(VaultError, match="newer version"):
        list(newer.index(CancelToken()))
    assert not (home.notes / "New.md").exists()
    assert hash_files(home) == before


def test_the_command_line_and_rpc_say_it(
    home: StoredHome,
    newer: Assistant,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STRATA_HOME", str(home.paths.config.parent))
    code = run(["sessions", "list"], no_window)
    text, said = capsys.readouterr()
    assert (code, "Water" in text, HOME_IS_NEWER in said) == (0, True, True)
    code = run(["settings", "set", "retrieval.topK", "5", "--json"], no_window)
    text, _ = capsys.readouterr()
    assert (code, document(text)["error"]["message"]) == (1, HOME_IS_NEWER)
    lines: list[bytes] = []
    RPC(newer, lines.append).serve([b'{"id": 1, "type": "get_state"}'] * 2)
    warning, *responses = map(json.loads, lines)
    assert (warning["event"], warning["data"]) == ("warning", {"message": HOME_IS_NEWER})
    assert [one["data"]["read_only"] for one in responses] == [HOME_IS_NEWER] * 2


def test_an_index_of_a_newer_version_alone_is_kept_and_named(
    tmp_path: Path, embedder: Embedder
) -> None:
    home = unpack(NAMES[-1], tmp_path)
    *_, index = home.list_databases()
    with closing(sqlite3.connect(index)) as db:
        db.execute("PRAGMA user_version = 900")
    assistant = build(home.paths, embedder=embedder)
    try:
        assert assistant.why_read_only == ""
        assistant.open_vault(home.notes)
        before = index.read_bytes()
        with pytest.raises(VaultError, match="newer version of Strata; update Strata"):
            list(assistant.index(CancelToken()))
        assert index.read_bytes() == before
        assert assistant.settings.set("retrieval.topK", 5) == 5
    finally:
        assistant.close()
