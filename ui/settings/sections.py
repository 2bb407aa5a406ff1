"""Sections of the settings dialog without settings: text size, index, privacy, costs, actions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.assistant import Assistant
from app.config.models import ModelChoice
from app.errors import describe
from app.spending import SpendingOverview
from app.time_machine.passages import KeptSummary
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme, dress, tokens
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import ElidedLabel, IconLabel, label, make_wrapped_label, one_line
from ui.widgets.dialogs import QuestionDialog
from ui.widgets.formatting import percent, plural
from ui.widgets.geometry import clear_layout
from ui.widgets.layouts import align, grow, make_column, make_row
from ui.widgets.menus import MenuButton
from ui.widgets.surfaces import Hairline
from vault.records import NoteState

if TYPE_CHECKING:
    from app.judge.store import JudgedQuestion

__all__ = [
    "ActionSection",
    "IndexSection",
    "KeptSection",
    "PrivacySection",
    "SpendingSection",
    "TextSizeSection",
    "VerdictsSection",
    "stack_separated",
]

_MOST_LISTED = 200
_KEPT = (
    "Passages of notes stay here, on this computer, for as long as an answer rests on them, also "
    "when the note is deleted. Excluded and private notes leave at once. What is removed is still "
    "in the chats that cite it."
)
_PURGE = ButtonText("Forget deleted notes", "Remove what is kept of notes that are deleted")
_NOTHING_DELETED = "Nothing is kept of notes that are deleted"
_VERDICTS = (
    "What a model said of each note when you judged every note, without any text of the notes. "
    "Verdicts on excluded and private notes leave at once."
)
_FORGET = ButtonText("Delete all verdicts…", "Delete what is stored. A model would judge anew")
_DELETE = ButtonText("Delete", "Delete the verdicts on all questions")


class TextSizeSection(QWidget):
    """The section for the text size, which is part of the window state and not a setting."""

    scale_chosen = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._menu = MenuButton("Text size")
        self._menu.chosen.connect(self._on_chosen)
        texts = make_column(
            label("Text size", "ui_strong"),
            make_wrapped_label("Of text, rows and icons.", "caption", "secondary"),
            spacing=2,
        )
        make_row(grow(texts), self._menu, margins=(0, 10, 0, 10), parent=self)

    def refresh(self) -> None:
        """Show the current text size."""
        steps = tokens()["font"]["scale_steps"]
        self._menu.set_choices([(str(step), percent(step), "") for step in steps])
        self._menu.set_value(str(Theme.current().scale))

    def _on_chosen(self, scale: str) -> None:
        self.scale_chosen.emit(float(scale))
        self.refresh()


class ActionSection(QWidget):
    """A row with a name, a help text and a button. `requested` is emitted when it is clicked."""

    requested = Signal()

    def __init__(self, title: str, text: str, button_text: ButtonText) -> None:
        super().__init__()
        texts = make_column(
            label(title, "ui_strong"), make_wrapped_label(text, "caption", "secondary"), spacing=2
        )
        make_row(
            grow(texts),
            align(make_button(button_text, "", self.requested.emit), Qt.AlignmentFlag.AlignTop),
            margins=(0, 10, 0, 10),
            spacing=8,
            parent=self,
        )


class IndexSection(QWidget):
    """The section that lists the notes missing from the index, with the reasons."""

    index_requested = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant = assistant
        self._lists = LatestOnly(runner, 0, self)
        self._lists.answered.connect(self.show_notes)
        self.state = make_wrapped_label("", "caption", "secondary")
        self._rows = make_column(spacing=2)
        texts = make_column(label("Index", "ui_strong"), self.state, spacing=2)
        update = make_button(
            ButtonText("Read the notes again", "Bring the index up to date with the notes"),
            "",
            self.index_requested.emit,
        )
        head = make_row(grow(texts), align(update, Qt.AlignmentFlag.AlignTop))
        make_column(head, self._rows, margins=(0, 10, 0, 10), spacing=8, parent=self)

    def refresh(self) -> None:
        """Reload the list of notes."""
        self._lists.ask(self._assistant.notes, now=True)

    def show_notes(self, notes: Sequence[NoteState]) -> None:
        """Show the number of notes by state, and list those that failed or are excluded."""
        failed = [note for note in notes if note.state == "failed"]
        excluded = [note for note in notes if note.state == "excluded"]
        parts = [f"{plural(len(notes) - len(failed) - len(excluded), 'note')} indexed"]
        if failed:
            parts.append(f"{plural(len(failed), 'note')} could not be read")
        if excluded:
            parts.append(f"{plural(len(excluded), 'note')} left out")
        self.state.setText(", ".join(parts) + ". It is kept outside the folder of notes.")
        clear_layout(self._rows)
        for note in [*failed, *excluded][:_MOST_LISTED]:
            self._rows.addWidget(_note_line(note))


class PrivacySection(QWidget):
    """The section that explains which data is sent to other computers."""

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant = assistant
        self._asks = LatestOnly(runner, 0, self)
        self._asks.answered.connect(self._on_choices)
        self._text = make_wrapped_label("", "caption", "secondary")
        make_column(
            label("What leaves this computer", "ui_strong"),
            self._text,
            margins=(0, 10, 0, 10),
            spacing=2,
            parent=self,
        )

    def refresh(self) -> None:
        """Find out where the model runs, and show what leaves this computer."""
        self._asks.ask(self._assistant.model_setup.list_choices, now=True)

    def _on_choices(self, choices: Sequence[ModelChoice]) -> None:
        chosen = next((choice for choice in choices if choice.is_set), None)
        if self._assistant.settings.values.privacy_offline:
            text = "Nothing: offline is on."
        elif chosen is None or chosen.where == "this computer":
            text = "Nothing: the answers are made on this computer."
        else:
            text = (
                f"Your question, the chat and the passages found go to {chosen.where}, which runs "
                f"{chosen.name}. Nothing else leaves, and no account is needed."
            )
        self._text.setText(text)


class KeptSection(QWidget):
    """The section that says what is kept of notes for past answers, and removes deleted notes."""

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant = assistant
        self._asks = LatestOnly(runner, 0, self)
        self._asks.answered.connect(self.show_summary)
        self._asks.failed.connect(self._on_failed)
        self.state = make_wrapped_label("Loading…", "caption", "secondary")
        texts = make_column(
            label("Kept for past answers", "ui_strong"),
            self.state,
            make_wrapped_label(_KEPT, "caption", "secondary"),
            spacing=2,
        )
        self.purge = make_button(_PURGE, "", self._on_purge)
        self.purge.setEnabled(False)
        top = Qt.AlignmentFlag.AlignTop
        make_row(
            grow(texts), align(self.purge, top), margins=(0, 10, 0, 10), spacing=8, parent=self
        )

    def refresh(self) -> None:
        """Find out what is kept, and show it."""
        self._asks.ask(self._assistant.kept_passages.describe, now=True)

    def show_summary(self, found: KeptSummary) -> None:
        """Show what is kept. Text of deleted notes can be removed."""
        dress(self.state, "caption", "secondary")
        self.state.setText(found.sentence)
        self.purge.setEnabled(bool(found.deleted))
        self.purge.setToolTip(_PURGE.tip if found.deleted else _NOTHING_DELETED)

    def _on_purge(self) -> None:
        texts = self._assistant.kept_passages
        self.purge.setEnabled(False)

        def remove() -> KeptSummary:
            texts.remove_deleted()
            return texts.describe()

        self._asks.ask(remove, now=True)

    def _on_failed(self, error: Exception) -> None:
        self.state.setText(describe(error).message)
        dress(self.state, "caption", "danger")


class VerdictsSection(QWidget):
    """The section that says how many verdicts on notes are stored, and deletes them."""

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant = assistant
        self._asks = LatestOnly(runner, 0, self)
        self._asks.answered.connect(self.show_questions)
        self._asks.failed.connect(self._on_failed)
        self.state = make_wrapped_label("Loading…", "caption", "secondary")
        texts = make_column(
            label("Verdicts on notes", "ui_strong"),
            self.state,
            make_wrapped_label(_VERDICTS, "caption", "secondary"),
            spacing=2,
        )
        self.forget = make_button(_FORGET, "", self._on_forget)
        self.forget.setEnabled(False)
        top = Qt.AlignmentFlag.AlignTop
        make_row(
            grow(texts), align(self.forget, top), margins=(0, 10, 0, 10), spacing=8, parent=self
        )

    def refresh(self) -> None:
        """Find out what is stored, and show it."""
        self._asks.ask(self._list_questions, now=True)

    def _list_questions(self) -> "Sequence[JudgedQuestion]":
        """Return the questions with verdicts. It runs in a thread, which imports their modules."""
        return self._assistant.kept_verdicts.list_questions()

    def show_questions(self, found: "Sequence[JudgedQuestion]") -> None:
        """Show how many verdicts are stored."""
        dress(self.state, "caption", "secondary")
        from app.judge.store import count_stored  # late: the task that found them imports it

        verdicts, failures = count_stored(found)
        failed = f" and {plural(failures, 'failure')}" if failures else ""
        questions = plural(len({one.question for one in found}), "question")
        sentence = f"{plural(verdicts, 'verdict')}{failed} on {questions}."
        self.state.setText(sentence if found else "No verdicts are stored.")
        self.forget.setEnabled(bool(found))

    def _on_forget(self) -> None:
        question = QuestionDialog(self, f"Delete all of this? {self.state.text()}", _DELETE)
        question.accepted.connect(self._forget)
        question.open()

    def _forget(self) -> None:
        kept = self._assistant.kept_verdicts
        self.forget.setEnabled(False)

        def forget() -> "Sequence[JudgedQuestion]":
            kept.forget()
            return kept.list_questions()

        self._asks.ask(forget, now=True)

    def _on_failed(self, error: Exception) -> None:
        self.state.setText(describe(error).message)
        dress(self.state, "caption", "danger")


class SpendingSection(QWidget):
    """A list of what was spent today and this month, by model."""

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._spending = assistant.spending
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self.show_overview)
        self._reads.failed.connect(self._on_failed)
        self.state = make_wrapped_label("Loading…", "caption", "secondary")
        self._rows = make_column(spacing=2)
        texts = make_column(label("Spent so far", "ui_strong"), self.state, spacing=2)
        refresh_button = make_button(
            ButtonText("Count again", "Read what was spent again"), "", self.refresh
        )
        head = make_row(grow(texts), align(refresh_button, Qt.AlignmentFlag.AlignTop))
        make_column(head, self._rows, margins=(0, 10, 0, 10), spacing=8, parent=self)

    def refresh(self) -> None:
        """Reload what was spent."""
        self._reads.ask(self._spending.summarise, now=True)

    def show_overview(self, overview: SpendingOverview) -> None:
        """Show what was spent, and the models whose price is not known."""
        dress(self.state, "caption", "secondary")
        self.state.setText(one_line(" ".join(overview.describe())))
        clear_layout(self._rows)
        for text in overview.describe_models():
            self._rows.addWidget(make_wrapped_label(one_line(text), "caption", "primary"))

    def _on_failed(self, error: Exception) -> None:
        self.state.setText(describe(error).message)
        dress(self.state, "caption", "danger")


def _note_line(note: NoteState) -> QWidget:
    line = QWidget()
    is_failed = note.state == "failed"
    mark = ("warning", "amber.graphic") if is_failed else ("prohibit", "text.tertiary")
    path = ElidedLabel(note.path, Qt.TextElideMode.ElideMiddle)
    dress(path, "caption", "primary")
    reason = ElidedLabel(note.reason)
    dress(reason, "caption", "secondary")
    make_row(
        IconLabel(*mark, 14), grow(path), grow(reason), margins=(0, 2, 0, 2), spacing=8, parent=line
    )
    return line


def stack_separated(widgets: Sequence[QWidget], column: QVBoxLayout) -> None:
    """Add widgets to a column, separated by hairlines."""
    for place, widget in enumerate(widgets):
        if place:
            column.addWidget(Hairline())
        column.addWidget(widget)
