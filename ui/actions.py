"""The window's commands with their labels and default keys, and the keymap.

The keymap holds the current keys, which the settings `ui.keys` and `ui.sendKey` can change.
Actions, tooltips, the palette and the list of shortcuts all read the keymap.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence

from resources.system.calls import SYSTEM

__all__ = [
    "COMMANDS",
    "SEND_WITH_CTRL",
    "Keymap",
    "WindowCommand",
    "show_keys",
    "show_modifier",
    "word_keys",
]

SEND_WITH_CTRL: Final = "Ctrl+Enter"
# In Qt, Ctrl is ⌘ on macOS, and Meta is Ctrl. ⌘Tab switches programs there, ⌘M minimizes a window.
_MACOS_KEYS: Final[Mapping[str, str]] = {
    "Ctrl+Tab": "Meta+Tab",
    "Ctrl+Shift+Tab": "Meta+Shift+Tab",
    "Ctrl+M": "Meta+M",
}
_NAMED_KEYS: Final = re.compile(r"(?:(?:Ctrl|Alt|Shift|Meta)\+)+(?:[A-Z][A-Za-z]*\d*|[^\s\w])")


@dataclass(frozen=True)
class WindowCommand:
    """A command of the main window, which the user runs from a menu, a shortcut or the palette.

    Attributes:
        name: the identifier of the command in code and in the setting `ui.keys`.
        words: the label of the command in menus and the palette.
        keys: the default shortcuts of the command, except on macOS.
        group: the heading above the command in the list of shortcuts.
        other_words: additional search words for the palette, which are not displayed.
    """

    name: str
    words: str
    keys: tuple[str, ...]
    group: str = "Window"
    other_words: str = ""

    @property
    def default_keys(self) -> tuple[str, ...]:
        """The default shortcuts on this system."""
        if SYSTEM != "macos":
            return self.keys
        return tuple(_MACOS_KEYS.get(key, key) for key in self.keys)


COMMANDS = (
    WindowCommand("new_chat", "New chat", ("Ctrl+N",), "Chats"),
    WindowCommand("quick_ask", "Quick ask, in a small window", (), "Chats"),
    WindowCommand("previous_chat", "Previous chat", ("Ctrl+PgUp", "Ctrl+Shift+Tab"), "Chats"),
    WindowCommand("next_chat", "Next chat", ("Ctrl+PgDown", "Ctrl+Tab"), "Chats"),
    WindowCommand("focus_composer", "Go to the message box", ("Ctrl+L",), "Chats"),
    WindowCommand("find", "Find in this chat or note", ("Ctrl+F",), "Chats"),
    WindowCommand("search_chats", "Search all chats", ("Ctrl+Shift+F",), "Chats"),
    WindowCommand("rename_chat", "Rename this chat", (), "Chats"),
    WindowCommand("pin_chat", "Pin this chat to the top, or unpin it", (), "Chats"),
    WindowCommand("archive_chat", "Archive this chat, or restore it", (), "Chats"),
    WindowCommand("save_note", "Save this chat as a note", (), "Chats"),
    WindowCommand("delete_chat", "Delete this chat", (), "Chats", "bin trash remove"),
    WindowCommand("empty_bin", "Empty the bin of chats", (), "Chats", "delete trash"),
    WindowCommand("compact", "Compact this chat", (), "Chats", "summary shorten"),
    WindowCommand("answer_again", "Answer again", ("Ctrl+R",), "Chats", "regenerate retry"),
    WindowCommand(
        "continue_answer", "Continue the last answer", ("Ctrl+Shift+R",), "Chats", "resume rest"
    ),
    WindowCommand("compare", "Compare the last answer with another model's", (), "Chats"),
    WindowCommand("edit_last", "Edit the last message", (), "Chats"),
    WindowCommand("saw", "What the model saw", ("Ctrl+Shift+I",), "Chats"),
    WindowCommand("move_chat", "Move the chat to a project, or out of it", (), "Chats"),
    WindowCommand("choose_mode", "Choose the mode", ("Ctrl+M",), "Chats"),
    WindowCommand("choose_model", "Choose the model", ("Ctrl+Shift+M",), "Chats"),
    WindowCommand("previous_message", "Previous message", ("Alt+Up",), "Chats"),
    WindowCommand("next_message", "Next message", ("Alt+Down",), "Chats"),
    WindowCommand("copy_answer", "Copy the last answer", ("Ctrl+Shift+C",), "Chats"),
    WindowCommand("copy_code", "Copy the last code", ("Ctrl+Shift+;",), "Chats"),
    WindowCommand("stop", "Close what is open, else stop the answer", ("Esc",), "Chats"),
    WindowCommand("open_note", "Open a note", ("Ctrl+O",), "Notes"),
    WindowCommand("attach", "Attach a note or a folder", (), "Notes"),
    WindowCommand("attach_note", "Attach the open note, or the lines selected in it", (), "Notes"),
    WindowCommand(
        "toggle_source", "Show the source of the note, or the note", ("Ctrl+E",), "Notes"
    ),
    WindowCommand("note_outline", "Headings of the open note", ("Ctrl+Shift+L",), "Notes"),
    WindowCommand("note_editor", "Open the note in an editor", (), "Notes"),
    WindowCommand("note_obsidian", "Open the note in Obsidian", (), "Notes"),
    WindowCommand("note_reveal", "Reveal the note in the file manager", (), "Notes"),
    WindowCommand("note_back", "Back to the note before", ("Alt+Left",), "Notes"),
    WindowCommand("note_forward", "Forward to the next note", ("Alt+Right",), "Notes"),
    WindowCommand("insert_link", "Insert a link to a related note", ("Ctrl+Alt+L",), "Notes"),
    WindowCommand("toggle_related", "Show or hide related notes", ("Ctrl+Shift+E",), "Notes"),
    WindowCommand("toggle_index", "Show or hide the index", ("Ctrl+Shift+X",), "Notes"),
    WindowCommand("look_after", "Look after your notes", ("Ctrl+Shift+K",), "Notes"),
    WindowCommand(
        "judge_notes",
        "Judge every note by a question",
        ("Ctrl+Alt+J",),
        "Notes",
        "exhaustive all which how many verdict",
    ),
    WindowCommand(
        "pin_question",
        "Pin the question in the message box, or the last answer",
        ("Ctrl+Shift+D",),
        "Notes",
        "sidebar live list search",
    ),
    WindowCommand("read_again", "Read the notes again", (), "Notes"),
    WindowCommand("pause_index", "Pause reading the notes, or go on", (), "Notes"),
    WindowCommand(
        "choose_folder", "Choose a folder of notes", ("Ctrl+Shift+O",), "Notes", "open vault"
    ),
    WindowCommand("open_project", "Open a folder as a project", ("Ctrl+Alt+O",), "Notes"),
    WindowCommand(
        "project_page",
        "Page of this project",
        (),
        "Notes",
        "instructions memory web pages settings",
    ),
    WindowCommand("toggle_sidebar", "Show or hide the sidebar", ("Ctrl+B",)),
    WindowCommand(
        "toggle_panel", "Show or hide the context panel", ("Ctrl+I",), other_words="tokens sources"
    ),
    WindowCommand("palette", "Find a command, a chat or a note", ("Ctrl+K", "Ctrl+Shift+P")),
    WindowCommand("undo", "Undo what was just done", ("Ctrl+Z",), other_words="revert take back"),
    WindowCommand("show_request", "Show the request itself", ()),
    WindowCommand(
        "then_and_today",
        "Compare the request of the answer with that of today's notes",
        (),
        other_words="time machine past difference",
    ),
    WindowCommand(
        "rehearse",
        "Ask again without some of what the model saw",
        (),
        other_words="rehearsal leave out sources carry sentence",
    ),
    WindowCommand("settings", "Settings", ("Ctrl+,",), other_words="preferences options"),
    WindowCommand("back_up", "Back up or restore everything of Strata", (), other_words="archive"),
    WindowCommand("first_run", "Set up Strata: notes, model, first question", ()),
    WindowCommand("larger", "Larger text", ("Ctrl++", "Ctrl+="), other_words="font size zoom in"),
    WindowCommand("smaller", "Smaller text", ("Ctrl+-",), other_words="font size zoom out"),
    WindowCommand(
        "normal_size", "Text at its normal size", ("Ctrl+0",), other_words="font zoom reset"
    ),
    WindowCommand("next_region", "To the next region", ("F6",)),
    WindowCommand("previous_region", "To the previous region", ("Shift+F6",)),
    WindowCommand("reset_layout", "Reset the layout", ()),
    WindowCommand("look_for_update", "Look for a newer version", (), other_words="update upgrade"),
    WindowCommand("shortcuts", "Shortcuts", ("F1",), other_words="keyboard keys help"),
    WindowCommand("quit", "Quit", ("Ctrl+Q",), other_words="exit close"),
)


class Keymap(QObject):
    """The current shortcuts of all commands, and the key that sends a message.

    `Keymap.current` returns the only instance. Its signal `changed` is emitted when a shortcut
    changes.
    """

    changed = Signal()
    _current: Self | None = None

    def __init__(self) -> None:
        super().__init__()
        self.sends_with_ctrl = False
        self._keys = _choose_keys({})

    @classmethod
    def current(cls) -> Self:
        """Return the global keymap. The first call creates it."""
        if cls._current is None:
            cls._current = cls()
        return cls._current

    @property
    def send_key(self) -> str:
        """The key that sends a message, such as `Ctrl+Enter`."""
        return show_keys(SEND_WITH_CTRL) if self.sends_with_ctrl else "Enter"

    @property
    def line_key(self) -> str:
        """The key that starts a new line, such as `Shift+Enter`."""
        return "Enter" if self.sends_with_ctrl else show_keys("Shift+Enter")

    def apply(self, chosen: Mapping[str, Sequence[str]], send_key: str) -> None:
        """Apply the user's shortcuts and send key from the settings.

        Args:
            chosen: the value of `ui.keys`: the shortcuts that the user changed, by command name.
            send_key: the value of `ui.sendKey`.
        """
        keys, sends_with_ctrl = _choose_keys(chosen), send_key == SEND_WITH_CTRL
        if (keys, sends_with_ctrl) != (self._keys, self.sends_with_ctrl):
            self._keys, self.sends_with_ctrl = keys, sends_with_ctrl
            self.changed.emit()

    def list_keys(self, name: str) -> tuple[str, ...]:
        """Return the shortcuts of a command, such as `Ctrl+N`, given the command's name."""
        return self._keys[name]

    def describe(self, name: str) -> str:
        """Return a command's first shortcut in the notation of the operating system.

        Return an empty string if the command has no shortcut.
        """
        return next(map(show_keys, self._keys[name]), "")

    def describe_all(self, name: str) -> str:
        """Return all shortcuts of a command as text, such as `Ctrl+K or Ctrl+Shift+P`."""
        return " or ".join(map(show_keys, self._keys[name]))

    def find_owner(self, keys: str) -> WindowCommand | None:
        """Return the command that uses a shortcut, or None if no command uses it."""
        return next((one for one in COMMANDS if keys in self._keys[one.name]), None)


