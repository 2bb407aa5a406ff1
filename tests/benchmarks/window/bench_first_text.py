"""From Enter to the first text of an answer without a model, in a window that has just started.

A question is typed by keys, a letter each 60 ms, and another one is pasted. Both are the first
question of a window of their own, in a process of its own; then more questions are typed, which are
the warm ones. The bare figure is the time of such answers in the same program, without a window.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

from tests.benchmarks.measure import ROOT, Ratio, run_strata
from tests.benchmarks.window.open_window import open_window, wait

WARM_S: Final = 0.3
ROUNDS: Final = 3
PAUSE_S: Final = 0.06
QUESTIONS: Final = (
    "When is the server backed up?",
    "How do I exclude a note?",
    "What is a project?",
    "When are tomatoes sown?",
    "How do I pin an answer?",
    "Which files are read?",
    "How is a note attached?",
)
# Others, because the meaning of sentences that were compared once is remembered.
BARE_QUESTIONS: Final = (
    "How do I undo an edit?",
    "What does the agent ask first?",
    "Where are chats stored?",
    "When are beans sown?",
    "How is a hook written?",
    "What is compaction?",
)
SAMPLE: Final = ROOT / "resources" / "vault"


def run(folder: Path) -> list[Ratio]:
    """Start windows by turns, and take the medians."""
    home = folder / "home"
    run_strata(home, "index", str(SAMPLE))
    typed = [_start(home, "typed") for _ in range(ROUNDS)]
    pasted = [_start(home, "pasted") for _ in range(ROUNDS)]
    warm = median(second for each in typed for second in each["warm"])
    bare = median(second for each in typed for second in each["bare"])
    detail = f"{warm:.2f} s against {bare:.2f} s without a window"
    first, at_once = (median(each["first"] for each in times) for times in (typed, pasted))
    return [
        Ratio("first text: warm / 0.3 s", warm / WARM_S, at_most=1.0, detail=detail),
        Ratio("first text: first question, typed / warm", first / warm, detail=f"{first:.2f} s"),
        Ratio(
            "first text: first question, pasted / warm", at_once / warm, detail=f"{at_once:.2f} s"
        ),
    ]


def _start(home: Path, way: str) -> Mapping[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.window.bench_first_text", str(home), way]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    found: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _ask_all(home: Path, way: str) -> Mapping[str, Any]:
    """Ask all questions in a window, then without it, and return the seconds until the text."""
    with open_window(home, SAMPLE, "", model="extractive") as (assistant, window):
        from chains.cancel import CancelToken
        from chains.events import TextDelta
        from chains.request.ask import Ask

        session, arrived = window.controllers.session, list[float]()
        session.event_arrived.connect(
            lambda _turn, event: (
                arrived.append(time.monotonic()) if isinstance(event, TextDelta) else None
            )
        )
        wait(lambda: window.controllers.index.state.kind == "done")

        def ask(question: str, pause_s: float) -> float:
            _write(window.composer.input, question, pause_s)
            arrived.clear()
            started = _press_enter(window.composer.input)
            wait(lambda: bool(arrived) and not session.is_running)
            return arrived[0] - started

        first = ask(QUESTIONS[0], PAUSE_S if way == "typed" else 0.0)
        warm = [ask(question, PAUSE_S) for question in QUESTIONS[1:]]
        bare = list[float]()
        for question in BARE_QUESTIONS:
            started = time.monotonic()
            for event in assistant.ask(Ask(question), CancelToken()):
                if isinstance(event, TextDelta):
                    bare.append(time.monotonic() - started)
                    break
        return {"first": first, "warm": warm, "bare": bare}


def _write(field: Any, text: str, pause_s: float) -> None:
    """Type a text as a person does, or paste it if there is no pause between its letters."""
    from PySide6.QtCore import QEventLoop, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    if not pause_s:
        field.insertPlainText(text)
        return
    for letter in text:
        QTest.keyClicks(field, letter)
        pause = QTimer(singleShot=True)
        pause.start(round(pause_s * 1_000))
        while pause.isActive():
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def _press_enter(field: Any) -> float:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    started = time.monotonic()
    QTest.keyClick(field, Qt.Key.Key_Return)
    return started


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    print(json.dumps(_ask_all(Path(sys.argv[1]), sys.argv[2])))
    sys.stdout.flush()
    os._exit(0)
