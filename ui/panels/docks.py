"""The right column: panels for context, sources, note, related notes and index, as docks.

The panels are docks of a window inside the window, so that each can be moved, floated and closed,
and the column as a whole can stand beside the conversation or, in a narrow window, over it.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QDockWidget, QTabBar, QTabWidget, QWidget

from ui.panels.context.panel import ContextPanel
from ui.panels.notes.note import NotePanel
from ui.panels.notes.sources import SourcesPanel
from ui.panels.sidebar import Sidebar
from ui.theme import Theme, dress
from ui.widgets.columns import Columns
from ui.widgets.controls import IconButton, label
from ui.widgets.docks import DockWindow
from ui.widgets.surfaces import Header

if TYPE_CHECKING:
    from ui.panels.index.panel import IndexPanel
    from ui.panels.notes.related import RelatedPanel

__all__ = ["Docking", "RightColumn"]

_VERSION = 1
_SHARES = {"context": 64_000, "sources note related index": 36_000}
_AREA = Qt.DockWidgetArea.RightDockWidgetArea


class RightColumn(DockWindow):
    """The docks and where they stand.

    `close_requested` is emitted when the last panel of the column was closed.

    Attributes:
        related: in its place after `take_panels`, as `index` is.
    """

    close_requested = Signal()
    related: "RelatedPanel"
    index: "IndexPanel"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "panel")
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.context = ContextPanel()
        self.sources = SourcesPanel()
        self.note = NotePanel()
        context_head = _head("Context", self.context.switch)
        self.context_dock = _Dock("Context", self.context, context_head)
        self.sources_dock = _Dock("Sources", self.sources, _head("Sources"))
        self.note_dock = _Dock("Note", self.note, self.note.head)
        self.related_dock = _Dock("Related", None, _head("Related"))
        self.index_dock = _Dock("Index", None, _head("Index"))
        for dock in self.docks():
            dock.visibilityChanged.connect(self._on_visibility_changed)
            dock.dockLocationChanged.connect(self._fit_heads)
            dock.topLevelChanged.connect(self._fit_heads)
        self.note.closed.connect(self.note_dock.close)
        self.reset()

    def take_panels(self, related: "RelatedPanel", index: "IndexPanel") -> None:
        """Fill the docks that are empty when the window appears, so that it appears sooner."""
        self.related, self.index = related, index
        self.related_dock.setWidget(related)
        self.index_dock.setWidget(index)

    def docks(self) -> "tuple[_Dock, ...]":
        """Return all docks, the upper one first."""
        return (self.context_dock, self.sources_dock, *self._tabs())

    def reset(self) -> None:
        """Put every dock back to its first place."""
        for dock in self.docks():
            dock.setFloating(False)
            self.addDockWidget(_AREA, dock)
        self.splitDockWidget(self.context_dock, self.sources_dock, Qt.Orientation.Vertical)
        for dock in self._tabs():
            self.tabifyDockWidget(self.sources_dock, dock)
            dock.hide()
        self.context_dock.show()
        self.sources_dock.show()
        self.set_shares(_SHARES)

    def show_dock(self, dock: QDockWidget) -> None:
        """Bring a panel to the front."""
        dock.show()
        dock.raise_()

    def is_in_front(self, dock: QDockWidget) -> bool:
        """Tell whether a panel is seen, and not only its tab."""
        return dock.isVisible() and not dock.visibleRegion().isEmpty()

    def places(self) -> QByteArray:
        """Return where everything stands, for the next start."""
        return self.saveState(_VERSION)

    def restore(self, places: QByteArray) -> bool:
        """Put everything where it stood; false when that cannot be understood."""
        return self.restoreState(places, _VERSION)

    def sizeHint(self) -> QSize:
        """Return the width that the column has at first."""
        theme = Theme.current()
        return QSize(theme.px(theme.value("layout.right.default")), 600)

    def _tabs(self) -> "tuple[_Dock, ...]":
        """Return the docks that stand beside the sources and are closed at first."""
        return (self.note_dock, self.related_dock, self.index_dock)

    def _on_visibility_changed(self) -> None:
        self._fit_heads()
        if self.isVisible() and all(dock.isHidden() for dock in self.docks()):
            self.close_requested.emit()

    def _fit_heads(self) -> None:
        """Leave out a header that would only repeat the tab above it."""
        for dock in self.docks():
            if dock is self.note_dock:  # its header says which note it is
                continue
            beside = self.tabifiedDockWidgets(dock)
            dock.set_head_shown(not any(not other.isHidden() for other in beside))
        for tabs in self.findChildren(QTabBar):
            tabs.setAccessibleName("Panels")
            dress(tabs, "ui", "")  # made before the theme is applied, they would keep another font
            tabs.setDrawBase(False)  # its hairline is drawn by the style sheet


class _Dock(QDockWidget):
    """A panel with a header like that of the columns."""

    def __init__(self, title: str, panel: QWidget | None, head: Header) -> None:
        super().__init__(title)
        self.setObjectName(title.lower())
        self.setAllowedAreas(_AREA)  # which has room for every order of them
        if panel is not None:
            self.setWidget(panel)
        self.setTitleBarWidget(head)
        self._head = head
        for button in head.findChildren(IconButton):
            button.clicked.connect(self.close)

    def set_head_shown(self, is_shown: bool) -> None:
        """Show the header, or let the tab stand for it."""
        if self._head.is_folded == is_shown:
            self._head.set_folded(not is_shown)
            direct = Qt.FindChildOption.FindDirectChildrenOnly
            for part in self._head.findChildren(QWidget, options=direct):
                part.setVisible(is_shown)  # the keyboard would stop at what is not seen
            self.setTitleBarWidget(self._head)


def _head(title: str, extra: QWidget | None = None) -> Header:
    head = Header("panel")
    head.row.addWidget(label(title, "ui_strong"))
    if extra is not None:
        head.row.addWidget(extra)
    head.row.addStretch(1)
    head.row.addWidget(IconButton("x", f"Close {title.lower()}"))
    return head


class Docking(QObject):
    """Shows a panel: opens its column, and brings the panel to the front."""

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
