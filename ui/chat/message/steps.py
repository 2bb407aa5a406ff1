"""An agent's steps: a summary line that expands to one row for each step."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from chains.turn_answer import ToolStep
from ui.chat.message.fold_head import FoldHead
from ui.chat.message.step_row import StepRow
from ui.chat.message.step_words import summary, took
from ui.widgets.geometry import OUTDENT, keep_place
from ui.widgets.layouts import make_column
from ui.widgets.surfaces import AccessibleFrame

__all__ = ["Steps"]


class Steps(AccessibleFrame):
    """The steps that an agent took for one answer, hidden while there are no steps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Grouping, parent)
        self.head = FoldHead("steps")
        self.head.clicked.connect(self._on_head)
        self._rows: list[StepRow] = []
        self._list = QWidget()
        self._column = make_column(
            margins=(OUTDENT + 20, 0, OUTDENT, 8), spacing=0, parent=self._list
        )
        self._list.hide()
        make_column(self.head, self._list, margins=0, spacing=0, parent=self)
        self.hide()

    @property
    def steps(self) -> list[ToolStep]:
        """The steps that the agent took for the answer, in order."""
        return [row.step for row in self._rows]

    @property
    def rows(self) -> list[StepRow]:
        """The rows that show the agent's steps, in the same order as `steps`."""
        return list(self._rows)

    @property
    def is_open(self) -> bool:
        """Whether the list of steps is expanded, so that each step has a visible row."""
        return not self._list.isHidden()

    def set_steps(self, steps: Sequence[ToolStep]) -> None:
        """Replace the agent's steps. Rows that are expanded stay expanded."""
        known = {row.step.id: row for row in self._rows}
        rows = [known.get(step.id) or StepRow(step) for step in steps]
        for row in self._rows:
            self._column.removeWidget(row)
            if row not in rows:
                row.hide()
                row.deleteLater()
        self._rows = rows
        for row, step in zip(rows, steps, strict=True):
            row.set_step(step)
            self._column.addWidget(row)
        self._say()

    def begin_step(self, step: ToolStep) -> None:
        """Add a step that the agent has just started."""
        row = StepRow(step)
        self._rows.append(row)
        self._column.addWidget(row)
        self._say()

    def end_step(self, step: ToolStep) -> None:
        """Show the outcome of a finished step of the agent."""
        for row in self._rows:
            if row.step.id == step.id:
                row.set_step(replace(step, text_before=row.step.text_before))
        self._say()

    def _say(self) -> None:
        seconds = sum(step.seconds or 0.0 for step in self.steps)
        is_known = any(step.seconds is not None for step in self.steps)
        self.head.show_words(summary(self.steps), took(seconds) if is_known else "")
        self.setAccessibleName(f"Steps: {summary(self.steps)}")
        self.setVisible(bool(self._rows))

    def _on_head(self) -> None:
        keep_place(self)
        self._list.setVisible(self._list.isHidden())
        self.head.set_open(self.is_open)
