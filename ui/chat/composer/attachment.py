"""Attachments of a message, and files and folders dropped on the window."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from app.library.attachment_paths import AGREED, is_hidden_place, resolve_path
from ui.widgets.formatting import plural

if TYPE_CHECKING:
    from context.layers import ImageData, Segment

__all__ = [
    "Attachment",
    "Dropped",
    "Drops",
    "describe_uses",
    "find_images",
    "read_drop",
    "sort_paths",
]

_NOTE_SUFFIXES = (".md", ".markdown")
_IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


@dataclass(frozen=True)
class Attachment:
    """An attached note, folder, tag, file or web page, or selected lines of a note or file.

    Attributes:
        target: the path, with a trailing `/` for a folder; the tag with its `#`; or the address of
            a web page. The path of a hidden file begins with `hidden:`.
        lines: the first and last line of a selection, counted from 1, inclusive, or None if the
            whole note or file is attached.
    """

    target: str
    lines: tuple[int, int] | None = None

    @property
    def path(self) -> str:
        """The path, tag or address, without the mark of a hidden file."""
        return self.target.removeprefix(AGREED)

    @property
    def is_hidden(self) -> bool:
        """Whether this is a hidden file, or a file in a hidden folder."""
        return self.target.startswith(AGREED)

    @property
    def name(self) -> str:
        """The short name for a chip, such as `Backups.md`, `Prices.md, lines 12–30` or `server`."""
        if self.is_tag:
            return self.target.removeprefix("#")
        if self.is_web_page:
            return _shorten_address(self.target)
        name = self.path.rstrip("/").rpartition("/")[2] or self.path
        if self.lines is None:
            return name
        from context.layers import name_lines  # late: it would delay the first paint

        return f"{name}, {name_lines(self.lines)}"

    @property
    def whole_name(self) -> str:
        """The attachment's name including the full path, for the tooltip."""
        if self.is_web_page:
            return self.target
        folder = "" if self.is_tag else self.path.rstrip("/").rpartition("/")[0]
        return f"{folder}/{self.name}" if folder else self.name

    @property
    def icon(self) -> str:
        """The name of the icon for the attachment."""
        if self.is_tag:
            return "hash"
        if self.is_web_page:
            return "globe"
        if self.lines is not None:
            return "selection"
        if self.is_folder:
            return "folder"
        if self.is_image:
            return "image-square"
        return "file-text" if self.target.lower().endswith(_NOTE_SUFFIXES) else "file"

    @property
    def is_tag(self) -> bool:
        """Whether all notes with a tag are attached."""
        is_note = self.target.lower().endswith(_NOTE_SUFFIXES)
        return self.target.startswith("#") and self.lines is None and not is_note

    @property
    def is_file(self) -> bool:
        """Whether the attachment is a single note or file."""
        return not (self.is_tag or self.is_folder or self.is_web_page)

    @property
    def is_folder(self) -> bool:
        """Whether all notes in a folder are attached."""
        return self.target.endswith("/") and self.lines is None and not self.is_web_page

    @property
    def is_image(self) -> bool:
        """Whether the attachment is an image file, based on its file name."""
        is_named = self.target.lower().endswith(_IMAGE_SUFFIXES)
        return is_named and self.lines is None and not self.is_web_page

    @property
    def is_web_page(self) -> bool:
        """Whether the attachment is a web page."""
        from app.library.attachments import is_web_address  # not needed for the first paint

        return is_web_address(self.target)


def _shorten_address(address: str) -> str:
    """Shorten a web address to its host and the end of its path: `example.org/…/guide.html`."""
    host, *folders = address.partition("://")[2].partition("?")[0].rstrip("/").split("/")
    return "/".join([host, *(["…"] if len(folders) > 1 else []), *folders[-1:]])


def describe_uses(
    attached: Iterable[Attachment], sent: "Sequence[Segment]"
) -> Mapping[Attachment, str]:
    """Describe how the large attachments of a message were used.

    The text is `read whole` for an attachment that the model read in parts, or, for example, `3
    passages used` for one that was searched. Attachments that were sent whole are omitted.

    Args:
        attached: the attachments of the message.
        sent: the segments of the request, such as attached texts and retrieved passages.
    """
    return {item: use for item in attached for use in _use(item, sent)}


def find_images(
    attached: Iterable[Attachment], sent: "Sequence[Segment]"
) -> "Mapping[Attachment, ImageData]":
    """Map each attached image to the image data that was sent for it.

    Attachments for which no image was sent are left out.

    Args:
        attached: the attachments of the message.
        sent: the segments of the request, some of which contain an image.
    """
    images = {part.source: part.image for part in sent if part.image is not None}
    return {item: images[item.path] for item in attached if item.path in images}


def _use(item: Attachment, sent: "Sequence[Segment]") -> Iterator[str]:
    own = [part for part in sent if part.source == item.path and item.lines is None]
    passages = sum(part.kind == "passage" for part in own)
    if any(part.derived for part in own):
        yield "read whole"
    elif passages and passages == len(own):
        yield f"{plural(passages, 'passage')} used"


