"""Attachments that take more than their share: searched within themselves.

What fits is sent whole, the smaller first. Of the rest the passages are sent that fit the question
best, until the share is used.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Protocol

from chains.retrieval import passages
from context.layers import Segment, render_segments
from context.shrinking import shortened
from context.tokens import TokenCounter
from vault.hits import Hit

__all__ = ["Narrowed", "Shares", "TooLarge", "WithinPort", "excerpted", "narrowed", "too_large"]

MOST_HITS: Final = 200
MOST_NAMED: Final = 2  # attachments that are told of one by one
REMEMBERED: Final = 64  # attachments that are not counted again while a message is written
ROUGHLY: Final = 64  # tokens

# Tokens that attachments may take together, and passages of them among these.
Shares = tuple[int, int]


class WithinPort(Protocol):
    """Finds passages within attachments."""

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Return the best `k` passages, best first."""


@dataclass(frozen=True)
class Narrowed:
    """What is sent of what was attached.

    Attributes:
        segments: numbered from 1.
        warnings: what is not sent whole.
    """

    segments: tuple[Segment, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class TooLarge:
    """The attachments that exceed their share.

    Attributes:
        room: the tokens that what is sent whole leaves for them together.
        sizes: what each attachment counts, by its id.
    """

    segments: tuple[Segment, ...]
    room: int
    sizes: Mapping[str, int]


def too_large(attached: Sequence[Segment], shares: Shares, counter: TokenCounter) -> TooLarge:
    """Return what exceeds an equal part of what the smaller ones leave; no selection does."""
    sizes = {part.id: _size(part, counter) for part in attached}
    found = _too_large(attached, sizes, shares[0])
    whole = sum(sizes[part.id] for part in attached if part not in found)
    return TooLarge(found, shares[0] - whole, sizes)


def narrowed(
    attached: Sequence[Segment],
    question: str,
    shares: Shares,
    counter: TokenCounter,
    within: WithinPort,
) -> Narrowed:
    """Return attachments within their share; where no passage fits the question, as they are.

    Selections are never cut; what is too large after all is left to the guard.

    Args:
        attached: in full.
        question: what their passages are to fit.
        shares: what they may take.
        counter: counts them.
        within: finds passages of those that are too large.
    """
    large = too_large(attached, shares, counter)
    if not large.segments:
        return Narrowed(tuple(attached))
    whole = [part for part in attached if part not in large.segments]
    found = within.search_within(large.segments, question, MOST_HITS)
    chosen = passages(_fitting(found, min(large.room, shares[1]), counter))
    if not chosen:
        return Narrowed(tuple(attached))
    numbered = tuple(replace(part, number=n) for n, part in enumerate((*whole, *chosen), start=1))
    return Narrowed(numbered, tuple(_tellings(large, found, chosen)))


def excerpted(
    attached: Sequence[Segment], shares: Shares, counter: TokenCounter
) -> tuple[Segment, ...]:
    """Return attachments about as large as they will be, before anything is looked up in them."""
    large = too_large(attached, shares, counter)
    each = min(large.room, shares[1]) // max(1, len(large.segments))
    steps = each // ROUGHLY * ROUGHLY  # so that a word more in the question changes nothing
    short = {part.id: _shortened(part, steps, counter) or part for part in large.segments}
    return tuple(
        replace(short[part.id], whole_tokens=large.sizes[part.id]) if part.id in short else part
        for part in attached
    )


@lru_cache(maxsize=REMEMBERED)
def _shortened(part: Segment, tokens: int, counter: TokenCounter) -> Segment | None:
    return shortened(part, tokens, counter)


@lru_cache(maxsize=REMEMBERED)
def _size(part: Segment, counter: TokenCounter) -> int:
    """Count an attachment with its source, whose number may still grow; each is counted once."""
    return counter.count(render_segments([replace(part, number=MOST_HITS)]))


def _too_large(
    attached: Sequence[Segment], sizes: Mapping[str, int], share: int
) -> tuple[Segment, ...]:
    room = share - sum(sizes[part.id] for part in attached if part.kind == "selection")
    others = [part for part in attached if part.kind != "selection"]
    for taken, part in enumerate(smallest := sorted(others, key=lambda part: sizes[part.id])):
        if sizes[part.id] > room / (len(smallest) - taken):
            rest = {id(part) for part in smallest[taken:]}
            return tuple(part for part in others if id(part) in rest)
        room -= sizes[part.id]
    return ()


def _fitting(found: Sequence[Hit], room: int, counter: TokenCounter) -> list[Hit]:
    """Return the best hits, each that there is room for beside those before it.

    They are counted one by one: those that touch become one passage, which counts no more.
    """
    chosen = []
    for hit in found:
        (passage,) = passages([hit])
        size = _size(passage, counter)
        if size <= room:
            room -= size
            chosen.append(hit)
    return chosen


def _tellings(large: TooLarge, found: Sequence[Hit], chosen: Sequence[Segment]) -> Iterator[str]:
    """Say what is not sent whole: of each thing by itself, of many in one sentence."""
    used = Counter(passage.source for passage in chosen)
    sizes = [large.sizes[part.id] for part in large.segments]
    if len(sizes) <= MOST_NAMED:
        known = {hit.path for hit in found}
        for part, tokens in zip(large.segments, sizes, strict=True):
            yield (
                f"{part.source} is too large to be sent whole (about {tokens:,} tokens): "
                f"{_used(used[part.source], part.source in known)} sent."
            )
        return
    of_all = len(used) == len(sizes)
    rest = "" if of_all else f", nothing of the other {len(sizes) - len(used):,}"
    yield (
        f"{len(sizes):,} of the attached notes are too large together to be sent whole (about "
        f"{sum(sizes):,} tokens): {len(chosen):,} passages of {len(used):,} of them were sent"
        f"{rest}."
    )


def _used(passages: int, is_known: bool) -> str:
    if passages > 1:
        return f"{passages} of its passages were"
    if passages == 1:
        return "one of its passages was"
    if is_known:
        return "there was no room for any of its passages, so nothing of it was"
    return "none of its passages fits the question, so nothing of it was"
