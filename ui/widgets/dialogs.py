"""Ask questions, open file choosers, and tidy up after dialogs: focus, highlights, Ctrl+Enter."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QChildEvent, QEvent, QFileInfo, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from ui.theme import Theme, tokens
from ui.widgets.buttons import CANCEL, ButtonText, make_button
from ui.widgets.controls import make_wrapped_label

__all__ = [
    "CtrlEnter",
    "DialogWatch",
    "QuestionDialog",
    "ask_folder",
    "choose_file",
    "choose_files",
    "choose_folder",
    "choose_new_file",
    "fit_dialog",
    "give_keys_back",
    "update_hover",
]

Chosen = TypeVar("Chosen")
_QUESTION_WIDTH = 400
_MARGIN = 32


class DialogWatch(QObject):
    """Watches the dialogs of a window, and the dialogs and file choosers above these.

    A dialog takes the keys when it is shown. When it closes, the window below it gets them back.
    Window managers do both, but not all, and without one the keys would go nowhere.

    Qt removes a button's hover highlight when the pointer next moves over its window. A dialog
    above the window takes these moves, so that the button that opened it would stay highlighted.

    The signal `closed` is emitted when a dialog has closed, before its owner reacts.

    Args:
        window: the window that the dialogs belong to.
    """

    closed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window

    def watch(self, dialog: QDialog) -> None:
        """Tidy up whenever a dialog is shown or closed. A dialog can be passed more than once."""
        dialog.installEventFilter(self)

    def watch_child(self, event: QChildEvent) -> None:
        """Watch the dialog that an event is about, if it is about the first show of a dialog."""
        if event.polished() and isinstance(dialog := event.child(), QDialog):
            self.watch(dialog)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the keys on, and update the highlights, when a dialog is shown or hidden."""
        if isinstance(event, QChildEvent):
            self.watch_child(event)
        elif isinstance(watched, QDialog) and not event.spontaneous():
            if event.type() == QEvent.Type.Show:
                self._on_shown(watched)
            elif event.type() == QEvent.Type.Hide:
                # Not now: a dialog is hidden while it is deleted too, maybe with the one below it.
                QTimer.singleShot(0, self, partial(self._on_hidden, watched))
        return super().eventFilter(watched, event)

    def _on_shown(self, dialog: QDialog) -> None:
        self._update_highlights(is_covered=True)
        if QApplication.activeWindow() is not None:  # else the user is in another program
            dialog.activateWindow()

    def _on_hidden(self, dialog: QDialog) -> None:
        self._update_highlights(is_covered=False)
        give_keys_back(dialog.parentWidget() if isValid(dialog) else self._window)
        if self._window.isVisible():
            self.closed.emit()

    def _update_highlights(self, *, is_covered: bool) -> None:
        for button in self._window.findChildren(QAbstractButton):
            if button.underMouse():
                update_hover(button, is_covered=is_covered)


def fit_dialog(dialog: QDialog, width: int = 0) -> None:
    """Give a large dialog its usual size at the scale of the text, within the window below it.

    Args:
        width: the usual width in pixels, or 0 for the width of the settings.
    """
    theme, usual = Theme.current(), tokens()["layout"]["dialog_settings"]
    room, below = dialog.screen().availableSize(), dialog.parentWidget()
    if below is not None:
        room = room.boundedTo(below.window().size())
    wanted = QSize(theme.px(width or usual[0]), theme.px(usual[1]))
    dialog.resize(wanted.boundedTo(room - QSize(2 * _MARGIN, 2 * _MARGIN)))


def give_keys_back(owner: QWidget | None) -> None:
    """Activate the window below a window that has just closed, if that one had the keys.

    A dialog that waits for an answer comes first, since all other windows take no keys.

    Args:
        owner: a widget of the window below, or None if there is none.
    """
    is_active = QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive
    below = QApplication.activeModalWidget() or owner
    is_closed = is_active and QApplication.activeWindow() is None
    if is_closed and below is not None and below.window().isVisible():
        below.window().activateWindow()


def update_hover(widget: QWidget, *, is_covered: bool = False) -> None:
    """Highlight a widget only if the pointer is over it.

    Args:
        is_covered: whether a dialog or menu is open above the widget's window.
    """
    is_over = widget.rect().contains(widget.mapFromGlobal(QCursor.pos()))
    widget.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, is_over and not is_covered)
    widget.update()


