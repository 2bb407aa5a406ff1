"""Watch a folder for changes, and report them in batches.

A callback receives the changed paths, but not the type of change. Changes during a call are
collected for the next one.

Changes are collected for up to a second before they are reported. A caller that needs all changes
immediately calls `catch_up`, which creates a marker file in another watched folder. Changes are
reported in order, so that all earlier changes are known when the marker file is reported.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from resources.system.calls import remove_path
from resources.system.files import create_empty, make_private_folder
from resources.system.processes import needs_polling
from vault.errors import VaultError

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

__all__ = ["Watcher"]

_log = logging.getLogger(__name__)

# A change is reported if no other follows within one step, and after the longer time at the latest.
_STEP_MS = 50
_MOST_MS = 1_000
_MANY = 200
_CLOSE_S = 5.0
_MARK_S = 1.0
_AGAIN_S = 0.5
_QUICK_STEP_MS, _QUICK_TIMEOUT_MS = 1, 5
_HAND_OVER_S = 0.001  # the thread may have changes that it has not collected yet
_WAKE = "wake"
_UNREADABLE_NAME = "Unable to decode path"  # how `watchfiles` reports a name that is not UTF-8
_AFTER_A_NAME_S = 1.0  # between two watches, if such a file is written repeatedly

Changed = Callable[[Collection[str] | None], None]
Failed = Callable[[VaultError], None]


class Watcher:
    """Watches a folder for changes in its own thread."""

    def __init__(
        self,
        root: Path,
        changed: Changed,
        failed: Failed = lambda _error: None,
        marks_dir: Path | None = None,
    ):
        """Store the folder and callbacks. Watching begins with `start`.

        Args:
            root: the vault's folder.
            changed: called with the changed paths, or None if there are too many.
            failed: called with the exception if `changed` raises a `VaultError`.
            marks_dir: a folder outside of the vault for marker files, or None to disable
                `catch_up`.
        """
        self._root = root.resolve()
        self._on_changes = changed
        self._on_failure = failed
        self._marks_dir = None if marks_dir is None else marks_dir.absolute()
        self._numbers = count()
        self._stop = threading.Event()
        self._state = threading.Condition()
        self._notify: RustNotify | None = None
        self._gathered: set[str] = set()
        self._seen_marks: set[str] = set()
        self._is_look_wanted = False
        self._is_busy = self._is_slow = self._has_ended = False
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        """Start watching the folder in a new thread."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the watcher still reports changes.

        This is False once the folder has been removed.
        """
        return self._thread.is_alive()

    @property
    def is_ready(self) -> bool:
        """Whether watching has started. This takes a while for large folders."""
        return self._notify is not None

    def catch_up(self, timeout_s: float, *, looks_at_all: bool = False) -> bool:
        """Wait until all changes made before this call have been handled.

        Args:
            timeout_s: the maximum time to wait, in seconds.
            looks_at_all: whether to report the whole folder as changed, because earlier changes may
                have been missed.

        Returns:
            Whether all changes were handled in time. After a timeout, later calls wait only briefly
            until the changes are handled.
        """
        if self._marks_dir is None or threading.current_thread() is self._thread:
            return True
        ends_at = time.monotonic() + timeout_s
        with self._state:
            self._is_look_wanted = self._is_look_wanted or looks_at_all
            if not self._wait(lambda: self._notify is not None, ends_at):
                return False
            notify = self._notify
        if notify is None or not self._await_mark(notify, min(_MARK_S, timeout_s)):
            return notify is None  # watching has ended
        with self._state:
            if not self._is_idle():
                self._make_mark(_WAKE)
                ends_at = min(ends_at, time.monotonic() + _AGAIN_S) if self._is_slow else ends_at
            is_done = self._wait(self._is_idle, ends_at)
            self._is_slow = not is_done
            return is_done

    def look_again(self) -> None:
        """Report the whole folder as changed, because the rules have changed. Do not wait."""
        with self._state:
            self._is_look_wanted = True
            is_watching = self._notify is not None
        if is_watching:
            self._make_mark(_WAKE)

    def release(self) -> None:
        """Wake all waiting calls of `catch_up`, because all changes have been indexed."""
        with self._state:
            self._is_busy = False
            self._state.notify_all()

    def call_changed(self, paths: Collection[str] | None) -> None:
        """Call the callback for changes.

        If it raises a `VaultError`, call the callback for failures too.

        Args:
            paths: the changed paths, or None if the whole folder may have changed.
        """
        try:
            self._on_changes(paths)
        except VaultError as error:  # the next change or start tries again
            _log.warning("What changed could not be taken up: %s", error)
            self._on_failure(error)

    def close(self) -> None:
        """Stop watching the folder, after the running callback has returned."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_CLOSE_S)

    # -- the thread

    def _run(self) -> None:
        try:
            while not self._stop.is_set() and self._watch():
                self._stop.wait(_AFTER_A_NAME_S)
        except (
            OSError,
            RuntimeError,
        ) as error:  # the folder is gone, or a system limit is reached
            _log.warning("The folder is not watched any more: %s", error)
        finally:
            with self._state:
                self._has_ended = True
                self._state.notify_all()

    def _watch(self) -> bool:
        """Report changes until the watch ends. Return whether to start a new one.

        `watchfiles` stops when it finds a file name that is not UTF-8. Changes are missed until the
        next watch starts. The next watch therefore begins by reporting the whole folder as changed.
        """
        try:
            with self._open_notify() as notify:
                self._report_changes()
                while not self._stop.is_set():
                    changes = notify.watch(_MOST_MS, _STEP_MS, 0, self._stop)
                    if isinstance(changes, str):
                        break
                    self._gather(changes)
                    self._report_changes()
        except RuntimeError as error:
            if not str(error).startswith(_UNREADABLE_NAME):
                raise
            with self._state:
                self._is_look_wanted = True
            return True
        return False

    @contextmanager
    def _open_notify(self) -> "Iterator[RustNotify]":
        from watchfiles._rust_notify import RustNotify

        folders = [str(self._root)]
        if self._marks_dir is not None:
            _make_empty(self._marks_dir)
            folders.append(str(self._marks_dir))
        try:
            with RustNotify(folders, False, needs_polling(), 300, True, False) as notify:
                with self._state:
                    self._notify = notify
                    self._state.notify_all()
                yield notify
        finally:
            with self._state:
                self._notify = None
                self._state.notify_all()

    def _report_changes(self) -> None:
        with self._state:
            named, self._gathered = self._gathered, set()
            is_look_wanted, self._is_look_wanted = self._is_look_wanted, False
            self._is_busy = bool(named or is_look_wanted) and not self._stop.is_set()
            if not self._is_busy:
                return
        try:
            self.call_changed(None if is_look_wanted or len(named) > _MANY else named)
        finally:
            with self._state:
                self._is_busy = False
                self._state.notify_all()

    # -- both sides

    def _gather(self, changes: Collection[tuple[int, str]]) -> None:
        with self._state:
            for _, path in changes:
                if self._marks_dir is not None and Path(path).parent == self._marks_dir:
                    self._seen_marks.add(Path(path).name)
                elif (name := self._relative(path)) is not None:
                    self._gathered.add(name)
            self._state.notify_all()

    def _relative(self, path: str) -> str | None:
        """Return a path relative to the vault, or None if it is outside or in a hidden folder."""
        try:
            parts = Path(path).relative_to(self._root).parts
        except ValueError:
            return None
        is_hidden = any(part.startswith(".") for part in parts[:-1])
        return None if is_hidden or not parts else "/".join(parts)

    # -- callers of catch_up

    def _await_mark(self, notify: "RustNotify", timeout_s: float) -> bool:
        """Create a marker file, and wait until the file is reported as a change.

        Args:
            notify: the object of `watchfiles` that reports changes.
            timeout_s: the maximum time to wait, in seconds.

        Returns:
            Whether the marker file was reported in time.
        """
        ends_at = time.monotonic() + timeout_s
        mark = str(next(self._numbers))
        if not self._make_mark(mark):
            return False
        try:
            while mark not in self._seen_marks:
                if time.monotonic() > ends_at:
                    return False
                changes = notify.watch(0, _QUICK_STEP_MS, _QUICK_TIMEOUT_MS, None)
                if not isinstance(changes, str):
                    self._gather(changes)
        except RuntimeError:  # watching has ended
            return False
        finally:
            self._seen_marks.discard(mark)
        time.sleep(_HAND_OVER_S)
        return True

    def _make_mark(self, name: str) -> bool:
        folder = self._marks_dir
        if folder is None:
            return False
        mark = folder / name
        try:
            create_empty(mark)
            remove_path(mark)
        except OSError:  # a full disk; changes are still reported, only later
            return False
        return True

    def _is_idle(self) -> bool:
        return not (self._gathered or self._is_look_wanted or self._is_busy)

    def _wait(self, is_so: Callable[[], bool], ends_at: float) -> bool:
        timeout_s = max(0.0, ends_at - time.monotonic())
        return self._state.wait_for(lambda: self._has_ended or is_so(), timeout_s)


def _make_empty(folder: Path) -> None:
    make_private_folder(folder)
    for left in folder.iterdir():
        with suppress(OSError):
            remove_path(left)
