"""`strata undo` and `/undo`."""

import json
from pathlib import Path

import pytest

from app import commands
from app.assistant import Assistant
from app.cli.parser import run
from app.errors import describe
from app.paths import Paths
from vault.edits.editor import NoteEditor
from vault.edits.journal import EditJournal, EditRun
from vault.errors import UndoRefused


@pytest.fixture
def editor(tmp_path: Path) -> NoteEditor:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.md").write_text("one\n")
    editor = NoteEditor(root, EditJournal(Paths.find().edits))
    for session, text in (("chat1", "two"), ("chat2", "three")):
        editor.apply(editor.plan_append("a.md", text), EditRun(f"run of {session}", session))
    return editor


def undo(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    code = run(["undo", *argv], lambda _: 1)
    out, err = capsys.readouterr()
    return code, out + err


def test_undo_prints_the_run_and_its_notes(
    editor: NoteEditor, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, said = undo(capsys, "--json")
    document = json.loads(said)
    assert (code, document["run"]) == (0, "run of chat2")
    assert [(step["path"], len(step["edit"])) for step in document["undone"]] == [("a.md", 8)]
    assert undo(capsys, "--session", "chat1") == (0, "1 edit undone: a.md.\n")
    assert (tmp_path / "notes/a.md").read_text() == "one\n"
    code, said = undo(capsys)
    assert (code, "There is no edit to undo." in said) == (1, True)


def test_a_refused_undo_names_the_note_and_fails(
    editor: NoteEditor, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = undo(capsys, "--run", "run of chat1", "--json")
    error = json.loads(said)["error"]
    assert (code, error["code"], "a.md has changed" in error["message"]) == (1, "bad_request", True)


@pytest.mark.parametrize("option", ["--run", "--edit"])
def test_an_unknown_edit_is_not_found(
    editor: NoteEditor, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    code, said = undo(capsys, option, "nowhere", "--json")
    assert (code, json.loads(said)["error"]["code"]) == (1, "not_found")


def test_undo_in_a_chat_undoes_the_last_run_of_that_chat(
    editor: NoteEditor, assistant: Assistant
) -> None:
    found = commands.parse("/undo")
    assert found is not None
    situation = commands.Situation("chat2")
    said = commands.run(assistant, situation, *found)
    assert said.markdown == "1 edit undone: a.md.\n"
    with pytest.raises(UndoRefused, match="no edit in this chat") as refused:
        commands.run(assistant, situation, *found)
    assert describe(refused.value).code == "not_found"
    assert commands.run(assistant, commands.Situation(None), *found).markdown


def test_a_temporary_file_of_a_killed_edit_is_removed_at_the_next_start(
    editor: NoteEditor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [step] = editor.apply(editor.plan_append("a.md", "four"), EditRun("killed"))
    journal = EditJournal(Paths.find().edits)
    journal.mark([step], "begun")
    (tmp_path / "notes" / step.temporary).write_text("half")
    assert run(["sessions", "list"], lambda _: 1) == 0
    capsys.readouterr()
    assert [file.name for file in (tmp_path / "notes").iterdir()] == ["a.md"]
