"""Search within text: a search field, a bar that steps through the matches, and highlighting."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, QRegularExpression, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from ui.actions import Keymap, show_keys
from ui.icons import mirror_painter
from ui.theme import Theme, dress
from ui.widgets.buttons import IconButton, add_shortcut
from ui.widgets.controls import draw_text, label, make_searchable
from ui.widgets.formatting import count
from ui.widgets.layouts import grow, make_row

__all__ = ["FindBar", "SearchField", "find_occurrences", "find_start", "mark_occurrences"]

_OPTIONS = (
    QRegularExpression.PatternOption.CaseInsensitiveOption
    | QRegularExpression.PatternOption.UseUnicodePropertiesOption
)


class FindBar(QWidget):
    """A search bar: Enter goes to the next match, Shift+Enter to the previous one, Esc closes.

    The bar does not perform the search. The code that uses the bar calls `show_found` with the
    result.

    Signals:
        text_changed: the changed search text.
        stepped: 1 for the next match or -1 for the previous one.
        closed: the user wants to close the bar. The bar does not hide itself.

    Args:
        hint: the placeholder of the field, such as "Find in this chat".
        parent: the Qt parent.
    """

    text_changed = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit()
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(hint)
        self.field.setClearButtonEnabled(False)
        dress(self.field, "ui", "")
        self.field.textChanged.connect(self.text_changed)
        self.field.installEventFilter(self)
        self._found = label("", "caption", "secondary", numbers=True)
        self._found.setMinimumWidth(Theme.current().px(72))
        self.previous = IconButton("caret-up", "Previous place", size=24)
        self.following = IconButton("caret-down", "Next place", size=24)
        self.close_button = IconButton("x", "Close the search", size=24)
        for one, keys in (
            (self.previous, "Shift+Return"),
            (self.following, "Return"),
            (self.close_button, "Esc"),
        ):
            one.setToolTip(f"{one.accessibleName()} ({show_keys(keys)})")
        self.previous.clicked.connect(lambda _checked=False: self.stepped.emit(-1))
        self.following.clicked.connect(lambda _checked=False: self.stepped.emit(1))
        self.close_button.clicked.connect(lambda _checked=False: self.closed.emit())
        make_row(
            grow(self.field),
            self._found,
            self.previous,
            self.following,
            self.close_button,
            margins=(0, 8, 0, 8),
            spacing=6,
            parent=self,
        )
        self.setFocusProxy(self.field)
        self.show_found(0, 0)

    @property
    def words(self) -> str:
        """The search text in the bar."""
        return self.field.text()

    def set_words(self, words: str) -> None:
        """Replace the search text without emitting `text_changed`."""
        self.field.blockSignals(True)
        self.field.setText(words)
        self.field.blockSignals(False)

    @property
    def found(self) -> str:
        """The displayed number of matches, such as `2 of 5`, or `Not found`."""
        return self._found.text()

    def show_found(self, at: int, total: int) -> None:
        """Show the number of matches, such as `2 of 5`, unless the search text is empty.

        Args:
            at: the number of the current match, counted from 1.
            total: the number of all matches.
        """
        text = f"{count(at)} of {count(total)}" if total else "Not found"
        self._found.setText(text if self.words.strip() else "")
        for step in (self.previous, self.following):
            step.setEnabled(total > 0)

    def begin(self) -> None:
        """Focus the search field and select its text."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle Enter and Esc in the field, before a dialog or the window handles them."""
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


class SearchField(QLineEdit):
    """A search field with a magnifier icon. Esc and a button clear the field.

    While the field is empty and not focused, it shows the shortcut of its command. The signal
    `left_down` is emitted when Down is pressed. The receiver can then focus the list below the
    field.

    Args:
        hint: the placeholder, such as "Search chats".
        command: the window command that focuses the field. The tooltip shows its shortcut.
    """

    left_down = Signal()

    def __init__(self, hint: str, command: str) -> None:
        super().__init__()
        self._command = command
        self.setPlaceholderText(hint)
        self.setAccessibleName(hint)
        make_searchable(self)
        dress(self, "ui", "")
        Keymap.current().changed.connect(self._set_tip)
        self._set_tip()

    def begin(self) -> None:
        """Focus the field and select its text."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def changeEvent(self, event: QEvent) -> None:
        """Align the text with the layout direction, even if the text has another direction."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            edge = (
                Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
            )
            self.setAlignment(edge | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the field, with the shortcut at its trailing edge if there is enough space."""
        super().paintEvent(event)
        keys = Keymap.current().describe(self._command) if self._command else ""
        if not keys or self.text() or self.hasFocus():
            return
        theme, painter = Theme.current(), QPainter(self)
        mirror_painter(painter, self.rect(), self.layoutDirection())
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.tertiary"))
        hint = self.fontMetrics().horizontalAdvance(self.placeholderText())
        if hint + painter.fontMetrics().horizontalAdvance(keys) + theme.px(48) < self.width():
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            draw_text(painter, self.rect().adjusted(0, 0, -8, 0), right, keys)

    def _set_tip(self) -> None:
        self.setToolTip(add_shortcut(self.placeholderText(), self._command))
        self.update()

    def event(self, event: QEvent) -> bool:
        """Reserve Esc for the field while it contains text, so that no shortcut is triggered."""
        is_key = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_key and event.type() == QEvent.Type.ShortcutOverride and self.text():
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the field on Esc. Emit `left_down` on Down. Handle all other keys as usual."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Down:
            self.left_down.emit()
        else:
            super().keyPressEvent(event)


def find_occurrences(field: QTextEdit | QPlainTextEdit, terms: Sequence[str]) -> list[QTextCursor]:
    """Return all occurrences of the terms in a text field, in text order. Case is ignored.

    Each occurrence is returned as a cursor that selects it.

    Args:
        field: the text field to search.
        terms: the words or phrases to search for.
    """
    pattern = QRegularExpression("|".join(map(QRegularExpression.escape, terms)), _OPTIONS)
    found: list[QTextCursor] = []
    place = field.document().find(pattern, 0)
    while not place.isNull() and place.hasSelection():
        found.append(place)
        place = field.document().find(pattern, place)
    return found


def find_start(field: QTextEdit | QPlainTextEdit, place: QTextCursor) -> QRect:
    """Return the rectangle of the caret at the start of an occurrence.

    Args:
        field: the text field.
        place: a cursor that selects the occurrence.

    Returns:
        The rectangle in coordinates of the field's viewport.
    """
    cursor = QTextCursor(place)
    cursor.setPosition(place.selectionStart())
    return field.cursorRect(cursor)


def mark_occurrences(found: Sequence[QTextCursor], at: int) -> list[QTextEdit.ExtraSelection]:
    """Return the highlights of all occurrences. The current one has another colour.

    Args:
        found: the occurrences, as cursors that select them.
        at: the index of the current occurrence, or -1 if there is none.
    """
    theme, marks = Theme.current(), []
    for nth, place in enumerate(found):
        mark = QTextEdit.ExtraSelection()
        mark.cursor = place
        is_here = nth == at
        mark.format.setBackground(theme.color("accent.base" if is_here else "diff.mark_bg"))
        mark.format.setForeground(theme.color("text.on_accent" if is_here else "diff.mark_text"))
        mark.format.setFontUnderline(not is_here)  # visible on highlighted text too
        marks.append(mark)
    return marks
