"""One vault with its index, for the packages above: update, search, read, health."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vault.indexer import CancelCheck, IndexReport, ProgressCallback
from vault.notes import Note
from vault.search import SearchResult


@dataclass(frozen=True, slots=True)
class NoteState:
    """Where one file of the vault stands; `reason` is the rule or the failure."""

    path: str
    title: str
    state: Literal["indexed", "excluded", "failed"]
    reason: str = ""


class VaultIndex:
    """A folder of notes and the index over it; safe to use from several threads.

    One process owns an index, by file lock, from its first `update` to `close`; any other
    searches the catalog read-only and gets `IndexBusy` from `update`.
    """

    def __init__(self, root: Path, index_dir: Path, exclude: Sequence[str] = ()):
        self.root = root
        self.index_dir = index_dir
        self.exclude = tuple(exclude)

    def update(
        self,
        progress: ProgressCallback = lambda _progress: None,
        is_cancelled: CancelCheck = lambda: False,
    ) -> IndexReport:
        """Bring the index up to date with the folder."""
        raise NotImplementedError

    def search(self, query: str, k: int = 8) -> SearchResult:
        """Find the `k` best passages by words and by meaning."""
        raise NotImplementedError

    def notes(self) -> tuple[NoteState, ...]:
        """List every note with its state, by path."""
        raise NotImplementedError

    @property
    def note_count(self) -> int:
        """Tell how many notes are indexed."""
        raise NotImplementedError

    @property
    def indexed_at(self) -> str | None:
        """Tell when the last complete update ended, in ISO 8601 UTC."""
        raise NotImplementedError

    def read_note(self, path: str) -> Note:
        """Read one note as it is on disk now."""
        raise NotImplementedError

    def health(self) -> list[tuple[str, bool, str]]:
        """Check the parts of the index: name, ok, detail."""
        raise NotImplementedError

    def close(self) -> None:
        """End the children and give up the lock."""
        raise NotImplementedError
