"""Connections to MCP servers. Only this module imports the client of the MCP SDK.

Each server runs in its own task of the event loop. Callers in other threads wait for its answers,
up to a time limit. A server that ends or hangs is restarted on the next call, but only a few times.
"""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chains.cancel import CancelToken
from chains.errors import McpFailed, ToolFailed
from chains.event_loop import EventLoop, get_event_loop
from chains.ledger import LedgerPort, OutgoingCall
from chains.llm.urls import is_loopback
from chains.mcp.calls import describe_result, find_schema_fault
from chains.mcp.server import (
    MAX_TOOLS,
    McpServer,
    McpTool,
    UnusableTool,
    choose_usable_tools,
    hash_tools,
    refuse_offline,
    show_text,
)
from chains.mcp.wire import ServerProcess, open_http

if TYPE_CHECKING:
    from mcp import Client, MCPError
    from mcp.types import Implementation, Tool

__all__ = ["McpClient"]

START_S: Final = 60.0
CALL_S: Final = 120.0
CLOSE_S: Final = 8.0
MAX_FAILURES: Final = 3
MAX_PAGES: Final = 50
_ERROR_CHARS: Final = 1_000
T = TypeVar("T")


class McpClient:
    """Manages the running MCP servers. Thread-safe."""

    def __init__(
        self,
        is_offline: Callable[[], bool],
        ledger: LedgerPort,
        *,
        start_s: float = START_S,
        call_s: float = CALL_S,
        loop: EventLoop | None = None,
    ) -> None:
        """Create the client without starting a server.

        Args:
            is_offline: returns whether only servers on this computer may be called.
            ledger: records each call before it is made.
            start_s: the time limit in seconds for starting a server and listing its tools.
            call_s: the time limit of a call in seconds.
            loop: the event loop for the connections.
        """
        self._is_offline = is_offline
        self._ledger = ledger
        self._start_s, self._call_s = start_s, call_s
        self._loop = loop or get_event_loop()
        self._connections: dict[str, _Connection] = {}
        self._failures: dict[str, int] = {}

    def list_tools(
        self, server: McpServer, cancel: CancelToken, most_s: float = math.inf
    ) -> tuple[McpTool, ...]:
        """Start a server if necessary, and return its tools.

        Args:
            cancel: the token that cancels the call.
            most_s: the time limit in seconds, if it is shorter than the usual one.

        Raises:
            McpFailed: the server cannot be started, does not answer, or failed too often.
            LedgerFailed: the call could not be recorded, so it was not made.
            Cancelled: the token was cancelled.
        """
        limit_s = min(self._start_s, most_s)
        return self._run(server, limit_s, "list its tools", b"", cancel, _Connection.list_tools)

    def call(
        self,
        server: McpServer,
        tool: McpTool,
        arguments: Mapping[str, Any],
        cancel: CancelToken,
        most_s: float = math.inf,
    ) -> str:
        """Call a tool, and return its result as text.

        Args:
            tool: the tool, as it was shown to the user.
            arguments: the arguments of the call.
            cancel: the token that cancels the call.
            most_s: the time limit in seconds, if it is shorter than the usual one.

        Raises:
            ToolFailed: the tool reports an error.
            McpFailed: the server ended, does not answer, or its tool has changed.
            LedgerFailed: the call could not be recorded, so it was not made.
            Cancelled: the token was cancelled.
        """
        body = json.dumps(arguments).encode()

        async def work(connection: _Connection) -> str:
            return await connection.call(tool, arguments)

        limit_s = min(self._call_s, most_s)
        return self._run(server, limit_s, f"answer the call of {tool.name}", body, cancel, work)

    def forget_failures(self, server: McpServer) -> None:
        """Allow a server that has failed too often to be started again."""
        self._failures.pop(server.fingerprint, None)

    def list_left_out(self, server: McpServer) -> tuple[UnusableTool, ...]:
        """Return the tools that `list_tools` left out, because models would not accept them."""
        connection = self._connections.get(server.fingerprint)
        return () if connection is None else connection.left_out

    def stop(self, server: McpServer) -> None:
        """Stop a server, for example when its approval is withdrawn."""
        connection = self._connections.pop(server.fingerprint, None)
        if connection is not None:
            self._wait_for_end([connection])

    def close(self) -> None:
        """Stop all MCP servers."""
        connections = list(self._connections.values())
        self._connections.clear()
        self._wait_for_end(connections)

    def _run(
        self,
        server: McpServer,
        timeout_s: float,
        action: str,
        body: bytes,
        cancel: CancelToken,
        work: "Callable[[_Connection], Awaitable[T]]",
    ) -> T:
        self._check(server)
        record = self._ledger.record(OutgoingCall("mcp", server.host or server.name, len(body)))
        received = 0
        try:
            result = self._loop.run(lambda: self._work(server, work), cancel, timeout_s)
            received = len(result.encode("utf-8", "replace")) if isinstance(result, str) else 0
        except TimeoutError as error:
            self._drop(server)
            raise McpFailed(
                f"The MCP server {server.name} did not {action} within {timeout_s:.3g} s."
            ) from error
        except McpFailed:
            self._drop(server)
            raise
        finally:
            record.finish(received)
        self._failures.pop(server.fingerprint, None)
        return result

    def _check(self, server: McpServer) -> None:
        if server.host and self._is_offline() and not is_loopback(server.host):
            raise refuse_offline(server)
        if self._failures.get(server.fingerprint, 0) >= MAX_FAILURES:
            raise McpFailed(
                f"The MCP server {server.name} failed {MAX_FAILURES} times in a row, so it is not "
                "started again. Correct it, and test it in the settings or restart Strata."
            )

    async def _work(self, server: McpServer, work: "Callable[[_Connection], Awaitable[T]]") -> T:
        connection = self._connections.get(server.fingerprint)
        if connection is None or not connection.is_alive:
            connection = self._connections[server.fingerprint] = _Connection(server)
        await connection.wait_until_ready()
        return await work(connection)

    def _drop(self, server: McpServer) -> None:
        """Count a failure of the server, and close its connection.

        The next call opens a new connection.
        """
        self._failures[server.fingerprint] = self._failures.get(server.fingerprint, 0) + 1
        connection = self._connections.pop(server.fingerprint, None)
        if connection is not None:
            self._loop.start(connection.end)

    def _wait_for_end(self, connections: "list[_Connection]") -> None:
        async def end() -> None:
            await asyncio.gather(*(connection.end() for connection in connections))

        if connections:
            with suppress(TimeoutError):
                self._loop.run(end, CancelToken(), CLOSE_S)


