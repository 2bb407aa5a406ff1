"""The composer's small widgets: meter, error line, frame, send and attach buttons."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QFrame,
    QMenu,
    QSizePolicy,
    QStyleOptionButton,
    QWidget,
)

from ui.icons import begin_painting, mirror_painter, paint_icon
from ui.theme import Theme, dress
from ui.widgets.buttons import (
    ButtonText,
    IconButton,
    LabelledAction,
    PressedByEnter,
    PushButton,
    make_button,
)
from ui.widgets.controls import IconLabel, draw_text, make_wrapped_label, one_line, paint_focus
from ui.widgets.formatting import percent
from ui.widgets.geometry import Scaled
from ui.widgets.layouts import align, grow, make_row
from ui.widgets.texts import from_left

__all__ = [
    "AMBER_FROM",
    "AttachButton",
    "ComposerFrame",
    "ComposerLine",
    "Meter",
    "SendButton",
]

AMBER_FROM = 0.8
_SEND = ButtonText("Send", "Send the message")
_STOP = ButtonText("Stop", "Stop the answer")
_BAR = (56, 4)
_ICON_GAP = 6
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_MOST_FOR_WAYS = 0.5  # of the line's width; wider buttons go below the sentence
_ATTACH = (("Note or folder", "@", "@"), ("Tag", "#", "#"), ("File or image…", "", "file"))


class Meter(PressedByEnter, QAbstractButton):
    """A bar and a percentage that show how much of the token budget the next request uses."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fraction: float | None = None
        self._amber_from = AMBER_FROM
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        dress(self, "ui", "", numbers=True)
        self.set_fraction(None)

    def set_fraction(self, fraction: float | None, amber_from: float = AMBER_FROM) -> None:
        """Show the used fraction of the token budget.

        Args:
            fraction: the fraction, where 1.0 is the whole budget, or None if unknown.
            amber_from: the fraction above which old messages are shortened, and the bar has the
                warning colour.
        """
        self.fraction, self._amber_from = fraction, amber_from
        words = "not known" if fraction is None else f"{round(fraction * 100)} percent"
        self.setAccessibleName(f"Context {words}")
        self.setToolTip(f"Context: {words}. Click for the layers.")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the bar and the percentage, wide enough for three digits."""
        widest = max(self.fontMetrics().horizontalAdvance(text) for text in (self._text(), "100 %"))
        return QSize(_BAR[0] + widest + 18, Theme.current().px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the full size, so that the percentage is never clipped."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the bar and the percentage of the token budget."""
        theme, painter = Theme.current(), begin_painting(self)
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
        draw_text(
            painter, text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._text()
        )
        if self.hasFocus():
            paint_focus(painter, self.rect())

    def _text(self) -> str:
        return "–" if self.fraction is None else percent(self.fraction)

    def tone(self, part: str) -> str:
        """Return the name of the meter's colour in the theme, which depends on the used fraction.

        Args:
            part: `graphic` for the bar, or `text` for the percentage.
        """
        fraction = self.fraction or 0.0
        if fraction > 1:
            return f"danger.{part}"
        if fraction > self._amber_from:
            return f"amber.{part}"
        return "accent.base" if part == "graphic" else "text.secondary"


