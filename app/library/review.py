"""Review the open vault: find notes that need care, and remember dismissed findings.

Dismissed findings are stored outside of the index, because the index can be deleted at any time. If
their file is lost or damaged, these findings are shown again.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.durable import write_atomically
from app.errors import storage_errors
from app.library.library import Library
from app.library.open_vault import OpenVault
from app.paths import Paths, make_private_folder
from chains.cancel import CancelToken
from vault.indexing.relocate import list_folders
from vault.review.findings import Finding
from vault.review.review import ReviewProgress, ReviewReport, review_notes

__all__ = ["NoteReview", "ReviewResult"]

_log = logging.getLogger(__name__)
_REST_S: Final = 0.0003  # after each step, so that the window stays responsive
_MOST_DISMISSED: Final = 10_000


@dataclass(frozen=True)
class ReviewResult:
    """The result of a review.

    Attributes:
        findings: the findings that the user has not dismissed, most important first.
        dismissed: the findings that the user has dismissed.
        notes: the number of notes that were compared.
    """

    findings: tuple[Finding, ...]
    dismissed: tuple[Finding, ...]
    notes: int


class NoteReview:
    """Reviews the notes of the open vault. Thread-safe."""

    def __init__(self, vault: OpenVault, paths: Paths) -> None:
        """Set the vault to review and where dismissed findings are stored. Nothing is read yet."""
        self._vault, self._paths = vault, paths
        self._lock = threading.Lock()

    def find(self, cancel: CancelToken) -> Iterator[ReviewProgress | ReviewResult]:
        """Find the notes that need care, and yield the progress, then the result.

        Raises:
            Cancelled: the review was cancelled.
            VaultNotChosen: no vault is open.
            VaultError: the notes are not indexed yet, or the index cannot be read.
        """
        library = self._vault.require()

        def rest() -> None:
            cancel.raise_if_cancelled()
            time.sleep(_REST_S)

        for item in review_notes(library.root, library.index_dir, rest):
            cancel.raise_if_cancelled()
            yield self._divide(library, item) if isinstance(item, ReviewReport) else item

    def dismiss(self, finding: Finding) -> None:
        """Hide a finding in later reviews until the details that it is based on change.

        Raises:
            VaultNotChosen: no vault is open.
            StorageFailed: the dismissed findings cannot be stored.
        """
        self._change(lambda keys: [*(key for key in keys if key != finding.key), finding.key])

    def restore(self, findings: Sequence[Finding]) -> None:
        """Show dismissed findings in reviews again.

        Raises:
            VaultNotChosen: no vault is open.
            StorageFailed: the dismissed findings cannot be stored.
        """
        restored = {finding.key for finding in findings}
        self._change(lambda keys: [key for key in keys if key not in restored])

    def _divide(self, library: Library, report: ReviewReport) -> ReviewResult:
        with self._lock:
            keys = set(self._read(library))
        dismissed = tuple(one for one in report.findings if one.key in keys)
        offered = tuple(one for one in report.findings if one.key not in keys)
        return ReviewResult(offered, dismissed, report.notes)

    def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        library = self._vault.require()
        file = self._name_file(library.index_dir)
        with self._lock, storage_errors(file):
            keys = change(self._read(library))[-_MOST_DISMISSED:]
            make_private_folder(file.parent)
            write_atomically(file, json.dumps({"dismissed": keys}, indent=2).encode())

    def _name_file(self, index_dir: Path) -> Path:
        return self._paths.reviews / f"{index_dir.name}.json"

    def _read(self, library: Library) -> list[str]:
        """Return the keys of the dismissed findings.

        The list is empty if the file is missing or damaged. If the vault has moved and nothing has
        been dismissed since, the file of its former path is read.
        """
        file = self._name_file(library.index_dir)
        if not file.exists():
            indexes = map(self._paths.index_folder, list_folders(library.index_dir))
            former = (found for one in indexes if (found := self._name_file(one)).exists())
            file = next(former, file)
        try:
            found = json.loads(file.read_bytes())["dismissed"]
            return [key for key in found if isinstance(key, str)]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            _log.warning("The dismissed findings in %s cannot be read: %s", file, error)
            return []
