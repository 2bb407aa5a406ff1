from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.config.learned import LearnedModels
from app.config.models import ModelChoice, list_model_choices
from app.config.settings import Settings
from app.ledger import Ledger
from chains.cancel import CancelToken
from chains.errors import MissingKey, ModelUnavailable
from chains.llm import server as servers
from chains.llm.server_queries import ServerQueries
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.sessions.turns import ask

VISION = {"id": "see", "max_model_len": 32_768, "capabilities": ["vision", "tools"]}

Choices = Callable[..., dict[str, ModelChoice]]


@pytest.fixture
def choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Choices:
    monkeypatch.setattr(servers, "_queries", ServerQueries())
    ledger, learned = Ledger(tmp_path / "ledger.log"), LearnedModels(tmp_path / "limits.json")

    def choose(**given: object) -> dict[str, ModelChoice]:
        values = Settings.model_validate({k.replace("__", "."): v for k, v in given.items()})
        return {choice.name: choice for choice in list_model_choices(values, ledger, learned)}

    return choose


@pytest.fixture
def ollama() -> Iterator[ModelServer]:
    with ModelServer(ollama_context=8_192) as server:
        yield server


def test_models_of_servers_on_this_computer_are_found_with_their_properties(
    choices: Choices, ollama: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(models=[VISION, {"id": "plain"}]) as vllm:
        usual = {"ollama": ollama.root, "hosted_vllm": vllm.url, "lm_studio": "http://127.0.0.1:9"}
        monkeypatch.setattr(servers, "LOCAL_SERVERS", usual)
        found = choices()
        asked = {(one.path, one.raw) for one in (*ollama.received, *vllm.received)}
    assert list(found) == [
        "extractive",
        "ollama/scripted:latest",
        "hosted_vllm/see",
        "hosted_vllm/plain",
    ]
    seen = found["hosted_vllm/see"]
    assert (seen.info.input_limit, seen.info.takes_tools, seen.info.sees, seen.info.is_local) == (
        32_768,
        True,
        True,
        True,
    )
    assert seen.summary == "32,768 tokens · tools · images · this computer"
    assert found["hosted_vllm/plain"].summary == "this computer"
    assert found["ollama/scripted:latest"].info.input_limit == 16_384  # chat.localContext
    assert {raw for _, raw in asked} == {b""}  # only GET, without a body


def test_no_other_computer_is_searched_for_servers(
    choices: Choices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "LOCAL_SERVERS", {"ollama": "http://192.0.2.1:11434"})
    monkeypatch.setattr(servers, "_is_listening", lambda _base: pytest.fail("it was asked"))
    assert list(choices()) == ["extractive"]


def test_a_known_model_has_its_limit_price_and_abilities(choices: Choices) -> None:
    chosen = choices(chat__model="openai/gpt-4o")["openai/gpt-4o"]
    assert chosen.summary == (
        "128,000 tokens · $2.50 in, $10.00 out per million · tools · images · api.openai.com"
    )
    assert chosen.to_dict()["input_price"] == 2.5


def test_a_limit_set_by_hand_holds_for_a_server_that_reports_none(choices: Choices) -> None:
    with ModelServer() as server:
        known = {"chat__apiBase": server.url, "chat__model": "scripted"}
        assert choices(**known)["scripted"].info.input_limit is None
        by_hand = choices(**known, chat__localContext=8_000)
    assert by_hand["scripted"].info.input_limit == 8_000


def test_models_named_by_hand_see_images_whatever_the_server_reports(choices: Choices) -> None:
    models = ({"id": "new"}, {"id": "ear", "capabilities": ["completion"]}, {"id": "other"})
    with ModelServer(models=models) as server:
        known = {"chat__apiBase": server.url, "chat__model": "openai/new"}
        before = choices(**known)
        found = choices(**known, chat__imageModels=["new", "openai/ear"])
    assert not any(choice.info.sees for choice in before.values())
    assert [name for name, choice in found.items() if choice.info.sees] == ["openai/new", "ear"]
    assert found["openai/new"].summary.startswith("images")


def test_a_limit_that_a_server_names_is_remembered(reading: Assistant, server: ModelServer) -> None:
    named = Failure.saying(400, "This model's maximum context length is 6000 tokens.")
    server.script(named, Answer("By the shed."))
    reading.settings.set("chat.model", "scripted")
    assert reading.preview(None, "Where?", "vault")["model_limit"] is None
    ask(reading, "Where is the barrel?", mode="chat")
    assert reading.preview(None, "Where?", "vault")["model_limit"] == 6_000
    choice = next(one for one in reading.model_setup.list_choices() if one.name == "scripted")
    assert choice.info.input_limit == 6_000
    reading.settings.set("chat.localContext", 9_000)
    assert reading.preview(None, "Where?", "vault")["model_limit"] == 9_000


def test_a_test_call_says_that_the_model_answers(assistant: Assistant, server: ModelServer) -> None:
    assert assistant.check_model(CancelToken()).model == "gpt-4o"
    (body,) = server.bodies
    assert body["max_tokens"] <= 16
    assert [call["kind"] for call in assistant.ledger.list_calls()][-1] == "model"
    assert assistant.list_sessions() == []


def test_a_test_call_says_why_there_is_no_answer(assistant: Assistant, server: ModelServer) -> None:
    server.script(Failure(401))
    with pytest.raises(MissingKey):
        assistant.check_model(CancelToken())
    assistant.settings.set("chat.apiBase", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1 does not answer"):
        assistant.check_model(CancelToken())


def test_a_model_that_is_named_by_its_file_is_shown_without_its_folder(choices: Choices) -> None:
    with ModelServer(models=[{"id": "/home/me/models/big-14b.gguf"}]) as server:
        found = choices(chat__apiBase=server.url)
    assert found["/home/me/models/big-14b.gguf"].label == "big-14b"
    assert found["extractive"].label == "No model: quoted passages"


def test_a_model_of_the_server_is_listed_once_however_the_setting_writes_it(
    choices: Choices,
) -> None:
    with ModelServer(models=[VISION, {"id": "plain"}]) as server:
        found = choices(chat__apiBase=server.url, chat__model="openai/see")
        assert list(found) == ["extractive", "openai/see", "plain"]
        assert found["openai/see"].is_set
        assert (found["openai/see"].info.input_limit, found["openai/see"].info.sees) == (
            32_768,
            True,
        )
        found = choices(chat__apiBase=server.url, chat__model="see")
        assert list(found) == ["extractive", "see", "plain"]
        found = choices(chat__apiBase=server.url, chat__model="openai/other")
        assert list(found) == ["extractive", "openai/other", "see", "plain"]
