"""Update the index before questions are answered.

A question waits only briefly. A longer update continues in the background.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from chains.cancel import CancelToken
from chains.events import IndexProgressed, Step
from vault.errors import VaultError
from vault.indexing.progress import READING, IndexProgress, IndexReport
from vault.vault import Vault

__all__ = ["AnswerUpdates", "IndexListener"]

LONGEST_READING_S: Final = 4.0  # until the words of all notes can be searched
LONGEST_EMBEDDING_S: Final = 20.0  # includes loading the embedding model
USUAL_WAIT_S: Final = 7.0  # for reading and embedding, if many notes remain to be embedded
LONG_EMBEDDING_S: Final = 5.0
FEW_NOTES: Final = 100
HEAD_START_S: Final = 2.0  # of an answer before its update continues in the background
_LOOK_S, _IDLE_LOOKS = 0.1, 10

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IndexListener:
    """Callbacks for index updates in the background, called in the thread of the update.

    Attributes:
        on_report: receives the report of a finished update.
        progress: receives progress several times a second.
        failed: receives the error of a failed update.
    """

    on_report: Callable[[IndexReport], None] = lambda _report: None
    progress: Callable[[IndexProgress], None] = lambda _progress: None
    failed: Callable[[VaultError], None] = lambda _error: None


class AnswerUpdates:
    """The index updates that turns have started. Thread-safe.

    Attributes:
        listener: the callbacks for updates that continue in the background.
    """

    def __init__(
        self, vault: Vault, on_end: Callable[[IndexReport], object] = lambda _report: None
    ) -> None:
        self.listener = IndexListener()
        self._on_end = on_end
        self._vault = vault
        self._lock = threading.Lock()
        self._runs: list[_AnswerUpdate] = []

    @property
    def is_running(self) -> bool:
        """Whether an index update is running."""
        return any(run.is_running for run in self._runs)

    def update(self, cancel: CancelToken) -> Iterator[Step | IndexProgressed]:
        """Update the index for a turn, or wait briefly for an update that is running.

        Raises:
            VaultError: the update failed while the turn was waiting.
        """
        if self.is_running or not self._wait_until_idle(cancel):
            yield from self._wait_for_words(cancel)
            return
        yield Step("index", "Reading your notes")
        with self._vault.throttle.run_at_full_speed():
            yield from self._start().follow(cancel)

    def close(self) -> None:
        """Stop all index updates. Notes that were already indexed are kept."""
        for run in self._runs:
            run.close()

    def _wait_until_idle(self, cancel: CancelToken) -> bool:
        """Wait up to one second for running index updates.

        Return whether the updates have ended or `cancel` was set. Usually, one second is enough to
        update a note that was just saved.
        """
        wait = self._vault.updates.wait_until_idle
        return any(cancel.is_cancelled or wait(_LOOK_S) for _ in range(_IDLE_LOOKS))

    def _wait_for_words(self, cancel: CancelToken) -> Iterator[Step]:
        wait = self._vault.updates.wait_for_words
        if not wait(0.0):
            yield Step("index", "Reading your notes")
        ends_at = time.monotonic() + LONGEST_READING_S
        while time.monotonic() < ends_at and not (cancel.is_cancelled or wait(_LOOK_S)):
            pass

    def _start(self) -> "_AnswerUpdate":
        run = _AnswerUpdate(self._vault, self.listener, self._on_end)
        with self._lock:
            self._runs = [*(one for one in self._runs if one.is_running), run]
            run.start()
        return run


class _AnswerUpdate:
    """An index update in its own thread. A turn waits for a limited time until it ends.

    Attributes:
        is_running: whether the update is running.
    """

    def __init__(
        self, vault: Vault, listener: IndexListener, on_end: Callable[[IndexReport], object]
    ) -> None:
        self._vault = vault
        self._on_end = on_end
        self._listener = listener
        self._news: queue.SimpleQueue[IndexProgress | IndexReport | Exception] = queue.SimpleQueue()
        self._cancel = CancelToken()
        self._is_left = self._has_rested = False
        self.is_running = False
        self._thread = threading.Thread(target=self._run, name="answer-update", daemon=True)

    def start(self) -> None:
        self.is_running = True
        self._thread.start()

    def close(self) -> None:
        """Stop the index update and wait until it ends.

        Notes that were already indexed are kept.
        """
        self._cancel.cancel()
        self._thread.join()

    def follow(self, cancel: CancelToken) -> Iterator[IndexProgressed]:
        """Yield progress until the index update ends or the turn has waited long enough.

        When the turn stops waiting, the update continues in the background. If updates are paused
        or `cancel` is set, the update is stopped instead.

        Raises:
            VaultError: the update failed.
        """
        forget = cancel.on_cancel(self._cancel.cancel)
        at, started = IndexProgress("seen"), time.monotonic()
        began = started
        try:
            while True:
                news = self._take()
                if isinstance(news, IndexReport):
                    return
                if news is not None:
                    if at.phase in READING and news.phase not in READING:
                        began = time.monotonic()
                    at = news
                    yield IndexProgressed(at)
                if at.throttle == "paused":
                    self._cancel.cancel()
                elif not self._cancel.is_cancelled and _is_long(at, began, started):
                    return
        finally:
            self._is_left = True
            forget()

    def _take(self) -> IndexProgress | IndexReport | None:
        """Return the next progress event or the report, or None if neither arrives within 0.1 s.

        Raises:
            Exception: the exception that ended the update.
        """
        try:
            news = self._news.get(timeout=_LOOK_S)
        except queue.Empty:
            return None
        if isinstance(news, Exception):
            raise news
        return news

    def _run(self) -> None:
        news: IndexReport | Exception
        try:
            news = self._vault.update(
                self._tell, lambda: self._cancel.is_cancelled, is_background=True, fills_store=False
            )
            self._on_end(news)
        except Exception as error:  # noqa: BLE001 - raised in the turn's thread, or logged
            news = error
        self.is_running = False
        self._news.put(news)
        if not self._is_left or self._cancel.is_cancelled:
            return
        if isinstance(news, IndexReport):
            self._listener.on_report(news)
        else:
            _log.warning("The index was not brought up to date: %s", news)
            if isinstance(news, VaultError):
                self._listener.failed(news)

    def _tell(self, progress: IndexProgress) -> None:
        if not self._is_left:
            self._news.put(progress)
            return
        self._let_answer_go_first()
        self._listener.progress(progress)

    def _let_answer_go_first(self) -> None:
        """Pause the update once for a few seconds, so that it does not slow down the answer."""
        if not self._has_rested:
            self._has_rested = True
            ends_at = time.monotonic() + HEAD_START_S
            while time.monotonic() < ends_at and not self._cancel.is_cancelled:
                time.sleep(_LOOK_S)


def _is_long(at: IndexProgress, began: float, started: float) -> bool:
    """Return whether a turn has waited long enough for an index update, and should continue.

    A turn waits for all notes to be read, then for some of them to be embedded. Each wait has a
    time limit. The update embeds the most relevant notes first, so that repeated runs of `strata
    ask` complete the index over time.

    Args:
        at: the latest progress.
        began: when the current phase began, on the monotonic clock.
        started: when the update started, on the monotonic clock.
    """
    now = time.monotonic()
    if at.phase in READING:
        return now - began > LONGEST_READING_S
    is_much = at.total - at.done > FEW_NOTES or (at.remaining_s or 0.0) > LONG_EMBEDDING_S
    is_over = now - started > USUAL_WAIT_S if is_much else now - began > LONGEST_EMBEDDING_S
    return at.phase == "store" or is_over
