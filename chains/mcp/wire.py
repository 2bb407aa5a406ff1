"""Transports for MCP servers: a child process, or streamable HTTP.

Unlike the SDK's transport, `ServerProcess` limits the length of messages, keeps the last line of
standard error to explain a crash, and reports when the process ends. The child process receives
only the usual environment variables and those from its settings, but no keys.

The user chose the server's address, so local networks are allowed. The configured headers are sent
only to that address, because the SDK does not follow redirects to other hosts.
"""

import asyncio
import json
import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from chains.errors import McpFailed
from chains.llm.urls import is_loopback
from chains.mcp.http_bodies import EventRepair, repair_document
from chains.mcp.messages import UnreadableMessage, leave_out_bad_tools, read_messages
from chains.mcp.server import McpServer, UnusableTool, fill_variables, show_text
from resources.system.processes import pass_socket
from vault.workers.guard import GRACE_S
from vault.workers.process import build_command, pick_environment

if TYPE_CHECKING:
    import httpx2
    from anyio.abc import Process

__all__ = ["ServerProcess", "find_reason", "open_http"]

MAX_MESSAGE_CHARS: Final = 16_000_000
END_S: Final = 1.0
MAX_RESPONSE_BYTES: Final = 16_000_000
STEP_S: Final = 30.0
READ_S: Final = 300.0
_STDERR_BYTES: Final = 2_000
_ANSWER_BYTES: Final = 4_096


class ServerProcess:
    """The child process of an MCP server.

    Attributes:
        end: how the process ended, or an empty string while it is running.
    """

    def __init__(
        self,
        server: McpServer,
        on_end: Callable[[], None],
        on_bad_tool: Callable[[UnusableTool], object],
    ) -> None:
        """Create the object. The process is not started yet.

        Args:
            server: the server to start.
            on_end: called when the output of the process ends.
            on_bad_tool: called with each listed tool that is left out because it is not valid.
        """
        self.end = ""
        self._server = server
        self._on_end, self._on_bad_tool = on_end, on_bad_tool
        self._errors = b""

    @asynccontextmanager
    async def open_streams(self) -> AsyncIterator[Any]:
        """Start the process, and yield streams for receiving and sending messages.

        Raises:
            McpFailed: the program cannot be started.
        """
        import anyio
        from mcp.shared.message import SessionMessage

        process = await self._start()
        self._errors_read = anyio.Event()
        received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._receive, process, received)
            tasks.start_soon(_send, process, sent)
            tasks.start_soon(self._keep_errors, process)
            try:
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    await _stop(process, self._life)
                tasks.cancel_scope.cancel()
                for stream in (received, incoming, outgoing, sent):
                    stream.close()

    async def _start(self) -> "Process":
        """Start the program below a guard, which ends it if this process ends in any way."""
        import anyio

        request = self._build_request()
        self._life, theirs = socket.socketpair()
        try:
            with theirs:
                process = await anyio.open_process(
                    [*build_command("vault.workers.guard"), str(theirs.fileno())],
                    env=pick_environment(is_online=False),
                    cwd=os.path.abspath(os.sep),
                    **pass_socket(theirs),
                )
        except OSError as error:
            self._life.close()
            raise self._fail_to_start(error.strerror or str(error)) from error
        try:
            await self._hand_over(request)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await _stop(process, self._life)
            raise
        return process

    def _build_request(self) -> Mapping[str, Any]:
        """Build what the guard needs to start the program."""
        environment = {**pick_environment(is_online=True), **fill_variables(self._server.env)}
        command = shutil.which(self._server.command, path=environment.get("PATH"))
        if command is None:
            shown = show_text(self._server.command)
            raise self._fail_to_start(
                f"there is no program {shown}. Install it, or correct mcp.servers"
            )
        home = Path.home()
        return {
            "command": [command, *(self._server.secret_args or self._server.args)],
            "environment": environment,
            "folder": str(home if home.is_dir() else os.path.abspath(os.sep)),
        }

    def _fail_to_start(self, reason: str) -> McpFailed:
        return McpFailed(f"The MCP server {self._server.name} cannot be started: {reason}.")

    async def _hand_over(self, request: Mapping[str, Any]) -> None:
        """Tell the guard what to start.

        Raises:
            McpFailed: the program cannot be started.
        """
        loop = asyncio.get_running_loop()
        self._life.setblocking(False)
        answer = b""
        with suppress(ConnectionError):
            await loop.sock_sendall(self._life, json.dumps(request).encode() + b"\n")
            while not answer.endswith(b"\n"):
                piece = await loop.sock_recv(self._life, _ANSWER_BYTES)
                if not piece:
                    break
                answer += piece
        reason = json.loads(answer).get("error", "") if answer else "its guard ended"
        if reason:
            raise self._fail_to_start(reason)

    async def _receive(self, process: "Process", received: Any) -> None:
        import anyio

        try:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ProcessLookupError):
                await self._read(process, received)
        except UnreadableMessage as broken:
            self.end = str(broken)
            process.terminate()
        await self._finish(process)
        received.close()

    async def _read(self, process: "Process", received: Any) -> None:
        """Forward all messages until the output of the process ends.

        Raises:
            UnreadableMessage: a message is too large, or cannot be read.
        """
        assert process.stdout is not None
        pieces: list[bytes] = []
        size = 0
        async for chunk in process.stdout:
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                await self._deliver(b"".join([*pieces, line]), received)
                pieces, size = [], 0
            pieces.append(rest)
            size += len(rest)
            if size > MAX_MESSAGE_CHARS:
                raise UnreadableMessage("it sent a message that is too large")

    async def _deliver(self, line: bytes, received: Any) -> None:
        """Forward the messages in a line. Other lines, such as logs, have none."""
        from mcp.shared.message import SessionMessage

        for message in read_messages(line):
            leave_out_bad_tools(message, self._on_bad_tool)
            await received.send(SessionMessage(message))

    async def _finish(self, process: "Process") -> None:
        """Wait briefly for the process to end, and describe how it ended."""
        import anyio

        with anyio.move_on_after(1):
            while process.returncode is None and not self.end:
                await anyio.sleep(0.01)
        if not self.end:
            if process.returncode is not None:
                with anyio.move_on_after(1):  # the last words may still be in the pipe
                    await self._errors_read.wait()
            code = process.returncode
            how = f"with signal {-code}" if code and code < 0 else f"with code {code}"
            self.end = f"it ended {how}" if code is not None else "it closed its output"
            reason = find_reason(self._errors.decode("utf-8", "replace"))
            self.end += f" ({show_text(reason[:200])})" if reason else ""
        self._on_end()

    async def _keep_errors(self, process: "Process") -> None:
        import anyio

        assert process.stderr is not None
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for chunk in process.stderr:
                self._errors = (self._errors + chunk)[-_STDERR_BYTES:]
        self._errors_read.set()


