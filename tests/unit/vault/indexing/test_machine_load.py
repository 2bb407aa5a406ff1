import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vault.indexing.machine_load import LoadReason, MachineLoad

TICKS = os.sysconf("SC_CLK_TCK") * (os.cpu_count() or 1)
Machines = Callable[..., MachineLoad]


class Files:
    """The kernel's files of a machine, as far as they are read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = 0.0
        self.busy(0)
        self.used("self", 0)

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def busy(self, ticks: int, nice: int = 0) -> None:
        self.write("proc/stat", f"cpu  {ticks} {nice} 0 99 5 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 8\n")

    def used(self, pid: int | str, ticks: int) -> None:
        self.write(f"proc/{pid}/stat", f"7 (a (b) c) S {' '.join(['0'] * 10)} {ticks} 0 0 0\n")

    def power(self, name: str, kind: str, status: str = "", scope: str = "System") -> None:
        for attribute, value in {"type": kind, "status": status, "scope": scope}.items():
            self.write(f"sys/class/power_supply/{name}/{attribute}", f"{value}\n")

    def machine(self, *children: int) -> MachineLoad:
        return MachineLoad(lambda: children, self.root, lambda: self.now)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.mark.parametrize(
    ("kind", "status", "scope", "load"),
    [
        ("Battery", "Discharging", "System", "battery"),
        ("Battery", "Charging", "System", ""),
        ("Battery", "Discharging", "Device", ""),
        ("Mains", "", "System", ""),
    ],
)
def test_only_the_machines_own_battery_counts(
    files: Files, kind: str, status: str, scope: str, load: LoadReason
) -> None:
    files.power("BAT0", kind, status, scope)
    assert files.machine().read_reason() == load


def test_other_programs_are_load_and_our_own_are_not(files: Files) -> None:
    files.used(41, 0)
    machine = files.machine(41)
    files.now = 10
    files.busy(9 * TICKS)
    assert machine.read_reason() == "load"
    files.now = 20
    files.busy(18 * TICKS)
    files.used("self", 2 * TICKS)
    files.used(41, 4 * TICKS)
    assert machine.read_reason() == ""


def test_a_child_that_was_started_since_is_no_load(files: Files) -> None:
    children: list[int] = []
    machine = MachineLoad(lambda: children, files.root, lambda: files.now)
    files.now = 10
    children.append(41)
    files.busy(8 * TICKS)
    files.used(41, 8 * TICKS)
    assert machine.read_reason() == ""


def test_what_is_nice_is_no_load(files: Files) -> None:
    machine = files.machine()
    files.now = 10
    files.busy(TICKS, nice=9 * TICKS)
    assert machine.read_reason() == ""


def test_a_system_without_these_files_is_under_no_strain(tmp_path: Path) -> None:
    assert MachineLoad(lambda: (41, None), tmp_path / "none").read_reason() == ""


def test_this_machine_can_be_read() -> None:
    assert MachineLoad(lambda: (os.getpid(),)).read_reason() in ("", "battery", "load")
