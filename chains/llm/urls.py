"""Parse and complete the addresses of model servers.

Addresses come from the settings, from the user and from redirects, so none of these functions
raises an exception for an invalid one.
"""

import ipaddress
import re
from typing import Final
from urllib.parse import quote, urlsplit

__all__ = [
    "clean_api_base",
    "complete_address",
    "find_ollama_root",
    "is_loopback",
    "is_nearby",
    "parse_host",
    "parse_origin",
    "parse_place",
    "split_query",
]

# The page of an endpoint at the end of an address that was copied from an example. A host may have
# such a name too.
_PAGE: Final = re.compile(
    r"(?:(?<!:/)/(?:chat/completions|completions|responses|embeddings)|(?<=/v1)/models)/*\Z"
)
# The signs of a query that are sent as they are. "%" begins one that is written out already.
_SENT_AS_IS: Final = "%/:?@!$&'()*+,;=[]{}|"


def parse_host(address: str) -> str:
    """Return the lower-case host of an address, or "" if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def parse_origin(address: str) -> str:
    """Return the scheme, host and port of an address, or "" if there is no host."""
    host = parse_host(address)
    if not host:
        return ""
    parts = urlsplit(address)
    shown = f"[{host}]" if ":" in host else host
    try:
        port = parts.port
    except ValueError:
        return ""
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, usual) else "")


def parse_place(address: str) -> str:
    """Return the host and port of an address, without credentials, or "" if it has no host."""
    return urlsplit(address).netloc.rpartition("@")[2] if parse_host(address) else ""


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback or unspecified address."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        return False
    return number.is_loopback or number.is_unspecified


def complete_address(typed: str) -> str:
    """Return a server's address with a scheme, which is added if it is missing.

    The scheme is `http` for computers in the local network, because they rarely have certificates,
    and `https` for all others.
    """
    address = typed.strip()
    if not address or "://" in address:
        return address
    host = parse_host(f"http://{address}")
    return f"{'http' if is_nearby(host) else 'https'}://{address}"


def is_nearby(host: str) -> bool:
    """Return whether a host is this computer or another one in the local network."""
    if is_loopback(host) or host.endswith(".local") or not any(sign in host for sign in ".:"):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def clean_api_base(address: str) -> str:
    """Return the base address of an API, without the page of an endpoint or a fragment.

    A query, such as `?api-version=1`, stays: it belongs to each request.
    """
    base, query = split_query(address)
    return _PAGE.sub("", base) + (f"?{query}" if query else "")


def split_query(address: str) -> tuple[str, str]:
    """Return an address without its query and fragment, and the query, as it can be sent."""
    base, _, query = address.partition("#")[0].partition("?")
    return base, quote(query, safe=_SENT_AS_IS)


def find_ollama_root(api_base: str) -> str:
    """Return the base address of an Ollama server, without the path of the API."""
    base, _ = split_query(api_base)
    return base.rstrip("/").removesuffix("/v1").removesuffix("/api").rstrip("/")
