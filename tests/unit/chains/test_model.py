"""The real path through litellm, against a scripted server on loopback."""

import gc
import subprocess
import sys
import threading
import time
from dataclasses import replace
from unittest.mock import Mock

import httpx
import pytest

from chains.cancel import CancelToken
from chains.errors import (
    BadRequest,
    Cancelled,
    MissingKey,
    ModelUnavailable,
    Offline,
    RateLimited,
)
from chains.events import Usage
from chains.extractive.model import ExtractiveModel
from chains.gguf.model import GgufModel
from chains.llm.http import open_client
from chains.llm.port import (
    Endpoint,
    ModelEnded,
    ModelReasoning,
    ModelSent,
    ModelText,
    ModelWaiting,
)
from chains.model import LiteLLMModel
from chains.models import look_up_model
from context.errors import ContextOverflow, UnguardedRequest
from tests.support.models.gemini_events import gemini_events
from tests.support.models.model_server import Answer, Failure, ModelServer, Raw, Silence


@pytest.fixture
def model(server, pause):
    return LiteLLMModel(look_up_model("scripted", server.url).endpoint, lambda _: None, pause=pause)


def text_of(events):
    return "".join(event.text for event in events if isinstance(event, ModelText))


def stop_at(kind, model, request):
    """Cancel as soon as an event of a kind has come."""
    token = CancelToken()
    for event in model.stream(request, token):
        if isinstance(event, kind):
            token.cancel()


def test_an_answer_is_streamed_in_pieces(model, server, prepared):
    server.script(Answer("The answer is forty-two.", chunk_chars=4))
    events = list(model.stream(prepared, CancelToken()))
    assert text_of(events) == "The answer is forty-two."
    assert sum(isinstance(event, ModelText) for event in events) > 3


def test_what_is_said_to_be_sent_is_what_the_server_received(model, server, prepared):
    sent = next(event for event in model.stream(prepared, CancelToken()))
    list(model.stream(prepared, CancelToken()))
    assert isinstance(sent, ModelSent)
    assert dict(sent.body) == server.bodies[0]


def test_the_body_holds_the_guarded_request_and_its_options(model, server, prepared):
    list(model.stream(prepared, CancelToken()))
    body, neutral = server.bodies[0], prepared.request_body()
    assert body["messages"][0] == {"role": "system", "content": neutral["system"]}
    assert body["messages"][1:] == neutral["messages"]
    options = neutral["options"]
    assert (body["model"], body["stream"]) == ("scripted", True)
    assert (body["temperature"], body["max_tokens"]) == (
        options["temperature"],
        options["maxTokens"],
    )


def test_usage_is_what_the_service_counted(model, prepared):
    ended = list(model.stream(prepared, CancelToken()))[-1]
    assert ended == ModelEnded("complete", "stop", Usage(1, 100, 10, 40, 0.0))


def test_a_service_that_counts_nothing_gets_no_made_up_usage(model, server, prepared):
    server.script(Answer(usage=None))
    assert list(model.stream(prepared, CancelToken()))[-1] == ModelEnded("complete", "stop", None)


def test_the_reason_to_finish_is_passed_on(model, server, prepared):
    server.script(Answer(finish="length"))
    assert list(model.stream(prepared, CancelToken()))[-1].finish == "length"


@pytest.mark.parametrize("thing", ["Tell me.", {"messages": []}, None])
def test_only_a_request_that_passed_the_guard_is_taken(model, server, thing):
    with pytest.raises(UnguardedRequest):
        list(model.stream(thing, CancelToken()))
    assert server.received == []


def test_a_request_that_is_not_sealed_is_not_taken(model, server, prepared):
    unsealed = replace(prepared, state="guarded")
    files = GgufModel(Mock(), Mock(), 4_096, Mock(), Mock())
    for port in (model, ExtractiveModel("Why?", has_searched=True), files):
        with pytest.raises(UnguardedRequest, match="passed the budget guard"):
            next(port.stream(unsealed, CancelToken()))
    assert server.received == []


