"""Keyboard navigation in a chat: one tab stop, arrow keys move between messages."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from ui.chat.transcript.feed import MessageRow
from ui.chat.transcript.scroller import Scroller
from ui.notify import announce

__all__ = ["KeyboardNavigation"]

_TAB = Qt.FocusReason.TabFocusReason
_BACKTAB = Qt.FocusReason.BacktabFocusReason


class KeyboardNavigation:
    """Moves the focus and the focus ring between the messages of a chat with the keyboard.

    Args:
        stop: the widget that has the focus while the user moves between messages.
        scroller: the scroll area with the messages.
    """

    def __init__(self, stop: QWidget, scroller: Scroller) -> None:
        self._stop = stop
        self._scroller = scroller
        self._row: MessageRow | None = None

    @property
    def row(self) -> MessageRow | None:
        """The row of the current message.

        This is None if no message is current, or if the current message has no widget.
        """
        return self._row if self._row in self._scroller.feed.rows else None

    def step(self, by: int) -> None:
        """Make another message the current one.

        Args:
            by: how many messages to move down, or up if negative. If no message is current,
                counting starts below the last message.
        """
        rows = self._scroller.feed.rows
        if not rows:
            return
        present = self.row
        index = len(rows) if present is None else rows.index(present)
        self._go(rows[max(0, min(index + by, len(rows) - 1))])

    def forget(self) -> None:
        """Clear the current message and its focus ring."""
        if self.row is not None:
            self.row.set_current(False)
        self._row = None

    def show(self) -> None:
        """Show the focus ring of the current message without scrolling.

        If no message is current, a visible message becomes the current one.
        """
        if self.row is None:
            self._row = self._scroller.find_row_in_view()
        if self.row is not None:
            self.row.set_current(True)
            announce(self._stop, self.row.widget.accessibleName())

    def tab(self, forward: bool) -> bool:
        """Move the focus with Tab between the chat and the widgets in the current message.

        Return False if there is no further widget in this direction, so that the focus leaves the
        chat.

        Args:
            forward: whether Tab was pressed, rather than Shift+Tab.
        """
        row, focused = self.row, QApplication.focusWidget()
        inside = row.walk() if row else []
        if focused is self._stop:
            if not (forward and inside):
                return False
            inside[0].setFocus(_TAB)
            return True
        if focused not in inside:
            return False
        index = inside.index(focused) + (1 if forward else -1)
        if index < 0:
            self._stop.setFocus(_BACKTAB)
        elif index < len(inside):
            inside[index].setFocus(_TAB if forward else _BACKTAB)
        return index < len(inside)

    def _go(self, row: MessageRow) -> None:
        if self.row is not None:
            self.row.set_current(False)
        self._row = row
        row.set_current(True)
        self._scroller.show_row(row)
        announce(self._stop, row.widget.accessibleName())
