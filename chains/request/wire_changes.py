"""Find what differs between two bodies as they were sent, beyond what was prepared.

The client library and the shape of a server add to a request: a tool that a provider demands, a
field under another name, thinking that is sent back. The context report compares the requests as
they were prepared. This module adds what only the sent bodies show. Marks for the prompt cache are
left out of account.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from chains.request.epochs import LOOKED_BACK
from chains.request.session import SessionPort
from context.draft import RequestDraft
from context.envelope import EncodedJson
from context.log.entries import MessageEntry
from context.report.report import ContextReport, Prefix

__all__ = ["REFORMED", "SentBody", "add_wire_changes", "find_sent_body", "remember_body"]

REMEMBERED_BODIES: Final = 4  # they may have megabytes
REFORMED: Final = {
    "tools": "the tools were sent in another form",
    "system": "the instructions were sent in another form",
    "messages": "earlier messages were sent in another form",
}
_MESSAGES: Final = ("messages", "contents", "input")
_SYSTEM: Final = ("system", "systemInstruction", "system_instruction", "instructions")
_SYSTEM_ROLES: Final = ("system", "developer")
_CACHE_MARK: Final = "cache_control"
_CACHE_FIELD: Final = re.compile(rf',\s*"{_CACHE_MARK}":\s*\{{[^{{}}"]*"type"[^{{}}]*\}}')


@dataclass(frozen=True)
class SentBody:
    """The parts of a body that was sent.

    Attributes:
        tools_by_name: each tool, by its name.
        instructions: those, as one field or as messages.
        messages: the other messages.
        fields: each other field, by its name.
        question: the index of the turn's user message.
        has_note: whether the last message has a note that is sent only once.
    """

    tools_by_name: Mapping[str, object]
    instructions: Sequence[object]
    messages: Sequence[object]
    fields: Mapping[str, object]
    question: int = 0
    has_note: bool = False

    @classmethod
    def read(cls, body: Mapping[str, Any], draft: RequestDraft) -> "SentBody":
        """Read a body in the form of any provider.

        Args:
            body: the JSON that was sent.
            draft: the request from which it was made.
        """
        if isinstance(body, EncodedJson):
            body = json.loads(_CACHE_FIELD.sub("", body.text))
        named = next((name for name in _MESSAGES if isinstance(body.get(name), list)), "")
        listed = body[named] if named else ()
        system = [body[name] for name in _SYSTEM if name in body]
        start = 0
        while start < len(listed) and _get_role(listed[start]) in _SYSTEM_ROLES:
            start += 1
        messages = listed[start:]
        others = {*_SYSTEM, named, "tools"}
        return cls(
            dict(_list_tools(body.get("tools"))),
            [*system, *listed[:start]],
            messages,
            {name: value for name, value in body.items() if name not in others},
            _find_question(messages, draft),
            draft.uncached is not None,
        )

    def find_changes(self, now: "SentBody", *, is_same_turn: bool) -> Iterator[dict[str, object]]:
        """Yield what differs in a later body, as in the differences of a context report.

        Messages that the later request should not repeat as they are, such as the user message with
        the context of its turn, are not compared after that turn.
        """
        yield from _compare_named("tools", self.tools_by_name, now.tools_by_name)
        if not _is_equal(self.instructions, now.instructions):
            yield {"part": "system", "name": "", "change": "changed"}
        stable = self.question
        if is_same_turn:
            stable = len(self.messages) - self.has_note
        if not _is_equal(self.messages[:stable], now.messages[:stable]):
            yield {"part": "messages", "name": "", "change": "changed"}
        yield from _compare_named("options", self.fields, now.fields)


def _compare_named(
    part: str, before: Mapping[str, object], now: Mapping[str, object]
) -> Iterator[dict[str, object]]:
    for name in dict.fromkeys([*before, *now]):
        if not _is_equal(before.get(name), now.get(name)):
            change = "changed" if name in before and name in now else "added"
            change = "removed" if name not in now else change
            yield {"part": part, "name": name, "change": change}
    if [name for name in before if name in now] != [name for name in now if name in before]:
        yield {"part": part, "name": "", "change": "moved"}


def _list_tools(tools: object) -> Iterator[tuple[str, object]]:
    """Yield each tool with its name. Tools without a name are numbered."""
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        if not isinstance(tool, Mapping):
            continue
        declared = tool.get("functionDeclarations", tool.get("function_declarations"))
        if isinstance(declared, list):
            yield from _list_tools(declared)
            continue
        function = tool.get("function")
        named = function if isinstance(function, Mapping) else tool
        yield str(named.get("name") or tool.get("type") or number), tool


def _find_question(messages: Sequence[object], draft: RequestDraft) -> int:
    """Return the index of the message that ends with what the user typed, the last such one."""
    typed = draft.tail.question.text
    for at in range(len(messages) - 1, -1, -1):
        texts = list(_list_texts(messages[at]))
        if _get_role(messages[at]) == "user" and texts and texts[-1].endswith(typed):
            return at
    return 0


def _get_role(message: object) -> object:
    return message.get("role") if isinstance(message, Mapping) else None


def _list_texts(message: object) -> Iterator[str]:
    found = message.get("content", message.get("parts")) if isinstance(message, Mapping) else None
    if isinstance(found, str):
        yield found
    for part in found if isinstance(found, list) else ():
        if isinstance(part, Mapping) and isinstance(text := part.get("text"), str):
            yield text


def _is_equal(before: object, now: object) -> bool:
    """Return whether two JSON values are equal, but for cache marks.

    Nearly all are equal as they are, which takes the same few steps for a chat of any length.
    """
    return before == now or _strip(before) == _strip(now)


def _strip(value: object) -> object:
    """Return a JSON value without cache marks, and with one text as a plain string."""
    if isinstance(value, Mapping):
        return {key: _strip(item) for key, item in value.items() if key != _CACHE_MARK}
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], Mapping) and value[0].get("type") == "text":
            return _strip(value[0].get("text"))
        return [_strip(item) for item in value]
    return value


# By the ids of the chat and the turn. A body that is never compared is not read.
_sent: Final[dict[tuple[str, str], Callable[[], SentBody]]] = {}


def remember_body(session: str, turn: str, read: Callable[[], SentBody]) -> None:
    """Keep the last body of a turn in memory, so that the next one can be compared with it.

    Args:
        session: the id of the chat.
        turn: the id of the turn.
        read: reads the body when it is compared.
    """
    _sent.pop((session, turn), None)
    _sent[session, turn] = read
    for oldest in list(_sent)[:-REMEMBERED_BODIES]:
        _sent.pop(oldest, None)


def find_sent_body(session: SessionPort, turn: str) -> tuple[SentBody, bool] | None:
    """Return the last body of this turn, or of the turn before it, and whether it is of this one.

    Return None if it was not remembered.
    """
    for entry in reversed(session.path()[-LOOKED_BACK:]):
        if not isinstance(entry, MessageEntry) or entry.message.role != "user":
            continue
        if (read := _sent.get((session.id, entry.turn_id))) is not None:
            return read(), entry.turn_id == turn
        if entry.turn_id != turn:
            return None
    return None


def add_wire_changes(
    report: ContextReport, changes: Sequence[Mapping[str, object]]
) -> ContextReport:
    """Return the report with the differences that only the sent bodies show, and their reasons.

    Other options, such as a limit, are named among the differences, but are no part of the prefix
    that is cached.
    """
    prefix = report.prefix
    known = {(one["part"], one["name"]) for one in prefix.differences}
    parts = {part for part, _ in known}
    found = tuple(
        dict(one)
        for one in changes
        if (one["part"], one["name"]) not in known
        and not (one["part"] in parts and one["name"] == "")
    )
    if not found:
        return report
    reasons = [REFORMED[str(one["part"])] for one in found if one["part"] in REFORMED]
    named = tuple(dict.fromkeys([*prefix.reasons, *reasons]))
    tokens = 0 if reasons and not prefix.changed else prefix.tokens_reused
    differences = (*prefix.differences, *found)
    changed = Prefix(prefix.hash, tokens, bool(named), named, differences)
    return replace(report, prefix=changed)
