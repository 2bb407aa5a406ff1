"""Catalogs of notes for reviews, made without embedding anything."""

from collections.abc import Collection, Mapping
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

from vault.catalog import CATALOG_FILE, Catalog
from vault.embedding.chunking import chunk_note
from vault.notes.note import parse_note
from vault.records import Records
from vault.review.findings import KINDS, Finding, FindingKind
from vault.review.review import ReviewReport, review_notes
from vault.scan import FileStat

DAY = "2026-03-01"
TODAY = date(2026, 6, 1)


def make_catalog(folder: Path, notes: Mapping[str, str], days: Mapping[str, str]) -> None:
    """Write the catalog of an index.

    Args:
        folder: the folder of the index.
        notes: the text of each note, by its path.
        days: the days on which notes were changed, in ISO 8601 form; others on 1 March 2026.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writable = Catalog(folder / CATALOG_FILE, is_writable=True)
    with closing(writable) as catalog, catalog.transaction():
        for number, (path, text) in enumerate(notes.items()):
            changed = datetime.fromisoformat(days.get(path, DAY)).replace(tzinfo=UTC)
            # Each note is written in another minute, as by hand.
            changed_ns = (round(changed.timestamp()) + 60 * number) * 10**9
            note, document = parse_note(path, text.encode())
            stat = FileStat(changed_ns, len(text), 1, number)
            Records(catalog).put_note(stat, note, chunk_note(note, document))


def review(
    folder: Path,
    notes: Mapping[str, str],
    days: Mapping[str, str] | None = None,
    kinds: Collection[FindingKind] = KINDS,
) -> tuple[Finding, ...]:
    """Return what a review finds in some notes, of some kinds, on 1 June 2026.

    Args:
        folder: where the catalog of the notes is written.
        notes: the text of each note, by its path.
        days: the days on which notes were changed.
        kinds: the kinds of findings to return.
    """
    make_catalog(folder, notes, days or {})
    *_, report = review_notes(folder, folder, today=TODAY)
    assert isinstance(report, ReviewReport)
    return tuple(each for each in report.findings if each.kind in kinds)


def name_paths(findings: tuple[Finding, ...]) -> list[tuple[str, str, str]]:
    """Return the kind and the two paths of each finding."""
    return [(one.kind, one.notes[0].path, one.notes[1].path) for one in findings]
