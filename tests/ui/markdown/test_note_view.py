"""A part of a note in the panel: where its source lines are drawn."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.markdown.note_parts import NotePart
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
