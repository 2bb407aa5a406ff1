"""Call language models through litellm, which only this module imports, on the first call.

A call runs in the pool and its pieces arrive through a channel, so that a cancel takes effect at
once, even while a server stalls. Only a request that passed the budget guard is accepted.
`chains.llm.failures` maps the errors of providers to `chains.errors`.
"""

import importlib.util
import json
import logging
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from chains.cancel import CancelToken, Pause, wait_or_cancel
from chains.concurrency import Emit, iterate, start_call
from chains.errors import MissingKey, ModelError, Offline, RateLimited
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
    ModelSent,
    ModelText,
    ModelWaiting,
)
from chains.llm.wire_messages import (
    CallAssembler,
    TextJoiner,
    build_wire_conversation,
    build_wire_messages,
    encode_conversation,
)
from chains.tokenizer import load_tiktoken
from context.errors import ContextOverflow, UnguardedRequest
from context.fit.cache import make_message_body
from context.fit.guard import PreparedRequest

__all__ = ["LiteLLMModel", "load_packaged_data", "warm_up"]

_log = logging.getLogger(__name__)
TRIES: Final = 3
BACK_OFF_S: Final = (1.0, 3.0)
LONGEST_WAIT_S: Final = 30.0
CONNECT_TIMEOUT_S: Final = 10.0
# A model on a slow processor may read for minutes before it writes its first word.
READ_TIMEOUT_S: Final = 600.0
# The OpenAI client requires a key even if the server does not.
NO_KEY: Final = "none"
BROKEN_OFF: Final = "the stream ended too early"

# litellm calls these through its own HTTP handler, and all others through the OpenAI client.
_HANDLER_PROVIDERS: Final = frozenset(
    {
        "anthropic",
        "databricks",
        "deepseek",
        "fireworks_ai",
        "gemini",
        "groq",
        "hosted_vllm",
        "huggingface",
        "mistral",
        "ollama",
        "ollama_chat",
        "openrouter",
        "together_ai",
        "xai",
    }
)
# Some of these models take no system message, so litellm changes its role.
_O_SERIES: Final = re.compile(r"/o\d")
_OLLAMA: Final = frozenset({"ollama", "ollama_chat"})


