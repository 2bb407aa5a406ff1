"""Build the pages of a complete list of the notes that match a query.

Each page starts with the number of matching notes and the number of searched notes.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import Any, Final

from chains.retrieval.listing_query import LISTED, ListQuery
from context.layers import Layer, Segment
from context.tokens import TokenCounter, count_segment
from vault.search.hits import Hit, SearchResult

__all__ = ["ListPage", "build_page", "build_told_page", "find_property_line"]

# A value in a list below the name of its property.
_VALUE_BELOW: Final = re.compile(r"\s*-\s")


@dataclass(frozen=True)
class ListPage:
    """One page of a note list.

    Attributes:
        segments: a summary, then a numbered line for each note.
        stored_fields: extra fields to store in the log with the segments, so that the next turn can
            continue the list.
        summary: a sentence about the page for the user.
    """

    segments: tuple[Segment, ...]
    stored_fields: Mapping[str, Any]
    summary: str


def build_page(
    result: SearchResult,
    listed: ListQuery,
    attached: Sequence[Segment],
    most_tokens: int,
    counter: TokenCounter,
) -> ListPage:
    """Build a page with as many notes as fit into `most_tokens` below its summary."""
    total = result.total or 0
    first = 1 + max((segment.number or 0 for segment in attached), default=0)
    lines = [_line(hit, number) for number, hit in enumerate(result.hits, start=first)]
    sizes = (count_segment(line, counter) for line in lines)
    ends = accumulate(sizes, initial=0)  # the tokens of no line, of one line, of two…
    fitting = list(takewhile(lambda tokens: tokens <= most_tokens, ends))
    shown = max(len(fitting) - 1, 0)
    head = _head(listed, shown, result)
    while shown and fitting[shown] + count_segment(head, counter) > most_tokens:
        shown -= 1
        head = _head(listed, shown, result)
    end = listed.offset + shown
    stored_fields = {"query": listed.query, "next": end if end < total else None, "total": total}
    return ListPage((head, *lines[:shown]), {LISTED: stored_fields}, head.raw_content)


def find_property_line(hits: Sequence[Hit], name: str) -> Hit | None:
    """Return the line of a note that holds a property, with the values below it, or None.

    Args:
        hits: the passages of the note.
        name: the name of the property in lower case.
    """
    start = re.compile(rf"[^\w\n]{{0,40}}{re.escape(name)}[^\w\n:]{{0,10}}:{{1,2}}", re.IGNORECASE)
    for hit in hits:
        lines = hit.text.split("\n")
        for at, line in enumerate(lines):
            if start.match(line):
                end = at + 1
                while end < len(lines) and _VALUE_BELOW.match(lines[end]):
                    end += 1
                first = hit.lines[0] + at
                text = "\n".join(lines[at:end])
                return replace(hit, text=text, lines=(first, first + end - at - 1))
    return None


def build_told_page(text: str, hits: Sequence[Hit], attached: Sequence[Segment]) -> ListPage:
    """Build the page that tells the values of properties, or what they sum up to.

    Args:
        text: the sentence above the lines.
        hits: the lines that hold the values.
        attached: the segments that are attached already, which have numbers.
    """
    from chains.extractive.model import VALUE_SOURCE  # as in `chains.request.open_turn`

    first = 1 + max((segment.number or 0 for segment in attached), default=0)
    lines = [_line(hit, number) for number, hit in enumerate(hits, start=first)]
    return ListPage((_segment(VALUE_SOURCE, text), *lines), {}, text)


def _head(listed: ListQuery, shown: int, result: SearchResult) -> Segment:
    from chains.extractive.model import LIST_SOURCE  # as in `chains.request.open_turn`
    from chains.extractive.writer import escape_markdown

    total, text = result.total or 0, result.describe_total()
    if not shown and total > listed.offset:
        text += " There is no room to list them beside what is attached. Attach less."
    elif shown < total:
        last = listed.offset + shown
        text += f" {listed.offset + 1:,} to {last:,} are listed here."
        text += " Ask for more to see the next." if last < total else " These are the last."
    if listed.left_out:
        text += f" Only the first question was read, not “{escape_markdown(listed.left_out)}”."
    return replace(_segment(LIST_SOURCE, text), title=listed.query)


def _line(hit: Hit, number: int) -> Segment:
    line = _segment(hit.path, hit.text)
    made = replace(line, lines=hit.lines, version=hit.version, title=hit.title, number=number)
    return made.name_below(hit.base) if hit.base else made


def _segment(source: str, text: str) -> Segment:
    id = hashlib.sha256(f"list\n{source}\n{text}".encode("utf-8", "replace")).hexdigest()[:12]
    return Segment.build(id=id, layer=Layer.L3, kind="passage", source=source, text=text)
