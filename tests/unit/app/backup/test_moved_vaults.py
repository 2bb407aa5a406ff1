"""Folders with another path: what is stored for them is found, after a move and after a restore."""

import json
import os
import random
import shutil
from contextlib import nullcontext, suppress
from pathlib import Path, PureWindowsPath
from typing import Any
from unittest.mock import patch

import pytest

from app.assistant import Assistant
from app.backup.restore import Restorer
from app.errors import InvalidRequest, StorageFailed
from app.library.attachment_paths import AGREED
from app.paths import Paths, hash_stored_path
from app.relocation.files import carry_stored
from app.relocation.folders import follow_moves, record_move
from app.wiring import build
from chains.cancel import CancelToken
from context.log.entries import MessageEntry
from context.messages import Message
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc
from tests.support.simulator.disk import Disk, Fault, Killed
from tests.support.simulator.process_memory import forget_all, remember_nothing
from tests.unit.app.backup.test_backup import back_up
from vault.edits.journal import EditRun
from vault.embedder import Embedder
from vault.errors import UndoRefused, VaultMissing

NOTES = {
    "Work/Plan.md": "# Plan\n\n- [ ] Call the plumber\n",
    "Home/Rules.md": "# Rules\n",
    "House.md": "# House\n\nSee [[Nowhere]].\n",
    **{f"Note {number}.md": f"# Note {number}\n\nAbout {number}.\n" for number in range(4)},
}


def write_vault(folder: Path) -> Path:
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def use_vault(assistant: Assistant, vault: Path) -> str:
    """Pin, dismiss, set and ask something in a vault, and return the id of the chat."""
    assistant.open_vault(vault, remember=True)
    assistant.pinned.add("open tasks")
    dismiss_all(assistant)
    projects = assistant.projects
    projects.add(str(vault / "Work"))
    projects.change("Work", "exclude", ["Secret*"])
    projects.memory("Work").write("- Ask the plumber first\n")
    projects.instructions("Home").write("Answer in French.")  # nothing else of it is stored
    with assistant.sessions.create(str(vault), "Work") as chat:
        place = chat.new_id(), None, chat.now()
        chat.append([MessageEntry(*place, Message("user", "Whom do I call?"), "t")])
    return chat.id


def dismiss_all(assistant: Assistant) -> None:
    *_, found = assistant.review.find(CancelToken())
    for finding in found.findings:
        assistant.review.dismiss(finding)


def describe(assistant: Assistant, vault: Path) -> dict[str, Any]:
    """Return what is found for a vault."""
    assistant.open_vault(vault, remember=False)
    *_, review = assistant.review.find(CancelToken())
    projects, (chat,) = assistant.projects, assistant.list_sessions()
    return {
        "pinned": [one.answer.question for one in assistant.pinned.list()],
        "findings": (len(review.findings), len(review.dismissed)),
        "projects": [(one.name, one.is_there) for one in projects.list()],
        "exclude": projects.settings("Work").exclude,
        "memory": projects.memory("Work").read().text,
        "instructions": projects.instructions("Home").read().text,
        "chat": (chat.vault, chat.project_folder),
    }


def expect(vault: Path) -> dict[str, Any]:
    return {
        "pinned": ["open tasks"],
        "findings": (0, 1),
        "projects": [("Work", True)],
        "exclude": ("Secret*",),
        "memory": "- Ask the plumber first\n",
        "instructions": "Answer in French.",
        "chat": (str(vault), vault / "Work"),
    }


@pytest.fixture
def other(tmp_path: Path, embedder: Embedder) -> Any:
    """An assistant on another machine."""
    assistant = build(Paths.find({"STRATA_HOME": str(tmp_path / "elsewhere")}), embedder=embedder)
    yield assistant
    assistant.close()


def restore(
    assistant: Assistant, source: Path, moved: dict[str, Path] | None = None
) -> dict[str, Any]:
    chats = assistant.sessions
    restorer = Restorer(assistant.paths, assistant.settings, chats, chats.state)
    *_, report = restorer.restore(source, merges=True, cancel=CancelToken(), moved=moved or {})
    return report.to_dict()


def index(assistant: Assistant, vault: Path) -> None:
    assistant.open_vault(vault, remember=False)
    list(assistant.index(CancelToken()))


