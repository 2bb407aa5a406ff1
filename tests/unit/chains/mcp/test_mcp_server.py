"""The values of MCP servers and tools, and the checks of arguments by a hostile schema."""

import re
from typing import Any

import pytest

from chains.errors import ToolFailed
from chains.mcp.calls import check_mcp_arguments
from chains.mcp.server import McpServer, McpTool, choose_usable_tools, parse_servers
from chains.mcp.wire import find_reason


def test_a_server_shows_its_full_command_without_values_of_variables() -> None:
    server = McpServer.parse(
        "files", {"command": "npx", "args": ["-y", "a b", "\u202ex"], "env": {"KEY": "secret"}}
    )
    assert server.shown == r"KEY=… npx -y 'a b' '\u{202e}x'"
    assert "secret" not in repr(server)
    remote = McpServer.parse("far", {"url": "https://x.org/mcp", "headers": {"Auth": "secret"}})
    assert remote.shown == "https://x.org/mcp (headers: Auth)"
    assert "secret" not in repr(remote)


def test_an_approval_applies_to_the_command_and_not_to_the_value_of_a_variable() -> None:
    def fingerprint(**change: Any) -> str:
        usual = {"command": "a", "args": ["b"], "env": {"KEY": "1"}}
        return McpServer.parse("files", {**usual, **change}).fingerprint

    assert fingerprint() == fingerprint(env={"KEY": "2"})
    others = [fingerprint(args=["c"]), fingerprint(env={"K": "1"}), fingerprint(command="ab")]
    assert len({fingerprint(), *others}) == 4


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("a b", {"command": "x"}, "name"),
        ("a__b", {"command": "x"}, "name"),
        ("x" * 31, {"command": "x"}, "name"),
        ("files", "npx", "needs a command"),
        ("files", {}, "needs a command"),
        ("files", {"command": ""}, "needs a command"),
        ("files", {"url": "ftp://x"}, "needs a command"),
        ("files", {"url": "http://[x"}, "needs a command"),
        ("files", {"command": "x", "url": "http://x"}, "unknown field url"),
        ("files", {"command": "x", "shell": True}, "unknown field shell"),
        ("files", {"command": "x", "args": "rm -rf"}, "args of files"),
        ("files", {"command": "x", "args": ["a\0b"]}, "args of files"),
        ("files", {"command": "x", "env": {"A": 1}}, "env of files"),
        ("files", {"command": ["x"]}, "command of files"),
    ],
)
def test_an_entry_that_is_no_server_is_refused(name: str, value: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_servers({name: value})


def test_names_of_tools_are_accepted_by_providers_and_differ() -> None:
    names = ["read", "read file", "read/file", "x" * 100, "x" * 101, "ü"]
    shown = [McpTool("files", name).full_name for name in names]
    assert shown[0] == "files__read"
    assert len(set(shown)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in shown)


def test_a_change_of_any_word_of_a_tool_changes_its_hash() -> None:
    tool = McpTool("files", "read", "Read.", {"type": "object"})
    others = [
        McpTool("files", "read", "Read it.", {"type": "object"}),
        McpTool("files", "read", "Read.", {"type": "object", "required": ["a"]}),
        McpTool("files", "read", "Read.", {"type": "object"}, is_read_only=True),
    ]
    assert len({tool.fingerprint, *(other.fingerprint for other in others)}) == 4


SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "kind": {"enum": ["a", "b"]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"line": {"type": "integer", "minimum": 1}},
}


def test_arguments_are_checked_by_a_general_schema() -> None:
    check_mcp_arguments({"path": "a", "kind": "b", "lines": [1, 2]}, SCHEMA)
    for arguments, said in (
        ({}, "'path' is a required property"),
        ({"path": ""}, "The argument path"),
        ({"path": "a", "kind": "c"}, "The argument kind"),
        ({"path": "a", "lines": [1, 0]}, "The argument lines/1"),
        ({"path": "a", "other": 1}, "other"),
    ):
        with pytest.raises(ToolFailed, match=said):
            check_mcp_arguments(arguments, SCHEMA)


def test_a_hostile_schema_takes_no_time_and_fetches_nothing() -> None:
    fan: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)
    }
    for schema in (
        {"properties": {"a": {"type": "string", "pattern": "(x+x+)+y"}}},
        {"$ref": "#"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$defs": {**fan, "d60": True}, "$ref": "#/$defs/d0"},
        {"type": 5, "properties": "none"},
        {"properties": {"a": {"minLength": "x"}}},
    ):
        check_mcp_arguments({"a": "x" * 60}, schema)


def test_tools_that_are_too_large_or_have_no_arguments_by_name_are_left_out() -> None:
    large = {"type": "object", "description": "x" * 30_000}
    medium = {"type": "object", "description": "x" * 15_000}
    tools = [
        McpTool("files", "large", "", large),
        McpTool("files", "listed", "", {"type": "array"}),
        McpTool("files", "x" * 300, "", {"type": "object"}),
        *(McpTool("files", f"t{number}", "", medium) for number in range(100)),
    ]
    chosen, left_out = choose_usable_tools(tools)
    assert [tool.name for tool in chosen] == [f"t{number}" for number in range(66)]
    assert [tool.reason for tool in left_out[:3]] == [
        "its definition has more than 20,000 characters",
        "its arguments are not an object",
        "its name has more than 200 characters",
    ]
    assert {tool.reason for tool in left_out[3:]} == {"the server lists too many tools"}


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ("", ""),
        ("Traceback:\n  in main\nValueError: no token\n\n", "ValueError: no token"),
        (
            "npm error code E404\nnpm error 404 Not Found - GET https://example.org/x\n"
            "npm error A complete log of this run can be found in: /home/me/log\n",
            "npm error 404 Not Found - GET https://example.org/x",
        ),
        ("npm error canceled\n", "npm error canceled"),
    ],
)
def test_the_reason_of_an_end_is_taken_from_the_errors(errors: str, reason: str) -> None:
    assert find_reason(errors) == reason
