"""Serve tools to an MCP client over standard input and output.

Only this module imports the server of the MCP SDK. While it is running, all other output of this
process goes to standard error, so that standard output contains only the protocol.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from chains.event_loop import EventLoop, get_event_loop
from context.messages import ToolDefinition, thaw_mapping

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, Tool

__all__ = ["RunTool", "ToolAnswer", "ToolServer"]

NAME: Final = "strata"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ToolAnswer:
    """The answer to an MCP client's tool call.

    Attributes:
        text: the result, or why the call failed.
    """

    text: str
    is_error: bool = False


# Runs a tool by its name, with arguments that are not checked yet. It is called in threads.
RunTool = Callable[[str, Mapping[str, Any]], ToolAnswer]


class ToolServer:
    """An MCP server with read-only tools."""

    def __init__(self, tools: Sequence[ToolDefinition], run: RunTool, instructions: str) -> None:
        """Create the server. `serve` starts it.

        Args:
            tools: the definitions of the tools.
            run: runs a call. It must not raise exceptions.
            instructions: a text that describes these tools to the client's model.
        """
        self._tools = tuple(tools)
        self._run = run
        self._instructions = instructions

    def serve(self, loop: EventLoop | None = None) -> None:
        """Serve one client until standard input ends. Calls that are still running are abandoned.

        The event loop runs in its own thread, because reading standard input cannot be cancelled.
        Ctrl+C interrupts the wait for the loop instead.
        """
        served = (loop or get_event_loop()).start(self._serve)
        try:
            served.result()
        except* (BrokenPipeError, ConnectionError, CancelledError) as gone:
            _log.info("The MCP client has gone: %s", gone.exceptions[0])

    async def _serve(self) -> None:
        from mcp.server.stdio import stdio_server

        server = self._build_server()
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    def _build_server(self) -> "Server[Any]":
        from anyio import to_thread
        from mcp.server.lowlevel import Server
        from mcp.types import CallToolRequestParams, ListToolsResult

        async def list_tools(_context: object, _params: object) -> ListToolsResult:
            return ListToolsResult(tools=[_describe_tool(tool) for tool in self._tools])

        async def call_tool(_context: object, params: CallToolRequestParams) -> "CallToolResult":
            work = partial(self._run, params.name, params.arguments or {})
            return _build_result(await to_thread.run_sync(work, abandon_on_cancel=True))

        return Server(
            NAME,
            version=version("strata-notes"),
            instructions=self._instructions,
            on_list_tools=list_tools,
            on_call_tool=call_tool,
        )


def _describe_tool(tool: ToolDefinition) -> "Tool":
    from mcp.types import Tool, ToolAnnotations

    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=thaw_mapping(tool.parameters),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _build_result(answer: ToolAnswer) -> "CallToolResult":
    from mcp.types import CallToolResult, TextContent

    content = TextContent(type="text", text=answer.text)
    return CallToolResult(content=[content], is_error=answer.is_error)
