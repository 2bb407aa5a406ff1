"""Assemble tool calls from streamed pieces, and define which names and ids are valid.

A call may come in many forms: the name or the arguments in pieces, each piece with all so far,
arguments encoded twice, no index, the same index for all. Nothing is decided while pieces arrive
that their whole can decide better.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from secrets import token_hex
from typing import Any, Final

from chains.llm.port import RequestedCall
from context.layers import replace_surrogates
from vault.notes.text.markdown_text import read_text

__all__ = ["CallAssembler", "CallPiece", "clean_call_id", "clean_tool_name", "has_call_as_text"]

MOST_NAME_CHARS: Final = 64
UNNAMED: Final = "unnamed"
_LONGEST_READ: Final = 1_000
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}(?:__thought__.+)?", re.DOTALL)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]+")
# Marks of a chat template that a server should have removed, such as `<|channel|>`.
_MARK: Final = re.compile(r"<\|.*", re.DOTALL)
# The marks with which models write a call, where the server does not read it.
_CALL_AS_TEXT: Final = re.compile(
    r"[ \t]*(?:<tool_calls?>|<function_calls?>|<function=|\[TOOL_CALLS\]"
    r"|<\|(?:tool_calls?|python_tag)[\w|]*>|<｜tool▁calls?▁begin｜>)"
)


def has_call_as_text(text: str) -> bool:
    """Return whether an answer contains a tool call that its server left as text.

    Such a call is not run: the text may come from a note that the model quotes. A call in a code
    block is an example.
    """
    if not any(map(_CALL_AS_TEXT.match, text.split("\n"))):
        return False  # parsing takes time
    shown = read_text(text).list_shown_lines()
    return any(_CALL_AS_TEXT.match(line) for _, line in shown)


def clean_tool_name(name: str) -> str:
    """Return a tool name that every service takes: up to 64 of the characters A-Z a-z 0-9 _ -.

    This is the one rule for the names of tool calls. A name is cleaned before its call is stored,
    and again in `chains.llm.wire_content`, because it may have been stored by an earlier version.
    """
    plain = _NOT_IN_NAMES.sub("_", _MARK.sub("", name[:_LONGEST_READ]))
    return plain[:MOST_NAME_CHARS] or UNNAMED


def clean_call_id(id: str) -> str:
    """Return the id of a tool call, or one made from it if not every service takes it.

    An id with a signature of Gemini's, which LiteLLM appends to it, is kept.
    """
    return id if _ID.fullmatch(id) else f"call_{hashlib.sha256(id.encode()).hexdigest()[:24]}"


@dataclass(frozen=True)
class CallPiece:
    """A streamed piece of a tool call.

    Attributes:
        index: the number of the call in the answer, or None if the server sends none.
        id: the id of the call, or an empty string.
        name: the name of the tool, a part of the name, or an empty string.
        arguments: the arguments as JSON text, or a part of them.
    """

    index: int | None
    id: str
    name: str
    arguments: str


@dataclass
class _OpenCall:
    """A tool call whose pieces are arriving."""

    index: int | None
    id: str
    names: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return _join_names(self.names)

    @property
    def is_whole(self) -> bool:
        return any(self.arguments) and isinstance(_parse("".join(self.arguments)), dict)

    def add(self, piece: CallPiece) -> None:
        self.id = self.id or piece.id
        if piece.name:
            self.names.append(piece.name)
        if piece.arguments:
            self.arguments.append(piece.arguments)


class CallAssembler:
    """Assembles tool calls from streamed pieces."""

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []

    def add(self, pieces: Iterable[CallPiece]) -> None:
        """Add streamed pieces to the tool calls."""
        for piece in pieces:
            call = self._find(piece)
            if call is None:
                call = _OpenCall(piece.index, piece.id)
                self._calls.append(call)
            call.add(piece)

    @property
    def calls(self) -> tuple[RequestedCall, ...]:
        """The tool calls in order. Calls without an id get a generated one."""
        found = []
        for call in self._calls:
            call.id = call.id or f"call_{token_hex(8)}"
            arguments = _join_arguments(call.arguments)
            found.append(RequestedCall(*map(replace_surrogates, (call.id, call.name, arguments))))
        return tuple(found)

    def _find(self, piece: CallPiece) -> _OpenCall | None:
        """Return the call that a piece belongs to, or None if the piece begins a new call."""
        if not self._calls:
            return None
        same_index = [call for call in self._calls if call.index == piece.index]
        if piece.index is None or (not same_index and not piece.name):
            same_index = self._calls[-1:]  # the tail of a call whose index has changed
        if not same_index or _begins_next(same_index[-1], piece):
            return None
        return same_index[-1]


def _begins_next(call: _OpenCall, piece: CallPiece) -> bool:
    """Return whether a piece with the index of a call begins another call.

    Ollama gives every call the same index, and no id to a call without arguments.
    """
    if not piece.name or not call.names:
        return False
    if piece.id and call.id:
        return piece.id != call.id
    return call.is_whole or (bool(piece.id) and bool(call.arguments))


def _join_names(names: Sequence[str]) -> str:
    """Join the pieces of a name, each of which may also be the whole name so far."""
    joined = ""
    for name in names:
        joined = name if name.startswith(joined) else joined + name
    return joined


def _join_arguments(pieces: Sequence[str]) -> str:
    """Join the pieces of arguments, each of which may also be the whole text so far."""
    joined = "".join(pieces)
    if len(pieces) > 1 and _parse(joined) is None:
        is_cumulative = all(after.startswith(before) for before, after in pairwise(pieces))
        if is_cumulative or pieces[-1] == "".join(pieces[:-1]):
            joined = pieces[-1]
    return _decode_twice(joined)


def _decode_twice(arguments: str) -> str:
    """Return the inner JSON object if arguments are a JSON string that contains one."""
    inner = _parse(arguments)
    return inner if isinstance(inner, str) and isinstance(_parse(inner), dict) else arguments


def _parse(text: str) -> Any:
    """Parse JSON, or return None if it is not valid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
