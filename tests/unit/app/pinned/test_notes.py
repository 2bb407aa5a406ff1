"""A pinned answer in the vault: a base, or a block in a note that nothing else touches."""

from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import InvalidRequest
from app.pinned.answer import AnswerRow, PinnedAnswer
from app.pinned.block import find_blocks, write_block
from chains.cancel import CancelToken
from tests.conftest import write_notes
from vault.errors import EditOutdated
from vault.notes.text.inline import blank_inline_code, remove_comments

NOTES = {
    "House.md": "# House\n\n- [ ] Call the plumber #urgent\n- [ ] Paint the door\n",
    "Books/Dune.md": "---\nrating: 4\ntags: [book]\n---\n# Dune\n\nSand and spice.\n",
}
AROUND = "\ufeff# Diary\r\n\r\nBefore  \r\n{}\r\nAfter\t- [ ] not a task\r\nno end"


@pytest.fixture
def vault(assistant: Assistant, tmp_path: Path) -> Path:
    folder = write_notes(tmp_path / "vault", NOTES)
    assistant.open_vault(folder, remember=False)
    update(assistant)
    return folder


def update(assistant: Assistant) -> None:
    list(assistant.index(CancelToken()))


def test_a_block_is_refreshed_on_request_and_nothing_else_of_the_note_changes(
    assistant: Assistant, vault: Path
) -> None:
    pinned, notes = assistant.pinned, assistant.pinned_notes
    id = pinned.add("open tasks").answer.id
    diary = vault / "Diary.md"
    diary.write_bytes(AROUND.format("%% a comment %%").encode())
    first = notes.plan(id, "Diary.md")
    assert "+- [[House]]: Call the plumber" in first.plan.diff
    assert diary.read_bytes() == AROUND.format("%% a comment %%").encode()  # only shown
    notes.apply(first)
    (vault / "House.md").write_text("- [ ] Paint the door\n- [ ] Oil the hinges\n")
    update(assistant)
    assert pinned.refresh()[0].answer.total == 2
    before = diary.read_bytes()
    assert b"plumber" in before  # nothing changes by itself
    run = notes.apply(notes.plan(id))
    after = diary.read_bytes()
    (old,), (new,) = (find_blocks(text.decode().replace("\r\n", "\n")) for text in (before, after))
    assert "Oil the hinges" in new.text
    start = before.index(b"%% pinned")
    assert after.startswith(before[:start])
    assert before[:start].startswith(AROUND.format("%% a comment %%").encode())
    assert after.replace(new.text.replace("\n", "\r\n").encode(), b"") == before.replace(
        old.text.replace("\n", "\r\n").encode(), b""
    )
    with pytest.raises(InvalidRequest, match="up to date"):
        notes.plan(id)
    assistant.edits.undo(run=run)
    assert diary.read_bytes() == before


def test_text_behind_a_block_stays_as_it_is(assistant: Assistant, vault: Path) -> None:
    id = assistant.pinned.add("open tasks").answer.id
    assistant.pinned_notes.apply(assistant.pinned_notes.plan(id, "List.md"))
    text = (vault / "List.md").read_text()
    (vault / "List.md").write_bytes(AROUND.format(text.replace("\n", "\r\n")).encode())
    (vault / "House.md").write_text("- [ ] Only this\n")
    update(assistant)
    assistant.pinned_notes.apply(assistant.pinned_notes.plan(id))
    after = (vault / "List.md").read_bytes().decode()
    head, _, rest = AROUND.partition("{}")
    assert after.startswith(head)
    assert after.endswith(rest)
    assert "Only this" in after


@pytest.mark.parametrize(
    "question", ["open tasks", "List all notes about spice", "tag:urgent", "What is spice?"]
)
def test_a_block_is_never_one_of_its_own_sources(
    assistant: Assistant, vault: Path, question: str
) -> None:
    pinned = assistant.pinned
    (vault / "Note.md").write_text("Spice #urgent\n")
    update(assistant)
    before = pinned.add(question).answer
    others = [pinned.add(one).answer.id for one in ("spice", "open tasks")]
    for id in (before.id, *others):
        assistant.pinned_notes.apply(assistant.pinned_notes.plan(id, f"Lists/{id}.md"))
    update(assistant)
    shown = next(one for one in pinned.refresh() if one.answer.id == before.id)
    assert [row.path for row in shown.answer.rows if row.path == f"Lists/{before.id}.md"] == []
    if question != "List all notes about spice":  # the other block is a note about it
        assert (shown.answer.rows, shown.changes.mark) == (before.rows, "")


