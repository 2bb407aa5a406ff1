"""What is attached, made to fit: searched within, or read whole where the user wants that.

Attachments and the passages that were looked up beside them take at most half of the budget.

Source: "Token Budget Enforcement", "Turn-Time Compaction".
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from chains.cancel import CancelToken
from chains.concurrency import call
from chains.events import Event, Warned
from chains.llm.port import ModelPort
from chains.request.request import ChatPort, Means, SessionPort, TurnRequest, factor_so_far
from chains.retrieval.attachments import (
    Room,
    WithinPort,
    excerpted,
    narrowed,
    too_large,
    without_repeats,
)
from chains.retrieval.map_reduce.plan import Plan, ReadingCost
from chains.retrieval.map_reduce.run import ReadWhole, plan_of, read_whole
from context.assemble.request import preamble
from context.assemble.turn_context import TURN_CONTEXT_SHARE, passages_share
from context.budget import room_for
from context.envelope import System
from context.layers import Segment
from context.messages import Message
from context.tokens import count_message, count_segment

__all__ = ["Fitted", "Fitter"]

_NOT_READ: Final = "Nothing was read for this: the request is shown as it is without that."


@dataclass(frozen=True)
class Fitted:
    """A request whose attachments keep to their share.

    Attributes:
        warnings: what could not be read, and what of a selection is in a note that is sent whole.
        read: what was read whole, or would be in a dry run; None where nothing is.
    """

    request: TurnRequest
    warnings: tuple[str, ...] = ()
    read: ReadWhole | None = None


@dataclass(frozen=True)
class Fitter:
    """Makes attachments fit.

    Attributes:
        within: finds passages of those that are too large; None leaves them to the guard.
        searches: whether passages of the notes are looked up beside them.
        model: returns who reads, for what is known of the model.
    """

    within: WithinPort | None
    searches: bool
    model: Callable[[TurnRequest, Means], ModelPort]

    def fit(
        self,
        request: TurnRequest,
        means: Means,
        session: SessionPort,
        cancel: CancelToken,
        retrieved: Sequence[Segment] = (),
    ) -> Generator[Event, None, Fitted]:
        """Return the request with attachments within their share.

        Args:
            retrieved: the passages that were looked up, which go beside them.

        Raises:
            CannotRead: they cannot be read whole.
            ModelError: too much of one could not be read.
        """
        if not request.attached:
            return Fitted(request)
        plan = None
        if request.reads_whole:
            plan = call(lambda: self.plan(request, means, session), cancel)
        if plan is None:
            fitted = self._searched(request, means, session, cancel, retrieved)
        elif request.dry_run:
            told = plan.cost(means.model).to_dict() | {"done": None}
            searched = self._searched(request, means, session, cancel, retrieved).request
            fitted = Fitted(searched, (_NOT_READ,), ReadWhole(searched.attached, told))
        else:
            model = partial(self.model, request, means)
            read = yield from read_whole(plan, request, means, model, session, cancel)
            fitted = Fitted(replace(request, attached=read.attached), read.warnings, read)
        for warning in fitted.warnings:
            yield Warned(warning)
        return fitted

    def roughly(self, request: TurnRequest, means: Means, chat: ChatPort) -> Fitted:
        """Return the request about as it will be, before anything is looked up."""
        if self.within is None or not request.attached:
            return Fitted(request)
        room = _room(request, means, chat)
        attached, warnings = without_repeats(request.attached, room, means.counter)
        found = excerpted(attached, room, means.counter)
        return Fitted(replace(request, attached=found.segments, unsent=found.unsent), warnings)

    def plan(self, request: TurnRequest, means: Means, chat: ChatPort) -> Plan | None:
        """Return how attachments are read whole; None where all of them fit as they are."""
        room = _room(request, means, chat)
        if self.searches:
            room = replace(room, share=room.share - _beside(request, means, chat))
        return plan_of(request, means, room, chat)

    def cost(self, request: TurnRequest, means: Means, chat: ChatPort) -> ReadingCost | None:
        """Return what reading whole takes at most; None where all attachments fit as they are."""
        plan = self.plan(request, means, chat)
        return None if plan is None else plan.cost(means.model)

    def _searched(
        self,
        request: TurnRequest,
        means: Means,
        chat: ChatPort,
        cancel: CancelToken,
        retrieved: Sequence[Segment],
    ) -> Fitted:
        within, counter = self.within, means.counter
        if within is None:
            return Fitted(request)
        room = _room(request, means, chat)
        attached, warnings = without_repeats(request.attached, room, counter)
        if too_large(attached, room, counter).segments:
            beside = sum(count_segment(segment, counter) for segment in retrieved)
            beside = min(beside, _beside(request, means, chat))
            room = replace(room, share=room.share - beside)
        question = request.searched or request.question
        found = call(lambda: narrowed(attached, question, room, counter, within), cancel)
        return Fitted(replace(request, attached=found.segments, unsent=found.unsent), warnings)


def _budget(request: TurnRequest, means: Means, chat: ChatPort) -> int:
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    return room_for(means.counter, *limits, factor_so_far(chat, request.model)).budget


def _room(request: TurnRequest, means: Means, chat: ChatPort) -> Room:
    """Return the room for L3: half the budget, or less where the rest of a request needs it."""
    budget, counter = _budget(request, means, chat), means.counter
    before = preamble(System(means.additions.system(means.prompt)), means.tools, counter)
    question = count_message(Message("user", request.question), counter)
    others = before.tool_tokens + before.system_tokens + question + 2 * counter.part_overhead
    most = budget - others
    return Room(min(int(budget * TURN_CONTEXT_SHARE), most) - counter.part_overhead, most)


def _beside(request: TurnRequest, means: Means, chat: ChatPort) -> int:
    """Return what retrieved passages may take beside attachments that are too large."""
    budget = _budget(request, means, chat)
    return passages_share(budget, means.counter.count(request.question)) // 2
