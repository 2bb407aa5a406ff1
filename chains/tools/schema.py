"""JSON schemas for the arguments of tools, and functions that parse and check arguments."""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from chains.errors import ToolFailed
from chains.llm.port import RequestedCall
from context.layers import (
    MOST_ARGUMENT_LEVELS,
    MOST_LEVELS,
    is_nested_too_deep,
    replace_surrogates,
)

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

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
_TYPES: Final[Mapping[str, object]] = {"string": str, "integer": int, "array": list[str]}


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
    from pydantic import ValidationError

    try:
        _build_model(schema).model_validate(dict(arguments))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise ToolFailed(_describe_fault(faults[0], schema["properties"])) from error


def _build_model(schema: Mapping[str, Any]) -> "type[BaseModel]":
    """Build the model that validates the arguments of a tool."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {
        f"argument_{number}": _build_field(name, one, is_required=name in schema["required"])
        for number, (name, one) in enumerate(schema["properties"].items())
    }
    return create_model("Arguments", __config__=ConfigDict(strict=True, extra="forbid"), **fields)


def _build_field(name: str, schema: Mapping[str, Any], *, is_required: bool) -> tuple[Any, Any]:
    from pydantic import Field

    default: Any = ... if is_required else None
    least, most = schema.get("minimum"), schema.get("maximum")
    kind = Literal[*schema["enum"]] if "enum" in schema else _TYPES[schema["type"]]
    return kind, Field(default, alias=name, ge=least, le=most)


def _describe_fault(fault: "ErrorDetails", properties: Mapping[str, Any]) -> str:
    name, *inner = map(str, fault["loc"])
    if fault["type"] == "missing":
        return f"The argument {name} is missing."
    if fault["type"] == "extra_forbidden":
        known = ", ".join(properties) or "none"
        return f"There is no argument {name}; this tool takes: {known}."
    schema = properties[name]
    if fault["type"] in ("greater_than_equal", "less_than_equal"):
        least, most = schema["minimum"], schema.get("maximum")
        allowed = f"at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        return f"The argument {name} has to be {allowed}."
    if inner:
        return f"The argument {name} has to be a list of {schema['items']['type']}s."
    if fault["type"] == "literal_error":
        return f"The argument {name} has to be {' or '.join(schema['enum'])}."
    return f"The argument {name} has to be of the type {schema['type']}."


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
    """
    try:
        value = json.loads(
            text, parse_constant=_refuse_number, parse_float=_read_number, parse_int=_read_integer
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8") from error
    except RecursionError as error:
        raise ValueError(f"it has more than {most_levels} levels") from error
    if is_nested_too_deep(value, most_levels):
        raise ValueError(f"it has more than {most_levels} levels")
    return value


def _read_number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _read_integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:  # Python's limit, which only programs may raise
        raise ValueError(f"a number has {len(text):,} digits") from error


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is not a number that JSON has")


def clean_json(value: Any) -> Any:
    """Return a copy of a JSON value without lone surrogates. The key order is kept."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {replace_surrogates(key): clean_json(item) for key, item in value.items()}
    return [clean_json(item) for item in value] if isinstance(value, list) else value