# Failures


GEMINI = "gemini/gemini-2.5-flash"


@pytest.fixture
def gemini(server, pause):
    endpoint = look_up_model(GEMINI, server.url.removesuffix("/v1")).endpoint
    return LiteLLMModel(endpoint, lambda _: "key", pause=pause)


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Answer("All of it.", chunk_chars=5), "complete"),
        (Answer('He says "finishReason".', chunk_chars=99, break_after=1), "interrupted"),
        (Answer("All of it.", chunk_chars=5, break_after=2), "interrupted"),
        (Answer("All of it.", chunk_chars=5, cut_json_after=1), "interrupted"),
    ],
)
def test_an_answer_of_gemini_that_breaks_off_is_known(gemini, server, prepared, reply, status):
    server.script(reply)
    found = list(gemini.stream(prepared, CancelToken()))
    assert text_of(found)
    assert reply.text.startswith(text_of(found))
    assert found[-1].status == status


@pytest.mark.parametrize("is_finished", [True, False])
def test_what_cannot_be_read_after_an_answer_of_gemini_is_ignored(
    gemini, server, prepared, is_finished
):
    said = Answer("All of it.", chunk_chars=5)
    events = list(gemini_events(said, GEMINI))[: None if is_finished else -1]
    broken = '{"candidates": [{"content": {"parts": 7}, "index": 0}]}'
    data = "".join(f"data: {event}\r\n\r\n" for event in (*events, broken))
    server.script(Raw(data.encode()))
    found = list(gemini.stream(prepared, CancelToken()))
    assert text_of(found) == said.text
    assert found[-1].status == ("complete" if is_finished else "interrupted")
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_a_missing_key(server, prepared, status):
    server.script(Failure(status))
    model = LiteLLMModel(look_up_model("scripted", server.url).endpoint, lambda _: "sk-wrong")
    with pytest.raises(MissingKey) as caught:
        list(model.stream(prepared, CancelToken()))
    assert caught.value.is_refused
    assert len(server.received) == 1


def test_a_provider_without_a_key_is_not_even_called(prepared):
    model = LiteLLMModel(look_up_model("gpt-4o").endpoint, lambda _: None)
    with pytest.raises(MissingKey) as caught:
        list(model.stream(prepared, CancelToken()))
    assert caught.value.service == "OpenAI"
    assert not caught.value.is_refused


def test_a_server_on_loopback_needs_no_key(model, prepared):
    assert text_of(model.stream(prepared, CancelToken())) == "Understood."


def test_a_server_that_wants_a_key_after_all_says_that_none_was_given(model, server, prepared):
    server.script(Failure.saying(401, "none of your business"))
    with pytest.raises(MissingKey) as caught:
        list(model.stream(prepared, CancelToken()))
    assert (caught.value.is_refused, caught.value.reason) == (False, "none of your business")


def test_a_key_goes_into_the_header_and_nowhere_else(server, prepared):
    model = LiteLLMModel(look_up_model("scripted", server.url).endpoint, lambda _: "sk-secret")
    list(model.stream(prepared, CancelToken()))
    assert server.received[0].headers["authorization"] == "Bearer sk-secret"
    assert b"sk-secret" not in server.received[0].raw


def test_a_key_that_a_server_repeats_is_not_shown(server, prepared):
    server.script(Failure.saying(401, "Incorrect API key provided: sk-secret."))
    model = LiteLLMModel(look_up_model("scripted", server.url).endpoint, lambda _: "sk-secret")
    with pytest.raises(MissingKey) as caught:
        list(model.stream(prepared, CancelToken()))
    assert "sk-secret" not in f"{caught.value} {caught.value.reason}"