class _Connection:
    """The connection to one server, used only within the event loop."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._process: ServerProcess | None = None
        self._client: Client | None = None
        self._failure: McpFailed | None = None
        self._tools: dict[str, str] | None = None
        self._bad_tools: list[UnusableTool] = []  # left out before the SDK reads the answer
        self.left_out: tuple[UnusableTool, ...] = ()
        self._is_ready = asyncio.Event()
        self._ends = asyncio.Event()
        self._task = asyncio.create_task(self._serve())

    @property
    def is_alive(self) -> bool:
        """Whether the connection is usable or being opened."""
        return not self._ends.is_set() and not self._task.done()

    async def wait_until_ready(self) -> None:
        """Wait until the server has answered the first request.

        Raises:
            McpFailed: the server could not be started or connected.
        """
        await self._is_ready.wait()
        if self._failure is not None:
            raise self._failure

    async def list_tools(self) -> tuple[McpTool, ...]:
        """Return the current tools of the server.

        Raises:
            McpFailed: the server does not list them.
        """
        from anyio import to_thread

        found: list[McpTool] = []
        cursor = None
        self._bad_tools.clear()
        client = self._require_client()
        with self._explain(McpFailed):
            for _ in range(MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                found += [_build_tool(self._server, tool) for tool in page.tools]
                cursor = page.next_cursor
                if not cursor or len(found) > MAX_TOOLS:
                    break
        # A large schema takes time, which other connections must not wait for.
        tools, left_out = await to_thread.run_sync(choose_usable_tools, found, find_schema_fault)
        self._tools, self.left_out = hash_tools(tools), (*self._bad_tools, *left_out)
        return tuple(tools)

    async def call(self, tool: McpTool, arguments: Mapping[str, Any]) -> str:
        from mcp import types

        await self._require_same(tool)
        client = self._require_client()
        params = types.CallToolRequestParams(name=tool.name, arguments=dict(arguments))
        with self._explain(ToolFailed):
            # Not `call_tool`, which checks the result against the server's schema, including
            # its regular expressions, in the thread that all connections share.
            result = await client.session.send_request(
                types.CallToolRequest(params=params), types.CallToolResult
            )
        text = describe_result(result.content, result.structured_content)
        if result.is_error:
            raise ToolFailed(f"The tool reports: {text}")
        return text

    async def end(self) -> None:
        self._ends.set()
        if not self._is_ready.is_set():
            self._task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.shield(self._task)

    async def _serve(self) -> None:
        """Connect to the server, and stay connected until the connection is closed."""
        from mcp import Client

        try:
            client = Client(self._open_transport(), cache=None, client_info=_introduce())
            async with client:
                self._client = client
                self._is_ready.set()
                await self._ends.wait()
        except Exception as error:  # noqa: BLE001 - any error of the SDK or the server
            self._failure = self._describe(error)
        finally:
            self._ends.set()
            self._is_ready.set()

    def _open_transport(self) -> Any:
        if self._server.url:
            return open_http(self._server, self._bad_tools.append)
        self._process = ServerProcess(self._server, self._ends.set, self._bad_tools.append)
        return self._process.open_streams()

    def _require_client(self) -> "Client":
        if self._client is None or not self.is_alive:
            raise self._describe(None)
        return self._client

    async def _require_same(self, tool: McpTool) -> None:
        """Raise `ToolFailed` if a tool has changed since it was shown to the user.

        A server at an address may be replaced at any time, so it is asked for its tools each time.
        """
        if self._tools is None or self._server.url:
            await self.list_tools()
        assert self._tools is not None
        if self._tools.get(tool.name) != tool.fingerprint:
            raise ToolFailed(
                f"The tool {tool.name} of the MCP server {self._server.name} has changed since it "
                "was shown, so it was not called. It has to be approved again, with the next "
                "message."
            )

    @contextmanager
    def _explain(self, answered: type[McpFailed | ToolFailed]) -> Iterator[None]:
        """Convert errors of the SDK to exceptions of this package within the `with` block.

        Args:
            answered: the class of the exception to raise if the server reports an error and keeps
                running.
        """
        from mcp import MCPError
        from pydantic import ValidationError

        try:
            yield
        except MCPError as error:
            if _is_closed(error) or not self.is_alive:
                raise self._describe(error) from error
            message = show_text(error.message)[:_ERROR_CHARS]
            raise answered(f"The MCP server {self._server.name} reports: {message}") from error
        except ValidationError as error:
            name = self._server.name
            raise answered(f"The MCP server {name} sent an answer that is not valid.") from error

    def _describe(self, error: BaseException | None) -> McpFailed:
        """Build the error for a connection that has ended."""
        if isinstance(error, McpFailed):
            return error
        if isinstance(error, BaseExceptionGroup):
            return self._describe(error.exceptions[0])
        if (refusal := _read_refusal(error)) and self._failure is None:
            return McpFailed(f"The MCP server {self._server.name} reports: {refusal}")
        reason = self._process.end if self._process is not None else ""
        if not reason and self._failure is not None:
            return self._failure
        if not reason and self._server.url:
            reason = f"{self._server.host} does not answer, or not as an MCP server"
        return McpFailed(f"The MCP server {self._server.name} failed: {reason or 'it ended'}.")


def _read_refusal(error: BaseException | None) -> str:
    """Return the error message that a server sent, or an empty string for any other error."""
    from mcp import MCPError

    if not isinstance(error, MCPError) or _is_closed(error):
        return ""
    return show_text(error.message)[:_ERROR_CHARS]


def _is_closed(error: "MCPError") -> bool:
    """Return whether the SDK reports that the connection was closed."""
    from mcp.types import CONNECTION_CLOSED

    # Many servers use the same code for their own errors.
    sdk_messages = ("Connection closed", "SSE stream ")
    return error.code == CONNECTION_CLOSED and error.message.startswith(sdk_messages)


def _introduce() -> "Implementation":
    from mcp.types import Implementation

    return Implementation(name="strata-notes", version=version("strata-notes"))


def _build_tool(server: McpServer, tool: "Tool") -> McpTool:
    hints = tool.annotations
    return McpTool(
        server.name,
        tool.name,
        tool.description or "",
        tool.input_schema,
        is_read_only=hints is not None and hints.read_only_hint is True,
        is_destructive=hints is not None and hints.destructive_hint is True,
    )
