"""The right column: context above, sources below, the note as a tab beside the sources.

The panels are docks of a window inside the window, so that each can be moved, floated and closed,
and the column as a whole can stand beside the conversation or, in a narrow window, over it.
"""

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QWidget

from ui.kit.controls import IconButton, label
from ui.kit.surfaces import Header
from ui.panels.context import ContextPanel
from ui.panels.note import NotePanel
from ui.panels.sources import SourcesPanel
from ui.theme import Theme

__all__ = ["RightColumn"]

_VERSION = 1
_AREA = Qt.DockWidgetArea.RightDockWidgetArea


class RightColumn(QMainWindow):
    """The docks and where they stand.

    `close_requested` is emitted when the last panel of the column was closed.
    """

    close_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Widget)
        self.setProperty("surface", "panel")
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.context = ContextPanel()
        self.sources = SourcesPanel()
        self.note = NotePanel()
        self.context_dock = _Dock("Context", "context", self.context, self.context.switch)
        self.sources_dock = _Dock("Sources", "sources", self.sources)
        self.note_dock = _Dock("Note", "note", self.note)
        for dock in self.docks():
            dock.visibilityChanged.connect(self._on_visibility_changed)
        self.note.closed.connect(self.note_dock.close)
        self.reset()

    def docks(self) -> tuple[QDockWidget, ...]:
        """Return all docks, the upper one first."""
        return (self.context_dock, self.sources_dock, self.note_dock)

    def reset(self) -> None:
        """Put every dock back to its first place."""
        for dock in self.docks():
            dock.setFloating(False)
            self.addDockWidget(_AREA, dock)
        self.splitDockWidget(self.context_dock, self.sources_dock, Qt.Orientation.Vertical)
        self.tabifyDockWidget(self.sources_dock, self.note_dock)
        self.context_dock.show()
        self.sources_dock.show()
        self.note_dock.hide()
        self.resizeDocks([self.context_dock, self.sources_dock], [64, 36], Qt.Orientation.Vertical)

    def show_dock(self, dock: QDockWidget) -> None:
        """Bring a panel to the front."""
        dock.show()
        dock.raise_()

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

    def _on_visibility_changed(self) -> None:
        if self.isVisible() and all(dock.isHidden() for dock in self.docks()):
            self.close_requested.emit()


class _Dock(QDockWidget):
    """A panel with a header like that of the columns."""

    def __init__(self, title: str, name: str, panel: QWidget, extra: QWidget | None = None) -> None:
        super().__init__(title)
        self.setObjectName(name)
        self.setWidget(panel)
        header = Header("panel")
        header.row.addWidget(label(title, "ui_strong"))
        if extra is not None:
            header.row.addWidget(extra)
        header.row.addStretch(1)
        close = IconButton("x", f"Close {title.lower()}")
        close.clicked.connect(self.close)
        header.row.addWidget(close)
        self.setTitleBarWidget(header)
