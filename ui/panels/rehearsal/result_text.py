"""Both answers side by side, with what differs lit, and the table of the sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextLength,
    QTextTable,
    QTextTableFormat,
)
from PySide6.QtWidgets import QTextEdit

from ui.theme import Theme, dress
from ui.widgets.formatting import plural

if TYPE_CHECKING:
    from app.rehearsal.result import EachResult, RehearsalResult
    from chains.rehearsal.table import RankedSource

__all__ = ["ArrivingAnswer", "ResultText"]

_BOLD: Final = 600
_CARRIER_PERCENT: Final = 22
_NARROW_PX: Final = 420
_NOTHING_YET: Final = (
    "Both answers will stand here side by side, and what differs is lit. Or each source is left "
    "out in turn, and you see which one carried which sentence."
)


@dataclass
class ArrivingAnswer:
    """An answer as far as it has arrived, beside the one in the chat.

    Attributes:
        before: the answer in the chat.
        left_out: the keys of what is left out.
        text: what has arrived.
        state: what its head says of it, such as "arriving".
    """

    before: str
    left_out: tuple[str, ...]
    text: str = ""
    state: str = "arriving…"


class ResultText(QTextEdit):
    """A read-only text with what came of a rehearsal.

    Attributes:
        differences: where each sentence that differs begins.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setFrameShape(QTextEdit.Shape.NoFrame)
        self.setAccessibleName("The answers, side by side")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setCursorWidth(0)  # a caret would say that one can write here
        dress(self, "ui", "")
        self.differences: list[int] = []
        self._found: RehearsalResult | EachResult | ArrivingAnswer | None = None
        self._end: QTextCursor | None = None
        Theme.current().changed.connect(self._write)
        self._write()

    def show_result(self, found: "RehearsalResult | EachResult | None") -> None:
        """Show what came of a rehearsal, or nothing."""
        self._found = found
        self._write()

    @property
    def arriving(self) -> ArrivingAnswer | None:
        """The answer that is shown as far as it has arrived, or None."""
        return self._found if isinstance(self._found, ArrivingAnswer) else None

    def begin_answer(self, answer: ArrivingAnswer) -> None:
        """Show an answer whose text will arrive."""
        self._found = answer
        self._write()

    def add_text(self, text: str) -> None:
        """Show text that has arrived. The view follows it if it is at the end."""
        if (answer := self.arriving) is None or self._end is None:
            return
        answer.text += text
        bar = self.verticalScrollBar()
        is_at_end = bar.value() == bar.maximum()
        self._end.insertText(text, self._make_format("text.primary"))
        if is_at_end:
            bar.setValue(bar.maximum())

    def take_back(self) -> None:
        """Show no more of what has arrived, because it was thinking."""
        if (answer := self.arriving) is not None:
            answer.text = ""
            self._write()

    def mark(self, state: str) -> None:
        """Say above what has arrived that it is not complete, and why. It stays shown."""
        if (answer := self.arriving) is not None:
            place = self.verticalScrollBar().value()
            answer.state = state
            self._write()
            self.verticalScrollBar().setValue(place)

    def _write(self) -> None:
        from app.rehearsal.result import RehearsalResult

        self.clear()
        self.differences, self._end = [], None
        cursor = self.textCursor()
        if (found := self._found) is None:  # Qt would cut a placeholder after its first line
            cursor.insertText(_NOTHING_YET, self._make_format("text.tertiary"))
            return
        cursor.beginEditBlock()
        if isinstance(found, ArrivingAnswer):
            self._write_arriving(cursor, found)
        elif isinstance(found, RehearsalResult):
            self._write_answers(cursor, found)
        else:
            self._write_table(cursor, found)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _write_answers(self, cursor: QTextCursor, found: "RehearsalResult") -> None:
        rehearsal, difference = found.rehearsal, found.difference
        table, bodies = self._begin_pair(cursor, _name_answer(rehearsal.left_out))
        gone = [
            (at, one, "remove")
            for at, one in zip(difference.gone_starts, difference.gone, strict=True)
        ]
        new = [
            (at, one, "add") for at, one in zip(difference.new_starts, difference.new, strict=True)
        ]
        gone += [(one.before_start, one.before, "mark") for one in difference.reworded]
        new += [(one.after_start, one.after, "mark") for one in difference.reworded]
        self._write_lit(table, bodies[0], found.before, sorted(gone))
        self._write_lit(table, bodies[1], rehearsal.text, sorted(new))
        if rehearsal.note:
            end = table.lastCursorPosition()
            end.movePosition(QTextCursor.MoveOperation.NextBlock)
            end.insertText(rehearsal.note, self._make_format("text.secondary"))

    def _write_arriving(self, cursor: QTextCursor, answer: ArrivingAnswer) -> None:
        head = f"{_name_answer(answer.left_out)}: {answer.state}"
        table, bodies = self._begin_pair(cursor, head)
        plain = self._make_format("text.primary")
        table.cellAt(*bodies[0]).firstCursorPosition().insertText(answer.before, plain)
        self._end = table.cellAt(*bodies[1]).firstCursorPosition()
        self._end.insertText(answer.text, plain)

    def _begin_pair(
        self, cursor: QTextCursor, head: str
    ) -> tuple[QTextTable, Sequence[tuple[int, int]]]:
        """Write the heads of two answers, and return their table and where the answers belong.

        The heads come first, since text before a sentence that differs would move its place.
        """
        is_narrow = self.viewport().width() < Theme.current().px(_NARROW_PX)
        columns = 1 if is_narrow else 2
        table = self._add_table(cursor, 4 // columns, columns, 100 // columns)
        heads = ((0, 0), (2, 0)) if is_narrow else ((0, 0), (0, 1))
        self._write_cell(table, heads[0], "The answer in the chat")
        self._write_cell(table, heads[1], head)
        return table, ((1, 0), (3, 0)) if is_narrow else ((1, 0), (1, 1))

    def _write_table(self, cursor: QTextCursor, found: "EachResult") -> None:
        table = found.table
        if table.note:
            cursor.insertText(table.note, self._make_format("text.primary"))
            return
        cursor.insertText(table.describe_noise(), self._make_format("text.secondary"))
        self._write_head(cursor, "Sources by what falls without them")
        for place, ranked in enumerate(table.ranking, start=1):
            self._write_ranked(cursor, place, ranked)
        if not table.ranking:
            self._write_line(cursor, table.describe_no_ranking(), "text.primary")
        self._write_head(cursor, "Which source carried which sentence")
        rows = self._add_table(cursor, max(1, len(table.sentences)), 2, _CARRIER_PERCENT)
        for at, sentence in enumerate(table.sentences):
            self._write_cell(rows, (at, 0), sentence.name_carriers())
            tone = "text.primary" if sentence.carriers else "text.secondary"
            one = rows.cellAt(at, 1).firstCursorPosition()
            one.insertText(" ".join(sentence.text.split()), self._make_format(tone))
        if table.untested:
            cursor.movePosition(QTextCursor.MoveOperation.End)
            rest = f"Not left out on their own: {', '.join(table.untested)}"
            self._write_line(cursor, rest, "text.secondary")

    def _write_ranked(self, cursor: QTextCursor, place: int, ranked: "RankedSource") -> None:
        fallen = plural(len(ranked.fallen), "sentence")
        keys = ", ".join(ranked.keys)
        self.differences.append(cursor.position() + 1)
        self._write_line(cursor, f"{place}. {ranked.name()} ({keys}): {fallen}", "text.primary")
        for text in ranked.fallen:
            self._write_line(cursor, f"    {' '.join(text.split())}", "text.secondary")

    def _write_head(self, cursor: QTextCursor, text: str) -> None:
        form = self._make_format("text.primary")
        form.setFontWeight(_BOLD)
        block = QTextBlockFormat()
        block.setTopMargin(Theme.current().px(12))
        cursor.insertBlock(block)
        cursor.insertText(text, form)

    def _write_line(self, cursor: QTextCursor, text: str, tone: str) -> None:
        cursor.insertBlock(QTextBlockFormat())
        cursor.insertText(text, self._make_format(tone))

    def _write_cell(self, table: QTextTable, at: tuple[int, int], text: str) -> None:
        form = self._make_format("text.primary")
        form.setFontWeight(_BOLD)
        table.cellAt(*at).firstCursorPosition().insertText(text, form)

    def _write_lit(
        self,
        table: QTextTable,
        at: tuple[int, int],
        text: str,
        highlights: Sequence[tuple[int, str, str]],
    ) -> None:
        """Write an answer, with some of its sentences lit.

        Args:
            at: the row and column.
            text: the answer.
            highlights: where each sentence begins, in order, the sentence, and its tone.
        """
        theme, cursor = Theme.current(), table.cellAt(*at).firstCursorPosition()
        plain, end = self._make_format("text.primary"), 0
        for start, sentence, tone in highlights:
            marked = self._make_format(f"diff.{tone}_text")
            marked.setBackground(theme.color(f"diff.{tone}_bg"))
            cursor.insertText(text[end:start], plain)
            self.differences.append(cursor.position())
            end = start + len(sentence)
            cursor.insertText(text[start:end], marked)
        cursor.insertText(text[end:], plain)

    def _add_table(
        self, cursor: QTextCursor, rows: int, columns: int, first_percent: int
    ) -> QTextTable:
        form = QTextTableFormat()
        form.setBorder(0)
        form.setCellSpacing(0)
        form.setCellPadding(6)
        kind = QTextLength.Type.PercentageLength
        widths = [first_percent, 100 - first_percent][:columns]
        form.setColumnWidthConstraints([QTextLength(kind, width) for width in widths])
        form.setWidth(QTextLength(kind, 100))
        return cursor.insertTable(rows, columns, form)

    @staticmethod
    def _make_format(tone: str) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setForeground(Theme.current().color(tone))
        return form


def _name_answer(left_out: Sequence[str]) -> str:
    return f"Without {', '.join(left_out)}" if left_out else "Asked again, unchanged"
