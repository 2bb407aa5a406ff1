"""Finding things by words: anything in the palette, a place in the open chat."""

from PySide6.QtCore import QObject, Signal

from ui.actions import command_choices
from ui.chat.column import Middle
from ui.chat.transcript.finder import Finder
from ui.chat.transcript.transcript import Transcript
from ui.controllers.chats import Chats
from ui.controllers.notes import Notes
from ui.palette import Palette
from ui.widgets.find_bar import FindBar

__all__ = ["Searching"]


class Searching(QObject):
    """Owns the palette and the search in the chat.

    Signals carry what was chosen: a command's name, a chat, a note's path.
    """

    command_chosen = Signal(str)
    chat_chosen = Signal(str)
    note_chosen = Signal(str)

    def __init__(
        self, palette: Palette, middle: Middle, transcript: Transcript, chats: Chats, notes: Notes
    ) -> None:
        super().__init__(palette)
        self._palette, self._chats, self._notes = palette, chats, notes
        bar = FindBar("Find in this chat")
        bar.hide()
        middle.add_find_bar(bar)
        self._finder = Finder(transcript, bar)
        palette.chosen.connect(self._on_chosen)

    def open_palette(self) -> None:
        """Offer commands, chats and notes."""
        groups = [
            ("command", command_choices()),
            ("chat", self._chats.choices()),
            ("note", self._notes.listing.offers.notes),
        ]
        self._palette.open(groups, "A command, a chat or a note")

    def open_notes(self) -> None:
        """Offer notes."""
        self._palette.open([("note", self._notes.listing.offers.notes)], "Open a note")

    def find(self) -> None:
        """Look for words in the open chat."""
        self._finder.open()

    def close(self) -> bool:
        """Take the palette away; false where it is not open."""
        return self._palette.close_it()

    def _on_chosen(self, group: str, value: str) -> None:
        signals = {"command": self.command_chosen, "chat": self.chat_chosen}
        signals.get(group, self.note_chosen).emit(value)
