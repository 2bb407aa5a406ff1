"""Compare the notes of an index by all rules of the review."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vault.catalog import CATALOG_FILE, Catalog
from vault.errors import IndexUnusable
from vault.exclude.obsidian import read_settings
from vault.records import Records
from vault.review.contradictions import ContradictionRule
from vault.review.duplicates import DuplicateRule
from vault.review.faults import ConflictRule, FrontMatterRule
from vault.review.findings import Check, Finding, choose_findings
from vault.review.outdated import OutdatedRule, read_links
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
_RULES_VERSION: Final = 4  # increased when a rule changes, so that all notes are compared again
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


def read_fingerprint(index_dir: Path) -> str:
    """Return a string that identifies the current state of all notes in an index.

    Raises:
        IndexUnusable: there is no index yet, or it cannot be read.
    """
    with _open_catalog(index_dir) as catalog:
        return _compute_fingerprint(read_notes(catalog))


def review_notes(
    root: Path, index_dir: Path, check: Check = lambda: None
) -> Iterator[ReviewProgress | ReviewReport]:
    """Compare the indexed notes with each other. Yield the progress and finally the report.

    The review reads the index through a separate connection, so the index can be updated meanwhile.

    Args:
        root: the folder of notes.
        index_dir: the folder of the index.
        check: called between steps. It may pause, and can raise an exception to end the review.

    Raises:
        IndexUnusable: there is no index yet, or it cannot be read.
    """
    with _open_catalog(index_dir) as catalog:
        records = Records(catalog)
        resolver = records.resolve_links(read_settings(root).attachment_folder)
        links = read_links(catalog, resolver)
        notes = read_notes(catalog)
        rules = _Rules(OutdatedRule(links), FrontMatterRule(dict(records.list_faults())))
        rules.contradictions.linked = {frozenset((link.source, link.target)) for link in links}
        for number, (note, lines) in enumerate(read_lines(catalog, notes, check), start=1):
            rules.add(note, lines)
            if number % _NOTES_PER_PROGRESS == 0:
                yield ReviewProgress(number, len(notes))
    yield ReviewProgress(len(notes), len(notes), is_comparing=True)
    fingerprint = _compute_fingerprint(notes)
    yield ReviewReport(choose_findings(rules.find(check)), len(notes), fingerprint)


@contextmanager
def _open_catalog(index_dir: Path) -> Iterator[Catalog]:
    if not (index_dir / CATALOG_FILE).exists():
        raise IndexUnusable(NOT_INDEXED)
    with closing(Catalog(index_dir / CATALOG_FILE, is_writable=False)) as catalog:
        if catalog.is_new:
            raise IndexUnusable(NOT_INDEXED)
        yield catalog


def _compute_fingerprint(notes: Sequence[NoteInfo]) -> str:
    states = "\n".join(f"{note.path}\0{note.changed_ns}\0{note.version}" for note in notes)
    whole = f"{_RULES_VERSION}\n{states}"
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


class _Rules:
    """The rules of the review. They share one vocabulary of the words of all notes."""

    def __init__(self, outdated: OutdatedRule, front_matter: FrontMatterRule) -> None:
        self.vocabulary = Vocabulary()
        self.duplicates = DuplicateRule()
        self.conflicts = ConflictRule()
        self.contradictions = ContradictionRule()
        self.front_matter = front_matter
        self.outdated = outdated

    def add(self, note: NoteInfo, lines: list[NoteLine]) -> None:
        """Add a note to the comparison of each rule."""
        words = [
            word for line in lines if line.kind != "front" for word in list_singulars(line.text)
        ]
        self.duplicates.add(note, self.vocabulary.add_note(words))
        self.conflicts.add(note, lines)
        self.contradictions.add(note, lines)
        self.front_matter.add(note, lines)
        self.outdated.add(note, lines)

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield the findings of all rules of the review.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        yield from self.conflicts.find(check)
        yield from self.contradictions.find(self.vocabulary, check)
        yield from self.front_matter.find(check)
        yield from self.duplicates.find(check)
        yield from self.outdated.find(check)
