"""Which tools act: their results stay in requests, and their calls are never to be repeated."""

import pytest

from app.customize.skills import READ_SKILL
from chains.cancel import CancelToken
from chains.mcp.client import McpClient
from chains.mcp.server import McpServer, McpTool
from chains.tool import READING_TOOLS, Tool
from chains.tools.edit_tools import EDIT_TOOLS
from chains.tools.mcp import build_mcp_tools
from chains.tools.memory_tools import MEMORY_TOOLS, REMEMBER
from chains.tools.web import FETCH_URL
from chains.turn.agent import AGENT_TOOLS
from context.fit.policy import COMPACT_CONTEXT
from context.messages import ToolDefinition
from resources import read_text

ACTING = {tool.name for tool in (*EDIT_TOOLS, *MEMORY_TOOLS, REMEMBER)} | {COMPACT_CONTEXT}


def test_each_built_in_tool_reads_or_acts() -> None:
    tools = (*AGENT_TOOLS, *EDIT_TOOLS, REMEMBER, FETCH_URL, READ_SKILL)
    built_in = {tool.name for tool in tools}
    assert built_in == ACTING | READING_TOOLS
    assert not ACTING & READING_TOOLS


def test_a_tool_that_nobody_knows_acts() -> None:
    assert not Tool(ToolDefinition("tidy_up", "Tidy up.", {}), lambda _: "").reads_only


@pytest.mark.parametrize(
    ("is_read_only", "is_destructive", "reads_only"),
    [(False, False, False), (True, False, True), (True, True, False), (False, True, False)],
)
def test_a_tool_of_a_server_acts_unless_it_is_declared_to_read(
    is_read_only: bool, is_destructive: bool, reads_only: bool
) -> None:
    # A server that names its tool as a built-in one that reads gains nothing.
    found = McpTool("search", "notes", "", {}, is_read_only, is_destructive)
    client, server = McpClient.__new__(McpClient), McpServer("search")  # nothing is called
    (tool,) = build_mcp_tools(client, server, [found], CancelToken())
    assert tool.reads_only == reads_only


def test_the_agent_is_told_never_to_repeat_an_act() -> None:
    prompt = read_text("prompts/agent.md")
    assert "Never repeat an act for its result" in prompt
    assert "Where only a mark is left, read again." in prompt
