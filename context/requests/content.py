"""A kept request, with or without some of its parts."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from context.requests.layout import BodyPlace
from context.requests.parts import RequestPart, list_parts

__all__ = ["KeptContent"]


@dataclass(frozen=True)
class KeptContent:
    """The content of a kept request, of which some parts may be left out.

    What is left out is cut out of the body as it was kept, so that the rest stays the same.

    Attributes:
        whole: the whole body, as JSON that does not depend on the provider.
        layout: what `context.requests.layout.describe_layout` returned for the request.
        left_out: the keys of the parts that are left out.
    """

    whole: Mapping[str, Any]
    layout: Mapping[str, Any]
    left_out: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def parts(self) -> tuple[RequestPart, ...]:
        """All parts that can be left out, in the order in which models receive them."""
        return tuple(list_parts(self.whole, self.layout))

    def leave_out(self, keys: Collection[str]) -> "KeptContent":
        """Return the request without some parts, and without those that are left out already.

        Raises:
            KeyError: the request has no part with one of the keys.
        """
        known = {part.key for part in self.parts}
        if unknown := [key for key in keys if key not in known]:
            raise KeyError(unknown[0])
        return replace(self, left_out=self.left_out.union(keys))

    def put_back(self, keys: Collection[str]) -> "KeptContent":
        """Return the request with some parts that were left out."""
        return replace(self, left_out=self.left_out.difference(keys))

    @property
    def body(self) -> Mapping[str, Any]:
        """The body without the parts that are left out."""
        return self._cut[0]

    @property
    def history(self) -> int:
        """The number of messages of the history that are left."""
        return self._cut[1]

    @property
    def has_uncached(self) -> bool:
        """Whether the last message is one that only this request has."""
        uncached = int(self.layout["uncached"])
        return bool(uncached) and len(self.whole["messages"]) - 1 not in self._gone_messages

    @property
    def system_parts(self) -> tuple[tuple[str, str], ...]:
        """The name and text of each part of the instructions that is left."""
        text, named = str(self.body["system"]), list(self.layout["system"])
        if sum(int(size) for _name, size in named) != len(str(self.whole["system"])):
            return (("instructions", text),) if text else ()
        gone = {place.span for place in self._places if place.field == "system"}
        found: list[tuple[str, str]] = []
        start = at = 0
        for name, size in named:
            if (start, start + size) not in gone:
                found.append((str(name), text[at : at + size]))
                at += size
            start += size
        return tuple(found)

    @cached_property
    def _places(self) -> frozenset[BodyPlace]:
        gone = (part for part in self.parts if part.key in self.left_out)
        return frozenset(place for part in gone for place in part.places)

    @cached_property
    def _gone_messages(self) -> frozenset[int]:
        """The indexes of the messages of which nothing is left."""
        gone = {
            place.index
            for place in self._places
            if place.field == "messages" and place.part is None and place.span is None
        }
        parts: defaultdict[int, set[int]] = defaultdict(set)
        for place in self._places:
            if place.field == "messages" and place.part is not None and place.span is None:
                parts[place.index].add(place.part)
        messages: Sequence[Mapping[str, Any]] = self.whole["messages"]
        empty = {at for at, some in parts.items() if len(some) == len(messages[at]["content"])}
        return frozenset(gone | empty)

    @cached_property
    def _cut(self) -> tuple[Mapping[str, Any], int]:
        if not self._places:
            return self.whole, int(self.layout["history"])
        messages: Sequence[Mapping[str, Any]] = self.whole["messages"]
        gone = self._gone_messages
        kept = [at for at in range(len(messages)) if at not in gone]
        numbers = {old: new for new, old in enumerate(kept)}
        system = _cut_text(str(self.whole["system"]), self._list_spans("system"))
        marks = [
            {**mark, "message": None if mark["message"] is None else numbers[mark["message"]]}
            for mark in self.whole["marks"]
            if mark["message"] in numbers or (mark["message"] is None and system)
        ]
        body = {
            "system": system,
            "tools": self._keep_tools(),
            "messages": [self._cut_message(at, messages[at]) for at in kept],
            "options": self.whole["options"],
            "marks": marks,
        }
        return body, sum(at < int(self.layout["history"]) for at in kept)

    def _keep_tools(self) -> list[Any]:
        gone = {place.index for place in self._places if place.field == "tools"}
        return [tool for at, tool in enumerate(self.whole["tools"]) if at not in gone]

    def _cut_message(self, index: int, message: Mapping[str, Any]) -> Mapping[str, Any]:
        places = [p for p in self._places if p.field == "messages" and p.index == index]
        if not places:
            return message
        content: list[Any] = []
        for at, part in enumerate(message["content"]):
            own = [place for place in places if place.part == at]
            if any(place.span is None for place in own):
                continue
            name = "content" if part["type"] == "tool_result" else "text"
            spans = {place.span for place in own if place.span is not None}
            text = _cut_elements(str(part[name]), spans) if spans else ""
            if spans and not text and name == "text":
                continue
            content.append({**part, name: text} if spans else part)
        return {**message, "content": content}

    def _list_spans(self, name: str) -> set[tuple[int, int]]:
        return {p.span for p in self._places if p.field == name and p.span is not None}


def _cut_text(text: str, spans: Set[tuple[int, int]]) -> str:
    """Return a text without some of its spans, which do not overlap."""
    kept, at = "", 0
    for start, end in sorted(spans):
        kept, at = kept + text[at:start], end
    return kept + text[at:]


def _cut_elements(text: str, spans: Set[tuple[int, int]]) -> str:
    """Return a text without some of its elements, each of which has a line of its own."""
    wide = {(start, end + text.startswith("\n", end)) for start, end in spans}
    kept = _cut_text(text, wide)
    is_last = any(end == len(text) for _start, end in spans)
    return kept.removesuffix("\n") if is_last else kept
