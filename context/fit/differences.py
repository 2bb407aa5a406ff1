"""Find what differs between two requests: tools, sections of the system text, messages.

Only the two requests are looked at, and not the decisions that led to them. So a change is found
whoever made it, and a decision without an effect is not.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from context.cleaner import is_cleaned
from context.compaction import HEAD
from context.history.exclusion import MARKS
from context.json_codec import Record
from context.messages import Message, ToolDefinition
from context.offload import is_offload_stub
from context.trimming import TRIMMED

Change = Literal[
    "added",
    "removed",
    "changed",
    "moved",
    "dropped",
    "returned",
    "shortened",
    "restored",
    "trimmed",
    "untrimmed",
    "withheld",
    "allowed",
]
Part = Literal["tools", "system", "messages"]
_SECTION: Final = re.compile(r"<([A-Za-z_][\w.-]*)>\n.*?\n</\1>(?=\n|\Z|<)", re.DOTALL)
_MOST_PAIRS: Final = 1_000_000  # of turns to align; beyond, they count as other turns
ELLIPSIS: Final = "..."
SUMMARY: Final = "summary"


@dataclass(frozen=True, slots=True)
class Difference(Record):
    """One part of a request that is not as it was in the previous request.

    Attributes:
        part: where the difference is.
        name: the name of the tool or section (empty for text outside of sections), or the role of
            the message (`summary` for the summary of earlier turns).
        change: how it differs. A message is `dropped` or `returned` with its whole turn, and
            `removed` or `added` alone.
        before: the content in the previous request, or None.
        now: the content in this request, or None.
    """

    part: Part
    name: str
    change: Change
    before: object = None
    now: object = None

    json_shape = (
        "part",
        "name",
        "change",
    )


def find_tool_differences(before: object, now: Sequence[ToolDefinition]) -> list[Difference]:
    """Find the tools that were added, removed, changed or moved.

    Args:
        before: the tools of the previous request, as in its body.
        now: the tools of this request.
    """
    listed = before if isinstance(before, list | tuple) else ()
    old = {str(tool.get("name")): tool for tool in listed if isinstance(tool, Mapping)}
    return _compare_named("tools", old, {tool.name: tool.to_dict() for tool in now})


def find_system_differences(before: object, now: str) -> list[Difference]:
    """Find the sections of the system text that were added, removed, changed or moved."""
    old = before if isinstance(before, str) else ""
    if old == now:
        return []
    found = _compare_named("system", _split_sections(old), _split_sections(now))
    return found or [Difference("system", "", "changed", old, now)]  # only blanks between sections


def _compare_named(
    part: Part, old: Mapping[str, object], new: Mapping[str, object]
) -> list[Difference]:
    both = [name for name in old if name in new]
    found = [
        *(Difference(part, name, "removed", old[name]) for name in old if name not in new),
        *(
            Difference(part, name, "changed", old[name], new[name])
            for name in both
            if old[name] != new[name]
        ),
        *(Difference(part, name, "added", None, new[name]) for name in new if name not in old),
    ]
    order = [name for name in new if name in old]
    moved = (pair for pair in zip(both, order, strict=True) if pair[0] != pair[1])
    found += (Difference(part, name, "moved", old[name], new[name]) for name, _ in moved)
    return found


def _split_sections(text: str) -> dict[str, object]:
    """Split a system text at its XML sections. Text outside of them has an empty name.

    A name that stands twice is numbered.
    """
    found: dict[str, object] = {}
    between, end = [], 0
    for match in _SECTION.finditer(text):
        between.append(text[end : match.start()].strip())
        end, name, number = match.end(), match.group(1), 1
        while name in found:
            number += 1
            name = f"{match.group(1)} {number}"
        found[name] = match.group()
    between.append(text[end:].strip())
    if rest := "\n\n".join(filter(None, between)):
        found[""] = rest
    return found


def find_history_differences(
    before: Sequence[object], now: Sequence[Message], question: str | None = None
) -> list[Difference]:
    """Find the messages of the history that differ.

    Args:
        before: the messages of the previous history, as in the body of the request.
        now: the messages of the history.
        question: the text of the previous request's user message, if it is in the history now.
    """
    first, start = _has_summary(before), bool(now) and now[0].text.startswith(HEAD)
    found = list(_compare_summaries(before[:first], now[:start]))
    old, new = _split_turns(before[first:]), _split_turns([m.to_dict() for m in now[start:]])
    asked = [] if question is None else [_Turn(f"user {question}", ())]
    for earlier, later in _align([*old, *asked], new):
        if earlier is not None and later is not None:
            if earlier.messages:
                found += _compare_turns(earlier.messages, later.messages)
        elif earlier is not None:
            found += (_describe(message, "dropped") for message in earlier.messages)
        elif later is not None:
            found += (_describe(message, "returned", is_new=True) for message in later.messages)
    return found


def _has_summary(messages: Sequence[object]) -> bool:
    content = messages[0].get("content") if messages and isinstance(messages[0], Mapping) else None
    return isinstance(content, str) and content.startswith(HEAD)


def _compare_summaries(before: Sequence[object], now: Sequence[Message]) -> Iterator[Difference]:
    """Yield the difference between two summaries, each of which may be missing."""
    if not before and not now:
        return
    old = _read_text(before[0]) if before else None
    new = now[0].text if now else None
    if old == new:
        return
    change: Change = "changed"
    if old is None or new is None:
        change = "returned" if old is None else "dropped"
    elif _count_notices(old) != _count_notices(new):
        change = _compare_notices(old, new)
    elif _is_cut(old, new):
        change = "shortened"
    elif _is_cut(new, old):
        change = "restored"
    yield Difference("messages", SUMMARY, change, old, new)


def _is_cut(whole: str, part: str) -> bool:
    """Return whether a text is another one that was cut, with an ellipsis at its end."""
    return (
        len(part) < len(whole)
        and part.endswith(ELLIPSIS)
        and whole.startswith(part.removesuffix(ELLIPSIS).rstrip())
    )


@dataclass(frozen=True)
class _Turn:
    """The messages from a user message to the next one, as in the body of a request."""

    key: str
    messages: tuple[Mapping[str, object], ...]


def _split_turns(messages: Iterable[object]) -> list[_Turn]:
    turns: list[list[Mapping[str, object]]] = []
    for message in messages:
        shown = message if isinstance(message, Mapping) else {"role": None, "content": message}
        if not turns or shown.get("role") == "user":
            turns.append([])
        turns[-1].append(shown)
    return [_Turn(_read_key(turn[0]), tuple(turn)) for turn in turns]


def _read_key(message: Mapping[str, object]) -> str:
    """Return what identifies a turn in both requests: the text that the user typed."""
    parts = list_parts(message)
    text = parts[-1].get("text") if parts and isinstance(parts[-1], Mapping) else ""
    return f"{message.get('role')} {text}"


def _align(
    old: Sequence[_Turn], new: Sequence[_Turn]
) -> Iterator[tuple[_Turn | None, _Turn | None]]:
    """Pair the turns of two requests. A turn that only one of them has is paired with None."""
    end = 0
    while end < min(len(old), len(new)) and old[-1 - end].key == new[-1 - end].key:
        end += 1
    head, rest = old[: len(old) - end], new[: len(new) - end]
    if len(head) * len(rest) <= _MOST_PAIRS:
        keys = [turn.key for turn in head], [turn.key for turn in rest]
        blocks = SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    else:
        blocks = [("replace", 0, len(head), 0, len(rest))]
    for _, first, last, start, stop in blocks:
        both = min(last - first, stop - start)
        yield from ((turn, None) for turn in head[first : last - both])
        yield from ((None, turn) for turn in rest[start : stop - both])
        for pair in zip(head[last - both : last], rest[stop - both : stop], strict=True):
            yield from _pair(*pair)
    yield from zip(old[len(old) - end :], new[len(new) - end :], strict=True)


def _pair(earlier: _Turn, later: _Turn) -> Iterator[tuple[_Turn | None, _Turn | None]]:
    """Pair a turn with the one in its place, unless they have nothing in common."""
    is_alike = any(_strip(one) in map(_strip, later.messages) for one in earlier.messages)
    if is_alike or earlier.key == later.key or len(earlier.messages) == len(later.messages):
        yield earlier, later
    else:
        yield earlier, None
        yield None, later


def _compare_turns(
    before: Sequence[Mapping[str, object]], now: Sequence[Mapping[str, object]]
) -> Iterator[Difference]:
    before, now = list(map(_strip, before)), list(map(_strip, now))
    if len(before) == len(now):
        pairs = zip(before, now, strict=True)
        yield from (compare_messages(*pair) for pair in pairs if pair[0] != pair[1])
        return
    start = 0
    while start < min(len(before), len(now)) and before[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(before), len(now)) - start and before[-1 - end] == now[-1 - end]:
        end += 1
    yield from (_describe(one, "removed") for one in before[start : len(before) - end])
    yield from (_describe(one, "added", is_new=True) for one in now[start : len(now) - end])


def _strip(message: Mapping[str, object]) -> Mapping[str, object]:
    return {"role": message.get("role"), "content": message.get("content")}


def compare_messages(before: Mapping[str, object], now: Mapping[str, object]) -> Difference:
    """Describe how a message differs from its earlier form."""
    old, new = _read_text(before), _read_text(now)
    change: Change = "changed"
    if before.get("role") == now.get("role") != "user":
        marks = _count_marks(before), _count_marks(now)
        if marks[0] != marks[1]:
            change = "trimmed" if marks[0] < marks[1] else "untrimmed"
        elif _count_notices(_read_all(before)) != _count_notices(_read_all(now)):
            change = _compare_notices(_read_all(before), _read_all(now))
        elif before.get("role") == "assistant" and old != new:
            is_shortened, is_restored = _is_cut(old, new), _is_cut(new, old)
            change = "shortened" if is_shortened else "restored" if is_restored else "changed"
    return Difference("messages", str(now.get("role")), change, before, now)


def _count_notices(text: str) -> int:
    """Count the notices that stand for the text of excluded notes."""
    return sum(text.count(mark) for mark in MARKS)


def _compare_notices(old: str, new: str) -> Change:
    return "withheld" if _count_notices(old) < _count_notices(new) else "allowed"


def _read_all(message: object) -> str:
    """Return the texts of a message, with those of its tool calls."""
    calls = (part for part in list_parts(message) if isinstance(part, Mapping))
    arguments = (value for call in calls if isinstance(value := call.get("arguments"), Mapping))
    texts = (str(text) for value in arguments for text in value.values())
    return "\n".join((*_list_texts(message), *texts))


def _describe(message: Mapping[str, object], change: Change, *, is_new: bool = False) -> Difference:
    message = _strip(message)
    sides = (None, message) if is_new else (message, None)
    return Difference("messages", str(message["role"]), change, *sides)


def list_parts(message: object) -> list[object]:
    """Return the parts of a message. A plain string counts as one text part."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list | tuple) else []


