"""MCP servers: a test of a server does not disturb the turn that uses it."""

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.config.settings_file import SettingsStore
from app.sessions.mcp import AskAboutServer, McpServers
from chains.cancel import CancelToken, TimeLimit
from chains.errors import ToolFailed
from chains.events import Event
from chains.ledger import NoLedger
from chains.mcp.client import McpClient
from chains.mcp.server import McpServer
from chains.tool import Proposal
from tests.support.servers.mcp_server import (
    build_server,
    count_starts,
    serve_http,
    settings_entry,
)

# Importing the SDK takes seconds of processor time, and on a busy machine minutes.
LONGEST_START_S = 250.0


@pytest.fixture(autouse=True)
def starts_may_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = McpClient.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "start_s", LONGEST_START_S)


@pytest.fixture
def settings(tmp_path: Path) -> SettingsStore:
    settings = SettingsStore(tmp_path / "settings.toml")
    settings.set("mcp.servers", {"leaves": settings_entry(tmp_path)})
    return settings


@pytest.fixture
def servers(settings: SettingsStore, tmp_path: Path) -> Iterator[McpServers]:
    with closing(McpServers(settings, tmp_path / "approved", NoLedger())) as servers:
        yield servers


def approve(_server: McpServer, _proposal: Proposal) -> Generator[Event, None, bool]:
    yield from ()
    return True


def open_all(servers: McpServers, ask: AskAboutServer = approve) -> None:
    assert not list(servers.open_servers(ask, CancelToken()))


def weigh(servers: McpServers) -> str:
    """Call a tool whose description differs at each start of its server."""
    tools = servers.build_tools(TimeLimit())
    (tool,) = [t for t in tools if t.definition.name == "leaves__weigh"]
    assert tool.propose is not None
    return tool.propose({"leaf": "An oak leaf"}).apply()


def test_a_server_that_a_turn_is_opening_is_not_stopped_after_a_test(
    servers: McpServers, settings: SettingsStore, tmp_path: Path
) -> None:
    with closing(McpServers(settings, tmp_path / "approved", NoLedger())) as earlier:
        open_all(earlier)  # when it is started again, the server describes a tool differently
    tested = []

    def ask(server: McpServer, proposal: Proposal) -> Generator[Event, None, bool]:
        tested.append(servers.test(server, CancelToken()))
        return (yield from approve(server, proposal))

    open_all(servers, ask)
    assert len(tested) == 1
    assert "An oak leaf weighs 3 g" in weigh(servers)


def test_a_server_that_is_open_is_tested_without_starting_another(
    servers: McpServers, tmp_path: Path
) -> None:
    open_all(servers)
    (server, _), *_ = servers.list_servers()
    assert servers.test(server, CancelToken())
    assert count_starts(tmp_path) == 1
    assert "An oak leaf weighs 3 g" in weigh(servers)


def test_a_tool_that_changes_over_http_is_shown_before_it_is_called(
    servers: McpServers, settings: SettingsStore
) -> None:
    tools, shown = build_server(), []

    def ask(_server: McpServer, proposal: Proposal) -> Generator[Event, None, bool]:
        yield from ()
        shown.append(proposal.diff)
        return True

    with serve_http(tools) as url:
        settings.set("mcp.servers", {"leaves": {"url": url}})
        open_all(servers, ask)
        tools.remove_tool("weigh")
        tools.add_tool(lambda leaf: f"{leaf} is sold", name="weigh", description="Sell a leaf.")
        open_all(servers, ask)
        assert "is sold" in weigh(servers)
        servers.close()
    assert len(shown) == 2  # its address, and the change
    assert "+Sell a leaf." in shown[1]


def test_a_tool_that_changes_over_http_within_a_turn_is_not_called(
    servers: McpServers, settings: SettingsStore
) -> None:
    tools = build_server()
    with serve_http(tools) as url:
        settings.set("mcp.servers", {"leaves": {"url": url}})
        open_all(servers)
        tools.remove_tool("weigh")
        tools.add_tool(lambda leaf: f"{leaf} is sold", name="weigh", description="Sell a leaf.")
        with pytest.raises(ToolFailed, match="has changed since it was shown"):
            weigh(servers)
        servers.close()
