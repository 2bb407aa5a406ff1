"""Search the notes of a period that a question is about, such as last week.

A question such as "What did I do last week?" has no other subject, so it gets all notes of that
week, sorted by date. "What did I buy last week?" also gets the best passages of that week.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain, zip_longest
from typing import Final

from chains.extractive.period import FindDays, Period, read_period
from vault.notes.dates import remove_dates
from vault.notes.text.markdown_text import list_inner_headings
from vault.search.filter_kinds import write_date_filter
from vault.search.hits import Hit, SearchResult

__all__ = [
    "MOST_PASSAGES_OF_PERIOD",
    "MOST_SEARCHED",
    "FindPassages",
    "PeriodSearch",
    "mix_results",
]

MOST_PASSAGES_OF_PERIOD: Final = 100
# A search by dates alone returns its passages in no certain order, so all of them are needed.
MOST_SEARCHED: Final = 2_000

# Returns the best passages for a query, at most as many as the number says.
FindPassages = Callable[[str, int], SearchResult]


@dataclass(frozen=True)
class PeriodSearch:
    """Searches for a question among all notes, and among the notes of the period it is about.

    Attributes:
        find: searches all notes for a query, which may have filters.
        find_days: returns the dates in the properties of notes.
        today: the date that words such as "yesterday" refer to.
    """

    find: FindPassages
    find_days: FindDays
    today: date

    def search(self, query: str, k: int) -> SearchResult:
        """Return the best passages for a question.

        If it is about a period and other things, the best passages of the period are mixed in.
        """
        found = self.find(query, k)
        period = self._read_period(query)
        if period is None or period.has_no_subject or not found.hits:
            return found
        in_period = f"{remove_dates(query)} {_write_filters(period)}"
        return mix_results([found, self.find(in_period, k)])

    def list_period(self, query: str, most: int) -> SearchResult | None:
        """Return the passages dated within a period, sorted by date.

        If there are more than `most`, passages at the start of their notes are preferred. Return
        None if the question does not ask for everything in a period of at most three months, or if
        no passage is dated within it.
        """
        period = self._read_period(query)
        if period is None or not period.has_no_subject:
            return None
        found = mix_results([self.find(_write_filters(period), MOST_SEARCHED)])
        days = self.find_days({hit.path for hit in found.hits})
        dated = [
            (day, hit.path, hit.lines[0], hit)
            for hit in found.hits
            if (day := _find_day(hit, period, days.get(hit.path, ()))) is not None
        ]
        hits = [hit for *_, hit in sorted(dated, key=lambda each: each[:3])]
        kept = tuple(_keep_first_per_note(hits, most))
        return replace(found, query=query, hits=kept) if kept else None

    def _read_period(self, query: str) -> Period | None:
        period = read_period(query, self.today)
        return period if period is not None and period.is_short else None


def _find_day(hit: Hit, period: Period, property_days: Sequence[str]) -> date | None:
    names = (hit.title, hit.path, *hit.heading, *list_inner_headings(hit.text, hit.structure))
    return period.find_first_day(names, property_days)


def _keep_first_per_note(hits: Sequence[Hit], most: int) -> list[Hit]:
    """Keep up to `most` hits in their order, and prefer those at the start of their notes."""
    counts = Counter[str]()
    places = list[tuple[int, int]]()
    for at, hit in enumerate(hits):
        places.append((counts[hit.path], at))
        counts[hit.path] += 1
    return [hits[at] for at in sorted(at for _, at in sorted(places)[:most])]


def mix_results(results: Sequence[SearchResult]) -> SearchResult:
    """Interleave the hits of several searches, without duplicates.

    Everything else in the result, such as the query and the warnings, is that of the first search.
    """
    by_turns = chain.from_iterable(zip_longest(*(result.hits for result in results)))
    hits: dict[str, Hit] = {}
    for hit in by_turns:
        if hit is not None:
            hits.setdefault(hit.id, hit)
    return replace(results[0], hits=tuple(hits.values()))


def _write_filters(period: Period) -> str:
    return " ".join(f"date:{write_date_filter(span)}" for span in period.spans)
