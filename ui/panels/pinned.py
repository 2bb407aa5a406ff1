"""The pinned answers in the sidebar: a row for each, which opens into the rows of the answer."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QMenu, QWidget

from ui.widgets.controls import one_line
from ui.widgets.formatting import count, plural
from ui.widgets.lists import Cell, FitTree, Index, Row, RowDelegate
from ui.widgets.rows_model import RowColumn, RowsModel

if TYPE_CHECKING:
    from app.pinned.answer import AnswerRow
    from app.pinned.answers import ShownAnswer

__all__ = ["PinnedList"]

_MOST_SHOWN: Final = 200
# What begins a line of a list, a task or a quotation.
_LEAD: Final = re.compile(
    r"(?:>\s*)*(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?P<box>\[.\]\s+|(?<=[-*+.)]\s)(?:TODO|DONE)\s+)?"
)
_FLAGS: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_Fate = Literal["new", "changed", "gone", "same"]
_ICONS: "Final[Mapping[_Fate, str]]" = {"new": "plus", "changed": "pencil-simple", "gone": "minus"}


@dataclass(frozen=True)
class _Line:
    """A row below a pinned answer.

    Attributes:
        key: what names the row among the others of its answer.
        shown: the row as it is drawn, or a row of the answer with what has happened to it, also in
            words, which is built when it is drawn.
        path: the note that a click opens, or an empty string.
        line: the line of that note.
        is_more: whether a click shows more rows.
    """

    key: Hashable
    shown: "Row | tuple[AnswerRow, _Fate, str]"
    path: str = ""
    line: int = 0
    is_more: bool = False


@dataclass(frozen=True)
class _Card:
    """A pinned answer with the lines below it."""

    shown: "ShownAnswer"
    lines: tuple[_Line, ...]

    @property
    def id(self) -> str:
        """The id of the pinned answer."""
        return self.shown.answer.id


class PinnedList(FitTree):
    """The list of pinned answers. Enter or a click opens one, F2 renames it, Delete removes it.

    Ctrl+Shift+Up and Ctrl+Shift+Down move it.

    Signals:
        opened, closed: emitted with the id of a pinned answer that the user has opened or closed,
            whose changes are seen now.
        line_chosen: emitted with the path and the line of a row that the user opens.
        rename_requested: emitted with the id and the new title.
        remove_requested: emitted with the id of a pinned answer to remove.
        move_requested: emitted with the id and the new place in the list.
        refresh_requested: emitted with the id of a pinned answer to find again.
        write_requested: emitted with the id of a pinned answer to write into the vault.
        ask_requested: emitted with the id of a model's answer whose question is asked again.
        chat_requested: emitted with the id of a model's answer whose chat is opened.
    """

    opened = Signal(str)
    closed = Signal(str)
    line_chosen = Signal(str, int)
    rename_requested = Signal(str, str)
    remove_requested = Signal(str)
    move_requested = Signal(str, int)
    refresh_requested = Signal(str)
    write_requested = Signal(str)
    ask_requested = Signal(str)
    chat_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Pinned answers", parent)
        self._model: RowsModel[_Card | _Line] = RowsModel(
            [RowColumn(self._describe)], _name_row, self, below=_list_below, flags=_find_flags
        )
        self._most: dict[str, int] = {}  # of the answers of which more rows are shown
        self._waiting: Sequence[ShownAnswer] | None = None
        self.setItemDelegate(RowDelegate(self))
        self.setModel(self._model)
        self.expanded.connect(self._on_expanded)
        self.collapsed.connect(self._on_collapsed)
        self.chosen.connect(self._on_chosen)
        self.menu_wanted.connect(self._on_menu_wanted)
        # Queued, because the list is reloaded while the editor is still being closed.
        self._model.edited.connect(self._on_edited, Qt.ConnectionType.QueuedConnection)

    def set_answers(self, answers: "Sequence[ShownAnswer]") -> None:
        """Replace the list. What is open stays open, and the current row stays current.

        While the user types a title, the list stays as it is. It is replaced afterwards.
        """
        if self.state() == QAbstractItemView.State.EditingState:
            self._waiting = answers
            return
        current = self._find_current()
        self._model.set_rows([self._make_card(shown) for shown in answers])
        with QSignalBlocker(self):  # they were opened before
            for index in self._model.list_open():
                self.expand(index)
        if current and (index := self._find(current)).isValid():
            self.setCurrentIndex(index)
        self.fit()

    def find_answer(self, id: str) -> "ShownAnswer | None":
        """Return a pinned answer as it is shown, or None if it is not listed."""
        card = self._find_card(self._find(id))
        return None if card is None else card.shown

    def open(self, id: str) -> None:
        """Open a pinned answer, and make it the current row."""
        if (index := self._find(id)).isValid():
            self.setCurrentIndex(index)
            self.expand(index)

    def list_open(self) -> list[str]:
        """Return the ids of the pinned answers that are open."""
        indexes = [self._model.index(row, 0) for row in range(self._model.rowCount())]
        cards = [self._find_card(index) for index in indexes if self.isExpanded(index)]
        return [card.id for card in cards if card is not None]

    def select(self, id: str) -> None:
        """Make a pinned answer the current row."""
        if (index := self._find(id)).isValid():
            self.setCurrentIndex(index)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Close the title editor, and return the focus to the list."""
        super().closeEditor(editor, hint)
        self.setFocus()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self.set_answers(waiting)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rename, remove or move the current pinned answer, or open what the current row shows."""
        index, key = self.currentIndex(), event.key()
        card = self._find_card(index)
        if self.state() == QAbstractItemView.State.EditingState:
            event.accept()
        elif card is not None and key == Qt.Key.Key_F2:
            self.edit(index)
        elif card is not None and key == Qt.Key.Key_Delete:
            self.remove_requested.emit(card.id)
        elif card is not None and _is_moving(event):
            step = -1 if key == Qt.Key.Key_Up else 1
            self.move_requested.emit(card.id, index.row() + step)
        else:
            super().keyPressEvent(event)

    def _find(self, id: str) -> QModelIndex:
        return self._model.find(("card", id))

    def _find_card(self, index: Index) -> _Card | None:
        row = self._model.find_row(index)
        return row if isinstance(row, _Card) else None

    def _find_current(self) -> str:
        index = self.currentIndex()
        card = self._find_card(index) or self._find_card(index.parent())
        return "" if card is None else card.id

    def _make_card(self, shown: "ShownAnswer") -> _Card:
        most = self._most.get(shown.answer.id, _MOST_SHOWN)
        return _Card(shown, tuple(_list_lines(shown, most)))

    def _describe(self, row: _Card | _Line) -> Cell:
        if isinstance(row, _Line):
            shown = row.shown
            return (shown if isinstance(shown, Row) else _build_line_row(*shown)).cell
        cell = _build_row(row.shown, is_open=self._model.is_open(row)).cell
        return replace(cell, edited=row.shown.answer.title)

    def _on_edited(self, card: _Card, title: str) -> None:
        self.rename_requested.emit(card.id, title)

    def _on_expanded(self, index: QModelIndex) -> None:
        self._model.set_open(index, True)
        if (card := self._find_card(index)) is not None:
            self.opened.emit(card.id)

    def _on_collapsed(self, index: QModelIndex) -> None:
        self._model.set_open(index, False)
        if (card := self._find_card(index)) is not None:
            self.closed.emit(card.id)

    def _on_chosen(self, index: QModelIndex) -> None:
        line, card = self._model.find_row(index), self._find_card(index.parent())
        if not isinstance(line, _Line):
            return
        if line.is_more and card is not None:
            self._show_more(card, index.row())
        elif line.path:
            self.line_chosen.emit(line.path, line.line)

    def _show_more(self, card: _Card, row: int) -> None:
        """Show more rows of a pinned answer. The first of them is the current row."""
        self._most[card.id] = 2 * self._most.get(card.id, _MOST_SHOWN)
        self.set_answers([one.shown for one in self._model.rows if isinstance(one, _Card)])
        self.setCurrentIndex(self._model.index(row, 0, self._find(card.id)))

    def _on_menu_wanted(self, index: QModelIndex, menu: QMenu) -> None:
        card = self._find_card(index) or self._find_card(index.parent())
        if card is None:
            return
        place, id = self._find(card.id), card.id
        if card.shown.answer.kind == "model":
            menu.addAction("Ask again and compare", lambda: self.ask_requested.emit(id))
            menu.addAction("Show its chat", lambda: self.chat_requested.emit(id))
        else:
            note = card.shown.answer.note
            words = f"Refresh it in {one_line(note)}…" if note else "Write it into the vault…"
            menu.addAction(words, lambda: self.write_requested.emit(id))
        menu.addAction("Find it again", lambda: self.refresh_requested.emit(id))
        rename = menu.addAction("Rename", partial(self._edit_answer, id))
        rename.setShortcut("F2")
        up = menu.addAction("Move up", partial(self._move_answer, id, -1))
        up.setShortcut("Ctrl+Shift+Up")
        up.setEnabled(place.row() > 0)
        down = menu.addAction("Move down", partial(self._move_answer, id, 1))
        down.setShortcut("Ctrl+Shift+Down")
        down.setEnabled(place.row() + 1 < self._model.rowCount())
        remove = menu.addAction("Remove", lambda: self.remove_requested.emit(id))
        remove.setShortcut("Del")

    def _edit_answer(self, id: str) -> None:
        """Edit the title of a pinned answer, wherever it stands since its menu was opened."""
        if (index := self._find(id)).isValid():
            self.edit(index)

    def _move_answer(self, id: str, step: int) -> None:
        if (index := self._find(id)).isValid():
            self.move_requested.emit(id, index.row() + step)


def _name_row(row: _Card | _Line) -> Hashable:
    return ("card", row.id) if isinstance(row, _Card) else row.key


def _list_below(row: _Card | _Line) -> Sequence[_Line]:
    return row.lines if isinstance(row, _Card) else ()


def _find_flags(row: _Card | _Line | None) -> Qt.ItemFlag:
    """Return the flags of a row. The title of a pinned answer can be edited."""
    if row is None:
        return Qt.ItemFlag.NoItemFlags
    return _FLAGS | Qt.ItemFlag.ItemIsEditable if isinstance(row, _Card) else _FLAGS


def _is_moving(event: QKeyEvent) -> bool:
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    is_held = event.modifiers() & both == both
    return is_held and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)


def _build_row(shown: "ShownAnswer", *, is_open: bool) -> Row:
    answer, mark = shown.answer, shown.changes.mark
    total = count(answer.total) if answer.kind != "model" else ""
    summary = answer.summary
    name_parts = (answer.title, summary, shown.changes.sentence, shown.problem)
    return Row(
        one_line(answer.title),
        right="  ".join(filter(None, (mark, total))),
        problem=shown.problem,
        tip="\n".join(filter(None, (answer.question, summary, shown.changes.sentence))),
        name=", ".join(one.rstrip(".") for one in name_parts if one),
        arrow="open" if is_open else "closed",
        is_lit=bool(mark),
    )


def _list_lines(shown: "ShownAnswer", most: int) -> Iterator[_Line]:
    """Yield the lines below a pinned answer, at most `most`: what is new, changed and gone first.

    Further rows are counted, and shown on a click if they are known.
    """
    answer, changes = shown.answer, shown.changes
    if answer.kind == "model":
        lines = _list_source_lines(shown)
        yield from lines[:most]
        if len(lines) > most:
            yield _make_more(len(lines) - most)
        return
    known = list(_list_rows(shown))
    for found in known[:most]:
        row, fate, _ = found
        path = "" if fate == "gone" else row.path
        yield _Line((row.path, row.text), found, path=path, line=row.line)
    left = len(changes.gone) + answer.total - min(len(known), most)
    if not known:
        yield _Line("none", Row(answer.summary or "Nothing now.", depth=1, head=True))
    elif left > 0:
        yield _make_more(left, is_known=len(known) > most)


def _make_more(left: int, *, is_known: bool = True) -> _Line:
    """Return the line that counts the rows that are not shown, and shows more if they are known."""
    words = f"Show more ({count(left)} left)" if is_known else f"{count(left)} more"
    return _Line("more", Row(words, depth=1, head=not is_known), is_more=is_known)


def _list_rows(shown: "ShownAnswer") -> "Iterator[tuple[AnswerRow, _Fate, str]]":
    """Yield each row of a pinned answer with what has happened to it, also in words."""
    changes = shown.changes
    edited = {one.after: one.before for one in changes.changed}
    yield from ((row, "new", "new") for row in changes.new)
    for row, before in edited.items():
        yield row, "changed", f"changed, before: {before.shown}"
    yield from ((row, "gone", "gone") for row in changes.gone)
    changed_rows = {*changes.new, *edited}
    yield from (
        (row, "same", "")
        for row in shown.answer.rows
        if not changed_rows or row not in changed_rows
    )


def _list_source_lines(shown: "ShownAnswer") -> "list[_Line]":
    """Return the lines that changed in the sources of a model's answer, below each source."""
    answer = shown.answer
    if not answer.rows:
        sources = 0 if answer.answer is None else answer.answer.sources
        text = "Its source has not changed."
        if sources != 1:
            text = f"None of its {plural(sources, 'source')} changed."
        return [_Line("none", Row(text, depth=1, head=True))]
    lines = [_Line("summary", Row(answer.summary, depth=1, head=True))]
    for row in answer.rows:
        note = Row(one_line(row.title), "file-text", depth=1, tip=row.path)
        lines.append(_Line(row.path, note, path=row.path))
        if not row.text.startswith("---"):  # a sentence, because the note is gone
            gone = Row(one_line(row.text), "minus", depth=2, is_dim=True)
            lines.append(_Line((row.path, row.text), gone))
        for line in row.text.split("\n"):
            if line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
                icon, change_text = ("plus", "new") if line[0] == "+" else ("minus", "gone")
                text = one_line(line[1:]).strip()
                made = Row(text, icon, depth=2, name=f"{change_text}: {text}", is_lit=True)
                lines += [_Line((row.path, line), made, path=row.path)] if text else []
    return lines


def _build_line_row(row: "AnswerRow", fate: _Fate, change_text: str) -> Row:
    # The readers of dates are not loaded before the window is shown.
    from vault.notes.tasks import is_task as is_task_line
    from vault.notes.text.markup import remove_markup

    lead = _LEAD.match(one_line(row.shown))
    has_box = lead is not None and lead["box"] is not None
    is_task = has_box or is_task_line(row.shown.split("\n", 1)[0])
    text = remove_markup(one_line(row.shown)[lead.end() if lead else 0 :]).strip() or row.title
    if row.is_note and (row.values or row.title not in text):
        text = f"{row.title}: {text}"
    where = f"{row.path}, line {row.line}"
    tip = f"{where}\n{change_text[0].upper()}{change_text[1:]}" if change_text else where
    name = ", ".join(filter(None, (text, row.title, change_text)))
    icon = _ICONS.get(fate) or ("square" if is_task else "file-text")
    is_gone = fate == "gone"
    return Row(text, icon, tip=tip, name=name, depth=1, is_dim=is_gone, is_lit=fate in _ICONS)
