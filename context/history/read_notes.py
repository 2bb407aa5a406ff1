"""Collect what the turns of a conversation hold of notes: which ones, and which of their words.

The text of a note is in the results of tools, in the context that was sent with a turn, in the
arguments of tools that write, and in the instructions of a project.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from context.history.note_text import LIST_TAGS, find_note_pieces, list_tags, strip_source
from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import Segment
from context.messages import Message, ToolCallPart, ToolResultPart, list_tool_calls
from context.offload import (
    PREVIEW_CHARS,
    READ_RESULT_NAME,
    read_page,
    read_stub,
    replace_preview,
)

TEXT_ARGUMENTS: Final = frozenset({"new", "old", "text"})
_OF_SERVER: Final = "__"  # between the name of an MCP server and that of its tool
_HELD: Final = "held notes"
_TEXTS: Final = "texts of notes"

# Returns a tool result that is stored outside of the log, or None if it is lost.
LoadResult = Callable[[str], str | None]


class HeldText(NamedTuple):
    """A text that a turn holds.

    Attributes:
        path: the path of its note, or an empty string if it comes from elsewhere.
        text: the text, which may be escaped.
        is_read: whether the model has surely read it there. Otherwise, it wrote the text to the
            note, or the tool of another program wrote what looks like a text of the note.
    """

    path: str
    text: str
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class HeldNotes:
    """The notes of which a conversation holds text.

    Attributes:
        turn_paths: the paths of those whose text is in the turns.
        instructed: the paths of those whose text was in the instructions.
        tags: the tags that tools have listed.
        is_foreign: whether a tool of another program gave a result, whose notes are not known.
    """

    turn_paths: frozenset[str] = frozenset()
    instructed: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    is_foreign: bool = False

    @property
    def paths(self) -> frozenset[str]:
        """The paths of all these notes."""
        return self.turn_paths | self.instructed

    def join(self, other: "HeldNotes") -> "HeldNotes":
        """Return the notes of both."""
        return HeldNotes(
            self.turn_paths | other.turn_paths,
            self.instructed | other.instructed,
            self.tags | other.tags,
            self.is_foreign or other.is_foreign,
        )


def collect_notes(lists: Sequence[TurnList], load: LoadResult) -> HeldNotes:
    """Return the notes of which some turns hold text."""

    def extend(known: HeldNotes | None, more: Sequence[MeasuredTurn]) -> HeldNotes:
        notes = known or HeldNotes()
        for one in more:
            notes = notes.join(collect_of_turn(one.turn, one.messages, load))
        return notes

    notes = HeldNotes()
    for turns in lists:
        notes = notes.join(turns.accumulate(_HELD, extend))
    return notes


def collect_of_turn(turn: LoggedTurn, messages: Sequence[Message], load: LoadResult) -> HeldNotes:
    """Return the notes of which a turn holds text."""
    forms = _list_forms(turn, messages)
    results = [result for form in forms for result in list_results(form)]
    tags = (list_tags(part.content) for part, call in results if is_call(call, LIST_TAGS))
    return HeldNotes(
        frozenset(
            note_text.path for note_text in list_texts(turn, messages, load) if note_text.path
        ),
        frozenset(segment.source for segment in list_instructed(turn)),
        frozenset().union(*tags),
        any(map(is_foreign, (call for _, call in results))),
    )


def list_note_texts(
    messages: Sequence[Message], load: LoadResult
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the content of each tool result, with the paths of the notes that it may come from.

    For a part of a stored result, these are the notes of the whole result. Results of other
    programs, whose notes are not known, have none.

    Args:
        messages: the messages with the calls and their results.
        load: returns a tool result that is stored outside of the log, or None.
    """
    for part, call in list_results(messages):
        whole = "" if is_foreign(call) else read_result(part, call, load).text
        pieces = find_note_pieces(whole)
        yield part.content, tuple(piece.path for piece in pieces)


def collect_texts(
    lists: Sequence[TurnList], paths: frozenset[str], load: LoadResult
) -> dict[str, tuple[str, ...]]:
    """Return what some turns hold of the text of some notes, by their paths."""

    def extend(
        known: dict[str, tuple[str, ...]] | None, more: Sequence[MeasuredTurn]
    ) -> dict[str, tuple[str, ...]]:
        found = dict(known or {})
        for one in more:
            for note_text in list_texts(one.turn, one.messages, load):
                if note_text.path in paths:
                    found[note_text.path] = (*found.get(note_text.path, ()), note_text.text)
        return found

    collected: dict[str, tuple[str, ...]] = {}
    for turns in lists:
        for path, texts in turns.accumulate((_TEXTS, paths), extend).items():
            collected[path] = (*collected.get(path, ()), *texts)
    return collected


