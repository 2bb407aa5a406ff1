"""The window before anything is open: its columns, their places, and what only arranges them.

It is what the first paint shows, so nothing here needs the program behind the window.
"""

import base64

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from app.opening import FirstLook
from ui.chat.column import Middle
from ui.chat.composer.composer import Composer
from ui.notify import Notifier
from ui.panels.index import IndexState
from ui.panels.rail import Rail
from ui.panels.right_column import RightColumn
from ui.panels.sidebar import Sidebar, folder_name
from ui.state import load_state, save_state
from ui.theme import Theme, tokens
from ui.widgets.columns import Columns

__all__ = ["Frame"]

_HINT_MESSAGES = 10
# What a title bar and borders take at most: no desktop tells that before a window is shown.
_BORDERS = QSize(16, 48)


class Frame(QMainWindow):
    """Three columns where they stood the last time.

    `first_painted` is emitted once, when the window has been drawn for the first time.
    """

    first_painted = Signal()

    def __init__(self, look: FirstLook) -> None:
        super().__init__()
        self._state_path = look.state / "window.json"
        self._state = load_state(self._state_path)
        self._is_painted = False
        self._make_views()
        self._restore(look)

    @property
    def font_scale(self) -> float:
        """How large text was the last time."""
        return self._state.font_scale

    @property
    def notifier(self) -> Notifier:
        """The door for short messages over the conversation."""
        return self._notifier

    def open_on_screen(self) -> None:
        """Show the window where it was last; the first time it takes a screen too small for it."""
        room = self.screen().availableSize()
        fits = self.width() <= room.width() and self.height() < room.height()  # and a title bar
        if fits or self._state.geometry:
            self.show()
        else:
            self.resize(self.size().boundedTo(room * 0.9))
            self.showMaximized()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Say when the window has been drawn."""
        super().paintEvent(event)
        if not self._is_painted:
            self._is_painted = True
            self.first_painted.emit()

    def _make_views(self) -> None:
        self._composer = Composer()
        self._sidebar, self._rail = Sidebar(), Rail()
        self._column = RightColumn()
        self._middle = Middle(self._composer)
        self._notifier = Notifier(self._middle)
        self._columns = Columns(self._sidebar, self._rail, self._middle, self._column)
        self._columns.changed.connect(self._on_columns_changed)
        self.setCentralWidget(self._columns)
        self.setWindowTitle("Strata")
        layout = tokens()["layout"]
        self.setMinimumSize(*layout["window_min"])
        room = self.screen().availableSize() - _BORDERS
        self.resize(QSize(*layout["window_default"]).boundedTo(room))

    def _restore(self, look: FirstLook) -> None:
        state = self._state
        self.restoreGeometry(QByteArray(base64.b64decode(state.geometry)))
        self._column.restore(QByteArray(base64.b64decode(state.docks)))
        self._column.set_shares(state.shares)
        self._columns.set_widths(state.columns)
        self._columns.wants_sidebar = state.is_sidebar_open
        self._columns.wants_right = state.is_panel_open
        self._columns.arrange()
        self._show_sent_hint()
        self._middle.show_chat(look.vault is not None)
        name = folder_name(look.vault) if look.vault else ""
        self._sidebar.show_vault(name, str(look.vault or ""))
        if look.vault:  # which is opened after the first paint
            self._sidebar.footer.show_state(IndexState(message="Loading…"))

    def _remember_places(self) -> None:
        state = self._state
        state.geometry = base64.b64encode(self.saveGeometry().data()).decode()
        state.docks = base64.b64encode(self._column.places().data()).decode()
        state.shares = self._column.shares()
        state.columns = self._columns.widths()
        state.is_sidebar_open = self._columns.wants_sidebar
        state.is_panel_open = self._columns.wants_right
        state.font_scale = Theme.current().scale
        save_state(self._state_path, state)

    def _show_sent_hint(self) -> None:
        self._composer.set_hint_visible(self._state.sent < _HINT_MESSAGES)

    def _on_columns_changed(self) -> None:
        columns = self._columns
        self._middle.set_columns(
            has_sidebar=columns.is_sidebar_shown,
            has_rail=not columns.is_sidebar_docked,
            has_panel=columns.is_right_shown,
        )

    def _zoom(self, step: int) -> None:
        steps = tokens()["font"]["scale_steps"]
        scale = Theme.current().scale
        at = min(range(len(steps)), key=lambda place: abs(steps[place] - scale))
        self._set_scale(steps[max(0, min(len(steps) - 1, at + step))] if step else 1.0)

    def _set_scale(self, scale: float) -> None:
        Theme.current().apply(scale=scale)
        self._columns.arrange()

    def _next_region(self, step: int) -> None:
        shown = [region for region in self._regions() if region.isVisible()]
        focus = QApplication.focusWidget()
        at = [n for n, region in enumerate(shown) if focus and region.isAncestorOf(focus)]
        target = shown[((at[0] if at else 0) + step) % len(shown)]
        _focus_first(target)

    def _regions(self) -> list[QWidget]:
        return [self._composer, self._column, self._sidebar, self._rail]

    def _reset_layout(self) -> None:
        self._columns.wants_sidebar = self._columns.wants_right = True
        self._columns.set_widths([])
        self._column.reset()
        self._columns.arrange()


def _focus_first(region: QWidget) -> None:
    """Give the focus to the first part of a region that takes it."""
    if region.focusPolicy() & Qt.FocusPolicy.TabFocus:
        region.setFocus(Qt.FocusReason.TabFocusReason)
        return
    for widget in region.findChildren(QWidget):
        if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            return
