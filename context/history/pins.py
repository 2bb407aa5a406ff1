"""Pinned messages and segments. Every request contains them."""

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
    """The pinned items of a session.

    Attributes:
        segments: each pinned item as a segment, by id, in the order in which they were pinned. The
            segment is sent if the turn of the item is not part of the request.
        messages: the ids of pinned messages, which stay in the history until their turn is dropped.
    """

    segments: Mapping[str, Segment]
    messages: frozenset[str]

    def after(self, pin: PinEntry, before: Iterable[Entry]) -> "Pins":
        """Return the pinned items after a log entry that pins or unpins an item.

        Args:
            pin: the log entry.
            before: the entries of the log before it.
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
        """Return the pinned items that the request does not contain yet.

        Args:
            shown: the messages of the history and the current tool calls.
            here: the segments of the current turn.
        """
        if not self.segments:
            return ()
        present_ids = {message.id for message in shown} & self.messages
        present_ids |= {segment.id for segment in here}
        return tuple(item for name, item in self.segments.items() if name not in present_ids)


NO_PINS: Final = Pins({}, frozenset())


def check_pin(
    pins: Pins, pin: PinEntry, path: Sequence[Entry], budget: int, counter: TokenCounter
) -> Pins:
    """Check a log entry that pins or unpins an item, and return the resulting pins.

    Args:
        pins: the pinned items so far.
        pin: the log entry.
        path: the entries of the active path.
        budget: the token budget of a request.
        counter: counts the tokens.

    Raises:
        PinTargetMissing: when the item does not exist.
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
    """Return the token limit for all pinned items together.

    Args:
        budget: the token budget of a request.
    """
    return int(budget * PINS_SHARE)


def _find_target(target: str, before: Iterable[Entry]) -> Segment | None:
    found: Segment | None = None
    for entry in before:
        if isinstance(entry, MessageEntry) and entry.id == target:
            found = make_pinned_segment(entry.message)
        elif isinstance(entry, SegmentsEntry):
            named = (part for part in entry.segments if part.id == target)
            found = next((replace(p, layer=Layer.L2, pinned=True) for p in named), found)
    return found


def make_pinned_segment(message: Message) -> Segment:
    """Return a pinned message as a segment, which is sent if its turn is not."""
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
