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
        "an error page",
        (Failure(502, "<html><body><h1>502 Bad Gateway</h1></body></html>"),),
        status="model_unavailable",
        says="502 Bad Gateway",
        requests=3,
    ),
)
