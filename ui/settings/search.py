"""Search in the settings: show only the pages and rows that contain all words of a text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget

from app.config.settings import SECTIONS
from ui.actions import show_keys
from ui.settings.rows import SettingRow
from ui.theme import dress
from ui.widgets.controls import make_searchable
from ui.widgets.lists import Cell, Row
from ui.widgets.rows_model import RowColumn, RowsModel

__all__ = ["SettingsSearch", "SettingsSearchField", "build_pages_model", "find_lines"]


_ICONS = {
    "Appearance": "palette",
    "Keyboard": "keyboard",
    "Vault and index": "books",
    "Models": "cpu",
    "Context": "stack",
    "Retrieval": "magnifying-glass",
    "Agent": "robot",
    "MCP servers": "share-network",
    "Prompts": "terminal-window",
    "Hooks": "puzzle-piece",
    "Memory": "brain",
    "Privacy": "shield",
    "Spending": "currency-dollar",
    "Ledger": "list-bullets",
    "Backup": "archive",
}


class SettingsSearchField(QLineEdit):
    """The search field of the settings dialog.

    Ctrl+F focuses it, Esc clears it, and Down goes on to the list of pages, which is next to it.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setPlaceholderText("Search settings")
        self.setAccessibleName("Search settings")
        self.setToolTip(f"Search settings ({show_keys('Ctrl+F')})")
        make_searchable(self)
        dress(self, "ui", "")
        keys = QShortcut(QKeySequence.StandardKey.Find, parent)
        keys.activated.connect(self._on_keys)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the field on Esc and ignore Enter, so that neither of them closes the dialog."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Down:
            self.focusNextChild()
        elif event.key() not in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            super().keyPressEvent(event)

    def begin(self, *, takes_focus: bool) -> None:
        """Clear the field, and focus it if nothing else in the dialog takes the focus."""
        self.clear()
        if takes_focus:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_keys(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()


@dataclass(frozen=True)
class _Row:
    """A row of a settings page.

    Attributes:
        widget: the row.
        line: the hairline above the row, or None if there is none.
    """

    widget: QWidget
    line: QWidget | None


class SettingsSearch:
    """A filter for the rows on all pages of the settings dialog."""

    def __init__(self, pages: Mapping[str, Sequence[QWidget]]) -> None:
        self._pages = {
            name: [_Row(*pair) for pair in find_lines(widgets)] for name, widgets in pages.items()
        }

    def show_matches(self, text: str) -> list[str]:
        """Show only the rows that contain all words of a search text.

        An empty string shows all rows.

        Returns:
            The names of the pages that have matching rows.
        """
        words = text.casefold().split()
        return [name for name, rows in self._pages.items() if self._filter(name, rows, words)]

    def _filter(self, page: str, rows: Sequence[_Row], words: Sequence[str]) -> bool:
        """Show only the matching rows of a page. Return whether any row matches."""
        has_match = not rows and _holds(page, words)
        for row in rows:
            is_shown = _holds(" ".join((page, *_list_texts(row.widget))), words)
            if bool(words) or row.widget.property("filtered"):
                row.widget.setVisible(is_shown)
            row.widget.setProperty("filtered", not is_shown)
            if row.line is not None:
                row.line.setVisible(is_shown and has_match)
            has_match = has_match or is_shown
        return has_match


def build_pages_model(parent: QObject) -> RowsModel[str]:
    """Build the model of the names of the pages in the settings dialog, all of them at first."""
    model = RowsModel([RowColumn(_describe_page)], str, parent)
    model.set_rows(SECTIONS)
    return model


def find_lines(widgets: Sequence[QWidget]) -> list[tuple[QWidget, QWidget | None]]:
    """Return the rows of a page, each with the hairline above it, or None if there is none.

    Args:
        widgets: the rows and hairlines of the page, from top to bottom.
    """
    found: list[tuple[QWidget, QWidget | None]] = []
    line: QWidget | None = None
    for widget in widgets:
        if widget.property("hairline"):
            line = widget
        else:
            found.append((widget, line))
    return found


def _holds(text: str, words: Iterable[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _list_texts(row: QWidget) -> list[str]:
    rows = [row, *row.findChildren(SettingRow)]
    keys = [one.spec.key for one in rows if isinstance(one, SettingRow)]
    labels = [shown.text() for shown in row.findChildren(QLabel)]
    return [*keys, *labels, *(shown.text() for shown in row.findChildren(QAbstractButton))]


def _describe_page(name: str) -> Cell:
    return Row(name, icon=_ICONS[name]).cell
