import errno
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from context.json_codec import encode
from resources.system.calls import Folder
from vault.edits.editor import NoteEditor
from vault.edits.journal import EditJournal, EditRun
from vault.edits.plan import EditPlan
from vault.errors import (
    EditFailed,
    EditOutdated,
    EditRefused,
    NoteExcluded,
    NoteUnreadable,
    UnsafePath,
    VaultError,
)

RUN = EditRun("run", "chat")


def list_files(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_a_plan_shows_the_change_and_writes_nothing_until_it_is_applied(
    root: Path, editor: NoteEditor
) -> None:
    (root / "a.md").write_text("one\ntwo\n")
    plan = editor.plan_replacement("a.md", "two", "three")
    assert plan.diff == "--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    assert list_files(root) == {"a.md": b"one\ntwo\n"}
    editor.apply(plan, RUN)
    assert list_files(root) == {"a.md": b"one\nthree\n"}


def test_a_note_that_changed_after_the_plan_is_left_as_it_is(
    root: Path, editor: NoteEditor
) -> None:
    (root / "a.md").write_text("one\n")
    plans = [editor.plan_append("a.md", "two"), editor.plan_move("a.md", "b.md")]
    (root / "a.md").write_text("newer\n")
    for plan in plans:
        with pytest.raises(EditOutdated, match=r"a\.md changed"):
            editor.apply(plan, RUN)
    assert list_files(root) == {"a.md": b"newer\n"}


def test_a_note_that_appeared_meanwhile_is_not_replaced(root: Path, editor: NoteEditor) -> None:
    (root / "a.md").write_text("one\n")
    plans = [editor.plan_create("b.md", "mine"), editor.plan_move("a.md", "b.md")]
    (root / "b.md").write_text("theirs")
    for plan in plans:
        with pytest.raises(EditOutdated):
            editor.apply(plan, RUN)
    assert list_files(root) == {"a.md": b"one\n", "b.md": b"theirs"}


def test_the_mode_of_a_note_is_kept_and_a_new_one_has_the_usual_mode(
    root: Path, editor: NoteEditor
) -> None:
    (root / "a.md").write_text("one\n")
    (root / "a.md").chmod(0o640)
    editor.apply(editor.plan_append("a.md", "two"), RUN)
    editor.apply(editor.plan_create("new/b.md", "two"), RUN)
    usual = root / "usual"
    usual.touch()
    assert (root / "a.md").stat().st_mode & 0o777 == 0o640
    assert (root / "new/b.md").stat().st_mode == usual.stat().st_mode


def test_only_the_notes_of_a_project_are_edited(root: Path, journal: EditJournal) -> None:
    (root / "in").mkdir()
    for path in ("a.md", "in/b.md"):
        (root / path).write_text("one\n")
    editor = NoteEditor(root, journal, outside=("/*", "!/in/"))
    editor.apply(editor.plan_append("in/b.md", "two"), RUN)
    editor.apply(editor.plan_create("in/c.md", "x"), RUN)
    for plan in (
        lambda: editor.plan_append("a.md", "two"),
        lambda: editor.plan_move("a.md", "in/d.md"),
        lambda: editor.plan_create("d.md", "x"),
    ):
        with pytest.raises(EditRefused, match="not in this project"):
            plan()
    assert editor.plan_move("in/b.md", "b.md").is_out_of_reach
    assert not editor.plan_move("in/b.md", "in/d.md").is_out_of_reach


def test_a_full_path_inside_the_vault_is_accepted(root: Path, editor: NoteEditor) -> None:
    (root / "a.md").write_text("one\n")
    editor.apply(editor.plan_append(f"{root}/a.md", "two"), RUN)
    editor.apply(editor.plan_move("a.md", f"{root}/b.md"), RUN)
    assert list_files(root) == {"b.md": b"one\n\ntwo\n"}


def test_a_link_in_the_vault_stays_a_link(root: Path, editor: NoteEditor) -> None:
    (root / "a.md").write_text("one\n")
    (root / "link.md").symlink_to("a.md")
    editor.apply(editor.plan_append("link.md", "two"), RUN)
    assert (root / "link.md").is_symlink()
    assert (root / "a.md").read_text() == "one\n\ntwo\n"


@pytest.mark.parametrize("path", ["../x.md", "/etc/x.md", "out/x.md", "a\0.md"])
def test_nothing_outside_the_vault_is_written(
    root: Path, editor: NoteEditor, path: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "out").symlink_to(outside)
    (root / "a.md").write_text("one\n")
    for plan in (lambda: editor.plan_create(path, "x"), lambda: editor.plan_move("a.md", path)):
        with pytest.raises(UnsafePath):
            plan()
    assert list(outside.iterdir()) == []


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(
    root: Path, editor: NoteEditor, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "in").mkdir()
    plan = editor.plan_create("in/x.md", "x")
    (root / "in").rmdir()
    (root / "in").symlink_to(outside)
    with pytest.raises(UnsafePath):
        editor.apply(plan, RUN)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "error"),
    [
        (".obsidian/x.md", NoteExcluded),
        (".x.md", NoteExcluded),
        ("drafts/x.md", NoteExcluded),
        ("x.sh", EditRefused),
        ("x.pdf", EditRefused),
        ("x.canvas", EditRefused),
        ("a[b.md", EditRefused),
        ("a\nb.md", EditRefused),
        (" a.md", EditRefused),
        ("É" * 200 + ".md", EditRefused),
        ("THERE.md", EditRefused),
        ("caf\u00e9", EditRefused),
    ],
)
def test_a_new_note_has_an_allowed_path_and_a_name_of_its_own(
    root: Path, editor: NoteEditor, path: str, error: type[VaultError]
) -> None:
    (root / "there.md").touch()
    (root / "cafe\u0301.md").touch()
    with pytest.raises(error):
        editor.plan_create(path, "x")


