"""Manage the list of chats, the palette, and the search in the open chat."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.config.schema import schema
from app.config.settings import SECTIONS
from app.errors import AppError, StorageFailed, describe
from app.library.projects import Project
from app.sessions.bin import BinnedChat
from app.sessions.session_info import SessionInfo, one_line
from chains.events import ApprovalRequested, MessageEnded, Step, ToolEnded
from ui.chat.transcript.finder import Finder
from ui.controllers.notes import NotesController, build_offers
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import CallDecided, ChatTurn
from ui.palette import Group, Palette, WiderSearch
from ui.shortcuts import list_window_commands
from ui.tasks import LatestOnly
from ui.widgets.completion_list import Choice
from ui.widgets.find_bar import FindBar
from ui.widgets.formatting import ago
from vault.errors import VaultError
from vault.notes.kinds import note_name

_log = logging.getLogger(__name__)
# Before anything is typed, these are listed after the commands that were used last.
_USEFUL = (
    "new_chat",
    "search_chats",
    "choose_model",
    "choose_mode",
    "open_note",
    "attach",
    "compact",
    "settings",
)
_MOST_RECENT = 4
_TITLE_CHARS = 40
_EVERYTHING = "A command, a chat, a project, a note or a setting"
_MOVE = "move"  # the group of projects to which a chat can be moved

__all__ = ["PaletteController", "SessionListController"]


class SessionListController(ChatController):
    """Fills the list of chats in the sidebar, and keeps it up to date.

    Attributes:
        known: all chats that are not in the bin, most recently used first.
        projects: the listed projects, below which their chats stand.
        binned: the chats in the bin, the one deleted last first.
    """

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self.known: list[SessionInfo] = []
        self.binned: list[BinnedChat] = []
        self.projects: Sequence[Project] = ()
        self._running: Mapping[str, str] = {}
        self._asks = LatestOnly(self._runner, 0, self)
        self._asks.answered.connect(self._on_listed)
        self._asks.failed.connect(self._on_failed)
        session.turn_ended.connect(self._on_turn_ended)
        session.event_arrived.connect(self._on_event)
        session.session_changed.connect(self._on_session_changed)
        self._frame.sidebar.all_vaults_toggled.connect(lambda _is_on: self.show_known())

    def refresh(self) -> None:
        """Reload the list of chats."""
        self._asks.ask(lambda: (self._assistant.list_sessions(), self._list_binned()), now=True)

    def _list_binned(self) -> list[BinnedChat]:
        try:
            return self._assistant.sessions.bin.list_chats()
        except StorageFailed as error:
            _log.warning("The bin of chats is not shown: %s", error)
            return []

    def end_search(self) -> None:
        """Clear the field that searches all chats."""
        self._frame.sidebar.chat_search.clear()

    def show_known(self) -> None:
        """Redraw the lists of projects and chats without reloading them.

        While the list of chats shows search results, it stays as it is.
        """
        sidebar, self._running = self._frame.sidebar, self._session.list_running()
        vault = str(self._assistant.vault or "")
        inside: dict[Path, list[SessionInfo]] = {one.folder: [] for one in self.projects}
        others: list[SessionInfo] = []
        for chat in self.known:
            folder = None if chat.archived else chat.project_folder
            (others if folder is None else inside.get(folder, others)).append(chat)
        sidebar.show_projects(self.projects, inside, self._running)
        here = [chat for chat in others if not chat.vault or chat.vault == vault]
        sidebar.all_vaults.setVisible(len(here) < len(others))
        sidebar.chats.set_vault(vault)
        shown = others if sidebar.all_vaults.isChecked() else here
        if not sidebar.chat_search.text().strip():
            sidebar.show_chats(shown, self._session.session, self._running, self.binned)

    def find_neighbour(self, step: int) -> str | None:
        """Return the session ID of the chat above (-1) or below (1) the open chat in the list.

        Return None at the ends of the list, and the first chat if the open chat is not listed.
        """
        return self._frame.sidebar.find_neighbour(self._session.session, step)

    def find(self, session: str | None) -> SessionInfo | None:
        """Return a chat in the list by its session ID, or None."""
        return next((chat for chat in self.known if chat.session == session), None)

    def shorten_title(self, session: str) -> str:
        """Return the title of a chat in the list, short enough for a sentence."""
        chat = self.find(session)
        return one_line(chat.title, _TITLE_CHARS) if chat and chat.title else "New chat"

    def refuse_running(self, session: str) -> bool:
        """Return whether a turn is running in a chat. If so, ask the user to stop it first."""
        is_running = session in self._session.list_running()
        if is_running:
            self._frame.notifier.toast("This chat is being answered. Stop the answer first.")
        return is_running

    def choices(self) -> list[Choice]:
        """Return the chats as choices for the palette."""
        return [
            Choice(chat.session, chat.title or "New chat", "chat", _describe_age(chat), "chat")
            for chat in self.known
        ]

    def _on_turn_ended(self, _turn: ChatTurn) -> None:
        self.refresh()

    def _on_event(self, turn: ChatTurn, event: object) -> None:
        """Update the list after an event: add a new chat, and show the state of running turns."""
        is_stored = isinstance(event, MessageEnded) and event.role == "user"
        if is_stored and not self._session.is_open(turn):
            self.refresh()
        changing = MessageEnded | Step | ApprovalRequested | CallDecided | ToolEnded
        if isinstance(event, changing) and self._session.list_running() != self._running:
            self.show_known()

    def _on_session_changed(self, session: str | None) -> None:
        self._frame.sidebar.chats.select(session)
        self._frame.sidebar.projects.select(self._session.project, session)
        if session is not None and all(chat.session != session for chat in self.known):
            self.refresh()  # the first question has just been stored

    def _on_listed(self, listed: tuple[list[SessionInfo], list[BinnedChat]]) -> None:
        self.known, self.binned = listed
        self.show_known()
        for chat in self.known:
            if chat.session == self._session.session:
                self._frame.middle.set_title(chat.title)

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)


def _describe_age(chat: SessionInfo) -> str:
    return f"archived, {ago(chat.updated)}" if chat.archived else ago(chat.updated)


@dataclass(frozen=True)
class ProjectNotes:
    """The notes of a project as choices for the palette.

    Attributes:
        name: the name of the project.
        title: the title of the project.
        notes: the notes, which may be none while they are being listed.
    """

    name: str
    title: str
    notes: Sequence[Choice] = ()

    def choose(self, choices: Sequence[Choice]) -> list[Choice]:
        """Return those of some notes that belong to the project."""
        own = {note.value for note in self.notes}
        return [choice for choice in choices if choice.value in own]


class ProjectNotesController(ChatController):
    """Lists the notes of the open chat's project, again when they or the chat change.

    Attributes:
        found: the notes of the project, or None if the chat is in no project.
    """

    def __init__(
        self, shared: Collaborators, session: SessionController, notes: NotesController
    ) -> None:
        super().__init__(shared, session)
        self.found: ProjectNotes | None = None
        self._lists = LatestOnly(self._runner, 0, self)
        self._lists.answered.connect(self._on_listed)
        for changed in (session.loaded, session.session_changed, notes.listed):
            changed.connect(self._refresh)

    def _refresh(self, *_changed: object) -> None:
        name = self._session.project
        if name is None:
            self._lists.forget()
            self.found = None
            return
        if self.found is None or self.found.name != name:
            self.found = ProjectNotes(name, self._assistant.projects.find_title(name))
        self._lists.ask(lambda: self._list(name), now=True)

    def _list(self, name: str) -> ProjectNotes:
        title = self._assistant.projects.find_title(name)
        try:
            vault = self._assistant.projects.open(name)
            notes = [replace(note, path=vault.name_path(note.path)) for note in vault.notes()]
        except (AppError, VaultError):
            notes = []
        return ProjectNotes(name, title, build_offers(notes, {}).notes)

    def _on_listed(self, found: ProjectNotes) -> None:
        if found.name == self._session.project:
            self.found = found


class PaletteController(ChatController):
    """Owns the palette and the search bar of the open chat.

    The signal `new_note_wanted` is emitted with the path of a note that the user wants to create.
    """

    new_note_wanted = Signal(str)

    def __init__(
        self,
        shared: Collaborators,
        session: SessionController,
        sessions: SessionListController,
        list_projects: Callable[[], list[Choice]],
        notes: NotesController,
    ) -> None:
        super().__init__(shared, session)
        self._sessions, self._notes = sessions, notes
        self._inside = ProjectNotesController(shared, session, notes)
        self._list_projects = list_projects
        bar = FindBar("Find in this chat")
        bar.hide()
        self._frame.middle.add_find_bar(bar)
        self._bar = bar
        self._came_from: QWidget | None = None
        self._finder = Finder(self._frame.transcript, bar)
        self._finder.closed.connect(self._on_find_closed)
        session.loaded.connect(self._on_loaded)
        session.session_changed.connect(self._on_session_changed)
        self._recent: list[str] = []
        self._unlisted: Callable[[], None] | None = None  # what opened the palette without notes
        self._has_listed = False
        notes.listed.connect(self._on_listed)
        self._palette = Palette(self._frame.window)
        self._palette.chosen.connect(self._on_chosen)

    def open(self) -> None:
        """Open the palette for searching all commands, chats, projects, notes and settings."""
        self._await_notes(self.open)
        commands, projects = self._order_commands(), self._list_projects()
        chats, settings = self._sessions.choices(), _list_settings()

        def group(chats: Sequence[Choice], notes: Sequence[Choice]) -> Sequence[Group]:
            others = [("project", projects), ("note", notes), ("setting", settings)]
            return [("command", commands), ("chat", chats), *others]

        everything = group(chats, self._notes.listing.offers.notes)
        inside = self._inside.found
        if inside is None:
            self._palette.open(everything, _EVERYTHING)
            return
        folder = self._assistant.projects.find_folder(inside.name)
        own = [chat for chat in chats if self._is_in(folder, chat.value)]
        wider = _widen(everything, _EVERYTHING, inside.title)
        hint = f"A command, or a chat or note of {inside.title}"
        self._palette.open(group(own, inside.notes), hint, wider=wider)

    def open_notes(self) -> None:
        """Open the palette for searching notes only."""
        self._await_notes(self.open_notes)
        inside, every = self._inside.found, [("note", self._notes.listing.offers.notes)]
        if inside is None:
            self._palette.open(every, "Open a note")
            return
        wider = _widen(every, "Open a note", inside.title)
        hint = f"Open a note of {inside.title}"
        self._palette.open([("note", inside.notes)], hint, wider=wider)

    def open_moves(self) -> None:
        """Open the palette for choosing the project to which the open chat is moved."""
        chat = self._sessions.find(self._session.session)
        projects = self._list_projects()
        if chat is None:
            self._frame.notifier.toast("Nothing has been asked in this chat yet.")
            return
        if chat.project is not None:
            projects = [Choice("", "Out of its project", "chat"), *projects]
        if projects:
            self._palette.open([(_MOVE, projects)], "Move the chat to a project")
        else:
            self._frame.notifier.toast("There are no projects yet. Open a folder as one first.")

    def open_tagged(self, tag: str) -> None:
        """Open the palette for searching the notes with a tag."""
        found, inside = self._notes.listing.find_tagged(tag), self._inside.found
        hint = f"Notes with #{tag}"
        own = found if inside is None else inside.choose(found)
        if inside is not None and own:
            wider = _widen([("note", found)], hint, inside.title) if own != found else None
            self._palette.open([("note", own)], f"{hint} in {inside.title}", wider=wider)
        elif found:
            self._palette.open([("note", found)], hint)
        else:
            self._frame.notifier.toast(f"No indexed note has the tag #{tag}.")

    def offer_new_note(self, path: str) -> None:
        """Open the palette for creating a note that a link names, or for searching another one."""
        name = note_name(path)
        new = Choice(path, f"Create {path}", "note-pencil", "", "new note")
        groups = [("new note", [new]), ("note", self._notes.listing.offers.notes)]
        self._palette.open(groups, f"There is no note named {name}. Create or find one", name)

    def find(self) -> None:
        """Open the search bar in the open chat."""
        self._frame.navigation.show_chat()
        self._note_focus()
        self._finder.open()

    def find_at(self, entry: str, words: str, terms: Sequence[str]) -> None:
        """Open the search bar with `words`, and show the first match of `terms` in a message."""
        self._frame.navigation.show_chat()
        self._note_focus()
        self._finder.open_at(entry, words, terms)

    def close(self) -> bool:
        """Close the palette. Return False if it was not open."""
        return self._palette.dismiss()

    def _await_notes(self, reopen: Callable[[], None]) -> None:
        """Have the palette opened again once the notes are listed, unless they are."""
        self._unlisted = None if self._notes.listing.notes else reopen
        is_waiting = self._unlisted is not None and self._assistant.vault is not None
        self._palette.is_loading = is_waiting and not self._has_listed

    def _on_listed(self) -> None:
        """Fill the palette that was opened before the notes were listed, and keep what is typed."""
        reopen, self._unlisted = self._unlisted, None
        self._has_listed = True
        if reopen is not None and not self._palette.isHidden():
            typed = self._palette.field.text()
            reopen()
            self._palette.field.setText(typed)

    def _note_focus(self) -> None:
        """Remember the chat's focused widget. Closing the search restores its focus."""
        focused = QApplication.focusWidget()
        if focused is not None and not self._bar.isAncestorOf(focused):
            is_in_chat = self._frame.middle.isAncestorOf(focused)
            self._came_from = focused if is_in_chat else None

    def _on_find_closed(self) -> None:
        before = self._came_from
        is_there = before is not None and isValid(before) and before.isVisible()
        (before if before is not None and is_there else self._frame.composer).setFocus()

    def _on_loaded(self, _transcript: object, is_new: bool) -> None:
        if is_new:
            self._finder.close()
        else:
            self._finder.renew()

    def _on_session_changed(self, session: str | None) -> None:
        if session is None:
            self._finder.close()

    def _order_commands(self) -> list[Choice]:
        """Return all commands: recently used ones first, then common ones, then the others."""
        first = dict.fromkeys((*self._recent, *_USEFUL))
        places = {name: place for place, name in enumerate(first)}
        return sorted(list_window_commands(), key=lambda one: places.get(one.value, len(places)))

    def _on_chosen(self, group: str, value: str) -> None:
        if group == "command":
            others = (name for name in self._recent if name != value)
            self._recent = [value, *others][:_MOST_RECENT]
            self._frame.navigation.run_command(value)
        elif group == "chat":
            self._frame.navigation.open_session(value)
        elif group == _MOVE:
            self._frame.sidebar.chats.move_requested.emit(self._session.session, value)
        elif group == "project":
            self._frame.navigation.open_project(value)
        elif group == "new note":
            self.new_note_wanted.emit(value)
        elif group == "setting":
            self._frame.navigation.open_settings(value)
        else:
            self._frame.navigation.show_note(value, 0, 0)

    def _is_in(self, folder: Path, session: str) -> bool:
        chat = self._sessions.find(session)
        return chat is not None and chat.project_folder == folder


def _widen(groups: Sequence[Group], hint: str, title: str) -> WiderSearch:
    text, value = f"Search everywhere, not only in {one_line(title, _TITLE_CHARS)}", "everywhere"
    return WiderSearch(Choice(value, text, "magnifying-glass"), groups, hint)


def _list_settings() -> list[Choice]:
    pages = [Choice(name, f"Settings: {name}", "gear") for name in SECTIONS]
    rows = [
        Choice(spec.key, f"Setting: {spec.label}", "gear", f"{spec.section} · {spec.key}")
        for spec in schema().values()
    ]
    return [*pages, *rows]