def test_a_short_wait_that_a_service_asks_for_is_obeyed(model, server, prepared, pauses):
    server.script(Failure.saying(429, "slow down", Retry_After="7"), Answer("Now."))
    events = list(model.stream(prepared, CancelToken()))
    assert (text_of(events), pauses) == ("Now.", [7.0])
    assert ModelWaiting(7.0, "slow down") in events


@pytest.mark.parametrize(
    ("said", "waits_s"),
    [
        ("Please try again in 2.5s.", 2.5),
        ("Please retry in 17 seconds", 17.0),
        ("Try again in 700ms.", 0.7),
        ("Please try again in 0m12.25s.", 12.25),
        ("Please try again in 5 models", 1.0),
        ("Please try again in a while", 1.0),
        ("Please try again after 10:30 UTC", 1.0),
        ("Please retry after 12/01.", 1.0),
    ],
)
def test_a_wait_that_a_text_names_is_obeyed(model, server, prepared, pauses, said, waits_s):
    server.script(Failure.saying(429, f"Rate limit reached. {said}"), Answer("Now."))
    assert text_of(list(model.stream(prepared, CancelToken()))) == "Now."
    assert pauses == [waits_s]


def test_a_wait_is_obeyed_while_a_model_is_loaded(model, server, prepared, pauses):
    loading = '{"error": "Model m is currently loading", "estimated_time": 20.0}'
    busy = Failure.saying(503, "Loading model", Retry_After="9")
    server.script(Failure(503, loading), busy, Answer("Now."))
    assert text_of(list(model.stream(prepared, CancelToken()))) == "Now."
    assert pauses == [20.0, 9.0]


def test_no_pause_outlasts_the_time_that_the_user_gives_an_answer(server, prepared, pause, pauses):
    endpoint = look_up_model("scripted", server.url).endpoint
    limited = LiteLLMModel(endpoint, lambda _: None, pause=pause, max_seconds=25)
    server.script(Failure.saying(429, "slow down", Retry_After="30"))
    with pytest.raises(RateLimited):
        list(limited.stream(prepared, CancelToken()))
    assert (len(server.received), pauses) == (1, [])


def test_a_long_wait_is_passed_on_at_once(model, server, prepared, pauses):
    server.script(Failure.saying(429, "slow down", Retry_After="31"))
    with pytest.raises(RateLimited) as caught:
        list(model.stream(prepared, CancelToken()))
    assert caught.value.retry_after_s == 31
    assert (len(server.received), pauses) == (1, [])


@pytest.mark.parametrize(
    ("asked", "told"),
    [("31", "31 s"), ("121", "3 minutes"), ("7201", "3 hours"), ("99999999", "1,158 days")],
)
def test_a_long_wait_is_told_as_a_person_would(model, server, prepared, asked, told):
    server.script(Failure.saying(429, "slow down", Retry_After=asked))
    with pytest.raises(RateLimited, match=f"asks to wait {told}\\."):
        list(model.stream(prepared, CancelToken()))


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": "many"},
        {"prompt_tokens": [1], "completion_tokens": {}},
        {"prompt_tokens": 1e30, "completion_tokens": 2.5},
        {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": "x"}},
        {"prompt_tokens": -9, "completion_tokens": 1, "total_tokens": -8},
    ],
)
def test_an_answer_is_whole_whatever_the_service_counted(model, server, prepared, usage):
    server.script(Answer("All of it.", usage=usage))
    *pieces, ended = model.stream(prepared, CancelToken())
    assert text_of(pieces) == "All of it."
    assert ended == ModelEnded("complete", "stop")


def test_a_service_that_stays_too_busy_is_tried_three_times(model, server, prepared, pauses):
    server.script(Failure(429))
    with pytest.raises(RateLimited):
        list(model.stream(prepared, CancelToken()))
    assert (len(server.received), pauses) == (3, [1.0, 3.0])


@pytest.mark.parametrize("status", [408, 500, 502, 503])
def test_a_server_in_trouble_is_tried_three_times(model, server, prepared, status):
    server.script(Failure.saying(status, "out of memory"))
    with pytest.raises(ModelUnavailable, match="out of memory"):
        list(model.stream(prepared, CancelToken()))
    assert len(server.received) == 3


