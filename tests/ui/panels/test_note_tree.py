"""The tree of notes keeps its rows, focus and scroll position when the notes are listed again."""

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from ui.panels.notes.folders import Folders
from ui.panels.notes.note_tree import NoteTree, NoteTreeModel
from vault.records import NoteState

NAMES = ("Daily/Monday.md", "Daily/Tuesday.md", "Inbox.md", "Reading/Book.md", "Reading/deep/a.md")


def list_notes(*names: str, **states: str) -> tuple[NoteState, ...]:
    """Return notes that wait to be indexed, except those whose state is given by their title."""
    return tuple(_note(name, states) for name in names)


def _note(path: str, states: dict[str, str]) -> NoteState:
    state = states.get(path.rpartition("/")[2].removesuffix(".md"), "waiting")
    return NoteState(path, "", state, "because" if state != "waiting" else "")  # type: ignore[arg-type]


class Announced:
    """Records what a tree's model announces to its views."""

    def __init__(self, tree: NoteTree) -> None:
        self.rows: list[str] = []
        self.arrangements = 0
        model = tree.model()
        model.dataChanged.connect(self._on_data_changed)
        for signal in (model.modelReset, model.layoutChanged):
            signal.connect(self._on_arranged)

    def _on_data_changed(self, first: QModelIndex, last: QModelIndex) -> None:
        rows = range(first.row(), last.row() + 1)
        self.rows += [first.siblingAtRow(row).data() for row in rows]

    def _on_arranged(self) -> None:
        self.arrangements += 1


@pytest.fixture
def tree(qtbot: QtBot) -> NoteTree:
    tree = NoteTree()
    qtbot.addWidget(tree)
    tree.resize(248, 300)
    tree.show_folders(Folders(list_notes(*NAMES)))
    tree.show()
    tree.activateWindow()
    qtbot.waitUntil(tree.isActiveWindow)
    return tree


def find(tree: NoteTree, path: str) -> QModelIndex:
    index = list_model(tree).find(path)
    assert index.isValid()
    return index


def list_model(tree: NoteTree) -> NoteTreeModel:
    model = tree.model()
    assert isinstance(model, NoteTreeModel)
    return model


def show(tree: NoteTree, *names: str, images: Sequence[str] = (), **states: str) -> None:
    tree.show_folders(Folders(list_notes(*names, **states), images))


def read_top(tree: NoteTree) -> tuple[str, int]:
    """Return the first row in view and where it begins."""
    index = tree.indexAt(QPoint(0, 0))
    return str(index.data()), tree.visualRect(index).top()


def test_only_rows_that_look_different_are_announced_when_states_change(tree: NoteTree) -> None:
    announced = Announced(tree)
    show(tree, *NAMES, Book="failed")
    assert sorted(announced.rows) == ["Book.md", "Reading"]
    assert find(tree, "Reading/Book.md").data(Qt.ItemDataRole.ToolTipRole).endswith("because")
    assert find(tree, "Reading").data(Qt.ItemDataRole.ToolTipRole) == "1 note could not be read"
    assert announced.arrangements == 0


def test_an_indexed_note_looks_like_one_that_waits(tree: NoteTree) -> None:
    announced = Announced(tree)
    tree.show_folders(Folders([NoteState(name, "A title", "indexed") for name in NAMES]))
    assert announced.rows == []
    assert announced.arrangements == 0
    note = list_model(tree).note(find(tree, "Inbox.md"))
    assert note is not None
    assert note.state == "indexed"


def test_a_closed_folder_stays_closed_when_the_current_note_is_in_it(tree: NoteTree) -> None:
    tree.select("Daily/Monday.md")
    tree.collapse(find(tree, "Daily"))
    show(tree, *NAMES, "New.md")
    assert tree.open_folders() == []


def test_a_click_on_a_folder_leaves_the_open_note_selected(tree: NoteTree, qtbot: QtBot) -> None:
    tree.select("Inbox.md")
    spot = tree.visualRect(find(tree, "Reading")).center()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert "Reading" in tree.open_folders()
    assert tree.selectedIndexes() == [find(tree, "Inbox.md")]
    assert tree.currentIndex() == find(tree, "Reading")
    tree.select("")
    assert tree.selectedIndexes() == []


@pytest.mark.parametrize("names", [NAMES, (*NAMES, "Daily/A.md", "A.md"), NAMES[1:], NAMES[:-2]])
def test_focus_selection_and_open_folders_survive(
    tree: NoteTree, qtbot: QtBot, names: tuple[str, ...]
) -> None:
    tree.select("Daily/Tuesday.md")
    tree.setFocus()
    qtbot.waitUntil(tree.hasFocus)
    show(tree, *names, Tuesday="failed")
    assert tree.hasFocus()
    assert tree.currentIndex() == find(tree, "Daily/Tuesday.md")
    assert tree.selectedIndexes() == [tree.currentIndex()]
    assert tree.open_folders() == ["Daily"]
    assert find(tree, "Daily").data(Qt.ItemDataRole.UserRole).arrow == "open"
    qtbot.keyClick(tree, Qt.Key.Key_Up)
    assert tree.currentIndex().row() == find(tree, "Daily/Tuesday.md").row() - 1 or (
        tree.currentIndex() == find(tree, "Daily")
    )


def test_the_rows_in_view_stay_when_notes_are_added_and_removed_above(tree: NoteTree) -> None:
    names = [f"Note {n:03}.md" for n in range(90)]
    tree.set_limit(200)
    show(tree, *names)
    tree.verticalScrollBar().setValue(1_003)
    top = read_top(tree)
    assert top[1] < 0
    show(tree, *names[3:], "Folder/a.md", "A.md", "B.md", "C.md", "D.md")
    assert read_top(tree) == top
    show(tree, *names)
    assert read_top(tree) == top


def test_a_note_added_above_is_seen_when_the_tree_is_not_scrolled(tree: NoteTree) -> None:
    names = [f"Note {n:03}.md" for n in range(90)]
    tree.set_limit(200)
    show(tree, *names)
    show(tree, "A.md", *names)
    assert read_top(tree) == ("A.md", 0)


def test_a_current_note_that_is_removed_is_no_longer_selected(tree: NoteTree) -> None:
    tree.select("Daily/Tuesday.md")
    show(tree, "Daily/Monday.md", "Inbox.md")
    assert not tree.currentIndex().isValid()
    assert tree.selectedIndexes() == []
    assert tree.open_folders() == ["Daily"]
    tree.select("Inbox.md")
    show(tree)
    assert tree.model().rowCount() == 0
    show(tree, *NAMES)
    assert tree.open_folders() == []


def test_the_height_follows_the_number_of_rows(tree: NoteTree) -> None:
    assert tree.height() == 3 * 28
    show(tree, *NAMES, "New.md", images=["map.png"])
    QApplication.processEvents()
    assert tree.height() == 5 * 28
    show(tree, "New.md")
    assert tree.height() == 28


def test_the_model_keeps_to_qts_rules_while_its_notes_change(
    tree: NoteTree, qtmodeltester: ModelTester
) -> None:
    qtmodeltester.check(tree.model())
    tree.expandAll()
    for names in ((*NAMES, "Z.md"), NAMES[1:], (), NAMES, NAMES[:2]):
        show(tree, *names, Monday="excluded")
        qtmodeltester.check(tree.model())
