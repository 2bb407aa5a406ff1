"""A question that is written anew, in the place where it stands."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from ui.chat.composer.text import ComposerText
from ui.theme import dress
from ui.widgets.controls import ElidedLabel, button

__all__ = ["MessageEditor"]

_HINT = "Enter asks again, Esc leaves it as it was. The present answer is kept beside the new one."


class MessageEditor(QWidget):
    """The text in a field; `sent` carries the new wording, `cancelled` leaves the old one.

    Args:
        text: what to begin with.
        parent: as in Qt.
    """

    sent = Signal(str)
    cancelled = Signal()

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = ComposerText()
        self.field.setAccessibleName("Edit the message")
        self.field.set_text(text)
        self.field.sent.connect(self._on_sent)
        self.field.installEventFilter(self)
        hint = ElidedLabel(_HINT)
        dress(hint, "caption", "tertiary")
        self.send = button("Ask again", "primary", self._on_sent)
        tools = QHBoxLayout()
        tools.setSpacing(8)
        tools.addWidget(hint, 1)
        self.cancel = button("Cancel", "", self.cancelled.emit)
        tools.addWidget(self.cancel)
        tools.addWidget(self.send)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.field)
        column.addLayout(tools)
        self.setFocusProxy(self.field)

    @property
    def text(self) -> str:
        """What is written."""
        return self.field.toPlainText()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take Esc before the window takes it for itself."""
        if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            self.cancelled.emit()
            return True
        return False

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Walk the field and its buttons, which are no stops of the chat around them."""
        stops: list[QWidget] = [self.field, self.cancel, self.send]
        focus = QApplication.focusWidget()
        place = stops.index(focus) + (1 if forward else -1) if focus in stops else -1
        if 0 <= place < len(stops):
            stops[place].setFocus(Qt.FocusReason.TabFocusReason)
            return True
        return super().focusNextPrevChild(forward)

    def _on_sent(self) -> None:
        if self.text.strip():
            self.sent.emit(self.text)
