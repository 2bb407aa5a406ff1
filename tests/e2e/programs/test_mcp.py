"""`strata mcp` as another program meets it: the client of the SDK, the pipes, the exit code."""

import asyncio
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

from tests.support.processes.program import (
    LONGEST_RUN_S,
    SCRIPT,
    Program,
    children_of,
    command_of,
    ended,
    wait_until,
)

pytestmark = pytest.mark.started  # the processes are looked at

NOTES = {
    "Garden.md": (
        "---\ntags: [plants/herbs]\n---\n# Garden\n\nThe sage froze in January.\nSee [[Shed]].\n"
    ),
    "rooms/Shed.md": "# Shed\n\nThe secateurs are in the red box. #tools\n",
    "rooms/Diary.md": "---\nprivate: true\n---\n# Diary\n\nThe secateurs are secret.\n",
    "rooms/.keys.md": "# Keys\n\nThe secateurs have a key.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "notes"


class _Connection:
    """The tools of a server as functions of text."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the text of a result that is no error."""
        found = await self._client.call_tool(name, dict(arguments))
        assert not found.is_error, found
        return _read_text(found)

    async def fail(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the text of a result that is an error."""
        found = await self._client.call_tool(name, dict(arguments))
        assert found.is_error, found
        return _read_text(found)

    async def search(self, query: str) -> str:
        """Search again until all notes are indexed."""
        deadline = time.monotonic() + LONGEST_RUN_S
        while "not fully indexed" in (found := await self.call("search_notes", {"query": query})):
            assert time.monotonic() < deadline, found
        return found


def _read_text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_a_client_searches_reads_and_lists_the_notes_but_no_private_one(
    program: Program, vault: Path
) -> None:
    server = StdioServerParameters(
        command=str(SCRIPT),
        args=["mcp", "--vault", str(vault)],
        env={**os.environ, "STRATA_HOME": str(program.home)},
    )

    async def talk() -> None:
        async with Client(stdio_client(server)) as client:
            assert client.server_info is not None
            assert client.server_info.name == "strata"
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == ["search_notes", "read_note", "list_notes", "get_links"]
            assert all(
                tool.annotations and tool.annotations.read_only_hint for tool in tools.values()
            )
            await _check_reading(_Connection(client))
            await _check_refusals(_Connection(client))

    asyncio.run(talk())
    assert {path for path in vault.rglob("*") if path.is_file()} == {vault / name for name in NOTES}


async def _check_reading(server: _Connection) -> None:
    found = await server.search("secateurs")
    assert 'path="rooms/Shed.md"' in found
    assert "secret" not in found
    assert "key" not in found
    read = await server.call("read_note", {"path": "Garden.md", "start": 6, "end": 7})
    assert 'lines="6-7"' in read
    assert "\nThe sage froze in January.\nSee [[Shed]].\n" in read
    assert "# Garden" not in read
    assert await server.call("list_notes", {"folder": "rooms"}) == "rooms/Shed.md: Shed"
    assert await server.call("list_notes", {"tag": "#Plants"}) == "Garden.md: Garden"
    both = await server.call("list_notes", {})
    assert both == "Garden.md: Garden\nrooms/Shed.md: Shed"
    assert await server.call("list_notes", {"folder": "rooms", "tag": "plants"}) == (
        "There are no such notes."
    )
    links = await server.call("get_links", {"path": "rooms/Shed.md"})
    assert links.endswith("Links to rooms/Shed.md:\nGarden.md, line 7")


async def _check_refusals(server: _Connection) -> None:
    private = await server.fail("read_note", {"path": "rooms/Diary.md"})
    assert "private" in private
    assert "secret" not in private
    assert "begins with a dot" in await server.fail("read_note", {"path": "rooms/.keys.md"})
    assert "inside the vault" in await server.fail("read_note", {"path": "../home/x.md"})
    assert "query is missing" in await server.fail("search_notes", {})
    assert "of the type integer" in await server.fail("search_notes", {"query": "sage", "k": "2"})
    assert "from 1 to 20" in await server.fail("search_notes", {"query": "sage", "k": 21})
    assert "no argument depth" in await server.fail("get_links", {"path": "a.md", "depth": 2})
    assert "no notes at attic" in await server.fail("list_notes", {"folder": "attic"})
    assert "There is no tool create_note" in await server.fail("create_note", {"path": "a.md"})


def test_the_end_of_input_ends_the_server_and_its_children(program: Program, vault: Path) -> None:
    child = program.start("--vault", str(vault), "mcp")
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    search = {"name": "search_notes", "arguments": {"query": "secateurs"}}
    messages = (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": search},
    )
    assert child.stdin is not None
    assert child.stdout is not None
    for message in messages:
        child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    child.stdin.flush()
    said = [json.loads(child.stdout.readline()) for _ in range(2)]
    assert [answer["id"] for answer in said] == [1, 2]
    wait_until(lambda: bool(children_of(child.pid)), "a child process of the server")
    children = {pid: command_of(pid) for pid in children_of(child.pid)}
    done = ended(child)
    assert (done.code, done.out) == (0, "")
    for pid, command in children.items():
        wait_until(lambda pid=pid, command=command: command_of(pid) != command, "its end")


def test_a_line_that_is_no_request_is_answered_and_the_server_goes_on(
    program: Program, vault: Path
) -> None:
    child = program.start("--vault", str(vault), "mcp")
    assert child.stdin is not None
    assert child.stdout is not None

    def ask(line: bytes) -> dict[str, Any]:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(line + b"\n")
        child.stdin.flush()
        return dict(json.loads(child.stdout.readline()))

    def call(id: int, arguments: bytes) -> bytes:
        params = b'{"name": "read_note", "arguments": ' + arguments + b"}"
        head = b'{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": ' % id
        return head + params + b"}"

    hello = b'{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": '
    hello += b'{"name": "t", "version": "1"}}'
    first = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ' + hello + b"}"
    assert ask(first)["id"] == 1
    child.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n\n')
    good = call(9, b'{"path": "Garden.md"}')
    deep = call(7, b'{"path": ' + b"[" * 9_000 + b"]" * 9_000 + b"}")
    refused: tuple[tuple[bytes, int | None, int], ...] = (
        (b"not JSON", None, -32_700),
        (b"\xff\xfe", None, -32_700),
        (b"[]", None, -32_600),
        (b"7", None, -32_600),
        (b'{"jsonrpc": "2.0", "id": 5, "method": ', 5, -32_700),
        (b'{"jsonrpc": "2.0", "id": 6, "method": 7}', 6, -32_600),
        (deep, 7, -32_700),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32_600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32_600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32_600),
        (b'{"method": "ping", "id": {"id": 3}, "jsonrpc": "2.0"}', None, -32_600),
    )
    for line, id, code in refused:
        said = ask(line)
        assert (said["id"], said["error"]["code"]) == (id, code), line[:60]
        assert "sage froze" in ask(good)["result"]["content"][0]["text"]
    assert ask(b'{"jsonrpc": "2.0", "id": 4.0, "method": "ping"}') == {
        "jsonrpc": "2.0",
        "id": 4,
        "result": {},
    }
    child.stdin.write(b'{"jsonrpc": "2.0", "id": null, "method": "notifications/cancelled"}\n')
    for arguments in (b'{"path": "\\ud800.md"}', b'{"path": "\xff.md"}', b'{"path": {"x": []}}'):
        said = ask(call(8, arguments))
        assert (said["id"], said["result"]["isError"]) == (8, True)
    assert ended(child).code == 0
