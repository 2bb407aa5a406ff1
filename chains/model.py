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
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from chains.cancel import CancelToken, Pause, wait_or_cancel
from chains.concurrency import Emit, WaitEnded, iterate, start_call
from chains.errors import (
    Cancelled,
    ClientNotLoaded,
    LedgerFailed,
    MissingKey,
    ModelError,
    ModelUnavailable,
    Offline,
    SpendingLimitReached,
)
from chains.events import Usage
from chains.llm.failures import classify_failure
from chains.llm.http import WireCall, open_client, report_calls_to
from chains.llm.incoming.answer_reader import AnswerReader
from chains.llm.incoming.chunks import read_chunks
from chains.llm.incoming.patience import (
    FIRST_WORD_S,
    SILENCE_S,
    MonotonicClock,
    Patience,
    WaitLimits,
)
from chains.llm.incoming.pieces import AnswerPiece
from chains.llm.port import (
    Endpoint,
    KeyFor,
    ModelEvent,
    ModelReshaped,
    ModelSent,
    ModelWaiting,
    ShapeMemory,
    require_sealed,
)
from chains.llm.records import CallRecorder, ModelCallRecord
from chains.llm.setup import configure_library, ignore_foreign_addresses, prepare_environment
from chains.llm.shaped_request import ShapedRequest
from chains.llm.wire_request import NO_KEY, WireRequest, is_reasoning_model
from chains.tokenizer import load_tiktoken
from context.assemble.request import Request
from context.errors import ContextOverflow

__all__ = ["LiteLLMModel", "load_packaged_data", "warm_up"]

_log = logging.getLogger(__name__)
# Where litellm's OpenAI client calls a service whose address it does not know, with its key.
_FALLBACK_HOST: Final = "api.openai.com"
BACK_OFF_S: Final = (1.0, 3.0)
LONGEST_WAIT_S: Final = 30.0
BROKEN_OFF: Final = "the stream ended too early"
CLOCK = MonotonicClock()


