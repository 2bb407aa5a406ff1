"""Attachments that take more than their share: searched within themselves.

What fits is sent whole, the smaller first. Of the rest the passages are sent that fit the question
best, until the share is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from chains.retrieval import passages
from context.layers import Segment, render_segments
from context.tokens import TokenCounter
from vault.hits import Hit

__all__ = ["Narrowed", "WithinPort", "narrowed"]

MOST_HITS: Final = 200


class WithinPort(Protocol):
    """Finds passages within attachments."""

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Return the best `k` passages, best first."""


@dataclass(frozen=True)
class Narrowed:
    """What is sent of what was attached.

    Attributes:
        segments: numbered from 1.
        warnings: one sentence for each attachment that is not sent whole.
    """

    segments: tuple[Segment, ...]
    warnings: tuple[str, ...] = ()


def narrowed(
    attached: Sequence[Segment],
    question: str,
    shares: tuple[int, int],
    counter: TokenCounter,
    within: WithinPort,
) -> Narrowed:
    """Return attachments within their share; where no passage fits the question, as they are.

    Selections are never cut; what is too large after all is left to the guard.

    Args:
        attached: in full.
        question: what their passages are to fit.
        shares: tokens that they may take together, and passages of them among these.
        counter: counts them.
        within: finds passages of those that are too large.
    """
    sizes = {part.id: _size(part, counter) for part in attached}
    share, passages_share = shares
    too_large = _too_large(attached, sizes, share)
    if not too_large:
        return Narrowed(tuple(attached))
    whole = [part for part in attached if part not in too_large]
    room = share - sum(sizes[part.id] for part in whole)
    found = passages(within.search_within(too_large, question, MOST_HITS))
    chosen = _fitting(found, min(room, passages_share), counter)
    if not chosen:
        return Narrowed(tuple(attached))
    numbered = tuple(replace(part, number=n) for n, part in enumerate((*whole, *chosen), start=1))
    return Narrowed(numbered, tuple(_told(part, sizes[part.id], chosen) for part in too_large))


def _size(part: Segment, counter: TokenCounter) -> int:
    """Count an attachment with its source, whose number may still grow."""
    return counter.count(render_segments([replace(part, number=MOST_HITS)]))


def _too_large(
    attached: Sequence[Segment], sizes: dict[str, int], share: int
) -> tuple[Segment, ...]:
    """Return what exceeds an equal part of what the smaller ones leave."""
    room = share - sum(sizes[part.id] for part in attached if part.kind == "selection")
    others = [part for part in attached if part.kind != "selection"]
    for taken, part in enumerate(smallest := sorted(others, key=lambda part: sizes[part.id])):
        if sizes[part.id] > room / (len(smallest) - taken):
            rest = {id(part) for part in smallest[taken:]}
            return tuple(part for part in others if id(part) in rest)
        room -= sizes[part.id]
    return ()


def _fitting(found: Sequence[Segment], room: int, counter: TokenCounter) -> tuple[Segment, ...]:
    """Return the best passages, as many as there is room for."""
    chosen = []
    for passage in found:
        room -= _size(passage, counter)
        if room < 0:
            break
        chosen.append(passage)
    return tuple(chosen)


def _told(part: Segment, tokens: int, chosen: Sequence[Segment]) -> str:
    own = sum(1 for passage in chosen if passage.source == part.source)
    used = f"{own} of its passages were" if own > 1 else "one of its passages was"
    if not own:
        used = "none of its passages fits the question, so nothing of it was"
    return f"{part.source} is too large to be sent whole (about {tokens:,} tokens): {used} sent."
