"""The one allow-list for addresses in rendered text; nothing behind them is ever fetched.

A model or a note may write any address. What is not on the list stays plain text.
"""

import re
from urllib.parse import unquote, urlsplit

__all__ = ["NOTE", "allowed_link", "parse_host"]

NOTE = "note:"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_UNSAFE = re.compile(r"[\x00-\x20\x7f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# One address, and at most a subject: other fields could add receivers, a text or an attachment.
_MAIL = re.compile(r"(?i)mailto:[^@?&,;:#%\\/]+@[^@?&,;:#%\\/]+(?:\?subject=(?P<subject>[^&#]*))?")


def allowed_link(address: str) -> str:
    """Return the address a click may report, or an empty string where there is none.

    Args:
        address: as written in Markdown; without a scheme it names a note.

    Returns:
        `http:` and `https:` addresses without user and password, `mailto:` addresses with at most a
        subject, and notes as `note:path#heading`.
    """
    if _UNSAFE.search(address) or address.startswith(("//", "\\")):
        return ""
    scheme = _SCHEME.match(address)
    if scheme is None:
        return NOTE + unquote(address) if address else ""
    return address if _is_plain_web(address) or _is_plain_mail(address) else ""


def parse_host(address: str) -> str:
    """Return the host of a web address, or an empty string where it names none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return parts.hostname or "" if parts.scheme in {"http", "https"} else ""


def _is_plain_web(address: str) -> bool:
    """Tell whether a web address shows where it leads: before an `@`, it may name another host."""
    if "\\" in address or not parse_host(address):  # a browser takes a backslash for a slash
        return False
    host = urlsplit(address).netloc
    return "@" not in host and "%" not in host


def _is_plain_mail(address: str) -> bool:
    """Tell whether a mail address has one receiver and no field but a subject of one line."""
    found = _MAIL.fullmatch(address)
    return found is not None and not _CONTROL.search(unquote(found["subject"] or ""))