class LiteLLMModel:
    """A language model behind the HTTP interface of a provider or of the user's server.

    Args of the constructor: `key_for` returns the key of a provider, or None. `offline` refuses
    every host except this computer. `pause` waits between tries.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key_for: KeyFor,
        *,
        offline: bool = False,
        pause: Pause = wait_or_cancel,
    ) -> None:
        self._endpoint = endpoint
        self._key_for = key_for
        self._offline = offline
        self._pause = pause

    def stream(self, request: PreparedRequest, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the answer as it arrives, with up to three attempts until the first text."""
        if not isinstance(request, PreparedRequest):
            raise UnguardedRequest("Only a request that passed the budget guard can be sent.")
        if self._offline and not self._endpoint.is_local:
            raise Offline(self._endpoint.host or self._endpoint.service)
        arguments, fill = self._arguments(request)
        for wait_s in (*BACK_OFF_S, None):
            try:
                yield from self._attempt(arguments, fill, cancel)
            except ModelError as error:
                pause_s = _pause_before_retry(error, wait_s)
                if pause_s is None:
                    raise
                yield ModelWaiting(pause_s, error.reason)
                self._pause(cancel, pause_s)
            else:
                return

    def _attempt(
        self, arguments: Mapping[str, Any], fill: Mapping[str, str], cancel: CancelToken
    ) -> Iterator[ModelEvent]:
        calls: list[WireCall] = []

        def produce(emit: Emit[ModelEvent]) -> None:
            self._call(arguments, fill, calls.append, emit)

        has_text = False
        try:
            for event in iterate(produce, cancel):
                has_text = has_text or isinstance(event, ModelText)
                yield event
        except (ModelError, ContextOverflow) as error:
            if not has_text:
                raise
            yield ModelEnded("interrupted", reason=getattr(error, "reason", "") or str(error))
        finally:
            for call in calls:
                call.abort()

    def _arguments(self, request: PreparedRequest) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the arguments for litellm without the client, and the values of placeholders."""
        import httpx

        endpoint, key = self._endpoint, self._key()
        options = request.base.options
        is_past = endpoint.provider == "openai" and not _O_SERIES.search(endpoint.wire_name)
        messages, fill = (
            _past_the_client(request)
            if is_past
            else ({"messages": build_wire_conversation(request)}, {})
        )
        arguments: dict[str, Any] = {
            "model": endpoint.wire_name,
            **messages,
            "temperature": options["temperature"],
            "max_tokens": options["maxTokens"],
            "stream": True,
            "stream_options": {"include_usage": True},
            "api_base": endpoint.api_base or None,
            "api_key": key or (NO_KEY if endpoint.api_base else None),
            "timeout": httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            "drop_params": True,
            "max_retries": 0,
            "num_retries": 0,
        }
        if tools := request.draft.preamble.tools:
            functions = [tool.to_dict() for tool in tools]
            arguments["tools"] = [{"type": "function", "function": tool} for tool in functions]
        if isinstance(effort := options.get("reasoning"), str):
            arguments["reasoning_effort"] = effort
        if endpoint.provider in _OLLAMA:
            arguments["num_ctx"] = request.report.request_budget.window
        return arguments, fill

    def _key(self) -> str | None:
        key = self._key_for(self._endpoint.key_owner or self._endpoint.provider) or None
        if key is None and self._endpoint.needs_key:
            raise MissingKey(self._endpoint.service)
        return key

    def _call(
        self,
        arguments: Mapping[str, Any],
        fill: Mapping[str, str],
        on_call: Callable[[WireCall], object],
        emit: Emit[ModelEvent],
    ) -> None:
        """Call litellm once, in a thread of the pool, and emit the events of its answer."""
        call = WireCall(
            offline=self._offline,
            max_output_tokens=arguments["max_tokens"],
            on_sent=lambda body: emit(ModelSent(body)),
            host=self._endpoint.host if self._endpoint.api_base else "",
            key=None if arguments["api_key"] == NO_KEY else arguments["api_key"],
            fill=fill,
        )
        on_call(call)
        litellm = _litellm()
        try:
            with report_calls_to(call):
                _read(litellm.completion(**arguments, **self._client()), emit)
        except Exception as error:
            key = arguments["api_key"]
            known = None if key == NO_KEY else key
            raise classify_failure(
                error, call, service=self._endpoint.service, key=known
            ) from error

    def _client(self) -> dict[str, Any]:
        if self._endpoint.provider not in _HANDLER_PROVIDERS:
            return {}
        from litellm.llms.custom_httpx.http_handler import HTTPHandler

        return {"client": HTTPHandler(client=open_client())}


def warm_up() -> None:
    """Start the import of litellm in the pool, so that the first call does not wait for it."""
    if "litellm" not in sys.modules:
        start_call(_litellm)


def load_packaged_data(name: str) -> Mapping[str, Any]:
    """Return a JSON table from the litellm package, without importing it.

    Args:
        name: the name of the file. The table is empty if there is no such file.
    """
    spec = importlib.util.find_spec("litellm")
    for location in (spec and spec.submodule_search_locations) or ():
        path = Path(location, name)
        if path.is_file():
            data: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
            return data
    return {}


def _read(stream: Any, emit: Emit[ModelEvent]) -> None:
    """Read a streamed answer, and emit its text, reasoning, tool calls and final status."""
    has_text, usage, calls = False, None, CallAssembler()
    words, thoughts = TextJoiner(), TextJoiner()
    for chunk in _pieces(stream):
        usage = getattr(chunk, "usage", None) or usage
        delta = chunk.choices[0].delta if chunk.choices else None
        if delta is None:
            continue
        calls.add(getattr(delta, "tool_calls", None) or ())
        thought = thoughts.add(getattr(delta, "reasoning_content", None) or "")
        if thought and not emit(ModelReasoning(thought)):
            return
        has_text = has_text or bool(delta.content)
        text = words.add(delta.content or "")
        if text and not emit(ModelText(text)):
            return
    if rest := words.end():
        emit(ModelText(rest))
    # The wrapper invents a finish reason and a usage if the service sent none.
    finish = stream.received_finish_reason or ""
    is_counted = any(getattr(chunk, "usage", None) for chunk in stream.chunks)
    if not finish and not has_text:
        raise ConnectionAbortedError(BROKEN_OFF)
    if finish and calls.calls:
        emit(ModelCalls(calls.calls))
    emit(
        ModelEnded(
            status="complete" if finish else "interrupted",
            finish=finish,
            usage=_usage(usage) if usage and is_counted else None,
            reason="" if finish else BROKEN_OFF,
        )
    )


def _pieces(stream: Any) -> Iterator[Any]:
    """Yield the chunks of a streamed answer.

    Errors after the finish reason are ignored, since some services send a usage that cannot be
    parsed.
    """
    try:
        yield from stream
    except Exception as error:
        if not stream.received_finish_reason:
            raise
        _log.info("What follows an answer cannot be read: %s", type(error).__name__)


def _usage(counted: Any) -> Usage | None:
    """Return the usage reported by a service, or None if a count is negative."""
    details = getattr(counted, "prompt_tokens_details", None)
    prompt, completion = counted.prompt_tokens or 0, counted.completion_tokens or 0
    cached = getattr(details, "cached_tokens", None) or 0
    if min(prompt, completion, cached) < 0:
        return None
    return Usage(1, prompt, completion, cached)


def _past_the_client(request: PreparedRequest) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the messages as an extra part of the body, which the OpenAI client does not validate.

    The client checks every field of every message against its types. For a long session this took
    ten times as long as all other work before the request. A placeholder in the body is replaced
    with the encoded messages when the request is sent.

    Returns:
        The arguments for litellm, and the encoded messages by the name of their placeholder.
    """
    asked = build_wire_messages([make_message_body(request.draft.question)])
    name = token_hex(16)
    whole = {name: encode_conversation(request)}
    return {"messages": asked, "extra_body": {"messages": name}}, whole


