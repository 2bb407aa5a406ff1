"""The right column: docks for context, sources, outline, related notes, index and review.

The column is a nested main window whose panels are docks. The user can move, float and close each
dock. The column is beside the chat, or on top of it if the window is narrow.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QTabBar, QTabWidget, QWidget
from shiboken6 import isValid

from ui.panels.sidebar import Sidebar
from ui.theme import Theme, dress
from ui.widgets.buttons import IconButton
from ui.widgets.columns import Columns
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.docks import DockProportions
from ui.widgets.layouts import make_column, stretch
from ui.widgets.surfaces import Header, Pane

if TYPE_CHECKING:
    from ui.panels.context.panel import ContextPanel
    from ui.panels.index.panel import IndexPanel
    from ui.panels.notes.outline import OutlinePanel
    from ui.panels.notes.related import RelatedPanel
    from ui.panels.notes.review import ReviewPanel
    from ui.panels.notes.sources import SourcesPanel

__all__ = ["Docking", "RightColumn"]

_VERSION = 1
_SHARES = {"context": 64_000, "sources outline related index look_after": 36_000}
_AREA = Qt.DockWidgetArea.RightDockWidgetArea


class RightColumn(QMainWindow):
    """The right column with its docks. It is empty until `fill`, because filling it takes time.

    The signal `close_requested` is emitted when the user has closed the last dock.

    Attributes:
        context: the panel that shows what is sent, set by `fill`.
        sources: the panel of the answer's sources, set by `fill`.
        outline: the panel of the open note's headings, set by `add_late_panels`.
        related: the panel of related notes, set by `add_late_panels`.
        index: the index panel, set by `add_late_panels`.
        review: the panel "Look after", set by `add_late_panels`.
        is_filled: whether the docks have been created.
    """

    close_requested = Signal()
    context: "ContextPanel"
    sources: "SourcesPanel"
    outline: "OutlinePanel"
    related: "RelatedPanel"
    index: "IndexPanel"
    review: "ReviewPanel"

    _proportions: DockProportions | None = None  # Qt sends events before the constructor has run

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)  # otherwise a main window is a window of its own
        self.setProperty("surface", "panel")
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.is_filled = False

    def fill(self) -> None:
        """Create the docks, and the panels that are visible by default."""
        from ui.panels.context.panel import ContextPanel
        from ui.panels.notes.sources import SourcesPanel

        self.is_filled = True
        # Qt restyles everything below a widget that gets a parent, so the docks come first.
        self.context_dock, self.sources_dock = _Dock("Context", self), _Dock("Sources", self)
        self.context = ContextPanel(self.context_dock)
        self.context_dock.setWidget(self.context)
        self.context_dock.add_head(self.context.switch)
        self.sources = SourcesPanel(self.sources_dock)
        self.sources_dock.setWidget(self.sources)
        self.outline_dock = _Dock("Outline", self)
        self.related_dock = _Dock("Related", self)
        self.index_dock = _Dock("Index", self)
        self.review_dock = _Dock("Look after", self)
        for dock in (self.sources_dock, *self._tabs()):
            dock.add_head()
        for dock in self._tabs():
            dock.setWidget(_make_placeholder())
        self.reset()
        for dock in self.docks():
            dock.visibilityChanged.connect(self._on_visibility_changed)
            dock.dockLocationChanged.connect(self._fit_heads)
            dock.topLevelChanged.connect(self._fit_heads)
        self._fit_heads()

    def add_late_panels(self) -> None:
        """Create the panels that are hidden by default, in place of the word "Loading…"."""
        from ui.panels.index.panel import IndexPanel
        from ui.panels.notes.outline import OutlinePanel
        from ui.panels.notes.related import RelatedPanel
        from ui.panels.notes.review import ReviewPanel

        self.outline = OutlinePanel(self.outline_dock)
        self.related = RelatedPanel(self.related_dock)
        self.index = IndexPanel(self.index_dock)
        self.review = ReviewPanel(self.review_dock)
        panels = (self.outline, self.related, self.index, self.review)
        for dock, panel in zip(self._tabs(), panels, strict=True):
            placeholder = dock.widget()
            dock.setWidget(panel)
            placeholder.deleteLater()

    def docks(self) -> "tuple[_Dock, ...]":
        """Return all docks of the right column, in the order of the default layout."""
        return (self.context_dock, self.sources_dock, *self._tabs())

    def reset(self) -> None:
        """Restore the default positions, sizes and visibility of all docks."""
        for dock in self.docks():
            dock.setFloating(False)
            self.addDockWidget(_AREA, dock)
        self.splitDockWidget(self.context_dock, self.sources_dock, Qt.Orientation.Vertical)
        for dock in self._tabs():
            self.tabifyDockWidget(self.sources_dock, dock)
            dock.hide()
        self.context_dock.show()
        self.sources_dock.show()
        self.proportions.set_shares(_SHARES)

    @property
    def proportions(self) -> DockProportions:
        """The proportions of the docks' heights."""
        if self._proportions is None:
            self._proportions = DockProportions(self)
        return self._proportions

    def event(self, event: QEvent) -> bool:
        """Keep the proportions of the docks after a size change."""
        is_done = super().event(event)
        if self._proportions is not None:
            self._proportions.follow(event)
        return is_done

    def show_dock(self, dock: QDockWidget) -> None:
        """Show a dock. If it shares a tab bar with other docks, select its tab."""
        dock.show()
        dock.raise_()

    def is_in_front(self, dock: QDockWidget) -> bool:
        """Return whether a dock is visible: not closed, and not hidden behind another tab."""
        return dock.isVisible() and not dock.visibleRegion().isEmpty()

    def places(self) -> QByteArray:
        """Return the positions of all docks as bytes for `restore`."""
        return self.saveState(_VERSION)

    def restore(self, places: QByteArray) -> bool:
        """Restore the positions of all docks from bytes that `places` returned.

        Return False if they cannot be read.
        """
        return self.restoreState(places, _VERSION)

    def sizeHint(self) -> QSize:
        """Return the default size of the right column."""
        theme = Theme.current()
        return QSize(theme.px(theme.value("layout.right.default")), 600)

    def _tabs(self) -> "tuple[_Dock, ...]":
        """Return the docks that are hidden by default and share a tab bar with the sources."""
        return (self.outline_dock, self.related_dock, self.index_dock, self.review_dock)

    def _on_visibility_changed(self) -> None:
        self._fit_heads()
        if self.isVisible() and all(dock.isHidden() for dock in self.docks()):
            self.close_requested.emit()

    def _fit_heads(self) -> None:
        """Hide the header of each dock whose tab already shows its title."""
        for dock in self.docks():
            beside = self.tabifiedDockWidgets(dock)
            dock.set_head_shown(not any(not other.isHidden() for other in beside))
        for tabs in self.findChildren(QTabBar):
            tabs.setAccessibleName("Panels")
            dress(tabs, "ui", "")  # tabs created before the theme would keep another font
            tabs.setDrawBase(False)  # the style sheet draws its hairline


