"""Which web addresses may be fetched, and to which IP addresses a connection may be made."""

import asyncio
import ipaddress

import httpx
import pytest

from chains.errors import FetchFailed
from chains.web.urls import find_addresses, is_public, is_same_host, parse_url
from tests.support.servers.web_server import allow_loopback


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.1",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",  # metadata of most clouds
        "100.100.100.200",  # metadata of another one, in shared address space
        "100.64.0.1",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "::",
        "::1",
        "fe80::1",
        "fec0::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::",
        "2002:c0a8:101::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
    ],
)
def test_an_address_outside_the_public_internet_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::6810:84e5"])
def test_an_address_in_the_public_internet_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "javascript:alert(1)",
        "data:text/html,hello",
        "gopher://example.org/",
        "example.org",
        "http://",
        "http:///path",
        "https://user:password@example.org/",
        "http://[::1/",
        "http://example.org:99999/",
        f"http://example.org/{'a' * 5_000}",
        "",
    ],
)
def test_what_is_no_web_address_is_refused(address: str) -> None:
    with pytest.raises(FetchFailed):
        parse_url(address)


def test_a_fragment_is_not_sent_and_a_redirect_may_be_relative() -> None:
    base = parse_url("https://Example.org/a/b?q=1#part")
    assert str(base) == "https://example.org/a/b?q=1"
    assert str(parse_url("../c", base)) == "https://example.org/c"
    assert str(parse_url("//other.org/x", base)) == "https://other.org/x"
    with pytest.raises(FetchFailed):
        parse_url("file:///etc/passwd", base)


def test_www_is_the_same_host_and_a_suffix_is_not() -> None:
    def is_same(first: str, second: str) -> bool:
        return is_same_host(httpx.URL(first), httpx.URL(second))

    assert is_same("http://www.example.org/", "https://example.org/x")
    assert not is_same("https://example.org/", "https://example.org.evil.net/")
    assert not is_same("https://example.org/", "https://sub.example.org/")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "127.1", "0177.0.0.1", "[::1]"],
)
def test_every_way_to_write_this_computer_is_refused(host: str) -> None:
    with pytest.raises(FetchFailed, match=r"this computer|no host|not a web address"):
        asyncio.run(find_addresses(parse_url(f"http://{host}:8080/"), is_public))


def test_the_addresses_of_a_host_are_those_that_were_checked() -> None:
    url = httpx.URL("http://127.0.0.1:8080/")
    found = asyncio.run(find_addresses(url, allow_loopback))
    assert found == (ipaddress.ip_address("127.0.0.1"),)
