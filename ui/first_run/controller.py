"""Connect the first-run dialog and the model file chooser to the other controllers."""

from PySide6.QtCore import Signal

from app.config.model_files import FileOffer
from app.errors import describe
from app.library.known_vaults import find_known_vaults
from resources import sample_vault
from ui.controllers.composer import ComposerController
from ui.controllers.index import IndexController
from ui.controllers.notes import NoteListing, NotesController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.first_run.dialog import STEPS, FirstRunDialog
from ui.first_run.model_file import ModelFileChooser
from ui.state import WindowState

__all__ = ["FirstRunController"]


class FirstRunController(ChatController):
    """Opens the first-run dialog, automatically or on request.

    It also opens the file dialog when the user wants to choose a model file in the composer. The
    signal `model_set` is emitted after the model that the user chose in the first-run dialog has
    been stored.
    """

    model_set = Signal()

    def __init__(
        self,
        shared: Collaborators,
        session: SessionController,
        composer: ComposerController,
        notes: NotesController,
        index: IndexController,
    ) -> None:
        super().__init__(shared, session)
        self._composer = composer
        self._notes, self._index = notes, index
        self._dialog: FirstRunDialog | None = None
        setup, window = self._assistant.model_setup, self._frame.window
        self._files = ModelFileChooser(setup, self._runner, window)
        self._files.offered.connect(self._on_file_offered)
        self._files.failed.connect(self._on_file_failed)
        self._frame.composer.file_model_wanted.connect(self._files.choose)

    def offer(self, state: WindowState) -> None:
        """Open the first-run dialog if it is needed and has not been opened automatically before.

        It is not needed if the settings name a vault, or if a vault is open and the settings name a
        model. If a vault is open, the dialog opens at the model step.
        """
        settings, has_folder = self._assistant.settings, self._assistant.vault is not None
        has_model = settings.get("chat.model") != settings.spec("chat.model").default
        is_known = bool(settings.get("vault.path")) or (has_folder and has_model)
        if not is_known and not state.is_set_up:
            state.is_set_up = True
            self.open("Model" if has_folder else "Notes")

    def open_step(self, step: str) -> None:
        """Open the first-run dialog from the settings: all steps, or only the one for the model."""
        self.open(step, is_alone=step == "Model")

    def open(self, step: str = "Notes", *, is_alone: bool = False) -> None:
        """Open the first-run dialog.

        Args:
            step: the name of the first step to show: `Notes`, `Model` or `Ask`.
            is_alone: whether the dialog closes after this step.
        """
        dialog = self._dialog or self._make_dialog()
        self._dialog = dialog
        dialog.notes.show_folder(str(self._assistant.vault or ""))
        for view in (dialog.index, dialog.ask):
            view.show_state(self._index.state)
        self._on_listed(self._notes.listing)
        if step == "Notes":
            task = self._runner.call(find_known_vaults)
            task.yielded.connect(dialog.notes.show_vaults)
            task.start()
            dialog.model.refresh()  # before indexing begins, because indexing would slow it down
        dialog.set_alone(is_alone)
        dialog.open()  # above the window, which takes no clicks meanwhile
        dialog.raise_()
        dialog.show_step(STEPS.index(step))

    def _make_dialog(self) -> FirstRunDialog:
        dialog = FirstRunDialog(self._assistant.model_setup, self._runner, self._frame.window)
        dialog.notes.folder_requested.connect(self._frame.navigation.choose_folder)
        dialog.notes.samples_requested.connect(self._open_samples)
        dialog.notes.vault_requested.connect(self._frame.navigation.open_folder)
        dialog.model.chosen.connect(self._on_model_set)
        dialog.ask.asked.connect(self._on_asked)
        self._notes.opened.connect(self._on_opened)
        self._notes.open_failed.connect(dialog.notes.show_problem)
        self._notes.listed.connect(self._on_listed)
        self._index.add_view(dialog.index)
        self._index.add_view(dialog.ask)
        return dialog

    def _open_samples(self) -> None:
        self._frame.navigation.open_folder(sample_vault())

    def _on_opened(self) -> None:
        """Go to the model step when the vault that the user chose has been opened."""
        dialog = self._dialog
        if dialog is None or not dialog.isVisible():
            return
        dialog.notes.show_folder(str(self._assistant.vault or ""))
        if dialog.step == 0:
            dialog.notes.done.emit()
        dialog.activateWindow()

    def _on_listed(self, listing: NoteListing) -> None:
        if self._dialog is not None:
            is_open = self._assistant.vault is not None
            self._dialog.ask.show_questions(is_open, listing.questions)

    def _on_model_set(self) -> None:
        self._session.model = None  # from now on the model in the settings is used
        self.model_set.emit()

    def _on_file_offered(self, offer: FileOffer) -> None:
        """Use the model file that the user chose in the composer's list of models.

        If the file cannot be loaded, show the reason in the composer.

        Args:
            offer: a description of the file, with the reason if the file cannot be loaded.
        """
        if offer.obstacle:
            self._frame.composer.show_error(offer.obstacle)
        else:
            self._composer.load_models()
            self._composer.use_model(offer.choice.name)

    def _on_file_failed(self, error: Exception) -> None:
        self._frame.composer.show_error(describe(error).message)

    def _on_asked(self, question: str) -> None:
        if self._session.session is not None:
            self._frame.navigation.open_session(None)
        self._composer.send_chosen(question)
