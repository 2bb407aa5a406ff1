"""Leave out of a conversation what tools read in notes that models may not read any more.

A note may be excluded, or marked as private, after a tool has read it. Its text is then replaced by
a notice in all requests, also in those for summaries. The log keeps it, so the text comes back when
the note may be read again. A summary that was made of such text is replaced by an outline.
"""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from context.history.note_text import EXCLUDED_LINE, find_note_pieces, hide_note_text
from context.history.outline import QUOTING_MODEL, format_summary, make_outline
from context.history.pins import PINNED_SOURCE, Pins, make_pinned_segment
from context.history.replay import CurrentTurn, ReplayedPath
from context.history.turn_list import TurnList, count_summaries
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import Segment
from context.messages import Message, Part, ToolCallPart, ToolResultPart, list_tool_calls
from context.offload import (
    PREVIEW_CHARS,
    READ_RESULT_NAME,
    read_page,
    read_stub,
    replace_preview,
)
from context.tokens import TokenCounter, count_message

QUOTED_LINE: Final = "[This answer quoted a note that is now excluded.]"
OUTLINED_LINE: Final = "[An outline, because the summary was made of notes that are now excluded.]"
MARKS: Final = (EXCLUDED_LINE, QUOTED_LINE, OUTLINED_LINE)
_TEXT_ARGUMENTS: Final = frozenset({"new", "old", "text"})
LEAST_OUTLINE_TOKENS: Final = 300
_NAMED: Final = "named notes"
_HIDDEN: Final = "without excluded notes"

# Returns those of the given paths whose notes models may not read now.
FindExcluded = Callable[[frozenset[str]], frozenset[str]]
# Returns a tool result that is stored outside of the log, or None if it is lost.
LoadResult = Callable[[str], str | None]


def hide_excluded(
    reading: ReplayedPath, find_excluded: FindExcluded, load_result: LoadResult
) -> ReplayedPath:
    """Return a conversation without the text that tools read in excluded notes.

    Args:
        reading: the conversation, as rebuilt from the log.
        find_excluded: returns those of the given paths whose notes models may not read now.
        load_result: returns a tool result that is stored outside of the log, or None.
    """
    current = reading.open
    pinned = (item.raw_content for item in reading.pins.segments.values())
    named = list_read_notes(reading.earlier, load_result).union(
        list_read_notes(reading.summarised, load_result),
        () if current is None else _list_of_turn(current.turn, current.messages, load_result),
        (piece.path for text in pinned for piece in find_note_pieces(text)),
    )
    excluded = find_excluded(named) if named else frozenset()
    return _Hiding(excluded, load_result, reading.counter).apply(reading) if excluded else reading


def hide_in_turns(
    turns: TurnList, find_excluded: FindExcluded, load_result: LoadResult, counter: TokenCounter
) -> TurnList:
    """Return turns without the text that tools read in excluded notes. See `hide_excluded`."""
    named = list_read_notes(turns, load_result)
    excluded = find_excluded(named) if named else frozenset()
    return _Hiding(excluded, load_result, counter).hide_turns(turns) if excluded else turns


def hide_in_turn(
    turn: LoggedTurn, find_excluded: FindExcluded, load_result: LoadResult, counter: TokenCounter
) -> LoggedTurn:
    """Return a turn without the text that tools read in excluded notes. See `hide_excluded`."""
    named = frozenset(_list_of_turn(turn, turn.messages, load_result))
    excluded = find_excluded(named) if named else frozenset()
    return _Hiding(excluded, load_result, counter).hide_turn(turn) if excluded else turn


def list_read_notes(turns: TurnList, load_result: LoadResult) -> frozenset[str]:
    """Return the paths of all notes whose text the turns may hold, as tools wrote them.

    Args:
        turns: the turns.
        load_result: returns a tool result that is stored outside of the log, or None.
    """

    def extend(known: frozenset[str] | None, more: Sequence[MeasuredTurn]) -> frozenset[str]:
        names = (_list_of_turn(one.turn, one.messages, load_result) for one in more)
        return (known or frozenset()).union(*names)

    return turns.accumulate(_NAMED, extend)


def _list_of_turn(turn: LoggedTurn, messages: Sequence[Message], load: LoadResult) -> Iterator[str]:
    yield from _list_of_messages(messages, load)
    if tuple(messages) != turn.messages:  # a compaction restores results that it cleared
        yield from _list_of_messages(turn.shown, load)
    if any(entry.model == QUOTING_MODEL for entry in turn.answers):
        yield from (segment.source for segment in turn.segments)


