"""The memory of a window in long use: 5,000 turns, in chats of a hundred turns each.

Each answer is about the sample notes and is shown as Markdown. After each chat, the one before it
is opened again, and a note is read. Memory is measured after each chat, so that the same is open
each time.
"""

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING

from resources.system.processes import read_process_memory
from tests.benchmarks.measure import Ratio
from tests.benchmarks.window.open_window import open_window, serve_answers, wait
from tests.support.models.model_server import Answer

if TYPE_CHECKING:
    from ui.window import MainWindow

TURNS_BEFORE, TURNS, TURNS_A_CHAT = 1_000, 5_000, 100
NOTE = "Examples/Garden log.md"
QUESTION = "What do my notes say about tomatoes and beans, and when are they sown? ({})"
ANSWER = """Tomatoes are sown **in March**, beans in May [1].

- Water them in the *morning*, never from above [2].
- The next bed is for `beans`, see [the plan](https://example.org).

| kind | sown | picked |
|---|---|---|
| tomatoes | March | July |
| beans | May | August |
"""


def run(folder: Path) -> list[Ratio]:
    """Hold all turns, and compare the memory at the end with that after the first chats."""
    notes = Path(__file__).resolve().parents[3] / "resources" / "vault"
    sizes = dict[int, float]()
    with (
        serve_answers(Answer(ANSWER, chunk_chars=40)) as url,
        open_window(folder / "home", notes, url) as (_assistant, window),
    ):
        wait(lambda: window.controllers.index.state.kind == "done")
        chats = _Chats(window)
        for number in range(1, TURNS // TURNS_A_CHAT + 1):
            chats.hold(number)
            sizes[number * TURNS_A_CHAT] = _measure_megabytes()
    before, after = sizes[TURNS_BEFORE], sizes[TURNS]
    detail = f"{after:.0f} MB after {TURNS:,} turns, {before:.0f} MB after {TURNS_BEFORE:,}"
    name = f"long use: memory after {TURNS:,} turns / after {TURNS_BEFORE:,}"
    return [Ratio(name, after / before, at_most=1.05, detail=detail)]


class _Chats:
    """Holds chats in a window, each opened in the place of the one before it."""

    def __init__(self, window: "MainWindow") -> None:
        self._window, self._session = window, window.controllers.session
        self._loads = 0
        self._session.loaded.connect(self._on_loaded)

    def hold(self, number: int) -> None:
        """Hold a chat, look at the chat before it and at a note, and begin a new chat."""
        before = self._session.session
        self._window.open_session(None)
        for turn in range(TURNS_A_CHAT):
            self._ask(QUESTION.format(number * TURNS_A_CHAT + turn))
        held = self._session.session
        self._open(before or held)
        self._window.show_note(NOTE)
        self._window.show_chat()
        self._open(held)

    def _ask(self, question: str) -> None:
        from chains.request.ask import Ask

        loads = self._loads
        self._session.ask(self._session.address(Ask(question)))
        wait(lambda: self._loads > loads and not self._session.is_running)

    def _open(self, name: str | None) -> None:
        loads = self._loads
        self._session.open(name)
        wait(lambda: self._loads > loads)

    def _on_loaded(self) -> None:
        self._loads += 1


def _measure_megabytes() -> float:
    """Return the memory of this process, after what is no longer used has been freed."""
    from PySide6.QtCore import QEvent
    from PySide6.QtWidgets import QApplication

    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    return read_process_memory(os.getpid()) / 2**20