@dataclass(frozen=True)
class Dropped:
    """Files, folders and web pages that were dropped or pasted together.

    Attributes:
        items: the attachments: notes, files and folders inside the vault, single files outside the
            vault, and web pages.
        folders: the folders outside the vault, which can only be opened as a vault.
    """

    items: tuple[Attachment, ...] = ()
    folders: tuple[Path, ...] = ()


class Drops(QObject):
    """A handler for files, folders and images that are dropped on a window.

    Signals:
        attached: the attachments that were dropped.
        image_dropped: a `QImage`, for example dragged from a browser.
        folder_dropped: a folder to open as a vault.
        folder_refused: a folder that was dropped on the chat and cannot be attached.
        hovered: whether something that can be attached is being dragged over the window.

    Args:
        window: the window that accepts drops anywhere.
        chat: the widget on which a dropped folder is refused instead of opened.
        vault: a function that returns the open vault's folder, or None if no vault is open.
    """

    attached = Signal(object)
    image_dropped = Signal(object)
    folder_dropped = Signal(object)
    folder_refused = Signal(object)
    hovered = Signal(bool)

    def __init__(self, window: QWidget, chat: QWidget, vault: Callable[[], Path | None]) -> None:
        super().__init__(window)
        self._window, self._chat, self._vault = window, chat, vault
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept drags and drops on the window, and emit the signals for what was dropped.

        Return True for drag and drop events, which need no further handling.
        """
        if event.type() == QEvent.Type.DragLeave:
            self.hovered.emit(False)
        # In Qt's types, drag-enter and drag-move events are drop events too.
        if not isinstance(event, QDropEvent):
            return False
        if event.type() == QEvent.Type.Drop:
            self._drop(event)
        elif event.type() == QEvent.Type.DragEnter and self._can_take(event):
            _accept_copy(event)
            self.hovered.emit(self._vault() is not None)
        elif event.type() == QEvent.Type.DragMove:  # only follows a drag-enter that was accepted
            _accept_copy(event)
        return True

    def _can_take(self, event: QDropEvent) -> bool:
        vault = self._vault()
        dropped = read_drop(event.mimeData(), vault)
        has_items = bool(dropped.items) or event.mimeData().hasImage()
        return bool(dropped.folders or (has_items and vault is not None))

    def _drop(self, event: QDropEvent) -> None:
        _accept_copy(event)
        self.hovered.emit(False)
        vault = self._vault()
        dropped = read_drop(event.mimeData(), vault)
        spot = self._chat.mapFrom(self._window, event.position().toPoint())
        is_on_chat = vault is not None and self._chat.rect().contains(spot)
        if dropped.folders:
            (self.folder_refused if is_on_chat else self.folder_dropped).emit(dropped.folders[0])
        if vault is None:
            return
        if event.mimeData().hasImage() and not any(item.is_file for item in dropped.items):
            self.image_dropped.emit(event.mimeData().imageData())
        elif dropped.items:
            self.attached.emit(dropped.items)


def _accept_copy(event: QDropEvent) -> None:
    """Accept a drag or drop as a copy, even if moving is proposed.

    A program that is told that its files were moved may delete them.
    """
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


def read_drop(data: QMimeData, vault: Path | None) -> Dropped:
    """Sort dropped files, folders and web pages into attachments and folders to open as a vault.

    Args:
        data: the data that was dropped.
        vault: the folder of the open vault, or None if no vault is open.
    """
    found = sort_paths([Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()], vault)
    pages = [Attachment(url.toString()) for url in data.urls() if url.scheme() in ("http", "https")]
    return replace(found, items=(*found.items, *pages))


def sort_paths(paths: Sequence[Path], vault: Path | None) -> Dropped:
    """Sort the paths of files and folders into attachments and folders to open as a vault.

    Args:
        paths: the absolute paths. Those that do not exist are left out.
        vault: the folder of the open vault, or None. Paths inside it become relative to it.
    """
    folders = tuple(path for path in paths if path.is_dir() and _below(path, vault) is None)
    files = [path for path in paths if path not in folders]
    items = tuple(_attachment(path, vault) for path in files if path.exists())
    return Dropped(items, folders)


def _attachment(path: Path, vault: Path | None) -> Attachment:
    whole = path.resolve()
    if whole.is_file() and is_hidden_place(resolve_path(whole, vault)):
        return Attachment(f"{AGREED}{whole}")  # after the user has agreed
    inside = _below(path, vault)
    if inside is None:
        return Attachment(str(path))
    return Attachment(f"{inside}/" if path.is_dir() else inside)


def _below(path: Path, vault: Path | None) -> str | None:
    """Return a path relative to the vault's folder.

    Return None if the path is outside the vault or is the vault's folder itself, or if no vault is
    open.
    """
    if vault is None:
        return None
    whole = path.resolve()
    if whole == vault or not whole.is_relative_to(vault):
        return None
    return whole.relative_to(vault).as_posix()
