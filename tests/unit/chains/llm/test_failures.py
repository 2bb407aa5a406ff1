import json
from time import process_time

import pytest

from chains.errors import (
    BadRequest,
    MissingKey,
    ModelUnavailable,
    QuotaUsedUp,
    RateLimited,
    WrongAddress,
)
from chains.llm.failures import classify_failure
from chains.llm.http import WireCall
from context.errors import ContextOverflow

OVERFLOWS = [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "Input tokens exceed the configured limit of 272000 tokens.",
    "Your input exceeds the context window of this model.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "The input token count (2769478) exceeds the maximum number of tokens allowed (1048575).",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum"
    " context length",
    "too many tokens: total number of tokens in the request exceeds the limit of 128000",
    "Please reduce the length of the messages or completion.",
    "`inputs` must have less than 4096 tokens. Given: 5000",
    "Input is too long for requested model.",
    "request (9030 tokens) exceeds the available context size (8192 tokens), try increasing it",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded"
    " with context length of only 4096 tokens",
    "The prompt (total length 9000) is too long to fit into the model (context length 8192).",
    "context_length_exceeded",
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context"
    " length is 4096 tokens and your request has 2100 input tokens (4096 > 4096 - 2100).",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 1024"
    " `max_new_tokens`",
]
OTHER_REFUSALS = [
    "max_tokens is too large: 5000. This model supports at most 4096 completion tokens, whereas"
    " you provided 5000.",
    "`max_tokens` must be at most 8192",
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less"
    " than the `context_window` for this model",
    "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum"
    " tokens value that is lower than 4096.",
    "too many tokens: max tokens must be less than or equal to 4096, received 64000.",
    "Range of max_tokens should be [1, 2000]",
    "maxOutputTokens value of 64000 but the supported range is from 1 (inclusive) to 8193",
    "temperature must be between 0 and 2",
    "The model `gpt-x` does not exist",
    "Invalid value for 'content': expected a string",
]


GEMINI_FREE_TIER = (
    "You exceeded your current quota, please check your plan and billing details. "
    f"{'* Quota exceeded for metric: generate_content_free_tier_requests, limit: 20 ' * 5}"
    "Please retry in 38.6s."
)


@pytest.fixture
def call():
    made = WireCall(offline=False, max_output_tokens=100, on_sent=lambda _: None)
    made.sent = {}
    return made


def answered(call: WireCall, status: int, body: str) -> Exception:
    call.status = status
    call.reader.error_body = body.encode()
    return classify_failure(RuntimeError("library"), call, service="Example", key=None)


@pytest.mark.parametrize("wording", OVERFLOWS)
def test_an_overflow_is_known_in_every_providers_words(call, wording):
    assert isinstance(answered(call, 400, f'{{"error": "{wording}"}}'), ContextOverflow)


LIMITS = [4096, 272000, None, 200000, 200000, 1048575, 32768, 128000]
LIMITS += [None, 4096, None, 8192, 4096, 8192, None, 4096, 4096]


@pytest.mark.parametrize(("wording", "limit"), list(zip(OVERFLOWS, LIMITS, strict=True)))
def test_the_limit_that_an_overflow_names_is_known(call, wording, limit):
    assert answered(call, 400, f'{{"error": "{wording}"}}').limit == limit


LONG = "This model's maximum context length is 8192 tokens"
QUOTED = {"error": {"message": LONG, "type": "invalid_request_error", "code": 400}}
GATEWAYS = [
    {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps(QUOTED)}}},
    {"error": {"message": "Provider returned error", "metadata": {"raw": QUOTED}}},
    {"error": {"message": "Provider returned error", "metadata": {"raw": LONG}}},
    {"error": {"message": "Error", "metadata": {"raw": json.dumps({"detail": [{"msg": LONG}]})}}},
    {
        "error": {
            "message": "Error",
            "metadata": {"raw": json.dumps([QUOTED]), "provider_name": "P"},
        }
    },
    {"error": {"message": json.dumps(QUOTED)}},
    {"error": {"message": f"litellm.BadRequestError: OpenAIException - {json.dumps(QUOTED)}"}},
    {"message": f"upstream error: {json.dumps({'error': json.dumps(QUOTED)})}"},
]


