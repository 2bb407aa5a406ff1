"""The dialog that shows a request as it was, as today's notes would make it, and what differs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QKeySequence,
    QShortcut,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from ui.theme import Theme, dress, tokens
from ui.widgets.buttons import DONE, ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.dialogs import fit_dialog
from ui.widgets.formatting import count, plural
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.menus import MenuButton
from ui.widgets.surfaces import Pane

if TYPE_CHECKING:
    from app.time_machine.difference import ComparedText
    from app.time_machine.machine import PastRequest, RequestComparison

__all__ = ["PastView"]

LineKind = Literal["layer", "head", "unchanged", "same", "removed", "added", "skipped"]

_FORMS: Final = (
    ("diff", "What differs", ""),
    ("then", "As it was", ""),
    ("now", "As it would be today", ""),
)
_MARKS: Final = {"removed": "- ", "added": "+ ", "same": "  ", "skipped": "  "}
_TONES: Final = {
    "layer": "text.tertiary",
    "unchanged": "text.secondary",
    "head": "text.primary",
    "same": "text.secondary",
    "skipped": "text.tertiary",
}
_GROUNDS: Final = {"removed": "remove", "added": "add"}
_STATES: Final = {
    "same": "the same",
    "changed": "changed",
    "added": "only today",
    "removed": "only then",
}
_MOST_LINES: Final = 4_000
_BOLD: Final = 600
_BUSY: Final = "Searching today's notes for the same question…"
_EXACT: Final = "Byte for byte what was sent."
_SAME: Final = "Today's notes would make the same request."
_FAILED: Final = "Today's request could not be made: {}"
_NEXT = ButtonText("Next difference", "Scroll to the next text that differs (F7)")
_BEFORE = ButtonText("Previous difference", "Scroll to the text before that differs (Shift+F7)")
_AGAIN = ButtonText("Try again", "Search today's notes once more")


@dataclass(frozen=True, slots=True)
class PastLine:
    """A line of the view. `is_difference` marks the first line of a text that differs."""

    kind: LineKind
    text: str
    is_difference: bool = False


class PastView(QDialog):
    """A dialog with a past request and today's, layer by layer. Lines that differ are lit.

    Signals:
        again_requested: emitted when the user wants today's request to be made once more.
        left: emitted when the dialog closes, so that a search for it can end.

    Attributes:
        forms: the menu that chooses what is shown.
        text: the field with the lines.
        state: the sentence that says what is shown, or why nothing is.
        place: which of the differences is shown.
    """

    again_requested = Signal()
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Then and today")
        self._found: RequestComparison | None = None
        self._places: list[int] = []
        self._at = -1
        self.forms = MenuButton("What is shown")
        self.forms.set_choices(_FORMS)
        self.forms.set_value("diff")
        self.forms.chosen.connect(self._show)
        self.state = make_wrapped_label(_BUSY, "ui", "secondary")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setAccessibleName("The request, layer by layer")
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setProperty("field", True)
        dress(self.text, "code", "")
        self.place = label("", "caption", "secondary", numbers=True)
        self.next = make_button(_NEXT, "", lambda: self.step(1))
        self.before = make_button(_BEFORE, "", lambda: self.step(-1))
        self.again = make_button(_AGAIN, "", self._on_again)
        for key, by in (("F7", 1), ("Shift+F7", -1)):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.activated.connect(lambda by=by: self.step(by))
        self._lay_out()
        self.finished.connect(lambda _result: self.left.emit())
        Theme.current().changed.connect(self._show)

    def begin(self) -> None:
        """Open the dialog, and say that the requests are being compared."""
        self._found = None
        self._say(_BUSY)
        self._write([])
        if not self.isVisible():
            fit_dialog(self)
        self.show()
        self.raise_()
        self.activateWindow()

    def show_comparison(self, found: "RequestComparison") -> None:
        """Show the requests, and go to the first text that differs."""
        self._found = found
        self._show()
        self.text.setFocus()

    def show_failure(self, sentence: str) -> None:
        """Say why today's request cannot be made, and offer to try again."""
        self._say(_FAILED.format(sentence), can_retry=True)

    def step(self, by: int) -> None:
        """Scroll to the next or previous text that differs, and say which of them it is.

        Args:
            by: 1 for the next text, or -1 for the previous one.
        """
        if not self._places:
            return
        self._at = (self._at + by) % len(self._places)
        self.place.setText(f"Difference {count(self._at + 1)} of {count(len(self._places))}")
        block = self.text.document().findBlockByNumber(self._places[self._at])
        self.text.setTextCursor(QTextCursor(block))
        self.text.centerCursor()

    def _on_again(self) -> None:
        self.begin()
        self.again_requested.emit()

    def _lay_out(self) -> None:
        ground = Pane("content")
        make_column(ground, margins=0, parent=self)
        head = make_row(grow(label("Then and today", "h2")), self.forms)
        foot = make_row(self.before, self.next, self.place, stretch(), self.again, spacing=8)
        foot.addWidget(make_button(DONE, "primary", self.accept))
        make_column(head, self.state, grow(self.text), foot, margins=24, spacing=12, parent=ground)

    def _show(self, *_: object) -> None:
        if (found := self._found) is None:
            return
        form = self.forms.value
        if form == "diff":
            self._say(_describe_difference(found))
            self._write(list(_list_differences(found.texts)))
        else:
            request = found.then if form == "then" else found.now
            self._say(_describe(request))
            self._write(list(_list_request(request)))

    def _say(self, sentence: str, *, can_retry: bool = False) -> None:
        self.state.setText(sentence)
        self.again.setVisible(can_retry)

    def _write(self, lines: Sequence[PastLine]) -> None:
        shown = lines[:_MOST_LINES]
        if len(lines) > len(shown):
            rest = f"{count(len(lines) - len(shown))} further lines are not shown here"
            shown = [*shown, PastLine("skipped", rest)]
        self.text.clear()
        cursor = self.text.textCursor()
        cursor.beginEditBlock()
        for at, line in enumerate(shown):
            if at:
                cursor.insertBlock()
            _write_line(cursor, line)
        cursor.endEditBlock()
        self._places = [at for at, line in enumerate(shown) if line.is_difference]
        self._at = -1
        for button in (self.next, self.before):
            button.setEnabled(bool(self._places))
        self.place.setText("")
        self.text.setVisible(bool(shown))
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
        self.step(1)


