"""From the command to a painted window, against a bare Qt window started the same way."""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.measure import Ratio

ROUNDS = 7
BARE_WINDOW = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication(sys.argv)
window = QMainWindow()
window.resize(1440, 900)
window.show()
QTimer.singleShot(0, app.quit)
sys.exit(app.exec())
"""


def run(folder: Path) -> list[Ratio]:
    """Start both by turns and compare the medians, on the sample vault."""
    program = str(Path(sys.executable).with_name("strata"))
    sample = str(Path(__file__).resolve().parents[2] / "resources" / "vault")
    strata = [program, "--vault", sample]
    bare = [sys.executable, "-c", BARE_WINDOW]
    seconds: dict[str, list[float]] = {"strata": [], "bare": []}
    for _ in range(ROUNDS):
        seconds["bare"].append(_time(bare, folder))
        seconds["strata"].append(_time(strata, folder))
    ours, theirs = (sorted(seconds[name])[ROUNDS // 2] for name in ("strata", "bare"))
    detail = f"{ours:.2f} s against {theirs:.2f} s"
    return [Ratio("start: window / bare Qt window", ours / theirs, at_most=3.0, detail=detail)]


def _time(command: list[str], home: Path) -> float:
    environment = {
        **os.environ,
        "STRATA_HOME": str(home),
        "STRATA_EXIT_AFTER_SHOW": "1",
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
    }
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started
