"""A diff of notes, with removed and added lines in which the changed words are highlighted.

Every line begins with `-`, `+` or a space, so that its meaning does not depend on colour alone.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import (
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsOpacityEffect,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)

from ui.theme import Theme, dress
from ui.widgets.buttons import SHOW_ALL, SHOW_LESS, ButtonText, Switch, make_button
from ui.widgets.controls import label
from ui.widgets.formatting import count, plural
from ui.widgets.geometry import keep_place, make_scroll_area
from ui.widgets.layouts import align, make_column, make_row, stretch
from vault.edits.diff import DiffLine, list_diff_lines

__all__ = ["DiffView", "HunkList"]

_LINES: Final = 12
_INSET: Final = 8
_MOST_LINES: Final = 2_000
_MOST_LINE_CHARS: Final = 4_000
_MOST_HEIGHT: Final = 360
_FAINT: Final = 0.4
_MARKS: Final = {"removed": "- ", "added": "+ ", "same": "  ", "head": "", "note": "  "}
_GROUNDS: Final = {"removed": "remove", "added": "add"}
_TONES: Final = {"head": "text.tertiary", "note": "text.tertiary", "same": "text.secondary"}


class DiffView(QFrame):
    """A unified diff in a box of at most twelve lines, which scrolls and can be expanded.

    Lines beyond the first 2,000 are left out.

    Args:
        diff: the unified diff of one or more notes.
        name: the accessible name, for screen readers.
        parent: the parent widget.

    Attributes:
        text: the field with the diff's lines.
        more: the button that expands the box. Its label says how many lines are hidden.
    """

    def __init__(self, diff: str, name: str = "The change", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        lines = list(_select_lines(list_diff_lines(diff))) or [_describe_no_change(diff)]
        self._left_out = max(0, len(lines) - _MOST_LINES)
        self.text = _DiffText(lines[:_MOST_LINES], name)
        self.more = make_button(SHOW_ALL, "link", self._on_more)
        self.text.fitted.connect(self._say)
        foot = make_column(
            align(self.more, Qt.AlignmentFlag.AlignLeft), margins=(_INSET, 0, _INSET, 0)
        )
        make_column(self.text, foot, margins=(1, 8, 1, 8), spacing=4, parent=self)
        self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the number of hidden lines for the new width."""
        super().resizeEvent(event)
        self._say()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the edge of the box around the diff."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.color("line.hairline"))
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))

    def _on_more(self) -> None:
        keep_place(self)
        self.text.set_whole(not self.text.is_whole)
        self._say()

    def _say(self) -> None:
        hidden = self.text.hidden_lines
        texts = [f"{plural(hidden, 'more line')} below · {SHOW_ALL.label}" if hidden else ""]
        tip = SHOW_ALL.tip
        if self.text.is_whole and self.text.is_long:
            texts, tip = [SHOW_LESS.label], SHOW_LESS.tip
        if self._left_out:
            texts.append(f"{count(self._left_out)} further lines are not shown here")
        self.more.set_text(ButtonText(" · ".join(filter(None, texts)), tip))
        self.more.setVisible(bool(self.more.text()))


