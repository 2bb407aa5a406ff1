"""Pages are fetched from a real server, within the rules for addresses, sizes and times."""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chains.cancel import CancelToken
from chains.errors import Cancelled, FetchFailed, LedgerFailed
from chains.ledger import NoLedger, OpenRecord, OutgoingCall
from chains.web import client as client_module
from chains.web.client import RedirectedElsewhere, WebClient
from chains.web.urls import IPAddress
from tests.support.servers.web_server import CERTIFICATE, Page, WebServer, allow_loopback


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture
def client() -> WebClient:
    return WebClient(lambda: False, NoLedger(), is_allowed=allow_loopback)


def answer_lookups(monkeypatch: pytest.MonkeyPatch, *ips: str) -> None:
    """Let each name of the domain `test` have these IP addresses."""
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if not str(host).endswith(".test"):
            return real(host, port, *rest, **more)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ips]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def redirect(target: str, status: int = 302) -> Page:
    return Page(status=status, headers={"Location": target})


def test_a_page_arrives_with_its_type_and_nothing_of_the_user_is_sent(
    server: WebServer, client: WebClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.pages["/a?b=c"] = Page(b"<p>Hello", "Text/HTML; charset=latin-1")
    response = client.fetch(f"{server.url}/a?b=c#d", CancelToken())
    assert (response.content_type, response.charset) == ("text/html", "latin-1")
    assert (response.url, response.body) == (f"{server.url}/a?b=c", b"<p>Hello")
    ((path, headers),) = server.requests
    assert path == "/a?b=c"
    assert headers["Host"] == f"127.0.0.1:{server.port}"
    assert set(headers) == {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}


def test_the_address_of_this_computer_is_refused_by_the_usual_rules(server: WebServer) -> None:
    for host, found in (("127.0.0.1", ""), ("localhost", r" \((127.0.0.1|::1)\)")):
        message = rf"{host} is an address of this computer or of a private network{found}\. "
        with pytest.raises(FetchFailed, match=message):
            WebClient(lambda: False, NoLedger()).fetch(
                f"http://{host}:{server.port}/", CancelToken()
            )
    assert not server.requests


def test_offline_refuses_every_address(server: WebServer) -> None:
    client = WebClient(lambda: True, NoLedger(), is_allowed=allow_loopback)
    with pytest.raises(FetchFailed, match=r"privacy\.offline"):
        client.fetch(server.url, CancelToken())
    assert not server.requests


def test_redirects_are_followed_and_each_is_checked(server: WebServer, client: WebClient) -> None:
    server.pages["/a"] = redirect("/b", 301)
    server.pages["/b"] = redirect(f"{server.url}/c", 307)
    server.pages["/c"] = Page(b"here")
    assert client.fetch(f"{server.url}/a", CancelToken()).url == f"{server.url}/c"
    for target in (
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://192.168.0.1:8080/",
    ):
        server.pages["/away"] = redirect(target)
        with pytest.raises(FetchFailed, match="private network"):
            client.fetch(f"{server.url}/away", CancelToken())
    server.pages["/away"] = redirect("file:///etc/passwd")
    with pytest.raises(FetchFailed, match="not a web address"):
        client.fetch(f"{server.url}/away", CancelToken())


def test_a_redirect_to_another_host_is_reported_where_only_one_host_is_approved(
    server: WebServer, client: WebClient
) -> None:
    server.pages["/a"] = redirect("http://localhost:9/elsewhere")
    with pytest.raises(RedirectedElsewhere, match="http://localhost:9/elsewhere"):
        client.fetch(f"{server.url}/a", CancelToken(), stays_on_host=True)


def test_an_endless_redirect_ends(server: WebServer, client: WebClient) -> None:
    server.pages["/a"] = redirect("/a")
    with pytest.raises(FetchFailed, match="redirects more than"):
        client.fetch(f"{server.url}/a", CancelToken())


def test_a_second_answer_of_the_name_server_is_not_used(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups: list[Any] = []
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != "rebinding.test":
            return real(host, port, *rest, **more)
        lookups.append(host)
        address = "127.0.0.1" if len(lookups) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    server.pages["/"] = Page(b"first")
    checked: list[IPAddress] = []

    def allow(ip: IPAddress) -> bool:
        checked.append(ip)
        return True

    client = WebClient(lambda: False, NoLedger(), is_allowed=allow)
    found = client.fetch(f"http://rebinding.test:{server.port}/", CancelToken())
    assert (found.body, len(lookups)) == (b"first", 1)
    assert checked == [ipaddress.ip_address("127.0.0.1")]
    assert server.requests[0][1]["Host"] == f"rebinding.test:{server.port}"


def test_a_certificate_is_checked_for_the_name_of_the_host_and_not_for_its_ip_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = tmp_path / "certificate.pem"
    certificate.write_text(CERTIFICATE)
    trusted = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr("chains.llm.http.load_certificates", lambda: trusted)
    answer_lookups(monkeypatch, "127.0.0.1")
    client = WebClient(lambda: False, NoLedger(), is_allowed=allow_loopback)
    with WebServer(certificate) as server:
        server.pages["/"] = Page(b"secure")
        found = client.fetch(f"https://strata.test:{server.port}/", CancelToken())
        assert found.body == b"secure"
        with pytest.raises(FetchFailed, match="its certificate is not trusted"):
            client.fetch(f"https://other.test:{server.port}/", CancelToken())
        plain, whole = f"http://strata.test:{server.port}/", f"https://strata.test:{server.port}/"
        server.pages["/down"], server.pages["/up"] = redirect(plain), redirect(whole)
        server.pages["/www"] = redirect(plain.replace("strata", "www.strata"))
        for path in ("down", "www"):
            with pytest.raises(FetchFailed, match="redirects from https to http"):
                client.fetch(f"{whole}{path}", CancelToken(), stays_on_host=True)
        assert client.fetch(f"{whole}up", CancelToken(), stays_on_host=True).body == b"secure"


def test_one_private_address_among_those_of_a_host_is_enough_to_refuse_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer_lookups(monkeypatch, "93.184.216.34", "192.168.0.1")
    with pytest.raises(FetchFailed, match=r"192\.168\.0\.1"):
        WebClient(lambda: False, NoLedger()).fetch("http://mixed.test/", CancelToken())


def test_a_page_that_is_too_large_is_refused_before_and_while_it_arrives(
    server: WebServer, client: WebClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "MAX_BYTES", 1_000_000)
    server.pages["/said"] = Page(headers={"Content-Length": "9999999999999"})
    server.pages["/endless"] = Page(b"x" * 65_536, repeats=10_000)
    for path in ("/said", "/endless"):
        with pytest.raises(FetchFailed, match="larger than 1 MB"):
            client.fetch(server.url + path, CancelToken())


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (Page(b"no", status=404), "the status 404"),
        (Page(b"no", status=500), "the status 500"),
        (Page(status=304), "the status 304"),
        (Page(status=302), "the status 302"),
        (Page(b"x", headers={"Content-Encoding": "gzip"}), "compressed"),
        (Page(b"short", headers={"Content-Length": "500"}), "broke off"),
    ],
)
def test_an_answer_without_a_page_is_said(
    server: WebServer, client: WebClient, page: Page, said: str
) -> None:
    server.pages["/a"] = page
    with pytest.raises(FetchFailed, match=said):
        client.fetch(f"{server.url}/a", CancelToken())


