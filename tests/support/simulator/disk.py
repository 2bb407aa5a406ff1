"""A disk on which the file module works: what survives a kill and a power failure, and its faults.

The files are real files in a folder. Beside them, the disk remembers for each file the content at
its last sync, and for each folder the names at its last sync. A power failure keeps these, and of
what came later the first changes, as journaling file systems do, or any of them, as others do. A
file that was moved has its new name for sure, and only this one, when both folders were synced.
SQLite's files are left out: they are taken as atomic at their commits.
"""

import errno
import fcntl
import os
import random
import sqlite3
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Final, Literal
from unittest import mock

from resources.system import calls
from tests.support.simulator.databases import install_databases
from tests.support.simulator.listings import list_tree

FaultKind = Literal[
    "kill",
    "power",
    "full",
    "broken",
    "unsynced",
    "refused",
    "short",
    "flipped",
    "phantom",
    "misdirected",
]
FAULTS: Final[tuple[FaultKind, ...]] = (
    "kill",  # the process ends before an operation or in the middle of a write
    "power",  # all processes end, and what was not synced is lost in part
    "full",  # ENOSPC from now on, after a part of the content was written
    "broken",  # EIO at one write
    "unsynced",  # EIO at one sync: what was written may be lost, and the next sync does not help
    "refused",  # EACCES at one open, rename or removal
    "short",  # each write takes a part of the content only, which is no failure
    "flipped",  # one bit is written wrongly, which nobody is told
    "phantom",  # a write is acknowledged, and zeros are there
    "misdirected",  # a write is acknowledged, and overwrites another file of the folder
)
_SILENT: Final = ("flipped", "phantom", "misdirected")
LOUD_FAULTS: Final = tuple(one for one in FAULTS if one not in _SILENT)
# What can tell that it was damaged: by hashes, or by the sums of an archive.
_CHECKED_FOLDERS: Final = ("contents", "sent", "backups")
_CHECKED_FILES: Final = ("journal.jsonl", "ledger.log")
_LOCKS: Final = (
    "resources.system.calls.lock_file",
    "app.sessions.file.lock_file",
    "vault.open_index.lock_file",
)
# Who has a lock goes on only when the one that waits for it has given up, so none tries often.
_LOCK_S: Final = 1.0
# Never before a lock that is left out, which then says when another program does something.
BEHIND_LOCKS: Final = sys.maxsize
_KILL_SHARE: Final = 0.1  # of the syncs before which a program is killed, where some are
# Functions that are called for a sync only. A sync is named by their callers.
_SHARED: Final = ("_sync", "_put")
_DATABASES: Final = (".db", ".db-wal", ".db-shm", ".db-journal")


class Waits(BaseException):
    """A program waits for another one, which goes on only when it has ended."""


class Killed(BaseException):
    """The process was killed. Nothing that it does afterwards reaches the disk."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and at which operation.

    Attributes:
        at: the number of the operation within an event, counted from 1.
    """

    kind: FaultKind
    at: int


@dataclass(eq=False)
class _Node:
    """A file, whatever its names are.

    Attributes:
        synced: the content that a power failure leaves.
        lost: the content when its last name was removed, or None if it has a name.
        unsynced: the range of bytes that a failed sync has left in memory alone, where later syncs
            do not look for it. It ends when the file is cut off there.
    """

    synced: bytes
    lost: bytes | None = None
    unsynced: tuple[int, int] | None = None


@dataclass(frozen=True)
class _Change:
    """A change of names that is not synced yet: files by their paths, or None for a removed one.

    Attributes:
        folders: those that must be synced until the change is on the disk.
    """

    folders: frozenset[str]
    names: tuple[tuple[str, _Node | None], ...]

    def find_new(self, folder: str) -> dict[str, "_Node | None"]:
        """Return the names that a folder has got, with those in a folder that was moved there."""
        new = {path: node for path, node in self.names if node is not None}
        first = min(new, key=len, default="")
        return {**new} if os.path.dirname(first.rstrip("/")) == folder else {}

    def leave_out(self, paths: Collection[str]) -> "_Change":
        """Return the change without some names, of which later changes are on the disk."""
        return replace(self, names=tuple(one for one in self.names if one[0] not in paths))


