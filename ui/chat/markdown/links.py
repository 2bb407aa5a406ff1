"""The one allow-list for addresses in rendered text; nothing behind them is ever fetched.

A model or a note may write any address. What is not on the list stays plain text.
"""

import re
from urllib.parse import unquote, urlsplit

__all__ = ["NOTE", "allowed_link", "host_of"]

NOTE = "note:"
_WEB = {"http", "https", "mailto"}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_UNSAFE = re.compile(r"[\x00-\x20\x7f]")


def allowed_link(address: str) -> str:
    """Return the address a click may report, or an empty string where there is none.

    Args:
        address: as written in Markdown; without a scheme it names a note.

    Returns:
        `http:`, `https:` and `mailto:` addresses as they are, notes as `note:path#heading`.
    """
    if _UNSAFE.search(address) or address.startswith(("//", "\\")):
        return ""
    scheme = _SCHEME.match(address)
    if scheme is None:
        return NOTE + unquote(address) if address else ""
    if scheme.group()[:-1].lower() not in _WEB:
        return ""
    return address if host_of(address) or address.lower().startswith("mailto:") else ""


def host_of(address: str) -> str:
    """Return the host of a web address, or an empty string where it names none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return parts.hostname or "" if parts.scheme in {"http", "https"} else ""
