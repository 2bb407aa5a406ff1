"""MCP servers from the settings, and tools as described by their server.

Descriptions, titles and annotations come from the server. They are shortened and cleaned before
they are shown, and no decision depends on them alone.
"""

import hashlib
import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import urlsplit

from chains.errors import McpFailed

__all__ = [
    "MAX_TOOLS",
    "McpServer",
    "McpTool",
    "UnusableTool",
    "choose_usable_tools",
    "fill_variables",
    "hash_tools",
    "parse_servers",
    "show_text",
]

MAX_NAME_CHARS: Final = 30
MAX_DESCRIPTION_CHARS: Final = 2_000
MAX_REASON_CHARS: Final = 160
MAX_TOOL_NAME_CHARS: Final = 64  # the limit of the providers
# A server's tools that are too long, or exceed these limits together, are left out.
MAX_TOOLS: Final = 500
MOST_SERVER_CHARS: Final = 1_000_000
MOST_DEFINITION_CHARS: Final = 20_000
MOST_TOOL_NAME_CHARS: Final = 200
_NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9-]{{0,{MAX_NAME_CHARS - 1}}}")
_NOT_IN_A_TOOL_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_PROCESS_FIELDS: Final = frozenset({"command", "args", "env"})
_HTTP_FIELDS: Final = frozenset({"url", "headers"})


@dataclass(frozen=True)
class McpServer:
    """An MCP server from the settings: a program to start, or the address of an HTTP service.

    Attributes:
        command: the program, or an empty string for a server at an address.
        env: additional environment variables. `${NAME}` is replaced with the user's environment
            variable, so that keys need not be stored in the settings.
        url: the address, or an empty string for a program.
        headers: HTTP headers, in which `${NAME}` is replaced in the same way.
        secret_args: the arguments with their secrets, or an empty tuple if there are none.
        secret_url: the address with its secrets, or an empty string if there are none.
        missing_secrets: the names of its secrets that are not in the keyring.
        unset_variables: the variables that it needs and that the user's environment does not have.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret_args: tuple[str, ...] = field(default=(), repr=False)
    secret_url: str = field(default="", repr=False)
    missing_secrets: tuple[str, ...] = field(default=(), repr=False)
    unset_variables: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def parse(cls, name: str, value: object) -> Self:
        """Parse a server from the setting `mcp.servers`.

        Raises:
            ValueError: the name or the value is not valid. The message says why.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"the name {name!r} may have letters, digits and hyphens")
        if not isinstance(value, Mapping):
            value = {}
        known = _PROCESS_FIELDS if "command" in value else _HTTP_FIELDS
        if unknown := set(value) - known:
            raise ValueError(f"{name} has the unknown field {min(map(str, unknown))}")
        server = cls(
            name,
            command=_read_text(name, value, "command"),
            args=_read_texts(name, value),
            env=_read_table(name, value, "env"),
            url=_read_text(name, value, "url"),
            headers=_read_table(name, value, "headers"),
        )
        if not server.command and not server.host:
            raise ValueError(f"{name} needs a command, or a url that begins with http or https")
        return server

    @property
    def host(self) -> str:
        """The host of the server's address, or an empty string if the server is a program."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            return ""
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""

    @property
    def shown(self) -> str:
        """The server's full command or address, with the names of its variables or headers.

        The values of the variables and headers are not included, because they may be keys.
        """
        if not self.command:
            names = f" (headers: {', '.join(sorted(self.headers))})" if self.headers else ""
            return show_text(self.url + names)
        names = "".join(f"{name}=… " for name in sorted(self.env))
        return show_text(names + shlex.join([self.command, *self.args]))

    def require_secrets(self) -> None:
        """Raise `McpFailed` if a secret or variable is missing, which would be sent by its name."""
        if self.unset_variables:
            names = ", ".join(f"${{{name}}}" for name in self.unset_variables)
            raise McpFailed(
                f"The MCP server {self.name} was not started, because mcp.servers names {names},"
                " and your environment has no such variable. Set it before Strata starts, or write"
                " the value into mcp.servers: a secret goes to the system's keyring."
            )
        if self.missing_secrets:
            names = ", ".join(self.missing_secrets)
            raise McpFailed(
                f"The MCP server {self.name} was not started, because the system's keyring does not"
                f" have its secret: {names}. Open the keyring, or enter the secret again in"
                " mcp.servers in place of ${KEYRING…}."
            )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def fingerprint(self) -> str:
        """A hash that identifies what the user approved.

        It covers the command with its arguments and variable names, or the address with its header
        names.
        """
        parts = [self.name, self.command, list(self.args), sorted(self.env), self.url]
        return _hash([*parts, sorted(self.headers)])


@dataclass(frozen=True)
class McpTool:
    """A tool of an MCP server, as described by the server.

    Attributes:
        server: the name of the server.
        name: the tool's name on the server.
        schema: the JSON schema of the arguments.
        is_read_only: whether the server declares the tool as read-only.
        is_destructive: whether the server declares the tool as destructive.
    """

    server: str
    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    is_read_only: bool = False
    is_destructive: bool = False

    @property
    def full_name(self) -> str:
        """The tool's name for models, as `SERVER__TOOL`."""
        name = f"{self.server}__{_NOT_IN_A_TOOL_NAME.sub('_', self.name)}"
        if len(name) <= MAX_TOOL_NAME_CHARS and name == f"{self.server}__{self.name}":
            return name
        return f"{name[: MAX_TOOL_NAME_CHARS - 9]}_{_hash(self.name)[:8]}"

    @property
    def shown_description(self) -> str:
        """The tool's description, shortened and without invisible characters."""
        text = show_text(self.description, keeps="\n")
        if len(text) <= MAX_DESCRIPTION_CHARS:
            return text
        return f"{text[:MAX_DESCRIPTION_CHARS]}…"

    @property
    def fingerprint(self) -> str:
        """A hash of the tool's name, description, schema and hints."""
        annotations = [self.is_read_only, self.is_destructive]
        return _hash([self.name, self.description, dict(self.schema), annotations])


