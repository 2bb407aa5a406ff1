"""What the user brings to a message from elsewhere: by dropping, from the notes, from the disk."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.assistant import Assistant
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.composer import Composer
from ui.chat.composer.drops import Drops, attachments_at
from ui.controllers.composer import Drafting
from ui.notify import Notifier

__all__ = ["Bringing"]


class Bringing(QObject):
    """Attaches it; `folder_dropped` carries a folder that is to be opened instead."""

    folder_dropped = Signal(object)

    def __init__(
        self, assistant: Assistant, drafting: Drafting, window: QWidget, notifier: Notifier
    ) -> None:
        super().__init__(window)
        self._assistant = assistant
        self._drafting = drafting
        self._window, self._notifier = window, notifier

    def take_drops(self, chat: QWidget, composer: Composer) -> None:
        """Take what is dropped on the window from now on."""
        drops = Drops(self._window, chat, lambda: self._assistant.vault)
        drops.hovered.connect(composer.set_drop_target)
        drops.attached.connect(self._attach)
        drops.folder_dropped.connect(self.folder_dropped)
        drops.folder_refused.connect(self._on_refused)

    def choose_files(self) -> None:
        """Ask for files and attach them."""
        chosen, _ = QFileDialog.getOpenFileNames(self._window, "Attach text files")
        paths = [Path(name) for name in chosen]
        self._attach(attachments_at(paths, self._assistant.vault))

    def attach_note(self, path: str, first: int = 0, last: int = 0) -> None:
        """Attach a note, a folder with `/` behind it, or lines of a note."""
        self._drafting.attach([Attachment(path, (first, last) if first else None)])

    def _attach(self, items: Sequence[Attachment]) -> None:
        """Attach files; ask before one whose name begins with a dot."""
        hidden = [item for item in items if item.name.startswith(".") and not item.is_folder]
        plain = [item for item in items if item not in hidden]
        if plain:
            self._drafting.attach(plain)
        for item in hidden:
            said = f"{item.name} is a hidden file, which may hold keys. It is not attached."
            self._notifier.toast(said, "Attach it", partial(self._drafting.attach, [item]))

    def _on_refused(self, folder: Path) -> None:
        said = f"{folder.name} is not among the open notes, so it cannot be attached."
        self._notifier.toast(said, "Open it instead", lambda: self.folder_dropped.emit(folder))
