"""Folders, files and disks that are not as they should be: one clear sentence, and nothing lost."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.e2e.vaults.test_index import many_notes
from tests.support.models.model_server import ModelServer
from tests.support.processes.program import Done, Program

TurnRunner = Callable[[Program], Program]
CHAT = ("--mode", "chat")


def assert_refused(done: Done, code: str, *words: str) -> None:
    """Check that a run failed with one document, its code, and a sentence with these words."""
    assert done.code == 1, done
    assert done.error["code"] == code
    assert "\n" not in done.error["message"]
    for word in words:
        assert word in done.error["message"]
    assert done.complaints == []


def test_a_folder_that_is_missing_and_a_file_in_its_place(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("# x")
    assert_refused(program.run("index", str(tmp_path / "no"), "--json"), "vault_missing", "no")
    file = program.run("index", str(tmp_path / "file.md"), "--json")
    assert_refused(file, "vault_missing", "is a file")


def test_an_empty_folder_is_an_index_of_nothing(program: Program, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    vault = ("--vault", str(tmp_path / "empty"))
    assert program.json("index", *vault)["notes"] == 0
    assert "No notes in this folder yet" in program.run("index", *vault).out
    assert program.json("search", "anything", *vault)["hits"] == []
    assert program.json("ask", "Is there anything?", *vault)["citations"] == []


def test_a_folder_that_may_not_be_read(
    program: Program, small_vault: Path, without_rights: tuple[str, ...]
) -> None:
    small_vault.chmod(0)
    bound = replace(program, before=without_rights)
    try:
        assert_refused(
            bound.run("index", str(small_vault), "--json"), "storage", "Permission denied: "
        )
    finally:
        small_vault.chmod(0o755)


def test_a_folder_below_one_that_may_not_be_looked_into(
    program: Program, small_vault: Path, tmp_path: Path, without_rights: tuple[str, ...]
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    there = small_vault.rename(closed / "notes")
    program.json("settings", "set", "vault.path", str(there))
    closed.chmod(0)
    bound = replace(program, before=without_rights)
    try:
        assert_refused(bound.run("search", "barrel", "--json"), "storage", "Permission denied: ")
    finally:
        closed.chmod(0o755)


def test_notes_that_cannot_be_read_are_reported_in_a_folder_that_cannot_be_written(
    program: Program, small_vault: Path, tmp_path: Path, without_rights: tuple[str, ...]
) -> None:
    (small_vault / "binary.md").write_bytes(b"\x00\xff\xfe\x80" * 300)
    (small_vault / "huge.md").write_bytes(b"# Huge\n" + b"word " * 10_000_000)
    (small_vault / "closed.md").write_text("# Closed\n")
    (small_vault / "closed.md").chmod(0)
    os.mkfifo(small_vault / "pipe.md")
    (tmp_path / "outside.md").write_text("# Outside\n\nThe word is plumtree.\n")
    (small_vault / "link.md").symlink_to(tmp_path / "outside.md")
    before = sorted(small_vault.rglob("*"))
    small_vault.chmod(0o555)
    try:
        report = replace(program, before=without_rights).json("index", str(small_vault))
    finally:
        small_vault.chmod(0o755)
    assert report["notes"] == 5
    told = {item["path"] for item in (*report["failed"], *report["excluded"])}
    assert {"binary.md", "huge.md", "closed.md", "pipe.md", "link.md"} <= told
    assert sorted(small_vault.rglob("*")) == before


def test_a_home_that_cannot_be_written(
    program: Program, asking: TurnRunner, without_rights: tuple[str, ...]
) -> None:
    program.home.mkdir()
    program.home.chmod(0o555)
    bound = replace(asking(program), before=without_rights)
    assert_refused(bound.run("ask", "x", *CHAT, "--json"), "storage", "permission denied")
    assert_refused(bound.run("settings", "set", "ui.theme", "dark", "--json"), "storage")
    assert bound.json("settings", "get", "ui.theme")["value"] == "system"
    assert bound.json("sessions", "list") == {"sessions": []}
    doctor = bound.run("doctor", "--json")
    assert (doctor.code, doctor.document["ok"]) == (1, False)
    program.home.chmod(0o755)
    assert asking(program).json("ask", "x", *CHAT)["status"] == "complete"


def test_a_backup_names_what_of_a_home_cannot_be_read(
    program: Program, tmp_path: Path, without_rights: tuple[str, ...]
) -> None:
    demo, closed = program.home / "data/skills/demo", program.home / "data/skills/closed"
    for folder in (demo, closed, program.home / "config"):
        folder.mkdir(parents=True)
    (demo / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")
    (demo / "SKILL.md").write_bytes(b"x")
    (demo / "closed.md").write_bytes(b"x")
    (demo / "closed.md").chmod(0)
    closed.chmod(0)
    (program.home / "config/hooks").symlink_to("hooks")
    bound = replace(program, before=without_rights)
    try:
        done = bound.run("backup", str(tmp_path / "a.zip"), "--json")
    finally:
        closed.chmod(0o755)
    reasons = {left["path"]: left["reason"] for left in done.document["left_out"]}
    assert (done.code, len(reasons)) == (1, 4)
    assert "not UTF-8" in reasons["skills/demo/caf\\xe9.md"]
    assert "permission denied" in reasons["skills/closed"]
    assert "permission denied" in reasons["skills/demo/closed.md"]
    assert "symbolic links" in reasons["hooks"]
    assert not any("Errno" in reason for reason in reasons.values())
    with ZipFile(tmp_path / "a.zip") as archive:
        assert archive.read("skills/demo/SKILL.md") == b"x"


def test_a_home_that_has_become_read_only_is_still_read(
    program: Program,
    asking: TurnRunner,
    small_vault: Path,
    tmp_path: Path,
    without_rights: tuple[str, ...],
) -> None:
    session = asking(program).json("ask", "x", *CHAT)["session"]
    program.json("index", str(small_vault))
    files = [program.home, *program.home.rglob("*")]
    for file in files:
        file.chmod(file.stat().st_mode & 0o555)
    bound = replace(program, before=without_rights)
    try:
        assert bound.json("ledger")["calls"][-1]["session"] == session
        assert bound.json("sessions", "show", session)["entries"]
        found = bound.json("search", "barrel", "--vault", str(small_vault))
        assert found["hits"][0]["signals"]["dense"] is not None
        made = bound.json("backup", str(tmp_path / "b.zip"))
        assert (made["chats"], made["left_out"]) == (1, [])
        assert sorted(program.home.rglob("*")) == sorted(files[1:])
        why_not = bound.json("search", "barrel", "--vault", str(small_vault), "--why-not", "no.md")
        assert why_not["hits"] == found["hits"]
    finally:
        for file in files:
            file.chmod(file.stat().st_mode | 0o200)


def test_a_disk_that_is_full_stores_nothing_by_halves(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    small_disk = ("bash", "-c", 'ulimit -f 64; exec "$0" "$@"')
    full = replace(asking(program), before=small_disk)
    question = "Is there room? " * 8_000
    assert_refused(full.run("ask", "-", *CHAT, "--json", stdin=question), "storage", "disk is full")
    assert server.bodies == []
    assert not list(program.home.rglob("*.jsonl*"))
    assert asking(program).json("ask", "-", *CHAT, stdin=question)["status"] == "complete"


@pytest.mark.parametrize("blocks", [1, 64, 192, 300])
def test_an_index_on_a_full_disk_says_so_and_goes_on_when_there_is_room(
    program: Program, tmp_path: Path, blocks: int
) -> None:
    notes = many_notes(tmp_path / "many", 60)
    full = replace(program, before=("bash", "-c", f'ulimit -f {blocks}; exec "$0" "$@"'))
    done = full.run("index", str(notes), "--json")
    assert_refused(done, "storage", "The disk is full: ", "Nothing that was saved is lost")
    assert done.error["hint"] == "Make room on the disk and try again."
    report = program.json("index", str(notes))
    assert (report["notes"], report["failed"]) == (60, [])
    assert program.json("index", str(notes))["embedded_chunks"] == 0


@pytest.mark.parametrize("name", ["catalog.db", "catalog.db-wal", "catalog.db-shm"])
def test_a_folder_in_the_place_of_the_index_is_set_aside(
    program: Program, small_vault: Path, name: str
) -> None:
    vault = ("--vault", str(small_vault))
    program.json("index", *vault)
    (catalog,) = program.home.rglob("catalog.db")
    for number in range(4):  # one more than files are kept
        for file in (name, f"{name}-wal", f"{name}-shm"):
            (catalog.parent / file).unlink(missing_ok=True)
        (catalog.parent / name / str(number)).mkdir(parents=True)
        assert program.json("index", *vault)["notes"] == 5
    assert program.json("search", "barrel", *vault)["hits"]
    kept = {path.name for path in catalog.parent.rglob("?") if path.is_dir()}
    assert kept == {"0", "1", "2", "3"}


def test_a_folder_in_the_place_of_the_state_database_is_set_aside(
    program: Program, asking: TurnRunner
) -> None:
    asking(program).json("ask", "x", *CHAT)
    (state,) = program.home.rglob("state.db")
    for file in state.parent.glob("state.db*"):
        file.unlink()
    (state / "mine").mkdir(parents=True)
    done = asking(program).json("ask", "y", *CHAT)
    assert done["status"] == "complete"
    assert state.is_file()
    assert [path.parent.name for path in state.parent.rglob("mine")] == ["state.db.damaged"]


@pytest.mark.parametrize(
    ("content", "words"),
    [("autoCompactThreshold = 5\n", "4,000 to 2,000,000"), ("[vault\n", "line 1")],
)
def test_a_bad_settings_file_is_named_kept_and_mended(
    program: Program, content: str, words: str
) -> None:
    file = program.home / "config" / "settings.toml"
    file.parent.mkdir(parents=True)
    file.write_text(content)
    assert_refused(program.run("ask", "x", "--json"), "bad_setting", words)
    assert file.read_text() == content
    doctor = program.run("doctor", "--json")
    assert (doctor.code, doctor.document["ok"]) == (1, False)
    file.unlink()
    assert program.json("settings", "get", "autoCompactThreshold")["value"] == 128_000


def test_the_window_opens_and_closes(with_notes: Program) -> None:
    trial = replace(with_notes, environ=(("STRATA_EXIT_AFTER_SHOW", "1"),))
    done = trial.run()
    assert (done.code, done.out) == (0, ""), done


def test_all_is_well_says_the_doctor(with_notes: Program) -> None:
    report = with_notes.json("doctor")
    assert report["ok"], report
    assert {"name", "ok", "detail"} == set(report["checks"][0])
    names = [check["name"] for check in report["checks"]]
    assert {"settings", "chats", "keyring", "model", "vault"} <= set(names)


def test_a_folder_in_place_of_the_settings(program: Program, small_vault: Path) -> None:
    program.json("settings", "set", "vault.path", str(small_vault))
    settings = program.home / "config" / "settings.toml"
    kept = settings.read_bytes()
    settings.unlink()
    settings.mkdir()
    (settings / "mine.txt").write_text("mine")
    done = program.run("settings", "set", "ui.theme", "dark", "--json")
    assert_refused(done, "storage", str(settings), "is a folder")
    assert program.json("settings", "get", "ui.theme")["value"] == "system"
    doctor = program.run("doctor", "--json")
    assert "is a folder" in find_failed(doctor, "settings")
    assert (settings / "mine.txt").read_text() == "mine"
    settings.rename(settings.with_name("moved"))
    settings.write_bytes(kept)
    assert program.json("settings", "get", "vault.path")["value"] == str(small_vault)


def test_a_folder_in_place_of_the_ledger(
    program: Program, asking: TurnRunner, server: ModelServer
) -> None:
    ledger = program.home / "state" / "ledger.log"
    ledger.mkdir(parents=True)
    assert_refused(program.run("ledger", "--json"), "storage", str(ledger), "is a folder")
    assert "is a folder" in find_failed(program.run("doctor", "--json"), "files")
    done = asking(program).run("ask", "x", *CHAT, "--json")
    assert_refused(done, "storage", str(ledger), "was not made")
    assert server.bodies == []
    ledger.rmdir()
    assert program.json("ask", "x", *CHAT)["status"] == "complete"


def test_a_folder_in_place_of_a_chat(program: Program, asking: TurnRunner) -> None:
    asking(program)
    sessions = [program.json("ask", "x", *CHAT)["session"] for _ in range(2)]
    file = program.home / "data" / "sessions" / f"{sessions[0]}.jsonl"
    kept = file.read_bytes()
    file.unlink()
    file.mkdir()
    (file / "mine.txt").write_text("mine")
    for verb in (("sessions", "show", sessions[0]), ("ask", "y", *CHAT, "--session", sessions[0])):
        assert_refused(program.run(*verb, "--json"), "storage", str(file), "is a folder")
    deleted = program.run("sessions", "delete", sessions[0], "--yes", "--json")
    assert deleted.code != 0
    listed = program.json("sessions", "list")["sessions"]
    assert {chat["session"] for chat in listed} == {*sessions}
    assert sessions[0] in find_failed(program.run("doctor", "--json"), "chats")
    assert program.json("ask", "y", *CHAT, "--session", sessions[1])["status"] == "complete"
    assert (file / "mine.txt").read_text() == "mine"
    file.rename(file.with_name("moved"))
    file.write_bytes(kept)
    assert program.json("ask", "y", *CHAT, "--session", sessions[0])["status"] == "complete"


def find_failed(doctor: Done, name: str) -> str:
    """Return what the doctor says about a check that failed."""
    assert doctor.code == 1
    checks = doctor.document["checks"]
    return " ".join(c["detail"] for c in checks if c["name"] == name and not c["ok"])
