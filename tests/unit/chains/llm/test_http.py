import socket
from threading import Thread

import httpx
import pytest

from chains.errors import Offline
from chains.llm import http
from chains.llm.http import WireCall, open_client, report_calls_to
from chains.llm.incoming.response import ResponseTooLarge
from tests.support.models.model_server import Failure, ModelServer, Played

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}


@pytest.fixture
def call():
    return WireCall(offline=False, max_output_tokens=100, on_sent=lambda _: None)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("soon", None),
        ("", None),
        ("-3", None),
        ("²", None),
        ("9" * 400, 1e9),
    ],
)
def test_a_wait_in_seconds_is_read(call, header, seconds):
    call._headers = {"retry-after": header}
    assert call.retry_after_s == seconds


def test_a_wait_in_milliseconds_is_read(call):
    call._headers = {"retry-after-ms": "700", "retry-after": "1"}
    assert call.retry_after_s == 0.7


@pytest.mark.parametrize(
    ("scheme", "greeting", "failure"),
    [
        ("http", bytes.fromhex("15030300020250"), "it does not speak plain HTTP"),
        ("https", b"HTTP/1.1 400 Bad Request\r\n\r\n", "it does not speak TLS"),
    ],
)
def test_a_server_of_another_protocol_is_named(call, scheme, greeting, failure):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65_536)
                peer.sendall(greeting)

        thread = Thread(target=greet)
        thread.start()
        address = f"{scheme}://127.0.0.1:{server.getsockname()[1]}/v1/chat/completions"
        with report_calls_to(call), pytest.raises(httpx.TransportError):
            open_client().post(address, json=ASKED)
        thread.join()
    assert call.failure.startswith(failure)


def test_the_body_of_an_error_is_not_waited_for_long(call, monkeypatch):
    monkeypatch.setattr(http, "ERROR_TIMEOUT_S", 0.01)
    reply = Played((b"half",), status=500, content_type="text/plain", ending="open")
    with ModelServer(reply) as server, report_calls_to(call), pytest.raises(httpx.ReadTimeout):
        open_client().post(f"{server.url}/chat/completions", json=ASKED)
    assert call.status == 500


def test_a_wait_until_a_date_is_read(call):
    call._headers = {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}
    assert call.retry_after_s == 0.0


def test_offline_no_request_leaves_this_computer():
    call = WireCall(offline=True, max_output_tokens=100, on_sent=lambda _: None)
    with report_calls_to(call), pytest.raises(Offline):
        open_client().get("http://192.0.2.1/")


def test_a_look_up_before_the_model_is_asked_is_refused(call):
    with ModelServer() as hub, ModelServer() as server, report_calls_to(call):
        client = open_client()
        with pytest.raises(httpx.ConnectError, match="not asked for an answer"):
            client.get(f"{hub.root}/llama-3/tokenizer_config.json")
        client.post(f"{server.url}/chat/completions", json=ASKED)
        client.get(f"{server.url}/models")  # some services are asked for the rest of the answer
    assert hub.received == []
    assert len(server.received) == 2


def test_a_proxy_of_the_environment_is_not_used_for_this_computer(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with ModelServer() as server, open_client.__wrapped__() as client:
        assert client.get(f"{server.url}/models").status_code == 200


def test_an_answer_that_is_packed_is_not_unpacked(call):
    bomb = Failure(200, "{}", headers={"Content-Encoding": "gzip"})
    with ModelServer(bomb) as server, report_calls_to(call), pytest.raises(ResponseTooLarge):
        open_client().post(f"{server.url}/chat/completions", json={})


def test_a_call_lets_go_of_its_connection_though_the_answer_was_not_read(call):
    with ModelServer() as server, report_calls_to(call):
        client = open_client()
        asked = client.build_request("POST", f"{server.url}/chat/completions", json=ASKED)
        response = client.send(asked, stream=True)
        pieces = response.iter_raw()
        assert next(pieces)
        assert not response.is_closed
    assert response.is_closed
