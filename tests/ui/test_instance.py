"""One window for a user: a second start hands over and ends."""

import ctypes
import ntpath
import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from resources.system.processes import allow_foreground
from ui.instance import InstanceServer, hand_over
from ui.instance import _name_socket as name_socket

ROOT = Path(__file__).parents[2]


def start_second(state: Path, folder: str = "") -> "subprocess.Popen[str]":
    """Hand over from another process, which ends with 0 if a window took over."""
    code = "import sys; from pathlib import Path; from ui.instance import hand_over; "
    code += "sys.exit(not hand_over(Path(sys.argv[1]), sys.argv[2] or None))"
    return subprocess.Popen([sys.executable, "-c", code, str(state), folder], cwd=ROOT, text=True)


@pytest.mark.parametrize("is_long", [False, True])
def test_a_second_start_calls_the_first_with_its_folder(
    tmp_path: Path, qtbot: QtBot, is_long: bool
) -> None:
    state = tmp_path / ("state" * (20 if is_long else 1))
    parent = QObject()
    first = InstanceServer(state, parent)
    with qtbot.waitSignal(first.called) as called:
        second = start_second(state, str(tmp_path / "notes"))
    assert called.args == [str(tmp_path / "notes")]
    assert second.wait(60) == 0
    first.close()
    assert not hand_over(state, None)


def test_a_window_on_windows_may_come_to_the_front(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[int] = []
    user32 = SimpleNamespace(AllowSetForegroundWindow=allowed.append)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(user32=user32), raising=False)
    allow_foreground()
    assert allowed == []  # not on this system
    monkeypatch.setattr(sys, "platform", "win32")
    allow_foreground()
    assert allowed == [-1]  # any process


def test_each_state_folder_has_one_pipe_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.instance.SYSTEM", "windows")
    monkeypatch.setattr("ui.instance.make_private_folder", lambda _folder: None)
    monkeypatch.setattr("ui.instance.os.path", ntpath)
    names = [
        name_socket(PureWindowsPath(folder))  # type: ignore[arg-type]
        for folder in (r"C:\Users\Ada\state", r"c:\users\ada\state", r"C:\Users\Bob\state")
    ]
    assert names[0] == names[1] != names[2]
    assert all(re.fullmatch("strata-[0-9a-f]{16}", name) for name in names)


def test_without_a_window_the_program_goes_on(tmp_path: Path) -> None:
    assert not hand_over(tmp_path / "state", None)


def test_the_socket_of_a_killed_process_is_replaced(tmp_path: Path, qtbot: QtBot) -> None:
    parent = QObject()
    state = tmp_path / "s"
    state.mkdir()
    (state / "window.socket").write_text("left behind")
    first = InstanceServer(state, parent)
    with qtbot.waitSignal(first.called) as called:
        second = start_second(state)
    assert (called.args, second.wait(60)) == ([""], 0)
    first.close()


def test_the_names_of_days_and_months_stay_english_in_any_locale() -> None:
    code = (
        "import locale; from ui.instance import Application; application = Application([]); "
        "print(locale.setlocale(locale.LC_TIME))"
    )
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "C\n", done.stderr
