"""The note tree: the folders, notes and images of the open vault, with the state of each note."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QMenu, QWidget

from ui.panels.notes.folders import ROOT, Folders, Node
from ui.widgets.controls import one_line
from ui.widgets.formatting import count, plural
from ui.widgets.lists import FitTree, Row, RowDelegate

if TYPE_CHECKING:
    from vault.records import NoteState

__all__ = ["NoteTree", "NoteTreeModel"]

Index = QModelIndex | QPersistentModelIndex


class NoteTreeModel(QAbstractItemModel):
    """A Qt tree model of folders, notes and images.

    Folders come before files, and show how many notes they contain.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folders = Folders()
        self._open: set[int] = set()

    @property
    def folders(self) -> Folders:
        """The tree that the model shows."""
        return self._folders

    def set_folders(self, folders: Folders) -> None:
        """Replace the tree. Views keep their open folders and their selection."""
        if not folders.has_same_paths(self._folders):
            self._rearrange(folders)
            return
        before, self._folders = self._folders, folders
        rows: dict[int, list[int]] = {}
        for number in folders.list_changed_nodes(before):
            rows.setdefault(folders.nodes[number].parent, []).append(number)
        for parent, numbers in rows.items():
            if parent >= ROOT:
                places = sorted((folders.nodes[number].place, number) for number in numbers)
                first, last = (self.createIndex(row, 0, n) for row, n in (places[0], places[-1]))
                self.dataChanged.emit(first, last)

    def _rearrange(self, folders: Folders) -> None:
        """Replace the tree with one that has other paths, and update the views' indexes."""
        self.layoutAboutToBeChanged.emit()
        indexes = self.persistentIndexList()
        paths = [self.path(index) for index in indexes]
        opened = [self._folders.path(number) for number in self._open]
        self._folders = folders
        self.changePersistentIndexList(indexes, [self.find(path) for path in paths])
        self._open = {self.find(path).internalId() for path in opened if self.find(path).isValid()}
        self.layoutChanged.emit()

    def set_open(self, index: QModelIndex, is_open: bool) -> None:
        """Set whether a folder is drawn as open."""
        change = self._open.add if is_open else self._open.discard
        change(index.internalId())
        self.dataChanged.emit(index, index)

    def path(self, index: Index) -> str:
        """Return the path of the folder or file in a row, relative to the vault."""
        return self._folders.path(index.internalId())

    def note(self, index: Index) -> "NoteState | None":
        """Return the note in a row, or None if the row contains a folder or an image."""
        return self._node(index).note

    def can_attach(self, index: Index) -> bool:
        """Return whether a row is an image, a readable note, or a folder that contains notes."""
        node = self._node(index)
        if node.note is not None:
            return node.note.state in {"indexed", "waiting"}
        return node.is_image or node.notes > 0

    def is_file(self, index: Index) -> bool:
        """Return whether a row contains a note or an image."""
        return self._node(index).is_file

    def find(self, path: str) -> QModelIndex:
        """Return the index of a folder or file, or an invalid index if it is not listed."""
        node = self._folders.find(path)
        return QModelIndex() if node is None else self.createIndex(node.place, 0, node.number)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return the number of rows in a folder."""
        return len(self._node(parent).children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns, which is always 1."""
        return 1

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a row in a folder, or an invalid index if there is no such row."""
        children = self._node(parent).children
        if 0 <= row < len(children):
            return self.createIndex(row, column, children[row])
        return QModelIndex()

    def parent(self, child: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        """Return the index of a row's parent folder, or an invalid index at the top level."""
        if not child.isValid():
            return QModelIndex()
        above = self._node(child).parent
        if above <= ROOT:
            return QModelIndex()
        return self.createIndex(self._folders.nodes[above].place, 0, above)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a row for a Qt item role."""
        return self._row(index).cell.data(role) if index.isValid() else None

    def _node(self, index: Index) -> Node:
        return self._folders.nodes[index.internalId() if index.isValid() else ROOT]

    def _row(self, index: Index) -> Row:
        node = self._node(index)
        depth = self._folders.depth(node.number)
        path = one_line(self.path(index))
        if node.is_image:
            name = one_line(node.name)
            accessible_name = f"{name}, image"
            return Row(
                name, "image-square", tip=path, name=accessible_name, depth=depth, is_file=True
            )
        if node.note is None:
            problem = f"{plural(node.problems, 'note')} could not be read" if node.problems else ""
            arrow = "open" if node.number in self._open else "closed"
            return Row(
                one_line(node.name),
                right=count(node.notes) if node.notes else "",
                problem=problem,
                tip=path,
                depth=depth,
                arrow=arrow,
                name=f"{node.name}, {plural(node.notes, 'note')}" if node.notes else node.name,
            )
        return _note_row(node.note, one_line(node.name), path, depth)


class NoteTree(FitTree):
    """The tree of folders, notes and images in the sidebar.

    Signals:
        note_chosen: emitted with the path of the note or image that the user opens.
        attach_requested: emitted with the path of the note, image or folder that the user attaches.
            The path of a folder ends with `/`.
        reason_requested: emitted with the path of a note when the user asks why the last answer did
            or did not use it.
    """

    note_chosen = Signal(str)
    attach_requested = Signal(str)
    reason_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Notes", parent)
        self._model = NoteTreeModel(self)
        self.setItemDelegate(RowDelegate(self))
        self.setUniformRowHeights(True)  # otherwise, the height of each row is computed in Python
        self.setModel(self._model)
        self.expanded.connect(self._on_expanded)
        self.collapsed.connect(self._on_collapsed)
        self.chosen.connect(self._on_chosen)

    def is_fold(self, index: Index) -> bool:
        """Return whether a row is a folder."""
        return index.isValid() and not self._model.is_file(index)

    def show_folders(self, folders: Folders) -> None:
        """Replace the tree. Open folders, the current row and the visible rows are kept."""
        if folders is self._model.folders:
            return
        bar = self.verticalScrollBar()
        top = self.indexAt(QPoint(0, 0)) if bar.value() else QModelIndex()
        first, offset = QPersistentModelIndex(top), self.visualRect(top).top()
        self._model.set_folders(folders)
        if first.isValid():
            moved = self.visualRect(first).top() - offset
            bar.setValue(bar.value() + moved)

    def open_folders(self) -> list[str]:
        """Return the paths of the open folders, except those inside a closed folder."""
        found, index = [], self._model.index(0, 0)
        while index.isValid():
            if self.isExpanded(index):
                found.append(self._model.path(index))
            index = self.indexBelow(index)
        return found

    def open_folders_again(self, paths: Sequence[str]) -> None:
        """Open the folders with the given paths. Paths that do not exist are ignored."""
        for path in paths:
            index = self._model.find(path)
            if index.isValid():
                self.expand(index)

    def select(self, path: str) -> None:
        """Select a folder or file if it is listed. An empty path clears the selection."""
        index = self._model.find(path)
        if index.isValid():
            self.setCurrentIndex(index)
        elif not path:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def find_path(self, spot: QPoint) -> str:
        """Return the path of the file or folder at a point of the viewport, or ""."""
        index = self.indexAt(spot)
        return self._model.path(index) if index.isValid() else ""

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Create the context menu of a note, an image or a folder."""
        from ui.panels.notes.sources import REASON  # late: it would delay the first paint

        note, path = self._model.note(index), self._model.path(index)
        menu = QMenu(self)
        target = path if self._model.is_file(index) else f"{path}/"
        action = menu.addAction("Attach to the message")
        action.setEnabled(self._model.can_attach(index))
        action.triggered.connect(lambda _checked=False: self.attach_requested.emit(target))
        if note is not None:
            reason = menu.addAction(REASON)
            reason.triggered.connect(lambda _checked=False: self.reason_requested.emit(path))
        return menu

    def _on_expanded(self, index: QModelIndex) -> None:
        self._model.set_open(index, True)

    def _on_collapsed(self, index: QModelIndex) -> None:
        self._model.set_open(index, False)

    def _on_chosen(self, index: QModelIndex) -> None:
        if self._model.is_file(index):
            self.note_chosen.emit(self._model.path(index))


def _note_row(note: "NoteState", name: str, path: str, depth: int) -> Row:
    tip, problem, accessible_name = path, "", name
    reason = one_line(note.reason)
    if note.state == "excluded":
        tip = f"{path}\nLeft out of the index: {reason}"
        accessible_name = f"{name}, left out: {reason}"
    elif note.state == "failed":
        problem, accessible_name = f"{path}\n{reason}", f"{name}, could not be read: {reason}"
    return Row(
        name,
        icon="file-text",
        problem=problem,
        tip=tip,
        depth=depth,
        is_dim=note.state == "excluded",
        is_file=True,
        name=accessible_name,
    )
