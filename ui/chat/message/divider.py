"""The line in a transcript above which turns are not sent any more."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from ui.chat.message.roles import Part
from ui.kit.controls import ElidedLabel, IconLabel
from ui.kit.figures import count, plural
from ui.kit.surfaces import Hairline
from ui.theme import Theme, dress

__all__ = ["Divider"]

_ROOM = "Dropped: history over its room"
_REASONS = {
    "tail": "Left out this once, for a long message or many passages",
    "history_guarantee_broken": "Even your previous question had to be left out to make room.",
}


class Divider(Part):
    """Says how many of the oldest turns were left out, what that saved, and why.

    Args:
        turns: how many stand above the line.
        tokens: what they would take.
        reason: as the report names it.
        parent: as in Qt.
    """

    def __init__(self, turns: int, tokens: int, reason: str, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Separator, parent)
        verb = "is" if turns == 1 else "are"
        said = f"{plural(turns, 'oldest turn')} {verb} not sent any more"
        why = _REASONS.get(reason, _ROOM)
        self.text = f"{said} · {count(tokens)} tokens · {why}"
        self.setAccessibleName(self.text)
        what, figures = ElidedLabel(said), ElidedLabel(f"{count(tokens)} tokens · {why}")
        dress(what, "ui", "secondary")
        dress(figures, "caption", "tertiary", numbers=True)
        for shown in (what, figures):
            shown.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(10)
        self._row.addWidget(Hairline(), 1)
        self._row.addWidget(IconLabel("arrow-line-down", "text.tertiary"))
        self._row.addWidget(what)
        self._row.addWidget(figures)
        self._row.addWidget(Hairline(), 1)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font scale."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(Theme.current().px(28))
