"""Real MCP servers over standard input and output and over HTTP: their tools and failures."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chains.cancel import CancelToken
from chains.errors import Cancelled, LedgerFailed, McpFailed, ToolFailed
from chains.ledger import NoLedger, OpenRecord, OutgoingCall
from chains.mcp.client import MAX_FAILURES, McpClient
from chains.mcp.server import McpServer, McpTool
from tests.support.servers.mcp_server import count_starts, serve_http, settings_entry


@pytest.fixture
def client() -> Iterator[McpClient]:
    client = McpClient(lambda: False, NoLedger())
    yield client
    client.close()


def tools_of(client: McpClient, server: McpServer) -> dict[str, McpTool]:
    return {tool.name: tool for tool in client.list_tools(server, CancelToken())}


def parse(folder: Path) -> McpServer:
    return McpServer.parse("leaves", settings_entry(folder))


def run_python(code: str) -> McpServer:
    return McpServer.parse("leaves", {"command": sys.executable, "args": ["-c", code]})


def test_a_server_of_sixty_tools_is_listed_called_and_stopped(
    client: McpClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    server = parse(tmp_path)
    tools = tools_of(client, server)
    assert len(tools) == 60
    assert tools["add"].is_read_only
    assert not tools["environment"].is_read_only
    assert tools["look_up_7"].full_name == "leaves__look_up_7"
    assert tools["look_up_7"].description == "Look up leaf 7."
    assert client.call(server, tools["add"], {"a": 20, "b": 22}, CancelToken()) == "42"
    names = client.call(server, tools["environment"], {}, CancelToken()).split()
    assert "PATH" in names
    assert "OPENAI_API_KEY" not in names
    with pytest.raises(ToolFailed, match="there is no such leaf"):
        client.call(server, tools["fail"], {}, CancelToken())
    check_hostile_tools(client, server, tools)
    assert tools_of(client, server) == tools
    assert count_starts(tmp_path) == 1
    assert capfd.readouterr() == ("", "")


def check_hostile_tools(client: McpClient, server: McpServer, tools: dict[str, McpTool]) -> None:
    lying = tools["lying"]
    assert lying.is_read_only
    assert lying.is_destructive
    assert "\u200b" not in lying.shown_description
    assert r"\u{200b}" in lying.shown_description
    odd = tools["odd name/with signs"]
    assert odd.full_name.startswith("leaves__odd_name_with_signs_")
    assert client.call(server, odd, {}, CancelToken()) == "odd"
    picture = client.call(server, tools["picture"], {}, CancelToken())
    assert "[image: image/png, 102 bytes; not shown]" in picture
    assert "a leaf" in picture
    huge = client.call(server, tools["huge"], {"megabytes": 2}, CancelToken())
    assert huge.endswith("more characters were left out]")
    assert len(huge) < 500_000


def test_a_crash_is_said_and_the_next_call_starts_the_server_again(
    client: McpClient, tmp_path: Path
) -> None:
    server = parse(tmp_path)
    tools = tools_of(client, server)
    assert "weighs" in client.call(server, tools["weigh"], {"leaf": "oak"}, CancelToken())
    with pytest.raises(McpFailed, match=r"it ended with code 3 \(the leaf fell\)"):
        client.call(server, tools["crash"], {}, CancelToken())
    assert client.call(server, tools["add"], {"a": 1, "b": 2}, CancelToken()) == "3"
    assert count_starts(tmp_path) == 2
    with pytest.raises(ToolFailed, match="has changed since it was shown"):
        client.call(server, tools["weigh"], {"leaf": "oak"}, CancelToken())
    with pytest.raises(McpFailed, match="too large"):
        client.call(server, tools["huge"], {"megabytes": 20}, CancelToken())


def test_a_call_that_hangs_ends_with_a_cancel(tmp_path: Path, client: McpClient) -> None:
    server = parse(tmp_path)
    tools = tools_of(client, server)
    cancel = CancelToken()
    timer = threading.Timer(0.05, cancel.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        client.call(server, tools["hang"], {}, cancel)
    timer.join()


def test_a_call_that_hangs_ends_at_the_limit(tmp_path: Path) -> None:
    client = McpClient(lambda: False, NoLedger(), call_s=0.5)
    server = parse(tmp_path)
    try:
        tools = tools_of(client, server)
        with pytest.raises(McpFailed, match=r"did not answer the call of hang within 0\.5 s"):
            client.call(server, tools["hang"], {}, CancelToken())
    finally:
        client.close()


def test_a_server_that_cannot_start_is_not_started_for_ever(client: McpClient) -> None:
    server = run_python("import sys; sys.exit('no module named leaf')")
    for _ in range(MAX_FAILURES):
        with pytest.raises(McpFailed, match=r"ended with code 1 \(no module named leaf\)"):
            client.list_tools(server, CancelToken())
    with pytest.raises(McpFailed, match=r"not started again\. Correct it, and test it"):
        client.list_tools(server, CancelToken())


def test_a_program_that_is_absent_is_named(client: McpClient) -> None:
    server = McpServer.parse("leaves", {"command": "no-such-program-of-strata"})
    with pytest.raises(McpFailed, match="there is no program no-such-program-of-strata"):
        client.list_tools(server, CancelToken())


STRANGE = """
import json, sys
look = '{"name": "look", "inputSchema": {"type": "object"}}'
endless = '{"name": "n", "inputSchema": {"type": "object", "default": 1e999}}'
for line in sys.stdin:
    asked = json.loads(line)
    known = {"initialize": '{"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, '
             '"serverInfo": {"name": "x", "version": "1"}}',
             "tools/list": f'{{"tools": [{look}, {endless}, {look}]}}'}
    if "id" in asked:
        said = known.get(asked["method"])
        code = -32000 if asked["method"] == "tools/call" else -32601
        body = f'"result": {said}' if said else f'"error": {{"code": {code}, "message": "no"}}'
        print(f'{{"jsonrpc": "2.0", "id": {json.dumps(asked["id"])}, {body}}}', flush=True)
