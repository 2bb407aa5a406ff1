"""Requests whose shape a server refuses, on the real path through litellm."""

import json
from itertools import product

import pytest

from chains.cancel import CancelToken
from chains.errors import BadRequest, ModelUnavailable
from chains.llm.port import ModelReshaped, ModelSent, ModelText, ModelWaiting, ShapeMemory
from chains.llm.request_shape import USUAL_SHAPE, RequestShape
from chains.model import LiteLLMModel
from chains.models import look_up_model
from tests.support.models.model_server import Answer, Failure

# Models whose name says that they do not reason.
WITHOUT = ("grok-4-fast-non-reasoning", "qwen3-235b-nonthinking", "x-no-thinking")
# Models whose name only looks like that of a reasoning model.
ALIKE = ("command-r1", "command_r1:7b", "yi-o3x", "solo1", "r10-chat", "o2x", "mar1")
UNKNOWN = "Unrecognized request argument supplied: {}"


def refusing(*fields, text=UNKNOWN, status=400):
    """Refuse the first of some fields that a request has, as servers do, one at a time."""

    def reply(body):
        refused = next((field for field in fields if f'"{field}"' in json.dumps(body)), None)
        return Failure.saying(status, text.format(refused)) if refused else Answer("Here.")

    return reply


class Learned:
    """A store in memory."""

    def __init__(self, shape, learned):
        self.shape, self.learned = shape, learned

    def find_shape(self, owner):
        return self.shape

    def learn_shape(self, owner, shape):
        self.learned.append(shape)


@pytest.fixture
def learned():
    return []


@pytest.fixture
def model(server, pause, learned):
    def make(shape=USUAL_SHAPE, name="scripted", key=None):
        endpoint = look_up_model(name, server.url).endpoint
        memory = ShapeMemory(Learned(shape, learned), name)
        return LiteLLMModel(endpoint, lambda _: key, pause=pause, shapes=memory)

    return make


def stream(model, request):
    return list(model.stream(request, CancelToken()))


@pytest.mark.parametrize("field", ["temperature", "stream_options"])
@pytest.mark.parametrize("name", ["scripted", "hosted_vllm/scripted"])
def test_a_refused_field_is_left_out_once_and_remembered(
    model, server, prepared, learned, pauses, field, name
):
    server.script(refusing(field))
    events = stream(model(name=name, key="key"), prepared)
    assert [field in body for body in server.bodies] == [True, False]
    assert "".join(event.text for event in events if isinstance(event, ModelText)) == "Here."
    (said,) = [event for event in events if isinstance(event, ModelReshaped)]
    assert said.change == f"no {field}"
    assert learned == [RequestShape(frozenset({field}))]
    assert pauses == []


def test_what_is_said_to_be_sent_is_the_last_body_byte_for_byte(model, server, prepared):
    server.script(refusing("temperature", "stream_options"))
    sent = [event for event in stream(model(), prepared) if isinstance(event, ModelSent)]
    assert [dict(event.body) for event in sent] == server.bodies
    assert sent[-1].body.text.encode() == server.received[-1].raw


def test_fields_that_are_refused_one_after_the_other_cost_one_try_each(
    model, server, prepared, learned, pauses
):
    server.script(refusing("temperature", "stream_options", "max_tokens"))
    stream(model(), prepared)
    assert len(server.bodies) == 4
    assert set(server.bodies[-1]) == {"model", "messages", "stream", "max_completion_tokens"}
    assert server.bodies[-1]["max_completion_tokens"] == server.bodies[0]["max_tokens"]
    assert learned == [
        RequestShape(
            frozenset({"temperature", "stream_options"}), frozenset({"max_completion_tokens"})
        )
    ]
    assert pauses == []


def test_an_output_limit_is_learned_from_the_refusal_that_names_it(
    model, server, prepared, learned
):
    said = "max_tokens is too large: {}. This model supports at most 300 completion tokens."

    def reply(body):
        asked = body["max_tokens"]
        return Failure.saying(400, said.format(asked)) if asked > 300 else Answer("Here.")

    server.script(reply)
    events = stream(model(), prepared)
    assert [event.max_output_tokens for event in events if isinstance(event, ModelSent)][-1] == 300
    (shaped,) = [event for event in events if isinstance(event, ModelReshaped)]
    assert shaped.change == "at most 300 tokens out"
    assert [body["max_tokens"] for body in server.bodies][1:] == [300]
    assert learned == [USUAL_SHAPE.with_output_limit(300)]


def test_a_learned_shape_needs_no_second_request(model, server, prepared, learned):
    server.script(refusing("temperature"))
    events = stream(model(RequestShape(frozenset({"temperature"}))), prepared)
    assert len(server.bodies) == 1
    assert not any(isinstance(event, ModelReshaped) for event in events)
    assert learned == []


def test_a_shape_is_not_learned_from_a_retry_that_fails(model, server, prepared, learned):
    server.script(Failure.saying(400, UNKNOWN.format("temperature")), Failure(401))
    with pytest.raises(Exception, match="key"):
        stream(model(), prepared)
    assert learned == []


def test_a_server_that_refuses_everything_in_the_same_words_is_asked_twice(
    model, server, prepared, learned
):
    said = UNKNOWN.format("temperature")
    server.script(Failure.saying(400, said))
    with pytest.raises(BadRequest, match="temperature"):
        stream(model(), prepared)
    assert len(server.bodies) == 2
    assert learned == []


