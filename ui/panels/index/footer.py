"""The footer of the sidebar: index progress, pause, stop and errors."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui.icons import mirror_painter
from ui.panels.index.state import IndexState
from ui.theme import Theme, dress
from ui.widgets.buttons import NO_TEXT, IconButton, make_button
from ui.widgets.controls import ElidedLabel, make_wrapped_label
from ui.widgets.formatting import plural
from ui.widgets.geometry import Scaled
from ui.widgets.layouts import align, grow, make_column, make_row
from ui.widgets.surfaces import Pane

__all__ = ["IndexFooter"]


class IndexFooter(Scaled, Pane):
    """The footer of the sidebar, with the state of the index and the settings button.

    Signals:
        settings_requested: emitted when the settings button is clicked.
        cancel_requested, pause_requested: emitted when the user wants to stop or pause the indexing
            run.
        continue_requested: emitted when the user wants to resume a paused indexing run, or to start
            one.
        problems_requested: emitted when the user wants to see the notes that could not be read.
        details_requested: emitted when the user wants to see the index panel.
    """

    settings_requested = Signal()
    cancel_requested = Signal()
    pause_requested = Signal()
    continue_requested = Signal()
    problems_requested = Signal()
    details_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("sidebar", parent)
        self.state = IndexState()
        self.details = IconButton("check-circle", "Show the index", size=24)
        self.details.clicked.connect(self.details_requested)
        self._line = ElidedLabel()
        dress(self._line, "caption", "secondary", numbers=True)
        self._more = make_wrapped_label("", "caption", "secondary")
        self.act = make_button(NO_TEXT, "link")
        self.act.clicked.connect(self._on_act)
        self._progress = make_wrapped_label("")
        dress(self._progress, "caption", "primary", numbers=True)
        self.pause = IconButton("pause", "Pause reading the notes", size=24, icon_px=14)
        self.pause.clicked.connect(self._on_pause)
        self.cancel = IconButton("x", "Stop reading the notes", size=24, icon_px=14)
        self.cancel.clicked.connect(self.cancel_requested)
        self.settings = IconButton("gear", "Settings", "settings", size=28)
        self.settings.clicked.connect(self.settings_requested)
        self._lay_out()
        self.show_state(self.state)

    def show_state(self, state: IndexState) -> None:
        """Show a new state of the index."""
        self.state = state
        if state.is_going_on:
            rest, is_long = state.second, state.is_mending
        else:
            rest, is_long = state.text, state.kind in {"stopped", "failed"} or bool(state.failed)
        self._progress.setText(state.text)
        self._progress.setToolTip(_tip(state))
        show_pause(self.pause, state)
        self._run.setVisible(state.is_going_on)
        self._line.set_text(rest)
        self._line.setVisible(not is_long)
        self._more.setText(rest)
        self._more.setVisible(is_long)
        self.details.set_icon(*state.icon)
        self.act.set_text(state.act or NO_TEXT)
        self.act.setVisible(state.act is not None)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the progress of indexing as a bar along the footer's upper edge."""
        width = round(self.width() * (self.state.fraction or 0.0))
        painter = QPainter(self)
        mirror_painter(painter, self.rect(), self.layoutDirection())
        painter.fillRect(0, 0, width, 2, Theme.current().color("accent.base"))

    def _lay_out(self) -> None:
        self._run = QWidget()
        make_row(
            grow(self._progress),
            self.pause,
            self.cancel,
            margins=(16, 6, 10, 0),
            spacing=4,
            parent=self._run,
        )
        texts = make_column(
            self._line, self._more, align(self.act, Qt.AlignmentFlag.AlignLeft), spacing=0
        )
        self._rest = QWidget()
        make_row(
            self.details,
            grow(texts),
            self.settings,
            margins=(12, 5, 8, 5),
            spacing=4,
            parent=self._rest,
        )
        make_column(self._run, self._rest, margins=0, spacing=0, parent=self)
        self._fit()

    def _fit(self) -> None:
        self._rest.setMinimumHeight(Theme.current().px(38))

    def _on_act(self) -> None:
        if self.state.kind == "done":
            self.problems_requested.emit()
        else:
            self.continue_requested.emit()

    def _on_pause(self) -> None:
        is_paused = self.state.kind == "paused"
        (self.continue_requested if is_paused else self.pause_requested).emit()


def show_pause(button: IconButton, state: IndexState) -> None:
    """Show on a button whether it pauses or resumes the indexing run.

    This sets the button's icon and name.

    Args:
        state: the state of the index, which says whether the run is paused.
    """
    is_paused = state.kind == "paused"
    button.set_icon("play" if is_paused else "pause")
    button.set_name("Go on reading the notes" if is_paused else "Pause reading the notes")


def _tip(state: IndexState) -> str:
    if state.fraction is None:
        return state.work
    parts = (f"{plural(state.total, 'note')} new or changed.", state.speed, state.slowed)
    return "\n".join(filter(None, parts))
