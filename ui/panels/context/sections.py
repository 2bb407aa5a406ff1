"""The sections of the context panel below its list of layers, and the text of the chat's memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from ui.widgets.buttons import SHOW_ALL, SHOW_LESS, make_button
from ui.widgets.controls import IconLabel, label, make_wrapped_label
from ui.widgets.geometry import clear_layout
from ui.widgets.layouts import make_column, make_row
from ui.widgets.surfaces import Hairline

if TYPE_CHECKING:
    from context.history.memory import Memory

__all__ = ["SIDE", "MemoryText", "Section", "list_memory_lines"]

SIDE = 16
_SHORT_CHARS = 400
Line = tuple[str, str]


class Section(QWidget):
    """A section of the context panel: a hairline, a title, a number on the right, and a body.

    The section is hidden until `show_figure` shows it.

    Args:
        title: the title, in sentence case.
        body: the widget below the title.
        icon: the name of the icon before the title, or an empty string for no icon.
        tone: the name of the icon's theme colour.
    """

    def __init__(self, title: str, body: QWidget, icon: str = "", tone: str = "") -> None:
        super().__init__()
        self._figure = label("", "caption", "secondary", numbers=True)
        head = make_row(spacing=6)
        if icon:
            head.addWidget(IconLabel(icon, tone, 14))
        head.addWidget(label(title, "label", "secondary"))
        head.addStretch(1)
        head.addWidget(self._figure)
        top = make_column(Hairline(), head, margins=(SIDE, 0, SIDE, 0), spacing=10)
        make_column(top, body, margins=(0, 10, 0, 0), spacing=4, parent=self)
        self.setAccessibleName(title)
        self.hide()

    def show_figure(self, text: str, *, is_shown: bool) -> None:
        """Set the number on the right of the title, and show or hide the section.

        Args:
            text: the number as text, or an empty string for none.
            is_shown: whether to show the section.
        """
        self._figure.setText(text)
        self.setVisible(is_shown)


class MemoryText(QWidget):
    """The chat's memory as lines: progress, facts and scratchpad. Long texts are collapsed."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: Sequence[Line] = ()
        self._is_whole = False
        self._column = make_column(margins=(SIDE, 0, SIDE, 0), spacing=2, parent=self)

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show the given lines of the chat's memory."""
        if lines != self._lines:
            self._lines = lines
            self._fill()

    def _fill(self) -> None:
        clear_layout(self._column)
        is_long = False
        for tone, text in self._lines:
            is_cut = len(text) > _SHORT_CHARS and not self._is_whole
            is_long = is_long or len(text) > _SHORT_CHARS
            shown = f"{text[:_SHORT_CHARS].rstrip()}…" if is_cut else text
            self._column.addWidget(make_wrapped_label(shown, "caption", tone))
        if is_long:
            button_text = SHOW_LESS if self._is_whole else SHOW_ALL
            self._column.addWidget(make_button(button_text, "link", self._fold))

    def _fold(self) -> None:
        self._is_whole = not self._is_whole
        self._fill()


def list_memory_lines(memory: "Memory | None") -> list[Line]:
    """Return the lines of a chat's memory, each with its text colour.

    Return an empty list if `memory` is None.
    """
    if memory is None:
        return []
    progress = memory.progress
    lines: list[Line] = []
    if progress.current_objective:
        lines.append(("primary", f"Now: {progress.current_objective}"))
    if progress.phase:
        lines.append(("secondary", f"Phase: {progress.phase}"))
    lines += [("tertiary", f"✓ {step}") for step in progress.completed_steps]
    lines += [("secondary", f"○ {step}") for step in progress.pending_steps]
    lines += [("secondary", f"• {fact}") for fact in memory.facts]
    if scratchpad := memory.scratchpad.strip():
        lines.append(("secondary", scratchpad))
    return lines
