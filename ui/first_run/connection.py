"""The form for connecting to a model service or server: address, key, model and a test."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QWidget,
)

from app.config.model_setup import Connection, ModelService, ModelSetup
from app.config.models import FoundServer, ModelChoice
from app.errors import describe
from chains.cancel import CancelToken
from chains.llm.urls import complete_address
from chains.turn.calls import ModelCheck
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.formatting import count
from ui.widgets.layouts import align, grow, make_column, make_grid, make_row, stretch
from ui.widgets.menus import MenuButton
from ui.widgets.texts import word_error

__all__ = ["ConnectionForm"]

_SERVER = "\n"  # no provider has this name
# Why a server lists no models, and the way out.
_PROBLEMS = {
    "silent": "{address} does not answer. Start the server, or correct the address.",
    "wants_key": "{address} wants a key. Enter it, and find its models again.",
    "refused_key": "{address} refused the key. Correct it, and find its models again.",
}
_NO_MODELS = "{address} lists no models. Correct the address, or enter a model's name."
_IN_KEYRING, _IN_MEMORY = "Kept in the system's keyring", "Used until Strata is closed"
_FIRST = ("OpenAI", "Anthropic", "Google Gemini")


class ConnectionForm(QWidget):
    """A form for a model service or server: the service, the address, the API key and the model.

    The form does not store the values. Its button `test` checks them by calling the model. The
    signal `changed` is emitted whenever a field changes.
    """

    changed = Signal()

    def __init__(self, setup: ModelSetup, runner: TaskRunner) -> None:
        super().__init__()
        self._setup = setup
        self._services: dict[str, ModelService] = {}
        self._lists = LatestOnly(runner, 0, self)
        self._lists.answered.connect(self._on_listed)
        self._looks = LatestOnly(runner, 0, self)
        self._looks.answered.connect(self._on_looked)
        self._looks.failed.connect(self._on_look_failed)
        self._asked_from: QWidget | None = None
        self._tests = LatestOnly(runner, 0, self)
        self._tests.answered.connect(self._on_tested)
        self._tests.failed.connect(self._on_failed)
        self.service = MenuButton("Service")
        self.service.chosen.connect(self._on_chosen)
        self.address = _make_field("Server address", "http://127.0.0.1:8080/v1")
        self.key = _make_field("Key", _IN_KEYRING)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.model = _make_field("Model", "The name of a model")
        self.models = MenuButton("Models of the service", unset="Choose")
        self.models.chosen.connect(self.model.setText)
        self._offered: set[str] = set()
        self.look = make_button(
            ButtonText("Find its models", "Ask the server which models it has"), "", self._on_look
        )
        self.test = make_button(
            ButtonText("Test the connection", "Send a short question to the model"),
            "",
            self._on_test,
        )
        self.state = make_wrapped_label("", "caption", "secondary")
        self.state.hide()
        for field in (self.address, self.key):
            field.textChanged.connect(self._looks.forget)
        for field in (self.address, self.key, self.model):
            field.textChanged.connect(self._on_typed)
        self._lay_out()
        self._on_service(_SERVER)

    def refresh(self) -> None:
        """Load the list of model services when the form is shown for the first time."""
        if not self._services:
            setup = self._setup
            self._lists.ask(lambda: (setup.list_services(), setup.has_keyring), now=True)

    @property
    def connection(self) -> Connection:
        """The model and the server address that the user entered in the form."""
        base = complete_address(self.address.text()) if self.service.value == _SERVER else ""
        return Connection(self.model.text().strip(), base)

    @property
    def typed_key(self) -> str:
        """The API key in the field, or an empty string if the user typed no key."""
        return self.key.text().strip()

    @property
    def is_complete(self) -> bool:
        """Whether the fields contain a model and, if needed, an address."""
        found = self.connection
        return bool(found.model) and (bool(found.api_base) or self.service.value != _SERVER)

    def say(self, text: str, tone: str = "secondary") -> None:
        """Show a sentence below the fields, such as the result of a connection test.

        Args:
            text: the sentence, or an empty string to hide it.
            tone: the name of the text colour.
        """
        self.state.setText(one_line(text))
        self.state.setVisible(bool(text))
        dress(self.state, "caption", tone)

    def show_failure(self, error: Exception) -> None:
        """Show an error message, and a hint that tells the user what to do."""
        info = describe(error)
        self.say(word_error(info), "danger")

    def focus_first(self) -> None:
        """Focus the first empty field, or the test button if no field is empty."""
        fields = (self.address, self.key, self.model)
        empty = [field for field in fields if not field.isHidden() and not field.text()]
        (empty[0] if empty else self.test).setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """List the server's models on Enter, if the form has an address but no model."""
        is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if is_enter and self.connection.api_base and not self.connection.model:
            self._on_look()
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        chosen = make_row(grow(self.model), self.models, self.look, spacing=8)
        self._address_name = label("Address", "ui", "secondary")
        form = make_grid(
            [
                (
                    label("Service", "ui", "secondary"),
                    align(self.service, Qt.AlignmentFlag.AlignLeft),
                ),
                (self._address_name, self.address),
                (label("Key", "ui", "secondary"), self.key),
                (label("Model", "ui", "secondary"), chosen),
            ],
            spacing=(12, 8),
            grows=1,
        )
        foot = make_row(grow(self.state), stretch(0), align(self.test, Qt.AlignmentFlag.AlignTop))
        make_column(form, foot, margins=(16, 4, 16, 8), spacing=8, parent=self)

    def _on_listed(self, found: tuple[Sequence[ModelService], bool]) -> None:
        services, has_keyring = found
        self.key.setPlaceholderText(_IN_KEYRING if has_keyring else _IN_MEMORY)
        ordered = sorted(services, key=lambda one: (one.name not in _FIRST, one.name.casefold()))
        self._services = {one.key_owner: one for one in ordered}
        choices = [(owner, one.name, "") for owner, one in self._services.items()]
        self.service.set_choices([*choices, (_SERVER, "Another server", "")])
        first = next(iter(self._services), _SERVER)
        if not self.address.text():
            self.service.set_value(first)
            self._on_service(first)

    def _on_chosen(self, owner: str) -> None:
        self._on_service(owner)
        self.focus_first()

    def _on_service(self, owner: str) -> None:
        self.service.set_value(owner)
        is_server = owner == _SERVER
        for part in (self._address_name, self.address, self.look):
            part.setVisible(is_server)
        found = self._services.get(owner)
        self._offer_models(found.models if found else ())
        self.model.clear()
        self.key.clear()
        self._on_typed()

    def _offer_models(self, models: Sequence[ModelChoice]) -> None:
        choices = [(one.name, one.name, one.summary) for one in models]
        self._offered = {one.name for one in models}
        self.models.set_choices(choices)
        self.models.set_value("")
        self.models.setVisible(bool(choices))

    def _on_typed(self) -> None:
        self._tests.forget()
        named = self.model.text()
        self.models.set_value(named if named in self._offered else "")
        self.say("")
        self.test.setEnabled(self.is_complete)
        self.test.setToolTip("" if self.is_complete else "Choose a model first.")
        self.changed.emit()

    def _on_look(self) -> None:
        address, key = self.address.text(), self.typed_key
        self._asked_from = QApplication.focusWidget()
        self.say("Waiting for the server…")
        self._looks.ask(lambda: self._setup.find_server(address, key), now=True)

    def _on_looked(self, server: FoundServer) -> None:
        self.address.setText(server.api_base)
        self._offer_models(server.models)
        if server.models and not self.model.text():
            self.model.setText(server.models[0].name)
        if not server.models:
            text = _PROBLEMS.get(server.problem, _NO_MODELS)
            self.say(text.format(address=server.api_base), "danger")
            self._move_focus(self.key if server.problem.endswith("_key") else self.look)
        else:
            self.say("")
            self._move_focus(self.models if len(server.models) > 1 else self.test)

    def _on_look_failed(self, error: Exception) -> None:
        self.show_failure(error)
        self._move_focus(self.address)

    def _move_focus(self, part: QWidget) -> None:
        """Focus the part that comes next, unless the user has gone elsewhere meanwhile."""
        if QApplication.focusWidget() in (None, self._asked_from):
            part.setFocus()

    def _on_test(self) -> None:
        connection, key = self.connection, self.typed_key
        self.say("Waiting for the model…")
        self._tests.ask(lambda: self._setup.check(connection, key, CancelToken()), now=True)

    def _on_tested(self, found: ModelCheck) -> None:
        self.say(f"It works: {found.model}, {count(round(found.seconds * 1_000))} ms.", "success")

    def _on_failed(self, error: Exception) -> None:
        self.show_failure(error)


def _make_field(name: str, example: str) -> QLineEdit:
    field = QLineEdit()
    field.setAccessibleName(name)
    field.setToolTip(name)
    field.setPlaceholderText(example)
    dress(field, "ui", "")
    return field
