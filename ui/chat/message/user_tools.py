"""What stands below a message of the user's."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible

from ui.chat.message.action import MessageAction
from ui.chat.message.strip import ToolStrip
from ui.chat.message.tools import LabelTag, PinButton, QuietButton, Siblings
from ui.widgets.measure import OUTDENT

__all__ = ["UserTools"]

_ROW = 24
_Kind = Literal["edit", "branch", "label", "pin", "unpin"]


class UserTools(ToolStrip):
    """The name of a message, the versions it has, and what can be done with it.

    `action_requested` carries a `MessageAction`; `copied` asks for its text.
    """

    action_requested = Signal(object)
    copied = Signal()

    def __init__(self) -> None:
        super().__init__(QAccessible.Role.ToolBar, _ROW, (OUTDENT, OUTDENT - 4), 2)
        self.setAccessibleName("Message actions")
        self._entry = ""
        self.edit = QuietButton("pencil-simple", "Edit message", size=24)
        self.copy = QuietButton("copy", "Copy message", size=24)
        self.branch = QuietButton("git-branch", "Continue from here in a new chat", size=24)
        self.name = QuietButton("tag", "Name this message", size=24)
        self.pin = PinButton("message")
        self.siblings = Siblings("version")
        self.label = LabelTag()
        acts = (self.edit, self.copy, self.branch, self.pin, self.name)
        self.fill((self.label,), (self.siblings, *acts), None)
        self.edit.clicked.connect(lambda _checked=False: self._wish("edit"))
        self.branch.clicked.connect(lambda _checked=False: self._wish("branch"))
        self.copy.clicked.connect(lambda _checked=False: self.copied.emit())
        self.name.clicked.connect(lambda _checked=False: self.label.edit())
        self.pin.chosen.connect(self._wish)
        self.siblings.chosen.connect(
            lambda entry: self.action_requested.emit(MessageAction("select", entry))
        )
        self.label.named.connect(lambda text: self._wish("label", text))
        self.show_place("", (), "")

    def show_place(self, entry: str, siblings: Sequence[str], label: str) -> None:
        """Tell where the message stands; one without a place can only be copied."""
        self._entry = entry
        self.siblings.show_versions(siblings, entry)
        self.label.show_label(label)
        for tool in (self.edit, self.branch, self.pin, self.name):
            tool.setVisible(bool(entry))

    def show_pin(self, is_pinned: bool) -> None:
        """Tell whether the message is pinned."""
        self.pin.show_pin(is_pinned)

    def set_seen(self, is_seen: bool) -> None:
        """Draw the buttons, or leave their places empty."""
        for tool in (self.edit, self.copy, self.branch, self.pin, self.name):
            tool.set_seen(is_seen)

    def _wish(self, kind: _Kind, text: str = "") -> None:
        self.action_requested.emit(MessageAction(kind, self._entry, text))
