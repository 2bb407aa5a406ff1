"""Sections of the settings pages that are not settings: text size, key, index, privacy."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.assistant import Assistant
from app.config.models import ModelChoice
from app.config.secrets import is_readable_on_the_way
from app.errors import describe
from chains.cancel import CancelToken
from chains.turn.run import ModelCheck
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme, dress, tokens
from ui.widgets.controls import ElidedLabel, IconLabel, button, label, make_wrapped_label
from ui.widgets.figures import count, percent, plural
from ui.widgets.geometry import clear_layout, scale_size
from ui.widgets.menus import MenuButton
from ui.widgets.surfaces import Hairline
from vault.index import NoteState

__all__ = ["IndexSection", "KeySection", "PrivacySection", "TextSizeSection", "stack_separated"]

_MOST_LISTED = 200


class TextSizeSection(QWidget):
    """The section for the text size, which is stored with the window state, not in the settings."""

    scale_chosen = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._menu = MenuButton("Text size")
        self._menu.chosen.connect(self._on_chosen)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(label("Text size", "ui_strong"))
        help_ = "Of text, rows and icons. Ctrl++ and Ctrl+- change it too."
        texts.addWidget(make_wrapped_label(help_, "caption", "secondary"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 10, 0, 10)
        row.addLayout(texts, 1)
        row.addWidget(self._menu)

    def refresh(self) -> None:
        """Show the current text size."""
        steps = tokens()["font"]["scale_steps"]
        self._menu.set_choices([(str(step), percent(step), "") for step in steps])
        self._menu.set_value(str(Theme.current().scale))

    def _on_chosen(self, scale: str) -> None:
        self.scale_chosen.emit(float(scale))
        self.refresh()


class KeySection(QWidget):
    """The section for the API key of the model's provider, stored in the system keyring."""

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant = assistant
        self._owner = ""
        self._looks = LatestOnly(runner, 0, self)
        self._looks.answered.connect(self._on_looked)
        self._looks.failed.connect(self._on_failed)
        self._saves = LatestOnly(runner, 0, self)
        self._saves.answered.connect(self._on_saved)
        self._saves.failed.connect(self._on_failed)
        self._tests = LatestOnly(runner, 0, self)
        self._tests.answered.connect(self._on_tested)
        self._tests.failed.connect(self._on_failed)
        self.title = label("Key", "ui_strong")
        self.state = make_wrapped_label("", "caption", "secondary")
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        scale_size(self.field, 264)
        self.field.setPlaceholderText("Enter a key")
        self.field.setAccessibleName("Key of the service")
        self.field.returnPressed.connect(self._on_save)
        dress(self.field, "ui", "")
        self.save = button("Save the key", "", self._on_save)
        self.test = button("Test the key", "", self._on_test)
        self.remove = button("Remove the key", "text", self._on_remove)
        self.refuse = button("Don't save", "", self._on_refused)
        self.agree = button("Save it anyway", "text", self._on_agreed)
        self._lay_out()
        self.hide()

    def refresh(self) -> None:
        """Check which key the model needs and whether it is stored."""
        self._looks.ask(self._look, now=True)

    def _look(self) -> tuple[str, bool]:
        model = self._assistant.settings.values.chat_model
        owner = self._assistant.key_provider(model) or ""
        return owner, bool(owner) and self._assistant.has_key(owner)

    def _on_looked(self, answer: tuple[str, bool]) -> None:
        self._owner, has_key = answer
        self.setVisible(bool(self._owner))
        self.title.setText(f"Key for {self._owner}")
        self._ask_about_plain_http(False)
        words = "There is a key." if has_key else "There is no key yet."
        if not has_key and "://" in self._owner:
            words = "No key is sent to this server. Enter one if it asks for a key."
        self._say(f"{words} Keys are kept in the system's keyring, never in a file.", "secondary")
        self.remove.setVisible(has_key)

    def _on_save(self) -> None:
        if not self.field.text().strip():
            return
        if is_readable_on_the_way(self._owner):
            self._ask_about_plain_http(True)
        else:
            self._keep(self.field.text().strip())

    def _keep(self, key: str, *, allows_plain_http: bool = False) -> None:
        owner, keep = self._owner, self._assistant.set_key
        self._saves.ask(lambda: keep(owner, key, allows_plain_http=allows_plain_http), now=True)

    def _on_test(self) -> None:
        self._say("Waiting for the model…", "secondary")
        self._tests.ask(lambda: self._assistant.check_model(CancelToken()), now=True)

    def _on_tested(self, found: ModelCheck) -> None:
        self._say(
            f"The key works: {found.model}, {count(round(found.seconds * 1_000))} ms.", "secondary"
        )

    def _on_remove(self) -> None:
        self._keep("")

    def _ask_about_plain_http(self, is_asked: bool) -> None:
        """Show or hide the question whether to send the key over an unencrypted connection."""
        for answer in (self.refuse, self.agree):
            answer.setVisible(is_asked)
        self.save.setVisible(not is_asked)
        if is_asked:
            self._say(
                f"{self._owner} is not encrypted: whoever is on the way there can read the key and "
                "your notes. Save the key and send it anyway?",
                "danger",
            )
            self.refuse.setFocus()

    def _on_refused(self) -> None:
        self.field.clear()
        self.refresh()

    def _on_agreed(self) -> None:
        self._keep(self.field.text().strip(), allows_plain_http=True)

    def _on_saved(self, _answer: object) -> None:
        self.field.clear()
        self.refresh()

    def _on_failed(self, error: Exception) -> None:
        info = describe(error)
        self._say(" ".join(filter(None, (info.message, info.hint))), "danger")

    def _say(self, text: str, tone: str) -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.title)
        texts.addWidget(self.state)
        controls = QVBoxLayout()
        controls.setSpacing(6)
        controls.addWidget(self.field)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.test)
        buttons.addWidget(self.remove)
        buttons.addWidget(self.save)
        buttons.addWidget(self.refuse)
        buttons.addWidget(self.agree)
        controls.addLayout(buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 10, 0, 10)
        row.setSpacing(8)
        row.addLayout(texts, 1)
        row.addLayout(controls)


