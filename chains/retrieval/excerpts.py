"""Choose excerpts of attachments that are too large.

Smaller attachments are sent in full. Of the others, only the passages that best match the user
message are sent, with at least one per attachment if possible.
"""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Final

from chains.retrieval.passages import build_passages
from context.layers import Segment, name_lines, render_segments
from context.tokens import TokenCounter, count_segment_image
from vault.notes.note import SourceText
from vault.search.adhoc import search_texts
from vault.search.hits import Hit
from vault.vault import Vault

__all__ = [
    "AttachmentBudget",
    "FittedSegments",
    "LargeAttachments",
    "choose_excerpts",
    "drop_repeats",
    "estimate_excerpts",
    "find_large_attachments",
]

LARGEST_NUMBER: Final = 999  # used to count sources whose own number is not known yet
REMEMBERED: Final = 64  # attachments whose token counts are cached while a message is written
ROUGHLY: Final = 64  # tokens
ATTEMPTS: Final = 4
SMALL_PASSAGE: Final = 24  # in tokens; few passages are smaller
ROUNDS: Final = 4  # merged passages take fewer tokens, which further passages can use


@dataclass(frozen=True)
class AttachmentBudget:
    """The tokens available for a turn's attachments.

    Attributes:
        share: the usual limit for notes and files. Excerpts are sent if they exceed it.
        most: the limit for selections and images. They cannot be shortened, so they may use all
            tokens that the request has left.
    """

    share: int
    most: int

    def beside(self, selected: int) -> int:
        """Return the tokens available for notes and files in addition to selections and images.

        Args:
            selected: the token count of the selections and images.
        """
        return max(self.share - selected, min(self.share, (self.most - selected) // 2))


@dataclass(frozen=True)
class FittedSegments:
    """The attachment segments to send.

    Attributes:
        segments: the segments, numbered from 1. A segment is an excerpt if its `whole_tokens`, the
            token count of the whole attachment, is set.
        unsent: the attachments that are not sent at all, because nothing of them fits.
    """

    segments: tuple[Segment, ...]
    unsent: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class LargeAttachments:
    """Attachments that exceed their share of the budget.

    Attributes:
        segments: the large attachments.
        tokens_left: the tokens available for the large attachments.
        sizes: the token count of each attachment, keyed by id.
    """

    segments: tuple[Segment, ...]
    tokens_left: int
    sizes: Mapping[str, int]


def find_large_attachments(
    attached: Sequence[Segment], budget: AttachmentBudget, counter: TokenCounter
) -> LargeAttachments:
    """Find the notes and files that exceed an equal share of the available tokens.

    Selections and images are never shortened, so they are not included.
    """
    sizes = {part.id: _measure_once(part, counter) for part in attached}
    selected = sum(sizes[part.id] for part in attached if part.is_whole)
    left = budget.beside(selected)
    found = _find_large(attached, sizes, left)
    whole = sum(sizes[part.id] for part in attached if part not in found) - selected
    return LargeAttachments(found, left - whole, sizes)


def choose_excerpts(
    attached: Sequence[Segment],
    question: str,
    budget: AttachmentBudget,
    counter: TokenCounter,
    vault: Vault | None,
) -> FittedSegments:
    """Fit attachments into their budget, using excerpts of large ones.

    Selections and images are never shortened. Those that do not fit are omitted.

    Args:
        attached: the attachments in full.
        question: the query for the excerpts.
        budget: the tokens available for attachments.
        counter: the token counter.
        vault: the vault, whose vectors are used to search in large attachments, or None.
    """
    attached, too_large = _drop_too_large(attached, budget, counter)
    large = find_large_attachments(attached, budget, counter)
    if not large.segments:
        return FittedSegments(_number(attached) if too_large else tuple(attached), too_large)
    whole = [part for part in attached if part not in large.segments]
    wanted = max(0, large.tokens_left) // SMALL_PASSAGE + len(large.segments)
    found = _search(large.segments, question, wanted, vault)
    lines = {part.source: part.raw_content.split("\n") for part in large.segments}
    hits = [
        _add_blank_lines(hit, lines[hit.path])
        for hit in found
        if not any(_contains_hit(part, hit) for part in whole)
    ]
    chosen = build_passages(_choose_hits(hits, max(0, large.tokens_left), counter))
    sizes = {part.source: large.sizes[part.id] for part in large.segments}
    excerpts = [_build_excerpt(part, sizes[part.source]) for part in chosen]
    used = {part.source for part in excerpts}
    unsent = tuple(part for part in large.segments if part.source not in used)
    return FittedSegments(_number((*whole, *excerpts)), (*too_large, *unsent))


def _search(
    segments: Sequence[Segment], question: str, k: int, vault: Vault | None
) -> Sequence[Hit]:
    search = search_texts if vault is None else vault.search_texts
    return search(read_texts(segments), question, k)


def read_texts(segments: Sequence[Segment]) -> list[SourceText]:
    """Convert attachments to searchable texts."""
    return [SourceText(s.source, s.title, s.raw_content, s.version or "") for s in segments]


def _number(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    return tuple(replace(part, number=number) for number, part in enumerate(segments, start=1))


def _drop_too_large(
    attached: Sequence[Segment], budget: AttachmentBudget, counter: TokenCounter
) -> tuple[Sequence[Segment], tuple[Segment, ...]]:
    """Omit selections and images that do not fit, largest first."""
    sizes = {part.id: _measure_once(part, counter) for part in attached if part.is_whole}
    gone: set[str] = set()
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if sum(sizes.values()) - sum(sizes[other] for other in gone) > budget.most:
            gone.add(name)
    kept = [part for part in attached if part.id not in gone]
    return kept, tuple(part for part in attached if part.id in gone)


def drop_repeats(
    attached: Sequence[Segment], budget: AttachmentBudget, counter: TokenCounter
) -> tuple[tuple[Segment, ...], tuple[str, ...]]:
    """Drop empty and repeated attachments, and return a warning for each of them.

    A selection is repeated if a larger selection contains it, or if its whole note is attached and
    fits.
    """
    large = {part.id for part in find_large_attachments(attached, budget, counter).segments}
    holders = [part for part in attached if part.id not in large]
    kept, warnings = [], []
    for part in attached:
        holder = next((other for other in holders if _is_repeat(part, other)), None)
        if not part.content.strip():
            warnings.append(
                f"{_name_attachment(part)} is empty, so there is nothing of it to send."
            )
        elif holder is not None:
            named, verb = _name_lines(part)
            of = f"{named.capitalize()} of {part.shown_source}"
            warnings.append(f"{of} {verb} sent once: {_name_holder(holder)}.")
        else:
            kept.append(part)
    return _number(kept), tuple(warnings)


def _is_repeat(part: Segment, holder: Segment) -> bool:
    if part is holder or part.kind != "selection" or part.source != holder.source:
        return False
    if holder.kind != "selection":
        return True
    inner, outer = part.lines or (0, 0), holder.lines or (0, 0)
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _name_holder(holder: Segment) -> str:
    if holder.kind != "selection":
        return "the whole note is attached too"
    return f"{' '.join(_name_lines(holder))} attached too"


def _name_attachment(part: Segment) -> str:
    if part.kind != "selection":
        return part.shown_source
    return f"The selection of {part.shown_source} ({_name_lines(part)[0]})"


def _name_lines(part: Segment) -> tuple[str, str]:
    """Return the line numbers of a selection as text, and the verb that agrees: "is" or "are"."""
    lines = part.lines or (1, 1)
    return name_lines(lines), "is" if lines[0] == lines[1] else "are"


def estimate_excerpts(
    attached: Sequence[Segment], budget: AttachmentBudget, counter: TokenCounter
) -> FittedSegments:
    """Estimate the size of the attachments as they will be sent, without searching in them."""
    attached, too_large = _drop_too_large(attached, budget, counter)
    large = find_large_attachments(attached, budget, counter)
    each = max(0, large.tokens_left) // max(1, len(large.segments))
    steps = each // ROUGHLY * ROUGHLY  # so that one more word in the question does not change it
    short = {part.id: _cut_to_beginning(part, steps, counter) for part in large.segments}
    parts = (
        replace(short[part.id], whole_tokens=large.sizes[part.id]) if part.id in short else part
        for part in attached
    )
    return FittedSegments(tuple(parts), too_large)


@lru_cache(maxsize=REMEMBERED)
def _cut_to_beginning(part: Segment, tokens: int, counter: TokenCounter) -> Segment:
    """Shorten an attachment to about its first `tokens` tokens."""
    text = part.raw_content
    chars = len(text) * tokens // max(1, _measure_once(part, counter))
    for _ in range(ATTEMPTS):
        cut = replace(part, content=html.escape(text[:chars], quote=False), lines=None)
        over = _measure(cut, counter) - tokens
        if over <= 0 or not chars:
            break
        chars = max(0, chars - max(1, chars * over // max(1, tokens)))
    return cut


@lru_cache(maxsize=REMEMBERED)
def _measure_once(part: Segment, counter: TokenCounter) -> int:
    return _measure(part, counter)


def _measure(part: Segment, counter: TokenCounter) -> int:
    text = render_segments([replace(part, number=LARGEST_NUMBER)]) + "\n"
    return counter.count(text) + count_segment_image(part, counter)


def _find_large(
    attached: Sequence[Segment], sizes: Mapping[str, int], budget: int
) -> tuple[Segment, ...]:
    others = [part for part in attached if not part.is_whole]
    for taken, part in enumerate(smallest := sorted(others, key=lambda part: sizes[part.id])):
        if sizes[part.id] > budget / (len(smallest) - taken):
            rest = {id(part) for part in smallest[taken:]}
            return tuple(part for part in others if id(part) in rest)
        budget -= sizes[part.id]
    return ()


def _add_blank_lines(hit: Hit, lines: Sequence[str]) -> Hit:
    """Extend a hit by the blank lines after it, so that it can be merged with the next hit.

    Args:
        lines: the lines of the attachment.
    """
    first, last = hit.lines
    if len(hit.text.split("\n")) != last - first + 1:
        return hit
    blank = list(takewhile(lambda line: not line.strip(), lines[last:]))
    return replace(hit, lines=(first, last + len(blank)), text="\n".join((hit.text, *blank)))


def _build_excerpt(passage: Segment, whole_tokens: int) -> Segment:
    """Convert a passage to an excerpt: remove trailing blank lines, and set `whole_tokens`."""
    kept = passage.content.rstrip()
    lines = passage.lines
    if lines is not None:
        lines = lines[0], lines[1] - passage.content[len(kept) :].count("\n")
    return replace(passage, content=kept, lines=lines, whole_tokens=whole_tokens)


def _contains_hit(selection: Segment, hit: Hit) -> bool:
    if selection.kind != "selection" or selection.lines is None or selection.source != hit.path:
        return False
    first, last = selection.lines
    return first <= hit.lines[0] and hit.lines[1] <= last


def _choose_hits(found: Sequence[Hit], budget: int, counter: TokenCounter) -> list[Hit]:
    sizes = {id(hit): _measure_hit(hit, counter) for hit in found}
    chosen = list(_choose_first_hits(found, sizes, budget))
    taken = {id(hit) for hit in chosen}
    free = budget - sum(sizes[id(hit)] for hit in chosen)
    for _ in range(ROUNDS):
        before = len(chosen)
        for hit in found:
            if id(hit) not in taken and sizes[id(hit)] <= free:
                chosen.append(hit)
                taken.add(id(hit))
                free -= sizes[id(hit)]
        if len(chosen) == before:
            break
        free = budget - sum(_measure(part, counter) for part in build_passages(chosen))
    return chosen


def _measure_hit(hit: Hit, counter: TokenCounter) -> int:
    (passage,) = build_passages([hit])
    return _measure(passage, counter)


def _choose_first_hits(
    found: Sequence[Hit], sizes: Mapping[int, int], budget: int
) -> Iterator[Hit]:
    """Yield one hit per attachment until the token budget is used up.

    From each attachment, this is the best hit that fits into an equal share of the remaining
    tokens, or else the shortest hit.

    Args:
        found: the hits, best first.
        sizes: the token count of each hit, by `id(hit)`.
        budget: the token budget of all hits.
    """
    by_path: dict[str, list[Hit]] = {}
    for hit in found:
        by_path.setdefault(hit.path, []).append(hit)
    for number, hits in enumerate(by_path.values()):
        fair = budget // (len(by_path) - number)
        smallest = min(hits, key=lambda hit: sizes[id(hit)])
        hit = next((hit for hit in hits if sizes[id(hit)] <= fair), smallest)
        if sizes[id(hit)] <= budget:
            budget -= sizes[id(hit)]
            yield hit
