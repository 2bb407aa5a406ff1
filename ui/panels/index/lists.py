"""Lists of the notes by state: indexed, excluded (with the rule), failed (with the reason)."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QTimer, Signal
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from ui.panels.index.state import NotesByState
from ui.theme import dress, tokens
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.formatting import count, plural
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.long_list import LongList, TwoLines
from ui.widgets.menus import MenuButton
from ui.widgets.rows_model import RowColumn, RowsModel

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
        self._pause.timeout.connect(self._on_typed)
        self.filter.textChanged.connect(lambda _text: self._pause.start())
        self._model: RowsModel[NoteState] = RowsModel(
            [RowColumn(lambda note: _build_row(note).cell)],
            lambda note: note.path,
            self,
            page=_FETCHED,
        )
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
        self._notes = notes
        self._refresh()

    def show_which(self, state: str) -> None:
        """List the notes in a state: `indexed`, `excluded` or `failed`."""
        self._chosen = state
        self._refresh()
        self.list.scrollToTop()

    def shown(self) -> list[str]:
        """Return the paths of the listed notes."""
        return [note.path for note in self._model.rows]

    def _on_typed(self) -> None:
        self._refresh()
        self.list.scrollToTop()

    def _refresh(self) -> None:
        known = self._notes
        state = self._chosen or next((state for state in _WORDS if known.of(state)), "failed")
        self.which.set_choices([(s, word, count(len(known.of(s)))) for s, word in _WORDS.items()])
        self.which.set_value(state)
        notes, words = known.of(state), self.filter.text().casefold().split()
        self.filter.setVisible(len(notes) > _FILTERED_FROM or bool(words))
        found = known.filter_notes(state, words) if words else notes
        self._model.set_rows(found)
        total = plural(len(notes), "note")
        self._count.setText(f"{count(len(found))} of {total}" if words else total)
        self.try_all.setVisible(state == "failed" and bool(notes))
        self._empty.setText("No note fits." if notes else _EMPTY[state])
        self._empty.setVisible(not found)
        self.list.setVisible(bool(found))

    def _on_chosen(self, index: QModelIndex) -> None:
        self.note_chosen.emit(self._model.rows[index.row()].path)

    def _fill_menu(self, index: QModelIndex, menu: QMenu) -> None:
        note = self._model.rows[index.row()]
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


def _build_row(note: "NoteState") -> TwoLines:
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
