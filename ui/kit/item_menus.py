"""What can be done with a row of a list, as a menu by the mouse or the keyboard."""

from collections.abc import Callable

from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu

__all__ = ["offer_menu"]


def offer_menu(
    view: QAbstractItemView, event: QContextMenuEvent, menu_of: Callable[[QModelIndex], QMenu]
) -> None:
    """Show the menu of the row that is meant; none where there is no row, or nothing to do.

    Args:
        view: the list.
        event: as it reached the list.
        menu_of: makes the menu of a row.
    """
    is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
    index = view.currentIndex() if is_by_key else view.indexAt(event.pos())
    if not index.isValid():
        return
    menu = menu_of(index)
    below = view.viewport().mapToGlobal(view.visualRect(index).bottomLeft())
    if not menu.isEmpty():
        menu.exec(below if is_by_key else event.globalPos())
    menu.deleteLater()
