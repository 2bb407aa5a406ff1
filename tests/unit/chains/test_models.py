import pytest

from chains.llm import server as servers
from chains.llm.server import ModelList, ServedModel, list_served_models
from chains.llm.server_queries import ServerQueries
from chains.models import look_up_model
from tests.support.models.model_server import ModelServer

LLAMA_CPP = {"id": "/models/qwen.gguf", "meta": {"n_ctx": 8192, "n_ctx_train": 32768}}
VLLM = {"id": "Qwen/Qwen2", "max_model_len": 16384}


def key_for(_provider):
    return None


@pytest.fixture(autouse=True)
def _forget_servers(monkeypatch):
    monkeypatch.setattr(servers, "_queries", ServerQueries())


@pytest.mark.parametrize(
    ("name", "wire_name", "host", "limit"),
    [
        ("gpt-4o", "openai/gpt-4o", "api.openai.com", 128_000),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", "api.anthropic.com", 200_000),
        (
            "gemini/gemini-2.5-pro",
            "gemini/gemini-2.5-pro",
            "generativelanguage.googleapis.com",
            1_048_576,
        ),
    ],
)
def test_a_known_model_is_found_with_its_limit_and_price(name, wire_name, host, limit):
    info = look_up_model(name)
    assert info.endpoint is not None
    assert (info.endpoint.wire_name, info.host, info.input_limit) == (wire_name, host, limit)
    assert (info.input_price or 0) > 0
    assert (info.is_local, info.key_provider) == (False, info.endpoint.provider)


def test_a_name_that_nobody_knows_has_no_endpoint():
    assert look_up_model("no-such-model").endpoint is None


def test_extractive_stays_in_the_program():
    info = look_up_model("extractive", "http://192.0.2.1/v1")
    assert (info.is_local, info.endpoint, info.key_provider) == (True, None, None)


def test_a_name_without_a_prefix_goes_to_the_address_as_an_openai_model():
    info = look_up_model("Qwen/Qwen2", "http://box:8000/v1")
    assert info.endpoint is not None
    assert info.endpoint.wire_name == "openai/Qwen/Qwen2"
    assert (info.host, info.is_local, info.endpoint.needs_key) == ("box", False, False)


def test_a_prefix_of_a_provider_is_kept_at_an_address_of_ones_own():
    info = look_up_model("anthropic/claude-x", "http://127.0.0.1:9/")
    assert info.endpoint is not None
    assert info.endpoint.wire_name == "anthropic/claude-x"


def test_the_limit_of_a_known_name_does_not_hold_at_an_address_of_ones_own():
    assert look_up_model("gpt-4o", "http://127.0.0.1:9/v1").input_limit is None


@pytest.mark.parametrize(
    "base",
    ["http://localhost:1/v1", "http://127.0.0.1:1", "http://127.9.9.9:1", "http://[::1]:1/v1"],
)
def test_loopback_is_this_computer(base):
    info = look_up_model("x", base)
    assert info.is_local
    assert info.endpoint is not None
    # Only a key that was entered for this very address would be sent there.
    assert info.key_provider == base.removesuffix("/v1")
    assert not info.endpoint.needs_key


@pytest.mark.parametrize(
    "base", ["http://localhost.example.com", "http://10.0.0.1", "http://127.0.0.1.evil.example"]
)
def test_other_hosts_are_not_this_computer(base):
    assert not look_up_model("x", base).is_local


def test_a_password_in_an_address_is_not_shown():
    info = look_up_model("x", "http://me:secret@box:8000/v1")
    assert info.endpoint is not None
    assert info.endpoint.service == "box:8000"


def test_ollama_is_on_this_computer_and_gets_a_context_that_fits_into_memory():
    info = look_up_model("ollama_chat/some-new-model")
    assert (info.is_local, info.input_limit) == (True, 16_384)


