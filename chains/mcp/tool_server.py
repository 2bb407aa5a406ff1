"""Serve tools to an MCP client over standard input and output.

Only this module imports the server of the MCP SDK. While it is running, all other output of this
process goes to standard error, so that standard output contains only the protocol.
"""

import logging
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any, Final, cast

from chains.event_loop import EventLoop, get_event_loop
from chains.mcp.messages import UnreadableMessage, build_refusal, read_requests
from context.messages import ToolDefinition, thaw_mapping

if TYPE_CHECKING:
    from anyio import AsyncFile
    from anyio.abc import ObjectSendStream
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage
    from mcp.types import CallToolResult, Tool

__all__ = ["RunTool", "ToolAnswer", "ToolServer"]

NAME: Final = "strata"
LONGEST_LINE: Final = 16_000_000  # bytes
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

        server, requests = self._build_server(), _Requests(sys.stdin.buffer)
        async with stdio_server(cast("AsyncFile[str]", requests)) as (incoming, outgoing):
            requests.answers = outgoing
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


class _Requests:
    """Yields the messages in the lines of standard input, and refuses lines without one.

    Attributes:
        answers: the stream of answers to the client.
    """

    answers: "ObjectSendStream[SessionMessage]"

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._read: deque[str] = deque()

    def __aiter__(self) -> "_Requests":
        return self

    async def __anext__(self) -> str:
        while not self._read:
            line = await self._read_line()
            if not line:
                raise StopAsyncIteration
            await self._take(line)
        return self._read.popleft()

    async def _read_line(self) -> bytes:
        from anyio import to_thread

        read = self._source.readline
        return await to_thread.run_sync(read, LONGEST_LINE, abandon_on_cancel=True)

    async def _take(self, line: bytes) -> None:
        """Keep the messages in a line, or refuse the line if it has none."""
        from mcp.shared.message import SessionMessage

        whole = line
        while len(whole) == LONGEST_LINE and not whole.endswith(b"\n"):
            whole = await self._read_line()
        messages: list[str] = []
        with suppress(UnreadableMessage):
            found = read_requests(line) if whole is line else ()
            messages += (one.model_dump_json(by_alias=True, exclude_unset=True) for one in found)
        self._read.extend(messages)
        if line.strip() and not messages:
            await self.answers.send(SessionMessage(build_refusal(line)))


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
