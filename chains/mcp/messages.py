"""Read the messages of the other side, and repair them, so that one defect ends nothing else.

Invalid bytes and lone surrogates are replaced, and a tool that is not valid is left out. An answer
that cannot be read at all becomes an error, so that nobody waits for it any longer.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from chains.mcp.server import UnusableTool
from context.layers import is_nested_too_deep, replace_surrogates

if TYPE_CHECKING:
    from mcp.types import JSONRPCError, JSONRPCMessage

__all__ = [
    "UnreadableMessage",
    "build_refusal",
    "build_unreadable",
    "leave_out_bad_tools",
    "read_messages",
    "read_requests",
]

# The fields of a tool that are used. Others are not worth losing a tool for.
_FIELDS: Final = ("name", "description", "inputSchema")
_VERSION: Final = "2025-11-25"  # of the protocol that describes these fields
_PARSE_ERROR: Final = -32_700
_INVALID_REQUEST: Final = -32_600
_SHOWN_CHARS: Final = 200
_ID: Final = r'"id"\s*:\s*("[^"\\]{1,64}"|\d{1,18}(?![\d.eE]))'
# Where the id of a message stands for sure, and not one that is part of its content.
_FIRST_ID: Final = re.compile(rf'\s*\{{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?{_ID}')
_LAST_ID: Final = re.compile(rf'{_ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}}\s*$')
_ANSWER: Final = re.compile(r'\s*\{(?=.*"jsonrpc")(?=.*"(?:result|error)")', re.DOTALL)


class UnreadableMessage(Exception):
    """An answer does not say to what, or a request has an id that no answer can have."""


def read_messages(line: bytes) -> "Iterator[JSONRPCMessage]":
    """Read the messages in a line. A line that is not of the protocol, such as a log, has none.

    Raises:
        UnreadableMessage: the line is an answer that cannot be read, and does not say to what.
    """
    from mcp.types import jsonrpc_message_adapter

    try:
        yield _mend_id(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        yield from _read_loosely(line.decode("utf-8", "replace"))


def read_requests(line: bytes) -> "Iterator[JSONRPCMessage]":
    """Read the messages in a line from a client. An id such as `1.0` is a whole number too.

    The library takes a request with another id for a notification, which nobody answers.

    Raises:
        UnreadableMessage: the id of a request is neither a text nor a whole number.
    """
    found = _parse(line.decode("utf-8", "replace")) or []
    odd = [one for one in found if isinstance(one, dict) and _has_odd_id(one)]
    for one in odd:
        if isinstance(one["id"], float) and one["id"].is_integer():
            one["id"] = int(one["id"])
        elif one["id"] is None and str(one["method"]).startswith("notifications/"):
            del one["id"]
        else:
            raise UnreadableMessage("its id is neither a text nor a whole number")
    if not odd:
        yield from read_messages(line)
        return
    for one in found:
        yield from read_messages(json.dumps(one).encode())


def _has_odd_id(message: dict[str, Any]) -> bool:
    id = message.get("id", "")
    return "method" in message and (isinstance(id, bool) or not isinstance(id, str | int))


def _read_loosely(line: str) -> "Iterator[JSONRPCMessage]":
    from mcp.types import jsonrpc_message_adapter

    found = _parse(line)
    if found is None:
        yield from _build_error(line)
        return
    for one in found:
        text = replace_surrogates(json.dumps(one, ensure_ascii=False))
        try:
            yield _mend_id(jsonrpc_message_adapter.validate_json(text, by_name=False))
        except ValueError:
            yield from _build_error(text)


def _parse(line: str) -> list[Any] | None:
    """Return the JSON values in a line, which may be a list of messages, or None."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if is_nested_too_deep(found):
        return None
    return found if isinstance(found, list) else [found]


