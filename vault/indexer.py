"""Bringing the index up to date with the folder."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Phase = Literal["seen", "scan", "embed", "store", "done"]


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far a run has come in its present phase; `total` is 0 while it is not known."""

    phase: Phase
    path: str = ""
    done: int = 0
    total: int = 0
    per_s: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give the data of an `index_progress` event."""
        return {
            "phase": self.phase,
            "path": self.path,
            "done": self.done,
            "total": self.total,
            "per_s": round(self.per_s, 1),
        }


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run did, and how the index stands after it.

    Attributes:
        notes: notes in the index now; `chunks` likewise.
        embedded_chunks: passages embedded by this run; the others' vectors were reused.
        excluded: path and rule; failed: path and reason.
        is_complete: False after a cancel; what was done by then is kept.
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

    def to_dict(self) -> dict[str, Any]:
        """Give the report as `strata index --json` prints it."""
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
        }


ProgressCallback = Callable[[IndexProgress], None]
CancelCheck = Callable[[], bool]
