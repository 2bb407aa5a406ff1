"""States for pictures: the start without notes, the first run, and a window from right to left."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.paths import Paths
from app.startup import StartupInfo
from app.wiring import build
from tests.support.pictures.gallery import Shot
from tests.support.pictures.sample_window import BACKUPS, COFFEE, RESTORE, Stage, settle, wait_until
from tests.support.window.first_run_page import FirstRunPage
from ui.panels.index.state import IndexState
from ui.window import MainWindow

_READING = IndexState("running", 2_140, 12_310, 214, phase="embed", left_s=206.0)


def show_first_run(on: Stage) -> Iterator[Shot]:
    """Show the three steps of the first run, with each choice of a model."""
    on.window.controllers.first_run.open()
    page = FirstRunPage(on.window)
    page.view.index.show_state(_READING)
    yield Shot("first-notes")
    page.view.show_step(1)
    settle(1_500)
    yield Shot("first-model")
    page.press("A service with a key, or another server")
    settle()
    yield Shot("first-service")
    page.press("A model file")
    settle()
    yield Shot("first-file")
    page.view.show_step(2)
    settle()
    yield Shot("first-ask")
    page.view.close()


def show_starts(on: Stage) -> Iterator[Shot]:
    """Show a window before its notes are open, without notes, and with an empty folder."""
    with tempfile.TemporaryDirectory() as home:
        loading = MainWindow(StartupInfo(Path(home), on.assistant.vault))
        loading.show()
        yield Shot("loading", window=loading)
        loading.close()
    with _open_window(None) as window:
        yield Shot("welcome", window=window)
        window.open_folder(Path("/home/me/Notes"))
        settle(500)
        yield Shot("welcome-lost", window=window)
    with tempfile.TemporaryDirectory() as folder, _open_window(Path(folder)) as window:
        settle(500)
        yield Shot("empty-vault", window=window)


@contextmanager
def _open_window(vault: Path | None) -> Iterator[MainWindow]:
    """Open a window of a new user."""
    with tempfile.TemporaryDirectory() as home:
        before, os.environ["STRATA_HOME"] = os.environ["STRATA_HOME"], home
        assistant = build(Paths.find(), {})
        if vault is not None:
            assistant.open_vault(vault, remember=False)
        window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault))
        window.attach(assistant)
        window.show()
        window.begin()
        wait_until(lambda: not window.controllers.index.is_running)
        yield window
        window.close()
        assistant.close()
        os.environ["STRATA_HOME"] = before


def show_mirrored(on: Stage) -> Iterator[Shot]:
    """Show the window in a right-to-left language."""
    QApplication.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    for name, question in (("mirrored", BACKUPS), ("mirrored-arabic", COFFEE)):
        on.open(question)
        on.window.controllers.context.show_last_request()
        yield Shot(name)
    on.window.show_note("Languages/دفتر القهوة.md")
    settle(700)
    yield Shot("mirrored-note")
    on.window.controllers.reading.close()
    on.window.open_settings("Context")
    settle(500)
    yield Shot("mirrored-settings")
    on.window.open_settings("")
    _close_dialogs()
    QApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def show_bare(on: Stage) -> Iterator[Shot]:
    """Show an empty chat with a model and without one, and a question without a model."""
    yield Shot("empty")
    on.window.controllers.composer.use_model("extractive")
    settle(500)
    yield Shot("empty-no-model")
    on.play(RESTORE)
    yield Shot("answer-no-model")
    on.window.open_session(None)
    on.window.controllers.composer.use_model("qwen3-14b")


def _close_dialogs() -> None:
    for widget in QApplication.topLevelWidgets():
        if widget.isVisible() and widget.windowType() == Qt.WindowType.Dialog:
            widget.close()