def _mend_id(message: "JSONRPCMessage") -> "JSONRPCMessage":
    """Make a number of the id of an answer, because some servers answer with text."""
    from mcp.types import JSONRPCError, JSONRPCResponse

    if not isinstance(message, JSONRPCResponse | JSONRPCError) or not isinstance(message.id, str):
        return message
    is_number = message.id.isascii() and message.id.isdecimal() and len(message.id) < 19
    return message.model_copy(update={"id": int(message.id)}) if is_number else message


def _build_error(line: str) -> "Iterator[JSONRPCMessage]":
    """Yield an error for the request that a broken answer belongs to, if the line is an answer."""
    if not _ANSWER.match(line):
        return
    id = _FIRST_ID.match(line) or _LAST_ID.search(line)
    if id is None:
        raise UnreadableMessage("it sent an answer that is not valid JSON of the protocol")
    yield _mend_id(build_unreadable(id[1].strip('"')))


def build_unreadable(id: str | int | None) -> "JSONRPCError":
    """Build the error that stands for an answer that cannot be read.

    Args:
        id: the id of the request.
    """
    from mcp.types import ErrorData, JSONRPCError

    error = ErrorData(code=_PARSE_ERROR, message="its answer is not valid JSON of the protocol")
    return JSONRPCError(jsonrpc="2.0", id=id, error=error)


def build_refusal(line: bytes) -> "JSONRPCError":
    """Build the answer to a line that is not a message of the protocol.

    It has the id of the request, if one can be found in the line.
    """
    from mcp.types import ErrorData, JSONRPCError

    text = line.decode("utf-8", "replace")
    code, fault = _INVALID_REQUEST, "is not a message of the protocol"
    if _parse(text) is None:
        code, fault = _PARSE_ERROR, "is not JSON, or is nested too deep"
    error = ErrorData(code=code, message=f"The line {fault}.")
    id = _FIRST_ID.match(text) or _LAST_ID.search(text)
    if id is None:
        return JSONRPCError(jsonrpc="2.0", id=None, error=error)
    known = id[1]
    return JSONRPCError(
        jsonrpc="2.0", id=known[1:-1] if known.startswith('"') else int(known), error=error
    )


def leave_out_bad_tools(message: "JSONRPCMessage", tell: Callable[[UnusableTool], object]) -> None:
    """Remove the tools that are not valid from an answer that lists tools.

    Args:
        message: the message, which is changed.
        tell: receives each tool that is removed, with the reason.
    """
    from mcp.types import JSONRPCResponse

    if not isinstance(message, JSONRPCResponse):
        return
    if not isinstance(message.result.get("tools"), list):
        return
    kept = []
    for listed in message.result["tools"]:
        tool, fault = _mend_tool(listed)
        if fault:
            tell(UnusableTool(_name_tool(listed), fault))
        else:
            kept.append(tool)
    message.result["tools"] = kept
    if not isinstance(message.result.get("nextCursor", ""), str):
        del message.result["nextCursor"]


def _mend_tool(listed: Any) -> tuple[dict[str, Any], str]:
    """Return a tool with the fields that are used, and why it is not valid, or an empty string."""
    if not isinstance(listed, dict):
        return {}, "it is not an object"
    tool = {name: listed[name] for name in _FIELDS if listed.get(name) is not None}
    fault = _find_fault(tool)
    described = {**tool, "annotations": listed.get("annotations")}
    return (described, "") if not fault and not _find_fault(described) else (tool, fault)


def _find_fault(tool: dict[str, Any]) -> str:
    """Return why the SDK would refuse a tool, or an empty string."""
    from mcp.types import Tool
    from mcp_types.methods import validate_server_result
    from pydantic import ValidationError

    try:
        validate_server_result("tools/list", _VERSION, {"tools": [tool]})
        Tool.model_validate(tool, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"] if part not in ("tools", 0))
        return f"{place}: {first['msg']}"[:_SHOWN_CHARS].removeprefix(": ")
    except RecursionError:
        return "it is nested too deep"
    return ""


def _name_tool(listed: Any) -> str:
    name = listed.get("name") if isinstance(listed, dict) else None
    return name if isinstance(name, str) and name else "a tool without a name"