def test_a_server_that_recovers_answers(model, server, prepared):
    server.script(Failure(503), Failure(503), Answer("Back."))
    assert text_of(model.stream(prepared, CancelToken())) == "Back."


def test_nobody_listening_is_said_in_words(prepared, pause, pauses):
    with ModelServer() as gone:
        endpoint = look_up_model("scripted", gone.url).endpoint
    with pytest.raises(ModelUnavailable, match="nothing answers at that address"):
        list(LiteLLMModel(endpoint, lambda _: None, pause=pause).stream(prepared, CancelToken()))
    assert len(pauses) == 2


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_request_that_is_not_accepted_is_given_with_the_servers_reason(
    model, server, prepared, status
):
    server.script(Failure.saying(status, "temperature must be 1"))
    with pytest.raises(BadRequest, match="temperature must be 1"):
        list(model.stream(prepared, CancelToken()))
    assert len(server.received) == 1


def test_an_overflow_is_told_from_other_refusals(model, server, prepared):
    server.script(Failure.saying(400, "prompt is too long: 210000 tokens > 200000 maximum"))
    with pytest.raises(ContextOverflow):
        list(model.stream(prepared, CancelToken()))


def test_an_overflow_inside_a_stream_is_one_too(model, server, prepared):
    error = b'{"error": {"code": 400, "message": "the request exceeds the available context size"}}'
    server.script(Raw(b"data: " + error + b"\n\n"))
    with pytest.raises(ContextOverflow):
        list(model.stream(prepared, CancelToken()))


def test_a_redirect_is_not_followed(model, server, prepared):
    server.script(Failure(307, headers={"Location": "http://127.0.0.1:9/elsewhere"}))
    with pytest.raises(BadRequest):
        list(model.stream(prepared, CancelToken()))


# Streams that end badly

BROKEN = {
    "broken off": Answer("Some of the words.", chunk_chars=5, break_after=3),
    "ended inside an event": Answer("Some of the words.", chunk_chars=5, cut_json_after=3),
    "ended without a word": Answer("Some of the words.", finish=None, usage=None, says_done=False),
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN.keys())
def test_what_came_before_the_end_is_kept(model, server, prepared, reply):
    server.script(reply)
    events = list(model.stream(prepared, CancelToken()))
    assert "Some of the words.".startswith(text_of(events))
    assert text_of(events)
    assert (events[-1].status, len(server.received)) == ("interrupted", 1)


EMPTY = {
    "broken off": Answer(break_after=1),
    "ended inside an event": Answer(cut_json_after=1),
    "ended without a word": Answer("", finish=None, says_done=False),
    "nothing at all": Raw(b" \n"),
    "an error in the stream": Raw(b'data: {"error": {"message": "boom", "code": 500}}\n\n'),
}


@pytest.mark.parametrize("reply", EMPTY.values(), ids=EMPTY.keys())
def test_a_stream_that_ends_before_its_first_word_is_tried_again(model, server, prepared, reply):
    server.script(reply, Answer("Here."))
    assert text_of(model.stream(prepared, CancelToken())) == "Here."


@pytest.mark.parametrize("reply", EMPTY.values(), ids=EMPTY.keys())
def test_three_empty_streams_mean_that_nobody_answers(model, server, prepared, reply):
    server.script(reply)
    with pytest.raises(ModelUnavailable):
        list(model.stream(prepared, CancelToken()))
    assert len(server.received) == 3


@pytest.mark.parametrize("data", [b"x" * 65_536, b"data: {}\n\n" * 4_096], ids=["line", "events"])
def test_an_answer_without_end_is_given_up(model, server, prepared, data):
    server.script(Raw(data, repeats=None))
    with pytest.raises(ModelUnavailable, match="more than an answer can be"):
        list(model.stream(prepared, CancelToken()))
    assert server.sent_bytes < 100_000_000
    assert len(server.received) == 1


