"""What the user does while the vault is still opening, kept until it is open."""

from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, SignalInstance
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from ui.chat.composer.composer import Composer
from ui.panels.notes.folders import Folders
from ui.panels.sidebar import Rail, Sidebar

__all__ = ["EarlyActions"]


class EarlyActions(QObject):
    """Keeps which note, chat and attachments the user wants, and the messages that were sent.

    A message that the user sends is shown in a line of the composer until the vault is open. One
    with something attached stays in the composer, because only reading it shows whether it can be
    sent.

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
        self._wants_new_chat = False
        self._sent: list[str] = []
        self._note = self._command = self._typed = ""
        self._attaching: list[tuple[SignalInstance, tuple[object, ...]]] = []
        composer.submitted.connect(self._on_submitted)
        sidebar.note_chosen.connect(self._on_note_chosen)
        for signal in (composer.files_pasted, composer.image_pasted):
            signal.connect(partial(self._keep_attaching, signal))
        composer.file_requested.connect(partial(self._keep_attaching, composer.file_requested))
        for column in (sidebar, rail):
            column.new_chat_requested.connect(self.want_new_chat)

    @property
    def wants_new_chat(self) -> bool:
        """Whether the user asked for a new chat, so that the last one is not reopened."""
        return self._wants_new_chat

    def want_new_chat(self) -> None:
        """Start a new chat instead of reopening the last one, unless the vault is open already."""
        self._wants_new_chat = not self._is_over

    def keep_command(self, name: str) -> None:
        """Keep a command that needs the open vault. Only the first one is kept.

        No widget has the focus then, because what is typed next is meant for the command.
        """
        window = self._composer.window()
        if not self._command:
            window.installEventFilter(self)
        self._command = self._command or name
        if (focused := window.focusWidget()) is not None:
            focused.clearFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep what is typed after a command. Keys reach the window while nothing has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Backspace:
                self._typed = self._typed[:-1]
            elif event.text().isprintable():
                self._typed += event.text()
        return False

    def forget_command(self) -> None:
        """Forget the kept command, and return the focus to the message box."""
        self.take_command()
        self._typed = ""
        self._composer.setFocus()

    def take_command(self) -> str:
        """Return the command to run once the vault is open, or an empty string."""
        self._composer.window().removeEventFilter(self)
        command, self._command = self._command, ""
        return command

    def repeat_typing(self) -> None:
        """Type what was typed after the command into what the command has opened."""
        typed, self._typed = self._typed, ""
        if typed and (focused := QApplication.focusWidget()) is not None:
            keys = QEvent.Type.KeyPress, Qt.Key.Key_unknown, Qt.KeyboardModifier.NoModifier
            QApplication.sendEvent(focused, QKeyEvent(*keys, typed))

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

    def repeat_attaching(self) -> None:
        """Attach the files and images that were pasted or asked for before the vault was open."""
        for signal, values in self._attaching:
            signal.emit(*values)

    def take_sent(self) -> list[str]:
        """Return the messages to send once the vault is open, in their order."""
        sent, self._sent = self._sent, []
        return sent

    def restore_typed(self, typed: str) -> None:
        """Add text that the user typed while the vault was opening to the end of the draft.

        Args:
            typed: the text.
        """
        if typed.strip():
            self._composer.set_text(f"{self._composer.text()}\n{typed}".strip())

    def take_note(self) -> str:
        """Return the note that was clicked before the vault was open, or an empty string.

        Later clicks are those of the controllers.
        """
        self._is_over = True
        return self._note

    def _keep_attaching(self, signal: SignalInstance, *values: object) -> None:
        if not self._is_attached:
            self._attaching.append((signal, values))

    def _on_note_chosen(self, path: str) -> None:
        if not self._is_over:
            self._note = path

    def _on_submitted(self, text: str) -> None:
        if self._is_attached or self._attaching:
            return
        self._sent.append(text)
        self._composer.set_text("")
        waiting = "\n".join(self._sent)
        self._composer.show_waiting("Sent when the vault is open", waiting, self._take_back)

    def _take_back(self) -> None:
        """Put the messages that were sent back into the composer, before any newer text."""
        self._composer.waiting.hide()
        self._composer.set_text("\n".join([*self.take_sent(), self._composer.text()]).strip())
        self._composer.setFocus()
