"""Check the arguments of MCP tool calls, and convert results to text.

The argument schema comes from the server and may be hostile. References are therefore never fetched
and their number is limited, and regular expressions are ignored, because a bad one can run for
hours. Non-text content of a result, such as an image, is replaced with a description.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from chains.errors import ToolFailed
from chains.mcp.server import show_text

__all__ = ["check_mcp_arguments", "describe_result", "find_schema_fault"]

MAX_CHARS: Final = 400_000
MAX_PARTS: Final = 1_000
MAX_REFERENCES: Final = 2_000
_SHOWN_CHARS: Final = 300
# The keywords that run a regular expression. The server itself checks them.
_SKIPPED: Final = ("pattern", "patternProperties", "format")


class _TooManyReferences(Exception):
    """A schema has too many references to check."""


def check_mcp_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Check arguments against a JSON schema. Unusable schemas are ignored.

    Raises:
        ToolFailed: an argument does not match. The message names it.
    """
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    left = [MAX_REFERENCES]
    validator = _build_validator(_count_references(left))(dict(schema), registry=Registry())
    try:
        error = best_match(validator.iter_errors(dict(arguments)))
    except (_TooManyReferences, Unresolvable, SchemaError, RecursionError):
        return  # the server checks them
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError):
        return  # the schema itself is malformed
    if error is not None:
        place = "/".join(map(str, error.absolute_path))
        named = f"The argument {place}" if place else "The arguments"
        raise ToolFailed(f"{named} of this call: {error.message[:_SHOWN_CHARS]}.")


@lru_cache(maxsize=2_000)  # a server lists the same tools in every turn
def find_schema_fault(schema: str) -> str:
    """Return why a JSON schema is not valid, or an empty string. Services reject such a schema.

    Args:
        schema: the schema as JSON.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(json.loads(schema))
    except SchemaError as error:
        place = "/".join(map(str, error.absolute_path))
        at = f" at {place}" if place else ""
        return f"its schema is not valid{at}: {error.message}"[:_SHOWN_CHARS]
    except RecursionError:
        return "its schema is nested too deep"
    return ""


def _count_references(left: list[int]) -> Any:
    """Build a validator for `$ref` that raises `_TooManyReferences` after too many references.

    Args:
        left: a list with one item: how many references may still be followed. The validator
            decreases it with each reference.
    """
    from jsonschema import Draft202012Validator

    follow = Draft202012Validator.VALIDATORS["$ref"]

    def check(validator: Any, reference: Any, value: Any, schema: Any) -> Iterator[Any]:
        left[0] -= 1
        if left[0] < 0:
            raise _TooManyReferences
        yield from follow(validator, reference, value, schema) or ()

    return check


def _build_validator(check_reference: Any) -> Any:
    from jsonschema.validators import extend

    return extend(_load_base(), {"$ref": check_reference, "$dynamicRef": check_reference})


@cache
def _load_base() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    return extend(Draft202012Validator, dict.fromkeys(_SKIPPED, _skip))


def _skip(_validator: Any, _keyword: Any, _value: Any, _schema: Any) -> None: ...


def describe_result(content: Iterable[Any], structured: object) -> str:
    """Convert a tool result to text.

    Args:
        content: the content blocks of the SDK's `CallToolResult`.
        structured: the structured content, used if there is no text.
    """
    blocks = list(content)
    parts = [_describe_block(block) for block in blocks[:MAX_PARTS]]
    if len(blocks) > MAX_PARTS:
        parts.append(f"[{len(blocks) - MAX_PARTS:,} more parts were left out]")
    has_text = any(block.type == "text" and block.text.strip() for block in blocks)
    if structured is not None and not has_text:
        parts.append(json.dumps(structured, ensure_ascii=False, indent=1))
    return _limit("\n\n".join(parts)) or "[The tool returned nothing.]"


def _describe_block(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type}: {_name_type(block)}, {_count_bytes(block.data)}; not shown]"
        case "resource_link":
            return f"[link: {show_text(f'{block.name} {block.uri}')[:500]}; not followed]"
        case "resource":
            return _describe_resource(block.resource)
        case _:
            return f"[content of the type {show_text(str(block.type))[:40]}; not shown]"


def _describe_resource(resource: Any) -> str:
    uri = show_text(str(resource.uri))[:500]
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return f"[{uri}]\n{text}"
    return f"[file: {uri}, {_name_type(resource)}, {_count_bytes(resource.blob)}; not shown]"


def _name_type(block: Any) -> str:
    return show_text(str(block.mime_type or "unknown type"))[:80]


def _count_bytes(encoded: str) -> str:
    """Describe the size of base64 data as text."""
    return f"{len(encoded) * 3 // 4:,} bytes"


def _limit(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    return f"{text[:MAX_CHARS]}\n[{len(text) - MAX_CHARS:,} more characters were left out]"
