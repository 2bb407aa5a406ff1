"""Checks that hold for every window: no widget covers another, no text is cut without a tooltip."""

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QDockWidget,
    QLabel,
    QMainWindow,
    QScrollBar,
    QSizeGrip,
    QSplitterHandle,
    QTabBar,
    QWidget,
)

from ui.theme import Theme

_FREE = (QScrollBar, QSizeGrip, QSplitterHandle)


def visible_widgets(root: QWidget) -> Iterator[QWidget]:
    """Yield every visible widget, including the root."""
    yield root
    for child in root.findChildren(QWidget):
        if child.isVisible() and not child.isWindow():
            yield child


def outside_their_parents(root: QWidget) -> list[str]:
    """Describe the widgets that extend beyond their parents, except within scroll areas."""
    found = []
    for widget in visible_widgets(root):
        parent = widget.parentWidget()
        if widget is root or parent is None or _scrolls(parent) or _is_parked(widget):
            continue
        if not parent.rect().contains(widget.geometry()):
            found.append(f"{describe(widget)} at {widget.geometry()} in {parent.rect()}")
    return found


def overlapping_siblings(root: QWidget) -> list[str]:
    """Describe the pairs of widgets with the same parent that overlap."""
    found = []
    for parent in visible_widgets(root):
        if isinstance(parent, QAbstractScrollArea):
            continue
        children = [
            child
            for child in parent.children()
            if isinstance(child, QWidget)
            and child.isVisible()
            and not child.isWindow()
            and not isinstance(child, _FREE)
            and not _is_parked(child)
            and not child.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        ]
        for place, first in enumerate(children):
            for second in children[place + 1 :]:
                shared = first.geometry().intersected(second.geometry())
                if not shared.isEmpty():
                    found.append(f"{describe(first)} over {describe(second)} at {shared}")
    return found


def cut_labels(root: QWidget) -> list[str]:
    """Describe the labels that are too small for their text and have no tooltip."""
    found = []
    for label in root.findChildren(QLabel):
        if not label.isVisible() or not label.text():
            continue
        width = label.width()
        need = label.heightForWidth(width) if label.wordWrap() else label.sizeHint().height()
        is_short = label.height() < need
        is_narrow = (
            not label.wordWrap() and width < label.sizeHint().width() and not label.toolTip()
        )
        if is_short or (is_narrow and "…" not in label.text()):
            found.append(f"{label.text()!r}: {label.size()} of {label.sizeHint()}, {need}")
    return found


def undressed(root: QWidget) -> list[str]:
    """Describe the widgets whose font is not that of their type role; Qt resets some fonts."""
    found = []
    for widget in visible_widgets(root):
        if kind := widget.property("kind"):
            font = Theme.current().font(kind, numbers=bool(widget.property("numbers")))
            wanted, is_so = _measure_font(font), _measure_font(widget.font())
            if is_so != wanted:
                found.append(f"{describe(widget)} is {is_so} instead of {kind} {wanted}")
    return found


def find_faults(root: QWidget) -> list[str]:
    """Describe everything that must not be seen in any picture of a window."""
    checks = (outside_their_parents, overlapping_siblings, cut_labels, undressed)
    return [fault for check in checks for fault in check(root)]


def unnamed(root: QWidget) -> list[str]:
    """Describe the widgets that accept the focus but have no name for screen readers."""
    return [
        describe(widget)
        for widget in visible_widgets(root)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not isinstance(widget, QMainWindow)
        and not widget.accessibleName()
        and not (isinstance(widget, QAbstractButton) and widget.text())
    ]


def bottom_in(root: QWidget, widget: QWidget) -> int:
    """Return the y coordinate, in the root, of a widget's lower edge."""
    return widget.mapTo(root, QPoint(0, widget.height())).y()


def left_in(root: QWidget, widget: QWidget) -> int:
    """Return the x coordinate, in the root, of a widget's left edge."""
    return widget.mapTo(root, QPoint(0, 0)).x()


def describe(widget: QWidget) -> str:
    """Describe a widget in the message of a failed test."""
    text = widget.text() if isinstance(widget, QAbstractButton | QLabel) else ""
    name = widget.accessibleName() or widget.objectName() or text
    return f"{type(widget).__name__}({name!r})"


def _is_parked(widget: QWidget) -> bool:
    """Return whether Qt keeps a widget without showing it to the user.

    These are unused tab bars, docks behind another tab, and the grips over splitters.
    """
    is_grip = widget.objectName() == "qt_qmainwindow_extended_splitter"
    return is_grip or (isinstance(widget, QTabBar | QDockWidget) and widget.x() < 0)


def _measure_font(font: QFont) -> tuple[int, float, int]:
    return font.pixelSize(), font.pointSizeF(), font.weight()


def _scrolls(parent: QWidget) -> bool:
    above = parent.parentWidget()
    return isinstance(above, QAbstractScrollArea) and above.viewport() is parent


def rect_in(root: QWidget, widget: QWidget) -> QRect:
    """Return a widget's rectangle in the root's coordinates."""
    return QRect(widget.mapTo(root, QPoint(0, 0)), widget.size())
