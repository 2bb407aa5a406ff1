"""Convert messages and tool calls to chat API JSON."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from chains.llm.wire_content import (
    USUAL_STYLE,
    WireStyle,
    add_mark,
    convert_message,
    has_content,
    join_texts,
    merge_neighbours,
)
from context.assemble.request import Request
from context.draft import encode_message, make_message_body
from context.history.turns import MeasuredTurn
from context.layers import replace_surrogates
from context.messages import Message, ToolCallPart, compact_json, is_merged

__all__ = [
    "build_wire_conversation",
    "build_wire_messages",
    "build_wire_system",
    "encode_conversation",
    "encode_messages",
    "encode_turns",
]


def build_wire_conversation(
    request: Request, style: WireStyle = USUAL_STYLE
) -> list[dict[str, Any]]:
    """Convert a request's instructions and messages to chat API JSON."""
    marked = {mark.message for mark in request.marks}
    bodies = [make_message_body(message) for message in request.messages]
    places = {at for at in marked if at is not None}
    system = build_wire_system(request.base.system.compiled, is_marked=None in marked)
    return [*system, *build_wire_messages(bodies, _count_uncached(request), places, style)]


def encode_conversation(request: Request, style: WireStyle = USUAL_STYLE) -> str:
    """Encode the messages of a request as JSON.

    If the request has no cache marks, the JSON of earlier messages is reused.
    """
    if request.marks:
        return compact_json(build_wire_conversation(request, style))
    system = map(compact_json, build_wire_system(request.base.system.compiled))
    history = request.draft.history.accumulate(style, partial(encode_turns, style=style))
    messages = (*history.open, *request.draft.present)
    now = _encode_present(messages, _count_uncached(request), style, history.in_tool_turn)
    return f"[{','.join((*system, *filter(None, [history.text]), *now))}]"


@dataclass(frozen=True)
class _EncodedHistory:
    """The encoded history of a request.

    Attributes:
        text: the JSON of the complete messages, separated by commas.
        open: the last messages, which are not encoded yet, because the messages that follow may be
            merged with them.
        in_tool_turn: whether a tool call of the same turn precedes the open messages.
    """

    text: str = ""
    open: tuple[Message, ...] = ()
    in_tool_turn: bool = False


def encode_turns(
    known: _EncodedHistory | None,
    turns: Sequence[MeasuredTurn],
    style: WireStyle = USUAL_STYLE,
) -> _EncodedHistory:
    """Encode the next turns of a history, and append them to the turns encoded before.

    Args:
        known: the encoded turns, or None if there are none yet.
        turns: the turns to append.
        style: how messages are written for the model.
    """
    known = known or _EncodedHistory()
    messages = (*known.open, *(message for turn in turns for message in turn.messages))
    starts = [start for start, _ in _split_runs(messages)]
    closed = messages[: starts[-1]] if starts else ()
    texts = _encode_runs(closed, len(messages), style, known.in_tool_turn)
    in_tool_turn = [known.in_tool_turn, *_mark_tool_turns(closed, known.in_tool_turn)][-1]
    text = ",".join((*filter(None, [known.text]), *texts))
    return _EncodedHistory(text, messages[len(closed) :], in_tool_turn)


def _mark_tool_turns(
    messages: Iterable[Message | Mapping[str, Any]], in_tool_turn: bool = False
) -> list[bool]:
    """Return for each message whether it has a tool call, or follows one in its turn.

    Args:
        messages: the messages, in either form.
        in_tool_turn: whether a call of the first message's turn precedes it.
    """
    marks = []
    for message in messages:
        role, has_calls = _describe(message)
        in_tool_turn = has_calls or (in_tool_turn and role != "user")
        marks.append(in_tool_turn)
    return marks


def _describe(message: Message | Mapping[str, Any]) -> tuple[str, bool]:
    """Return the role of a message, and whether it has tool calls."""
    if isinstance(message, Message):
        typed = () if isinstance(message.content, str) else message.content
        return message.role, any(isinstance(part, ToolCallPart) for part in typed)
    content = message["content"]
    parts = () if isinstance(content, str) else content
    return message["role"], any(part["type"] == "tool_call" for part in parts)


def _count_uncached(request: Request) -> int:
    return 0 if request.draft.uncached is None else 1


def build_wire_system(text: str, *, is_marked: bool = False) -> list[dict[str, Any]]:
    """Build the system message, or return an empty list if there is no text.

    Args:
        text: the text of the system message.
        is_marked: whether the message ends with a cache mark.
    """
    if not text:
        return []
    message: dict[str, Any] = {"role": "system", "content": replace_surrogates(text)}
    return [add_mark(message) if is_marked else message]