def test_ollama_is_called_at_its_own_interface_with_the_context_that_is_set():
    info = look_up_model("ollama/new-model", "http://127.0.0.1:11434/v1", local_context=32_000)
    assert info.endpoint is not None
    assert (info.endpoint.wire_name, info.endpoint.api_base, info.input_limit) == (
        "ollama_chat/new-model",
        "http://127.0.0.1:11434",
        32_000,
    )


@pytest.mark.parametrize(
    ("name", "base", "owner"),
    [
        ("openai/gpt-4o", "", "openai"),
        ("gpt-4o", "https://api.openai.com/v1", "openai"),
        ("llama", "https://api.groq.com/openai/v1", "groq"),
        ("gpt-4o", "http://api.openai.com/v1", "http://api.openai.com"),
        ("gpt-4o", "https://api.openai.com:8443/v1", "https://api.openai.com:8443"),
        ("gpt-4o", "https://api.openai.com.evil.example/v1", "https://api.openai.com.evil.example"),
        ("gpt-4o", "http://me:secret@BOX:8000/v1", "http://box:8000"),
        ("x", "http://[::1]:8000", "http://[::1]:8000"),
        ("ollama/llama3", "", "http://127.0.0.1:11434"),
    ],
)
def test_a_key_belongs_to_its_own_host_or_to_an_address(name, base, owner):
    assert look_up_model(name, base).key_provider == owner


@pytest.mark.parametrize(
    ("entry", "limit"), [(LLAMA_CPP, 8_192), (VLLM, 16_384), ({"id": "x"}, None)]
)
def test_a_limit_that_a_server_reports_is_believed(entry, limit):
    with ModelServer(models=[entry]) as server:
        assert look_up_model("anything", server.url, key_for=key_for).input_limit == limit


def test_of_several_models_the_named_one_counts():
    with ModelServer(models=[VLLM, {"id": "other", "max_model_len": 4_096}]) as server:
        assert look_up_model("other", server.url, key_for=key_for).input_limit == 4_096
        assert look_up_model("third", server.url, key_for=key_for).input_limit is None


def test_a_server_is_asked_seldom(server):
    for _ in range(5):
        look_up_model("scripted", server.url, key_for=key_for)
    pages = ["/api/version", "/v1/models", "/api/v0/models", "/props"]
    assert [received.path for received in server.received] == pages


def test_without_a_key_port_nobody_is_asked(server):
    look_up_model("scripted", server.url)
    assert server.received == []


def test_offline_asks_no_other_host():
    info = look_up_model("x", "http://192.0.2.1/v1", key_for=key_for, offline=True)
    assert info.input_limit is None


def test_a_server_that_is_gone_offers_nothing():
    with ModelServer() as gone:
        url = gone.url
    assert list_served_models(url) == ModelList((), "silent")


def test_the_query_of_an_address_is_sent_with_each_request():
    with ModelServer(pages={"/v1/models?api-version=1": {"data": [{"id": "a"}]}}) as server:
        base = f"{server.url}/?api-version=1#top"
        assert [one.name for one in list_served_models(base).models] == ["a"]


def test_an_address_that_is_none_offers_nothing():
    assert list_served_models("not an address").models == ()


def test_a_server_offers_its_models():
    with ModelServer(models=[VLLM, {"id": "other"}]) as server:
        assert list_served_models(server.url).models == (
            ServedModel("Qwen/Qwen2", 16_384),
            ServedModel("other", None),
        )


@pytest.mark.parametrize(
    "page",
    [
        [{"id": "a"}, {"id": "b"}],
        ["a", "b"],
        {"data": ["a", "b"]},
        {"models": [{"name": "a"}, {"name": "b"}]},
        {"models": [{"model": "a"}, {"name": "", "model": "b"}]},
        {"result": {"data": [{"id": "a"}, {"id": "b"}]}},
        {"data": {"a": {"object": "model"}, "b": {}}},
        {"data": [{"id": " a "}, {"id": "a"}, {"id": 5}, {"id": None}, {"id": ""}, 7, {"id": "b"}]},
        {"data": [{"id": "a"}, {"id": "line\nend"}, {"id": "x" * 500}, {"id": "b"}]},
    ],
)
def test_models_are_listed_whatever_form_the_list_has(page):
    with ModelServer(pages={"/v1/models": page}) as server:
        assert [one.name for one in list_served_models(server.url).models] == ["a", "b"]


