"""Keep passwords and keys out of the settings file: they are moved to the system keyring.

An address loses its user name, its password and the keys in its query. In an MCP server, a header,
a variable, an argument or a part of the address gets a placeholder, which `fill_server` replaces
when the server is used.

A header or a variable has a name of its own. Arguments and addresses may hold several secrets, and
their order may change, so a placeholder there names its secret: `${KEYRING:NAME}`. In older
settings it is `${KEYRING}` there too, and named after the option or parameter that it belongs to.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any, Final

from app.errors import BadSetting, InvalidRequest, NoKeyring
from app.secret_text import (
    Secret,
    find_argument_secrets,
    find_value_secrets,
    hide,
    is_secret_name,
    remove_parameters,
    replace_secrets,
)
from chains.mcp.server import McpServer
from context.fixes import Command, Fix, Setting

__all__ = ["SECRET_SETTINGS", "fill_server", "forget_server", "move_secrets", "remove_secrets"]

_ADDRESSES: Final = ("chat.apiBase", "vectorStore.url")
_SERVERS: Final = "mcp.servers"
SECRET_SETTINGS: Final = (*_ADDRESSES, _SERVERS)
# Stands for the secret of a header or variable, which is named like this.
KEPT: Final = "${KEYRING}"
_PLACEHOLDER: Final = re.compile(r"\$\{KEYRING(?::(?P<name>[\w.-]+))?\}")
_ANY_VARIABLE: Final = re.compile(
    rf"{_PLACEHOLDER.pattern}|\$\{{(?!KEYRING[:}}])(?P<variable>\w+)\}}"
)
# What stands in front of a placeholder without a name, in an argument or address.
_OLD_NAME: Final = re.compile(r"(?:^-{0,2}|[?&;])(?P<name>[^-=&;#?\s:][^=&;#?\s:]*)(?:=|:\s*)$")
_OLD_PASSWORD: Final = re.compile(r"://[^/?#\s:@]*:$")
_OPTION: Final = re.compile(r"-{1,2}(?P<name>[A-Za-z][\w.-]*)")
_NOT_IN_A_NAME: Final = re.compile(r"[^\w.-]+")
_FIELDS: Final = ("headers", "env")
_UNNAMED: Final = "argument"  # the name of a secret without a name in front of it
_AUTHORIZATION: Final = "Authorization"
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_WHOLE_VARIABLE: Final = re.compile(
    r"((?:-{0,2}[\w.-]+[=:]\s*){0,3}(?:(?i:bearer|basic|token)\s+)?)\$\{(?!KEYRING\})(\w+)\}"
)
_PARAMETER_VARIABLE: Final = re.compile(r"(?<==)\$\{(?!KEYRING\})(\w+)\}(?=[&;#]|$)")


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
            bare_query, secret = remove_parameters(value)
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
    """Return an MCP server with its secrets, and the names of missing ones and unset variables.

    Its command and address stay as they are shown. What is sent has the secrets.
    """
    missing: list[str] = []
    unset = tuple(dict.fromkeys(_list_unset(server)))

    def fill(field: str, text: str, names: Iterator[str]) -> str:
        def find(found: re.Match[str]) -> str:
            name = next(names)
            secret = _find_secret(_name_owner(server.name, field, name))
            if secret is None:
                missing.append(name or field)
            return secret or found[0]

        return _PLACEHOLDER.sub(find, text)

    tables: Mapping[str, Mapping[str, str]] = {name: getattr(server, name) for name in _FIELDS}
    filled = {
        field: {name: fill(field, value, repeat(name)) for name, value in table.items()}
        for field, table in tables.items()
    }
    names = iter(_list_names(server.args))
    return replace(
        server,
        headers=filled["headers"],
        env=filled["env"],
        secret_args=tuple(_fill_variable(fill("args", arg, names)) for arg in server.args),
        secret_url=_fill_parameters(fill("url", server.url, iter(_list_names([server.url])))),
        missing_secrets=tuple(dict.fromkeys(missing)),
        unset_variables=unset,
    )


def forget_server(server: McpServer) -> None:
    """Delete the secrets of a removed MCP server from the keyring, if it can be opened."""
    from app.config import secrets

    for field in _FIELDS:
        for name, value in getattr(server, field).items():
            owner = _name_owner(server.name, field, name)
            if value and (found := secrets.key_for(owner)) and found in value:
                secrets.save_key(owner, "")
    for field, texts in (("args", server.args), ("url", (server.url,))):
        for name in _list_names(texts):
            secrets.save_key(_name_owner(server.name, field, name), "")


def _list_unset(server: McpServer) -> Iterator[str]:
    """Yield the variables that a server needs and that the user's environment does not have.

    A variable of its own without a value is empty, unless its name says that it is a secret.
    """
    whole = (_WHOLE_VARIABLE.fullmatch(argument) for argument in server.args)
    names = [found[2] for found in whole if found]
    names += _PARAMETER_VARIABLE.findall(server.url)
    for values, is_needed in ((server.headers, True), (server.env, False)):
        for key, value in values.items():
            found = [name for name in _VARIABLE.findall(value) if name != "KEYRING"]
            names += found if is_needed or is_secret_name(key) else ()
    yield from (name for name in names if not os.environ.get(name))


def _fill_variable(argument: str) -> str:
    """Return an argument with the user's variable, if that is the whole value of the argument."""
    found = _WHOLE_VARIABLE.fullmatch(argument)
    return found[1] + os.environ.get(found[2], f"${{{found[2]}}}") if found else argument


