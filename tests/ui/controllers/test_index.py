"""Reading the notes from the window: pausing, trying again, rebuilding, and ways to the panel."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from chains.events import IndexProgressed
from chains.request.ask import Ask
from ui.controllers.index import IndexController
from ui.panels.index.state import IndexState
from ui.tasks import TaskRunner
from ui.window import MainWindow
from vault.errors import IndexUnusable, NoteUnreadable
from vault.indexing.indexer import IndexProgress, read_bytes
from vault.indexing.progress import IndexReport


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, qtbot: QtBot) -> Iterator[MainWindow]:
    """A window over a small folder with its index panel open, which nobody has begun to read."""
    assistant.open_vault(small_vault, remember=False)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault))
    window.attach(assistant)
    qtbot.addWidget(window)
    window.show()
    window.docking.show_index()
    yield window
    window.close()


def begin(window: MainWindow, qtbot: QtBot) -> None:
    """Begin, and wait until the notes are listed and reading them has begun."""
    with qtbot.waitSignal(window.controllers.notes.listed):
        window.begin()
    qtbot.waitUntil(lambda: window.controllers.index.state.kind != "none")


def test_names_are_listed_before_the_notes_are_read(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []
    start = IndexController.start

    def record(index: IndexController, **options: bool) -> None:
        shown.append(window.sidebar.notes.model().rowCount())
        start(index, **options)

    monkeypatch.setattr(IndexController, "start", record)
    begin(window, qtbot)
    assert len(shown) == 1
    assert shown[0] > 0


def wait_for(window: MainWindow, kind: str, qtbot: QtBot) -> IndexState:
    indexing = window.controllers.index
    qtbot.waitUntil(lambda: indexing.state.kind == kind)
    return indexing.state


def wait_until_it_stands(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until the run itself has said that it is paused."""
    wait_for(window, "paused", qtbot)
    indexing = window.controllers.index
    qtbot.waitUntil(lambda: indexing.state.phase != "")
    assert indexing.state.kind == "paused"


def reports_of(window: MainWindow) -> list[IndexReport]:
    reports: list[IndexReport] = []
    window.controllers.index.finished.connect(reports.append)
    return reports


def test_a_paused_run_stands_still_until_it_is_let_go_on(window: MainWindow, qtbot: QtBot) -> None:
    begin(window, qtbot)
    window.sidebar.footer.pause.click()
    wait_until_it_stands(window, qtbot)
    assert window.sidebar.footer.pause.accessibleName() == "Go on reading the notes"
    window.sidebar.footer.pause.click()
    assert wait_for(window, "done", qtbot).notes == 5


def test_a_step_that_was_made_before_the_pause_does_not_end_it(
    window: MainWindow, qtbot: QtBot
) -> None:
    begin(window, qtbot)
    window.column.index.run.pause.click()
    indexing = window.controllers.index
    indexing.show_progress(IndexProgress("scan", 1, 5))
    assert (indexing.state.kind, indexing.state.phase) == ("paused", "scan")
    window.column.index.run.pause.click()
    indexing.show_progress(IndexProgress("embed", 2, 5, throttle="paused"))
    assert indexing.state.kind == "running"
    wait_for(window, "done", qtbot)


def test_a_run_that_is_stopped_while_paused_leaves_nothing_paused(
    window: MainWindow, assistant: Assistant, qtbot: QtBot
) -> None:
    begin(window, qtbot)
    window.column.index.run.pause.click()
    wait_until_it_stands(window, qtbot)
    window.column.index.run.cancel.click()
    wait_for(window, "stopped", qtbot)
    assert assistant.library is not None
    assert not assistant.library.vault.throttle.is_paused
    window.column.index.run.act.click()
    wait_for(window, "done", qtbot)


