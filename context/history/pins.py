"""Pinned messages and segments, which are included in every request.

Source: the design document "Strata: the design", section 4.8.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from context.errors import BadPin, PinTargetMissing
from context.layers import Layer, Segment
from context.log.entries import Entry, MessageEntry, PinEntry, SegmentsEntry
from context.messages import Message, TextPart, ToolResultPart
from context.tokens import TokenCounter, count_segment

PINS_SHARE: Final = 0.25
PINNED_SOURCE: Final = "this chat"


@dataclass(frozen=True)
class Pins:
    """The pinned items by id, in the order in which they were pinned.

    Attributes:
        segments: each pinned item as a segment of the context from earlier turns (L2). It is sent
            if the turn of the item is not.
        messages: the ids of pinned messages, which stay in the history until their turn is dropped.
    """

    segments: Mapping[str, Segment]
    messages: frozenset[str]

    def after(self, pin: PinEntry, before: Iterable[Entry]) -> "Pins":
        """Return the pinned items after a log entry has pinned or unpinned one.

        Args:
            before: the log entries up to the pin entry.
        """
        if not pin.on:
            kept = {name: item for name, item in self.segments.items() if name != pin.target}
            return Pins(kept, self.messages - {pin.target})
        found = _find_target(pin.target, before)
        if found is None:
            return self
        messages = self.messages | {pin.target} if found.source == PINNED_SOURCE else self.messages
        return Pins({**self.segments, pin.target: found}, messages)

    def select_moved(
        self, shown: Iterable[Message], here: Sequence[Segment]
    ) -> tuple[Segment, ...]:
        """Return the pinned items that the request does not contain elsewhere.

        Args:
            shown: the messages of the history and the current tool calls.
            here: the segments of the turn in progress.
        """
        if not self.segments:
            return ()
        there = {message.id for message in shown} & self.messages
        there |= {segment.id for segment in here}
        return tuple(item for name, item in self.segments.items() if name not in there)


NO_PINS: Final = Pins({}, frozenset())


def check_pin(
    pins: Pins, pin: PinEntry, path: Sequence[Entry], budget: int, counter: TokenCounter
) -> Pins:
    """Check a pin entry, and return the resulting pins.

    Raises:
        PinTargetMissing: when the target does not exist.
        BadPin: when the pins would exceed their token limit.
    """
    if pin.on and _find_target(pin.target, path) is None:
        raise PinTargetMissing(
            f"There is nothing to pin under {pin.target}: name a message or a segment."
        )
    after = pins.after(pin, path)
    tokens = sum(count_segment(segment, counter) for segment in after.segments.values())
    most = compute_pins_limit(budget)
    if pin.on and tokens > most:
        raise BadPin(
            f"With this, pins would have {tokens:,} tokens; they may use {most:,} together. "
            "Nothing was pinned."
        )
    return after


def compute_pins_limit(budget: int) -> int:
    """Return the token limit for all pins, given the token budget."""
    return int(budget * PINS_SHARE)


def _find_target(target: str, before: Iterable[Entry]) -> Segment | None:
    found: Segment | None = None
    for entry in before:
        if isinstance(entry, MessageEntry) and entry.id == target:
            found = _make_segment(entry.message)
        elif isinstance(entry, SegmentsEntry):
            named = (part for part in entry.segments if part.id == target)
            found = next((replace(p, layer=Layer.L2, pinned=True) for p in named), found)
    return found


def _make_segment(message: Message) -> Segment:
    return Segment.build(
        id=str(message.id),
        layer=Layer.L2,
        kind="selection",
        source=PINNED_SOURCE,
        text=_join_text(message),
        pinned=True,
        title=f"Pinned message of the {message.role}",
    )


def _join_text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    results = [part.content for part in message.content if isinstance(part, ToolResultPart)]
    return "\n".join((*texts, *results))
