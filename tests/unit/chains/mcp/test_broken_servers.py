"""MCP servers that send what nobody should send: each call ends by itself, and says why."""

import json
import sys
from collections.abc import Iterator

import pytest

from chains.cancel import CancelToken
from chains.errors import McpFailed, ToolFailed
from chains.ledger import NoLedger
from chains.mcp.client import McpClient
from chains.mcp.server import McpServer, McpTool

LIST = [{"name": "look", "inputSchema": {"type": "object"}}]
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "x", "version": "1"},
}
# Answers as usual, except that a call of the tool gets `CALLED`, bytes with ID in place of the id.
SERVER = """
import json, os, sys
HELLO, PAGES, CALLED = json.loads(sys.argv[1]), json.loads(sys.argv[2]), eval(sys.argv[3])
SCHEMA = {"type": "object"}
def say(line):
    os.write(1, line + b"\\n")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    id, method = asked["id"], asked["method"]
    found = HELLO if method == "initialize" else None
    if method == "tools/list":
        at = int((asked.get("params") or {}).get("cursor") or 0)
        found = PAGES[min(at, len(PAGES) - 1)]
        if times := found.get("times"):
            found["tools"] += [{"name": f"t{n}", "inputSchema": SCHEMA} for n in range(times)]
    if method == "tools/call":
        if CALLED == b"DIE":
            os._exit(7)
        say(CALLED.replace(b"ID", str(id).encode()))
        continue
    said = {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
    say(json.dumps({"jsonrpc": "2.0", "id": id, **said}).encode())
"""


@pytest.fixture
def client() -> Iterator[McpClient]:
    client = McpClient(lambda: False, NoLedger())
    yield client
    client.close()


def serve(pages: object = None, called: bytes = b"") -> McpServer:
    told = (json.dumps(HELLO), json.dumps(pages or [{"tools": LIST}]), repr(called))
    return McpServer.parse(
        "leaves", {"command": sys.executable, "args": ["-S", "-c", SERVER, *told]}
    )


def list_names(client: McpClient, server: McpServer) -> list[str]:
    return [tool.name for tool in client.list_tools(server, CancelToken())]


def call(client: McpClient, called: bytes) -> str:
    server = serve(called=called)
    (tool,) = client.list_tools(server, CancelToken())
    return client.call(server, tool, {}, CancelToken())


def text(content: str) -> bytes:
    """The answer to a call, as a server writes it, whose text is given in JSON's escapes."""
    result = '{"content": [{"type": "text", "text": "' + content + '"}]}'
    return ('{"jsonrpc": "2.0", "id": ID, "result": ' + result + "}").encode("latin-1")


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (text("a\\ud800b"), "a\ufffdb"),
        (text("\\udfff"), "\ufffd"),
        (text("\\ud83c\\udf31"), "\U0001f331"),
        (text("caf\xe9"), "caf\ufffd"),
        (text("\xff\xfe"), "\ufffd\ufffd"),
        (b"[" + text("in a list") + b"]", "in a list"),
        (text("with text as id").replace(b"ID", b'"ID"'), "with text as id"),
        (b"a log line\n\n{}\n\xff\n[1]\nnull\n" + text("behind a log"), "behind a log"),
        (b'{"level": "info", "msg": "result"\n' + text("behind half a log"), "behind half a log"),
        (text("nested").replace(b'"content"', b'"x": NaN, "content"'), "nested"),
    ],
)
def test_what_can_be_read_is_read(client: McpClient, said: bytes, read: str) -> None:
    assert call(client, said) == read


@pytest.mark.parametrize(
    "said",
    [
        b'{"jsonrpc": "2.0", "id": ID, "result": {"content": [',
        b'{"jsonrpc": "2.0", "result": {"content": [}, "id": ID}',
        b'{"id": ID, "jsonrpc": "2.0", "error": "text"}',
        b'{"jsonrpc": "2.0", "id": ID, "result": [1]}',
        b'{"jsonrpc": "2.0", "id": ID, "result": ' + b'{"x": ' * 5_000 + b"1" + b"}" * 5_000 + b"}",
        b'{"jsonrpc": "2.0", "id": ID, "result": {"content": "none"}}',
        b'{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text"}]}}',
    ],
)
def test_an_answer_that_cannot_be_read_ends_the_call(client: McpClient, said: bytes) -> None:
    with pytest.raises(ToolFailed, match="not valid"):
        call(client, said)