def _list_of_messages(messages: Sequence[Message], load: LoadResult) -> Iterator[str]:
    for _text, paths in list_note_texts(messages, load):
        yield from paths


def list_note_texts(
    messages: Sequence[Message], load: LoadResult
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the content of each tool result, with the paths of the notes that it may come from.

    For a part of a stored result, these are the notes of the whole result. The path of a note that
    a tool call writes to comes with an empty text.

    Args:
        messages: the messages with the calls and their results.
        load: returns a tool result that is stored outside of the log, or None.
    """
    calls: dict[str, ToolCallPart] = {}
    for message in messages:
        for part in () if isinstance(message.content, str) else message.content:
            if isinstance(part, ToolCallPart):
                calls[part.id] = part
                if (path := _find_written_note(part)) is not None:
                    yield "", (path,)
            elif isinstance(part, ToolResultPart):
                text = _read_result(part, calls.get(part.tool_call_id), load).text
                yield part.content, tuple(piece.path for piece in find_note_pieces(text))


def _find_written_note(call: ToolCallPart | None) -> str | None:
    """Return the path of the note that a tool call writes to, or None if it writes no text."""
    if call is None or _TEXT_ARGUMENTS.isdisjoint(call.arguments):
        return None
    path = call.arguments.get("path")
    return path if isinstance(path, str) else None


@dataclass(frozen=True, slots=True)
class _ShownResult:
    """A tool result, of which a message holds a part.

    Attributes:
        text: the whole result, or what the message holds if the stored result is lost.
        start: the index of the first character of the part.
        end: the index after its last character.
        put: puts another part in the place of the part that the message holds.
        is_lost: whether the message holds a part of a result that is lost.
    """

    text: str
    start: int
    end: int
    put: Callable[[str], str]
    is_lost: bool = False


def _read_result(part: ToolResultPart, call: ToolCallPart | None, load: LoadResult) -> _ShownResult:
    content = part.content
    if (stub := read_stub(content)) is not None and (whole := load(stub.ref_id)) is not None:
        return _ShownResult(whole, 0, PREVIEW_CHARS, lambda shown: replace_preview(content, shown))
    page = read_page(content) if call is not None and call.name == READ_RESULT_NAME else None
    if call is None or page is None:
        return _ShownResult(content, 0, len(content), lambda shown: shown)
    stored = load(str(call.arguments.get("ref_id")))
    text = page.text if stored is None else stored
    return _ShownResult(
        text, page.start, page.end, lambda shown: f"{page.head}{shown}", stored is None
    )


@dataclass(frozen=True)
class _Hiding:
    """Leaves the text of some notes out of a conversation.

    Attributes:
        excluded: the paths of the notes.
        load: returns a tool result that is stored outside of the log, or None.
        counter: counts the tokens.
    """

    excluded: frozenset[str]
    load: LoadResult
    counter: TokenCounter

    def apply(self, reading: ReplayedPath) -> ReplayedPath:
        """Return the conversation without the text of the notes."""
        summarised = self.hide_turns(reading.summarised)
        earlier = self.hide_turns(reading.earlier, self._outline(reading, summarised))
        current = reading.open and self._hide_current(reading.open)
        pins = self._hide_pins(reading.pins, (*summarised, *earlier))
        hidden = replace(reading, summarised=summarised, earlier=earlier, open=current, pins=pins)
        return replace(hidden, excluded=self.excluded)

    def hide_turns(self, turns: TurnList, outline: Message | None = None) -> TurnList:
        """Return turns without the text of the notes.

        Args:
            turns: the turns.
            outline: what is sent in place of the summary at their start, or None to keep it.
        """

        def extend(known: TurnList | None, more: Sequence[MeasuredTurn]) -> TurnList:
            hidden = TurnList.of() if known is None else known
            for turn in more:
                if outline is not None and not hidden:
                    hidden = hidden.with_turn(self._put_outline(turn, outline))
                else:
                    hidden = hidden.with_turn(self._hide_measured(turn))
            return hidden

        text = None if outline is None else outline.content
        return turns.accumulate((_HIDDEN, self.excluded, text), extend)

    def _put_outline(self, turn: MeasuredTurn, outline: Message) -> MeasuredTurn:
        messages = [outline if one.id == outline.id else one for one in turn.messages]
        return MeasuredTurn.measure(turn.turn, messages, self.counter)

    def _outline(self, reading: ReplayedPath, summarised: TurnList) -> Message | None:
        """Return an outline of the turns that a summary stands for, if it may hold such text."""
        if not count_summaries(reading.earlier):
            return None
        told = list_read_notes(reading.summarised, self.load) - reading.withheld
        if self.excluded.isdisjoint(told):
            return None
        old = reading.earlier[0].messages[0]
        most_tokens = max(LEAST_OUTLINE_TOKENS, count_message(old, self.counter))
        text = make_outline(summarised, most_tokens, self.counter)
        return replace(old, content=format_summary(f"{OUTLINED_LINE}\n{text}"))

    def _hide_measured(self, turn: MeasuredTurn) -> MeasuredTurn:
        hidden = self.hide_turn(turn.turn)
        messages = self._hide_messages(turn.messages, turn.turn)
        if hidden is turn.turn and messages == turn.messages:
            return turn
        return MeasuredTurn.measure(hidden, messages, self.counter)

    def hide_turn(self, turn: LoggedTurn) -> LoggedTurn:
        """Return a turn without the text of the notes."""
        messages = [entry.message for entry in turn.said]
        hidden = self._hide_messages(messages, turn)
        if list(hidden) == messages:
            return turn
        said = tuple(
            replace(entry, message=message)
            for entry, message in zip(turn.said, hidden, strict=True)
        )
        return replace(turn, said=said)

    def _hide_current(self, current: CurrentTurn) -> CurrentTurn:
        turn = self.hide_turn(current.turn)
        patched = current.patched and self._hide_messages(current.patched, current.turn)
        if turn is current.turn and patched == current.patched:
            return current
        return replace(current, turn=turn, patched=patched)

    def _hide_pins(self, pins: Pins, turns: Sequence[MeasuredTurn]) -> Pins:
        """Return the pinned messages without the text of the notes."""
        if not pins.messages:
            return pins
        shown = {str(one.id): one for turn in turns for one in turn.turn.messages}
        return Pins(
            {name: self._hide_pin(item, shown.get(name)) for name, item in pins.segments.items()},
            pins.messages,
        )

    def _hide_pin(self, item: Segment, message: Message | None) -> Segment:
        if item.source != PINNED_SOURCE:
            return item
        if message is not None:
            return make_pinned_segment(message)
        text = hide_note_text(item.raw_content, self.excluded)
        return replace(item, content=html.escape(text, quote=False))

    def _hide_messages(self, messages: Sequence[Message], turn: LoggedTurn) -> tuple[Message, ...]:
        calls: dict[str, ToolCallPart] = {}
        quoting = self._list_quoting(turn)
        hidden: list[Message] = []
        for message in messages:
            calls |= {call.id: call for call in list_tool_calls(message)}
            if message.id in quoting:
                hidden.append(replace(message, content=QUOTED_LINE))
            else:
                hidden.append(self._hide_message(message, calls))
        return tuple(hidden)

    def _list_quoting(self, turn: LoggedTurn) -> frozenset[str]:
        """Return the ids of the answers that only quote notes, if one of these is excluded."""
        quoting = [entry for entry in turn.answers if entry.model == QUOTING_MODEL]
        if not quoting or self.excluded.isdisjoint(one.source for one in turn.segments):
            return frozenset()
        return frozenset(entry.id for entry in quoting)

    def _hide_message(self, message: Message, calls: Mapping[str, ToolCallPart]) -> Message:
        if isinstance(message.content, str):
            return message
        parts = tuple(self._hide_part(part, calls) for part in message.content)
        return message if parts == message.content else replace(message, content=parts)

    def _hide_part(self, part: Part, calls: Mapping[str, ToolCallPart]) -> Part:
        if isinstance(part, ToolCallPart):
            return self._hide_arguments(part)
        if not isinstance(part, ToolResultPart):
            return part
        call = calls.get(part.tool_call_id)
        if _find_written_note(call) in self.excluded:
            return replace(part, content=_keep_first_line(part))
        result = _read_result(part, call, self.load)
        if result.is_lost:  # it is not known which notes it holds
            return replace(part, content=result.put(EXCLUDED_LINE))
        text = hide_note_text(result.text, self.excluded, result.start, result.end)
        if text == result.text[result.start : result.end]:
            return part
        return replace(part, content=result.put(text))

    def _hide_arguments(self, call: ToolCallPart) -> ToolCallPart:
        if _find_written_note(call) not in self.excluded:
            return call
        arguments = {
            name: EXCLUDED_LINE if name in _TEXT_ARGUMENTS else value
            for name, value in call.arguments.items()
        }
        return replace(call, arguments=arguments)


def _keep_first_line(result: ToolResultPart) -> str:
    """Return what a tool did, without the text of the note that it quotes."""
    if result.is_error:
        return f"Error: {EXCLUDED_LINE}"
    first, _, rest = result.content.partition("\n")
    return f"{first}\n{EXCLUDED_LINE}" if rest else first