@pytest.mark.parametrize("status", [400, 502])
@pytest.mark.parametrize("body", GATEWAYS, ids=lambda body: json.dumps(body)[:70])
def test_an_overflow_that_a_gateway_quotes_is_known_with_its_limit_and_reason(call, body, status):
    found = answered(call, status, json.dumps(body))
    assert isinstance(found, ContextOverflow)
    assert found.limit == 8192
    assert str(found).endswith(f": {LONG}")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "Provider returned error"),
        (None, "Provider returned error"),
        ({}, "Provider returned error"),
        (7, "Provider returned error"),
        ("ERROR", "ERROR"),
        ('{"error": {"message": "it is', '{"error": {"message": "it is'),
        ('{"error": {"message": "it is broken"}}', "it is broken"),
        ("[" * 5_000, "Provider returned error"),
        ("Error in the template {{}}", "Error in the template {{}}"),
        ("{['a']: 1} is odd", "{['a']: 1} is odd"),
    ],
)
def test_the_reason_that_a_gateway_quotes_is_shown(call, raw, reason):
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}
    found = answered(call, 400, json.dumps({"error": error}))
    assert isinstance(found, BadRequest)
    assert found.reason == reason


@pytest.mark.parametrize("opening", ["[", '{"error":'])
def test_a_body_nested_too_deep_to_read_is_a_refusal_like_another(call, opening):
    assert isinstance(answered(call, 400, opening * 60_000), BadRequest)


def test_no_key_is_kept_anywhere_in_what_a_service_said(call):
    call.status = 400
    call.reader.error_body = f'{{"error": "{"x " * 990}my-secret and sk-{"a" * 40}"}}'.encode()
    error = classify_failure(RuntimeError("x"), call, service="Example", key="my-secret")
    assert isinstance(error, BadRequest)
    assert "my-secr" not in error.refusal
    assert "sk-a" not in error.refusal


@pytest.mark.parametrize(
    "names", ['"code": "context_length_exceeded"', '"type": "exceed_context_size_error"']
)
def test_an_overflow_is_known_by_its_code_where_the_words_do_not_say_it(call, names):
    body = f'{{"error": {{"message": "That did not work.", {names}}}}}'
    assert isinstance(answered(call, 400, body), ContextOverflow)


def test_the_way_out_of_a_services_overflow_is_not_a_higher_threshold(call):
    overflow = answered(call, 400, OVERFLOWS[0])
    assert isinstance(overflow, ContextOverflow)
    assert str(overflow.ways_out[0]).startswith("Lower autoCompactThreshold")
    assert "Example" in str(overflow)


@pytest.mark.parametrize("wording", OTHER_REFUSALS)
def test_other_refusals_are_no_overflow(call, wording):
    body = f'{{"error": {{"message": "{wording}"}}}}'
    assert isinstance(answered(call, 400, body), BadRequest)


@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"message": "it is broken"}}',
        '{"error": "it is broken"}',
        '{"message": "it is broken"}',
        '{"detail": [{"msg": "it is broken"}]}',
        '[{"error": {"message": "it is broken"}}]',
        "it is\nbroken",
        "<html><body>it is broken</body></html>",
    ],
)
def test_a_servers_reason_is_found_wherever_it_is(call, body):
    assert answered(call, 400, body).reason == "it is broken"


def test_a_reason_is_one_short_line_without_control_characters(call):
    reason = answered(call, 400, "a\x1b[31m" * 1_000).reason
    assert len(reason) <= 301
    assert reason.isprintable()


def test_what_was_never_sent_is_no_trouble_of_the_servers(call):
    call.sent = None
    error = classify_failure(RuntimeError("no such parameter"), call, service="Example", key=None)
    assert isinstance(error, BadRequest)


