"""Keep the proportions of the heights of docks in a window.

Qt derives the layout of docks from their current heights. If a short window or a closed panel
distorts these heights, they stay distorted even when there is enough space again. Here, only
dragging a separator changes the proportions. After any other change, the height is distributed
according to the stored proportions.
"""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar

from ui.widgets.layouts import lay_out_now

__all__ = ["DockProportions"]

_WHOLE = 100_000
_CHANGES = (QEvent.Type.Resize, QEvent.Type.LayoutRequest, QEvent.Type.Show)


class DockProportions:
    """The proportions of docks that are stacked in areas of a window. Tabbed docks share an area.

    Args:
        window: the window. Its method `event` calls `follow` with each event that it has handled.
    """

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self._shares: dict[str, int] = {}
        self._places: dict[str, str] = {}
        self._laid_out: object = None
        self._is_dragged = False

    def shares(self) -> dict[str, int]:
        """Return each area's share of the height.

        An area contains one dock, or several docks as tabs. Its key in the returned mapping
        consists of the names of its docks, joined with spaces.
        """
        names: dict[str, list[str]] = {}
        for name, place in self._places.items():
            names.setdefault(place, []).append(name)
        return {" ".join(docks): self._shares[place] for place, docks in names.items()}

    def set_shares(self, shares: Mapping[str, int]) -> None:
        """Set the areas' shares of the height.

        Args:
            shares: the share of each area, in the form that `shares` returns. Only the proportions
                matter.
        """
        for names, share in shares.items():
            place = names.partition(" ")[0]
            self._places.update(dict.fromkeys(names.split(), place))
            self._shares[place] = share
        self._laid_out = None
        self._share_out()

    def follow(self, event: QEvent) -> None:
        """Distribute the height among the docks after a size change.

        After the user has dragged a separator, store the docks' new shares of the height.
        """
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress:
            self._is_dragged = event.isAccepted()  # only a separator accepts the press
        elif kind == QEvent.Type.MouseButtonRelease and self._is_dragged:
            self._is_dragged = False
            self._take_shares()
        elif kind in _CHANGES:
            self._share_out()

    def _share_out(self) -> None:
        """Resize the docks according to the stored shares.

        Do nothing while a separator is dragged, or if the heights have not changed since the last
        call. Without this check, each resize would trigger another layout.
        """
        is_dragging = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if is_dragging or not self._window.isVisible() or self._laid_out == self._heights():
            return
        self._learn_places()
        docks = self._list_placed()
        shares = [self._shares[self._places[dock.objectName()]] for dock in docks]
        self._window.resizeDocks(docks, shares, Qt.Orientation.Vertical)
        lay_out_now(self._window)
        self._laid_out = self._heights()

    def _take_shares(self) -> None:
        """Store the current heights of the dock areas as shares if they have changed."""
        if self._laid_out == self._heights():
            return
        for dock in self._list_placed():
            if not dock.visibleRegion().isEmpty():
                height = dock.height() + self._tabs_over(dock)
                place = self._places[dock.objectName()]
                self._shares[place] = round(_WHOLE * height / self._window.height())
        self._laid_out = self._heights()

    def _learn_places(self) -> None:
        """Store which docks are in which area. Docks that are tabbed together share an area."""
        seen: dict[str, set[str]] = {}
        for dock in self._list_placed():
            name = dock.objectName()
            tabs = {
                name,
                *(beside.objectName() for beside in self._window.tabifiedDockWidgets(dock)),
            }
            place = self._places.setdefault(name, name)
            share = self._shares.setdefault(place, _WHOLE)
            if seen.setdefault(place, tabs) != tabs:
                place = name
                seen[place] = tabs
                self._shares[place] = share
            self._places.update(dict.fromkeys(tabs, place))

    def _list_placed(self) -> list[QDockWidget]:
        """Return the docks that are neither hidden nor floating, including docks behind a tab."""
        docks = self._window.findChildren(QDockWidget)
        return [dock for dock in docks if not dock.isHidden() and not dock.isFloating()]

    def _heights(self) -> object:
        return self._window.height(), [
            (dock.objectName(), dock.height(), dock.minimumSizeHint().height())
            for dock in self._list_placed()
        ]

    def _tabs_over(self, dock: QDockWidget) -> int:
        """Return the height in pixels of the tab bar above a dock, or 0 if there is none."""
        for tabs in self._window.findChildren(QTabBar):
            place = tabs.geometry()
            if tabs.isVisible() and place.bottom() + 1 == dock.y() and place.left() == dock.x():
                return place.height()
        return 0
