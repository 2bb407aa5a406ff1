"""Newer versions are looked for at the address of a setting, and told with their checksums."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from app.errors import BadSetting, InvalidRequest
from app.updates import look_for_update
from chains.cancel import CancelToken
from chains.errors import FetchFailed
from chains.ledger import NoLedger
from chains.web.client import WebClient
from tests.support.processes.command_line import document, no_window
from tests.support.servers.web_server import Page, WebServer, allow_loopback
from tests.unit.chains.web.test_client import answer_lookups

SUM = "0123456789abcdef" * 4
FILE = {"name": "strata_9.0.0_amd64.deb", "size": 251_000_000, "sha256": SUM}


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture
def client() -> WebClient:
    return WebClient(lambda: False, NoLedger(), is_allowed=allow_loopback)


def serve(server: WebServer, document: Any) -> str:
    """Serve the document of a release, and return its address."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    server.pages["/new/release.json"] = Page(body, "application/json")
    return f"{server.url}/new/release.json"


@pytest.mark.parametrize(
    ("version", "is_newer"),
    [
        ("9.0.0", True),
        ("0.1.1", True),
        ("0.1.0.1", True),
        ("0.10", True),
        ("0.1.0", False),
        ("0.1", False),
        ("0.0.9", False),
        ("0.1.0.0", False),
    ],
)
def test_versions_are_compared_by_their_numbers(
    server: WebServer, client: WebClient, version: str, is_newer: bool
) -> None:
    address = serve(server, {"version": version, "files": [FILE]})
    report = look_for_update(client, address, CancelToken())
    assert (report.version, report.newest, report.is_newer) == ("0.1.0", version, is_newer)
    assert bool(list(report.describe_files())) == is_newer
    assert len(server.requests) == 1  # and none of the files


def test_each_file_has_its_address_beside_the_document_and_its_checksum(
    server: WebServer, client: WebClient
) -> None:
    address = serve(server, {"version": "9.0.0", "files": [FILE]})
    report = look_for_update(client, address, CancelToken())
    assert report.describe() == "Strata 9.0.0 is out. This is 0.1.0."
    assert list(report.describe_files()) == [
        f"{server.url}/new/strata_9.0.0_amd64.deb  251.0 MB",
        f"    SHA-256 {SUM}",
    ]


@pytest.mark.parametrize(
    "document",
    [
        b"<p>Not here",
        b"\xff",
        b"[" * 50_000,
        [],
        {"version": "9.0.0"},
        {"version": 9, "files": []},
        {"version": "9.0.0\x1b[2J", "files": []},
        {"version": "v9", "files": []},
        {"version": "9" * 50 + ".0", "files": []},
        {"version": "9.0.0", "files": [{**FILE, "sha256": "none"}]},
        {"version": "9.0.0", "files": [{**FILE, "name": "../../etc/passwd"}]},
        {"version": "9.0.0", "files": [{**FILE, "name": "https://evil.example/x"}]},
        {"version": "9.0.0", "files": [{**FILE, "name": "a\u202egpj.deb"}]},
        {"version": "9.0.0", "files": [{**FILE, "size": True}]},
        {"version": "9.0.0", "files": [{**FILE, "size": -1}]},
        {"version": "9.0.0", "files": [{**FILE, "size": 10**400}]},
        {"version": "9.0.0", "files": [{**FILE, "size": 10**12 + 1}]},
        {"version": "9.0.0", "files": [{**FILE, "size": 1e9}]},
        {"version": "9.0.0", "files": [{**FILE, "size": "1"}]},
        {"version": "9.0.0", "files": [{**FILE, "size": float("inf")}]},
        {"version": "9.0.0", "files": [{**FILE, "name": 5}]},
        {"version": "9.0.0", "files": [{**FILE, "sha256": [SUM]}]},
        {"version": ["9.0.0"], "files": []},
        {"version": "9.0.0", "files": {"a": 1}},
        {"version": "9.0.0", "files": ""},
        {"version": "9.0.0", "files": None},
        {"version": "9.0.0", "files": [[]]},
        b'{"version": "9.0.0", "files": [], "more": ' + b"9" * 5_000 + b"}",
    ],
)
def test_what_describes_no_release_is_refused(
    server: WebServer, client: WebClient, document: Any
) -> None:
    with pytest.raises(FetchFailed, match=r"127\.0\.0\.1 answered does not describe a release"):
        look_for_update(client, serve(server, document), CancelToken())


