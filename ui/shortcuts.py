"""The window's commands as Qt actions and palette items, and the dialog that lists shortcuts."""

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QWidget

from ui.actions import COMMANDS, Keymap, WindowCommand
from ui.theme import Theme
from ui.widgets.buttons import DONE, make_button
from ui.widgets.completion_list import Choice
from ui.widgets.controls import label
from ui.widgets.geometry import make_scroll_area
from ui.widgets.layouts import align, grow, make_column, make_grid, make_row, stretch
from ui.widgets.surfaces import Pane

__all__ = ["ShortcutsDialog", "WindowActions", "list_window_commands"]

_LEAST_WIDTH = 440


class WindowActions(QObject):
    """The window's commands as Qt actions with their current shortcuts.

    Args:
        window: the window that gets the actions. The shortcuts work while the window or one of its
            children has the focus.
        slots: the functions that run the commands until `set_slots`, by command name.
    """

    def __init__(self, window: QWidget, slots: dict[str, Callable[[], object]]) -> None:
        super().__init__(window)
        self._actions = {}
        self._slots = slots
        for command in COMMANDS:
            action = QAction(command.words, window)
            action.triggered.connect(partial(self._run, command.name))
            if command.name == "quit":  # also from the settings, which lie above the window
                action.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
            window.addAction(action)
            self._actions[command.name] = action
        Keymap.current().changed.connect(self._set_keys)
        self._set_keys()

    def set_slots(self, slots: dict[str, Callable[[], object]]) -> None:
        """Replace the functions that run the commands."""
        self._slots = slots

    def trigger(self, name: str) -> None:
        """Run a command by its name."""
        self._actions[name].trigger()

    def _run(self, name: str, _is_checked: bool = False) -> None:
        self._slots[name]()

    def _set_keys(self) -> None:
        keymap = Keymap.current()
        for name, action in self._actions.items():
            action.setShortcuts([QKeySequence(keys) for keys in keymap.list_keys(name)])


def list_window_commands() -> list[Choice]:
    """Return all commands as items for the palette, except the command that opens the palette."""
    keymap = Keymap.current()
    return [
        Choice(
            command.name,
            command.words,
            "terminal-window",
            beside=keymap.describe(command.name),
            other_words=command.other_words,
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
        groups = make_column(margins=(0, 0, space, 0), spacing=space, parent=content)
        for group in dict.fromkeys(command.group for command in COMMANDS):
            groups.addWidget(label(group, "label", "secondary"))
            groups.addLayout(_grid(c for c in COMMANDS if c.group == group))
        area = make_scroll_area(content)
        area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        area.setAccessibleName("Shortcuts")
        area.setMinimumWidth(max(_LEAST_WIDTH, content.sizeHint().width()))
        done = make_button(DONE, "primary", self.accept)
        done.setDefault(True)
        row = make_row(stretch(), done, space)
        make_column(
            label("Shortcuts", "h2"),
            grow(area),
            row,
            margins=(24, 20, 24 - space, 20),
            spacing=space,
            parent=self,
        )
        most = parent.window().height() - 2 * space
        self.resize(0, min(most, self.sizeHint().height() + content.sizeHint().height()))


def _grid(commands: Iterable[WindowCommand]) -> QGridLayout:
    shown = ((one.words, Keymap.current().describe_all(one.name)) for one in commands)
    rows = (
        (label(words), align(label(keys, "ui", "secondary"), Qt.AlignmentFlag.AlignRight))
        for words, keys in shown
        if keys
    )
    return make_grid(rows, spacing=(24, 6), grows=0)
