"""The composer's small parts: choosers, the meter, the button that sends and stops."""

from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from ui.icons import icon, paint_icon
from ui.kit.controls import IconLabel, button, one_line, paint_focus, wrapped
from ui.kit.figures import percent
from ui.theme import Theme, dress

__all__ = ["Chooser", "ComposerError", "Meter", "SendButton"]

_AMBER_FROM = 0.8
_BAR = (56, 4)


class Chooser(QToolButton):
    """An icon, the chosen word, and an arrow that opens the choices; `chosen` carries a value."""

    chosen = Signal(str)

    def __init__(self, name: str, icon_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._icon_name = name, icon_name
        self._words: dict[str, str] = {}
        self.value = ""
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._on_triggered)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        dress(self, "ui_strong", "secondary")
        self.set_value("")

    def set_choices(self, choices: Sequence[tuple[str, str, str]]) -> None:
        """Fill the list with value, word, and what stands beside the word."""
        self._words = {value: one_line(word) for value, word, _ in choices}
        self._menu.clear()
        for value, word, beside in choices:
            text = one_line(word).replace("&", "&&")
            action = self._menu.addAction(f"{text}\t{one_line(beside)}" if beside else text)
            action.setCheckable(True)
            action.setData(value)
        self.set_value(self.value)

    def set_value(self, value: str) -> None:
        """Show a choice as the one in force; a value that is not in the list stands for itself."""
        self.value = value
        word = self._words.get(value, one_line(value))
        self.setText(word)
        said = f"{self._name}: {word}" if word else self._name
        self.setAccessibleName(said)
        self.setToolTip(f"<qt>{escape(said)}</qt>")
        for action in self._menu.actions():
            action.setChecked(action.data() == value)
        self.updateGeometry()

    def set_icon(self, icon_name: str) -> None:
        """Show another icon."""
        self._icon_name = icon_name
        self.update()

    def open(self) -> None:
        """Open the list."""
        self.showMenu()

    def sizeHint(self) -> QSize:
        """Return room for icon, word and arrow."""
        theme = Theme.current()
        text = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(text + theme.px(16) + theme.px(12) + 30, theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return room for a few letters: a long name is cut."""
        theme = Theme.current()
        return QSize(min(theme.px(88), self.sizeHint().width()), theme.px(28))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font scale."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw background, icon, word and arrow."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_hot = self.underMouse() or self.isDown()
        if is_hot:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("bg.pressed" if self.isDown() else "bg.hover"))
            painter.drawRoundedRect(self.rect(), theme.radius("md"), theme.radius("md"))
        if self.hasFocus():
            paint_focus(painter, self.rect())
        tone = "text.primary" if is_hot else "text.secondary"
        side, arrow, middle = theme.px(16), theme.px(12), self.height()
        paint_icon(painter, QRect(8, (middle - side) // 2, side, side), self._icon_name, tone)
        text = self.rect().adjusted(side + 14, 0, -arrow - 12, 0)
        painter.setPen(theme.color(tone))
        painter.setFont(self.font())
        word = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideMiddle, text.width()
        )
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, word)
        spot = QRect(self.width() - arrow - 8, (middle - arrow) // 2 + 1, arrow, arrow)
        paint_icon(painter, spot, "caret-down", "text.tertiary")

    def _on_triggered(self, action: object) -> None:
        value = str(action.data())  # type: ignore[attr-defined]
        if value != self.value:
            self.set_value(value)
            self.chosen.emit(value)
        else:
            self.set_value(value)


class Meter(QAbstractButton):
    """How full the next request is; a click opens the context panel."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fraction: float | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        dress(self, "ui", "", numbers=True)
        self.set_fraction(None)

    def set_fraction(self, fraction: float | None) -> None:
        """Show a share of the budget; None where it is not known."""
        self.fraction = fraction
        words = "not known" if fraction is None else f"{round(fraction * 100)} percent"
        self.setAccessibleName(f"Context {words}")
        self.setToolTip(f"Context: {words}. Click for the layers.")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the bar's width and that of the figure, with room for three digits."""
        widest = max(self.fontMetrics().horizontalAdvance(text) for text in (self._text(), "100 %"))
        return QSize(_BAR[0] + widest + 18, Theme.current().px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the whole size: the figure is never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar and the figure."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.underMouse():
            painter.setBrush(theme.color("bg.hover"))
            painter.drawRoundedRect(self.rect(), theme.radius("md"), theme.radius("md"))
        width, height = _BAR
        track = QRectF(6, (self.height() - height) / 2, width, height)
        painter.setBrush(theme.color("layer.free"))
        painter.drawRoundedRect(track, height / 2, height / 2)
        if self.fraction:
            track.setWidth(max(height, width * min(1.0, self.fraction)))
            painter.setBrush(theme.color(self.tone("graphic")))
            painter.drawRoundedRect(track, height / 2, height / 2)
        painter.setPen(theme.color(self.tone("text")))
        painter.setFont(self.font())
        text = self.rect().adjusted(width + 8, 0, -6, 0)
        painter.drawText(
            text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._text()
        )
        if self.hasFocus():
            paint_focus(painter, self.rect())

    def _text(self) -> str:
        return "–" if self.fraction is None else percent(self.fraction)

    def tone(self, part: str) -> str:
        """Return the colour of the bar (`graphic`) or of the figure (`text`)."""
        fraction = self.fraction or 0.0
        if fraction > 1:
            return f"danger.{part}"
        if fraction > _AMBER_FROM:
            return f"amber.{part}"
        return "accent.base" if part == "graphic" else "text.secondary"


class SendButton(QPushButton):
    """Send, or Stop while an answer is on its way: one place, one size."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.is_stop = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAutoDefault(False)
        dress(self, "ui_strong", "")
        self.set_stop(False)

    def set_stop(self, is_stop: bool) -> None:
        """Become Stop, or Send again."""
        self.is_stop = is_stop
        self.setProperty("role", "" if is_stop else "primary")
        self.setText("Stop" if is_stop else "Send")
        name, tone = ("square", "text.primary") if is_stop else ("arrow-up", "text.on_accent")
        self.setIcon(icon(name, tone))
        self.setAccessibleName(self.text())
        self.style().unpolish(self)
        self.style().polish(self)
        dress(self, "ui_strong", "")

    def sizeHint(self) -> QSize:
        """Return the size of the wider of both words."""
        side = Theme.current().px(16)
        if self.iconSize() != QSize(side, side):
            self.setIconSize(QSize(side, side))
        theme, metrics = Theme.current(), self.fontMetrics()
        widest = max(metrics.horizontalAdvance(word) for word in ("Send", "Stop"))
        return QSize(widest + theme.px(16) + 36, theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the same: the button never shrinks."""
        return self.sizeHint()


class ComposerError(QFrame):
    """What keeps a message from being sent, in one line with the ways out."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = IconLabel("x-circle", "danger.text")
        self._text = wrapped("", "ui", "danger")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(10, 5, 10, 5)
        self._row.setSpacing(10)
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(self._text, 1)
        self.hide()

    @property
    def text(self) -> str:
        """What is said."""
        return self._text.text()

    def say(self, text: str, actions: Sequence[tuple[str, Callable[[], object]]]) -> None:
        """Say it; `actions` are words and what they do."""
        self._text.setText(one_line(text))
        self.setAccessibleName(one_line(text))
        while self._row.count() > 2:
            item = self._row.takeAt(2)
            widget = item.widget() if item else None
            if widget:
                widget.hide()
                widget.deleteLater()
        for word, act in actions:
            self._row.addWidget(button(word, "link", act), 0, Qt.AlignmentFlag.AlignVCenter)
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the soft background."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("danger.soft"))
        painter.drawRoundedRect(self.rect(), theme.radius("md"), theme.radius("md"))
