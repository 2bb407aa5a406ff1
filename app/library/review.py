"""Review a vault: find notes that need attention, and remember dismissed findings.

Dismissed findings are stored outside of the index, because the index can be deleted at any time. If
their file is lost or damaged, these findings are shown again. A damaged file is put aside before
another takes its place, and one that cannot be read is not replaced.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from app.errors import NotFound, storage_errors
from app.paths import Paths
from chains.cancel import CancelToken
from context.fixes import Command, Fix
from context.json_codec import Record
from resources.system.files import (
    lock_folder,
    make_private_folder,
    put_aside,
    read_file,
    remove_leftovers,
    write_atomically,
)
from vault.paths import name_on_disk, printable
from vault.review.findings import (
    MOST_FINDINGS,
    Check,
    Finding,
    FindingFilter,
    FindingNote,
    limit_findings,
)
from vault.review.review import (
    ReviewProgress,
    ReviewReport,
    count_notes,
    read_fingerprint,
    review_notes,
)
from vault.vault import Vault

__all__ = ["EVERYTHING", "NoteReview", "ReviewResult", "find_finding", "review_with"]

_log = logging.getLogger(__name__)
_REST_S: Final = 0.0003  # after each step, so that the window stays responsive
# It is kept in the index folder, because it can be derived from the index.
_REPORT_FILE: Final = "review.json"
_STEP_S: Final = 0.02
_LONGEST_REST_S: Final = 1.0
_LOOK_S: Final = 0.2
_MOST_DISMISSED: Final = 10_000
EVERYTHING: Final = FindingFilter()


@dataclass(frozen=True)
class ReviewResult(Record):
    """The result of a review.

    Attributes:
        findings: the findings that the user has not dismissed, most important first. Of each kind,
            only the first ones are contained.
        dismissed: the findings that the user has dismissed.
        notes: the number of notes that were compared, of those in the folder or project alone.
        totals: how many findings of each kind there are that were not dismissed.
    """

    findings: tuple[Finding, ...]
    dismissed: tuple[Finding, ...]
    notes: int
    totals: Mapping[str, int] = field(default_factory=dict)

    json_shape = (
        "findings",
        "dismissed",
        "notes",
        "totals",
        "limit",
    )

    @property
    def limit(self) -> int:
        """The most findings of each kind that are contained."""
        return MOST_FINDINGS

    @property
    def left_out(self) -> int:
        """The number of findings beyond the limit of their kinds."""
        return sum(self.totals.values()) - len(self.findings)


@dataclass(frozen=True)
class _Dismissed:
    """The content of a file of dismissed findings.

    Attributes:
        keys: the keys of the findings, the last dismissed one at the end.
        is_damaged: whether the file could not be read as a whole.
    """

    keys: tuple[str, ...] = ()
    is_damaged: bool = False


class _BackgroundPace:
    """Pauses a background review regularly, because no user is waiting for it."""

    def __init__(self, is_in_use: Callable[[], bool], cancel: CancelToken) -> None:
        self._is_in_use, self._cancel = is_in_use, cancel
        self._rested_at = time.monotonic()

    def wait(self) -> None:
        """Pause for as long as the review has run since the last pause, up to a limit.

        If the index is then being updated or searched, the pause lasts until it is idle.

        Raises:
            Cancelled: the review was cancelled.
        """
        worked_s = time.monotonic() - self._rested_at
        if worked_s < _STEP_S:
            return
        self._cancel.wait(min(worked_s, _LONGEST_REST_S))
        while self._is_in_use() and not self._cancel.is_cancelled:
            self._cancel.wait(_LOOK_S)
        self._cancel.raise_if_cancelled()
        self._rested_at = time.monotonic()


class NoteReview:
    """Reviews the notes of a vault, or of the part of it that a project limits. Thread-safe."""

    def __init__(
        self, find_vault: Callable[[], Vault], paths: Paths, is_in_use: Callable[[], bool]
    ) -> None:
        """Create a review. No notes are read yet.

        Args:
            find_vault: returns the vault, which may be limited to a scope.
            paths: the folders and files of Strata itself, including that of dismissed findings.
            is_in_use: returns whether the index is being updated or searched.
        """
        self._find_vault, self._paths, self._is_in_use = find_vault, paths, is_in_use
        self._lock = threading.Lock()

    def find(
        self,
        cancel: CancelToken,
        which: FindingFilter = EVERYTHING,
        *,
        is_background: bool = False,
    ) -> Iterator[ReviewProgress | ReviewResult]:
        """Find the notes that need attention, and yield the progress, then the result.

        If no note has changed since the last review, its result is yielded at once.

        Args:
            cancel: cancels the review.
            which: what limits the findings, such as to those in a project.
            is_background: whether to use at most half of a processor, and to wait while the index
                is updated or searched.

        Raises:
            Cancelled: the review was cancelled.
            VaultNotChosen: no vault is open.
            VaultError: the notes are not indexed yet, or the index cannot be read.
        """
        vault = self._find_vault()
        wait_for_user = _BackgroundPace(self._is_in_use, cancel).wait if is_background else None

        def rest() -> None:
            cancel.raise_if_cancelled()
            time.sleep(_REST_S)
            if wait_for_user is not None:
                wait_for_user()

        for item in self._review(vault, rest):
            cancel.raise_if_cancelled()
            yield self._divide(vault, item, which) if isinstance(item, ReviewReport) else item

    def dismiss(self, finding: Finding) -> None:
        """Hide a finding in later reviews, unless its details change.

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

    def name_folder(self, named: str) -> str:
        """Return the path in the vault of a folder, or an empty string for the vault's own folder.

        Args:
            named: the path, from the vault's folder on or absolute, as a user may write it.

        Raises:
            VaultNotChosen: no vault is open.
            NotFound: the vault has no such folder.
        """
        root = self._find_vault().root
        if not named:
            return ""
        inside = named if Path(named).is_relative_to(root) else root / named.strip("/")
        folder = Path(os.path.abspath(inside))
        if not (folder.is_relative_to(root) and folder.is_dir()):
            raise NotFound(
                f"There is no folder “{printable(named)}” in {root}.",
                hint="Give its path from the folder of notes on.",
            )
        path = folder.relative_to(root).as_posix()
        return "" if path == "." else name_on_disk(root, path)

    def _review(self, vault: Vault, rest: Check) -> Iterator[ReviewProgress | ReviewReport]:
        """Yield the stored report if the notes are unchanged. Otherwise, review the notes.

        Args:
            rest: called between two notes, to pause or cancel the review.
        """
        folder = vault.index_dir
        today = date.today()
        stored = _read_report(folder, read_fingerprint(folder, today))
        if stored is not None:
            yield stored
            return
        for item in review_notes(vault.root, folder, rest, today):
            if isinstance(item, ReviewReport):
                _write_report(folder, item)
            yield item

    def _divide(self, vault: Vault, report: ReviewReport, which: FindingFilter) -> ReviewResult:
        keys = self._read_keys(vault)
        covers = vault.scope.covers
        inside = (one for one in report.findings if all(covers(note.path) for note in one.notes))
        found = [one for one in inside if which.fits(one)]
        dismissed = tuple(one for one in found if one.key in keys)
        offered, totals = limit_findings(one for one in found if one.key not in keys)
        notes = report.notes
        if which.folder or not vault.scope.is_whole:
            notes = count_notes(vault.index_dir, lambda path: covers(path) and which.covers(path))
        return ReviewResult(offered, dismissed, notes, totals)

    def _change(self, change: Callable[[Sequence[str]], Sequence[str]]) -> None:
        vault = self._find_vault()
        file = self._name_file(vault.index_dir)
        with self._lock, storage_errors(file):
            make_private_folder(file.parent)
            with lock_folder(file.parent):
                remove_leftovers(file.parent, frozenset([file.name]))
                stored = _read_dismissed(self._name_file(vault.index_dir))
                keys = list(change(stored.keys))[-_MOST_DISMISSED:]
                if stored.is_damaged:
                    put_aside(file)
                write_atomically(file, json.dumps({"dismissed": keys}, indent=2).encode())

    def _name_file(self, index_dir: Path) -> Path:
        return self._paths.reviews / f"{index_dir.name}.json"

    def _read_keys(self, vault: Vault) -> frozenset[str]:
        """Return the keys of the dismissed findings, or none if they cannot be read."""
        try:
            return frozenset(_read_dismissed(self._name_file(vault.index_dir)).keys)
        except OSError as error:
            _log.warning("The dismissed findings cannot be read: %s", error)
            return frozenset()


