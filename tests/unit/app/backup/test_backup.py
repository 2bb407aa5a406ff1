"""Backups: what is in them, what comes back, and what is refused."""

import hashlib
import json
import random
import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.backup.archive import ArchiveWriter, BackupReport, open_archive
from app.backup.restore import Restorer, RestoreReport
from app.errors import InvalidRequest, NotFound
from app.paths import Paths
from app.wiring import build
from chains.cancel import Cancelled, CancelToken
from context.log.entries import MessageEntry
from context.messages import Message
from resources.system.files import append_synced
from tests.support.kills.killed_backups import kill_backups
from tests.support.sessions.binned import rename_deleted
from tests.support.simulator.disk import Disk, Fault, Killed
from tests.support.simulator.process_memory import remember_nothing
from vault.embedder import Embedder


def back_up(assistant: Assistant, target: Path) -> BackupReport:
    """Write an archive of an assistant's home."""
    writer = ArchiveWriter(assistant.paths, assistant.settings, assistant.sessions.state)
    *_, report = writer.write(target, CancelToken())
    assert isinstance(report, BackupReport)
    return report


def restore(assistant: Assistant, source: Path, *, merges: bool = False) -> RestoreReport:
    """Restore an archive into an assistant's home."""
    chats = assistant.sessions
    restorer = Restorer(assistant.paths, assistant.settings, chats, chats.state)
    *_, report = restorer.restore(source, merges=merges, cancel=CancelToken())
    assert isinstance(report, RestoreReport)
    return report


def write_chat(assistant: Assistant, *texts: str) -> str:
    """Write a chat with a user message for each text, and return its id."""
    session = assistant.sessions.create(None)
    first, *more = texts
    place = session.new_id(), None, session.now()
    session.append([MessageEntry(*place, Message("user", first), "t")])
    session.close()
    for text in more:
        append(assistant, session.id, text)
    return session.id


def append(assistant: Assistant, session: str, text: str) -> None:
    """Append a user message to a chat."""
    chat = assistant.sessions.open(session)
    place = chat.new_id(), chat.tree.leaf, chat.now()
    chat.append([MessageEntry(*place, Message("user", text), "t")])
    chat.close()


def list_texts(assistant: Assistant, session: str) -> list[str]:
    """Return the texts of a chat's messages, of all branches."""
    log = assistant.sessions.read(session).log
    return [entry.message.text for entry in log.entries if isinstance(entry, MessageEntry)]


@pytest.fixture
def other(tmp_path: Path, embedder: Embedder) -> Any:
    """An assistant on another machine."""
    paths = Paths.find({"STRATA_HOME": str(tmp_path / "elsewhere")})
    assistant = build(paths, embedder=embedder)
    yield assistant
    assistant.close()


