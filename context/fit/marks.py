"""Place cache marks, which tell a provider up to which point it may cache a request.

At most four positions are marked, and only where the part of the request before the mark is large
enough to be cached. Content that is sent only once is never marked.
"""

import re
from typing import Final

from context.draft import CacheMark, RequestDraft
from context.layers import Layer
from context.messages import Message
from context.tokens import count_message

MOST_MARKS: Final = 4
BLOCKS_BETWEEN: Final = 15  # a provider searches the last 20 blocks for a cached prefix
LEAST_PREFIX: Final = 4_096  # for models that are not in the table

# From the provider's page on prompt caching. The first row that matches a model's name counts.
_LEAST_PREFIXES: Final = (
    (re.compile(r"claude-opus-4[-.][56]|claude-haiku-4[-.]5"), 4_096),
    (re.compile(r"claude-opus-4[-.]7|claude-sonnet-4[-.]6"), 2_048),
    (re.compile(r"claude-(3[-.]5-haiku|3-haiku|haiku-3)"), 2_048),
    (re.compile(r"claude-(opus-4|sonnet-4|sonnet-5|3[-.][57]-sonnet|3-opus|sonnet-3)"), 1_024),
)
_TAKES_MARKS: Final = re.compile(r"^(anthropic/|bedrock/|vertex_ai/|openrouter/|claude-)")


def find_least_prefix(model: str) -> int | None:
    """Return how many tokens a prefix needs for a model's provider to cache it.

    Return None if the provider does not use cache marks.

    Args:
        model: the name of the model, with or without the provider's prefix.
    """
    name = model.lower()
    if "claude" not in name or not _TAKES_MARKS.match(name):
        return None
    fitting = (tokens for pattern, tokens in _LEAST_PREFIXES if pattern.search(name))
    return next(fitting, LEAST_PREFIX)


def place_marks(
    draft: RequestDraft, model: str, boundary: str | None = None
) -> tuple[CacheMark, ...]:
    """Choose the cache marks for a request, in the order of their positions.

    Args:
        draft: the content of the request.
        model: the name of the model.
        boundary: the id of another message to mark, such as a summary in the first turn, or None.
    """
    least = find_least_prefix(model)
    if least is None:
        return ()
    history = draft.history.message_count
    candidates = [
        *_mark_work(draft, history),
        *([CacheMark(Layer.L4, history - 1)] if history else []),
        *([CacheMark(Layer.L1, None)] if draft.layers[Layer.L1] else []),
        *([CacheMark(Layer.L4, at)] if (at := _find_boundary(draft, boundary)) is not None else []),
    ]
    fitting = [mark for mark in candidates if _count_tokens_before(mark, draft) >= least][
        :MOST_MARKS
    ]
    return tuple(sorted(fitting, key=lambda mark: -1 if mark.message is None else mark.message))


def _find_boundary(draft: RequestDraft, boundary: str | None) -> int | None:
    head = draft.history[0].messages if len(draft.history) else ()
    at = next((at for at, m in enumerate(head) if boundary is not None and m.id == boundary), None)
    return None if at == draft.history.message_count - 1 else at


def _count_tokens_before(mark: CacheMark, draft: RequestDraft) -> int:
    layers, counter, at = draft.layers, draft.tail.counter, mark.message
    before = layers[Layer.T] + layers[Layer.L1]
    if at is None:
        return before
    behind = at + 1 - draft.history.message_count
    if behind >= 0:
        messages = (draft.question, *draft.work)[:behind]
        return (
            before + layers[Layer.L4] + sum(count_message(message, counter) for message in messages)
        )
    head = draft.history[0].messages[: at + 1]
    return before + sum(count_message(message, counter) for message in head)


def _mark_work(draft: RequestDraft, start: int) -> list[CacheMark]:
    if not draft.work and not draft.preamble.tools:
        return []
    end = start + len(draft.work)
    between, blocks = [], 0
    for at, message in enumerate((draft.question, *draft.work), start=start):
        blocks += _count_blocks(message)
        if blocks >= BLOCKS_BETWEEN and at < end:
            between.append(CacheMark(Layer.W, at))
            blocks = 0
    return [CacheMark(Layer.W, end), *between[-1:]]


def _count_blocks(message: Message) -> int:
    return 1 if isinstance(message.content, str) else len(message.content)
