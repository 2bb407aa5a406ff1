"""How many of fifty planted faults a review finds in 500 real notes, and how much of it is none.

A pair that is called a contradiction or a duplicate, but was not planted, is printed to be read:
only a reader can say whether it is one. `STRATA_BENCH_NOTES` is another folder of notes, into which
the faults are planted, on a copy.
"""

import os
import shutil
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final

from tests.benchmarks.measure import DataAbsent, Ratio, unpack_vault
from tests.benchmarks.retrieval.planted_faults import TODAY, PlantedFault, plant_faults
from vault.catalog import CATALOG_FILE, Catalog
from vault.embedding.chunking import chunk_note
from vault.errors import ReadingFailed
from vault.notes.note import parse_note
from vault.records import Records
from vault.review.findings import Finding, limit_findings
from vault.review.review import ReviewReport, review_notes
from vault.scan import scan

_SEED: Final = 31
_NOTES: Final = 500
_FOLDER_VARIABLE: Final = "STRATA_BENCH_NOTES"
_JUDGED: Final = ("contradiction", "duplicate")


def run(folder: Path) -> list[Ratio]:
    """Plant the faults, review the notes, and print what was missed and what has to be read."""
    root = _copy_notes(folder)
    faults = plant_faults(root, _SEED)
    findings = review_folder(root, folder / "index")
    missed = [fault for fault in faults if not _is_found(fault, findings)]
    for fault in missed:
        print(f"  missed {fault.kind}: {fault.text} ({', '.join(sorted(fault.paths))})")
    planted = {fault.paths for fault in faults}
    unplanned = [
        each
        for each in findings
        if each.kind in _JUDGED and frozenset(note.path for note in each.notes) not in planted
    ]
    for finding in unplanned:
        print(f"  to read: {finding.kind}, {finding.reason}")
        for note in finding.notes:
            print(f"    {note.path}:{note.first} {note.quote}")
    found = len(faults) - len(missed)
    return [
        Ratio("review: planted faults found", found / len(faults), at_least=0.9),
        Ratio("review: contradictions and duplicates not planted", len(unplanned)),
    ]


def review_folder(root: Path, index: Path) -> tuple[Finding, ...]:
    """Return the findings that a review of a folder shows. Its catalog is written to `index`."""
    index.mkdir()
    with closing(Catalog(index / CATALOG_FILE, is_writable=True)) as catalog, catalog.transaction():
        records = Records(catalog)
        for path, stat in sorted(scan(root).files.items()):
            try:
                note, document = parse_note(path, (root / path).read_bytes())
            except ReadingFailed:
                continue
            records.put_note(stat, note, chunk_note(note, document))
    *_, report = review_notes(root, index, today=TODAY)
    assert isinstance(report, ReviewReport)
    return limit_findings(report.findings)[0]


def _copy_notes(folder: Path) -> Path:
    """Copy 500 real notes, with what they embed, and return their folder."""
    root = folder / "notes"
    if named := os.environ.get(_FOLDER_VARIABLE):
        shutil.copytree(named, root, ignore=shutil.ignore_patterns(".git"))
        return root
    try:
        unpack_vault("tasks-demo", root / "Tasks")
        unpack_vault("eips", folder / "unpacked")
    except DataAbsent:
        shutil.rmtree(root, ignore_errors=True)
        raise
    eips = sorted((folder / "unpacked").rglob("*.md"))
    own = len(list(root.rglob("*.md")))
    (root / "EIPs").mkdir()
    for note in sorted(Random(_SEED).sample(eips, _NOTES - own)):
        shutil.copy2(note, root / "EIPs" / note.name)
    return root


def _is_found(fault: PlantedFault, findings: tuple[Finding, ...]) -> bool:
    return any(
        finding.kind == fault.kind and fault.paths <= {note.path for note in finding.notes}
        for finding in findings
    )
