"""The table of refusals: what servers say, and the shape that is tried next."""

import json
from time import process_time

import pytest

from chains.llm.request_shape import (
    USUAL_SHAPE,
    RequestShape,
    find_refused_fields,
    propose_shape,
    read_refusal,
)


def openai(message, param=None, code=None):
    return {"error": {"message": message, "type": "x", "param": param, "code": code}}


def pydantic(*place, said="Extra inputs are not permitted", of=None):
    return {"detail": [{"type": "x", "loc": ["body", *place], "msg": said, "input": of}]}


def no(*fields):
    return RequestShape(frozenset(fields))


def form(*names):
    return RequestShape(forms=frozenset(names))


REFUSALS = [
    # The name of the output limit
    (
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        ),
        form("max_completion_tokens"),
    ),
    (
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        form("max_completion_tokens"),
    ),
    ("Unrecognized request argument supplied: max_tokens", form("max_completion_tokens")),
    # Temperature
    (
        openai(
            "Unsupported value: 'temperature' does not support 0.2 with this model. "
            "Only the default (1) value is supported.",
            "temperature",
            "unsupported_value",
        ),
        no("temperature"),
    ),
    (openai("invalid temperature: only 1 is allowed for this model"), no("temperature")),
    (openai("`temperature` is deprecated for this model."), no("temperature")),
    (openai("temperature must be unset for this model"), no("temperature")),
    ("Unsupported parameter: 'temperature' is not supported with this model.", no("temperature")),
    ("Model does not support parameter temperature", no("temperature")),
    # Fields that a server has not heard of
    (pydantic("stream_options"), no("stream_options")),
    (pydantic("stream_options", said="extra fields not permitted"), no("stream_options")),
    (
        {"object": "error", "message": pydantic("parallel_tool_calls", of=True)},
        no("parallel_tool_calls"),
    ),
    ("Unrecognized request argument supplied: stream_options", no("stream_options")),
    ("Unrecognized request arguments supplied: parallel_tool_calls", no("parallel_tool_calls")),
    (openai("property 'stream_options' is unsupported"), no("stream_options")),
    (openai('json: unknown field "reasoning_effort"'), no("reasoning_effort")),
    ("Failed to parse: unknown field `stream_options`, expected one of `a`", no("stream_options")),
    (
        "Additional properties are not allowed ('stream_options' was unexpected)",
        no("stream_options"),
    ),
    (
        'Invalid JSON payload received. Unknown name "stream_options": Cannot find field.',
        no("stream_options"),
    ),
    ("create() got an unexpected keyword argument 'stream_options'", no("stream_options")),
    (openai("reasoning_effort is not supported with this model"), no("reasoning_effort")),
    (openai("This model does not support the parameter reasoning_effort"), no("reasoning_effort")),
    (openai("this model does not support thinking"), no("reasoning_effort")),
    ("invalid option provided: num_ctx", no("num_ctx")),
    (openai("Unknown parameter: 'num_ctx'", "num_ctx", "unknown_parameter"), no("num_ctx")),
    (openai("Extra inputs are not permitted: stream_options"), no("stream_options")),
    (openai("body -> temperature: extra fields not permitted"), no("temperature")),
    (openai("Argument not supported on this model: stream_options"), no("stream_options")),
    (openai("`stream_options`: unexpected property"), no("stream_options")),
    # Fields within messages
    (
        openai("messages.2: Extra inputs are not permitted: reasoning_content"),
        no("reasoning_content"),
    ),
    (
        {
            "error": {
                "type": "invalid_request_error",
                "message": "messages.0.content.0.cache_control: Extra inputs are not permitted",
            }
        },
        no("cache_control"),
    ),
    (pydantic("messages", 0, "user", "content", 0, "cache_control"), no("cache_control")),
    (pydantic("messages", 2, "assistant", "reasoning_content"), no("reasoning_content")),
    ("Unknown parameter: 'messages[2].reasoning_content'.", no("reasoning_content")),
    # Tools as a whole
    ("registry.ollama.ai/library/gemma2:2b does not support tools", no("tools")),
    (openai("tools param requires --jinja flag"), no("tools")),
    (
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and '
            "--tool-call-parser to be set",
            "type": "BadRequestError",
        },
        no("tools"),
    ),
    (openai("No endpoints found that support tool use. To learn more, see …"), no("tools")),
    (openai("`tool calling` is not supported with this model"), no("tools")),
    (openai("This model does not support tool calling"), no("tools")),
    (openai("The model x does not support tool use."), no("tools")),
    (openai("This model does not support `tools`."), no("tools")),
    (openai("Model does not support the parameter tools"), no("tools")),
    (openai("tools is not supported with this model"), no("tools")),
    (openai("Function calling is not enabled for models/gemma-3-1b-it"), no("tools")),
    ("Unrecognized request argument supplied: tools", no("tools")),
    (pydantic("tools"), no("tools")),
    # Several calls at once, which is not all tools
    (openai("Parallel tool calls are not supported"), no("parallel_tool_calls")),
    (openai("parallel tool calling is not supported with this model"), no("parallel_tool_calls")),
    (openai("This model does not support parallel tool calls."), no("parallel_tool_calls")),
    (openai("This model does not support parallel function calling"), no("parallel_tool_calls")),
    (openai("Parallel function calls are currently disabled"), no("parallel_tool_calls")),
    (openai("Multiple tool calls are not supported by this model"), no("parallel_tool_calls")),
    (
        {"detail": "Jinja Exception: This model only supports single tool-calls at once!"},
        no("parallel_tool_calls"),
    ),
    (openai("Only one tool call is allowed per message"), no("parallel_tool_calls")),
    (openai("Unsupported parameter: 'parallel_tool_calls'"), no("parallel_tool_calls")),
    (openai("This model doesn't support multiple tool calls"), no("parallel_tool_calls")),
    (openai("parallel_tool_use is not enabled for your plan"), no("parallel_tool_calls")),
    # No system role
    (openai("System role not supported"), form("system_in_user")),
    (
        {"detail": "Jinja Exception: System role not supported at row 1, column 41"},
        form("system_in_user"),
    ),
    (
        openai("Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        form("system_in_user"),
    ),
    (
        openai("Developer instruction is not enabled for models/gemma-3-1b-it"),
        form("system_in_user"),
    ),
    (openai("This model does not support system messages."), form("system_in_user")),
    (openai("Unknown role: system"), form("system_in_user")),
    (
        pydantic("messages", 0, "role", said="Input should be 'user' or 'assistant'"),
        form("system_in_user"),
    ),
    # Content as text
    (pydantic("messages", 1, "content", said="Input should be a valid string"), form("text_only")),
    (openai("messages[1].content must be a string"), form("text_only")),
    ("Failed to deserialize: invalid type: sequence, expected a string", form("text_only")),
    (
        "json: cannot unmarshal array into Go struct field Message.messages.content of type string",
        form("text_only"),
    ),
    (openai('can only concatenate str (not "list") to str'), form("text_only")),
    (openai("'content' as a list of parts is not supported"), form("text_only")),
    # Alternation
    (
        openai("Conversation roles must alternate user/assistant/user/assistant/..."),
        form("note_in_result"),
    ),
    (openai("Unexpected role 'user' after role 'tool'"), form("note_in_result")),
    (openai("Unexpected role 'tool'"), form("calls_as_text")),
    # Words of other servers, which were not looked at while the table was made
    (openai("Input validation error: `tools` not supported for this model"), no("tools")),
    (
        openai("Extra inputs are not permitted, field: 'stream_options', value: {}"),
        no("stream_options"),
    ),
    (
        "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'input': {}}]",
        no("stream_options"),
    ),
    (
        "Malformed input request: #: extraneous key [stream_options] is not permitted",
        no("stream_options"),
    ),
    (openai("temperature cannot be set for reasoning models"), no("temperature")),
    (openai("Parameter temperature: value 0.2 not allowed; must be 1"), no("temperature")),
    (
        openai("Please use max_completion_tokens instead of max_tokens"),
        form("max_completion_tokens"),
    ),
    (openai("Property stream_options is not expected to be here"), no("stream_options")),
    (openai("Only string content is supported"), form("text_only")),
    (
        openai("user and assistant roles should be alternating."),
        form("note_in_result"),
    ),
    (
        openai('messages: Unexpected role "system". Use the top-level `system` parameter'),
        form("system_in_user"),
    ),
    (openai("tool calling is currently disabled for this deployment"), no("tools")),
    # Behind a gateway
    (
        openai(json.dumps(openai("Unsupported parameter: 'temperature' is not supported."))),
        no("temperature"),
    ),
    (
        {
            "error": {
                "message": "Provider returned error",
                "metadata": {"raw": '{"error":{"message":"System role not supported"}}'},
            }
        },
        form("system_in_user"),
    ),
]


