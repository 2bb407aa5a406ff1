"""Finding, testing and storing a model, over real servers and a keyring in a file."""

from pathlib import Path

import keyring
import pytest

from app.assistant import Assistant
from app.config import secrets
from app.config.model_setup import Connection
from app.errors import BadSetting, InvalidRequest, NoKeyring
from chains.cancel import CancelToken
from chains.errors import MissingKey
from chains.llm.urls import complete_address
from chains.providers import list_services
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.processes.file_keyring import VARIABLE, FileKeyring, read_keys


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the keyring."""
    file = tmp_path / "keys.json"
    monkeypatch.setenv(VARIABLE, str(file))
    monkeypatch.setattr(keyring.core, "_keyring_backend", FileKeyring())
    return file


def test_services_have_their_usual_models_newest_first() -> None:
    services = {service.provider: service for service in list_services()}
    assert services["gemini"].name == "Google Gemini"
    names = services["openai"].models
    assert "openai/gpt-4o" in names
    assert names.index("openai/gpt-4.1") < names.index("openai/gpt-4o-mini") or names
    assert not [name for name in names if "audio" in name or "preview" in name or "ft:" in name]
    both = [name for name in names if name in {"openai/gpt-4", "openai/gpt-5"}]
    assert both == ["openai/gpt-5", "openai/gpt-4"]


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        (" 127.0.0.1:8080/v1 ", "http://127.0.0.1:8080/v1"),
        ("localhost:11434", "http://localhost:11434"),
        ("192.168.1.20:1234", "http://192.168.1.20:1234"),
        ("nas:1234/v1", "http://nas:1234/v1"),
        ("studio.local:1234", "http://studio.local:1234"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("api.example.org/v1", "https://api.example.org/v1"),
        ("http://api.example.org/v1", "http://api.example.org/v1"),
        ("", ""),
    ],
)
def test_an_address_typed_without_a_scheme_gets_one(typed: str, address: str) -> None:
    assert complete_address(typed) == address


def test_the_server_of_the_settings_is_found_beside_the_usual_ones(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(models=[{"id": "one"}]) as usual, ModelServer(models=[{"id": "two"}]) as own:
        monkeypatch.setattr("chains.llm.server.LOCAL_SERVERS", {"lm_studio": usual.url})
        monkeypatch.setattr(
            "chains.llm.server_queries.SERVER_TIMEOUT_S", 60.0
        )  # on a loaded machine
        assistant.settings.set("chat.apiBase", own.url)
        found = assistant.model_setup.find_servers()
    assert [(one.name, one.api_base) for one in found] == [
        ("LM Studio", ""),
        (own.root.removeprefix("http://"), own.url),
    ]
    assert [[model.name for model in one.models] for one in found] == [["lm_studio/one"], ["two"]]


def test_a_test_stores_nothing_and_sends_the_typed_key_to_its_address_alone(
    assistant: Assistant, keys: Path
) -> None:
    with ModelServer(Answer("OK")) as server:
        wanted = Connection("scripted", server.url)
        found = assistant.model_setup.check(wanted, "sk-typed", CancelToken())
        sent = [one.headers.get("authorization") for one in server.received if one.body]
    assert (found.model, sent) == ("scripted", ["Bearer sk-typed"])
    assert not keys.exists()
    assert assistant.settings.get("chat.model") == "extractive"
    assert assistant.settings.get("chat.apiBase") == ""


def test_a_refused_key_names_its_owner(assistant: Assistant) -> None:
    with ModelServer(Failure(401)) as server:
        with pytest.raises(MissingKey) as caught:
            assistant.model_setup.check(Connection("m", server.url), "sk-x", CancelToken())
        assert caught.value.is_refused
        assert caught.value.key_owner == server.root


def test_no_key_is_tested_over_a_connection_that_others_can_read(assistant: Assistant) -> None:
    there = Connection("m", "http://box.example:8000/v1")
    with pytest.raises(InvalidRequest, match="unencrypted"):
        assistant.model_setup.check(there, "sk-x", CancelToken())


def test_a_connection_is_stored_with_its_key(assistant: Assistant, keys: Path) -> None:
    assistant.settings.set("chat.apiBase", "http://127.0.0.1:9/v1")
    assistant.model_setup.use(Connection("openai/gpt-4o"), "sk-kept")
    assert assistant.settings.get("chat.model") == "openai/gpt-4o"
    assert assistant.settings.get("chat.apiBase") == ""
    assert read_keys(keys) == {"openai": "sk-kept"}


def test_nothing_is_stored_where_the_address_is_none(assistant: Assistant) -> None:
    with pytest.raises(BadSetting):
        assistant.model_setup.use(Connection("x", "no address"), "sk-lost")
    assert assistant.settings.get("chat.model") == "extractive"
    assert assistant.model_setup.find_key("openai") is None


def test_without_a_keyring_a_key_is_used_until_the_program_ends(assistant: Assistant) -> None:
    with pytest.raises(NoKeyring):
        assistant.model_setup.set_key("openai", "sk-held")
    assistant.model_setup.use(Connection("openai/gpt-4o"), "sk-held")
    assert assistant.settings.get("chat.model") == "openai/gpt-4o"
    assert assistant.model_setup.find_key("openai") == "memory"
    assert secrets.key_for("openai") == "sk-held"
    with pytest.raises(InvalidRequest, match="unencrypted"):
        assistant.model_setup.keep_key("http://box.example:8000", "sk-x")
    assert assistant.model_setup.find_key("http://box.example:8000") is None
    assistant.model_setup.keep_key("openai", "")
    assert secrets.key_for("openai") is None


def test_the_same_address_is_asked_anew_with_each_press(assistant: Assistant) -> None:
    setup = assistant.model_setup
    with ModelServer(key="right") as server:
        tried = [setup.find_server(server.root, key) for key in ("", "wrong", "right", "")]
        assert [one.problem for one in tried] == ["wants_key", "refused_key", "", "wants_key"]
        assert [len(one.models) for one in tried] == [0, 0, 1, 0]
        assert {one.api_base for one in tried} == {server.url}
    assert setup.find_server(server.root, "right").problem == "silent"


def test_servers_of_this_computer_are_asked_anew_too(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as server:
        monkeypatch.setattr("chains.llm.server.LOCAL_SERVERS", {"lm_studio": server.url})
        (first,) = assistant.model_setup.find_servers()
        server.models.append({"id": "loaded later"})
        (second,) = assistant.model_setup.find_servers()
    assert [len(found.models) for found in (first, second)] == [1, 2]


def test_a_server_that_was_started_late_is_found(assistant: Assistant) -> None:
    with ModelServer() as gone:
        address, port = gone.url, int(gone.root.rpartition(":")[2])
    assert assistant.model_setup.find_server(address, "").problem == "silent"
    with ModelServer(port=port):
        assert assistant.model_setup.find_server(address, "").models


def test_the_client_is_loaded_only_if_a_model_is_set(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []
    monkeypatch.setattr("app.config.model_setup.warm_up", lambda: loads.append("loaded"))
    assistant.model_setup.warm_up()
    assert loads == []
    assistant.settings.set("chat.model", "openai/gpt-4o")
    assistant.model_setup.warm_up()
    assert loads == ["loaded"]
