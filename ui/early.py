"""What the user does while the vault is still opening, kept until it is open."""

from PySide6.QtCore import QObject

from ui.chat.composer.composer import Composer
from ui.panels.notes.folders import Folders
from ui.panels.sidebar import Rail, Sidebar

__all__ = ["EarlyActions"]


class EarlyActions(QObject):
    """Keeps which note and chat the user wants, and whether Send was pressed.

    Attributes:
        names: the tree of notes that is listed until the vault is open.

    Args:
        sidebar: the column in which notes and chats are chosen.
        rail: the bar of icons that replaces the sidebar.
        composer: the box in which the user types.
    """

    def __init__(self, sidebar: Sidebar, rail: Rail, composer: Composer) -> None:
        super().__init__(sidebar)
        self.names = Folders()
        self._sidebar, self._composer = sidebar, composer
        self._is_over = self._is_attached = False
        self._is_sent = self._wants_new_chat = False
        self._note = ""
        composer.submitted.connect(self._on_submitted)
        sidebar.note_chosen.connect(self._on_note_chosen)
        for column in (sidebar, rail):
            column.new_chat_requested.connect(self._on_new_chat)

    @property
    def wants_new_chat(self) -> bool:
        """Whether the user asked for a new chat, so that the last one is not reopened."""
        return self._wants_new_chat

    def show_names(self, folders: Folders, open_folders: list[str]) -> None:
        """List the notes before the vault is open. A note that the user clicks is opened later.

        Args:
            folders: the tree of notes.
            open_folders: the paths of the folders that are shown open.
        """
        if not self._is_over:
            self.names = folders
            self._sidebar.show_notes(folders, "")
            self._sidebar.notes.open_folders_again(open_folders)

    def attach(self) -> None:
        """Leave messages to the controllers from now on."""
        self._is_attached = True

    def restore_typed(self, typed: str) -> None:
        """Add text that the user typed while the vault was opening to the end of the draft.

        If the user has already pressed Send and there is no draft, the text is also sent.

        Args:
            typed: the text.
        """
        draft = self._composer.text()
        if not typed.strip():
            return
        self._composer.set_text(f"{draft}\n{typed}".strip())
        if self._is_sent and not draft.strip():
            self._composer.submitted.emit(typed)
        self._is_sent = False

    def take_note(self) -> str:
        """Return the note that was clicked before the vault was open, or an empty string.

        Later clicks are those of the controllers.
        """
        self._is_over = True
        return self._note

    def _on_note_chosen(self, path: str) -> None:
        if not self._is_over:
            self._note = path

    def _on_new_chat(self) -> None:
        self._wants_new_chat = not self._is_over

    def _on_submitted(self, _text: str) -> None:
        self._is_sent = not self._is_attached
