"""Store API keys in the keyring, and read them from the keyring or environment.

Without a keyring, a key can be held in memory until the program ends.
"""

import logging
import os
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit, urlunsplit

from app.errors import InvalidRequest, NoKeyring
from app.secret_text import hide
from chains.llm.urls import is_loopback, parse_host, parse_origin
from chains.providers import name_service
from context.fixes import Command, Fix

_log = logging.getLogger(__name__)
# The keys that are held until the program ends, by owner.
_held: dict[str, str] = {}
_SERVICE = "strata"
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
}


def list_variables(provider: str) -> tuple[str, ...]:
    """Return the environment variables that may contain a provider's API key."""
    return _VARIABLES.get(provider, (f"{provider.upper().replace('-', '_')}_API_KEY",))


def name_key(owner: str) -> str:
    """Return a display name for an API key, such as `OpenAI key`."""
    return f"Key for {owner}" if "://" in owner else f"{name_service(owner)} key"


def key_for(owner: str) -> str | None:
    """Return an API key that is held, or from the keyring or environment, or None.

    Args:
        owner: a provider, or an address such as https://HOST:8000. For an address, the environment
            is not searched, because its keys belong to the providers.
    """
    key = _held.get(owner) or _from_keyring(owner) or _from_environment(owner)
    if key is not None:
        hide(key)
    return key


def find_key(owner: str) -> str | None:
    """Return where an API key is: "memory", "keyring" or "environment". None: there is none."""
    if owner in _held:
        return "memory"
    if _from_keyring(owner):
        return "keyring"
    return "environment" if _from_environment(owner) else None


def is_address(owner: str) -> bool:
    """Return whether a key's owner is an address rather than a provider."""
    return "://" in owner


def is_readable_on_the_way(owner: str) -> bool:
    """Return whether an API key would be sent to another computer unencrypted."""
    return owner.startswith("http://") and not is_loopback(parse_host(owner))


def require_private_way(owner: str) -> None:
    """Raise `InvalidRequest` if the API key would be sent to another computer unencrypted.

    Raises:
        InvalidRequest: the key would be sent unencrypted.
    """
    if is_readable_on_the_way(owner):
        raise InvalidRequest(
            f"A key for {owner} would go over the network unencrypted, so it was not saved.",
            hint=Fix(
                "Use an https address, or agree with {}.",
                Command("keys set", (owner, "--plain-http")),
            ),
        )


def save_key(owner: str, key: str, *, allows_plain_http: bool = False) -> None:
    """Store an API key in the keyring. An empty key deletes the stored one.

    Args:
        owner: a provider or an address.
        key: the API key.
        allows_plain_http: whether the user agreed to send the key unencrypted.

    Raises:
        NoKeyring: there is no keyring, or it is locked.
        InvalidRequest: the key would be sent unencrypted without the user's consent.
    """
    import keyring
    from keyring.errors import KeyringError

    hide(key)
    if key and not allows_plain_http:
        require_private_way(owner)
    try:
        if key:
            keyring.set_password(_SERVICE, owner, key)
        elif keyring.get_password(_SERVICE, owner) is not None:
            keyring.delete_password(_SERVICE, owner)
        is_kept = (keyring.get_password(_SERVICE, owner) or "") == key
    except KeyringError as error:
        raise _no_keyring(owner) from error
    if not is_kept:  # if keyrings are disabled, saving appears to succeed
        raise _no_keyring(owner)


def keep_key(owner: str, key: str, *, allows_plain_http: bool = False) -> None:
    """Store an API key in the keyring, or hold it until the program ends if there is no keyring.

    The parameters are those of `save_key`.

    Raises:
        InvalidRequest: the key would be sent unencrypted without the user's consent.
    """
    _held.pop(owner, None)
    try:
        save_key(owner, key, allows_plain_http=allows_plain_http)
    except NoKeyring:
        if key:
            _held[owner] = key


def move_password(address: str) -> str:
    """Move the credentials in an address to the keyring, and return the address without them.

    Raises:
        NoKeyring: there is no keyring, or it is locked.
        InvalidRequest: the password would be sent unencrypted.
    """
    bare = without_password(address)
    if bare == address:
        return address
    save_key(parse_origin(bare), build_basic_key(address))
    return bare


def build_basic_key(address: str) -> str:
    """Build the `Basic …` value of an `Authorization` header from the credentials in an address.

    The password is hidden in all later log messages.
    """
    parts = urlsplit(address)
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    if parts.password:
        hide(unquote(parts.password))
    return f"Basic {b64encode(pair.encode()).decode()}"


def without_password(address: str) -> str:
    """Remove the user name and password from an address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    if "@" not in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def find_keyring() -> str | None:
    """Return the name of the keyring backend, or None."""
    import keyring

    backend = keyring.get_keyring()
    return backend.name if backend.priority > 0 else None


def _from_environment(owner: str) -> str | None:
    names = () if is_address(owner) else list_variables(owner)
    return next((value for name in names if (value := os.environ.get(name))), None)


def _from_keyring(owner: str) -> str | None:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_SERVICE, owner)
    except KeyringError as error:
        _log.debug("No key of %s from a keyring: %s", owner, error)
        return None


def _no_keyring(owner: str) -> NoKeyring:
    hint = "Open the system's keyring, and try again."
    if not is_address(owner):
        hint = f"Set {list_variables(owner)[0]} in the environment instead."
    return NoKeyring(
        "This system has no keyring that is open, so the key was not saved.", hint=hint
    )
