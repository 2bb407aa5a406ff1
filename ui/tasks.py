"""Run tasks in threads and deliver their results in the GUI thread.

No other module of `ui` uses threads. A `Task` iterates over one iterator in its own thread. A
`Mailbox` delivers the items to the GUI thread in order. Text deltas that arrive within 33 ms are
joined, so a fast model causes one repaint every 33 ms instead of one for each token.

Signals are emitted only in the GUI thread, and never after `TaskRunner.close`. Only `close` and
`LatestWriter.flush` wait for a thread.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from time import monotonic
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from shiboken6 import isValid

from app.faults import log_bug
from chains.cancel import CancelToken
from chains.errors import Cancelled
from ui.theme import tokens

__all__ = [
    "SWITCH_INTERVAL_S",
    "LatestOnly",
    "LatestWriter",
    "Mailbox",
    "Task",
    "TaskRunner",
]

# How long a thread may run Python code while the GUI thread waits for the interpreter. Many calls
# of Qt release the interpreter's lock, so Python's default of 5 ms could add 5 ms to each of them.
SWITCH_INTERVAL_S = 0.0001

Work = Callable[[CancelToken], Iterable[object]]
Call = Callable[[], object]
Value = TypeVar("Value")


class _Postman(QObject):
    """Calls mailboxes in the GUI thread at the request of other threads.

    A thread emits a signal of this object only, which is never deleted. A mailbox is deleted with
    its window, and Qt crashes if a thread is emitting a signal of it at that moment.
    """

    _called = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._calls: deque[Mailbox] = deque()
        self._called.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def call(self, mailbox: "Mailbox") -> None:
        """Let a mailbox deliver its items in the GUI thread, soon and from any thread."""
        self._calls.append(mailbox)
        self._called.emit()

    def _deliver(self) -> None:
        mailbox = self._calls.popleft()
        if isValid(mailbox):
            mailbox.flush()
        else:
            mailbox.close()


@cache
def _find_postman() -> _Postman:
    return _Postman()


class Mailbox(QObject):
    """Delivers items from other threads to the GUI thread, in order.

    The signal `arrived` is emitted in the GUI thread with each item.

    Args:
        parent: the Qt parent.
        is_paced: whether to deliver items in batches, at most one batch every 33 ms.
    """

    arrived = Signal(object)

    def __init__(self, parent: QObject, *, is_paced: bool = True) -> None:
        super().__init__(parent)
        self._is_paced = is_paced
        self._lock = threading.Lock()
        self._items: list[object] = []
        self._is_called = self._is_closed = False
        self._last_flush_s = 0.0
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.flush)
        self._postman = _find_postman()

    def put(self, item: object) -> None:
        """Add an item, from any thread. It is dropped after `close`, and after the deletion."""
        with self._lock:
            if self._is_closed:
                return
            self._items.append(item)
            is_called, self._is_called = self._is_called, True
        if not is_called:
            self._postman.call(self)

    def close(self) -> None:
        """Drop all items that have not been delivered, and accept no more."""
        with self._lock:
            self._is_closed = True
            self._items.clear()

    def flush(self) -> None:
        """Deliver the waiting items. If batches are limited, this is delayed by up to 33 ms."""
        wait_s = tokens()["motion"]["stream_flush"] / 1000 - (monotonic() - self._last_flush_s)
        if self._is_paced and wait_s > 0:
            self._timer.start(max(1, round(wait_s * 1000)))
            return
        self._last_flush_s = monotonic()
        with self._lock:
            items, self._items = self._items, []
            self._is_called = False
        for item in _join_text(items):
            if not self._is_closed:
                self.arrived.emit(item)


class Task(QObject):
    """Iterates over an iterator in its own thread, and delivers its items to the GUI thread.

    Signals:
        yielded: emitted with each item of the iterator.
        failed: emitted with the exception that ended the task.
        finished: emitted once when the task has ended, even after a failure or cancellation.

    Attributes:
        token: cancels the task.
        is_running: whether the task has been started and has not ended.
    """

    yielded = Signal(object)
    failed = Signal(object)
    finished = Signal()

    def __init__(self, work: Work, parent: "TaskRunner") -> None:
        super().__init__(parent)
        self.token = CancelToken()
        self.is_running = False
        self._work = work
        self._is_synchronous = parent.is_synchronous
        self._mail = Mailbox(self, is_paced=not parent.is_synchronous)
        self._mail.arrived.connect(self._on_arrived)
        self._thread: threading.Thread | None = None

    def start(self) -> "Task":
        """Start the task and return it. Connect to its signals before this call."""
        self.is_running = True
        if self._is_synchronous:
            self._run()
            self._mail.flush()
            return self
        self._thread = threading.Thread(target=self._run, name="strata-task", daemon=True)
        self._thread.start()
        return self

    def cancel(self) -> None:
        """Request the cancellation of the task. `finished` is emitted once the task has stopped."""
        self.token.cancel()

    def close(self, timeout_s: float) -> bool:
        """Cancel the task and wait until its thread has ended. No more items are delivered.

        Args:
            timeout_s: the maximum time to wait, in seconds.

        Returns:
            Whether the thread has ended within this time.
        """
        self.cancel()
        self._mail.close()
        if self._thread is not None:
            self._thread.join(timeout_s)
            return not self._thread.is_alive()
        return True

    def _run(self) -> None:
        try:
            with suppress(Cancelled):  # not an error: the user requested it and sees "Stopped."
                self._deliver(self._work(self.token))
        except BaseException as error:  # noqa: BLE001 - the receiver shows every failure to the user
            log_bug(error)
            self._mail.put(_Failure(error))
        self._mail.put(_END)

    def _deliver(self, items: Iterable[object]) -> None:
        """Put all items into the mailbox, and close the iterator if it is a generator."""
        try:
            for item in items:
                self._mail.put(item)
        finally:
            if isinstance(items, Generator):
                items.close()

    def _on_arrived(self, item: object) -> None:
        if item is _END:
            self.is_running = False
            self.finished.emit()
            self.deleteLater()
        elif isinstance(item, _Failure):
            self.failed.emit(item.error)
        else:
            self.yielded.emit(item)


class TaskRunner(QObject):
    """Creates tasks, and ends all of them when the window closes.

    Args:
        parent: the Qt parent. The runner and its tasks are deleted with it.
        is_synchronous: whether a task runs in the calling thread, so that its `start` returns only
            after it has ended. Tests use this.
    """

    def __init__(self, parent: QObject | None = None, *, is_synchronous: bool = False) -> None:
        super().__init__(parent)
        self.is_synchronous = is_synchronous

    def stream(self, work: Work) -> Task:
        """Create a task that yields the items of an iterator. The caller has to start it.

        Args:
            work: returns the iterator, given the task's cancel token.
        """
        return Task(work, self)

    def call(self, work: Call) -> Task:
        """Create a task that calls a function and yields its result. The caller has to start it.

        Args:
            work: the function, which is called without arguments.
        """
        return Task(lambda _token: iter((work(),)), self)

    def mailbox(self) -> Mailbox:
        """Return a mailbox for a thread that is not a task, such as the file watcher."""
        return Mailbox(self)

    def close(self, timeout_s: float = 3.0) -> bool:
        """Cancel all tasks and wait for them. Return whether all tasks have stopped in time.

        Args:
            timeout_s: the maximum time to wait, in seconds.
        """
        deadline_s = monotonic() + timeout_s
        for mailbox in self.findChildren(Mailbox):
            mailbox.close()
        tasks = self.findChildren(Task)
        for task in tasks:
            task.cancel()
        stopped = [task.close(max(0.0, deadline_s - monotonic())) for task in tasks]
        return all(stopped)


class LatestOnly(QObject):
    """Debounces calls: runs only the most recent one, after a pause without new calls.

    Only one call runs at a time. If more calls are requested while it is running, only the last of
    them is run afterwards. The signal `answered` is emitted with the result of a call, or `failed`
    with its exception. A call that was replaced by a newer one emits nothing.
    """

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self, runner: TaskRunner, pause_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self._waiting: Call | None = None
        self._task: Task | None = None
        self._is_stale = self._is_held = self._is_due = False
        self._timer = QTimer(self, singleShot=True, interval=pause_ms)
        self._timer.timeout.connect(self._start)

    def ask(self, question: Call, *, now: bool = False) -> None:
        """Request a call. It replaces a requested call that has not started yet.

        Args:
            question: the function to call.
            now: whether to start at once instead of after a pause without new calls.
        """
        self._waiting = question
        self._is_stale = self._task is not None
        if now or self._runner.is_synchronous:
            self._start()
        else:
            self._timer.start()

    def forget(self) -> None:
        """Discard the call that has not started yet, and ignore the result of the running one."""
        self._waiting = None
        self._is_stale = self._task is not None
        self._timer.stop()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Start no call in this block. At its end, start the last one if one was to start."""
        was_held, self._is_held = self._is_held, True
        try:
            yield
        finally:
            self._is_held = was_held
            is_due, self._is_due = self._is_due, False
            if is_due:
                self._start()

    def _start(self) -> None:
        self._is_due = self._is_held
        if self._task is not None or self._waiting is None or self._is_held:
            return
        question, self._waiting = self._waiting, None
        self._is_stale = False
        self._task = self._runner.call(question)
        self._task.yielded.connect(self._on_yielded)
        self._task.failed.connect(self._on_failed)
        self._task.finished.connect(self._on_finished)
        self._task.start()

    def _on_yielded(self, answer: object) -> None:
        if not self._is_stale:
            self.answered.emit(answer)

    def _on_failed(self, error: object) -> None:
        if not self._is_stale:
            self.failed.emit(error)

    def _on_finished(self) -> None:
        self._task = None
        if not self._timer.isActive():
            self._start()


