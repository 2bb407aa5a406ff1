"""Keep passwords and keys out of the settings file: they are moved to the system keyring.

An address loses its user name, its password and the keys in its query. In an MCP server, a header,
a variable, an argument or a parameter of the address gets the value `${KEYRING}`, which
`fill_server` replaces when the server is used.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from app.config.text_secrets import (
    KEPT,
    SecretPlace,
    fill_arguments,
    fill_text,
    find_argument_slots,
    find_query_slots,
    has_password,
    is_secret_name,
    remove_query_secrets,
)
from app.errors import BadSetting, InvalidRequest, NoKeyring
from app.log import hide, redact
from chains.mcp.server import McpServer

__all__ = ["SECRET_SETTINGS", "fill_server", "forget_server", "move_secrets", "remove_secrets"]

_ADDRESSES: Final = ("chat.apiBase", "vectorStore.url")
_SERVERS: Final = "mcp.servers"
SECRET_SETTINGS: Final = (*_ADDRESSES, _SERVERS)
_FIELDS: Final = ("headers", "env")
_AUTHORIZATION: Final = "Authorization"
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


def remove_secrets(key: str, value: object) -> object:
    """Return a setting's value without its secrets. A value without secrets is returned itself."""
    if key in _ADDRESSES:
        return _remove_credentials(value) if isinstance(value, str) else value
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
    from chains.llm.urls import parse_origin

    try:
        if isinstance(value, str):
            bare_query, secret = remove_query_secrets(value)
            moved = secrets.move_password(bare_query)
            if secret and moved == bare_query:  # a password goes first
                secrets.save_key(parse_origin(moved), secret)
            return moved
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
    """Return an MCP server with its secrets from the keyring.

    Its command and address stay as they are shown. What is sent has the secrets.
    """
    filled = {name: _fill(server, name) for name in _FIELDS}
    args, url = find_argument_slots(server.args), find_query_slots(server.url)
    return replace(
        server,
        headers=filled["headers"],
        env=filled["env"],
        secret_args=tuple(fill_arguments(server.args, args, lambda s: _find(server, "args", s))),
        secret_url=fill_text(server.url, url, lambda slot: _find(server, "url", slot)),
    )


def forget_server(server: McpServer) -> None:
    """Delete the secrets of a removed MCP server from the keyring, if it can be opened."""
    from app.config import secrets

    for field in _FIELDS:
        for name, value in getattr(server, field).items():
            owner = _name_owner(server.name, field, name)
            if value and secrets.key_for(owner) == value:
                secrets.save_key(owner, "")
    slots = {"args": find_argument_slots(server.args), "url": find_query_slots(server.url)}
    for field, found in slots.items():
        for slot in found:
            if slot.value == KEPT:
                secrets.save_key(_name_owner(server.name, field, slot.name), "")


def _fill(server: McpServer, field: str) -> dict[str, str]:
    values: Mapping[str, str] = getattr(server, field)
    return {
        name: _find(server, field, SecretPlace(name, value, 0)) for name, value in values.items()
    }


def _find(server: McpServer, field: str, slot: SecretPlace) -> str:
    """Return the value of a place for a secret, as it is sent."""
    if slot.value == KEPT:
        from app.config import secrets

        return secrets.key_for(_name_owner(server.name, field, slot.name)) or slot.value
    if field in {"args", "url"} and (variable := _VARIABLE.fullmatch(slot.value)):
        return os.environ.get(variable[1], slot.value)
    return slot.value


def _name_owner(server: str, field: str, name: str) -> str:
    return f"mcp:{server}:{field}:{name}"


def _remove_credentials(address: str) -> str:
    bare, _ = remove_query_secrets(_remove_password(address))
    return bare


def _remove_password(address: str) -> str:
    if "@" not in address:
        return address
    from app.config import secrets

    return secrets.without_password(address)


def _is_secret(name: str, value: object) -> bool:
    if not isinstance(value, str) or not value.strip() or "${" in value:
        return False
    return is_secret_name(name) or has_password(value) or redact(value) != value


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
                cleaned[field] = {**cleaned[field], name: KEPT}
    args, url = entry.get("args"), entry.get("url")
    if isinstance(args, list) and all(isinstance(arg, str) for arg in args):
        slots = [slot for slot in find_argument_slots(args) if slot.is_secret]
        found |= {("args", slot.name): slot.value for slot in slots}
        cleaned["args"] = fill_arguments(args, slots, lambda _: KEPT)
    if isinstance(url, str):
        cleaned["url"] = bare = _remove_password(url)
        if bare != url:
            cleaned["headers"] = {_AUTHORIZATION: KEPT, **(cleaned.get("headers") or {})}
            found.setdefault(("headers", _AUTHORIZATION), url)
        slots = [slot for slot in find_query_slots(bare) if slot.is_secret]
        found |= {("url", slot.name): slot.value for slot in slots}
        cleaned["url"] = fill_text(bare, slots, lambda _: KEPT)
    return cleaned, found


def _list_secrets(server: str, entry: Any) -> Iterator[tuple[str, str]]:
    """Yield the secrets of a server's entry, each with its owner in the keyring.

    Raises:
        InvalidRequest: a secret of the address would be sent unencrypted.
    """
    from app.config import secrets
    from chains.llm.urls import parse_origin

    for (field, name), value in _clean_server(entry)[1].items():
        secret, url = value, entry.get("url", "")
        if field == "url" or value == url:
            secrets.require_private_way(parse_origin(secrets.without_password(url)))
        if value == url:
            secret = secrets.build_basic_key(value)
        hide(secret)
        yield _name_owner(server, field, name), secret


def _find_way_out(key: str, bare: object) -> str:
    if key == _SERVERS:
        return "Set a variable of your environment, and name it in the setting as ${NAME}."
    return f"Set {key} to {bare}, and enter the key for it with `strata keys set`."