def _read_dismissed(file: Path) -> _Dismissed:
    """Read a file of dismissed findings, which need not exist.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        found = json.loads(read_file(file))["dismissed"]
    except FileNotFoundError:
        return _Dismissed()
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        _log.warning("The dismissed findings in %s cannot be read: %s", file, error)
        return _Dismissed(is_damaged=True)
    entries = found if isinstance(found, list) else [found]
    keys = tuple(key for key in entries if isinstance(key, str)) if entries is found else ()
    return _Dismissed(keys, is_damaged=keys != tuple(entries))


def review_with(
    review: NoteReview,
    cancel: CancelToken,
    which: FindingFilter = EVERYTHING,
    dismiss: str | None = None,
    restore: str | None = None,
) -> ReviewResult:
    """Review a vault, after a finding was dismissed or restored.

    Args:
        review: reviews the vault.
        cancel: cancels the review.
        which: what limits the findings. Its folder is named as a user writes it.
        dismiss: the key of a finding to hide from now on, or None.
        restore: the key of a dismissed finding to show again, or None.

    Raises:
        NotFound: there is no such finding, or no such folder.
        VaultNotChosen: no vault is open.
        VaultError: the notes are not indexed yet, or the index cannot be read.
    """
    which = replace(which, folder=review.name_folder(which.folder))
    result = _read_result(review, cancel, which)
    if dismiss is None and restore is None:
        return result
    if dismiss is not None:
        review.dismiss(_find_finding(result.findings, dismiss))
    if restore is not None:
        review.restore([_find_finding(result.dismissed, restore)])
    return _read_result(review, cancel, which)


def find_finding(review: NoteReview, cancel: CancelToken, key: str) -> Finding:
    """Return a finding of a review by its key, also if it was dismissed.

    Raises:
        NotFound: there is no such finding.
        VaultNotChosen: no vault is open.
        VaultError: the notes are not indexed yet, or the index cannot be read.
    """
    result = _read_result(review, cancel, EVERYTHING)
    return _find_finding((*result.findings, *result.dismissed), key)


def _read_result(review: NoteReview, cancel: CancelToken, which: FindingFilter) -> ReviewResult:
    *_, result = review.find(cancel, which)
    assert isinstance(result, ReviewResult)
    return result


def _find_finding(findings: Sequence[Finding], key: str) -> Finding:
    found = next((finding for finding in findings if finding.key == key), None)
    if found is None:
        raise NotFound(
            f"There is no finding {key}.", hint=Fix("{} lists the keys.", Command("review --json"))
        )
    return found


def _read_report(index_dir: Path, fingerprint: str) -> ReviewReport | None:
    """Return the stored review report, or None if it is damaged or the notes have changed.

    Args:
        index_dir: the folder of the index.
        fingerprint: identifies the current state of the notes.
    """
    try:
        stored = json.loads((index_dir / _REPORT_FILE).read_bytes())
        if stored["fingerprint"] != fingerprint:
            return None
        findings = tuple(_build_finding(one) for one in stored["findings"])
        return ReviewReport(findings, int(stored["notes"]), fingerprint)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        _log.warning("The stored review in %s cannot be read: %s", index_dir, error)
        return None


def _write_report(index_dir: Path, report: ReviewReport) -> None:
    """Store a review report, so that the next review need not compare all notes again.

    A failure is ignored.
    """
    try:
        write_atomically(index_dir / _REPORT_FILE, json.dumps(asdict(report)).encode())
    except OSError as error:
        _log.warning("The review cannot be stored in %s: %s", index_dir, error)


def _build_finding(stored: Mapping[str, Any]) -> Finding:
    notes = tuple(FindingNote(**note) for note in stored["notes"])
    return Finding(**{**stored, "notes": notes})
