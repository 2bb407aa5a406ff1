"""The one door for short messages: a line that stays for a moment and is then gone.

Never for errors that need an answer: those stand in place until they are dealt with.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QEnterEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QWidget

from ui.icons import icon
from ui.theme import Theme
from ui.widgets.controls import ElidedLabel, one_line

__all__ = ["Notifier", "announce"]

_MOST = 2


class Notifier(QObject):
    """Shows toasts at the lower edge of a widget, two at most.

    Args:
        place: the column over which they appear.
    """

    def __init__(self, place: QWidget) -> None:
        super().__init__(place)
        self._place = place
        self._toasts: list[_Toast] = []
        self._bottom = 0
        place.installEventFilter(self)

    def set_bottom(self, height: int) -> None:
        """Keep this much free below the toasts, for the composer."""
        self._bottom = height
        self._arrange()

    def toast(self, text: str, word: str = "", act: Callable[[], object] | None = None) -> None:
        """Say something in one line.

        Args:
            text: what happened.
            word: the one action that is offered.
            act: what it does.
        """
        while len(self._toasts) >= _MOST:
            self._drop(self._toasts[0])
        from app.config.schema import (
            use_labels,
        )  # loads the settings, which the first paint waits for

        text = use_labels(text)
        toast = _Toast(self._place, one_line(text), word, act)
        toast.expired.timeout.connect(self._on_expired)
        toast.dismiss.clicked.connect(self._on_dismissed)
        self._toasts.append(toast)
        toast.show()
        self._arrange()
        announce(self._place, text)

    def texts(self) -> list[str]:
        """Return what is being said, the oldest first."""
        return [toast.text for toast in self._toasts]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in place when the column changes its size."""
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return False

    def _on_expired(self) -> None:
        self._drop_sender()

    def _on_dismissed(self) -> None:
        self._drop_sender()

    def _drop_sender(self) -> None:
        sender = self.sender()
        for toast in list(self._toasts):
            if sender in {toast.expired, toast.dismiss}:
                self._drop(toast)

    def _drop(self, toast: "_Toast") -> None:
        self._toasts.remove(toast)
        toast.hide()
        toast.deleteLater()
        self._arrange()

    def _arrange(self) -> None:
        bottom = self._place.height() - self._bottom - 16
        for toast in reversed(self._toasts):
            toast.setMaximumWidth(max(120, self._place.width() - 32))
            toast.adjustSize()
            bottom -= toast.height()
            toast.move((self._place.width() - toast.width()) // 2, bottom)
            toast.raise_()
            bottom -= 8


def announce(widget: QWidget, text: str, *, is_urgent: bool = False) -> None:
    """Tell screen readers something that is seen but has no focus."""
    event = QAccessibleAnnouncementEvent(widget, text)
    if is_urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


class _Toast(QWidget):
    """One line, dark on light and light on dark; it stays while it is looked at."""

    def __init__(
        self, place: QWidget, text: str, word: str, act: Callable[[], object] | None
    ) -> None:
        super().__init__(place)
        self.text = text
        theme = Theme.current()
        self._time_ms = theme.duration("toast_with_action" if word else "toast_info")
        self.expired = QTimer(self, singleShot=True, interval=self._time_ms)
        self.dismiss = QToolButton()
        self.dismiss.setIcon(icon("x", "text.on_tooltip"))
        self.dismiss.setAccessibleName("Dismiss")
        self.dismiss.setToolTip("Dismiss")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.setSpacing(theme.space(3))
        line = ElidedLabel(text, is_ours=True)
        line.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        line.setProperty("tone", "on_tooltip")
        row.addWidget(line, 1)
        if act is not None:
            row.addWidget(self._action(word, act))
        row.addWidget(self.dismiss)
        self.expired.start()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Stay while the pointer is here."""
        self.expired.stop()

    def leaveEvent(self, event: QEvent) -> None:
        """Go on counting."""
        self.expired.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the field."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.tooltip"))
        painter.drawRoundedRect(self.rect(), theme.radius("lg"), theme.radius("lg"))

    def _action(self, word: str, act: Callable[[], object]) -> QPushButton:
        made = QPushButton(word)
        made.setProperty("role", "toast")
        made.clicked.connect(lambda _checked=False: act())
        made.clicked.connect(self.dismiss.click)
        return made