@dataclass
class Disk:
    """A folder whose writes are observed.

    Attributes:
        root: the folder.
        fired: how often each fault has happened.
        skipped: the syncs and locks to leave out, named by the calls, or by all of a function.
        syncs: how often each call has asked for a sync or a lock.
        intrude: what another program does between two operations of this event, once.
        intrude_at: the number of the operation before which it does it.
        is_dead: whether the process was killed in this event.
        pass_time: told how long a program waits for a lock, before it tries again.
        damaged: the size of each file after a silent fault, by its number.
        touched: the paths that were written, named or removed since somebody emptied this.
        trace: a checksum of all operations so far.
    """

    root: Path
    fired: "Counter[str]" = field(default_factory=Counter)
    skipped: frozenset[str] = frozenset()
    syncs: "Counter[str]" = field(default_factory=Counter)
    intrude: Callable[[], None] | None = None
    intrude_at: int = 0
    is_dead: bool = False
    pass_time: Callable[[float], None] = lambda _time_s: None
    damaged: dict[int, int] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    trace: int = 0
    _nodes: dict[int, _Node] = field(default_factory=dict)
    _live: dict[str, _Node] = field(default_factory=dict)
    _synced: dict[str, _Node] = field(default_factory=dict)
    _changes: list[_Change] = field(default_factory=list)
    _fault: Fault | None = None
    _second: Fault | None = None
    _is_event: bool = False
    _kills_before_syncs: bool = False
    _count: int = 0
    _chance: random.Random = field(default_factory=random.Random)
    _databases: dict[str, bytes] = field(default_factory=dict)
    _start: str = ""

    def __post_init__(self) -> None:
        self._start = f"{self.root}/"

    @contextmanager
    def install(self) -> Iterator[None]:
        """Let the file module use this disk within a `with` block."""
        with ExitStack() as stack:
            stack.enter_context(mock.patch.object(calls, "os", _System(self)))
            stack.enter_context(install_databases(self))
            for place in _LOCKS:
                stack.enter_context(mock.patch(place, self._lock))
            self.adopt()
            yield

    def adopt(self) -> None:
        """Take everything that is in the folder as synced."""
        self._nodes.clear()
        self._live.clear()
        self._changes.clear()
        files, folders = list_tree(str(self.root))
        for path in (file.path for file in files):
            if not path.endswith(_DATABASES):
                self._live[path] = self._find(path)
        self._live |= dict.fromkeys((f"{folder}/" for folder in folders), _Node(b""))
        self._synced = dict(self._live)

    def begin(
        self,
        fault: Fault | None,
        chance: random.Random,
        second: Fault | None = None,
        *,
        kills_before_syncs: bool = False,
    ) -> None:
        """Count the operations of an event from here, one of which may fail.

        Args:
            fault: what goes wrong.
            chance: decides how.
            second: what goes wrong behind a fault that happens once.
            kills_before_syncs: whether a program is killed before some syncs, if others are left
                out.
        """
        self._kills_before_syncs = kills_before_syncs and self.skips_syncs
        self._fault, self._count, self._chance, self.is_dead = fault, 0, chance, False
        self._second, self._is_event = second, True

    def end(self) -> None:
        """End the event. The disk works again."""
        self._fault = self._second = self.intrude = None
        self._is_event = False

    @property
    def fault(self) -> FaultKind | None:
        """The fault of the event, unless it has happened and is over."""
        return None if self._fault is None else self._fault.kind

    def adopt_note(self, path: Path) -> None:
        """Take a file that another program has written as synced."""
        for parent in self._list_parents(str(path)):
            self._synced.setdefault(parent, _Node(b""))
        node = self._live[str(path)] = self._synced[str(path)] = self._find(str(path))
        node.synced = path.read_bytes()

    def forget(self, folder: Path) -> None:
        """Forget a folder that another program has removed."""
        inside = f"{folder}/"
        for names in (self._live, self._synced):
            for path in [one for one in names if one.startswith(inside)]:
                del names[path]
        self._changes = [
            change
            for change in self._changes
            if not all(path.startswith(inside) for path, _ in change.names)
        ]
        self._databases = {
            path: content
            for path, content in self._databases.items()
            if not path.startswith(inside)
        }

    @contextmanager
    def show(self) -> Iterator[None]:
        """Let what a killed process has left be read within a `with` block, before `settle`."""
        was_dead, self.is_dead = self.is_dead, False
        try:
            yield
        finally:
            self.is_dead = was_dead

    def list_doubtful(self) -> list[Path]:
        """Return the files of which a part may be lost now, or damaged, by the end of a process.

        A power failure loses what was not synced. Of a killed process, nobody writes again what is
        in memory alone since its sync has failed.
        """
        is_lost = self.fault == "power"
        return [
            Path(path)
            for path, node in self._live.items()
            if node.unsynced is not None
            or (is_lost and os.path.isfile(path) and not _holds(path, node.synced))
        ]

    def cut_power(self, chance: random.Random) -> None:
        """Let the power fail between two events. Call `settle` then."""
        self.begin(Fault("power", 1), chance)
        with suppress(Killed):
            self._step("pause")

    def settle(self) -> None:
        """Leave what a killed process, or a power failure, leaves. Call this after `Killed`."""
        assert self.is_dead
        assert self._fault is not None
        is_lost = self._fault.kind == "power"
        if is_lost:
            self._lose()
        for path in self._list_databases():
            os.unlink(path)
        for path, content in self._databases.items():
            Path(path).write_bytes(content)
        self.is_dead = False
        self.end()
        if is_lost:  # what a kill leaves is not on the disk yet
            self.adopt()

    # What the file module calls

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        whole = self._name(path, dir_fd)
        is_new = bool(flags & os.O_CREAT) and not os.path.lexists(whole)
        if not self._observes(whole) or not flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
            self._require_life()
            return os.open(path, flags, mode, dir_fd=dir_fd)
        self._step("open")
        self.touched.add(whole)
        handle = os.open(path, flags, mode, dir_fd=dir_fd)
        if is_new:
            node = self._nodes[os.fstat(handle).st_ino] = _Node(b"")
            self._change({whole: node})
        elif whole not in self._live and os.path.isfile(whole):
            self._live[whole] = self._find(whole)
        return handle

    def write(self, handle: int, content: memoryview) -> int:
        path = self._name(handle)
        if not self._observes(path):
            return os.write(handle, content)
        fault = self._step("write", lambda: os.write(handle, content[: len(content) // 2]))
        if fault in _SILENT and _is_checked(path):
            return self._damage(handle, Path(path), content)
        if fault == "short" and len(content) > 1:
            content = content[: self._chance.randint(1, len(content))]
        return os.write(handle, content)

    def ftruncate(self, handle: int, size: int) -> None:
        self._step("shorten")
        os.ftruncate(handle, size)
        node = self._find_open(handle)
        if node.unsynced is not None and size <= node.unsynced[0]:
            node.unsynced = None

    def fsync(self, handle: int) -> None:
        path = self._name(handle)
        if not self._observes(path):
            return os.fsync(handle)
        is_folder = os.path.isdir(path)
        caller = f"folder {_find_caller()}" if is_folder else _find_caller()
        self.syncs[caller] += 1
        if self._is_skipped(caller):
            self._provoke()
            return None
        if self._kills_before_syncs:
            self._kill_before_sync()
        fault = self._step("sync", lambda: self._fail_to_sync(handle))
        assert fault in (None, "short", *_SILENT)
        if is_folder:
            self._sync_folder(path)
        else:
            node = self._find_open(handle)
            node.synced = _read(handle)
            if node.unsynced is not None:
                first, end = node.unsynced
                node.synced = node.synced[:first] + bytes(end - first) + node.synced[end:]
        return None

    def replace(
        self,
        source: Any,
        target: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
    ) -> None:
        self._step("rename")
        old, new = self._name(source, src_dir_fd), self._name(target, dst_dir_fd)
        moved = [path for path in self._live if path == old or path.startswith(f"{old}/")]
        names: dict[str, _Node | None] = dict.fromkeys(moved)
        names |= {f"{new}{path[len(old) :]}": self._live[path] for path in moved}
        self._keep_content(new)
        os.replace(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        self._change(names, os.path.dirname(old), os.path.dirname(new))

    def link(
        self,
        source: Any,
        target: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
        follow_symlinks: bool = True,
    ) -> None:
        self._step("link")
        os.link(
            source,
            target,
            src_dir_fd=src_dir_fd,
            dst_dir_fd=dst_dir_fd,
            follow_symlinks=follow_symlinks,
        )
        new = self._name(target, dst_dir_fd)
        self._change({new: self._find(new)})

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._step("remove")
        whole = self._name(path, dir_fd)
        self._keep_content(whole)
        os.unlink(path, dir_fd=dir_fd)
        self._change({whole: None})

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        self._step("make folder")
        os.mkdir(path, mode, dir_fd=dir_fd)
        self._change({f"{self._name(path, dir_fd)}/": _Node(b"")})

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._step("remove folder")
        os.rmdir(path, dir_fd=dir_fd)
        self._change({f"{self._name(path, dir_fd)}/": None})

    def write_database(self) -> None:
        """Write into a database.

        Raises:
            sqlite3.OperationalError: the disk is full or broken.
        """
        try:
            self._step("database")
        except OSError as error:
            failed = sqlite3.OperationalError(error.strerror)
            is_full = error.errno == errno.ENOSPC
            failed.sqlite_errorcode = sqlite3.SQLITE_FULL if is_full else sqlite3.SQLITE_IOERR
            raise failed from error

    def observes_database(self, path: str) -> bool:
        """Return whether a database, named by its path or URI, is on this disk."""
        return str(self.root) in path

    def _lock(self, handle: int, *, waits: bool = False) -> None:
        caller = f"lock {_find_caller()}"
        self.syncs[caller] += 1
        if self._is_skipped(caller):
            if self._chance.random() < 0.5:  # or it would always be the first lock of an event
                rate = self._chance.choice([0.5, 0.1])
                self.intrude_at = self._count + 1 + int(self._chance.expovariate(rate))
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waits:
                raise Waits from None
            self.pass_time(_LOCK_S)
            raise

    @property
    def skips_syncs(self) -> bool:
        """Whether syncs are left out, and not only locks."""
        return any(not name.startswith("lock ") for name in self.skipped)

    @property
    def skips_locks(self) -> bool:
        """Whether locks are left out."""
        return any(name.startswith("lock ") for name in self.skipped)

    def _is_skipped(self, caller: str) -> bool:
        return caller in self.skipped or caller.partition(":")[0] in self.skipped

    # What goes wrong

    def _require_life(self) -> None:
        if self.is_dead:
            raise Killed

    def _step(self, what: str, half: Callable[[], object] = lambda: None) -> FaultKind | None:
        """Count an operation. Return a fault that the operation bears itself, or raise it."""
        self._require_life()
        self._count += 1
        self.trace = zlib.crc32(f"{self._count} {what}".encode(), self.trace)
        if self.intrude is not None and self._count >= self.intrude_at:
            self._let_intrude()
        fault = self._fault
        if fault is None or self._count < fault.at:
            return None
        if fault.kind in ("kill", "power"):
            self.fired[fault.kind] += 1
            if what == "write" and self._chance.random() < 0.5:
                half()
            self.is_dead = True
            self._databases = {path: _read_file(path) for path in self._list_databases()}
            raise Killed
        if fault.kind == "short":
            self.fired["short"] += what == "write"
            return "short"
        if fault.kind in _SILENT:
            return fault.kind
        self._fail(fault, what, half)
        return None

    def _let_intrude(self) -> None:
        intrude, fault, self.intrude, self._fault = self.intrude, self._fault, None, None
        assert intrude is not None
        self._is_event = False  # nothing goes wrong for the other program
        intrude()
        self._fault, self._is_event = fault, True

    def _damage(self, handle: int, path: Path, content: memoryview) -> int:
        """Write something else than the content, once."""
        kind = self._fault.kind if self._fault else ""
        self._go_on()
        self.fired[kind] += 1
        wrong = bytearray(len(content))
        if kind == "flipped":
            wrong[:] = content
            at = self._chance.randrange(len(wrong))
            wrong[at] ^= 1 << self._chance.randrange(8)
        elif kind == "misdirected":
            others = [one for one in path.parent.iterdir() if one.is_file() and one != path]
            if others:
                self._overwrite(self._chance.choice(sorted(others)), content)
        written = os.write(handle, wrong)
        self.damaged[os.fstat(handle).st_ino] = os.fstat(handle).st_size
        return written

    def _overwrite(self, path: Path, content: memoryview) -> None:
        """Overwrite the beginning of a file, on the disk too."""
        if not self._observes(str(path)) or not _is_checked(str(path)):
            return
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.write(content[:size])
        self._find(str(path)).synced = path.read_bytes()
        self.damaged[path.stat().st_ino] = size

    def _fail(self, fault: Fault, what: str, half: Callable[[], object]) -> None:
        """Let an operation fail if it is of the kind that the fault concerns."""
        concerned = {
            "full": ("write", "open", "make folder", "link", "database"),
            "broken": ("write", "database"),
            "unsynced": ("sync",),
            "refused": ("open", "rename", "remove", "link"),
        }[fault.kind]
        if what not in concerned:
            return
        self.fired[fault.kind] += 1
        if what in ("write", "sync"):
            half()
        if fault.kind != "full":
            self._go_on()
        number = {"full": errno.ENOSPC, "refused": errno.EACCES}.get(fault.kind, errno.EIO)
        raise OSError(number, os.strerror(number))

    def _go_on(self) -> None:
        """End a fault that happens once. The second one comes so many operations later."""
        second, self._fault, self._second = self._second, None, None
        if second is not None:
            self._fault = Fault(second.kind, self._count + second.at)

    def _provoke(self) -> None:
        """Let what a call that is left out guards against happen soon behind it, in some events."""
        if self._is_event and self._fault is None and self._chance.random() < 0.25:
            self._fault = Fault("power", self._count + self._chance.randint(1, 6))

    def _kill_before_sync(self) -> None:
        """Kill the program before some syncs, so that what it has written is not flushed.

        A later run that finds it there must flush it. This shows whether that sync is left out.
        """
        if self._is_event and self._fault is None and self._chance.random() < _KILL_SHARE:
            self._fault = Fault("kill", self._count + 1)

    def _fail_to_sync(self, handle: int) -> None:
        if not os.path.isdir(self._name(handle)):
            node, now = self._find_open(handle), _read(handle)
            node.unsynced = (min(len(node.synced), len(now)), len(now))

    # What a power failure leaves

    def _change(self, names: dict[str, _Node | None], *folders: str) -> None:
        names = {path: node for path, node in names.items() if self._observes(path)}
        self.touched |= names.keys()
        if not names:
            return
        places = folders or (os.path.dirname(path.rstrip("/")) for path in names)
        self._changes.append(_Change(frozenset(places), tuple(names.items())))
        _apply(self._live, names.items())

    def _sync_folder(self, folder: str) -> None:
        left = list[_Change]()
        for change in self._changes:
            if folder not in change.folders:
                left.append(change)
                continue
            rest = change.folders - {folder}
            done = change.find_new(folder) if rest else dict(change.names)
            _apply(self._synced, done.items())
            left = [one.leave_out(done) for one in left]
            if rest:
                left.append(replace(change, folders=rest).leave_out(done))
        self._changes = [one for one in left if one.names]

    def _choose_changes(self) -> list[_Change]:
        """Return the changes of names that a power failure leaves: the first ones, or any."""
        if self._chance.random() < 0.5:
            return self._changes[: self._chance.randint(0, len(self._changes))]
        return [one for one in self._changes if self._chance.random() < 0.5]

    def _lose(self) -> None:
        """Replace the files by those that a power failure leaves."""
        chosen = dict(self._synced)
        for change in self._choose_changes():
            _apply(chosen, change.names)
        made = {path for path in chosen if path.endswith("/")} | {f"{self.root}/"}
        named = {node: path for path, node in reversed(self._live.items())}
        contents = {
            path: self._choose_content(node, named.get(node))
            for path, node in chosen.items()
            if path not in made and made.issuperset(self._list_parents(path))
        }
        for path in self._list_files():
            if path not in contents:
                os.unlink(path)
        for path, content in contents.items():
            if not _holds(path, content):
                _write_new(path, content)

    def _choose_content(self, node: _Node, name: str | None) -> bytes:
        """Return what is left of a file: what was synced, with a part of what came later.

        Args:
            node: the file.
            name: its path now, or None if it was removed.
        """
        now = node.lost
        if name is not None and os.path.isfile(name):
            now = _read_file(name)
        if now is None or now == node.synced:
            return node.synced
        if not now.startswith(node.synced):
            return self._chance.choice([now, node.synced])
        later = now[len(node.synced) : self._chance.randint(len(node.synced), len(now))]
        hole = self._chance.randint(0, len(later))
        holed = bytes(hole) + later[hole:]
        return node.synced + self._chance.choice([later, bytes(len(later)), holed, b""])

    def _list_parents(self, path: str) -> Iterator[str]:
        """Yield the folders in which a file is, up to the root, each with a final slash."""
        at = path.rstrip("/").rfind("/")
        while at >= len(self._start) - 1:
            yield path[: at + 1]
            at = path.rfind("/", 0, at)

    def _keep_content(self, path: str) -> None:
        """Remember the content of a file whose name is about to go to another file, or away."""
        if (node := self._live.get(path)) is not None and os.path.isfile(path):
            node.lost = _read_file(path)

    # Names

    def _find_open(self, handle: int) -> _Node:
        return self._nodes.setdefault(os.fstat(handle).st_ino, _Node(b""))

    def _find(self, path: str) -> _Node:
        number = os.stat(path).st_ino
        if number not in self._nodes:
            self._nodes[number] = _Node(_read_file(path))
        return self._nodes[number]

    def _name(self, path: Any, dir_fd: int | None = None) -> str:
        if isinstance(path, int):
            return os.readlink(f"/proc/self/fd/{path}")
        name = os.fspath(path)
        return name if dir_fd is None else f"{os.readlink(f'/proc/self/fd/{dir_fd}')}/{name}"

    def _observes(self, path: str) -> bool:
        is_inside = path.startswith(self._start) or f"{path}/" == self._start
        return is_inside and not path.endswith(_DATABASES)

    def _list_files(self) -> list[str]:
        files, _folders = list_tree(str(self.root))
        return [file.path for file in files if not file.name.endswith(_DATABASES)]

    def _list_databases(self) -> list[str]:
        files, _folders = list_tree(str(self.root))
        return [file.path for file in files if file.name.endswith(_DATABASES)]


class _System:
    """The module `os` as the file module sees it."""

    _OWN: Final = ("open", "write", "fsync", "ftruncate", "replace", "link", "unlink", "mkdir")
    _REPLACED: Final = ("listdir", "scandir", "urandom")  # by other doubles

    def __init__(self, disk: Disk) -> None:
        vars(self).update({n: one for n, one in vars(os).items() if n not in self._REPLACED})
        for name in (*self._OWN, "rmdir"):
            setattr(self, name, getattr(disk, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


def _read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _holds(path: str, content: bytes) -> bool:
    """Return whether a file has a content."""
    try:
        return _read_file(path) == content
    except FileNotFoundError:
        return False


def _write_new(path: str, content: bytes) -> None:
    """Write a file that is another one than what had its name before."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_bytes(content)


def _is_checked(path: str) -> bool:
    folder, name = os.path.split(path)
    return os.path.basename(folder) in _CHECKED_FOLDERS or name in _CHECKED_FILES


def _apply(names: dict[str, _Node], changes: Any) -> None:
    for path, node in changes:
        if node is None:
            names.pop(path, None)
        else:
            names[path] = node


def _read(handle: int) -> bytes:
    """Read an open file, which may be open for writing only."""
    size = os.fstat(handle).st_size
    try:
        return os.pread(handle, size, 0)
    except OSError:
        return Path(f"/proc/self/fd/{handle}").read_bytes()


def _is_between(frame: FrameType) -> bool:
    name = frame.f_globals["__name__"]
    is_module = name in (calls.__name__, "contextlib")
    return is_module or frame.f_code.co_name in ("acquire_lock", "lock_folder", *_SHARED)


def _find_caller() -> str:
    """Return which call asked for a sync or a lock, as `module.function:line of the function`."""
    frame, line = sys._getframe(2), ""
    while frame.f_back is not None and _is_between(frame):
        if frame.f_code.co_name in _SHARED:
            line = f".{_measure_line(frame)}"
        frame = frame.f_back
    module = frame.f_globals["__name__"].rpartition(".")[2]
    return f"{module}.{frame.f_code.co_name}:{_measure_line(frame)}{line}"


def _measure_line(frame: FrameType) -> int:
    return frame.f_lineno - frame.f_code.co_firstlineno
