"""The model page of the first-run dialog: a local server, a file, a service, or no model."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.config.model_setup import Connection, ModelSetup
from app.config.models import FoundServer
from app.errors import describe
from chains.models import EXTRACTIVE
from ui.first_run.cards import ChoiceCard
from ui.first_run.connection import ConnectionForm
from ui.first_run.model_file import ModelFileForm
from ui.first_run.pages import StepPage
from ui.tasks import LatestOnly, TaskRunner
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.formatting import count, plural
from ui.widgets.layouts import grow, make_row, stretch
from ui.widgets.menus import MenuButton

__all__ = ["ModelPage"]

_USE_MODEL = ButtonText("Use this model", "Let it answer, and go on to the first question")
_NO_MODEL = ButtonText(
    "Go on without a model", "Answers are quoted from the notes until you set a model"
)
_LOOKING = "Looking for models on this computer…"
_NONE_FOUND = (
    "No model server answers on this computer. Start Ollama, LM Studio, llama.cpp or vLLM."
)


class ModelPage(StepPage):
    """The first-run page on which the user chooses a model.

    The signal `chosen` is emitted after the chosen model has been stored in the settings.
    """

    chosen = Signal()

    def __init__(self, setup: ModelSetup, runner: TaskRunner) -> None:
        super().__init__(
            "Which model answers?",
            "Strata works without one: it finds the passages and quotes them. You can change this "
            "at any time.",
        )
        self._setup = setup
        self._finds = LatestOnly(runner, 0, self)
        self._finds.answered.connect(self._on_found)
        self._finds.failed.connect(self._on_failed)
        self._saves = LatestOnly(runner, 0, self)
        self._saves.answered.connect(self._on_saved)
        self._saves.failed.connect(self._on_failed)
        self._servers: dict[ChoiceCard, _ServerModels] = {}
        self._known: tuple[FoundServer, ...] = ()
        self._is_saving = self._is_chosen_by_hand = False
        self.form = ConnectionForm(setup, runner)
        self.form.changed.connect(self.changed)
        self._service = self.add_card(
            ChoiceCard(
                "cloud",
                "A service with a key, or another server",
                "OpenAI, Anthropic, Google and others. "
                "Your question and the passages found are sent there.",
            )
        )
        self.choices.addWidget(self.form)
        self._file = self.add_card(
            ChoiceCard(
                "file",
                "A model file",
                "A GGUF file on this computer, run by Strata. Nothing leaves this computer.",
            )
        )
        self.file = ModelFileForm(setup, runner)
        self.file.changed.connect(self.changed)
        self.file.chooser.failed.connect(self._on_file_failed)
        self.choices.addWidget(self.file)
        self._none = self.add_card(
            ChoiceCard("quotes", "No model", "Search, and answers made of quoted passages.")
        )
        self._none.setChecked(True)
        self._found = _FoundLine(self._find)
        self.choices.addWidget(self._found)
        for card in self.cards:
            card.clicked.connect(self._on_clicked)
        self._show_details()
        self.changed.connect(self._show_details)

    @property
    def main_text(self) -> ButtonText:
        """The texts of the page's main button."""
        server = self._chosen_server
        if server is not None:
            tip = "Let a model of this server answer, and go on"
            return ButtonText(f"Use {server.short_name}", tip)
        has_model = self._service.isChecked() or self._file.isChecked()
        return _USE_MODEL if has_model else _NO_MODEL

    @property
    def is_ready(self) -> bool:
        """Whether the user has chosen a model and no model is being saved at the moment."""
        if self._file.isChecked():
            return not self._is_saving and self.file.connection is not None
        return not self._is_saving and (not self._service.isChecked() or self.form.is_complete)

    def refresh(self) -> None:
        """Search for model servers, and load the list of model services."""
        self.form.refresh()
        self._find()

    def focus_first(self) -> None:
        """Focus the selected card. If it is the card of a service, focus the first empty field."""
        if self._service.isChecked():
            self.form.focus_first()
        else:
            super().focus_first()

    def go_on(self) -> None:
        """Save the chosen model in the background, and emit `done` when it has been saved."""
        server = self._chosen_server
        connection, key = Connection(EXTRACTIVE), ""
        if server is not None:
            connection = server.connection
        elif self._service.isChecked():
            connection, key = self.form.connection, self.form.typed_key
        elif self._file.isChecked():
            connection = self.file.connection or connection
        self._is_saving = True
        self.changed.emit()
        self._saves.ask(partial(self._setup.use, connection, key), now=True)

    @property
    def _chosen_server(self) -> "_ServerModels | None":
        chosen = (models for card, models in self._servers.items() if card.isChecked())
        return next(chosen, None)

    def _find(self) -> None:
        self._found.say(_LOOKING, is_over=False)
        self._finds.ask(self._setup.find_servers, now=True)

    def _on_found(self, servers: Sequence[FoundServer]) -> None:
        self._found.say("" if servers else _NONE_FOUND, is_over=True)
        if tuple(servers) != self._known:
            self._known = tuple(servers)
            self._show_servers(servers)

    def _show_servers(self, servers: Sequence[FoundServer]) -> None:
        for card, models in self._servers.items():
            self.choices.removeWidget(models)
            models.deleteLater()
            self.remove_card(card)
        self._servers = {}
        for server in servers:
            self._add_server(server)
        if not any(card.isChecked() for card in self.cards) or not self._is_chosen_by_hand:
            best = next(iter(self._servers), self._none)
            best.setChecked(True)
            if any(card.hasFocus() for card in self.cards):
                best.setFocus()
        self.changed.emit()

    def _add_server(self, server: FoundServer) -> None:
        models = _ServerModels(server)
        card = self.add_card(
            ChoiceCard("cpu", models.title, models.sentence, "Found"), before=self._service
        )
        card.clicked.connect(self._on_clicked)
        self.choices.insertWidget(self.choices.indexOf(self._service), models)
        models.changed.connect(self.changed)
        self._servers[card] = models

    def _on_clicked(self) -> None:
        self._is_chosen_by_hand = True

    def _show_details(self) -> None:
        self.form.setVisible(self._service.isChecked())
        self.file.setVisible(self._file.isChecked())
        for card, models in self._servers.items():
            models.setVisible(card.isChecked() and models.has_choice)

    def _on_saved(self, _none: object) -> None:
        self._is_saving = False
        self.form.key.clear()
        self.changed.emit()
        self.chosen.emit()
        self.done.emit()

    def _on_file_failed(self, error: Exception) -> None:
        self.file.forget()
        self.show_problem(describe(error))

    def _on_failed(self, error: Exception) -> None:
        self._is_saving = False
        self._found.say("", is_over=True)
        if self._service.isChecked():
            self.form.show_failure(error)
        else:
            self.show_problem(describe(error))
        self.changed.emit()


