"""The user name and password of an address are in no error, whatever else is wrong with it."""

import pytest

from chains.errors import FetchFailed
from chains.web.urls import parse_url

ADDRESSES = [
    "https://me:hushhush@host.invalid/x",
    "https://me:hushhush@host.invalid:99999/x",
    "https://me:hushhush@",
    "https://me:hushhush@[half/x",
    "ftp://me:hushhush@host.invalid/x",
    "//me:hushhush@host.invalid",
    "https://me:hush hush@host.invalid/" + "x" * 5_000,
    "https://:hushhush@host.invalid/?q=a@b",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_error_names_them(address: str) -> None:
    with pytest.raises(FetchFailed) as error:
        parse_url(address)
    assert "hush" not in str(error.value)
