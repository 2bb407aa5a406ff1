"""What becomes of exceptions that no code handles."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.faults import QUIET_S, FaultReporter

ROOT = Path(__file__).resolve().parents[3]
# A test module in which every test meets a fault that no assertion sees.
UNSEEN = """
import threading
from PySide6.QtCore import QTimer, qWarning

class Doomed:
    def __del__(self):
        raise LookupError("unseen")

def fail():
    raise LookupError("unseen")

def test_in_a_slot(qtbot):
    QTimer.singleShot(0, fail)
    qtbot.wait(20)

def test_in_a_thread():
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()

def test_in_a_destructor():
    Doomed()

def test_of_qt(qtbot):
    qWarning("unseen")
"""


def raise_one(text: str = "x") -> Exception:
    try:
        raise LookupError(text)  # noqa: TRY301
    except LookupError as error:
        return error


def test_a_fault_is_logged_with_its_trace_and_told(caplog: pytest.LogCaptureFixture) -> None:
    told: list[int] = []
    reporter = FaultReporter()
    reporter.listener = lambda: told.append(1)
    reporter.report(raise_one(), "a slot")
    assert "in a slot" in caplog.text
    assert "Traceback" in caplog.text
    assert "raise LookupError(text)" in caplog.text
    assert told == [1]
    caplog.clear()


def test_a_fault_that_repeats_is_quiet_for_a_minute_and_then_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    told: list[int] = []
    reporter = FaultReporter(lambda: now[0])
    reporter.listener = lambda: told.append(1)
    for _ in range(50):
        reporter.report(raise_one(), "a slot")
    assert len(told) == 1
    assert len(caplog.records) == 1
    reporter.report("another", "Qt")
    assert len(told) == 2
    now[0] = QUIET_S
    reporter.report(raise_one(), "a slot")
    assert len(told) == 3
    assert "(49 more of it before)" in caplog.text
    caplog.clear()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_being_interrupted_is_no_fault(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    FaultReporter().report(error, "the main thread")
    assert caplog.records == []


def test_a_fault_in_a_thread_of_the_command_line_is_logged(tmp_path: Path) -> None:
    code = (
        "import sys, threading\n"
        "from app.cli import verbs as cli_verbs\n"
        "from app.__main__ import main\n"
        "run = cli_verbs.build\n"
        "def build(*given):\n"
        "    thread = threading.Thread(target=lambda: 1 / 0)\n"
        "    thread.start(); thread.join()\n"
        "    return run(*given)\n"
        "cli_verbs.build = build\n"
        "sys.argv[1:] = ['settings', 'path']\n"
        "main()\n"
    )
    env = {**os.environ, "STRATA_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.strip() == str(tmp_path / "config" / "settings.toml")
    assert "ZeroDivisionError" in (tmp_path / "state" / "strata.log").read_text("utf-8")


def test_tests_fail_of_what_they_do_not_see(tmp_path: Path) -> None:
    (tmp_path / "test_unseen.py").write_text(UNSEEN, "utf-8")
    words = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-q"]
    done = subprocess.run(
        [*words, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "4 failed" in done.stdout, done.stdout
