"""Keep passwords and keys out of the settings file: they are moved to the system keyring.

An address loses its user name and password. A header or an environment variable of an MCP server
gets the value `${KEYRING}`, which `fill_server` replaces when the server is used.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from app.errors import BadSetting, InvalidRequest, NoKeyring
from app.log import hide, redact
from chains.mcp.server import McpServer

__all__ = ["SECRET_SETTINGS", "fill_server", "forget_server", "move_secrets", "remove_secrets"]

_ADDRESSES: Final = ("chat.apiBase", "vectorStore.url")
_SERVERS: Final = "mcp.servers"
SECRET_SETTINGS: Final = (*_ADDRESSES, _SERVERS)
_KEPT: Final = "${KEYRING}"
_FIELDS: Final = ("headers", "env")
_AUTHORIZATION: Final = "Authorization"
# Names of headers and variables whose values are secret, such as X-Api-Key and DB_PASSWORD.
_SECRET_NAME: Final = re.compile(
    r"(?:.*[-_]|.*(?<=[a-z])(?=[A-Z]))?"
    r"(?i:authorization|cookie|credentials?|key|pass|passphrase|passwd|secret|token)"
    r"|(?i:.*(?:apikey|password))"
)
_PASSWORD: Final = re.compile(r"://[^/?#\s]*:[^/?#\s]*@")


def remove_secrets(key: str, value: object) -> object:
    """Return a setting's value without its secrets. A value without secrets is returned itself."""
    if key in _ADDRESSES:
        return _remove_password(value) if isinstance(value, str) else value
    if key != _SERVERS or not isinstance(value, Mapping):
        return value
    cleaned = {name: _clean_server(entry)[0] for name, entry in value.items()}
    return value if cleaned == value else cleaned


def move_secrets(key: str, value: object) -> object:
    """Move the secrets in a setting's value to the keyring, and return the value without them.

    Raises:
        BadSetting: the keyring cannot store a secret, or it would be sent unencrypted.
    """
    bare = remove_secrets(key, value)
    if bare is value or bare == value:
        return value
    from app.config import secrets  # loads the code of the models

    try:
        if isinstance(value, str):
            return secrets.move_password(value)
        assert isinstance(value, Mapping)
        for name, entry in value.items():
            for owner, secret in _list_secrets(str(name), entry):
                secrets.save_key(owner, secret)
    except (NoKeyring, InvalidRequest) as error:
        raise BadSetting(
            f"{key} holds a password or a key, which belongs in the system's keyring. {error}",
            key=key,
            hint=_find_way_out(key, bare),
        ) from error
    return bare


def fill_server(server: McpServer) -> McpServer:
    """Return an MCP server with its secrets from the keyring."""
    filled = {name: _fill(server, name) for name in _FIELDS}
    return replace(server, headers=filled["headers"], env=filled["env"])


def forget_server(server: McpServer) -> None:
    """Delete the secrets of a removed MCP server from the keyring, if it can be opened."""
    from app.config import secrets

    for field in _FIELDS:
        for name, value in getattr(server, field).items():
            owner = _name_owner(server.name, field, name)
            if value and secrets.key_for(owner) == value:
                secrets.save_key(owner, "")


def _fill(server: McpServer, field: str) -> dict[str, str]:
    values: Mapping[str, str] = getattr(server, field)
    if _KEPT not in values.values():
        return dict(values)
    from app.config import secrets

    def find(name: str, value: str) -> str:
        stored = value == _KEPT and secrets.key_for(_name_owner(server.name, field, name))
        return stored or value

    return {name: find(name, value) for name, value in values.items()}


def _name_owner(server: str, field: str, name: str) -> str:
    return f"mcp:{server}:{field}:{name}"


def _remove_password(address: str) -> str:
    if "@" not in address:
        return address
    from app.config import secrets

    return secrets.without_password(address)


def _is_secret(name: str, value: object) -> bool:
    if not isinstance(value, str) or not value.strip() or "${" in value:
        return False
    is_named = _SECRET_NAME.fullmatch(name) is not None
    return is_named or _PASSWORD.search(value) is not None or redact(value) != value


def _clean_server(entry: Any) -> tuple[Any, dict[tuple[str, str], str]]:
    """Return an entry of `mcp.servers` without its secrets, and the secrets by field and name."""
    if not isinstance(entry, Mapping):
        return entry, {}
    found: dict[tuple[str, str], str] = {}
    cleaned = dict(entry)
    for field in _FIELDS:
        values = entry.get(field)
        for name, value in values.items() if isinstance(values, Mapping) else ():
            if _is_secret(str(name), value):
                found[field, str(name)] = value
                cleaned[field] = {**cleaned[field], name: _KEPT}
    url = entry.get("url")
    if isinstance(url, str) and (bare := _remove_password(url)) != url:
        cleaned["url"] = bare
        cleaned["headers"] = {_AUTHORIZATION: _KEPT, **(cleaned.get("headers") or {})}
        found.setdefault(("headers", _AUTHORIZATION), url)
    return cleaned, found


def _list_secrets(server: str, entry: Any) -> Iterator[tuple[str, str]]:
    """Yield the secrets of a server's entry, each with its owner in the keyring.

    Raises:
        InvalidRequest: a password of the address would be sent unencrypted.
    """
    from app.config import secrets
    from chains.llm.urls import parse_origin

    for (field, name), value in _clean_server(entry)[1].items():
        secret = value
        if value == entry.get("url"):
            secrets.require_private_way(parse_origin(secrets.without_password(value)))
            secret = secrets.build_basic_key(value)
        hide(secret)
        yield _name_owner(server, field, name), secret


def _find_way_out(key: str, bare: object) -> str:
    if key == _SERVERS:
        return "Set a variable of your environment, and name it in the setting as ${NAME}."
    return f"Set {key} to {bare}, and enter the key for it with `strata keys set`."