@dataclass(frozen=True)
class UnusableTool:
    """A tool of a server that is not offered to models.

    Attributes:
        name: the tool's name on the server.
        reason: why it is left out.
    """

    name: str
    reason: str

    @property
    def shown(self) -> str:
        """The name and the reason, shortened and without invisible characters."""
        name, reason = show_text(self.name), show_text(self.reason)
        return f"{name[:MAX_TOOL_NAME_CHARS]} ({reason[:MAX_REASON_CHARS]})"


def parse_servers(value: Mapping[str, object]) -> tuple[McpServer, ...]:
    """Parse all servers in the setting `mcp.servers`, sorted by name.

    Raises:
        ValueError: a server is not valid. The message says why.
    """
    return tuple(McpServer.parse(name, value[name]) for name in sorted(value))


def choose_usable_tools(
    tools: Iterable[McpTool], find_fault: Callable[[str], str] = lambda _schema: ""
) -> tuple[list[McpTool], list[UnusableTool]]:
    """Return the tools that can be offered to models, up to a total size, and all others.

    Args:
        tools: the tools that a server lists.
        find_fault: returns why a schema, given as JSON, is not valid, or an empty string.
    """
    chosen: dict[str, McpTool] = {}
    left_out, chars = [], 0
    for tool in tools:
        size, reason = _measure(tool, find_fault)
        if tool.full_name in chosen:
            reason = "another tool has this name"
        elif not reason and (chars + size > MOST_SERVER_CHARS or len(chosen) == MAX_TOOLS):
            reason = "the server lists too many tools"
        if reason:
            left_out.append(UnusableTool(tool.name, reason))
        else:
            chars += size
            chosen[tool.full_name] = tool
    return list(chosen.values()), left_out


def _measure(tool: McpTool, find_fault: Callable[[str], str]) -> tuple[int, str]:
    """Return the length of a tool's definition, and why models cannot use it, or ""."""
    if len(tool.name) > MOST_TOOL_NAME_CHARS:
        return 0, f"its name has more than {MOST_TOOL_NAME_CHARS} characters"
    if tool.schema.get("type") != "object":
        return 0, "its arguments are not an object"
    try:
        schema = json.dumps(tool.schema, allow_nan=False)
    except (ValueError, RecursionError):
        return 0, "its schema is not valid JSON"
    size = len(tool.shown_description) + len(schema)
    if size > MOST_DEFINITION_CHARS:
        return size, f"its definition has more than {MOST_DEFINITION_CHARS:,} characters"
    return size, find_fault(schema)


def hash_tools(tools: Sequence[McpTool]) -> dict[str, str]:
    """Return the fingerprint of each tool, keyed by tool name."""
    return {tool.name: tool.fingerprint for tool in tools}


def show_text(text: str, keeps: str = "") -> str:
    r"""Replace invisible characters with escapes such as `\u{200b}`.

    Args:
        keeps: the characters that are not replaced.
    """
    return "".join(
        sign if sign.isprintable() or sign in keeps else f"\\u{{{ord(sign):x}}}" for sign in text
    )


def fill_variables(values: Mapping[str, str]) -> dict[str, str]:
    """Replace each `${NAME}` in the values with the user's environment variable."""
    return {
        name: _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), value)
        for name, value in values.items()
    }


def refuse_offline(server: McpServer) -> McpFailed:
    """Build the error for a remote server in offline mode."""
    return McpFailed(
        f"Offline is on, so the MCP server {server.name} at {server.host} was not called."
    )


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read_text(server: str, value: Mapping[Any, object], key: str) -> str:
    found = value.get(key, "")
    if not isinstance(found, str) or "\0" in found:
        raise ValueError(f"{key} of {server} is not a text")
    return found.strip()


def _read_texts(server: str, value: Mapping[Any, Any]) -> tuple[str, ...]:
    found = value.get("args", ())
    is_list = isinstance(found, Sequence) and not isinstance(found, str)
    if not is_list or not all(isinstance(arg, str) and "\0" not in arg for arg in found):
        raise ValueError(f"args of {server} is not a list of texts")
    return tuple(found)


def _read_table(server: str, value: Mapping[Any, Any], key: str) -> Mapping[str, str]:
    found = value.get(key, {})
    is_table = isinstance(found, Mapping)
    if not is_table or not all(isinstance(text, str) for pair in found.items() for text in pair):
        raise ValueError(f"{key} of {server} is not a table of texts")
    return dict(found)
