"""Approve and start the configured MCP servers before an agent's turn.

The user approves each server's command once, and each later change of its tools. An approval is
stored in a small file that is named by the hash of the command and contains the descriptions of the
approved tools. Servers that fail or are not approved are left out with a warning.
"""

import json
import logging
import shlex
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from app.config.settings_file import SettingsStore
from app.config.settings_secrets import fill_server, forget_server
from app.errors import NoKeyring, storage_errors
from app.secret_text import redact, redact_arguments
from chains.cancel import CancelToken, TimeLimit
from chains.concurrency import gather
from chains.errors import LedgerFailed, McpFailed
from chains.events import Event, Warned
from chains.ledger import LedgerPort
from chains.mcp.client import McpClient
from chains.mcp.server import McpServer, McpTool, UnusableTool, parse_servers
from chains.tool import Proposal, Tool
from chains.tools.mcp import build_mcp_tools, describe_tools, propose_change, propose_start
from resources.system.files import make_private_folder, remove_synced, write_atomically
from vault.coverage import name_count

__all__ = ["AskAboutServer", "McpServers", "parse_entry"]

# Asks whether a server may be started, or whether its changed tools may be used.
AskAboutServer = Callable[[McpServer, Proposal], Generator[Event, None, bool]]
_Listed = tuple[McpTool, ...] | McpFailed | LedgerFailed

_log = logging.getLogger(__name__)
MOST_SHOWN: Final = 3
_VERSION_FILE, _VERSION = "version", b"2"  # of the rules for secrets in stored approvals
LEFT_OUT: Final = "The MCP server {name} is left out, because {reason} was not approved: {shown}"