def _fill_parameters(url: str) -> str:
    """Return an address with the user's variables in its parameters."""
    return _PARAMETER_VARIABLE.sub(lambda found: os.environ.get(found[1], found[0]), url)


def _find_secret(owner: str) -> str | None:
    from app.config import secrets  # loads the code of the models

    return secrets.key_for(owner)


def _name_owner(server: str, field: str, name: str) -> str:
    return f"mcp:{server}:{field}:{name}"


def _remove_credentials(address: str) -> str:
    bare, _ = remove_parameters(_remove_password(address))
    return bare


def _remove_password(address: str) -> str:
    if "@" not in address:
        return address
    from app.config import secrets

    return secrets.without_password(address)


def _clean_server(entry: Any) -> tuple[Any, dict[tuple[str, str], str]]:
    """Return an entry of `mcp.servers` without its secrets, and the secrets by field and name."""
    if not isinstance(entry, Mapping):
        return entry, {}
    found: dict[tuple[str, str], str] = {}
    cleaned = {key: _clean_field(key, value, found) for key, value in entry.items()}
    url = entry.get("url")
    if isinstance(url, str) and _remove_password(url) != url:
        headers = entry.get("headers")
        own = cleaned.get("headers") if isinstance(headers, Mapping) else {}
        cleaned["headers"] = {_AUTHORIZATION: KEPT, **(own or {})}
        found.setdefault(("headers", _AUTHORIZATION), url)
    return cleaned, found


def _clean_field(field: str, value: Any, found: dict[tuple[str, str], str]) -> Any:
    """Return a field of a server without its secrets, which are added to `found`."""
    if field in _FIELDS and isinstance(value, Mapping):
        return {name: _clean_named(field, str(name), each, found) for name, each in value.items()}
    if field == "args" and isinstance(value, list) and all(isinstance(arg, str) for arg in value):
        texts, spans = value, find_argument_secrets(value)
    elif field == "url" and isinstance(value, str):
        texts = [_remove_password(value)]
        spans = [find_value_secrets("", texts[0])]
    else:
        return value
    bare, secrets = _put_placeholders(texts, spans)
    found |= {(field, name): secret for name, secret in secrets.items()}
    return bare if field == "args" else bare[0]


def _clean_named(field: str, name: str, value: Any, found: dict[tuple[str, str], str]) -> Any:
    """Return the value of a header or variable without its secret.

    The secret is the whole value, or what stands beside the placeholders of other variables.
    """
    secrets = find_value_secrets(name, value) if isinstance(value, str) else []
    if not secrets:
        return value
    if _VARIABLE.search(value):
        start, end = secrets[0].start, secrets[-1].end
        start, end = (0, len(value)) if len(secrets) > 1 else (start, end)
    else:
        start, end = 0, len(value)
    found[field, name] = value[start:end]
    return value[:start] + KEPT + value[end:]


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


def _find_way_out(key: str, bare: object) -> Fix:
    if key == _SERVERS:
        return Fix("Set a variable of your environment, and name it in the setting as ${NAME}.")
    enter = Command("keys set")
    return Fix("Set {} to {}, and enter the key for it with {}.", Setting(key), str(bare), enter)


def _put_placeholders(
    texts: Sequence[str], found: Sequence[Sequence[Secret]]
) -> tuple[list[str], dict[str, str]]:
    """Return texts with placeholders in place of their secrets, and the secrets by name.

    Args:
        texts: the texts, in which older placeholders keep their names.
        found: the secrets in each of them.
    """
    taken = set(_list_names(texts))
    secrets: dict[str, str] = {}

    def put(text: str, secret: Secret) -> str:
        name = _choose_name(secret.name, taken)
        taken.add(name)
        secrets[name] = text[secret.start : secret.end]
        return f"${{KEYRING:{name}}}"

    bare = [
        replace_secrets(text, each, partial(put, text))
        for text, each in zip(texts, found, strict=True)
    ]
    return bare, secrets


def _list_names(texts: Sequence[str]) -> list[str]:
    """Return the names of the placeholders in texts.

    One without a name is named after its place. The second of a name is `NAME#2`, and so on.
    """
    names: list[str] = []
    counts = Counter[str]()
    for before, text in zip(["", *texts], texts, strict=False):
        for found in _ANY_VARIABLE.finditer(text):
            name = found["name"] or _name_place(before, text[: found.start()])
            if found["variable"]:  # older settings counted it, too, where a secret belongs
                counts[name] += name not in ("", _UNNAMED)
                continue
            counts[name] += not found["name"]
            if not found["name"] and counts[name] > 1:
                name = f"{name}#{counts[name]}"
            names.append(name)
    return names


def _name_place(before: str, start: str) -> str:
    """Return the name of a secret by its place, or "" if no secret belongs there.

    Args:
        before: the argument before it.
        start: the text before it in its own argument.
    """
    if named := _OLD_NAME.search(start):
        return named["name"]
    if start:
        return "password" if _OLD_PASSWORD.search(start) else ""
    option = _OPTION.fullmatch(before)
    is_named = option and (is_secret_name(option["name"]) or option["name"].endswith("key"))
    return option["name"] if option and is_named else _UNNAMED


def _choose_name(name: str, taken: set[str]) -> str:
    name = _NOT_IN_A_NAME.sub("-", name) or "secret"
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(each for each in names if each not in taken)