def find_reason(errors: str) -> str:
    """Return the line of a program's error output that says why it ended, or an empty string.

    For npm, this is its second line, after the error code. For other programs, it is the last line.
    """
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    of_npm = [line for line in lines if line.startswith(("npm error ", "npm ERR! "))]
    return (of_npm[:2] or lines)[-1] if lines else ""


async def _send(process: "Process", sent: Any) -> None:
    import anyio

    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        async for item in sent:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.stdin.send(f"{text}\n".encode("utf-8", "replace"))


async def _stop(process: "Process", life: socket.socket) -> None:
    """Close the input of the program, and let its guard end it if it does not exit."""
    import anyio

    assert process.stdin is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    await _wait_for_end(process, END_S)
    life.close()
    await _wait_for_end(process, 2 * GRACE_S + END_S)
    with suppress(ProcessLookupError):
        process.kill()
    # A process that left the group may hold the pipes open, for which `aclose` would wait.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        transport.close()


async def _wait_for_end(process: "Process", most_s: float) -> None:
    import anyio

    with anyio.move_on_after(most_s):
        while process.returncode is None:
            await anyio.sleep(0.01)


@asynccontextmanager
async def open_http(
    server: McpServer, on_bad_tool: Callable[[UnusableTool], object]
) -> AsyncIterator[Any]:
    """Connect to a server over HTTP, and yield streams for receiving and sending messages.

    Args:
        server: the server to connect to.
        on_bad_tool: called with each listed tool that is left out because it is not valid.
    """
    import anyio
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def repair(response: httpx2.Response) -> None:
        response.stream = _repair_stream(response)

    client = httpx2.AsyncClient(
        # A compressed response could grow without limit.
        headers={"Accept-Encoding": "identity", **fill_variables(server.headers)},
        timeout=httpx2.Timeout(STEP_S, read=READ_S),
        trust_env=not is_loopback(server.host),
        event_hooks={"response": [repair]},
    )
    url = server.secret_url or server.url
    async with client, streamable_http_client(url, http_client=client) as streams:
        source, outgoing = streams
        received, incoming = anyio.create_memory_object_stream[Any](0)

        async def forward() -> None:
            async with received:
                async for item in source:
                    if not isinstance(item, Exception):
                        leave_out_bad_tools(item.message, on_bad_tool)
                    await received.send(item)

        async with incoming, anyio.create_task_group() as tasks:
            tasks.start_soon(forward)
            yield incoming, outgoing
            tasks.cancel_scope.cancel()


def _repair_stream(response: "httpx2.Response") -> "httpx2.AsyncByteStream":
    """Limit the size of a response body, and repair the messages in it.

    Of an event stream, the size of each event is limited.
    """
    import httpx2

    source = cast("httpx2.AsyncByteStream", response.stream)
    sent, kind = response.request.content, response.headers.get("content-type", "").lower()
    is_readable = response.is_success and "content-encoding" not in response.headers

    class Repaired(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            if is_readable and kind.startswith("text/event-stream"):
                events = EventRepair(sent)
                async for chunk in source:
                    for event in events.feed(chunk):
                        yield event
                    _check_size(events.held_bytes)
                for event in events.end():
                    yield event
                return
            body = b""
            async for chunk in source:
                body += chunk
                _check_size(len(body))
            is_document = is_readable and kind.startswith("application/json")
            yield repair_document(body, sent) if is_document else body

        async def aclose(self) -> None:
            await source.aclose()

    return Repaired()


def _check_size(size: int) -> None:
    if size > MAX_RESPONSE_BYTES:
        raise McpFailed("The MCP server sent a message that is too large.")
