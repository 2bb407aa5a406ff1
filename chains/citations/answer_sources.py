"""The sources of an answer: one value from the log to the report, the card and the panel."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chains.citations.check import Citation, Unverified
from chains.citations.quotes import VerbatimText
from context.json_codec import Record
from context.layers import Segment, name_place
from vault.notes.kinds import find_page
from vault.notes.text.markup import remove_markup

__all__ = ["Source", "describe_unverified", "list_cited_sources", "list_sources"]

# About two lines of the card.
_FAR_CHARS: Final = 120
_NOT_SENT: Final = "No passage with this number was sent."
_QUOTED: Final = "The quotation is in the passage."
_NOT_QUOTED: Final = "A quotation was not found in {}"
_MATCHED: Final = "Strata found the words of the sentence in the passage."
_NOT_COMPARED: Final = (
    "Not compared: the passage has no quotation, figure, date or name of its sentences."
)
_MOST_FOUND: Final = 6


@dataclass(frozen=True, slots=True)
class Source(Record):
    """What an answer rests on: a note, lines of one, or another text that was sent.

    Attributes:
        title: the title of the note, with the heading of the passage, or words such as "your
            message".
        path: the path of the note or file, or an empty string for other texts.
        lines: the first and last line, counted from 1, inclusive, or None for a whole note.
        number: the citation number in the answer, or None.
        page: the page number, shown in place of the lines, or None if the file has no pages.
        passage: the text of the passage as it was sent to the model.
        cited: the cited lines, which are the beginning of the passage, or an empty string if the
            whole passage is cited.
        is_verified: whether the answer's quotation was found in the passage.
        found: the figures, dates and names of the sentences that cite the source, as far as the
            passage has them.
        is_found: whether Strata assigned the source to a sentence of the answer. Otherwise, the
            model cited the source.
        doubt: why a citation of this source is unverified, or an empty string if all are verified.
        doubted: the quotations that were not found in the source. If there are none although
            `doubt` is set, all citations of the source are unverified.
        claim: the words of the answer that the source supports, such as a quotation, or an empty
            string.
        by_claim: the source once for each of its claims, with the lines of that claim. Empty if
            the source has at most one claim.
    """

    title: str
    path: str = ""
    lines: tuple[int, int] | None = None
    number: int | None = None
    page: int | None = None
    passage: str = ""
    cited: str = ""
    is_verified: bool = False
    is_found: bool = False
    doubt: str = ""
    doubted: tuple[str, ...] = ()
    claim: str = ""
    by_claim: tuple["Source", ...] = ()
    found: tuple[str, ...] = ()

    json_shape = ("title", "path", "lines", "n = number")

    @property
    def place(self) -> str:
        """The path with its lines or page, such as `Home server/Backups.md, lines 12–31`."""
        return name_place(self.path, self.lines, self.page)

    @property
    def shown_lines(self) -> tuple[int, int] | None:
        """The lines to show when the source is opened: those of its first claim, if any."""
        return self.by_claim[0].lines if self.by_claim else self.lines

    @property
    def is_compared(self) -> bool:
        """Whether anything of the answer was found in the passage, and nothing is doubtful."""
        return not self.doubt and (self.is_verified or self.is_found or bool(self.found))

    def describe_check(self) -> str:
        """Return what of the answer was found in the passage, as a sentence."""
        if self.doubt:
            return self.doubt
        if self.is_verified:
            return _QUOTED
        if self.is_found:
            return _MATCHED
        if not self.found:
            return _NOT_COMPARED
        more = ["…"] if len(self.found) > _MOST_FOUND else []
        found_text = ", ".join([*self.found[:_MOST_FOUND], *more])
        return f"In the passage: {found_text}. Nothing else of the sentence was compared."

    def describe(self) -> str:
        """Return the source in words, with its first line, such as "Backups, line 16"."""
        return self.title if self.lines is None else f"{self.title}, line {self.lines[0]:,}"


def list_sources(
    segments: Sequence[Segment],
    citations: Iterable[Citation] = (),
    unverified: Iterable[Unverified] = (),
) -> dict[int, Source]:
    """Return the source of each citation number that can occur in an answer.

    Args:
        segments: the segments of the request, such as attached texts and passages. Only a segment
            with a number can be cited.
        citations: the answer's checked citations. Empty while the answer streams.
        unverified: the citations and quotations that could not be verified. The returned sources
            contain the reasons. A citation number without a segment has a source without a path.
    """
    citing = _group_by_number(citations)
    found = {
        segment.number: _read_claims(segment, citing.get(segment.number, []))
        for segment in segments
        if segment.number is not None
    }
    for claim in unverified:
        if claim.n is not None:
            _doubt(found, claim, claim.n)
    return found


def list_cited_sources(
    citations: Iterable[Citation],
    unverified: Sequence[Unverified],
    segments: Sequence[Segment],
) -> list[Source]:
    """Return a source for each citation number, then one for each unverified citation or quotation.

    A quotation that was not found in its source does not change the source of its citation number.
    """
    known = {segment.number: segment for segment in segments}
    quoted = {(claim.n, claim.quote) for claim in unverified}
    cited = _group_by_number(
        each for each in citations if not (each.is_doubtful and (each.n, each.quote) in quoted)
    )
    sources = [_merge_citations(cited[number], known.get(number)) for number in sorted(cited)]
    return [*sources, *(_read_doubtful(claim, known.get(claim.n)) for claim in unverified)]


def describe_unverified(
    unverified: Iterable[Unverified], sources: Mapping[int, Source]
) -> list[str]:
    """Return one sentence for each unverified citation or quotation.

    Args:
        unverified: the citations and quotations that could not be verified.
        sources: the source of each citation number.
    """
    return [_say_why(claim, sources) for claim in unverified]


def _group_by_number(citations: Iterable[Citation]) -> dict[int, list[Citation]]:
    groups: dict[int, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.n, []).append(citation)
    return groups


def _read_claims(segment: Segment, citations: Sequence[Citation]) -> Source:
    verified = [citation for citation in citations if citation.verified]
    first = next(iter((*verified, *citations)), None)
    source = _read_passage(segment, first)
    if len(verified) < 2:
        return source
    return replace(source, by_claim=tuple(_read_passage(segment, each) for each in verified))


def _read_passage(segment: Segment, citation: Citation | None) -> Source:
    lines = citation.lines if citation is not None and citation.lines else segment.lines
    passage, cited = _start_at(segment, lines)
    passage, cited = _start_at_quote(passage, cited, citation)
    return Source(
        _name_passage(segment.title, segment.source.removesuffix(".md"), segment.heading),
        segment.source,
        lines,
        segment.number,
        find_page(segment.source, segment.heading),
        remove_markup(passage),
        remove_markup(cited),
        is_verified=citation is not None and citation.verified,
        is_found=citation is not None and bool(citation.sentence),
        claim=(citation.sentence or citation.quote or "") if citation is not None else "",
    )


def _merge_citations(citations: Sequence[Citation], segment: Segment | None) -> Source:
    """Return the source of a citation number.

    Args:
        citations: all citations with this number.
        segment: the segment that they cite, or None if it is unknown.
    """
    exact = [citation for citation in citations if citation.quote or citation.sentence]
    first = next(iter(exact or citations))
    is_one_place = len({citation.lines for citation in citations}) == 1
    by_claim = () if segment is None else tuple(_read_passage(segment, each) for each in exact)
    is_doubtful = any(citation.is_doubtful for citation in citations)
    source = Source(
        _name_passage(segment.title if segment else "", first.path, first.heading),
        first.path,
        first.lines if is_one_place or segment is None else segment.lines,
        first.n,
        first.page,
        is_verified=not is_doubtful and any(citation.verified for citation in citations),
        is_found=bool(first.sentence),
        by_claim=() if is_one_place else by_claim,
        found=tuple(dict.fromkeys(fact for citation in citations for fact in citation.found)),
    )
    return replace(source, doubt=_NOT_QUOTED.format(source.place)) if is_doubtful else source


def _read_doubtful(claim: Unverified, segment: Segment | None) -> Source:
    if claim.quote is None:
        title, _, doubt = " ".join(claim.reason.split()).partition(". ")
        return Source(f"{title.rstrip('.')}.", number=claim.n, doubt=doubt or _NOT_SENT)
    title = f"“{claim.quote.strip()}”"
    if segment is None:
        return Source(title, number=claim.n, doubt="Not found in the notes that were sent")
    page = find_page(segment.source, segment.heading)
    source = Source(title, segment.source, segment.lines, claim.n, page)
    return replace(source, doubt=f"Not found in {source.place}")


def _name_passage(title: str, path: str, heading: Sequence[str]) -> str:
    name = title or path.rpartition("/")[2]
    last = heading[-1] if heading else ""
    return f"{name} — {last}" if last and last != name else name


def _start_at(segment: Segment, lines: tuple[int, int] | None) -> tuple[str, str]:
    """Return the text of a segment from its first cited line to its end, and the cited lines.

    If all lines are cited, or the line numbers do not match the text, return the whole text and an
    empty string.

    Args:
        segment: the segment with the cited passage.
        lines: the first and last cited line, or None if the citation names no lines.
    """
    text = segment.raw_content.split("\n")
    if lines is None or segment.lines is None or lines == segment.lines:
        return segment.raw_content, ""
    first, last = (line - segment.lines[0] for line in lines)
    if len(text) != segment.lines[1] - segment.lines[0] + 1 or not 0 <= first <= last < len(text):
        return segment.raw_content, ""
    return "\n".join(text[first:]), "\n".join(text[first : last + 1])


def _start_at_quote(passage: str, cited: str, citation: Citation | None) -> tuple[str, str]:
    """Return the passage and the cited lines, without the text before the quoted sentence.

    The quotation is then visible even if only the first lines are displayed. If it is near the
    start of the cited lines, or there is no quotation, return both texts unchanged.

    Args:
        passage: the passage from its first cited line on.
        cited: the cited lines, or an empty string.
        citation: the citation with its quotation, or None.
    """
    if citation is None or not citation.quote or len(cited) < _FAR_CHARS:
        return passage, cited
    span = VerbatimText(cited).find(citation.quote)
    if span is None or span[0] < _FAR_CHARS:
        return passage, cited
    start = max(cited.rfind(end, 0, span[0]) for end in (". ", "? ", "! ", "\n")) + 1
    start = start if span[0] - start < _FAR_CHARS else span[0]
    return f"… {passage[start:].lstrip()}", f"… {cited[start:].lstrip()}"


def _doubt(found: dict[int, Source], claim: Unverified, number: int) -> None:
    known = found.get(number)
    sentence = _say_why(claim, found)
    if known is None:
        found[number] = Source(f"[{number}]", number=number, doubt=sentence)
    elif claim.quote is not None:
        quotes = (*known.doubted, claim.quote)
        found[number] = replace(known, doubt=known.doubt or sentence, doubted=quotes)
    elif not known.is_verified:
        found[number] = replace(known, doubt=sentence)


def _say_why(claim: Unverified, sources: Mapping[int, Source]) -> str:
    known = sources.get(claim.n) if claim.n is not None else None
    if claim.n is not None and (known is None or not known.path):
        return claim.reason
    if claim.quote is None:
        return claim.reason
    note = known.path.rsplit("/", 1)[-1] if known else "any note"
    return f"“{claim.quote}” is not in {note} as it was sent. Open the note to check."
