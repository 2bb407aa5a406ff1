"""Shorten the last user message, answers and tool results, for a single request only.

Retrieved passages are sent with the last user message. They are dropped first, lowest rank first.
The other sources are then shortened section by section, in this order: notes from folders and tags,
sources from earlier turns, attached notes. They are dropped only if even their shortest version
does not fit. Selections and pinned items are never shortened, but either sent completely or
dropped. The latest attachment is shortened last.

Reasons: ARCHITECTURE.md, "The guard".
"""

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isqrt
from typing import Final

from context.carry_forward import MOST_SECTIONS, Tools, shorten_text, truncate_with_ellipsis
from context.cleaner import clean_tool_output
from context.compaction import HEAD
from context.draft import Tail
from context.layers import Layer, Segment
from context.messages import Message, Part, TextPart, ToolResultPart, list_tool_calls
from context.offload import is_offload_stub
from context.tokens import TokenCounter, count_segment

SHORT_ANSWER_CHARS: Final = 2_000
SHORT_RESULT_CHARS: Final = 2_000
LEAST_PREVIEW_CHARS: Final = 100
CHARS_PER_TOKEN: Final = 8  # more than any meaningful text has
PRECISION: Final = 64
ATTEMPTS: Final = 4  # the counts of the parts do not add up exactly to that of the whole
SPARE_TOKENS: Final = 32  # spare tokens for counters that differ slightly

_SHORTENED_KINDS: Final = ("note", "folder", "tag", "url", "file")


@dataclass(frozen=True, slots=True)
class ShortenedTail:
    """The shortened tail of a request: the last user message with its context.

    Attributes:
        tail: the shortened tail.
        left_out: the dropped segments, in the order in which they were dropped.
    """

    tail: Tail
    left_out: tuple[Segment, ...]


def shorten_tail(tail: Tail, most_tokens: int) -> ShortenedTail:
    """Shorten the last user message with its context to a token limit.

    All segments of the context may be dropped, but the text that the user typed stays complete.
    """
    gone: list[Segment] = []
    for group in _group_by_worth(tail.segments):
        if tail.total <= most_tokens:
            break
        kept = _select_affordable(tail, group, most_tokens)
        gone += group[: len(group) - len(kept)]
        tail = _replace_segments(
            tail, dict.fromkeys(part.id for part in group[: len(group) - len(kept)])
        )
        for segment in kept:
            if tail.total > most_tokens and _can_be_shortened(segment):
                tail = _shorten_in_tail(tail, segment, most_tokens - SPARE_TOKENS)
    return ShortenedTail(tail, tuple(gone))


def shorten_segment(
    segment: Segment, most_tokens: int, counter: TokenCounter, tools: Tools = None
) -> Segment | None:
    """Shorten a segment to a token limit, or return None if even its shortest version is too long.

    A shortened segment has no line numbers, because its lines differ from those of the source.

    Args:
        most_tokens: the token limit.
        counter: counts the tokens.
        tools: the names of the available tools, or None if unknown. The shortened text names the
            tool that reads the full text.
    """
    for sections in (len(segment.content), MOST_SECTIONS):
        found = _find_longest(
            partial(_shorten_sections, segment, tools), most_tokens, sections, counter
        )
        if found is not None:
            return found
    return None


def _select_affordable(tail: Tail, group: Sequence[Segment], most_tokens: int) -> Sequence[Segment]:
    """Return the segments of a group that fit together if each is shortened as far as possible.

    Args:
        tail: the last user message with its context.
        group: the segments, least valuable first.
        most_tokens: the token limit of the tail.
    """
    least: dict[str, Segment | None] = {part.id: _shorten_most(part, tail) for part in group}
    for at, segment in enumerate(group):
        if _replace_segments(tail, least).total <= most_tokens:
            return group[at:]
        least[segment.id] = None
    return ()


