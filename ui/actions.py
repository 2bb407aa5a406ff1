"""The commands of the window: one table of their names, labels and shortcuts.

The shortcuts, the palette and the list of shortcuts (F1) are made from this table.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ui.theme import Theme
from ui.widgets.completion_list import Choice
from ui.widgets.controls import button, label
from ui.widgets.geometry import make_scroll_area
from ui.widgets.surfaces import Pane

__all__ = ["COMMANDS", "ShortcutsDialog", "WindowCommand", "add_actions", "command_choices"]

_LEAST_WIDTH = 440


@dataclass(frozen=True)
class WindowCommand:
    """A window command with its name, label, shortcuts, and group in the list of shortcuts."""

    name: str
    words: str
    keys: tuple[str, ...]
    group: str = "Window"


COMMANDS = (
    WindowCommand("new_chat", "New chat", ("Ctrl+N",), "Chats"),
    WindowCommand("previous_chat", "Previous chat", ("Ctrl+PgUp", "Ctrl+Shift+Tab"), "Chats"),
    WindowCommand("next_chat", "Next chat", ("Ctrl+PgDown", "Ctrl+Tab"), "Chats"),
    WindowCommand("focus_composer", "Go to the message box", ("Ctrl+L",), "Chats"),
    WindowCommand("find", "Find in this chat", ("Ctrl+F",), "Chats"),
    WindowCommand("answer_again", "Answer again", ("Ctrl+R",), "Chats"),
    WindowCommand("edit_last", "Edit the last message", (), "Chats"),
    WindowCommand("saw", "What the model saw", ("Ctrl+Shift+I",), "Chats"),
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
    WindowCommand("toggle_related", "Show or hide related notes", ("Ctrl+Shift+E",), "Notes"),
    WindowCommand("toggle_index", "Show or hide the index", ("Ctrl+Shift+X",), "Notes"),
    WindowCommand("read_again", "Read the notes again", (), "Notes"),
    WindowCommand("pause_index", "Pause reading the notes, or go on", (), "Notes"),
    WindowCommand("choose_folder", "Choose a folder of notes", ("Ctrl+Shift+O",), "Notes"),
    WindowCommand("open_project", "Open a folder as a project", ("Ctrl+Alt+O",), "Notes"),
    WindowCommand("toggle_sidebar", "Show or hide the sidebar", ("Ctrl+B",)),
    WindowCommand("toggle_panel", "Show or hide the context panel", ("Ctrl+I",)),
    WindowCommand("palette", "Find a command, a chat or a note", ("Ctrl+K", "Ctrl+Shift+P")),
    WindowCommand("show_request", "Show the request itself", ()),
    WindowCommand("settings", "Settings", ("Ctrl+,",)),
    WindowCommand("larger", "Larger text", ("Ctrl++", "Ctrl+=")),
    WindowCommand("smaller", "Smaller text", ("Ctrl+-",)),
    WindowCommand("normal_size", "Text at its normal size", ("Ctrl+0",)),
    WindowCommand("next_region", "To the next region", ("F6",)),
    WindowCommand("previous_region", "To the previous region", ("Shift+F6",)),
    WindowCommand("reset_layout", "Reset the layout", ()),
    WindowCommand("shortcuts", "Shortcuts", ("F1",)),
    WindowCommand("quit", "Quit", ("Ctrl+Q",)),
)


def add_actions(window: QWidget, slots: dict[str, Callable[[], object]]) -> dict[str, QAction]:
    """Add all commands to a window as actions, and return the actions by name.

    Args:
        window: the window that gets the actions; shortcuts work while it or a child has the focus.
        slots: the function that runs each command, by command name.
    """
    actions = {}
    for command in COMMANDS:
        action = QAction(command.words, window)
        action.setShortcuts([QKeySequence(keys) for keys in command.keys])
        action.triggered.connect(lambda _checked=False, act=slots[command.name]: act())
        window.addAction(action)
        actions[command.name] = action
    return actions


def command_choices() -> list[Choice]:
    """Return all commands except the palette itself as choices for the palette."""
    native = QKeySequence.SequenceFormat.NativeText
    return [
        Choice(
            command.name,
            command.words,
            "command",
            beside=QKeySequence(command.keys[0]).toString(native) if command.keys else "",
        )
        for command in COMMANDS
        if command.name != "palette"
    ]


class ShortcutsDialog(QDialog):
    """A dialog that lists all keyboard shortcuts (F1)."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        space = Theme.current().space(4)
        content = Pane("overlay")
        groups = QVBoxLayout(content)
        groups.setContentsMargins(0, 0, space, 0)
        groups.setSpacing(space)
        for group in dict.fromkeys(command.group for command in COMMANDS):
            groups.addWidget(label(group, "label", "secondary"))
            groups.addLayout(_grid(c for c in COMMANDS if c.group == group and c.keys))
        area = make_scroll_area(content)
        area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        area.setAccessibleName("Shortcuts")
        area.setMinimumWidth(max(_LEAST_WIDTH, content.sizeHint().width()))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24 - space, 20)
        column.setSpacing(space)
        column.addWidget(label("Shortcuts", "h2"))
        column.addWidget(area, 1)
        done = button("Done", "primary", self.accept)
        done.setDefault(True)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(done)
        row.addSpacing(space)
        column.addLayout(row)
        most = parent.window().height() - 2 * space
        self.resize(0, min(most, self.sizeHint().height() + content.sizeHint().height()))


def _grid(commands: Iterable[WindowCommand]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(0, 1)
    for row, command in enumerate(commands):
        grid.addWidget(label(command.words), row, 0)
        native = QKeySequence.SequenceFormat.NativeText
        keys = " or ".join(QKeySequence(key).toString(native) for key in command.keys)
        grid.addWidget(label(keys, "ui", "secondary"), row, 1, Qt.AlignmentFlag.AlignRight)
    return grid