class QuestionDialog(QDialog):
    """A dialog that asks before something is done that cannot be undone.

    Its owner opens it and connects `accepted`. Escape and Enter are the harmless way.

    Args:
        parent: a widget of the window below.
        question: the question, with what will happen.
        act: the texts of the button that accepts.
    """

    def __init__(self, parent: QWidget, question: str, act: ButtonText) -> None:
        super().__init__(parent.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(act.label)
        refuse = make_button(CANCEL, "", self.reject)
        refuse.setDefault(True)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(refuse)
        foot.addWidget(make_button(act, "", self.accept))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(16)
        column.addWidget(make_wrapped_label(question, "ui"))
        column.addLayout(foot)
        self.setFixedWidth(Theme.current().px(_QUESTION_WIDTH))
        refuse.setFocus()


class CtrlEnter(QObject):
    """Lets Ctrl+Enter press a button from any field of a dialog or form.

    In fields with several lines, Enter alone starts a new line.

    Args:
        form: the dialog, or the widget around the fields.
        buttons: the buttons. The first one that is visible and enabled is pressed.
    """

    def __init__(self, form: QWidget, *buttons: QPushButton) -> None:
        super().__init__(form)
        self._buttons = buttons
        form.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Press the button on Ctrl+Enter, which the focused field has left to its parents."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if is_enter and modifiers == Qt.KeyboardModifier.ControlModifier:
                usable = (one for one in self._buttons if one.isVisible() and one.isEnabled())
                if (button := next(usable, None)) is not None and not event.isAutoRepeat():
                    button.click()
                return True
        return super().eventFilter(watched, event)


def choose_folder(parent: QWidget, title: str, start: str) -> str:
    """Let the user choose a folder, and return its path, or an empty string."""
    return _ask(parent, lambda owner: ask_folder(owner, title, start))


def ask_folder(owner: QWidget, title: str, start: str) -> str:
    """Open a folder chooser, and return the path, or an empty string.

    While a path is typed, Qt selects the folders on the way in its list, and returns the first one.
    """
    dialog = QFileDialog(owner, title, start)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    is_chosen = dialog.exec() == QDialog.DialogCode.Accepted
    found = _find_typed_folder(dialog) or next(iter(dialog.selectedFiles()), "")
    dialog.deleteLater()
    return found if is_chosen else ""


def _find_typed_folder(dialog: QFileDialog) -> str:
    """Return the folder in the field of Qt's own chooser, or "" in a chooser of the system."""
    field = dialog.findChild(QLineEdit)
    typed = "" if field is None else field.text()
    path = dialog.directory().absoluteFilePath(typed)
    return path if typed and QFileInfo(path).isDir() else ""


def choose_file(parent: QWidget, title: str, start: str, kinds: str) -> str:
    """Let the user choose a file, and return its path, or an empty string.

    Args:
        parent: the widget that asks.
        title: the title of the dialog.
        start: the folder in which the dialog starts.
        kinds: the kinds of files that are listed, such as `Models (*.gguf)`.
    """
    return _ask(parent, lambda owner: QFileDialog.getOpenFileName(owner, title, start, kinds)[0])


def choose_new_file(parent: QWidget, title: str, start: str, kinds: str) -> str:
    """Let the user choose where to save a file, and return its path, or an empty string.

    Args:
        parent: the widget that asks.
        title: the title of the dialog.
        start: the path that is suggested.
        kinds: the kinds of files that are listed, such as `Models (*.gguf)`.
    """
    return _ask(parent, lambda owner: QFileDialog.getSaveFileName(owner, title, start, kinds)[0])


def choose_files(parent: QWidget, title: str) -> list[str]:
    """Let the user choose files, and return their paths."""
    return _ask(parent, lambda owner: QFileDialog.getOpenFileNames(owner, title)[0])


def _ask(parent: QWidget, ask: Callable[[QWidget], Chosen]) -> Chosen:
    """Open a file chooser above the dialog in front, which has the keys again afterwards.

    A file chooser gives the keys back to its parent. If that is the main window below a dialog, the
    dialog in front gets no keys any more.
    """
    front = QApplication.activeModalWidget() or QApplication.activeWindow()
    owner = front or parent.window()
    focused = owner.focusWidget()
    chosen = ask(owner)
    if owner.isVisible():
        owner.activateWindow()
        if focused is not None and isValid(focused):
            focused.setFocus()
    return chosen
