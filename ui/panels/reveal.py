"""Bringing panels into sight, wherever the width of the window has put them."""

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget

from ui.panels.right_column import RightColumn
from ui.panels.sidebar import Sidebar
from ui.widgets.columns import Columns

__all__ = ["Docking"]


class Docking(QObject):
    """Opens the column that a panel is in, and the panel in it."""

    def __init__(self, columns: Columns, column: RightColumn, sidebar: Sidebar) -> None:
        super().__init__(columns)
        self._columns, self._column, self._sidebar = columns, column, sidebar
        column.note.related_requested.connect(self.show_related)
        column.index.lists.reveal_requested.connect(self.show_among_folders)
        sidebar.footer.problems_requested.connect(self.show_failed)
        sidebar.footer.details_requested.connect(self.show_index)

    def show_note(self) -> None:
        """Show the note that is open."""
        self._show(self._column.note_dock)

    def show_sources(self) -> None:
        """Show what the last answer rests on."""
        self._show(self._column.sources_dock)

    def show_related(self) -> None:
        """Show the notes related to it."""
        self._show(self._column.related_dock)

    def show_index(self) -> None:
        """Show how the index stands."""
        self._show(self._column.index_dock)

    def show_failed(self) -> None:
        """Show which notes could not be read."""
        self._column.index.lists.show_which("failed")
        self.show_index()

    def toggle_related(self) -> None:
        """Show related notes, or close them where they are seen."""
        self._toggle(self._column.related_dock)

    def toggle_index(self) -> None:
        """Show the index, or close it where it is seen."""
        self._toggle(self._column.index_dock)

    def show_among_folders(self, path: str) -> None:
        """Show a note in the tree of the sidebar."""
        self._columns.show_sidebar()
        self._sidebar.notes.select(path)
        self._sidebar.notes.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self, dock: QDockWidget) -> None:
        self._columns.show_right()
        self._column.show_dock(dock)

    def _toggle(self, dock: QDockWidget) -> None:
        if self._columns.is_right_shown and self._column.is_in_front(dock):
            dock.close()
        else:
            self._show(dock)
