"""Edits of which only some hunks are accepted, and links that are added under "Related"."""

from pathlib import Path

import pytest

from vault.edits.diff import list_hunks
from vault.edits.editor import NoteEditor
from vault.edits.journal import EditRun
from vault.errors import EditOutdated, EditRefused
from vault.notes.links import LinkResolver

RUN = EditRun("run", "chat")
OLD = "".join(f"{number}\r\n" for number in range(12)).encode()


def plan(editor: NoteEditor, root: Path):
    (root / "a.md").write_bytes(OLD)
    old = "\n".join(map(str, range(12)))
    new = "zero\n1\n2\n3\n4\n5\n6 and\nmore\n7\n8\n9\n10"
    return editor.plan_replacement("a.md", old, new)


@pytest.mark.parametrize(
    ("kept", "after"),
    [
        ({0}, OLD.replace(b"0\r\n1\r", b"zero\r\n1\r")),
        ({1}, OLD.replace(b"6\r\n", b"6 and\r\nmore\r\n")),
        ({2}, OLD.replace(b"11\r\n", b"")),
        ({0, 2}, OLD.replace(b"0\r\n1\r", b"zero\r\n1\r").replace(b"11\r\n", b"")),
    ],
)
def test_exactly_the_kept_hunks_are_written_and_undone(root, editor, kept, after) -> None:
    whole = plan(editor, root)
    assert len(whole.list_hunks()) == 3
    editor.apply(whole.keep_hunks(kept), RUN)
    assert (root / "a.md").read_bytes() == after
    editor.history.undo_run("run")
    assert (root / "a.md").read_bytes() == OLD


def test_all_hunks_are_the_whole_edit_and_none_or_others_are_refused(root, editor) -> None:
    whole = plan(editor, root)
    assert whole.keep_hunks({0, 1, 2}) is whole
    for kept in (set(), {3}, {-1}):
        with pytest.raises(EditRefused, match="3 parts"):
            whole.keep_hunks(kept)


def test_the_kept_hunks_are_bound_to_the_note_as_it_was(root, editor) -> None:
    part = plan(editor, root).keep_hunks({0})
    (root / "a.md").write_bytes(OLD + b"newer")
    with pytest.raises(EditOutdated):
        editor.apply(part, RUN)
    assert (root / "a.md").read_bytes() == OLD + b"newer"


def test_new_notes_moves_and_single_changes_have_no_hunks_to_choose(root, editor) -> None:
    (root / "a.md").write_text("one\ntwo\n")
    assert editor.plan_create("b.md", "x\n").list_hunks() == ()
    assert editor.plan_append("a.md", "three").list_hunks() == ()
    assert editor.plan_move("a.md", "c.md").list_hunks() == ()


def test_changes_two_lines_apart_are_one_hunk_and_three_lines_apart_are_two() -> None:
    assert len(list_hunks("a\nb\nc\nd\n", "A\nb\nc\nD\n")) == 1
    assert len(list_hunks("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n")) == 2


LINKS = LinkResolver([("a.md", ()), ("b/a.md", ()), ("b/Pump.md", ("Wells",)), ("x[1].md", ())])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "## Related\n\n- [[Pump]]\n"),
        ("Text", "Text\n\n## Related\n\n- [[Pump]]\n"),
        ("Text\n\n\n", "Text\n\n## Related\n\n- [[Pump]]\n\n\n"),
        ("# See also\n* [[b/a]]\n", "# See also\n* [[b/a]]\n* [[Pump]]\n"),
        ("## Related\n", "## Related\n\n- [[Pump]]\n"),
        (
            "## related\n\n- [[b/a]]\n\n# Next\n\nText\n",
            "## related\n\n- [[b/a]]\n- [[Pump]]\n\n# Next\n\nText\n",
        ),
        ("## Related\n# Next\n", "## Related\n\n- [[Pump]]\n\n# Next\n"),
        ("```\n# Related\n```\n", "```\n# Related\n```\n\n## Related\n\n- [[Pump]]\n"),
    ],
)
def test_a_link_is_added_as_the_last_item_under_related(root, editor, before, after) -> None:
    (root / "a.md").write_bytes(before.encode())
    editor.apply(editor.plan_related_link("a.md", "b/Pump.md", LINKS), RUN)
    assert (root / "a.md").read_bytes() == after.encode()
    editor.history.undo_run("run")
    assert (root / "a.md").read_bytes() == before.encode()


def test_a_name_that_means_another_note_becomes_a_path(root, editor) -> None:
    (root / "a.md").write_text("Text\n")
    found = editor.plan_related_link("a.md", "b/a.md", LINKS)
    assert "+- [[b/a]]\n" in found.diff


@pytest.mark.parametrize("link", ["[[Pump]]", "[[Wells|the wells]]", "![[b/Pump#In]]"])
def test_a_second_link_to_the_same_note_is_refused(root, editor, link) -> None:
    (root / "a.md").write_text(f"See {link}.\n")
    with pytest.raises(EditRefused, match=r"a link to b/Pump\.md already"):
        editor.plan_related_link("a.md", "b/Pump.md", LINKS)


def test_a_note_that_no_link_can_name_is_refused(root, editor) -> None:
    (root / "a.md").write_text("Text\n")
    with pytest.raises(EditRefused, match="No link can name"):
        editor.plan_related_link("a.md", "x[1].md", LINKS)
