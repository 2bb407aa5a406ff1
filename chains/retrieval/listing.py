"""Build the pages of a complete list of the notes that match a query.

Each page starts with the number of matching notes and the number of searched notes.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chains.retrieval.listing_query import LISTED, ListQuery
from context.layers import Layer, Segment
from context.tokens import TokenCounter, count_segment
from vault.search.hits import Hit, SearchResult

__all__ = ["ListPage", "build_page"]


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
    """Build a page with as many notes as fit into `most_tokens`.

    If any notes match, the page lists at least one.
    """
    total = result.total or 0
    first = 1 + max((segment.number or 0 for segment in attached), default=0)
    lines = [_line(hit, number) for number, hit in enumerate(result.hits, start=first)]
    head = _head(listed, len(lines), result)
    left = most_tokens - count_segment(head, counter)
    shown: list[Segment] = []
    for line in lines:
        left -= count_segment(line, counter)
        if left < 0 and shown:
            break
        shown.append(line)
    end = listed.offset + len(shown)
    head = _head(listed, len(shown), result)
    stored_fields = {"query": listed.query, "next": end if end < total else None, "total": total}
    return ListPage((head, *shown), {LISTED: stored_fields}, head.raw_content)


def _head(listed: ListQuery, shown: int, result: SearchResult) -> Segment:
    from chains.extractive.model import LIST_SOURCE  # as in `TurnContext.open_model`

    total, text = result.total or 0, result.describe_total()
    if shown < total:
        last = listed.offset + shown
        text += f" {listed.offset + 1:,} to {last:,} are listed here."
        text += " Ask for more to see the next." if last < total else " These are the last."
    return replace(_segment(LIST_SOURCE, text), title=listed.query)


def _line(hit: Hit, number: int) -> Segment:
    line = _segment(hit.path, hit.text)
    made = replace(line, lines=hit.lines, version=hit.version, title=hit.title, number=number)
    return made.name_below(hit.base) if hit.base else made


def _segment(source: str, text: str) -> Segment:
    id = hashlib.sha256(f"list\n{source}\n{text}".encode("utf-8", "replace")).hexdigest()[:12]
    return Segment.build(id=id, layer=Layer.L3, kind="passage", source=source, text=text)
