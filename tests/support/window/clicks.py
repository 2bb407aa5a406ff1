"""Click what a user sees: rows at their positions, buttons by their labels."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QMenu, QWidget
from shiboken6 import isValid

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def row_of(view: QAbstractItemView, text: str) -> QModelIndex:
    """Return the visible row with this text.

    Raises:
        LookupError: no visible row has this text.
    """
    for index in visible_rows(view):
        if index.data() == text:
            return index
    raise LookupError(f"no row {text!r} in {view.accessibleName()}")


def visible_rows(view: QAbstractItemView) -> Iterator[QModelIndex]:
    """Yield every row whose middle is visible."""
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
    """Make a row the current one and press Enter."""
    view.setFocus()
    view.setCurrentIndex(row_of(view, text))
    QTest.keyClick(view, Qt.Key.Key_Return)


def button_named(root: QWidget, name: str) -> QAbstractButton:
    """Return the only visible button with this label or accessible name.

    Raises:
        LookupError: there is no such button, or more than one.
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
    window = button.window()
    spot = button.mapTo(window, button.rect().center())
    QTest.mouseClick(window.windowHandle(), LEFT, NONE, spot)


def open_menu() -> QMenu:
    """Return the menu that is open.

    Raises:
        LookupError: no menu is open.
    """
    menu = QApplication.activePopupWidget()
    if menu is None or not isinstance(menu, QMenu):
        raise LookupError("no menu is open")
    return menu


def click_item(menu: QMenu, text: str) -> None:
    """Click an item of an open menu, and check that the item was triggered.

    The events go through the window system. Otherwise Qt would assume that the mouse button is
    still pressed on a menu that has been deleted.
    """
    action = next(action for action in menu.actions() if action.text() == text)
    assert action.isEnabled()
    triggered: list[str] = []
    action.triggered.connect(lambda: triggered.append(text))
    handle, spot = menu.windowHandle(), menu.actionGeometry(action).center()
    if QGuiApplication.mouseButtons() & LEFT:  # still held from the press that opened the menu
        QTest.mouseRelease(handle, LEFT, NONE, spot)
    if isValid(action) and not triggered:
        QTest.mouseClick(handle, LEFT, NONE, spot)
    assert triggered or not isValid(action)  # choosing an item refills some menus


def choose(press: Callable[[], object], item: str) -> None:
    """Open a menu by calling `press` and click an item, even if the menu has its own event loop."""
    clicked: list[str] = []

    def click() -> None:
        menu = open_menu()
        try:
            click_item(menu, item)
            clicked.append(item)
        finally:
            if isValid(menu):  # a chosen item may have opened a folder, which takes long enough
                menu.close()  # otherwise its event loop would never end

    QTimer.singleShot(0, click)
    press()
    if not clicked:
        QApplication.processEvents()
    assert clicked == [item]


def choose_from_button(root: QWidget, button: str, item: str) -> None:
    """Click a button, and then an item in the menu that opens."""
    choose(lambda: click_button(root, button), item)


def choose_from_row(view: QAbstractItemView, row: str, item: str) -> None:
    """Right-click a row, and then click an item in the menu that opens."""
    spot = view.viewport().mapTo(view.window(), view.visualRect(row_of(view, row)).center())
    handle = view.window().windowHandle()
    QTest.mouseClick(handle, Qt.MouseButton.RightButton, NONE, spot)
    click_item(open_menu(), item)


def type_keys(widget: QWidget, text: str) -> None:
    """Click a field, type a text, and press Enter."""
    QTest.mouseClick(widget, LEFT, pos=widget.rect().center())
    QTest.keyClicks(widget, text)
    QTest.keyClick(widget, Qt.Key.Key_Return)


def press_keys(window: QWidget, keys: str) -> None:
    """Press a shortcut in a window."""
    QTest.keySequence(window, QKeySequence(keys))
