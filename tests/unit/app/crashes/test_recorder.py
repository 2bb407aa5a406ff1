"""What a process leaves in the state folder: a text after a crash, nothing after another end."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.crashes.recorder import MAX_FILES
from app.crashes.reports import WINDOW, find_reports, list_crashes, mark_as_told

SCRIPT = """
import faulthandler, os, signal, sys, threading, time
from pathlib import Path
from app.crashes.recorder import add_to_record, start_recording, stop_recording

def crash_here():
    {act}

start_recording(Path(sys.argv[1]), sys.argv[2])
print("begun", flush=True)
crash_here()
stop_recording()
"""
CRASHES = {
    "a wrong address": "faulthandler._sigsegv()",
    "a signal": "os.kill(os.getpid(), signal.SIGSEGV); time.sleep(60)",
    "an abort": "os.abort()",
    "a division": "faulthandler._sigfpe()",
    "in a thread": "threading.Thread(target=faulthandler._sigsegv, daemon=True).start()\n"
    "    time.sleep(60)",
    "a fatal message": "add_to_record('Qt (default): fatal'); os.abort()",
}


def run(folder: Path, act: str, kind: str = WINDOW) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", SCRIPT.format(act=act), str(folder), kind]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("act", CRASHES.values(), ids=CRASHES.keys())
def test_a_crash_leaves_what_the_process_was_doing(tmp_path: Path, act: str) -> None:
    before = int(time.time())
    assert run(tmp_path, act).returncode < 0
    (report,) = find_reports(tmp_path)
    assert report.kind == WINDOW
    assert "Fatal Python error" in report.text
    assert "crash_here" in report.text or "Thread" in report.text
    assert report.crashed.timestamp() >= before
    assert "Strata 0." in report.details
    assert report.text.strip() in report.details


@pytest.mark.parametrize(
    "act", ["pass", "sys.exit(3)", "raise LookupError", "os._exit(1)"], ids=str
)
def test_an_end_that_is_no_crash_is_not_reported(tmp_path: Path, act: str) -> None:
    run(tmp_path, act)
    assert find_reports(tmp_path) == ()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
def test_a_process_that_another_one_ends_is_not_reported(tmp_path: Path, number: int) -> None:
    assert run(tmp_path, f"os.kill(os.getpid(), {number}); time.sleep(60)").returncode != 0
    assert find_reports(tmp_path) == ()


def test_a_running_process_keeps_its_file(tmp_path: Path) -> None:
    words = [sys.executable, "-c", SCRIPT.format(act="sys.stdin.read()"), str(tmp_path), "rpc"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        running.stdout.readline()
        (file,) = tmp_path.iterdir()
        os.utime(file, (0, 0))  # as if it had run for long
        assert find_reports(tmp_path) == ()
        assert file.exists()
        file.write_text("the start of a report")
        assert find_reports(tmp_path) == ()
        running.stdin.close()
    assert list(tmp_path.iterdir()) == []


def test_crash_files_are_private_and_no_link_is_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "crashes").symlink_to(target)
    assert "Fatal Python error" in run(tmp_path / "crashes", "faulthandler._sigsegv()").stderr
    assert list(target.iterdir()) == []
    run(tmp_path / "own", "faulthandler._sigsegv()")
    (file,) = (tmp_path / "own").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_leaves_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(tmp_path / "file" / "crashes", "faulthandler._sigsegv()")
    assert "Fatal Python error" in done.stderr


def test_the_number_of_crash_files_is_bounded(tmp_path: Path) -> None:
    for number in range(3 * MAX_FILES):
        (tmp_path / f"20260101T00{number:04}Z-1-ask.txt").write_text("Fatal Python error")
    run(tmp_path, "faulthandler._sigsegv()")
    assert len(list(tmp_path.iterdir())) == MAX_FILES
    assert find_reports(tmp_path)[0].kind == WINDOW


def test_a_crash_is_told_once_and_its_file_is_kept(tmp_path: Path) -> None:
    run(tmp_path, "faulthandler._sigsegv()", "search")
    reports = find_reports(tmp_path)
    mark_as_told(reports)
    assert find_reports(tmp_path) == ()
    (kept,) = list_crashes(tmp_path)
    assert (kept.kind, kept.text, kept.is_told) == ("search", reports[0].text, True)


@pytest.mark.parametrize(
    "name", ["notes.txt", "20260101T000000Z.txt", "x-1-window.txt", ".txt", "a.md"]
)
def test_other_files_in_the_folder_are_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("Fatal Python error")
    (tmp_path / "folder.txt").mkdir()
    assert find_reports(tmp_path) == ()
    assert (tmp_path / name).exists()


WITHOUT_LOCKS = """import resources.system.calls
    def lock(handle):
        raise OSError("no locks")
    resources.system.calls.lock_file = lock
    for old in {names}:
        (Path(sys.argv[1]) / old).write_text("mine")
    start_recording(Path(sys.argv[1]), sys.argv[2])
    print("recorded", flush=True)"""


@pytest.mark.parametrize(
    "name", ["notes{}.txt", "0 notes{}.txt", "0-{}.txt", "20260101T000000Z-{}.txt"]
)
def test_foreign_files_are_kept_when_there_are_many(tmp_path: Path, name: str) -> None:
    names = [name.format(number) for number in range(10, 10 + MAX_FILES)]
    done = run(tmp_path, WITHOUT_LOCKS.format(names=names))
    assert (done.returncode, done.stdout) == (0, "begun\nrecorded\n"), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == names


@pytest.mark.parametrize("number", ["0x", "99999999999999999999", "-", "1\N{SUPERSCRIPT TWO}"])
def test_a_name_without_the_number_of_a_process_does_no_harm(tmp_path: Path, number: str) -> None:
    names = [f"20260101T00{second:04}Z-{number}-ask.txt" for second in range(MAX_FILES)]
    done = run(tmp_path, WITHOUT_LOCKS.format(names=names))
    assert (done.returncode, done.stdout) == (0, "begun\nrecorded\n"), done.stderr


def test_reports_are_found_in_a_folder_that_can_only_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "20260101T000000Z-99999999-ask.txt").write_text("Fatal Python error")
    killed = tmp_path / "20260101T000001Z-99999998-ask.txt"
    killed.touch()
    os.utime(killed, (0, 0))

    def refuse(path: str) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(os, "unlink", refuse)
    assert [report.text for report in find_reports(tmp_path)] == ["Fatal Python error"]
    assert killed.exists()
