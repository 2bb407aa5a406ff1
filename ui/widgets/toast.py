"""A toast: a short message over the chat, with at most one action."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QEnterEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from ui.theme import Theme
from ui.widgets.buttons import ButtonText, IconButton, LabelledAction, PushButton
from ui.widgets.controls import escape_tooltip, make_wrapped_label
from ui.widgets.texts import from_left

__all__ = ["Toast"]

_MOST_CHARS: Final = 400


class Toast(QWidget):
    """A toast with a sentence. It stays while the pointer is over it or the focus is in it.

    Args:
        place: the widget over which the toast appears.
        text: the sentence.
        action: the texts of the action button and the function that a click calls, or None for no
            button.

    Attributes:
        action: the button besides the one that hides the toast, or None.
        expired: the timer that hides the toast.
        dismiss: the button that hides the toast.
    """

    def __init__(self, place: QWidget, text: str, action: LabelledAction | None) -> None:
        super().__init__(place)
        self.text = text
        self.action = None if action is None else self._make_button(*action)
        theme = Theme.current()
        self._is_focused = False
        time_ms = theme.duration("toast_with_action" if action else "toast_info")
        self.expired = QTimer(self, singleShot=True, interval=time_ms)
        self.dismiss = IconButton("x", "Dismiss", size=24)
        self.dismiss.set_icon("x", "text.on_tooltip")
        self.dismiss.setProperty("role", "toast")
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.setSpacing(theme.space(3))
        shown = _shorten(text)
        self._line = make_wrapped_label(from_left(shown), "ui", "on_tooltip")
        self._line.setToolTip("" if shown == text else escape_tooltip(text))
        row.addWidget(self._line, 1)
        if self.action is not None:
            row.addWidget(self.action)
        row.addWidget(self.dismiss)
        self.expired.start()

    def fit(self, most_width: int) -> None:
        """Resize the toast to fit its text. Wrap a text that is wider than `most_width` pixels."""
        row = self._row
        text = self._line.fontMetrics().horizontalAdvance(self._line.text()) + 1
        self._line.setMinimumWidth(0)
        others = row.sizeHint().width() - self._line.sizeHint().width()
        self._line.setMinimumWidth(min(text, most_width - others))
        width = min(most_width, others + text)
        self.resize(width, row.totalHeightForWidth(width))

    @property
    def is_focused(self) -> bool:
        """Whether the focus is in the toast."""
        return self._is_focused

    @is_focused.setter
    def is_focused(self, is_focused: bool) -> None:
        if is_focused != self._is_focused:
            self._is_focused = is_focused
            self._expire(is_used=is_focused or self.underMouse())

    def enterEvent(self, event: QEnterEvent) -> None:
        """Stop the timer that hides the toast while the pointer is over it."""
        self._expire(is_used=True)

    def leaveEvent(self, event: QEvent) -> None:
        """Start the timer again when the pointer leaves the toast."""
        self._expire(is_used=self._is_focused)

    def _expire(self, *, is_used: bool) -> None:
        if is_used:
            self.expired.stop()
        else:
            self.expired.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the toast's rounded background."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.tooltip"))
        painter.drawRoundedRect(self.rect(), theme.radius("lg"), theme.radius("lg"))

    def _make_button(self, text: ButtonText, act: Callable[[], object]) -> QPushButton:
        made = PushButton(text)
        made.setProperty("role", "toast")
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.clicked.connect(lambda _checked=False: act())
        made.clicked.connect(lambda _checked=False: self.dismiss.click())
        return made


def _shorten(text: str) -> str:
    """Shorten a text so that the toast does not cover too much of the chat."""
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS].rstrip()}…"