def _shorten_in_tail(tail: Tail, segment: Segment, most_tokens: int) -> Tail:
    most_segment_tokens, fitting = count_segment(segment, tail.counter), tail
    for _ in range(ATTEMPTS):
        most_segment_tokens -= fitting.total - most_tokens
        shorter = shorten_segment(segment, most_segment_tokens, tail.counter, tail.tools)
        if shorter is None:
            break
        fitting = _replace_segments(tail, {segment.id: shorter})
        if fitting.total <= most_tokens:
            return fitting
    return _replace_segments(tail, {segment.id: _shorten_most(segment, tail)})


def _replace_segments(tail: Tail, others: Mapping[str, Segment | None]) -> Tail:
    """Return a copy of the tail with some segments replaced or removed.

    Args:
        tail: the last user message with its context.
        others: the new segments by id. None removes a segment.
    """
    found = (others.get(segment.id, segment) for segment in tail.segments)
    return replace(tail, segments=tuple(segment for segment in found if segment is not None))


def _find_longest(
    cut: Callable[[int, int], Segment], most_tokens: int, sections: int, counter: TokenCounter
) -> Segment | None:
    """Shorten a segment just enough to fit a token limit, or return None if this is impossible.

    Args:
        cut: builds a shortened segment, given how many characters of each section to keep, and how
            many sections.
        most_tokens: the token limit.
        sections: the number of sections to keep.
        counter: counts the tokens.
    """
    best = cut(LEAST_PREVIEW_CHARS, sections)
    if count_segment(best, counter) > most_tokens:
        return None
    fits, most = LEAST_PREVIEW_CHARS, most_tokens * CHARS_PER_TOKEN
    while most - fits > fits // PRECISION:
        preview = max(fits + 1, isqrt(fits * most))
        found = cut(preview, sections)
        if count_segment(found, counter) <= most_tokens:
            best, fits = found, preview
        else:
            most = preview - 1
    return best


def _shorten_most(segment: Segment, tail: Tail) -> Segment:
    """Return the shortest version of a segment, or the segment itself if it cannot be shortened.

    Args:
        tail: the user message that is sent with the segment.
    """
    if not _can_be_shortened(segment):
        return segment
    least = _shorten_sections(segment, tail.tools, LEAST_PREVIEW_CHARS, MOST_SECTIONS)
    return min(segment, least, key=lambda part: count_segment(part, tail.counter))


def _can_be_shortened(segment: Segment) -> bool:
    return segment.kind in _SHORTENED_KINDS and not segment.pinned


def _shorten_sections(segment: Segment, tools: Tools, preview_chars: int, sections: int) -> Segment:
    text, place = segment.raw_content, (segment.source, segment.kind)
    text = shorten_text(*place, text, preview_chars, sections, tools)
    return replace(segment, content=html.escape(text, quote=False), lines=None)


def _group_by_worth(segments: Sequence[Segment]) -> Iterable[Sequence[Segment]]:
    """Group segments by importance, least important first.

    Retrieved passages come first, and the latest attachment comes last.
    """
    attached = [part for part in segments if part.layer is Layer.L3 and part.kind != "passage"]
    newest = attached[-1] if attached else None
    groups: dict[int, list[Segment]] = {}
    for part in segments:
        groups.setdefault(_rate(part, part is newest), []).append(part)
    groups.get(0, []).reverse()
    return [groups[worth] for worth in sorted(groups)]


def _rate(segment: Segment, is_newest: bool) -> int:
    is_whole = segment.pinned or segment.is_whole
    if segment.layer is Layer.L3 and segment.kind == "passage" and not is_whole:
        return 0
    if is_newest:
        return 6
    if segment.pinned:
        return 5
    if segment.kind == "selection":
        return 4
    if segment.kind in ("folder", "tag"):
        return 1
    return 2 if segment.layer is Layer.L2 else 3


