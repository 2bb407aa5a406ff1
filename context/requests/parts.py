"""List the parts of a kept request that can be left out of it.

A part has a key that people write and read: `3` for source 3, `L4.2` for the second turn of the
history, `L2` for a whole layer. What the user typed is no part, since the answer is to it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, Literal

from context.layers import WIRE_ORDER, Layer
from context.report.markdown import LAYER_NAMES
from context.requests.layout import (
    SOURCE,
    TOOL_RESULT,
    BodyPlace,
    LayerText,
    list_layer_texts,
    list_sources,
)

__all__ = ["PartKind", "RequestPart", "list_parts", "order_keys"]

PartKind = Literal["source", "turn", "step", "text", "image", "tool", "layer"]
_IMAGE: Final = "image"
_LABEL_CHARS: Final = 60
_KEY: Final = re.compile(r"(?:(?P<number>\d+)|(?P<layer>[TELW]\d?)(?:\.(?P<at>\d+))?)")


@dataclass(frozen=True)
class RequestPart:
    """A part of a kept request that can be left out.

    Attributes:
        key: the name by which it is left out, such as `3`, `L4.2` or `L2`.
        label: what the part is, for people.
        texts: its texts. Those of a layer are the texts of all its parts.
        places: where they stand in the body.
    """

    key: str
    kind: PartKind
    layer: str
    label: str
    texts: tuple[LayerText, ...]
    places: tuple[BodyPlace, ...]

    @property
    def source(self) -> str:
        """The path or address of a source, or an empty string."""
        return self.texts[0].source if self.kind == "source" else ""

    @property
    def number(self) -> int | None:
        """The number by which answers cite a source, or None."""
        return self.texts[0].number if self.kind == "source" else None

    @property
    def text(self) -> str:
        """The text of the part, as models receive it but without escapes."""
        return "\n".join(text.text for text in self.texts)

    def to_dict(self) -> dict[str, Any]:
        """Return the part as a JSON object."""
        return {
            "key": self.key,
            "kind": self.kind,
            "layer": self.layer,
            "label": self.label,
            "source": self.source,
            "number": self.number,
        }


def list_parts(body: Mapping[str, Any], layout: Mapping[str, Any]) -> Iterator[RequestPart]:
    """Yield the parts that can be left out: for each layer the layer itself, then what it has.

    Args:
        body: the body of the request, as JSON that does not depend on the provider.
        layout: what `context.requests.layout.describe_layout` returned for the request.
    """
    merged: dict[str, RequestPart] = {}
    for part in _list_layers(list_layer_texts(body, layout), body):
        before = merged.get(part.key)
        merged[part.key] = part if before is None else _join(before, part)
    yield from merged.values()


def _join(part: RequestPart, other: RequestPart) -> RequestPart:
    """Join a source with itself where an agent read it once more."""
    texts, places = (*part.texts, *other.texts), (*part.places, *other.places)
    return replace(part, texts=texts, places=places)


def _list_layers(texts: Sequence[LayerText], body: Mapping[str, Any]) -> Iterator[RequestPart]:
    for layer in WIRE_ORDER:
        own = [text for text in texts if text.layer == layer]
        if not own:
            continue
        inside = list(_list_inside(layer, own, body))
        if layer is not Layer.L5:
            places = tuple(dict.fromkeys(_widen(text.place) for text in own))
            name = str(layer)
            yield RequestPart(name, "layer", name, LAYER_NAMES[layer], tuple(own), places)
        yield from inside


def order_keys(keys: Sequence[str] | frozenset[str]) -> list[str]:
    """Return keys in the order in which they are shown: sources by number, then layers."""
    return sorted(keys, key=_rank_key)


def _rank_key(key: str) -> tuple[int, int, str]:
    found = _KEY.fullmatch(key)
    if found is None:
        return 2, 0, key
    if found["number"]:
        return 0, int(found["number"]), ""
    return 1, int(found["at"] or 0), found["layer"]


def _list_inside(
    layer: Layer, texts: Sequence[LayerText], body: Mapping[str, Any]
) -> Iterator[RequestPart]:
    """Yield the parts within a layer."""
    if layer in (Layer.L4, Layer.W):
        yield from _list_exchanges(layer, texts, body)
        return
    at = 0
    for (number, _at), some in groupby(_number(texts), key=lambda one: one[0]):
        own = tuple(text for _key, text in some)
        first = own[0]
        if number is not None:
            yield _make_source(number, own)
        elif layer is not Layer.L5 or first.name == _IMAGE:
            at += 1
            kind = _name_kind(layer, first)
            places = (first.place,)
            label = first.text if first.name == _IMAGE else first.label
            yield RequestPart(f"{layer}.{at}", kind, layer, label, own, places)


def _number(
    texts: Sequence[LayerText],
) -> Iterator[tuple[tuple[int | None, int], LayerText]]:
    """Yield each text with the number of its source, so that equal numbers are neighbours."""
    keyed = [((text.number, 0 if text.number else at), text) for at, text in enumerate(texts)]
    first = {key: at for at, (key, _text) in reversed(list(enumerate(keyed)))}
    yield from sorted(keyed, key=lambda one: first[one[0]])


def _name_kind(layer: Layer, text: LayerText) -> PartKind:
    if text.name in (SOURCE, _IMAGE):
        return "source" if text.name == SOURCE else "image"
    return "tool" if layer is Layer.T else "text"


def _make_source(number: int, texts: tuple[LayerText, ...]) -> RequestPart:
    first = texts[0]
    places = tuple(text.place for text in texts)
    layer, key = first.layer, str(number)
    return RequestPart(key, "source", layer, first.label, texts, places)


def _list_exchanges(
    layer: Layer, texts: Sequence[LayerText], body: Mapping[str, Any]
) -> Iterator[RequestPart]:
    """Yield the turns of the history, or the steps with tools, and the sources that tools read.

    A call and its results are one part, since services refuse one without the other.
    """
    starts = "user" if layer is Layer.L4 else "assistant"
    groups: list[list[LayerText]] = []
    last = -1
    for text in texts:
        index = text.place.index
        begins = index != last and body["messages"][index]["role"] == starts
        if begins or not groups:
            groups.append([])
        groups[-1].append(text)
        last = index
    kind: PartKind = "turn" if layer is Layer.L4 else "step"
    for at, own in enumerate(groups, start=1):
        places = tuple(dict.fromkeys(_widen(text.place) for text in own))
        label = _shorten(own[0].text)
        yield RequestPart(f"{layer}.{at}", kind, layer, label, tuple(own), places)
    if layer is Layer.W:
        results = (text for text in texts if text.name == TOOL_RESULT)
        read = [source for text in results for source in list_sources(text)]
        numbered = [source for source in read if source.number is not None]
        for (number, _at), some in groupby(_number(numbered), key=lambda one: one[0]):
            assert number is not None
            yield _make_source(number, tuple(text for _key, text in some))


def _widen(place: BodyPlace) -> BodyPlace:
    """Return the whole message of a message of a turn, or the whole part of a layer's text."""
    if place.field == "messages":
        return BodyPlace("messages", place.index, place.part)
    return place


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL_CHARS else f"{line[: _LABEL_CHARS - 1]}…"
