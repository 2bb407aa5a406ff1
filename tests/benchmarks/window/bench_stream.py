"""A long answer that arrives in pieces, shown as Markdown, against a plain text field.

The pieces are what 200 tokens a second bring between two drawings; each is drawn before the next
comes.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.measure import Ratio, percentile

CHARS = 40_000
PIECE_CHARS = 27  # 200 tokens/s of four characters, drawn every 33 ms


def run(folder: Path) -> list[Ratio]:
    """Stream a text made from the sample vault into both, and compare processor time."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    _app = QApplication.instance() or QApplication([])
    text = answer_text()
    plain, _ = _stream_plain(text)
    ours, pauses = _stream_markdown(text)
    detail = f"{ours:.2f} s against {plain:.2f} s of processor time"
    slowest = f"longest {max(pauses) * 1000:.0f} ms"
    return [
        Ratio("stream: Markdown / plain text, 40,000 characters", ours / plain, detail=detail),
        Ratio(
            "stream: p99 of a drawing / frame of 16 ms",
            percentile(pauses, 99) / 0.016,
            at_most=1.0,
            detail=slowest,
        ),
    ]


def answer_text() -> str:
    """Return an answer of 40,000 characters, made from the sample notes."""
    notes = Path(__file__).resolve().parents[3] / "resources" / "vault"
    bodies = [note.read_text("utf-8") for note in sorted(notes.rglob("*.md"))]
    text = "\n\n".join(bodies)
    return (text * (CHARS // len(text) + 1))[:CHARS]


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS))


def _stream_plain(text: str) -> tuple[float, list[float]]:
    from PySide6.QtWidgets import QPlainTextEdit

    field = QPlainTextEdit()
    field.resize(760, 900)
    field.show()

    def draw(piece: str) -> None:
        field.insertPlainText(piece)

    return _time(text, draw)


def _stream_markdown(text: str) -> tuple[float, list[float]]:
    from PySide6.QtCore import QEventLoop
    from PySide6.QtWidgets import QApplication, QScrollArea

    from ui.markdown.page.view import MarkdownView

    view = MarkdownView()
    page = QScrollArea()
    page.setWidget(view)
    page.setWidgetResizable(True)
    page.resize(760, 900)
    page.show()

    def draw(piece: str) -> None:
        drawn = view.flushes
        view.append(piece)
        while view.flushes == drawn:
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)

    seconds, pauses = _time(text, draw)
    view.finish()
    return seconds, pauses


def _time(text: str, draw: Callable[[str], None]) -> tuple[float, list[float]]:
    from PySide6.QtWidgets import QApplication

    pauses = []
    started = time.process_time()
    for piece in _pieces(text):
        before = time.process_time()
        draw(piece)
        QApplication.processEvents()
        pauses.append(time.process_time() - before)
    return time.process_time() - started, pauses
