"""Rows for the layers (kinds of content) of a request, and for the segments in each layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.layers import Layer, name_place, name_source
from ui.panels.context.left_out import is_excerpt, name_segment
from ui.panels.context.words import word_name, word_reason
from ui.theme import tokens
from ui.widgets.controls import one_line
from ui.widgets.formatting import count, plural, share

if TYPE_CHECKING:
    from context.report.layer_parts import LayerPart
    from context.report.report import ContextReport, SegmentUse

__all__ = ["LayerRow", "PartRow", "layer_rows", "list_part_rows", "pin_rows"]

_UNITS = {"T": "tool", "L1": "part", "L4": "turn", "L2": "part", "L3": "part", "E": "note"}
_STATES = ("compacted", "shrunk", "pinned")
_PINNABLE = ("L2", "L3")
_VERSION_CHARS = 8
_OWN_CHAT = "this chat"
_PASSAGES = "Passages, found on sending"
_KINDS = {"summary": "Summary of what was said before", "messages": "Messages of an extension"}
_BASE = ("chat", "vault_qa", "project", "agent")
NO_QUESTIONS: Mapping[str, str] = {}


@dataclass(frozen=True)
class LayerRow:
    """The row for one layer (kind of content) of a request in the context panel.

    Attributes:
        code: the code of the layer, such as `L3`.
        tokens: the number of tokens in the layer.
        share: the layer's share of the token budget, as text.
        is_reused: whether the provider has cached the layer from an earlier request.
        is_estimate: whether passages will be added when the request is sent.
        is_over: whether the request exceeds the budget and this is its largest layer.
        is_counted: whether the token count is known. If not, no number is shown.
    """

    code: str
    tokens: int
    share: str
    is_reused: bool
    is_estimate: bool = False
    is_over: bool = False
    is_counted: bool = True

    @property
    def figure(self) -> str:
        """The layer's token count as text, or a dash if it is not known."""
        if not self.is_counted:
            return "–"
        return f"≈ {count(self.tokens)}" if self.is_estimate else count(self.tokens)

    @property
    def title(self) -> str:
        """The name of the layer."""
        return str(tokens()["layer_name"][self.code])

    @property
    def name(self) -> str:
        """The accessible name of the row, which screen readers read aloud."""
        if not self.is_counted:
            return f"{self.code} {self.title}, not counted yet"
        about = "about " if self.is_estimate else ""
        reused = ", reused" if self.is_reused else ""
        part = self.share.replace("\N{NO-BREAK SPACE}%", " percent").replace("–", "nothing")
        return f"{self.code} {self.title}, {about}{count(self.tokens)} tokens, {part}{reused}"

    @property
    def tip(self) -> str:
        """The tooltip: the layer's code and name, and whether the provider has cached the layer."""
        reused = "\nThe service has read this before" if self.is_reused else ""
        return f"{self.code} {self.title}{reused}"


@dataclass(frozen=True)
class PartRow:
    """The row for one item of a request in the context panel: a segment, tool, instruction or turn.

    Attributes:
        text: the name of the item.
        tokens: the item's number of tokens, or None if only a total for several items is known.
        beside: descriptions of the item, longest first. The first one that fits is shown between
            the name and the tokens.
        tip: the tooltip, one fact per line.
        path: the path of the note that the row opens, or an empty string if it opens no note.
        lines: the first and last line to show in that note, or None for the whole note.
        target: the ID for pinning the item, or an empty string if it cannot be pinned.
        is_pinned: whether the item is pinned.
    """

    text: str
    tokens: int | None = None
    beside: tuple[str, ...] = ()
    tip: str = ""
    path: str = ""
    lines: tuple[int, int] | None = None
    target: str = ""
    is_pinned: bool = False

    @property
    def figure(self) -> str:
        """The item's token count as text, or an empty string if it is not known."""
        return "" if self.tokens is None else count(self.tokens)

    @property
    def name(self) -> str:
        """The accessible name of the row, which screen readers read aloud."""
        size = "" if self.tokens is None else f"{self.figure} tokens"
        beside = self.beside[0] if self.beside else ""
        pinned = "pinned" if self.is_pinned and beside != "pinned" else ""
        return ", ".join(filter(None, (self.text, size, beside, pinned)))


def layer_rows(context: "ContextReport", *, is_estimate: bool = False) -> list[LayerRow]:
    """Return a row for each of the eight layers (kinds of content), in request order.

    The token counts of the rows add up to the number of tokens in the request.

    Args:
        context: the request report.
        is_estimate: whether passages will be added when the request is sent.
    """
    rows = []
    largest = max(layer.tokens for layer in context.layers.values())
    for code in tokens()["layer_order"]:
        layer = context.layers[Layer(code)]
        rows.append(
            LayerRow(
                code,
                layer.tokens,
                share(layer.tokens, context.budget),
                is_reused=bool(layer.cached),
                is_estimate=is_estimate and code == "L3",
                is_over=context.used > context.budget and layer.tokens == largest,
            )
        )
    return rows


