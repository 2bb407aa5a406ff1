"""MCP servers over HTTP that send what nobody should send: each call ends, and says why."""

import threading
from collections.abc import Iterator

import pytest

from chains.cancel import CancelToken
from chains.errors import McpFailed, ToolFailed
from chains.ledger import NoLedger
from chains.mcp.client import McpClient
from chains.mcp.server import McpServer
from tests.support.servers.broken_mcp import LIST, BrokenServer, serve_broken
from tests.unit.chains.mcp.test_broken_servers import BAD_TOOLS, text

JSON, EVENTS = "application/json", "text/event-stream"


@pytest.fixture
def answers() -> Iterator[BrokenServer]:
    with serve_broken() as answers:
        yield answers


@pytest.fixture
def client() -> Iterator[McpClient]:
    client = McpClient(lambda: False, NoLedger())
    yield client
    client.close()


def call(client: McpClient, answers: BrokenServer, said: bytes, media_type: str = JSON) -> str:
    answers.called, answers.media_type = said, media_type
    server = McpServer.parse("leaves", {"url": answers.url})
    (tool,) = client.list_tools(server, CancelToken())
    return client.call(server, tool, {}, CancelToken())


def event(data: bytes) -> bytes:
    """An event with data, as a server writes it: one `data:` line for each line."""
    return (
        b"event: message\n" + b"".join(b"data: %b\n" % line for line in data.split(b"\n")) + b"\n"
    )


READABLE = [
    (text("caf\\u00e9"), "café"),
    (text("a\\ud800b"), "a\ufffdb"),
    (text("\\ud83c\\udf31"), "\U0001f331"),
    (text("caf\xe9"), "caf\ufffd"),
    (text("\xff\xfe"), "\ufffd\ufffd"),
    (b"[" + text("in a list") + b"]", "in a list"),
    (text("with text as id").replace(b"ID", b'"ID"'), "with text as id"),
    (text("nested").replace(b'"content"', b'"x": NaN, "content"'), "nested"),
    (b"\xef\xbb\xbf" + text("behind a mark"), "behind a mark"),
    (text("in lines").replace(b", ", b",\n"), "in lines"),
]


@pytest.mark.parametrize("media_type", [JSON, EVENTS, f"{JSON}; charset=utf-8"])
@pytest.mark.parametrize(("said", "read"), READABLE)
def test_what_can_be_read_is_read(
    client: McpClient, answers: BrokenServer, said: bytes, read: str, media_type: str
) -> None:
    said = event(said) if media_type == EVENTS else said
    assert call(client, answers, said, media_type) == read


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_events_are_read_whatever_stands_around_them(
    client: McpClient, answers: BrokenServer, line_end: bytes
) -> None:
    said = b": hello\n\n" + event(b"\xff log") + event(b"{}") + b"retry: 5\n" + event(text("Yes."))
    assert call(client, answers, said.replace(b"\n", line_end), EVENTS) == "Yes."


UNREADABLE = [
    b'{"jsonrpc": "2.0", "id": ID, "result": {"content": [',
    b'{"jsonrpc": "2.0", "result": {"content": [}, "id": ID}',
    b'{"id": ID, "jsonrpc": "2.0", "error": "text"}',
    b'{"jsonrpc": "2.0", "id": ID, "result": [1]}',
    b'{"jsonrpc": "2.0", "id": ID, "result": ' + b'{"x": ' * 5_000 + b"1" + b"}" * 5_000 + b"}",
    b'{"jsonrpc": "2.0", "id": ID, "result": {"content": "none"}}',
    b'{"jsonrpc": "2.0", "result": {"content": [',
    b"<html>Bad gateway</html>",
    b"\xff\xfe\xfd",
    b"",
]


@pytest.mark.parametrize("media_type", [JSON, EVENTS])
@pytest.mark.parametrize("said", UNREADABLE)
def test_an_answer_that_cannot_be_read_ends_the_call(
    client: McpClient, answers: BrokenServer, said: bytes, media_type: str
) -> None:
    said = event(said) if media_type == EVENTS else said
    with pytest.raises((ToolFailed, McpFailed)) as failed:
        call(client, answers, said, media_type)
    assert str(failed.value).removeprefix("The MCP server leaves ") in (
        "sent an answer that is not valid.",
        "reports: its answer is not valid JSON of the protocol",
        "failed: 127.0.0.1 does not answer, or not as an MCP server.",
    )


@pytest.mark.parametrize(("bad", "reason"), BAD_TOOLS)
def test_a_tool_with_a_bad_schema_is_left_out_alone(
    client: McpClient, answers: BrokenServer, bad: object, reason: str
) -> None:
    answers.tools = [*LIST, bad, {"name": "last", "inputSchema": {"type": "object"}}]
    server = McpServer.parse("leaves", {"url": answers.url})
    assert [tool.name for tool in client.list_tools(server, CancelToken())] == ["look", "last"]
    (left_out,) = client.list_left_out(server)
    assert left_out.reason.startswith(reason)


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_an_error_of_the_server_ends_the_call(
    client: McpClient, answers: BrokenServer, status: int
) -> None:
    answers.status = status
    with pytest.raises((ToolFailed, McpFailed), match=r"The MCP server leaves (reports|failed): "):
        call(client, answers, b"\xff<html>", "text/html")


def test_a_server_that_hangs_is_given_up(answers: BrokenServer) -> None:
    client, ends = McpClient(lambda: False, NoLedger(), call_s=0.5), threading.Event()
    answers.on_call = lambda: ends.wait(60)
    with pytest.raises(McpFailed, match=r"did not answer the call of look within 0\.5 s"):
        call(client, answers, text("late"))
    ends.set()
    client.close()
