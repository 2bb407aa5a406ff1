"""The draft of a request: its messages in sending order, with token counts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from context.envelope import System
from context.history.pins import NO_PINS, Pins
from context.history.turn_list import TurnList
from context.json_codec import Record
from context.layers import Layer, Segment, render_segments, sort_by_wire
from context.messages import (
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolDefinition,
    compact_json,
    is_merged,
)
from context.tokens import (
    TokenCounter,
    count_merged,
    count_message,
    count_part,
    count_segment_image,
    count_tool,
)

_BODY: Final = "body"


@dataclass(frozen=True)
class Preamble:
    """The start of a request: the system message and the tool definitions.

    Attributes:
        system: the system message, as a sequence of parts.
        tools: the tool definitions.
        counter: counts the tokens.
    """

    system: System
    tools: tuple[ToolDefinition, ...]
    counter: TokenCounter

    @cached_property
    def tool_sizes(self) -> tuple[tuple[str, int], ...]:
        """The name and token count of each tool."""
        return tuple((tool.name, count_tool(tool, self.counter)) for tool in self.tools)

    @cached_property
    def tool_tokens(self) -> int:
        """The token count of the tool definitions (layer T)."""
        return sum(size for _, size in self.tool_sizes)

    @cached_property
    def system_tokens(self) -> int:
        """The token count of the system message (L1), or 0 if there are no instructions."""
        text = self.system.compiled
        return count_message(Message("system", text), self.counter) if text else 0

    @cached_property
    def part_tokens(self) -> Mapping[str, int]:
        """The token count of each part of the system message, by name."""
        return {part.name: count_part(part.text, self.counter) for part in self.system.parts}

    @cached_property
    def digest(self) -> bytes:
        """A hash of the tools and the system message."""
        tools = [tool.to_dict() for tool in self.tools]
        text = compact_json([tools, self.system.compiled])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@lru_cache(maxsize=8)
def make_preamble(
    system: System, tools: tuple[ToolDefinition, ...], counter: TokenCounter
) -> Preamble:
    """Build a preamble, which is the start of a request. The result is cached for equal arguments.

    The preamble is large and the same in many requests, so its tokens should be counted only once.
    """
    return Preamble(system, tools, counter)


@dataclass(frozen=True)
class Tail:
    """The last user message of a request, together with the context sent with it.

    Attributes:
        segments: the context from earlier turns (L2) and of this turn (L3), in order of attachment
            or rank.
        question: the text that the user typed, without context.
        notes: the ephemeral text for the model (layer E) at the start of the turn, such as the
            session's memory, or an empty string.
        tools: the names of the available tools, or None if unknown.
    """

    segments: tuple[Segment, ...]
    question: Message
    counter: TokenCounter
    notes: str = ""
    tools: frozenset[str] | None = None

    @cached_property
    def blocks(self) -> tuple[tuple[Layer, str], ...]:
        """The rendered context that precedes the typed text.

        Each layer has one text. The layers are in the order of the request.
        """
        texts = {layer: render_segments(self.on(layer)) for layer in (Layer.L2, Layer.L3)}
        texts[Layer.E] = self.notes
        return tuple((layer, text) for layer, text in sort_by_wire(texts) if text)

    @cached_property
    def message(self) -> Message:
        """The user message as sent. The typed text comes last, after all context and images."""
        if not self.blocks:
            return self.question
        content = self.question.content
        typed: tuple[Part, ...] = (TextPart(content),) if isinstance(content, str) else content
        parts = {Layer.L5: typed}
        parts |= {layer: (TextPart(text), *self._images(layer)) for layer, text in self.blocks}
        ordered = sort_by_wire(parts)
        return replace(self.question, content=tuple(part for _, some in ordered for part in some))

    @cached_property
    def tokens(self) -> Mapping[Layer, int]:
        """The token count of each layer in the message. The message's overhead counts for L5."""
        counter = self.counter
        sizes = {layer: count_part(text, counter) for layer, text in self.blocks}
        for segment in self.segments:
            sizes[segment.layer] += count_segment_image(segment, counter)
        sizes[Layer.L5] = count_message(self.question, self.counter)
        if self.blocks and isinstance(self.question.content, str):
            sizes[Layer.L5] += self.counter.part_overhead
        return sizes

    @cached_property
    def total(self) -> int:
        """The token count of the whole user message, with its context."""
        return sum(self.tokens.values())

    def on(self, layer: Layer) -> tuple[Segment, ...]:
        """Return the segments that belong to a layer."""
        return tuple(segment for segment in self.segments if segment.layer is layer)

    def _images(self, layer: Layer) -> tuple[Part, ...]:
        """Return the images of a layer as message parts, in the order of its segments."""
        images = (segment.image for segment in self.on(layer))
        return tuple(ImagePart(image.media_type, image.data) for image in images if image)


