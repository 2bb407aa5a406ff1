"""Keys of model services: in the system's keyring or the environment, and nowhere else."""

import logging
import os
from collections.abc import Mapping

from app.errors import NoKeyring
from app.log import hide

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


def key_for(provider: str) -> str | None:
    """Return a provider's key: what was entered in Strata, else the environment's."""
    key = _from_keyring(provider) or next(
        (value for name in variables_for(provider) if (value := os.environ.get(name))), None
    )
    if key is not None:
        hide(key)
    return key


def save_key(provider: str, key: str) -> None:
    """Put a provider's key into the keyring; an empty one takes it out.

    Raises:
        NoKeyring: the system has none, or it is locked.
    """
    import keyring
    from keyring.errors import KeyringError

    hide(key)
    try:
        if key:
            keyring.set_password(_SERVICE, provider, key)
        elif keyring.get_password(_SERVICE, provider) is not None:
            keyring.delete_password(_SERVICE, provider)
        is_kept = (keyring.get_password(_SERVICE, provider) or "") == key
    except KeyringError as error:
        raise _no_keyring(provider) from error
    if not is_kept:  # where keyrings are switched off, saving looks as if it had worked
        raise _no_keyring(provider)


def keyring_name() -> str | None:
    """Return what keeps the keys on this system; None where nothing does."""
    import keyring

    backend = keyring.get_keyring()
    return backend.name if backend.priority > 0 else None


def _from_keyring(provider: str) -> str | None:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_SERVICE, provider)
    except KeyringError as error:
        _log.debug("No key of %s from a keyring: %s", provider, error)
        return None


def _no_keyring(provider: str) -> NoKeyring:
    return NoKeyring(
        "This system has no keyring that is open, so the key was not saved.",
        hint=f"Set {variables_for(provider)[0]} in the environment instead.",
    )
