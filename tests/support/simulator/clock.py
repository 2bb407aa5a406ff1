"""Time that only events move: the clock jumps, midnight passes, the time zone changes.

The product reads the time with `time` and `datetime`. Both are replaced by doubles that read a
simulated clock. Each look at the clock takes a millisecond, and a pause takes as long as it should,
but nobody waits for it.
"""

import datetime as real
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Self
from unittest import mock

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
        zone = os.environ.get("TZ")
        with ExitStack() as stack:
            for name, double in {
                "time": self._read,
                "time_ns": lambda: int(self._read() * 1e9),
                "monotonic": self._measure,
                "perf_counter": self._measure,
                "sleep": self.wait,
            }.items():
                stack.enter_context(mock.patch.object(time, name, double))
            self._replace_dates(stack)
            try:
                yield
            finally:
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

    def _replace_dates(self, stack: ExitStack) -> None:
        """Replace the classes in all modules of the product that are loaded."""
        doubles = _make_dates(self)
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in _PACKAGES:
                for attribute, value in list(vars(module).items()):
                    if value is real.datetime or value is real.date:
                        double = doubles[value]
                        stack.enter_context(mock.patch.object(module, attribute, double))


def _set_zone(zone: str | None) -> None:
    if zone is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = zone
    time.tzset()


def _make_dates(clock: Clock) -> dict[object, type]:
    """Return classes that read a clock. Ordinary dates are instances of them too."""

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

    return {real.datetime: Moment, real.date: Day}