class LiteLLMModel:
    """A language model behind an HTTP API.

    Args:
        endpoint: the address of the model and the name of its service.
        key_for: returns a provider's key, or None.
        offline: whether to refuse all hosts except this computer.
        pause: waits before a failed call is repeated.
        recorder: records each call before it is made, and holds it to the spending limit.
        shapes: remembers the shape of the requests that this model takes.
        max_seconds: how long an answer may take, or 0 for no limit.
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
        max_seconds: float = 0.0,
    ) -> None:
        self._endpoint = endpoint
        self._key_for = key_for
        self._offline = offline
        self._pause = pause
        self._recorder = recorder or CallRecorder()
        self._shapes = shapes
        # A model of the user's own may be slow, and services hide the thinking of others.
        is_slow = (
            bool(endpoint.api_base) or endpoint.is_local or is_reasoning_model(endpoint.wire_name)
        )
        self._limits = WaitLimits(FIRST_WORD_S if is_slow else SILENCE_S, max_seconds)

    def stream(self, request: Request, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the answer as it arrives.

        Before the first text arrives, temporary errors are handled with up to two retries. A
        request whose shape the server refuses is sent again in another one, which is no retry.
        """
        require_sealed(request)
        if self._offline and not self._endpoint.is_local:
            raise Offline(self._endpoint.host or self._endpoint.service)
        key, waits_s = self._key(), iter((*BACK_OFF_S, None))
        shaped = ShapedRequest(request, self._endpoint, key, self._shapes)
        started_s = CLOCK.now()
        while True:
            record = self._recorder.open_record(request, self._endpoint)
            started_s += record.check(cancel)
            patience = Patience(self._limits, CLOCK, started_s)
            try:
                yield from self._send(shaped, record, patience, cancel)
            except ModelError as error:
                if shaped.reshape(error):
                    continue
                pause_s = _pause_before_retry(error, next(waits_s))
                if pause_s is None or not patience.allows_pause(pause_s):
                    raise shaped.choose_error(error) from error
                yield ModelWaiting(pause_s, error.reason)
                self._pause(cancel, pause_s)
            else:
                return

    def _send(
        self,
        shaped: ShapedRequest,
        record: ModelCallRecord,
        patience: Patience,
        cancel: CancelToken,
    ) -> Iterator[ModelEvent]:
        """Send a request once. If the server accepts a new shape, say and remember it."""
        for event in self._attempt(shaped.wire, record, patience, cancel):
            if not isinstance(event, ModelSent) and (change := shaped.confirm()):
                yield ModelReshaped(self._endpoint.service, change)
            yield event

    def _attempt(
        self, built: WireRequest, record: ModelCallRecord, patience: Patience, cancel: CancelToken
    ) -> Iterator[ModelEvent]:
        """Call the model once, and yield the events of its answer.

        An answer with a finish reason is complete, whatever happens behind it. One that breaks off
        is kept if it has any text.
        """
        calls: list[WireCall] = []
        reader, error = AnswerReader(), None
        produce = partial(self._call, built, record, calls.append)
        try:
            for item in iterate(produce, cancel, limit=patience):
                if isinstance(item, ModelSent):
                    yield item
                else:
                    yield from _take_piece(item, reader, patience)
        except (ModelError, ContextOverflow, WaitEnded) as failure:
            error = failure
        except Cancelled:
            if not reader.finish:
                raise
        finally:
            for call in calls:
                call.abort()
        yield from self._end(reader, patience, error)

    def _end(
        self, reader: AnswerReader, patience: Patience, error: Exception | None
    ) -> Iterator[ModelEvent]:
        """Yield the end of an answer, or raise the error that no text has arrived before."""
        yield from reader.flush()
        if reader.finish:
            yield from reader.complete()
            return
        if error is None or isinstance(error, WaitEnded):
            is_permanent, reason = error is not None, patience.reason or BROKEN_OFF
            error = ModelUnavailable(
                self._endpoint.service,
                reason=reason,
                has_responded=True,
                is_permanent=is_permanent,
            )
        if not reader.has_text:
            raise error
        yield from reader.break_off(getattr(error, "reason", "") or str(error))

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
        emit: Emit[ModelSent | AnswerPiece],
    ) -> None:
        """Call litellm once, in a thread of the pool, and emit the pieces of the answer.

        `on_call` receives the HTTP call before it starts, so that it can be aborted.
        """
        endpoint = self._endpoint

        def take(piece: AnswerPiece) -> bool:
            if piece.usage is not None:
                record.tokens = piece.usage.prompt_tokens + piece.usage.completion_tokens
                record.cost = piece.usage.cost
            return emit(piece)

        key, call = self._open_call(built, record, emit, take)
        on_call(call)
        litellm = _litellm()
        try:
            if not built.is_reported:
                record.write_early(endpoint.host or endpoint.service, built.arguments)
            with report_calls_to(call):
                stream = litellm.completion(**built.arguments, **self._client(built))
                if call.reader.is_chat:
                    deque(stream, maxlen=0)  # its pieces are emitted while it is read
                else:
                    read_chunks(stream, take, self._price, lambda: call.reader.has_finish_reason)
        except (LedgerFailed, SpendingLimitReached):
            raise
        except Exception as error:
            owner = endpoint.key_owner
            raise classify_failure(
                error, call, service=endpoint.service, key=key, key_owner=owner
            ) from error
        finally:
            is_billed = not (built.is_reported and call.is_unbilled)
            record.finish(call.reader.bytes_in, is_billed=is_billed)

    def _open_call(
        self,
        built: WireRequest,
        record: ModelCallRecord,
        emit: Emit[ModelSent | AnswerPiece],
        take: Emit[AnswerPiece],
    ) -> tuple[str | None, WireCall]:
        """Build the record of an HTTP call, and return it with the key that is sent."""
        endpoint, key = self._endpoint, built.arguments["api_key"]
        key = None if key == NO_KEY else key
        call = WireCall(
            offline=self._offline,
            max_output_tokens=built.max_output_tokens,
            on_sent=lambda body: emit(ModelSent(body, built.max_output_tokens)),
            host=endpoint.host if endpoint.api_base else "",
            key=key,
            fill=built.fill,
            record=record.write,
            on_piece=lambda piece: take(
                replace(piece, usage=piece.usage and self._add_price(piece.usage))
            ),
        )
        call.query = endpoint.query
        call.foreign_host = "" if "openai" in endpoint.provider else _FALLBACK_HOST
        return key, call

    def _add_price(self, usage: Usage) -> Usage:
        details = {"cached_tokens": usage.cached_tokens}
        counted = _litellm().Usage(
            usage.prompt_tokens, usage.completion_tokens, prompt_tokens_details=details
        )
        return replace(usage, cost=self._price(counted))

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


def _take_piece(
    piece: AnswerPiece, reader: AnswerReader, patience: Patience
) -> Iterator[ModelEvent]:
    """Yield the events of a piece, unless the server has used up the patience before it."""
    patience.note(piece.chars, has_finish=bool(piece.finish), is_whole=piece.is_whole)
    yield from reader.add(piece)
    if patience.measure_rest() <= 0:
        raise WaitEnded


def _pause_before_retry(error: ModelError, back_off_s: float | None) -> float | None:
    """Return how many seconds to wait before retrying, or None to give up.

    Args:
        error: the error of the failed attempt.
        back_off_s: the usual wait in seconds, or None after the last attempt.
    """
    if not error.is_retryable or back_off_s is None:
        return None
    if error.retry_after_s is not None:
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
    try:
        import litellm

        configure_library(litellm)
    except Exception as error:
        # Python forgets only the package, and a later import would find its half-loaded parts.
        for name in [name for name in sys.modules if name.partition(".")[0] == "litellm"]:
            del sys.modules[name]
        raise ClientNotLoaded(f"{error}" or type(error).__name__) from error
    return litellm