def shrink_older_results(work: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """Yield shorter and shorter versions of a turn's tool calls and results.

    The latest results stay complete. With each version, the maximum length of older results is
    halved. In the last version, they are replaced with their line counts.
    """
    split = _find_last_batch(work)
    older, latest = work[:split], work[split:]
    for most_chars in _list_result_bounds(older):
        yield (*shorten_results(older, most_chars), *latest)
    yield (*clean_results(older), *latest)


def clean_results(work: Sequence[Message]) -> tuple[Message, ...]:
    """Replace each tool result with its line count, unless the result is shorter."""
    return tuple(_clean_result(message) for message in work)


def shorten_results(work: Sequence[Message], most_chars: int) -> tuple[Message, ...]:
    """Truncate every tool result that is longer than `most_chars` characters."""
    return tuple(_shorten_result(message, most_chars) for message in work)


def shrink_work(work: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """Yield shorter and shorter versions of a turn's tool calls and results. The last one is empty.

    The maximum length of results is halved each time, so that the first version that fits keeps at
    least half of what would fit. Then the results are replaced with their line counts, and finally
    the oldest calls are dropped.
    """
    for most_chars in _list_result_bounds(work):
        yield shorten_results(work, most_chars)
    smaller = clean_results(work)
    yield smaller
    while smaller:
        smaller = drop_oldest_batch(smaller)
        yield smaller


def _list_result_bounds(work: Sequence[Message]) -> Iterator[int]:
    contents = (message.content for message in work if isinstance(message.content, tuple))
    results = (part for parts in contents for part in parts if isinstance(part, ToolResultPart))
    most_chars = max((len(result.content) for result in results), default=0) // 2
    while most_chars > SHORT_RESULT_CHARS:
        yield most_chars
        most_chars //= 2
    yield SHORT_RESULT_CHARS


def drop_oldest_batch(work: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages of a turn without the oldest group of tool calls.

    The results of these calls and the text around them are removed too.
    """
    batches = [at for at, message in enumerate(work) if message.role == "assistant"]
    return tuple(work[batches[1] :]) if len(batches) > 1 else ()


def _find_last_batch(work: Sequence[Message]) -> int:
    for at in range(len(work) - 1, -1, -1):
        if list_tool_calls(work[at]):
            return at
    return len(work)


def _clean_result(message: Message) -> Message:
    cleaned = clean_tool_output(message)
    if isinstance(message.content, str) or isinstance(cleaned.content, str):
        return message
    pairs = zip(message.content, cleaned.content, strict=True)
    return replace(message, content=tuple(min(pair, key=_size) for pair in pairs))


def _size(part: Part) -> int:
    return len(part.content.encode("utf-8", "replace")) if isinstance(part, ToolResultPart) else 0


def _shorten_result(message: Message, most_chars: int) -> Message:
    if isinstance(message.content, str):
        return message
    content = tuple(_shorten_result_part(part, most_chars) for part in message.content)
    return replace(message, content=content)


def _shorten_result_part(part: Part, most_chars: int) -> Part:
    if not isinstance(part, ToolResultPart) or is_offload_stub(part.content):
        return part
    return replace(part, content=truncate_with_ellipsis(part.content, most_chars))


def shorten_summary(message: Message) -> Message:
    """Shorten the summary of earlier turns to half of its length, below its first line."""
    head = f"{HEAD}\n" if message.text.startswith(f"{HEAD}\n") else ""
    body = message.text.removeprefix(head)
    return replace(message, content=head + truncate_with_ellipsis(body, len(body) // 2))


def shorten_answer(message: Message) -> Message:
    """Shorten an assistant's answer to its beginning. Other messages are returned unchanged."""
    if message.role != "assistant":
        return message
    if isinstance(message.content, str):
        return replace(message, content=truncate_with_ellipsis(message.content, SHORT_ANSWER_CHARS))
    return replace(message, content=tuple(_shorten_text_part(part) for part in message.content))


def _shorten_text_part(part: Part) -> Part:
    if not isinstance(part, TextPart):
        return part
    return TextPart(truncate_with_ellipsis(part.text, SHORT_ANSWER_CHARS))
