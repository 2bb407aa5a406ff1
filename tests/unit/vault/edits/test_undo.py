import json
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.json_codec import encode
from tests.support.kills.killed_edits import kill_edits
from vault.edits.editor import NoteEditor
from vault.edits.files import remove_temporary
from vault.edits.journal import EditJournal, EditRun, hash_content, parse_journal
from vault.edits.undo import EditHistory, build_change_diff
from vault.errors import EditFailed, EditRefused, NoteUnreadable, UndoRefused

RUN = EditRun("run", "chat")


def list_files(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.fixture
def edited(root: Path, editor: NoteEditor) -> dict[str, bytes]:
    """Return the files before a run of edits of several kinds, some of the same note."""
    (root / "a.md").write_bytes("\ufeffÄ one\r\ntwo\r\n".encode("utf-16-le"))
    (root / "b.md").write_text("see [[a]] and [[c]]\n")
    (root / "c.md").write_text("c\n")
    before = list_files(root)
    editor.apply(editor.plan_replacement("a.md", "two", "2"), RUN)
    editor.apply(editor.plan_append("a.md", "three"), RUN)
    editor.apply(editor.plan_move("a.md", "deep/er/new.md"), RUN)
    editor.apply(editor.plan_create("deep/made.md", "made"), RUN)
    editor.apply(editor.plan_replacement("deep/er/new.md", "three", "3"), RUN)
    return before


def test_a_run_is_undone_to_the_same_bytes_by_another_process(
    root: Path, tmp_path: Path, edited: dict[str, bytes]
) -> None:
    history = EditHistory(EditJournal(tmp_path / "state" / "edits"))
    assert history.find_last_run() == history.find_last_run("chat") == "run"
    undone = encode(history.undo_run("run"))
    assert list_files(root) == edited
    assert not (root / "deep").exists()
    assert [step["path"] for step in undone["undone"]] == [  # type: ignore[attr-defined]
        *("a.md", "a.md", "a.md", "b.md", "deep/made.md", "deep/er/new.md")
    ]
    with pytest.raises(UndoRefused, match="was undone already"):
        history.undo_run("run")
    with pytest.raises(UndoRefused, match="no edit to undo"):
        history.find_last_run()


@pytest.mark.parametrize("is_damaged", [True, False])
def test_an_edit_whose_record_was_damaged_is_not_told_as_undone(
    root: Path, tmp_path: Path, editor: NoteEditor, is_damaged: bool
) -> None:
    """A flipped bit named a note that was not there: seed 84000008 of the simulator."""
    editor.apply(editor.plan_create("made4.md", "made"), RUN)
    journal = tmp_path / "state" / "edits" / "journal.jsonl"
    (root / "made4.md").rename(root / "kept.md")
    if is_damaged:
        journal.write_bytes(journal.read_bytes().replace(b"made4.md", b"made0.md"))
        with pytest.raises(UndoRefused, match="record of this edit was damaged"):
            EditHistory(EditJournal(journal.parent)).undo_run("run")
    else:
        EditHistory(EditJournal(journal.parent)).undo_run("run")
    assert list_files(root) == {"kept.md": b"made"}


def test_the_net_changes_of_a_run_join_the_edits_of_each_note(
    editor: NoteEditor, edited: dict[str, bytes]
) -> None:
    linked, moved, made = editor.history.list_net_changes("run")
    assert build_change_diff(moved) == (
        "rename from a.md\nrename to deep/er/new.md\n--- a.md\n+++ deep/er/new.md\n"
        "@@ -1,2 +1,4 @@\n Ä one\n-two\n+2\n+\n+3\n"
    )
    assert build_change_diff(linked).endswith("-see [[a]] and [[c]]\n+see [[new]] and [[c]]\n")
    assert (made.path, made.old_path, made.before, made.after) == (
        *("deep/made.md", "", None),
        b"made",
    )
    assert editor.history.list_changed_paths("run") == (
        *("a.md", "deep/er/new.md", "b.md", "deep/made.md"),
    )


def test_a_newer_text_is_never_lost(
    root: Path, editor: NoteEditor, edited: dict[str, bytes]
) -> None:
    (root / "b.md").write_text("newer")
    before = list_files(root)
    with pytest.raises(UndoRefused, match=r"b\.md has changed since") as refused:
        editor.history.undo_run("run")
    assert refused.value.paths == ("b.md",)
    assert list_files(root) == before


def test_a_note_that_is_gone_or_moved_by_hand_is_named(
    root: Path, editor: NoteEditor, edited: dict[str, bytes]
) -> None:
    (root / "deep/er/new.md").rename(root / "elsewhere.md")
    before = list_files(root)
    with pytest.raises(UndoRefused, match=r"deep/er/new\.md has changed"):
        editor.history.undo_run("run")
    assert list_files(root) == before


def test_one_edit_is_undone_alone_unless_another_one_followed_in_the_note(
    root: Path, editor: NoteEditor
) -> None:
    (root / "a.md").write_text("1\n")
    [first] = editor.apply(editor.plan_append("a.md", "2"), RUN)
    [second] = editor.apply(editor.plan_append("a.md", "3"), RUN)
    with pytest.raises(UndoRefused):
        editor.history.undo_edit(first.id)
    editor.history.undo_edit(second.id)
    assert (root / "a.md").read_text() == "1\n\n2\n"
    [net] = editor.history.list_net_changes("run")
    assert net.after == b"1\n\n2\n"
    editor.history.undo_run("run")
    assert (root / "a.md").read_text() == "1\n"


def test_runs_are_undone_from_the_last_one_back_and_by_chat(root: Path, editor: NoteEditor) -> None:
    for name in ("one", "two"):
        editor.apply(editor.plan_create(f"{name}.md", name), EditRun(name, f"chat {name}"))
    history = editor.history
    assert history.find_last_run("chat one") == "one"
    history.undo_run(history.find_last_run())
    assert list_files(root) == {"one.md": b"one"}
    assert history.find_last_run() == "one"
    with pytest.raises(UndoRefused, match="not in the journal"):
        history.undo_run("three")


def test_a_vault_that_is_not_mounted_is_said(
    root: Path, editor: NoteEditor, edited: dict[str, bytes]
) -> None:
    root.rename(root.with_name("away"))
    with pytest.raises(UndoRefused, match="Mount its drive"):
        editor.history.undo_run("run")


def test_a_cut_line_and_a_lost_text_of_the_journal_are_survived(
    root: Path, editor: NoteEditor, journal: EditJournal, tmp_path: Path
) -> None:
    (root / "a.md").write_text("1\n")
    editor.apply(editor.plan_append("a.md", "2"), RUN)
    with (tmp_path / "state/edits/journal.jsonl").open("a") as file:
        file.write('{"id": "cut')
    editor.apply(editor.plan_append("a.md", "3"), EditRun("later"))
    editor.history.undo_run("later")
    for content in (tmp_path / "state/edits/contents").iterdir():
        content.write_bytes(b"damaged")
    with pytest.raises(UndoRefused, match="damaged"):
        editor.history.undo_run("run")
    assert (root / "a.md").read_text() == "1\n\n2\n"


def test_an_undo_that_fails_half_way_is_continued_by_the_next(
    root: Path, editor: NoteEditor, edited: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def fail(source: str, target: str, **named: int) -> None:
        if target == "b.md":
            raise OSError(5, "Input/output error")
        real(source, target, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(EditFailed):
            editor.history.undo_run("run")
    editor.history.undo_run("run")
    assert list_files(root) == edited


def test_a_kill_at_any_point_leaves_a_run_that_can_be_undone(tmp_path: Path) -> None:
    outcomes = kill_edits(tmp_path)
    assert len(outcomes) > 25
    assert [outcome for outcome in outcomes if outcome["losses"]] == []


ENCODED = {
    "a.md": "\ufeffÄ one\r\nsee [[b]]\r\n".encode("utf-16-le"),
    "b.md": b"\xef\xbb\xbf[t](sub/c.md)\rlast",
    "sub/c.md": "Käse und Öl für den Tag\n[[a]]\n".encode("cp1252"),
    "sub/d.txt": b"",
}
STEPS = st.tuples(
    st.sampled_from(["create", "append", "edit", "move"]),
    st.sampled_from([*ENCODED, "new/e.md"]),
    st.sampled_from(["x", "two\nlines\n", "[[b]]", "ü", "日"]),
    st.sampled_from(["new/", "f.md", "sub/g.md", "b.md"]),
)


@given(steps=st.lists(STEPS, min_size=1, max_size=8))
@settings(max_examples=20, deadline=None)
def test_any_run_is_undone_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str, str]]
) -> None:
    home = tmp_path_factory.mktemp("home")
    root = home / "notes"
    for path, data in ENCODED.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    editor = NoteEditor(root, EditJournal(home / "state"))
    for kind, path, text, to in steps:
        with suppress(EditRefused, NoteUnreadable):
            plan = {
                "create": lambda path=path, text=text: editor.plan_create(path, text),
                "append": lambda path=path, text=text: editor.plan_append(path, text),
                "edit": lambda path=path, text=text: editor.plan_replacement(path, "a", text),
                "move": lambda path=path, to=to: editor.plan_move(path, to),
            }[kind]()
            editor.apply(plan, RUN)
    net = {change.path: change.after for change in editor.history.list_net_changes("run")}
    after = list_files(root)
    assert net.items() <= after.items()
    gone = {change.old_path for change in editor.history.list_net_changes("run")}
    kept = {path: data for path, data in ENCODED.items() if path not in {*net, *gone}}
    assert after == {**kept, **net}
    if editor.history.list_changed_paths("run"):
        editor.history.undo_run("run")
    assert list_files(root) == ENCODED
    assert sorted(p.name for p in root.iterdir()) == ["a.md", "b.md", "sub"]


