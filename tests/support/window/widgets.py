"""Checks that hold for every window: no widget covers another, no text is cut without a tooltip."""

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QDockWidget,
    QLabel,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QScrollBar,
    QSizeGrip,
    QSlider,
    QSplitterHandle,
    QTabBar,
    QTextEdit,
    QWidget,
)

from ui.theme import Theme
from ui.widgets.controls import ElidedLabel

_LEAST_CONTRAST = 4.5
_FREE = (QScrollBar, QSizeGrip, QSplitterHandle)
_FLOATING = {  # cover others on purpose
    *("_Drawer", "_JumpButton", "_Popup"),
    *("Palette", "StickyRow", "Toast"),
}


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
            and type(child).__name__ not in _FLOATING
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
            not isinstance(label, ElidedLabel)  # which gives itself a tooltip where it is cut
            and not label.wordWrap()
            and width < label.sizeHint().width()
            and not label.toolTip()
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


def small_targets(root: QWidget) -> list[str]:
    """Describe the buttons that are too small to be hit with a pointer or a finger."""
    least = Theme.current().value("control.hit_min")
    return [
        f"{describe(widget)} is {widget.width()} × {widget.height()}"
        for widget in visible_widgets(root)
        if isinstance(widget, QAbstractButton)
        and min(widget.width(), widget.height()) < least
        and not _is_covered(widget)
    ]


def cut_buttons(root: QWidget) -> list[str]:
    """Describe the buttons and fields that are too narrow for their words."""
    found = []
    for widget in visible_widgets(root):
        if isinstance(widget, QPushButton) and widget.width() < widget.minimumSizeHint().width():
            found.append(f"{describe(widget)}: {widget.size()} of {widget.minimumSizeHint()}")
        if isinstance(widget, QLineEdit) and not widget.text():
            hint = widget.fontMetrics().horizontalAdvance(widget.placeholderText())
            if hint > widget.width() - 2 * Theme.current().value("control.field_pad_x"):
                found.append(f"{describe(widget)}: {widget.placeholderText()!r} is cut")
        if isinstance(widget, QTextEdit):  # it shows the first line of its hint alone
            hint = widget.fontMetrics().horizontalAdvance(widget.placeholderText())
            if hint > widget.viewport().width():
                found.append(f"{describe(widget)}: {widget.placeholderText()!r} is cut")
    return found


def faint_labels(root: QWidget) -> list[str]:
    """Describe the labels whose colour is too close to that of the surface below them."""
    found = []
    for label in visible_widgets(root):
        if isinstance(label, QLabel) and label.text() and label.isEnabled():
            ink = label.palette().color(label.foregroundRole())
            ground = _find_ground(label)
            if ground is not None and _compute_contrast(ink, ground) < _LEAST_CONTRAST:
                found.append(f"{describe(label)}: {ink.name()} on {ground.name()}")
    return found


def odd_sizes(root: QWidget) -> list[str]:
    """Describe the labels and buttons whose type size is none of the theme's."""
    theme = Theme.current()
    sizes = {theme.px(role["px"]) for role in theme.value("type").values()}
    return [
        f"{describe(widget)} has type of {widget.font().pixelSize()} px"
        for widget in visible_widgets(root)
        if isinstance(widget, QLabel | QAbstractButton | QLineEdit)
        and widget.font().pixelSize() not in sizes
    ]


def find_faults(root: QWidget) -> list[str]:
    """Describe everything that must not be seen in any picture of a window."""
    checks = (
        outside_their_parents,
        overlapping_siblings,
        cut_labels,
        undressed,
        small_targets,
        cut_buttons,
        faint_labels,
        odd_sizes,
    )
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


def without_tip(root: QWidget) -> list[str]:
    """Describe the visible buttons and fields of choice without a tooltip that adds something."""
    kinds = (QAbstractButton, QComboBox, QAbstractSpinBox, QSlider)
    found = [widget for widget in visible_widgets(root) if isinstance(widget, kinds)]
    return [
        describe(widget)
        for widget in found
        if not _is_ornament(widget)
        and widget.toolTip() in ("", widget.text() if isinstance(widget, QAbstractButton) else "")
    ]


def _is_ornament(widget: QWidget) -> bool:
    """Return whether a widget is the magnifier in a search field, which cannot be pressed."""
    return isinstance(widget.parentWidget(), QLineEdit) and not widget.accessibleName()


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


def _is_covered(widget: QWidget) -> bool:
    """Return whether another button or field has a widget's task, such as a completer's arrow."""
    return isinstance(widget.parentWidget(), QLineEdit | QTabBar)


def _find_ground(widget: QWidget) -> QColor | None:
    """Return the colour of the surface below a widget, or None if something else is painted."""
    while (above := widget.parentWidget()) is not None:
        widget = above
        if surface := widget.property("surface"):
            return Theme.current().color(f"bg.{surface}")
        if _paints(widget):
            return None
    return None


def _paints(widget: QWidget) -> bool:
    """Return whether a class of the product paints a widget."""
    return any(
        "paintEvent" in vars(kind)
        for kind in type(widget).__mro__
        if kind.__module__.startswith("ui.")
    )


def _compute_contrast(one: QColor, other: QColor) -> float:
    """Return the ratio of two colours' luminances, as WCAG 2 defines it."""
    dark, light = sorted((_compute_luminance(one), _compute_luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _compute_luminance(color: QColor) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (color.redF(), color.greenF(), color.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _measure_font(font: QFont) -> tuple[int, float, int]:
    return font.pixelSize(), font.pointSizeF(), font.weight()


def _scrolls(parent: QWidget) -> bool:
    above = parent.parentWidget()
    return isinstance(above, QAbstractScrollArea) and above.viewport() is parent


def rect_in(root: QWidget, widget: QWidget) -> QRect:
    """Return a widget's rectangle in the root's coordinates."""
    return QRect(widget.mapTo(root, QPoint(0, 0)), widget.size())
