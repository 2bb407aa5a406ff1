"""Show the open vault, keep its views and index up to date, and ask about its instructions.

A vault's instructions for models are in its file `AGENTS.md`. The user is asked whether to send
them.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer, Signal

from app.errors import ErrorInfo, describe
from app.library.instructions import VaultInstructions
from ui.chat.transcript.instructions_bar import InstructionsBar
from ui.controllers.composer import ComposerController
from ui.controllers.index import IndexController, WatchController
from ui.controllers.notes import NoteListing, NotesController
from ui.controllers.reading.open_note import ReadingController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.notify import announce
from ui.panels.index.state import IndexState
from ui.panels.notes.folders import Folders
from ui.panels.vault_switcher import folder_name
from ui.tasks import LatestOnly
from ui.widgets.buttons import DISMISS, ButtonText, LabelledAction
from ui.widgets.texts import word_hint, word_message
from vault.errors import IndexBusy, VaultError, VaultMissing
from vault.indexing.progress import IndexProgress, IndexReport

__all__ = ["InstructionsController", "VaultController"]

_CHOOSE_FOLDER = ButtonText("Choose a folder", "Open another folder of notes", "choose_folder")
_CHECKED_EVERY_MS = 5_000
_EMPTY = "No notes in this folder yet. Add Markdown files, or choose another folder."


class VaultController(ChatController):
    """Shows the open vault and keeps its views and its index up to date.

    Signals:
        opened: emitted when another vault has been opened and is shown.
        indexed: emitted when the index may have changed.
        notes_changed: emitted when an indexing run found added, changed, removed or renamed notes.
        lost: emitted when the folder of the open vault is not there any more.

    Attributes:
        watch: watches the open vault for changes.
        folder_check: a timer that checks whether the vault still exists. This is necessary because
            a folder that is renamed or unmounted is not reported as changed.
    """

    opened = Signal()
    indexed = Signal()
    notes_changed = Signal()
    lost = Signal()

    def __init__(
        self,
        shared: Collaborators,
        session: SessionController,
        composer: ComposerController,
        index: IndexController,
        notes: NotesController,
        reading: ReadingController,
    ) -> None:
        super().__init__(shared, session)
        self._composer = composer
        self._index, self._notes, self._reading = index, notes, reading
        self._folders_to_open: Sequence[str] = ()
        self._shown: Path | None = None
        self._starts_index = False
        self.watch = WatchController(self._runner, self)
        self._is_there = True
        self._tried_again: IndexState | None = None  # the failure after which a run was repeated
        self._checks = LatestOnly(self._runner, 0, self)
        self._checks.answered.connect(self._on_checked)
        self.folder_check = QTimer(self, interval=_CHECKED_EVERY_MS)
        self.folder_check.timeout.connect(self._check_folder)
        self._connect()

    def begin(self, open_folders: Sequence[str]) -> None:
        """Show the vault that is configured in the settings, or why it cannot be opened.

        Args:
            open_folders: the paths of the folders to expand in the note tree.
        """
        self._folders_to_open = open_folders
        lost = self._assistant.settings.values.vault_path
        if self._assistant.vault is not None:
            self.show_opened()
        elif lost:
            message = f"The folder {lost} cannot be reached."
            self._frame.middle.welcome.show_problem(message, "Nothing was deleted.")
        problems = self._assistant.settings.problems
        if problems:
            self._show_notice(describe(problems[0]))

    def show_opened(self) -> None:
        """Show the assistant's open vault, update its index, and watch it for changes.

        The notes are listed before indexing starts, because indexing would delay the list.
        """
        folder = self._assistant.vault
        if folder is None:
            return
        is_other, self._shown = self._shown not in (None, folder), folder
        if is_other:
            self._notes.forget()
        if is_other and self._session.session is not None:
            self._session.open(None)  # the open chat is about the notes of the previous vault
        frame = self._frame
        frame.middle.welcome.clear_problem()
        frame.middle.clear_notice()
        if not frame.middle.is_chat_shown:
            frame.middle.show_chat(True)
            self._session.load()  # its sources were not shown without the folder
        frame.sidebar.show_vault(folder_name(folder), str(folder))
        frame.remember_folder(str(folder))
        self._reading.clear()
        self._index.forget()
        self._starts_index = True
        self._notes.list_opened()
        self._composer.check()
        self._is_there = True
        self.folder_check.start()
        self.opened.emit()
        frame.composer.setFocus()

    def _connect(self) -> None:
        self.notes_changed.connect(self._composer.attachments.refresh)
        self._notes.opened.connect(self.show_opened)
        self._notes.open_failed.connect(self._on_open_failed)
        self._notes.names_listed.connect(self._on_names_listed)
        self._notes.listed.connect(self._on_listed)
        self._index.phase_changed.connect(self._notes.list)
        self._index.finished.connect(self._on_indexed)
        self._frame.middle.welcome.again_requested.connect(self._open_again)
        self.watch.progressed.connect(self._on_progressed)
        self.watch.looked.connect(self._on_looked)
        self.watch.changed.connect(self._on_changed)
        self.watch.failed.connect(self._on_watch_failed)

    def _open_again(self) -> None:
        path = self._assistant.settings.values.vault_path
        if path:
            self._notes.open(Path(path))
        else:
            self._frame.middle.welcome.clear_problem()

    def _watch(self) -> None:
        if self._assistant.library is not None:
            self.watch.start(self._assistant.library)

    def _check_folder(self) -> None:
        """Check whether the open vault still exists.

        The check runs in a task, because it can take a long time if the drive does not respond.
        """
        if (folder := self._assistant.vault) is not None:
            # Unlike `Path.is_dir`, this returns False if a drive reports an error.
            self._checks.ask(lambda: (folder, os.path.isdir(folder)), now=True)

    def _on_checked(self, answer: tuple[Path, bool]) -> None:
        """Show that the vault has disappeared, or update its index once it exists again.

        Args:
            answer: the folder that was checked, and whether it exists.
        """
        folder, is_there = answer
        if folder != self._assistant.vault:
            return
        was_there, self._is_there = self._is_there, is_there
        if was_there and not is_there:
            self.lost.emit()
            self._index.fail(VaultMissing(f"There is no folder {folder}."))
        elif is_there and (not was_there or self._was_missed()):
            self._index.start(is_background=True)

    def _was_missed(self) -> bool:
        """Return whether a run found no folder between two checks. It is tried again once."""
        state = self._index.state
        if state.is_missing and state != self._tried_again:
            self._tried_again = state
            return True
        if state.kind == "done":
            self._tried_again = None
        return False

    def _start_index(self) -> None:
        """Start indexing and watching a newly opened vault, now that its notes have been listed."""
        if self._starts_index:
            self._starts_index = False
            self._index.start(is_background=True)
            self._watch()

    def _refresh(self, report: IndexReport) -> None:
        """Update all views of the notes and the index."""
        self._notes.list()
        self._reading.refresh_related()
        self._reading.refresh_views()
        self._index.refresh_status()
        self.indexed.emit()
        if report.has_changes:
            self.notes_changed.emit()

    def _show_notice(self, info: ErrorInfo, *actions: LabelledAction) -> None:
        middle = self._frame.middle
        dismiss = (DISMISS, middle.clear_notice)
        message, hint = word_message(info), word_hint(info.hint)
        middle.show_notice("amber", message, hint, *actions, dismiss)

    def _on_progressed(self, progress: IndexProgress) -> None:
        if not self._index.is_running:
            self._index.show_progress(progress)

    def _on_looked(self) -> None:
        self._index.settle()
        self._reading.reread()

    def _on_changed(self, report: IndexReport) -> None:
        if self._index.state.kind == "failed":
            self._index.start(is_background=True)  # the cause of the failure may no longer exist
        self._refresh(report)

    def _on_watch_failed(self, error: VaultError) -> None:
        if isinstance(error, IndexBusy):
            self._notes.list_soon()  # another process is indexing the change
        elif not self._index.is_running:
            self._index.show_failure(error)

    def _on_open_failed(self, info: ErrorInfo) -> None:
        self._start_index()
        middle = self._frame.middle
        announce(middle, word_message(info), is_urgent=True)
        if self._assistant.vault is None:
            hint = word_hint(info.hint) or "Nothing was deleted."
            middle.welcome.show_problem(word_message(info), hint)
        else:
            self._show_notice(info, (_CHOOSE_FOLDER, self._frame.navigation.choose_folder))

    def _on_names_listed(self, folders: Folders) -> None:
        self._frame.sidebar.show_notes(folders, "")

    def _on_listed(self, listing: NoteListing) -> None:
        sidebar, is_busy = self._frame.sidebar, self._starts_index or self._index.is_running
        sidebar.show_notes(listing.folders, "" if is_busy else _EMPTY)
        sidebar.notes.open_folders_again(self._folders_to_open)
        self._folders_to_open = ()
        indexed, failed = (len(listing.by_state.of(state)) for state in ("indexed", "failed"))
        self._index.show_counts(indexed, failed)
        self._frame.column.index.show_notes(listing.by_state)
        is_bare = not listing.notes and not is_busy
        self._session.show_suggestions(indexed, listing.indexed_at, listing.questions, is_bare)
        self._composer.set_offers(listing.offers)
        self._start_index()

    def _on_indexed(self, report: IndexReport) -> None:
        announce(self._frame.sidebar, self._index.state.text)
        self._watch()  # watching ended when the folder disappeared; it exists again now
        self._refresh(report)


class InstructionsController(ChatController):
    """Asks whether to send a vault's or project's instructions to models.

    The question is repeated when the instructions change.

    The signal `decided` is emitted when the user has accepted or refused the instructions.
    """

    decided = Signal()

    def __init__(
        self, shared: Collaborators, session: SessionController, vault: VaultController
    ) -> None:
        super().__init__(shared, session)
        self._project: str | None = None
        self._bar = InstructionsBar()
        self._frame.middle.add_bar(self._bar)
        self._reads = LatestOnly(self._runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._reads.failed.connect(self._on_failed)
        self._bar.accepted.connect(self._on_accepted)
        self._bar.refused.connect(self._on_refused)
        vault.opened.connect(self._read)
        vault.indexed.connect(self._read)
        session.loaded.connect(self._on_loaded)
        session.session_changed.connect(self._on_session_changed)

    def _read(self) -> None:
        read = self._assistant.customization.instructions
        self._project = self._session.project
        self._reads.ask(partial(read, self._project), now=True)

    def _on_loaded(self, _transcript: object, _is_new: bool) -> None:
        if self._session.project != self._project:
            self._read()

    def _on_session_changed(self, session: str | None) -> None:
        if session is None and self._project is not None:
            self._read()

    def _on_read(self, found: VaultInstructions | None) -> None:
        if found is None or found.decision is not None:
            self._bar.hide()
            return
        if self._bar.isHidden():
            announce(self._bar, f"{found.path} has instructions for models.", is_urgent=True)
        self._bar.ask(found.path, found.visible_text, found.digest)

    def _on_accepted(self, digest: str) -> None:
        decide = self._assistant.customization.decide
        self._decide(partial(decide, digest, "accepted", self._project))

    def _on_refused(self, digest: str) -> None:
        decide = self._assistant.customization.decide
        self._decide(partial(decide, digest, "refused", self._project))

    def _decide(self, work: Callable[[], object]) -> None:
        task = self._runner.call(work)
        task.yielded.connect(self.decided)
        task.failed.connect(self._on_failed)
        task.finished.connect(self._read)
        task.start()

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)
