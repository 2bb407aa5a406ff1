"""Save a chat or an answer as a note, in a folder that the user confirms."""

from functools import partial
from posixpath import dirname

from app.errors import describe
from ui.controllers.notes import NotesController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.panels.chats.save_note import SaveNoteDialog
from ui.widgets.buttons import ButtonText

__all__ = ["SaveNoteController"]

_UNDO_SAVE = ButtonText("Undo", "Remove the new note")
_NO_VAULT = "A note needs a folder of notes, and none is open."


class SaveNoteController(ChatController):
    """Saves a chat or an answer as a note, and lets the user undo this.

    The user first confirms the note's name and folder in a dialog. The new note is recorded in the
    journal of edits, like an agent's edit.
    """

    def __init__(
        self, shared: Collaborators, session: SessionController, notes: NotesController
    ) -> None:
        super().__init__(shared, session)
        self._notes = notes
        self._dialog: SaveNoteDialog | None = None
        self._text = ""
        self._frame.sidebar.chats.note_requested.connect(self.save)

    def save_open_chat(self) -> None:
        """Save the open chat as a note."""
        if self._session.session is not None:
            self.save(self._session.session)

    def save(self, session: str, entry: str = "") -> None:
        """Ask where to save a chat as a note. If an entry ID is given, save only that answer."""
        if self._assistant.vault is None:
            self._frame.notifier.toast(_NO_VAULT)
            return
        build = self._assistant.history.build_note
        task = self._runner.call(lambda: build(session, entry or None))
        task.yielded.connect(self._on_built)
        task.failed.connect(self._on_failed)
        task.start()

    def _on_built(self, built: tuple[str, str]) -> None:
        name, self._text = built
        if self._dialog is None:
            self._dialog = SaveNoteDialog(self._frame.window)
            self._dialog.save_requested.connect(self._on_save_requested)
        folders = {dirname(note.path) for note in self._notes.listing.notes} - {""}
        self._dialog.ask(name, self._frame.places.note_folder, sorted(folders))

    def _on_save_requested(self, path: str) -> None:
        task = self._runner.call(lambda: self._assistant.user_edits.create_note(path, self._text))
        task.yielded.connect(partial(self._on_saved, path))
        task.failed.connect(self._on_refused)
        task.start()

    def _on_saved(self, path: str, run: str) -> None:
        self._frame.places.note_folder = dirname(path)
        if self._dialog is not None:
            self._dialog.accept()
        self._frame.notifier.toast(
            f"Saved as {path}.", (_UNDO_SAVE, partial(self._undo, path, run))
        )

    def _on_refused(self, error: Exception) -> None:
        if self._dialog is not None:
            self._dialog.show_problem(describe(error).message)

    def _undo(self, path: str, run: str) -> None:
        task = self._runner.call(lambda: self._assistant.edits.undo(run=run))
        task.yielded.connect(lambda _undone: self._frame.notifier.toast(f"{path} is removed."))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)
