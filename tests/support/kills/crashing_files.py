"""File operations that are counted, one of which ends the process.

Every write, sync, truncation, rename and link below a folder is an operation. A process may die
right before an operation, in the middle of a write, or right after an operation. A power failure
also loses data that was never synced. Databases are left out, since SQLite has tests of its own.
"""

import os
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

HOW = ("before", "half", "after", "power")


@dataclass(frozen=True)
class Death:
    """When and how a process ends.

    Attributes:
        at: the number of the last operation, counted from 1.
        how: one of `HOW`.
        by_signal: whether SIGKILL ends the process; otherwise it exits at once.
    """

    at: int
    how: str
    by_signal: bool

    @classmethod
    def by_chance(cls, seed: int, operations: int) -> "Death":
        """Choose a death at random, by a seed, among this number of operations."""
        chance = random.Random(seed)
        return cls(chance.randint(1, operations), chance.choice(HOW), chance.random() < 0.5)


class DeadlyFiles:
    """Replaces the operating system's file calls in a process that is going to die.

    Attributes:
        count: the number of operations so far.
    """

    def __init__(self, root: Path, death: Death | None) -> None:
        self.count = 0
        self._root = os.path.realpath(root)
        self._death = death
        self._real: dict[str, Callable[..., Any]] = {}
        self._synced: dict[str, int] = {}  # bytes of each file that survive a power failure
        self._undo: list[Callable[[], object]] = []  # removes names not yet on disk

    def install(self) -> None:
        """Replace the calls; operations are counted from now on."""
        for name in ("open", "write", "fsync", "ftruncate", "replace", "link"):
            self._real[name] = getattr(os, name)
            setattr(os, name, getattr(self, f"_{name}"))

    def _open(self, path: Any, flags: int, *more: Any, **named: Any) -> int:
        is_new = bool(flags & os.O_CREAT) and not os.path.lexists(path)
        handle: int = self._real["open"](path, flags, *more, **named)
        if is_new and (place := self._place(handle)) is not None:
            self._synced[place] = 0
            self._undo.append(lambda: os.unlink(place))
        return handle

    def _write(self, handle: int, data: Any) -> int:
        place = self._place(handle)
        if place is None:
            return int(self._real["write"](handle, data))
        self._synced.setdefault(place, os.fstat(handle).st_size)
        half = bytes(data)[: len(data) // 2]
        return int(self._do("write", handle, data, half=lambda: self._real["write"](handle, half)))

    def _fsync(self, handle: int) -> None:
        place = self._place(handle)
        if place is None:
            self._real["fsync"](handle)
            return
        self._do("fsync", handle, then=lambda: self._is_synced(handle, place))

    def _is_synced(self, handle: int, place: str) -> None:
        if os.path.isdir(place):
            self._undo.clear()
        else:
            self._synced[place] = os.fstat(handle).st_size

    def _ftruncate(self, handle: int, length: int) -> None:
        if self._place(handle) is None:
            self._real["ftruncate"](handle, length)
        else:
            self._do("ftruncate", handle, length)

    def _replace(self, source: Any, target: Any) -> None:
        if not self._is_below(target):
            self._real["replace"](source, target)
            return
        old = Path(target).read_bytes() if os.path.exists(target) else None
        self._do("replace", source, target, then=lambda: self._renamed(str(source), target, old))

    def _renamed(self, source: str, target: Any, old: bytes | None) -> None:
        place = os.path.realpath(target)
        self._synced[place] = self._synced.pop(os.path.realpath(source), os.stat(target).st_size)
        self._undo.append(lambda: self._real["replace"](target, source))
        if old is not None:
            # A new file: the old one may have another name now, and must stay as it is.
            self._undo.insert(-1, lambda: Path(target).write_bytes(old))

    def _link(self, source: Any, target: Any, **named: Any) -> None:
        if not self._is_below(target):
            self._real["link"](source, target, **named)
            return
        self._do("link", source, target, then=lambda: self._undo.append(lambda: os.unlink(target)))

    def _do(
        self,
        name: str,
        *arguments: Any,
        half: Callable[[], object] = lambda: None,
        then: Callable[[], object] = lambda: None,
    ) -> Any:
        """Execute an operation, unless the process dies before or during it."""
        self.count += 1
        death = self._death if self._death is not None and self.count == self._death.at else None
        if death is not None and death.how in ("before", "half"):
            if death.how == "half":
                half()
            _die(death)
        done = self._real[name](*arguments)
        then()
        if death is not None:
            if death.how == "power":
                self._lose_what_is_not_on_disk()
            _die(death)
        return done

    def _lose_what_is_not_on_disk(self) -> None:
        for place, size in self._synced.items():
            if os.path.exists(place) and os.path.getsize(place) > size:
                os.truncate(place, size)
        for undo in reversed(self._undo):
            undo()

    def _place(self, handle: int) -> str | None:
        """Return the path of a handle's file if its operations are counted, otherwise None."""
        place = os.readlink(f"/proc/self/fd/{handle}")
        return place if self._is_below(place) else None

    def _is_below(self, place: Any) -> bool:
        whole = os.path.realpath(place)
        return whole.startswith(f"{self._root}/") and "/state.db" not in whole


def _die(death: Death) -> NoReturn:
    if death.by_signal:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(9)
