"""Build the carry-forward layer (L2): attachments and cited notes of earlier turns.

Attachments are sent in their current version, and shortened if they are long. If a source was
deleted or excluded, a notice is sent instead. Selections, images and reading notes (which a model
wrote about a long attachment) are sent as they were stored.

Reasons: ARCHITECTURE.md, "Attachments".
"""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from context.carry_forward import Tools, shorten_carried_text
from context.history.note_text import EXCLUDED_LINE
from context.history.sources import CarriedSource, CarriedSources, make_source_key
from context.layers import Layer, Segment
from context.tokens import TokenCounter, count_segment

CARRY_FORWARD_SHARE: Final = 0.15

SourceState = Literal["same", "changed", "gone", "excluded", "unseen", "unsure"]
Loss = Literal["gone", "excluded", "unseen", "unsure"]
LOSSES: Final[tuple[str, ...]] = get_args(Loss)
_LINES: Final[Mapping[Loss, str]] = {
    "gone": "[This note is no longer there.]",
    "excluded": EXCLUDED_LINE,
    "unseen": "[This image is not sent, because the model does not see images.]",
    "unsure": "[This image is not sent, because it is not known whether the model sees images.]",
}


@dataclass(frozen=True, slots=True)
class CurrentSource:
    """The current state of a segment's source.

    Attributes:
        state: how the source has changed since it was read. `unseen` means an image that the
            session's model cannot read, and `unsure` one of which this is not known.
        text: the current text if it has changed, otherwise an empty string.
        version: the hash of the file if it has changed, otherwise None.
    """

    state: SourceState
    text: str = ""
    version: str | None = None

    @property
    def loss(self) -> Loss | None:
        """The reason why the source is no longer sent, or None if the source is still sent."""
        match self.state:
            case "gone" | "excluded" | "unseen" | "unsure" as loss:
                return loss
            case _:
                return None


Resolve = Callable[[Segment], CurrentSource]


@dataclass(frozen=True, slots=True)
class CarryForward:
    """The segments of the carry-forward layer (L2), which repeats sources of earlier turns.

    Attributes:
        segments: the segments to send.
        dropped: the segments that exceed the layer's token limit.
        full: each segment before it was shortened, by segment id.
        lost: cited segments whose note is now missing or excluded, with the reason. They are
            dropped without a notice.
    """

    segments: tuple[Segment, ...] = ()
    dropped: tuple[Segment, ...] = ()
    full: tuple[tuple[str, Segment], ...] = ()
    lost: tuple[tuple[Segment, Loss], ...] = ()

    def without(self, others: Sequence[Segment]) -> tuple[Segment, ...]:
        """Return the segments whose ids do not occur among the given segments."""
        other_ids = {segment.id for segment in others}
        return tuple(segment for segment in self.segments if segment.id not in other_ids)


def describe_excluded(segment: Segment, resolve: Resolve) -> Segment | None:
    """Return a notice to send instead of a segment, or None if the segment may still be sent.

    If the source no longer exists, the stored text may still be sent.

    Args:
        resolve: returns the current state of a source.
    """
    loss = resolve(segment).loss
    return None if loss is None or loss == "gone" else _replace_by_line(segment, loss)


def describe_exclusion(segment: Segment) -> Segment:
    """Return the notice that is sent instead of a segment whose note is excluded."""
    return _replace_by_line(segment, "excluded")


def find_loss(segment: Segment) -> Loss | None:
    """Return why a notice is sent instead of a segment's text, or None if the text is sent."""
    if segment.layer is not Layer.L2 or segment.version is not None:
        return None
    return next((loss for loss in _LINES if segment.content == _describe_loss(segment, loss)), None)


