"""Search in the open chat, including messages that have no widget."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit

from ui.chat.message.answer import Answer
from ui.chat.message.user import UserMessage
from ui.chat.transcript.feed import Slot
from ui.chat.transcript.transcript import Transcript
from ui.theme import Theme
from ui.widgets.find_bar import FindBar

__all__ = ["Finder"]


@dataclass(frozen=True)
class _Place:
    """One occurrence of the search text: its message, and its index in that message, from 0."""

    slot: Slot
    nth: int


class Finder(QObject):
    """Connects a find bar to a transcript: finds, marks and shows the occurrences."""

    def __init__(self, transcript: Transcript, bar: FindBar) -> None:
        super().__init__(bar)
        self._transcript, self._bar = transcript, bar
        self._places: list[_Place] = []
        self._at = 0
        self._marked: list[QTextEdit] = []
        bar.sought.connect(self._on_sought)
        bar.stepped.connect(self._on_stepped)
        bar.closed.connect(self.close)

    def open(self) -> None:
        """Open the find bar, and search for the text of the last search."""
        self._bar.show()
        self._bar.begin()
        self._on_sought(self._bar.words)

    def close(self) -> None:
        """Close the find bar, and remove the marks."""
        self._unmark()
        self._bar.hide()
        self._transcript.setFocus()

    def _on_sought(self, words: str) -> None:
        wanted = words.strip().casefold()
        self._places = []
        if wanted:
            for slot in self._transcript.feed.slots():
                total = _read_text(slot).casefold().count(wanted)
                self._places += [_Place(slot, nth) for nth in range(total)]
        self._at = max(0, len(self._places) - 1)
        self._show()

    def _on_stepped(self, by: int) -> None:
        if self._places:
            self._at = (self._at + by) % len(self._places)
            self._show()

    def _show(self) -> None:
        self._unmark()
        self._bar.show_found(self._at + 1, len(self._places))
        if not self._places:
            return
        self._transcript.scroller.reveal(self._places[self._at].slot)
        # The message has its final height only after the event loop has laid it out.
        QTimer.singleShot(0, self, self._mark)

    def _mark(self) -> None:
        if not self._places or self._bar.isHidden():
            return
        present = self._places[self._at]
        words = self._bar.words.strip()
        for row in self._transcript.feed.rows:
            if (field := _find_field(row.widget)) is not None:
                found = _find(field, words)
                is_here = present.slot.row is row
                at = min(present.nth, len(found) - 1) if is_here and found else -1
                field.setExtraSelections(_marks(found, at))
                self._marked.append(field)
                if at >= 0:
                    self._scroll_to(field, found[at])

    def _scroll_to(self, field: QTextEdit, place: QTextCursor) -> None:
        cursor = QTextCursor(place)
        cursor.setPosition(place.selectionStart())
        rect: QRect = field.cursorRect(cursor)
        top = field.viewport().mapTo(self._transcript.feed, rect.topLeft()).y()
        self._transcript.scroller.show_span(top, rect.height())

    def _unmark(self) -> None:
        shown = {_find_field(row.widget) for row in self._transcript.feed.rows}
        for field in self._marked:
            if field in shown:
                field.setExtraSelections([])
        self._marked = []


def _read_text(slot: Slot) -> str:
    """Return the text of a message: as displayed if it has a widget, else as it is stored."""
    if slot.row is not None:
        field = _find_field(slot.row.widget)
        return "" if field is None else field.toPlainText()
    return str(getattr(slot.item, "text", ""))


def _find_field(widget: object) -> QTextEdit | None:
    if isinstance(widget, Answer):
        return widget.view
    return widget.body if isinstance(widget, UserMessage) else None


def _find(field: QTextEdit, words: str) -> list[QTextCursor]:
    found: list[QTextCursor] = []
    place = field.document().find(words, 0)
    while not place.isNull():
        found.append(place)
        place = field.document().find(words, place)
    return found


def _marks(found: list[QTextCursor], at: int) -> list[QTextEdit.ExtraSelection]:
    theme, marks = Theme.current(), []
    for nth, place in enumerate(found):
        mark = QTextEdit.ExtraSelection()
        mark.cursor = place
        is_here = nth == at
        mark.format.setBackground(theme.color("accent.base" if is_here else "diff.mark_bg"))
        mark.format.setForeground(theme.color("text.on_accent" if is_here else "diff.mark_text"))
        marks.append(mark)
    return marks
