"""Unexpected exceptions: the log has the trace, the user a toast, and a test fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The installed program with one fault: what the window does first raises, in a slot of Qt, in a
# thread of its own or in a destructor. What is toasted is printed, and the window is closed.
FAULTY = """
import sys, threading
from PySide6.QtCore import QTimer, qCritical
from ui.window import MainWindow

class Doomed:
    def __del__(self):
        raise LookupError("deliberate")

def fail():
    raise LookupError("deliberate")

def fail_in_thread():
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()

FAULTS = {
    "slot": fail,
    "thread": fail_in_thread,
    "destructor": Doomed,
    "qt": lambda: qCritical("deliberate"),
}
begin = MainWindow.begin

def begin_badly(window):
    begin(window)
    for at in range(5):
        QTimer.singleShot(10 * at, FAULTS[kind])
    QTimer.singleShot(400, lambda: end(window))

def end(window):
    # Print the toasts after the last fault, once one is shown or no more can come.
    global looks
    looks += 1
    if looks < 600 and not window.notifier.texts():
        QTimer.singleShot(50, lambda: end(window))
        return
    print("toasts:", window.notifier.texts())
    window.close()

looks = 0
kind = sys.argv[-1]
MainWindow.begin = begin_badly
sys.argv[1:] = []
from app.__main__ import main_window
main_window()
"""


def start_faulty(home: Path, kind: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "STRATA_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(
        [sys.executable, "-c", FAULTY, kind], env=env, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("kind", ["slot", "thread", "destructor", "qt"])
def test_a_fault_in_the_window_is_logged_and_told_once(tmp_path: Path, kind: str) -> None:
    done = start_faulty(tmp_path, kind)
    assert done.returncode == 0, done.stderr
    told = "Something went wrong. Details are in the log."
    assert done.stdout.splitlines() == [f"toasts: ['{told}']"]
    log = (tmp_path / "state" / "strata.log").read_text("utf-8")
    assert log.count("ERROR app.faults: Unexpected") == 1
    assert "deliberate" in log
    assert ("Traceback" in log) == (kind != "qt")
