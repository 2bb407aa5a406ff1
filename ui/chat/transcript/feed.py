"""The messages of a chat, of which about 200 exist as widgets at a time."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.widgets.controls import paint_focus

__all__ = ["MOST_LIVE", "Feed", "MessageRow", "Slot"]

MOST_LIVE = 200
_AT_ONCE = 8
_READY = 40
WALKABLE = "walkable"


@dataclass(slots=True, eq=False)
class Slot:
    """A place in the chat.

    Attributes:
        make: makes its widget; called again when it comes back after being put away.
        gap: the space above it.
        kind: `user`, `answer`, `divider`, `aside` or `failure`.
        row: what shows it now; None while it is put away.
        is_kept: never put away, because it is changing.
        key: tells it apart from the others; empty for what is not in the log.
        item: what is known of it, for whoever made it.
    """

    make: Callable[[], QWidget]
    gap: int
    kind: str = ""
    row: "MessageRow | None" = None
    is_kept: bool = False
    key: tuple[object, ...] = ()
    item: object = None


class MessageRow(QWidget):
    """One message with the space above it; it draws the ring of the one that is walked to."""

    def __init__(self, widget: QWidget, gap: int) -> None:
        super().__init__()
        self.widget = widget
        self.is_current = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, gap, 0, 0)
        column.addWidget(widget)
        self.quiet()

    def quiet(self) -> None:
        """Take what is inside out of the tab order: the whole transcript is one stop."""
        for child in self.widget.findChildren(QWidget):
            policy = child.focusPolicy()
            if policy.value & Qt.FocusPolicy.TabFocus.value:
                child.setProperty(WALKABLE, True)
                can_click = policy.value & Qt.FocusPolicy.ClickFocus.value
                child.setFocusPolicy(_CLICK if can_click == _CLICK.value else _NONE)

    def event(self, event: QEvent) -> bool:
        """Keep out of the tab order also what comes into the message later."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.quiet()
        return super().event(event)

    def walk(self) -> list[QWidget]:
        """Return what Tab walks through inside, in order."""
        self.quiet()
        children = self.widget.findChildren(QWidget)
        return [
            child
            for child in children
            if child.property(WALKABLE) and child.isVisible() and child.isEnabled()
        ]

    def set_current(self, is_current: bool) -> None:
        """Draw the ring, or take it away."""
        self.is_current = is_current
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ring around the message, not around the space above it."""
        if self.is_current:
            ring = self.widget.geometry().adjusted(-4, -4, 4, 4)
            paint_focus(QPainter(self), ring.intersected(self.rect()), "lg")


class Feed(QWidget):
    """Shows a stretch of the slots, in a column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slots: list[Slot] = []
        self._first = self._last = 0
        self._wants_older = self._wants_newer = False
        self._is_older_side = True
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addStretch(1)
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._page)

    @property
    def rows(self) -> list[MessageRow]:
        """The messages that are widgets now, from the oldest on."""
        return [slot.row for slot in self._slots[self._first : self._last] if slot.row]

    @property
    def has_newer(self) -> bool:
        """Whether newer messages are put away."""
        return self._last < len(self._slots)

    @property
    def has_older(self) -> bool:
        """Whether older messages are put away."""
        return self._first > 0

    def minimumSizeHint(self) -> QSize:
        """Return the height for the present width.

        What Qt would answer counts wrapped lines at their narrowest, and a scroll area believes it.
        """
        if self._column.hasHeightForWidth():
            return QSize(0, self._column.heightForWidth(self.width()))
        return QSize(0, self._column.totalMinimumSize().height())

    def set_margins(self, left: int, right: int) -> None:
        """Stand in the column."""
        self._column.setContentsMargins(left, 0, right, 24)

    def reset(self, slots: Sequence[Slot]) -> None:
        """Show a chat from its end."""
        self._timer.stop()
        for slot in self._slots[self._first : self._last]:
            self._put_away(slot)
        self._slots = list(slots)
        self._show_end()

    def append(self, slot: Slot) -> MessageRow:
        """Add a message at the end, and show the end."""
        if self.has_newer:
            self.show_latest()
        self._slots.append(slot)
        self._last += 1
        return self._restore(slot, self._last - self._first - 1)

    def insert(self, index: int, slot: Slot) -> None:
        """Put something between two messages, by its place in the whole chat."""
        self._slots.insert(index, slot)
        if index < self._first:
            self._first += 1
            self._last += 1
        elif index <= self._last:
            self._last += 1
            self._restore(slot, index - self._first)

    def remove(self, slot: Slot) -> None:
        """Take a message out of the chat."""
        index = self._slots.index(slot)
        self._put_away(slot)
        del self._slots[index]
        self._first -= index < self._first
        self._last -= index < self._last

    def arrange(self, slots: Sequence[Slot]) -> None:
        """Show these, in their order; those that were there before keep their widgets.

        Args:
            slots: what stays is in the order in which it was.
        """
        staying = {id(slot) for slot in slots}
        known = {id(slot) for slot in self._slots}
        if len(staying - known) > _READY:
            self.reset(slots)
            return
        for slot in [slot for slot in self._slots if id(slot) not in staying]:
            self.remove(slot)
        for place, slot in enumerate(slots):
            if id(slot) not in known:
                self.insert(place, slot)

    def make_again(self, slot: Slot) -> None:
        """Show a message anew, where it is shown at all."""
        if slot.row is not None:
            place = self._column.indexOf(slot.row)
            self._put_away(slot)
            self._restore(slot, place)

    def slots(self) -> list[Slot]:
        """Return the whole chat."""
        return list(self._slots)

    def show_latest(self) -> None:
        """Show the end of the chat."""
        for slot in self._slots[self._first : self._last]:
            if not slot.is_kept:
                self._put_away(slot)
        self._show_end()

    def reveal(self, slot: Slot) -> None:
        """Have a message among those that are widgets, with some around it."""
        if slot.row is not None or slot not in self._slots:
            return
        for shown in self._slots[self._first : self._last]:
            self._put_away(shown)
        place = self._slots.index(slot)
        self._first = max(0, place - _AT_ONCE // 2)
        self._last = min(len(self._slots), place + _AT_ONCE // 2)
        for at, shown in enumerate(self._slots[self._first : self._last]):
            self._restore(shown, at)
        self._wants_older, self._wants_newer = self.has_older, self.has_newer
        self._start()

    def want_older(self) -> None:
        """Bring older messages back, one by one."""
        self._wants_older = self.has_older
        self._start()

    def want_newer(self) -> None:
        """Bring newer messages back, one by one."""
        self._wants_newer = self.has_newer
        self._start()

    def row_at(self, y: int) -> MessageRow | None:
        """Return the message at a height, or the one below it."""
        rows = self.rows
        if not rows:
            return None
        index = bisect_right(rows, y, key=lambda row: row.y()) - 1
        return rows[max(0, index)]

    def _show_end(self) -> None:
        self._last = len(self._slots)
        self._first = max(0, self._last - _AT_ONCE)
        for place, slot in enumerate(self._slots[self._first : self._last]):
            if slot.row is None:
                self._restore(slot, place)
        self._wants_older = self._first > 0
        self._start()

    def _start(self) -> None:
        if (self._wants_older or self._wants_newer) and not self._timer.isActive():
            self._timer.start()

    def _page(self) -> None:
        """Bring one message, or put one away; each changes the height, so the place is kept."""
        live = self._last - self._first
        if live > MOST_LIVE:
            self._trim()
        elif self._wants_older:
            self._restore_older(live)
        elif self._wants_newer:
            self._restore_newer()
        else:
            self._timer.stop()

    def _restore_older(self, live: int) -> None:
        self._first -= 1
        self._restore(self._slots[self._first], 0)
        self._wants_older = self.has_older and live + 1 < _READY
        self._is_older_side = True

    def _restore_newer(self) -> None:
        self._restore(self._slots[self._last], self._last - self._first)
        self._last += 1
        self._wants_newer = False
        self._is_older_side = False

    def _trim(self) -> None:
        """Put away what is furthest from where messages are being brought in."""
        if self._is_older_side:
            slot = self._slots[self._last - 1]
            if slot.is_kept:
                self._wants_older = False
                self._timer.stop()
                return
            self._last -= 1
        else:
            slot = self._slots[self._first]
            self._first += 1
        self._put_away(slot)

    def _restore(self, slot: Slot, place: int) -> MessageRow:
        slot.row = MessageRow(slot.make(), slot.gap)
        self._column.insertWidget(place, slot.row)
        slot.row.show()
        return slot.row

    def _put_away(self, slot: Slot) -> None:
        if slot.row is not None:
            self._column.removeWidget(slot.row)
            slot.row.hide()
            slot.row.deleteLater()
            slot.row = None


_CLICK = Qt.FocusPolicy.ClickFocus
_NONE = Qt.FocusPolicy.NoFocus
