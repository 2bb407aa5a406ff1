"""Check the citations and quotations of an answer against the sources that were sent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from chains.citations.map_notes import QuotedNotes
from chains.citations.parser import Claim, parse_answer
from chains.citations.quotes import VerbatimText, count_words, normalize_text, read_source_text
from context.json_codec import Record
from context.layers import Segment
from vault.notes.kinds import find_page, note_name

__all__ = ["Citation", "CitationReport", "Unverified", "check_citations"]

MAX_QUOTATIONS: Final = 500
SHORTEST_UNNUMBERED_WORDS: Final = 3
_NO_SOURCE: Final = "[{n}] has no source."
_FROM_PROJECT: Final = (
    "[{n}] is not the number of a passage. The project's text was sent too, without numbers."
)


@dataclass(frozen=True)
class Citation(Record):
    """A citation in the answer, and the lines of the source that it cites.

    Attributes:
        lines: the lines of the quotation if it was found, otherwise of the whole passage.
        quote: the quotation that is cited, or None.
        verified: whether the passage that was sent contains the quotation.
        sentence: the sentence for which Strata found the source, or an empty string if the citation
            is in the answer itself.
        found_by: whether the model cited the source, or Strata found it.
        found: for a citation without a quotation, the figures, dates and names of its sentences
            that the passage has.
    """

    n: int
    path: str
    heading: tuple[str, ...]
    lines: tuple[int, int] | None
    quote: str | None
    verified: bool
    sentence: str = ""
    found_by: Literal["model", "strata"] = "model"
    found: tuple[str, ...] = ()

    json_shape = (
        "n",
        "path",
        "heading",
        "lines",
        "page",
        "quote",
        "verified",
        "found_by",
        "sentence if sentence",
        "found if found",
    )

    @property
    def is_doubtful(self) -> bool:
        """Whether the quotation was not found in the source."""
        return self.quote is not None and not self.verified

    @property
    def page(self) -> int | None:
        """The cited page, or None if the file has no pages."""
        return find_page(self.path, self.heading)


@dataclass(frozen=True)
class Unverified(Record):
    """A citation number without a source, or a quotation that the sources do not contain.

    Attributes:
        n: the citation number, or None for a quotation without a number.
        quote: the quotation, or None for a number without a source.
    """

    n: int | None
    quote: str | None
    reason: str


@dataclass(frozen=True)
class CitationReport:
    """The checked citations of an answer, and the numbers and quotations without a source.

    Attributes:
        sentences: for an answer without citations, the number of sentences for which Strata
            searched for a source, otherwise 0.
    """

    citations: tuple[Citation, ...] = ()
    unverified: tuple[Unverified, ...] = ()
    sentences: int = 0

    @property
    def sourced(self) -> dict[str, int]:
        """The number of sentences, and how many of them have a source."""
        return {"sentences": self.sentences, "with_source": len(self.citations)}


def check_citations(
    answer: str, sources: Sequence[Segment], question: str = "", *, has_project_text: bool = False
) -> CitationReport:
    """Match the citations of an answer with their sources, and verify its quotations.

    Args:
        sources: the passages that were sent, each with a number.
        question: the user message and the notes that are used as instructions. Words quoted
            from them need no source.
        has_project_text: whether the text of project notes was sent, which has no numbers.
    """
    reading = parse_answer(answer)
    checked = _Checker(sources, question, _FROM_PROJECT if has_project_text else _NO_SOURCE)
    found = [(group.start, checked.numbers(group.numbers)) for group in reading.numbers]
    found += [(claim.start, checked.claim(claim)) for claim in reading.claims[:MAX_QUOTATIONS]]
    found.sort(key=lambda item: item[0])
    report = _merge_reports([part for _, part in found])
    if len(reading.claims) > MAX_QUOTATIONS:
        reason = f"Only the first {MAX_QUOTATIONS} quotations were checked."
        report = replace(report, unverified=(*report.unverified, Unverified(None, None, reason)))
    return report


class _Source:
    """A source passage as it was sent, which can be searched for quotations.

    The text is parsed on first use, because most passages are never quoted. All answers of a chat
    are checked when the chat is opened, so parsing every passage would be slow.
    """

    def __init__(self, segment: Segment) -> None:
        self.segment = segment

    @cached_property
    def _text(self) -> VerbatimText:
        return VerbatimText(self.segment.raw_content)

    @cached_property
    def _notes(self) -> QuotedNotes:
        return QuotedNotes.parse(self.segment.raw_content)

    @property
    def names(self) -> Iterator[str]:
        segment = self.segment
        names = (segment.title, note_name(segment.source), *segment.heading)
        return (normalize_text(name) for name in names)

    @property
    def is_image(self) -> bool:
        return self.segment.kind == "image"

    def find(self, quote: str) -> "_Place | None":
        """Locate a quotation, or return None if it is not found.

        If the source consists of a model's reading notes, only the words that these notes quote are
        searched.
        """
        heading, lines = self.segment.heading, self.segment.lines
        if self.segment.derived:
            noted = self._notes.find(quote)
            return None if noted is None else _Place(heading, noted)
        span = self._text.find(quote)
        if span is None:
            return None
        heading = read_source_text(self.segment).find_headings(
            self._text.text.count("\n", 0, span[0])
        )
        return _Place(heading, self._text.find_lines(span, lines[0]) if lines else None)

    def citation(self, quote: str | None, place: "_Place | None" = None) -> Citation:
        segment = self.segment
        shown = place or _Place(segment.heading, segment.lines)
        verified, n = place is not None, segment.number or 0
        return Citation(n, segment.source, shown.heading, shown.lines, quote, verified)


@dataclass(frozen=True)
class _Place:
    """The position of a quotation in a source: the headings above it and its line numbers."""

    heading: tuple[str, ...]
    lines: tuple[int, int] | None


class _Checker:
    """Checks the citations and quotations of one answer."""

    def __init__(self, sources: Sequence[Segment], question: str, no_source: str) -> None:
        self._no_source = no_source
        self._sources = {s.number: _Source(s) for s in sources if s.number is not None}
        self._question = question

    @cached_property
    def _unnumbered(self) -> VerbatimText:
        return VerbatimText(self._question)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for source in self._sources.values() for name in source.names)

    def numbers(self, numbers: Sequence[int]) -> CitationReport:
        """Check the citation numbers that are not paired with a quotation.

        Returns:
            A report with a citation for each number that has a source, and an unverified citation
            for each number that has none.
        """
        known = [self._sources[n].citation(None) for n in numbers if n in self._sources]
        unknown = [self._miss(n, None) for n in numbers if n not in self._sources]
        return CitationReport(tuple(known), tuple(unknown))

    def claim(self, claim: Claim) -> CitationReport:
        quote = claim.quote
        if normalize_text(quote) in self._names or not normalize_text(quote):
            return CitationReport()
        for numbers in claim.numbers:
            found = [(n, self._sources[n].find(quote)) for n in numbers if n in self._sources]
            verified = [self._sources[n].citation(quote, place) for n, place in found if place]
            if verified:
                return CitationReport(tuple(verified))
        if self._unnumbered.find(quote) is not None:
            return CitationReport()
        return self._check_unnumbered(quote) if not claim.numbers else self._check_wrong(claim)

    def _check_unnumbered(self, quote: str) -> CitationReport:
        if (
            not self._sources
            or any(source.is_image for source in self._sources.values())
            or count_words(quote) < SHORTEST_UNNUMBERED_WORDS
            or self._find_source(quote)
        ):
            return CitationReport()
        return CitationReport((), (Unverified(None, quote, "Not in any of the sources."),))

    def _check_wrong(self, claim: Claim) -> CitationReport:
        numbers, quote = claim.numbers[0], claim.quote
        sources = [self._sources[n] for n in numbers if n in self._sources]
        if not sources:
            return CitationReport((), (self._miss(numbers[0], quote),))
        note = sources[0].segment.title or sources[0].segment.source
        reason = f"Not in {note} as it was sent."
        if elsewhere := self._find_source(quote):
            reason += f" It is in [{elsewhere}]."
        n = sources[0].segment.number
        if any(source.is_image for source in sources):
            return CitationReport(tuple(source.citation(None) for source in sources))
        citations = tuple(source.citation(quote) for source in sources)
        return CitationReport(citations, (Unverified(n, quote, reason),))

    def _miss(self, n: int, quote: str | None) -> Unverified:
        """Return the unverified citation for a number that no passage has."""
        return Unverified(n, quote, self._no_source.format(n=n))

    def _find_source(self, quote: str) -> int | None:
        return next((n for n, source in self._sources.items() if source.find(quote)), None)


def _merge_reports(parts: Sequence[CitationReport]) -> CitationReport:
    citations = dict.fromkeys(citation for part in parts for citation in part.citations)
    unverified = dict.fromkeys(claim for part in parts for claim in part.unverified)
    quoted = {citation.n for citation in citations if citation.quote is not None}
    disputed = {claim.n for claim in unverified if claim.quote is not None}
    return CitationReport(
        tuple(c for c in citations if c.quote is not None or c.n not in quoted),
        tuple(u for u in unverified if u.quote is not None or u.n not in disputed),
    )
