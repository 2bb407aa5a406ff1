"""Page object for the note that is shown beside the chat or in place of it."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from tests.support.window.clicks import (
    LEFT,
    NONE,
    button_named,
    click_button,
    click_item,
    open_menu,
    press_keys,
)
from ui.markdown.page.note_view import NoteView
from ui.theme import Theme
from ui.window import MainWindow


class NotePage:
    """The note that is open."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.view = window.note

    @property
    def is_open(self) -> bool:
        """Whether a note is visible."""
        return self.view.isVisible()

    @property
    def path(self) -> str:
        """The note's path, as the window's reading controller has it."""
        return self.view.path

    @property
    def text(self) -> str:
        """The text that is shown, either rendered or as the Markdown source."""
        if self.view.source.isVisible():
            return self.view.source.toPlainText()
        return "\n".join(view.toPlainText() for view in self.view.page.views())

    @property
    def has_focus(self) -> bool:
        """Whether the note has the keyboard focus."""
        focus = QApplication.focusWidget()
        return focus is not None and self.view.isAncestorOf(focus)

    @property
    def scroll(self) -> int:
        """The scroll position of the rendered note, in pixels."""
        return self.view.page.verticalScrollBar().value()

    def texts(self) -> list[str]:
        """Return the texts of the visible labels."""
        return [label.text() for label in self.view.findChildren(QLabel) if label.isVisible()]

    def press(self, name: str) -> None:
        """Click a button in the note's header."""
        QApplication.processEvents()
        click_button(self.view, name)

    def choose(self, name: str, item: str) -> None:
        """Click a button in the note's header, and then an item in the menu that opens."""
        self.press(name)
        click_item(open_menu(), item)
        QApplication.processEvents()

    def press_keys(self, keys: str) -> None:
        """Press a shortcut."""
        press_keys(self._window, keys)

    def can_press(self, name: str) -> bool:
        """Return whether a button in the note's header is enabled."""
        return button_named(self.view, name).isEnabled()

    def click_link(self, words: str) -> None:
        """Click the middle of a link in the rendered note."""
        QApplication.processEvents()
        self.click(*self.find_words(words))

    def click(self, view: NoteView, spot: QPoint) -> None:
        """Click a point of the rendered note."""
        self.view.page.ensureVisible(*view.mapTo(self.view.page.widget(), spot).toTuple())
        QTest.mouseClick(view.viewport(), LEFT, NONE, spot)
        QApplication.processEvents()

    def find_link_look(self, words: str) -> tuple[QColor, bool]:
        """Return the colour of a link in the rendered note, and whether its line is dashed."""
        view, _ = self.find_words(words)
        look = view.document().find(words).charFormat()
        dashed = look.underlineStyle() == QTextCharFormat.UnderlineStyle.DashUnderline
        return look.foreground().color(), dashed

    def press_mouse_back(self) -> None:
        """Press the mouse's back button over the text."""
        view = self.view.page.views()[0]
        QTest.mouseClick(view.viewport(), Qt.MouseButton.BackButton, NONE, QPoint(40, 10))

    def count_lit_rows(self) -> int:
        """Return the number of visible pixel rows that are highlighted."""
        lit = Theme.current().color("diff.mark_bg")
        image = self.view.page.viewport().grab().toImage()
        left = self.view.page.views()[0].x() + 4
        return sum(image.pixelColor(left, y) == lit for y in range(image.height()))

    def find_words(self, words: str, occurrence: int = 1) -> tuple[NoteView, QPoint]:
        """Return the view that shows an occurrence of some words, and the point in the view.

        Raises:
            LookupError: the words occur less often.
        """
        for view in self.view.page.views():
            found = view.document().find(words)
            while not found.isNull():
                occurrence -= 1
                if not occurrence:
                    middle = QTextCursor(view.document())
                    middle.setPosition((found.selectionStart() + found.selectionEnd()) // 2)
                    return view, view.cursorRect(middle).center()
                found = view.document().find(words, found)
        raise LookupError(f"no {words!r} in the note")
