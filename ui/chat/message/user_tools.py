"""The strip below a user message: its label, its versions and its actions."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from ui.chat.message.tools import (
    LabelTag,
    MessageAction,
    PinButton,
    QuietButton,
    Siblings,
    ToolStrip,
)
from ui.widgets.geometry import OUTDENT

__all__ = ["UserTools"]

_ROW = 24
_Kind = Literal["edit", "branch", "label", "pin", "unpin"]


class UserTools(ToolStrip):
    """The strip below a user message: its label, its versions and its actions.

    Signals:
        action_requested: a `MessageAction`.
        copied: the user clicked Copy.
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
        self.fill((self.label,), (*acts, self.siblings), None)
        self.edit.clicked.connect(lambda _checked=False: self._wish("edit"))
        self.branch.clicked.connect(lambda _checked=False: self._wish("branch"))
        self.copy.clicked.connect(lambda _checked=False: self.copied.emit())
        self.name.clicked.connect(lambda _checked=False: self.label.edit())
        self.pin.chosen.connect(self._wish)
        self.siblings.chosen.connect(
            lambda entry: self.action_requested.emit(MessageAction("select", entry))
        )
        self.label.named.connect(lambda text: self._wish("label", text))
        self._is_hovered = self._is_current = False
        for act in acts:
            act.installEventFilter(self)
        self.set_entry("", (), "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show all actions while one of them has the focus."""
        if event.type() in {QEvent.Type.FocusIn, QEvent.Type.FocusOut}:
            self.set_seen(self._is_hovered)
        return False

    def set_entry(self, entry: str, siblings: Sequence[str], label: str) -> None:
        """Set the message's log entry ID, the entry IDs of its versions, and the user's label.

        Without an entry ID, the only available action is Copy.
        """
        self._entry = entry
        self.siblings.show_versions(siblings, entry)
        self.label.show_label(label)
        for tool in (self.edit, self.branch, self.pin, self.name):
            tool.setVisible(bool(entry))

    def show_pin(self, is_pinned: bool) -> None:
        """Show whether the message is pinned."""
        self.pin.show_pin(is_pinned)

    def set_seen(self, is_seen: bool) -> None:
        """Show or hide the buttons. Their space stays reserved.

        They also stay visible while one of them has the focus.
        """
        self._is_hovered = is_seen
        self._update()

    def set_current(self, is_current: bool) -> None:
        """Set whether the message is the current one for the keyboard, which shows the buttons."""
        self._is_current = is_current
        self._update()

    def _update(self) -> None:
        tools = (self.edit, self.copy, self.branch, self.pin, self.name)
        is_used = self._is_current or QApplication.focusWidget() in tools
        for tool in tools:
            tool.set_seen(self._is_hovered or is_used)

    def _wish(self, kind: _Kind, text: str = "") -> None:
        self.action_requested.emit(MessageAction(kind, self._entry, text))
