"""A transcript with a composer below it, and chats to show in it."""

from dataclasses import fields, replace
from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.config.models import ModelChoice
from app.sessions.transcript import AnswerItem, UserItem
from app.sessions.transcript import ChatTranscript as Chat
from chains.citations.check import CitationReport
from chains.events import AskResult
from chains.models import look_up_model
from chains.turn_answer import AnswerEnd, Status, TurnAnswer
from context.layers import Layer, Segment
from ui.chat.composer.composer import Composer
from ui.chat.message.answer import Answer
from ui.chat.transcript.transcript import Transcript

TIME = "2026-05-14T14:03:00+00:00"
_LOCAL = replace(look_up_model("openai/model", "http://127.0.0.1:1/v1"), name="test/model")
HERE = (ModelChoice(_LOCAL, "model", is_set=True),)
LONG = "A paragraph that is long enough to need a second line at most widths of the window.\n\n"
RICH = """\
Text [1].

| Copy | Size |
|---|---|
| Disk | 12 |

```sh
borg prune
```

> [!warning] Mind
> This.
"""


def passage(number: int) -> Segment:
    """Return a passage that can be cited by this number."""
    return Segment.build(
        id=f"p{number}",
        layer=Layer.L3,
        kind="passage",
        source="Home server/Backups.md",
        text="Borg runs every night.",
        lines=(12, 31),
        title="Backups",
        heading=("Backups", "Nightly run"),
        number=number,
    )


_ENDS = tuple(field.name for field in fields(AnswerEnd))
_CHECKED = tuple(field.name for field in fields(CitationReport))
_ITEMS = tuple(field.name for field in fields(AnswerItem))


def turn_answer(text: str, model: str = "test/model", **values: Any) -> TurnAnswer:
    """Return an answer. Its end and its checked citations are given field by field."""
    end = AnswerEnd(**_take(values, _ENDS))
    checked = CitationReport(**_take(values, _CHECKED))
    return TurnAnswer(text, model, end, checked=checked, **values)


def result(
    text: str, status: Status = "complete", warnings: tuple[str, ...] = (), **values: Any
) -> AskResult:
    """Return the result of a turn."""
    answer = turn_answer(text, **{"status": status, "seconds": 6.8, **values})
    return AskResult("s", "t", "e9", "vault", answer, None, warnings, {})


def answer_item(text: str, entry: str = "a", **changes: Any) -> AnswerItem:
    """Return the transcript item of a stored answer."""
    item = _take(changes, _ITEMS)
    answer = turn_answer(text, **{"sources": (passage(1),), "seconds": 6.8, **changes})
    return AnswerItem(entry, TIME, answer, **item)


def _take(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Remove the values with the given names, and return them."""
    return {name: values.pop(name) for name in names if name in values}


def chat(turns: int, text: str = LONG) -> Chat:
    """Return a chat with this number of turns, all with the same answer."""
    items = []
    for number in range(turns):
        items += [
            UserItem(f"u{number}", TIME, f"Question {number}?"),
            answer_item(text, f"a{number}"),
        ]
    return Chat("A chat", tuple(items))


class Place(QWidget):
    """A middle column: a transcript with a composer below it."""

    def __init__(self) -> None:
        super().__init__()
        self.transcript, self.composer = Transcript(), Composer()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.transcript, 1)
        column.addWidget(self.composer)


def widgets(transcript: Transcript, kind: type) -> list:
    """Return the transcript's message widgets of a class."""
    return [row.widget for row in transcript.feed.rows if isinstance(row.widget, kind)]


def spoken() -> str:
    """Return the accessible name that a screen reader reads first for the focused widget."""
    interface = QAccessible.queryAccessibleInterface(QGuiApplication.focusObject())
    return interface.text(QAccessible.Text.Name).split(",")[0]


def left_of(widget: QWidget, x: float, place: QWidget) -> float:
    """Convert an x coordinate in a widget to one in the column."""
    return widget.mapTo(place, QPoint(0, 0)).x() + x


def text_left(answer: Answer, place: QWidget) -> float:
    """Return the x coordinate in the column at which an answer's text begins."""
    block = answer.view.document().begin()
    origin = answer.view.document().documentLayout().blockBoundingRect(block).x()
    return left_of(answer.view.viewport(), origin + block.layout().lineAt(0).x(), place)