def age(journal: EditJournal, run: str, days: int) -> None:
    """Make the steps of a run older."""
    lines = [json.loads(line) for line in journal._file.read_bytes().splitlines()]
    for line in lines:
        if line.get("run") == run:
            then = datetime.fromisoformat(line["time"]) - timedelta(days=days)
            line["time"] = then.isoformat()
    journal._file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def list_contents(journal: EditJournal) -> set[str]:
    return {file.name for file in (journal._folder / "contents").iterdir()}


@pytest.fixture
def three_runs(root: Path, editor: NoteEditor) -> NoteEditor:
    """An editor after three runs of one chat, of which the first one is undone."""
    for name in ("one", "two", "three"):
        editor.apply(editor.plan_create(f"{name}.md", f"text {name}"), EditRun(name, "chat"))
    editor.history.undo_run("one")
    return editor


def test_old_runs_leave_the_journal_with_their_contents(
    three_runs: NoteEditor, journal: EditJournal
) -> None:
    now = datetime.now(UTC)
    assert journal.prune((), now) == 0
    age(journal, "one", 91)
    age(journal, "two", 89)
    assert journal.prune((), now) == 1
    assert [step.run for step in journal.read()] == ["two", "three"]
    assert list_contents(journal) == {hash_content(b"text two"), hash_content(b"text three")}
    assert three_runs.history.undo_run("two").steps[0].path == "two.md"
    with pytest.raises(UndoRefused, match="run one is not in the journal"):
        three_runs.history.undo_run("one")


