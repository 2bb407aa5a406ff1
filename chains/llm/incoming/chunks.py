"""Read an answer from LiteLLM's chunks, for the protocols that only LiteLLM reads.

These are Anthropic's, Google's, Ollama's own and others. The answers of chat completions endpoints
are read by `chat_stream`.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any

from chains.concurrency import Emit
from chains.events import Usage
from chains.llm.incoming.pieces import AnswerPiece, read_usage
from chains.llm.incoming.tool_calls import CallPiece

__all__ = ["read_chunks"]

_log = logging.getLogger(__name__)


def read_chunks(
    stream: Any,
    emit: Emit[AnswerPiece],
    find_price: Callable[[Any], float | None],
    has_finish_reason: Callable[[], bool],
) -> None:
    """Read a streamed answer, and emit its pieces.

    Once a finish reason has arrived, errors are ignored, because some services then send token
    counts that cannot be parsed.

    Args:
        stream: LiteLLM's wrapper of the stream.
        emit: receives the pieces.
        find_price: returns the price of the reported token counts.
        has_finish_reason: returns whether the response contains a finish reason in Gemini's format.
    """
    counted, finish = None, ""
    try:
        for chunk in stream:
            counted = getattr(chunk, "usage", None) or counted
            finish = _find_finish(stream, has_finish_reason())
            for piece in _read_chunk(chunk, finish):
                if not emit(piece):
                    return
    except Exception as error:
        finish = _find_finish(stream, has_finish_reason()) or finish
        if not finish:
            raise
        _log.info("What follows an answer cannot be read: %s", type(error).__name__)
    finish = _find_finish(stream, has_finish_reason()) or finish
    # The wrapper invents a usage if the service sent none.
    is_counted = any(getattr(chunk, "usage", None) for chunk in stream.chunks)
    usage = _read_usage(counted, find_price) if is_counted else None
    emit(AnswerPiece(finish=finish, usage=usage))


def _find_finish(stream: Any, has_finish_reason: bool) -> str:
    """Return the finish reason that the service sent, or an empty string if it sent none.

    For Gemini, litellm sets the usual field to `stop` in every piece of an answer, and stores the
    finish reason in another field. Therefore, the value is used only if the response itself
    contains a finish reason.
    """
    kept = stream.intermittent_finish_reason if has_finish_reason else None
    found: str = stream.received_finish_reason or kept or ""
    return found


def _read_chunk(chunk: Any, finish: str) -> Iterator[AnswerPiece]:
    delta = chunk.choices[0].delta if chunk.choices else None
    if delta is None:
        if finish:
            yield AnswerPiece(finish=finish)
        return
    yield AnswerPiece(
        delta.content or "",
        getattr(delta, "reasoning_content", None) or "",
        calls=tuple(map(_read_call, getattr(delta, "tool_calls", None) or ())),
        finish=finish,
    )
    for signature in _find_signatures(delta):
        yield AnswerPiece(signature=signature)


def _read_call(call: Any) -> CallPiece:
    function = call.function
    index = call.index if isinstance(call.index, int) else None
    return CallPiece(index, call.id or "", function.name or "", function.arguments or "")


def _find_signatures(delta: Any) -> Iterator[str]:
    """Yield the signatures that end sections of reasoning.

    For a section that the provider has encrypted, this is the encrypted text.
    """
    for block in getattr(delta, "thinking_blocks", None) or ():
        signature = block.get("signature") or block.get("data")
        if isinstance(signature, str) and signature:
            yield signature


def _read_usage(counted: Any, find_price: Callable[[Any], float | None]) -> Usage | None:
    """Convert the token counts of a response, or return None if they cannot be true."""
    details = getattr(counted, "prompt_tokens_details", None)
    counts = {
        "prompt_tokens": getattr(counted, "prompt_tokens", None),
        "completion_tokens": getattr(counted, "completion_tokens", None),
        "prompt_tokens_details": {"cached_tokens": getattr(details, "cached_tokens", None)},
    }
    return read_usage(counts, find_price(counted) if counted else None)
