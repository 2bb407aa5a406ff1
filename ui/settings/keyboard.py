"""The settings page "Keyboard", on which the user changes shortcuts and resolves conflicts."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QKeyCombination, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.config.schema import SettingSpec
from ui.actions import COMMANDS, Keymap, WindowCommand, show_keys, show_modifier
from ui.settings.rows import Control, SettingRow
from ui.settings.writer import SettingsWriter
from ui.theme import dress
from ui.widgets.buttons import ButtonText, IconButton, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.layouts import grow, keep_room, make_column, make_row
from ui.widgets.menus import show_menu

__all__ = ["CommandRow", "KeyField", "KeyboardRow", "refuse_keys"]

KEYS, SEND_KEY = "ui.keys", "ui.sendKey"
Chosen = Mapping[str, Sequence[str]]
_Standard = QKeySequence.StandardKey
_EDITING = (
    *(_Standard.Copy, _Standard.Cut, _Standard.Paste),
    *(_Standard.Undo, _Standard.Redo, _Standard.SelectAll),
)
_MODIFIERS = {Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta}
_IGNORED = {*_MODIFIERS, Qt.Key.Key_AltGr, Qt.Key.Key_unknown}
_ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}
_FREE = re.compile(r"(Shift\+)?(F\d+|Esc)")  # they type no character


class KeyField(QPushButton):
    """A button that shows a command's shortcuts. After a click, it records a new shortcut.

    Esc stops recording without a change. The signal `recorded` is emitted with the new shortcut as
    portable text. The text is empty if the user presses Backspace or Delete.
    """

    recorded = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._keys = name, ""
        self.is_recording = False
        self.setAutoDefault(False)
        dress(self, "ui", "")
        self.clicked.connect(self.begin)
        self.show_keys("")

    def show_keys(self, keys: str) -> None:
        """Show the command's shortcuts. An empty string means that there are none."""
        self._keys = keys
        self._show("Press a key…" if self.is_recording else keys or "No key")

    def begin(self) -> None:
        """Start recording. The next key that is pressed becomes the shortcut."""
        self.is_recording = True
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.show_keys(self._keys)

    def event(self, event: QEvent) -> bool:
        """Receive all keys while recording, even those that would otherwise run a command."""
        if self.is_recording and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.keyPressEvent(event)
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Record the pressed key as the shortcut. Esc stops recording without a change.

        If no shortcut is being recorded, Enter starts recording.
        """
        key = Qt.Key(event.key())
        if not self.is_recording:
            if key in _ENTER:
                self.click()
            else:
                super().keyPressEvent(event)
        elif key not in _IGNORED:
            self._end()
            if key in {Qt.Key.Key_Backspace, Qt.Key.Key_Delete} and not _has_modifier(event):
                self.recorded.emit("")
            elif key != Qt.Key.Key_Escape or _has_modifier(event):
                self.recorded.emit(_name_keys(event))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Stop recording when the button loses the focus."""
        self._end()
        super().focusOutEvent(event)

    def _end(self) -> None:
        self.is_recording = False
        self.show_keys(self._keys)

    def _show(self, text: str) -> None:
        self.setText(text.replace("&", "&&"))
        self.setAccessibleName(f"{self._name}: {text}")
        self.setToolTip("Change the keys")


class CommandRow(QWidget):
    """The row of one command: its name, its shortcuts, and a button that restores the defaults."""

    def __init__(self, command: WindowCommand, writer: SettingsWriter) -> None:
        super().__init__()
        self._command, self._writer = command, writer
        self._adds = False
        self.field = KeyField(command.words)
        self.field.clicked.connect(self._on_clicked)
        self.field.recorded.connect(self._on_recorded)
        self.field.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.field.customContextMenuRequested.connect(self._open_menu)
        self.reset = IconButton(
            "arrow-counter-clockwise", f"Reset the keys of {command.words}", size=24
        )
        self.reset.clicked.connect(self.restore)
        self._problem = make_wrapped_label("", "caption", "danger")
        self._take = make_button(
            ButtonText("Use it here", "Take the keys away from the other command"),
            "text",
            self._on_taken,
        )
        self._wanted, self._is_wanted_beside = "", False
        self._lay_out()
        Keymap.current().changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the command's current shortcuts."""
        self.field.show_keys(Keymap.current().describe_all(self._command.name))
        chosen = _read(self._writer.value(KEYS))
        self.reset.setVisible(self._command.name in chosen)
        self.show_problem("")

    def show_problem(self, text: str, wanted: str = "") -> None:
        """Show why a shortcut was not accepted. An empty text hides the message.

        Args:
            text: the message, as a sentence.
            wanted: the shortcut, if another command uses it, or an empty string. A button then
                offers to take the shortcut from that command.
        """
        self._wanted = wanted
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
        self._take.setVisible(bool(wanted))

    def restore(self) -> None:
        """Restore the command's default shortcuts. Other commands lose these shortcuts."""
        name, default = self._command.name, self._command.default_keys

        def change(chosen: object) -> dict[str, list[str]]:
            left = _without(_read(chosen), default)
            left.pop(name, None)
            return left

        self._writer.update(KEYS, change)

    def _lay_out(self) -> None:
        name = label(self._command.words)
        keep_room(self.reset)
        row = make_row(grow(name), self.reset, self.field, spacing=8)
        below = make_row(grow(self._problem), self._take, spacing=8)
        make_column(row, below, margins=(0, 4, 0, 4), spacing=4, parent=self)

    def _open_menu(self, spot: QPoint) -> None:
        menu = QMenu(self.field)
        menu.addAction("Change the keys", self.field.click)
        menu.addAction("Add another key", self._add)
        remove = menu.addAction("Remove the keys", partial(self._on_recorded, ""))
        remove.setEnabled(bool(Keymap.current().list_keys(self._command.name)))
        restore = menu.addAction("Reset the keys", self.restore)
        restore.setEnabled(self.reset.isVisible())
        show_menu(menu, self.field.mapToGlobal(spot))

    def _on_clicked(self) -> None:
        self._adds = False

    def _add(self) -> None:
        self._adds = True
        self.field.begin()

    def _on_recorded(self, keys: str) -> None:
        adds, self._adds = self._adds and bool(keys), False
        owner = Keymap.current().find_owner(keys) if keys else None
        refused = refuse_keys(keys, self._command.name) if keys else ""
        if refused:
            self.show_problem(refused)
        elif owner is not None and owner.name != self._command.name:
            self._is_wanted_beside = adds
            self.show_problem(f"{show_keys(keys)} is the key of “{owner.words}”.", keys)
        else:
            self._write(keys, adds)

    def _on_taken(self) -> None:
        self._write(self._wanted, self._is_wanted_beside)

    def _write(self, keys: str, adds: bool) -> None:
        """Store the new shortcuts of this command. Other commands lose these shortcuts.

        Args:
            keys: the new shortcut, or an empty string for none.
            adds: whether to keep the command's existing shortcuts.
        """
        name = self._command.name
        before = Keymap.current().list_keys(name) if adds else ()
        new = [*before, keys] if keys and keys not in before else [*before]

        def change(chosen: object) -> dict[str, list[str]]:
            return {**_without(_read(chosen), new), name: new}

        self._writer.update(KEYS, change)


