"""The box that shows the progress of an indexing run: fraction done, speed, and problems."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui.icons import mirror_painter
from ui.panels.index.footer import show_pause
from ui.panels.index.state import IndexState
from ui.theme import Theme
from ui.widgets.buttons import NO_TEXT, IconButton, make_button
from ui.widgets.controls import IconLabel, make_wrapped_label
from ui.widgets.layouts import align, grow, make_column, make_row

__all__ = ["ProgressBar", "ProgressBox"]


class ProgressBox(QWidget):
    """A box that shows the state of indexing: a title, buttons, a progress bar and details."""

    pause_requested = Signal()
    continue_requested = Signal()
    cancel_requested = Signal()
    index_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = IndexState()
        self._icon = IconLabel("check-circle", "success.graphic", 16)
        self._text = make_wrapped_label("", "ui_strong")
        self._bar = ProgressBar()
        self._more = make_wrapped_label("", "caption", "secondary")
        self.pause = IconButton("pause", "Pause reading the notes", size=24, icon_px=14)
        self.pause.clicked.connect(self._on_pause)
        self.cancel = IconButton("x", "Stop reading the notes", size=24, icon_px=14)
        self.cancel.clicked.connect(self.cancel_requested)
        self.again = IconButton("arrows-clockwise", "Read the notes again", size=24, icon_px=14)
        self.again.clicked.connect(self.index_requested)
        self.act = make_button(NO_TEXT, "link", self.continue_requested.emit)
        self._lay_out()
        self.show_state(self._state)

    def show_state(self, state: IndexState) -> None:
        """Show a new state of the index."""
        self._state = state
        self._icon.set_icon(*state.icon)
        self._text.setText(state.title)
        self._bar.show_fraction(state.fraction)
        self._bar.setVisible(state.is_going_on)
        mending = state.second if state.is_mending else ""
        lines = (mending, state.work, state.speed, state.slowed)
        detail = "\n".join(filter(None, lines)) if state.is_going_on else ""
        self._more.setText(detail)
        self._more.setVisible(bool(detail))
        show_pause(self.pause, state)
        self.pause.setVisible(state.is_going_on)
        self.cancel.setVisible(state.is_going_on)
        self.again.setVisible(state.kind == "done")
        self.act.set_text(state.act or NO_TEXT)
        self.act.setVisible(state.kind in {"stopped", "failed"})

    def _on_pause(self) -> None:
        is_paused = self._state.kind == "paused"
        (self.continue_requested if is_paused else self.pause_requested).emit()

    def _lay_out(self) -> None:
        head = make_row(
            self._icon, grow(self._text), self.pause, self.cancel, self.again, spacing=8
        )
        make_column(
            head,
            self._bar,
            self._more,
            align(self.act, Qt.AlignmentFlag.AlignLeft),
            margins=(16, 8, 12, 0),
            spacing=4,
            parent=self,
        )


class ProgressBar(QWidget):
    """A progress bar with a height of four pixels. It is empty if the progress is unknown."""

    def __init__(self) -> None:
        super().__init__()
        self._fraction: float | None = None
        self.setFixedHeight(4)

    def show_fraction(self, fraction: float | None) -> None:
        """Show the completed fraction, from 0 to 1. The bar is empty if `fraction` is None."""
        self._fraction = fraction
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the completed fraction of the progress bar."""
        theme, painter = Theme.current(), QPainter(self)
        mirror_painter(painter, self.rect(), self.layoutDirection())
        painter.fillRect(self.rect(), theme.color("layer.free"))
        width = round(self.width() * (self._fraction or 0.0))
        painter.fillRect(0, 0, width, self.height(), theme.color("accent.base"))