def first_proposal(body):
    raw = (body if isinstance(body, str) else json.dumps(body)).encode()
    return next(propose_shape(USUAL_SHAPE, read_refusal("", raw)), None)


@pytest.mark.parametrize(("body", "shape"), REFUSALS, ids=lambda value: str(value)[:60])
def test_a_refusal_leads_to_the_shape_it_asks_for(body, shape):
    assert first_proposal(body) == shape


OTHER_ERRORS = [
    openai("This model's maximum context length is 8192 tokens, however you requested 9000."),
    openai("temperature: range: 0..1"),
    openai("'max_tokens' or 'max_completion_tokens' is too large: 9000. It has 10 input tokens"),
    openai("Unexpected error while running the tools of another request"),
    openai("An unknown function was called: search_notes"),
    openai("The model `gpt-9` does not exist or you do not have access to it."),
    openai("Invalid schema for function 'search_notes': 'object' is not valid under any schema"),
    openai("tools.3.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    openai("Unknown parameter: 'tools[0].strict'."),
    pydantic("tools", 0, "function", "strict"),
    openai("messages with role 'tool' must be a response to a preceding message with tool_calls"),
    openai("An assistant message with 'tool_calls' must be followed by tool messages"),
    openai("You exceeded your current quota, please check your plan and billing details."),
    openai("Unknown parameter: 'messages[2].tool_calls[0].function'."),
    openai("This model does not support function names with dots."),
    openai("This model does not support tool schemas with anyOf: tools[3]"),
    openai("This model does not support tools with anyOf"),
    openai("This model does not support tool result images"),
    openai("Invalid parameter: tool names must match ^[a-z]"),
    openai("Invalid parameter: 'tools' must have unique names"),
    openai("Invalid value for tool_call_id: unknown tool call"),
    pydantic("messages", 2, "tool_calls", 0, "function"),
    openai("This function is not supported in this region"),
    openai("tool_calls is not supported in user messages"),
    openai("Image input is not supported"),
    openai("messages: text content blocks must be non-empty"),
    openai("Your request was rejected as a result of our safety system."),
    pydantic("messages", 3, "content", said="Field required", of={"text": "no temperature field"}),
    "<html><body>502 Bad Gateway</body></html>",
    "scripted failure",
    "",
]


@pytest.mark.parametrize("body", OTHER_ERRORS, ids=lambda value: str(value)[:60])
def test_another_error_changes_no_shape(body):
    assert first_proposal(body) is None


def test_a_second_refusal_of_the_same_kind_goes_one_step_further():
    text = "Conversation roles must alternate user/assistant/user/assistant/..."
    once = next(propose_shape(USUAL_SHAPE, text))
    twice = next(propose_shape(once, text))
    assert twice == form("note_in_result", "calls_as_text")
    assert list(propose_shape(twice, text)) == []


def test_an_overflow_is_not_a_refused_field_but_an_unknown_num_ctx_is():
    assert find_refused_fields("the request exceeds num_ctx of 4096") == ()
    assert find_refused_fields("unknown field: num_ctx") == ("num_ctx",)


def test_a_shape_survives_its_json_and_ignores_what_it_does_not_know():
    shape = RequestShape(frozenset({"temperature"}), frozenset({"system_in_user"}))
    assert RequestShape.from_dict(shape.to_dict()) == shape
    odd = {"omitted": ["temperature", "messages", 3], "forms": ["system_in_user", "sideways"]}
    assert RequestShape.from_dict(odd) == shape
    assert RequestShape.from_dict("nonsense") == USUAL_SHAPE
    assert shape.texts == ("no temperature", "instructions in the user message")


# What services say about a request for 64,000 tokens, where the model gives fewer.
OUTPUT_LIMITS = [
    (openai("max_tokens is too large: 100000. This model supports at most 4096 tokens."), 4_096),
    (
        "max_tokens is too large: 64000. This model supports at most 4096 completion tokens, "
        "whereas you provided 64000.",
        4_096,
    ),
    (
        "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for "
        "claude-3-5-sonnet-20241022",
        8_192,
    ),
    (
        "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is "
        "less than the `context_window` for this model",
        8_192,
    ),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192),
    ("<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 2000]", 2_000),
    (
        "Unable to submit request because it has a maxOutputTokens value of 64000 but the supported"
        " range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.",
        8_192,
    ),
    (
        "The maximum tokens you requested exceeds the model limit of 4096. Try again with a "
        "maximum tokens value that is lower than 4096.",
        4_096,
    ),
    ("too many tokens: max tokens must be less than or equal to 4,096, received 64,000.", 4_096),
    ("max_tokens parameter is illegal. Please limit to [1,4095]", 4_095),
    (pydantic("max_tokens", said="Input should be less than or equal to 16384"), 16_384),
    ("Malformed input request: #/max_tokens: 64000 is not less or equal to 4096", 4_096),
    ("max_completion_tokens cannot be greater than 32768 for this model", 32_768),
    ("Value of max_tokens should be smaller than 2048", 2_047),
    ("max_new_tokens must be between 1 and 1024", 1_024),
    ("'max_tokens' exceeds the maximum of 16,384 output tokens", 16_384),
]


