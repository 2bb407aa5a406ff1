"""Completion in the text field: notes, folders, tags and commands.

`@` suggests notes and folders, `[[` suggests notes, `#` suggests tags, and `/` at the start of the
text suggests commands. A chosen note, folder or tag is attached to the message, and so is a web
page whose address is typed after `@`; in a sentence its name stays as a word. A chosen command is
inserted into the text; one that is typed in full is sent. A link chosen after `[[` is inserted too,
and its note is attached.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from ui.chat.composer.text import ENTER, is_send_key
from ui.theme import Theme
from ui.widgets.completion_list import Choice, ChoiceView, Match, find_choices
from ui.widgets.layouts import make_column
from ui.widgets.texts import count_units
from vault.notes.kinds import note_name

__all__ = ["Completer", "Offers", "Trigger", "find_trigger"]

_WIDTH = 440
_TRIGGERS = (
    ("url", re.compile(r"(?:^|(?<=[\s(\"“']))@(https?://[^\s@]{3,2000})$")),
    ("note", re.compile(r"(?:^|(?<=[\s(\"“']))@([^\s@][^@\n]{0,60}|)$")),
    ("link", re.compile(r"\[\[([^\[\]\n]{0,80})$")),
    ("tag", re.compile(r"(?:^|(?<=[\s(]))#([\w/-]{0,60})$")),
)
_COMMAND = re.compile(r"/(\w{0,20})")
_LINK = re.compile(r"\[\[([^\[\]\n|#]{1,200})(?:[#|][^\[\]\n]*)?\]\]$")
_STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -8,
    Qt.Key.Key_PageDown: 8,
}
_TAKE = ENTER | {Qt.Key.Key_Tab}


@dataclass(frozen=True)
class Offers:
    """The notes, folders, tags, commands and images that completion can suggest.

    The `value` of each choice is the path of a note, folder or image, or the name of a tag or
    command.
    """

    notes: Sequence[Choice] = ()
    folders: Sequence[Choice] = ()
    tags: Sequence[Choice] = ()
    commands: Sequence[Choice] = ()
    images: Sequence[Choice] = ()

    def of(self, kind: str) -> Sequence[Choice]:
        """Return the suggestions for a kind of prefix: `note`, `link`, `tag` or `command`."""
        if kind == "note":
            return [*self.notes, *self.folders, *self.images]
        return {"link": self.notes, "tag": self.tags, "command": self.commands}[kind]


@dataclass(frozen=True)
class Trigger:
    """A prefix and the beginning of a name that the user has typed, such as `@back`.

    Attributes:
        kind: `note`, `link`, `tag`, `command` or `url`.
        start: the position of the trigger's first character in the text, in UTF-16 code units.
        query: the text from the end of the prefix (`@`, `[[`, `#` or `/`) to the cursor.
    """

    kind: str
    start: int
    query: str


def find_trigger(before: str, line_start: int) -> Trigger | None:
    """Return the prefix and name that end at the cursor, such as `@back`, or None.

    Args:
        before: the current line up to the cursor.
        line_start: the position of the line's first character in the text.
    """
    if line_start == 0 and (match := _COMMAND.fullmatch(before)):
        return Trigger("command", 0, match[1])
    for kind, pattern in _TRIGGERS:
        if match := pattern.search(before):
            return Trigger(kind, line_start + count_units(before[: match.start()]), match[1])
    return None


class Completer(QObject):
    """A completer that shows a list of suggestions while the user types in a text field.

    The signal `attached` is emitted when the user chooses a note, folder, image, tag or web page,
    and when the user types a link to a note. It carries the path, the tag or the web address.

    Args:
        field: the text field.
    """

    attached = Signal(str)

    def __init__(self, field: QTextEdit) -> None:
        super().__init__(field)
        self._field = field
        self._offers = Offers()
        self._trigger: Trigger | None = None
        self._dismissed = -1
        field.installEventFilter(self)
        field.textChanged.connect(self._on_text_changed)
        field.cursorPositionChanged.connect(self._update)

    @cached_property
    def popup(self) -> "_Popup":
        """The list of suggestions. It is created when it is first needed."""
        popup = _Popup(self._field.window())
        popup.view.chosen.connect(self._on_clicked)
        return popup

    @property
    def is_open(self) -> bool:
        """Whether the completion suggestions are shown."""
        return "popup" in vars(self) and not self.popup.isHidden()

    def set_offers(self, offers: Offers) -> None:
        """Set the notes, folders, tags and commands that can be suggested."""
        self._offers = offers
        self._hide()
        self._update()

    def begin(self, mark: str) -> None:
        """Insert a prefix such as `@` at the cursor, and show suggestions for it."""
        cursor = self._field.textCursor()
        before = _read_before(cursor)
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)
        cursor.insertText(f" {mark}" if before and not before[-1].isspace() else mark)
        self._field.setTextCursor(cursor)

    def close(self) -> bool:
        """Hide the suggestions. Return False if none were shown.

        The suggestions stay hidden until the user types another prefix, such as `@`.
        """
        if not self.is_open:
            return False
        self._dismissed = -1 if self._trigger is None else self._trigger.start
        self._hide()
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys for a suggestion list: arrow keys, Enter or Tab to choose, Esc to close.

        Hide the suggestions when the field loses the focus, and move them when the window is
        resized. Return True for each key that was handled.
        """
        if watched is not self._field:
            if event.type() == QEvent.Type.Resize and self.is_open:
                QTimer.singleShot(0, self, self._place_again)  # after the field has been moved
            return False
        if event.type() in {QEvent.Type.FocusOut, QEvent.Type.Hide}:
            self._hide()
        if not self.is_open or not isinstance(event, QKeyEvent):
            return False
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return event.type() == QEvent.Type.KeyPress and self._take(event)

    def _take(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            return self.close()
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if key in _STEPS:
            self.popup.view.step(_STEPS[key])
            return True
        if key in ENTER and is_send_key(event.modifiers()) and self._has_whole_command():
            self._hide()  # the field sends the command
            return False
        if key in _TAKE and self.popup.view.current is not None:
            self._choose(self.popup.view.current.value)
            return True
        return False

    def _has_whole_command(self) -> bool:
        """Return whether the text is the selected command, so that nothing is left to complete."""
        found, chosen = self._trigger, self.popup.view.current
        if found is None or chosen is None or found.kind != "command":
            return False
        return self._field.toPlainText().strip().casefold() == f"/{chosen.value}".casefold()

    def _on_clicked(self, value: str) -> None:
        self._choose(value)

    def _on_text_changed(self) -> None:
        self._attach_link()
        self._update()

    def _update(self) -> None:
        found = self._find()
        if self.is_open and found == self._trigger:
            return
        if found is None or found.start != self._dismissed:
            self._dismissed = -1
        self._trigger = found
        if found is None or found.start == self._dismissed or not self._field.hasFocus():
            self._hide()
            return
        matches = _find_matches(self._offers, found)
        if not matches:
            self._hide()
            return
        self._field.window().installEventFilter(self)
        self.popup.show_at(matches, self._field, found.start)

    def _place_again(self) -> None:
        """Move the suggestions to the current position of the typed prefix in the window."""
        self._hide()
        self._update()

    def _find(self) -> Trigger | None:
        cursor = self._field.textCursor()
        if cursor.hasSelection():
            return None
        return find_trigger(_read_before(cursor), cursor.block().position())

    def _choose(self, value: str) -> None:
        found = self._trigger
        if found is None:
            return
        cursor = self._field.textCursor()
        cursor.setPosition(found.start, QTextCursor.MoveMode.KeepAnchor)
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        is_alone = not self._field.toPlainText().strip()
        cursor.insertText(_write_choice(found.kind, value, is_alone=is_alone))
        cursor.endEditBlock()
        self._field.setTextCursor(cursor)
        self._hide()
        if found.kind in {"note", "tag", "url"}:
            self.attached.emit(value)

    def _attach_link(self) -> None:
        cursor = self._field.textCursor()
        match = _LINK.search(_read_before(cursor))
        if match is None:
            return
        wanted = match[1].strip().removesuffix(".md").casefold()
        for choice in self._offers.notes:
            if wanted in {note_name(choice.value).casefold(), choice.value[:-3].casefold()}:
                self.attached.emit(choice.value)
                return

    def _hide(self) -> None:
        if self.is_open:
            self.popup.hide()


def _read_before(cursor: QTextCursor) -> str:
    """Return the text of the cursor's line up to the cursor."""
    before = QTextCursor(cursor.block())
    before.setPosition(cursor.position(), QTextCursor.MoveMode.KeepAnchor)
    return before.selectedText()


def _write_choice(kind: str, value: str, *, is_alone: bool) -> str:
    """Return the text that stays in the field for what the user chose.

    In a sentence, what is attached is one of the sentence's words: "Compare Dune with Emma", "List
    the notes with the tag #recipe". Where nothing else is written, its chip says it alone.
    """
    if kind == "command":
        return f"/{value} "
    if kind == "link":
        return f"[[{note_name(value)}]]"
    if is_alone:
        return ""
    return note_name(value.rstrip("/")) if kind == "note" else value


def _find_matches(offers: Offers, trigger: Trigger) -> Sequence[Match]:
    """Return the suggestions for a typed prefix and name, such as `@back`.

    For a web address, the only suggestion is the address.
    """
    if trigger.kind == "url":
        return [Match(Choice(trigger.query, trigger.query, "globe", beside="Attach this web page"))]
    return find_choices(offers.of(trigger.kind), trigger.query)


class _Popup(QFrame):
    """The popup with suggestions next to the text field. It never takes the focus."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.view = ChoiceView("Suggestions")
        make_column(self.view, margins=(1, 5, 1, 5), parent=self)
        self.hide()

    def show_at(self, matches: Sequence[Match], field: QTextEdit, start: int) -> None:
        """Show suggestions above the composer, or below the typed prefix if they do not fit there.

        Args:
            matches: the suggestions, best match first.
            field: the text field in which the user types.
            start: the position of the prefix, such as `@`, in the field's text.
        """
        self.view.show_matches(matches)
        if self.parentWidget() is not field.window():
            self.setParent(field.window())
        cursor = QTextCursor(field.document())
        cursor.setPosition(start)
        mark = field.cursorRect(cursor)
        window = field.window()
        spot = field.viewport().mapTo(window, mark.topLeft())
        width = min(Theme.current().px(_WIDTH), window.width() - 16)
        height = self.view.measure_rows() + 10
        box = field.parentWidget() or field  # its attachments stay visible
        above = min(spot.y(), box.mapTo(window, QPoint(0, 0)).y()) - height - 6
        y = above if above >= 8 else spot.y() + mark.height() + 6
        x = max(8, min(spot.x() - 12, window.width() - width - 8))
        self.setGeometry(x, y, width, height)
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.color("line.strong"))
        painter.setBrush(theme.color("bg.overlay"))
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))
