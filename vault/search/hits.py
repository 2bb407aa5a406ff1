"""Search hits: passages with their scores."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from vault.catalog import Catalog
from vault.coverage import find_gap, name_count
from vault.quotes.sections import Support
from vault.search.passages import Passage, PassageText

NO_NOTES: Final = (
    "there are no notes to search in this folder. Add notes to it, or choose another folder. "
    "Files that are excluded or cannot be read are listed in the index."
)
WORDS, MEANING = "words", "meaning"
SIGNALS = ("dense", "words", "title", "links", "tags", "dates", "rerank")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(PassageText):
    """A passage that matches a query. Its text may be cut or widened.

    Attributes:
        id: identifies the passage by its path, first line and text.
        signals: the score for each signal (dense, words, title, links, tags, dates, rerank), or
            None if the signal was not used. Boosts are from 0 to 1.
        base: the folder of the project, if `path` is an absolute path in it, or an empty string.
        is_kept: whether this is a passage of a page or transcript that a project keeps, and of no
            note. `version` is then that of the text, and not of a file.
    """

    id: str
    score: float
    signals: Mapping[str, float | None]
    base: str = ""
    is_kept: bool = False

    json_shape = (
        "id",
        "path",
        "title",
        "heading",
        "lines",
        "text",
        "score",
        "signals",
    )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a query, best first.

    Attributes:
        seconds: the duration of the search.
        filters: the query's filters with their values.
        warnings: sentences about parts of the search that failed.
        total: the number of matching notes or tasks in a listing, or None for a search.
        next: the offset of a listing's next page, or None.
        searched: the number of notes that a listing searched, or None for a search.
        is_whole: whether the word index covers all notes, so that a listing is complete.
        is_partial: whether no note or task contains all words of the query, so that a listing
            contains those with the most words instead.
        support: how well the hits support an answer made of quotations, from `measure_support`, or
            None if this was not measured.
        unit: what a listing counts, such as "note" or "open task".
        filter: the filters and words of a listing, as a sentence says them.
        order: how a listing is sorted if the query asks for that, such as "most urgent first".
        literal: the number of notes that contain the words of a listing as written. The others
            contain other forms of them. None if the listing has no words, or is of tasks.
        has_notes: whether there are notes to search. This is only checked if nothing was found.
        by: the ways of searching that were really used: `words`, `meaning`, or both. A search by
            filters alone used neither.
        missing_phrases: the phrases of the query that no passage contains.
    """

    query: str
    hits: tuple[Hit, ...]
    seconds: float
    filters: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    total: int | None = None
    next: int | None = None
    searched: int | None = None
    is_whole: bool = True
    is_partial: bool = False
    support: Support | None = None
    unit: str = "note"
    filter: str = ""
    order: str = ""
    literal: int | None = None
    has_notes: bool = True
    by: tuple[str, ...] = ()
    scheduled: int = 0
    missing_phrases: tuple[str, ...] = ()

    json_shape = (
        "query",
        "filters",
        "hits",
        "total unless null",
        "next if is_listed",
        "searched if is_listed",
        "by",
        "seconds to 4 digits",
        "warnings if warnings",
    )

    @property
    def is_listed(self) -> bool:
        """Whether all matches were counted, of which the hits are a page."""
        return self.total is not None

    @property
    def misses_meaning(self) -> bool:
        """Whether notes were searched by words, but could not be searched by meaning."""
        return self.by == (WORDS,) and self.total is None

    def explain_no_hits(self) -> str:
        """Return one or two sentences that explain why nothing was found."""
        if not self.has_notes:
            return NO_NOTES[0].upper() + NO_NOTES[1:]
        filters = [
            f"{name}:{value}"
            for name, values in self.filters.items()
            for value in (values if isinstance(values, list) else [values])
        ]
        if not filters or "phrase" in self.filters:
            return f'Nothing found for "{self.query}". Try fewer words.'
        noun = "filter" if len(filters) == 1 else "filters"
        return f"No {self.unit} matches the {noun} {' '.join(filters)}."

    def describe_total(self) -> str:
        """Return a sentence that says what a listing found, and how many notes it searched."""
        total, searched = self.total or 0, self.searched
        if self.is_partial:
            verb = "holds" if total == 1 else "hold"
            text = f"No {self.unit} holds all of the words, and {total:,} {verb} the most"
        else:
            text = self._count_matches(total)
        text += f", {self.order}" if self.order and total > 1 else ""
        if searched is None:
            return f"{text}."
        text += self._describe_searched(searched)
        if not self.scheduled:
            return text
        verb = "other is" if self.scheduled == 1 else "others are"
        return f"{text} {self.scheduled:,} {verb} scheduled for that time, but not due."

    def _describe_searched(self, searched: int) -> str:
        notes = name_count(searched, "note")
        if not self.is_whole:
            return f"; searched the {notes} indexed so far."
        return f"; searched {'all ' if searched > 1 else ''}{notes}."

    def _count_matches(self, total: int) -> str:
        """Return how many notes match which filter."""
        if not self.filter:
            named = name_count(total, self.unit) if total else f"No {self.unit}"
            return f"{named} {'match' if total > 1 else 'matches'}"
        exact = total if self.literal is None else self.literal
        text = f"{name_count(exact, self.unit) if exact else f'No {self.unit}'} {self.filter}"
        if exact == total:
            return text
        close = total - exact
        more = " more" if exact else ""
        return f"{text}; {close:,}{more} {'is' if close == 1 else 'are'} close"


def build_hit(passage: Passage, score: float, signals: Mapping[str, float | None]) -> Hit:
    """Build a hit from a passage.

    Args:
        score: the score of the hit, from 0 to 1.
        signals: the scores from which `score` was computed, keyed by name. A signal that is missing
            or None was not used.
    """
    used = {name: round(value, 4) for name, value in signals.items() if value is not None}
    return Hit(
        id=compute_hit_id(passage.path, passage.lines[0], passage.text_hash),
        path=passage.path,
        title=passage.title,
        heading=passage.heading,
        lines=passage.lines,
        text=passage.text,
        score=round(score, 4),
        signals={name: used.get(name) for name in SIGNALS},
        version=passage.version,
        structure=passage.structure,
    )


def compute_hit_id(path: str, first_line: int, text_hash: bytes) -> str:
    """Compute the id of a hit.

    Args:
        path: the path of the note.
        first_line: the first line of the passage, counted from 1.
        text_hash: the hash of the passage's embedded text.
    """
    name = f"{path}\0{first_line}\0".encode()
    return hashlib.sha256(name + text_hash).hexdigest()[:16]


def warn_if_unfinished(
    result: SearchResult, catalog: Catalog, behind: str, *, by_meaning: bool = True
) -> SearchResult:
    """Add a warning if the index does not cover the current state of all notes.

    If the index is unfinished, the warning gives its coverage. Otherwise the warning is `behind`.

    Args:
        result: the result of a search or listing.
        catalog: the catalog of the index.
        behind: a warning that the latest changes are not indexed yet, or an empty string.
        by_meaning: whether the search was also a semantic search.
    """
    gap = find_gap(catalog)
    covered = "" if gap is None else gap.sentence if by_meaning else gap.words_sentence
    warning = covered or behind
    return replace(result, warnings=(*result.warnings, warning)) if warning else result