@pytest.fixture
def vault(assistant: Assistant, tmp_path: Path) -> Path:
    """An indexed vault."""
    folder = write_vault(tmp_path / "Notes")
    index(assistant, folder)
    return folder


def test_a_vault_that_is_renamed_keeps_all_that_is_stored(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    use_vault(assistant, vault)
    assert describe(assistant, vault) == expect(vault)
    for name in ("Archive/Notes", "Notizen äöü", "a=b", "Notes"):  # and back again
        (tmp_path / name).parent.mkdir(exist_ok=True)
        vault = vault.rename(tmp_path / name)
        assert describe(assistant, vault) == expect(vault)
    assistant.settings.reload()
    # The index may be deleted at any time; the chats still lead to the vault.
    assert follow_moves(assistant.paths, str(tmp_path / "a=b")) == str(vault)


def test_edits_are_undone_where_the_vault_is_now(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    use_vault(assistant, vault)
    edits = assistant.user_edits
    edits.apply(edits.plan_append("House.md", "A line."))
    edits.create_note("Made/New.md", "New.")
    task = edits.toggle_task("Work/Plan.md", 3)
    for name in ("Archive/Notes", "Second"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        vault = vault.rename(tmp_path / name)
        index(assistant, vault)
    assert assistant.edits.undo(run=task.run).undone[0]["path"] == "Work/Plan.md"
    assert assistant.edits.undo().undone[0]["path"] == "Made/New.md"
    edited = (vault / "House.md").read_text()
    (vault / "House.md").write_text("Other text.")
    with pytest.raises(UndoRefused, match=r"House\.md has changed"):
        assistant.edits.undo()
    (vault / "House.md").write_text(edited)
    vault.rename(tmp_path / "Notes")  # and back again, before anybody has opened it
    assistant.edits.undo()
    found = {p.relative_to(tmp_path / "Notes") for p in (tmp_path / "Notes").rglob("*.md")}
    assert found == {*map(Path, NOTES)}
    assert all((tmp_path / "Notes" / name).read_text() == text for name, text in NOTES.items())


def test_edits_are_never_undone_in_a_new_folder_at_the_former_path(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    assistant.user_edits.toggle_task("Work/Plan.md", 3)
    ticked = (vault / "Work/Plan.md").read_bytes()
    here = vault.rename(tmp_path / "Moved")
    index(assistant, here)
    new = shutil.copytree(here, vault)
    assert assistant.edits.undo().undone[0]["path"] == "Work/Plan.md"
    assert (new / "Work/Plan.md").read_bytes() == ticked
    assert (here / "Work/Plan.md").read_text() == NOTES["Work/Plan.md"]
    index(assistant, new)
    task = assistant.user_edits.toggle_task("Work/Plan.md", 3)
    other = assistant.edits
    index(assistant, here)
    with pytest.raises(UndoRefused, match="not the open folder"):
        other.undo(run=task.run)
    with pytest.raises(UndoRefused, match="no edit to undo"):
        other.undo()
    index(assistant, new)
    other.undo()
    assert (new / "Work/Plan.md").read_bytes() == ticked


def test_the_projects_are_read_once_to_find_the_last_edit_of_the_open_vault(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    for number in range(3):
        assistant.user_edits.create_note(f"New {number}.md", "New.")
    index(assistant, write_vault(tmp_path / "Other"))
    with (
        patch.object(assistant.projects, "list", return_value=()) as listed,
        pytest.raises(UndoRefused, match="no edit to undo"),
    ):
        assistant.edits.undo()
    assert listed.call_count == 1
    assert (vault / "New 2.md").exists()


def test_a_move_between_disks_wins_over_a_new_folder_at_the_former_path(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    assistant.user_edits.toggle_task("Work/Plan.md", 3)
    here = shutil.copytree(vault, tmp_path / "Moved")  # as when it is moved to another disk
    shutil.rmtree(vault)
    index(assistant, here)
    shutil.copytree(here, vault)
    (vault / "Work/Plan.md").write_text("Other text.")
    assistant.edits.undo()
    assert (here / "Work/Plan.md").read_text() == NOTES["Work/Plan.md"]
    assert (vault / "Work/Plan.md").read_text() == "Other text."


def test_an_undo_is_refused_where_the_folder_at_the_path_may_be_another(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    assistant.user_edits.toggle_task("Work/Plan.md", 3)
    ticked = (vault / "Work/Plan.md").read_bytes()
    assistant.close()
    here = vault.rename(tmp_path / "Moved")  # and nobody has opened it
    shutil.copytree(here, vault)
    assistant.open_vault(vault, remember=False)
    with pytest.raises(UndoRefused, match="may be another one than the folder of this edit"):
        assistant.edits.undo()
    assert (vault / "Work/Plan.md").read_bytes() == ticked
    assistant.open_vault(here, remember=False)  # as the sentence says
    assistant.edits.undo()
    assert (vault / "Work/Plan.md").read_bytes() == ticked
    assert (here / "Work/Plan.md").read_text() == NOTES["Work/Plan.md"]


def test_edits_of_an_earlier_version_are_not_undone_where_two_folders_may_be_meant(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    assistant.user_edits.toggle_task("Work/Plan.md", 3)
    journal = assistant.paths.edits / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        line.pop("folder_id", None)
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    here = vault.rename(tmp_path / "Moved")
    index(assistant, here)
    shutil.copytree(here, vault)
    moves = json.loads(assistant.paths.moved_folders.read_text())
    times = moves.pop("times")
    assistant.paths.moved_folders.write_text(json.dumps(moves))
    with pytest.raises(UndoRefused, match=r"not the open folder|may be another"):
        assistant.edits.undo(run=lines[0]["run"])
    assistant.paths.moved_folders.write_text(json.dumps({**moves, "times": times}))
    assistant.edits.undo()
    assert (here / "Work/Plan.md").read_text() == NOTES["Work/Plan.md"]


def test_edits_of_vaults_that_have_changed_places_are_undone_in_their_own(
    assistant: Assistant, tmp_path: Path
) -> None:
    first, second = write_vault(tmp_path / "one/Notes"), write_vault(tmp_path / "two/Notes")
    for number in range(9):
        (second / f"Other {number}.md").write_text(f"# Other {number}\n")
    for vault in (second, first):
        index(assistant, vault)
        assistant.user_edits.toggle_task("Work/Plan.md", 3)
    for before, after in (
        (first, tmp_path / "spare"),
        (second, first),
        (tmp_path / "spare", second),
    ):
        assistant.close()
        before.rename(after)
        index(assistant, after)
    assistant.edits.undo()  # that of the first, which is at the path of the second
    text = NOTES["Work/Plan.md"]
    assert (second / "Work/Plan.md").read_text() == text
    assert (first / "Work/Plan.md").read_text() != text
    index(assistant, first)
    assistant.edits.undo()
    assert (first / "Work/Plan.md").read_text() == text


def test_notes_that_were_moved_before_the_vault_was_are_still_excluded(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    editor = assistant.edits.build_editor(vault, tuple)
    editor.apply(editor.plan_move("House.md", "Private/House.md"), EditRun("run"))
    vault = vault.rename(tmp_path / "here")
    index(assistant, vault)
    assert assistant.edits.list_moves(vault) == {"House.md": "Private/House.md"}


def test_edits_are_undone_on_the_machine_where_a_backup_was_restored(
    assistant: Assistant, other: Assistant, vault: Path, tmp_path: Path
) -> None:
    use_vault(assistant, vault)
    assistant.user_edits.create_note("Made/New.md", "New.")
    back_up(assistant, tmp_path / "b.zip")
    here = vault.rename(tmp_path / "here")
    restore(other, tmp_path / "b.zip")
    with pytest.raises(UndoRefused, match="is not there"):
        other.edits.undo()
    restore(other, tmp_path / "b.zip", {str(vault): here})
    other.edits.undo()
    assert not (here / "Made").exists()


def test_a_folder_that_only_edits_name_is_placed(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    vault = write_vault(tmp_path / "Notes")
    assistant.open_vault(vault, remember=False)
    assistant.user_edits.create_note("Made/New.md", "New.")
    back_up(assistant, tmp_path / "b.zip")
    here = vault.rename(tmp_path / "here")
    report = restore(other, tmp_path / "b.zip", {str(vault): here})
    assert report["failed"] == []
    other.edits.undo()
    assert not (here / "Made").exists()


def test_a_rename_leaves_nothing_under_the_former_name(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    use_vault(assistant, vault)
    before = list_stored(assistant)
    for name in ("Second", "Third"):
        vault = vault.rename(tmp_path / name)
        index(assistant, vault)
        stored = list_stored(assistant)
        assert len(stored) == len(before)
        assert not stored & before


def list_stored(assistant: Assistant) -> set[Path]:
    """Return the files whose names are made of the path of a folder."""
    paths = assistant.paths
    folders = (paths.pinned, paths.reviews, paths.projects, paths.kept_pages)
    return {path for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_two_vaults_that_change_places_keep_what_is_their_own(
    assistant: Assistant, tmp_path: Path
) -> None:
    first, second = write_vault(tmp_path / "one/Notes"), write_vault(tmp_path / "two/Notes")
    for number in range(9):
        (second / f"Other {number}.md").write_text(f"# Other {number}\n")
    index(assistant, second)
    index(assistant, first)
    use_vault(assistant, first)
    moves = ((first, tmp_path / "spare"), (second, first), (tmp_path / "spare", second))
    for before, after in moves:
        assistant.close()
        before.rename(after)
        index(assistant, after)
    assert [one.answer.question for one in assistant.pinned.list()] == ["open tasks"]
    assert assistant.projects.memory("Work").read().text
    index(assistant, first)
    assert assistant.pinned.list() == ()
    assert not assistant.projects.memory("Work").read().text


def test_a_backup_is_restored_to_another_path(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    vault, here = write_vault(tmp_path / "Notes"), write_vault(tmp_path / "here" / "My Notes")
    index(assistant, vault)
    use_vault(assistant, vault)
    back_up(assistant, tmp_path / "b.zip")
    vault.rename(tmp_path / "of the other machine")
    missing = restore(other, tmp_path / "b.zip")["missing"]
    assert [one["path"] for one in missing] == [str(vault)]
    with pytest.raises(VaultMissing):
        restore(other, tmp_path / "b.zip", {str(vault): tmp_path / "nowhere"})
    report = restore(other, tmp_path / "b.zip", {f"{vault}/": here})
    assert (report["failed"], report["missing"]) == ([], [])
    assert other.settings.get("vault.path") == str(here)
    index(other, here)
    assert describe(other, here) == expect(here)
    again = restore(other, tmp_path / "b.zip", {str(vault): here})
    assert (again["failed"], again["missing"]) == ([], [])
    assert describe(other, here) == expect(here)


def test_what_is_there_already_is_merged(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    vault, here = write_vault(tmp_path / "Notes"), write_vault(tmp_path / "here")
    index(assistant, vault)
    use_vault(assistant, vault)
    back_up(assistant, tmp_path / "b.zip")
    vault.rename(tmp_path / "of the other machine")
    index(other, here)
    other.pinned.add("tag:book")
    other.projects.add("Work")
    other.projects.change("Work", "exclude", ["Draft*"])
    other.projects.memory("Work").write("- Pay the plumber\n")
    restore(other, tmp_path / "b.zip", {str(vault): here})
    index(other, here)
    assert {one.answer.question for one in other.pinned.list()} == {"tag:book", "open tasks"}
    assert other.projects.settings("Work").exclude == ("Draft*", "Secret*")
    assert other.projects.memory("Work").read().text == (
        "- Pay the plumber\n- Ask the plumber first\n"
    )


def test_a_folder_that_nothing_names_is_said(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    back_up(assistant, tmp_path / "b.zip")
    report = restore(other, tmp_path / "b.zip", {"/no/such/vault": tmp_path})
    assert report["failed"] == [
        {"path": "/no/such/vault", "reason": "Nothing is stored for a folder /no/such/vault."}
    ]
    assert not other.paths.moved_folders.exists()


@pytest.mark.parametrize(
    ("old", "named"),
    [
        (r"D:\Notes", r"d:\notes"),
        (r"D:\Notes", "D:\\Notes\\"),
        (r"\\server\share\Notes", r"\\SERVER\share\Notes"),
        ("/home/ada/Notes", "/home/ada/Notes/"),
        ("//home/ada/Notes", "//home/ada/Notes"),
        ("/home/ada/D:=Notes", "/home/ada/D:=Notes"),
    ],
)
def test_paths_are_compared_as_on_the_system_they_are_of(
    assistant: Assistant, tmp_path: Path, old: str, named: str
) -> None:
    here = write_vault(tmp_path / "here")
    is_of_windows = old.startswith(("D:", "\\"))
    work = str(PureWindowsPath(old, "Work")) if is_of_windows else f"{old}/Work"
    with assistant.sessions.create(old, "Work") as chat:
        place = chat.new_id(), None, chat.now()
        chat.append([MessageEntry(*place, Message("user", "?"), "t")])
    paths = assistant.paths
    project = paths.projects / hash_stored_path(work)
    project.mkdir(parents=True)
    (project / "project.toml").write_text(f"folder = '{work}'\nmodel = 'a/b'\n")
    paths.pinned.mkdir(parents=True)
    (paths.pinned / f"{hash_stored_path(old)}.json").write_text('{"version": 1, "answers": []}')
    chats = assistant.sessions
    restorer = Restorer(paths, assistant.settings, chats, chats.state)
    assert restorer.place_folder(named, here) == ()
    assistant.open_vault(here, remember=False)
    assert [one.name for one in assistant.projects.list()] == ["Work"]
    assert assistant.projects.settings("Work").model == "a/b"
    assert assistant.list_sessions()[0].project_folder == here / "Work"
    kept = {file.stem for file in paths.pinned.iterdir()}
    assert kept == {hash_stored_path(str(here)), hash_stored_path(old)}


def test_a_folder_behind_a_link_is_one_folder(assistant: Assistant, tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "Notes")
    (tmp_path / "link").symlink_to(vault)
    index(assistant, tmp_path / "link")
    use_vault(assistant, vault)
    vault = vault.rename(tmp_path / "disk")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(vault)
    assert describe(assistant, tmp_path / "link") == expect(vault)


def test_a_project_outside_of_the_vault_can_be_placed_too(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    outside, here = tmp_path / "outside", tmp_path / "here"
    outside.mkdir()
    assistant.projects.add(str(outside))
    assistant.projects.change(str(outside), "model", "a/b")
    with assistant.sessions.create(None, str(outside)) as chat:
        place = chat.new_id(), None, chat.now()
        chat.append([MessageEntry(*place, Message("user", "?"), "t")])
    back_up(assistant, tmp_path / "b.zip")
    outside.rename(here)
    assert restore(other, tmp_path / "b.zip", {str(outside): here})["missing"] == []
    assert [one.folder for one in other.projects.list()] == [here]
    assert other.projects.settings(str(outside)).model == "a/b"
    assert other.list_sessions()[0].project_folder == here


def test_moves_are_followed_in_turn_and_never_in_a_circle(tmp_path: Path) -> None:
    paths = Paths.find({"STRATA_HOME": str(tmp_path / "home")})
    a, b, c = (str(tmp_path / name) for name in "abc")
    for old, new in ((a, b), (b, c)):
        record_move(paths, old, Path(new))
    assert follow_moves(paths, a) == a  # nothing is there
    (tmp_path / "c" / "in").mkdir(parents=True)
    assert follow_moves(paths, a) == c
    assert follow_moves(paths, os.path.join(a, "in")) == os.path.join(c, "in")
    assert follow_moves(paths, os.path.join(a, "gone")) == os.path.join(a, "gone")
    paths.moved_folders.write_text(json.dumps({"moves": {a: b, b: a, "x": 1}}))
    assert follow_moves(paths, a) == a
    for damage in ("", "[]", '{"moves": []}', "{"):
        paths.moved_folders.write_text(damage)
        assert follow_moves(paths, a) == a


def test_a_move_that_was_killed_is_finished_by_the_next(
    assistant: Assistant, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_vault(assistant, vault)
    here = vault.rename(tmp_path / "here")
    for allowed in range(12):
        left = allowed

        def rename(path: Path, to: Path) -> None:
            nonlocal left
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
            path.replace(to)

        with monkeypatch.context() as patch:
            patch.setattr("app.relocation.files.rename_path", rename)
            try:
                carry_stored(assistant.paths, str(vault), here, moves=True)
            except KeyboardInterrupt:
                continue
            break
    assert describe(assistant, here) == expect(here)


STORED = {
    ("pinned", "{}.json"): b'{"version": 1, "answers": [{"id": "a"}]}',
    ("reviews", "{}.json"): b'{"dismissed": ["a"]}',
    ("projects", "{}/memory.md"): b"- Ask the plumber first\n",
    ("projects", "{}/instructions.md"): b"Answer in French.",
    ("kept_pages", "{}/page.md"): b"A page.",
}


def find_stored(paths: Paths, folder: Path) -> dict[Path, bytes]:
    """Return the files of `STORED` with their contents, as they are stored for a folder."""
    name = hash_stored_path(str(folder))
    return {getattr(paths, kind) / file.format(name): text for (kind, file), text in STORED.items()}


def carry_killed(root: Path, moves: tuple[bool, bool], kill_at: int, seed: int) -> set[Path]:
    """Carry files over, kill that, do it again, and return what a power failure then loses."""
    paths, old, new = Paths.find({"STRATA_HOME": str(root / "home")}), root / "old", root / "new"
    new.mkdir(parents=True)
    for file, content in find_stored(paths, old).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    disk, chance = Disk(root), random.Random(seed)
    with remember_nothing(), disk.install():
        disk.begin(Fault("kill", kill_at), chance)
        with suppress(Killed):
            carry_stored(paths, str(old), new, moves=moves[0])
        if disk.is_dead:
            disk.settle()
        disk.end()
        forget_all()
        carry_stored(paths, str(old), new, moves=moves[1])
        disk.cut_power(chance)
        disk.settle()
    wanted = find_stored(paths, new).items()
    return {
        file for file, content in wanted if not (file.exists() and file.read_bytes() == content)
    }


@pytest.mark.parametrize("moves", [(True, True), (False, False), (False, True)])
@pytest.mark.parametrize("kill_at", [*range(1, 50), 1_000])
def test_what_was_carried_over_survives_a_power_failure(
    moves: tuple[bool, bool], kill_at: int, tmp_path: Path
) -> None:
    """The names of the files were not flushed, or those that a killed process had written."""
    for seed in range(8):
        assert carry_killed(tmp_path / f"disk{seed}", moves, kill_at, seed) == set()


def test_the_program_takes_the_present_path_at_each_door(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    use_vault(assistant, vault)
    back_up(assistant, tmp_path / "b.zip")
    here = vault.rename(tmp_path / "a=b")
    program = Program(tmp_path / "second")
    done = program.run("restore", str(tmp_path / "b.zip"), "--vault", f"{vault}={here}")
    assert (done.code, "not on this computer" in done.out) == (0, False), done.err
    (found,) = program.run("project", "list", "--json").document["projects"]
    assert found["folder"] == str(here / "Work")
    said = program.run("restore", str(tmp_path / "b.zip"), "--vault", "nonsense")
    assert (said.code, "nonsense is not OLD=NEW" in said.err) == (2, True)
    rpc = Rpc(Program(tmp_path / "third"))
    report = rpc.do("restore", path=str(tmp_path / "b.zip"))
    assert [one["path"] for one in report["missing"]] == [str(vault)]
    moved = {str(vault): str(here)}
    assert (
        rpc.do("restore", path=str(tmp_path / "b.zip"), merge=True, vaults=moved)["missing"] == []
    )
    rpc.close()


def test_a_copy_takes_nothing_from_a_vault_that_is_away(
    assistant: Assistant, tmp_path: Path
) -> None:
    vault = write_vault(tmp_path / "media/A")
    index(assistant, vault)
    use_vault(assistant, vault)
    copy = shutil.copytree(vault, tmp_path / "copy")
    drive = (tmp_path / "media").rename(tmp_path / "media.unplugged")
    index(assistant, copy)
    assert describe_own(assistant, copy) == expect_own("Work")
    assistant.projects.change("Work", "exclude", [])
    (answer,) = assistant.pinned.list()
    assistant.pinned.remove(answer.answer.id)
    drive.rename(tmp_path / "media")  # while the copy is open
    index(assistant, vault)
    assert describe_own(assistant, vault) == expect_own("Work")
    index(assistant, copy)
    assert assistant.pinned.list() == ()
    assert assistant.projects.settings("Work").exclude == ()


def describe_own(assistant: Assistant, vault: Path) -> dict[str, Any]:
    """Return what is stored for a vault itself, and the projects in it."""
    found = describe(assistant, vault)
    projects = [one for one in found.pop("projects") if not Path(one[0]).is_absolute()]
    del found["chat"]
    return {**found, "projects": projects}


def expect_own(*projects: str) -> dict[str, Any]:
    expected = {**expect(Path()), "projects": [(name, True) for name in projects]}
    del expected["chat"]
    return expected


def test_a_new_vault_with_the_inode_of_a_deleted_one_takes_no_pins(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    use_vault(assistant, vault)
    new = vault.rename(tmp_path / "new")
    for name in NOTES:
        if name != "House.md":  # as of a template
            (new / name).write_text(f"Other {name}.")
    index(assistant, new)
    assert assistant.pinned.list() == ()
    assert assistant.projects.settings("Work").exclude == ()
    for name, text in NOTES.items():
        (new / name).write_text(text)
    index(assistant, new.rename(vault))
    assert [one.answer.question for one in assistant.pinned.list()] == ["open tasks"]


def test_a_restore_takes_nothing_from_a_folder_of_this_computer(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    vault, here = write_vault(tmp_path / "Notes"), write_vault(tmp_path / "here")
    index(other, vault)
    use_vault(other, vault)
    back_up(assistant, tmp_path / "b.zip")
    for old in (str(vault), f"{vault}/", str(tmp_path)):
        with pytest.raises(InvalidRequest, match="is on this computer"):
            restore(other, tmp_path / "b.zip", {old: here})
    assert other.settings.get("vault.path") == str(vault)
    assert describe(other, vault) == expect(vault)
    away = vault.rename(tmp_path / "away")
    restore(other, tmp_path / "b.zip", {str(vault): here})
    away.rename(vault)
    assert describe_own(other, vault) == expect_own("Work")


def test_a_folder_around_vaults_is_placed_with_all_that_is_in_it(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    old, new = tmp_path / "home/me", tmp_path / "home/you"
    second, vault = write_vault(old / "Second"), write_vault(old / "Docs/Notes")
    index(assistant, second)
    assistant.pinned.add("tag:book")  # no chat and no setting names it
    index(assistant, vault)
    use_vault(assistant, vault)
    back_up(assistant, tmp_path / "b.zip")
    old.rename(new)
    report = restore(other, tmp_path / "b.zip", {str(old): new})
    assert (report["failed"], report["missing"]) == ([], [])
    vault = new / "Docs/Notes"
    assert other.settings.get("vault.path") == str(vault)
    index(other, vault)
    assert describe(other, vault) == expect(vault)
    other.open_vault(new / "Second", remember=False)
    assert [one.answer.question for one in other.pinned.list()] == ["tag:book"]


@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_kept_transcript_is_read_where_its_file_is_now(
    assistant: Assistant, other: Assistant, tmp_path: Path, is_hidden: bool
) -> None:
    old, new = tmp_path / "home/me", tmp_path / "home/you"
    vault = write_vault(old / "Notes")
    call = old / (".calls/a.vtt" if is_hidden else "Calls/a.vtt")
    call.parent.mkdir()
    call.write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nThe plumber comes on Monday.\n")
    index(assistant, vault)
    use_vault(assistant, vault)
    pages = assistant.projects.pages("Work")
    named = f"{AGREED}{call}" if is_hidden else str(call)
    kept = assistant.pages.add(pages, named, CancelToken())
    assert str(old) in kept.address
    back_up(assistant, tmp_path / "b.zip")
    old.rename(new)
    call = new / call.relative_to(old)
    call.write_text(call.read_text().replace("Monday", "Friday"))
    restore(other, tmp_path / "b.zip", {str(old): new})
    other.open_vault(new / "Notes", remember=False)
    pages = other.projects.pages("Work")
    found = other.pages.find(pages, str(call))
    refreshed = other.pages.refresh(pages, found, CancelToken())
    assert (refreshed.problem, refreshed.is_changed) == ("", True)
    assert "Friday" in refreshed.text
    assert [one.id for one in pages.list()] == [kept.id]
    added = other.pages.add(pages, f"{AGREED}{call}" if is_hidden else str(call), CancelToken())
    assert added.id == kept.id
    assert [one.id for one in pages.list()] == [kept.id]


@pytest.mark.parametrize("error", [KeyboardInterrupt, StorageFailed])
def test_stored_data_follows_an_index_that_was_taken_over(
    assistant: Assistant,
    vault: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
) -> None:
    use_vault(assistant, vault)
    assistant.close()
    here = vault.rename(tmp_path / "here")

    def fail(*_args: object) -> None:
        raise error("no room")

    with monkeypatch.context() as patch:
        patch.setattr("app.relocation.files.record_move", fail)
        opens = pytest.raises(error) if error is KeyboardInterrupt else nullcontext()
        with opens:
            assistant.open_vault(here, remember=False)
    assert describe(assistant, here) == expect(here)
