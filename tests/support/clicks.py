"""Pressing what is seen, as a person does: rows at their place, buttons by what they say."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QMenu, QWidget

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def row_of(view: QAbstractItemView, text: str) -> QModelIndex:
    """Return the visible row with this text.

    Raises:
        LookupError: no row in sight has it.
    """
    for index in visible_rows(view):
        if index.data() == text:
            return index
    raise LookupError(f"no row {text!r} in {view.accessibleName()}")


def visible_rows(view: QAbstractItemView) -> Iterator[QModelIndex]:
    """Every row whose middle is in sight."""
    model, area = view.model(), view.viewport().rect()
    waiting = [model.index(row, 0) for row in range(model.rowCount())]
    while waiting:
        index = waiting.pop(0)
        rect = view.visualRect(index)
        if rect.isEmpty():
            continue
        if rect.top() > area.bottom():
            break
        if area.contains(rect.center()):
            yield index
        waiting[:0] = [model.index(row, 0, index) for row in range(model.rowCount(index))]


def click_row(view: QAbstractItemView, text: str) -> None:
    """Click the middle of a row."""
    assert view.isVisible()
    spot = view.visualRect(row_of(view, text)).center()
    QTest.mouseClick(view.viewport(), LEFT, pos=spot)


def press_enter_on(view: QAbstractItemView, text: str) -> None:
    """Make a row current, then press Enter."""
    view.setFocus()
    view.setCurrentIndex(row_of(view, text))
    QTest.keyClick(view, Qt.Key.Key_Return)


def button_named(root: QWidget, name: str) -> QAbstractButton:
    """Return the one visible button that says or is called this.

    Raises:
        LookupError: there is none, or more than one.
    """
    found = [
        button
        for button in root.findChildren(QAbstractButton)
        if button.isVisible() and name in {button.text(), button.accessibleName()}
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} buttons named {name!r}")
    return found[0]


def click_button(root: QWidget, name: str) -> None:
    """Click the middle of a button."""
    button = button_named(root, name)
    assert button.isEnabled()
    QTest.mouseClick(button, LEFT, pos=button.rect().center())


def open_menu() -> QMenu:
    """Return the menu that is open now.

    Raises:
        LookupError: none is.
    """
    menu = QApplication.activePopupWidget()
    if menu is None or not isinstance(menu, QMenu):
        raise LookupError("no menu is open")
    return menu


def click_item(menu: QMenu, text: str) -> None:
    """Click an item of an open menu."""
    action = next(action for action in menu.actions() if action.text() == text)
    assert action.isEnabled()
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(action).center())


def choose(press: Callable[[], object], item: str) -> None:
    """Press what opens a menu, and click an item of it; the menu may have a loop of its own."""
    clicked: list[str] = []

    def click() -> None:
        menu = open_menu()
        try:
            click_item(menu, item)
            clicked.append(item)
        finally:
            menu.close()  # or its loop would never end

    QTimer.singleShot(0, click)
    press()
    if not clicked:
        QApplication.processEvents()
    assert clicked == [item]


def choose_from_button(root: QWidget, button: str, item: str) -> None:
    """Click a button, and then an item of the menu that opens."""
    choose(lambda: click_button(root, button), item)


def choose_from_row(view: QAbstractItemView, row: str, item: str) -> None:
    """Click a row with the right button, and then an item of the menu that opens."""
    spot = view.viewport().mapTo(view.window(), view.visualRect(row_of(view, row)).center())
    handle = view.window().windowHandle()
    choose(lambda: QTest.mouseClick(handle, Qt.MouseButton.RightButton, NONE, spot), item)


def type_keys(widget: QWidget, text: str) -> None:
    """Click into a field, type, and press Enter."""
    QTest.mouseClick(widget, LEFT, pos=widget.rect().center())
    QTest.keyClicks(widget, text)
    QTest.keyClick(widget, Qt.Key.Key_Return)


def press_keys(window: QWidget, keys: str) -> None:
    """Press a shortcut of a window."""
    QTest.keySequence(window, QKeySequence(keys))
