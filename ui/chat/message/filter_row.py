"""The filter of a list: a chip for each of its parts, which lists again without it."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from chains.retrieval.listing_query import FilterPart
from ui.widgets.buttons import ButtonText, PushButton, make_button
from ui.widgets.flow_row import FlowRow

__all__ = ["FilterRow"]

_MOST_LINES: Final = 3
_TIP: Final = "List again without this (Delete)"
_LAST_TIP: Final = "List everything, without this (Delete)"


class FilterRow(FlowRow):
    """The row of chips below a list, one for each part of the filter that was understood.

    A click on a chip, or Enter, Delete or Backspace while it has the focus, asks for the list
    without its part. The arrow keys move between the chips.

    Signals:
        asked: the message that asks for the list without a part.
    """

    asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_MOST_LINES, parent)
        self._parts: tuple[FilterPart, ...] = ()
        self.setAccessibleName("Filter of the list")
        self.hide()

    @property
    def parts(self) -> tuple[FilterPart, ...]:
        """The parts of the filter, in the order of their chips."""
        return self._parts

    def show_parts(self, parts: Sequence[FilterPart]) -> None:
        """Show a chip for each part. Without parts, the row is hidden."""
        if tuple(parts) != self._parts:
            self._parts = tuple(parts)
            self.show_widgets([self._make_chip(part) for part in self._parts])
        self.setVisible(bool(self._parts))

    def _make_chip(self, part: FilterPart) -> PushButton:
        tip = _TIP if len(self._parts) > 1 else _LAST_TIP
        chip = make_button(
            ButtonText(f"{part.text}  ×", tip), "", lambda: self.asked.emit(part.without)
        )
        chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        chip.setProperty("compact", True)
        chip.setAccessibleName(f"Remove the filter: {part.text}")
        return chip

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remove a chip's part on Delete, and move to its neighbour on an arrow key.

        At the first and the last chip, the key that leads on does nothing.
        """
        is_press = event.type() == QEvent.Type.KeyPress
        if is_press and isinstance(watched, PushButton) and isinstance(event, QKeyEvent):
            return self._take_key(watched, event.key())
        return super().eventFilter(watched, event)

    def _take_key(self, chip: PushButton, key: int) -> bool:
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            chip.click()
            return True
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(key), 0)
        chips = self.shown()
        at = chips.index(chip) + step
        if step and 0 <= at < len(chips):
            chips[at].setFocus(Qt.FocusReason.OtherFocusReason)
        return bool(step)
