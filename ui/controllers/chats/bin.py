"""Delete the chats in the sidebar with undo, restore them from the bin, and empty the bin."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal

from app.errors import describe
from app.sessions.bin import DAYS_IN_BIN, BinnedChat
from app.sessions.session_info import one_line
from ui.controllers.navigation import SessionListController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.widgets.buttons import ButtonText
from ui.widgets.dialogs import QuestionDialog
from ui.widgets.formatting import plural

__all__ = ["ChatBinController"]

_UNDO = ButtonText("Undo", "Bring the chat back from the bin")
_REMOVE = ButtonText("Delete for good", "This cannot be undone")
_EMPTY = ButtonText("Empty the bin", "This cannot be undone")
_TITLE_CHARS = 40


class ChatBinController(ChatController):
    """Moves chats to the bin and back, and deletes those in the bin for good.

    Emits `deleted` with the session ID of a chat that has been deleted for good.
    """

    deleted = Signal(str)

    def __init__(
        self, shared: Collaborators, session: SessionController, sessions: SessionListController
    ) -> None:
        super().__init__(shared, session)
        self._sessions = sessions
        chats = self._frame.sidebar.chats
        chats.delete_requested.connect(self.delete)
        chats.unbin_requested.connect(self.restore)
        chats.removal_requested.connect(self.remove)
        chats.emptying_requested.connect(self.empty)

    def delete_open(self) -> None:
        """Move the open chat to the bin."""
        if self._session.session is not None:
            self.delete(self._session.session)

    def delete(self, session: str) -> None:
        """Move a chat to the bin, and offer to undo this.

        If a turn is running in the chat, only a message is shown.
        """
        if not self._sessions.refuse_running(session):
            title = self._sessions.shorten_title(session)
            move = partial(self._assistant.sessions.delete, session)
            self._run(move, partial(self._on_deleted, session, title))

    def restore(self, session: str) -> None:
        """Put a chat in the bin back on the list."""
        self._run(partial(self._assistant.sessions.bin.restore, session))

    def remove(self, session: str) -> None:
        """Delete a chat in the bin for good, if the user confirms it."""
        titles = {chat.info.session: chat.info.title for chat in self._sessions.binned}
        title = one_line(titles.get(session, ""), _TITLE_CHARS) or "New chat"
        question = f"Delete the chat “{title}” for good? This cannot be undone."
        work = partial(self._assistant.sessions.bin.remove, session)
        self._ask(question, _REMOVE, work, lambda _none: self.deleted.emit(session))

    def empty(self) -> None:
        """Delete all chats in the bin for good, if the user confirms it."""
        number = len(self._sessions.binned)
        if not number:
            self._frame.notifier.toast("The bin is empty.")
            return
        chats = f"the {plural(number, 'chat')}" if number > 1 else "the chat"
        question = f"Delete {chats} in the bin for good? This cannot be undone."
        self._ask(question, _EMPTY, self._assistant.sessions.bin.empty, self._on_emptied)

    def forget(self, sessions: tuple[str, ...]) -> None:
        """Show that chats were deleted for good because they had been in the bin for long."""
        self._on_emptied(sessions)
        if sessions:
            self._sessions.refresh()

    def _ask(
        self,
        question: str,
        act: ButtonText,
        work: Callable[[], object],
        on_done: Callable[[object], object],
    ) -> None:
        """Ask a question, and run a task if the user says yes."""
        dialog = QuestionDialog(self._frame.window, question, act)
        self._frame.dialogs.watch(dialog)
        dialog.accepted.connect(lambda: self._run(work, on_done))
        dialog.open()

    def _run(
        self,
        work: Callable[[], object],
        on_done: Callable[[object], object] = lambda _result: None,
    ) -> None:
        task = self._runner.call(work)
        task.yielded.connect(on_done)
        task.yielded.connect(lambda _result: self._sessions.refresh())
        task.failed.connect(self._on_failed)
        task.start()

    def _on_deleted(self, session: str, title: str, binned: BinnedChat | None) -> None:
        was_open = session == self._session.session
        if was_open:
            self._frame.navigation.open_session(None)
        if binned is None:  # nothing was asked in it yet
            self.deleted.emit(session)
            return
        self._frame.notifier.toast(
            f"The chat “{title}” is in the bin for {DAYS_IN_BIN} days.",
            (_UNDO, partial(self._undo, session, was_open)),
        )

    def _undo(self, session: str, was_open: bool) -> None:
        def show(_none: object) -> None:
            if was_open:
                self._frame.navigation.open_session(session)

        self._run(partial(self._assistant.sessions.bin.restore, session), show)

    def _on_emptied(self, sessions: object) -> None:
        for session in sessions if isinstance(sessions, tuple) else ():
            self.deleted.emit(session)

    def _on_failed(self, error: Exception) -> None:
        self._sessions.refresh()
        self._frame.notifier.toast(describe(error).message)
