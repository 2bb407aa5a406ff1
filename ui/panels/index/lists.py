"""Lists of the notes by state: indexed, excluded (with the rule), failed (with the reason)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from ui.panels.index.state import NotesByState
from ui.theme import dress, tokens
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.formatting import count, plural
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.lists import Index
from ui.widgets.long_list import LongList, TwoLines
from ui.widgets.menus import MenuButton

if TYPE_CHECKING:
    from vault.records import NoteState

__all__ = ["NoteLists"]

_FILTERED_FROM = 8
_FETCHED = 500


class NoteLists(QWidget):
    """A list of the notes in one state of indexing. The user selects the state from a menu.

    Until the user has selected a state, the first of these that has any notes is shown: failed,
    excluded, indexed.

    Signals:
        note_chosen: emitted with the path of a note that the user opens.
        reveal_requested: emitted with the path of a note to select in the note tree.
        retry_requested: emitted with the paths of failed notes to index again. An empty tuple means
            all failed notes.
    """

    note_chosen = Signal(str)
    reveal_requested = Signal(str)
    retry_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notes = NotesByState()
        self.which = MenuButton("Which notes are listed", kind="ui_strong")
        self.which.chosen.connect(self.show_which)
        self._count = label("", "caption", "tertiary", numbers=True)
        self.try_all = make_button(
            ButtonText("Try all again", "Read all notes again that could not be read"),
            "link",
            lambda: self.retry_requested.emit(()),
        )
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter by path or reason")
        self.filter.setAccessibleName("Filter the notes by path or reason")
        dress(self.filter, "ui", "")
        self._pause = QTimer(self, singleShot=True, interval=tokens()["motion"]["stream_flush"])
        self._pause.timeout.connect(self._refresh)
        self.filter.textChanged.connect(lambda _text: self._pause.start())
        self._model = NoteRows(self)
        self.list = LongList("Notes by how they stand in the index")
        self.list.setModel(self._model)
        self.list.chosen.connect(self._on_chosen)
        self.list.menu_wanted.connect(self._fill_menu)
        self._empty = make_wrapped_label("", "caption", "tertiary")
        self._empty.setContentsMargins(16, 4, 16, 8)
        self._chosen = ""
        self._lay_out()
        self._refresh()

    def show_notes(self, notes: NotesByState) -> None:
        """Replace the listed notes. The current row and the scroll position are kept."""
        bar, row = self.list.verticalScrollBar(), self.list.currentIndex().row()
        at, path = bar.value(), self._model.notes[row].path if row >= 0 else ""
        self._notes = notes
        self._refresh()
        if path:
            self.list.setCurrentIndex(self._model.find(path))
        self.list.executeDelayedItemsLayout()
        bar.setValue(at)

    def show_which(self, state: str) -> None:
        """List the notes in a state: `indexed`, `excluded` or `failed`."""
        self._chosen = state
        self._refresh()

    def shown(self) -> list[str]:
        """Return the paths of the listed notes."""
        return [note.path for note in self._model.notes]

    def _refresh(self) -> None:
        known = self._notes
        state = self._chosen or next((state for state in _WORDS if known.of(state)), "failed")
        self.which.set_choices([(s, word, count(len(known.of(s)))) for s, word in _WORDS.items()])
        self.which.set_value(state)
        notes, words = known.of(state), self.filter.text().casefold().split()
        self.filter.setVisible(len(notes) > _FILTERED_FROM or bool(words))
        found = known.filter_notes(state, words) if words else notes
        self._model.set_notes(found)
        total = plural(len(notes), "note")
        self._count.setText(f"{count(len(found))} of {total}" if words else total)
        self.try_all.setVisible(state == "failed" and bool(notes))
        self._empty.setText("No note fits." if notes else _EMPTY[state])
        self._empty.setVisible(not found)
        self.list.setVisible(bool(found))

    def _on_chosen(self, index: QModelIndex) -> None:
        self.note_chosen.emit(self._model.notes[index.row()].path)

    def _fill_menu(self, index: QModelIndex, menu: QMenu) -> None:
        note = self._model.notes[index.row()]
        path = note.path
        menu.addAction("Open").triggered.connect(lambda: self.note_chosen.emit(path))
        reveal = menu.addAction("Show among the folders")
        reveal.triggered.connect(lambda: self.reveal_requested.emit(path))
        if note.state == "failed":
            retry = menu.addAction("Try to read it again")
            retry.triggered.connect(lambda: self.retry_requested.emit((path,)))

    def _lay_out(self) -> None:
        head = make_row(
            self.which, self._count, stretch(), self.try_all, margins=(8, 0, 16, 0), spacing=4
        )
        field = make_row(self.filter, margins=(16, 2, 16, 6))
        make_column(
            head, field, self._empty, grow(self.list), stretch(0), margins=0, spacing=0, parent=self
        )


class NoteRows(QAbstractListModel):
    """A Qt list model of notes that adds rows in steps, as the view needs them.

    A Qt view lays out all rows of its model at once, which would take too long for many notes.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.notes: Sequence[NoteState] = ()
        self._count = 0

    def set_notes(self, notes: "Sequence[NoteState]") -> None:
        """Replace the notes, unless `notes` is the same object as before."""
        if notes is not self.notes:
            self.beginResetModel()
            self.notes, self._count = notes, min(len(notes), _FETCHED)
            self.endResetModel()

    def find(self, path: str) -> QModelIndex:
        """Return the index of a note, or an invalid index if it has no row (yet)."""
        rows = (row for row in range(self._count) if self.notes[row].path == path)
        return self.index(next(rows, -1), 0)

    def canFetchMore(self, parent: Index) -> bool:
        """Return whether there are notes without a row."""
        return not parent.isValid() and self._count < len(self.notes)

    def fetchMore(self, parent: Index) -> None:
        """Add rows for up to 500 more notes."""
        more = min(_FETCHED, len(self.notes) - self._count)
        self.beginInsertRows(QModelIndex(), self._count, self._count + more - 1)
        self._count += more
        self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return the number of rows added so far."""
        return 0 if parent.isValid() else self._count

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a note for a Qt item role."""
        return _row(self.notes[index.row()]).data(role) if index.isValid() else None


def _row(note: "NoteState") -> TwoLines:
    path = one_line(note.path)
    detail = one_line(note.reason or note.title)
    return TwoLines(path, detail, _ICONS[note.state], name=f"{path}, {_SAID[note.state]}: {detail}")


_WORDS = {"failed": "Could not be read", "excluded": "Left out", "indexed": "Indexed"}
_SAID = {"failed": "could not be read", "excluded": "left out", "indexed": "indexed"}
_EMPTY = {
    "failed": "Every note could be read.",
    "excluded": "No note is left out.",
    "indexed": "No note is indexed yet.",
}
_ICONS = {
    "failed": ("warning", "amber.graphic"),
    "excluded": ("prohibit", "text.tertiary"),
    "indexed": ("file-text", "text.secondary"),
}
