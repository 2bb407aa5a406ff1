"""A window of docks that keeps the proportions of their heights.

Qt lays docks out by the heights that they have, so what the least heights of a short window, or a
panel that was closed for a while, did to them would stay when there is room again. Here only a
separator that is dragged changes the proportion, and every other change of the room is shared out
by it anew.
"""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QWidget

__all__ = ["DockWindow"]

_WHOLE = 100_000
_CHANGES = (QEvent.Type.Resize, QEvent.Type.LayoutRequest, QEvent.Type.Show)


class DockWindow(QMainWindow):
    """Docks in places above one another; docks that are tabs of one another share a place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Widget)
        self._shares: dict[str, int] = {}
        self._places: dict[str, str] = {}
        self._laid_out: object = None
        self._is_dragged = False

    def shares(self) -> dict[str, int]:
        """Return the share of every place, by the names of its docks with spaces between."""
        names: dict[str, list[str]] = {}
        for name, place in self._places.items():
            names.setdefault(place, []).append(name)
        return {" ".join(docks): self._shares[place] for place, docks in names.items()}

    def set_shares(self, shares: Mapping[str, int]) -> None:
        """Give places their shares, as `shares` returns them; only their proportion counts."""
        for names, share in shares.items():
            place = names.partition(" ")[0]
            self._places.update(dict.fromkeys(names.split(), place))
            self._shares[place] = share
        self._laid_out = None
        self._share_out()

    def event(self, event: QEvent) -> bool:
        """Share the height out when there is more or less of it; learn how the user wants it."""
        is_done = super().event(event)
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress:
            self._is_dragged = event.isAccepted()  # nothing but a separator takes it
        elif kind == QEvent.Type.MouseButtonRelease and self._is_dragged:
            self._is_dragged = False
            self._take_shares()
        elif kind in _CHANGES:
            self._share_out()
        return is_done

    def _share_out(self) -> None:
        """Lay the docks out by their shares, unless they still are.

        To do so makes Qt ask for the layout once more; that it would be the same ends it.
        """
        is_dragging = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if is_dragging or not self.isVisible() or self._laid_out == self._heights():
            return
        self._learn_places()
        docks = self._list_placed()
        shares = [self._shares[self._places[dock.objectName()]] for dock in docks]
        self.resizeDocks(docks, shares, Qt.Orientation.Vertical)
        if (layout := self.layout()) is not None:
            layout.activate()
        self._laid_out = self._heights()

    def _take_shares(self) -> None:
        """Take the heights that are seen as what the user wants, if it is them that changed."""
        if self._laid_out == self._heights():
            return
        for dock in self._list_placed():
            if not dock.visibleRegion().isEmpty():
                height = dock.height() + self._tabs_over(dock)
                place = self._places[dock.objectName()]
                self._shares[place] = round(_WHOLE * height / self.height())
        self._laid_out = self._heights()

    def _learn_places(self) -> None:
        """See which docks have come into the place of others, or have left it."""
        seen: dict[str, set[str]] = {}
        for dock in self._list_placed():
            name = dock.objectName()
            tabs = {name, *(beside.objectName() for beside in self.tabifiedDockWidgets(dock))}
            place = self._places.setdefault(name, name)
            share = self._shares.setdefault(place, _WHOLE)
            if seen.setdefault(place, tabs) != tabs:
                place = name
                seen[place] = tabs
                self._shares[place] = share
            self._places.update(dict.fromkeys(tabs, place))

    def _list_placed(self) -> list[QDockWidget]:
        """Return the docks that take room here, also behind the tab of another one."""
        docks = self.findChildren(QDockWidget)
        return [dock for dock in docks if not dock.isHidden() and not dock.isFloating()]

    def _heights(self) -> object:
        """Return all that the layout of the heights follows from, and what came of it."""
        return self.height(), [
            (dock.objectName(), dock.height(), dock.minimumSizeHint().height())
            for dock in self._list_placed()
        ]

    def _tabs_over(self, dock: QDockWidget) -> int:
        """Return how high the tabs of a dock are, which belong to its place."""
        for tabs in self.findChildren(QTabBar):
            place = tabs.geometry()
            if tabs.isVisible() and place.bottom() + 1 == dock.y() and place.left() == dock.x():
                return place.height()
        return 0