UNFIT_PATHS = {
    f"{'x' * 300}.md": "too long",
    f"{'日' * 90}.md": "too long",
    f"{'x' * 300}/a.md": "too long",
    "/".join(["folder"] * 200) + "/a.md": "too long",
    "CON.md": "reserves the name CON",
    "com1.notes.md": "reserves the name com1",
    "nul/a.md": "reserves the name nul",
    "Folder./a.md": "end with a dot",
    "a .md": "ends with a blank",
    "Folder /a.md": "ends with a blank",
    "a\0b.md": "not a path inside the vault",
    "\u202edm.exe.md": "cannot contain U\\+202E",
    "a\u2066b\u2069.md": "cannot contain U\\+2066",
    "\u202aFolder/a.md": "cannot contain U\\+202A",
    "note.md/x.md": "note.md is a file",
    "note.md/sub/x.md": "note.md is a file",
    "link.md/x.md": "note.md is a file",
}


@pytest.mark.parametrize("path", UNFIT_PATHS)
def test_a_path_that_no_note_may_have_is_refused_with_the_reason(
    root: Path, editor: NoteEditor, path: str
) -> None:
    (root / "note.md").write_text("one\n")
    (root / "link.md").symlink_to("note.md")
    for plan in (
        lambda: editor.plan_create(path, "text"),
        lambda: editor.plan_move("note.md", path),
    ):
        with pytest.raises((EditRefused, UnsafePath), match=UNFIT_PATHS[path]):
            plan()
    assert list_files(root).keys() == {"note.md", "link.md"}


@pytest.mark.parametrize(
    "name",
    [
        "\u0646\u200c\u0645.md",
        "\U0001f468\u200d\U0001f33e.md",
        "e\u0301.md",
        "\u200eא.md",
        "Comb.md",
    ],
)
def test_a_name_may_have_what_spelling_needs(root: Path, editor: NoteEditor, name: str) -> None:
    editor.apply(editor.plan_create(name, "text"), RUN)
    assert list(list_files(root)) == [name]


