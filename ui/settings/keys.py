"""The section for an API key on the page "Models", in which the user enters or removes the key."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app.assistant import Assistant
from app.config.secrets import is_readable_on_the_way, name_key
from app.errors import describe
from chains.cancel import CancelToken
from chains.turn.calls import ModelCheck
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.formatting import count
from ui.widgets.geometry import scale_size
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.texts import word_error

__all__ = ["KeySection"]


class KeySection(QWidget):
    """The section for an API key, which is stored in the system keyring.

    Without a keyring, the key is used until the program ends.

    It shows the key for the configured model. If the user opened it from an error message about
    another key, it shows that key.
    """

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant = assistant
        self._owner = self._wanted = ""
        self._takes_focus = False
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
        self.save = make_button(
            ButtonText("Save the key", "Store it in the system's keyring, never in a file"),
            "",
            self._on_save,
        )
        self.test = make_button(
            ButtonText("Test the key", "Ask the service whether it accepts the key"),
            "",
            self._on_test,
        )
        self.remove = make_button(
            ButtonText("Remove the key", "Delete it from the system's keyring"),
            "text",
            self._on_remove,
        )
        self.refuse = make_button(
            ButtonText("Don't save", "Keep nothing of what was entered"), "", self._on_refused
        )
        self.agree = make_button(
            ButtonText("Save it anyway", "Store the key, though it travels unencrypted"),
            "text",
            self._on_agreed,
        )
        self._lay_out()
        self.hide()

    def refresh(self) -> None:
        """Check which API key is needed, and whether it is stored."""
        self._looks.ask(self._look, now=True)

    def show_owner(self, owner: str) -> None:
        """Show the API key of a provider or server address.

        Args:
            owner: the provider or address, or an empty string for the key of the configured model.
        """
        self._wanted = owner
        self.refresh()

    def enter_key(self, owner: str) -> None:
        """Show the API key of a provider or server address, and focus its field.

        Args:
            owner: the provider or address, or an empty string for the key of the configured model.
        """
        self._takes_focus = True
        self.show_owner(owner)

    def _look(self) -> tuple[str, str, str | None]:
        assistant = self._assistant
        set_owner = assistant.model_setup.key_provider(assistant.settings.values.chat_model) or ""
        owner = self._wanted or set_owner
        return owner, set_owner, assistant.model_setup.find_key(owner)

    def _on_looked(self, answer: tuple[str, str, str | None]) -> None:
        self._owner, set_owner, kept_in = answer
        has_key = kept_in is not None
        self.test.setVisible(self._owner == set_owner)  # the test calls the model in the settings
        self.setVisible(bool(self._owner))
        self.title.setText(name_key(self._owner))
        self._ask_about_plain_http(False)
        words = "There is a key." if has_key else "There is no key yet."
        if not has_key and "://" in self._owner:
            words = "No key is sent to this server. Enter one if it asks for a key."
        if kept_in == "memory":
            words = "The key is used until Strata is closed: no keyring of this system is open."
        else:
            words = f"{words} Keys are kept in the system's keyring, never in a file."
        self._say(words, "secondary")
        self.remove.setVisible(has_key)
        if self._takes_focus and self._owner:
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._takes_focus = False

    def _on_save(self) -> None:
        if not self.field.text().strip():
            return
        if is_readable_on_the_way(self._owner):
            self._ask_about_plain_http(True)
        else:
            self._keep(self.field.text().strip())

    def _keep(self, key: str, *, allows_plain_http: bool = False) -> None:
        owner, keep = self._owner, self._assistant.model_setup.keep_key
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
        """Show or hide the question of whether to send the key over an unencrypted connection.

        Args:
            is_asked: whether to show a warning and the two answers.
        """
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
        self._say(word_error(describe(error)), "danger")

    def _say(self, text: str, tone: str) -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)

    def _lay_out(self) -> None:
        texts = make_column(self.title, self.state, stretch(), spacing=2)
        buttons = make_row(stretch(), self.test, self.remove, self.save, self.refuse, self.agree)
        controls = make_column(self.field, buttons, spacing=6)
        make_row(grow(texts), controls, margins=(0, 10, 0, 10), spacing=8, parent=self)
