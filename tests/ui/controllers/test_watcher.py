"""What changes on the disk while the window is open reaches everything that shows it."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.library.library import IndexFinished
from app.startup import StartupInfo
from tests.support.window.window_pages import WindowPage
from ui.controllers.index import WatchController
from ui.panels.notes.note_panel import NotePanel
from ui.tasks import TaskRunner
from ui.window import MainWindow
from vault.errors import IndexBusy, VaultMissing
from vault.indexing.progress import IndexProgress, IndexReport
from vault.notes.note import Note


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, qtbot: QtBot) -> Iterator[MainWindow]:
    """A window over a small folder, indexed, with its threads; a first change has been seen."""
    assistant.open_vault(small_vault, remember=False)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault))
    window.attach(assistant)
    qtbot.addWidget(window)
    window.show()
    window.begin()
    indexing = window.controllers.index
    qtbot.waitUntil(lambda: indexing.state.kind == "done")

    def followed() -> bool:
        (small_vault / "First.md").touch()
        return "First.md" in listed(window)

    qtbot.waitUntil(followed)
    yield window
    window.close()


def listed(window: MainWindow) -> dict[str, str]:
    return {note.path: note.state for note in window.controllers.notes.listing.notes}


def shown(panel: NotePanel) -> str:
    """Return the rendered text of the note."""
    return "\n".join(view.toPlainText() for view in panel.page.views())


def said(panel: NotePanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_what_changes_on_the_disk_reaches_tree_foot_panel_and_the_open_note(
    window: MainWindow, small_vault: Path, qtbot: QtBot
) -> None:
    window.run_command("toggle_index")
    window.show_note("Welcome.md")
    note = window.note
    qtbot.waitUntil(lambda: note.path == "Welcome.md")
    window.composer.setFocus()
    (small_vault / "Zebra.md").write_text("A zebra came by.\n")
    (small_vault / "Secret.md").write_text("#private\n")
    (small_vault / "Welcome.md").write_text("Other words now.\n")
    qtbot.waitUntil(lambda: listed(window).get("Secret.md") == "excluded")
    qtbot.waitUntil(lambda: listed(window).get("Zebra.md") == "indexed")
    qtbot.waitUntil(lambda: shown(note) == "Other words now.")
    assert window.sidebar.notes.model().find("Zebra.md").isValid()
    indexed = sum(state == "indexed" for state in listed(window).values())
    qtbot.waitUntil(lambda: window.sidebar.footer.state.notes == indexed)
    window.column.index.lists.show_which("excluded")
    assert "Secret.md" in window.column.index.lists.shown()
    assert QApplication.focusWidget() in (None, window.composer.input)


def test_the_open_note_that_is_deleted_stays_to_be_read(
    window: MainWindow, small_vault: Path, qtbot: QtBot
) -> None:
    window.show_note("Welcome.md")
    note = window.note
    qtbot.waitUntil(lambda: note.path == "Welcome.md")
    text = shown(note)
    (small_vault / "Welcome.md").unlink()
    gone = "This note is not there any more."
    qtbot.waitUntil(lambda: gone in said(note))
    assert shown(note) == text
    (small_vault / "Welcome.md").write_text("Back again.\n")
    qtbot.waitUntil(lambda: shown(note) == "Back again.")
    assert gone not in said(note)


def test_a_folder_that_is_renamed_is_named_and_read_again_when_it_is_back(
    window: MainWindow, small_vault: Path, qtbot: QtBot
) -> None:
    controllers = window.controllers
    controllers.vault.folder_check.setInterval(20)
    elsewhere = small_vault.with_name("elsewhere")
    small_vault.rename(elsewhere)
    qtbot.waitUntil(lambda: controllers.index.state.kind == "failed")
    said = f"The folder {small_vault} cannot be reached. Nothing was deleted."
    assert window.sidebar.footer.state.text == said
    elsewhere.rename(small_vault)
    qtbot.waitUntil(lambda: controllers.index.state.kind == "done")


def test_a_folder_that_was_away_between_two_checks_is_read_again(
    window: MainWindow, small_vault: Path, qtbot: QtBot
) -> None:
    controllers = window.controllers
    controllers.vault.folder_check.stop()
    elsewhere = small_vault.with_name("elsewhere")
    small_vault.rename(elsewhere)
    controllers.index.start()
    qtbot.waitUntil(lambda: controllers.index.state.kind == "failed")
    elsewhere.rename(small_vault)
    controllers.vault.folder_check.start(20)
    qtbot.waitUntil(lambda: controllers.index.state.kind == "done")


def test_a_folder_that_is_found_missing_again_and_again_is_tried_once_more(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    runs: list[object] = []

    def fail(*_args: object, **_named: object) -> Iterator[object]:
        runs.append(None)
        raise VaultMissing("The folder is empty.")
        yield

    monkeypatch.setattr(window.assistant, "index", fail)
    controllers, checks = window.controllers, list[object]()
    controllers.index.start()
    qtbot.waitUntil(lambda: controllers.index.state.kind == "failed")
    controllers.vault.folder_check.start(20)
    qtbot.waitUntil(lambda: len(runs) == 2 and not controllers.index.is_running)
    controllers.vault.folder_check.timeout.connect(lambda: checks.append(None))
    qtbot.waitUntil(lambda: len(checks) > 5)
    assert len(runs) == 2


def test_a_folder_that_is_renamed_while_it_is_indexed_is_named(
    window: MainWindow, small_vault: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    indexing, library = window.controllers.index, window.assistant.library
    assert library is not None
    library.vault.throttle.pause()  # as a long run that embeds texts read before
    (small_vault / "Second.md").write_text("More words.")
    indexing.start()
    qtbot.waitUntil(lambda: indexing.is_running)
    window.controllers.vault.folder_check.setInterval(20)
    elsewhere = small_vault.with_name("elsewhere")
    small_vault.rename(elsewhere)
    qtbot.waitUntil(lambda: indexing.state.kind == "failed")
    said = f"The folder {small_vault} cannot be reached. Nothing was deleted."
    assert window.sidebar.footer.state.text == said
    page = WindowPage(window)
    page.composer.send("Where is the barrel?")
    qtbot.waitUntil(lambda: len(page.chat.failures()) == 1)
    assert f"There is no folder at {small_vault}." in page.chat.failures()[0].accessibleName()
    library.vault.throttle.resume()
    elsewhere.rename(small_vault)
    qtbot.waitUntil(lambda: indexing.state.kind == "done" and "Second.md" in listed(window))


def test_a_folder_whose_drive_reports_an_error_cannot_be_reached(
    window: MainWindow, small_vault: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    controllers, stat = window.controllers, os.stat

    def fail(path: Any, **options: Any) -> os.stat_result:
        is_watcher = threading.current_thread().name == "watcher"  # which may notice it first
        if str(path) == str(small_vault) and not is_watcher:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", fail)
    controllers.vault.folder_check.setInterval(20)
    qtbot.waitUntil(lambda: controllers.index.state.kind == "failed")
    said = f"The folder {small_vault} cannot be reached. Nothing was deleted."
    assert window.sidebar.footer.state.text == said


def test_a_closed_window_hears_nothing_and_the_folder_is_let_go(
    window: MainWindow, assistant: Assistant, small_vault: Path
) -> None:
    window.close()
    assistant.close()
    (small_vault / "Late.md").write_text("late\n")
    QApplication.processEvents()
    assert "Late.md" not in listed(window)
    assert not [thread for thread in threading.enumerate() if thread.name == "watcher"]


class Folder:
    """A library whose watcher says what it is told to."""

    def __init__(self) -> None:
        self.put: Callable[[object], None] = lambda _told: None

    def watch(self, *told: Callable[[object], None]) -> None:
        self.put = told[0]


class Heard:
    """What a `WatchController` said."""

    def __init__(self, watching: WatchController) -> None:
        self.said: list[str] = []
        watching.looked.connect(lambda: self.said.append("looked"))
        watching.changed.connect(lambda _report: self.said.append("changed"))
        watching.progressed.connect(lambda _progress: self.said.append("progressed"))
        watching.failed.connect(lambda error: self.said.append(str(error)))


@pytest.fixture
def watching(runner: TaskRunner, qapp: QApplication) -> WatchController:
    return WatchController(runner, qapp)


def hear(watching: WatchController, *told: object) -> list[str]:
    """Follow a folder that tells these, and return what is said of it."""
    folder, heard = Folder(), Heard(watching)
    watching.start(folder)  # type: ignore[arg-type]
    for item in told:
        folder.put(item)
    QApplication.processEvents()
    return heard.said


def test_a_file_that_is_none_of_the_notes_is_no_news(watching: WatchController) -> None:
    same = IndexReport("v", notes=2, excluded=(("a.md", "a"),))
    assert hear(watching, same, same) == ["looked", "changed", "looked"]


def test_a_note_that_could_not_be_read_is_news(watching: WatchController) -> None:
    first = IndexReport("v", notes=2)
    then = IndexReport("v", notes=2, failed=(("a.md", "no text"),))
    assert hear(watching, first, then) == ["looked", "changed", "looked", "changed"]


def test_a_pass_that_is_over_at_once_shows_no_progress(watching: WatchController) -> None:
    told = [IndexProgress("embed", done=n, total=9) for n in range(9)]
    assert hear(watching, *told, IndexReport("v")) == ["looked", "changed"]


def test_a_pass_that_takes_longer_than_a_moment_shows_its_progress(
    watching: WatchController, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter((0.0, 0.1, 0.5))
    monkeypatch.setattr("ui.controllers.index.monotonic", lambda: next(seconds))
    told = [IndexProgress("embed", done=n, total=9) for n in range(3)]
    assert hear(watching, *told) == ["progressed"]


def test_a_failure_is_told_with_its_reason(watching: WatchController) -> None:
    assert hear(watching, VaultMissing("It is gone.")) == ["looked", "It is gone."]


def test_the_folder_before_is_not_heard_any_more(watching: WatchController) -> None:
    before, heard = Folder(), Heard(watching)
    watching.start(before)  # type: ignore[arg-type]
    watching.start(Folder())  # type: ignore[arg-type]
    before.put(IndexReport("v"))
    QApplication.processEvents()
    assert heard.said == []


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (VaultMissing("gone"), "The folder {} cannot be reached. Nothing was deleted."),
        (IndexBusy("busy"), "Loading…"),
    ],
)
def test_a_folder_that_is_gone_is_named_and_another_owner_is_no_trouble(
    assistant: Assistant,
    runner: TaskRunner,
    small_vault: Path,
    qtbot: QtBot,
    error: Exception,
    text: str,
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
    qtbot.addWidget(window)
    window.attach(assistant)
    window.controllers.vault.watch.failed.emit(error)
    assert window.sidebar.footer.state.text == text.format(small_vault.resolve())


def test_what_failed_is_tried_again_when_a_change_could_be_taken_up(
    assistant: Assistant,
    runner: TaskRunner,
    small_vault: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
    qtbot.addWidget(window)
    window.attach(assistant)
    done = IndexReport("v", notes=5)
    monkeypatch.setattr(assistant, "index", lambda _token, **_how: iter([IndexFinished(done)]))
    watching = window.controllers.vault.watch
    watching.failed.emit(VaultMissing("gone"))
    watching.changed.emit(done)
    assert window.sidebar.footer.state.text == "5 notes indexed"


@pytest.fixture
def note(qtbot: QtBot) -> NotePanel:
    panel = NotePanel()
    qtbot.addWidget(panel)
    panel.resize(344, 260)
    panel.show()
    return panel


def made(text: str) -> Note:
    return Note("a.md", "A", text, str(hash(text)))


def lines(count: int, before: str = "") -> str:
    return before + "\n".join(f"Line {n}." for n in range(1, count + 1))


def test_a_note_that_changed_stays_where_the_reader_was(note: NotePanel) -> None:
    note.show_note(made(lines(400)))
    note.toggle_source()
    note.source.verticalScrollBar().setValue(100)
    note.show_changed(made(lines(400) + "\nAnother line."))
    assert note.source.verticalScrollBar().value() == 100
    assert note.source.toPlainText().endswith("Another line.")


@pytest.mark.parametrize(
    ("now", "marked"),
    [
        (lines(9) + "\nMore.", (3, 4)),
        (lines(9, before="One.\nTwo.\n"), (5, 6)),
        (lines(9).replace("Line 3.", "Line three."), None),
        (lines(9) + "\n" + lines(9), (3, 4)),
    ],
)
def test_marked_lines_are_found_again_or_marked_no_more(
    note: NotePanel, now: str, marked: tuple[int, int] | None
) -> None:
    note.show_note(made(lines(9)), 3, 4)
    note.show_changed(made(now))
    assert note.find_marked_lines() == marked
