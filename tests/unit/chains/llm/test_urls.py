"""Addresses of servers, as people paste them, and their queries."""

import httpx
import pytest

from chains.llm.urls import clean_api_base, split_query


@pytest.mark.parametrize(
    "address",
    ["http://embeddings", "http://completions/", "http://responses:80", "http://[::1]/v1"],
)
def test_a_host_with_the_name_of_a_page_stays(address: str) -> None:
    assert clean_api_base(address) == address


def test_the_page_of_an_endpoint_is_left_out() -> None:
    assert clean_api_base("http://u:p@[::1]:8080/v1/chat/completions/?a=1#x") == (
        "http://u:p@[::1]:8080/v1?a=1"
    )


@pytest.mark.parametrize("query", ["name=ü b", "a=%20&b=[c]", "a=\t"])
def test_a_query_can_be_sent(query: str) -> None:
    _, written = split_query(f"http://server.example/v1?{query}")
    assert split_query(f"?{written}") == ("", written)
    url = httpx.URL("http://server.example/v1").copy_with(query=written.encode())
    assert url.query == written.encode()
