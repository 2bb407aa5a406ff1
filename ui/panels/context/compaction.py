"""The dialog that previews a compaction and lets the user edit the resulting summary."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from ui.theme import Theme, dress, tokens
from ui.widgets.buttons import CANCEL, ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.dialogs import CtrlEnter
from ui.widgets.formatting import count, plural
from ui.widgets.layouts import align, grow, make_column, make_row, stretch

__all__ = ["CompactionDialog"]

_HEIGHT: Final = 560
_MOST_QUESTION_CHARS: Final = 300
_COUNTING: Final = "Counting what would be summarised…"
_NOTHING: Final = "There is nothing to summarise before the last question."
_KEPT: Final = "The last question and its answer stay as they are. The chat itself stays whole."
_WAITING: Final = "Summarising older messages…"
_NO_GAIN: Final = "A summary would be no shorter, so the chat stays as it is."
_COMPACT: Final = "Compact this chat"
_EDIT: Final = "Edit the summary"
_IN_USE: Final = (
    "The model receives this summary in place of the earlier messages. A change holds from the "
    "next message on. The chat itself stays whole."
)
_EDITED: Final = "Edited. Its tokens are counted when it is used."


class CompactionDialog(QDialog):
    """A dialog that previews a compaction, and then lets the user edit the resulting summary.

    It can also be opened later to edit the summary of an earlier compaction.

    The signal `make_requested` is emitted with the user's instructions for the summary, and then
    `use_requested` with the edited summary. Nothing is stored before `use_requested`. Qt's signal
    `rejected` is emitted if the user cancels at any step.

    Attributes:
        text: the field that shows the user messages to be summarised, and later the summary.
        instructions: the field in which the user enters what the summary should keep.
    """

    make_requested = Signal(str)
    use_requested = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setModal(True)
        self._title = label("", "h2")
        self._about = make_wrapped_label("", "ui", "secondary")
        self._figures = label("", "ui_strong", numbers=True)
        self._heading = label("", "label", "secondary")
        self._problem = make_wrapped_label("", "ui", "danger")
        self.text = QPlainTextEdit()
        self.text.setProperty("field", True)
        self.text.setTabChangesFocus(True)
        dress(self.text, "ui", "")
        self.text.textChanged.connect(self._on_text_changed)
        self.instructions = QLineEdit()
        self.instructions.setAccessibleName("What the summary should keep")
        self.instructions.setPlaceholderText("What the summary should keep above all (optional)")
        dress(self.instructions, "ui", "")
        self.cancel = make_button(CANCEL, "", self.reject)
        self.make = make_button(
            ButtonText("Make the summary", "Let the model write it; nothing is replaced yet"),
            "primary",
            self._on_make,
        )
        self.use = make_button(
            ButtonText("Use this summary", "Send it in place of the older messages from now on"),
            "primary",
            self._on_use,
        )
        CtrlEnter(self, self.make, self.use)
        self._made: str | None = None
        self._made_figures = ""
        self._lay_out()

    def begin(self, instructions: str) -> None:
        """Open the dialog for a new compaction, before the tokens of the chat have been counted.

        Args:
            instructions: the initial text of the field `instructions`.
        """
        self._set_title(_COMPACT)
        self._made = None
        self.instructions.setText(instructions)
        self._show_step(_COUNTING, (), "")
        self.open()
        self.cancel.setFocus()

    def show_preview(
        self, questions: Sequence[str], before: int, after: int, messages: int, maker: str
    ) -> None:
        """Show what a compaction would do.

        Args:
            questions: the user messages that would be summarised, oldest first.
            before: the current number of tokens in the history.
            after: the estimated number of tokens after the compaction.
            messages: the number of messages that would be summarised.
            maker: the model that would write the summary, or an empty string if no model is used
                and the summary is an outline.
        """
        if not questions:
            self._show_step(_NOTHING, (), "")
            return
        by = f"{maker} makes the summary." if maker else "No model is set, so it is an outline."
        sentence = f"{plural(messages, 'earlier message')} would become a summary. {by} {_KEPT}"
        self._figures.setText(f"{count(before)} → about {count(after)} tokens")
        self._show_step(sentence, (self._figures, self.text, self.make), "Questions to summarise")
        self.instructions.setVisible(bool(maker))
        self._fill(
            "\n".join(f"{at}. {_shorten(question)}" for at, question in enumerate(questions, 1))
        )
        self.text.setReadOnly(True)
        (self.instructions if maker else self.make).setFocus()

    def show_summary(self, summary: str, before: int, after: int) -> None:
        """Show the finished summary and let the user edit it.

        Args:
            summary: the summary, or an empty string if it would not be shorter than the messages.
            before: the number of tokens in the history before the compaction.
            after: the number of tokens after the compaction.
        """
        if not summary:
            self._show_step(_NO_GAIN, (), "")
            self.cancel.setFocus()
            return
        figures = f"{count(before)} → {count(after)} tokens"
        sentence = "This summary takes the place of the earlier messages. You can edit it first."
        self._begin_editing(sentence, summary, figures)

    def begin_edit(self, summary: str, figures: str) -> None:
        """Open the dialog to edit the summary of an earlier compaction.

        Args:
            summary: the text of the summary.
            figures: the token counts before and after that compaction, as text.
        """
        self._set_title(_EDIT)
        self._begin_editing(_IN_USE, summary, figures)
        self.open()
        self.text.setFocus()

    def show_problem(self, sentence: str) -> None:
        """Show why the summary could not be created or used. The text in the dialog is kept."""
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))
        self.text.setReadOnly(self._made is None)
        self.make.setEnabled(True)
        self._on_text_changed()

    def _set_title(self, title: str) -> None:
        self.setWindowTitle(title)
        self._title.setText(title)

    def _begin_editing(self, sentence: str, summary: str, figures: str) -> None:
        self._made_figures = figures
        self._show_step(sentence, (self._figures, self.text, self.use), "Summary")
        self.text.setReadOnly(False)
        self._made = summary
        self._fill(summary)
        self.text.setFocus()

    def _fill(self, text: str) -> None:
        self.text.setPlainText(text)
        self._on_text_changed()

    def _show_step(self, sentence: str, parts: Sequence[QWidget], name: str) -> None:
        """Show one step of the dialog, and hide the widgets of the other steps.

        Args:
            sentence: the sentence at the top of the dialog.
            parts: the widgets of this step.
            name: the heading of the text field, or an empty string for no heading.
        """
        self._about.setText(sentence)
        self._problem.hide()
        for part in (self._figures, self.text, self.make, self.use):
            part.setVisible(part in parts)
        self.instructions.hide()
        self.make.setEnabled(True)
        self._heading.setText(name)
        self._heading.setVisible(bool(name))
        if name:
            self.text.setAccessibleName(name)

    def _on_text_changed(self) -> None:
        if self._made is None:
            return
        text = self.text.toPlainText()
        self.use.setEnabled(bool(text.strip()))
        self._figures.setText(self._made_figures if text == self._made else _EDITED)

    def _on_make(self) -> None:
        instructions = self.instructions.text().strip()
        self._show_step(_WAITING, (), "")
        self.cancel.setFocus()
        self.make_requested.emit(instructions)

    def _on_use(self) -> None:
        self.use.setEnabled(False)
        self.text.setReadOnly(True)
        self._problem.hide()
        self.use_requested.emit(self.text.toPlainText())

    def _lay_out(self) -> None:
        foot = make_row(stretch(), self.cancel, self.make, self.use, spacing=8)
        _set_default(self.make, self.use)
        make_column(
            self._title,
            self._about,
            align(self._figures, Qt.AlignmentFlag.AlignLeft),
            self._heading,
            grow(self.text),
            self.instructions,
            self._problem,
            stretch(0),
            foot,
            margins=(24, 20, 24, 16),
            spacing=Theme.current().space(3),
            parent=self,
        )
        width = Theme.current().px(tokens()["layout"]["dialog_settings"][0] * 3 // 4)
        self.resize(width, Theme.current().px(_HEIGHT))
        self._show_step(_COUNTING, (), "")


def _set_default(*buttons: QPushButton) -> None:
    for made in buttons:
        made.setAutoDefault(True)


def _shorten(question: str) -> str:
    text = one_line(question)
    return f"{text[:_MOST_QUESTION_CHARS]}…" if len(text) > _MOST_QUESTION_CHARS else text
