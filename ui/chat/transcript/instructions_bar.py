"""A bar above the chat that shows the vault's instructions and asks whether to use them."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import IconLabel, label, make_wrapped_label
from ui.widgets.geometry import OUTDENT, set_in
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.surfaces import AccessibleFrame

__all__ = ["InstructionsBar"]

_TITLE = "Give these instructions to models?"
_ABOUT = (
    "{path} is in your folder of notes. If you allow it, it goes to the model with every message. "
    "Read it first: whoever can write to this folder may have written it. Once changed, it asks "
    "again."
)
_LINES = 8
_SHARE = 0.2


class InstructionsBar(QWidget):
    """A bar that asks whether to send the vault's instructions to models.

    Signals:
        accepted: the digest of the instructions that the user accepted.
        refused: the digest of the instructions that the user refused.
    """

    accepted = Signal(str)
    refused = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._digest = ""
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("The instructions")
        self.text.setTabChangesFocus(True)
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setProperty("field", True)
        dress(self.text, "code", "")
        self.refuse = make_button(
            ButtonText("Don't use them", "Send nothing of the instructions"), "", self._on_refused
        )
        self.accept = make_button(
            ButtonText("Use them", "Send the instructions with each request"), "", self._on_accepted
        )
        self._about = make_wrapped_label("", "caption", "secondary")
        self._card = _Card()
        self._card.setAccessibleName(_TITLE)
        self._lay_out()
        self.hide()

    def ask(self, path: str, text: str, digest: str) -> None:
        """Show the instructions in a file and ask whether to use them.

        Args:
            path: the path of the file relative to the vault.
            text: the instructions, with invisible characters made visible.
            digest: the digest of the instructions. The user's answer applies only to instructions
                with this digest.
        """
        self._digest = digest
        self._about.setText(_ABOUT.format(path=path))
        self.text.setPlainText(text)
        self._fit()
        self.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Align the bar with the transcript's column, and limit the bar's height."""
        super().resizeEvent(event)
        self._fit()

    def _lay_out(self) -> None:
        head = make_row(
            IconLabel("shield-warning", "amber.graphic"),
            grow(label(_TITLE, "ui_strong")),
            spacing=8,
        )
        answers = make_row(stretch(), self.refuse, self.accept, spacing=8)
        make_column(
            head,
            self._about,
            self.text,
            answers,
            margins=(OUTDENT, 12, OUTDENT, 12),
            spacing=8,
            parent=self._card,
        )
        self._column = make_column(self._card, parent=self)

    def _fit(self) -> None:
        left, right = set_in(self.width())
        self._column.setContentsMargins(left, 12, right, 12)
        line = self.text.fontMetrics().lineSpacing()
        room = int(_SHARE * self.window().height() / line)
        lines = max(2, min(_LINES, room, self.text.document().blockCount() + 1))
        self.text.setFixedHeight(lines * line + 12)

    def _on_accepted(self) -> None:
        self.hide()
        self.accepted.emit(self._digest)

    def _on_refused(self) -> None:
        self.hide()
        self.refused.emit(self._digest)


class _Card(AccessibleFrame):
    """The bordered card that contains the vault's instructions and the question about them."""

    def __init__(self) -> None:
        super().__init__(QAccessible.Role.AlertMessage)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.color("line.strong"))
        painter.setBrush(theme.color("bg.content"))
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))