def get_role(message: object) -> object:
    """Return the role of a message that is given as JSON, or None."""
    return message.get("role") if isinstance(message, Mapping) else None


def count_common(before: Sequence[object], now: Sequence[Message]) -> int:
    """Return how many messages, from the start, are equal in two requests."""
    same = 0
    for earlier, message in zip(before, now, strict=False):
        if not is_same(earlier, message):
            break
        same += 1
    return same


def is_same(earlier: object, message: Message) -> bool:
    """Return whether a message is equal to one that is given as JSON."""
    if not isinstance(earlier, Mapping) or earlier.get("role") != message.role:
        return False
    if isinstance(message.content, str):
        return bool(earlier.get("content") == message.content)
    return bool(earlier.get("content") == message.to_dict()["content"])


def _read_text(message: object) -> str:
    return "\n".join(_list_texts(message))


def _list_texts(message: object) -> Iterator[str]:
    """Yield the texts and tool results of a message."""
    for part in list_parts(message):
        if isinstance(part, Mapping):
            text = part.get("content") if part.get("type") == "tool_result" else part.get("text")
            if isinstance(text, str):
                yield text


def _count_marks(message: object) -> int:
    """Count the texts of a message that stand for longer ones."""
    return sum(
        text == TRIMMED or is_cleaned(text) or is_offload_stub(text)
        for text in _list_texts(message)
    )
