"""Read the period that a question is about, such as last week, and find dates within it."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from chains.extractive.words import list_subject_words, split_words
from context.layers import Segment
from vault.notes.date_spans import Span, build_day_span, is_in_ranges
from vault.notes.dates import find_date_spans, remove_dates
from vault.notes.name_days import find_name_spans, find_path_spans
from vault.notes.text.markdown_text import list_inner_headings
from vault.questions.words import has_negation

__all__ = ["FindDays", "Period", "list_days", "list_sources_in_period", "read_period"]

# Returns the dates in the properties of notes as ISO 8601 strings, by path.
FindDays = Callable[[Collection[str]], Mapping[str, Sequence[str]]]

# The suffix of a file name, but not the end of a date such as "5.3.2024" or "5. March 2024".
_SUFFIX: Final = re.compile(r"\.[^\W\d_]\w{0,9}$")

# The longest period, about three months, whose notes alone are searched and quoted.
MOST_DAYS: Final = 92
# Verbs and nouns that a question for everything in a period may contain, besides function words.
_DOING_WORDS: Final = """
    add added been change changed day days diary did doing done ecrit entries entry escribi fait
    gemacht geschrieben getan go goes going habe haben happen happened happening happens hast hice
    journal learn learned learnt log note noted notes on passe passiert passierte paso record
    recorded up went work worked working write writes writing written wrote
"""
_DOING: Final = frozenset(_DOING_WORDS.split())


@dataclass(frozen=True)
class Period:
    """The period that a question is about, such as last week.

    Attributes:
        spans: the ranges of days that the question names.
        words: the words of the question that name these ranges.
        has_no_subject: whether the question names nothing but the period, and so asks for
            everything in it.
    """

    spans: tuple[Span, ...]
    words: frozenset[str]
    has_no_subject: bool

    @property
    def is_short(self) -> bool:
        """Whether each range of days is so short that only notes dated in it are quoted."""
        return all((after - first).days <= MOST_DAYS for first, after in self.spans)

    def covers(self, days: Iterable[Span]) -> bool:
        """Return whether any of the dates lies in the period."""
        return any(is_in_ranges(span, self.spans) for span in days)

    def covers_names(self, names: Iterable[str]) -> bool:
        """Return whether a name of a note, its path, or a heading has a date in the period."""
        return self.covers(list_days(names))

    def find_first_day(self, names: Iterable[str], property_days: Iterable[str]) -> date | None:
        """Return the first date of a passage that lies in the period, or None if there is none.

        Args:
            names: the names of the note, its path, and the headings above the passage.
            property_days: the dates in the properties of the note as ISO 8601. They count if the
                names contain no date.
        """
        days = list_days(names) or {
            build_day_span(date.fromisoformat(day)) for day in property_days
        }
        return min((span[0] for span in days if self.covers([span])), default=None)


def read_period(text: str, today: date) -> Period | None:
    """Read the period that a question is about, or return None if it names no date.

    A question that says "not" is about the other days, or about none in particular.

    Args:
        text: the question.
        today: the date that words such as "yesterday" refer to.
    """
    spans = find_date_spans(text, today)
    if not spans or has_negation(text):
        return None
    words = split_words(text) - split_words(remove_dates(text))
    return Period(spans, words, has_no_subject=not list_subject_words(text) - words - _DOING)


def list_days(names: Iterable[str]) -> frozenset[Span]:
    """Return the dates in names of a note, in its path and in headings, as ranges of days.

    Of a path, the name of the file counts, and else its folders, such as `2026/11/19.md`.
    """
    return frozenset(span for name in names for span in _find_spans(name))


@lru_cache(maxsize=4096)
def _find_spans(name: str) -> tuple[Span, ...]:
    is_path = _SUFFIX.search(name) is not None
    return find_path_spans(name) if is_path else find_name_spans(name)


def list_sources_in_period(
    period: Period, sources: Sequence[Segment], days: Mapping[str, Sequence[str]]
) -> list[Segment]:
    """Return the sources whose notes are dated within a period, sorted by date.

    Args:
        period: the period that the question is about.
        sources: the sources that may be quoted.
        days: the dates in the properties of notes as ISO 8601, by path.
    """
    dated: list[tuple[date, str, int, Segment]] = []
    for source in sources:
        inner = list_inner_headings(source.raw_content, source.structure)
        names = (source.title, source.source, *source.heading, *inner)
        day = period.find_first_day(names, days.get(source.source, ()))
        if day is not None:
            dated.append((day, source.source, source.lines[0] if source.lines else 0, source))
    return [source for *_, source in sorted(dated, key=lambda each: each[:3])]
