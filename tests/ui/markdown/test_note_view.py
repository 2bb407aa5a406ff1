"""A part of a note in the panel: where its source lines are drawn."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.markdown.note_parts import NotePart
from ui.markdown.page.lines import find_line_at
from ui.markdown.page.note_view import NoteView

TEXT = """# Pump

First line,
second line,
third line.

| a | b |
|---|---|
| 1 | one two three four five six seven eight nine ten eleven twelve thirteen |
| 2 | two |

> [!note]
> Inside.

- [ ] A task
  - another

```
code
more
```
"""


def test_the_height_of_a_line_is_the_upper_edge_of_what_is_drawn_from_there_on(
    qtbot: QtBot,
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    view = NoteView(NotePart(11, TEXT), 360, {}, page)
    view.draw()
    page.show()
    view.resize(360, 900)
    view.show()
    last = 11 + TEXT.count("\n")
    heights = [view.find_height(line) for line in range(11, last + 3)]
    bands = [view.find_band(line, last + 9) for line in range(11, last + 3)]
    assert heights == [view.height() if band is None else band[0] for band in bands]
    assert heights[:18] == sorted(heights[:18])
    assert max(heights) > 200


def test_lines_with_emojis_are_found_where_they_are_drawn(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    text = f"{'😀' * 10}\nab<br>cd\nef\n{'😀' * 10}\ngh\n"
    view = NoteView(NotePart(11, text), 900, {}, page)
    view.draw()
    page.show()
    view.resize(900, 400)
    view.show()
    bands = [view.find_band(line, line) for line in range(11, 16)]
    tops = [band[0] for band in bands if band is not None]
    assert len(tops) == len(bands)
    assert tops == sorted(set(tops))
    positions = [view.document().find(words).position() for words in ("😀", "ab", "cd", "ef", "gh")]
    found = [find_line_at(view.document(), position) for position in positions]
    assert found == [1, 2, 2, 3, 5]
    assert find_line_at(view.document(), 20) == 1  # Qt counts an emoji as two