class HunkList(QWidget):
    """A list of a change's hunks, each with a switch to accept the hunk or leave it out.

    The signal `changed` is emitted when a switch is toggled.

    Args:
        hunks: the hunks, each as a unified diff without file names.
        parent: the parent widget.

    Attributes:
        switches: the switch of each hunk, in order.
    """

    changed = Signal()

    def __init__(self, hunks: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.switches: list[Switch] = []
        inside = QWidget()
        self._rows = make_column(margins=0, spacing=4, parent=inside)
        for number, hunk in enumerate(hunks):
            self._add(number, len(hunks), hunk)
        self._area = make_scroll_area(inside)
        self._area.viewport().setAutoFillBackground(False)
        inside.setAutoFillBackground(False)
        inside.installEventFilter(self)
        make_column(self._area, margins=0, parent=self)

    @property
    def is_whole(self) -> bool:
        """Whether the switches of all hunks are on."""
        return all(switch.isChecked() for switch in self.switches)

    def find_kept(self) -> list[int]:
        """Return the zero-based indices of the hunks whose switch is on."""
        return [number for number, switch in enumerate(self.switches) if switch.isChecked()]

    def find_left_out(self) -> list[int]:
        """Return the zero-based indices of the hunks whose switch is off."""
        return [number for number, switch in enumerate(self.switches) if not switch.isChecked()]

    def leave_out(self, numbers: Collection[int]) -> None:
        """Turn off the switches with the given zero-based indices, and turn on all others."""
        for number, switch in enumerate(self.switches):
            switch.setChecked(number not in numbers)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Make the list as tall as its hunks, up to a maximum height above which it scrolls."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            most = Theme.current().px(_MOST_HEIGHT)
            self._area.setFixedHeight(min(most, self._rows.minimumSize().height()))
        return super().eventFilter(watched, event)

    def _add(self, number: int, total: int, hunk: str) -> None:
        name = f"Change {number + 1} of {total}"
        switch = Switch(f"Make change {number + 1} of {total}")
        switch.setChecked(True)
        switch.setToolTip("Leave this change out, or make it")
        shown_name = label(name, "caption", "secondary")
        head = make_row(shown_name, stretch(), switch, spacing=8)
        view = DiffView(hunk, name)
        faint = QGraphicsOpacityEffect(view)
        faint.setOpacity(_FAINT)
        faint.setEnabled(False)
        view.setGraphicsEffect(faint)
        self._rows.addLayout(head)
        self._rows.addWidget(view)
        self.switches.append(switch)

        def show(is_kept: bool) -> None:
            faint.setEnabled(not is_kept)
            shown_name.setText(name if is_kept else f"{name}, left out")
            self.changed.emit()

        switch.toggled.connect(show)


@dataclass(frozen=True)
class _Shown:
    """A line of the diff, divided into highlighted and other text."""

    kind: str
    parts: Sequence[tuple[str, bool]]


class _DiffText(QPlainTextEdit):
    """A read-only field with the lines of a diff.

    The mouse wheel scrolls the lines if some are hidden, and otherwise the chat. The signal
    `fitted` is emitted when the number of hidden lines may have changed.

    Args:
        lines: the lines of the diff.
        name: the accessible name, for screen readers.
    """

    fitted = Signal()

    def __init__(self, lines: Sequence[_Shown], name: str) -> None:
        super().__init__()
        self.is_whole = False
        self._lines = lines
        self._shown_lines = self._all_lines = 0
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)  # so that `-` or `+` comes first
        self.document().setDefaultTextOption(option)
        self.setWordWrapMode(option.wrapMode())
        self.setAccessibleName(name)
        self.document().setDocumentMargin(0)
        self.setViewportMargins(_INSET, 0, _INSET, 0)
        dress(self, "code", "")
        Theme.current().changed.connect(self._paint_again)
        self._write()

    @property
    def is_long(self) -> bool:
        """Whether the diff has more lines than the collapsed box shows."""
        return self._all_lines > _LINES

    @property
    def hidden_lines(self) -> int:
        """The number of lines that can only be seen by scrolling or expanding the box."""
        return self._all_lines - self._shown_lines

    def set_whole(self, is_whole: bool) -> None:
        """Show all lines of the diff, or only the first twelve."""
        self.is_whole = is_whole
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height to the lines of the diff for the new width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the lines if some are hidden. Otherwise leave the event to the chat."""
        if self.hidden_lines:
            super().wheelEvent(event)
        else:
            event.ignore()

    def _paint_again(self) -> None:
        self._write()
        self._fit()

    def _write(self) -> None:
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for at, line in enumerate(self._lines):
            if at:
                cursor.insertBlock()
            _write_line(cursor, line)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _fit(self) -> None:
        # A QPlainTextEdit's document gives its height in lines, wrapped ones included.
        self._all_lines = max(1, ceil(self.document().size().height()))
        self._shown_lines = self._all_lines if self.is_whole else min(self._all_lines, _LINES)
        bars = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            bars.ScrollBarAsNeeded if self.hidden_lines else bars.ScrollBarAlwaysOff
        )
        height = self.blockBoundingRect(self.document().firstBlock()).height()
        per_line = height / max(1, self.document().firstBlock().layout().lineCount())
        self.setFixedHeight(ceil(per_line * self._shown_lines) + 2)
        self.fitted.emit()


def _write_line(cursor: QTextCursor, line: _Shown) -> None:
    theme = Theme.current()
    block, plain, marked = QTextBlockFormat(), QTextCharFormat(), QTextCharFormat()
    tone = _GROUNDS.get(line.kind)
    if tone is None:
        plain.setForeground(theme.color(_TONES[line.kind]))
    else:
        block.setBackground(theme.color(f"diff.{tone}_bg"))
        for form in (plain, marked):
            form.setForeground(theme.color(f"diff.{tone}_text"))
        ground = theme.color(f"diff.{tone}_text")
        ground.setAlphaF(0.16)
        marked.setBackground(ground)
    cursor.setBlockFormat(block)
    cursor.insertText(_MARKS[line.kind], plain)
    for text, is_marked in line.parts:
        cursor.insertText(text, marked if is_marked else plain)


def _select_lines(lines: Sequence[DiffLine]) -> Iterator[_Shown]:
    """Yield the lines to display for a diff.

    Changed words are highlighted only if the line also has unchanged words. If the diff contains
    several notes, the path of each note is shown above its changes.
    """
    notes = sum(line.text.startswith("+++ ") for line in lines if line.kind == "head")
    for line in lines:
        if line.kind != "head":
            is_whole = all(part.is_changed for part in line.parts)
            parts = [(part.text, part.is_changed and not is_whole) for part in line.parts]
            yield _Shown(line.kind, _cut(parts))
        elif head := _describe_head(line.text, notes > 1):
            yield _Shown("head", [(head, False)])


def _describe_no_change(diff: str) -> _Shown:
    sentence = "The text stays as it is." if diff.startswith("rename ") else "The note is empty."
    return _Shown("head", [(sentence, False)])


def _describe_head(text: str, has_several: bool) -> str:
    """Return the text to show for a header line of a diff, such as `line 12` for a hunk.

    Return an empty string for a header line that is not shown.

    Args:
        text: the header line.
        has_several: whether the diff contains several notes.
    """
    if text.startswith("@@ "):
        start = text.split("+", 1)[1].split(" ", 1)[0].split(",", 1)[0]
        return "" if start in ("0", "1") else f"line {start}"
    if text.startswith("+++ ") and has_several:
        return text[4:]
    return text if text.startswith("rename ") and has_several else ""


def _cut(parts: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Shorten an extremely long line, which would be slow to lay out.

    Args:
        parts: the pieces of the line, as pairs of text and whether it is highlighted.
    """
    cut: list[tuple[str, bool]] = []
    room = _MOST_LINE_CHARS
    for text, is_marked in parts:
        cut.append((text[:room], is_marked))
        room -= len(text)
        if room < 0:
            cut.append((f"… {count(-room)} more characters", False))
            break
    return cut
