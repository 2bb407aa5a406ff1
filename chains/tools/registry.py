"""A call of the model, run: whatever was asked, there is a result, and none of it raises."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from chains.errors import ToolFailed
from chains.llm.port import RequestedCall
from chains.tools.schema import check_arguments
from context.frozen import clean_json, replace_surrogates
from context.messages import ToolDefinition
from vault.errors import VaultError

__all__ = ["Tool", "ToolOutcome", "ToolRegistry", "arguments_of"]

_log = logging.getLogger(__name__)
_SHOWN_CHARS: Final = 200


@dataclass(frozen=True)
class Tool:
    """Something that a model may call.

    Attributes:
        run: takes arguments that fit the definition; what it raises as `ToolFailed` or as an error
            of the vault is told to the model.
        is_offloaded: whether a large result is kept elsewhere.
    """

    definition: ToolDefinition
    run: Callable[[Mapping[str, Any]], str]
    is_offloaded: bool = True


@dataclass(frozen=True)
class ToolOutcome:
    """What a call came to, as the model reads it."""

    content: str
    is_error: bool = False
    is_offloaded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", replace_surrogates(self.content))


class ToolRegistry:
    """The tools of a turn, by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.definition.name: tool for tool in tools}

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """What the model is told of, in an order that never changes."""
        return tuple(tool.definition for tool in self._tools.values())

    def run(self, call: RequestedCall) -> ToolOutcome:
        """Return what a call comes to; a failure is an outcome like any other."""
        try:
            tool = self._tool(call.name)
            arguments = arguments_of(call)
            check_arguments(arguments, tool.definition.parameters)
            return ToolOutcome(tool.run(arguments), is_offloaded=tool.is_offloaded)
        except (ToolFailed, VaultError) as error:
            return ToolOutcome(f"Error: {error}", is_error=True)
        except Exception:  # noqa: BLE001 - a bug in a tool is told to the model, and logged
            _log.exception("The tool %s failed", call.name)
            return ToolOutcome(f"Error: the tool {call.name} failed. Go on without it.", True)

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            raise ToolFailed(f"There is no tool {name}. There are: {', '.join(self._tools)}.")
        return self._tools[name]


def arguments_of(call: RequestedCall) -> Mapping[str, Any]:
    """Return the arguments of a call; no text at all means none.

    Raises:
        ToolFailed: they are not a JSON object.
    """
    try:
        found = clean_json(json.loads(call.arguments or "{}"))
    except (ValueError, RecursionError) as error:
        shown = call.arguments[:_SHOWN_CHARS]
        raise ToolFailed(f"The arguments are not JSON ({error}): {shown}") from error
    if not isinstance(found, dict):
        raise ToolFailed("The arguments have to be a JSON object.")
    return found
