"""Pages of the first-run dialog: the base class, the notes page, and the question page."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.errors import ErrorInfo
from app.library.known_vaults import KnownVault
from resources import sample_vault
from ui.chat.transcript.empty_state import QuestionButton
from ui.first_run.cards import ChoiceCard
from ui.panels.index.state import IndexState
from ui.panels.vault_switcher import folder_name
from ui.theme import dress
from ui.widgets.buttons import ButtonText
from ui.widgets.controls import make_wrapped_label, one_line
from ui.widgets.geometry import make_scroll_area
from ui.widgets.layouts import grow, make_column, stretch
from ui.widgets.surfaces import Notice, Pane
from ui.widgets.texts import word_hint, word_message

__all__ = ["AskPage", "NotesPage", "StepPage"]

_MOST_QUESTIONS = 3
_MOST_VAULTS = 8
_SIDE = 32
_CITED = "Answers cite the lines they rest on."
_INDEXING = "Indexing goes on meanwhile; answers get better until it is done."
_NO_NOTES = "No folder is open, so there are no notes to ask. Go back to choose one."

_CHOOSE_FOLDER = ButtonText("Choose a folder…", "Look for a folder of notes on this computer")
_OPEN_VAULT = ButtonText(
    "Open this folder", "Open the vault that Obsidian knows; it stays as it is"
)
_OPEN_SAMPLES = ButtonText("Open the sample notes", "Copy them to this computer, and open the copy")
_KEEP_FOLDER = ButtonText("Keep this folder", "Go on with this folder of notes")
_ASK = ButtonText("Ask", "Send the question (Enter)")


class StepPage(QWidget):
    """The base class for a page of the first-run dialog: a title, a sentence and a column of cards.

    Signals:
        changed: emitted when the label or the enabled state of the main button may have changed.
        done: emitted when the step is completed.
    """

    changed = Signal()
    done = Signal()

    def __init__(self, title: str, sentence: str) -> None:
        super().__init__()
        self.setAccessibleName(title)
        self.notice = Notice()
        self.notice.hide()
        self.cards: list[ChoiceCard] = []
        content = Pane("overlay")
        self.choices = make_column(spacing=8)
        self.column = make_column(
            self.choices, stretch(), margins=(_SIDE, 4, _SIDE, 8), spacing=8, parent=content
        )
        self.sentence = make_wrapped_label(sentence, "ui", "secondary")
        head = make_column(
            make_wrapped_label(title, "display"),
            self.sentence,
            self.notice,
            margins=(32, 0, 32, 8),
            spacing=6,
        )
        self._area = make_scroll_area(content)
        self._area.viewport().installEventFilter(self)
        make_column(head, grow(self._area), margins=0, spacing=0, parent=self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the width of the cards constant when a scroll bar appears or disappears."""
        if event.type() == QEvent.Type.Resize:
            bar = self._area.width() - self._area.viewport().width()
            self.column.setContentsMargins(_SIDE, 4, _SIDE - bar, 8)
        return super().eventFilter(watched, event)

    @property
    def main_text(self) -> ButtonText:
        """The texts of the page's main button."""
        raise NotImplementedError

    @property
    def is_ready(self) -> bool:
        """Whether the page's main button can be pressed."""
        return True

    def refresh(self) -> None:
        """Update the page's content. The dialog calls this each time before it shows the page."""

    def go_on(self) -> None:
        """Perform the action of the page's main button.

        Once the step is completed, the signal `done` is emitted.
        """
        raise NotImplementedError

    def show_problem(self, info: ErrorInfo) -> None:
        """Show on the page why the step could not be completed."""
        self.notice.show_notice(
            "danger", one_line(word_message(info)), one_line(word_hint(info.hint)), ()
        )

    def focus_first(self) -> None:
        """Focus the selected card."""
        for card in self.cards:
            if card.isChecked():
                card.setFocus()

    def add_card(self, card: ChoiceCard, before: ChoiceCard | None = None) -> ChoiceCard:
        """Add a card before another card, or at the end if `before` is None. Return the card."""
        if before is None:
            self.cards.append(card)
            self.choices.addWidget(card)
        else:
            self.cards.insert(self.cards.index(before), card)
            self.choices.insertWidget(self.choices.indexOf(before), card)
        card.toggled.connect(self._on_toggled)
        return card

    def remove_card(self, card: ChoiceCard) -> None:
        """Remove a card from the page."""
        self.cards.remove(card)
        self.choices.removeWidget(card)
        card.hide()
        card.deleteLater()

    def _on_toggled(self, is_on: bool) -> None:
        if is_on:
            self.notice.hide()
            self.changed.emit()