class LatestWriter(Generic[Value]):
    """Writes the latest version of a value in a thread, because a slow disk would block the window.

    A version is not written if a newer one arrives first, or if it equals the previous version.

    Args:
        write: writes a value to disk, and returns whether that succeeded.
    """

    def __init__(self, write: Callable[[Value], bool]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._latest: Value | None = None
        self._is_waiting = False
        self._thread: threading.Thread | None = None

    def put(self, value: Value) -> None:
        """Write a value in the thread, once the previous value has been written.

        Nothing is written if the value equals the previous one.

        Args:
            value: the value, which must not be changed afterwards.
        """
        with self._lock:
            if value == self._latest:
                return
            self._latest, self._is_waiting = value, True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="strata-save")
                self._thread.start()

    def flush(self) -> None:
        """Wait until the latest value has been written to disk."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        try:
            while (value := self._take()) is not None:
                is_written = self._write(value)
                with self._lock:
                    if not is_written and not self._is_waiting:
                        self._latest = None  # so that it is written when it is put again
        except BaseException:
            with self._lock:
                self._latest = self._thread = None
            raise

    def _take(self) -> Value | None:
        """Return the value to write next. If there is none, end the thread and return None."""
        with self._lock:
            if self._is_waiting:
                self._is_waiting = False
                return self._latest
            self._thread = None
            return None


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


_END = object()


def _join_text(items: list[object]) -> list[object]:
    # Imported late, so as not to delay the first paint.
    from chains.events import TextDelta, ThoughtDelta

    joined: list[object] = []
    for item in items:
        last = joined[-1] if joined else None
        is_piece = isinstance(item, TextDelta | ThoughtDelta)
        if is_piece and isinstance(last, TextDelta | ThoughtDelta) and type(last) is type(item):
            joined[-1] = replace(item, text=last.text + item.text)
        else:
            joined.append(item)
    return joined
