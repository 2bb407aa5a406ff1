"""Toasts, which are short messages over the chat, and desktop notifications.

Toasts also report unexpected exceptions. An error that the user has to resolve is not shown as a
toast. The view that the error concerns shows it until it is resolved. `watch_faults` is called
once, when the window starts. Python's exception hooks are in `app.faults`, which also writes the
log.
"""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QObject,
    QPoint,
    QRect,
    Qt,
    QtMsgType,
    QUrl,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget
from shiboken6 import isValid

from app.crashes.recorder import add_to_record
from app.faults import report_fault, set_fault_listener
from ui.icons import load_app_icon
from ui.widgets.buttons import UNDO, ButtonText, LabelledAction
from ui.widgets.controls import one_line
from ui.widgets.geometry import compute_column
from ui.widgets.toast import Toast

__all__ = [
    "DesktopNotifier",
    "FaultNotice",
    "Notifier",
    "announce",
    "open_address",
    "open_file",
    "watch_faults",
]

_MOST = 2
_LEAST_WIDTH = 120
_COPY_ADDRESS = ButtonText("Copy the address", "Copy the address, to open it elsewhere")
_COPY_PATH = ButtonText("Copy the path", "Copy where the file is")
_OPEN_LOG = ButtonText("Open log", "Open the file that has the details of errors")
WENT_WRONG: Final = "Something went wrong. Details are in the log."
_LEVELS = {QtMsgType.QtInfoMsg: logging.INFO, QtMsgType.QtWarningMsg: logging.WARNING}

_log = logging.getLogger(__name__)


