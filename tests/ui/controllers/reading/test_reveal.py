"""A file is selected in the file manager of each system."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import ClassInfo, QObject, QProcess, Signal, Slot
from PySide6.QtDBus import QDBusConnection
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from ui.controllers.reading.menu import reveal_file

NAME = "org.freedesktop.FileManager1"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the desktop was asked to open."""
    addresses: list[str] = []

    def take(url: object) -> bool:
        addresses.append(url.toString())  # type: ignore[attr-defined]
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", take)
    return addresses


def refuse() -> None:
    """Fail a test in which the file is shown."""
    raise AssertionError("no file manager")


@pytest.mark.parametrize("is_there", [True, False])
def test_finder_selects_the_file(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    started: list[object] = []
    failed: list[None] = []

    def start(*command: object) -> tuple[bool, int]:
        started.append(command)
        return is_there, 1

    monkeypatch.setattr("ui.controllers.reading.menu.SYSTEM", "macos")
    monkeypatch.setattr(QProcess, "startDetached", start)
    reveal_file(Path("/Users/ada/My notes/a.md"), lambda: failed.append(None), QObject())
    assert started == [("open", ["-R", "/Users/ada/My notes/a.md"])]
    assert bool(failed) is not is_there


@pytest.mark.parametrize("name", ["a.md", "My notes, of 2026.md", "a=b;c.md", "Übung.md"])
def test_explorer_gets_the_path_in_quotes(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    started: list[object] = []
    monkeypatch.setattr("ui.controllers.reading.menu.SYSTEM", "windows")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "startfile", lambda *start: started.append(start), raising=False)
    reveal_file(Path(rf"C:\Notes\{name}"), refuse, QObject())
    assert started == [("explorer.exe", "open", rf'/select,"C:\Notes\{name}"')]


def test_an_explorer_that_does_not_start_is_reported(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_start: object) -> None:
        raise OSError("no explorer")

    failed: list[None] = []
    monkeypatch.setattr("ui.controllers.reading.menu.SYSTEM", "windows")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "startfile", fail, raising=False)
    reveal_file(Path(r"C:\a.md"), lambda: failed.append(None), QObject())
    assert failed == [None]


def test_without_a_bus_the_folder_is_opened(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    reveal_file(Path("/home/ada/Notes/a.md"), refuse, QObject())
    assert opened == ["file:///home/ada/Notes"]
    failed: list[None] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    reveal_file(Path("/home/ada/Notes/a.md"), lambda: failed.append(None), QObject())
    assert failed == [None]


@ClassInfo({"D-Bus Interface": NAME})
class FileManager(QObject):
    """A file manager on a bus of its own, that notes which files it is to select."""

    selected = Signal(object)

    @Slot("QStringList", str)
    def ShowItems(self, files: list[str], startup: str) -> None:  # noqa: N802 - of the interface
        """Take the call."""
        self.selected.emit((files, startup))


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QDBusConnection]:
    """A session bus, and a connection to it that the code under test does not use."""
    daemon = shutil.which("dbus-daemon")
    if daemon is None:
        pytest.skip("needs dbus-daemon")
    command = [daemon, "--session", "--nofork", "--nopidfile", "--print-address=1"]
    address = f"--address=unix:path={tmp_path / 'bus'}"
    with subprocess.Popen(
        [*command, address], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as started:
        assert started.stdout is not None
        found = started.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", found)
        own = QDBusConnection.connectToBus(found, "strata-test-client")
        monkeypatch.setattr(QDBusConnection, "sessionBus", lambda: own)
        yield QDBusConnection.connectToBus(found, "strata-test-manager")
        for name in ("strata-test-client", "strata-test-manager"):
            QDBusConnection.disconnectFromBus(name)
        started.kill()


def test_the_file_manager_of_a_linux_desktop_selects_the_file(
    qtbot: QtBot, bus: QDBusConnection, opened: list[str]
) -> None:
    manager, parent = FileManager(), QObject()
    assert bus.registerService(NAME)
    option = QDBusConnection.RegisterOption.ExportAllSlots
    assert bus.registerObject("/org/freedesktop/FileManager1", manager, option)
    with qtbot.waitSignal(manager.selected) as selected:
        reveal_file(Path("/home/ada/My notes/ä, b.md"), refuse, parent)
    assert selected.args == [(["file:///home/ada/My%20notes/%C3%A4%2C%20b.md"], "")]
    qtbot.waitUntil(lambda: not parent.children())
    assert opened == []


def test_a_desktop_whose_file_manager_cannot_select_opens_the_folder(
    qtbot: QtBot, bus: QDBusConnection, opened: list[str]
) -> None:
    parent = QObject()
    reveal_file(Path("/home/ada/My notes/a.md"), refuse, parent)
    qtbot.waitUntil(lambda: bool(opened))
    assert opened == ["file:///home/ada/My notes"]