class IndexSection(QWidget):
    """The section that lists the notes not in the index, each with the reason."""

    index_requested = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant = assistant
        self._lists = LatestOnly(runner, 0, self)
        self._lists.answered.connect(self.show_notes)
        self.state = make_wrapped_label("", "caption", "secondary")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        head = QHBoxLayout()
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(label("Index", "ui_strong"))
        texts.addWidget(self.state)
        head.addLayout(texts, 1)
        again = button("Read the notes again", "", self.index_requested.emit)
        head.addWidget(again, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 10)
        column.setSpacing(8)
        column.addLayout(head)
        column.addLayout(self._rows)

    def refresh(self) -> None:
        """Reload the list of notes."""
        self._lists.ask(self._assistant.notes, now=True)

    def show_notes(self, notes: Sequence[NoteState]) -> None:
        """Show the note counts, and the failed and excluded notes."""
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 10)
        column.setSpacing(2)
        column.addWidget(label("What leaves this computer", "ui_strong"))
        column.addWidget(self._text)

    def refresh(self) -> None:
        """Check where the model runs, and update the text."""
        self._asks.ask(self._assistant.model_choices, now=True)

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


def _note_line(note: NoteState) -> QWidget:
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 2, 0, 2)
    row.setSpacing(8)
    is_failed = note.state == "failed"
    mark = ("warning", "amber.graphic") if is_failed else ("prohibit", "text.tertiary")
    row.addWidget(IconLabel(*mark, 14))
    path = ElidedLabel(note.path, Qt.TextElideMode.ElideMiddle)
    dress(path, "caption", "primary")
    reason = ElidedLabel(note.reason)
    dress(reason, "caption", "secondary")
    row.addWidget(path, 1)
    row.addWidget(reason, 1)
    return line


def stack_separated(widgets: Sequence[QWidget], column: QVBoxLayout) -> None:
    """Add widgets to a column, with hairlines between them."""
    for place, widget in enumerate(widgets):
        if place:
            column.addWidget(Hairline())
        column.addWidget(widget)
