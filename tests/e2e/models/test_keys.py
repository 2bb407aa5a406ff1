"""A key reaches the server that it was entered for, and no other; text goes where settings say."""

import fcntl
import json
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.models.model_server import ModelServer
from tests.support.processes.file_keyring import BACKEND, VARIABLE, read_keys
from tests.support.processes.program import Program

SECRET = "sk-environment-0123456789"
GET_ADDRESS = 0x8915  # SIOCGIFADDR
ENTERED = "sk-entered-9876543210"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def program(tmp_path: Path, keys: Path) -> Program:
    """The program with a keyring, and with keys of services in its environment."""
    variables = {
        "PYTHON_KEYRING_BACKEND": BACKEND,
        VARIABLE: str(keys),
        "OPENAI_API_KEY": SECRET,
        "OLLAMA_API_KEY": SECRET,
        "OPENAI_ORG_ID": "org-mine",
        "OPENAI_CUSTOM_HEADERS": "x-more: mine",
    }
    return Program(tmp_path / "home", environ=tuple(variables.items()))


@pytest.fixture
def machine() -> str:
    """An address of this machine that is not loopback, standing for another machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # this one has no address
                asked = struct.pack("256s", name.encode()[:15])
                found = socket.inet_ntoa(fcntl.ioctl(probe, GET_ADDRESS, asked)[20:24])
                if not found.startswith("127."):
                    return found
    pytest.skip("this machine has no address but loopback")


@pytest.fixture
def other(machine: str) -> Iterator[ModelServer]:
    """A server on another machine."""
    with ModelServer(host=machine) as server:
        yield server


def at(program: Program, server: ModelServer, *more: str) -> Program:
    options = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
    return Program(program.home, (*options, *more), environ=program.environ)


ASK = ("ask", "Where?", "--mode", "chat")


def headers_of(server: ModelServer) -> str:
    """All that any request said of who asks."""
    return json.dumps([dict(received.headers) for received in server.received])


@pytest.mark.started  # a library may read its variables when it is imported
def test_a_key_of_the_environment_goes_to_no_server_of_ones_own(
    program: Program, server: ModelServer, other: ModelServer
) -> None:
    with ModelServer() as thief:
        led_astray = {
            "OPENAI_BASE_URL": thief.url,
            "OPENAI_API_BASE": thief.url,
            "HTTP_PROXY": thief.root,
            "NO_PROXY": other.root.split("//")[1].rpartition(":")[0],
        }
        astray = Program(program.home, environ=(*program.environ, *led_astray.items()))
        for there in (server, other):
            assert at(astray, there).json(*ASK)["status"] == "complete"
            assert there.bodies
            told = headers_of(there)
            found = [w for w in (SECRET, "authorization", "org-mine", "x-more") if w in told]
            assert found == []
        assert thief.received == []


@pytest.mark.started  # a library may read its variables when it is imported
def test_an_address_in_the_environment_is_ignored_for_a_service_too(program: Program) -> None:
    with ModelServer() as thief, ModelServer() as proxy:
        led_astray = {
            "OPENAI_BASE_URL": thief.url,
            "OPENAI_API_BASE": thief.url,
            "HTTPS_PROXY": proxy.root,
        }
        astray = Program(program.home, environ=(*program.environ, *led_astray.items()))
        done = astray.run(*ASK, "--model", "openai/gpt-4o", "--json")
        assert done.error["code"] == "model_unavailable"
        assert thief.received == []


def test_another_loopback_address_is_asked_past_the_proxy(program: Program) -> None:
    with ModelServer(host="127.0.0.2") as server, ModelServer() as proxy:
        behind = Program(program.home, environ=(*program.environ, ("HTTP_PROXY", proxy.root)))
        asked = at(behind, server, "--set", "privacy.offline=true").json(*ASK)
        assert asked["status"] == "complete"
        assert proxy.received == []


def test_a_key_goes_unencrypted_only_after_it_was_agreed_to(
    program: Program, other: ModelServer, server: ModelServer, keys: Path
) -> None:
    there = at(program, other)
    refused = there.run("keys", "set", "--json", stdin=f"{ENTERED}\n")
    assert refused.error["code"] == "bad_request"
    assert "--plain-http" in refused.error["hint"]
    assert read_keys(keys) == {}
    assert there.json("keys", "set", "--plain-http", stdin=f"{ENTERED}\n")["owner"] == other.root
    assert there.json("keys", "show") == {"owner": other.root, "source": "keyring"}
    there.json(*ASK)
    assert other.received[-1].headers["authorization"] == f"Bearer {ENTERED}"
    at(program, server).json(*ASK)
    assert ENTERED not in headers_of(server)
    there.json("keys", "remove")
    there.json(*ASK)
    assert "authorization" not in other.received[-1].headers


def test_a_password_in_the_address_is_moved_to_the_keyring(
    program: Program, server: ModelServer, other: ModelServer, keys: Path
) -> None:
    secret = server.url.replace("//", "//me:s%40fe@")
    assert program.json("settings", "set", "chat.apiBase", secret)["value"] == server.url
    file = program.home / "config" / "settings.toml"
    assert "fe@" not in file.read_text("utf-8")
    program.json(*ASK, "--model", "gpt-4o")
    assert server.received[-1].headers["authorization"] == "Basic bWU6c0BmZQ=="
    keys.unlink()
    file.write_text(f'[chat]\napiBase = "{secret}"\n', "utf-8")
    program.json(*ASK, "--model", "gpt-4o")
    assert "fe@" not in file.read_text("utf-8")
    assert list(read_keys(keys)) == [server.root]
    plain = other.url.replace("//", "//me:safe@")
    for refused in (
        program.run("settings", "set", "chat.apiBase", plain, "--json"),
        Program(program.home).run("settings", "set", "chat.apiBase", secret, "--json"),
    ):
        assert refused.error["code"] == "bad_setting"
        assert "safe" not in refused.out + refused.err
        assert "s%40fe" not in refused.out + refused.err


def test_offline_nothing_reaches_another_machine(program: Program, other: ModelServer) -> None:
    offline = at(program, other, "--set", "privacy.offline=true")
    for model in ("gpt-4o", "ollama/llama3", "openai/x"):
        assert offline.run(*ASK, "--model", model, "--json").error["code"] == "offline"
    assert other.received == []