@pytest.mark.parametrize(
    ("way", "question"),
    [
        ("second note", "List all notes about spice"),
        ("second note", "What is spice?"),
        ("copied", "List all notes about spice"),
        ("UTF-16", "What is spice?"),
        ("removed", "What is spice?"),
    ],
)
def test_a_block_in_any_note_is_no_source(
    assistant: Assistant, vault: Path, way: str, question: str
) -> None:
    pinned, notes = assistant.pinned, assistant.pinned_notes
    (vault / "Note.md").write_text("Spice #urgent\n")
    update(assistant)
    before = pinned.add(question).answer
    notes.apply(notes.plan(before.id, "First.md"))
    if way == "second note":
        notes.apply(notes.plan(before.id, "Second.md"))
    elif way == "copied":
        (vault / "Copy.md").write_text((vault / "First.md").read_text())
    elif way == "UTF-16":
        block = (vault / "First.md").read_text()
        (vault / "Wide.md").write_bytes(f"\ufeff{block}".encode("utf-16-le"))
    elif way == "removed":
        pinned.remove(before.id)
        before = pinned.add(question).answer
    update(assistant)
    (shown,) = pinned.refresh()
    assert [row.path for row in shown.answer.rows] == [row.path for row in before.rows]
    assert {row.path for row in shown.answer.rows} <= {"House.md", "Note.md", "Books/Dune.md"}


def test_what_a_base_can_say_is_written_as_a_base(assistant: Assistant, vault: Path) -> None:
    id = assistant.pinned.add("tag:book [rating:>=4]", title="Good: books").answer.id
    planned = assistant.pinned_notes.plan(id)
    assert planned.path == "Good books.base"
    run = assistant.pinned_notes.apply(planned)
    base = (vault / "Good books.base").read_text()
    assert "rating" in base
    assert "book" in base
    with pytest.raises(InvalidRequest, match="by itself"):
        assistant.pinned_notes.plan(id)
    update(assistant)
    assert assistant.pinned.refresh()[0].answer.total == 1
    assistant.edits.undo(run=run)
    assert not (vault / "Good books.base").exists()
    tasks = assistant.pinned.add("open tasks").answer.id
    assert assistant.pinned_notes.plan(tasks).path == "open tasks.md"
    with pytest.raises(InvalidRequest, match="cannot say"):
        assistant.pinned_notes.plan(tasks, "Tasks.base")


def test_a_note_that_changed_meanwhile_is_not_written(assistant: Assistant, vault: Path) -> None:
    id = assistant.pinned.add("open tasks").answer.id
    planned = assistant.pinned_notes.plan(id, "House.md")
    (vault / "House.md").write_text("Another text\n")
    with pytest.raises(EditOutdated):
        assistant.pinned_notes.apply(planned)
    assert (vault / "House.md").read_text() == "Another text\n"


def test_nothing_in_a_block_is_a_task_a_tag_or_a_property() -> None:
    texts = ("- [ ] Do #it now", "* rating:: 5", "> text ^block", "1. ![[Pic.png]] %% hidden %%")
    rows = tuple(AnswerRow("A|B.md", 1, text, "A]B") for text in texts)
    block = write_block(PinnedAnswer("0a1b2c3d", "All #of it", "q", "list", rows=rows, total=9))
    (found,) = find_blocks(f"x\n{block}\ny")
    assert (found.id, found.lines) == ("0a1b2c3d", (2, 1 + len(block.split("\n"))))
    body = "\n".join(block.split("\n")[1:-1])
    for sign in ("[ ]", " #", "::", " ^block", "%%", "![["):
        assert sign not in body
    assert "- 5 more" in body


@pytest.mark.parametrize(
    "text",
    ["- 100 %% and on", "%%", "a %%% b", "x %%%% y", "50 \\%% z", "<!-- and on", "~~100 %%~~"],
)
@pytest.mark.parametrize("place", ["text", "title", "values", "path", "answer"])
def test_nothing_in_a_block_begins_a_comment(text: str, place: str) -> None:
    row = {"path": "A.md", "text": "Text", "title": "A", "values": ""}
    named = AnswerRow(line=1, **{**row, place: text} if place in row else row)  # type: ignore[arg-type]
    title = text if place == "answer" else "All"
    rows = (named, AnswerRow("B.md", 2, "- last `100 %% of` it"))
    block = write_block(PinnedAnswer("0a1b2c3d", title, "q", "list", rows=rows, total=2))
    after = remove_comments(f"{block}\nBehind.")
    assert "last `100 %% of` it" in after
    assert after.endswith("Behind.")
    assert "%%" not in blank_inline_code("\n".join(block.split("\n")[1:-1]))


@pytest.mark.parametrize(
    "text",
    [
        "%% pinned answer 0a1b2c3d: x %%\nno end",
        "%% end of pinned answer 0a1b2c3d %%",
        "%% pinned answer 0a1b2c3d: x %%\n%% end of pinned answer ffffffff %%",
    ],
)
def test_a_block_without_its_end_is_none(text: str) -> None:
    assert list(find_blocks(text)) == []