class McpServers:
    """The configured MCP servers. Thread-safe."""

    def __init__(self, settings: SettingsStore, folder: Path, ledger: LedgerPort) -> None:
        """Use the approvals in a folder, which need not exist. No server is started yet."""
        self._settings = settings
        self._folder = folder
        _migrate_approvals(folder)
        self._build_client = partial(McpClient, lambda: settings.values.privacy_offline, ledger)
        self._client = self._build_client()
        self._lock = threading.Lock()
        self._open: dict[McpServer, tuple[McpTool, ...]] = {}
        self._rejected: set[tuple[str, str]] = set()

    def build_tools(self, time: TimeLimit) -> tuple[Tool, ...]:
        """Build the tools of the servers that `open_servers` has started.

        Args:
            time: the time that the tools of the turn have.
        """
        with self._lock:
            opened = list(self._open.items())
        return tuple(
            tool
            for server, tools in opened
            for tool in build_mcp_tools(self._client, server, tools, time)
        )

    def open_servers(
        self, ask: AskAboutServer, cancel: CancelToken
    ) -> Generator[Event, None, tuple[str, ...]]:
        """Start the configured servers, and return a warning for each one that is left out.

        Args:
            ask: asks the user for approval.
            cancel: the cancel token of the turn.

        Raises:
            Cancelled: the turn was cancelled.
            StorageFailed: an approval could not be stored.
        """
        servers = self._read_servers()
        self._stop_others(servers)
        warnings: list[str] = []
        approved = []
        for server in servers:
            try:
                server.require_secrets()
            except McpFailed as error:
                warnings.append(f"{error} Its tools are left out.")
                continue
            if (yield from self._is_approved(server, ask, warnings)):
                approved.append(server)
        opened = {}
        for server, listed in self._list_tools(approved, cancel):
            if not isinstance(listed, tuple):
                warnings.append(f"{listed} Its tools are left out.")
            elif (yield from self._accepts_tools(server, listed, ask, warnings)):
                opened[server] = listed
                if left_out := self._client.list_left_out(server):
                    warnings.append(_describe_left_out(server, left_out))
        with self._lock:
            self._open = {server: opened[server] for server in servers if server in opened}
        yield from map(Warned, warnings)
        return tuple(warnings)

    def list_servers(self) -> tuple[tuple[McpServer, bool], ...]:
        """Return each configured server, and whether the user has approved it, sorted by name."""
        servers = self._read_servers()
        return tuple((server, self._read_approval(server) is not None) for server in servers)

    def approve(self, server: McpServer) -> None:
        """Store that the user has approved a server's command or address.

        Raises:
            StorageFailed: the approval could not be stored.
        """
        if self._read_approval(server) is None:
            self._store_approval(server, None)
        with self._lock:
            known = {asked for asked in self._rejected if asked[0] == server.fingerprint}
            self._rejected -= known

    def test(self, server: McpServer, cancel: CancelToken) -> tuple[McpTool, ...]:
        """Return the tools of an approved server.

        If no turn uses the server yet, it is started for the test only. The test has its own
        client, so it does not stop a server that a turn is starting at the same time.

        Raises:
            McpFailed: the server cannot be started, or does not answer.
            LedgerFailed: the call could not be recorded, so it was not made.
            Cancelled: the token was cancelled.
        """
        server.require_secrets()
        self._client.forget_failures(server)
        with self._lock:
            is_open = server in self._open
        if is_open:
            return self._client.list_tools(server, cancel)
        with closing(self._build_client()) as client:
            return client.list_tools(server, cancel)

    def forget(self, server: McpServer) -> None:
        """Stop a server that the user has removed, and revoke the user's approval of it.

        Raises:
            StorageFailed: the approval could not be deleted.
        """
        with self._lock:
            self._open.pop(server, None)
        self._client.stop(server)
        with suppress(NoKeyring):
            forget_server(server)
        with storage_errors(file := self._approval_file(server)):
            remove_synced(file)

    def close(self) -> None:
        """Stop all servers."""
        self._client.close()

    def _read_servers(self) -> tuple[McpServer, ...]:
        """Return the configured servers, with their secrets from the keyring."""
        return tuple(map(fill_server, parse_servers(self._settings.values.mcp_servers)))

    def _stop_others(self, servers: tuple[McpServer, ...]) -> None:
        """Stop the running servers that are not in `servers`, the list from the settings."""
        with self._lock:
            gone = [server for server in self._open if server not in servers]
            self._open = {server: self._open[server] for server in self._open if server in servers}
        for server in gone:
            self._client.stop(server)

    def _is_approved(
        self, server: McpServer, ask: AskAboutServer, warnings: list[str]
    ) -> Generator[Event, None, bool]:
        """Return whether a server's command is approved, asking the user if necessary.

        The arguments are the same as for `_ask`.
        """
        if self._read_approval(server) is not None:
            return True
        proposal = propose_start(server)
        is_approved = yield from self._ask(server, proposal, "its start", ask, warnings)
        if is_approved:
            self._store_approval(server, None)
        return is_approved

    def _accepts_tools(
        self,
        server: McpServer,
        tools: tuple[McpTool, ...],
        ask: AskAboutServer,
        warnings: list[str],
    ) -> Generator[Event, None, bool]:
        """Return whether a server's tools are approved, asking the user if they have changed.

        Args:
            tools: the tools that the server offers now.
            ask: asks the user.
            warnings: receives a sentence if the changed tools are rejected.
        """
        new, approval = describe_tools(tools), self._read_approval(server) or {}
        old = approval.get("tools")
        if isinstance(old, str) and old != new:
            proposal = propose_change(server, old, new)
            if not (yield from self._ask(server, proposal, "a change of its tools", ask, warnings)):
                self._client.stop(server)
                return False
        if old != new:
            self._store_approval(server, new)
        return True

    def _ask(
        self,
        server: McpServer,
        proposal: Proposal,
        reason: str,
        ask: AskAboutServer,
        warnings: list[str],
    ) -> Generator[Event, None, bool]:
        """Ask the user about a proposal, and return whether it is approved.

        The user is not asked again about a rejected proposal until the program is restarted.

        Args:
            proposal: the proposal to approve: the server's start, or its changed tools.
            reason: what was not approved, for the warning.
            ask: asks the user.
            warnings: receives a sentence if the proposal is rejected.
        """
        question = (server.fingerprint, proposal.summary + proposal.diff)
        if question not in self._rejected and (yield from ask(server, proposal)):
            return True
        with self._lock:
            self._rejected.add(question)
        warnings.append(LEFT_OUT.format(name=server.name, reason=reason, shown=server.shown))
        return False

    def _list_tools(
        self, servers: list[McpServer], cancel: CancelToken
    ) -> list[tuple[McpServer, _Listed]]:
        """Start servers in parallel, and return the tools or the error of each server."""
        most_s = float(self._settings.values.agent_max_seconds)

        def build_work(server: McpServer) -> Callable[[], _Listed]:
            def list_tools() -> _Listed:
                try:
                    return self._client.list_tools(server, cancel, most_s)
                except (McpFailed, LedgerFailed) as error:
                    return error

            return list_tools

        found = dict(gather([build_work(server) for server in servers], cancel))
        return [(server, found[place]) for place, server in enumerate(servers)]

    def _read_approval(self, server: McpServer) -> Mapping[str, Any] | None:
        """Return the stored approval of a server, or None if there is none."""
        try:
            found = json.loads(self._approval_file(server).read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            _log.warning("The approval of an MCP server cannot be read: %s", error)
            return None
        return found if isinstance(found, dict) else None

    def _store_approval(self, server: McpServer, tools: str | None) -> None:
        file = self._approval_file(server)
        content = {"server": server.name, "command": server.shown, "tools": tools}
        with storage_errors(file):
            make_private_folder(self._folder)
            write_atomically(file, json.dumps(content, indent=1).encode())

    def _approval_file(self, server: McpServer) -> Path:
        return self._folder / f"{server.fingerprint}.json"


def _migrate_approvals(folder: Path) -> None:
    """Rewrite the approvals of older versions, once for each version of the rules for secrets."""
    mark = folder / _VERSION_FILE
    with suppress(OSError):
        if not folder.is_dir() or mark.read_bytes() == _VERSION:
            return
    try:
        for file in folder.glob("*.json"):
            _redact_approval(file)
        write_atomically(mark, _VERSION)
    except OSError as error:  # the next start tries again
        _log.warning("The approvals of MCP servers cannot be rewritten: %s", error)


def _redact_approval(file: Path) -> None:
    """Remove the secrets from an approval that an older version stored with them."""
    try:
        found = json.loads(file.read_text("utf-8"))
        shown = found["command"]
        redacted = _redact_command(shown)
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        _log.warning("The approval of an MCP server cannot be read: %s", error)
        return
    if redacted != shown:
        write_atomically(file, json.dumps({**found, "command": redacted}, indent=1).encode())


def _redact_command(shown: str) -> str:
    try:
        arguments = shlex.split(shown)
    except ValueError:
        return redact(shown)
    redacted = redact_arguments(arguments)
    return shown if redacted == arguments else shlex.join(redacted)


def _describe_left_out(server: McpServer, tools: Sequence[UnusableTool]) -> str:
    shown = ", ".join(tool.shown for tool in tools[:MOST_SHOWN])
    more = f", and {len(tools) - MOST_SHOWN:,} more" if len(tools) > MOST_SHOWN else ""
    count = name_count(len(tools), "tool")
    return f"{count} of the MCP server {server.name} cannot be given to a model: {shown}{more}."


def parse_entry(name: str, text: str) -> dict[str, Any]:
    """Convert a typed command or address to an entry of the setting `mcp.servers`.

    Raises:
        ValueError: the name, the command or the address is not valid. The message says why.
    """
    if text.startswith(("http://", "https://")):
        entry: dict[str, Any] = {"url": text}
    else:
        try:
            command, *args = shlex.split(text) or [""]
        except ValueError:
            raise ValueError("a quotation mark in the command is not closed") from None
        entry = {"command": command, **({"args": args} if args else {})}
    McpServer.parse(name, entry)
    return entry
