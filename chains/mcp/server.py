"""The values of MCP: a server from the settings, and a tool as its server describes it.

A description, a title and an annotation are the server's own words. They are shown, shortened and
without invisible characters, and nothing is decided by them alone.
"""

import hashlib
import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import urlsplit

from chains.errors import McpFailed

__all__ = ["McpServer", "McpTool", "fill_variables", "hash_tools", "parse_servers", "show_text"]

MAX_NAME_CHARS: Final = 30
MAX_DESCRIPTION_CHARS: Final = 2_000
MAX_TOOL_NAME_CHARS: Final = 64  # the limit of the providers
_NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9-]{{0,{MAX_NAME_CHARS - 1}}}")
_NOT_IN_A_TOOL_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_PROCESS_FIELDS: Final = frozenset({"command", "args", "env"})
_HTTP_FIELDS: Final = frozenset({"url", "headers"})


@dataclass(frozen=True)
class McpServer:
    """An MCP server of the settings: a program to start, or an address.

    Attributes:
        command: the program, or an empty string for a server at an address.
        env: variables that the program gets beside the usual ones. `${NAME}` in a value is replaced
            by a variable of the user's environment, so that a key need not be in the settings.
        url: the address, or an empty string for a program.
        headers: headers of each request, with the same placeholders.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def parse(cls, name: str, value: object) -> Self:
        """Read a server from the setting `mcp.servers`.

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
        """The host of a server at an address, or an empty string for a program."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            return ""
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""

    @property
    def shown(self) -> str:
        """The full command or the address, with the names of variables and headers."""
        if not self.command:
            names = f" (headers: {', '.join(sorted(self.headers))})" if self.headers else ""
            return show_text(self.url + names)
        names = "".join(f"{name}=… " for name in sorted(self.env))
        return show_text(names + shlex.join([self.command, *self.args]))

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def fingerprint(self) -> str:
        """The hash to which an approval of the server applies.

        It covers the command with its arguments and the names of its variables, or the address with
        the names of its headers.
        """
        parts = [self.name, self.command, list(self.args), sorted(self.env), self.url]
        return _hash([*parts, sorted(self.headers)])


@dataclass(frozen=True)
class McpTool:
    """A tool of an MCP server, as the server describes it.

    Attributes:
        server: the name of its server.
        name: the server's name for the tool.
        schema: the JSON schema of its arguments.
        is_read_only: whether the server declares that the tool changes nothing.
        is_destructive: whether the server declares that the tool may destroy something.
    """

    server: str
    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    is_read_only: bool = False
    is_destructive: bool = False

    @property
    def full_name(self) -> str:
        """The name for models: `SERVER__TOOL`, in the characters that providers accept."""
        name = f"{self.server}__{_NOT_IN_A_TOOL_NAME.sub('_', self.name)}"
        if len(name) <= MAX_TOOL_NAME_CHARS and name == f"{self.server}__{self.name}":
            return name
        return f"{name[: MAX_TOOL_NAME_CHARS - 9]}_{_hash(self.name)[:8]}"

    @property
    def shown_description(self) -> str:
        """The description without invisible characters, shortened."""
        text = show_text(self.description, keeps="\n")
        if len(text) <= MAX_DESCRIPTION_CHARS:
            return text
        return f"{text[:MAX_DESCRIPTION_CHARS]}…"

    @property
    def fingerprint(self) -> str:
        """The hash of the tool's name, description, schema and hints, as the server sends them."""
        annotations = [self.is_read_only, self.is_destructive]
        return _hash([self.name, self.description, dict(self.schema), annotations])


def parse_servers(value: Mapping[str, object]) -> tuple[McpServer, ...]:
    """Read the servers of the setting `mcp.servers`, in the order of their names.

    Raises:
        ValueError: one of them is not valid. The message says why.
    """
    return tuple(McpServer.parse(name, value[name]) for name in sorted(value))


def hash_tools(tools: Sequence[McpTool]) -> dict[str, str]:
    """Return the fingerprint of each tool, by the name of the tool."""
    return {tool.name: tool.fingerprint for tool in tools}


def show_text(text: str, keeps: str = "") -> str:
    r"""Return a text with characters that are not visible as escapes such as `\u{200b}`."""
    return "".join(
        sign if sign.isprintable() or sign in keeps else f"\\u{{{ord(sign):x}}}" for sign in text
    )


def fill_variables(values: Mapping[str, str]) -> dict[str, str]:
    """Return values with each `${NAME}` replaced by that variable of the user's environment."""
    return {
        name: _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), value)
        for name, value in values.items()
    }


def refuse_offline(server: McpServer) -> McpFailed:
    """Return the error for a server that is not on this computer while Strata is offline."""
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
