"""Extract the text of a fetched page. HTML and PDF are parsed in a child process."""

import codecs
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote, urlsplit

from chains.cancel import CancelToken
from chains.errors import FetchFailed
from chains.web.client import WebResponse
from vault.errors import NoteUnreadable
from vault.notes.note import parse_note

__all__ = ["WebPage", "read_page"]

MAX_TEXT_BYTES: Final = 5_000_000
_SUFFIXES: Final = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
}
_TEXT_TYPES: Final = frozenset(
    {
        "application/json",
        "application/ld+json",
        "application/javascript",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
    }
)
# Encodings that no page uses, and whose decoders are slow or run on other rules than text.
_REFUSED_CHARSETS: Final = frozenset(
    {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf-7", "undefined"}
)
# A page without a type, as browsers guess it from the first bytes.
_UNTYPED: Final = frozenset({"", "application/octet-stream", "application/unknown"})


@dataclass(frozen=True)
class WebPage:
    """The text of a web page.

    Attributes:
        url: the final address after redirects.
        version: a hash of the page's bytes.
    """

    url: str
    title: str
    text: str
    version: str


def read_page(response: WebResponse, cancel: CancelToken) -> WebPage:
    """Extract the title and text of a fetched page.

    Raises:
        FetchFailed: the page is not text, or cannot be read.
        Cancelled: the token was cancelled.
    """
    suffix = _choose_suffix(response)
    data = response.body if suffix == ".pdf" else _decode(response)
    if suffix != ".pdf" and len(data) > MAX_TEXT_BYTES:
        raise FetchFailed(
            f"{response.url} is larger than {MAX_TEXT_BYTES // 1_000_000} MB, which is more than "
            "is read of a web page."
        )
    try:
        note, _ = parse_note(f"page{suffix}", data, on_wait=cancel.raise_if_cancelled)
    except NoteUnreadable as error:
        raise FetchFailed(f"{response.url} cannot be read: {error.reason}.") from error
    if not note.text.strip():
        raise FetchFailed(f"{response.url} contains no text without running its scripts.")
    title = " ".join(note.title.split()) if note.title != "page" else ""
    page = WebPage(response.url, title[:200], note.text, note.version)
    return page if page.title else replace(page, title=_name_page(response.url))


def _choose_suffix(response: WebResponse) -> str:
    kind = response.content_type
    start = response.body[:1024].lstrip().lower()
    if kind in _UNTYPED:
        if start.startswith(b"%pdf-"):
            return ".pdf"
        if start.startswith((b"<!doctype html", b"<html")):
            return ".html"
        kind = kind or "text/plain"
    if kind in _SUFFIXES:
        return _SUFFIXES[kind]
    is_text = kind.startswith("text/") or kind in _TEXT_TYPES or kind.endswith(("+json", "+xml"))
    if not is_text:
        raise FetchFailed(f"{response.url} is not a page with text, but {kind[:80]}.")
    return ".txt"


def _decode(response: WebResponse) -> bytes:
    """Convert the body to UTF-8, or return it unchanged if the declared encoding is wrong."""
    try:
        name = codecs.lookup(response.charset).name
        if name in _REFUSED_CHARSETS:
            return response.body
        return response.body.decode(name).encode("utf-8", "replace")
    except (LookupError, ValueError, TypeError):
        return response.body


def _name_page(url: str) -> str:
    """Return the last segment of an address's path, or its host if the path is empty."""
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
