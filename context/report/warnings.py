"""Warnings about attachments that are not sent completely.

An attachment that is too large for its share of the token budget is searched instead. Other
segments that do not fit may be shortened or left out. The warnings are derived from the context
report, so that they always agree with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from context.layers import Layer, name_lines, name_source
from context.report.report import LeftOut, PinUse, SegmentUse

SHARE: Final = "share"
# Images that are not sent. The chain warns of them in its own words.
UNSEEN: Final = "unseen"
UNSURE: Final = "unsure"
MOST_NAMED: Final = 2  # the number of attachments that get a sentence each
_WAY_OUT: Final = "Attach less, or raise autoCompactThreshold."


def warn_of_attachments(uses: Sequence[SegmentUse]) -> tuple[str, ...]:
    """Return a warning for each attachment that is not sent completely.

    If more than two attachments need the same warning, they share one sentence.

    Args:
        uses: the use of each segment, from the context report.
    """
    attached = [u for u in uses if u.segment.layer is Layer.L3 and not u.segment.is_retrieved]
    if not attached:
        return ()
    kept = [use for use in attached if use.state != "dropped"]
    parted = {use.segment.source for use in attached if use.segment.whole_tokens is not None}
    dropped = [use for use in attached if use.state == "dropped"]
    gone = [use for use in dropped if use.reason not in (UNSEEN, UNSURE)]
    notes = [use for use in gone if not use.segment.is_whole]
    parted |= {use.segment.source for use in notes if use.reason == SHARE}
    lost = [u for u in gone if u not in notes or u.segment.source not in parted]
    cut = [u for u in kept if u.state == "shrunk" and u.segment.whole_tokens is None]
    return (*_warn_of_searched(attached, parted), *_warn_of_shortened(cut), *_warn_of_dropped(lost))


def warn_of_losses(dropped: Sequence[LeftOut], pins: Sequence[PinUse]) -> tuple[str, ...]:
    """Return a warning for each pin, summary and last answered turn that is not sent.

    Args:
        dropped: what the request leaves out, from the context report.
        pins: the pinned messages and segments, from the context report.
    """
    whole = (left_out for left_out in dropped if left_out.reason != WITHHELD)
    lost = {entry for left_out in whole for entry in left_out.entries}
    warnings = [
        f"A pin from {pin.source} (about {pin.tokens:,} tokens) is left out, because the request "
        f"has no room for it. {_WAY_OUT}"
        for pin in pins
        if pin.target in lost
    ]
    for left_out in dropped:
        if sentence := _LOSSES.get(left_out.reason):
            size = f" (about {left_out.tokens:,} tokens)" if left_out.tokens else ""
            warnings.append(f"{sentence.format(size=size)} {_WAY_OUT}")
    return tuple(dict.fromkeys(warnings))


WITHHELD: Final = "withheld"  # the text that messages hold of excluded notes
_LOSSES: Final[Mapping[str, str]] = {
    "history_guarantee_broken": "The last answer{size} is left out of this request too, because "
    "it has no room for it.",
    "summary": "The summary of the earlier turns{size} is left out of this request, because it "
    "has no room for it.",
    "summary_shortened": "The summary of the earlier turns is shortened for this request, because "
    "it has no room for all of it.",
}


def _warn_of_searched(attached: Sequence[SegmentUse], parted: set[str]) -> Iterator[str]:
    """Yield warnings about attachments that are searched because they are too large.

    Each warning says how many passages are sent.

    Args:
        attached: the use of each attached segment.
        parted: the sources of the attachments that are searched.
    """
    sizes = {u.segment.source: u.original_tokens for u in attached if u.segment.source in parted}
    passages = dict.fromkeys(sizes, 0)
    is_looked_up = True
    for use in attached:
        if use.segment.source in parted and use.state != "dropped":
            passages[use.segment.source] += 1
            is_looked_up = is_looked_up and use.segment.is_excerpt
    if len(sizes) > MOST_NAMED:
        yield _many(sizes, passages, is_looked_up)
        return
    for source, size in sizes.items():
        sent = _sent(passages[source]) if is_looked_up else _TO_BE_SENT
        named = f"{name_source(source)} is too large to be sent whole"
        yield f"{named} (about {size:,} tokens): {sent}."


_TO_BE_SENT: Final = "the passages that fit the message best will be sent"


def _many(sizes: dict[str, int], passages: dict[str, int], is_looked_up: bool) -> str:
    total = sum(sizes.values())
    beginning = (
        f"{len(sizes):,} of the attachments are too large together to be sent whole (about "
        f"{total:,} tokens): "
    )
    if not is_looked_up:
        return f"{beginning}{_TO_BE_SENT}."
    used = sum(1 for number in passages.values() if number)
    rest = f", nothing of the other {len(sizes) - used:,}" if used < len(sizes) else ""
    return f"{beginning}{sum(passages.values()):,} passages of {used:,} of them are sent{rest}."


def _sent(passages: int) -> str:
    if not passages:
        return "there is no room for any of its passages, so nothing of it is sent"
    return (
        "one of its passages is sent" if passages == 1 else f"{passages} of its passages are sent"
    )


def _warn_of_shortened(cut: Sequence[SegmentUse]) -> Iterator[str]:
    if len(cut) > MOST_NAMED:
        before, after = sum(u.original_tokens for u in cut), sum(u.tokens for u in cut)
        yield (
            f"{len(cut):,} of the attachments are shortened from about {before:,} to {after:,} "
            f"tokens, because the request has no room for more. {_WAY_OUT}"
        )
        return
    for use in cut:
        yield (
            f"{_name(use)} is shortened from about {use.original_tokens:,} to {use.tokens:,} "
            f"tokens, because the request has no room for more. {_WAY_OUT}"
        )


def _warn_of_dropped(lost: Sequence[SegmentUse]) -> Iterator[str]:
    if len(lost) > MOST_NAMED:
        total = sum(use.original_tokens for use in lost)
        yield (
            f"{len(lost):,} of the attachments (about {total:,} tokens) are left out, because the "
            f"request has no room for them. {_WAY_OUT}"
        )
        return
    for use in lost:
        yield (
            f"{_name(use)} (about {use.original_tokens:,} tokens) is left out, because the request "
            f"has no room for it. {_WAY_OUT}"
        )


def _name(use: SegmentUse) -> str:
    segment = use.segment
    if segment.kind != "selection" or segment.lines is None:
        return segment.shown_source
    return f"{segment.shown_source}, {name_lines(segment.lines)},"
