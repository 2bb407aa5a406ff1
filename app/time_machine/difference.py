"""Compare a past request with the one that today's notes would make: by layer, source and line."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from context.json_codec import Record
from context.layers import WIRE_ORDER
from context.requests.layout import LayerText

__all__ = ["ComparedText", "LineChange", "compare_requests"]

State = Literal["same", "changed", "added", "removed"]
LINES_AROUND = 3
MOST_COMPARED_LINES = 4_000  # comparing two long texts takes the square of their lines


@dataclass(frozen=True, slots=True)
class LineChange(Record):
    """A line of a compared text. `sign` is `-` for one of then, `+` for one of now, else empty."""

    sign: Literal["", "-", "+"]
    text: str


@dataclass(frozen=True)
class ComparedText(Record):
    """A text of a layer, then and now.

    Attributes:
        then: the text of the past request, or None if it had none.
        now: the text of today's request, or None if it has none.
        lines: the lines of both, with those that changed marked.
    """

    then: LayerText | None
    now: LayerText | None
    lines: tuple[LineChange, ...]

    json_shape = (
        "layer = shown.layer",
        "name = shown.name",
        "source = shown.source",
        "lines = shown.span",
        "number = shown.number",
        "state",
        "diff = lines",
    )

    @property
    def shown(self) -> LayerText:
        """The text of now, or that of then where there is none now."""
        found = self.now or self.then
        assert found is not None
        return found

    @property
    def state(self) -> State:
        """How the text changed."""
        if self.then is None:
            return "added"
        if self.now is None:
            return "removed"
        return "changed" if any(line.sign for line in self.lines) else "same"

    def list_near(self) -> Iterator[LineChange | int]:
        """Yield changed lines with a few around them, and how many are left out between them."""
        changed = [at for at, line in enumerate(self.lines) if line.sign]
        near = {at + by for at in changed for by in range(-LINES_AROUND, LINES_AROUND + 1)}
        skipped = 0
        for at, line in enumerate(self.lines):
            if at not in near:
                skipped += 1
                continue
            if skipped:
                yield skipped
                skipped = 0
            yield line
        if skipped:
            yield skipped


def compare_requests(then: Sequence[LayerText], now: Sequence[LayerText]) -> list[ComparedText]:
    """Compare the texts of two requests, in the order of the layers.

    Args:
        then: the texts of the past request.
        now: the texts of today's request.
    """
    found: list[ComparedText] = []
    for layer in WIRE_ORDER:
        before = [text for text in then if text.layer == layer]
        after = [text for text in now if text.layer == layer]
        found += _compare_layer(before, after)
    return found


def _compare_layer(then: Sequence[LayerText], now: Sequence[LayerText]) -> Iterator[ComparedText]:
    """Yield the texts of a layer: those of now in their order, then those that are gone."""
    waiting: defaultdict[tuple[str, str], list[LayerText]] = defaultdict(list)
    for text in then:
        waiting[text.name, text.source].append(text)
    partners = {id(text): _take_partner(text, waiting, then) for text in _sort_by_match(now, then)}
    for text in now:
        partner = partners[id(text)]
        yield ComparedText(
            partner, text, _compare_lines("" if partner is None else partner.text, text.text)
        )
    left = {id(text) for texts in waiting.values() for text in texts}
    for text in then:
        if id(text) in left:
            yield ComparedText(text, None, _compare_lines(text.text, ""))


def _sort_by_match(now: Sequence[LayerText], then: Sequence[LayerText]) -> list[LayerText]:
    """Return the texts that are unchanged first, so that others do not take their partners."""
    known = {(text.name, text.source, text.text) for text in then}
    return sorted(now, key=lambda text: (text.name, text.source, text.text) not in known)


def _take_partner(
    text: LayerText,
    waiting: dict[tuple[str, str], list[LayerText]],
    then: Sequence[LayerText],
) -> LayerText | None:
    """Take the text of then that a text of now continues: the same text, lines, or order."""
    candidates = waiting[text.name, text.source]
    if not candidates:
        return None
    best = min(
        candidates,
        key=lambda one: (one.text != text.text, one.span != text.span, _find(then, one)),
    )
    candidates.remove(best)
    return best


def _find(texts: Sequence[LayerText], wanted: LayerText) -> int:
    return next(at for at, one in enumerate(texts) if one is wanted)


def _compare_lines(then: str, now: str) -> tuple[LineChange, ...]:
    before, after = then.splitlines(), now.splitlines()
    if before == after:
        return tuple(LineChange("", line) for line in after)
    if len(before) + len(after) > MOST_COMPARED_LINES:
        return (*(LineChange("-", one) for one in before), *(LineChange("+", one) for one in after))
    found: list[LineChange] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            found += (LineChange("", line) for line in after[start:end])
        else:
            found += (LineChange("-", line) for line in before[first:last])
            found += (LineChange("+", line) for line in after[start:end])
    return tuple(found)
