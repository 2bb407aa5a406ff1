"""Judge the notes that are left with a model: in parallel, pausable, and stored call by call.

Each thread takes a block, asks, and stores what the call gave before it takes the next block. So a
run that is killed loses at most the calls whose answers had not arrived.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from app.errors import AppError
from app.judge.sorting import LostNotes
from app.judge.store import StoredVerdicts, VerdictStore
from app.judge.table import JudgeProgress, say_model
from app.pinned.block import blank_blocks
from chains.cancel import CancelToken
from chains.concurrency import Emit, WorkerPool, gather, iterate
from chains.judge.blocks import (
    MOST_PARTS,
    JudgeNote,
    JudgePiece,
    JudgeSetup,
    join_pieces,
    name_note,
)
from chains.judge.calls import BlockJudge, JudgedPieces
from chains.judge.verdicts import Verdict
from context.fixes import Fix
from vault.errors import NoteExcluded, VaultError
from vault.listing.inventory import InventoryNote
from vault.vault import Vault

__all__ = ["AT_ONCE", "JudgeRun", "PauseSwitch", "RepliesUnusable"]

AT_ONCE: Final = 3
MOST_FAILED: Final = 20
_PAUSE_CHECK_S: Final = 0.1

# These calls wait for model calls in the shared pool, so they need threads of their own.
_RUNS: Final = WorkerPool(4)
_CALLS: Final = WorkerPool(4 * AT_ONCE)


class RepliesUnusable(AppError):
    """A model's replies had no usable verdict for many notes in a row."""

    code = "model_unavailable"


class PauseSwitch:
    """Pauses and resumes a run. Calls that were begun are finished. Thread-safe."""

    def __init__(self) -> None:
        self._may_run = threading.Event()
        self._may_run.set()

    @property
    def is_paused(self) -> bool:
        """Whether the run is paused."""
        return not self._may_run.is_set()

    def pause(self) -> None:
        """Begin no more calls until `resume` is called."""
        self._may_run.clear()

    def resume(self) -> None:
        """Go on."""
        self._may_run.set()

    def wait(self, cancel: CancelToken) -> None:
        """Wait while the run is paused, until the token is cancelled."""
        while not cancel.is_cancelled and not self._may_run.wait(_PAUSE_CHECK_S):
            pass


@dataclass(frozen=True)
class _Unit:
    """What a thread judges next: a block of whole notes, or all parts of a long note."""

    pieces: Sequence[JudgePiece]
    is_divided: bool = False


