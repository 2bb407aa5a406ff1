"""The composer's text field, which grows with its text up to twelve lines."""

from collections.abc import Callable
from math import ceil
from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from ui.actions import Keymap
from ui.theme import Theme
from ui.widgets.controls import wrap_for

__all__ = ["ENTER", "ComposerText", "is_send_key"]

_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}
_BASELINE = 0.8


class ComposerText(QTextEdit):
    """A plain-text field for a message of any length.

    Signals:
        sent: the send key was pressed: Enter or Ctrl+Enter, depending on a setting.
        focus_changed: whether the field has the focus.
        left_back: Backspace was pressed in the empty field.
        left_up: Up was pressed in the empty field.
        image_pasted: a `QImage` from the clipboard.
        files_pasted: the paths of files from the clipboard.
    """

    sent = Signal()
    left_back = Signal()
    left_up = Signal()
    focus_changed = Signal(bool)
    image_pasted = Signal(object)
    files_pasted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hint = ""
        self._most = 0
        self.setAcceptRichText(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setAccessibleName("Message")
        self.setWordWrapMode(wrap_for(""))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._corrector = QTimer(self, singleShot=True, interval=0)  # not while Qt undoes an edit
        self._corrector.timeout.connect(self._correct_lines)
        self.document().contentsChanged.connect(self._on_contents_changed)
        Theme.current().changed.connect(self._restyle)
        self._restyle()

    def set_hint(self, text: str) -> None:
        """Set the hint that is shown while the field is empty."""
        self._hint = text
        self.setAccessibleDescription(text)
        self.viewport().update()

    def set_text(self, text: str) -> None:
        """Replace the text and move the cursor to its end."""
        self.setWordWrapMode(wrap_for(text))
        self.setPlainText(text)
        self._space_lines()
        self.document().clearUndoRedoStacks()
        self.moveCursor(QTextCursor.MoveOperation.End)

    def set_most_height(self, height: int) -> None:
        """Set the maximum height in pixels. The limit of twelve lines still applies."""
        self._most = height
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send the message with Enter, or with Ctrl+Enter if that is the send key.

        Shift+Enter starts a new line, as does Enter if the send key is Ctrl+Enter. Undo and redo
        skip steps that only change line heights.
        """
        document = self.document()
        if event.matches(QKeySequence.StandardKey.Undo):
            self._step_history(self.undo, document.isUndoAvailable)
        elif event.matches(QKeySequence.StandardKey.Redo):
            self._step_history(self.redo, document.isRedoAvailable)
        elif event.key() not in ENTER:
            self._leave_or_move(event)
        elif is_send_key(event.modifiers()):
            self.sent.emit()
        else:
            self.textCursor().insertBlock()
            self.ensureCursorVisible()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Return whether the data can be pasted: text, files or an image."""
        return source.hasText() or source.hasUrls() or source.hasImage()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept only text. The window handles files, folders and images."""
        if event.mimeData().hasUrls() or event.mimeData().hasImage():
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert pasted text without its formatting. Emit signals for pasted files or an image."""
        files = [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
        if files:
            self.files_pasted.emit(files)
            return
        if source.hasImage() and not source.hasText():
            self.image_pasted.emit(source.imageData())
            return
        text = source.text()
        if wrap_for(text) == QTextOption.WrapMode.WrapAnywhere:
            self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.textCursor().insertText(text)
        self.ensureCursorVisible()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Emit `focus_changed` with true."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Emit `focus_changed` with false."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the text field's height when its width changes."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, or the hint if the field is empty."""
        super().paintEvent(event)
        if not self.document().isEmpty():
            return
        theme, painter = Theme.current(), QPainter(self.viewport())
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(QPointF(0, _BASELINE * theme.line("body")), self._hint)

    def _leave_or_move(self, event: QKeyEvent) -> None:
        """Emit `left_back` or `left_up` if the field is empty. Otherwise handle the key as usual.

        Args:
            event: the key event. Only Backspace and Up emit a signal.
        """
        leaves = {Qt.Key.Key_Backspace: self.left_back, Qt.Key.Key_Up: self.left_up}
        signal = leaves.get(Qt.Key(event.key()))
        if signal is not None and self.document().isEmpty() and not event.isAutoRepeat():
            signal.emit()
        else:
            super().keyPressEvent(event)

    def _restyle(self) -> None:
        self.setFont(Theme.current().font("body"))
        self.document().setDefaultFont(Theme.current().font("body"))
        self._correct_lines()
        self._fit()

    def _on_contents_changed(self) -> None:
        if not self._has_right_lines():
            self._corrector.start()

    def _has_right_lines(self) -> bool:
        first = self.document().begin().blockFormat()
        return first.lineHeight() == Theme.current().line("body")

    def _correct_lines(self) -> None:
        """Set all lines to the line height of the current text size.

        Qt records this as an undo step, which `_step_history` skips. While an edit can be redone,
        nothing is changed, because that would clear the redo history.
        """
        if self._has_right_lines() or self.document().isRedoAvailable():
            return
        is_edited = self.document().isUndoAvailable()
        self._space_lines()
        if not is_edited:
            self.document().clearUndoRedoStacks()

    def _step_history(self, step: Callable[[], None], can_step: Callable[[], bool]) -> None:
        """Undo or redo until the text changes. Steps that only change line heights are skipped."""
        text, is_stepping = self.toPlainText(), can_step()
        while is_stepping:
            step()
            is_stepping = self.toPlainText() == text and can_step()

    def _space_lines(self) -> None:
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        spaced = QTextBlockFormat()
        spaced.setLineHeight(Theme.current().line("body"), _FIXED)
        cursor.mergeBlockFormat(spaced)

    def _fit(self) -> None:
        theme = Theme.current()
        line, layout = theme.line("body"), theme.value("layout.composer")
        most = layout["max_text_lines"] * line
        if self._most:
            most = max(line, min(most, self._most // line * line))
        wanted = max(layout["min_text_lines"] * line, ceil(self.document().size().height()))
        self.setVerticalScrollBarPolicy(_ON if wanted > most else _OFF)
        self.setFixedHeight(min(wanted, most))


def is_send_key(modifiers: Qt.KeyboardModifier) -> bool:
    """Return whether Enter sends the message while these modifier keys are held."""
    if modifiers & Qt.KeyboardModifier.ShiftModifier:
        return False
    has_ctrl = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
    return has_ctrl or not Keymap.current().sends_with_ctrl


_ON = Qt.ScrollBarPolicy.ScrollBarAsNeeded
_OFF = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
