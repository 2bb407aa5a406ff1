"""Open a vault, list its notes, and build the composer's completions from them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath

from PySide6.QtCore import QTimer, Signal

from app.errors import describe
from app.library.images import list_attachable_images
from app.library.suggested_questions import suggest_questions
from ui.chat.composer.completion import Offers
from ui.controllers.session import Collaborators, Controller
from ui.panels.index.state import NotesByState
from ui.panels.notes.folders import Folders
from ui.tasks import LatestOnly
from ui.widgets.completion_list import Choice
from ui.widgets.formatting import plural
from vault.notes.links import LinkResolver, fold_link_name, split_link_target
from vault.records import NoteState

__all__ = ["NoteListing", "NotesController", "build_offers"]

_LATER_MS = 1_000
_OTHER_FILE = re.compile(r"\.(?!md$)[a-z0-9]{1,5}$", re.IGNORECASE)


@dataclass(frozen=True)
class NoteListing:
    """The notes of the open vault, and lists derived from them.

    Attributes:
        notes: the notes with their index states.
        questions: up to three suggested questions that the notes can answer.
        offers: the notes, folders and tags that can be attached.
        folders: the notes and images as a tree of folders. Listings share this object until the
            notes or images change.
        by_state: the notes, grouped by their index state. Listings share this object until the
            notes change.
        indexed_at: the time of the last index update, in ISO 8601, or None if the vault was never
            indexed.
        links: resolves links in answers and notes to the paths of notes.
        tags: maps each tag, without its `#`, to the paths of the notes that have it.
        names: the names of all notes as links are compared with them; empty until they were listed.
    """

    notes: tuple[NoteState, ...] = ()
    questions: tuple[str, ...] = ()
    offers: Offers = field(default_factory=Offers)
    folders: Folders = field(default_factory=Folders)
    by_state: NotesByState = field(default_factory=NotesByState)
    indexed_at: str | None = None
    links: LinkResolver = field(default_factory=lambda: LinkResolver(()))
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()

    def is_missing(self, link: str, source: str) -> bool:
        """Return whether a link leads to a note that does not exist.

        Links to images and other files count as found, since the listing may not contain them. So
        do all links of a file outside of the vault.

        Args:
            link: the target as written in the note.
            source: the path of the note that contains the link.
        """
        name = split_link_target(link)[0]
        is_outside = PurePath(source).is_absolute()
        if is_outside or not self.names or _OTHER_FILE.search(name):
            return False
        is_known = fold_link_name(name) in self.names
        return not is_known and self.links.resolve(name, source) is None

    def find_tagged(self, tag: str) -> list[Choice]:
        """Return the notes with a tag or one of its subtags, for the palette."""
        wanted = tag.casefold().rstrip("/")
        paths = {
            path
            for name, paths in self.tags.items()
            if f"{name.casefold()}/".startswith(f"{wanted}/")
            for path in paths
        }
        return [note for note in self.offers.notes if note.value in paths]


class NotesController(Controller):
    """Opens a folder as the vault, and lists the notes of the open vault.

    Signals:
        opened: emitted when another vault has been opened.
        open_failed: emitted with the error when a vault cannot be opened or its notes cannot be
            listed.
        names_listed: emitted with the `Folders` of a newly opened vault, before its index is read.
        listed: emitted with the new `NoteListing` when the notes have been listed.

    Attributes:
        listing: the most recent listing of the notes.
    """

    opened = Signal()
    open_failed = Signal(object)
    names_listed = Signal(object)
    listed = Signal(object)

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self._names = LatestOnly(self._runner, 0, self)
        self._names.answered.connect(self._on_names)
        self._names.failed.connect(self.list)
        self._lists = LatestOnly(self._runner, 0, self)
        self._lists.answered.connect(self._on_listed)
        self._lists.failed.connect(self._on_list_failed)
        self._later = QTimer(self, singleShot=True, interval=_LATER_MS)
        self._later.timeout.connect(self.list)
        self.listing = NoteListing(folders=self._frame.early.names)

    def open(self, folder: Path, *, remember: bool = True, note: str = "") -> None:
        """Open a folder as the vault. If that fails, the current vault stays open.

        Args:
            folder: the folder to open.
            remember: whether to open the same folder at the next start.
            note: the path of a note to show then, or an empty string.
        """
        task = self._runner.call(lambda: self._open(folder, remember))
        task.yielded.connect(partial(self._on_opened, note))
        task.start()

    def list_opened(self) -> None:
        """List the notes of a newly opened vault.

        Their names are listed first, because this does not need the index.
        """
        if self.listing.folders.notes:  # listed before the vault was open
            self.list()
        else:
            self._names.ask(self._list_names, now=True)

    def forget(self) -> None:
        """Forget the notes, because another vault has been opened."""
        self._names.forget()
        self._lists.forget()
        self.listing = NoteListing()

    def list(self) -> None:
        """Reload the list of notes."""
        self._lists.ask(self._list, now=True)

    def list_soon(self) -> None:
        """Reload the list of notes in one second, because another process is updating the index."""
        self._later.start()

    def _open(self, folder: Path, remember: bool) -> Exception | None:
        try:
            self._assistant.open_vault(folder, remember)
        except Exception as error:  # noqa: BLE001 - the window shows the error
            return error
        return None

    def _list_names(self) -> NoteListing:
        library = self._assistant.library
        if library is None:
            return NoteListing()
        vault = library.vault
        folders = Folders(vault.list_names(), list_attachable_images(vault.root, vault.exclude))
        links = LinkResolver((note.path, ()) for note in folders.notes)
        return NoteListing(folders=folders, links=links, names=_fold_names(folders))

    def _list(self) -> NoteListing:
        notes, before = self._assistant.notes(), self.listing
        library = self._assistant.library
        questions = () if library is None else suggest_questions(notes, library.vault)
        images = (
            ()
            if library is None
            else list_attachable_images(library.vault.root, library.vault.exclude)
        )
        tags = self._assistant.tags()
        offers = build_offers(notes, tags, images)
        indexed_at = None if library is None else library.vault.indexed_at
        folders, by_state = before.folders, before.by_state
        if notes != before.notes:
            by_state = NotesByState(notes, before.by_state)
        links = LinkResolver(()) if library is None else library.vault.build_link_resolver()
        names = notes
        if library is not None and indexed_at is None:  # there is no index yet, so show names
            names = _add_names(notes, library.vault.list_names())
            links = LinkResolver((note.path, ()) for note in names)
        if names != folders.notes or tuple(images) != folders.images:
            folders = Folders(names, images)
        is_same = bool(before.names) and folders.has_same_paths(before.folders)
        folded = before.names if is_same else _fold_names(folders)
        return NoteListing(
            notes, questions, offers, folders, by_state, indexed_at, links, tags, folded
        )

    def _on_opened(self, note: str, error: Exception | None) -> None:
        if error is not None:
            self.open_failed.emit(describe(error))
            return
        self.forget()
        self.opened.emit()
        if note:
            self._frame.navigation.show_note(note, 0, 0)

    def _on_names(self, listing: NoteListing) -> None:
        self.listing = listing
        self.names_listed.emit(listing.folders)
        self.list()

    def _on_listed(self, listing: NoteListing) -> None:
        self.listing = listing
        self.listed.emit(listing)

    def _on_list_failed(self, error: Exception) -> None:
        self.open_failed.emit(describe(error))


def _fold_names(folders: Folders) -> frozenset[str]:
    """Return the names of all notes for comparison. Of many notes, this takes several frames."""
    return frozenset(fold_link_name(note.path) for note in folders.notes)


def _add_names(notes: Sequence[NoteState], names: Sequence[NoteState]) -> tuple[NoteState, ...]:
    """Return all notes of the vault, including those that the index does not contain.

    Args:
        notes: the notes in the index.
        names: the notes found in the folder. If the index contains a note too, the state in the
            index is returned.
    """
    known = {note.path: note for note in notes}
    return tuple(known.get(name.path, name) for name in names)


def build_offers(
    notes: Sequence[NoteState], tags: Mapping[str, Sequence[str]], images: Sequence[str] = ()
) -> Offers:
    """Return the notes, folders, tags and images that can be attached.

    Notes that are not in the index are left out.

    Args:
        notes: the notes of the vault with their states.
        tags: maps each tag, without its `#`, to the paths of the notes that have it.
        images: the paths of the vault's images.
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
        images=[_image_choice(path) for path in images],
    )


def _note_choice(note: NoteState) -> Choice:
    folder, _, name = note.path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    other = note.title if note.title and note.title != stem else ""
    detail = " · ".join(part for part in (other, folder) if part)
    return Choice(note.path, stem, "file-text", detail, "note")


def _image_choice(path: str) -> Choice:
    folder, _, name = path.rpartition("/")
    return Choice(path, name, "image-square", folder, "image")


def _folder_choice(path: str, notes: int) -> Choice:
    above, _, name = path.rpartition("/")
    return Choice(f"{path}/", name, "folder", above, plural(notes, "note"))


def _parent_folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
