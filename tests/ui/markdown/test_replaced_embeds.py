"""An embedded note, base or query that changes is drawn anew alone. The rest stays as it is."""

import random
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ui.markdown.blocks import Box, CodeLines, Embed, Paragraph, QuietRow, Run
from ui.markdown.embeds import VIEW_ICON, EmbeddedText, EmbedFailure, make_embed_source
from ui.markdown.note_parts import NotePart, read_part
from ui.markdown.page.images import Embedded
from ui.markdown.page.note_view import NoteView

TABLE, LIST, PLAN = (
    make_embed_source(Embed(target))
    for target in ('```dataview\nTABLE FROM "x"', '```dataview\nLIST FROM "y"', "Plan")
)
SOURCES = (TABLE, LIST, PLAN)
FENCED = '```dataview\nTABLE FROM "x"\n```\n'
NOTE = f"""\
# Title

Before `code` and [[Other]] with [1].

| a | b |
|---|---|
| 1 | 2 |

{FENCED}
- [ ] a task with `code`

> [!tip]- Folded
> Hidden text.

```python
x = 1
```

```dataview
LIST FROM "y"
```

After **bold** `code` [[There]].

---

![[Plan]]

- [x] the end
"""
NOTES = {
    "in the middle": NOTE,
    "first": f"{FENCED}\nBelow.\n",
    "alone": FENCED,
    "last": f"Above.\n\n{FENCED}",
    "twice": f"Above.\n\n{FENCED}\nBetween.\n\n{FENCED}\n- [ ] below\n",
    "below a table": f"| a |\n|---|\n| 1 |\n{FENCED}| b |\n|---|\n| 2 |\n",
}


def find(rows: int, *, is_table: bool) -> EmbeddedText:
    """Return what a query finds, with its source, which is folded."""
    table = "".join(f"| row {row} | [[Note {row}]] | `{row}` |\n" for row in range(rows))
    items = "".join(f"- item {row} [[Note {row}]]\n" for row in range(rows))
    text = f"| a | b | c |\n|---|---|---|\n{table}" if is_table else items or "Nothing."
    box = Box("embed", -1, icon="code", fold="-")
    leaves = (
        *read_part(NotePart(1, text)),
        QuietRow(f"{rows} of 99 notes are shown.", VIEW_ICON, Run("Show more", link="more:")),
        Paragraph((Run("Source of the query"),), (box,), is_title=True),
        CodeLines("dataview", (), (box,)),
    )
    return EmbeddedText(f"Query · {rows} notes", "", leaves, VIEW_ICON)


def draw(qtbot: QtBot, text: str, embeds: dict[str, Embedded], folds: set[str]) -> NoteView:
    view = NoteView(NotePart(1, text), 700, embeds, None)  # type: ignore[arg-type]
    qtbot.addWidget(view)
    view.toggled_folds.update(folds)
    view.draw()
    view.show()
    settle()
    return view


def settle() -> None:
    for _ in range(3):
        QApplication.processEvents()


def list_blocks(view: NoteView) -> Iterator[tuple[object, ...]]:
    """Yield what each block of text looks like, and where its links lead."""
    block = view.document().begin()
    while block.isValid():
        look = block.blockFormat()
        yield (
            block.position(),
            block.userState(),
            (look.topMargin(), look.leftMargin(), look.rightMargin()),
            (look.lineHeight(), look.lineHeightType(), look.headingLevel()),
            list(list_pieces(view, block)),
            QTextCursor(block).currentTable() is not None,
        )
        block = block.next()


def list_pieces(view: NoteView, block: QTextBlock) -> Iterator[tuple[str, str, str, str]]:
    targets, pieces = view._targets(), block.begin()
    while not pieces.atEnd():
        piece = pieces.fragment()
        char = piece.charFormat()
        _, _, number = char.anchorHref().partition("link:")
        target = targets[int(number)] if number else char.anchorHref()
        yield piece.text(), target, char.foreground().color().name(), char.font().toString()
        pieces += 1


def list_decorations(view: NoteView) -> list[object]:
    ink = view._writer.final
    tables = [
        (rows.start, rows.first, rows.table.firstPosition(), rows.is_continued)
        for rows in ink.tables
    ]
    panels = sorted(ink.panels, key=lambda panel: (panel.first, -panel.last, panel.start))
    return [panels, ink.marks, ink.spans, ink.pills, ink.rules, tables]