def _describe_difference(found: "RequestComparison") -> str:
    parts = [*found.then.notes, *_list_gone(found.then)]
    if not found.changed:
        return " ".join((_SAME, *parts))
    changed, total = count(found.changed), plural(len(found.texts), "text")
    return " ".join((f"{changed} of {total} differ.", *parts))


def _describe(request: "PastRequest") -> str:
    content = request.content
    is_exact = content.is_exact and content.wire is not None
    return " ".join(([_EXACT] if is_exact else []) + [*request.notes, *_list_gone(request)])


def _list_gone(request: "PastRequest") -> Iterator[str]:
    for gone in request.content.gone:
        yield f"The text of {gone.path} is not kept any more ({gone.reason})."


def _list_differences(texts: "Sequence[ComparedText]") -> Iterator[PastLine]:
    layer = ""
    for text in texts:
        shown = text.shown
        if shown.layer != layer:
            yield from _begin_layer(shown.layer, is_first=not layer)
            layer = shown.layer
        is_different = text.state != "same"
        kind: LineKind = "head" if is_different else "unchanged"
        yield PastLine(kind, f"{shown.label}: {_STATES[text.state]}", is_different)
        if is_different:
            yield from _list_lines(text)


def _list_lines(text: "ComparedText") -> Iterator[PastLine]:
    """Yield the lines of a text that differ, with a few lines around them."""
    for line in text.list_near():
        if isinstance(line, int):
            yield PastLine("skipped", f"… {plural(line, 'line')}")
            continue
        kind: LineKind = "removed" if line.sign == "-" else "added" if line.sign else "same"
        yield PastLine(kind, line.text)


def _list_request(request: "PastRequest") -> Iterator[PastLine]:
    layer = ""
    for text in request.texts:
        if text.layer != layer:
            yield from _begin_layer(text.layer, is_first=not layer)
            layer = text.layer
        yield PastLine("head", text.label)
        yield from (PastLine("same", line) for line in text.text.splitlines())


def _begin_layer(code: str, *, is_first: bool) -> Iterator[PastLine]:
    if not is_first:
        yield PastLine("skipped", "")
    yield PastLine("layer", f"{code} {tokens()['layer_name'][code]}")


def _write_line(cursor: QTextCursor, line: PastLine) -> None:
    theme = Theme.current()
    block, form = QTextBlockFormat(), QTextCharFormat()
    if (tone := _GROUNDS.get(line.kind)) is not None:
        block.setBackground(theme.color(f"diff.{tone}_bg"))
        form.setForeground(theme.color(f"diff.{tone}_text"))
    else:
        form.setForeground(theme.color(_TONES[line.kind]))
    if line.kind in ("layer", "head"):
        form.setFontWeight(_BOLD)
    if line.is_difference:
        form.setForeground(theme.color("amber.text"))
    cursor.setBlockFormat(block)
    cursor.insertText(f"{_MARKS.get(line.kind, '')}{line.text}", form)