def test_the_largest_file_is_told_with_its_size(server: WebServer, client: WebClient) -> None:
    address = serve(server, {"version": "9.0.0", "files": [{**FILE, "size": 10**12}] * 50})
    report = look_for_update(client, address, CancelToken())
    assert next(report.describe_files()).endswith("  1,000,000.0 MB")


def test_another_host_is_not_followed(server: WebServer, client: WebClient) -> None:
    away = {"Location": f"http://localhost:{server.port}/b"}
    server.pages["/a"] = Page(status=302, headers=away)
    with pytest.raises(FetchFailed, match="another host"):
        look_for_update(client, f"{server.url}/a", CancelToken())


def test_nothing_is_looked_for_without_an_address(assistant: Assistant, server: WebServer) -> None:
    assert assistant.settings.values.updates_address == ""
    with pytest.raises(InvalidRequest, match="No address is set") as caught:
        assistant.look_for_update(CancelToken())
    assert "updates.address" in str(caught.value.hint[0])
    assert assistant.ledger.list_calls() == []


def test_a_release_over_http_from_elsewhere_is_refused(
    server: WebServer, client: WebClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_lookups(monkeypatch, "127.0.0.1")
    address = serve(server, {"version": "9.0.0", "files": [FILE]})
    with pytest.raises(FetchFailed, match="does not describe a release"):
        look_for_update(client, address.replace("127.0.0.1", "strata.test"), CancelToken())


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("https://example.org/strata-release.json", True),
        ("http://127.0.0.1:8000/a", True),
        ("http://localhost/a", True),
        ("http://example.org/a", False),
        ("http://127.0.0.1.example.org/a", False),
        ("ftp://example.org/a", False),
        ("example.org", False),
    ],
)
def test_an_address_whose_checksums_could_be_forged_on_the_way_is_refused(
    assistant: Assistant, address: str, is_allowed: bool
) -> None:
    settings = assistant.settings
    if is_allowed:
        settings.set("updates.address", address)
        assert settings.values.updates_address == address
    else:
        with pytest.raises(BadSetting):
            settings.set("updates.address", address)


def test_the_call_is_in_the_ledger_and_offline_refuses_it(
    assistant: Assistant, server: WebServer
) -> None:
    address = serve(server, {"version": "9.0", "files": []})
    assistant.settings.set("updates.address", address)
    assert assistant.look_for_update(CancelToken()).is_newer
    (call,) = assistant.ledger.list_calls()
    assert (call["kind"], call["host"], call["bytes_out"]) == ("web", "127.0.0.1", 0)
    assistant.settings.set("privacy.offline", True)
    with pytest.raises(FetchFailed, match=r"privacy\.offline"):
        assistant.look_for_update(CancelToken())
    assert len(server.requests) == 1


def test_the_command_line_tells_a_newer_version_with_its_checksums(
    server: WebServer, capsys: pytest.CaptureFixture[str]
) -> None:
    address = serve(server, {"version": "9.0.0", "files": [FILE]})
    argv = ("updates", "--set", f"updates.address={address}")
    assert run(argv, no_window) == 0
    file = f"{server.url}/new/{FILE['name']}"
    assert capsys.readouterr().out.splitlines() == [
        "Strata 9.0.0 is out. This is 0.1.0.",
        f"{file}  251.0 MB",
        f"    SHA-256 {SUM}",
    ]
    assert run((*argv, "--json"), no_window) == 0
    found = document(capsys.readouterr().out)
    assert (found["version"], found["newest"], found["is_newer"]) == ("0.1.0", "9.0.0", True)
    assert found["files"] == [{**FILE, "address": file}]


def test_the_command_line_tells_how_to_set_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("updates", "--json"), no_window) == 1
    error = document(capsys.readouterr().out)["error"]
    assert error["code"] == "bad_request"
    assert "updates.address" in error["hint"]
