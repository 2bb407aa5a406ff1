"""Search in the open note, including the parts of it that have not been drawn."""

import re
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QTextCursor

from ui.panels.notes.note_text import NoteText
from ui.panels.notes.reader import NoteReader
from ui.theme import Theme
from ui.widgets.find_bar import FindBar, find_occurrences, find_start, mark_occurrences

__all__ = ["NoteFinder"]


class _NotePlace(NamedTuple):
    """The position of an occurrence of the search text in the open note.

    Attributes:
        part: the index of the part of the note that contains the occurrence.
        nth: the index of the occurrence among those in the same part.
    """

    part: int
    nth: int


class NoteFinder(QObject):
    """Connects a find bar to the open note, whether it is rendered or shown as source text.

    A search begins at the top of the visible area. All occurrences are highlighted, including those
    in parts that are drawn later. The signal `closed` is emitted when the user closes the bar.
    """

    closed = Signal()

    def __init__(self, page: NoteReader, source: NoteText, bar: FindBar) -> None:
        super().__init__(bar)
        self._page, self._source, self._bar = page, source, bar
        self._words = ""
        self._places: list[_NotePlace] = []
        self._at = 0
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._recount)
        page.part_drawn.connect(self._on_part_drawn)
        bar.text_changed.connect(self._seek)
        bar.stepped.connect(self._step)
        bar.closed.connect(self._on_closed)
        Theme.current().changed.connect(self.renew)
        bar.hide()

    def open(self) -> None:
        """Open the find bar, and repeat the last search from the top of the visible area."""
        self._bar.show()
        self._bar.begin()
        self._seek(self._bar.words)

    def close(self) -> None:
        """Close the find bar and remove the highlights, without scrolling."""
        self._bar.hide()
        self._words, self._places = "", []
        self._mark()

    def renew(self) -> None:
        """Repeat the search without scrolling, after the note or its presentation has changed."""
        if not self._bar.isHidden():
            self._words = self._bar.words.strip()
            self._recount()

    @property
    def _is_source(self) -> bool:
        return self._source.isVisibleTo(self._source.window())

    def _on_closed(self) -> None:
        self.close()
        self.closed.emit()

    def _on_part_drawn(self, part: int) -> None:
        if self._words:
            self._mark_part(part)
            self._later.start()

    def _seek(self, words: str) -> None:
        self._words = words.strip()
        self._places = self._list_places()
        self._at = self._choose_place()
        self._show()

    def _step(self, by: int) -> None:
        if self._places:
            self._at = (self._at + by) % len(self._places)
            self._show()

    def _recount(self) -> None:
        """Count the occurrences again after a part of the note has been drawn.

        The number can decrease, because the drawn text does not contain the Markdown syntax.
        """
        present = self._places[self._at] if self._places else None
        self._places = self._list_places()
        if present is not None:
            later = (at for at, place in enumerate(self._places) if place >= present)
            self._at = next(later, max(0, len(self._places) - 1))
        self._bar.show_found(self._at + 1, len(self._places))
        self._mark()

    def _list_places(self) -> list[_NotePlace]:
        if not self._words:
            return []
        pattern = re.compile(re.escape(self._words), re.IGNORECASE)
        texts = [self._source.toPlainText()] if self._is_source else self._page.read_texts()
        return [
            _NotePlace(part, nth)
            for part, text in enumerate(texts)
            for nth in range(len(pattern.findall(text)))
        ]

    def _choose_place(self) -> int:
        """Return the index of the first occurrence below the top of the visible area.

        If there is none, return the index of the last occurrence.
        """
        top, above = (0, 0) if self._is_source else self._page.find_top_part()
        for at, place in enumerate(self._places):
            if place.part > top or (place.part == top and self._is_below(place, above)):
                return at
        return max(0, len(self._places) - 1)

    def _is_below(self, place: _NotePlace, above: int) -> bool:
        field = self._source if self._is_source else self._page.find_view(place.part)
        found = [] if field is None else find_occurrences(field, [self._words])
        if field is None or place.nth >= len(found):
            return not above
        return find_start(field, found[place.nth]).top() >= above

    def _show(self) -> None:
        """Scroll to the current occurrence, and highlight all occurrences."""
        if self._places and not self._is_source:
            self._page.draw_part(self._places[self._at].part)
            self._recount()
        self._bar.show_found(self._at + 1, len(self._places))
        self._mark()
        if not self._places:
            return
        place = self._places[self._at]
        if self._is_source:
            self._show_in_source(find_occurrences(self._source, [self._words])[place.nth])
            return
        view = self._page.draw_part(place.part)
        found = find_occurrences(view, [self._words])
        if found:
            rect = find_start(view, found[min(place.nth, len(found) - 1)])
            self._page.show_spot(place.part, rect.top(), rect.height())

    def _show_in_source(self, found: QTextCursor) -> None:
        cursor = QTextCursor(found)
        cursor.setPosition(found.selectionStart())
        self._source.setTextCursor(cursor)
        self._source.centerCursor()

    def _mark(self) -> None:
        for part in range(self._page.count_parts()):
            self._mark_part(part)
        present = self._at if self._is_source and self._places else -1
        found = find_occurrences(self._source, [self._words]) if self._words else []
        self._source.mark_found(mark_occurrences(found if self._is_source else [], present))

    def _mark_part(self, part: int) -> None:
        view = self._page.find_view(part)
        if view is not None:
            found = find_occurrences(view, [self._words]) if self._words else []
            here = self._places[self._at] if self._places else None
            at = min(here.nth, len(found) - 1) if here is not None and here.part == part else -1
            view.setExtraSelections(mark_occurrences(found, at))
