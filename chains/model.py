"""Call language models through litellm, which is imported on first use.

Calls run in the thread pool, so that cancelling takes effect at once, even if the server stalls.
Only requests that were checked against the token budget are accepted. `chains.llm.failures`
converts provider errors to `chains.errors`.
"""

import importlib.util
import json
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from chains.cancel import CancelToken, Pause, wait_or_cancel
from chains.concurrency import Emit, iterate, start_call
from chains.errors import LedgerFailed, MissingKey, ModelError, Offline, RateLimited
from chains.events import Usage
from chains.llm.failures import classify_failure
from chains.llm.http import WireCall, open_client, report_calls_to
from chains.llm.port import (
    Endpoint,
    KeyFor,
    ModelCalls,
    ModelEnded,
    ModelEvent,
    ModelReasoning,
    ModelReshaped,
    ModelSent,
    ModelText,
    ModelWaiting,
    ShapeMemory,
)
from chains.llm.records import CallRecorder, ModelCallRecord
from chains.llm.setup import configure_library, ignore_foreign_addresses, prepare_environment
from chains.llm.shaped_request import ShapedRequest
from chains.llm.wire_messages import CallAssembler, TextJoiner
from chains.llm.wire_request import NO_KEY, WireRequest
from chains.tokenizer import load_tiktoken
from context.errors import ContextOverflow, UnguardedRequest
from context.fit.guard import PreparedRequest

__all__ = ["LiteLLMModel", "load_packaged_data", "warm_up"]

_log = logging.getLogger(__name__)
BACK_OFF_S: Final = (1.0, 3.0)
LONGEST_WAIT_S: Final = 30.0
BROKEN_OFF: Final = "the stream ended too early"


