"""The composer's menus, which choose the mode and the model of the next message."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal

from ui.widgets.menus import MenuButton

if TYPE_CHECKING:
    from app.config.models import ModelChoice

__all__ = ["ModeMenu", "ModelMenu"]


@dataclass(frozen=True)
class _ModeTexts:
    """The texts of a mode: its name, its icon, what it does, and the hint in the empty field."""

    name: str
    icon: str
    help: str
    hint: str


_MODES: Final[Mapping[str, _ModeTexts]] = {
    "chat": _ModeTexts("Chat", "chat", "The model alone", "Ask the model"),
    "vault": _ModeTexts(
        "Vault", "books", "Searches your notes, then answers", "Ask about your notes"
    ),
    "project": _ModeTexts(
        "Project", "folder", "Searches the folder of this project", "Ask about this project"
    ),
    "agent": _ModeTexts(
        "Agent",
        "robot",
        "Works in several steps, and asks before it writes",
        "Ask, or describe a task",
    ),
}
_SET_MODEL, _OPEN_FILE = "\n", "\n\n"  # no model has these names


class ModeMenu(MenuButton):
    """The menu of the modes `chat`, `vault`, `project` and `agent`."""

    def __init__(self) -> None:
        super().__init__("Mode", "books", "ui_strong")
        self.set_choices([(mode, words.name, words.help) for mode, words in _MODES.items()])
        self.chosen.connect(self._show_icon)

    def set_mode(self, mode: str) -> None:
        """Select a mode, without emitting `chosen`."""
        self.set_value(mode)
        self._show_icon()

    @property
    def hint(self) -> str:
        """The text that an empty message field shows in the selected mode."""
        return self._texts.hint

    @property
    def _texts(self) -> _ModeTexts:
        return _MODES.get(self.value, _MODES["vault"])

    def _show_icon(self) -> None:
        self.set_icon(self._texts.icon)


class ModelMenu(MenuButton):
    """The menu of the models, followed by an entry that opens a model file.

    Signals:
        model_chosen: emitted with the name of the chosen model.
        setup_wanted: the user wants to set up a model.
        file_wanted: the user wants to open a model file.
    """

    model_chosen = Signal(str)
    setup_wanted = Signal()
    file_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("Model", "cpu", "ui_strong")
        self._model = ""
        self.chosen.connect(self._on_chosen)

    def set_models(self, models: "Sequence[ModelChoice]", default: str = "") -> None:
        """Fill the menu. If no model is set up yet, another entry offers to set one up.

        Args:
            default: the label of the first entry, which chooses no model by its name, or an empty
                string for no such entry.
        """
        from chains.models import EXTRACTIVE  # not needed for the first paint

        shown = [(model.name, model.label, model.summary) for model in models]
        if default:
            shown.insert(0, ("", default, ""))
        shown.append((_OPEN_FILE, "Open a model file…", ""))
        if any(model.is_set and model.name == EXTRACTIVE for model in models):
            shown.append((_SET_MODEL, "Set a model…", ""))
        self.set_choices(shown)

    def set_model(self, name: str) -> None:
        """Select a model by its name, without emitting `model_chosen`."""
        self._model = name
        self.set_value(name)

    def _on_chosen(self, name: str) -> None:
        if name in (_SET_MODEL, _OPEN_FILE):
            self.set_value(self._model)
            (self.setup_wanted if name == _SET_MODEL else self.file_wanted).emit()
        else:
            self._model = name
            self.model_chosen.emit(name)