class Notifier(QObject):
    """Shows up to two toasts at the bottom of a widget.

    Args:
        place: the widget over which the toasts appear.
    """

    def __init__(self, place: QWidget) -> None:
        super().__init__(place)
        self._place = place
        self._toasts: list[Toast] = []
        self._of_chat: set[Toast] = set()
        self._topics: set[str] = set()  # of the toasts that are shown only once
        self._bottom = 0
        self._find_guarded: Callable[[], Sequence[QWidget]] = tuple
        self._find_drawers: Callable[[], Sequence[QWidget]] = tuple
        self._used_before: QWidget | None = None
        place.installEventFilter(self)
        if isinstance(app := QApplication.instance(), QApplication):
            app.focusChanged.connect(self._on_focus_changed)

    def set_bottom(self, height: int) -> None:
        """Reserve space for the composer at the bottom, given the composer's height in pixels."""
        self._bottom = height
        self.arrange()

    def set_guard(self, find: Callable[[], Sequence[QWidget]]) -> None:
        """Set the function that returns the widgets that toasts must not cover.

        Args:
            find: the function, which is called each time the toasts are positioned.
        """
        self._find_guarded = find

    def set_drawers(self, find: Callable[[], Sequence[QWidget]]) -> None:
        """Set the function that returns the open drawers, which cover one side of the widget.

        Args:
            find: the function, which is called each time the toasts are positioned.
        """
        self._find_drawers = find

    def toast(
        self,
        text: str,
        action: LabelledAction | None = None,
        *,
        is_of_chat: bool = False,
    ) -> None:
        """Show a toast. If two toasts are visible, the older one is removed first.

        A visible toast with the same text is replaced.

        Args:
            text: the message.
            action: the texts of the toast's button and the function that a click calls, or None
                for no button.
            is_of_chat: whether the action only makes sense in the open chat.
        """
        from app.config.schema import use_labels  # loads the settings: not before the first paint

        text = use_labels(text)
        for same in [toast for toast in self._toasts if toast.text == one_line(text)]:
            self._drop(same)
        while len(self._toasts) >= _MOST:
            self._drop(self._toasts[0])
        toast = Toast(self._place, one_line(text), action)
        toast.expired.timeout.connect(self._on_expired)
        toast.dismiss.clicked.connect(self._on_dismissed)
        self._toasts.append(toast)
        if is_of_chat or action is None:
            self._of_chat.add(toast)
        self.arrange()  # not shown where the pointer may be, which would keep it
        toast.show()
        self.arrange()
        announce(self._place, text)

    def show_toast_once(self, text: str, topic: str, action: LabelledAction | None = None) -> None:
        """Show a toast, unless one with this topic was shown before.

        Toasts with an empty topic are always shown.
        """
        if topic not in self._topics:
            self.toast(text, action)
        if topic:
            self._topics.add(topic)

    def press_undo(self) -> None:
        """Press "Undo" in the newest toast that has it, or say that nothing can be undone."""
        buttons = (toast.action for toast in reversed(self._toasts))
        found = next((one for one in buttons if one is not None and one.text() == UNDO.label), None)
        if found is None:
            self.toast("Nothing can be undone here.")
        else:
            found.click()

    def leave_chat(self) -> None:
        """Remove the toasts that are about the chat that was open, when another one is opened.

        Toasts with an action that is useful elsewhere, such as "Undo", stay.
        """
        for toast in [toast for toast in self._toasts if toast in self._of_chat]:
            self._drop(toast)

    def list_regions(self) -> list[QWidget]:
        """Return the toasts that have an action, newest first, for the keys that walk regions."""
        return [toast for toast in reversed(self._toasts) if toast.action is not None]

    def texts(self) -> list[str]:
        """Return the texts of the visible toasts, oldest first."""
        return [toast.text for toast in self._toasts]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Position the toasts again when the widget below them is resized."""
        if event.type() == QEvent.Type.Resize:
            self.arrange()
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

    def _on_focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        """Keep the focused toast, and remember which widget had the focus before."""
        for toast in self._toasts:
            toast.is_focused = new is not None and toast.isAncestorOf(new)
            if toast.is_focused and not any(
                old and each.isAncestorOf(old) for each in self._toasts
            ):
                self._used_before = old

    def _drop(self, toast: Toast) -> None:
        self._toasts.remove(toast)
        self._of_chat.discard(toast)
        before = self._used_before
        if toast.is_focused and before is not None and isValid(before):
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        toast.hide()
        toast.deleteLater()
        self.arrange()

    def arrange(self) -> None:
        """Position the toasts above the composer, without covering any guarded widget."""
        if not self._toasts:
            return
        guarded, (start, width) = self._list_guarded(), self._find_room()
        bottom = self._place.height() - self._bottom - 16
        for toast in reversed(self._toasts):
            _, column = compute_column(width)
            toast.fit(max(_LEAST_WIDTH, column))
            left = start + (width - toast.width()) // 2
            spot = QRect(QPoint(left, bottom - toast.height()), toast.size())
            while covered := next((area for area in guarded if area.intersects(spot)), None):
                spot.moveBottom(covered.top() - 8)
            toast.setGeometry(spot)
            toast.raise_()
            bottom = spot.top() - 8

    def _find_room(self) -> tuple[int, int]:
        """Return the left edge and the width of what no drawer covers, if a toast fits in there."""
        left, right = 0, self._place.width()
        for drawer in self._find_drawers():
            start = self._place.mapFromGlobal(drawer.mapToGlobal(QPoint())).x()
            if start > 0:
                right = min(right, start)
            else:
                left = max(left, start + drawer.width())
        has_room = right - left >= _LEAST_WIDTH
        return (left, right - left) if has_room else (0, self._place.width())

    def _list_guarded(self) -> list[QRect]:
        """Return the areas that toasts must not cover."""
        guarded = [widget for widget in self._find_guarded() if widget.isVisible()]
        return [QRect(one.mapTo(self._place, QPoint()), one.size()) for one in guarded]


class DesktopNotifier(QObject):
    """Shows a desktop notification when a long job ends while the window is not active.

    The window's entry in the task bar is highlighted. If the desktop has a notification area, a
    message is also shown there.

    Signals:
        shown: emitted with the text of each notification.
        clicked: emitted when the user clicks the message or its icon.
    """

    shown = Signal(str)
    clicked = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None

    def tell(self, text: str) -> None:
        """Show a desktop notification, unless the window is active."""
        if self._window.isActiveWindow():
            return
        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._show(one_line(text))
        self.shown.emit(one_line(text))

    def _show(self, text: str) -> None:
        """Show a message and an icon in the notification area until the window is active again."""
        if self._tray is None:
            self._tray = QSystemTrayIcon(load_app_icon(), self)
            self._tray.messageClicked.connect(self.clicked)
            self._tray.activated.connect(lambda _reason: self.clicked.emit())
            self._window.installEventFilter(self)
        self._tray.show()
        self._tray.showMessage("Strata", text, load_app_icon())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hide the icon in the notification area when the window becomes active."""
        if event.type() == QEvent.Type.WindowActivate and self._tray is not None:
            self._tray.hide()
        return False


