"""JSON schemas for the arguments of tools, and functions that parse and check arguments."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from chains.errors import ToolFailed
from chains.llm.port import RequestedCall
from context.layers import (
    MOST_ARGUMENT_LEVELS,
    MOST_LEVELS,
    is_nested_too_deep,
    replace_surrogates,
)

__all__ = [
    "build_arguments_schema",
    "build_integer_schema",
    "build_text_schema",
    "check_arguments",
    "clean_json",
    "parse_arguments",
    "parse_json",
]

_SHOWN_CHARS: Final = 200
# Longer arguments than a note may have come from a broken model.
MOST_CHARS: Final = 4_000_000
_TYPES: Mapping[str, type] = {"string": str, "integer": int, "array": list}


def build_text_schema(description: str) -> dict[str, Any]:
    """Build the JSON schema of a string argument."""
    return {"type": "string", "description": description}


def build_integer_schema(
    description: str, minimum: int, maximum: int | None = None
) -> dict[str, Any]:
    """Build the JSON schema of an integer argument."""
    schema = {"type": "integer", "description": description, "minimum": minimum}
    return schema if maximum is None else schema | {"maximum": maximum}


def build_arguments_schema(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """Build the JSON schema of a tool's arguments. No other arguments are allowed."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def check_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Validate arguments against a tool's schema.

    Raises:
        ToolFailed: an argument does not match. The message names it.
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
        least, most = schema["minimum"], schema.get("maximum")
        if value < least or (most is not None and value > most):
            allowed = f"at least {least:,}" if most is None else f"from {least:,} to {most:,}"
            raise ToolFailed(f"The argument {name} has to be {allowed}.")


def parse_arguments(call: RequestedCall) -> Mapping[str, Any]:
    """Parse the arguments of a call. An empty string means no arguments.

    Raises:
        ToolFailed: the text is too long, not a JSON object, or nested too deep.
    """
    if (chars := len(call.arguments)) > MOST_CHARS:
        raise ToolFailed(
            f"The arguments have {chars:,} characters, and {MOST_CHARS:,} are allowed. Do it in "
            "several calls."
        )
    try:
        found = clean_json(parse_json(call.arguments or "{}", MOST_ARGUMENT_LEVELS))
    except (ValueError, RecursionError) as error:
        shown = call.arguments[:_SHOWN_CHARS]
        raise ToolFailed(f"The arguments are not JSON ({error}): {shown}") from error
    if not isinstance(found, dict):
        raise ToolFailed("The arguments have to be a JSON object.")
    return found


def parse_json(text: str | bytes, most_levels: int = MOST_LEVELS) -> Any:
    """Parse JSON, rejecting NaN and infinite numbers, which the `json` module accepts.

    Raises:
        ValueError: the text is not JSON, or is nested too deep.
        RecursionError: the text is nested so deep that it cannot be parsed.
    """
    value = json.loads(text, parse_constant=_refuse_number, parse_float=_read_number)
    if is_nested_too_deep(value, most_levels):
        raise ValueError(f"it has more than {most_levels} levels")
    return value


def _read_number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is not a number that JSON has")


def clean_json(value: Any) -> Any:
    """Return a copy of a JSON value without lone surrogates. The key order is kept."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {replace_surrogates(key): clean_json(item) for key, item in value.items()}
    return [clean_json(item) for item in value] if isinstance(value, list) else value