def test_a_host_that_does_not_answer_is_said(client: WebClient) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(FetchFailed, match="nothing answers there"):
            client.fetch(f"http://127.0.0.1:{taken.getsockname()[1]}/", CancelToken())


def test_a_page_that_stalls_ends_at_the_limit_and_on_a_cancel(
    server: WebServer, client: WebClient
) -> None:
    server.pages["/a"] = Page(b"begins", stalls=True)
    with pytest.raises(FetchFailed, match="took longer than"):
        client.fetch(f"{server.url}/a", CancelToken(), timeout_s=0.2)
    server.is_reached.clear()
    cancel = CancelToken()

    def cancel_when_reached() -> None:
        server.is_reached.wait(60)
        cancel.cancel()

    thread = threading.Thread(target=cancel_when_reached)
    thread.start()
    with pytest.raises(Cancelled):
        client.fetch(f"{server.url}/a", cancel)
    thread.join()


class FullLedger:
    """A ledger that cannot be written."""

    def record(self, call: OutgoingCall) -> OpenRecord:
        raise LedgerFailed(call.host, "the disk is full")


def test_a_request_that_cannot_be_recorded_is_not_made(server: WebServer) -> None:
    client = WebClient(lambda: False, FullLedger(), is_allowed=allow_loopback)
    with pytest.raises(LedgerFailed):
        client.fetch(server.url, CancelToken())
    assert not server.requests
