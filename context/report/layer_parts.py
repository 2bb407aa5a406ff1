"""List the items of the layers that have no segments: tools, instructions and turns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from context.compaction import HEAD
from context.draft import RequestDraft
from context.history.turn_list import TurnList
from context.json_codec import Record
from context.layers import Layer

SINGLE_TURNS: Final = 12

PartKind = Literal["tool", "instructions", "summary", "turn", "turns", "messages"]


@dataclass(frozen=True, slots=True)
class LayerPart(Record):
    """One item of a layer in a context report, such as a tool or a turn.

    Attributes:
        kind: the type of the item.
        tokens: the token count of the item.
        name: the name of a tool or system part, otherwise an empty string.
        entry: the id of a turn's user message, or None for other items.
        turns: the number of turns in this item, or 0 if it is not a turn.
    """

    kind: PartKind
    tokens: int
    name: str = ""
    entry: str | None = None
    turns: int = 0

    json_shape = (
        "kind",
        "name",
        "entry",
        "turns",
        "tokens",
    )


def list_layer_parts(draft: RequestDraft) -> Mapping[Layer, tuple[LayerPart, ...]]:
    """Return the items of the layers T (tools), L1 (instructions) and L4 (history), in this order.

    The newest turns are listed one by one. All older turns form one item.
    """
    before = draft.preamble
    tools = (LayerPart("tool", size, name) for name, size in before.tool_sizes)
    written = (LayerPart("instructions", size, name) for name, size in before.part_tokens.items())
    history = tuple(_list_turns(draft.history))
    return {Layer.T: tuple(tools), Layer.L1: tuple(written), Layer.L4: history}


def _list_turns(history: TurnList) -> Iterator[LayerPart]:
    start = 1 if history and history[0].turn.user is None else 0
    single = max(start, len(history) - SINGLE_TURNS)
    if single == start + 1:
        single = start
    if start:
        yield _describe_turn(history, 0)
    if single > start:
        yield LayerPart("turns", _count_tokens(history, start, single), turns=single - start)
    for at in range(single, len(history)):
        yield _describe_turn(history, at)


def _describe_turn(history: TurnList, at: int) -> LayerPart:
    turn, tokens = history[at], _count_tokens(history, at, at + 1)
    if turn.turn.user is not None:
        return LayerPart("turn", tokens, entry=turn.turn.user.id, turns=1)
    is_summary = any(message.text.startswith(HEAD) for message in turn.messages)
    return LayerPart("summary" if is_summary else "messages", tokens)


def _count_tokens(history: TurnList, start: int, stop: int) -> int:
    """Count the tokens that a range of turns contributes to the history.

    This can be less than the count of the range on its own, because its first message may be merged
    with the turn before it.
    """
    return history[:stop].tokens - history[:start].tokens
