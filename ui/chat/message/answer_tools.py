"""The actions below an answer, and the name of the model that wrote it."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible

from ui.chat.message.step_words import took
from ui.chat.message.tools import LabelTag, MessageAction, PinButton, Siblings, ToolStrip
from ui.theme import dress
from ui.widgets.controls import ElidedLabel, IconButton, button
from ui.widgets.geometry import OUTDENT

__all__ = ["AnswerTools"]

_ROW = 28
_Kind = Literal["again", "branch", "label", "saw", "pin", "unpin"]


class AnswerTools(ToolStrip):
    """The strip below an answer: actions at the left; model, its location and time at the right.

    `action_requested` carries a `MessageAction`; `copied` is emitted when the user clicks Copy.
    """

    copied = Signal()
    action_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__(QAccessible.Role.ToolBar, _ROW, (OUTDENT - 4, OUTDENT), 4)
        self._entry = ""
        self.setAccessibleName("Answer actions")
        self.copy = IconButton("copy", "Copy answer", size=24)
        self.again = IconButton("arrows-clockwise", "Answer again", "Ctrl+R", size=24)
        self.branch = IconButton("git-branch", "Continue from here in a new chat", size=24)
        self.pin = PinButton("answer")
        self.pin.set_seen(True)
        self.name = IconButton("tag", "Name this answer", size=24)
        self.saw = button("What the model saw", "text", lambda: self._wish("saw"))
        self.saw.setProperty("compact", True)
        self.siblings = Siblings("answer")
        self.label = LabelTag()
        self.about = ElidedLabel()
        self.about.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        dress(self.about, "caption", "tertiary", numbers=True)
        self._connect()
        acts = (self.copy, self.again, self.branch, self.pin, self.name, self.siblings)
        self.fill(acts, (self.saw, self.label, self.about), self.about)
        self.show_place("", (), "")

    def show_place(self, entry: str, siblings: Sequence[str], label: str) -> None:
        """Set entry ID, versions and label; an answer without an entry ID can only be copied."""
        self._entry = entry
        self.siblings.show_versions(siblings, entry)
        self.label.show_label(label)
        for tool in (self.again, self.branch, self.pin, self.name, self.saw):
            tool.setVisible(bool(entry))

    def show_pin(self, is_pinned: bool) -> None:
        """Show whether the answer is pinned."""
        self.pin.show_pin(is_pinned)

    def show_about(self, model: str, where: str, seconds: float | None) -> None:
        """Show model, location and time, such as `qwen3:14b, on this computer · 6.8 s`."""
        by = f"{model}, {where}" if where else model
        time = "" if seconds is None else took(seconds)
        self.about.set_text(" · ".join(part for part in (by, time) if part))

    def _connect(self) -> None:
        self.copy.clicked.connect(self._on_copy)
        self.again.clicked.connect(lambda _checked=False: self._wish("again"))
        self.branch.clicked.connect(lambda _checked=False: self._wish("branch"))
        self.name.clicked.connect(lambda _checked=False: self.label.edit())
        self.pin.chosen.connect(self._wish)
        self.siblings.chosen.connect(
            lambda entry: self.action_requested.emit(MessageAction("select", entry))
        )
        self.label.named.connect(lambda text: self._wish("label", text))

    def _wish(self, kind: _Kind, text: str = "") -> None:
        self.action_requested.emit(MessageAction(kind, self._entry, text))

    def _on_copy(self) -> None:
        self.copied.emit()
        self.copy.set_icon("check", "success.graphic")
        QTimer.singleShot(1500, self.copy, lambda: self.copy.set_icon("copy"))
