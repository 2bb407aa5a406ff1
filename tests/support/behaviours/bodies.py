"""Answers in another form than the one that was asked for."""

import gzip
import json

from tests.support.behaviours.behaviour import (
    DONE,
    HEAD,
    Behaviour,
    chunk,
    document,
    error,
    finish,
    played,
    sse,
    stream,
    text,
    usage,
)
from tests.support.models.model_server import Answer

SAID = "The barrel stands behind the shed."
_PIECES = ("The barrel ", "stands behind ", "the shed.")
_WHOLE = text(*_PIECES) + finish() + DONE
_FAILURE = json.dumps(error("No memory.")).encode()
_PAGE = b"<!DOCTYPE html>\n<html><head><title>Open WebUI</title></head><body>Hello</body></html>"


def _parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def _list_values(events: bytes) -> list[bytes]:
    """Return the JSON values of a stream."""
    lines = (line.removeprefix(b"data: ") for line in events.split(b"\n\n"))
    return [line for line in lines if line.startswith(b"{")]


def _message(content: object, **fields: object) -> dict[str, object]:
    """Build a whole answer, as a server sends it that was not asked for a stream."""
    message = {"role": "assistant", "content": content, **fields}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**HEAD, "object": "chat.completion", "choices": [choice]}


FORMS = (
    Behaviour("an answer as it should be", (Answer(SAID),), SAID),
    Behaviour("lines that end with CR LF", (played(_WHOLE.replace(b"\n", b"\r\n")),), SAID),
    Behaviour("lines that end with CR", (played(_WHOLE.replace(b"\n", b"\r")),), SAID),
    Behaviour("a byte order mark", (played(b"\xef\xbb\xbf" + _WHOLE),), SAID),
    Behaviour(
        "a byte order mark before each event",
        (played(_WHOLE.replace(b"data: ", b"\xef\xbb\xbfdata: ")),),
        SAID,
    ),
    Behaviour(
        "all events in one line",
        (played(b"data: " + b" ".join(_list_values(_WHOLE)) + b"\n\n", DONE),),
        SAID,
    ),
    Behaviour(
        "all events in one line, each with its field",
        (played(_WHOLE.replace(b"\n\n", b" ") + b"\n"),),
        SAID,
    ),
    Behaviour(
        "all events in one line, the last one cut off",
        (
            played(
                b"data: " + b"".join(_list_values(text(SAID[:9], SAID[9:])))[:-4] + b"\n",
                ending="cut",
            ),
        ),
        SAID[:9],
        "interrupted",
        "the connection was lost",
    ),
    Behaviour(
        "bare JSON values in one line",
        (played(b"".join(_list_values(_WHOLE)) + b"\n"),),
        SAID,
    ),
    Behaviour(
        "a JSON array of events",
        (played(b"[" + b",\n".join(_list_values(_WHOLE)) + b"]"),),
        SAID,
    ),
    Behaviour(
        "a JSON array of events, with its commas in lines of their own",
        (played(b"[" + b"\n,\n".join(_list_values(_WHOLE)) + b"\n]"),),
        SAID,
    ),
    Behaviour(
        "a JSON array in each line, without blank lines",
        (
            played(
                b"".join(b"data: [" + one + b"]\n" for one in _list_values(_WHOLE))
                + b"data: [DONE]\n"
            ),
        ),
        SAID,
    ),
    Behaviour(
        "a JSON array of events that ends with an error",
        (
            played(
                b"["
                + b",".join(
                    (*_list_values(text(SAID[:9])), json.dumps(error("No memory.")).encode())
                )
                + b"]"
            ),
        ),
        SAID[:9],
        "interrupted",
        "No memory",
    ),
    Behaviour("no blank behind the colon", (played(_WHOLE.replace(b"data: ", b"data:")),), SAID),
    Behaviour(
        "comments and other fields between the events",
        (played(_WHOLE.replace(b"data: ", b": PROCESSING\n\nid: 7\nretry: 3000\ndata: ")),),
        SAID,
    ),
    Behaviour(
        "one event a line, without blank lines",
        (played(_WHOLE.replace(b"\n\n", b"\n")),),
        SAID,
    ),
    Behaviour(
        "bare JSON lines in place of events",
        (played(_WHOLE.replace(b"data: ", b"").replace(b"[DONE]", b"").replace(b"\n\n", b"\n")),),
        SAID,
    ),
    Behaviour(
        "an event over several data lines",
        (
            played(
                b"data: "
                + json.dumps(_message(SAID), indent=1).replace("\n", "\ndata: ").encode()
                + b"\n\n",
                DONE,
            ),
        ),
        SAID,
    ),
    Behaviour(
        "one byte at a time",
        (played(*(bytes([byte]) for byte in text(SAID) + finish() + DONE)),),
        SAID,
    ),
    *(
        Behaviour(
            f"all the text so far in every delta, in {size} more characters",
            (stream(text(*(SAID[:end] for end in range(first, len(SAID), size)), SAID)),),
            SAID,
        )
        for first, size in ((1, 1), (3, 3), (10, 7))
    ),
    Behaviour(
        "all the text so far in every delta, and the whole once more",
        (stream(text(*(SAID[:end] for end in (3, 10, 17, 24, 28)), SAID, SAID)),),
        SAID,
    ),
    Behaviour(
        "all the text so far in every delta, cut off",
        (played(text(*(SAID[:end] for end in (3, 10, 17, 24, 28))), ending="cut"),),
        SAID[:28],
        "interrupted",
        "the connection was lost",
    ),
    *(
        Behaviour(name, (stream(text(*deltas)),), "".join(deltas))
        for name, deltas in (
            ("a text that laughs", ("Ha", "Haha", "Hahaha", "Hahahaha", "Hahahahahaha")),
            ("a text that counts", ("1", "12", "123", "1234", "12345678", "123456789")),
            (
                "a text that grows line by line",
                tuple(
                    f"The house{more}\n" for more in ("", " that", " that Jack", " that Jack built")
                ),
            ),
            (
                "a line that grows, cut before its line end",
                tuple(
                    f"\nThe house that{more}"
                    for more in ("", " Jack", " Jack built", " Jack built.")
                ),
            ),
            ("two deltas that only look so", ("The barrel", "The barrel stands", " there.")),
        )
    ),
    Behaviour(
        "a bad line between good ones",
        (stream(text(_PIECES[0]), b"data: {not json\n\n", text(*_PIECES[1:])),),
        SAID,
    ),
    *(
        Behaviour(
            f"a stray line {stray!r} between good ones",
            (stream(text(_PIECES[0]), stray + end, text(*_PIECES[1:])),),
            SAID,
        )
        for stray, end in (
            (b"[INFO] slot released", b"\n"),
            (b"[2026-11-27 00:26] 200 OK", b"\n\n"),
            (b'{"choices": [{"delta": {"con', b"\n"),
            (b"{", b"\nevent: message\n"),
        )
    ),
    Behaviour(
        "a cut line among bare JSON lines",
        (
            played(
                b'{"choices": [{"del\n'
                + _WHOLE.replace(b"data: ", b"").replace(b"[DONE]", b"").replace(b"\n\n", b"\n")
            ),
        ),
        SAID,
    ),
    Behaviour(
        "bytes that are not UTF-8 between good lines",
        (stream(text(_PIECES[0]), b"data: \xb0\xff\n\n", text(*_PIECES[1:])),),
        SAID,
    ),
    Behaviour(
        "numbers, lists and nulls in place of events",
        (
            stream(
                text(_PIECES[0]),
                b"".join(
                    map(
                        sse,
                        (
                            0,
                            None,
                            [],
                            [1],
                            "x",
                            True,
                            {},
                            {"choices": None},
                            {"choices": [None]},
                            {"choices": 7},
                        ),
                    )
                ),
                text(*_PIECES[1:]),
            ),
        ),
        SAID,
    ),
    Behaviour(
        "deltas that are null, text or numbers",
        (
            stream(
                text(_PIECES[0]),
                *(
                    sse({**HEAD, "choices": [{"index": 0, "delta": delta}]})
                    for delta in (None, "x", 5, [])
                ),
                text(*_PIECES[1:]),
            ),
        ),
        SAID,
    ),
    Behaviour(
        "half a surrogate in the text", (stream(text("A \ud83d barrel.")),), "A \ufffd barrel."
    ),
    Behaviour("a NUL in the text", (stream(text("A\0 barrel.")),), "A\ufffd barrel."),
)

