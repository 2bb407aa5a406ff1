"""The progress of an indexing run, and its report."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from vault.errors import VaultError
from vault.indexing.throttle import Throttle, ThrottleReason

Phase = Literal["seen", "scan", "embed", "store", "done"]

_SILENCE_S = 0.05


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """The progress of a run in its present phase.

    Both counts are of notes. `seen`: those found in the folder so far, of an unknown total.
    `scan`: those read, of the new and changed ones. `embed`: those whose passages all have a
    vector, of the ones that waited for one. `store`: nothing is counted. `done`: all in the index.

    Attributes:
        path: the note at hand, in the phase `scan`.
        total: 0 while it is not known.
        per_s: how many notes a second it takes at the rate so far, pauses left out.
        pace: why the run is slow or stands still; empty at full speed.
    """

    phase: Phase
    path: str = ""
    done: int = 0
    total: int = 0
    per_s: float = 0.0
    throttle: ThrottleReason = ""

    @property
    def remaining_s(self) -> float | None:
        """The seconds that are left of the phase; None while its rate is not known."""
        return (self.total - self.done) / self.per_s if self.total and self.per_s > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the data of an `index_progress` event."""
        return {
            "phase": self.phase,
            "path": self.path,
            "done": self.done,
            "total": self.total,
            "per_s": round(self.per_s, 1),
            "remaining_s": None if self.remaining_s is None else round(self.remaining_s, 1),
            "pace": self.throttle,
        }


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run did, and what the index holds after it.

    Attributes:
        notes: notes in the index now; `chunks` likewise.
        embedded_chunks: texts embedded by this run.
        reused_chunks: passages whose vector was there, or is shared with an equal text.
        excluded: path and rule; failed: path and reason.
        is_complete: False after a cancel; what was done by then is kept.
        warnings: what does not stand as it was chosen, though search goes on.
    """

    vault: str
    notes: int = 0
    chunks: int = 0
    embedded_chunks: int = 0
    reused_chunks: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    renamed: int = 0
    excluded: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    is_complete: bool = True
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as `strata index --json` prints it."""
        return {
            "vault": self.vault,
            "notes": self.notes,
            "chunks": self.chunks,
            "embedded_chunks": self.embedded_chunks,
            "reused_chunks": self.reused_chunks,
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "renamed": self.renamed,
            "excluded": [{"path": path, "rule": rule} for path, rule in self.excluded],
            "failed": [{"path": path, "reason": reason} for path, reason in self.failed],
            "seconds": round(self.seconds, 3),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }


ProgressCallback = Callable[[IndexProgress], None]
CancelCheck = Callable[[], bool]


class IndexCancelled(VaultError):
    """The run was told to stop; the indexer turns this into an incomplete report."""


class ProgressMeter:
    """Reports the progress of a run several times a second, throttles it and sees a cancel."""

    def __init__(self, progress: ProgressCallback, is_cancelled: CancelCheck, throttle: Throttle):
        self._progress = progress
        self._is_cancelled = is_cancelled
        self._throttle = throttle
        self._now = IndexProgress("seen")
        self._reported_at = self._first_at = time.monotonic()
        self._first_done = self._work = 0

    def begin(self, phase: Phase, total: int = 0, work: int = 0) -> None:
        """Enter a phase and report it at once.

        Args:
            phase: its name.
            total: how many notes there are to do.
            work: how much work they are, where some take longer than others.
        """
        self._first_done, self._first_at = 0, time.monotonic()
        self._work = work
        self._now = IndexProgress(phase, total=total)
        self._report()

    def step(self, done: int, path: str = "", work: int = 0) -> None:
        """Report how far the phase has come, and wait as long as the throttle asks.

        Everything between two tellings is left out.

        Args:
            done: how many notes are done.
            path: the note at hand.
            work: how much of the work is done, in a phase that began with `work`.

        Raises:
            IndexCancelled: the caller asked to stop.
        """
        now = self._now
        per_s = self._measure_notes_per_s(done, work) if self._work else self._measure_rate(done)
        self._now = IndexProgress(now.phase, path, done, now.total, per_s, now.throttle)
        if done >= now.total > 0:
            self._report()
        self._first_at += self._throttle.wait(self._is_cancelled, self._report_throttle)
        self._report_throttle()
        self.tick()

    def _measure_notes_per_s(self, done: int, work: int) -> float:
        """Return the rate at which the notes that are left will be done with the work left."""
        rate, work_left = self._measure_rate(work), self._work - work
        return (self._now.total - done) * rate / work_left if work_left else rate

    def _measure_rate(self, done: int) -> float:
        """Return the rate since the first item was done, so that starting up does not count."""
        if done and not self._first_done:
            self._first_done, self._first_at = done, time.monotonic()
        elapsed = time.monotonic() - self._first_at
        return (done - self._first_done) / elapsed if elapsed > 0 else 0.0

    def can_work_ahead(self) -> bool:
        """Return whether the next batch may be asked for before the one under way is done."""
        return not self._throttle.reason

    def tick(self) -> None:
        """Repeat the last report if it is old, and stop a run that was cancelled.

        Raises:
            IndexCancelled: the caller asked to stop.
        """
        if self._is_cancelled():
            raise IndexCancelled("Indexing was stopped; what was done is kept.")
        if time.monotonic() - self._reported_at >= _SILENCE_S:
            self._report()

    def _report_throttle(self) -> None:
        if self._now.throttle != self._throttle.reason:
            self._report()

    def _report(self) -> None:
        self._reported_at = time.monotonic()
        self._now = replace(self._now, throttle=self._throttle.reason)
        self._progress(self._now)
