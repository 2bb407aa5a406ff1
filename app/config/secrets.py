"""Keys of model services: in the system's keyring or the environment, and nowhere else."""

import logging
import os
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit, urlunsplit

from app.errors import InvalidRequest, NoKeyring
from app.log import hide
from chains.llm.http import is_loopback, parse_host, parse_origin

_log = logging.getLogger(__name__)
_SERVICE = "strata"
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
}


def variables_for(provider: str) -> tuple[str, ...]:
    """Return the environment variables in which a provider's key usually is."""
    return _VARIABLES.get(provider, (f"{provider.upper().replace('-', '_')}_API_KEY",))


def key_for(owner: str) -> str | None:
    """Return the key from the keyring, else the one from the environment.

    Args:
        owner: a provider or an address such as https://HOST:8000. The key for an address is what
            was entered for it: the environment's keys belong to the services' own hosts.
    """
    key = _from_keyring(owner) or _from_environment(owner)
    if key is not None:
        hide(key)
    return key


def find_key(owner: str) -> str | None:
    """Return where a key comes from: "keyring", "environment", or None where there is none."""
    if _from_keyring(owner):
        return "keyring"
    return "environment" if _from_environment(owner) else None


def is_address(owner: str) -> bool:
    """Return whether a key is for an address, not for a provider."""
    return "://" in owner


def is_readable_on_the_way(owner: str) -> bool:
    """Return whether a key would go to another computer without encryption."""
    return owner.startswith("http://") and not is_loopback(parse_host(owner))


def require_private_way(owner: str) -> None:
    """Raise an error where a key would go to another computer without encryption.

    Raises:
        InvalidRequest: it would.
    """
    if is_readable_on_the_way(owner):
        raise InvalidRequest(
            f"A key for {owner} would go over the network unencrypted, so it was not saved.",
            hint=f"Use an https address, or agree with `strata keys set {owner} --plain-http`.",
        )


def save_key(owner: str, key: str, *, allows_plain_http: bool = False) -> None:
    """Put a key into the keyring; an empty one takes it out.

    Args:
        owner: a provider or an address.
        key: the key.
        allows_plain_http: the user agreed that it goes to this address without encryption.

    Raises:
        NoKeyring: the system has none, or it is locked.
        InvalidRequest: it would go out without encryption, and nobody agreed to that.
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
    if not is_kept:  # where keyrings are switched off, saving looks as if it had worked
        raise _no_keyring(owner)


def move_password(address: str) -> str:
    """Put the name and password of an address into the keyring; return the address without them.

    Raises:
        NoKeyring: the system has none, or it is locked.
        InvalidRequest: they would go out without encryption, and nobody agreed to that.
    """
    bare = without_password(address)
    if bare == address:
        return address
    parts = urlsplit(address)
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    key = f"Basic {b64encode(pair.encode()).decode()}"
    if parts.password:
        hide(unquote(parts.password))
    save_key(parse_origin(bare), key)
    return bare


def without_password(address: str) -> str:
    """Return an address without a name and a password."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    if "@" not in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def find_keyring() -> str | None:
    """Return what keeps the keys on this system; None where nothing does."""
    import keyring

    backend = keyring.get_keyring()
    return backend.name if backend.priority > 0 else None


def _from_environment(owner: str) -> str | None:
    names = () if is_address(owner) else variables_for(owner)
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
        hint = f"Set {variables_for(owner)[0]} in the environment instead."
    return NoKeyring(
        "This system has no keyring that is open, so the key was not saved.", hint=hint
    )
