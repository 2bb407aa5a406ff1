"""The editors of the user's instructions and memories, which save what is typed by themselves."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.errors import AppError, describe
from app.library.user_texts import MOST_CHARS, UserText, UserTextFile
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.formatting import count
from ui.widgets.geometry import scale_size
from ui.widgets.layouts import grow, make_column, make_row
from ui.widgets.texts import word_error

__all__ = [
    "INSTRUCTIONS_WORDS",
    "MEMORIES_WORDS",
    "SAVED_AFTER_MS",
    "EditorWords",
    "UserTextSection",
]

SAVED_AFTER_MS = 700


@dataclass(frozen=True)
class EditorWords:
    """The texts of an editor: title, help and example."""

    title: str
    help: str
    example: str


INSTRUCTIONS_WORDS = EditorWords(
    "Your instructions",
    "Every request to a model begins with them, in all folders and chats.",
    "Such as: Answer in British English. Keep it short.",
)
MEMORIES_WORDS = EditorWords(
    "Memories",
    "What models remember in all chats, one list item each. A model adds to them only after it has "
    "asked you. Delete a line to forget it.",
    "Such as: - Garden notes are in German.",
)


class UserTextSection(QWidget):
    """An editor for a file with instructions or memories, which are part of requests to models.

    What is typed is saved after a short pause, and when the field is left. *Undo* takes it back. If
    another program has changed the file meanwhile, the user chooses which text is kept.

    The signal `saved` is emitted after the file has been written.
    """

    saved = Signal()

    def __init__(self, file: UserTextFile, runner: TaskRunner, words: EditorWords) -> None:
        super().__init__()
        self._file = file
        self._words = words
        self._known = UserText(file.path)
        self._other: UserText | None = None  # what another program wrote meanwhile
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._saves = LatestOnly(runner, 0, self)
        self._saves.answered.connect(self._on_saved)
        self._saves.failed.connect(self._on_failed)
        self._pause = QTimer(self, singleShot=True, interval=SAVED_AFTER_MS)
        self._pause.timeout.connect(self.save)
        self.state = make_wrapped_label("", "caption", "secondary")
        self.field = QPlainTextEdit()
        self.field.setAccessibleName(words.title)
        self.field.setPlaceholderText(words.example)
        self.field.setTabChangesFocus(True)
        self.field.setProperty("field", True)
        dress(self.field, "ui", "")
        scale_size(self.field, 0, 120)
        self.field.document().contentsChanged.connect(self._on_typed)
        self.field.undoAvailable.connect(self._on_undo_available)
        self.field.installEventFilter(self)
        self._make_buttons()
        self._lay_out()
        self._show(self._known)

    @property
    def is_changed(self) -> bool:
        """Whether the text in the field is not saved yet."""
        return self.field.document().isModified()

    @property
    def text(self) -> str:
        """The text in the field. It keeps no-break spaces, which Qt's `toPlainText` replaces."""
        return self.field.document().toRawText().replace("\N{PARAGRAPH SEPARATOR}", "\n")

    def refresh(self) -> None:
        """Reload the text from its file, unless the field has text that is not saved yet."""
        self._reads.ask(self._file.read, now=True)

    def save(self) -> None:
        """Save the text in the field, unless it is saved or another program changed the file."""
        self._pause.stop()
        if self.is_changed and self._other is None:
            self._saves.ask(self._build_save(), now=True)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Save the text when the field is left."""
        if event.type() == QEvent.Type.FocusOut:
            self.save()
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Save the text before the page or the window is closed."""
        super().hideEvent(event)
        self._pause.stop()
        if self.is_changed and self._other is None:
            try:
                self._on_saved(self._build_save()())  # at once, as the program may end now
            except AppError as error:
                self._on_failed(error)

    def _build_save(self) -> Callable[[], tuple[str, UserText, bool]]:
        text, digest = self.text, self._known.digest

        def save() -> tuple[str, UserText, bool]:
            found = self._file.read()
            if found.digest != digest or found.problem:
                return text, found, False
            self._file.write(text)
            return text, self._file.read(), True

        return save

    def _on_read(self, found: UserText) -> None:
        is_known = (found.digest, found.problem) == (self._known.digest, self._known.problem)
        if not self.is_changed and not is_known:
            self._show(found)

    def _on_saved(self, answer: tuple[str, UserText, bool]) -> None:
        text, found, is_saved = answer
        if not is_saved:
            self._offer_choice(found)
            return
        self._known = found
        if text == self.text:
            self.field.document().setModified(False)
            self._say(f"Saved. {self._describe_length()}", "secondary")
        self.saved.emit()

    def _on_failed(self, error: Exception) -> None:
        self._say(f"Not saved. {word_error(describe(error))}", "danger")

    def _on_typed(self) -> None:
        self._say(self._describe_length(), "secondary")
        if self.is_changed:
            self._pause.start()

    def _on_undo_available(self, is_available: bool) -> None:
        self.undo.setVisible(is_available)

    def _describe_length(self) -> str:
        where = one_line(str(self._known.path))
        return f"{count(len(self.text))} of {count(MOST_CHARS)} characters. Kept in {where}"

    def _show(self, found: UserText) -> None:
        """Show the text of the file. Make the field read-only if the file has a problem."""
        self._pause.stop()
        self._known, self._other = found, None
        self.field.setPlainText(found.text)
        self.field.document().setModified(False)
        self._pause.stop()
        self.field.setReadOnly(bool(found.problem))
        for button in (self.keep, self.take_other):
            button.hide()
        self._say(found.problem or self._describe_length(), "danger" if found.problem else "")

    def _offer_choice(self, found: UserText) -> None:
        """Let the user choose between the text in the field and that of another program."""
        self._other = found
        for button in (self.keep, self.take_other):
            button.show()
        where = one_line(str(found.path))
        self._say(f"Not saved. {where} was changed by another program.", "danger")

    def _on_kept(self) -> None:
        """Overwrite what another program wrote."""
        self._known, self._other = self._other or self._known, None
        for button in (self.keep, self.take_other):
            button.hide()
        self.field.document().setModified(True)
        self.save()

    def _on_other_taken(self) -> None:
        if self._other is not None:
            self._show(self._other)

    def _say(self, text: str, tone: str) -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone or "secondary")

    def _make_buttons(self) -> None:
        self.undo = make_button(
            ButtonText("Undo", "Take back what was typed last"), "text", self.field.undo
        )
        self.keep = make_button(
            ButtonText("Keep this text", "Replace what the other program wrote"),
            "text",
            self._on_kept,
        )
        self.take_other = make_button(
            ButtonText("Use the other text", "Show what the other program wrote"),
            "text",
            self._on_other_taken,
        )
        for button in (self.undo, self.keep, self.take_other):
            button.hide()

    def _lay_out(self) -> None:
        buttons = make_row(
            grow(self.state), self.undo, self.keep, self.take_other, spacing=8, margins=0
        )
        make_column(
            label(self._words.title, "ui_strong"),
            make_wrapped_label(self._words.help, "caption", "secondary"),
            self.field,
            buttons,
            margins=(0, 10, 0, 10),
            spacing=6,
            parent=self,
        )
