"""Check the notes of an index by all rules of the review."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from vault.catalog import CATALOG_FILE, Catalog
from vault.errors import IndexUnusable
from vault.exclude.obsidian import read_settings
from vault.records import Records
from vault.review.contradictions import ContradictionRule
from vault.review.duplicates import DuplicateRule, SameTitleRule
from vault.review.faults import ConflictRule, FrontMatterRule
from vault.review.findings import Check, Finding, choose_findings
from vault.review.links import BrokenLinkRule, OrphanRule, find_linked_pairs, read_links
from vault.review.neglect import DraftRule, OverdueRule, read_drafts
from vault.review.outdated import OutdatedRule
from vault.review.texts import (
    NoteInfo,
    NoteLine,
    Vocabulary,
    list_singulars,
    read_lines,
    read_notes,
)

__all__ = ["ReviewProgress", "ReviewReport", "read_fingerprint", "review_notes"]

_NOTES_PER_PROGRESS: Final = 20
_ADDRESS: Final = re.compile(r"https?://\S+")
_RULES_VERSION: Final = 5  # increased when a rule changes, so that all notes are compared again
NOT_INDEXED: Final = "These notes are not indexed yet, so they cannot be compared."


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """The progress of a review.

    Attributes:
        notes: the number of notes read so far.
        total: the number of all notes.
        is_comparing: whether all notes have been read and are now being compared.
    """

    notes: int
    total: int
    is_comparing: bool = False


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """The result of a review.

    Attributes:
        findings: the findings, the most important first.
        notes: the number of notes that were compared.
        fingerprint: identifies the state of the notes, as returned by `read_fingerprint`.
    """

    findings: tuple[Finding, ...]
    notes: int
    fingerprint: str = ""


def read_fingerprint(index_dir: Path, today: date) -> str:
    """Return a string that identifies the current state of all notes in an index, and the day.

    Raises:
        IndexUnusable: there is no index yet, or it cannot be read.
    """
    with _open_catalog(index_dir) as catalog:
        return _compute_fingerprint(read_notes(catalog), today)


def count_notes(index_dir: Path, covers: Callable[[str], bool]) -> int:
    """Return how many of the notes that a review compares are covered, given their paths.

    Raises:
        IndexUnusable: there is no index yet, or it cannot be read.
    """
    with _open_catalog(index_dir) as catalog:
        return sum(covers(note.path) for note in read_notes(catalog))


def review_notes(
    root: Path, index_dir: Path, check: Check = lambda: None, today: date | None = None
) -> Iterator[ReviewProgress | ReviewReport]:
    """Check the indexed notes by all rules. Yield the progress and finally the report.

    The review reads the index through a separate connection, so the index can be updated meanwhile.

    Args:
        root: the folder of notes.
        index_dir: the folder of the index.
        check: called between steps. It may pause, and can raise an exception to end the review.
        today: the day from which on tasks are overdue and drafts old, or None for the current day.

    Raises:
        IndexUnusable: there is no index yet, or it cannot be read.
    """
    today = today or date.today()
    with _open_catalog(index_dir) as catalog:
        notes = read_notes(catalog)
        rules = _Rules(catalog, root, today)
        for number, (note, lines) in enumerate(read_lines(catalog, notes, check), start=1):
            rules.add(note, lines)
            if number % _NOTES_PER_PROGRESS == 0:
                yield ReviewProgress(number, len(notes))
    yield ReviewProgress(len(notes), len(notes), is_comparing=True)
    fingerprint = _compute_fingerprint(notes, today)
    yield ReviewReport(choose_findings(rules.find(check)), len(notes), fingerprint)


@contextmanager
def _open_catalog(index_dir: Path) -> Iterator[Catalog]:
    if not (index_dir / CATALOG_FILE).exists():
        raise IndexUnusable(NOT_INDEXED)
    with closing(Catalog(index_dir / CATALOG_FILE, is_writable=False)) as catalog:
        if catalog.is_new:
            raise IndexUnusable(NOT_INDEXED)
        yield catalog


def _compute_fingerprint(notes: Sequence[NoteInfo], today: date) -> str:
    states = "\n".join(f"{note.path}\0{note.changed_ns}\0{note.version}" for note in notes)
    whole = f"{_RULES_VERSION}\n{today}\n{states}"
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


class _Rules:
    """The rules of the review. They share one vocabulary of the words of all notes."""

    def __init__(self, catalog: Catalog, root: Path, today: date) -> None:
        records, attachments = Records(catalog), read_settings(root).attachment_folder
        links = read_links(catalog, records.resolve_links(attachments))
        self._vocabulary = Vocabulary()
        self._duplicates = DuplicateRule()
        self._contradictions = ContradictionRule(find_linked_pairs(links))
        # These look at one note after the other, and at the links between them.
        self._others = (
            ConflictRule(),
            FrontMatterRule(dict(records.list_faults())),
            BrokenLinkRule(root, links, attachments),
            SameTitleRule(),
            OverdueRule(today),
            OutdatedRule(links),
            DraftRule(read_drafts(catalog), today),
            OrphanRule(links),
        )

    def add(self, note: NoteInfo, lines: list[NoteLine]) -> None:
        """Add a note to the comparison of each rule."""
        words = [
            word for line in lines if line.kind != "front" for word in list_singulars(line.text)
        ]
        numbers = self._vocabulary.add_note(words)
        urls = " ".join(url for line in lines for url in _ADDRESS.findall(line.raw))
        title, addresses = map(self._vocabulary.number_words, (note.title, urls))
        self._duplicates.add(note, numbers, title, addresses)
        self._contradictions.add(note, lines)
        for rule in self._others:
            rule.add(note, lines)

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield the findings of all rules of the review.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        yield from self._contradictions.find(self._vocabulary, check)
        yield from self._duplicates.find(check)
        for rule in self._others:
            yield from rule.find(check)
