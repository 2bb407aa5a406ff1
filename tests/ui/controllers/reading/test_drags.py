"""Notes, images and answers are dragged onto the composer and to other programs."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.vaults.image_files import draw
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.composer.attachment import Drops
from ui.tasks import TaskRunner
from ui.widgets.drags import MARKDOWN_TYPE, DragSource

NOTES = {
    "Rain.md": "# Rain\n\nTwo barrels hold the rain. See [[sub/Ölfaß]].\n",
    "sub/Ölfaß.md": "# Ölfaß\n\nThe barrels hold the rain.\n",
}
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


class FakeDrag:
    """Keeps what is dragged, in place of a drag that waits for a real mouse."""

    dragged: ClassVar[list[QMimeData]] = []

    def __init__(self, _source: object) -> None:
        pass

    def setMimeData(self, data: QMimeData) -> None:  # noqa: N802 - Qt's own name
        self.dragged.append(data)

    def exec(self, action: Qt.DropAction) -> None:
        assert action == Qt.DropAction.CopyAction


@pytest.fixture
def dragged(monkeypatch: pytest.MonkeyPatch) -> list[QMimeData]:
    FakeDrag.dragged = []
    monkeypatch.setattr("ui.widgets.drags.QDrag", FakeDrag)
    return FakeDrag.dragged


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = write_notes(tmp_path / "notes", NOTES)
    (folder / "photo.png").write_bytes(draw(40, 30))
    return folder


@pytest.fixture
def window(
    scripted: Assistant, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    scripted.open_vault(vault, remember=False)
    list(scripted.index(CancelToken()))
    window = open_window(scripted, runner, qtbot, mode="vault")
    window.activate(1280, 900, qtbot)
    yield window
    window.close()


def drag(widget: QWidget, spot: QPoint, by: int = 60) -> None:
    QTest.mousePress(widget, LEFT, NONE, spot)
    QTest.mouseMove(widget, spot + QPoint(2, 0))
    QTest.mouseMove(widget, spot + QPoint(by, 0))
    QTest.mouseRelease(widget, LEFT, NONE, spot + QPoint(by, 0))


def drag_row(view: QAbstractItemView, words: str) -> None:
    """Drag the row of a list with some words in its title."""
    model = view.model()
    for row in range(model.rowCount()):
        index = model.index(row, 0)
        if words in str(index.data()):
            drag(view.viewport(), view.visualRect(index).center())
            return
    raise LookupError(words)


def drop(window: WindowPage, data: QMimeData) -> None:
    middle = window.view.middle
    at = QPointF(middle.mapTo(window.view, middle.rect().center()))
    event = QDropEvent(at, Qt.DropAction.CopyAction, data, LEFT, NONE)
    window.view.findChild(Drops).eventFilter(window.view, event)
    settle()


def list_files(data: QMimeData) -> list[str]:
    return [url.toLocalFile() for url in data.urls()]


def test_a_note_of_the_sidebar_is_dropped_on_the_composer(
    window: WindowPage, vault: Path, dragged: list[QMimeData]
) -> None:
    drag_row(window.view.sidebar.notes, "Rain")
    (data,) = dragged
    assert list_files(data) == [str(vault / "Rain.md")]
    drop(window, data)
    assert list(window.composer.chips) == ["Rain.md"]


def test_a_folder_and_an_image_can_be_dragged(
    window: WindowPage, vault: Path, dragged: list[QMimeData]
) -> None:
    drag_row(window.view.sidebar.notes, "sub")
    drag_row(window.view.sidebar.notes, "photo")
    assert [list_files(data) for data in dragged] == [
        [str(vault / "sub")],
        [str(vault / "photo.png")],
    ]


def test_a_related_note_and_a_source_can_be_dragged(
    window: WindowPage, vault: Path, server: ModelServer, dragged: list[QMimeData]
) -> None:
    window.view.show_note("Rain.md")
    window.view.docking.show_related()
    settle()
    drag_row(window.view.column.related.list, "Ölfaß")
    server.script(Answer("The barrels hold the rain [1]."))
    window.composer.send("What holds the rain?")
    window.view.docking.show_sources()
    settle()
    row = window.view.column.sources.rows()[0]
    drag_row(window.view.column.sources.list, row.title)
    files = [list_files(data) for data in dragged]
    assert files == [[str(vault / "sub/Ölfaß.md")], [str(vault / row.path)]]


def test_an_open_image_is_dragged_as_its_file(
    window: WindowPage, vault: Path, dragged: list[QMimeData]
) -> None:
    window.view.show_note("photo.png")
    settle()
    picture = window.view.note.image.picture
    drag(picture, QPoint(10, 10), by=20)
    assert [list_files(data) for data in dragged] == [[str(vault / "photo.png")]]


def test_an_answer_is_dragged_as_markdown_and_as_text(
    window: WindowPage, server: ModelServer, dragged: list[QMimeData]
) -> None:
    said = "**Two** barrels, ä [1].\n\n- one"
    server.script(Answer(said, reasoning="I count."))
    window.composer.send("How many barrels?")
    settle()
    button = window.chat.answers()[-1].tools.copy
    drag(button, button.rect().center(), by=40)
    (data,) = dragged
    assert data.text() == said
    assert bytes(data.data(MARKDOWN_TYPE).data()).decode() == said
    assert not button.isDown()


def test_a_file_that_is_gone_is_not_dragged(
    window: WindowPage, vault: Path, dragged: list[QMimeData]
) -> None:
    (vault / "Rain.md").unlink()
    drag_row(window.view.sidebar.notes, "Rain")
    assert dragged == []


def test_a_click_that_trembles_drags_nothing(qtbot: QtBot, dragged: list[QMimeData]) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(100, 100)
    DragSource(widget, lambda _spot: QMimeData())
    drag(widget, QPoint(10, 10), by=4)
    assert dragged == []
    QTest.mouseMove(widget, QPoint(90, 90))  # without a button
    assert dragged == []
