"""A list of message widgets, which keeps at most about 200 widgets."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.chat.message.user import UserMessage
from ui.widgets.controls import paint_focus
from ui.widgets.layouts import lay_out_now, make_column

__all__ = ["MOST_LIVE", "Feed", "MessageRow", "Slot"]

MOST_LIVE = 200
_AT_ONCE = 8
_READY = 40
WALKABLE = "walkable"


@dataclass(slots=True, eq=False)
class Slot:
    """A message, divider or error in the chat. Its widget is built only when it is needed.

    Attributes:
        make: builds the widget. It is called again if the widget is needed after its removal.
        gap: the space above the message in pixels.
        kind: `user`, `answer`, `divider`, `aside`, `approval`, `edits` or `failure`.
        row: the row that shows the message, or None while it has no widget.
        is_kept: whether the widget must not be deleted, for example because the turn is still
            running.
        hidden: the widget that is kept while the message has no row, or None.
        key: the key that identifies the message in the chat, or an empty tuple if the message is
            not in the log.
        item: the transcript item that the slot was made from, or None if it is not in the log.
    """

    make: Callable[[], QWidget]
    gap: int
    kind: str = ""
    row: "MessageRow | None" = None
    hidden: QWidget | None = None
    is_kept: bool = False
    key: tuple[object, ...] = ()
    item: object = None

    @property
    def widget(self) -> QWidget | None:
        """The widget of the message, or None while there is none."""
        return self.hidden if self.row is None else self.row.widget

    def build_widget(self) -> QWidget:
        """Return the widget that was kept without a row, or build a new one."""
        found, self.hidden = self.hidden, None
        return found or self.make()


class _FocusRing(QWidget):
    """A focus ring around a widget, painted over it and its surroundings."""

    def __init__(self, around: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._around = around
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        ring = self._around.geometry().adjusted(-4, -4, 4, 4)
        paint_focus(QPainter(self), ring.intersected(self.rect()), "lg")


class MessageRow(QWidget):
    """A message widget with a gap above it, and a focus ring if it is the current message."""

    def __init__(self, widget: QWidget, gap: int) -> None:
        super().__init__()
        self.widget = widget
        self.is_current = False
        make_column(widget, margins=(0, gap, 0, 0), parent=self)
        self._ring = _FocusRing(widget, self)
        self.quiet()

    def quiet(self) -> None:
        """Remove all child widgets from the tab order, so that the transcript is one tab stop."""
        for child in self.widget.findChildren(QWidget):
            policy = child.focusPolicy()
            if policy.value & Qt.FocusPolicy.TabFocus.value:
                child.setProperty(WALKABLE, True)
                can_click = policy.value & Qt.FocusPolicy.ClickFocus.value
                child.setFocusPolicy(_CLICK if can_click == _CLICK.value else _NONE)

    def event(self, event: QEvent) -> bool:
        """Remove newly added child widgets from the tab order."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.quiet()
        return super().event(event)

    def fit(self) -> None:
        """Compute the layout of the message and its child widgets, so that its height is known."""
        for child in (*reversed(self.findChildren(QWidget)), self):
            lay_out_now(child)

    def walk(self) -> list[QWidget]:
        """Return the child widgets that Tab visits within the message, in order."""
        self.quiet()
        children = self.widget.findChildren(QWidget)
        return [
            child
            for child in children
            if child.property(WALKABLE) and child.isVisible() and child.isEnabled()
        ]

    def set_current(self, is_current: bool) -> None:
        """Set whether the message is the current one, which has a focus ring."""
        self.is_current = is_current
        self._ring.setVisible(is_current)
        if isinstance(self.widget, UserMessage):
            self.widget.set_current(is_current)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the focus ring cover the row."""
        self._ring.setGeometry(self.rect())


class _Column(QVBoxLayout):
    """A layout that gives each message its full height, even if the feed is not that tall yet.

    Qt lays out the messages as soon as one is added, and the scroll area resizes the feed only
    later. In between, Qt's own layout would squeeze all messages into the old height. The signal
    `placed` is emitted each time that the messages have been placed.
    """

    placed = Signal()

    def find_height(self, width: int) -> int:
        """Return the height in pixels that the messages need at a given width."""
        if self.hasHeightForWidth():
            return self.heightForWidth(width)
        return self.totalMinimumSize().height()

    def setGeometry(self, rect: QRect) -> None:
        """Place the messages in a rectangle. They may extend beyond its lower edge."""
        height = max(rect.height(), self.find_height(rect.width()))
        super().setGeometry(QRect(rect.x(), rect.y(), rect.width(), height))
        self.placed.emit()


class Feed(QWidget):
    """The widgets of a range of consecutive messages. Messages outside the range have no widget.

    The signal `row_made` is emitted after a message's widget has been built, and `laid_out` each
    time that the messages have been laid out.
    """

    row_made = Signal()
    laid_out = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slots: list[Slot] = []
        self._first = self._last = 0
        self._wants_older = self._wants_newer = False
        self._is_older_side = True
        self._column = _Column(self)
        self._column.setSpacing(0)
        self._column.addStretch(1)
        self._column.placed.connect(self.laid_out)
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._page)

    @property
    def rows(self) -> list[MessageRow]:
        """The rows of the messages that currently have a widget, from oldest to newest."""
        return [slot.row for slot in self._slots[self._first : self._last] if slot.row]

    @property
    def has_newer(self) -> bool:
        """Whether there are newer messages without a widget."""
        return self._last < len(self._slots)

    @property
    def has_older(self) -> bool:
        """Whether there are older messages without a widget."""
        return self._first > 0

    def minimumSizeHint(self) -> QSize:
        """Return the height that the messages need at the current width.

        Qt's default assumes the narrowest width, which would make the feed too tall.
        """
        return QSize(0, self._column.find_height(self.width()))

    def showEvent(self, event: QShowEvent) -> None:
        """Lay out the messages whose widgets were built while the feed was hidden."""
        super().showEvent(event)
        self._fit(self.rows)

    def set_margins(self, left: int, right: int) -> None:
        """Set the left and right margin of the messages in pixels."""
        self._column.setContentsMargins(left, 0, right, 24)

    def reset(self, slots: Sequence[Slot]) -> None:
        """Replace all messages, and show the end of the chat."""
        self._timer.stop()
        for slot in self._slots[self._first : self._last]:
            self._put_away(slot)
        self._slots = list(slots)
        self._show_end()

    def append(self, slot: Slot) -> None:
        """Append a message. Its widget is built if the messages before it have widgets."""
        self.insert(len(self._slots), slot)

    def insert(self, index: int, slot: Slot) -> None:
        """Insert a message into the chat, at an index in the list of all messages."""
        self._slots.insert(index, slot)
        if index < self._first:
            self._first += 1
            self._last += 1
        elif index <= self._last:
            self._last += 1
            self._restore(slot, index - self._first)

    def remove(self, slot: Slot) -> None:
        """Remove a message from the chat."""
        index = self._slots.index(slot)
        self._put_away(slot)
        del self._slots[index]
        self._first -= index < self._first
        self._last -= index < self._last

    def arrange(self, slots: Sequence[Slot]) -> None:
        """Replace the chat's messages. Existing widgets are reused if at most 40 messages are new.

        Args:
            slots: all messages of the chat. Messages that were shown before must keep their order.
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
        """Rebuild the widget of a message, if it has one."""
        if slot.row is not None:
            place = self._column.indexOf(slot.row)
            self._put_away(slot)
            self._restore(slot, place)

    def fit_row(self, row: MessageRow) -> None:
        """Lay out a message whose height has changed, and enlarge the feed for it if needed."""
        self._fit([row])

    def slots(self) -> list[Slot]:
        """Return all messages of the chat as slots, from oldest to newest."""
        return list(self._slots)

    def show_latest(self) -> None:
        """Build the widgets at the end of the chat, and remove all others that may be removed."""
        for slot in self._slots[self._first : self._last]:
            if not slot.is_kept:
                self._put_away(slot)
        self._show_end()

    def reveal(self, slot: Slot) -> None:
        """Make sure that a message has a widget.

        If it has none, build the widgets of the message and its neighbours, and remove all others.
        """
        if slot.row is not None or slot not in self._slots:
            return
        for shown in self._slots[self._first : self._last]:
            self._put_away(shown, keeps_widget=shown.is_kept)
        place = self._slots.index(slot)
        self._first = max(0, place - _AT_ONCE // 2)
        self._last = min(len(self._slots), place + _AT_ONCE // 2)
        for at, shown in enumerate(self._slots[self._first : self._last]):
            self._restore(shown, at)
        self._wants_older, self._wants_newer = self.has_older, self.has_newer
        self._start()

    def want_older(self) -> None:
        """Start building widgets of older messages, one per iteration of the event loop."""
        self._wants_older = self.has_older
        self._start()

    def want_newer(self) -> None:
        """Build the widget of the next newer message in the next iteration of the event loop."""
        self._wants_newer = self.has_newer
        self._start()

    def find_row_at(self, y: int) -> MessageRow | None:
        """Return the row at a y coordinate in pixels, or None if there are no rows.

        For a coordinate above the first row, the first row is returned.
        """
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
        """Build or remove one widget. A timer repeats this until there is nothing left to do.

        The work is divided into steps so that the scroll position can be corrected after each one.
        """
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
        """Remove one widget: the newest one after scrolling up, or the oldest after scrolling down.

        The widgets of the running turn at the end of the chat are not removed.
        """
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
        slot.row = MessageRow(slot.build_widget(), slot.gap)
        if width := self._column.contentsRect().width():
            slot.row.resize(width, slot.row.height())  # else its text is first wrapped at 640 px
        self._column.insertWidget(place, slot.row)
        slot.row.show()
        if self.isVisible():
            self._fit([slot.row])
        self.row_made.emit()
        return slot.row

    def _fit(self, rows: Sequence[MessageRow]) -> None:
        """Lay out rows now, so that their heights are known, and make the feed tall enough.

        The feed never becomes shorter here, because that could change the scroll position. Do
        nothing while the feed has no width yet.
        """
        if self._column.contentsRect().width() <= 0:
            return
        for row in rows:
            row.fit()
        self._column.activate()
        self.resize(self.width(), max(self.height(), self._column.find_height(self.width())))

    def _put_away(self, slot: Slot, *, keeps_widget: bool = False) -> None:
        if slot.row is not None:
            self._column.removeWidget(slot.row)
            slot.row.hide()
            if keeps_widget:
                slot.hidden = slot.row.widget
                slot.hidden.setParent(None)
            slot.row.deleteLater()
            slot.row = None


_CLICK = Qt.FocusPolicy.ClickFocus
_NONE = Qt.FocusPolicy.NoFocus
