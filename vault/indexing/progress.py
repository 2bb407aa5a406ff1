"""The progress and final report of an indexing run."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from vault.errors import VaultError
from vault.indexing.throttle import Throttle, ThrottleReason

Phase = Literal["seen", "scan", "embed", "store", "done"]
READING: Final = ("seen", "scan")  # the phases before keyword search can find all notes

_SILENCE_S = 0.05


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """The progress of an indexing run in its current phase.

    The phase determines which notes `done` and `total` count:

        seen   the notes found in the folder so far
        scan   the new and changed notes: `done` have been read so far
        embed  the notes that lacked vectors: `done` have all their vectors now
        store  none; both are 0
        done   the notes in the index

    Attributes:
        path: the note being read, or an empty string outside of the phase `scan`.
        total: the number of notes in the phase, or 0 if it is not known yet.
        per_s: the number of notes per second in this phase, not counting pauses.
        throttle: why the run is slowed down or paused, or an empty string at full speed.
    """

    phase: Phase
    path: str = ""
    done: int = 0
    total: int = 0
    per_s: float = 0.0
    throttle: ThrottleReason = ""

    json_shape = (
        "phase",
        "path",
        "done",
        "total",
        "per_s to 1 digits",
        "remaining_s to 1 digits",
        "pace = throttle",
    )

    @property
    def remaining_s(self) -> float | None:
        """The estimated time until the indexing phase ends, in seconds, or None if unknown."""
        return (self.total - self.done) / self.per_s if self.total and self.per_s > 0 else None


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of an indexing run.

    Attributes:
        notes: the number of notes in the index.
        chunks: the number of passages in the index.
        embedded_chunks: the number of passages embedded by this run. Equal passages count once.
        reused_chunks: the number of passages that were not embedded, because an equal text has a
            vector.
        excluded: the excluded files, as pairs of path and rule.
        failed: the files that cannot be indexed, as pairs of path and reason.
        faulty: the indexed notes of whose front matter something is lost, as pairs of path and
            reason.
        is_complete: whether the run was not cancelled. A cancelled run keeps its finished work.
        warnings: errors that do not prevent searches, such as a broken vector store.
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
    faulty: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    is_complete: bool = True
    warnings: tuple[str, ...] = ()

    json_shape = (
        "vault",
        "notes",
        "chunks",
        "embedded_chunks",
        "reused_chunks",
        "added",
        "changed",
        "removed",
        "renamed",
        "excluded = excluded_files",
        "failed = failed_files",
        "faulty = faulty_files",
        "seconds to 3 digits",
        "warnings if warnings",
    )

    @property
    def excluded_files(self) -> list[dict[str, str]]:
        """The excluded files, each with its path and the rule."""
        return [{"path": path, "rule": rule} for path, rule in self.excluded]

    @property
    def failed_files(self) -> list[dict[str, str]]:
        """The files that cannot be indexed, each with its path and the reason."""
        return [{"path": path, "reason": reason} for path, reason in self.failed]

    @property
    def faulty_files(self) -> list[dict[str, str]]:
        """The notes of whose front matter something is lost, each with its path and the reason."""
        return [{"path": path, "reason": reason} for path, reason in self.faulty]

    @property
    def has_changes(self) -> bool:
        """Whether the run added, changed, removed or renamed notes."""
        return any((self.added, self.changed, self.removed, self.renamed))


ProgressCallback = Callable[[IndexProgress], None]
CancelCheck = Callable[[], bool]


def call_when_read(act: Callable[[], None], progress: ProgressCallback) -> ProgressCallback:
    """Extend a progress callback to also call `act` once all notes have been read.

    From then on, keyword search can find all notes.
    """

    def on_progress(at: IndexProgress) -> None:
        if at.phase not in READING:
            act()
        progress(at)

    return on_progress


class IndexCancelled(VaultError):
    """Raised within an indexing run that was cancelled. The indexer catches it."""


class ProgressMeter:
    """Reports progress several times a second, throttles the run, and checks for cancellation."""

    def __init__(self, progress: ProgressCallback, is_cancelled: CancelCheck, throttle: Throttle):
        self._progress = progress
        self._is_cancelled = is_cancelled
        self._throttle = throttle
        self._now = IndexProgress("seen")
        self._reported_at = self._first_at = time.monotonic()
        self._first_done = self._work = 0

    def begin(self, phase: Phase, total: int = 0, work: int = 0) -> None:
        """Start a phase of the run.

        Args:
            phase: the name of the phase.
            total: the number of notes, or 0 if unknown.
            work: the total number of passages to process, for better time estimates, or 0 to count
                notes.
        """
        self._first_done, self._first_at = 0, time.monotonic()
        self._work = work
        self._now = IndexProgress(phase, total=total)
        self._report()

    def step(self, done: int, path: str = "", work: int = 0) -> None:
        """Report progress, and wait as long as the throttle requires.

        Args:
            done: the number of finished notes.
            path: the note being processed.
            work: the number of finished passages, if `begin` received their total.

        Raises:
            IndexCancelled: the run was cancelled.
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
        rate, work_left = self._measure_rate(work), self._work - work
        return (self._now.total - done) * rate / work_left if work_left else rate

    def _measure_rate(self, done: int) -> float:
        """Return the number of finished notes or passages per second.

        The time before the first one is finished is not counted.
        """
        if done and not self._first_done:
            self._first_done, self._first_at = done, time.monotonic()
        elapsed = time.monotonic() - self._first_at
        return (done - self._first_done) / elapsed if elapsed > 0 else 0.0

    def can_work_ahead(self) -> bool:
        """Return whether to request the next batch before the current one is finished."""
        return not self._throttle.reason

    def tick(self) -> None:
        """Report the progress again if the last report is older than 50 ms.

        Raises:
            IndexCancelled: the run was cancelled.
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
