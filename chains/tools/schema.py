"""Arguments of a call, compared with what the tool says it takes."""

from collections.abc import Mapping
from typing import Any

from chains.errors import ToolFailed

_TYPES: Mapping[str, type] = {"string": str, "integer": int}


def text(description: str) -> dict[str, Any]:
    """Return the schema of a text."""
    return {"type": "string", "description": description}


def whole(description: str, minimum: int, maximum: int | None = None) -> dict[str, Any]:
    """Return the schema of a whole number."""
    schema = {"type": "integer", "description": description, "minimum": minimum}
    return schema if maximum is None else schema | {"maximum": maximum}


def takes(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """Return the schema of a tool's arguments, which takes no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def check_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """See that a tool takes these arguments.

    Raises:
        ToolFailed: it does not; the message says which and why.
    """
    properties = schema["properties"]
    for name in schema["required"]:
        if name not in arguments:
            raise ToolFailed(f"The argument {name} is missing.")
    for name, value in arguments.items():
        if name not in properties:
            known = ", ".join(properties) or "none"
            raise ToolFailed(f"There is no argument {name}; this tool takes: {known}.")
        _check_value(name, value, properties[name])


def _check_value(name: str, value: object, schema: Mapping[str, Any]) -> None:
    kind = schema["type"]
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool):
        raise ToolFailed(f"The argument {name} has to be of the type {kind}.")
    if isinstance(value, int):
        least, most = schema["minimum"], schema.get("maximum", value)
        if not least <= value <= most:
            raise ToolFailed(f"The argument {name} has to be from {least:,} to {most:,}.")
