"""Search, rename, pin, archive and export the chats in the sidebar."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMenu

from app.errors import InvalidRequest, describe
from app.sessions.export import write_export
from app.sessions.search import ChatHit, read_terms, search_chats
from app.sessions.session_info import ARCHIVED, ChatMark
from ui.controllers.chats.bin import ChatBinController
from ui.controllers.chats.save_note import SaveNoteController
from ui.controllers.navigation import PaletteController, SessionListController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn
from ui.notify import open_file
from ui.panels.chats.sessions import list_mark_actions
from ui.tasks import LatestOnly
from ui.widgets.buttons import ButtonText

__all__ = ["ChatActionController"]

_UNARCHIVE = ButtonText("Undo", "Take the chat out of the archive")
_SHOW_FOLDER = ButtonText("Show folder", "Show the file in the file manager")
_SEARCH_PAUSE_MS = 150
_CHARS_BEFORE_MATCH = 18


class ChatActionController(ChatController):
    """Searches, renames, pins, archives and exports chats."""

    def __init__(
        self,
        shared: Collaborators,
        session: SessionController,
        sessions: SessionListController,
        palette: PaletteController,
        notes: SaveNoteController,
        bin: ChatBinController,
    ) -> None:
        super().__init__(shared, session)
        self._sessions, self._palette = sessions, palette
        self._notes, self._bin = notes, bin
        self._target: tuple[ChatHit, str] | None = None
        self._searches = LatestOnly(self._runner, _SEARCH_PAUSE_MS, self)
        self._searches.answered.connect(self._on_found)
        self._searches.failed.connect(self._on_failed)
        chats = self._frame.sidebar.chats
        chats.rename_requested.connect(self.rename)
        chats.mark_requested.connect(self.mark)
        chats.hit_chosen.connect(self.open_hit)
        session.loaded.connect(self._on_loaded)
        chats.export_requested.connect(self.export)
        self._frame.middle.menu_wanted.connect(self._fill_menu)
        session.turn_ended.connect(self._on_turn_ended)
        search = self._frame.sidebar.chat_search
        search.textChanged.connect(self._on_sought)
        for changed in (self._frame.sidebar.search_scope.toggled, session.loaded):
            changed.connect(self._search_again)
        for left in (
            self._frame.sidebar.chat_search.returnPressed,
            self._frame.sidebar.chat_search.left_down,
        ):
            left.connect(chats.setFocus)

    def begin_search(self) -> None:
        """Show the sidebar and focus the field that searches all chats."""
        self._frame.columns.show_sidebar()
        self._frame.sidebar.chat_search.begin()

    def end_search(self) -> bool:
        """End the search of all chats, if its field or its results have the focus.

        Return whether the search was ended.
        """
        sidebar, focus = self._frame.sidebar, QApplication.focusWidget()
        is_in_hits = focus is sidebar.chats and bool(sidebar.chat_search.text())
        if focus is not sidebar.chat_search and not is_in_hits:
            return False
        sidebar.chat_search.clear()
        self._frame.composer.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def open_hit(self, hit: ChatHit) -> None:
        """Open the chat of a search result, scroll to the message, and highlight the words.

        If the message belongs to another branch of the chat, such as an earlier version of an
        answer, that branch is activated.
        """
        if hit.role == "title":
            self._frame.navigation.open_session(hit.session)
            return
        self._target = (hit, self._frame.sidebar.chat_search.text().strip())
        task = self._runner.call(
            lambda: self._assistant.branches.show_entry(hit.session, hit.entry)
        )
        task.finished.connect(partial(self._open_target, hit))
        task.failed.connect(self._on_failed)
        task.start()

    def rename_open(self) -> None:
        """Let the user rename the open chat in the list of chats."""
        session, sidebar = self._session.session, self._frame.sidebar
        self._frame.columns.show_sidebar()
        sidebar.chat_search.clear()
        sidebar.projects.select(self._session.project, session)
        sidebar.chats.select(session)
        inside = sidebar.projects.find_chat(session)
        if inside.isValid():
            sidebar.projects.expand(inside.parent())
            sidebar.projects.edit(inside)
        elif sidebar.chats.currentIndex().isValid():
            sidebar.chats.edit(sidebar.chats.currentIndex())

    def rename(self, session: str, title: str) -> None:
        """Set a chat's title."""
        task = self._runner.call(lambda: self._assistant.branches.rename(session, title))
        task.finished.connect(self._sessions.refresh)
        task.failed.connect(self._on_failed)
        task.start()

    def mark(self, session: str, mark: ChatMark, on: bool) -> None:
        """Pin, unpin, archive or unarchive a chat. Archiving a chat offers an undo.

        Args:
            session: the session ID of the chat.
            mark: the state to change: pinned or archived.
            on: the new value. False unpins or unarchives the chat.
        """
        if self._sessions.refuse_running(session):
            return
        task = self._runner.call(lambda: self._assistant.branches.mark(session, mark, on))
        task.yielded.connect(lambda _none: self._on_marked(session, mark, on))
        task.failed.connect(self._on_failed)
        task.start()

    def mark_open(self, mark: ChatMark) -> None:
        """Toggle whether the open chat is pinned or archived, depending on `mark`."""
        if (chat := self._sessions.find(self._session.session)) is not None:
            self.mark(chat.session, mark, not getattr(chat, mark))

    def export(self, session: str, kind: str) -> None:
        """Write a chat to a new file in the export folder, and offer to show the folder.

        Args:
            session: the session ID of the chat.
            kind: the format of the file, which is also its suffix.
        """

        def write() -> Path:
            title, text = self._assistant.history.export(session, kind)
            return write_export(self._assistant.paths.exports, title, text, f".{kind}")

        task = self._runner.call(write)
        task.yielded.connect(self._on_exported)
        task.failed.connect(self._on_failed)
        task.start()

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        """Let the model write the chat's title in the background, after the first answer."""
        session = None if turn.result is None else turn.result.session
        if session is None:
            return
        write = self._assistant.titles.write
        task = self._runner.stream(lambda token: iter([write(session, token)]))
        task.yielded.connect(self._on_titled)
        task.start()

    def _on_titled(self, title: str) -> None:
        if title:
            self._sessions.refresh()

    def _fill_menu(self, menu: QMenu) -> None:
        """Add the actions of the open chat to the menu of its header."""
        session = self._session.session
        menu.addAction("Find in this chat", self._palette.find)
        menu.addSeparator()
        of_chat = [menu.addAction("Rename", self.rename_open)]
        chat = self._sessions.find(session)
        for mark, word, _keys in [] if chat is None else list_mark_actions(chat):
            menu.addAction(word, partial(self.mark_open, mark))
        if chat is not None:
            self._frame.sidebar.chats.add_move_menu(menu, chat)
        for kind, word in (("md", "Export as Markdown"), ("json", "Export as JSON")):
            export = menu.addAction(word)
            export.triggered.connect(
                lambda _checked=False, kind=kind: self.export(session or "", kind)
            )
            of_chat.append(export)
        of_chat.append(menu.addAction("Save as note…", self._notes.save_open_chat))
        menu.addSeparator()
        of_chat.append(menu.addAction("Delete", self._bin.delete_open))
        for action in of_chat:
            action.setEnabled(session is not None)

    def _open_target(self, hit: ChatHit) -> None:
        if self._session.session != hit.session:
            self._frame.navigation.open_session(hit.session)
        elif self._session.is_followed:
            self._on_loaded(None, False)
        else:
            self._session.load()

    def _on_loaded(self, _transcript: object, _is_new: bool) -> None:
        target, self._target = self._target, None
        if target is not None and target[0].session == self._session.session:
            words = target[1]
            show = partial(self._palette.find_at, target[0].entry, words, read_terms(words))
            QTimer.singleShot(0, self, show)  # after the chat has got the focus

    def _on_marked(self, session: str, mark: ChatMark, on: bool) -> None:
        self._sessions.refresh()
        if mark == ARCHIVED and on:
            sentence = f"The chat “{self._sessions.shorten_title(session)}” is archived."
            undo = partial(self.mark, session, ARCHIVED, False)
            self._frame.notifier.toast(sentence, (_UNARCHIVE, undo))

    def _on_sought(self, words: str) -> None:
        if not words.strip():
            self._searches.forget()
            self._sessions.show_known()
            return
        sessions = self._assistant.sessions
        project = self._find_searched_project()
        self._searches.ask(lambda: search_chats(sessions, words, _CHARS_BEFORE_MATCH, project))

    def _search_again(self, *_changed: object) -> None:
        """Search again, because the search is limited to another project now, or to none."""
        if words := self._frame.sidebar.chat_search.text().strip():
            self._on_sought(words)

    def _find_searched_project(self) -> Path | None:
        """Return the folder of the project to whose chats the search is limited, or None."""
        name, is_narrow = self._session.project, self._frame.sidebar.search_scope.is_narrow
        return self._assistant.projects.find_folder(name) if name and is_narrow else None

    def _on_found(self, hits: tuple[ChatHit, ...]) -> None:
        titles = {chat.session: chat.title for chat in self._sessions.known}
        self._frame.sidebar.show_chat_hits([hit for hit in hits if hit.session in titles], titles)

    def _on_exported(self, file: Path) -> None:
        notifier = self._frame.notifier
        show = partial(open_file, notifier, file.parent)
        notifier.toast(f"The chat is in {file.name}.", (_SHOW_FOLDER, show))

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, InvalidRequest):
            self._frame.notifier.toast(describe(error).message)
