"""Time that only events move: the clock jumps, midnight passes, the time zone changes.

The product reads the time with `time` and `datetime`. Both are replaced by doubles that read a
simulated clock. Each look at the clock takes a millisecond, and a pause takes as long as it should,
but nobody waits for it.

All modules of the product are loaded before. One that was loaded later would keep the real clock in
the first run of a process, or the clock of that run in all others.
"""

import datetime as real
import importlib
import os
import pkgutil
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, Final, Self

__all__ = ["Clock"]

_BEGIN_S: Final = 1_800_000_000.0
_LOOK_S: Final = 0.001
_DAY_S: Final = 86_400.0
_ZONES: Final = (
    "UTC",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "America/St_Johns",
)
_PACKAGES: Final = ("app", "chains", "context", "resources", "vault")
_UNUSED: Final = ("app.cli", "app.rpc", "app.__main__")


class Clock:
    """The clock of a simulated computer.

    Attributes:
        now_s: the time of day, in seconds since 1970. It may be set back.
        passed_s: the time that has passed, which is never set back.
    """

    def __init__(self) -> None:
        self.now_s, self.passed_s = _BEGIN_S, 1_000.0

    @contextmanager
    def install(self) -> Iterator[None]:
        """Let the product read this clock within a `with` block."""
        zone, modules = os.environ.get("TZ"), _load_product()
        doubles = {
            "time": self._read,
            "time_ns": lambda: int(self._read() * 1e9),
            "monotonic": self._measure,
            "perf_counter": self._measure,
            "sleep": self.wait,
        }
        named = {id(getattr(time, name)): double for name, double in doubles.items()}
        named |= _make_dates(self)
        _set_zone("UTC")  # of any computer
        replaced = [(time, name, getattr(time, name)) for name in doubles]
        replaced += modules
        try:
            for module, attribute, value in replaced:  # `mock` would take 10 ms for all of them
                setattr(module, attribute, named[id(value)])
            yield
        finally:
            for module, attribute, value in replaced:
                setattr(module, attribute, value)
            _set_zone(zone)

    def wait(self, time_s: float) -> None:
        """Let time pass."""
        self.now_s += time_s
        self.passed_s += time_s

    def jump(self, chance: random.Random) -> str:
        """Set the clock forward or back, to just before midnight, or to another time zone."""
        kind = chance.choice(["forward", "back", "midnight", "zone"])
        if kind == "forward":
            self.now_s += chance.choice([61.0, 3_600.0, _DAY_S, 40 * _DAY_S])
        elif kind == "back":
            self.now_s -= chance.choice([1.0, 61.0, 3_600.0, _DAY_S])
        elif kind == "midnight":
            local = real.datetime.fromtimestamp(self.now_s)
            past = local.hour * 3_600 + local.minute * 60 + local.second
            self.now_s += _DAY_S - past - chance.choice([0.002, 1.0])
        else:
            _set_zone(chance.choice(_ZONES))
        return kind

    def _read(self) -> float:
        self.wait(_LOOK_S)
        return self.now_s

    def _measure(self) -> float:
        self.wait(_LOOK_S)
        return self.passed_s


@cache
def _load_product() -> tuple[tuple[ModuleType, str, object], ...]:
    """Load all modules of the product, and return the names in them of what reads the time."""
    for package in map(importlib.import_module, _PACKAGES):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.startswith(_UNUSED):
                importlib.import_module(found.name)
    readers = {time.time, time.monotonic, time.perf_counter, time.sleep, real.datetime, real.date}
    numbers = set(map(id, readers))
    return tuple(
        (module, attribute, value)
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] in _PACKAGES
        for attribute, value in vars(module).items()
        if id(value) in numbers
    )


def _set_zone(zone: str | None) -> None:
    if zone is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = zone
    time.tzset()


def _make_dates(clock: Clock) -> dict[int, Any]:
    """Return classes that read a clock, by the ids of those whose place they take.

    Ordinary dates are instances of them too.
    """

    class Kind(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, cls.__mro__[1])

    class Moment(real.datetime, metaclass=Kind):
        @classmethod
        def now(cls, tz: Any = None) -> Self:
            return cls.fromtimestamp(clock._read(), tz)

    class Day(real.date, metaclass=Kind):
        @classmethod
        def today(cls) -> Self:
            return cls.fromtimestamp(clock._read())

    return {id(real.datetime): Moment, id(real.date): Day}
