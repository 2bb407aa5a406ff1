"""Read the layers of a stored request: which text stood in which layer, and from which source."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from context.assemble.request import Request
from context.json_codec import Record
from context.layers import Layer, name_place
from context.messages import compact_json

__all__ = [
    "BodyPlace",
    "LayerText",
    "describe_layout",
    "list_layer_texts",
    "list_sources",
]

_SOURCE: Final = re.compile(
    r'<(?P<tag>source|prior_context)(?P<attributes>(?: \w+="[^"]*")*)>\n?'
    r"(?P<text>.*?)\n?(?:</(?P=tag)>|\Z)",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(r' (\w+)="([^"]*)"')
SOURCE: Final = "source"
TOOL_RESULT: Final = "result"  # the name of a text that a tool returned


@dataclass(frozen=True, slots=True)
class BodyPlace:
    """Where a text stands in the body of a request.

    Attributes:
        field: the field of the body.
        index: the index of the tool or the message. The instructions have none.
        part: the index of the message's part, or None for a message that is one text.
        span: the first character of the text and the one after its last, or None for all of it.
    """

    field: Literal["tools", "system", "messages"]
    index: int = 0
    part: int | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class LayerText(Record):
    """A text of a layer, such as a passage, a section of the instructions or a message.

    Attributes:
        layer: the name of the layer, such as `L3`.
        name: what the text is: `source`, the name of a section or tool, or the role of a message.
        source: the path or address of a source, or an empty string.
        span: the lines of the source, such as `3-9`, or an empty string.
        number: the number that an answer cites, or None.
        place: where the text stands in the body.
    """

    layer: str
    name: str
    text: str
    place: BodyPlace
    source: str = ""
    span: str = ""
    number: int | None = None

    json_shape = ("layer", "name", "source", "lines = span", "number", "text")

    @property
    def label(self) -> str:
        """What the text is, for people: `[1] Inbox.md, lines 3–9`, or the name of a section."""
        lines = [int(line) for line in re.findall(r"\d{1,9}", self.span)]
        number = "" if self.number is None else f"[{self.number}] "
        return f"{number}{name_place(self.source, lines) or self.name}"


def describe_layout(request: Request) -> dict[str, Any]:
    """Return what tells the layers of a request's body, and the values that it was made with."""
    draft, report = request.draft, request.report
    return {
        "request": report.request,
        "model": report.model,
        "budget": report.budget,
        "used": report.used,
        "factor": request.budget.factor,
        "tokens": {str(layer): tokens for layer, tokens in draft.layers.items() if tokens},
        "system": [[part.name, len(part.text)] for part in request.base.system.parts],
        "history": len(draft.history_messages),
        "blocks": [str(layer) for layer, _text in draft.tail.blocks],
        "uncached": draft.uncached is not None,
    }


def list_layer_texts(body: Mapping[str, Any], layout: Mapping[str, Any]) -> list[LayerText]:
    """Return the texts of a request's body in the order in which models receive them.

    Args:
        body: the request as JSON that does not depend on the provider.
        layout: what `describe_layout` returned for it.
    """
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    history, end = int(layout["history"]), len(messages) - int(layout["uncached"])
    found = [
        LayerText(Layer.T, tool["name"], _write_tool(tool), BodyPlace("tools", at))
        for at, tool in enumerate(body["tools"])
    ]
    found += _list_system(str(body["system"]), layout["system"])
    found += _list_messages(Layer.L4, messages, range(history))
    if history < end:
        found += _list_tail(history, messages[history], layout["blocks"])
    found += _list_messages(Layer.W, messages, range(history + 1, end))
    found += _list_messages(Layer.E, messages, range(max(end, history + 1), len(messages)))
    return found


def list_sources(text: LayerText) -> Iterator[LayerText]:
    """Yield the `<source>` elements in a text, such as those that a tool has read."""
    start, _end = text.place.span or (0, len(text.text))
    for found in _SOURCE.finditer(text.text):
        span = start + found.start(), start + found.end()
        yield _read_source(text.layer, found, replace(text.place, span=span))


def _write_tool(tool: Mapping[str, Any]) -> str:
    return f"{tool.get('description', '')}\n{compact_json(tool.get('parameters', {}))}"


def _list_system(text: str, parts: Sequence[Sequence[Any]]) -> Iterator[LayerText]:
    if sum(int(size) for _name, size in parts) != len(text):  # a part of it is not kept any more
        yield LayerText(Layer.L1, "instructions", text, BodyPlace("system", span=(0, len(text))))
        return
    start = 0
    for name, size in parts:
        place = BodyPlace("system", span=(start, start + size))
        yield LayerText(Layer.L1, str(name), text[start : start + size].strip(), place)
        start += size


def _list_tail(
    index: int, message: Mapping[str, Any], blocks: Sequence[str]
) -> Iterator[LayerText]:
    """Yield the texts of the user message: one text for each layer, then what the user typed."""
    waiting = list(blocks)
    layer = ""
    for place, part in _list_message_parts(index, message):
        if part["type"] == "text":
            layer = waiting.pop(0) if waiting else str(Layer.L5)
            yield from _split_sources(layer, part["text"], place)
        else:
            yield LayerText(layer or Layer.L5, str(part["type"]), _write_part(part), place)


def _split_sources(layer: str, text: str, place: BodyPlace) -> Iterator[LayerText]:
    if layer not in (Layer.L2, Layer.L3):
        yield LayerText(layer, "message" if layer == Layer.L5 else "notes", text, place)
        return
    at = 0
    for found in _SOURCE.finditer(text):
        if between := text[at : found.start()].strip():
            yield LayerText(layer, "text", between, replace(place, span=(at, found.start())))
        yield _read_source(layer, found, replace(place, span=found.span()))
        at = found.end()
    if rest := text[at:].strip():
        yield LayerText(layer, "text", rest, replace(place, span=(at, len(text))))


def _read_source(layer: str, found: re.Match[str], place: BodyPlace) -> LayerText:
    values = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(found["attributes"])}
    number = values.get("n", "")
    return LayerText(
        layer,
        SOURCE,
        html.unescape(found["text"]),
        place,
        values.get("path") or values.get("source", ""),
        values.get("lines", ""),
        int(number) if number.isdecimal() else None,
    )


def _list_messages(
    layer: Layer, messages: Sequence[Mapping[str, Any]], indexes: range
) -> Iterator[LayerText]:
    for index in indexes:
        role = messages[index]["role"]
        for place, part in _list_message_parts(index, messages[index]):
            name = TOOL_RESULT if part["type"] == "tool_result" else role
            yield LayerText(layer, name, _write_part(part), place)


def _list_message_parts(
    index: int, message: Mapping[str, Any]
) -> Iterator[tuple[BodyPlace, Mapping[str, Any]]]:
    content = message["content"]
    if isinstance(content, str):
        yield BodyPlace("messages", index), {"type": "text", "text": content}
        return
    for at, part in enumerate(content):
        yield BodyPlace("messages", index, at), part


def _write_part(part: Mapping[str, Any]) -> str:
    match part["type"]:
        case "tool_call":
            return f"{part['name']} {compact_json(part['arguments'])}"
        case "tool_result":
            return str(part["content"])
        case "image":
            return f"[{part['media_type']}, {len(part['data']) * 3 // 4:,} bytes]"
    return str(part.get("text", f"[{part['type']}]"))
