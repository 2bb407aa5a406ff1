"""An agent's steps: a summary line that expands to one row for each step."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from chains.turn_answer import ToolStep
from ui.chat.message.step_row import StepRow
from ui.chat.message.step_words import summary, took
from ui.icons import begin_painting, paint_icon
from ui.theme import Theme
from ui.widgets.buttons import PressedByEnter
from ui.widgets.controls import draw_text, escape_tooltip, paint_focus
from ui.widgets.geometry import OUTDENT, keep_place
from ui.widgets.layouts import make_column
from ui.widgets.lists import paint_text
from ui.widgets.surfaces import AccessibleFrame

__all__ = ["Steps"]

_HEAD = 28


class Steps(AccessibleFrame):
    """The steps that an agent took for one answer, hidden while there are no steps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Grouping, parent)
        self.head = _Head()
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
                row.set_step(replace(step, said=row.step.said))
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


class _Head(PressedByEnter, QAbstractButton):
    """The line above an agent's steps: a chevron, a summary of all steps, and the total time."""

    def __init__(self) -> None:
        super().__init__()
        self._took = ""
        self._is_open = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def took(self) -> str:
        """The total duration of all steps, such as `1.4 s`, or an empty string if it is unknown."""
        return self._took

    def show_words(self, words: str, took: str) -> None:
        """Show the summary of the steps and their total time.

        Args:
            words: the summary.
            took: the total time, such as `1.4 s`, or an empty string if it is unknown.
        """
        self._took = took
        self.setText(words)
        self.setToolTip(escape_tooltip(words))
        self._name()
        self.update()

    def set_open(self, is_open: bool) -> None:
        """Show whether the list of steps is expanded."""
        self._is_open = is_open
        self._name()
        self.update()

    def sizeHint(self) -> QSize:
        """Return a small width, because the text can be elided, and the height of one line."""
        return QSize(160, Theme.current().px(_HEAD))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), begin_painting(self)
        tone = "text.primary" if self.underMouse() else "text.secondary"
        side = theme.px(12)
        arrow = QRect(OUTDENT, (self.height() - side) // 2, side, side)
        paint_icon(painter, arrow, "caret-down" if self._is_open else "caret-right", tone)
        words = self.rect().adjusted(OUTDENT + theme.px(20), 0, -OUTDENT, 0)
        painter.setFont(theme.font("ui", weight=500))
        painter.setPen(theme.color(tone))
        taken = QFontMetrics(theme.font("caption", numbers=True)).horizontalAdvance(self._took)
        words.setRight(words.right() - taken - 8)
        paint_text(painter, words, self.text())
        ends = QFontMetrics(painter.font()).horizontalAdvance(self.text())
        painter.setFont(theme.font("caption", numbers=True))
        painter.setPen(theme.color("text.tertiary"))
        left = min(words.left() + ends, words.right()) + 8
        draw_text(painter, QRect(left, 0, taken + 2, self.height()), _MIDDLE, self._took)
        if self.hasFocus():
            paint_focus(painter, self.rect().adjusted(OUTDENT - 6, 2, -OUTDENT + 6, -2))

    def _name(self) -> None:
        state = "shown" if self._is_open else "folded"
        took = f", {self._took}" if self._took else ""
        self.setAccessibleName(f"{self.text()}{took}, steps {state}")


_MIDDLE = Qt.AlignmentFlag.AlignVCenter