class _Dock(QDockWidget):
    """A dock of the right column, with the same kind of header as the window's columns."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self.setObjectName(title.lower().replace(" ", "_"))
        self.setAllowedAreas(_AREA)  # docks can be arranged in any way within this area

    def add_head(self, extra: QWidget | None = None) -> None:
        """Add the header with the title, and an extra widget to the right of it."""
        close = IconButton("x", f"Close {self.windowTitle().lower()}")
        close.clicked.connect(self.close)
        self._head = Header("panel", self)
        self._head.row.addWidget(label(self.windowTitle(), "ui_strong"))
        if extra is not None:
            self._head.row.addWidget(extra)
        self._head.row.addStretch(1)
        self._head.row.addWidget(close)
        self.setTitleBarWidget(self._head)

    def set_head_shown(self, is_shown: bool) -> None:
        """Show or hide the dock's header. It is hidden if a tab shows the same title."""
        if self._head.is_folded == is_shown:
            self._head.set_folded(not is_shown)
            direct = Qt.FindChildOption.FindDirectChildrenOnly
            for part in self._head.findChildren(QWidget, options=direct):
                part.setVisible(is_shown)  # keeps hidden parts out of the tab order
            self.setTitleBarWidget(self._head)


def _make_placeholder() -> QWidget:
    """Return what a dock shows until its panel has been created."""
    pane = Pane("panel")
    text = make_wrapped_label("Loading…", "ui", "secondary")
    make_column(text, stretch(), margins=(16, 12, 16, 12), parent=pane)
    return pane


class Docking(QObject):
    """Shows the panels of the right column, and selects notes in the sidebar's note tree."""

    def __init__(self, columns: Columns, column: RightColumn, sidebar: Sidebar) -> None:
        super().__init__(columns)
        self._columns, self._column, self._sidebar = columns, column, sidebar
        self._came_from: QWidget | None = None
        column.index.lists.reveal_requested.connect(self.show_among_folders)
        sidebar.footer.problems_requested.connect(self.show_failed_notes)
        sidebar.footer.details_requested.connect(self.show_index)

    def show_sources(self) -> None:
        """Show the panel with the sources of the last answer."""
        self._show(self._column.sources_dock)

    def show_outline(self) -> None:
        """Show the panel of the open note's headings, and focus its filter field."""
        self._show(self._column.outline_dock)
        self._column.outline.begin()

    def show_related(self) -> None:
        """Show the panel of related notes."""
        self._show(self._column.related_dock)

    def show_index(self) -> None:
        """Show the index panel."""
        self._show(self._column.index_dock)

    def show_review(self) -> None:
        """Show the panel with the findings of the review, and focus it."""
        self._came_from = QApplication.focusWidget()
        self._show(self._column.review_dock)
        self._column.review.take_focus()

    def show_failed_notes(self) -> None:
        """Show the index panel with the list of failed notes."""
        self._column.index.lists.show_which("failed")
        self.show_index()

    def toggle_related(self) -> None:
        """Show the panel of related notes, or close it if it is visible."""
        self._toggle(self._column.related_dock)

    def toggle_index(self) -> None:
        """Show the index panel, or close it if it is visible."""
        self._toggle(self._column.index_dock)

    def toggle_review(self) -> None:
        """Show and focus the panel with the findings of the review, or close it if it is visible.

        Closing it restores the previous focus.
        """
        dock, before, focused = (
            self._column.review_dock,
            self._came_from,
            QApplication.focusWidget(),
        )
        if not (self._columns.is_right_shown and self._column.is_in_front(dock)):
            self.show_review()
            return
        had_focus = focused is not None and dock.isAncestorOf(focused)
        dock.close()
        if had_focus and before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_among_folders(self, path: str) -> None:
        """Show the sidebar, select a note in the note tree, and focus the tree."""
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
