"""The window while much goes on: a long answer arrives, notes are being indexed, a note is open.

The answer comes from a server in another process, 200 tokens a second. Frames are measured in the
window's event loop, so that the machine must be quiet otherwise.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from tests.benchmarks.measure import Ratio, percentile, unpack_vault
from tests.benchmarks.window.bench_stream import answer_text
from tests.support.models.model_server import Answer, ModelServer

if TYPE_CHECKING:
    from app.assistant import Assistant

EVENT_CHARS, EVENTS_PER_S = 16, 50
BEAT_MS = 4
FRAME_S, LONGEST_S = 0.016, 0.050
NOTE = "pages/common/git.md"


def run(folder: Path) -> list[Ratio]:
    """Stream one answer into a window, and compare its frames with what a screen allows."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    notes = unpack_vault("tldr", folder / "notes")
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    server.start()
    try:
        gaps, indexed = _stream(folder / "home", notes, ours.recv())
    finally:
        ours.send("stop")
        server.join()
    detail = f"{len(gaps):,} frames, {indexed:,} notes indexed meanwhile, p50 {{:.1f}} ms"
    detail = detail.format(percentile(gaps, 50) * 1_000)
    return [
        Ratio("busy: p99 of a frame / 16 ms", percentile(gaps, 99) / FRAME_S, 1.0, detail=detail),
        Ratio(
            "busy: longest frame / 50 ms",
            max(gaps) / LONGEST_S,
            1.0,
            detail=f"{max(gaps) * 1_000:.0f} ms",
        ),
    ]


def _serve(told: Connection) -> None:
    pause_s = 1 / EVENTS_PER_S
    answer = Answer(answer_text(), chunk_chars=EVENT_CHARS, pause_s=pause_s)
    with ModelServer(answer) as server:
        told.send(server.url)
        told.recv()


def _stream(home: Path, notes: Path, url: str) -> tuple[list[float], int]:
    from PySide6.QtWidgets import QApplication

    from app.paths import Paths
    from app.startup import StartupInfo
    from app.wiring import build
    from ui.tasks import SWITCH_INTERVAL_S, GarbageCollector
    from ui.window import MainWindow

    sys.setswitchinterval(SWITCH_INTERVAL_S)
    garbage = GarbageCollector(QApplication.instance() or QApplication([]))
    assistant = build(Paths.find({"STRATA_HOME": str(home)}))
    assistant.settings.set("chat.apiBase", url)
    assistant.settings.set("chat.model", "scripted")
    assistant.settings.set("autoCompactThreshold", 100_000)
    assistant.open_vault(notes, remember=False)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault))
    window.attach(assistant)
    window.resize(1440, 900)
    window.show()
    window.begin()
    session = window.controllers.session
    _wait(lambda: _count_indexed(assistant) > 50)
    window.controllers.reading.show(NOTE)
    session.ask("Tell me all that you know.")
    _wait(lambda: session.is_running)
    before, beats = _count_indexed(assistant), _Beats()
    _wait(lambda: not session.is_running)
    gaps = beats.stop()
    indexed = _count_indexed(assistant) - before
    window.close()
    garbage.stop()
    assistant.close()
    return gaps, indexed


def _count_indexed(assistant: "Assistant") -> int:
    return sum(note.state == "indexed" for note in assistant.notes())


class _Beats:
    """Records how long the event loop was held up between two beats of a timer."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self._gaps: list[float] = []
        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._last_s = monotonic()
        self._timer.start()

    def _beat(self) -> None:
        now_s = monotonic()
        self._gaps.append(max(0.0, now_s - self._last_s - BEAT_MS / 1_000))
        self._last_s = now_s

    def stop(self) -> list[float]:
        """Return the delays of all beats, in seconds."""
        self._timer.stop()
        return self._gaps


def _wait(is_done: Callable[[], bool]) -> None:
    from PySide6.QtCore import QEventLoop
    from PySide6.QtWidgets import QApplication

    while not is_done():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
