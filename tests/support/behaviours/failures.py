"""Errors, with a status or inside a stream."""

from tests.support.behaviours.behaviour import (
    DONE,
    Behaviour,
    document,
    error,
    played,
    sse,
    text,
)
from tests.support.models.model_server import Failure

SAID = "Behind the shed."


def _row(
    name: str, status: int, body: object, code: str, says: str, requests: int = 1
) -> Behaviour:
    return Behaviour(name, (document(body, status),), status=code, says=says, requests=requests)


def _choice(**fields: object) -> bytes:
    """Build an event whose choice ends with an error."""
    return sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "error", **fields}]})


FAILURES = (
    _row("400", 400, error("no such model"), "bad_request", "no such model"),
    _row("401", 401, error("wrong key"), "missing_key", "key"),
    _row("429", 429, error("slow down"), "rate_limited", "asks to wait", 3),
    _row("500", 500, error("out of memory"), "model_unavailable", "out of memory", 3),
    _row("an error that is a number", 500, {"error": 0}, "model_unavailable", "status 500", 3),
    _row("an error without a word", 400, {}, "bad_request", "status 400"),
    _row("an error that is empty", 503, "", "model_unavailable", "status 503", 3),
    Behaviour(
        "a redirect",
        (played(status=307, headers={"Location": "http://example.com/"}),),
        status="bad_request",
        says="example.com",
    ),
    Behaviour(
        "a redirect without an address",
        (played(status=307),),
        status="bad_request",
        says="another address",
    ),
    _row(
        "a quota that is used up",
        429,
        error("You exceeded your current quota", code="insufficient_quota"),
        "rate_limited",
        "You exceeded your current quota",
    ),
    _row(
        "billing",
        429,
        error("Your credit balance is too low", type="billing_error"),
        "rate_limited",
        "credit balance",
    ),
    _row(
        "payment required",
        402,
        error("Insufficient Balance"),
        "rate_limited",
        "Insufficient Balance",
    ),
    _row(
        "a content filter",
        400,
        error(
            "The response was filtered due to the content management policy", code="content_filter"
        ),
        "bad_request",
        "content management",
    ),
    Behaviour(
        "an error in the stream",
        (played(sse(error("the model crashed"))),),
        status="model_unavailable",
        says="the model crashed",
        requests=3,
    ),
    Behaviour(
        "an error event in the stream",
        (played(b"event: error\n" + sse({"message": "the model crashed"})),),
        status="model_unavailable",
        says="the model crashed",
        requests=3,
    ),
    Behaviour(
        "an error in the stream behind text",
        (played(text(SAID), sse(error("the model crashed"))),),
        SAID,
        "interrupted",
        "the model crashed",
    ),
    Behaviour(
        "an error event that is plain text",
        (played(text(SAID), b"event: error\ndata: the model crashed\n\n"),),
        SAID,
        "interrupted",
        "the model crashed",
    ),
    Behaviour(
        "an error in the stream behind text and [DONE]",
        (played(text(SAID), sse(error("the model crashed")), DONE),),
        SAID,
        "interrupted",
        "the model crashed",
    ),
    Behaviour(
        "bytes that nobody can read",
        (played(b"\xb0\xff\xfe\x00" * 50),),
        status="bad_request",
        says="cannot be read",
    ),
    Behaviour(
        "an error line in the stream",
        (played(b'error: {"code": 500, "message": "no slot is free"}\n\n'),),
        status="model_unavailable",
        says="error: no slot is free.",
        requests=3,
    ),
    Behaviour(
        "an error line behind text",
        (played(text(SAID), b'error: {"code": 500, "message": "no slot is free"}\n\n'),),
        SAID,
        "interrupted",
        "no slot is free",
    ),
    Behaviour(
        "an error in a choice",
        (played(_choice(error={"code": 502, "message": "the model crashed"})),),
        status="model_unavailable",
        says="the model crashed",
        requests=3,
    ),
    Behaviour(
        "an error in a choice behind text",
        (played(text(SAID), _choice(error={"code": 502, "message": "it crashed"}), DONE),),
        SAID,
        "interrupted",
        "it crashed",
    ),
    Behaviour(
        "a finish reason that is an error",
        (played(text(SAID), _choice(), DONE),),
        SAID,
        "interrupted",
        "ended with an error",
    ),
    _row(
        "a list of errors",
        400,
        {"errors": [{"code": 3, "message": "no such voice"}, {"message": "no such tune"}]},
        "bad_request",
        "request: no such voice",
    ),
    _row(
        "a field that is missing",
        422,
        {"detail": [{"type": "missing", "loc": ["body", "prompt"], "msg": "Field required"}]},
        "bad_request",
        "request: body.prompt: Field required",
    ),
    _row(
        "the error of a gateway's library",
        400,
        error("litellm.BadRequestError: OpenAIException - no such voice. Received Model Group=m"),
        "bad_request",
        "request: no such voice",
    ),
    _row(
        "an error that a gateway quotes in Python's words",
        500,
        error("Error code: 500 - {'error': {'message': 'no such voice', 'param': None}}"),
        "model_unavailable",
        "error: no such voice.",
        3,
    ),
    _row(
        "a key that is refused as a bad request",
        400,
        [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}],
        "missing_key",
        "key",
    ),
    _row(
        "a country that is refused",
        403,
        error("Country, region, or territory not supported"),
        "missing_key",
        "Country, region, or territory not supported",
    ),
    Behaviour(
        "a firewall that refuses",
        (Failure(403, "<html><title>Attention Required! | Cloudflare</title></html>"),),
        status="missing_key",
        says="Attention Required! | Cloudflare",
    ),
    _row("a path that does not exist", 404, {"detail": "Not Found"}, "bad_request", "apiBase"),
    _row("a method that is refused", 405, "Method Not Allowed", "bad_request", "chat.apiBase"),
    _row(
        "an unexpected endpoint",
        200,
        {"error": "Unexpected endpoint or method. (POST /chat/completions)"},
        "bad_request",
        "chat.apiBase",
    ),
    _row("a model that is not there", 404, error("model 'm' not found"), "bad_request", "'m' not"),
    _row(
        "a wait of minutes, told in the text",
        429,
        error("Rate limit reached on tokens per day. Please try again in 7m12.5s."),
        "rate_limited",
        "asks to wait 8 minutes",
    ),
    _row(
        "a wait of minutes, told in the details",
        429,
        [{"error": {"message": "Too much.", "details": [{"retryDelay": "300s"}]}}],
        "rate_limited",
        "asks to wait 5 minutes",
    ),
    Behaviour(
        "a wait of minutes, told in milliseconds",
        (document(error("too much"), 429, retry_after_ms="180000"),),
        status="rate_limited",
        says="asks to wait 3 minutes",
    ),
    Behaviour(
        "an error page",
        (Failure(502, "<html><body><h1>502 Bad Gateway</h1></body></html>"),),
        status="model_unavailable",
        says="502 Bad Gateway",
        requests=3,
    ),
)