def test_a_run_that_is_offered_for_undo_stays_however_old_it_is(
    three_runs: NoteEditor, journal: EditJournal, root: Path
) -> None:
    three_runs.apply(three_runs.plan_create("else.md", "else"), EditRun("else", "other"))
    three_runs.apply(three_runs.plan_create("gone.md", "gone"), EditRun("gone", "deleted"))
    three_runs.apply(three_runs.plan_create("last.md", "last"), EditRun("last", "chat"))
    for run in ("one", "two", "three", "else", "gone", "last"):
        age(journal, run, 1_000)
    offered = three_runs.history.list_offered_runs({"chat", "other"})
    assert offered == {"else", "last"}
    assert journal.prune(offered, datetime.now(UTC)) == 4
    assert three_runs.history.find_last_run("other") == "else"
    three_runs.history.undo_run(three_runs.history.find_last_run("chat"))
    assert not (root / "last.md").exists()
    assert (root / "gone.md").exists()


def test_an_unfinished_run_stays(three_runs: NoteEditor, journal: EditJournal) -> None:
    journal.mark([step for step in journal.read() if step.run == "two"], "undoing")
    age(journal, "two", 1_000)
    assert journal.prune((), datetime.now(UTC)) == 0


def test_the_oldest_runs_leave_a_journal_that_is_too_large(
    three_runs: NoteEditor, journal: EditJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault.edits.journal.MOST_BYTES", len("text three") + len("text two"))
    assert journal.prune((), datetime.now(UTC)) == 1
    assert [step.run for step in journal.read()] == ["two", "three"]
    monkeypatch.setattr("vault.edits.journal.MOST_BYTES", 0)
    assert journal.prune({"two"}, datetime.now(UTC)) == 1
    assert [step.mark for step in journal.read()] == ["done"]
    assert [step.run for step in journal.read()] == ["two"]


def test_pruning_makes_no_journal(tmp_path: Path) -> None:
    assert EditJournal(tmp_path / "none").prune((), datetime.now(UTC)) == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"time": "garbage"},
        {"time": "2026-01-01T00:00:00"},
        {"time": 5},
        {"time": None},
        {"run": ["x"]},
        {"id": {}},
        {"id": "a\0b"},
        {"path": 7},
        {"root": None},
        {"path": "\ud800.md"},
        {"after": "../../x"},
        {"after": "\0"},
        {"after": ""},
        {"before": 1},
        {"before": ""},
        {"before": []},
        {"folders": "abc"},
        {"folders": [1]},
        {"folders": {"a": 1}},
    ],
    ids=str,
)
def test_a_step_with_a_wrong_value_is_not_read(change: dict[str, object]) -> None:
    hashes = {"before": None, "after": hash_content(b"x")}
    names = {name: name for name in ("id", "run", "session", "root", "kind", "path", "to")}
    step = {**names, **hashes, "time": "2026-01-01T00:00:00.000Z", "folders": ["a"]}
    assert len(parse_journal(json.dumps(step).encode())) == 1
    assert parse_journal(json.dumps({**step, **change}).encode()) == []