def show_keys(keys: str) -> str:
    """Format a shortcut in the notation of the operating system, such as ⌘N on macOS."""
    if SYSTEM == "macos":
        keys = keys.replace("Enter", "Return")  # Enter is on the number pad
    return _write_native(QKeySequence(keys))


def show_modifier(name: str) -> str:
    """Return the name of a modifier such as `Ctrl` in the notation of the operating system."""
    return show_keys(f"{name}+A").removesuffix("A").removesuffix("+")


def word_keys(text: str) -> str:
    """Write the shortcuts that a text names in the notation of the operating system."""
    return _NAMED_KEYS.sub(lambda match: show_keys(match.group()), text)


def _write_native(keys: QKeySequence) -> str:
    return keys.toString(QKeySequence.SequenceFormat.NativeText)


def _choose_keys(chosen: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Merge the user's shortcuts with the default shortcuts, without conflicts.

    If the user assigns a shortcut that is another command's default, the other command loses it.

    Args:
        chosen: the shortcuts that the user changed, by command name.

    Returns:
        The shortcuts of all commands, by command name.
    """
    names = {command.name for command in COMMANDS}
    own = {name: _normalize(keys) for name, keys in chosen.items() if name in names}
    taken = {key for keys in own.values() for key in keys}
    given: set[str] = set()
    found = {}
    for command in COMMANDS:
        keys = own.get(command.name)
        if keys is None:
            keys = [key for key in _normalize(command.default_keys) if key not in taken]
        found[command.name] = tuple(key for key in keys if key not in given)
        given |= set(keys)
    return found


def _normalize(keys: Iterable[str]) -> list[str]:
    """Convert shortcuts to Qt's portable text format. Drop duplicates and invalid shortcuts."""
    shown = (QKeySequence(key).toString() for key in keys)
    return list(dict.fromkeys(key for key in shown if key))
