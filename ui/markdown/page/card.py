"""The card that shows the source of a citation while it is hovered or focused."""

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from chains.citations.answer_sources import Source
from context.layers import name_lines
from ui.theme import Theme, dress
from ui.widgets.controls import ElidedLabel, IconLabel, make_wrapped_label, one_line
from ui.widgets.lists import paint_text
from ui.widgets.texts import is_rtl

__all__ = ["CitationCard", "describe_source"]

_WIDTH = 360
_PASSAGE_LINES = 4
_MOST_CHARS = 600
_PADDING = 14
_FOUND = "Found by Strata, not cited by the model"


def describe_source(source: Source) -> str:
    """Return the source of a citation in one sentence, for screen readers."""
    where = f", {name_lines(source.lines).replace('–', ' to ')}" if source.lines else ""
    where = where if source.page is None else f", page {source.page}"
    state = ", verified" if source.is_verified else (", not verified" if source.doubt else "")
    found = f". {_FOUND}" if source.is_found else ""
    return f"Source {source.number}, {one_line(source.title)}{where}{state}{found}"


class CitationCard(QFrame):
    """A popup that shows a citation's source. It never takes the focus, and ignores the mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self._title = ElidedLabel()
        dress(self._title, "ui_strong")
        self._state = IconLabel("check-circle", "success.graphic", 14)
        self._place = ElidedLabel("", Qt.TextElideMode.ElideMiddle, is_ours=True)
        dress(self._place, "caption", "secondary")
        self._passage = _Passage()
        self._found = ElidedLabel(_FOUND)
        dress(self._found, "caption", "secondary")
        self._doubt = make_wrapped_label("", "caption", "amber")
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title, 1)
        head.addWidget(self._state)
        column = QVBoxLayout(self)
        column.setContentsMargins(_PADDING, 12, _PADDING, 12)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._place)
        column.addWidget(self._passage)
        column.addWidget(self._found)
        column.addWidget(self._doubt)

    def show_source(self, source: Source, at: QRect) -> None:
        """Show a source below a citation, or above the citation if there is no space below.

        Args:
            source: the source to show.
            at: the rectangle of the citation in global coordinates.
        """
        self._title.set_text(source.title)
        self._place.set_text(source.place)
        self._place.setVisible(bool(source.path))
        self._passage.set_text(source.passage, source.cited)
        self._passage.setVisible(bool(source.passage))
        self._found.setVisible(source.is_found)
        self._doubt.setText(source.doubt)
        self._doubt.setVisible(bool(source.doubt))
        self._state.setVisible(source.is_verified or bool(source.doubt))
        if source.doubt:
            self._state.set_icon("warning", "amber.graphic")
        else:
            self._state.set_icon("check-circle", "success.graphic")
        width = Theme.current().px(_WIDTH)
        self.setFixedWidth(width)
        self._passage.fit(width - 2 * _PADDING)
        self.adjustSize()
        self.move(self._spot(at))
        self.show()

    def shown(self) -> tuple[str, str, str, str]:
        """Return the texts in the card: the source's title, location, passage and problem."""
        return self._title.whole, self._place.whole, self._passage.text, self._doubt.text()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the background and border of the card that shows a source."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # The corners too: without a compositor, a translucent window has black ones.
        painter.fillRect(self.rect(), theme.color("bg.overlay"))
        painter.setPen(theme.color("line.strong"))
        edge = self.rect().adjusted(0, 0, -1, -1)
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))

    def _spot(self, at: QRect) -> QPoint:
        screen = QGuiApplication.screenAt(at.center()) or QGuiApplication.primaryScreen()
        room = screen.availableGeometry()
        x = max(room.left() + 8, min(at.left(), room.right() - self.width() - 8))
        below = at.bottom() + 6
        fits = below + self.height() <= room.bottom()
        return QPoint(x, below if fits else at.top() - self.height() - 6)


class _Passage(QWidget):
    """A widget that shows the beginning of a source's passage, in at most four lines."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.cited_chars = 0
        self._lines: list[str] = []
        self._starts: list[int] = []

    def set_text(self, text: str, cited: str) -> None:
        self.text, self.cited_chars = one_line(text), len(one_line(cited))

    def fit(self, width: int) -> None:
        theme = Theme.current()
        layout = QTextLayout(self.text[:_MOST_CHARS], theme.font("ui"))
        layout.beginLayout()
        starts: list[int] = []
        while len(starts) < _PASSAGE_LINES and (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            starts.append(line.textStart())
        layout.endLayout()
        ends = [*starts[1:], len(self.text)]
        metrics = QFontMetrics(theme.font("ui"))
        cut = Qt.TextElideMode.ElideRight
        parts = [self.text[start:end] for start, end in zip(starts, ends, strict=True)]
        self._lines = [metrics.elidedText(part.strip(), cut, width) for part in parts]
        self._starts = starts
        self.setFixedHeight(len(starts) * theme.line("ui"))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), QPainter(self)
        painter.setFont(theme.font("ui"))
        height = theme.line("ui")
        ways = Qt.LayoutDirection
        direction = ways.RightToLeft if is_rtl(self.text) else ways.LeftToRight
        for number, line in enumerate(self._lines):
            row = QRect(0, number * height, self.width(), height)
            cited = line[: max(0, self.cited_chars - self._starts[number])]
            self._paint_ground(painter, row, cited, direction)
            painter.setPen(theme.color("diff.mark_text" if cited else "text.secondary"))
            paint_text(painter, row, line, direction=direction)

    def _paint_ground(
        self, painter: QPainter, row: QRect, cited: str, direction: Qt.LayoutDirection
    ) -> None:
        """Paint a background behind the cited text at the start of a line.

        Args:
            painter: the painter of the widget.
            row: the rectangle of the line.
            cited: the cited text.
            direction: the text direction of the line.
        """
        width = painter.fontMetrics().horizontalAdvance(cited)
        left = row.right() + 1 - width if direction == Qt.LayoutDirection.RightToLeft else 0
        color = Theme.current().color("diff.mark_bg")
        painter.fillRect(QRect(left, row.top(), width, row.height()), color)