class LiteLLMModel:
    """A language model behind an HTTP API.

    Args:
        endpoint: the address of the model and the name of its service.
        key_for: returns a provider's key, or None.
        offline: whether to refuse all hosts except this computer.
        pause: waits before a failed call is repeated.
        recorder: records each call in the ledger before it is made.
        shapes: remembers the shape of the requests that this model takes.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key_for: KeyFor,
        *,
        offline: bool = False,
        pause: Pause = wait_or_cancel,
        recorder: CallRecorder | None = None,
        shapes: ShapeMemory = ShapeMemory(),  # noqa: B008 - it is frozen
    ) -> None:
        self._endpoint = endpoint
        self._key_for = key_for
        self._offline = offline
        self._pause = pause
        self._recorder = recorder or CallRecorder()
        self._shapes = shapes

    def stream(self, request: PreparedRequest, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the answer as it arrives.

        Before the first text arrives, temporary errors are handled with up to two retries. A
        request whose shape the server refuses is sent again in another one, which is no retry.
        """
        if not isinstance(request, PreparedRequest):
            raise UnguardedRequest("Only a request that passed the budget guard can be sent.")
        if self._offline and not self._endpoint.is_local:
            raise Offline(self._endpoint.host or self._endpoint.service)
        key, waits_s = self._key(), iter((*BACK_OFF_S, None))
        shaped = ShapedRequest(request, self._endpoint, key, self._shapes)
        while True:
            try:
                yield from self._send(shaped, self._recorder.open_record(request), cancel)
            except ModelError as error:
                if shaped.reshape(error):
                    continue
                pause_s = _pause_before_retry(error, next(waits_s))
                if pause_s is None:
                    raise shaped.choose_error(error) from error
                yield ModelWaiting(pause_s, error.reason)
                self._pause(cancel, pause_s)
            else:
                return

    def _send(
        self, shaped: ShapedRequest, record: ModelCallRecord, cancel: CancelToken
    ) -> Iterator[ModelEvent]:
        """Send a request once. If the server accepts a new shape, say and remember it."""
        for event in self._attempt(shaped.wire, record, cancel):
            if not isinstance(event, ModelSent) and (change := shaped.confirm()):
                yield ModelReshaped(self._endpoint.service, change)
            yield event

    def _attempt(
        self, built: WireRequest, record: ModelCallRecord, cancel: CancelToken
    ) -> Iterator[ModelEvent]:
        calls: list[WireCall] = []
        has_text = False
        try:
            for event in iterate(partial(self._call, built, record, calls.append), cancel):
                has_text = has_text or isinstance(event, ModelText)
                yield event
        except (ModelError, ContextOverflow) as error:
            if not has_text:
                raise
            yield ModelEnded("interrupted", reason=getattr(error, "reason", "") or str(error))
        finally:
            for call in calls:
                call.abort()

    def _key(self) -> str | None:
        endpoint = self._endpoint
        owner = endpoint.key_owner or endpoint.provider
        key = self._key_for(owner) or None
        if key is None and endpoint.needs_key:
            raise MissingKey(endpoint.service, key_owner=owner)
        return key

    def _call(
        self,
        built: WireRequest,
        record: ModelCallRecord,
        on_call: Callable[[WireCall], object],
        emit: Emit[ModelEvent],
    ) -> None:
        """Call litellm once, in a thread of the pool, and emit the events of the answer.

        `on_call` receives the HTTP call before it starts, so that it can be aborted.
        """
        endpoint, arguments = self._endpoint, built.arguments
        key = None if arguments["api_key"] == NO_KEY else arguments["api_key"]
        call = WireCall(
            offline=self._offline,
            max_output_tokens=built.max_output_tokens,
            on_sent=lambda body: emit(ModelSent(body)),
            host=endpoint.host if endpoint.api_base else "",
            key=key,
            fill=built.fill,
            record=record.write,
        )
        on_call(call)
        litellm = _litellm()
        try:
            if not built.is_reported:
                record.write_early(endpoint.host or endpoint.service, arguments)
            with report_calls_to(call):
                stream = litellm.completion(**arguments, **self._client(built))
                record.tokens = _read(
                    stream, emit, self._price, partial(_find_finish, stream, call)
                )
        except LedgerFailed:
            raise
        except Exception as error:
            owner = endpoint.key_owner
            raise classify_failure(
                error, call, service=endpoint.service, key=key, key_owner=owner
            ) from error
        finally:
            record.finish(call.bytes_in)

    def _price(self, counted: Any) -> float | None:
        endpoint = self._endpoint
        if endpoint.is_local:
            return 0.0
        if endpoint.api_base and "://" in endpoint.key_owner:
            return None  # the prices of an unknown server
        try:
            into, out = _litellm().cost_per_token(model=endpoint.wire_name, usage_object=counted)
        except Exception as error:  # noqa: BLE001 - it raises errors of many kinds
            _log.info("No price for %s: %s", endpoint.wire_name, type(error).__name__)
            return None
        return float(into + out) or None  # no service is free, so its price is missing

    def _client(self, built: WireRequest) -> dict[str, Any]:
        if not built.takes_handler:
            return {}
        from litellm.llms.custom_httpx.http_handler import HTTPHandler

        return {"client": HTTPHandler(client=open_client())}


def warm_up() -> None:
    """Import litellm in the background, to speed up the first call."""
    if "litellm" not in sys.modules:
        start_call(_litellm)


def load_packaged_data(name: str) -> Mapping[str, Any]:
    """Load a JSON table from the litellm package, without importing it.

    Args:
        name: the file name. The result is empty if the file does not exist.
    """
    spec = importlib.util.find_spec("litellm")
    for location in (spec and spec.submodule_search_locations) or ():
        path = Path(location, name)
        if path.is_file():
            data: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
            return data
    return {}


def _find_finish(stream: Any, call: WireCall) -> str:
    """Return the finish reason that the service sent, or an empty string if it sent none.

    For Gemini, litellm sets the usual field to `stop` in every piece of an answer, and stores the
    finish reason in another field. Therefore, the value is used only if the response itself
    contains a finish reason.
    """
    kept = stream.intermittent_finish_reason if call.has_finish_reason else None
    return stream.received_finish_reason or kept or ""


