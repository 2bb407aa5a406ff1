"""A newer version is told in a notice, and only where an address is set."""

import json
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from app.assistant import Assistant
from tests.support.servers.web_server import Page, WebServer
from tests.support.window.shell_window import Make

SUM = "0123456789abcdef" * 4


@pytest.fixture
def server(assistant: Assistant) -> Iterator[WebServer]:
    with WebServer() as server:
        serve(server, "9.0.0")
        assistant.settings.set("updates.address", f"{server.url}/r.json")
        yield server


def serve(server: WebServer, version: str, size: int = 1_000_000) -> None:
    file = {"name": "strata.deb", "size": size, "sha256": SUM}
    body = json.dumps({"version": version, "files": [file]}).encode()
    server.pages["/r.json"] = Page(body, "application/json")


def test_the_start_tells_a_newer_version_with_its_checksum(make: Make, server: WebServer) -> None:
    notice = make().controllers.updates.notice
    assert notice.isVisible()
    assert notice.accessibleName() == (
        f"Strata 9.0.0 is out. This is 0.1.0.. strata.deb, SHA-256 {SUM}"
    )
    copy, dismiss = notice.findChildren(QPushButton)
    assert all(button.toolTip() and button.text() for button in (copy, dismiss))
    copy.click()
    copied = QGuiApplication.clipboard().text()
    assert copied == f"{server.url}/strata.deb  1.0 MB\n    SHA-256 {SUM}"
    dismiss.click()
    assert not notice.isVisible()


@pytest.mark.parametrize(
    ("version", "size"),
    [("0.1.0", 1), ("broken", 1), ("9.0.0", 10**400)],
    ids=("old", "bad", "huge"),
)
def test_the_start_tells_nothing_else(
    make: Make, server: WebServer, version: str, size: int
) -> None:
    serve(server, version, size)
    window = make()
    assert len(server.requests) == 1
    assert window.controllers.updates.notice is None
    assert window.notifier.texts() == []
    window.run_command("look_for_update")
    told = window.notifier.texts()[-1]
    assert ("newest version" in told) == (version == "0.1.0")
    assert ("does not describe a release" in told) == (version != "0.1.0")


def test_without_an_address_the_command_tells_where_to_set_it(make: Make) -> None:
    window = make()
    assert window.notifier.texts() == []
    window.run_command("look_for_update")
    (told,) = window.notifier.texts()
    assert told.startswith("No address is set to look for newer versions at.")
    assert told.endswith('Set "Newer versions" to that of a release.')
