"""The number of notes that keyword search and semantic search can find.

An update first reads all notes for the keyword search, and then computes their vectors for the
semantic search. Until the update is complete, a search may find only some of the notes.
"""

from dataclasses import dataclass

from vault.catalog import UNFINISHED, VECTORLESS, Catalog

__all__ = ["Coverage", "find_gap", "name_count", "read_coverage"]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of notes that keyword search and semantic search can find.

    Attributes:
        notes: the number of notes in the folder when it was last listed.
        by_words: the number of notes that keyword search can find.
        by_meaning: the number of notes that semantic search can find, because all their passages
            have a vector.
    """

    notes: int
    by_words: int
    by_meaning: int

    @property
    def is_complete(self) -> bool:
        """Whether keyword search and semantic search can find every note."""
        return self.by_meaning >= self.notes

    @property
    def sentence(self) -> str:
        """A sentence that says how many notes semantic search and keyword search can find."""
        words = "all" if self.by_words >= self.notes else f"{self.by_words:,}"
        by_meaning = f"{self.by_meaning:,} of {name_count(self.notes, 'note')} searched by meaning"
        return f"{by_meaning}, {words} by words."

    @property
    def advice(self) -> str:
        """A text with the coverage and the command that indexes the remaining notes."""
        return f"{self.sentence.removesuffix('.')}; `strata index` does the rest"

    @property
    def words_sentence(self) -> str:
        """A sentence that says how many notes keyword search can find.

        This is an empty string if it can find all notes.
        """
        if self.by_words >= self.notes:
            return ""
        return f"{self.by_words:,} of {name_count(self.notes, 'note')} searched by words."


def find_gap(catalog: Catalog) -> Coverage | None:
    """Return the coverage of an incomplete index, or None if the index is complete.

    Notes are counted only if the last update is still running or was stopped, so that the check is
    fast in all other cases.

    Raises:
        IndexUnusable: the catalog cannot be read.
    """
    if not catalog.meta(UNFINISHED) and not catalog.meta(VECTORLESS):
        return None
    coverage = read_coverage(catalog)
    return None if coverage.is_complete else coverage


def read_coverage(catalog: Catalog) -> Coverage:
    """Count the notes that keyword search and semantic search can find.

    Raises:
        IndexUnusable: the catalog cannot be read.
    """
    expected = catalog.meta(UNFINISHED) or ""
    by_words, vectorless = catalog.rows(
        "SELECT (SELECT count(*) FROM notes), (SELECT count(DISTINCT file_id) FROM chunks"
        " WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.hash = chunks.hash))"
    )[0]
    notes = max(int(expected) if expected.isdecimal() else 0, by_words)
    return Coverage(notes, by_words, by_words - vectorless)


def name_count(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 note` or `1,250 notes`."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