def test_an_answer_to_nothing_ends_the_connection(client: McpClient) -> None:
    with pytest.raises(McpFailed, match="sent an answer that is not valid JSON"):
        call(client, b'{"jsonrpc": "2.0", "result": {"content": [')


def test_a_server_that_dies_within_a_call_says_how(client: McpClient) -> None:
    with pytest.raises(McpFailed, match="it ended with code 7"):
        call(client, b"DIE")


def test_an_answer_to_another_call_does_not_end_this_one() -> None:
    client = McpClient(lambda: False, NoLedger(), call_s=0.5)
    with pytest.raises(McpFailed, match=r"did not answer the call of look within 0\.5 s"):
        call(client, b'{"jsonrpc": "2.0", "id": 99999, "result": {}}')
    client.close()


BAD_TOOLS: tuple[tuple[object, str], ...] = (
    ({"name": "bad"}, "inputSchema: Field required"),
    ({"name": "bad", "inputSchema": [1]}, "inputSchema: Input should be a valid dictionary"),
    ({"name": "bad", "inputSchema": {}}, "inputSchema.type: Field required"),
    ({"name": "bad", "inputSchema": {"type": "string"}}, "inputSchema.type: Input should be"),
    ({"name": "bad", "inputSchema": {"type": "object", "properties": 7}}, "inputSchema.properties"),
    ({"name": 5, "inputSchema": {"type": "object"}}, "name: Input should be a valid string"),
    (7, "it is not an object"),
    (None, "it is not an object"),
    (
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "text"}}}},
        "its schema is not valid at properties/a/type: 'text'",
    ),
    (
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"enum": 1}}}},
        "its schema is not valid at properties/a/enum",
    ),
    ({"name": "bad", "inputSchema": {"type": "object", "required": "a"}}, "inputSchema.required"),
)


@pytest.mark.parametrize(("bad", "reason"), BAD_TOOLS)
def test_a_tool_with_a_bad_schema_is_left_out_alone(
    client: McpClient, bad: object, reason: str
) -> None:
    last = {"name": "last", "inputSchema": {"type": "object"}}
    server = serve([{"tools": [*LIST, bad, last]}])
    assert list_names(client, server) == ["look", "last"]
    (left_out,) = client.list_left_out(server)
    assert left_out.reason.startswith(reason)


def test_fields_that_are_not_used_do_not_cost_a_tool(client: McpClient) -> None:
    odd = {"outputSchema": 7, "icons": "x", "annotations": {"readOnlyHint": "maybe"}, "title": 5}
    server = serve([{"tools": [LIST[0] | odd], "nextCursor": 7}])
    (tool,) = client.list_tools(server, CancelToken())
    assert (tool.name, tool.is_read_only, client.list_left_out(server)) == ("look", False, ())


def test_of_ten_thousand_tools_five_hundred_are_offered(client: McpClient) -> None:
    server = serve([{"tools": [7], "times": 10_000}])
    assert list_names(client, server) == [f"t{number}" for number in range(500)]
    reasons = [tool.reason for tool in client.list_left_out(server)]
    assert reasons == ["it is not an object"] + ["the server lists too many tools"] * 9_500


def test_pages_without_end_are_not_read_without_end(client: McpClient) -> None:
    server = serve([{"tools": LIST, "nextCursor": "0"}])
    assert list_names(client, server) == ["look"]


def test_a_tool_that_has_become_bad_is_not_called(client: McpClient) -> None:
    server = serve([{"tools": [LIST[0] | {"inputSchema": 5}]}])
    with pytest.raises(ToolFailed, match="has changed since it was shown"):
        client.call(server, McpTool("leaves", "look", "", {"type": "object"}), {}, CancelToken())