@dataclass(frozen=True)
class RequestDraft:
    """The content of a request before the request is sent.

    Attributes:
        preamble: the system message and the tool definitions.
        history: the earlier turns in the request, oldest first.
        tail: the user message and the context sent with it.
        work: the tool calls and results of the current turn.
        uncached: the last message, which is sent only with this request, or None.
        pins: the pinned messages and segments, which are never removed.
        acts: the ids of the messages with results of tools that may have changed something. While
            the model can call tools, these results are never shortened.
        end_tools: the tools of the request if the budget ends the loop of tool calls. Some services
            refuse earlier tool calls without any.
    """

    preamble: Preamble
    history: TurnList
    tail: Tail
    work: tuple[Message, ...] = ()
    uncached: Message | None = None
    pins: Pins = NO_PINS
    acts: frozenset[str] = frozenset()
    end_tools: tuple[ToolDefinition, ...] = ()

    @cached_property
    def layers(self) -> Mapping[Layer, int]:
        """The token count of each layer. The sum of the counts is `used`."""
        counter = self.tail.counter
        question_saved, *work_saved = self._merged[: 1 + len(self.work)]
        work = sum(count_message(message, counter) for message in self.work)
        sizes = {
            **dict.fromkeys(Layer, 0),
            Layer.T: self.preamble.tool_tokens,
            Layer.L1: self.preamble.system_tokens,
            Layer.L4: self.history.tokens,
            **self.tail.tokens,
            Layer.W: work - sum(work_saved),
        }
        if self._has_parts_only:
            sizes[Layer.L5] += counter.part_overhead
        sizes[Layer.L5] -= question_saved
        sizes[Layer.E] += self.uncached_tokens
        return sizes

    @property
    def uncached_tokens(self) -> int:
        """The token count of the message that is sent only with this request, if any."""
        if self.uncached is None:
            return 0
        return count_message(self.uncached, self.tail.counter) - self._merged[-1]

    @property
    def used(self) -> int:
        """The token count of the whole request."""
        return sum(self.layers.values())

    @cached_property
    def history_messages(self) -> tuple[Message, ...]:
        """The messages of the earlier turns."""
        return self.history.messages

    @cached_property
    def question(self) -> Message:
        """The user message with the context of this turn.

        If the request has tools, the content is always a list of parts, so that all requests of a
        turn share the same prefix. In the first request of a turn, the uncached message is merged
        into the user message.
        """
        message = self.tail.message
        if not self._has_parts_only:
            return message
        return replace(message, content=(TextPart(message.text),))

    @property
    def _has_parts_only(self) -> bool:
        return bool(self.preamble.tools) and isinstance(self.tail.message.content, str)

    @cached_property
    def _merged(self) -> tuple[int, ...]:
        """The tokens saved by merging the messages after the history with their predecessors."""
        saved, counter = [], self.tail.counter
        before = self.history[-1].messages[-1:] if self.history else ()
        joined = before if self.history.is_last_joined else ()
        for message in self.present:
            counted = (count_merged(one, message, counter, joined=joined) for one in before)
            saved.append(sum(counted))
            is_joined = bool(before) and is_merged(before[0].role, message.role)
            joined = (message,) if is_joined else ()
            before = (message,)
        return tuple(saved)

    @property
    def present(self) -> tuple[Message, ...]:
        """The messages after the history, as sent to the model."""
        return self._order({Layer.L5: (self.question,), Layer.W: self.work})

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, as sent to the model."""
        now = {Layer.L5: (self.question,), Layer.W: self.work}
        return self._order({Layer.L4: self.history_messages, **now})

    def _order(self, messages: Mapping[Layer, tuple[Message, ...]]) -> tuple[Message, ...]:
        """Sort messages into the order of the request. The uncached message comes last.

        Args:
            messages: the messages of each layer.
        """
        last = () if self.uncached is None else (self.uncached,)
        ordered = (message for _, some in sort_by_wire(messages) for message in some)
        return (*ordered, *last)


@dataclass(frozen=True, slots=True)
class CacheMark(Record):
    """A position in a request up to which the provider may cache it.

    Attributes:
        layer: `L1` for the end of the instructions, `L4` for the history, or `W` for tool calls.
        message: the index of the message, or None for the end of the instructions.
    """

    layer: Layer
    message: int | None


def make_message_body(message: Message) -> dict[str, object]:
    """Return a message as a JSON object without the id of its log entry."""
    data = message.to_dict()
    return {"role": data["role"], "content": data["content"]}


def encode_message(message: Message) -> str:
    """Return a message as compact JSON without the id of its log entry. The text is cached."""
    return message.encode_once(_BODY, lambda one: compact_json(make_message_body(one)))
