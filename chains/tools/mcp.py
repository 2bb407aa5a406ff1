"""Offer the tools of MCP servers to an agent, and propose servers for approval.

A server's description of its tools is shown to the user, but not trusted: no description exempts a
tool from approval.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chains.cancel import TimeLimit
from chains.errors import LedgerFailed, McpFailed, ToolFailed
from chains.mcp.client import McpClient
from chains.mcp.server import McpServer, McpTool, show_text
from chains.tool import Proposal, Tool
from context.messages import ToolDefinition

__all__ = ["build_mcp_tools", "describe_tools", "propose_change", "propose_start"]

APPROVED: Final = "approved"


def build_mcp_tools(
    client: McpClient, server: McpServer, tools: Sequence[McpTool], time: TimeLimit
) -> tuple[Tool, ...]:
    """Build the agent's tools that call the tools of an MCP server.

    Args:
        client: the client that calls the server.
        server: the approved server.
        tools: the tools that the server lists.
        time: the time that the tools of the turn have.
    """
    return tuple(_build_tool(client, server, tool, time) for tool in tools)


def propose_start(server: McpServer) -> Proposal:
    """Propose to start a server's program, or to connect to its address, for the first time."""
    action = "Start" if server.command else "Connect to"
    return Proposal("mcp", f"{action} the MCP server {server.name}: {server.shown}", _approve)


def propose_change(server: McpServer, old: str, new: str) -> Proposal:
    """Propose to accept changed tools of a server.

    Args:
        old: the description of the approved tools.
        new: the description of the current tools.
    """
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "before", "now", lineterm="")
    summary = f"The MCP server {server.name} has changed its tools. Use the changed tools?"
    return Proposal("mcp", summary, _approve, diff="\n".join(lines))


def describe_tools(tools: Sequence[McpTool]) -> str:
    """Describe a server's tools as text that can be compared and shown."""
    return "\n".join(_describe_tool(tool) for tool in sorted(tools, key=lambda tool: tool.name))


def _describe_tool(tool: McpTool) -> str:
    hints = [_describe_hints(tool)] if _describe_hints(tool) else []
    schema = json.dumps(tool.schema, indent=1, sort_keys=True)
    return "\n".join([show_text(tool.name), *hints, show_text(tool.description, "\n"), schema])


def _describe_hints(tool: McpTool) -> str:
    """Describe the effects of a tool, as declared by its server, or return ""."""
    if tool.is_destructive:
        return "The server declares that it may destroy data."
    if tool.is_read_only:
        return "The server declares that it changes nothing, which is not checked."
    return ""


def _build_tool(client: McpClient, server: McpServer, tool: McpTool, time: TimeLimit) -> Tool:
    declares_reading = tool.is_read_only and not tool.is_destructive

    def propose(arguments: Mapping[str, Any]) -> Proposal:
        summary = f"Call {show_text(tool.name)} of the MCP server {server.name}."
        return Proposal(
            "mcp",
            f"{summary} {_describe_hints(tool)}".strip(),
            lambda: call(arguments),
            session_scope=tool.full_name if declares_reading else "",
        )

    def call(arguments: Mapping[str, Any]) -> str:
        try:
            return client.call(server, tool, arguments, time.cancel, time.left_s)
        except (McpFailed, LedgerFailed) as error:
            raise ToolFailed(str(error)) from error

    description = f"[MCP server {server.name}] {tool.shown_description}"
    definition = ToolDefinition(tool.full_name, description, dict(tool.schema))
    return Tool(definition, propose=propose, origin="mcp", declares_reading=declares_reading)


def _approve() -> str:
    return APPROVED
