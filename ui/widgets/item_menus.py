"""What can be done with a row of a list, as a menu by the mouse or the keyboard."""

from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu

__all__ = ["WithMenus"]

if TYPE_CHECKING:
    _View = QAbstractItemView
else:
    _View = object  # only one of a widget's bases can be of Qt


class WithMenus(_View):
    """Stands before the class of a list that has the signal `menu_wanted`, of index and menu."""

    menu_wanted: ClassVar[Signal]

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the row that is meant; nothing where that is nothing."""
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if is_by_key else self.indexAt(event.pos())
        if not index.isValid():
            return
        menu = self.menu_of(index)
        below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        if not menu.isEmpty():
            menu.exec(below if is_by_key else event.globalPos())
        menu.deleteLater()

    def menu_of(self, index: QModelIndex) -> QMenu:
        """Return what can be done with a row."""
        menu = QMenu(self)
        self.menu_wanted.emit(index, menu)
        return menu
