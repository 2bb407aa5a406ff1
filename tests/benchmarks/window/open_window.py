"""A window on real notes, with a model server in another process, for the benches."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.models.model_server import Answer, Body, ModelServer

if TYPE_CHECKING:
    from app.assistant import Assistant
    from ui.window import MainWindow


@contextmanager
def serve_answers(answer: Answer) -> Iterator[str]:
    """Answer all requests in the same way from another process, and yield the address."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(theirs, answer))
    server.start()
    try:
        yield str(ours.recv())
    finally:
        ours.send("stop")
        server.join()


def _serve(pipe: Connection, answer: Answer) -> None:
    def reply(_body: Body) -> Answer:
        server.received.clear()  # a long bench would fill the memory with its requests
        return answer

    with ModelServer(reply) as server:
        pipe.send(server.url)
        pipe.recv()


@contextmanager
def open_window(
    home: Path, notes: Path, url: str, model: str = "scripted"
) -> Iterator[tuple["Assistant", "MainWindow"]]:
    """Open a window on a folder of notes, as the program does, and close it at the end.

    Args:
        home: the folder of Strata's own files.
        notes: the folder of notes.
        url: the address of the model server, or an empty string.
        model: the model that answers.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    from PySide6.QtWidgets import QApplication

    from ui.main import restore_import

    restore_import()
    from app.paths import Paths
    from app.startup import StartupInfo
    from app.wiring import build
    from ui.idle_work import GarbageCollector, IdleTimer, call_when_idle
    from ui.tasks import SWITCH_INTERVAL_S
    from ui.window import MainWindow

    sys.setswitchinterval(SWITCH_INTERVAL_S)
    app = QApplication.instance() or QApplication([])
    idle_timer = IdleTimer(app)
    GarbageCollector(app, idle_timer)
    assistant = build(Paths.find({"STRATA_HOME": str(home)}))
    assistant.settings.set("chat.apiBase", url)
    assistant.settings.set("chat.model", model)
    assistant.settings.set("autoCompactThreshold", 100_000)
    assistant.open_vault(notes, remember=False)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault))
    window.attach(assistant)
    window.resize(1440, 900)
    window.show()
    window.begin()
    call_when_idle(assistant.model_setup.warm_up, idle_timer)
    try:
        yield assistant, window
    finally:
        window.close()
        assistant.close()


def wait(is_done: Callable[[], bool]) -> None:
    """Handle the window's events until a condition is true."""
    from PySide6.QtCore import QEventLoop
    from PySide6.QtWidgets import QApplication

    while not is_done():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