class _ServerModels(QWidget):
    """A menu of a server's models. `changed` is emitted when the user selects another model."""

    changed = Signal()

    def __init__(self, server: FoundServer) -> None:
        super().__init__()
        self._server = server
        self._menu = MenuButton("Model")
        self._menu.set_choices([(one.name, one.label, one.summary) for one in server.models])
        current = next((one.name for one in server.models if one.is_set), server.models[0].name)
        self._menu.set_value(current)
        self._menu.chosen.connect(lambda _name: self.changed.emit())
        make_row(
            label("Model", "ui", "secondary"),
            self._menu,
            stretch(),
            margins=(16, 0, 16, 4),
            parent=self,
        )

    @property
    def has_choice(self) -> bool:
        """Whether the server offers more than one model, so that the user can choose."""
        return len(self._server.models) > 1

    @property
    def connection(self) -> Connection:
        """The selected model and the address of its server."""
        return Connection(self._menu.value, self._server.api_base)

    @property
    def short_name(self) -> str:
        """The selected model's name without its provider and folders."""
        return _shorten(self._menu.value)

    @property
    def title(self) -> str:
        """The name of the model server, followed by "on this computer" if it runs locally."""
        where = ", on this computer" if self._server.is_local else ""
        return f"{self._server.name}{where}"

    @property
    def sentence(self) -> str:
        first, *others = self._server.models
        more = f" and {plural(len(others), 'other')}" if others else ""
        most = first.info.input_limit
        limit = f" {count(most)} tokens." if most else ""
        goes = "Nothing leaves this computer."
        if not self._server.is_local:
            goes = "Your question and the passages found are sent there."
        return f"{_shorten(first.name)}{more}.{limit} {goes}"


def _shorten(name: str) -> str:
    """Return a model's name without its provider, its folders and the suffix `.gguf`.

    A name can contain folders, because llama.cpp reports the path of the model's file.
    """
    return name.rpartition("/")[2].removesuffix(".gguf")


class _FoundLine(QWidget):
    """A line that says whether model servers were found, and a button to search again."""

    def __init__(self, look: Callable[[], object]) -> None:
        super().__init__()
        self._text = make_wrapped_label("", "caption", "secondary")
        self._retry_button = make_button(
            ButtonText("Look again", "See whether anything has changed meanwhile"), "link", look
        )
        make_row(grow(self._text), self._retry_button, margins=0, parent=self)

    def say(self, text: str, *, is_over: bool) -> None:
        """Show a sentence about the search for model servers.

        Args:
            text: the sentence, or an empty string to hide the line.
            is_over: whether the search has finished. If so, a button to search again is shown.
        """
        self._text.setText(text)
        self._retry_button.setVisible(bool(text) and is_over)
        self.setVisible(bool(text))
