"""Labels and icons, and functions that draw text and focus rings."""

import html
import re

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from ui.icons import icon, keep_upright, paint_icon
from ui.theme import Theme, dress
from ui.widgets.geometry import Scaled
from ui.widgets.texts import from_left, one_line

__all__ = [
    "AlignedLabel",
    "ElidedLabel",
    "IconLabel",
    "draw_text",
    "escape_tooltip",
    "label",
    "make_searchable",
    "make_wrapped_label",
    "one_line",
    "paint_focus",
    "wrap_for",
]

_ENDLESS = re.compile(r"\S{2000}")


class AlignedLabel(QLabel):
    """A label whose text is right-aligned in a right-to-left layout.

    By default, Qt aligns wrapped text by the direction of its first letter.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self._align()

    def changeEvent(self, event: QEvent) -> None:
        """Align the text in the new layout direction."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._align()

    def _align(self) -> None:
        if self.isRightToLeft():
            edge = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        else:
            edge = self._left
        self.setAlignment(edge | Qt.AlignmentFlag.AlignVCenter)

    @property
    def _left(self) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignLeft


class ElidedLabel(AlignedLabel):
    """A label with one line of plain text. Text that is too wide is elided and gets a tooltip.

    Args:
        text: the full text.
        mode: where to elide the text. Paths are elided in the middle.
        is_ours: whether the text is a sentence of the user interface. Such a sentence is laid out
            left to right, even if it starts with a note's name in a right-to-left script.
    """

    def __init__(
        self,
        text: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        *,
        is_ours: bool = False,
    ) -> None:
        super().__init__()
        self._is_ours = is_ours
        self._whole = ""
        self._hint = ""
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    @property
    def whole(self) -> str:
        """The label's full text, before elision."""
        return self._whole

    def set_text(self, text: str, hint: str = "") -> None:
        """Show text, elided if necessary, with a tooltip.

        Args:
            hint: the tooltip. If the text is elided, the tooltip starts with the full text.
        """
        self._whole = one_line(text)
        self._hint = hint
        self.setAccessibleName(self._whole)
        self.updateGeometry()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the text again for the new width."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Elide the text again for the new font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def sizeHint(self) -> QSize:
        """Return the size of the label's full text."""
        width = self.fontMetrics().horizontalAdvance(self._whole) + 1
        return QSize(width, self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        """Return a minimum width of 0, because the text can be elided."""
        return QSize(0, self.fontMetrics().height())

    @property
    def _left(self) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute

    def _fit(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, self._mode, self.width())
        self.setText(from_left(shown) if self._is_ours else shown)
        whole = self._whole if shown != self._whole else ""
        self.setToolTip(escape_tooltip("\n".join(filter(None, (whole, self._hint)))))


class IconLabel(Scaled, QWidget):
    """A decorative icon without an accessible name."""

    def __init__(
        self, name: str, tone: str = "text.secondary", size: int = 16, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._name, self._tone, self._size = name, tone, size
        self._fit()

    def set_icon(self, name: str, tone: str) -> None:
        """Show another icon of the same size.

        Args:
            name: the name of the icon.
            tone: the name of the icon's colour in the theme.
        """
        self._name, self._tone = name, tone
        self.update()

    def sizeHint(self) -> QSize:
        """Return the icon's size at the current font scale."""
        side = Theme.current().px(self._size)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon."""
        paint_icon(QPainter(self), self.rect(), self._name, self._tone)

    def _fit(self) -> None:
        self.setFixedSize(self.sizeHint())


def label(text: str, kind: str = "ui", tone: str = "primary", *, numbers: bool = False) -> QLabel:
    """Create a label for plain text.

    Args:
        text: the text of the label.
        kind: the role of the text in the theme, such as `body` or `caption`, which sets the font.
        tone: the name of the text colour, such as `primary` or `secondary`.
        numbers: whether to use digits of equal width.
    """
    made = AlignedLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    dress(made, kind, tone, numbers=numbers)
    return made


def make_wrapped_label(text: str, kind: str = "ui", tone: str = "primary") -> QLabel:
    """Create a label for plain text, which wraps at words.

    The arguments are those of `label`.
    """
    made = label(text, kind, tone)
    made.setWordWrap(True)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    made.setSizePolicy(policy)
    return made


def make_searchable(field: QLineEdit) -> None:
    """Add a magnifier icon to a field, and a button that clears the field."""
    field.setProperty("search", True)
    field.setClearButtonEnabled(True)
    for clear in field.findChildren(QToolButton):
        clear.setIcon(icon("x"))
        clear.setAccessibleName("Clear the field")
        clear.setToolTip("Clear the field")
    field.addAction(icon("magnifying-glass"), QLineEdit.ActionPosition.LeadingPosition)


def draw_text(painter: QPainter, rect: QRect | QRectF, flags: Qt.AlignmentFlag, text: str) -> None:
    """Draw text that stays readable if the painter is mirrored.

    In a mirrored painter, left and right alignment are swapped.
    """
    with keep_upright(painter, rect) as is_mirrored:
        if is_mirrored and not flags & Qt.AlignmentFlag.AlignHCenter:
            across = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignRight
            is_right = bool(flags & Qt.AlignmentFlag.AlignRight)
            start, end = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
            flags = (flags & ~across) | (start if is_right else end)
        painter.drawText(rect, flags, text)


def paint_focus(
    painter: QPainter, rect: QRect, radius: str = "md", tone: str = "line.focus"
) -> None:
    """Draw a focus ring inside a rectangle.

    Args:
        painter: the painter of the widget.
        rect: the outer edge of the ring.
        radius: the name of a corner radius, such as `md`.
        tone: the name of the ring's colour in the theme.
    """
    theme = Theme.current()
    pen = painter.pen()
    pen.setStyle(Qt.PenStyle.SolidLine)
    pen.setColor(theme.color(tone))
    pen.setWidth(2)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    edge = QRectF(rect).adjusted(1, 1, -1, -1)
    painter.drawRoundedRect(edge, theme.radius(radius) - 1, theme.radius(radius) - 1)


def escape_tooltip(text: str) -> str:
    """Escape tooltip text that Qt would interpret as rich text. Other text is unchanged."""
    if not QtGui.Qt.mightBeRichText(text):
        return text
    return f"<qt>{html.escape(text)}</qt>".replace("\n", "<br>")


def wrap_for(text: str) -> QTextOption.WrapMode:
    """Return the wrap mode for text: at words, or anywhere if a word is extremely long.

    When Qt wraps at words, it searches for the end of the current word again at each line. The
    layout of a word of 200,000 letters would therefore take seconds.
    """
    if _ENDLESS.search(text):
        return QTextOption.WrapMode.WrapAnywhere
    return QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