class SendButton(PushButton):
    """The Send button, which becomes Stop while an answer is generated. Its size never changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_SEND, parent)
        self.is_stop = self._is_bare = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAutoDefault(False)
        dress(self, "ui_strong", "")
        self.set_stop(False)

    def set_stop(self, is_stop: bool) -> None:
        """Turn the Send button into Stop, or back into Send."""
        self.is_stop = is_stop
        self.setProperty("role", "" if is_stop else "primary")
        self.set_text(_STOP if is_stop else _SEND)
        self.setAccessibleName(self.text())
        self.style().unpolish(self)
        self.style().polish(self)
        dress(self, "ui_strong", "")

    def sizeHint(self) -> QSize:
        """Return the size needed for the longer of the two labels."""
        theme, metrics = Theme.current(), self.fontMetrics()
        widest = max(metrics.horizontalAdvance(text.label) for text in (_SEND, _STOP))
        return QSize(widest + theme.px(16) + 36, theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the full size, so that the button never shrinks."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon and the label with a wider gap between them than Qt's default."""
        word, self._is_bare = self.text(), True
        super().paintEvent(event)
        self._is_bare = False
        theme, painter = Theme.current(), QPainter(self)
        mirror_painter(painter, self.rect(), self.layoutDirection())
        tone = "text.primary" if self.is_stop else "text.on_accent"
        tone = tone if self.isEnabled() else "text.disabled"
        side, gap = theme.px(16), theme.px(_ICON_GAP)
        width = self.fontMetrics().horizontalAdvance(word)
        left = (self.width() - side - gap - width) // 2
        spot = QRect(left, (self.height() - side) // 2, side, side)
        paint_icon(painter, spot, "square" if self.is_stop else "arrow-up", tone)
        painter.setFont(self.font())
        painter.setPen(theme.color(tone))
        room = self.rect().adjusted(left + side + gap, 0, 0, 0)
        draw_text(painter, room, _LEFT, word)

    def initStyleOption(self, option: QStyleOptionButton) -> None:
        """Leave out the label during `paintEvent`, which draws the label itself."""
        super().initStyleOption(option)
        if self._is_bare:
            option.text = ""


class ComposerLine(Scaled, QFrame):
    """A line above the composer's buttons that shows one sentence and action buttons.

    Args:
        tone: `danger` for an error that prevents sending, otherwise `info`.
        parent: the parent widget.
    """

    def __init__(self, tone: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tone = tone
        is_danger = tone == "danger"
        mark = ("x-circle", "danger.text") if is_danger else ("info", "text.secondary")
        self._text = make_wrapped_label("", "ui", "danger" if is_danger else "secondary")
        self._ways = make_row(spacing=10)
        self._text_row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._text_row.setSpacing(4)
        self._text_row.addWidget(self._text, 1)
        self._text_row.addLayout(self._ways)
        self._row = make_row(
            align(IconLabel(*mark), Qt.AlignmentFlag.AlignVCenter),
            grow(self._text_row),
            margins=(10, 5, 10, 5),
            spacing=10,
            parent=self,
        )
        self.hide()

    @property
    def text(self) -> str:
        """The sentence shown above the composer's buttons."""
        return self._text.text()

    def say(self, text: str, actions: Sequence[LabelledAction] = ()) -> None:
        """Show a sentence with buttons.

        Args:
            text: the sentence.
            actions: the texts of each button, and the function that it calls.
        """
        from app.config.schema import use_labels  # late: it would delay the first paint

        sentence = use_labels(one_line(text))
        self._text.setText(from_left(sentence))
        self.setAccessibleName(sentence)
        while (item := self._ways.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        for button_text, act in actions:
            self._ways.addWidget(make_button(button_text, "link", act), 0, _LEFT)
        self._ways.addStretch(1)
        self.show()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the buttons below the sentence if they need more than half of the width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        below, beside = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        is_narrow = self._ways.sizeHint().width() > self.width() * _MOST_FOR_WAYS
        self._text_row.setDirection(below if is_narrow else beside)
        self.setMinimumHeight(self._row.heightForWidth(self.width()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the background of the sentence and its buttons."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("danger.soft" if self._tone == "danger" else "bg.raised"))
        painter.drawRoundedRect(self.rect(), theme.radius("md"), theme.radius("md"))


class ComposerFrame(QFrame):
    """The composer's border, in one of four states: normal, focused, in error, or drop target."""

    def __init__(self) -> None:
        super().__init__()
        self._is_focused = self._is_error = self._is_target = False

    def set_target(self, is_target: bool) -> None:
        """Set whether the composer's frame is highlighted as a drop target."""
        self._is_target = is_target
        self.update()

    def set_focused(self, is_focused: bool) -> None:
        """Set whether the composer's frame shows that the text field has the focus."""
        self._is_focused = is_focused
        self.update()

    def set_error(self, is_error: bool) -> None:
        """Set whether the composer's frame shows that there is an error."""
        self._is_error = is_error
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the border and the background."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = "line.focus" if self._is_focused or self._is_target else "line.control"
        painter.setPen(theme.color("danger.graphic" if self._is_error else edge))
        painter.setBrush(theme.color("accent.soft" if self._is_target else "bg.input"))
        rect = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(rect, theme.radius("xl"), theme.radius("xl"))


class AttachButton(IconButton):
    """A button with a paperclip icon, whose menu lists what can be attached.

    The signal `chosen` is emitted with `@` for a note or folder, `#` for a tag, or `file` for a
    file.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__("paperclip", "Attach")
        menu = QMenu(self)
        for word, keys, value in _ATTACH:
            action = menu.addAction(f"{word}\t{keys}" if keys else word)
            action.setData(value)
        menu.triggered.connect(lambda action: self.chosen.emit(str(action.data())))
        self.setMenu(menu)
        self.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