def _pause_before_retry(error: ModelError, back_off_s: float | None) -> float | None:
    """Return the seconds to wait before the next try, or None if the call must not be retried."""
    if not error.is_retryable or back_off_s is None:
        return None
    if isinstance(error, RateLimited) and error.retry_after_s is not None:
        return error.retry_after_s if error.retry_after_s <= LONGEST_WAIT_S else None
    return back_off_s


_loading = threading.Lock()


def _litellm() -> Any:
    """Return litellm, configured to write no logs and to make no requests of its own."""
    with _loading:
        _ignore_foreign_addresses()
        load_tiktoken()
        module = _import_litellm()
    # litellm sets these filters on import, and a later reset of the filters removes them.
    warnings.filterwarnings("ignore", r".*`ReadOnly` qualifier.*", UserWarning)
    warnings.filterwarnings("ignore", r"Accessing the 'model_.*' attribute", DeprecationWarning)
    # A usage that is not a number needs no warning on standard error.
    warnings.filterwarnings("ignore", r"Pydantic serializer warnings", UserWarning)
    return module


# Variables with addresses and headers that litellm or a provider's client reads.
_FOREIGN_ADDRESSES: Final = re.compile(
    r".*_(API_BASE|BASE_URL|API_URL)(_[A-Z]+)?|AWS_ENDPOINT_URL(_\w+)?|(WATSONX|WX|WML)_URL"
    r"|(AWS_BEDROCK_RUNTIME|AWS_STS|DATAROBOT|GRADIENT_AI_AGENT)_ENDPOINT|AZURE_AUTHORITY_HOST"
    r"|(OPENAI|ANTHROPIC)_CUSTOM_HEADERS"
)


def _ignore_foreign_addresses() -> None:
    """Remove service addresses from the environment, since only the settings may define them.

    Proxy variables are kept, since they apply to all programs of the user.
    """
    for name in [name for name in os.environ if _FOREIGN_ADDRESSES.fullmatch(name)]:
        del os.environ[name]


@cache
def _import_litellm() -> Any:
    os.environ.update(
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS="True",
        # Otherwise it reads a `.env` file from the current folder, which may be a vault.
        LITELLM_MODE="PRODUCTION",
    )
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    # Some services require a tool definition with every tool call, so litellm adds one.
    litellm.modify_params = True
    litellm.disable_streaming_logging = True
    litellm.callbacks = []
    litellm.client_session = open_client()
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        # Its log lines may contain text of notes, and are written to standard error.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return litellm
