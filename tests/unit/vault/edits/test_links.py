import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.edits.editor import NoteEditor
from vault.edits.journal import EditJournal, EditRun
from vault.edits.undo import EditHistory
from vault.notes.links import LinkResolver
from vault.notes.note import read_note

RUN = EditRun("run")
FOLDERS = ["", "a/", "a/b/", "c/"]
NAMES = ["Note.md", "Other.md", "Übung 1.md"]
PATHS = [folder + name for folder in FOLDERS for name in NAMES]
TARGETS = [
    "Note",
    "note",
    "Other",
    "Übung 1",
    "a/Note",
    "b/Note",
    "a/b/Other",
    "/c/Note",
    "../Note",
    "./Other",
    "../a/Übung 1",
    "The alias",
]


def write(root: Path, notes: dict[str, str]) -> None:
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


def move(editor: NoteEditor, path: str, to: str) -> None:
    editor.apply(editor.plan_move(path, to), RUN)


@pytest.mark.parametrize(
    ("source", "before", "after"),
    [
        ("x.md", "[[Note]]", "[[New]]"),
        ("x.md", "![[note#Part|shown]]", "![[New#Part|shown]]"),
        ("x.md", "[[a/Note.md]]", "[[c/New.md]]"),
        ("x.md", "[[/a/Note]]", "[[/c/New]]"),
        ("a/x.md", "[[./Note#^block]]", "[[../c/New#^block]]"),
        ("a/x.md", '[t](Note.md "title")', '[t](../c/New.md "title")'),
        ("x.md", "[t](<a/Note.md#Part>)", "[t](<c/New.md#Part>)"),
        ("x.md", r"| [[Note\|shown]] |", r"| [[New\|shown]] |"),
        ("x.md", "[[Nick]] stays", "[[Nick]] stays"),
        ("x.md", "`[[Note]]` and\n\n    [[Note]]\n", "`[[Note]]` and\n\n    [[Note]]\n"),
        ("x.md", "---\nup: '[[Note]]'\n---\n", "---\nup: '[[New]]'\n---\n"),
        ("x.md", "[web](https://a/Note.md) [[Else]]", "[web](https://a/Note.md) [[Else]]"),
        ("x.md", "[[ Note ]] [[Note]]", "[[ New ]] [[New]]"),
    ],
)
def test_links_follow_a_moved_note_in_their_own_form(
    root: Path, editor: NoteEditor, source: str, before: str, after: str
) -> None:
    write(root, {"a/Note.md": "---\naliases: [Nick]\n---\n", source: before})
    move(editor, "a/Note.md", "c/New.md")
    assert (root / source).read_text("utf-8") == after


def test_a_name_that_still_works_stays_and_one_that_is_needed_elsewhere_becomes_a_path(
    root: Path, editor: NoteEditor
) -> None:
    write(root, {"a/One.md": "", "b/Two.md": "", "x.md": "[[One]] [[Two]]"})
    move(editor, "a/One.md", "c/One.md")
    assert (root / "x.md").read_text() == "[[One]] [[Two]]"
    move(editor, "c/One.md", "Two.md")
    assert (root / "x.md").read_text() == "[[Two]] [[b/Two]]"


def test_links_of_the_moved_note_itself_are_kept_alive(root: Path, editor: NoteEditor) -> None:
    text = "[[#Here]] [n](../b/Two.md) ![p](img%201.png) [[Note]] [x](Note.md#Here)"
    write(root, {"a/Note.md": text, "b/Two.md": "", "a/img 1.png": ""})
    move(editor, "a/Note.md", "New name.md")
    assert (root / "New name.md").read_text() == (
        "[[#Here]] [n](b/Two.md) ![p](a/img%201.png) [[New name]] [x](New%20name.md#Here)"
    )


def test_links_in_private_and_excluded_notes_follow_too(root: Path, editor: NoteEditor) -> None:
    write(root, {"Note.md": "", "drafts/d.md": "[[Note]]", "p.md": "#private [[Note]]"})
    move(editor, "Note.md", "New.md")
    assert (root / "drafts/d.md").read_text() == "[[New]]"
    assert (root / "p.md").read_text() == "#private [[New]]"


