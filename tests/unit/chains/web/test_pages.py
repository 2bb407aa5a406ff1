"""The title and text of a fetched page, by its type and encoding."""

import pytest

from chains.cancel import CancelToken
from chains.errors import Cancelled, FetchFailed
from chains.web.client import WebResponse
from chains.web.pages import MAX_TEXT_BYTES, read_page
from tests.support.vaults.documents import pdf

URL = "https://example.org/docs/guide.html"


def read(body: bytes, content_type: str = "text/html", charset: str = "") -> tuple[str, str]:
    page = read_page(WebResponse(URL, content_type, charset, body), CancelToken())
    assert page.url == URL
    return page.title, page.text


def test_a_page_has_a_title_and_text_without_scripts() -> None:
    title, text = read(
        b"<title> A  guide </title><h1>Start</h1><script>steal()</script><p>Read &amp; see."
    )
    assert title == "A guide"
    assert "# Start" in text
    assert "Read & see." in text
    assert "steal" not in text


def test_a_pdf_and_plain_text_are_read_too() -> None:
    title, text = read(pdf(["Oak leaves"], title="Trees"), "application/pdf")
    assert "Oak leaves" in text
    assert title in ("Trees", "guide.html")
    assert read(b'{"a": 1}', "application/json") == ("guide.html", '{"a": 1}')
    assert read(b"# Not <b>HTML</b>", "text/markdown")[1] == "# Not <b>HTML</b>"


def test_a_type_that_is_absent_is_guessed_from_the_content() -> None:
    assert read(b"\n<!DOCTYPE html><title>T</title><p>x", "")[0] == "T"
    assert "Oak" in read(pdf(["Oak"]), "application/octet-stream")[1]
    assert read(b"plain", "")[1] == "plain"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>Straße".encode("latin-1"), "iso-8859-1"),
        ("<p>Straße".encode(), "utf-8"),
        ("<p>Straße".encode("cp1252"), "utf-8"),  # the header is wrong
        ("<p>Straße".encode(), "no-such-encoding"),
        ("<p>Straße".encode(), "punycode"),
        ("<p>Straße".encode(), "base64"),
        ("<meta charset=latin-1><p>Straße".encode("latin-1"), ""),
        ("<meta charset=latin-1><p>Straße".encode(), "utf-8"),
    ],
)
def test_text_is_decoded_although_its_encoding_is_wrong_or_absent(
    body: bytes, charset: str
) -> None:
    assert "Straße" in read(body, charset=charset)[1]


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        (b"\x89PNG", "image/png", "not a page with text, but image/png"),
        (bytes(range(256)) * 40, "application/octet-stream", "not a page with text"),
        (b"\x00\x01\x02\xff" * 100, "text/html", "cannot be read|no text"),
        (b"<script>render()</script>", "text/html", "no text without running"),
        (b"", "text/html", "no text without running"),
        (b"no pdf", "application/pdf", "cannot be read"),
        (b"x" * (MAX_TEXT_BYTES + 1), "text/plain", "larger than 5 MB"),
    ],
)
def test_what_is_no_text_is_refused(body: bytes, content_type: str, said: str) -> None:
    with pytest.raises(FetchFailed, match=said):
        read(body, content_type)


def test_a_cancel_ends_the_reading() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        read_page(WebResponse(URL, "text/html", "", b"<p>x" * 100_000), cancel)
