"""Decide which web addresses may be fetched.

A page or model may name any address, including this computer, the local network or a cloud's
metadata service. Therefore, only public Internet addresses are fetched. Hosts are resolved once,
and the connection is made to the same IP addresses that were checked, since a second lookup could
return others.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from chains.errors import FetchFailed

if TYPE_CHECKING:
    import httpx

__all__ = [
    "IPAddress",
    "IPRule",
    "find_addresses",
    "find_named_hosts",
    "is_public",
    "is_same_host",
    "parse_url",
    "require_allowed",
]

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
# Returns whether a connection to an IP address is allowed.
IPRule = Callable[[IPAddress], bool]

MAX_URL_CHARS: Final = 4_000
MAX_ADDRESSES: Final = 3
MAX_PORT: Final = 65_535
# A user name and password, which no message repeats.
_USER_INFO: Final = re.compile(r"//[^/?#]*@")
_SCHEMES: Final = ("http", "https")
# Up to the end of the host. What precedes an `@` belongs to it: such an address is refused.
_NAMED: Final = re.compile(
    r"""(?i)(?:\bhttps?://|(?<![\w.@/-])www\.)[^\s/?#!"'<>()\[\]{}|\\,;`*“”’»、，；！？）」』]+"""
)
# IPv6 networks whose addresses contain an IPv4 address, in their last 32 bits.
_TRANSLATED: Final = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
_LOCAL_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b:1::/48")
_PROTOCOLS: Final = ipaddress.IPv4Network("192.0.0.0/24")  # one cloud has its metadata there


def parse_url(address: str, base: "httpx.URL | None" = None) -> "httpx.URL":
    """Parse a web address, without its fragment.

    Args:
        address: the address, which may be relative to `base`.
        base: the address of the page that redirects to this one, or None.

    Raises:
        FetchFailed: the address is not a web page, or contains credentials.
    """
    import httpx

    shown = _USER_INFO.sub("//", address)[:200]
    if len(address) > MAX_URL_CHARS:
        raise FetchFailed(f"The address {shown}… is longer than {MAX_URL_CHARS:,} characters.")
    try:
        url = httpx.URL(address.strip()) if base is None else base.join(address.strip())
        url = url.copy_with(fragment=None)
        host = url.host  # which decodes an international name
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise FetchFailed(f"{shown} is not a web address.") from error
    if url.scheme not in _SCHEMES or not host or (url.port or 0) > MAX_PORT:
        raise FetchFailed(f"{shown} is not a web address that begins with http:// or https://.")
    if url.userinfo:
        raise FetchFailed(
            f"The address of {url.host} contains a user name or password. Name it without them."
        )
    return url


def find_named_hosts(text: str) -> frozenset[str]:
    """Return the hosts of the web addresses in a text, each with and without a leading `www.`.

    A name without `http://`, `https://` or `www.` is no address, since many files are called like
    hosts, such as `note.md`.
    """
    hosts: set[str] = set()
    for match in _NAMED.finditer(text):
        address = match.group()
        with suppress(FetchFailed):
            url = parse_url(address if "://" in address else f"https://{address}")
            host = url.raw_host.decode("ascii").rstrip(".").removeprefix("www.")
            hosts |= {host, f"www.{host}"}
    return frozenset(hosts)


def is_same_host(first: "httpx.URL", second: "httpx.URL") -> bool:
    """Return whether two addresses have the same host, ignoring a leading `www.`."""
    return _strip_www(first.host) == _strip_www(second.host)


def is_public(ip: IPAddress) -> bool:
    """Return whether an IP address is public.

    IPv4 addresses embedded in IPv6 addresses are treated as IPv4.
    """
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.teredo is not None or ip.is_site_local or ip in _LOCAL_TRANSLATED:
            return False
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is None and any(ip in network for network in _TRANSLATED):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
    elif ip in _PROTOCOLS:
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


async def find_addresses(url: "httpx.URL", is_allowed: IPRule) -> tuple[IPAddress, ...]:
    """Resolve the host of an address.

    Raises:
        FetchFailed: there is no such host, or one of its IP addresses is not allowed.
    """
    import asyncio  # only fetching a page needs it

    port = url.port or (443 if url.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
        ips = [ipaddress.ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
    except (OSError, UnicodeError, ValueError) as error:
        raise FetchFailed(f"There is no host {url.host}, or no network.") from error
    require_allowed(url.host, ips, is_allowed)
    return tuple(dict.fromkeys(ips))[:MAX_ADDRESSES]


def require_allowed(host: str, ips: Iterable[IPAddress], is_allowed: IPRule) -> None:
    """Check the IP addresses of a host.

    Raises:
        FetchFailed: one of the IP addresses is not allowed.
    """
    for ip in ips:
        if not is_allowed(ip):
            found = "" if host == str(ip) else f" ({ip})"
            raise FetchFailed(
                f"{host} is an address of this computer or of a private network{found}. "
                "Only pages in the public Internet are fetched."
            )


def _strip_www(host: str) -> str:
    return host.lower().rstrip(".").removeprefix("www.")
