"""What is attached, made to fit: searched within, or read whole where the user wants that.

Source: "Token Budget Enforcement", "Turn-Time Compaction".
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from chains.cancel import CancelToken
from chains.concurrency import call
from chains.events import Event, Warned
from chains.model_port import ModelPort
from chains.oversize import Shares, WithinPort, excerpted, narrowed
from chains.reading.plan import Plan, ReadingCost
from chains.reading.whole import ReadWhole, plan_of, read_whole
from chains.turn import ChatPort, Means, SessionPort, TurnRequest
from context.budget import room_for
from context.turn_context import TURN_CONTEXT_SHARE, passages_share

__all__ = ["Fitted", "Fitter"]

_NOT_READ: Final = "Nothing was read for this: the request is shown as it is without that."


@dataclass(frozen=True)
class Fitted:
    """A request whose attachments keep to their share.

    Attributes:
        warnings: what is not sent whole, and what could not be read.
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
        self, request: TurnRequest, means: Means, session: SessionPort, cancel: CancelToken
    ) -> Generator[Event, None, Fitted]:
        """Return the request with attachments within their share.

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
            fitted = self._searched(request, means, cancel)
        elif request.dry_run:
            told = plan.cost(means.model).to_dict() | {"done": None}
            searched = self._searched(request, means, cancel).request
            fitted = Fitted(searched, (_NOT_READ,), ReadWhole(searched.attached, told))
        else:
            request = replace(request, turn=request.turn or session.new_id())
            model = partial(self.model, request, means)
            read = yield from read_whole(plan, request, means, model, session, cancel)
            fitted = Fitted(replace(request, attached=read.attached), read.warnings, read)
        for warning in fitted.warnings:
            yield Warned(warning)
        return fitted

    def roughly(self, request: TurnRequest, means: Means) -> TurnRequest:
        """Return the request about as it will be, before anything is looked up."""
        if self.within is None or not request.attached:
            return request
        shares = self._shares(request, means)
        return replace(request, attached=excerpted(request.attached, shares, means.counter))

    def plan(self, request: TurnRequest, means: Means, chat: ChatPort) -> Plan | None:
        """Return how attachments are read whole; None where all of them fit as they are."""
        return plan_of(request, means, self._shares(request, means), chat)

    def cost(self, request: TurnRequest, means: Means, chat: ChatPort) -> ReadingCost | None:
        """Return what reading whole takes at most; None where all attachments fit as they are."""
        plan = self.plan(request, means, chat)
        return None if plan is None else plan.cost(means.model)

    def _searched(self, request: TurnRequest, means: Means, cancel: CancelToken) -> Fitted:
        within = self.within
        if within is None:
            return Fitted(request)
        attached, question, counter = request.attached, request.question, means.counter
        shares = self._shares(request, means)
        found = call(lambda: narrowed(attached, question, shares, counter, within), cancel)
        return Fitted(replace(request, attached=found.segments), found.warnings)

    def _shares(self, request: TurnRequest, means: Means) -> Shares:
        limits = request.threshold, means.model.input_limit, request.max_output_tokens
        budget = room_for(means.counter, *limits).budget
        share = passages_share(budget, means.counter.count(request.question))
        return int(budget * TURN_CONTEXT_SHARE), share // 2 if self.searches else share