def make_carry_forward(
    carried: CarriedSources,
    now: Sequence[Segment],
    resolve: Resolve,
    counter: TokenCounter,
    room_tokens: int,
    tools: Tools = None,
) -> CarryForward:
    """Build the carry-forward layer (L2) from the sources of earlier turns.

    Sources that the current turn attaches again are skipped.

    Args:
        carried: the sources of earlier turns.
        now: the segments of the current turn.
        resolve: returns the current state of a source, so that excluded sources are not sent.
        counter: counts the tokens.
        room_tokens: the token limit for unpinned segments. When it is exceeded, the least recently
            used sources are dropped first. Pinned sources are never dropped.
        tools: the names of the available tools. A shortened text tells the model which tool reads
            the full text.
    """
    found = [(item, resolve(item.segment)) for item in _select_sources(carried, now)]
    entries = [
        (item, segment, full)
        for item, source in found
        for segment, full in _make_segments(item.segment, source, tools)
    ]
    leaving = sorted((entry for entry in entries if not entry[1].pinned), key=_last_use)
    tokens = sum(count_segment(segment, counter) for _, segment, _ in entries)
    tokens -= sum(count_segment(part, counter) for _, part, _ in entries if part.pinned)
    dropped: list[Segment] = []
    while tokens > room_tokens:
        _, segment, _ = leaving.pop(0)
        dropped.append(segment)
        tokens -= count_segment(segment, counter)
    gone = {segment.id for segment in dropped}
    kept = tuple(segment for _, segment, _ in entries if segment.id not in gone)
    made_from = tuple((segment.id, full) for _, segment, full in entries)
    lost = tuple(loss for item, source in found for loss in _find_lost(item.segment, source))
    return CarryForward(kept, tuple(dropped), made_from, lost)


def _last_use(entry: tuple[CarriedSource, Segment, Segment]) -> int:
    return entry[0].used


def _select_sources(carried: CarriedSources, now: Sequence[Segment]) -> Iterator[CarriedSource]:
    """Yield the sources of earlier turns that the current turn does not attach again.

    If a note was both attached and cited, only the attachment is yielded.
    """
    taken = {make_source_key(segment) for segment in now}
    sources = {segment.source for segment in now if segment.kind != "selection"}
    attached = {
        item.segment.source
        for item in carried.items.values()
        if item.segment.kind not in ("passage", "selection")
    }
    for key, item in carried.items.items():
        is_cited = item.segment.kind == "passage"
        if key not in taken and not (is_cited and item.segment.source in sources | attached):
            yield item


def _make_segments(
    segment: Segment, source: CurrentSource, tools: Tools
) -> Iterator[tuple[Segment, Segment]]:
    if segment.kind == "passage":
        if not source.loss:
            yield _move_to_l2(segment, _describe_citation(segment)), segment
        return
    if source.loss:
        yield _replace_by_line(segment, source.loss), segment
        return
    if source.state == "changed" and not segment.is_whole and not segment.derived:
        content = html.escape(source.text, quote=False)
        segment = replace(segment, content=content, version=source.version, structure="")
    text = segment.raw_content
    if not segment.is_whole:
        text = shorten_carried_text(segment.shown_source, segment.kind, text, tools)
    yield _move_to_l2(segment, text), segment


def _find_lost(segment: Segment, source: CurrentSource) -> Iterator[tuple[Segment, Loss]]:
    if segment.kind == "passage" and source.loss:
        yield _move_to_l2(segment, _describe_citation(segment)), source.loss


def _replace_by_line(segment: Segment, loss: Loss) -> Segment:
    return replace(_move_to_l2(segment, _describe_loss(segment, loss)), version=None, image=None)


def _describe_loss(segment: Segment, loss: Loss) -> str:
    line = _LINES[loss]
    return line.replace("This note", "This image") if segment.kind == "image" else line


def _move_to_l2(segment: Segment, text: str) -> Segment:
    content = html.escape(text, quote=False)
    return replace(segment, layer=Layer.L2, content=content, number=None)


def _describe_citation(segment: Segment) -> str:
    return " › ".join(
        ("Cited earlier: " + (segment.title or segment.shown_source), *segment.heading)
    )
