"""From the command to a painted window, against a bare Qt window started the same way.

Beside it, without a bar, the time until the notes are open and everything answers. Compiled modules
are kept for the run, as an installed program has them.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

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
READY = """
import sys
from app.startup import Startup
from app.paths import Paths
from ui import main, window
window.MainWindow.begin = lambda window: None
window.MainWindow.offer_first_run = lambda window: window.close()
sys.exit(main.run(Startup(Paths.find(), folder=sys.argv[1])))
"""


def run(folder: Path) -> list[Ratio]:
    """Start all by turns and compare the medians, on the sample vault."""
    program = str(Path(sys.executable).with_name("strata"))
    sample = str(Path(__file__).resolve().parents[3] / "resources" / "vault")
    commands = {
        "bare": [sys.executable, "-c", BARE_WINDOW],
        "painted": [program, "--vault", sample],
        "ready": [sys.executable, "-c", READY, sample],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(ROUNDS + 1):
        for name, command in commands.items():
            taken = _time(command, folder, is_trial=name != "ready")
            if turn:  # the first one compiles
                seconds[name].append(taken)
    bare, painted, ready = (median(seconds[name]) for name in commands)
    return [
        Ratio(
            "start: window / bare Qt window",
            painted / bare,
            at_most=2.5,
            detail=f"{painted:.2f} s against {bare:.2f} s",
        ),
        Ratio("start: notes open / bare Qt window", ready / bare, detail=f"{ready:.2f} s"),
    ]


def _time(command: list[str], home: Path, *, is_trial: bool) -> float:
    environment = {
        **os.environ,
        "STRATA_HOME": str(home),
        "STRATA_EXIT_AFTER_SHOW": "1" if is_trial else "",
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(home / "compiled"),
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
    }
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started
