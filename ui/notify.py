"""Toasts: short messages over the chat, including one for unexpected exceptions.

Errors that need a decision are not toasts: the view they concern shows them until they are
resolved. `watch_faults` is called once, when the window starts. Python's exception hooks are in
`app.faults`, which writes the log.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QObject,
    Qt,
    QTimer,
    QtMsgType,
    QUrl,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QDesktopServices,
    QEnterEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QWidget

from app.faults import report_fault, set_fault_listener
from ui.icons import icon
from ui.theme import Theme
from ui.widgets.controls import ElidedLabel, one_line

__all__ = ["FaultNotice", "Notifier", "announce", "open_log_file", "watch_faults"]

_MOST = 2
WENT_WRONG: Final = "Something went wrong. Details are in the log."
_LEVELS = {QtMsgType.QtInfoMsg: logging.INFO, QtMsgType.QtWarningMsg: logging.WARNING}

_log = logging.getLogger(__name__)


class Notifier(QObject):
    """Shows up to two toasts at the lower edge of a widget.

    Args:
        place: the widget that the toasts appear over.
    """

    def __init__(self, place: QWidget) -> None:
        super().__init__(place)
        self._place = place
        self._toasts: list[_Toast] = []
        self._bottom = 0
        place.installEventFilter(self)

    def set_bottom(self, height: int) -> None:
        """Set the height in pixels that stays free below the toasts, for the composer."""
        self._bottom = height
        self._arrange()

    def toast(self, text: str, word: str = "", act: Callable[[], object] | None = None) -> None:
        """Show a one-line message.

        Args:
            text: the message.
            word: the label of the action button.
            act: called when the button is clicked; None shows no button.
        """
        while len(self._toasts) >= _MOST:
            self._drop(self._toasts[0])
        from app.config.schema import (
            use_labels,
        )  # imported here, since it loads the settings and would delay the first paint

        text = use_labels(text)
        toast = _Toast(self._place, one_line(text), word, act)
        toast.expired.timeout.connect(self._on_expired)
        toast.dismiss.clicked.connect(self._on_dismissed)
        self._toasts.append(toast)
        toast.show()
        self._arrange()
        announce(self._place, text)

    def texts(self) -> list[str]:
        """Return the texts of the visible toasts, oldest first."""
        return [toast.text for toast in self._toasts]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Reposition the toasts when the widget below them is resized."""
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


class FaultNotice(QObject):
    """Shows a toast for an unexpected exception in any thread, one toast at a time."""

    _reported = Signal()

    def __init__(self, notifier: Notifier, log: Path) -> None:
        super().__init__(notifier)
        self._notifier = notifier
        self._log_file = log
        # Queued even in the GUI thread, because the exception may come from painting.
        self._reported.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def tell(self) -> None:
        """Schedule the toast. This may be called from any thread."""
        self._reported.emit()

    def _show(self) -> None:
        if WENT_WRONG not in self._notifier.texts():
            self._notifier.toast(WENT_WRONG, "Open log", lambda: open_log_file(self._log_file))


def watch_faults(notifier: Notifier, log: Path) -> None:
    """Log each unexpected exception and critical Qt message from now on, and show a toast.

    Qt warnings are only logged, because desktops cause some that users never notice.
    """
    notice = FaultNotice(notifier, log)
    set_fault_listener(notice.tell)
    notice.destroyed.connect(lambda: set_fault_listener(None))
    qInstallMessageHandler(_take_message)


def open_log_file(log: Path) -> None:
    """Open the log file, or its folder if there is no log yet, in the desktop's default program."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log if log.exists() else log.parent)))


def _take_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Write a Qt message to the log; debug messages are ignored."""
    if kind in {QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg}:
        report_fault(text, f"Qt ({context.category or 'default'})")
    elif kind in _LEVELS:
        _log.log(_LEVELS[kind], "Qt (%s): %s", context.category or "default", text)


def announce(widget: QWidget, text: str, *, is_urgent: bool = False) -> None:
    """Announce a change to screen readers that happens outside the focused widget."""
    event = QAccessibleAnnouncementEvent(widget, text)
    if is_urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


class _Toast(QWidget):
    """A toast with one line of text, which does not expire while the pointer is over it."""

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
        """Stop the timer while the pointer is over the toast."""
        self.expired.stop()

    def leaveEvent(self, event: QEvent) -> None:
        """Restart the timer when the pointer leaves the toast."""
        self.expired.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the toast's rounded background."""
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