def list_texts(
    turn: LoggedTurn, messages: Sequence[Message], load: LoadResult
) -> Iterator[HeldText]:
    """Yield the texts of notes, web pages and other programs that a turn holds."""
    for form in _list_forms(turn, messages):
        for part, call in list_results(form):
            yield from _list_of_result(part, call, load)
        for call in (call for message in form for call in list_tool_calls(message)):
            if (path := find_written_note(call)) is not None:
                for name in TEXT_ARGUMENTS & call.arguments.keys():
                    yield HeldText(path, str(call.arguments[name]), is_read=False)
    for segment in turn.segments:
        yield HeldText("" if segment.is_web else segment.source, segment.raw_content)


def _list_of_result(
    part: ToolResultPart, call: ToolCallPart | None, load: LoadResult
) -> Iterator[HeldText]:
    text = read_result(part, call, load).text
    if (path := find_written_note(call)) is not None:
        yield HeldText(path, text, is_read=False)
        return
    is_own = not is_foreign(call)
    for one in find_note_pieces(text):
        yield HeldText(one.path, strip_source(text[one.start : one.end]), is_read=is_own)
    if not is_own:
        yield HeldText("", text)


def _list_forms(turn: LoggedTurn, messages: Sequence[Message]) -> tuple[Sequence[Message], ...]:
    """Return the messages of a turn as they are sent, and as they were before a compaction.

    A compaction restores results that it cleared.
    """
    is_changed = tuple(messages) != turn.messages
    return (messages, turn.shown) if is_changed else (messages,)


def list_results(
    messages: Sequence[Message],
) -> Iterator[tuple[ToolResultPart, ToolCallPart | None]]:
    """Yield the tool results in some messages, each with its call, or None if that is missing."""
    calls: dict[str, ToolCallPart] = {}
    for message in messages:
        for part in () if isinstance(message.content, str) else message.content:
            if isinstance(part, ToolCallPart):
                calls[part.id] = part
            elif isinstance(part, ToolResultPart):
                yield part, calls.get(part.tool_call_id)


def list_instructed(turn: LoggedTurn) -> Iterator[Segment]:
    """Yield the notes of a project whose text is in the instructions from a turn on."""
    for stored in turn.stored_fields.values():
        rows = stored.get("segments") if isinstance(stored, Mapping) else None
        for row in rows if isinstance(rows, list | tuple) else ():
            if isinstance(row, Mapping) and row.get("source"):
                yield Segment.from_dict(row)


def find_written_note(call: ToolCallPart | None) -> str | None:
    """Return the path of the note that a tool call writes to, or None if it writes no text."""
    if call is None or TEXT_ARGUMENTS.isdisjoint(call.arguments):
        return None
    path = call.arguments.get("path")
    return path if isinstance(path, str) else None


def is_call(call: ToolCallPart | None, name: str) -> bool:
    """Return whether a call is one of the given tool."""
    return call is not None and call.name == name


def is_foreign(call: ToolCallPart | None) -> bool:
    """Return whether the result of a call may be the text of another program.

    Such a text may hold any words of notes in any form, whatever the paths in it.
    """
    return call is not None and (_OF_SERVER in call.name or call.name == READ_RESULT_NAME)


@dataclass(frozen=True, slots=True)
class ShownResult:
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


def read_result(part: ToolResultPart, call: ToolCallPart | None, load: LoadResult) -> ShownResult:
    """Return the whole tool result of which a message holds a part."""
    content = part.content
    if (stub := read_stub(content)) is not None and (whole := load(stub.ref_id)) is not None:
        return ShownResult(whole, 0, PREVIEW_CHARS, lambda shown: replace_preview(content, shown))
    page = read_page(content) if call is not None and call.name == READ_RESULT_NAME else None
    if call is None or page is None:
        return ShownResult(content, 0, len(content), lambda shown: shown)
    stored = load(str(call.arguments.get("ref_id")))
    text = page.text if stored is None else stored
    return ShownResult(
        text, page.start, page.end, lambda shown: f"{page.head}{shown}", stored is None
    )