@pytest.mark.parametrize(
    "page", [{"error": {"message": "no"}}, {"data": None}, {"data": 4}, 5, "a", {"detail": ["x"]}]
)
def test_a_page_without_a_list_has_no_models(page):
    with ModelServer(pages={"/v1/models": page}) as server:
        assert list_served_models(server.url).models == ()


@pytest.mark.parametrize(
    ("entry", "limit"),
    [
        ({"context_window": 8_192}, 8_192),
        ({"context_length": "8192"}, 8_192),
        ({"context_length": 8_192.0}, 8_192),
        ({"context_length": 131_072, "meta": {"n_ctx": 8_192}}, 8_192),
        ({"context_length": 200_000, "top_provider": {"context_length": 8_192}}, 8_192),
        ({"capabilities": {"limits": {"max_context_window_tokens": 8_192}}}, 8_192),
        ({"inputTokenLimit": 8_192}, 8_192),
        ({"context_length": 0, "max_model_len": -1}, None),
        ({"context_length": True, "context_window": "8k"}, None),
        ({"context_length": 10**15}, None),
        ({"meta": {"n_ctx_train": 32_768}, "top_provider": None, "capabilities": []}, None),
    ],
)
def test_a_context_length_is_read_wherever_a_server_puts_it(entry, limit):
    with ModelServer(models=[{"id": "m", **entry}]) as server:
        assert [one.input_limit for one in list_served_models(server.url).models] == [limit]


LM_STUDIO = {
    "data": [
        {"id": "qwen", "max_context_length": 32_768, "loaded_context_length": 8_192},
        {"id": "gemma", "max_context_length": 131_072, "state": "not-loaded", "type": "vlm"},
    ]
}


def test_lm_studio_is_asked_for_its_context_lengths():
    models = [{"id": "qwen"}, {"id": "gemma"}, {"id": "other"}]
    with ModelServer(models=models, pages={"/api/v0/models": LM_STUDIO}) as server:
        found = list_served_models(server.url).models
    assert [(one.input_limit, one.abilities.sees) for one in found] == [
        (8_192, None),
        (131_072, True),
        (None, None),
    ]


def test_llama_cpp_is_asked_for_the_length_of_its_slots():
    page = {"default_generation_settings": {"n_ctx": 4_096}}
    models = [{"id": "m.gguf", "meta": {"n_ctx_train": 32_768}}]
    with ModelServer(models=models, pages={"/props": page}) as server:
        assert look_up_model("any", server.url, key_for=key_for).input_limit == 4_096


def test_a_server_that_states_its_lengths_is_asked_once():
    with ModelServer(models=[VLLM]) as server:
        list_served_models(server.url)
        assert [received.path for received in server.received] == ["/api/version", "/v1/models"]


@pytest.mark.parametrize("page", [[], {"data": 4}, {"data": [{"id": 3}, "x", None]}])
def test_a_strange_page_says_nothing(page):
    pages = {"/api/v0/models": page, "/props": page}
    with ModelServer(models=[{"id": "x"}], pages=pages) as server:
        assert list_served_models(server.url).models == (ServedModel("x", None),)


def test_a_refusal_is_not_kept_and_an_answer_is_kept_for_its_key_alone():
    with ModelServer(key="right", models=[VLLM]) as server:
        assert list_served_models(server.url).problem == "wants_key"
        assert list_served_models(server.url, "wrong").problem == "refused_key"
        assert list_served_models(server.url, "right").models
        assert list_served_models(server.url, "right").models
        assert sum(received.path == "/v1/models" for received in server.received) == 3
        assert list_served_models(server.url, "wrong").problem == "refused_key"