def test_the_first_refusal_is_reported_where_no_shape_helps(model, server, prepared):
    server.script(
        Failure.saying(400, UNKNOWN.format("temperature")),
        Failure.saying(400, UNKNOWN.format("stream_options")),
        Failure.saying(400, "I am a teapot."),
    )
    with pytest.raises(BadRequest, match="temperature"):
        stream(model(), prepared)
    assert len(server.bodies) == 3


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_trouble_of_the_server_behind_a_changed_shape_is_reported_as_such(
    model, server, prepared, status
):
    server.script(
        Failure.saying(400, UNKNOWN.format("temperature")),
        Failure.saying(status, "The server is overloaded."),
    )
    with pytest.raises(ModelUnavailable, match="overloaded"):
        stream(model(), prepared)


def test_a_refusal_of_a_template_behind_a_changed_shape_is_none_of_the_server(
    model, server, prepared
):
    """It may only be about the attempt to mend the first one."""
    server.script(
        Failure.saying(400, UNKNOWN.format("temperature")),
        Failure.saying(500, "Jinja Exception: System role not supported"),
    )
    with pytest.raises(BadRequest, match="temperature"):
        stream(model(), prepared)


def test_trouble_of_the_server_is_not_reported_in_place_of_a_later_refusal(model, server, prepared):
    server.script(
        Failure.saying(500, "model is loading"), Failure.saying(400, "Invalid value: 'user'.")
    )
    with pytest.raises(BadRequest, match="Invalid value"):
        stream(model(), prepared)


def test_a_field_that_was_not_sent_is_no_reason_to_ask_again(model, server, prepared):
    server.script(Failure.saying(400, UNKNOWN.format("tools")))
    with pytest.raises(BadRequest):
        stream(model(), prepared)
    assert len(server.bodies) == 1


def test_retries_for_a_shape_are_not_counted_as_tries(model, server, prepared, pauses):
    server.script(
        Failure(503),
        Failure.saying(400, UNKNOWN.format("temperature")),
        Failure(503),
        Failure.saying(400, UNKNOWN.format("stream_options")),
        Answer("Here."),
    )
    events = stream(model(), prepared)
    assert sum(isinstance(event, ModelWaiting) for event in events) == 2
    assert len(server.bodies) == 5


def test_a_template_that_knows_no_system_role_gets_the_instructions_from_the_user(
    model, server, prepared, learned
):
    def reply(body):
        if body["messages"][0]["role"] == "system":
            return Failure.saying(500, "Jinja Exception: System role not supported")
        return Answer("Here.")

    server.script(reply)
    stream(model(), prepared)
    first, second = (body["messages"] for body in server.bodies)
    assert [message["role"] for message in second] == ["user"]
    assert second[0]["content"] == f"{first[0]['content']}\n\n{first[1]['content']}"
    assert learned == [RequestShape(forms=frozenset({"system_in_user"}))]


def test_an_error_of_the_server_itself_is_tried_again_as_before(model, server, prepared, pauses):
    server.script(Failure(500))
    with pytest.raises(ModelUnavailable):
        stream(model(), prepared)
    assert (len(server.bodies), len(pauses)) == (3, 2)


@pytest.mark.parametrize(
    "name",
    [
        "openai/o3-mini",
        "gpt-5-mini",
        "gpt-5.1",
        "qwq:32b",
        "deepseek-r1:8b",
        "DeepSeek-R1-Distill",
        "nano-thinking",
        "phi4-reasoning",
    ],
)
def test_a_model_that_reasons_gets_no_temperature(model, server, prepared, name):
    stream(model(name=name), prepared)
    assert "temperature" not in server.bodies[0]


@pytest.mark.parametrize(
    "name", ["gpt-4o", "gpt-5-chat-latest", "command-r", "llama-3.1-8b", *WITHOUT, *ALIKE]
)
def test_another_model_gets_one(model, server, prepared, name):
    stream(model(name=name), prepared)
    assert "temperature" in server.bodies[0]


PROVIDERS = (
    *("anthropic", "deepseek", "gemini", "groq", "llamafile", "lm_studio", "mistral", "ollama"),
    *("openrouter", "together_ai", "xai"),
)
# These services take the field in any case, and litellm always sends it.
ALWAYS_TAKEN = {("anthropic", "max_tokens"), ("gemini", "temperature")}
NAMES_OF_FIELDS = {"temperature": ("temperature",), "max_tokens": ("max_tokens", "maxOutputTokens")}


@pytest.mark.parametrize(
    ("provider", "field"),
    [pair for pair in product(PROVIDERS, NAMES_OF_FIELDS) if pair not in ALWAYS_TAKEN],
)
def test_each_provider_learns_the_shape_of_its_own_requests(
    model, server, prepared, learned, provider, field
):
    def reply(body):
        sent = json.dumps(body)
        found = next((name for name in NAMES_OF_FIELDS[field] if f'"{name}"' in sent), None)
        return Failure.saying(400, UNKNOWN.format(found)) if found else Answer("Here.")

    server.script(reply)
    events = stream(model(name=f"{provider}/scripted", key="key"), prepared)
    assert "".join(event.text for event in events if isinstance(event, ModelText)) == "Here."