WIDE = "Hinter dem Schuppen — 庭の道具 😀."
_RAW = f'data: {{"choices": [{{"delta": {{"content": "{WIDE}"}}}}]}}\n\n'
OTHERS = (
    Behaviour(
        "characters of several bytes, one byte at a time",
        (
            played(
                *(bytes([byte]) for byte in _RAW.encode() + finish() + DONE),
            ),
        ),
        WIDE,
    ),
    Behaviour(
        "thinking in a JSON document",
        (document(_message(f"<think>Where is it?</think>\n\n{SAID}")),),
        SAID,
        thought="Where is it?",
    ),
    Behaviour("everything in one event", (played(chunk({"content": SAID}, "stop"), DONE),), SAID),
    Behaviour(
        "an error that is null",
        (stream(text(SAID), sse({**HEAD, "choices": [], "error": None})),),
        SAID,
    ),
)

CONTENTS = (
    Behaviour("content as a list of parts", (stream(*(text(_parts(p)) for p in _PIECES)),), SAID),
    Behaviour("content as one part", (stream(text(*(_parts(p)[0] for p in _PIECES))),), SAID),
    Behaviour("content as a list of strings", (stream(text(list(_PIECES))),), SAID),
    Behaviour(
        "parts of kinds that nobody knows",
        (stream(text([{"type": "image", "url": "x"}, None, 5, *_parts(SAID)])),),
        SAID,
    ),
    Behaviour("content as a number", (stream(text(42)),), "42"),
    Behaviour(
        "a message in place of a delta",
        (played(sse(_message(SAID)), DONE),),
        SAID,
    ),
    Behaviour(
        "text in place of a delta",
        (
            played(
                sse({**HEAD, "choices": [{"index": 0, "text": SAID, "finish_reason": "stop"}]}),
                DONE,
            ),
        ),
        SAID,
    ),
    Behaviour(
        "a second choice beside the first",
        (
            stream(
                sse(
                    {
                        **HEAD,
                        "choices": [
                            {"index": 0, "delta": {"content": SAID}},
                            {"index": 1, "delta": {"content": "Elsewhere."}},
                        ],
                    }
                )
            ),
        ),
        SAID,
    ),
    Behaviour("only a refusal", (stream(chunk({"refusal": "I cannot say."})),), "I cannot say."),
)

