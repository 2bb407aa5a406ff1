"""The look, a runner that works in place, and a real assistant over a few notes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from tests.support.models.model_server import ModelServer
from tests.support.window.desktop import Desktop
from tests.support.window.transcripts import HERE, Place
from tests.support.window.waiting import PatientBot
from ui.actions import Keymap
from ui.chat.transcript.transcript import Transcript
from ui.tasks import TaskRunner
from ui.theme import Theme
from vault.embedder import Embedder

_TOAST_MS = 600_000


@pytest.fixture(autouse=True)
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The light theme at its normal size, whatever the test before has chosen.

    Afterwards the widgets of the test are deleted: Qt only does that by itself in a running event
    loop, and every change of the theme would dress all of them anew.
    """
    theme = Theme.current()
    if (theme.mode, theme.scale) != ("light", 1.0) or not qapp.styleSheet():
        theme.apply("light", 1.0)
    yield theme
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True)
def default_keys(qapp: QApplication) -> None:
    """The default keys, whatever the test before has chosen."""
    Keymap.current().apply({}, "Enter")


@pytest.fixture(autouse=True)
def _cards_take_decisions_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an approval card take a decision at once and not only after half a second."""
    monkeypatch.setattr("ui.chat.message.approval_card._INERT_MS", 20)


@pytest.fixture(autouse=True)
def _toasts_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show toasts for minutes: on a busy computer they may be gone before a test reads them."""
    read = Theme.duration
    times = {"toast_info": _TOAST_MS, "toast_with_action": _TOAST_MS}
    monkeypatch.setattr(Theme, "duration", lambda theme, name: times.get(name) or read(theme, name))


@pytest.fixture(autouse=True)
def _no_vault_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find no vaults of Obsidian on the computer that runs the tests."""
    monkeypatch.setattr("app.library.known_vaults.list_obsidian_files", tuple)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """The bot of pytest-qt, for a computer that may be busy."""
    return PatientBot(request)


@pytest.fixture
def runner(qapp: QApplication) -> Iterator[TaskRunner]:
    """A runner that does each task inside `start`."""
    runner = TaskRunner(is_synchronous=True)
    yield runner
    runner.close()
    runner.deleteLater()


@pytest.fixture
def assistant(strata_home: Path, embedder: Embedder) -> Iterator[Assistant]:
    """The real assistant, without a folder and without a model."""
    without_titles = {"chat.titles": False}  # tests script the calls of a model one by one
    assistant = build(Paths.find(), without_titles, embedder=embedder)
    yield assistant
    assistant.close()


@pytest.fixture
def server(model_library: None) -> Iterator[ModelServer]:
    """A model server whose answers the test scripts."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def scripted(assistant: Assistant, server: ModelServer) -> Assistant:
    """The assistant with the model of `server`."""
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    return assistant


@pytest.fixture
def place(qtbot: QtBot) -> Iterator[Place]:
    """A transcript above its composer, in a window of its own."""
    place = Place()
    qtbot.addWidget(place)
    place.resize(900, 700)
    place.show()
    place.activateWindow()
    qtbot.waitUntil(place.isActiveWindow)
    place.transcript.set_models(HERE)
    return place


@pytest.fixture
def transcript(place: Place) -> Transcript:
    """The transcript there."""
    return place.transcript


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    """The files that the desktop is asked to open."""
    yield Desktop()
    QDesktopServices.unsetUrlHandler("file")
