"""The open folder: opening it, listing what is in it, reading one note of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QObject, QTimer, Signal

from app.assistant import Assistant
from app.errors import describe
from ui.chat.composer.completion import Offers
from ui.controllers.offers import offers_of
from ui.panels.index.by_state import NotesByState
from ui.panels.notes.folders import Folders
from ui.tasks import LatestOnly, TaskRunner
from vault.index import NoteState
from vault.notes.kinds import MARKDOWN, find_kind
from vault.notes.note import Note

__all__ = ["Listing", "Notes", "find_note", "suggested_questions"]

_LATER_MS = 1_000
_QUESTIONS = "Questions worth asking.md"
_ITEM = re.compile(
    r"^\s*(?:[-*+]|\d+[.)]|\|)\s+(?P<text>\S[^|\n]{8,110}\?)\s*(?:\||$)", re.MULTILINE
)


@dataclass(frozen=True)
class Listing:
    """What is in the folder; `folders` and `by_state` stay the same objects until it changes.

    Attributes:
        questions: what its notes can answer.
        offers: what of it can be attached.
        folders: the notes below the folders they lie in.
        by_state: the notes by how they stand in the index.
        indexed_at: when the index was last brought up to date, ISO 8601; None before that.
    """

    notes: tuple[NoteState, ...] = ()
    questions: tuple[str, ...] = ()
    offers: Offers = field(default_factory=Offers)
    folders: Folders = field(default_factory=Folders)
    by_state: NotesByState = field(default_factory=NotesByState)
    indexed_at: str | None = None


class Notes(QObject):
    """The notes of the open folder.

    `opened` and `open_failed` carry the folder, the latter what went wrong too; `listed` what there
    is in it; `read` a note with the lines to mark; `read_failed` its path. `changed` carries the
    note that was read last as it is now, where it has become another; `lost` its path.
    """

    opened = Signal(object)
    open_failed = Signal(object, object)
    listed = Signal(object)
    read = Signal(object, int, int)
    read_failed = Signal(str, object)
    changed = Signal(object)
    lost = Signal(str)

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner
        self._lists = LatestOnly(runner, 0, self)
        self._lists.answered.connect(self._on_listed)
        self._lists.failed.connect(self._on_list_failed)
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._looks = LatestOnly(runner, 0, self)
        self._looks.answered.connect(self._on_looked_again)
        self._later = QTimer(self, singleShot=True, interval=_LATER_MS)
        self._later.timeout.connect(self.list)
        self._shown: Note | None = None
        self.listing = Listing()

    def open(self, folder: Path, *, remember: bool = True) -> None:
        """Open a folder; what was open stays so if that fails."""
        task = self._runner.call(lambda: self._open(folder, remember))
        task.yielded.connect(self._on_opened)
        task.start()

    def list(self) -> None:
        """Ask what is in the folder now."""
        self._lists.ask(self._list, now=True)

    def list_soon(self) -> None:
        """Ask in a moment, when somebody else has taken up what changed."""
        self._later.start()

    def look_again(self) -> None:
        """Read the note that was read last again, since it may have changed."""
        shown = self._shown
        if shown is not None:
            self._looks.ask(lambda: self._read(shown.path, 0, 0), now=True)

    def put_away(self) -> None:
        """Follow the note that was read last no more."""
        self._shown = None
        self._looks.forget()

    def show(self, path: str, first: int = 0, last: int = 0) -> None:
        """Read a note as it is on the disk now."""
        self._reads.ask(lambda: self._read(path, first, last), now=True)

    def follow(self, link: str) -> bool:
        """Read the note that a link names, at its heading or block; false where there is none."""
        name, _, heading = link.partition("#")
        path = find_note(self.listing.notes, name)
        if path is None:
            return False
        self._reads.ask(lambda: self._read(path, 0, 0, heading), now=True)
        return True

    def _open(self, folder: Path, remember: bool) -> tuple[Path, Exception | None]:
        try:
            self._assistant.open_vault(folder, remember)
        except Exception as error:  # noqa: BLE001 - it is shown in words where the notes would be
            return folder, error
        return folder, None

    def _list(self) -> Listing:
        notes, before = self._assistant.notes(), self.listing
        questions = suggested_questions(notes, self._text_of_questions(notes))
        offers = offers_of(notes, self._assistant.tags())
        library = self._assistant.library
        indexed_at = None if library is None else library.indexed_at
        folders, by_state = before.folders, before.by_state
        if notes != before.notes:
            folders, by_state = Folders(notes), NotesByState(notes, before.by_state)
        return Listing(notes, questions, offers, folders, by_state, indexed_at)

    def _text_of_questions(self, notes: Sequence[NoteState]) -> str:
        paths = [note.path for note in notes if note.path.rpartition("/")[2] == _QUESTIONS]
        return self._assistant.read_note(paths[0]).text if paths else ""

    def _read(self, path: str, first: int, last: int, heading: str = "") -> object:
        try:
            note = self._assistant.read_note(path)
        except Exception as error:  # noqa: BLE001 - it is shown in words where the note would be
            return path, describe(error)
        if heading:
            first, last = note.find_lines(heading) or (0, 0)
        return note, first, max(first, last)

    def _on_opened(self, answer: tuple[Path, Exception | None]) -> None:
        folder, error = answer
        if error is not None:
            self.open_failed.emit(folder, describe(error))
            return
        self.listing = Listing()
        self.put_away()
        self.opened.emit(folder)

    def _on_listed(self, listing: Listing) -> None:
        self.listing = listing
        self.listed.emit(listing)

    def _on_list_failed(self, error: Exception) -> None:
        self.open_failed.emit(self._assistant.vault, describe(error))

    def _on_read(self, answer: tuple[object, ...]) -> None:
        self.put_away()
        if isinstance(answer[0], Note):
            self._shown = answer[0]
            self.read.emit(*answer)
        else:
            self.read_failed.emit(*answer)

    def _on_looked_again(self, answer: tuple[object, ...]) -> None:
        note, shown = answer[0], self._shown
        if shown is None:
            return
        if not isinstance(note, Note):
            self.lost.emit(shown.path)
        elif note.path == shown.path:
            self._shown = note
            self.changed.emit(note)


def find_note(notes: Sequence[NoteState], name: str) -> str | None:
    """Return the path of the note that a link means: by path, then by name, then by title."""
    wanted = name.strip().removesuffix(".md").casefold()
    found: dict[int, str] = {}
    for note in notes:
        path = PurePosixPath(note.path)
        path = path.with_suffix("") if find_kind(note.path) is MARKDOWN else path
        names = (str(path), path.name, note.title)
        for rank, known in enumerate(names):
            if known.casefold() == wanted:
                found.setdefault(rank, note.path)
    return found[min(found)] if found else None


def suggested_questions(notes: Sequence[NoteState], questions: str) -> tuple[str, ...]:
    """Return up to three questions that these notes can answer.

    Args:
        notes: what is in the folder.
        questions: the text of a note that lists such questions, or nothing.
    """
    listed = tuple(match["text"] for match in _ITEM.finditer(questions))
    if listed:
        return listed[:3]
    titles: dict[str, str] = {}
    for note in notes:
        if note.state == "indexed" and 3 < len(note.title) < 48 and not note.title[0].isdigit():
            titles.setdefault(note.path.rpartition("/")[0], note.title)
    return tuple(f"What do my notes say about {title}?" for title in list(titles.values())[:3])
