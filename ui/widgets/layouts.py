"""Rows, columns and grids of widgets, described by their items, margins and spacing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import Shiboken

__all__ = [
    "Item",
    "Spot",
    "align",
    "grow",
    "keep_room",
    "lay_out_now",
    "make_column",
    "make_grid",
    "make_row",
    "stretch",
]

_ANYWHERE = Qt.AlignmentFlag(0)


@dataclass(frozen=True)
class Spot:
    """An item of a row or column, and how it uses the free space.

    Attributes:
        item: the widget or layout, or None for free space.
        share: the share of the free space that the item receives.
        alignment: where the item stands in its space. By default, the item fills it.
    """

    item: QWidget | QLayout | None
    share: int = 0
    alignment: Qt.AlignmentFlag = _ANYWHERE


Item = QWidget | QLayout | Spot | int
Margins = int | tuple[int, int, int, int]


def grow(item: QWidget | QLayout, share: int = 1) -> Spot:
    """Let an item grow into the free space."""
    return Spot(item, share)


def align(item: QWidget | QLayout, alignment: Qt.AlignmentFlag, share: int = 0) -> Spot:
    """Align an item in its space."""
    return Spot(item, share, alignment)


def stretch(share: int = 1) -> Spot:
    """Return free space, which pushes the items around it apart."""
    return Spot(None, share)


def make_row(
    *items: Item,
    margins: Margins | None = None,
    spacing: int | None = None,
    parent: QWidget | None = None,
) -> QHBoxLayout:
    """Lay out items from left to right.

    Args:
        items: widgets, layouts, spots, and numbers, which are distances in pixels.
        margins: one margin in pixels, or the left, top, right and bottom ones. None means those of
            the style.
        spacing: the distance between items in pixels. None means that of the style.
        parent: the widget that the row fills.
    """
    row = QHBoxLayout() if parent is None else QHBoxLayout(parent)
    _fill(row, items, margins, spacing)
    return row


def lay_out_now(widget: QWidget) -> None:
    """Let the layout of a widget place its children now, if it has one.

    PySide6 keeps a Python object for each item of a nested layout, also after Qt has deleted the
    item. Qt may create a layout at the same address, and PySide6 then returns the old object for
    it. Such an object is dropped, and the layout is asked for again.
    """
    layout: Any = widget.layout()
    if layout is not None and not isinstance(layout, QLayout):
        Shiboken.invalidate(layout)
        layout = widget.layout()
    if layout is not None:
        layout.activate()


def keep_room(widget: QWidget, *, is_kept: bool = True) -> None:
    """Set whether a widget keeps its place in a layout while it is hidden."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(is_kept)
    widget.setSizePolicy(policy)


def make_column(
    *items: Item,
    margins: Margins | None = None,
    spacing: int | None = None,
    parent: QWidget | None = None,
) -> QVBoxLayout:
    """Lay out items from top to bottom. The arguments are those of `make_row`."""
    column = QVBoxLayout() if parent is None else QVBoxLayout(parent)
    _fill(column, items, margins, spacing)
    return column


def make_grid(
    rows: Iterable[Sequence[QWidget | QLayout | Spot]],
    *,
    spacing: tuple[int, int],
    grows: int | None = None,
) -> QGridLayout:
    """Lay out items in rows whose columns are aligned, such as a form of labels and fields.

    Args:
        rows: the items of each row. A spot says how its item is aligned.
        spacing: the distances between columns and between rows in pixels.
        grows: the column that receives the free space, or None to share it.
    """
    grid = QGridLayout()
    grid.setHorizontalSpacing(spacing[0])
    grid.setVerticalSpacing(spacing[1])
    if grows is not None:
        grid.setColumnStretch(grows, 1)
    for at, items in enumerate(rows):
        for column, item in enumerate(items):
            spot = item if isinstance(item, Spot) else Spot(item)
            if isinstance(spot.item, QWidget):
                grid.addWidget(spot.item, at, column, spot.alignment)
            elif spot.item is not None:
                grid.addLayout(spot.item, at, column, spot.alignment)
    return grid


def _fill(
    layout: QBoxLayout, items: tuple[Item, ...], margins: Margins | None, spacing: int | None
) -> None:
    if margins is not None:
        sides = (margins,) * 4 if isinstance(margins, int) else margins
        layout.setContentsMargins(*sides)
    if spacing is not None:
        layout.setSpacing(spacing)
    for item in items:
        _add(layout, item)


def _add(layout: QBoxLayout, item: Item) -> None:
    if isinstance(item, int):
        layout.addSpacing(item)
        return
    spot = item if isinstance(item, Spot) else Spot(item)
    match spot.item:
        case None:
            layout.addStretch(spot.share)
        case QWidget() as widget:
            layout.addWidget(widget, spot.share, spot.alignment)
        case inner:
            layout.addLayout(inner, spot.share)
            if spot.alignment != _ANYWHERE:
                layout.setAlignment(inner, spot.alignment)
