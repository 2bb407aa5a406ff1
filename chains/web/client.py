"""Fetch web pages over HTTP, with checked addresses and limits on size and time.

Redirects are checked like the first address. The connection is made to the checked IP address, with
the host name in the request and in TLS. Compression is not accepted, since a compressed page could
expand without limit. No cookies, keys or referrers are sent.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from chains.cancel import CancelToken
from chains.errors import FetchFailed
from chains.ledger import LedgerPort, OutgoingCall
from chains.web.urls import (
    IPRule,
    find_addresses,
    is_public,
    is_same_host,
    parse_url,
    require_allowed,
)

if TYPE_CHECKING:
    import httpx

    from chains.web.urls import IPAddress

__all__ = ["RedirectedElsewhere", "WebClient", "WebResponse"]

MAX_BYTES: Final = 20_000_000
MAX_REDIRECTS: Final = 5
STEP_S: Final = 10.0
WHOLE_S: Final = 40.0
_HEADERS: Final = {
    "User-Agent": "Mozilla/5.0 (compatible; Strata)",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "identity",
}


class RedirectedElsewhere(FetchFailed):
    """A redirect to another host was not followed, because that host was not approved."""

    def __init__(self, source: "httpx.URL", target: "httpx.URL") -> None:
        super().__init__(
            f"{source} redirects to another host: {target}. It was not followed; "
            "fetch that address if it is the right one."
        )


@dataclass(frozen=True)
class WebResponse:
    """A web page's body and the headers that describe it.

    Attributes:
        url: the final address after redirects.
        content_type: the lower-case media type, such as `text/html`, or an empty string.
        charset: the encoding, or an empty string.
    """

    url: str
    content_type: str
    charset: str
    body: bytes


class WebClient:
    """Fetches web pages.

    Attributes:
        is_offline: returns whether the setting `privacy.offline` is on, so that nothing may be
            fetched.
    """

    def __init__(
        self, is_offline: Callable[[], bool], ledger: LedgerPort, is_allowed: IPRule = is_public
    ) -> None:
        """Create the client without fetching anything.

        Args:
            is_offline: returns whether nothing may be fetched.
            ledger: records each request before it is made.
            is_allowed: returns whether connecting to an IP address is allowed.
        """
        self.is_offline = is_offline
        self._ledger = ledger
        self._is_allowed = is_allowed

    def fetch(
        self,
        address: str,
        cancel: CancelToken,
        *,
        stays_on_host: bool = False,
        timeout_s: float = WHOLE_S,
        content: bytes | None = None,
    ) -> WebResponse:
        """Fetch the page at an address.

        Args:
            address: an address that begins with http:// or https://.
            cancel: the token that ends the call and closes the connection.
            stays_on_host: whether to refuse redirects to other hosts, and from https to http.
            timeout_s: the time limit, including all redirects.
            content: JSON to send in a POST request, or None to send a GET request. It is not sent
                again after a redirect.

        Raises:
            FetchFailed: the address is not allowed, or the page cannot be fetched.
            LedgerFailed: a request could not be recorded, so it was not made.
            RedirectedElsewhere: the page redirects to another host, and `stays_on_host` is true.
            Cancelled: the token was cancelled.
        """
        from chains.event_loop import get_event_loop

        url = self.check_address(address)
        try:
            loop = get_event_loop()
            return loop.run(lambda: self._follow(url, stays_on_host, content), cancel, timeout_s)
        except TimeoutError as error:
            raise FetchFailed(f"{url.host} took longer than {timeout_s:.0f} s.") from error

    def check_address(self, address: str) -> "httpx.URL":
        """Parse and validate a page address, without a DNS lookup.

        Raises:
            FetchFailed: the address is not a web page, its IP address is not allowed, or Strata is
                offline.
        """
        url = parse_url(address)
        if self.is_offline():
            raise FetchFailed(
                f"Offline is on, so {url.host} was not called. Switch privacy.offline off to fetch "
                "web pages."
            )
        with suppress(ValueError):  # the host is a name, which is looked up later
            require_allowed(url.host, [ip_address(url.host)], self._is_allowed)
        return url

    async def _follow(
        self, url: "httpx.URL", stays_on_host: bool, content: bytes | None
    ) -> WebResponse:
        import httpx

        from chains.llm.http import load_certificates

        transport = httpx.AsyncHTTPTransport(verify=load_certificates())
        async with httpx.AsyncClient(
            transport=transport, trust_env=False, timeout=STEP_S, headers=_HEADERS
        ) as client:
            for _ in range(MAX_REDIRECTS + 1):
                found = await self._call(client, url, content)
                if isinstance(found, WebResponse):
                    return found
                if stays_on_host:
                    _require_same_host(url, found)
                url, content = found, None
        raise FetchFailed(f"{url.host} redirects more than {MAX_REDIRECTS} times.")

    async def _call(
        self, client: "httpx.AsyncClient", url: "httpx.URL", content: bytes | None
    ) -> "WebResponse | httpx.URL":
        """Send a request. Return the page, or the address to which the server redirects.

        Args:
            client: the HTTP client.
            url: the address.
            content: the body of a POST request, or None for a GET request.

        Raises:
            FetchFailed: the host cannot be reached, or its response cannot be read.
        """
        import httpx

        *others, last = await find_addresses(url, self._is_allowed)
        record = self._ledger.record(OutgoingCall("web", url.host, len(content or b"")))
        found: WebResponse | httpx.URL | None = None
        try:
            for ip in others:
                with suppress(httpx.ConnectError, httpx.ConnectTimeout):
                    found = await _request(client, url, ip, content)
                    return found
            found = await _request(client, url, last, content)
        except httpx.HTTPError as error:
            raise FetchFailed(f"{url.host} could not be read: {_explain(error)}.") from error
        finally:
            record.finish(len(found.body) if isinstance(found, WebResponse) else 0)
        return found


def _require_same_host(url: "httpx.URL", target: "httpx.URL") -> None:
    """Refuse a redirect to another host, or one whose answer could be changed on the way."""
    if not is_same_host(url, target):
        raise RedirectedElsewhere(url, target)
    if url.scheme == "https" and target.scheme != "https":
        raise FetchFailed(
            f"{url} redirects from https to http: {target}. It was not followed, because that "
            "answer can be changed on the way; fetch that address if it is the right one."
        )


async def _request(
    client: "httpx.AsyncClient", url: "httpx.URL", ip: "IPAddress", content: bytes | None
) -> "WebResponse | httpx.URL":
    headers = {"Host": url.netloc.decode("ascii")}
    request = client.build_request(
        "GET" if content is None else "POST",
        url.copy_with(host=str(ip)),
        headers=headers if content is None else headers | {"Content-Type": "application/json"},
        content=content,
        extensions={"sni_hostname": url.raw_host.decode("ascii")},
    )
    response = await client.send(request, stream=True)
    try:
        if response.has_redirect_location:
            return parse_url(response.headers["location"], url)
        _check_headers(url, response)
        body = await _read_body(url, response)
    finally:
        await response.aclose()
    content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return WebResponse(str(url), content_type, response.charset_encoding or "", body)


def _check_headers(url: "httpx.URL", response: "httpx.Response") -> None:
    if response.status_code != 200:
        raise FetchFailed(f"{url.host} answered with the status {response.status_code} for {url}.")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise FetchFailed(f"{url.host} compressed the page, although that was not asked for.")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > MAX_BYTES:
        raise _too_large(url)


async def _read_body(url: "httpx.URL", response: "httpx.Response") -> bytes:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_BYTES:
            raise _too_large(url)
    return bytes(body)


def _too_large(url: "httpx.URL") -> FetchFailed:
    return FetchFailed(f"{url} is larger than {MAX_BYTES // 1_000_000} MB.")


def _explain(error: "httpx.HTTPError") -> str:
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return "it took too long"
    if isinstance(error, httpx.ConnectError):
        message = str(error).lower()
        is_untrusted = "certificate" in message or "ssl" in message
        return "its certificate is not trusted" if is_untrusted else "nothing answers there"
    return "the connection broke off, or its answer is not HTTP"
