"""Detect whether the machine is on battery or busy with other programs.

Background updates of an index are slowed down in these cases. The detection uses `/proc` and
`/sys`, so it works only on Linux.
"""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from resources.system.processes import count_ticks_per_s

__all__ = ["LoadReason", "MachineLoad"]

LoadReason = Literal["", "battery", "load"]

_BUSY_SHARE = 0.5
_USER, _SYSTEM, _IRQ, _SOFT_IRQ, _STEAL = 0, 2, 5, 6, 7  # without "nice" and idle time


class MachineLoad:
    """Measures the load of the machine since the previous measurement."""

    def __init__(
        self,
        children: Callable[[], Iterable[int | None]] = tuple,
        root: Path = Path("/"),
        clock: Callable[[], float] = time.monotonic,
    ):
        """Measure the load for the first time.

        Args:
            children: returns the process ids of this program's child processes, which are not
                counted as other programs.
            root: the folder that contains `proc` and `sys`, which tests can replace.
            clock: returns monotonic seconds.
        """
        self._children = children
        self._root = root
        self._clock = clock
        ticks_per_s = count_ticks_per_s()
        self._ticks_per_s = ticks_per_s * (os.cpu_count() or 1)
        self._before = (clock(), self._read_busy_ticks(), self._read_own_ticks())

    def read_reason(self) -> LoadReason:
        """Return why indexing should be slowed down: "battery", "load" or ""."""
        others = self._measure_share_of_others()
        if self._is_on_battery():
            return "battery"
        return "load" if others > _BUSY_SHARE else ""

    def _is_on_battery(self) -> bool:
        supplies = self._root.glob("sys/class/power_supply/*")
        return any(
            _read_text(supply / "type") == "Battery"
            and _read_text(supply / "scope") != "Device"  # the battery of a mouse
            and _read_text(supply / "status") == "Discharging"
            for supply in supplies
        )

    def _measure_share_of_others(self) -> float:
        """Return the fraction of processor time that other programs used since the last call."""
        now = (self._clock(), self._read_busy_ticks(), self._read_own_ticks())
        before, self._before = self._before, now
        room = (now[0] - before[0]) * self._ticks_per_s
        ours = sum(ticks - before[2].get(pid, 0) for pid, ticks in now[2].items())
        return (now[1] - before[1] - ours) / room if room > 0 else 0.0

    def _read_busy_ticks(self) -> int:
        first = _read_text(self._root / "proc" / "stat").partition("\n")[0].split()[1:]
        if len(first) <= _STEAL:
            return 0
        return sum(int(first[place]) for place in (_USER, _SYSTEM, _IRQ, _SOFT_IRQ, _STEAL))

    def _read_own_ticks(self) -> dict[str, int]:
        """Return the processor time of this process and of each child process, in clock ticks."""
        names = ("self", *(str(pid) for pid in self._children() if pid is not None))
        return {name: self._read_process_ticks(name) for name in names}

    def _read_process_ticks(self, pid: str) -> int:
        fields = _read_text(self._root / "proc" / pid / "stat").rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12]) if len(fields) > 12 else 0


def _read_text(path: Path) -> str:
    with suppress(OSError):  # not on this system, or already ended
        return path.read_text("ascii", "replace").strip()
    return ""