class NotesPage(StepPage):
    """The first-run page on which the user keeps the open vault or chooses other notes.

    Signals:
        folder_requested: emitted when the user wants to choose a folder.
        samples_requested: emitted when the user wants to open the sample notes.
        vault_requested: emitted with the folder of a known vault that the user wants to open.
    """

    folder_requested = Signal()
    vault_requested = Signal(object)
    samples_requested = Signal()

    def __init__(self) -> None:
        super().__init__(
            "Where are your notes?",
            "They stay where they are. The index is kept elsewhere and can be deleted.",
        )
        self._open = ""
        self._kept: ChoiceCard | None = None
        self._known: dict[ChoiceCard, Path] = {}
        self._folder = self.add_card(
            ChoiceCard("folder", "A folder of notes", "Markdown files, such as an Obsidian vault.")
        )
        self._samples = self.add_card(
            ChoiceCard("books", "The sample notes", "The guide to Strata itself, to try it out.")
        )
        self._folder.setChecked(True)

    @property
    def main_text(self) -> ButtonText:
        """The texts of the page's main button."""
        if self._folder.isChecked():
            return _CHOOSE_FOLDER
        if self._chosen_vault is not None:
            return _OPEN_VAULT
        return _OPEN_SAMPLES if self._samples.isChecked() else _KEEP_FOLDER

    def show_folder(self, folder: str) -> None:
        """Add and select a card that keeps the open vault.

        If the sample vault is open, select the card of the sample notes instead. If no vault is
        open, select the card that chooses a folder.

        Args:
            folder: the path of the open vault, or an empty string if no vault is open.
        """
        if folder == self._open:
            return
        self._open = folder
        for card in [card for card, path in self._known.items() if str(path) == folder]:
            self.remove_card(card)
            del self._known[card]
        if self._kept is not None:
            self.remove_card(self._kept)
            self._kept = None
        if folder and Path(folder) != sample_vault().resolve():
            card = ChoiceCard("folder-open", folder_name(Path(folder)), folder)
            self._kept = self.add_card(card, self._folder)
        (self._kept or (self._samples if folder else self._folder)).setChecked(True)
        self.changed.emit()

    def show_vaults(self, vaults: Sequence[KnownVault]) -> None:
        """Add a card for each vault that Obsidian knows, and select the first if none is open.

        Args:
            vaults: the vaults. The one that is open has its own card.
        """
        shown = set(self._known.values()) | {Path(self._open)}
        is_first = not self._known and not self._open
        for vault in vaults[:_MOST_VAULTS]:
            if vault.folder not in shown:
                name, path = folder_name(vault.folder), str(vault.folder)
                card = ChoiceCard("folder-notch-open", name, path, "Obsidian")
                self._known[self.add_card(card, self._folder)] = vault.folder
        if is_first and self._known and self._folder.isChecked():
            next(iter(self._known)).setChecked(True)
        self.changed.emit()

    @property
    def _chosen_vault(self) -> Path | None:
        return next((path for card, path in self._known.items() if card.isChecked()), None)

    def go_on(self) -> None:
        """Perform the selected action: keep or open a vault, choose one, or open the samples."""
        vault = self._chosen_vault
        if vault is not None:
            self.vault_requested.emit(vault)
        elif self._folder.isChecked():
            self.folder_requested.emit()
        elif self._samples.isChecked():
            self.samples_requested.emit()
        else:
            self.done.emit()


class AskPage(StepPage):
    """The first-run page for the user's first question. Emits `asked` with the question."""

    asked = Signal(str)

    def __init__(self) -> None:
        super().__init__("Ask something.", _CITED)
        self._has_notes = False
        self.questions: list[QuestionButton] = []
        self.field = QLineEdit()
        self.field.setPlaceholderText("Ask about your notes")
        self.field.setAccessibleName("Question")
        dress(self.field, "body", "")
        self.field.textChanged.connect(lambda _text: self.changed.emit())
        self._missing = make_wrapped_label(_NO_NOTES, "caption", "secondary")
        self.column.insertWidget(0, self.field)
        self.column.insertWidget(1, self._missing)

    @property
    def main_text(self) -> ButtonText:
        """The texts of the page's main button."""
        return _ASK

    @property
    def is_ready(self) -> bool:
        """Whether a question can be sent: there are notes, and the field is not empty."""
        return self._has_notes and bool(self.field.text().strip())

    def show_state(self, state: IndexState) -> None:
        """Show a hint below the title while indexing is running.

        Args:
            state: the state of the index.
        """
        self.sentence.setText(_INDEXING if state.is_going_on else _CITED)

    def show_questions(self, has_notes: bool, questions: Sequence[str]) -> None:
        """Show up to three suggested questions. A click on a question sends it.

        Args:
            has_notes: whether there are notes to ask about. If not, the field is disabled.
            questions: the suggested questions.
        """
        self._has_notes = has_notes
        self.field.setEnabled(has_notes)
        self._missing.setVisible(not has_notes)
        wanted = [one_line(question) for question in questions[:_MOST_QUESTIONS]]
        if wanted != [row.question for row in self.questions]:
            for row in self.questions:
                self.choices.removeWidget(row)
                row.hide()
                row.deleteLater()
            self.questions = [self._suggest(question) for question in wanted]
        self.changed.emit()

    def focus_first(self) -> None:
        """Focus the field for the question."""
        self.field.setFocus()

    def go_on(self) -> None:
        """Send the question in the page's field."""
        if self.is_ready:
            self._ask(self.field.text().strip())

    def _suggest(self, question: str) -> QuestionButton:
        row = QuestionButton(question)
        row.clicked.connect(lambda: self._ask(question))
        self.choices.addWidget(row)
        return row

    def _ask(self, question: str) -> None:
        self.field.clear()
        self.asked.emit(question)
        self.done.emit()
