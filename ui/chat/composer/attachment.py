"""Attachments of a message as the user chose them, and those dropped on the window."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from context.layers import Segment, name_lines
from ui.widgets.figures import plural

__all__ = ["Attachment", "Dropped", "Drops", "attachments_at", "read_drop", "uses_of"]

_NOTE_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True)
class Attachment:
    """A note, a folder, a tag, a text file, or lines of one.

    Attributes:
        target: the path, a folder's with `/` behind it; a tag with its `#`.
        lines: first and last line of a selection, from 1, inclusive.
    """

    target: str
    lines: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """What a chip calls it, such as `Backups.md`, `Prices.md, lines 12–30` or `server`."""
        if self.is_tag:
            return self.target.removeprefix("#")
        name = self.target.rstrip("/").rpartition("/")[2] or self.target
        if self.lines is None:
            return name
        return f"{name}, {name_lines(self.lines)}"

    @property
    def whole_name(self) -> str:
        """The same with all folders."""
        folder = "" if self.is_tag else self.target.rstrip("/").rpartition("/")[0]
        return f"{folder}/{self.name}" if folder else self.name

    @property
    def icon(self) -> str:
        """What kind of thing it is."""
        if self.is_tag:
            return "hash"
        if self.lines is not None:
            return "selection"
        if self.is_folder:
            return "folder"
        return "file-text" if self.target.lower().endswith(_NOTE_SUFFIXES) else "file"

    @property
    def is_tag(self) -> bool:
        """Whether it stands for the notes that carry a tag."""
        return self.target.startswith("#") and self.lines is None

    @property
    def is_folder(self) -> bool:
        """Whether it stands for the notes in a folder."""
        return self.target.endswith("/") and self.lines is None


def uses_of(attached: Iterable[Attachment], sent: Sequence[Segment]) -> Mapping[Attachment, str]:
    """Return what was sent of each thing that was too large to be sent whole."""
    return {item: use for item in attached for use in _use(item, sent)}


def _use(item: Attachment, sent: Sequence[Segment]) -> Iterator[str]:
    own = [part for part in sent if part.source == item.target and item.lines is None]
    passages = sum(part.kind == "passage" for part in own)
    if any(part.derived for part in own):
        yield "read whole"
    elif passages and passages == len(own):
        yield f"{plural(passages, 'passage')} used"


@dataclass(frozen=True)
class Dropped:
    """Files and folders.

    Attributes:
        items: what can go along with a message: anything of the notes, and single files elsewhere.
        folders: those outside the notes, which can only be opened.
    """

    items: tuple[Attachment, ...] = ()
    folders: tuple[Path, ...] = ()


class Drops(QObject):
    """Takes what is dropped on a window.

    `attached` carries attachments, `folder_dropped` a folder to be opened, `folder_refused` one
    that was dropped on the chat and cannot be attached; `hovered` tells whether something that can
    be attached is dragged over the window.

    Args:
        window: takes drops anywhere.
        chat: where a folder is not meant to be opened.
        vault: gives the folder of notes that is open.
    """

    attached = Signal(object)
    folder_dropped = Signal(object)
    folder_refused = Signal(object)
    hovered = Signal(bool)

    def __init__(self, window: QWidget, chat: QWidget, vault: Callable[[], Path | None]) -> None:
        super().__init__(window)
        self._window, self._chat, self._vault = window, chat, vault
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what can be taken."""
        if event.type() == QEvent.Type.DragLeave:
            self.hovered.emit(False)
        # A drag that enters is a drop to Qt's types, and so is one that moves.
        if not isinstance(event, QDropEvent):
            return False
        if event.type() == QEvent.Type.Drop:
            self._drop(event)
        elif event.type() == QEvent.Type.DragEnter and self._can_take(event):
            event.acceptProposedAction()
            self.hovered.emit(self._vault() is not None)
        return event.type() in {QEvent.Type.Drop, QEvent.Type.DragEnter}

    def _can_take(self, event: QDropEvent) -> bool:
        vault = self._vault()
        dropped = read_drop(event.mimeData(), vault)
        return bool(dropped.folders or (dropped.items and vault is not None))

    def _drop(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.hovered.emit(False)
        vault = self._vault()
        dropped = read_drop(event.mimeData(), vault)
        spot = self._chat.mapFrom(self._window, event.position().toPoint())
        is_on_chat = vault is not None and self._chat.rect().contains(spot)
        if dropped.folders:
            (self.folder_refused if is_on_chat else self.folder_dropped).emit(dropped.folders[0])
        if vault is not None and dropped.items:
            self.attached.emit(dropped.items)


def read_drop(data: QMimeData, vault: Path | None) -> Dropped:
    """Return what was dropped, given the folder of notes that is open."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    folders = tuple(path for path in paths if path.is_dir() and _below(path, vault) is None)
    return Dropped(attachments_at([p for p in paths if p not in folders], vault), folders)


def attachments_at(paths: Sequence[Path], vault: Path | None) -> tuple[Attachment, ...]:
    """Return files, and folders of the notes, as attachments."""
    return tuple(_attachment(path, vault) for path in paths if path.exists())


def _attachment(path: Path, vault: Path | None) -> Attachment:
    whole = path.resolve()
    if whole.name.startswith(".") and whole.is_file():
        return Attachment(str(whole))  # a hidden file is only attached by its full path
    inside = _below(path, vault)
    if inside is None:
        return Attachment(str(path))
    return Attachment(f"{inside}/" if path.is_dir() else inside)


def _below(path: Path, vault: Path | None) -> str | None:
    """Return a path relative to the notes; None where it lies elsewhere, or is all of them."""
    if vault is None:
        return None
    whole = path.resolve()
    if whole == vault or not whole.is_relative_to(vault):
        return None
    return whole.relative_to(vault).as_posix()