def list_part_rows(
    context: "ContextReport",
    code: str,
    questions: Mapping[str, str] = NO_QUESTIONS,
    *,
    is_estimate: bool = False,
) -> list[PartRow]:
    """Return a row for each item in a layer of a request.

    If the report does not list the items, return a single row with their number.

    Args:
        context: the request report.
        code: the code of the layer.
        questions: the user messages by entry ID, used as names of the turns.
        is_estimate: whether passages will be added when the request is sent.
    """
    pinned = {pin.target for pin in context.pins}
    is_stored = context.when == "last"
    rows = [
        _segment_row(use, pinned, can_pin=is_stored or code == "L2")
        for use in context.segments
        if use.segment.layer == code and use.state != "dropped"
    ]
    rows += _plain_rows(context, code, questions)
    layer = context.layers[Layer(code)]
    if not rows and layer.tokens > 0 and not is_estimate:
        rows.append(PartRow(plural(layer.items, _UNITS.get(code, "message")), layer.tokens))
    if is_estimate and code == "L3":
        rows.append(PartRow(_PASSAGES, tip=_PASSAGES))
    return rows


def pin_rows(context: "ContextReport", questions: Mapping[str, str]) -> list[PartRow]:
    """Return a row for each item that is pinned in the chat, from all layers.

    Args:
        context: the request report.
        questions: the user messages by entry ID, used as names of the pins.
    """
    rows = []
    for pin in context.pins:
        target, is_message = pin.target, pin.source == _OWN_CHAT
        text = one_line(name_source(pin.source))
        if is_message:
            asked = one_line(questions.get(target, ""))
            text = f"“{asked}”" if asked else "An answer of this chat"
        path = "" if is_message else pin.source
        tip = f"{text}\nAlways sent word for word"
        rows.append(PartRow(text, pin.tokens, (), tip, path, None, target, is_pinned=True))
    return rows


def _plain_rows(context: "ContextReport", code: str, questions: Mapping[str, str]) -> list[PartRow]:
    """Return rows for the items of a layer that are not segments, such as tools and turns.

    Args:
        context: the request report.
        code: the code of the layer.
        questions: the user messages by entry ID, used as names of the turns.
    """
    written = {use.segment.id for use in context.segments if use.segment.layer == code}
    found = context.parts.get(Layer(code), ())
    shown = [(_describe_part(part, questions), part) for part in found if part.name not in written]
    return [PartRow(text, part.tokens, tip=text) for text, part in shown]


def _describe_part(part: "LayerPart", questions: Mapping[str, str]) -> str:
    match part.kind:
        case "turn" if asked := one_line(questions.get(part.entry or "", "")):
            return f"“{asked}”"
        case "turn" | "turns":
            return "One turn" if part.turns == 1 else f"{count(part.turns)} older turns"
        case "summary" | "messages" as kind:
            return _KINDS[kind]
        case "tool":
            return one_line(part.name)
        case _:
            return "Base instructions" if part.name in _BASE else word_name(part.name)


def _segment_row(use: "SegmentUse", pinned: set[str], *, can_pin: bool) -> PartRow:
    lines, source = use.segment.lines, use.segment.source or ""
    is_message = source == _OWN_CHAT
    text = "A message of this chat" if is_message else name_place(name_segment(use), lines)
    text = text or word_name(use.segment.kind)
    is_pinned = use.segment.id in pinned or use.state == "pinned"
    return PartRow(
        text=text,
        tokens=use.tokens,
        beside=_describe_state(use),
        tip=_tip(use, text, is_pinned=is_pinned),
        path="" if is_message else source,
        lines=(lines[0], lines[1]) if lines else None,
        target=use.segment.id if use.segment.layer in _PINNABLE and can_pin else "",
        is_pinned=is_pinned,
    )


def _describe_state(use: "SegmentUse") -> tuple[str, ...]:
    """Return texts that describe how a segment was changed, longest first.

    The first text can contain the original token count. If the segment was neither changed nor
    pinned, return an empty tuple.
    """
    if use.segment.derived and use.segment.kind != "image":
        return ("read whole",)
    if is_excerpt(use):
        return f"of {count(use.original_tokens)}", ""
    state = str(use.state) if use.state in _STATES else ""
    if use.original_tokens > use.tokens and state != "pinned":
        state = state or "shortened"
        return f"{state} from {count(use.original_tokens)}", state
    return (state,) if state else ()


def _tip(use: "SegmentUse", text: str, *, is_pinned: bool) -> str:
    size = plural(use.tokens, "token")
    if use.original_tokens != use.tokens:
        size = f"{count(use.tokens)} of {plural(use.original_tokens, 'token')}"
    state = "in full" if use.state == "full" else str(use.state)
    facts = [word_name(use.segment.kind), size, state]
    if is_pinned and state != "pinned":
        facts.append("pinned")
    version = one_line(use.segment.version or "")[:_VERSION_CHARS]
    found = (
        text,
        " · ".join(facts),
        word_reason(use.reason),
        f"Version {version} of the note" if version else "",
    )
    return "\n".join(line for line in found if line)
