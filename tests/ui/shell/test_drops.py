"""Files and folders that are dropped on the window."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.window.shell_window import Make
from ui.chat.composer.attachment import Drops
from ui.window import MainWindow


def drop_of(path: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    return data


def drag(window: MainWindow, path: Path) -> bool:
    """Drag something over the window, and say whether it would take it."""
    data = drop_of(path)
    event = QDragEnterEvent(
        window.rect().center(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    event.ignore()
    window.findChild(Drops).eventFilter(window, event)
    return event.isAccepted()


def drop(window: MainWindow, path: Path, at: QPointF) -> None:
    data = drop_of(path)
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDropEvent(at, Qt.DropAction.CopyAction, data, buttons, keys)
    # Qt hands drops on to a target that only a real drag can have.
    window.findChild(Drops).eventFilter(window, event)


@pytest.mark.parametrize("kind", [QDragEnterEvent, QDragMoveEvent, QDropEvent])
def test_what_is_dropped_is_copied_even_if_moving_is_proposed(
    make: Make, small_vault: Path, kind: type[QDropEvent]
) -> None:
    window = make(is_begun=False)
    data, at = drop_of(small_vault), window.rect().center()
    offered = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier
    place = QPointF(at) if kind is QDropEvent else at
    event = kind(place, offered, data, buttons, keys)  # type: ignore[arg-type]
    assert event.proposedAction() == Qt.DropAction.MoveAction
    assert window.findChild(Drops).eventFilter(window, event)
    assert event.isAccepted()
    assert event.dropAction() == Qt.DropAction.CopyAction


def middle_of(window: MainWindow, widget: QWidget) -> QPointF:
    return QPointF(widget.mapTo(window, widget.rect().center()))


def test_without_notes_only_a_folder_can_be_dropped(make: Make, small_vault: Path) -> None:
    window = make(is_begun=False)
    assert drag(window, small_vault)
    assert not drag(window, small_vault / "Welcome.md")


def opened_by(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are opened from now on, which they are not really."""
    opened: list[Path] = []
    monkeypatch.setattr(window.controllers.notes, "open", opened.append)
    return opened


def test_without_notes_a_dropped_folder_is_opened(
    make: Make, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make(is_begun=False)
    opened = opened_by(window, monkeypatch)
    drop(window, small_vault, middle_of(window, window.middle))
    assert opened == [small_vault]


def test_a_hidden_file_that_is_dropped_is_asked_about(
    make: Make, assistant: Assistant, small_vault: Path, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault, remember=False)
    (small_vault / ".env").write_text("KEY=1")
    window = make()
    drop(window, small_vault / ".env", middle_of(window, window.middle))
    attaching = window.controllers.composer.attachments
    said = ".env is a hidden file, which may hold keys. It is not attached."
    assert (attaching.attached, window.notifier.texts()) == ((), [said])
    (agree,) = [b for b in window.findChildren(QPushButton) if b.text() == "Attach it"]
    qtbot.mouseClick(agree, Qt.MouseButton.LeftButton)
    (item,) = attaching.attached
    assert item.target == f"hidden:{small_vault / '.env'}"
    assert (item.name, item.path) == (".env", str(small_vault / ".env"))
    qtbot.waitUntil(lambda: attaching.states[item].problem == "" and bool(attaching._found))


def test_a_dropped_link_out_of_the_notes_is_marked_and_never_read(
    make: Make, assistant: Assistant, small_vault: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault, remember=False)
    (tmp_path / "outside.txt").write_text("KEY=1")
    window = make()
    attaching = window.controllers.composer.attachments
    for name in ("link.txt", "link.md"):
        (small_vault / name).symlink_to(tmp_path / "outside.txt")
        drop(window, small_vault / name, middle_of(window, window.middle))
    first, second = attaching.attached
    for item in (first, second):
        qtbot.waitUntil(lambda item=item: "is a link out of" in attaching.states[item].problem)
        assert str(tmp_path / "outside.txt") in attaching.states[item].problem
    assert attaching.sendable == ()


@pytest.fixture
def other_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "log.txt").write_text("started\n")
    return folder


def test_a_folder_that_is_none_of_the_notes_is_opened_from_the_sidebar(
    make: Make,
    assistant: Assistant,
    small_vault: Path,
    other_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(is_begun=False)
    opened = opened_by(window, monkeypatch)
    drop(window, other_folder, middle_of(window, window.middle))
    assert opened == []
    assert window.notifier.texts() == [
        "elsewhere is not among the open notes, so it cannot be attached."
    ]
    drop(window, other_folder, middle_of(window, window.sidebar))
    assert opened == [other_folder]


def test_a_folder_that_is_none_of_the_notes_is_refused_in_the_same_words_when_it_is_pasted(
    make: Make, assistant: Assistant, small_vault: Path, other_folder: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(is_begun=False)
    data = QMimeData()
    paths = (other_folder, small_vault / "garden", other_folder / "log.txt")
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    QGuiApplication.clipboard().setMimeData(data)
    window.composer.input.setFocus()
    QTest.keyClick(window.composer.input, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    QGuiApplication.clipboard().clear()  # data of Python that is left there ends in a crash
    assert window.notifier.texts() == [
        "elsewhere is not among the open notes, so it cannot be attached."
    ]
    attached = [item.target for item in window.controllers.composer.attachments.attached]
    assert attached == ["garden/", str(other_folder / "log.txt")]
