"""Search in the open chat, including messages that have no widget."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit

from ui.chat.message.answer import Answer
from ui.chat.message.user import UserMessage
from ui.chat.transcript.feed import Slot
from ui.chat.transcript.transcript import Transcript
from ui.markdown.page.view import MarkdownView
from ui.theme import Theme
from ui.widgets.find_bar import FindBar, find_occurrences, find_start, mark_occurrences

__all__ = ["Finder"]

_UNIQUE = Qt.ConnectionType.UniqueConnection


@dataclass(frozen=True)
class _Place:
    """An occurrence of the search text in a message.

    Attributes:
        slot: the slot of the message.
        nth: the zero-based number of the occurrence within the message.
    """

    slot: Slot
    nth: int


class Finder(QObject):
    """The search in a chat: finds and highlights the text that is typed into the find bar.

    A search starts at the top of the viewport. The current match is the first occurrence below that
    point or, if there is none, the last one in the chat. All occurrences are highlighted, even in
    messages whose widgets are built later. The signal `closed` is emitted when the user closes the
    bar.

    Args:
        transcript: the chat to search.
        bar: the find bar.
    """

    closed = Signal()

    def __init__(self, transcript: Transcript, bar: FindBar) -> None:
        super().__init__(bar)
        self._transcript, self._bar = transcript, bar
        self._terms: tuple[str, ...] = ()
        self._places: list[_Place] = []
        self._at = 0
        self._origin: tuple[Slot | None, int] = (None, 0)
        self._marked: list[QTextEdit] = []
        self._renewal = QTimer(self, singleShot=True, interval=0)
        self._renewal.timeout.connect(self.renew)
        transcript.feed.row_made.connect(self._renew_soon)
        Theme.current().changed.connect(self._renew_soon)
        bar.text_changed.connect(self._on_sought)
        bar.stepped.connect(self._on_stepped)
        bar.closed.connect(self._on_closed)

    def open(self) -> None:
        """Open the find bar, and repeat the last search from the top of the viewport."""
        self._note_origin()
        self._show_bar(True)
        self._bar.begin()
        self._on_sought(self._bar.words)

    def open_at(self, entry: str, words: str, terms: Sequence[str]) -> None:
        """Open the find bar, and show the first match in a given message.

        Args:
            entry: the entry ID of the message in the log. If the chat has no message for it, the
                search starts at the top of the viewport.
            words: the text shown in the find bar. The terms are searched for until the user changes
                this text.
            terms: the texts to search for and to highlight.
        """
        self._note_origin()
        slot = next((s for s in self._transcript.feed.slots() if entry in s.key[1:]), None)
        if slot is not None:
            self._transcript.scroller.reveal(slot)
            self._origin = (slot, 0)
        self._bar.set_words(words)
        self._show_bar(True)
        self._bar.begin()
        self._seek(tuple(terms))

    def close(self) -> None:
        """Close the find bar and remove the highlights, without scrolling."""
        self._unmark()
        self._places = []
        self._show_bar(False)

    def renew(self) -> None:
        """Update the matches after messages have changed. The current match stays current.

        Do nothing while the find bar is closed.
        """
        if self._bar.isHidden():
            return
        present = self._places[self._at] if self._places else None
        self._places = self._list_places()
        if present in self._places:
            self._at = self._places.index(present)
        else:
            self._at = min(self._at, max(0, len(self._places) - 1))
        self._bar.show_found(self._at + 1, len(self._places))
        self._unmark()
        self._mark()

    def _show_bar(self, is_shown: bool) -> None:
        before = self._find_top()
        self._bar.setVisible(is_shown)
        # The bar moves the chat only when the event loop has laid out both.
        QTimer.singleShot(0, self, lambda: self._scroll_by(self._find_top() - before))

    def _scroll_by(self, distance: int) -> None:
        if distance:
            self._transcript.scroller.shift(distance)

    def _find_top(self) -> int:
        """Return the y coordinate of the transcript's upper edge in the window."""
        return self._transcript.mapTo(self._transcript.window(), QPoint()).y()

    def _renew_soon(self) -> None:
        if not self._bar.isHidden():
            self._renewal.start()

    def _on_closed(self) -> None:
        self.close()
        self.closed.emit()

    def _on_sought(self, words: str) -> None:
        self._seek(tuple(filter(None, [words.strip()])))

    def _seek(self, terms: tuple[str, ...]) -> None:
        self._terms = terms
        self._places = self._list_places()
        self._at = self._choose_place()
        self._show()

    def _on_stepped(self, by: int) -> None:
        if self._places:
            self._at = (self._at + by) % len(self._places)
            self._origin = (self._places[self._at].slot, 0)
            self._show()

    def _note_origin(self) -> None:
        """Store where the next search starts: at the top of the viewport.

        If the find bar is still hidden, the search starts below the area that the bar will cover.
        """
        scroller = self._transcript.scroller
        covered = self._bar.sizeHint().height() if self._bar.isHidden() else 0
        top = scroller.bar.value() + covered
        row = self._transcript.feed.find_row_at(top)
        slots = self._transcript.feed.slots()
        slot = next((slot for slot in slots if row is not None and slot.row is row), None)
        self._origin = (slot, 0 if row is None else top - row.y())

    def _list_places(self) -> list[_Place]:
        if not self._terms:
            return []
        pattern = re.compile("|".join(map(re.escape, self._terms)), re.IGNORECASE)
        slots = self._transcript.feed.slots()
        counts = [(slot, len(pattern.findall(_read_text(slot)))) for slot in slots]
        return [_Place(slot, nth) for slot, total in counts for nth in range(total)]

    def _choose_place(self) -> int:
        """Return the index of the first match below the position where the search started.

        If there is none, return the index of the last match in the chat.
        """
        slots = self._transcript.feed.slots()
        order = {id(slot): at for at, slot in enumerate(slots)}
        origin, above = self._origin
        first = order.get(id(origin), 0)
        for at, place in enumerate(self._places):
            is_origin = place.slot is origin
            if order[id(place.slot)] >= first and not (
                is_origin and self._lies_above(place, above)
            ):
                return at
        return max(0, len(self._places) - 1)

    def _lies_above(self, place: _Place, height: int) -> bool:
        """Return whether a match lies in the top `height` pixels of its message.

        Return False if the message has no widget.
        """
        row = place.slot.row
        field = None if row is None else _find_field(row.widget)
        if row is None or field is None or height <= 0:
            return False
        found = find_occurrences(field, self._terms)
        if place.nth >= len(found):
            return False
        rect = find_start(field, found[place.nth])
        return field.viewport().mapTo(row, rect.topLeft()).y() < height

    def _show(self) -> None:
        self._unmark()
        self._bar.show_found(self._at + 1, len(self._places))
        if not self._places:
            return
        self._transcript.scroller.reveal(self._places[self._at].slot)
        # The message has its final height only after the event loop has laid it out.
        QTimer.singleShot(0, self, self._show_marked)

    def _show_marked(self) -> None:
        """Highlight all matches in messages that have a widget, and scroll to the current match."""
        self._mark()
        row = self._places[self._at].slot.row if self._places else None
        field = None if row is None else _find_field(row.widget)
        if field is None or self._bar.isHidden():
            return
        found = find_occurrences(field, self._terms)
        if found:
            self._scroll_to(field, found[min(self._places[self._at].nth, len(found) - 1)])

    def _mark(self) -> None:
        if not self._places or self._bar.isHidden():
            return
        present = self._places[self._at]
        for row in self._transcript.feed.rows:
            if (field := _find_field(row.widget)) is not None:
                found = find_occurrences(field, self._terms)
                is_here = present.slot.row is row
                at = min(present.nth, len(found) - 1) if is_here and found else -1
                field.setExtraSelections(mark_occurrences(found, at))
                if isinstance(field, MarkdownView):
                    field.rewritten.connect(self._renew_soon, _UNIQUE)
                self._marked.append(field)

    def _scroll_to(self, field: QTextEdit, place: QTextCursor) -> None:
        rect = find_start(field, place)
        top = field.viewport().mapTo(self._transcript.feed, rect.topLeft()).y()
        self._transcript.scroller.show_span(top, rect.height())

    def _unmark(self) -> None:
        shown = {_find_field(row.widget) for row in self._transcript.feed.rows}
        for field in self._marked:
            if field in shown:
                field.setExtraSelections([])
        self._marked = []


def _read_text(slot: Slot) -> str:
    if slot.row is not None:
        field = _find_field(slot.row.widget)
        return "" if field is None else field.toPlainText()
    return str(getattr(slot.item, "text", ""))


def _find_field(widget: object) -> QTextEdit | None:
    if isinstance(widget, Answer):
        return widget.view
    return widget.body if isinstance(widget, UserMessage) else None
