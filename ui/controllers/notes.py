"""The notes of the open vault: lists them, shows one, and builds the composer's completions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from app.assistant import Assistant
from app.errors import ErrorInfo, describe
from app.library.attachments import is_web_address
from ui.chat.composer.completion import Offers
from ui.controllers.related import RelatedController
from ui.frame import WindowFrame
from ui.panels.index.state import NotesByState
from ui.panels.notes.folders import Folders
from ui.tasks import LatestOnly, TaskRunner
from ui.widgets.completion_list import Choice
from ui.widgets.figures import plural
from vault.index import NoteState
from vault.notes.links import LinkResolver
from vault.notes.note import Note

__all__ = ["NoteListing", "NotesController", "build_offers", "suggest_questions"]

_LATER_MS = 1_000
_QUESTIONS = "Questions worth asking.md"
_ITEM = re.compile(
    r"^\s*(?:[-*+]|\d+[.)]|\|)\s+(?P<text>\S[^|\n]{8,110}\?)\s*(?:\||$)", re.MULTILINE
)


@dataclass(frozen=True)
class NoteListing:
    """The notes of the open vault and lists derived from them.

    Attributes:
        questions: up to three questions that the notes can answer, as suggestions.
        offers: the notes, folders and tags that can be attached.
        folders: the notes as a tree of folders; the same object until the notes change.
        by_state: the notes by their index state; the same object until the notes change.
        indexed_at: the time of the last index update in ISO 8601; None if there was none.
        links: resolves the links in answers to notes.
    """

    notes: tuple[NoteState, ...] = ()
    questions: tuple[str, ...] = ()
    offers: Offers = field(default_factory=Offers)
    folders: Folders = field(default_factory=Folders)
    by_state: NotesByState = field(default_factory=NotesByState)
    indexed_at: str | None = None
    links: LinkResolver = field(default_factory=lambda: LinkResolver(()))


class NotesController(QObject):
    """Lists the notes of the open vault, and shows a note in the note panel.

    Signals: `opened` is emitted when another vault has been opened. `open_failed` carries the
    error. `listed` carries the `NoteListing`.
    """

    opened = Signal()
    open_failed = Signal(object)
    listed = Signal(object)

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        related: RelatedController,
    ) -> None:
        super().__init__(frame)
        self._assistant, self._runner = assistant, runner
        self._frame, self._panel, self._related = frame, frame.column.note, related
        self._lists = LatestOnly(runner, 0, self)
        self._lists.answered.connect(self._on_listed)
        self._lists.failed.connect(self._on_list_failed)
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._rereads = LatestOnly(runner, 0, self)
        self._rereads.answered.connect(self._on_reread)
        self._later = QTimer(self, singleShot=True, interval=_LATER_MS)
        self._later.timeout.connect(self.list)
        self._shown: Note | None = None
        self.listing = NoteListing()
        self._panel.closed.connect(self._on_closed)
        frame.transcript.maker.link_activated.connect(self.follow_link)
        for view in (frame.sidebar, frame.column.related, frame.column.index.lists):
            view.note_chosen.connect(self.show)

    def open(self, folder: Path, *, remember: bool = True) -> None:
        """Open a folder as the vault; if that fails, the current vault stays open."""
        task = self._runner.call(lambda: self._open(folder, remember))
        task.yielded.connect(self._on_opened)
        task.start()

    def list(self) -> None:
        """Reload the list of notes."""
        self._lists.ask(self._list, now=True)

    def list_soon(self) -> None:
        """Reload the list of notes after one second, when another process has updated the index."""
        self._later.start()

    def reread(self) -> None:
        """Reload the open note, since its file may have changed."""
        shown = self._shown
        if shown is not None:
            self._rereads.ask(lambda: self._read(shown.path, 0, 0), now=True)

    def forget(self) -> None:
        """Stop reloading the open note."""
        self._shown = None
        self._rereads.forget()

    def show(self, path: str, first: int = 0, last: int = 0) -> None:
        """Read a note from disk and show it at the given lines; 0 marks no lines.

        A web page that is a source of an answer is opened in the browser.
        """
        if is_web_address(path):
            QDesktopServices.openUrl(QUrl(path))
            return
        self._reads.ask(lambda: self._read(path, first, last), now=True)

    def follow_link(self, address: str) -> None:
        """Open the target of a link: a note at its heading or block, or an external address."""
        if not address.startswith("note:"):
            QDesktopServices.openUrl(QUrl(address))
            return
        link = address.removeprefix("note:")
        name, _, heading = link.partition("#")
        path = self.listing.links.resolve(name)
        if path is None:
            self._frame.notifier.toast(f"There is no note named {link}.")
        else:
            self._reads.ask(lambda: self._read(path, 0, 0, heading), now=True)

    def _open(self, folder: Path, remember: bool) -> Exception | None:
        try:
            self._assistant.open_vault(folder, remember)
        except Exception as error:  # noqa: BLE001 - the window shows the error
            return error
        return None

    def _list(self) -> NoteListing:
        notes, before = self._assistant.notes(), self.listing
        questions = suggest_questions(notes, self._read_questions(notes))
        offers = build_offers(notes, self._assistant.tags())
        library = self._assistant.library
        indexed_at = None if library is None else library.indexed_at
        folders, by_state = before.folders, before.by_state
        if notes != before.notes:
            folders, by_state = Folders(notes), NotesByState(notes, before.by_state)
        links = LinkResolver(()) if library is None else library.build_link_resolver()
        return NoteListing(notes, questions, offers, folders, by_state, indexed_at, links)

    def _read_questions(self, notes: Sequence[NoteState]) -> str:
        paths = [note.path for note in notes if note.path.rpartition("/")[2] == _QUESTIONS]
        return self._assistant.read_note(paths[0]).text if paths else ""

    def _read(self, path: str, first: int, last: int, heading: str = "") -> object:
        try:
            note = self._assistant.read_note(path)
        except Exception as error:  # noqa: BLE001 - the panel shows the error
            return path, describe(error)
        if heading:
            first, last = note.find_lines(heading) or (0, 0)
        return note, first, max(first, last)

    def _on_opened(self, error: Exception | None) -> None:
        if error is not None:
            self.open_failed.emit(describe(error))
            return
        self.listing = NoteListing()
        self.forget()
        self.opened.emit()

    def _on_listed(self, listing: NoteListing) -> None:
        self.listing = listing
        self.listed.emit(listing)

    def _on_list_failed(self, error: Exception) -> None:
        self.open_failed.emit(describe(error))

    def _on_read(self, answer: tuple[Any, ...]) -> None:
        self.forget()
        if isinstance(answer[0], Note):
            self._show(*answer)
        else:
            self._show_error(*answer)
        self._frame.docking.show_note()

    def _show(self, note: Note, first: int, last: int) -> None:
        self._shown = note
        self._panel.show_note(note, first, last)
        self._related.set_open(note.path)
        self._frame.sidebar.notes.select(note.path)

    def _show_error(self, path: str, info: ErrorInfo) -> None:
        self._panel.show_error(path, info.message, info.hint or "")

    def _on_reread(self, answer: tuple[Any, ...]) -> None:
        note, shown = answer[0], self._shown
        if shown is None:
            return
        if not isinstance(note, Note):
            self._panel.show_lost(shown.path)
        elif note.path == shown.path:
            self._shown = note
            self._panel.show_changed(note)

    def _on_closed(self) -> None:
        self.forget()
        self._related.set_open("")


def suggest_questions(notes: Sequence[NoteState], questions: str) -> tuple[str, ...]:
    """Suggest up to three questions that the notes can answer.

    Args:
        notes: the notes of the vault.
        questions: the text of the note that lists suggested questions; empty if there is none.
    """
    listed = tuple(match["text"] for match in _ITEM.finditer(questions))
    if listed:
        return listed[:3]
    titles: dict[str, str] = {}
    for note in notes:
        if note.state == "indexed" and 3 < len(note.title) < 48 and not note.title[0].isdigit():
            titles.setdefault(note.path.rpartition("/")[0], note.title)
    return tuple(f"What do my notes say about {title}?" for title in list(titles.values())[:3])


def build_offers(notes: Sequence[NoteState], tags: Mapping[str, Sequence[str]]) -> Offers:
    """Return the notes, folders and tags that can be attached, without notes not in the index.

    Args:
        notes: the notes of the vault with their states.
        tags: the notes of each tag, by tag.
    """
    known = [note for note in notes if note.state == "indexed"]
    folders: dict[str, int] = {}
    for note in known:
        for folder in _parent_folders(note.path):
            folders[folder] = folders.get(folder, 0) + 1
    return Offers(
        notes=[_note_choice(note) for note in known],
        folders=[_folder_choice(path, folders[path]) for path in sorted(folders, key=str.casefold)],
        tags=[
            Choice(f"#{tag}", tag, "hash", beside=plural(len(tags[tag]), "note"))
            for tag in sorted(tags, key=str.casefold)
        ],
    )


def _note_choice(note: NoteState) -> Choice:
    folder, _, name = note.path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    other = note.title if note.title and note.title != stem else ""
    detail = " · ".join(part for part in (other, folder) if part)
    return Choice(note.path, stem, "file-text", detail, "note")


def _folder_choice(path: str, notes: int) -> Choice:
    above, _, name = path.rpartition("/")
    return Choice(f"{path}/", name, "folder", above, plural(notes, "note"))


def _parent_folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