def _read(
    stream: Any,
    emit: Emit[ModelEvent],
    find_price: Callable[[Any], float | None],
    find_finish: Callable[[], str],
) -> int | None:
    """Read a streamed answer, and emit its text, reasoning, tool calls and final status.

    `find_price` returns the price of the reported token counts. `find_finish` returns the finish
    reason that the service sent.

    Returns:
        The reported token count, or None if the service reported none.
    """
    has_text, usage, calls = False, None, CallAssembler()
    words, thoughts, finish = TextJoiner(), TextJoiner(), ""
    for chunk, finish in _read_chunks(stream, find_finish):  # noqa: B007 - it is used after the loop
        usage = getattr(chunk, "usage", None) or usage
        delta = chunk.choices[0].delta if chunk.choices else None
        if delta is None:
            continue
        calls.add(getattr(delta, "tool_calls", None) or ())
        thought = thoughts.add(getattr(delta, "reasoning_content", None) or "")
        if thought and not emit(ModelReasoning(thought)):
            return None
        for signature in _find_signatures(delta):
            emit(ModelReasoning("", signature))
        has_text = has_text or bool(delta.content)
        text = words.add(delta.content or "")
        if text and not emit(ModelText(text)):
            return None
    if rest := words.end():
        emit(ModelText(rest))
    # The wrapper invents a finish reason and a usage if the service sent none.
    finish = find_finish() or finish
    is_counted = any(getattr(chunk, "usage", None) for chunk in stream.chunks)
    if not finish and not has_text:
        raise ConnectionAbortedError(BROKEN_OFF)
    if finish and calls.calls:
        emit(ModelCalls(calls.calls))
    counted = _read_usage(usage, find_price) if usage and is_counted else None
    if finish:
        emit(ModelEnded(status="complete", finish=finish, usage=counted))
    else:
        emit(ModelEnded(status="interrupted", usage=counted, reason=BROKEN_OFF))
    return None if counted is None else counted.prompt_tokens + counted.completion_tokens


def _read_chunks(stream: Any, find_finish: Callable[[], str]) -> Iterator[tuple[Any, str]]:
    """Yield the chunks of a streamed answer, each with the finish reason received so far.

    Once a finish reason has arrived, errors are ignored, because some services then send token
    counts that cannot be parsed.
    """
    finish = ""
    try:
        for chunk in stream:
            finish = find_finish() or finish
            yield chunk, finish
    except Exception as error:
        if not (find_finish() or finish):
            raise
        _log.info("What follows an answer cannot be read: %s", type(error).__name__)


def _find_signatures(delta: Any) -> Iterator[str]:
    """Yield the signatures that end sections of reasoning.

    For a section that the provider has encrypted, this is the encrypted text.
    """
    for block in getattr(delta, "thinking_blocks", None) or ():
        signature = block.get("signature") or block.get("data")
        if isinstance(signature, str) and signature:
            yield signature


def _read_usage(counted: Any, find_price: Callable[[Any], float | None]) -> Usage | None:
    """Convert the token counts of a response, or return None if one of them is negative.

    Args:
        counted: the `usage` object of the response.
        find_price: returns the price of the token counts, or None if it is unknown.
    """
    details = getattr(counted, "prompt_tokens_details", None)
    prompt, completion = counted.prompt_tokens or 0, counted.completion_tokens or 0
    cached = getattr(details, "cached_tokens", None) or 0
    if min(prompt, completion, cached) < 0:
        return None
    return Usage(1, prompt, completion, cached, find_price(counted))


def _pause_before_retry(error: ModelError, back_off_s: float | None) -> float | None:
    """Return how many seconds to wait before retrying, or None to give up.

    Args:
        error: the error of the failed attempt.
        back_off_s: the usual wait in seconds, or None after the last attempt.
    """
    if not error.is_retryable or back_off_s is None:
        return None
    if isinstance(error, RateLimited) and error.retry_after_s is not None:
        return error.retry_after_s if error.retry_after_s <= LONGEST_WAIT_S else None
    return back_off_s


_loading = threading.Lock()


def _litellm() -> Any:
    with _loading:
        ignore_foreign_addresses()
        load_tiktoken()
        module = _import_litellm()
    # litellm sets these filters on import, and a later reset of the filters removes them.
    warnings.filterwarnings("ignore", r".*`ReadOnly` qualifier.*", UserWarning)
    warnings.filterwarnings("ignore", r"Accessing the 'model_.*' attribute", DeprecationWarning)
    # A usage that is not a number needs no warning on standard error.
    warnings.filterwarnings("ignore", r"Pydantic serializer warnings", UserWarning)
    return module


@cache
def _import_litellm() -> Any:
    prepare_environment()
    import litellm

    configure_library(litellm)
    return litellm