def test_a_canvas_shows_the_moved_note_again(root: Path, editor: NoteEditor) -> None:
    canvas = '{"nodes": [{"type": "file", "file":"a/Nöte.md"}, {"text": "a/Nöte.md"}]}'
    write(root, {"a/Nöte.md": "", "board.canvas": canvas})
    move(editor, "a/Nöte.md", "b/New.md")
    expected = canvas.replace('"file":"a/Nöte.md"', '"file":"b/New.md"')
    assert (root / "board.canvas").read_text("utf-8") == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("See [[Nöte]].", "See [[Neü]]."),
        (
            "# Plan\n\n- [[a/Nöte#Part|shown]]\n- `[[Nöte]]`",
            "# Plan\n\n- [[b/Neü#Part|shown]]\n- `[[Nöte]]`",
        ),
        ('😀 \t"[[Nöte]]" 😀 [n](a/Nöte.md)', '😀 \t"[[Neü]]" 😀 [n](b/Neü.md)'),
        ("![[Nöte^]] [[Nöte#^block]]", "![[Nöte^]] [[Neü#^block]]"),
        ("[[Nick]] and [[Other]] stay", "[[Nick]] and [[Other]] stay"),
        ('"text": "[[Nöte]]"', '"text": "[[Neü]]"'),
    ],
)
@pytest.mark.parametrize("is_escaped", [True, False])
def test_links_in_the_text_cards_of_a_canvas_follow_and_are_undone(
    root: Path, editor: NoteEditor, journal: EditJournal, before: str, after: str, is_escaped: bool
) -> None:
    def build(text: str) -> str:
        cards = [{"text": text, "type": "text"}, {"type": "file", "file": "Other.md"}]
        made = json.dumps({"nodes": cards, "edges": []}, ensure_ascii=is_escaped, indent="\t")
        return made.replace("Other.md", "\\u004fther.md")  # written by another program

    notes = {"a/Nöte.md": "---\naliases: [Nick]\n---\n", "Other.md": ""}
    write(root, {**notes, "boards/board.canvas": build(before)})
    move(editor, "a/Nöte.md", "b/Neü.md")
    assert (root / "boards/board.canvas").read_text("utf-8") == build(after)
    EditHistory(journal).undo_run("run")
    assert (root / "boards/board.canvas").read_text("utf-8") == build(before)


def test_a_link_in_another_encoding_and_beside_wide_line_ends_is_changed_alone(
    root: Path, editor: NoteEditor
) -> None:
    write(root, {"Note.md": ""})
    before = "Grüße\r\nan [[Note]]\rund `[[Note]]`\r\n"
    (root / "x.md").write_bytes(before.encode("utf-16"))
    move(editor, "Note.md", "Längerer Name.md")
    after = before.replace("an [[Note]]", "an [[Längerer Name]]")
    assert (root / "x.md").read_bytes() == after.encode("utf-16")


def read_targets(root: Path, moved: dict[str, str]) -> dict[str, list[str | None]]:
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    notes = {path: read_note(root, path) for path in paths}
    resolver = LinkResolver((path, note.aliases) for path, note in notes.items())
    return {
        moved.get(path, path): [
            None
            if (found := resolver.resolve(link.target, path)) is None
            else moved.get(found, found)
            for link in note.links
        ]
        for path, note in notes.items()
    }


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_after_any_move_every_link_leads_to_the_same_note(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("vault")
    paths = data.draw(st.lists(st.sampled_from(PATHS), min_size=2, max_size=6, unique=True))
    for number, path in enumerate(paths):
        targets = data.draw(st.lists(st.sampled_from(TARGETS), max_size=5))
        wiki = [f"[[{target}#h|l]]" for target in targets]
        plain = [f"[t]({target.replace(' ', '%20')}.md#h)" for target in targets[1:]]
        front = "---\naliases: [The alias]\n---\n" if number == 0 else ""
        write(root, {path: front + " ".join([*wiki, *plain])})
    source = data.draw(st.sampled_from(paths))
    to = data.draw(st.sampled_from([p for p in [*PATHS, "new/Fresh.md"] if p not in paths]))
    before = read_targets(root, {source: to})
    editor = NoteEditor(root, EditJournal(tmp_path_factory.mktemp("state")))
    contents = {path: (root / path).read_bytes() for path in paths}
    editor.apply(editor.plan_move(source, to), RUN)
    after = read_targets(root, {})
    for path, targets in before.items():
        for old, new in zip(targets, after[path], strict=True):
            assert old in (None, new)
    editor.history.undo_run("run")
    found = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    assert found == contents
