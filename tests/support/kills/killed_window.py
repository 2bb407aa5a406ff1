"""The real program with a simulated user, who acts before a kill or reports what is back.

`python -m tests.support.kills.killed_window OPTIONS… act|ask|wait|tell` prints a JSON document on a
line when the user is done, and another one whenever the window shows something else after that.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.cli.parser import run_window
from app.startup import Startup
from tests.support.window.window_pages import WindowPage
from ui.chat.message.answer import Answer
from ui.main import run
from ui.theme import Theme
from ui.window import MainWindow

QUESTION, DRAFT = "What is compost?", "A thought that is not sent"
SIZE = (1111, 777)
_PAUSE_MS = 20


def tell(page: WindowPage) -> dict[str, Any]:
    """Return what the window shows, as JSON."""
    return {
        "title": page.chat.title,
        "answers": len(page.chat.answers()),
        "endings": [[answer.text, answer.ending] for answer in page.chat.answers()],
        "retries": sum(is_offered(answer) for answer in page.chat.answers()),
        "isRunning": page.chat.is_running,
        "draft": page.composer.text,
        "scale": Theme.current().scale,
        "size": [page.view.width(), page.view.height()],
    }


def is_offered(answer: Answer) -> bool:
    """Return whether the line below an answer offers to ask again."""
    buttons = answer.findChildren(QPushButton)
    return any(one.text() == "Try again" and one.isVisible() for one in buttons)


def act(page: WindowPage) -> None:
    """Ask a question, then change everything that must be restored."""
    page.composer.choose_mode("chat")
    page.composer.send(QUESTION)
    page.press_keys("Ctrl++")
    page.view.resize(*SIZE)


def write(page: WindowPage) -> None:
    """Write a draft without sending it."""
    page.composer.view.setFocus()
    QTest.keyClicks(page.composer.view.input, DRAFT)


class Sitter:
    """A simulated user: does one thing after another, each when the one before has ended."""

    def __init__(self, kind: str) -> None:
        self._steps: list[Callable[[WindowPage], bool]] = [self._is_there]
        if kind == "act":
            self._steps += [self._act, lambda page: bool(page.chat.answers()), self._write]
        elif kind == "ask":
            self._steps += [self._ask, lambda page: any(one.text for one in page.chat.answers())]
        elif kind == "wait":
            self._steps += [self._ask, lambda page: page.chat.is_running]
        else:
            self._steps += [lambda page: bool(page.chat.answers())]
        self._told = ""
        self._timer = QTimer(interval=_PAUSE_MS)
        self._timer.timeout.connect(self._step)
        self._timer.start()

    def _step(self) -> None:
        found = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
        if not found or not hasattr(found[0], "controllers"):
            return
        page = WindowPage(found[0])
        if self._steps and self._steps[0](page):
            del self._steps[0]
        if not self._steps and (told := json.dumps(tell(page))) != self._told:
            self._told = told
            print(told, flush=True)

    def _is_there(self, page: WindowPage) -> bool:
        return page.view.isVisible() and page.composer.view.isVisible()

    def _act(self, page: WindowPage) -> bool:
        act(page)
        return True

    def _ask(self, page: WindowPage) -> bool:
        page.composer.choose_mode("chat")
        page.composer.send(QUESTION)
        return True

    def _write(self, page: WindowPage) -> bool:
        is_idle = not page.chat.is_running
        if is_idle:
            write(page)
        return is_idle


def show(opening: Startup) -> int:
    """Show the window with the simulated user."""
    app = QApplication(sys.argv[:1])
    app.setProperty("sitter", Sitter(sys.argv[-1]))
    return run(opening)


if __name__ == "__main__":
    sys.exit(run_window(sys.argv[1:-1], show))