@pytest.mark.parametrize("path", [f"{'x' * 300}.md", "a\0.md", "note.md/x.md", "\ud800.md"])
def test_a_note_that_cannot_be_there_is_not_edited(
    root: Path, editor: NoteEditor, path: str
) -> None:
    (root / "note.md").write_text("one\n")
    for plan in (
        lambda: editor.plan_append(path, "text"),
        lambda: editor.plan_replacement(path, "one", "two"),
        lambda: editor.plan_move(path, "b.md"),
    ):
        with pytest.raises(VaultError):
            plan()


def test_notes_that_a_model_may_not_read_are_not_edited(root: Path, editor: NoteEditor) -> None:
    (root / "drafts").mkdir()
    (root / "drafts/d.md").write_text("x")
    (root / "secret.md").write_text("x #private")
    (root / ".hidden.md").write_text("x")
    for path in ("drafts/d.md", "secret.md", ".hidden.md"):
        for plan in (
            lambda path=path: editor.plan_replacement(path, "x", "y"),
            lambda path=path: editor.plan_append(path, "y"),
            lambda path=path: editor.plan_move(path, "y.md"),
        ):
            with pytest.raises(NoteExcluded):
                plan()
    (root / "page.html").write_text("x")
    with pytest.raises((EditRefused, NoteUnreadable)):
        editor.plan_append("page.html", "y")


@pytest.mark.parametrize(
    ("to", "path"),
    [
        ("b/", "b/a.md"),
        ("b", "b/a.md"),
        ("c", "c.md"),
        ("ü/日本 語.md", "ü/日本 語.md"),
        ("A.md", "A.md"),
    ],
)
def test_a_note_is_moved_to_a_folder_or_a_name(
    root: Path, editor: NoteEditor, to: str, path: str
) -> None:
    (root / "a.md").write_text("x")
    (root / "b").mkdir()
    editor.apply(editor.plan_move("a.md", to), RUN)
    assert list_files(root) == {path: b"x"}


def test_a_move_to_where_a_rule_excludes_the_note_is_told(root: Path, editor: NoteEditor) -> None:
    (root / "a.md").write_text("x")
    assert editor.plan_move("a.md", "drafts/").is_out_of_reach
    assert not editor.plan_move("a.md", "b.md").is_out_of_reach


def test_a_name_with_bytes_of_no_text_is_edited_by_the_name_that_is_shown(
    root: Path, editor: NoteEditor
) -> None:
    name = os.fsdecode(b"odd\xff.md")
    (root / name).write_text("x\n")
    editor.apply(editor.plan_append(r"odd\xff.md", "y"), RUN)
    assert (root / name).read_text() == "x\n\ny\n"
    assert encode(editor.history.undo_run("run"))["undone"][0]["path"] == r"odd\xff.md"
    assert (root / name).read_text() == "x\n"


def plan_all(editor: NoteEditor) -> list[EditPlan]:
    return [
        editor.plan_append("a.md", "two"),
        editor.plan_create("new/c.md", "x"),
        editor.plan_move("a.md", "new/a2.md"),
    ]


def fail_from(number: int, real: Callable[..., object]) -> Callable[..., object]:
    calls = itertools.count(1)

    def call(*args: object) -> object:
        if next(calls) >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args)

    return call


@pytest.mark.parametrize(("call", "number"), [("write", 1), ("write", 4), ("fsync", 6)])
def test_a_full_disk_changes_nothing_and_is_said(
    root: Path, editor: NoteEditor, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    (root / "a.md").write_text("one\n")
    (root / "b.md").write_text("[[a]]\n")
    before = list_files(root)
    for plan in plan_all(editor):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, fail_from(number, getattr(os, call)))
            with pytest.raises(EditFailed, match=r"disk is full|No space"):
                editor.apply(plan, RUN)
        assert list_files(root) == before
        assert not (root / "new").exists()