class FaultNotice(QObject):
    """Shows a toast for an unexpected exception in any thread, unless such a toast is visible."""

    _reported = Signal()

    def __init__(self, notifier: Notifier, log: Path) -> None:
        super().__init__(notifier)
        self._notifier = notifier
        self._log_file = log
        # Queued even in the GUI thread, because the exception may have been raised while painting.
        self._reported.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def schedule(self) -> None:
        """Schedule a toast about an unexpected exception. This method is thread-safe."""
        self._reported.emit()

    def _show(self) -> None:
        if WENT_WRONG not in self._notifier.texts():
            show = partial(open_file, self._notifier, self._log_file)
            self._notifier.toast(WENT_WRONG, (_OPEN_LOG, show))


def watch_faults(notifier: Notifier, log: Path) -> None:
    """Start logging unexpected exceptions and Qt messages.

    A toast is shown for unexpected exceptions and for critical Qt messages. Qt warnings are only
    logged, because some desktops cause warnings without visible effects.

    Args:
        notifier: shows the toasts.
        log: the path of the log file, which the user can open from a toast.
    """
    notice = FaultNotice(notifier, log)
    set_fault_listener(notice.schedule)
    notice.destroyed.connect(lambda: set_fault_listener(None))
    qInstallMessageHandler(_take_message)


def open_address(notifier: Notifier, address: str) -> None:
    """Open an address in the browser or mail program. Show a toast if that fails."""
    if QDesktopServices.openUrl(QUrl(address)):
        return
    clipboard = QGuiApplication.clipboard()
    notifier.toast(
        f"No program on this computer opens {address}",
        (_COPY_ADDRESS, lambda: clipboard.setText(address)),
    )


def open_file(notifier: Notifier, file: Path) -> None:
    """Open a file or folder with its default application. Show a toast if that fails.

    If the file does not exist, its folder is opened.
    """
    found = file if file.exists() else file.parent
    if QDesktopServices.openUrl(QUrl.fromLocalFile(str(found))):
        return
    clipboard = QGuiApplication.clipboard()
    notifier.toast(
        f"No program on this computer opens {found}",
        (_COPY_PATH, lambda: clipboard.setText(str(found))),
    )


def _take_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Write a Qt message to the log, and report a critical one. Ignore debug messages."""
    if kind is QtMsgType.QtFatalMsg:  # Qt aborts the process next
        add_to_record(f"Qt ({context.category or 'default'}): {text}")
    if kind in {QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg}:
        report_fault(text, f"Qt ({context.category or 'default'})")
    elif kind in _LEVELS:
        _log.log(_LEVELS[kind], "Qt (%s): %s", context.category or "default", text)


def announce(widget: QWidget, text: str, *, is_urgent: bool = False) -> None:
    """Announce a change outside the focused widget to screen readers.

    Args:
        widget: the widget that has changed.
        text: the sentence to announce.
        is_urgent: whether screen readers may interrupt other speech for it.
    """
    # late: they delay the first paint
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

    event = QAccessibleAnnouncementEvent(widget, text)
    if is_urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)