class KeyboardRow(SettingRow):
    """The row of the setting `ui.keys`: a help text, and a button that restores all defaults.

    It applies changed shortcuts and a changed send key immediately.

    Attributes:
        commands: the rows of all commands, which are below this row on the page.
    """

    def __init__(self, spec: SettingSpec, writer: SettingsWriter) -> None:
        super().__init__(spec, writer, self._make_button)
        self.commands = [CommandRow(command, writer) for command in COMMANDS]
        writer.changed.connect(self._apply)

    def refresh(self) -> None:
        """Enable the button that restores all defaults, if the user has changed any shortcut."""
        super().refresh()
        self.reset_button.hide()

    def _make_button(self, _row: SettingRow) -> Control:
        made = make_button(
            ButtonText("Reset all keys", "Give each command its usual keys again"),
            "",
            self._on_reset,
        )
        return Control(made, lambda value: made.setEnabled(bool(value)))

    def _apply(self, key: str) -> None:
        if key in {KEYS, SEND_KEY}:
            keys = _read(self._writer.value(KEYS))
            Keymap.current().apply(keys, str(self._writer.value(SEND_KEY)))
            for row in self.commands:
                row.refresh()


def refuse_keys(keys: str, command: str = "") -> str:
    """Return a sentence that explains why a key cannot be used as a shortcut.

    Return an empty string if it can be used.

    Args:
        keys: the key with its modifiers, in Qt's portable text format.
        command: the name of the command. "undo" may have the keys that undo text, since it does
            outside a text field what they do in it.
    """
    taken = (one for one in _EDITING if (command, one) != ("undo", _Standard.Undo))
    if any(QKeySequence(keys) in QKeySequence.keyBindings(standard) for standard in taken):
        return f"{show_keys(keys)} edits text, so no command can have it."
    if keys.endswith(("Return", "Enter")) and "Alt+" not in keys:
        return f"{show_keys(keys)} belongs to the message box. See “Send key”."
    if not _FREE.fullmatch(keys) and not any(
        modifier in keys for modifier in ("Ctrl+", "Alt+", "Meta+")
    ):
        modifiers = f"{show_modifier('Ctrl')} or {show_modifier('Alt')}"
        return f"{show_keys(keys)} is needed for typing. Hold {modifiers} as well."
    return ""


def _has_modifier(event: QKeyEvent) -> bool:
    """Return whether a modifier key is held. The keypad modifier does not count."""
    return bool(event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier)


def _name_keys(event: QKeyEvent) -> str:
    """Return the pressed key with its modifiers in Qt's portable text format.

    Shift is omitted for characters such as `+` or `?`, because keyboard layouts differ in which of
    them need Shift.
    """
    modifiers = event.modifiers() & ~(
        Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.GroupSwitchModifier
    )
    typed = event.text()
    is_sign = bool(typed) and typed.isprintable() and not typed.isalnum() and not typed.isspace()
    if is_sign:
        modifiers &= ~Qt.KeyboardModifier.ShiftModifier
    key = Qt.Key(event.key())
    if key == Qt.Key.Key_Backtab:
        key = Qt.Key.Key_Tab
    return QKeySequence(QKeyCombination(modifiers, key)).toString()


def _read(value: object) -> dict[str, list[str]]:
    """Return a copy of the value of the setting `ui.keys`, which maps commands to shortcuts."""
    assert isinstance(value, dict)
    return {name: list(keys) for name, keys in value.items()}


def _without(chosen: Chosen, keys: Sequence[str]) -> dict[str, list[str]]:
    """Return a copy of the user's shortcuts without the given shortcuts.

    Args:
        chosen: the user's shortcuts by command name.
        keys: the shortcuts to remove from all commands.
    """
    return {name: [key for key in own if key not in keys] for name, own in chosen.items()}
