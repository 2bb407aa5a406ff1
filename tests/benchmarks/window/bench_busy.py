"""The window while much goes on: a long answer arrives, notes are being indexed, a note is open.

The answer comes from a server in another process, 200 tokens a second. Frames are measured in the
window's event loop, so that the machine must be quiet otherwise. The limits are for the frames from
the first text of the answer on. The longest frame before that is shown beside them without a limit:
until then, a note opens in a folder of 4,600 notes, and the client for models is imported.
"""

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from tests.benchmarks.measure import Ratio, percentile, unpack_vault
from tests.benchmarks.window.bench_stream import answer_text
from tests.benchmarks.window.open_window import open_window, serve_answers, wait
from tests.support.models.model_server import Answer

if TYPE_CHECKING:
    from app.assistant import Assistant
    from ui.window import MainWindow

EVENT_CHARS, EVENTS_PER_S = 16, 50
BEAT_MS = 4
FRAME_S, LONGEST_S = 0.016, 0.050
NOTE = "pages/common/git.md"


def run(folder: Path) -> list[Ratio]:
    """Stream one answer into a window, and compare its frames with what a screen allows."""
    notes = unpack_vault("tldr", folder / "notes")
    answer = Answer(answer_text(), chunk_chars=EVENT_CHARS, pause_s=1 / EVENTS_PER_S)
    with (
        serve_answers(answer) as url,
        open_window(folder / "home", notes, url) as (assistant, window),
    ):
        starting, gaps, indexed = _stream(assistant, window)
    detail = f"{len(gaps):,} frames, {indexed:,} notes indexed meanwhile, p50 {{:.1f}} ms"
    detail = detail.format(percentile(gaps, 50) * 1_000)
    return [
        Ratio(
            "busy: longest frame before the first text / 50 ms",
            max(starting) / LONGEST_S,
            detail=f"{max(starting) * 1_000:.0f} ms: a note and its folder open, the client loads",
        ),
        Ratio("busy: p99 of a frame / 16 ms", percentile(gaps, 99) / FRAME_S, 1.0, detail=detail),
        Ratio(
            "busy: longest frame / 50 ms",
            max(gaps) / LONGEST_S,
            1.0,
            detail=f"{max(gaps) * 1_000:.0f} ms",
        ),
    ]


def _stream(assistant: "Assistant", window: "MainWindow") -> tuple[list[float], list[float], int]:
    """Return the frames before and after the first text of the answer, and the notes indexed."""
    from chains.events import TextDelta
    from chains.request.ask import Ask

    session, texts = window.controllers.session, list[object]()
    session.event_arrived.connect(
        lambda _turn, event: texts.append(event) if isinstance(event, TextDelta) else None
    )
    wait(lambda: _count_indexed(assistant) > 50)
    before, starting = _count_indexed(assistant), _Beats()
    window.show_note(NOTE)
    session.ask(session.address(Ask("Tell me all that you know.")))
    wait(lambda: bool(texts))
    starting_gaps, beats = starting.stop(), _Beats()
    wait(lambda: not session.is_running)
    gaps = beats.stop()
    return starting_gaps, gaps, _count_indexed(assistant) - before


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
