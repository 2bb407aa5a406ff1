"""Collect the sources of an answer by citation number."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from chains.citations.check import Citation, Unverified
from chains.citations.quotes import VerbatimText
from context.layers import Segment
from ui.markdown.page.card import Source
from vault.notes.kinds import find_page
from vault.notes.text.markup import remove_markup

__all__ = ["describe_unverified", "list_sources"]

# About two lines of the card.
_FAR_CHARS = 120


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
    citing: dict[int, list[Citation]] = {}
    for citation in citations:
        citing.setdefault(citation.n, []).append(citation)
    found = {
        segment.number: _source_of_claims(segment, citing.get(segment.number, []))
        for segment in segments
        if segment.number is not None
    }
    for claim in unverified:
        if claim.n is not None:
            _doubt(found, claim, claim.n)
    return found


def describe_unverified(unverified: Iterable[Unverified], sources: dict[int, Source]) -> list[str]:
    """Return one sentence for each unverified citation or quotation.

    Args:
        unverified: the citations and quotations that could not be verified.
        sources: the source of each citation number.
    """
    return [_sentence(claim, sources) for claim in unverified]


def _source_of_claims(segment: Segment, citations: Sequence[Citation]) -> Source:
    verified = [citation for citation in citations if citation.verified]
    first = next(iter((*verified, *citations)), None)
    source = _source(segment, first)
    if len(verified) < 2:
        return source
    return replace(source, by_claim=tuple(_source(segment, each) for each in verified))


def _source(segment: Segment, citation: Citation | None) -> Source:
    is_verified = citation is not None and citation.verified
    lines = citation.lines if citation is not None and citation.lines else segment.lines
    passage, cited = _start_at(segment, lines)
    passage, cited = _start_at_quote(passage, cited, citation)
    return Source(
        segment.number or 0,
        _title(segment),
        segment.source,
        lines,
        remove_markup(passage),
        is_verified,
        page=find_page(segment.source, segment.heading),
        cited=remove_markup(cited),
        is_found=citation is not None and bool(citation.sentence),
        claim=(citation.sentence or citation.quote or "") if citation is not None else "",
    )


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


def _title(segment: Segment) -> str:
    name = segment.title or segment.source.rsplit("/", 1)[-1].removesuffix(".md")
    last = segment.heading[-1] if segment.heading else ""
    return f"{name} — {last}" if last and last != name else name


def _doubt(found: dict[int, Source], claim: Unverified, number: int) -> None:
    known = found.get(number)
    sentence = _sentence(claim, found)
    if known is None:
        found[number] = Source(number, f"[{number}]", "", None, "", doubt=sentence)
    elif claim.quote is not None:
        quotes = (*known.doubted, claim.quote)
        found[number] = replace(known, doubt=known.doubt or sentence, doubted=quotes)
    elif not known.is_verified:
        found[number] = replace(known, doubt=sentence)


def _sentence(claim: Unverified, sources: dict[int, Source]) -> str:
    known = sources.get(claim.n) if claim.n is not None else None
    if claim.n is not None and (known is None or not known.path):
        return claim.reason
    if claim.quote is None:
        return claim.reason
    note = known.path.rsplit("/", 1)[-1] if known else "any note"
    return f"“{claim.quote}” is not in {note} as it was sent. Open the note to check."
