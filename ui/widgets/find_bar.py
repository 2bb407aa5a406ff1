"""A search field with the number of matches and buttons for the previous and next one."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from ui.theme import Theme, dress
from ui.widgets.controls import IconButton, label
from ui.widgets.figures import count

__all__ = ["FindBar"]


class FindBar(QWidget):
    """A search bar: Enter goes to the next match, Shift+Enter to the previous one, Esc closes it.

    `sought` carries the search text when it changes. `stepped` carries 1 for the next match or -1
    for the previous one. `closed` is emitted when the user closes the bar.

    Args:
        hint: the placeholder of the field, such as "Find in this chat".
        parent: the Qt parent.
    """

    sought = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit()
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(hint)
        self.field.setClearButtonEnabled(False)
        dress(self.field, "ui", "")
        self.field.textChanged.connect(self.sought)
        self.field.installEventFilter(self)
        self._found = label("", "caption", "secondary", numbers=True)
        self._found.setMinimumWidth(Theme.current().px(72))
        self.previous = IconButton("caret-up", "Previous place", "Shift+Return", size=24)
        self.following = IconButton("caret-down", "Next place", "Return", size=24)
        self.close_button = IconButton("x", "Close the search", "Esc", size=24)
        self.previous.clicked.connect(lambda _checked=False: self.stepped.emit(-1))
        self.following.clicked.connect(lambda _checked=False: self.stepped.emit(1))
        self.close_button.clicked.connect(lambda _checked=False: self.closed.emit())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 8, 0, 8)
        row.setSpacing(6)
        row.addWidget(self.field, 1)
        for widget in (self._found, self.previous, self.following, self.close_button):
            row.addWidget(widget)
        self.setFocusProxy(self.field)
        self.show_found(0, 0)

    @property
    def words(self) -> str:
        """The search text."""
        return self.field.text()

    @property
    def found(self) -> str:
        """The text about the matches, such as `2 of 5`."""
        return self._found.text()

    def show_found(self, at: int, total: int) -> None:
        """Show the number of the current match, counted from 1, and the total number."""
        said = f"{count(at)} of {count(total)}" if total else "Not found"
        self._found.setText(said if self.words.strip() else "")
        for step in (self.previous, self.following):
            step.setEnabled(total > 0)

    def begin(self) -> None:
        """Focus the search field and select its text, so that typing replaces it."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle Enter and Esc before a dialog or the window does."""
        if not isinstance(event, QKeyEvent):
            return False
        is_escape = event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and is_escape:
            event.accept()
            return True
        if event.type() != QEvent.Type.KeyPress:
            return False
        if is_escape:
            self.closed.emit()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.stepped.emit(-1 if is_back else 1)
        else:
            return False
        return True