def test_a_key_that_the_library_misses_is_missing_not_refused(call):
    call.sent = None
    missing = RuntimeError("Missing key")
    missing.status_code = 401  # type: ignore[attr-defined]
    error = classify_failure(missing, call, service="Example", key=None)
    assert isinstance(error, MissingKey)
    assert not error.is_refused


def test_a_connection_that_fails_is_nobody_answering(call):
    call.failure = "there is no such host"
    error = classify_failure(RuntimeError("x"), call, service="Example", key=None)
    assert isinstance(error, ModelUnavailable)
    assert "there is no such host" in str(error)


@pytest.mark.parametrize(
    ("wording", "limit"),
    [
        ("prompt is too long: 209321 tokens > 200000 maximum", 200_000),
        ("context length exceeded: limit is 99999999999 tokens", None),
        ("maximum context length is 0 tokens", None),
    ],
)
def test_figures_that_contradict_ours_are_an_overflow_and_no_absurd_limit(call, wording, limit):
    found = answered(call, 400, f'{{"error": "{wording}"}}')
    assert isinstance(found, ContextOverflow)
    assert found.limit == limit


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, '{"error": {"message": "You exceeded your current quota"}}', QuotaUsedUp),
        (429, '{"error": {"message": "Your current quota. Please retry in 34 s"}}', RateLimited),
        (429, '{"error": {"message": "Requests per minute exceeded, see billing"}}', RateLimited),
        (400, '{"error": {"message": "Your credit balance is too low"}}', QuotaUsedUp),
        (402, '{"error": {"message": "Insufficient Balance"}}', QuotaUsedUp),
        (403, '{"error": {"message": "wrong key"}}', MissingKey),
        (403, '{"error": {"message": "Your input was flagged by moderation"}}', BadRequest),
        (401, '{"error": {"message": "No key, see our content policy"}}', MissingKey),
        (429, '{"error": {"message": "Slow down, or see your billing page"}}', RateLimited),
        (429, '{"error": {"message": "Too many requests. Billing: x.example"}}', RateLimited),
        (429, '{"error": {"message": "Billing hard limit has been reached"}}', QuotaUsedUp),
        (429, f'{{"error": {{"message": "{GEMINI_FREE_TIER}"}}}}', RateLimited),
        (400, '{"error": {"message": "filtered", "code": "content_filter"}}', BadRequest),
    ],
)
def test_what_waiting_does_not_mend_is_no_rate_limit(call, status, body, kind):
    found = answered(call, status, body)
    assert type(found) is kind
    assert found.is_retryable == (kind is RateLimited)


@pytest.mark.parametrize(
    "error",
    [
        AttributeError("'int' object has no attribute 'choices'"),
        TypeError("can only concatenate str"),
        UnicodeDecodeError("utf-8", b"\xb0", 0, 1, "invalid start byte"),
        KeyError("x"),
    ],
)
def test_errors_of_python_are_told_in_words(call, error):
    call.status = 200
    found = classify_failure(error, call, service="Example", key=None)
    assert "what it sent cannot be read as an answer" in str(found)


def test_an_error_of_blanks_is_read_at_once(call):
    answered(call, 400, "x")  # loads what an error needs
    started = process_time()
    answered(call, 400, f"litellm.{' ' * 60_000}x")
    assert process_time() - started < 5  # in quadratic time, it takes a minute


@pytest.mark.parametrize(
    ("wording", "kind"),
    [
        ("Unknown endpoint: /chat/completions", WrongAddress),
        ("No route for model x", BadRequest),
        ("Invalid URL of an image", BadRequest),
    ],
)
def test_a_missing_model_or_image_is_no_wrong_address(call, wording, kind):
    call.reader.base = "http://server.example/v1"
    found = answered(call, 404, json.dumps({"error": wording}))
    assert isinstance(found, kind)