@pytest.mark.parametrize("text", NOTES.values(), ids=NOTES)
def test_what_is_drawn_anew_alone_is_as_if_all_was_drawn_anew(qtbot: QtBot, text: str) -> None:
    chance = random.Random(text)
    embeds: dict[str, Embedded] = {one: find(2, is_table=one != LIST) for one in SOURCES}
    view = draw(qtbot, text, embeds, set())
    writer = view._writer
    sources = [one for one in SOURCES if one in writer.sources]
    for _ in range(4):
        source, rows = chance.choice(sources), chance.choice([0, 1, 3, 30])
        view.show_embed(source, find(rows, is_table=chance.random() < 0.6))
        settle()
        assert view._writer is writer  # it has not been written as a whole
        whole = draw(qtbot, text, dict(embeds), view.toggled_folds)
        assert list(list_blocks(view)) == list(list_blocks(whole))
        assert list_decorations(view) == list_decorations(whole)
        assert view.height() == whole.height()
        assert (
            view.document().rootFrame().frameFormat() == whole.document().rootFrame().frameFormat()
        )


def test_text_around_a_query_is_not_touched_and_stays_selected(qtbot: QtBot) -> None:
    view = draw(qtbot, NOTE, {one: find(2, is_table=True) for one in SOURCES}, set())
    changes: list[tuple[int, int]] = []
    view.document().contentsChange.connect(lambda at, removed, _: changes.append((at, removed)))
    for words, rows in (("Before", 40), ("After", 3)):
        found = view.document().find(words)
        view.setTextCursor(found)
        above = view.document().find("Query").selectionStart()
        below = view.document().find("a task").selectionStart()
        changes.clear()
        view.show_embed(TABLE, find(rows, is_table=True))
        settle()
        assert view.textCursor().selectedText() == words
        assert min(at for at, _ in changes) >= above - 1
        assert max(at + removed for at, removed in changes) <= below


def test_a_task_below_a_query_keeps_the_focus(qtbot: QtBot) -> None:
    view = draw(qtbot, NOTE, {one: find(2, is_table=True) for one in SOURCES}, set())
    view.activateWindow()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    line = NOTE.split("\n").index("- [ ] a task with `code`") + 1
    assert view.focus_task(line)
    view.show_embed(TABLE, find(40, is_table=True))
    settle()
    assert view.focused_task == line
    with qtbot.waitSignal(view.task_pressed) as pressed:
        QTest.keyClick(view, Qt.Key.Key_Space)
    assert pressed.args == [line]


def test_what_else_arrives_keeps_the_selection_too(qtbot: QtBot) -> None:
    embeds: dict[str, Embedded] = {}
    view = draw(qtbot, NOTE, embeds, set())
    view.setTextCursor(view.document().find("After"))
    view.show_embed(TABLE, find(40, is_table=True))  # its source moves the numbers of the folds
    settle()
    assert view.textCursor().selectedText() == "After"
    view.show_embed(PLAN, EmbedFailure("There is no note named Plan.", "file-x"))
    settle()
    assert view.textCursor().selectedText() == "After"
    view.resize(500, view.height())
    settle()
    assert view.textCursor().selectedText() == "After"


def test_a_wide_block_below_a_query_stays_scrolled(qtbot: QtBot) -> None:
    text = f"{FENCED}\n```\n{'x' * 300}\n```\n"
    view = draw(qtbot, text, {TABLE: find(2, is_table=True)}, set())
    (bar,) = view.wide.bars
    bar.setValue(100)
    view.show_embed(TABLE, find(20, is_table=True))
    settle()
    (bar,) = view.wide.bars
    assert bar.value() == 100
    assert view.wide.scroll(bar.y() - 20, 50)
    assert bar.value() == 150


def test_a_query_in_a_list_is_drawn_anew_too(qtbot: QtBot) -> None:
    inner = FENCED.replace("\n", "\n  ").rstrip()
    view = draw(qtbot, f"{FENCED}\n- item\n\n  {inner}\n", {TABLE: find(2, is_table=True)}, set())
    view.show_embed(TABLE, find(20, is_table=True))
    settle()
    assert view.toPlainText().count("Query · 20 notes") == 2
