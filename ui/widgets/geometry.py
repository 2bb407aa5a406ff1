"""Sizes that follow the font scale, the text column's width, and scroll areas."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QVBoxLayout, QWidget

from ui.theme import Theme
from ui.widgets.layouts import make_column

__all__ = [
    "OUTDENT",
    "PlaceKeeper",
    "Scaled",
    "clear_layout",
    "compute_column",
    "keep_place",
    "make_scroll_area",
    "make_text_scroll_area",
    "reveal_whole",
    "scale_size",
    "set_apart",
    "set_in",
]

if TYPE_CHECKING:
    _Widget = QWidget
else:
    _Widget = object  # a widget can have only one base class of Qt

OUTDENT = 16


class Scaled(_Widget):
    """A mixin for widgets whose sizes follow the font scale.

    The mixin must precede the widget class in the list of base classes. Subclasses implement
    `_fit`, which is called when the font scale changes.
    """

    def changeEvent(self, event: QEvent) -> None:
        """Call `_fit` when the style changes, because the font scale may have changed."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def _fit(self) -> None:
        """Set all sizes according to the current font scale."""
        raise NotImplementedError


class PlaceKeeper(_Widget):
    """A mixin for a scrolling view whose contents the user can expand and collapse.

    Widgets in the view call the function `keep_place` before they change their height.
    """

    def keep_place(self, widget: QWidget) -> None:
        """Keep a widget in place on the screen while its height changes."""
        raise NotImplementedError


def keep_place(widget: QWidget) -> None:
    """Keep a widget in place on the screen while its height changes.

    Call this before the widget is expanded or collapsed. Nothing happens unless the scrolling view
    around the widget is a `PlaceKeeper`.
    """
    above = widget.parentWidget()
    while above is not None and not isinstance(above, PlaceKeeper):
        above = above.parentWidget()
    if above is not None:
        above.keep_place(widget)


def scale_size(widget: QWidget, width: int = 0, height: int = 0) -> None:
    """Give a widget a fixed width, height or both, in pixels that scale with the font.

    A width or height of 0 is left unchanged.
    """
    _Size(widget, width, height)


class _Size(QObject):
    """Keeps a widget at a fixed size that follows the font scale."""

    def __init__(self, widget: QWidget, width: int, height: int) -> None:
        super().__init__(widget)
        self._widget, self._width, self._height = widget, width, height
        Theme.current().changed.connect(self._take)
        self._take()

    def _take(self) -> None:
        theme = Theme.current()
        if self._width:
            self._widget.setFixedWidth(theme.px(self._width))
        if self._height:
            self._widget.setFixedHeight(theme.px(self._height))


def compute_column(width: int) -> tuple[int, int]:
    """Return the left edge and the width of the text column in pixels.

    Messages and the composer are as wide as this column, which is centred in the middle column.

    Args:
        width: the width of the window's middle column in pixels.
    """
    theme = Theme.current()
    gutter = int(theme.value("layout.transcript.gutter")) - OUTDENT
    measure = theme.px(theme.value("layout.transcript.measure")) + 2 * OUTDENT
    column = max(0, min(measure, width - 2 * gutter))
    return (width - column) // 2, column


def set_in(width: int) -> tuple[int, int]:
    """Return the left and right margins of the text column in pixels.

    Args:
        width: the width of the window's middle column in pixels.
    """
    left, column = compute_column(width)
    return left, width - left - column


def set_apart(widget: QWidget, left: int, top: int, right: int, bottom: int) -> QVBoxLayout:
    """Return a layout that contains only the given widget, surrounded by margins.

    While the widget is hidden, the margins disappear too.

    Args:
        left, top, right, bottom: the margins in pixels.
    """
    return make_column(widget, margins=(left, top, right, bottom))


def clear_layout(layout: QLayout) -> None:
    """Remove all items from a layout and delete their widgets."""
    while (item := layout.takeAt(0)) is not None:
        if widget := item.widget():
            widget.hide()
            widget.deleteLater()


def make_scroll_area(content: QWidget) -> QScrollArea:
    """Create a vertical scroll area whose content is always as wide as the area."""
    scroll = QScrollArea()
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidget(content)
    return scroll


def make_text_scroll_area(page: QWidget) -> QScrollArea:
    """Build a scroll area for a page with wrapped texts, which is as high as they need.

    Otherwise, the page would be as high as if its texts were wrapped at their least width.
    """
    page.setMinimumHeight(1)
    return make_scroll_area(page)


def reveal_whole(*widgets: QWidget) -> None:
    """Scroll the area around some widgets so that the first one that fits is visible as a whole.

    If none fits, the upper edge of the last one is at the top. What the widgets have shown or
    hidden just before is laid out first, so that their last height counts.
    """
    above = widgets[-1].parentWidget()
    while above is not None and not isinstance(above, QScrollArea):
        above = above.parentWidget()
    if above is None or (content := above.widget()) is None:
        return
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    room, bar = above.viewport().height(), above.verticalScrollBar()
    places = [QRect(one.mapTo(content, QPoint()), one.size()) for one in widgets]
    place = next((one for one in places if one.height() <= room), places[-1])
    least, most = place.top() + place.height() - room, place.top()
    bar.setValue(most if least > most else max(least, min(bar.value(), most)))
