"""What is looked up for a question, and what is found."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from chains.cancel import CancelToken
from chains.chat_ports import ChatPort
from chains.concurrency import call
from chains.events import Event, Retrieved, Step, Warned
from chains.follow_up import SEARCHED, last_turn, looked_up
from chains.retrieval import SearchPort, passages
from chains.turn import Means, TurnRequest
from chains.whole_list import WholeList, page_of, whole_list
from context.budget import room_for
from context.layers import Segment
from context.replay import turns
from context.tokens import count_segment
from context.turn_context import TURN_CONTEXT_SHARE, passages_share

__all__ = ["Found", "look_up", "searching"]

MOST_LISTED: Final = 500


@dataclass(frozen=True)
class Found:
    """What was found for a question.

    Attributes:
        segments: with what is attached; None where there is nothing of either.
        warnings: what was said meanwhile.
        noted: what is kept with the question.
    """

    segments: tuple[Segment, ...] | None
    warnings: tuple[str, ...] = ()
    noted: Mapping[str, Any] = field(default_factory=dict)


def searching(request: TurnRequest, chat: ChatPort) -> TurnRequest:
    """Return the request with what is searched for it, where that is more than its question."""
    asked = turns(chat.path())
    if request.is_again:
        user = asked[-1].user if asked else None
        searched = "" if user is None else str(user.extra.get(SEARCHED, ""))
    else:
        searched = looked_up(request.question, last_turn(asked))
    return replace(request, searched="" if searched == request.question else searched)


def look_up(
    search: SearchPort, request: TurnRequest, means: Means, chat: ChatPort, cancel: CancelToken
) -> Generator[Event, None, Found]:
    """Look up what a question needs beside what is attached: passages, or a page of a list."""
    asked = whole_list(request.question, turns(chat.path()))
    if asked is not None:
        return (yield from _list(search, asked, request, means, cancel))
    said = f"Searching for “{request.searched}”" if request.searched else "Searching…"
    yield Step("search", said)
    query = request.searched or request.question
    reranks = not request.dry_run
    result = call(lambda: search.search(query, request.top_k, reranks=reranks), cancel)
    known = means.additions.instructions
    found = (*request.attached, *passages(result.hits, request.attached, known))
    yield Retrieved(found)
    for warning in result.warnings:
        yield Warned(warning)
    return Found(found, result.warnings)


def _list(
    search: SearchPort, asked: WholeList, request: TurnRequest, means: Means, cancel: CancelToken
) -> Generator[Event, None, Found]:
    yield Step("search", f"Listing “{asked.query}”" if asked.query else "Listing all notes")
    result = call(lambda: search.list_notes(asked.query, MOST_LISTED, asked.offset), cancel)
    page = page_of(result, asked, request.attached, _room(request, means), means.counter)
    found = (*request.attached, *page.segments)
    yield Retrieved(found)
    warnings = (*result.warnings, page.told)
    for warning in warnings:
        yield Warned(warning)
    return Found(found, warnings, page.noted)


def _room(request: TurnRequest, means: Means) -> int:
    """Return what a list may take beside the question and what is attached."""
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    budget = room_for(means.counter, *limits).budget
    attached = sum(count_segment(segment, means.counter) for segment in request.attached)
    share = passages_share(budget, means.counter.count(request.question))
    return min(share, int(budget * TURN_CONTEXT_SHARE) - attached)
