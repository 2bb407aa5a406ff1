"""What is looked up for a question, and what is found."""

from collections.abc import Generator
from dataclasses import replace

from chains.cancel import CancelToken
from chains.chat_ports import ChatPort
from chains.concurrency import call
from chains.events import Event, Retrieved, Step, Warned
from chains.follow_up import SEARCHED, last_turn, looked_up
from chains.retrieval import SearchPort, passages
from chains.turn import TurnRequest
from context.layers import Segment
from context.replay import turns

__all__ = ["look_up", "searching"]


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
    search: SearchPort | None, request: TurnRequest, cancel: CancelToken
) -> Generator[Event, None, tuple[tuple[Segment, ...] | None, tuple[str, ...]]]:
    """Look passages up beside what is attached; None where there is nothing of either."""
    if search is None:
        return request.attached or None, ()
    said = f"Searching for “{request.searched}”" if request.searched else "Searching…"
    yield Step("search", said)
    query = request.searched or request.question
    result = call(lambda: search.search(query, request.top_k), cancel)
    found = (*request.attached, *passages(result.hits, request.attached))
    yield Retrieved(found)
    for warning in result.warnings:
        yield Warned(warning)
    return found, result.warnings