@pytest.mark.parametrize(
    ("edit", "number"), [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (2, 4)]
)
def test_an_edit_whose_folder_cannot_be_flushed_is_taken_back(
    root: Path,
    editor: NoteEditor,
    journal: EditJournal,
    monkeypatch: pytest.MonkeyPatch,
    edit: int,
    number: int,
) -> None:
    """The note was there, though the edit had failed: seed 62000004 of the simulator."""
    (root / "a.md").write_text("one\n")
    (root / "b.md").write_text("[[a]]\n")
    before, sync, calls = list_files(root), Folder.sync, itertools.count(1)

    def fail_once(folder: Folder) -> None:
        if next(calls) == number:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(folder)

    monkeypatch.setattr(Folder, "sync", fail_once)
    with pytest.raises(EditFailed):
        editor.apply(plan_all(editor)[edit], RUN)
    assert list_files(root) == before
    assert not (root / "new").exists()
    assert {step.mark for step in journal.read()} == {"failed"}


def test_a_folder_that_may_only_be_read_is_said(
    root: Path, editor: NoteEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_text("one\n")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    plans = plan_all(editor)
    for name in ("link", "replace", "mkdir"):
        monkeypatch.setattr(os, name, refuse)
    for plan in plans[:2]:
        with pytest.raises(EditFailed):
            editor.apply(plan, RUN)
    assert list_files(root) == {"a.md": b"one\n"}


@pytest.mark.parametrize("name", ["a.md", "journal.jsonl"])
def test_a_disk_that_can_only_be_read_is_not_a_matter_of_permissions(
    root: Path, editor: NoteEditor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (root / "a.md").write_text("one\n")
    plan, real = editor.plan_append("a.md", "two"), os.open

    def open_file(path: str | Path, flags: int, *args: int, **named: int) -> int:
        if Path(path).name == name and flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, flags, *args, **named)

    monkeypatch.setattr(os, "open", open_file)
    monkeypatch.setattr(os, "access", lambda *_args, **_named: False)
    with pytest.raises(EditFailed, match=r"disk (can only be read|writable)") as failed:
        editor.apply(plan, RUN)
    assert "permission" not in str(failed.value)


def test_an_edit_is_in_the_journal_before_the_note_changes(
    root: Path, editor: NoteEditor, journal: EditJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_text("one\n")
    seen: list[tuple[str, bytes, bytes]] = []
    real = os.replace

    def replace(source: str, target: str, **named: int) -> None:
        if target == "a.md":
            [step] = journal.read()
            seen.append((step.mark, journal.load(step.before or ""), journal.load(step.after)))
        real(source, target, **named)

    monkeypatch.setattr(os, "replace", replace)
    editor.apply(editor.plan_append("a.md", "two"), RUN)
    [step] = journal.read()
    assert seen == [("begun", b"one\n", b"one\n\ntwo\n")]
    assert (step.mark, step.run, step.session, step.path) == ("done", "run", "chat", "a.md")


def test_a_disk_without_hard_links_is_written_too(
    root: Path, editor: NoteEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    editor.apply(editor.plan_create("a.md", "x"), RUN)
    editor.apply(editor.plan_move("a.md", "in/b.md"), RUN)
    assert list_files(root) == {"in/b.md": b"x"}
    plan = editor.plan_create("c.md", "mine")
    (root / "c.md").write_text("theirs")
    with pytest.raises(EditOutdated):
        editor.apply(plan, RUN)
    (root / "c.md").unlink()
    editor.history.undo_run("run")
    assert list_files(root) == {}


@pytest.mark.parametrize("is_new", [True, False])
def test_a_temporary_file_that_cannot_be_removed_does_not_fail_the_edit(
    root: Path, editor: NoteEditor, is_new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_text("one\n")

    def refuse(_folder: Folder, name: str) -> None:
        raise PermissionError(errno.EACCES, "refused", name)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "remove_file", refuse)
        plan = editor.plan_create("b.md", "two") if is_new else editor.plan_append("a.md", "two")
        editor.apply(plan, RUN)
    left = [name for name in list_files(root) if name.endswith(".tmp")]
    assert len(left) == is_new
    editor.history.remove_leftovers()
    assert list_files(root).keys() == {"a.md", "b.md"} if is_new else {"a.md"}
    editor.history.undo_run(RUN.id)
    assert list_files(root) == {"a.md": b"one\n"}
