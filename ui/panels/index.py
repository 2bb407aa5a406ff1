"""How the index stands, at the foot of the sidebar: always there, never in the way."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ui.kit.controls import ElidedLabel, IconButton, IconLabel, button, wrapped
from ui.kit.figures import count, plural
from ui.kit.surfaces import Pane
from ui.theme import Theme, dress

__all__ = ["IndexFooter", "IndexState"]


@dataclass(frozen=True)
class IndexState:
    """How the index stands.

    Attributes:
        kind: `none`, `running`, `done`, `stopped` or `failed`.
        done: notes read in this run; `total` is 0 while it is not known.
        notes: notes in the index; `failed` those that could not be read.
        message: what is the matter.
    """

    kind: str = "none"
    done: int = 0
    total: int = 0
    notes: int = 0
    failed: int = 0
    message: str = ""

    @property
    def icon(self) -> tuple[str, str]:
        """The icon of the state and its colour."""
        return _ICONS["problems" if self.failed and self.kind == "done" else self.kind]

    @property
    def text(self) -> str:
        """What the footer says."""
        if self.kind == "running":
            if not self.total:
                return "Reading your notes…"
            return f"Reading your notes: {count(self.done)} of {count(self.total)}"
        if self.kind == "stopped":
            where = f"Indexing stopped at {count(self.done)} of {count(self.total)}."
            return f"{where} Search covers what is done."
        if self.kind == "failed":
            return self.message
        if self.kind == "none":
            return "No notes are open"
        indexed = f"{plural(self.notes, 'note')} indexed"
        return f"{indexed}, {count(self.failed)} could not be read" if self.failed else indexed


class IndexFooter(Pane):
    """The state of the index at the left, the settings at the right."""

    settings_requested = Signal()
    cancel_requested = Signal()
    continue_requested = Signal()
    problems_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("sidebar", parent)
        self.state = IndexState()
        self._icon = IconLabel("check-circle", "success.graphic", 16)
        self._line = ElidedLabel()
        dress(self._line, "caption", "secondary", numbers=True)
        self._more = wrapped("", "caption", "secondary")
        self._act = button("", "link")
        self._act.clicked.connect(self._on_act)
        self._progress = ElidedLabel()
        dress(self._progress, "caption", "primary", numbers=True)
        self.cancel = IconButton("x", "Stop reading the notes", size=24, icon_px=14)
        self.cancel.clicked.connect(self.cancel_requested)
        self.settings = IconButton("gear", "Settings", "Ctrl+,", size=28)
        self.settings.clicked.connect(self.settings_requested)
        self._lay_out()
        self.show_state(self.state)

    def show_state(self, state: IndexState) -> None:
        """Say how the index stands."""
        self.state = state
        is_running = state.kind == "running"
        is_long = state.kind in {"stopped", "failed"} or bool(state.failed)
        rest = "You need not wait for this." if is_running else state.text
        tip = f"{plural(state.total, 'passage')} are new or changed." if state.total else ""
        self._progress.set_text(state.text, tip)
        self._run.setVisible(is_running)
        self._line.set_text(rest)
        self._line.setVisible(is_running or not is_long)
        self._more.setText(rest)
        self._more.setVisible(is_long and not is_running)
        self._icon.set_icon(*state.icon)
        word = _ACTS.get("problems" if state.kind == "done" and state.failed else state.kind, "")
        self._act.setText(word)
        self._act.setVisible(bool(word))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw how far the reading has come, along the upper edge."""
        state = self.state
        if state.kind == "running" and state.total:
            width = round(self.width() * min(1.0, state.done / state.total))
            QPainter(self).fillRect(0, 0, width, 2, Theme.current().color("accent.base"))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font scale."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._rest.setMinimumHeight(Theme.current().px(38))

    def _lay_out(self) -> None:
        self._run = QWidget()
        run = QHBoxLayout(self._run)
        run.setContentsMargins(16, 6, 10, 0)
        run.setSpacing(4)
        run.addWidget(self._progress, 1)
        run.addWidget(self.cancel)
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addWidget(self._line)
        texts.addWidget(self._more)
        texts.addWidget(self._act, 0, Qt.AlignmentFlag.AlignLeft)
        self._rest = QWidget()
        row = QHBoxLayout(self._rest)
        row.setContentsMargins(16, 5, 8, 5)
        row.setSpacing(8)
        row.addWidget(self._icon)
        row.addLayout(texts, 1)
        row.addWidget(self.settings)
        self._rest.setMinimumHeight(Theme.current().px(38))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._run)
        column.addWidget(self._rest)

    def _on_act(self) -> None:
        if self.state.kind == "done":
            self.problems_requested.emit()
        else:
            self.continue_requested.emit()


_ACTS = {"problems": "Show them", "stopped": "Continue", "failed": "Look again"}
_ICONS = {
    "none": ("books", "text.tertiary"),
    "running": ("books", "accent.base"),
    "done": ("check-circle", "success.graphic"),
    "problems": ("warning", "amber.graphic"),
    "stopped": ("warning", "amber.graphic"),
    "failed": ("warning", "amber.graphic"),
}