# Stopping


@pytest.mark.parametrize("reply", [Silence(), Answer(stall_after=1), Answer(stall_after=2)])
def test_a_stop_takes_effect_within_200_ms_while_the_server_stalls(model, server, prepared, reply):
    server.script(reply)
    waits = []
    while len(waits) < 10 and min(waits, default=1) >= 0.2:  # the machine may be busy otherwise
        token, cancelled_at = CancelToken(), []
        token.on_cancel(lambda at=cancelled_at: at.append(time.monotonic()))
        threading.Timer(0.2, token.cancel).start()
        with pytest.raises(Cancelled):
            list(model.stream(prepared, token))
        waits.append(time.monotonic() - cancelled_at[0])
    assert min(waits) < 0.2


def test_stopped_calls_leave_the_pool_free(model, server, prepared):
    server.script(Answer(stall_after=2))
    for _ in range(12):
        with pytest.raises(Cancelled):
            stop_at(ModelText, model, prepared)
    server.script(Answer("Free."))
    assert text_of(model.stream(prepared, CancelToken())) == "Free."


def test_a_stop_between_two_tries_ends_the_waiting(server, prepared):
    server.script(Failure(503))
    model = LiteLLMModel(look_up_model("scripted", server.url).endpoint, lambda _: None)
    with pytest.raises(Cancelled):
        stop_at(ModelWaiting, model, prepared)
    assert len(server.received) == 1


@pytest.mark.parametrize("name", ["scripted", "anthropic/claude-sonnet-4-5"])
def test_no_answer_leaves_its_connection_to_the_garbage_collector(server, prepared, name):
    endpoint = look_up_model(name, server.url).endpoint
    assert not gc.isenabled()
    list(LiteLLMModel(endpoint, lambda _: "key", offline=True).stream(prepared, CancelToken()))
    assert open_client()._transport_for_url(httpx.URL(server.url))._pool._requests == []


# What leaves this computer


def test_offline_refuses_another_host_before_any_call(prepared):
    endpoint = look_up_model("scripted", "http://192.0.2.1:8000/v1").endpoint
    with pytest.raises(Offline):
        list(LiteLLMModel(endpoint, lambda _: "key", offline=True).stream(prepared, CancelToken()))


def test_offline_lets_this_computer_answer(server, prepared):
    model = LiteLLMModel(
        look_up_model("scripted", server.url).endpoint, lambda _: None, offline=True
    )
    assert text_of(model.stream(prepared, CancelToken())) == "Understood."


def test_offline_holds_on_the_wire_whatever_the_endpoint_says(prepared):
    lying = Endpoint("openai/x", "openai", "http://192.0.2.1/v1", "x", "x", True, False)
    with pytest.raises(Offline):
        list(LiteLLMModel(lying, lambda _: None, offline=True).stream(prepared, CancelToken()))


def test_ollama_is_asked_for_the_context_that_was_planned(server, prepared, pause):
    server.script(Failure(400))
    endpoint = look_up_model("ollama_chat/llama3", server.url.removesuffix("/v1")).endpoint
    with pytest.raises(BadRequest):
        list(LiteLLMModel(endpoint, lambda _: None, pause=pause).stream(prepared, CancelToken()))
    asked = [received for received in server.received if received.path.endswith("/api/chat")]
    assert asked[0].body["options"]["num_ctx"] == prepared.report.request_budget.window


def test_nothing_is_printed(model, server, prepared, capfd):
    server.script(Failure(500), Answer("Some words", break_after=2))
    list(model.stream(prepared, CancelToken()))
    assert capfd.readouterr() == ("", "")


