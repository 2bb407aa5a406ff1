"""What is looked up for a question, and what is found."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from chains.cancel import CancelToken
from chains.concurrency import call
from chains.events import Event, Step, Usage, Warned
from chains.llm.port import ModelPort
from chains.models import EXTRACTIVE
from chains.request.request import SEARCHED, Means, TurnRequest, factor_so_far
from chains.request.session import ChatPort, SessionPort
from chains.request.usage import counted
from chains.retrieval.follow_up import Rewritten, last_turn, looked_up, notes_in_play, rewritten
from chains.retrieval.listing import WholeList, find_page, whole_list
from chains.retrieval.passages import SearchPort, passages
from context.assemble.turn_context import TURN_CONTEXT_SHARE, passages_share
from context.budget import room_for
from context.history.turns import Turn, turns
from context.layers import Segment
from context.report.report import ContextReport
from context.tokens import count_segment

__all__ = ["Found", "Sought", "keep_spent", "look_up", "searching"]

REWRITE: Final = "rewrite"

MOST_LISTED: Final = 500


@dataclass(frozen=True)
class Sought:
    """A request with what is searched for it.

    Attributes:
        spent: the call of a model that put the question into other words, and what it took.
    """

    request: TurnRequest
    warnings: tuple[str, ...] = ()
    spent: tuple[ContextReport, Usage] | None = None


@dataclass(frozen=True)
class Found:
    """What was found for a question.

    Attributes:
        segments: without what is attached, but numbered behind it.
        warnings: what was said meanwhile.
        noted: what is kept with the question.
    """

    segments: tuple[Segment, ...] = ()
    warnings: tuple[str, ...] = ()
    noted: Mapping[str, Any] = field(default_factory=dict)

    def numbered(self, more: int) -> tuple[Segment, ...]:
        """Return the segments when so many more sources stand before them."""
        return tuple(
            segment if segment.number is None else replace(segment, number=segment.number + more)
            for segment in self.segments
        )


def searching(
    request: TurnRequest,
    means: Means,
    chat: ChatPort,
    model: Callable[[], ModelPort],
    cancel: CancelToken,
) -> Generator[Event, None, Sought]:
    """Find out what is searched for a question, where that is more than itself."""
    if request.is_again:
        asked = turns(chat.path())
        searched = str(asked[-1].noted.get(SEARCHED, "")) if asked else ""
        return Sought(replace(request, searched=searched))
    asked = _turns_before(request, chat)
    last, put = last_turn(asked), Rewritten()
    if last is not None and _is_rewritten(request, asked):
        yield Step("search", "Putting the question into words to search for")
        leant = last
        put = call(lambda: rewritten(request, means, leant, model, cancel), cancel)
    warnings = (put.warning,) if put.warning else ()
    yield from map(Warned, warnings)
    searched = put.query or looked_up(request.question, last)
    searched = "" if searched == request.question else searched
    return Sought(replace(request, searched=searched), warnings, put.spent)


def _is_rewritten(request: TurnRequest, asked: Sequence[Turn]) -> bool:
    is_wanted = request.rewrites and not request.dry_run and request.model != EXTRACTIVE
    return is_wanted and whole_list(request.question, asked) is None


def look_up(
    search: SearchPort, request: TurnRequest, means: Means, chat: ChatPort, cancel: CancelToken
) -> Generator[Event, None, Found]:
    """Look up what a question needs beside what is attached: passages, or a page of a list."""
    before = _turns_before(request, chat)
    asked = whole_list(request.question, before)
    if asked is not None:
        factor = factor_so_far(chat, request.model)
        return (yield from _list(search, asked, request, means, factor, cancel))
    said = f"Searching for “{request.searched}”" if request.searched else "Searching…"
    yield Step("search", said)
    query = request.searched or request.question
    in_play = notes_in_play(before, request.attached)
    reranks = not request.dry_run
    result = call(
        lambda: search.search(query, request.top_k, in_play=in_play, reranks=reranks), cancel
    )
    found = passages(result.hits, request.attached, means.additions.instructions)
    for warning in result.warnings:
        yield Warned(warning)
    return Found(found, result.warnings)


def _turns_before(request: TurnRequest, chat: ChatPort) -> tuple[Turn, ...]:
    """Return the turns of a chat without the one that is being prepared."""
    found, asked = turns(chat.path()), request.user_message
    if asked is None:
        return found
    return tuple(turn for turn in found if turn.user is None or turn.user.id != asked.id)


def keep_spent(sought: Sought, turn: str, chat: SessionPort) -> None:
    """Write what the call for other words took to the log of the chat."""
    if sought.spent is not None:
        chat.append([counted(chat, turn, *sought.spent, purpose=REWRITE)])


def _list(
    search: SearchPort,
    asked: WholeList,
    request: TurnRequest,
    means: Means,
    factor: float | None,
    cancel: CancelToken,
) -> Generator[Event, None, Found]:
    yield Step("search", f"Listing “{asked.query}”" if asked.query else "Listing all notes")
    result = call(lambda: search.list_notes(asked.query, MOST_LISTED, asked.offset), cancel)
    room = _room(request, means, factor)
    page = find_page(result, asked, request.attached, room, means.counter)
    warnings = (*result.warnings, page.told)
    for warning in warnings:
        yield Warned(warning)
    return Found(page.segments, warnings, page.noted)


def _room(request: TurnRequest, means: Means, factor: float | None) -> int:
    """Return what a list may take beside the question and what is attached."""
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    budget = room_for(means.counter, *limits, factor).budget
    attached = sum(count_segment(segment, means.counter) for segment in request.attached)
    share = passages_share(budget, means.counter.count(request.question))
    return max(min(share, int(budget * TURN_CONTEXT_SHARE) - attached), share // 2)
