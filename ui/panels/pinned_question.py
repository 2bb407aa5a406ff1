"""The dialog that asks for a question to pin."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from app.errors import describe
from ui.theme import Theme, dress
from ui.widgets.buttons import CANCEL, ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.layouts import make_column, make_row, stretch
from ui.widgets.texts import word_error

__all__ = ["PinQuestionDialog"]

_WIDTH = 460
_HELP = (
    "Ask for a list, a count, tasks or passages. The answer stays in the sidebar and is found "
    "again whenever your notes change, without a model."
)


class PinQuestionDialog(QDialog):
    """A dialog that asks for a question, and shows why it could not be pinned.

    Emits `pin_requested` with the question. The dialog stays open until its owner calls `accept`.
    """

    pin_requested = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Pin a question")
        self.question = QLineEdit()
        self.question.setAccessibleName("Question or search")
        self.question.setToolTip("Question or search")
        self.question.setPlaceholderText("Such as: open tasks")
        self.question.textChanged.connect(self._on_typed)
        dress(self.question, "ui", "")
        self._problem = make_wrapped_label("", "ui", "danger")
        self._pin = make_button(
            ButtonText("Pin", "Keep the answer to this question in the sidebar"),
            "primary",
            self._on_pin,
        )
        self._pin.setDefault(True)
        self._lay_out()

    def ask(self) -> None:
        """Open the dialog with an empty field."""
        self.question.clear()
        self._on_typed()
        self.open()
        self.question.setFocus()

    def show_error(self, error: Exception) -> None:
        """Show why the question could not be pinned, and let the user change it."""
        self._show_problem(word_error(describe(error)))
        self._pin.setEnabled(True)
        self.question.setReadOnly(False)
        self.question.setFocus()

    def _on_pin(self) -> None:
        self._pin.setEnabled(False)
        self.question.setReadOnly(True)  # one question is pinned, however often Enter is pressed
        self.pin_requested.emit(self.question.text().strip())

    def _on_typed(self) -> None:
        self._pin.setEnabled(bool(self.question.text().strip()))
        self._show_problem("")

    def _show_problem(self, sentence: str) -> None:
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))
        self.adjustSize()

    def _lay_out(self) -> None:
        make_column(
            label("Pin a question", "h2"),
            make_wrapped_label(_HELP, "caption", "secondary"),
            self.question,
            self._problem,
            make_row(stretch(), make_button(CANCEL, "", self.reject), self._pin),
            margins=(24, 20, 24, 16),
            spacing=Theme.current().space(3),
            parent=self,
        )
        self._problem.hide()
        self.setMinimumWidth(Theme.current().px(_WIDTH))
