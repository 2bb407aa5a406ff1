"""The threads of the program as tasks of one thread, which run in an order that chance decides.

A task begins when somebody waits for one, or at the latest at the end of an event. Therefore a seed
decides the order of everything, and no time passes with waiting.
"""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

from tests.support.simulator.disk import Killed

__all__ = ["Scheduler"]

_UNBOUNDED: Final = 1 << 30  # a task that fills its channel would wait for the one that runs it


class Scheduler:
    """Takes the place of the pool of `chains.concurrency`.

    Attributes:
        chance: decides which task runs next.
        failures: the exceptions that a pool would only have logged.
    """

    def __init__(self, wait_for: Callable[[Any, object], None]) -> None:
        """Begin.

        Args:
            wait_for: lets the time pass until the next item of a channel has come, or raises
                `WaitEnded` if a limit is reached before.
        """
        self._wait_for = wait_for
        self.chance = random.Random(0)
        self.failures: list[BaseException] = []
        self._tasks: list[Callable[[], object]] = []

    @contextmanager
    def install(self) -> Iterator[None]:
        """Run what would run in the pool here, within a `with` block."""
        threads = SimpleNamespace(**vars(threading))
        threads.Thread, threads.Event = self._make_thread, self._make_pause
        keeping = SimpleNamespace(**vars(threading))
        keeping.Event = self._make_event
        updates = SimpleNamespace(**vars(threading))
        updates.Thread = _make_inner_thread
        with ExitStack() as stack:
            for name, double in {
                "chains.concurrency.threading": threads,
                "app.requests.keep.threading": keeping,
                "app.library.indexing.threading": updates,
                "vault.open_index.threading": updates,
                "vault.vault.threading": updates,
                "chains.concurrency.BUFFER_ITEMS": _UNBOUNDED,
                "chains.concurrency.WorkerPool.submit": lambda _pool, task: self.submit(task),
                "chains.concurrency._Channel._wait": lambda channel, limit=None: self._wait(
                    channel, limit
                ),
            }.items():
                stack.enter_context(mock.patch(name, double))
            yield

    def _wait(self, channel: Any, limit: object) -> None:
        self.run_until(channel._is_ready)
        self._wait_for(channel, limit)

    def submit(self, task: Callable[[], object]) -> None:
        """Run a task now or later."""
        if self.chance.random() < 0.5:
            self._run(task)
        else:
            self._tasks.append(task)

    def run_until(self, is_ready: Callable[[], bool]) -> None:
        """Run tasks until a condition holds. It must hold after all of them."""
        while not is_ready():
            assert self._tasks, "the program waits for what nothing does"
            self._run(self._tasks.pop(self.chance.randrange(len(self._tasks))))

    def run_all(self) -> None:
        """Run all tasks that are left."""
        self.run_until(lambda: not self._tasks)

    def drop_all(self) -> None:
        """Forget the tasks of a killed process."""
        self._tasks.clear()

    def _run(self, task: Callable[[], object]) -> None:
        try:
            task()
        except Killed:
            pass
        except Exception as error:  # noqa: BLE001 - each one is a bug
            self.failures.append(error)

    def _make_thread(self, target: Callable[[], object], **_options: Any) -> SimpleNamespace:
        def end() -> None:
            with suppress(ValueError):  # it has run
                self._tasks.remove(target)

        return SimpleNamespace(start=lambda: self.submit(target), join=end)

    def _make_pause(self) -> threading.Event:
        """Return an event that ends pauses. In each, it passes or its end comes, by chance."""
        event = threading.Event()
        event.wait = lambda _timeout=None: (  # type: ignore[method-assign,assignment]
            event.is_set() or self.chance.random() < 0.5
        )
        return event

    def _make_event(self) -> threading.Event:
        """Return an event for which other tasks run."""
        event = threading.Event()

        def wait(_timeout_s: float | None = None) -> bool:
            self.run_until(lambda: event.is_set() or not self._tasks)
            return event.is_set()

        event.wait = wait  # type: ignore[method-assign,assignment]
        return event


def _make_inner_thread(
    target: Callable[..., object], args: tuple[object, ...] = (), **_options: Any
) -> SimpleNamespace:
    """Return a thread that has ended when it has started."""
    return SimpleNamespace(start=lambda: target(*args), join=lambda: None, is_alive=lambda: False)