@pytest.mark.parametrize(("said", "limit"), OUTPUT_LIMITS)
def test_a_refused_output_limit_names_the_one_to_try(said, limit):
    text = said if isinstance(said, str) else json.dumps(said)
    shapes = propose_shape(USUAL_SHAPE, read_refusal("", text.encode()))
    assert next(shape.limit_output(64_000) for shape in shapes if tries_less(shape)) == limit


def tries_less(shape):
    return shape.limit_output(64_000) < 64_000


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens must be greater than thinking.budget_tokens",
        "max_tokens must be at least 1, got 0 (status 400)",
        "Error code: 400 - unsupported parameter max_tokens",
        "temperature must be at most 200",
        "max_tokens must be at most " + "9" * 2_000,
    ],
)
def test_other_numbers_are_no_output_limit(said):
    assert not any(tries_less(shape) for shape in propose_shape(USUAL_SHAPE, said))


def test_an_output_limit_is_kept_with_the_rest_of_the_shape():
    shape = no("temperature").with_output_limit(4_096)
    assert shape.texts == ("no temperature", "at most 4,096 tokens out")
    assert RequestShape.from_dict(shape.to_dict()) == shape
    assert (
        RequestShape.from_dict({"limits": ["8192", "4096", "x", 3, "-5", "9" * 5_000]}).output_limit
        == 4_096
    )
    assert shape.with_form("text_only").limit_output(5_000) == 4_096
    assert (shape.limit_output(500), USUAL_SHAPE.limit_output(5_000)) == (500, 5_000)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a.b[0].",
        "(",
        "\n",
        "not ",
        "role ",
        "tools is ",
        "max_tokens ",
        "system not ",
        "max_tokens > 1,",
    ],
)
def test_any_text_is_read_in_no_time(piece):
    text = read_refusal(piece * 100_000, b"")
    started_s = process_time()
    list(propose_shape(USUAL_SHAPE, text))
    assert process_time() - started_s < 5  # the first version took twenty seconds for one of them