@dataclass
class JudgeRun:
    """Judges notes with a model.

    Attributes:
        notes: the notes to judge, in this order.
        stored: the verdicts that are stored already.
        lost: notes that turn out not to be as the index knows them.
        calls: the number of calls so far.
    """

    vault: Vault
    setup: JudgeSetup
    judge: BlockJudge
    store: VerdictStore
    stored: StoredVerdicts
    notes: Sequence[InventoryNote]
    pause: PauseSwitch
    cancel: CancelToken
    lost: LostNotes = field(default_factory=LostNotes)
    calls: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)
    _counts: dict[str, int] = field(default_factory=dict, init=False)
    _copies: dict[str, int] = field(default_factory=dict, init=False)
    _outcomes: dict[str, str] = field(default_factory=dict, init=False)
    _error: Exception | None = field(default=None, init=False)
    _failed_in_a_row: int = field(default=0, init=False)
    _clock: Callable[[], float] = field(default=time.monotonic)

    def run(self) -> Generator[JudgeProgress, None, None]:
        """Judge the notes, and yield the progress after each call.

        Raises:
            ModelError: a call cannot be made. What other calls gave is stored.
            RepliesUnusable: many notes in a row have failed.
            Cancelled: the token was cancelled.
        """
        self._began = self._clock()
        yield self._measure()
        yield from iterate(self._work, self.cancel, _RUNS)
        if self._error is not None:
            raise self._error

    def _work(self, emit: Emit[JudgeProgress]) -> None:
        units = self._list_units()
        threads = [partial(self._take_units, units, emit)] * AT_ONCE
        for _ in gather(threads, self.cancel, _CALLS):
            pass

    def _take_units(self, units: Iterator[_Unit], emit: Emit[JudgeProgress]) -> None:
        """Judge one unit after the other. An error ends all threads after their calls."""
        try:
            while (unit := self._take_next(units)) is not None:
                judge = self._judge_parts if unit.is_divided else self._judge_block
                for _ in judge(unit.pieces):
                    if not emit(self._measure()):
                        return
        except Exception as error:  # noqa: BLE001 - it is raised when the other threads have ended
            self._error = self._error or error

    def _take_next(self, units: Iterator[_Unit]) -> _Unit | None:
        self.pause.wait(self.cancel)
        with self._lock:
            is_over = self._error is not None or self.cancel.is_cancelled
            return None if is_over else next(units, None)

    def _list_units(self) -> Iterator[_Unit]:
        """Yield blocks of whole notes, then long notes, each of which is judged in parts."""
        long: list[Sequence[JudgePiece]] = []
        whole = self._list_whole(long)
        for block in join_pieces(whole, self.setup.block_tokens):
            yield _Unit(block)
        for pieces in long:
            yield _Unit(pieces, is_divided=True)

    def _list_whole(self, long: list[Sequence[JudgePiece]]) -> Iterator[JudgePiece]:
        """Yield the notes that fit a block, and add the others to `long`."""
        for note in self.notes:
            if (text := self._read(note)) is None:
                self._count("lost")
                continue
            if self._is_copy(text.key):
                continue
            pieces = self.setup.divide(text)
            if len(pieces) == 1:
                yield pieces[0]
            elif len(pieces) > MOST_PARTS:
                reason = f"it has {len(pieces):,} parts; notes of up to {MOST_PARTS} are judged"
                self._settle(text.key, Verdict("too_long", reason=reason))
            else:
                long.append(pieces)

    def _is_copy(self, key: str) -> bool:
        """Count a note, and return whether another one of its name and content is judged."""
        with self._lock:
            is_copy = key in self._copies
            self._copies[key] = self._copies.get(key, 0) + 1
            if key in self._outcomes:
                self._count(self._outcomes[key])
        return is_copy

    def _read(self, note: InventoryNote) -> JudgeNote | None:
        """Read a note as it is now, or return None if it is not to be judged any more."""
        path = note.path
        try:
            try:
                read = self.vault.read_allowed(self.vault.name_path(path))
            except NoteExcluded:
                raise
            except VaultError:  # it may have been renamed
                moved = self.vault.find_content(note.version)
                if moved is None:
                    raise
                read = self.vault.read_allowed(moved)
        except NoteExcluded as error:
            self.lost.hidden[path] = error.rule
            return None
        except VaultError as error:
            self.lost.unreadable[path] = str(error)
            return None
        self.lost.versions[path] = read.version
        text = blank_blocks(read.text)  # what other notes say is judged there
        return JudgeNote(read.path, name_note(read.path), read.version, text)

    def _judge_block(self, block: Sequence[JudgePiece]) -> Iterator[None]:
        for judged in self.judge.judge(block):
            self._store(judged)
            for key, verdict in judged.verdicts.items():
                self._count_verdict(key, verdict)
            yield

    def _judge_parts(self, parts: Sequence[JudgePiece]) -> Iterator[None]:
        """Judge a long note part by part, until one of them fulfils the question."""
        found: list[Verdict] = []
        for part in parts:
            self.pause.wait(self.cancel)
            self.cancel.raise_if_cancelled()  # parts that were not judged have no verdict
            verdict = self.stored.verdicts.get(part.key)
            if verdict is None:
                for judged in self.judge.judge([part]):
                    self._store(judged)
                    verdict = judged.verdicts.get(part.key, verdict)
                    yield
            assert verdict is not None
            found.append(verdict)
            if verdict.outcome == "yes":
                break
        self._settle(parts[0].note.key, _join_verdicts(found))
        yield

    def _store(self, judged: JudgedPieces) -> None:
        self.store.add(judged)
        with self._lock:
            self.calls += 1

    def _settle(self, key: str, verdict: Verdict) -> None:
        """Store the verdict on a note that no single call gave."""
        self.store.add(JudgedPieces({key: verdict}, 0.0))
        self._count_verdict(key, verdict)

    def _count_verdict(self, key: str, verdict: Verdict) -> None:
        """Count a verdict for each note that was read and has its key."""
        with self._lock:
            self._outcomes[key] = verdict.outcome
            self._count(verdict.outcome, self._copies.get(key, 1))
        is_failed = verdict.outcome == "failed"
        self._failed_in_a_row = self._failed_in_a_row + 1 if is_failed else 0
        if self._failed_in_a_row >= MOST_FAILED:
            raise RepliesUnusable(
                f"{say_model(self.setup.call.model)} gave no usable verdict on "
                f"{self._failed_in_a_row} notes in a row: {verdict.reason}.",
                hint=Fix("Choose another model, or put the question differently."),
            )

    def _count(self, outcome: str, notes: int = 1) -> None:
        with self._lock:
            self._counts[outcome] = self._counts.get(outcome, 0) + notes

    def _measure(self) -> JudgeProgress:
        with self._lock:
            counts = dict(self._counts)
        total = len(self.notes)
        done = sum(counts.values())
        judged = done - counts.get("lost", 0)
        passed_s = self._clock() - self._began
        left_s = None if not judged else passed_s / judged * (total - done)
        return JudgeProgress(
            done,
            total,
            counts.get("yes", 0),
            counts.get("cannot_tell", 0),
            counts.get("failed", 0),
            left_s,
            self.pause.is_paused,
        )


def _join_verdicts(parts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a note, given those on its parts."""
    for outcome in ("yes", "failed", "cannot_tell"):
        for part in parts:
            if part.outcome == outcome:
                return part
    return Verdict("no")
