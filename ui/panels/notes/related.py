"""The panel of related notes: similar notes, and notes linked in either direction."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QVBoxLayout, QWidget

from ui.actions import show_keys
from ui.theme import Theme, dress
from ui.widgets.controls import ElidedLabel, make_wrapped_label, one_line
from ui.widgets.lists import Cell
from ui.widgets.long_list import LongList, TwoLines
from ui.widgets.rows_model import RowColumn, RowsModel
from ui.widgets.surfaces import Pane

if TYPE_CHECKING:
    from vault.search.related import RelatedNote

__all__ = ["RelatedPanel"]

_NO_NOTE = "Open a note, or ask: what is related to it appears here."
_NONE = "No note is near this one, and none is linked with it."
_WAIT_MS = 200
_INSERT = "Insert a link to it"


class RelatedPanel(Pane):
    """The panel that lists the notes related to a note, the most similar first.

    Signals:
        note_chosen: emitted with the path of a note that the user opens.
        attach_requested: emitted with the path of a note that the user attaches.
        link_requested: emitted with the path of a note to which the user wants to insert a link.
        looked_at: emitted when the panel becomes visible.
    """

    link_requested = Signal(str)
    note_chosen = Signal(str)
    attach_requested = Signal(str)
    looked_at = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", parent)
        self._about = ElidedLabel("", Qt.TextElideMode.ElideMiddle)
        dress(self._about, "caption", "secondary")
        self._message_label = make_wrapped_label("", "ui", "tertiary")
        self._message_label.setContentsMargins(16, 0, 16, 8)
        self._awaited = self._path = ""
        self._can_link = False
        self.skeleton = Skeleton()
        self._wait = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self._wait.timeout.connect(self._show_skeleton)
        self._model: RowsModel[RelatedNote] = RowsModel(
            [RowColumn(self._describe)], lambda note: note.path, self
        )
        self.list = LongList("Related notes")
        self.list.setModel(self._model)
        self.list.chosen.connect(self._on_chosen)
        self.list.acted.connect(lambda index: self._request_link(self._model.rows[index.row()]))
        self.list.menu_wanted.connect(self._fill_menu)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QVBoxLayout()
        head.setContentsMargins(16, 8, 16, 4)
        head.addWidget(self._about)
        column.addLayout(head)
        column.addWidget(self._message_label)
        column.addWidget(self.skeleton)
        column.addWidget(self.list, 1)
        column.addStretch(0)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Clear the list, and show a hint that explains what the panel lists."""
        self._show("", (), _NO_NOTE)

    def begin(self, path: str) -> None:
        """Prepare for the result of a search for related notes.

        If neither `show_notes` nor `show_error` is called within 0.2 s, a placeholder is shown.

        Args:
            path: the path of the note to which the notes are related.
        """
        self._awaited = path
        self._wait.start()

    def show_notes(
        self,
        path: str,
        notes: "Sequence[RelatedNote]",
        *,
        can_link: bool = False,
        project: str = "",
    ) -> None:
        """List the notes that are related to a note.

        Args:
            path: the path of the note.
            notes: the related notes, the most similar first.
            can_link: whether the user can insert links to the related notes.
            project: the title of the project to which the list is limited, or an empty string.
        """
        self._can_link = can_link
        self._show(path, notes, "" if notes else _NONE)
        self.list.viewport().update()
        if project:
            self._about.set_text(f"Related to {path}, in the project {one_line(project)}")

    def find_path(self, spot: QPoint) -> str:
        """Return the path of the note at a point of the list's viewport, or ""."""
        index = self.list.indexAt(spot)
        note = self._model.find_row(index)
        return "" if note is None else note.path

    def show_linked(self, path: str) -> None:
        """Mark a listed note as linked from the open note, before the index has been updated.

        Args:
            path: the path of the listed note.
        """
        self._model.set_rows(
            [
                replace(note, is_linked=True, is_link_target=True) if note.path == path else note
                for note in self._model.rows
            ]
        )

    def begin_link(self) -> None:
        """Emit `link_requested` for the selected note, if the list has the focus.

        Otherwise, focus the list and select the first note that is not linked yet.
        """
        row = self.list.currentIndex()
        if self.list.hasFocus() and row.isValid():
            self._request_link(self._model.rows[row.row()])
            return
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        fits = (at for at, note in enumerate(self._model.rows) if not note.is_link_target)
        self.list.setCurrentIndex(self._model.index(next(fits, 0), 0))

    def show_error(self, path: str, message: str) -> None:
        """Show why the related notes could not be found.

        Args:
            path: the path of the note to which the notes should be related.
            message: the error message.
        """
        self._show(path, (), message)

    def rows(self) -> "Sequence[RelatedNote]":
        """Return the listed notes."""
        return self._model.rows

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `looked_at` when the panel becomes visible, so that its contents are loaded."""
        super().showEvent(event)
        self.looked_at.emit()

    def _show(self, path: str, notes: "Sequence[RelatedNote]", text: str) -> None:
        self._wait.stop()
        self.skeleton.hide()
        self._about.set_text(f"Related to {path}")
        self._about.setVisible(bool(path))
        self._model.set_rows(notes)
        if path != self._path:
            self._path = path
            self.list.setCurrentIndex(QModelIndex())
            self.list.scrollToTop()
        self.list.setVisible(bool(notes))
        self._message_label.setText(text)
        self._message_label.setVisible(bool(text))

    def _show_skeleton(self) -> None:
        self._about.set_text(f"Related to {self._awaited}")
        self._about.show()
        self._message_label.hide()
        self.list.hide()
        self.skeleton.show()

    def _on_chosen(self, index: QModelIndex) -> None:
        self.note_chosen.emit(self._model.rows[index.row()].path)

    def _fill_menu(self, index: QModelIndex, menu: QMenu) -> None:
        note = self._model.rows[index.row()]
        path = note.path
        menu.addAction("Open").triggered.connect(lambda: self.note_chosen.emit(path))
        attach = menu.addAction("Attach to the message")
        attach.triggered.connect(lambda: self.attach_requested.emit(path))
        if self._can_link:
            link = menu.addAction("Linked already" if note.is_link_target else _INSERT)
            link.setEnabled(not note.is_link_target)
            link.triggered.connect(lambda: self._request_link(note))

    def _request_link(self, note: "RelatedNote") -> None:
        if self._can_link and not note.is_link_target:
            self.link_requested.emit(note.path)

    def _describe(self, note: "RelatedNote") -> Cell:
        return _build_row(note, self._can_link).cell


class Skeleton(QWidget):
    """A placeholder for a list that is still being loaded. It shows the outlines of three rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def sizeHint(self) -> QSize:
        """Return the height of the placeholder."""
        return QSize(0, 3 * Theme.current().px(44))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw two bars for each of the three rows."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.hover"))
        for row in range(3):
            top = row * theme.px(44)
            for down, high, share in ((9, 11, 0.45), (26, 9, 0.7)):
                bar = QRect(theme.px(40), top + theme.px(down), 0, theme.px(high))
                bar.setWidth(round((self.width() - 56) * share))
                painter.drawRoundedRect(bar, theme.radius("sm"), theme.radius("sm"))


def _build_row(note: "RelatedNote", can_link: bool) -> TwoLines:
    title = one_line(note.title) or note.path.rpartition("/")[2]
    mark = ("link-simple", "linked" if note.is_link_target else "links here")
    shared = " ".join(f"#{one_line(tag)}" for tag in note.tags)
    detail = f"{one_line(note.path)} · shares {shared}" if shared else one_line(note.path)
    insert = f"{_INSERT} ({show_keys('Ctrl+Enter')})"
    act = ("plus", insert) if can_link and not note.is_link_target else ("", "")
    shown = mark if note.is_linked else ("", "")
    return TwoLines(
        title, detail, ("file-text", "text.secondary"), shown, act=act, tip=one_line(note.why)
    )