"""


def test_tools_that_a_model_would_reject_are_left_out(client: McpClient) -> None:
    server = run_python(STRANGE)
    (tool,) = client.list_tools(server, CancelToken())
    assert tool.full_name == "leaves__look"
    assert [(tool.name, tool.reason) for tool in client.list_left_out(server)] == [
        ("n", "its schema is not valid JSON"),
        ("look", "another tool has this name"),
    ]


def test_a_call_that_is_refused_does_not_count_as_a_failure_of_the_server(
    client: McpClient,
) -> None:
    server = run_python(STRANGE)
    (tool,) = client.list_tools(server, CancelToken())
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(ToolFailed, match="reports: no"):
            client.call(server, tool, {}, CancelToken())


REFUSING = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    error = {"code": -32000, "message": "there is no licence"}
    print(json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "error": error}), flush=True)
"""


def test_a_server_that_refuses_to_start_says_why(client: McpClient) -> None:
    with pytest.raises(McpFailed, match="there is no licence"):
        client.list_tools(run_python(REFUSING), CancelToken())


def test_a_server_that_says_nothing_ends_at_the_limit() -> None:
    client = McpClient(lambda: False, NoLedger(), start_s=0.5)
    with pytest.raises(McpFailed, match=r"did not list its tools within 0\.5 s"):
        client.list_tools(run_python("import sys; sys.stdin.read()"), CancelToken())
    client.close()


def test_a_server_that_floods_its_output_is_ended(client: McpClient) -> None:
    with pytest.raises(McpFailed, match="a message that is too large"):
        client.list_tools(run_python("while True: print('x' * 999_999, end='')"), CancelToken())


def test_a_server_over_http_is_used_and_its_end_is_said(client: McpClient) -> None:
    with serve_http() as url:
        server = McpServer.parse("leaves", {"url": url, "headers": {"Authorization": "Bearer x"}})
        tools = tools_of(client, server)
        assert client.call(server, tools["add"], {"a": 2, "b": 3}, CancelToken()) == "5"
        with pytest.raises(ToolFailed, match="there is no such leaf"):
            client.call(server, tools["fail"], {}, CancelToken())
    with pytest.raises(McpFailed, match=r"127\.0\.0\.1 does not answer"):
        client.call(server, tools["add"], {"a": 2, "b": 3}, CancelToken())


def test_offline_refuses_a_server_elsewhere_and_allows_one_on_this_computer() -> None:
    client = McpClient(lambda: True, NoLedger())
    elsewhere = McpServer.parse("far", {"url": "https://mcp.example.org/"})
    with pytest.raises(McpFailed, match="Offline is on"):
        client.list_tools(elsewhere, CancelToken())
    with serve_http() as url:
        assert client.list_tools(McpServer.parse("near", {"url": url}), CancelToken())
        client.close()


class FullLedger:
    """A ledger that cannot be written."""

    def record(self, call: OutgoingCall) -> OpenRecord:
        raise LedgerFailed(call.host, "the disk is full")


def test_a_call_that_cannot_be_recorded_is_not_made(tmp_path: Path) -> None:
    client = McpClient(lambda: False, FullLedger())
    with pytest.raises(LedgerFailed):
        client.list_tools(parse(tmp_path), CancelToken())
    assert count_starts(tmp_path) == 0
