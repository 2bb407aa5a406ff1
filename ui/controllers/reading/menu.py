"""The menus of the open note or image and of its text, and dragging notes and images."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

from PySide6.QtCore import QMimeData, QObject, QPoint, QProcess, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.library.attachments import is_web_address
from app.library.images import is_image_link
from resources.system.calls import SYSTEM
from resources.system.processes import select_in_explorer
from ui.controllers.session import Collaborators, Controller
from ui.widgets.drags import DragSource, pack_file, pack_page

__all__ = ["NoteMenuController", "reveal_file"]

_NO_OBSIDIAN = "No program opens Obsidian's links. Install Obsidian to open notes in it."
_NO_PROGRAM = "No program opens {}."
_SERVICE: Final = "org.freedesktop.FileManager1"
_OBJECT: Final = "/org/freedesktop/FileManager1"
_ANSWER_MS: Final = 5_000


class NoteMenuController(Controller):
    """Fills the menu of the open note or image, and opens its file in other programs.

    Notes and images can be dragged from lists onto the composer, and to other programs as files.
    """

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self._frame.note.head.menu_wanted.connect(self._fill_menu)
        for text in (self._frame.note.page, self._frame.note.source):
            text.menu_wanted.connect(self._add_attach)
        self._offer_drags()

    def list_commands(self) -> dict[str, Callable[[], object]]:
        """Return the functions that run this controller's window commands, by command name."""
        return {
            "note_editor": self.open_in_editor,
            "note_obsidian": self.open_in_obsidian,
            "note_reveal": self.reveal,
        }

    def open_in_editor(self) -> None:
        """Open the note's file with the default application for its file type."""
        file = self._find_file()
        if file is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(file))):
            self._frame.notifier.toast(_NO_PROGRAM.format(file.name))

    def open_in_obsidian(self) -> None:
        """Open the note in Obsidian. Obsidian finds the vault by the file's full path."""
        file = self._find_file()
        if file is None:
            return
        address = QUrl.fromEncoded(f"obsidian://open?path={quote(str(file), safe='')}".encode())
        if not QDesktopServices.openUrl(address):
            self._frame.notifier.toast(_NO_OBSIDIAN)

    def reveal(self) -> None:
        """Show the note's file in the file manager, selected if possible."""
        file = self._find_file()
        if file is None:
            return
        toast = partial(self._frame.notifier.toast, _NO_PROGRAM.format(file.parent))
        reveal_file(file, toast, self)

    def _offer_drags(self) -> None:
        tree, column = self._frame.sidebar.notes, self._frame.column
        places: list[tuple[QWidget, Callable[[QPoint], str]]] = [
            (tree.viewport(), tree.find_path),
            (column.related.list.viewport(), column.related.find_path),
            (column.sources.list.viewport(), column.sources.find_path),
            (self._frame.note.image.picture, lambda _spot: self._frame.note.path),
        ]
        for widget, find_path in places:
            DragSource(widget, partial(self._pack, find_path))

    def _pack(self, find_path: Callable[[QPoint], str], spot: QPoint) -> QMimeData | None:
        """Return the file at a point as what is dragged, or None if there is none."""
        path, root = find_path(spot), self._assistant.vault
        if is_web_address(path):
            return pack_page(path)
        file = Path(path) if root is None else root / path
        return pack_file(file) if path and file.is_absolute() and file.exists() else None

    def _copy_path(self) -> None:
        QGuiApplication.clipboard().setText(self._frame.note.path)

    def _find_file(self) -> Path | None:
        """Return the file of the open note or image, or None if nothing is open.

        If the file does not exist, show a toast and return None.
        """
        path, root = self._frame.note.path, self._assistant.vault
        if not path or (root is None and not Path(path).is_absolute()):
            return None
        file = Path(path) if root is None else root / path
        if not file.is_file():
            self._frame.notifier.toast(f"There is no file {path} any more.")
            return None
        return file

    def _fill_menu(self, menu: QMenu) -> None:
        is_image = is_image_link(self._frame.note.path)
        word = "Open in the default program" if is_image else "Open in editor"
        menu.addAction(word, self.open_in_editor)
        menu.addAction("Open in Obsidian", self.open_in_obsidian)
        menu.addAction("Reveal in the file manager", self.reveal)
        menu.addSeparator()
        menu.addAction("Copy the path", self._copy_path)

    def _add_attach(self, menu: QMenu) -> None:
        """Add the action that attaches the selected lines, or the whole note."""
        note = self._frame.note
        menu.addSeparator()
        menu.addAction(note.head.attach.accessibleName(), note.attach_selection)


def reveal_file(file: Path, on_failed: Callable[[], object], parent: QObject) -> None:
    """Show a file in the file manager, selected if possible.

    On Linux, the file manager of the desktop is asked over the session bus. If none there can
    select a file, its folder is opened.

    Args:
        file: the absolute path of the file.
        on_failed: called if no file manager can be started, perhaps some seconds later.
        parent: the Qt parent of what waits for the file manager.
    """

    def open_folder() -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(file.parent))):
            on_failed()

    if SYSTEM == "linux":
        if not _ask_file_manager(file, open_folder, parent):
            open_folder()
    elif not _start_file_manager(file):
        on_failed()


def _start_file_manager(file: Path) -> bool:
    if SYSTEM == "macos":
        return QProcess.startDetached("open", ["-R", str(file)])[0]
    return select_in_explorer(str(file))


def _ask_file_manager(file: Path, on_refused: Callable[[], None], parent: QObject) -> bool:
    """Ask the file manager of a Linux desktop to select a file. Return False without a bus."""
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return False  # Qt would start a bus, on which there is no file manager
    from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher

    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return False
    message = QDBusMessage.createMethodCall(_SERVICE, _OBJECT, _SERVICE, "ShowItems")
    message.setArguments([[file.as_uri()], ""])
    watcher = QDBusPendingCallWatcher(bus.asyncCall(message, _ANSWER_MS), parent)

    def on_answered() -> None:
        watcher.deleteLater()
        if watcher.isError():
            on_refused()

    watcher.finished.connect(on_answered)
    return True
