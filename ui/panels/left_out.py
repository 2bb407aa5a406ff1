"""What a request does not hold, each with its layer, its tokens and the reason, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.kit.controls import one_line, plain_tip
from ui.kit.figures import count, place, plural
from ui.kit.lists import ROW, FitTree, Index, paint_text
from ui.theme import Theme

__all__ = ["LeftOutList", "LeftOutRow", "left_out_rows"]

_REASONS = {
    "room": "Dropped: history over its room",
    "tail": "Left out this once, for a long message or many passages",
    "share": "Lowest rank: over the room for passages",
    "budget": "Over the budget",
    "shortened": "Shortened to its beginning",
    "history_guarantee_broken": "Even your previous question had to be left out to make room.",
}


@dataclass(frozen=True)
class LeftOutRow:
    """One thing that was left out.

    Attributes:
        below: lines under it, such as the questions of the turns.
        things: how many it is: turns, passages, answers.
    """

    layer: str
    what: str
    tokens: int
    reason: str
    below: tuple[str, ...] = ()
    things: int = 1

    @property
    def name(self) -> str:
        """What screen readers say."""
        named = ": " + "; ".join(self.below) if self.below else ""
        return f"{self.layer}, {self.what}, {count(self.tokens)} tokens, {self.reason}{named}"


def left_out_rows(context: Mapping[str, Any], questions: Mapping[str, str]) -> list[LeftOutRow]:
    """Return what was left out of a request, in the order of its report.

    Args:
        context: the report.
        questions: what was asked, by the id of the entry that holds it; it names the turns.
    """
    sources = {segment["id"]: segment for segment in context["segments"]}
    rows = [_row(dropped, sources, questions) for dropped in context["dropped"]]
    named = {entry for dropped in context["dropped"] for entry in dropped["entries"]}
    for segment in context["segments"]:
        if segment["id"] not in named and segment["state"] in {"dropped", "shrunk"}:
            rows.append(_segment_row(segment))
    return rows


class LeftOutList(FitTree):
    """The rows under "Left out of this request"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Left out of this request", parent)
        self._model = QStandardItemModel(self)
        self.setItemDelegate(_LeftOutDelegate(self))
        self.setModel(self._model)
        self.setSelectionMode(FitTree.SelectionMode.NoSelection)

    def show_rows(self, rows: list[LeftOutRow]) -> None:
        """Replace everything."""
        if [self._model.item(n).data(ROW) for n in range(self._model.rowCount())] == rows:
            return
        self._model.removeRows(0, self._model.rowCount())
        for row in rows:
            item = QStandardItem(row.what)
            item.setData(row, ROW)
            item.setData(row.name, Qt.ItemDataRole.AccessibleTextRole)
            tip = plain_tip("\n".join((row.what, row.reason, *row.below)))
            item.setData(tip, Qt.ItemDataRole.ToolTipRole)
            self._model.appendRow(item)
        self.fit()


class _LeftOutDelegate(QStyledItemDelegate):
    """Draws layer, what and tokens in one line, the reason and the questions below."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of two lines and one for each line below."""
        row: LeftOutRow = index.data(ROW)
        line = Theme.current().line("caption") + 2
        return QSize(0, line * (2 + len(row.below)) + 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        theme = Theme.current()
        row: LeftOutRow = index.data(ROW)
        line = theme.line("caption") + 2
        area: QRect = option.rect
        rect = QRect(area.left() + 16, area.top() + 1, area.width() - 32, line)
        painter.save()
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("text.secondary"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, row.layer)
        painter.setFont(theme.font("caption", numbers=True))
        tokens = count(row.tokens)
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, tokens)
        taken = QFontMetrics(painter.font()).horizontalAdvance(tokens) + 8
        rect.setLeft(rect.left() + theme.px(24))
        painter.setFont(theme.font("caption", weight=500))
        painter.setPen(theme.color("text.primary"))
        mode = Qt.TextElideMode.ElideMiddle
        paint_text(painter, rect.adjusted(0, 0, -taken, 0), row.what, mode)
        painter.setFont(theme.font("caption"))
        for tone, text in [("secondary", row.reason), *(("tertiary", text) for text in row.below)]:
            rect.translate(0, line)
            painter.setPen(theme.color(f"text.{tone}"))
            paint_text(painter, rect, text)
        painter.restore()


def _row(
    dropped: Mapping[str, Any],
    sources: Mapping[str, Mapping[str, Any]],
    questions: Mapping[str, str],
) -> LeftOutRow:
    reason = _REASONS.get(dropped["reason"], one_line(dropped["reason"]).capitalize())
    entries = dropped["entries"]
    if dropped["turns"]:
        what = "oldest turn" if dropped["turns"] == 1 else f"{count(dropped['turns'])} oldest turns"
        asked = tuple(f"“{one_line(questions[entry])}”" for entry in entries if entry in questions)
        what = what.capitalize() if dropped["turns"] == 1 else what
        return LeftOutRow(
            dropped["layer"], what, dropped["tokens"], reason, asked, dropped["turns"]
        )
    known = [_source(sources[entry]) for entry in entries if entry in sources]
    if dropped["reason"] == "shortened":
        what = plural(max(1, len(entries)), "long answer")
    else:
        what = known[0] if len(known) == 1 else plural(max(1, len(entries)), "passage")
    below = tuple(known) if len(known) > 1 else ()
    return LeftOutRow(
        dropped["layer"], what, dropped["tokens"], reason, below, max(1, len(entries))
    )


def _segment_row(segment: Mapping[str, Any]) -> LeftOutRow:
    reason = _REASONS.get(segment["reason"], one_line(segment["reason"] or ""))
    lost = segment["original_tokens"] - segment["tokens"]
    if segment["state"] == "shrunk":
        reason = f"Shrunk to {count(segment['tokens'])}: lowest rank"
    return LeftOutRow(segment["layer"], _source(segment), lost, reason)


def _source(segment: Mapping[str, Any]) -> str:
    lines = segment["lines"]
    source = one_line(segment["source"] or segment["kind"])
    return place(source, lines)