def test_a_step_without_a_time_breaks_no_sweep_and_stays_in_the_file(
    three_runs: NoteEditor, journal: EditJournal
) -> None:
    steps, lines = journal.read(), journal._file.read_bytes().splitlines()
    bad = json.dumps({**json.loads(lines[0]), "id": "bad", "time": "garbage"}).encode()
    journal._file.write_bytes(b"\n".join([bad, *lines, b""]))
    three_runs.history.remove_leftovers()
    assert journal.read() == steps
    assert journal.prune((), datetime.now(UTC) + timedelta(days=91)) == 3
    (left,) = journal._file.read_bytes().splitlines()
    assert {**json.loads(left), "chain": ""} == {**json.loads(bad), "chain": ""}


def test_lines_that_are_no_steps_break_nothing(
    three_runs: NoteEditor, journal: EditJournal
) -> None:
    steps = journal.read()
    bad = [b"[" * 50_000, b"9" * 5_000, b'"mark"', b'["mark"]', b'{"mark": "done", "steps": [[]]}']
    journal._file.write_bytes(b"\n".join([*bad, journal._file.read_bytes()]))
    assert journal.read() == steps
    assert journal.prune((), datetime.now(UTC)) == 0
    assert not journal.merge(steps)


@pytest.mark.parametrize("path", ["new/Note.md", "new/inner/Note.md"])
def test_an_edit_is_over_when_a_file_has_taken_the_place_of_its_folder(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "new").write_text("a file of another program")
    assert remove_temporary(tmp_path, path, ".strata-1.tmp")