DOCUMENTS = (
    Behaviour("a JSON document in place of a stream", (document(_message(SAID)),), SAID),
    Behaviour(
        "a JSON document that calls itself a stream",
        (played(json.dumps(_message(SAID), indent=2).encode()),),
        SAID,
    ),
    Behaviour(
        "a stream that calls itself a JSON document",
        (played(_WHOLE, content_type="application/json"),),
        SAID,
    ),
    Behaviour("a stream without a type", (played(_WHOLE, content_type=""),), SAID),
    Behaviour("a JSON document with parts", (document(_message(_parts(*_PIECES))),), SAID),
    Behaviour(
        "a JSON document with an error and status 200",
        (document({"error": {"message": "the model is broken"}}),),
        status="model_unavailable",
        says="the model is broken",
        requests=3,
    ),
    Behaviour(
        "a web page with status 200",
        (played(_PAGE, content_type="text/html; charset=utf-8"),),
        status="bad_request",
        says="leads to a web page",
    ),
    Behaviour(
        "a web page that calls itself a stream",
        (played(b"\n " + _PAGE),),
        status="bad_request",
        says="leads to a web page",
    ),
    Behaviour(
        "a page of plain text",
        (played(b"Ollama is running", content_type="text/plain"),),
        status="bad_request",
        says="Ollama is running",
    ),
    Behaviour(
        "a packed answer, which nobody asked for",
        (played(gzip.compress(text(SAID)), headers={"Content-Encoding": "gzip"}),),
        status="model_unavailable",
        says="reported an error: it packed its answer",
    ),
    Behaviour("an empty body", (played(),), status="model_unavailable", says="empty", requests=3),
    Behaviour("204", (played(status=204),), status="model_unavailable", says="empty", requests=3),
)

FIELDS = (
    Behaviour(
        "a refusal in a field of its own",
        (
            played(
                chunk({"content": None, "refusal": "The barrel stands "}),
                chunk({"refusal": "behind the shed."}),
                DONE,
            ),
        ),
        SAID,
    ),
    Behaviour(
        "texts of choices in place of deltas",
        (
            played(
                *(
                    sse({**HEAD, "choices": [{"index": 0, "text": piece, "finish_reason": None}]})
                    for piece in ("The barrel stands ", "behind the shed.")
                ),
                finish(),
                DONE,
            ),
        ),
        SAID,
    ),
)

USAGES = tuple(
    Behaviour(f"a usage of {name}", (played(text(SAID), finish(), usage(**counts), DONE),), SAID)
    for name, counts in {
        "negative counts": {"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": -6},
        "a billion": {"prompt_tokens": 10**9, "completion_tokens": 1, "total_tokens": 10**9},
        "text": {"prompt_tokens": "12", "completion_tokens": "x", "total_tokens": "?"},
        "fractions": {"prompt_tokens": 12.5, "completion_tokens": 1e300, "total_tokens": 0.1},
        "nulls": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
        "lists": {"prompt_tokens": [1], "completion_tokens": {}, "prompt_tokens_details": 7},
        "booleans": {"prompt_tokens": True, "completion_tokens": False},
    }.items()
)

BODIES = (*FORMS, *OTHERS, *CONTENTS, *DOCUMENTS, *FIELDS, *USAGES)
