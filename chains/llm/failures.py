"""Convert failed calls to exceptions, such as status 429 to `RateLimited`.

The status is more reliable than the exception class, which depends on the provider and client
version. Most servers report an overflow as status 400, so it is recognised by its text.
"""

import ast
import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from chains.errors import (
    BadRequest,
    LedgerFailed,
    MissingKey,
    ModelError,
    ModelUnavailable,
    QuotaUsedUp,
    RateLimited,
    WrongAddress,
)
from chains.llm.http import WireCall
from chains.llm.request_shape import find_refused_fields, read_refusal
from chains.llm.server import MOST_CONTEXT_TOKENS
from context.errors import ContextOverflow
from context.fixes import Fix, Setting

__all__ = ["classify_failure"]

REASON_CHARS: Final = 300
MAX_WAIT_BYTES: Final = 8_192  # of an error, in which a time to wait is looked for
MOST_CAUSES: Final = 20
MAX_PYTHON_CHARS: Final = 4_000
MOST_QUOTED: Final = 12  # levels of an error's JSON

# The wording of OpenAI, Azure, Anthropic, Gemini, Mistral, Cohere, Groq, Together, Bedrock, vLLM,
# llama.cpp, LM Studio, Ollama and TGI.
_OVERFLOW: Final = re.compile(
    r"context[ _-]?(?:length|window|size|limit)"
    r"|maximum (?:context|input|prompt|number of (?:input )?tokens)"
    r"|exceed\w* (?:the )?(?:available |model'?s? |maximum |max )*(?:context|input|token)"
    r"|(?:prompt|input|request|message|conversation)\w* (?:is |are |was |were )?too (?:long|large)"
    r"|too many (?:input |prompt )?tokens|input token count|reduce the length"
    r"|(?:prompt|input|token)[\w ]* (?:exceeds?|longer than|greater than|larger than)"
    r"|must have less than \d+ tokens|n_ctx|num_ctx|inputs?[`'\"]? tokens \+",
    re.IGNORECASE,
)
# The context length in the text of an overflow error, but not the length of the request.
_LIMIT: Final = re.compile(
    r"(?:(?<!total )length|window|size|limit|maximum|tokens allowed)"
    r"(?: (?:is|of|only))*\s*\(?(\d[\d,]*)"
    r"|(?:>|must be <=) *(\d[\d,]*)|with (\d[\d,]*) maximum|less than (\d[\d,]*)",
    re.IGNORECASE,
)
# An output limit that the model does not support is a wrong setting, not an overflow.
_OUTPUT_LIMIT: Final = re.compile(
    r"max(?:imum)?[_ ]?(?:completion[_ ]?|output[_ ]?|new[_ ]?)?tokens[`'\"]?"
    r" (?:is|must|cannot|should|value|you requested|param)|completion tokens, whereas"
    r"|number of output tokens|range of max_tokens",
    re.IGNORECASE,
)
# An output limit that is too large only beside this input. The next step is to shorten the input.
_BESIDE_INPUT: Final = re.compile(
    r"context (?:length|window|size) (?:is|of) \d|\binputs?[`'\"]? tokens", re.IGNORECASE
)
# The service accepts less than the threshold allows, so a higher threshold would not help.
_WAYS_OUT: Final = (
    Fix("Lower {} to the context length of the model.", Setting("autoCompactThreshold")),
    Fix("Choose a model that takes more."),
    Fix("Start the server with a longer context."),
)
_KEY_LIKE: Final = re.compile(
    r"(?i)\b(?:sk|pk|gsk|xai|hf)[-_][a-z0-9_\-]{8,}|\bAIza[a-z0-9_\-]{20,}"
)
# The account has no quota or credit left. Where a time is named as well, it is a rate limit.
_QUOTA: Final = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|exceeded your (?:current|monthly) quota"
    r"|credit balance|out of credits?|more credits|used all (?:your |available )*credits"
    r"|payment required|spending limit|quota (?:is |has been )?(?:used up|exhausted)",
    re.IGNORECASE,
)
# Advice that services also give to those who only send too much at once.
_BILLING: Final = re.compile("billing", re.IGNORECASE)
_SLOW_DOWN: Final = re.compile(r"slow down|too many requests", re.IGNORECASE)
_WAIT: Final = re.compile(r"retry in|retry after|try again in|per (?:minute|second)", re.IGNORECASE)
_FILTERED: Final = re.compile(
    r"content[ _-]?(?:filter|policy|management policy)|ResponsibleAIPolicyViolation"
    r"|data_inspection_failed|flagged by|moderation",
    re.IGNORECASE,
)
# A bad key, which some services call a bad request.
_BAD_KEY: Final = re.compile(
    r"(?:api|access)[ _-]?key (?:is |was )?(?:not valid|invalid|incorrect|expired|not found)"
    r"|(?:invalid|incorrect|expired) (?:api|access)[ _-]?key|API_KEY_INVALID",
    re.IGNORECASE,
)
# A refusal with status 403 that is about the key, and so about nothing else.
_ABOUT_KEY: Final = re.compile(
    r"\bkey|unauthori[sz]ed|authenticat|credential|\btoken", re.IGNORECASE
)
# What servers say about a path that they do not have, but not about a model.
_NO_PATH: Final = re.compile(
    r"\A(?!.*\b(?:model|image)\b)\W*(?:404|405|status 40[45]\b.*"
    r"|(?:404 )?(?:page |file |path |route |resource |endpoint |url )?not found"
    r"|(?:405 )?method not allowed|cannot (?:post|find) /.*|no route .*"
    r"|.*unexpected endpoint or method.*|(?:invalid|unknown) (?:url|path|route|endpoint)\b.*)\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_NO_PATH_STATUS: Final = (404, 405)
# A time to wait, as texts and details of errors name it: `7m12.5s`, `20 seconds`, `700ms`. A
# date or a time of day is none.
_WAIT_TIME: Final = re.compile(
    r"(?:(?:try again|retry|retrying) (?:in|after)|retryDelay[`'\"]?:?|estimated_time[`'\"]?:?)"
    r"\s*[`'\"]?(?=\d)(?:(?P<h>\d{1,4}) ?h\w*,?\s?)?(?:(?P<m>\d{1,5}) ?m(?:in\w*)?(?![a-z]),?\s?)?"
    r"(?:(?P<s>\d{1,7}(?:\.\d{1,9})?) ?(?P<unit>ms|milli\w*|s|sec\w*)?"
    r"(?! ?[a-z0-9]|[-:/,.]\d))?",
    re.IGNORECASE,
)
UNREADABLE: Final = "what it sent cannot be read as an answer"
# Errors of Python. Where one of them is behind a library's error, its text is about the library.
_PYTHON_ERRORS: Final = (TypeError, ValueError, LookupError, AttributeError)
_LIBRARY_STATUS: Final = re.compile(r"Error code: \d+\Z")
_LIBRARY_SUFFIX: Final = re.compile(
    r" Original exception:| Handle with `litellm|\.? Received Model Group=|\sLiteLLM Retried:"
)
_LIBRARY_PREFIX: Final = re.compile(r"^(?:litellm\.)?\w+(?:Error|Exception)\w*\s*[:-]\s*")


def classify_failure(
    error: Exception, call: WireCall, *, service: str, key: str | None, key_owner: str = ""
) -> ModelError | ContextOverflow | LedgerFailed:
    """Return the exception to raise for a failed call, with all that the service said about it.

    Args:
        error: the exception of the client library.
        call: the record of the HTTP call.
        service: the name of the service, for the message.
        key: the key that was used, which is removed from the message.
        key_owner: the provider or address that the key belongs to.
    """
    if refused := call.refusal or call.reader.wrong_address:
        return refused
    line = _mask_keys(_find_line(error, call, _find_status(error, call)), key)
    body = _mask_keys(call.reader.error_body.decode("utf-8", "replace"), key)
    refusal = read_refusal(line, body.encode())
    failed = _classify(error, call, _shorten(line), refusal, (service, key, key_owner))
    if isinstance(failed, ModelError):
        failed.refusal = refusal
    return failed


def _mask_keys(text: str, key: str | None) -> str:
    """Return a text without keys: it is stored, and services repeat other keys too."""
    return _KEY_LIKE.sub("…", text.replace(key, "…") if key else text)


def _shorten(line: str) -> str:
    """Return a line as it is shown."""
    return line if len(line) <= REASON_CHARS else f"{line[:REASON_CHARS]}…"


def _classify(
    error: Exception, call: WireCall, reason: str, refusal: str, place: tuple[str, str | None, str]
) -> ModelError | ContextOverflow:
    """Return the exception for a failed call.

    Args:
        error: the exception of the client library.
        call: the record of the HTTP call.
        reason: the reason in one short line, for the message.
        refusal: all that the service said, which decides.
        place: the service, its key and the key's owner.
    """
    (service, key, key_owner), status = place, _find_status(error, call)
    text = f"{refusal} {_read_error_codes(call.reader.error_body)}"
    is_answer = call.reader.stream_error is not None  # the error was sent in place of an answer
    # A server that does not know the field `num_ctx` says nothing about a length.
    may_overflow = is_answer or status in {400, 413, 422, 500, 502}
    if may_overflow and not find_refused_fields(refusal) and _is_overflow(error, text):
        message = f"The request is too long for the model at {service}: {reason}"
        return ContextOverflow(message, ways_out=_WAYS_OUT, limit=_find_limit(refusal))
    if _is_quota(text, call) and (is_answer or status in {400, 402, 403, 429}):
        return QuotaUsedUp(service, reason=reason)
    is_filtered = status == 403 and bool(_FILTERED.search(text))
    is_bad_key = (is_answer or status == 400) and bool(_BAD_KEY.search(text))
    if (status in {401, 403} and not is_filtered) or is_bad_key:
        return MissingKey(
            service,
            is_refused=bool(key) and call.sent is not None,
            is_forbidden=status == 403 and _is_about_other(reason, status),
            reason=reason,
            key_owner=key_owner,
        )
    wait_s = _find_wait_s(call, text)
    if status == 429:
        return RateLimited(service, retry_after_s=wait_s, reason=reason)
    if (is_answer or status in _NO_PATH_STATUS) and call.reader.base and _NO_PATH.match(reason):
        return WrongAddress(call.reader.base, reason)
    is_refusal = status is not None and 300 <= status < 500 and status != 408
    if is_refusal or call.sent is None or (is_answer and _is_refusal(text, call)):
        return BadRequest(service, reason=reason)
    return _describe_trouble(call, service, reason, wait_s)


def _describe_trouble(
    call: WireCall, service: str, reason: str, wait_s: float | None
) -> ModelUnavailable:
    """Return the exception for a server that is not reached, or has trouble of its own."""
    return ModelUnavailable(
        service,
        reason=call.failure or call.reader.failure or reason,
        has_responded=call.status is not None and not call.failure,
        is_permanent=bool(call.reader.failure),
        retry_after_s=wait_s,
    )


def _is_about_other(reason: str, status: int | None) -> bool:
    """Return whether a service names another reason than the key for refusing a call."""
    return reason != _describe_status(status) and not _ABOUT_KEY.search(reason)


def _find_wait_s(call: WireCall, text: str) -> float | None:
    """Return the seconds to wait that the headers, text or details of an error name, or None."""
    if call.retry_after_s is not None:
        return call.retry_after_s
    details = call.reader.error_body[:MAX_WAIT_BYTES].decode("utf-8", "replace")
    match = _WAIT_TIME.search(f"{text} {details}")
    if match is None or not any(match[name] for name in "hms"):
        return None
    seconds = float(match["s"] or 0)
    if (match["unit"] or "").lower().startswith("m"):
        seconds /= 1000
    return int(match["h"] or 0) * 3600 + int(match["m"] or 0) * 60 + seconds


def _is_quota(text: str, call: WireCall) -> bool:
    """Return whether the account has nothing left, so that waiting is of no use."""
    is_billed = bool(_BILLING.search(text)) and not _SLOW_DOWN.search(text)
    is_used_up = is_billed or bool(_QUOTA.search(text))
    return is_used_up and not _WAIT.search(text) and call.retry_after_s is None


def _is_refusal(text: str, call: WireCall) -> bool:
    """Return whether the error in an answer would be the same if the request was repeated."""
    is_unreadable = call.reader.stream_error is not None and call.reader.stream_error.is_unreadable
    return is_unreadable or "invalid_request" in text or bool(_FILTERED.search(text))


def _find_status(error: Exception, call: WireCall) -> int | None:
    """Return the HTTP status of a failed call, or None if no response arrived.

    If the response itself was successful but its stream contained an error, the status is taken
    from the exception.
    """
    if call.status is not None and call.status >= 300:
        return call.status
    if call.reader.stream_error is not None:
        return _read_status(call.reader.stream_error.body)
    status = getattr(error, "status_code", None)
    # Without a response the library invents a status, such as 500 for a refused connection.
    if call.status is None and call.sent is not None:
        return None
    return status if isinstance(status, int) else None


def _is_overflow(error: Exception, text: str) -> bool:
    if _OUTPUT_LIMIT.search(text) and not _BESIDE_INPUT.search(text):
        return False
    is_known = type(error).__name__ == "ContextWindowExceededError"
    return is_known or bool(_OVERFLOW.search(text))


def _read_status(body: Any) -> int | None:
    """Return the HTTP status that the JSON of an error names, or None."""
    for _ in range(3):
        if isinstance(body, list):
            body = next(iter(body), None)
        if not isinstance(body, dict):
            break
        named = (body.get(name) for name in ("code", "status", "status_code"))
        for value in named:
            if isinstance(value, int) and 400 <= value < 600:
                return value
        body = body.get("error")
    return None


def _find_limit(refusal: str) -> int | None:
    """Extract the context length from an overflow message, or return None."""
    for match in _LIMIT.finditer(refusal):
        number = int(next(group for group in match.groups() if group).replace(",", ""))
        if 0 < number <= MOST_CONTEXT_TOKENS:
            return number
    return None


def _read_error_codes(body: bytes) -> str:
    """Return the error codes in the body of a response."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = data.get("error", data) if isinstance(data, dict) else None
    if not isinstance(error, dict):
        return ""
    return " ".join(str(error[key]) for key in ("code", "type") if key in error)


def _find_line(error: Exception, call: WireCall, status: int | None) -> str:
    """Return the reason of a failed call in one line, however long."""
    text = _describe_redirect(call) or _from_body(call.reader.error_body)
    if text.startswith("litellm."):  # a gateway
        text = _strip_library(text)
    if call.reader.stream_error is not None and call.reader.stream_error.is_unreadable:
        text = f"{UNREADABLE}: {text}" if _has_words(text) else UNREADABLE
    if not text and (call.status is None or call.status < 300):
        text = _from_library(error)
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if not _has_words(line) or _LIBRARY_STATUS.match(line):
        line = _describe_status(status)
    return line


def _describe_redirect(call: WireCall) -> str:
    if call.status is None or not 300 <= call.status < 400:
        return ""
    place = call.location.rpartition("@")[2][: REASON_CHARS // 2] or "another address"
    return f"it redirects to {place}, and Strata follows no redirects. Check chat.apiBase"


def _describe_status(status: int | None) -> str:
    if status is None:
        return UNREADABLE
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    return f"status {status} ({phrase})" if phrase else f"status {status}"


def _has_words(text: str) -> bool:
    return any(char.isalpha() for char in text)


def _from_body(body: bytes) -> str:
    text = body.decode("utf-8", "replace").strip()
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return re.sub(r"<[^>]{0,200}>", " ", text)
    return _find_message(data) or (text if any(_list_texts(data)) else "")


def _list_texts(data: Any) -> Iterator[str]:
    """Yield the texts in a JSON value that have any words."""
    if isinstance(data, str) and _has_words(data):
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _list_texts(value)


def _find_message(data: Any, levels: int = MOST_QUOTED) -> str:
    """Return the message in the JSON of an error, or an empty string.

    A gateway says little itself, and quotes the error of the server behind it: as the JSON in its
    message, or in the raw answer beside it.
    """
    if isinstance(data, str):
        return (_find_message(_read_quoted(data), levels - 1) if levels else "") or data
    if isinstance(data, list) and levels:
        return _find_message(next(iter(data), None), levels - 1)
    if not isinstance(data, dict) or not levels:
        return ""
    metadata = data.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    names = ("error", "message", "detail", "msg", "errors", "error_description")
    message = next((data[name] for name in names if data.get(name)), None)
    if isinstance(place := data.get("loc"), list) and isinstance(message, str):
        return f"{'.'.join(map(str, place))}: {message}"
    quoted = _find_message(raw, levels - 1)
    return quoted if _has_words(quoted) else _find_message(message, levels - 1)


def _read_quoted(text: str) -> Any:
    """Return the JSON object or list that a text consists of or ends with, or None."""
    start = min(filter(lambda at: at >= 0, (text.find("{"), text.find("["))), default=-1)
    if start < 0:
        return None
    try:
        return json.loads(text[start:])
    except (ValueError, RecursionError):
        return _read_python(text[start : text.rfind("}") + 1])


def _read_python(text: str) -> Any:
    """Return the value of a Python dictionary, as OpenAI's client quotes errors, or None."""
    try:
        return ast.literal_eval(text) if len(text) <= MAX_PYTHON_CHARS else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _from_library(error: Exception) -> str:
    """Return the text of a library's error, unless it is about the library's own code."""
    if any(isinstance(cause, _PYTHON_ERRORS) for cause in _list_causes(error)):
        return UNREADABLE
    return _strip_library(str(error))


def _strip_library(text: str) -> str:
    """Return an error without the names and advice that a client library puts around it."""
    while (shorter := _LIBRARY_PREFIX.sub("", text, count=1)) != text:
        text = shorter
    return _LIBRARY_SUFFIX.split(text)[0]


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it was raised for, innermost last."""
    seen: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__
