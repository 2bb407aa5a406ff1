"""Leave out of a conversation what it holds of notes that models may not read any more.

A note may be excluded, or marked as private, after a model has read it. Its text is then replaced
by a notice in all requests, also in those for summaries: in the results of tools, and wherever the
model or the tool of another program quotes it. The log keeps it, so the text comes back when the
note may be read again. A summary that was made of such text is replaced by an outline. What the
user typed is always sent.
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from context.history.memory import Memory, Progress
from context.history.note_text import (
    EXCLUDED_LINE,
    LIST_TAGS,
    TAGS_LINE,
    find_note_pieces,
    find_numbers,
    hide_note_text,
    hide_tags,
)
from context.history.outline import QUOTING_MODEL, format_summary, make_outline
from context.history.pins import PINNED_SOURCE, Pins, make_pinned_segment
from context.history.quotes import (
    NO_WORDS,
    QUOTE_LINE,
    HiddenNote,
    HiddenNotes,
    KnownWords,
    find_quoted,
)
from context.history.read_notes import (
    TEXT_ARGUMENTS,
    HeldNotes,
    LoadResult,
    collect_notes,
    collect_texts,
    find_written_note,
    is_call,
    is_foreign,
    list_instructed,
    list_texts,
    read_result,
)
from context.history.replay import CurrentTurn, ReplayedPath
from context.history.turn_list import TurnList, count_summaries
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import Segment
from context.messages import (
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    list_tool_calls,
)
from context.tokens import TokenCounter, count_message

QUOTED_LINE: Final = "[This answer quoted a note that is now excluded.]"
OUTLINED_LINE: Final = "[An outline, because the summary was made of notes that are now excluded.]"
MARKS: Final = (EXCLUDED_LINE, QUOTED_LINE, OUTLINED_LINE, QUOTE_LINE, TAGS_LINE)
# The arguments that say what a tool works on. They are not the model's words.
_PLACE_ARGUMENTS: Final = frozenset({"path", "to", "ref_id", "id", "url"})
LEAST_OUTLINE_TOKENS: Final = 300
_HIDDEN: Final = "without excluded notes"

# Returns those of the given paths whose notes models may not read now.
FindExcluded = Callable[[frozenset[str]], frozenset[str]]


@dataclass(frozen=True)
class NoteRules:
    """What decides which notes are left out of a conversation.

    Attributes:
        find_excluded: returns those of the given paths whose notes models may not read now.
        load_result: returns a tool result that is stored outside of the log, or None.
        hidden_notes: looks up the notes that models may not read now. If None, only those that the
            conversation names by their paths are left out.
    """

    find_excluded: FindExcluded
    load_result: LoadResult
    hidden_notes: HiddenNotes | None = None


def hide_excluded(reading: ReplayedPath, rules: NoteRules) -> ReplayedPath:
    """Return a conversation without what it holds of excluded notes.

    Args:
        reading: the conversation, as rebuilt from the log.
        rules: what decides which notes are left out.
    """
    lists, current = [reading.summarised, reading.earlier], reading.open
    if current is not None:
        lists.append(TurnList.of([MeasuredTurn(current.turn, current.messages, 0)]))
    pinned = (item.raw_content for item in reading.pins.segments.values())
    paths = frozenset(piece.path for text in pinned for piece in find_note_pieces(text))
    hiding = _make_hiding(lists, rules, reading.counter, HeldNotes(paths))
    return reading if hiding is None else hiding.apply(reading)


def hide_in_turns(turns: TurnList, rules: NoteRules, counter: TokenCounter) -> TurnList:
    """Return turns without what they hold of excluded notes. See `hide_excluded`."""
    hiding = _make_hiding([turns], rules, counter)
    return turns if hiding is None else hiding.hide_turns(turns, NO_WORDS).turns


def hide_in_last_turn(
    turns: Sequence[LoggedTurn], rules: NoteRules, counter: TokenCounter
) -> LoggedTurn:
    """Return the last turn without what it holds of excluded notes. See `hide_excluded`."""
    listed = TurnList.of(MeasuredTurn(turn, turn.messages, 0) for turn in turns)
    hiding = _make_hiding([listed], rules, counter)
    if hiding is None:
        return turns[-1]
    words = NO_WORDS
    for turn in turns:
        words = hiding.extend_words(words, turn, turn.messages)
    return hiding.hide_turn(turns[-1], words)


def _make_hiding(
    lists: Sequence[TurnList],
    rules: NoteRules,
    counter: TokenCounter,
    pinned: HeldNotes = HeldNotes(),  # noqa: B008 - it is frozen
) -> "_Hiding | None":
    """Return what leaves excluded notes out of some turns, or None if there are none."""
    session_notes = collect_notes(lists, rules.load_result).join(pinned)
    excluded = rules.find_excluded(session_notes.paths) if session_notes.paths else frozenset[str]()
    tags, foreign = frozenset[str](), tuple[HiddenNote, ...]()
    if (notes := rules.hidden_notes) is not None:
        turn_paths = session_notes.turn_paths - excluded
        if turn_paths and (missing := notes.find_missing(turn_paths)):
            excluded |= notes.find_moved(collect_texts(lists, missing, rules.load_result))
        tags = notes.find_tags(session_notes.tags) if session_notes.tags else tags
        foreign = tuple(notes.list_notes()) if session_notes.is_foreign else foreign
    if not (excluded or tags or foreign):
        return None
    return _Hiding(excluded, tags, foreign, rules.load_result, counter)


@dataclass(frozen=True)
class _HiddenTurns:
    """Turns without excluded notes, and the words by which later turns quote these notes."""

    turns: TurnList
    words: KnownWords


@dataclass(frozen=True)
class _Hiding:
    """Leaves what comes from some notes out of a conversation.

    Attributes:
        excluded: the paths of the notes whose text the conversation holds.
        tags: the tags that only notes have which models may not read.
        foreign: the notes that the tools of other programs may have read.
        load: returns a tool result that is stored outside of the log, or None.
        counter: counts the tokens.
    """

    excluded: frozenset[str]
    tags: frozenset[str]
    foreign: tuple[HiddenNote, ...]
    load: LoadResult
    counter: TokenCounter

    def apply(self, reading: ReplayedPath) -> ReplayedPath:
        """Return the conversation without what comes from the notes."""
        summarised = self.hide_turns(reading.summarised, NO_WORDS)
        outline = self._outline(reading, summarised.turns)
        earlier = self.hide_turns(reading.earlier, summarised.words, outline)
        words, current = earlier.words, reading.open
        if current is not None:
            words = self.extend_words(words, current.turn, current.messages)
            current = self._hide_current(current, words)
        shown = (*summarised.turns, *earlier.turns)
        hidden = replace(
            reading,
            summarised=summarised.turns,
            earlier=earlier.turns,
            open=current,
            pins=self._hide_pins(reading.pins, shown, words),
            memory=_hide_memory(reading.memory, words),
            excluded=self.excluded,
        )
        return replace(hidden, withheld_tokens=_count_withheld(reading, hidden, self.counter))

    def hide_turns(
        self, turns: TurnList, start: KnownWords, outline: Message | None = None
    ) -> _HiddenTurns:
        """Return turns without what comes from the notes.

        Args:
            start: the words of the turns before them.
            outline: what is sent in place of the summary at their start, or None to keep it.
        """

        def extend(known: _HiddenTurns | None, more: Sequence[MeasuredTurn]) -> _HiddenTurns:
            shown = TurnList.of() if known is None else known.turns
            words = start.extend(names=self.tags) if known is None else known.words
            for turn in more:
                words = self.extend_words(words, turn.turn, turn.messages)
                sent = self._put_outline(turn, outline) if outline and not shown else turn
                shown = shown.with_turn(self._hide_measured(sent, words))
            return _HiddenTurns(shown, words)

        text = None if outline is None else outline.content
        key = (_HIDDEN, self.excluded, self.tags, self.foreign, start, text)
        return turns.accumulate(key, extend)

    def extend_words(
        self, words: KnownWords, turn: LoggedTurn, messages: Sequence[Message]
    ) -> KnownWords:
        """Return the words of the conversation with those that a turn brings."""
        hidden: list[str] = []
        shown = [] if turn.user is None else [turn.user.message.text]
        instructed = [(one.source, one.raw_content, True) for one in list_instructed(turn)]
        for path, content, is_read in (*instructed, *list_texts(turn, messages, self.load)):
            text = content if path else hide_note_text(content, self.excluded)
            if path in self.excluded:
                hidden.append(text)
            elif is_read and (notes := () if path else find_quoted(self.foreign, text)):
                quoted = NO_WORDS.extend(hidden=[one.text for one in notes])
                hidden += quoted.list_quotes(text)
                shown.append(quoted.hide_quotes(text))
            elif is_read:
                shown.append(text)
        return words.extend(hidden, shown)

    def _put_outline(self, turn: MeasuredTurn, outline: Message) -> MeasuredTurn:
        messages = [outline if one.id == outline.id else one for one in turn.messages]
        return MeasuredTurn.measure(turn.turn, messages, self.counter)

    def _outline(self, reading: ReplayedPath, summarised: TurnList) -> Message | None:
        """Return an outline of the turns that a summary stands for, if it may hold such text."""
        if not count_summaries(reading.earlier):
            return None
        summarised_paths = (
            collect_notes([reading.summarised], self.load).turn_paths - reading.withheld
        )
        if self.excluded.isdisjoint(summarised_paths):
            return None
        old = reading.earlier[0].messages[0]
        most_tokens = max(LEAST_OUTLINE_TOKENS, count_message(old, self.counter))
        text = make_outline(summarised, most_tokens, self.counter)
        return replace(old, content=format_summary(f"{OUTLINED_LINE}\n{text}"))

    def _hide_measured(self, turn: MeasuredTurn, words: KnownWords) -> MeasuredTurn:
        hidden = self.hide_turn(turn.turn, words)
        messages = self._hide_messages(turn.messages, turn.turn, words)
        if hidden is turn.turn and messages == turn.messages:
            return turn
        return MeasuredTurn.measure(hidden, messages, self.counter)

    def hide_turn(self, turn: LoggedTurn, words: KnownWords) -> LoggedTurn:
        """Return a turn without what comes from the notes."""
        messages = [entry.message for entry in turn.later_entries]
        hidden = self._hide_messages(messages, turn, words)
        if list(hidden) == messages:
            return turn
        entries = tuple(
            replace(entry, message=message)
            for entry, message in zip(turn.later_entries, hidden, strict=True)
        )
        return replace(turn, later_entries=entries)

    def _hide_current(self, current: CurrentTurn, words: KnownWords) -> CurrentTurn:
        turn = self.hide_turn(current.turn, words)
        patched = current.patched and self._hide_messages(current.patched, current.turn, words)
        memory = _hide_memory(current.memory, words)
        if (turn, patched, memory) == (current.turn, current.patched, current.memory):
            return current
        return replace(current, turn=turn, patched=patched, memory=memory)

    def _hide_pins(self, pins: Pins, turns: Sequence[MeasuredTurn], words: KnownWords) -> Pins:
        """Return the pinned messages without what comes from the notes."""
        if not pins.messages:
            return pins
        shown = {str(one.id): one for turn in turns for one in turn.turn.messages}
        return Pins(
            {
                name: self._hide_pin(item, shown.get(name), words)
                for name, item in pins.segments.items()
            },
            pins.messages,
        )

    def _hide_pin(self, item: Segment, message: Message | None, words: KnownWords) -> Segment:
        if item.source != PINNED_SOURCE:
            return item
        if message is not None:
            return make_pinned_segment(message)
        text = words.hide_quotes(hide_note_text(item.raw_content, self.excluded))
        return replace(item, content=html.escape(text, quote=False))

    def _hide_messages(
        self, messages: Sequence[Message], turn: LoggedTurn, words: KnownWords
    ) -> tuple[Message, ...]:
        calls: dict[str, ToolCallPart] = {}
        hider = _MessageHider(self, words, self._list_numbers(turn))
        quoting, typed = self._list_quoting(turn), None if turn.user is None else turn.user.id
        hidden: list[Message] = []
        for message in messages:
            calls |= {call.id: call for call in list_tool_calls(message)}
            if message.id in quoting:
                hidden.append(replace(message, content=QUOTED_LINE))
            elif message.id is not None and message.id == typed:
                hidden.append(message)
            else:
                hidden.append(hider.hide_message(message, calls))
        return tuple(hidden)

    def _list_numbers(self, turn: LoggedTurn) -> frozenset[str]:
        """Return the numbers by which the answers of a turn cite the notes."""
        results = (part for one in turn.messages for part in _list_result_parts(one))
        result_numbers = (find_numbers(part.content, self.excluded) for part in results)
        sent = (str(one.number) for one in turn.segments if one.source in self.excluded)
        return frozenset(sent).union(*result_numbers)

    def _list_quoting(self, turn: LoggedTurn) -> frozenset[str]:
        """Return the ids of the answers that only quote notes, if one of these is excluded."""
        quoting = [entry for entry in turn.answers if entry.model == QUOTING_MODEL]
        if not quoting or self.excluded.isdisjoint(one.source for one in turn.segments):
            return frozenset()
        return frozenset(entry.id for entry in quoting)


@dataclass(frozen=True)
class _MessageHider:
    """Leaves what comes from some notes out of the messages of a turn.

    Attributes:
        rules: the notes.
        words: the words by which the turn may quote the notes.
        numbers: the numbers by which its answers cite the notes.
    """

    rules: _Hiding
    words: KnownWords
    numbers: frozenset[str]

    def hide_message(self, message: Message, calls: Mapping[str, ToolCallPart]) -> Message:
        """Return a message without what comes from the notes.

        Args:
            message: the message, which the user has not typed.
            calls: the tool calls of the turn up to it, by their ids.
        """
        if isinstance(message.content, str):
            text = self.words.hide_quotes(message.content, self.numbers)
            return message if text == message.content else replace(message, content=text)
        parts = tuple(self._hide_part(part, calls) for part in message.content)
        return message if parts == message.content else replace(message, content=parts)

    def _hide_part(self, part: Part, calls: Mapping[str, ToolCallPart]) -> Part:
        match part:
            case TextPart() | ReasoningPart():
                text = self.words.hide_quotes(part.text, self.numbers)
                return part if text == part.text else type(part)(text)  # a signature is void
            case ToolCallPart():
                return self._hide_arguments(part)
            case ToolResultPart():
                return self._hide_result(part, calls.get(part.tool_call_id))
            case _:
                return part

    def _hide_result(self, part: ToolResultPart, call: ToolCallPart | None) -> ToolResultPart:
        if is_call(call, LIST_TAGS):
            return replace(part, content=hide_tags(part.content, self.rules.tags))
        if find_written_note(call) in self.rules.excluded:
            return replace(part, content=_keep_first_line(part))
        result = read_result(part, call, self.rules.load)
        if result.is_lost:  # it is not known which notes it holds
            return replace(part, content=result.put(EXCLUDED_LINE))
        shown = result.text[result.start : result.end]
        hide, excluded = self.words.hide_quotes, self.rules.excluded
        if is_foreign(call):
            text = hide(hide_note_text(result.text, excluded, result.start, result.end))
        else:
            text = hide_note_text(result.text, excluded, result.start, result.end, hide)
        return part if text == shown else replace(part, content=result.put(text))

    def _hide_arguments(self, call: ToolCallPart) -> ToolCallPart:
        if find_written_note(call) in self.rules.excluded:
            arguments = {
                name: EXCLUDED_LINE if name in TEXT_ARGUMENTS else value
                for name, value in call.arguments.items()
            }
            return replace(call, arguments=arguments)
        hidden = self.words.hide_in_value(call.arguments, _PLACE_ARGUMENTS)
        if hidden is call.arguments or not isinstance(hidden, Mapping):
            return call
        return replace(call, arguments=hidden)


def _list_result_parts(message: Message) -> Iterable[ToolResultPart]:
    parts = () if isinstance(message.content, str) else message.content
    return (part for part in parts if isinstance(part, ToolResultPart))


def _hide_memory(memory: Memory, words: KnownWords) -> Memory:
    """Return what a model noted, without the words of the notes."""
    progress = words.hide_in_value(memory.progress.to_dict())
    return Memory(
        words.hide_quotes(memory.scratchpad),
        Progress.read(progress) if isinstance(progress, Mapping) else memory.progress,
        tuple(map(words.hide_quotes, memory.facts)),
    )


def _count_withheld(
    before: ReplayedPath, now: ReplayedPath, counter: TokenCounter
) -> Mapping[str, int]:
    """Return by how many tokens each message is shorter, by its id."""
    changed: list[tuple[Message, Message]] = []
    for old, new in zip(before.turns, now.turns, strict=True):
        if old is not new:
            changed += zip(old.messages, new.messages, strict=True)
    return {
        str(old.id): count_message(old, counter) - count_message(new, counter)
        for old, new in changed
        if old != new
    }


def _keep_first_line(result: ToolResultPart) -> str:
    """Return what a tool did, without the text of the note that it quotes."""
    if result.is_error:
        return f"Error: {EXCLUDED_LINE}"
    first, _, rest = result.content.partition("\n")
    return f"{first}\n{EXCLUDED_LINE}" if rest else first
