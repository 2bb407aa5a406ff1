"""The actions below an answer, and the name of the model that wrote it."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible

from ui.chat.message.step_words import took
from ui.chat.message.tools import LabelTag, MessageAction, PinButton, Siblings, ToolStrip
from ui.theme import dress
from ui.widgets.buttons import ButtonText, IconButton, make_button
from ui.widgets.controls import ElidedLabel
from ui.widgets.formatting import money
from ui.widgets.geometry import OUTDENT

__all__ = ["AnswerTools"]

_ROW = 28
_Kind = Literal["again", "branch", "label", "saw", "pin", "unpin", "note", "compare", "keep"]


class AnswerTools(ToolStrip):
    """The strip below an answer: action buttons, the model's name, and the duration and price.

    Signals:
        action_requested: a `MessageAction`.
        copied: the user clicked Copy.
    """

    copied = Signal()
    action_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__(QAccessible.Role.ToolBar, _ROW, (OUTDENT - 4, OUTDENT), 4)
        self._entry = ""
        self._has_model = self._has_text = True
        self.setAccessibleName("Answer actions")
        self.copy = IconButton("copy", "Copy answer", size=24)
        self.copy.setToolTip("Copy answer, or drag it to another program")
        self.again = IconButton("arrows-clockwise", "Answer again", "answer_again", size=24)
        self.compare = IconButton("scales", "Compare with another model's answer", size=24)
        self.branch = IconButton("git-branch", "Continue from here in a new chat", size=24)
        self.pin = PinButton("answer")
        self.pin.set_seen(True)
        self.name = IconButton("tag", "Name this answer", size=24)
        self.keep = IconButton("list-plus", "Pin to the sidebar, and keep it up to date", size=24)
        self.note = IconButton("note", "Save answer as a note", size=24)
        self.saw = make_button(
            ButtonText(
                "What the model saw", "Show the request that this answer was made from", "saw"
            ),
            "text",
            lambda: self._wish("saw"),
        )
        self.saw.setProperty("compact", True)
        self.siblings = Siblings("answer")
        self.label = LabelTag()
        self.about = ElidedLabel()
        self.about.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        dress(self.about, "caption", "tertiary", numbers=True)
        self._connect()
        more = (self.branch, self.pin, self.keep, self.name, self.note, self.siblings)
        self.fill(
            (self.copy, self.again, self.compare, *more),
            (self.saw, self.label, self.about),
            self.about,
        )
        self.set_entry("", (), "")

    def set_entry(self, entry: str, siblings: Sequence[str], label: str) -> None:
        """Set the ID of the answer's log entry, and its versions and label.

        Args:
            entry: the ID of the answer's log entry. If it is empty, the only available action is
                Copy.
            siblings: the entry IDs of all versions of the answer.
            label: the user's label for the answer, or an empty string.
        """
        self._entry = entry
        self.siblings.show_versions(siblings, entry)
        self.label.show_label(label)
        for tool in (self.again, self.compare, self.branch, self.name):
            tool.setVisible(bool(entry))
        self._show_text_actions()
        self.saw.setVisible(bool(entry) and self._has_model)

    def set_model_used(self, is_used: bool) -> None:
        """Set whether a model wrote the answer.

        If no model was used, the button that shows the model's request is hidden.
        """
        self._has_model = is_used
        self.saw.setVisible(bool(self._entry) and is_used)

    def set_has_text(self, has_text: bool) -> None:
        """Set whether the answer has text. Without, there is nothing to copy, pin or save."""
        self._has_text = has_text
        self._show_text_actions()

    def _show_text_actions(self) -> None:
        self.copy.setVisible(self._has_text)
        for tool in (self.pin, self.keep, self.note):
            tool.setVisible(self._has_text and bool(self._entry))

    def show_pin(self, is_pinned: bool) -> None:
        """Show whether the answer is pinned."""
        self.pin.show_pin(is_pinned)

    def show_about(
        self, model: str, where: str, seconds: float | None, cost: float | None = None
    ) -> None:
        """Show which model wrote the answer, as in `gpt-4o, at HOST · 6.8 s · $0.0042`.

        Args:
            model: the label of the model.
            where: where the model runs, such as `at HOST`, or an empty string.
            seconds: how long the answer took, or None if it is unknown.
            cost: the price of the answer in US dollars. The price is omitted if it is unknown
                (None), or 0 because the model runs on this computer.
        """
        by = f"{model}, {where}" if where else model
        time = "" if seconds is None else took(seconds)
        price = money(cost) if cost else ""
        self.about.set_text(" · ".join(part for part in (by, time, price) if part))

    def _connect(self) -> None:
        self.copy.clicked.connect(self._on_copy)
        self.again.clicked.connect(lambda _checked=False: self._wish("again"))
        self.compare.clicked.connect(lambda _checked=False: self._wish("compare"))
        self.branch.clicked.connect(lambda _checked=False: self._wish("branch"))
        self.name.clicked.connect(lambda _checked=False: self.label.edit())
        self.keep.clicked.connect(lambda _checked=False: self._wish("keep"))
        self.note.clicked.connect(lambda _checked=False: self._wish("note"))
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