def build_wire_messages(
    messages: Sequence[Mapping[str, Any]],
    uncached: int = 0,
    marked: Collection[int] = (),
    style: WireStyle = USUAL_STYLE,
) -> list[dict[str, Any]]:
    """Convert messages to chat API JSON.

    Neighbours are merged as `is_merged` decides. Signed reasoning is returned to the model only
    within the same turn.

    Args:
        messages: the messages in provider-neutral form.
        uncached: the number of messages at the end that belong only to this request.
        marked: the indexes of messages that end with a cache mark.
        style: how messages are written for the model.
    """
    asked = [
        at
        for at, message in enumerate(messages[: len(messages) - uncached])
        if message["role"] == "user"
    ]
    work_from = asked[-1] if asked else len(messages)
    return _join_messages(messages, work_from, style, _mark_tool_turns(messages), marked)


def _join_messages(
    messages: Sequence[Mapping[str, Any]],
    work_from: int,
    style: WireStyle,
    tool_turns: Sequence[bool],
    marked: Collection[int] = (),
) -> list[dict[str, Any]]:
    """Convert messages, and merge adjacent ones of the same role.

    Args:
        messages: the messages in provider-neutral form.
        work_from: the index of the turn's user message. Only signed reasoning after it is kept.
        style: how messages are written for the model.
        tool_turns: for each message, whether it has a tool call or follows one in its turn.
        marked: the indexes of messages that end with a cache mark.
    """
    converted: list[dict[str, Any]] = []
    for at, message in enumerate(messages):
        converted += convert_message(
            message, style, keeps_signed=at > work_from, in_tool_turn=tool_turns[at]
        )
        if at in marked and converted:
            converted[-1] = add_mark(converted[-1])
    merged = merge_neighbours(converted)
    return [join_texts(message) for message in merged] if style.joins_text else merged


def encode_messages(
    messages: Sequence[Message], uncached: int, style: WireStyle = USUAL_STYLE
) -> list[str]:
    """Convert messages like `build_wire_messages`, but return each one as JSON text.

    If a message is not merged with another one, its JSON is cached.

    Args:
        uncached: the number of messages at the end that belong only to this request.
        style: how messages are written for the model.
    """
    return _encode_present(messages, uncached, style)


def _encode_present(
    messages: Sequence[Message], uncached: int, style: WireStyle, in_tool_turn: bool = False
) -> list[str]:
    """Encode messages of which the last user message is the turn's, unless it is uncached."""
    cached = range(len(messages) - uncached - 1, -1, -1)
    work_from = next((at for at in cached if messages[at].role == "user"), len(messages))
    return _encode_runs(messages, work_from, style, in_tool_turn)


def _encode_runs(
    messages: Sequence[Message], work_from: int, style: WireStyle, in_tool_turn: bool
) -> list[str]:
    texts: list[str] = []
    marks = _mark_tool_turns(messages, in_tool_turn)
    for start, stop in _split_runs(messages):
        form = _Form(style, start > work_from, marks[start])
        if stop - start == 1:
            texts.append(messages[start].encode_once(form, partial(_encode_message, form=form)))
        else:
            run, places = messages[start:stop], marks[start:stop]
            texts += _encode_run(run, style, work_from - start, places)
    return texts


@dataclass(frozen=True)
class _Form:
    """What the JSON of one message depends on, besides the message.

    Attributes:
        style: how messages are written for the model.
        is_work: whether the message belongs to the current turn, behind its user message.
        in_tool_turn: whether it has a tool call, or follows one in its turn.
    """

    style: WireStyle
    is_work: bool
    in_tool_turn: bool


def _split_runs(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Yield the index ranges of adjacent messages that may be merged into one."""
    start = 0
    for at, message in enumerate(messages, 1):
        if at == len(messages) or not _may_join(message, messages[at]):
            yield start, at
            start = at


def _may_join(first: Message, second: Message) -> bool:
    if is_merged(first.role, second.role):
        return True
    return not (has_content(first) and has_content(second))


def _encode_message(message: Message, form: _Form) -> str:
    is_plain = message.role != "assistant" or form.style.returned_thinking == "nowhere"
    if is_plain and isinstance(message.content, str) and has_content(message):
        return encode_message(message)
    work_from = -1 if form.is_work else 0
    return ",".join(_encode_run([message], form.style, work_from, [form.in_tool_turn]))


def _encode_run(
    messages: Sequence[Message], style: WireStyle, work_from: int, tool_turns: Sequence[bool]
) -> Iterator[str]:
    """Yield the JSON of a range of messages, merging those of the same role.

    The messages before and after the range are not merged with it.

    Args:
        messages: the messages of the range.
        style: how messages are written for the model.
        work_from: the index of the turn's user message. Only signed reasoning after it is kept.
        tool_turns: for each message, whether it has a tool call or follows one in its turn.
    """
    bodies = [make_message_body(message) for message in messages]
    return map(compact_json, _join_messages(bodies, work_from, style, tool_turns))
