"""The sections for the user's instructions and memories, on the pages "Prompts" and "Memory"."""

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.errors import describe
from app.library.user_texts import MOST_CHARS, UserText, UserTextFile
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.dialogs import CtrlEnter
from ui.widgets.formatting import count
from ui.widgets.geometry import scale_size
from ui.widgets.layouts import align, grow, make_column, make_row
from ui.widgets.texts import word_hint

__all__ = ["INSTRUCTIONS_WORDS", "MEMORIES_WORDS", "SAVE_TIP", "EditorWords", "UserTextSection"]

SAVE_TIP = "Send them with each request from the next one on"


@dataclass(frozen=True)
class EditorWords:
    """The texts of an editor: title, help, example, and texts of the Save button."""

    title: str
    help: str
    example: str
    save: ButtonText


INSTRUCTIONS_WORDS = EditorWords(
    "Your instructions",
    "Every request to a model begins with them, in all folders and chats.",
    "Such as: Answer in British English. Keep it short.",
    ButtonText("Save instructions", SAVE_TIP),
)
MEMORIES_WORDS = EditorWords(
    "Memories",
    "What models remember in all chats, one list item each. A model adds to them only after it has "
    "asked you. Delete a line to forget it.",
    "Such as: - Garden notes are in German.",
    ButtonText("Save memories", SAVE_TIP),
)


class UserTextSection(QWidget):
    """An editor for a file with instructions or memories, which are part of requests to models.

    The signal `saved` is emitted after the file has been written.
    """

    saved = Signal()

    def __init__(self, file: UserTextFile, runner: TaskRunner, words: EditorWords) -> None:
        super().__init__()
        self._file = file
        self._words = words
        self._known = UserText(file.path)
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._saves = LatestOnly(runner, 0, self)
        self._saves.answered.connect(self._on_saved)
        self._saves.failed.connect(self._on_failed)
        self.state = make_wrapped_label("", "caption", "secondary")
        self.field = QPlainTextEdit()
        self.field.setAccessibleName(words.title)
        self.field.setPlaceholderText(words.example)
        self.field.setTabChangesFocus(True)
        self.field.setProperty("field", True)
        dress(self.field, "ui", "")
        scale_size(self.field, 0, 120)
        self.field.textChanged.connect(self._on_typed)
        self.field.document().modificationChanged.connect(self._on_typed)
        self.save = make_button(words.save, "", self._on_save)
        CtrlEnter(self, self.save)
        self.discard = make_button(
            ButtonText("Discard changes", "Go back to the text that was saved"),
            "text",
            self._on_discard,
        )
        self._lay_out()
        self._show(self._known)

    @property
    def is_changed(self) -> bool:
        """Whether the text in the field has unsaved changes."""
        return self.field.document().isModified()

    @property
    def text(self) -> str:
        """The text in the field. It keeps no-break spaces, which Qt's `toPlainText` replaces."""
        return self.field.document().toRawText().replace("\N{PARAGRAPH SEPARATOR}", "\n")

    def refresh(self) -> None:
        """Reload the text from its file, unless the field has unsaved changes."""
        self._reads.ask(self._file.read, now=True)

    def _on_read(self, found: UserText) -> None:
        if not self.is_changed:
            self._show(found)

    def _on_save(self) -> None:
        text, digest = self.text, self._known.digest

        def save() -> tuple[UserText, bool]:
            found = self._file.read()
            if found.digest != digest or found.problem:
                return found, False
            self._file.write(text)
            return self._file.read(), True

        self._saves.ask(save, now=True)

    def _on_saved(self, answer: tuple[UserText, bool]) -> None:
        found, is_saved = answer
        if is_saved:
            self._show(found)
            self.saved.emit()
        else:
            self._known = found  # the next save may overwrite the changed file
            self._on_typed()
            problem = "was changed by another program. Save again to replace it, or discard yours."
            self._say(f"{one_line(str(found.path))} {problem}", "danger")

    def _on_failed(self, error: Exception) -> None:
        info = describe(error)
        self._say(f"{info.message} {word_hint(info.hint)}".strip(), "danger")

    def _on_discard(self) -> None:
        self._show(self._known)
        self.refresh()

    def _on_typed(self) -> None:
        self.save.setEnabled(self.is_changed)
        self.discard.setVisible(self.is_changed)
        length = count(len(self.text))
        where = one_line(str(self._known.path))
        self._say(f"{length} of {count(MOST_CHARS)} characters. Kept in {where}", "secondary")

    def _show(self, found: UserText) -> None:
        """Show the text of the file. Make the field read-only if the file has a problem."""
        self._known = found
        self.field.setPlainText(found.text)
        self.field.setReadOnly(bool(found.problem))
        self._on_typed()
        if found.problem:
            self._say(found.problem, "danger")

    def _say(self, text: str, tone: str) -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)

    def _lay_out(self) -> None:
        buttons = make_row(
            grow(self.state),
            align(self.discard, Qt.AlignmentFlag.AlignTop),
            align(self.save, Qt.AlignmentFlag.AlignTop),
            spacing=8,
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