def test_importing_the_chains_imports_nothing_heavy():
    heavy = {"litellm", "tiktoken", "httpx", "openai", "torch", "chromadb", "numpy"}
    code = f"import sys, chains.turn.run; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_dotenv_file_in_the_current_folder_is_not_read(tmp_path):
    (tmp_path / ".env").write_text("STRATA_PLANTED=yes\n")
    code = (
        "import os, sys; from chains.model import _litellm; _litellm()\n"
        "sys.exit('read' if 'STRATA_PLANTED' in os.environ else None)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"")


LOADS = """
import os, sys, threading
from chains.model import warm_up

class Seen:
    begun, thread = threading.Event(), None

    def find_spec(self, name, path, target=None):
        if name == "litellm":
            Seen.thread = threading.current_thread()
            Seen.begun.set()

sys.meta_path.insert(0, Seen())
warm_up()
assert Seen.begun.wait(30)
print("beside" if Seen.thread is not threading.main_thread() else "in the caller", flush=True)
os._exit(0)
"""


def test_warming_up_loads_the_client_beside_the_caller():
    command = [sys.executable, "-P", "-c", LOADS]
    done = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)
    assert done.stdout == "beside\n"


FAILS_ONCE = """
import sys
from chains.errors import ClientNotLoaded
from chains.model import _litellm

class Refuse:
    def find_spec(self, name, path, target=None):
        if name == "litellm.utils":
            sys.meta_path.remove(self)
            raise OSError(24, "Too many open files")

sys.meta_path.insert(0, Refuse())
try:
    _litellm()
except ClientNotLoaded as error:
    print(error)
print([name for name in sys.modules if name.startswith("litellm")])
print(_litellm().llms.__name__)
"""


def test_a_client_that_could_not_be_loaded_is_loaded_at_the_next_call():
    command = [sys.executable, "-P", "-c", FAILS_ONCE]
    done = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "Strata could not load its client for model services ([Errno 24] Too many open files). "
        "Your message is kept: try again, and start Strata anew if that does not help.",
        "[]",
        "litellm.llms",
    ]


# What a call costs


def find_usage(endpoint, prepared):
    """Return the usage of one call."""
    events = LiteLLMModel(endpoint, lambda _: "key").stream(prepared, CancelToken())
    (ended,) = (event for event in events if isinstance(event, ModelEnded))
    return ended.usage


def test_a_known_service_has_its_price_with_cached_tokens(server, prepared):
    own = look_up_model("openai/gpt-4o", server.url).endpoint
    usage = find_usage(replace(own, is_local=False, key_owner="openai"), prepared)
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (100, 40, 10)
    assert usage.cost == pytest.approx(60 * 2.5e-6 + 40 * 1.25e-6 + 10 * 10e-6)


def test_a_model_on_this_computer_costs_nothing_and_an_unknown_server_has_no_price(
    server, prepared
):
    endpoint = look_up_model("scripted", server.url).endpoint
    assert find_usage(endpoint, prepared).cost == 0.0
    assert find_usage(replace(endpoint, is_local=False), prepared).cost is None
    known = replace(endpoint, is_local=False, key_owner="openai")
    assert find_usage(known, prepared).cost is None  # a model that no table knows


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("anthropic/claude-sonnet-4-5", ""),
        ("gemini/gemini-2.5-flash", ""),
        ("ollama/llama3", ""),
        ("deepseek/deepseek-chat", "/v1"),
    ],
)
def test_thinking_within_text_is_none_of_it_in_every_protocol(server, prepared, pause, name, base):
    server.ollama_context = 64_000 if name.startswith("ollama") else None
    endpoint = look_up_model(name, server.root + base).endpoint
    server.script(Answer("<think>Hm, hm.</think>\n\nBehind the shed.", chunk_chars=5))
    model = LiteLLMModel(endpoint, lambda _: "key", pause=pause)
    events = list(model.stream(prepared, CancelToken()))
    assert text_of(events) == "Behind the shed."
    thoughts = [event.text for event in events if isinstance(event, ModelReasoning)]
    assert "".join(thoughts) == "Hm, hm."
    assert events[-1].status == "complete"