def test_what_could_not_be_read_is_tried_again_and_all_is_made_again_on_wish(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def locked(root: Path, path: str) -> bytes:
        if path == "Welcome.md":
            raise NoteUnreadable(path, "it is locked")
        return read_bytes(root, path)

    with monkeypatch.context() as patched:
        patched.setattr("vault.indexing.indexer.read_bytes", locked)
        begin(window, qtbot)
        assert wait_for(window, "done", qtbot).failed == 1
    panel, reports = window.column.index, reports_of(window)
    qtbot.waitUntil(lambda: panel.lists.shown() == ["Welcome.md"])
    qtbot.mouseClick(panel.lists.try_all, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(reports) == 1)
    assert (reports[0].added, reports[0].failed) == (1, ())
    panel.rebuild.click()
    press(panel.question.findChildren(QPushButton), "Rebuild the index")
    qtbot.waitUntil(lambda: len(reports) == 2)
    assert reports[1].embedded_chunks == reports[1].chunks > 0


def test_a_damaged_index_is_said_to_be_made_anew_until_it_is(
    window: MainWindow, assistant: Assistant, qtbot: QtBot
) -> None:
    assert assistant.library is not None
    (assistant.library.vault.index_dir / "catalog.db").write_bytes(b"this is no database" * 100)
    begin(window, qtbot)
    indexing = window.controllers.index
    qtbot.waitUntil(lambda: indexing.state.is_mending)
    assert not wait_for(window, "done", qtbot).is_mending


def test_a_pause_lets_a_question_go_on_and_stays_seen(
    window: MainWindow, assistant: Assistant, qtbot: QtBot
) -> None:
    assert assistant.library is not None
    begin(window, qtbot)
    wait_for(window, "done", qtbot)
    indexing, folder = window.controllers.index, assistant.library.vault.root
    (folder / "More.md").write_text("More to read.\n")
    with each_progress(window, indexing.pause):
        ask_and_wait(window, "What is there to read?", qtbot)
    assert indexing.state.kind == "paused"
    window.sidebar.footer.pause.click()
    assert wait_for(window, "done", qtbot).notes == 6


def test_a_question_s_reading_can_be_stopped_and_stays_stopped(
    window: MainWindow, assistant: Assistant, qtbot: QtBot
) -> None:
    assert assistant.library is not None
    begin(window, qtbot)
    wait_for(window, "done", qtbot)
    footer, folder = window.sidebar.footer, assistant.library.vault.root
    (folder / "More.md").write_text("More to read.\n")

    def stop() -> None:
        qtbot.mouseClick(footer.cancel, Qt.MouseButton.LeftButton)

    with each_progress(window, stop):
        ask_and_wait(window, "What is there to read?", qtbot)
    assert wait_for(window, "stopped", qtbot).text.startswith("Indexing stopped")
    steps: list[str] = []
    with each_progress(window, lambda: steps.append("step")):
        ask_and_wait(window, "And what else?", qtbot)
    assert steps == []
    qtbot.mouseClick(footer.act, Qt.MouseButton.LeftButton)
    assert wait_for(window, "done", qtbot).notes == 6


@contextmanager
def each_progress(window: MainWindow, do: Callable[[], object]) -> Iterator[None]:
    """Do something at each step of an index update that a turn has begun."""

    def on_event(_turn: object, event: object) -> None:
        if isinstance(event, IndexProgressed):
            do()

    window.controllers.session.event_arrived.connect(on_event)
    yield
    window.controllers.session.event_arrived.disconnect(on_event)


def ask_and_wait(window: MainWindow, question: str, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.controllers.session.turn_ended):
        session = window.controllers.session
        session.ask(session.address(Ask(question)))


def press(buttons: list[QPushButton], word: str) -> None:
    next(button for button in buttons if button.text() == word).click()


Way = Callable[[MainWindow], object]
INDEX: list[Way] = [
    lambda window: window.run_command("toggle_index"),
    lambda window: window.sidebar.footer.details.click(),
    lambda window: window.sidebar.footer.problems_requested.emit(),
    lambda window: window.rail.index.click(),
]


@pytest.fixture
def quiet(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[MainWindow]:
    """A window without a folder."""
    window = MainWindow(StartupInfo(assistant.paths.state, None), runner)
    window.attach(assistant)
    qtbot.addWidget(window)
    window.resize(1440, 900)
    window.show()
    yield window
    window.close()


@pytest.mark.parametrize("width", [1440, 900])
@pytest.mark.parametrize("way", INDEX)
def test_many_ways_lead_to_the_index(quiet: MainWindow, way: Way, width: int) -> None:
    quiet.resize(width, 900)
    way(quiet)
    assert quiet.column.is_in_front(quiet.column.index_dock)


@pytest.mark.parametrize("name", ["index", "related"])
def test_a_panel_in_front_is_closed_and_one_behind_is_brought_to_the_front(
    quiet: MainWindow, name: str
) -> None:
    dock = getattr(quiet.column, f"{name}_dock")

    def toggle() -> None:
        quiet.run_command(f"toggle_{name}")

    toggle()
    quiet.column.show_dock(quiet.column.sources_dock)
    assert not quiet.column.is_in_front(dock)
    toggle()
    assert quiet.column.is_in_front(dock)
    toggle()
    assert dock.isHidden()


def test_an_index_that_cannot_be_read_is_said_by_the_run_alone(
    quiet: MainWindow, assistant: Assistant, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object, **_how: object) -> None:
        raise IndexUnusable("The index cannot be read; rebuild it.")

    assistant.open_vault(small_vault, remember=False)
    monkeypatch.setattr(assistant, "index", broken)
    assert assistant.library is not None
    monkeypatch.setattr(assistant.library.vault, "status", broken)
    quiet.docking.show_index()
    quiet.controllers.index.start()
    assert quiet.column.index.run._text.text() == "The index cannot be read; rebuild it."
    assert quiet.column.index.rebuild.isVisible()


def test_a_note_is_shown_among_its_folders_also_where_the_sidebar_is_closed(
    quiet: MainWindow, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    quiet.begin()
    quiet.resize(900, 900)
    quiet.column.index.lists.reveal_requested.emit("garden/Tomatoes.md")
    assert quiet.sidebar.isVisible()
    assert quiet.sidebar.notes.currentIndex().data() == "Tomatoes.md"