def test_what_is_in_the_bin_is_backed_up_and_restored(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    deleted, kept = write_chat(assistant, "First?"), write_chat(assistant, "Second?")
    assistant.sessions.delete(deleted)
    back_up(assistant, tmp_path / "a.zip")
    restore(other, tmp_path / "a.zip")
    binned = assistant.sessions.bin.list_chats()
    assert [chat.info.session for chat in binned] == [deleted]
    assert other.sessions.bin.list_chats() == binned
    assert [chat.session for chat in other.list_sessions()] == [kept]
    other.sessions.bin.restore(deleted)
    assert list_texts(other, deleted) == ["First?"]
    # Here, the chat is on the list; in the backup, it is in the bin.
    append(other, deleted, "Third?")
    restore(other, tmp_path / "a.zip", merges=True)
    assert list_texts(other, deleted) == ["First?", "Third?"]
    assert not other.sessions.bin.list_chats()


def test_a_restored_chat_is_never_on_the_list_and_in_the_bin(
    assistant: Assistant, tmp_path: Path
) -> None:
    sessions, bin = assistant.sessions, assistant.sessions.bin
    chat = write_chat(assistant, "First?")
    back_up(assistant, tmp_path / "listed.zip")
    append(assistant, chat, "Second?")
    sessions.delete(chat)
    back_up(assistant, tmp_path / "binned.zip")
    content = bin.find_files(chat)[0].read_bytes()
    # The bin has it under another time, as after a clock that was wrong.
    rename_deleted(sessions, chat, datetime(2026, 2, 3, tzinfo=UTC))
    restore(assistant, tmp_path / "binned.zip")
    assert (sessions.is_stored(chat), len(bin.list_all_files())) == (False, 1)
    bin.restore(chat)
    restore(assistant, tmp_path / "binned.zip")
    assert (sessions.file(chat).read_bytes(), bin.list_chats()) == (content, [])
    append(assistant, chat, "Third?")
    with pytest.raises(InvalidRequest, match="differs"):
        restore(assistant, tmp_path / "binned.zip")
    report = restore(assistant, tmp_path / "binned.zip", merges=True)
    assert (report.failed, report.aside, bin.list_chats()) == ([], [], [])
    assert list_texts(assistant, chat) == ["First?", "Second?", "Third?"]
    sessions.delete(chat)
    restore(assistant, tmp_path / "listed.zip", merges=True)
    assert (sorted(list_texts(assistant, chat)), bin.list_chats()) == (
        ["First?", "Second?", "Third?"],
        [],
    )
    assert bin.empty() == ()


def test_a_chat_that_is_being_deleted_for_good_is_not_backed_up(
    assistant: Assistant, tmp_path: Path
) -> None:
    chat = write_chat(assistant, "First?")
    assistant.sessions.delete(chat)
    (file,) = assistant.sessions.bin.list_all_files()
    file.rename(file.with_suffix(".gone.jsonl"))
    assert back_up(assistant, tmp_path / "a.zip").left_out == ()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert not [name for name in archive.namelist() if chat in name]


def test_a_backup_is_restored_elsewhere(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    session = write_chat(assistant, "When is the server backed up?")
    assistant.settings.set("retrieval.topK", 9)
    (assistant.paths.prompts / "mine.md").parent.mkdir(parents=True)
    (assistant.paths.prompts / "mine.md").write_text("Summarise it.", "utf-8")
    reference = assistant.sessions.state.keep_result("read_note", "a large result")
    made = back_up(assistant, tmp_path / "b.zip")
    assert (made.chats, made.left_out) == (1, ())
    report = restore(other, tmp_path / "b.zip")
    assert (report.failed, report.aside) == ([], [])
    assert list_texts(other, session) == ["When is the server backed up?"]
    assert (other.paths.prompts / "mine.md").read_text("utf-8") == "Summarise it."
    other.settings.reload()
    assert other.settings.get("retrieval.topK") == 9
    assert other.sessions.state.result(reference) == "a large result"


def test_folders_that_are_not_on_this_computer_are_named(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    here, gone = tmp_path / "here", tmp_path / "gone"
    for folder in (here, gone / "inside", tmp_path / "project"):
        folder.mkdir(parents=True)
    for vault, project in ((here, None), (gone, None), (gone, "inside")):
        with assistant.sessions.create(str(vault), project) as chat:
            place = chat.new_id(), None, chat.now()
            chat.append([MessageEntry(*place, Message("user", "?"), "t")])
    assistant.projects.add(str(tmp_path / "project"))
    assistant.settings.set("vault.path", str(gone))
    assistant.settings.set("retrieval.rerankModel", str(tmp_path / "model"))
    back_up(assistant, tmp_path / "b.zip")
    (gone / "inside").rmdir()
    gone.rmdir()
    (tmp_path / "project").rmdir()
    missing = restore(other, tmp_path / "b.zip").missing
    assert [folder.to_dict() for folder in missing] == [
        {"path": str(gone), "use": "vault", "chats": 2},
        {"path": str(tmp_path / "project"), "use": "project", "chats": 0},
        {"path": str(tmp_path / "model"), "use": "model", "chats": 0},
    ]
    said = [folder.describe() for folder in missing]
    assert said[0].startswith(f"The folder of notes {gone} is not on this computer. 2 chats are")
    assert "Choose it in the settings" in said[2]
    gone.mkdir()
    missing = restore(other, tmp_path / "b.zip").missing
    assert [folder.use for folder in missing] == ["project", "model"]


def test_a_home_with_data_is_not_touched_without_merge(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    assistant.settings.set("retrieval.topK", 9)
    write_chat(assistant, "one")
    back_up(assistant, tmp_path / "b.zip")
    other.settings.set("retrieval.topK", 5)
    with pytest.raises(InvalidRequest, match="something here already"):
        restore(other, tmp_path / "b.zip")
    assert other.sessions.list() == []


def test_merging_keeps_both_sides(assistant: Assistant, other: Assistant, tmp_path: Path) -> None:
    session = write_chat(assistant, "both")
    back_up(assistant, tmp_path / "first.zip")
    restore(other, tmp_path / "first.zip")
    append(assistant, session, "here")
    append(other, session, "there")
    assistant.settings.set("retrieval.topK", 9)
    other.settings.set("retrieval.topK", 5)
    for home, text in ((assistant, "- here\n"), (other, "- there\n")):
        home.paths.memories.parent.mkdir(parents=True, exist_ok=True)
        home.paths.memories.write_text(text, "utf-8")
        home.paths.prompts.mkdir(parents=True)
        (home.paths.prompts / "same.md").write_text(text, "utf-8")
    back_up(assistant, tmp_path / "second.zip")
    report = restore(other, tmp_path / "second.zip", merges=True)
    assert report.failed == []
    assert sorted(list_texts(other, session)) == ["both", "here", "there"]
    leaf = other.sessions.read(session).path()[-1]
    assert isinstance(leaf, MessageEntry)
    assert leaf.message.text == "there"
    assert other.settings.get("retrieval.topK") == 5
    assert other.paths.memories.read_text("utf-8") == "- there\n- here\n"
    assert (other.paths.prompts / "same.md").read_text("utf-8") == "- there\n"
    assert [path.name for path in report.aside] == ["same.md", "settings.toml"]
    assert report.aside[0].read_text("utf-8") == "- here\n"
    again = restore(other, tmp_path / "second.zip", merges=True)
    assert (again.counts["restored"], again.aside) == (0, report.aside)
    assert sorted(list_texts(other, session)) == ["both", "here", "there"]


def test_a_database_counts_by_what_was_added_to_it(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    assistant.sessions.state.keep_result("read_note", "theirs")
    back_up(assistant, tmp_path / "one.zip")
    assert restore(other, tmp_path / "one.zip").counts == {"restored": 1}
    assert restore(other, tmp_path / "one.zip").counts == {"unchanged": 1}
    assistant.sessions.state.keep_result("read_note", "more of theirs")
    back_up(assistant, tmp_path / "two.zip")
    assert restore(other, tmp_path / "two.zip").counts == {"merged": 1}


@pytest.mark.parametrize("damage", ["no database", "no table", "a view", "another type"])
def test_a_bad_database_in_an_archive_costs_nothing(
    assistant: Assistant, other: Assistant, tmp_path: Path, damage: str
) -> None:
    assistant.sessions.state.keep_result("read_note", "theirs")
    back_up(assistant, tmp_path / "good.zip")
    reference = other.sessions.state.keep_result("read_note", "mine")
    write_with_database(tmp_path, damage)
    restore(other, tmp_path / "bad.zip", merges=True)
    assert other.sessions.state.result(reference) == "mine"
    assert other.sessions.state.take_warning() == ""
    assert not list(other.paths.state.glob("*damaged*"))


def write_with_database(folder: Path, damage: str) -> None:
    """Write the archive `good.zip` again as `bad.zip`, with another database."""
    with zipfile.ZipFile(folder / "good.zip") as archive:
        (folder / "copy.db").write_bytes(archive.read("state.db"))
        listed = json.loads(archive.read("strata-backup.json"))
        files = {name: archive.read(name) for name in listed["files"]}
    with closing(sqlite3.connect(folder / "copy.db")) as db, db:
        if damage in ("no table", "a view"):
            db.execute("DROP TABLE tool_result_blobs")
        if damage == "a view":
            db.execute("CREATE VIEW tool_result_blobs AS SELECT 1 AS ref_id, 2 AS tool")
        if damage == "another type":
            db.execute("UPDATE tool_result_blobs SET content = 'text'")
    content = (folder / "copy.db").read_bytes()
    files["state.db"] = content[:200] + b"x" * 5000 if damage == "no database" else content
    sums = {name: {"bytes": len(each), "sha256": sha256(each)} for name, each in files.items()}
    write_zip(folder / "bad.zip", files, {"format": 1, "files": sums})


def test_two_homes_that_merge_each_other_end_with_the_same_entries(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    session = write_chat(assistant, "both")
    back_up(assistant, tmp_path / "0.zip")
    restore(other, tmp_path / "0.zip")
    append(assistant, session, "here")
    append(other, session, "there")
    sizes = []
    for number in range(1, 4):
        for name, source, target in (("a", assistant, other), ("b", other, assistant)):
            file = tmp_path / f"{number}{name}.zip"
            back_up(source, file)
            restore(target, file, merges=True)
        sizes.append([home.sessions.file(session).stat().st_size for home in (assistant, other)])
    assert sizes[0] == sizes[1] == sizes[2]
    assert sorted(list_texts(assistant, session)) == sorted(list_texts(other, session))


def test_settings_that_are_only_set_here_are_no_difference(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    assistant.settings.set("retrieval.topK", 9)
    back_up(assistant, tmp_path / "b.zip")
    other.settings.set("chat.titles", False)
    report = restore(other, tmp_path / "b.zip", merges=True)
    assert report.aside == []
    assert (other.settings.get("retrieval.topK"), other.settings.get("chat.titles")) == (9, False)


def test_no_protection_is_taken_away_by_a_backup(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    for each, values in (
        (
            assistant,
            {"vault.exclude": ["There/**"], "spending.dayLimit": 1.5, "privacy.offline": False},
        ),
        (other, {"vault.exclude": ["Here/**"], "spending.dayLimit": 0.0, "privacy.offline": True}),
    ):
        for key, value in values.items():
            each.settings.set(key, value)
    back_up(assistant, tmp_path / "b.zip")
    restore(other, tmp_path / "b.zip", merges=True)
    assert other.settings.get("vault.exclude") == ["Here/**", "There/**"]
    assert (other.settings.get("spending.dayLimit"), other.settings.get("privacy.offline")) == (
        1.5,
        True,
    )


def test_no_trust_is_restored(assistant: Assistant, other: Assistant, tmp_path: Path) -> None:
    assistant.settings.set("hooks.enabled", True)
    assistant.paths.mcp.mkdir(parents=True)
    (assistant.paths.mcp / "fingerprint.json").write_text('{"command": "x --token secret"}')
    back_up(assistant, tmp_path / "b.zip")
    restore(other, tmp_path / "b.zip")
    other.settings.reload()
    assert other.settings.get("hooks.enabled") is False
    assert not other.paths.mcp.exists()


@pytest.mark.parametrize("name", ["mine.py", "lib/used.py"])
@pytest.mark.parametrize("is_of_run", [False, True])
def test_hooks_that_are_restored_do_not_run_before_the_user_asks(
    assistant: Assistant, tmp_path: Path, name: str, is_of_run: bool
) -> None:
    hook = assistant.paths.hooks / name
    hook.parent.mkdir(parents=True)
    hook.write_text("raise SystemExit")
    back_up(assistant, tmp_path / "b.zip")
    paths = Paths.find({"STRATA_HOME": str(tmp_path / "third")})
    with closing(build(paths, {"hooks.enabled": True} if is_of_run else None)) as third:
        third.settings.set("retrieval.topK", 9)
        if not is_of_run:
            third.settings.set("hooks.enabled", True)
        report = restore(third, tmp_path / "b.zip", merges=True)
        assert (third.paths.hooks / name).exists()
        assert third.settings.get("hooks.enabled") is False
        assert report.to_dict()["hooks_off"] is True
        third.settings.set("hooks.enabled", True)
        assert not restore(third, tmp_path / "b.zip", merges=True).hooks_off
        assert third.settings.get("hooks.enabled") is True


def restore_on(disk: Disk, source: Path, fault: Fault | None) -> bytes:
    """Restore an archive with one chat on a disk, in a new process, and return the chat."""
    program = build(Paths.find({"STRATA_HOME": str(disk.root / "home")}))
    disk.begin(fault, random.Random(1))
    with remember_nothing():
        try:
            restore(program, source, merges=True)
        finally:
            program.close()
    return next(iter(program.paths.sessions.glob("*.jsonl"))).read_bytes()


def test_what_a_killed_restore_has_put_in_place_is_flushed_by_the_next_one(
    assistant: Assistant, tmp_path: Path
) -> None:
    """Its files counted as unchanged, though a power failure could still take their names."""
    write_chat(assistant, "First?")
    back_up(assistant, tmp_path / "a.zip")
    for at in range(1, 1_000):
        disk = Disk(tmp_path / f"disk{at}")
        disk.root.mkdir()
        with disk.install():
            try:
                restore_on(disk, tmp_path / "a.zip", Fault("kill", at))
                break
            except Killed:
                disk.settle()
            chat = restore_on(disk, tmp_path / "a.zip", None)
            disk.begin(Fault("power", 1), random.Random(at))
            with pytest.raises(Killed):
                append_synced(disk.root / "later", b"later")
            disk.settle()
            (left,) = disk.root.glob("home/**/sessions/*.jsonl")
            assert left.read_bytes() == chat, at
    assert at > 5


def test_a_chat_that_is_in_use_is_named_and_restored_later(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    session = write_chat(assistant, "both")
    back_up(assistant, tmp_path / "first.zip")
    restore(other, tmp_path / "first.zip")
    append(assistant, session, "here")
    back_up(assistant, tmp_path / "second.zip")
    open_chat = other.sessions.open(session)
    report = restore(other, tmp_path / "second.zip", merges=True)
    assert [name for name, _ in report.failed] == [f"sessions/{session}.jsonl"]
    assert "in use" in report.failed[0][1]
    open_chat.close()
    assert restore(other, tmp_path / "second.zip", merges=True).failed == []
    assert list_texts(other, session) == ["both", "here"]


def test_a_backup_has_no_key_and_no_index(assistant: Assistant, tmp_path: Path) -> None:
    assistant.paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    assistant.paths.settings_file.write_text(
        '[mcp.servers.a]\ncommand = "x"\nenv = {API_KEY = "sk-very-secret-key"}\n', "utf-8"
    )
    (assistant.paths.indexes / "v").mkdir(parents=True)
    (assistant.paths.indexes / "v" / "catalog.db").write_bytes(b"index")
    back_up(assistant, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert not [name for name in archive.namelist() if "catalog" in name]
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"very-secret" not in everything


def test_a_backup_overwrites_no_file_and_leaves_none_when_stopped(
    assistant: Assistant, tmp_path: Path
) -> None:
    write_chat(assistant, "one")
    (tmp_path / "b.zip").write_bytes(b"mine")
    with pytest.raises(InvalidRequest, match="exists already"):
        back_up(assistant, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == b"mine"
    cancel = CancelToken()
    cancel.cancel()
    writer = ArchiveWriter(assistant.paths, assistant.settings, assistant.sessions.state)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Cancelled):
        list(writer.write(tmp_path / "c.zip", cancel))
    assert sorted(tmp_path.iterdir()) == before


def test_a_chat_that_is_written_to_is_backed_up_to_its_last_line(
    assistant: Assistant, tmp_path: Path
) -> None:
    session = write_chat(assistant, "one")
    file = assistant.sessions.file(session)
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"type":"mess')
    back_up(assistant, tmp_path / "b.zip")
    with open_archive(tmp_path / "b.zip") as archive:
        assert archive.read(f"sessions/{session}.jsonl") == whole


@pytest.mark.parametrize("cut", [0, 10, 200, -1, -100])
def test_an_archive_that_is_cut_off_is_refused_as_a_whole(
    assistant: Assistant, other: Assistant, tmp_path: Path, cut: int
) -> None:
    write_chat(assistant, "one")
    back_up(assistant, tmp_path / "b.zip")
    content = (tmp_path / "b.zip").read_bytes()
    (tmp_path / "b.zip").write_bytes(content[:cut])
    with pytest.raises(InvalidRequest, match="no backup that can be restored"):
        restore(other, tmp_path / "b.zip")
    assert other.sessions.list() == []


@pytest.mark.parametrize(
    "name",
    [
        "../outside.txt",
        "sessions/../../outside.txt",
        "/etc/outside",
        "sessions/./a.jsonl",
        "vaults/x/catalog.db",
        "sessions//a.jsonl",
        "unknown.md",
    ],
)
def test_a_name_that_leads_elsewhere_is_not_restored(
    other: Assistant, tmp_path: Path, name: str
) -> None:
    sums = {name: {"bytes": 1, "sha256": sha256(b"x")}}
    write_zip(tmp_path / "b.zip", {name: b"x"}, {"format": 1, "files": sums})
    report = restore(other, tmp_path / "b.zip")
    assert [failed for failed, _ in report.failed] == [name]
    assert not list(tmp_path.rglob("outside*"))


@pytest.mark.parametrize(
    "listed",
    [
        None,
        [],
        {},
        {"format": 1},
        {"format": 2, "files": {}},
        {"format": 1, "files": {"memories.md": {}}},
        {"format": 1, "files": {"memories.md": {"bytes": 1, "sha256": "0" * 64}}},
        {"format": 1, "files": {"absent.md": {"bytes": 1, "sha256": "0" * 64}}},
    ],
)
def test_what_is_no_archive_is_refused(other: Assistant, tmp_path: Path, listed: Any) -> None:
    write_zip(tmp_path / "b.zip", {"memories.md": b"x"}, listed)
    with pytest.raises(InvalidRequest, match="no backup that can be restored"):
        restore(other, tmp_path / "b.zip")
    assert not other.paths.memories.exists()


def test_a_missing_archive_is_named(other: Assistant, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no file"):
        restore(other, tmp_path / "b.zip")


ACTS = ("backup", "restore", "merge")


def test_kills_lose_nothing(tmp_path: Path) -> None:
    trials = kill_backups(tmp_path, ACTS, 8)
    assert [trial for trial in trials if "problem" in trial] == []
    assert sum(trial.get("died", False) for trial in trials) == 8 * len(ACTS)


@pytest.mark.soak
def test_two_hundred_kills_of_each_lose_nothing(tmp_path: Path) -> None:
    trials = kill_backups(tmp_path, ACTS, 200)
    assert [trial for trial in trials if "problem" in trial] == []


def sha256(content: bytes) -> str:
    """Return the SHA-256 sum of bytes."""
    return hashlib.sha256(content).hexdigest()


def write_zip(path: Path, files: dict[str, bytes], listed: Any) -> None:
    """Write a ZIP file with a list of its files, as an archive has it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        if listed is not None:
            archive.writestr("strata-backup.json", json.dumps(listed))
