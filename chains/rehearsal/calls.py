"""Send a kept request once more, without some of its parts, and return what the model answers."""

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from chains.errors import ModelUnavailable
from chains.events import TextDelta, TextTakenBack
from chains.llm.incoming.answer_reader import collect_answer
from chains.llm.port import ModelEvent, ModelRetracted, ModelText
from chains.providers import price_call
from chains.request.open_turn import open_language_model
from chains.request.turn import Turn
from chains.request.usage import CallUsage
from context.assemble.request import Request
from context.json_codec import Record
from context.layers import Layer, Segment
from context.pipeline import prepare_again
from context.requests.content import KeptContent

__all__ = ["RehearsalAnswer", "RehearsalCost", "ask_again", "measure_cost", "prepare_rehearsal"]

CALLED_TOOLS: Final = "The model wanted to call a tool, which a rehearsal does not run."
CUT_OFF: Final = "The answer stops at the limit of its length."


@dataclass(frozen=True)
class RehearsalAnswer:
    """What a model answered to a request without some of its parts.

    Attributes:
        note: what the reader should know of the answer, or an empty string.
        call: the usage that the provider reported, or None.
    """

    text: str
    note: str = ""
    call: CallUsage | None = None


@dataclass(frozen=True)
class RehearsalCost(Record):
    """The most that a rehearsal can cost.

    Attributes:
        calls: how many calls it may take at most.
        request: the most tokens of a request.
        answer: the most tokens of an answer.
        call_price: the most dollars of a call, or None if the price is not known.
    """

    calls: int
    request: int
    answer: int
    call_price: float | None

    json_shape = (
        "calls",
        "prompt_tokens",
        "output_tokens",
        "price",
    )

    @property
    def prompt_tokens(self) -> int:
        """The most tokens of all requests."""
        return self.calls * self.request

    @property
    def output_tokens(self) -> int:
        """The most tokens of all answers."""
        return self.calls * self.answer

    @property
    def price(self) -> float | None:
        """The most dollars of all calls, or None if the price is not known."""
        return None if self.call_price is None else self.calls * self.call_price


def prepare_rehearsal(turn: Turn, content: KeptContent) -> Request:
    """Build the request of a rehearsal.

    Args:
        turn: an opened turn, whose model is asked.
        content: the kept request, without what is left out.

    Raises:
        ContextOverflow: the model takes less than it did.
    """
    budget = turn.compute_request_budget(turn.factor)
    options: Mapping[str, Any] = content.whole["options"]
    reserve = int(options["maxTokens"])
    # It has been sent before, whatever was learned of how tokens are counted since.
    fits = max(budget.budget, int(content.layout["budget"]))
    return prepare_again(
        content,
        turn.counter,
        replace(budget, budget=fits, reserve=reserve),
        model=turn.model_name,
        session=turn.session.id or None,
        temperature=None if options.get("temperature") is None else 0.0,
    )


def measure_cost(turn: Turn, content: KeptContent, calls: int) -> RehearsalCost:
    """Compute the most that some calls with a kept request can cost.

    Raises:
        ContextOverflow: the model takes less than it did.
    """
    request = prepare_rehearsal(turn, content)
    report = request.report
    prompt = math.ceil(report.used * report.request_budget.factor)
    output = report.request_budget.reserve
    price, endpoint = None, turn.model.endpoint
    if endpoint is not None:
        price = price_call(endpoint, prompt, output, bool(request.marks))
    return RehearsalCost(calls, prompt, output, price)


def ask_again(
    turn: Turn, content: KeptContent, notes: Sequence[str]
) -> Generator[TextDelta | TextTakenBack, None, RehearsalAnswer]:
    """Send a kept request once more, yield the text as it arrives, and return the answer.

    No tool is run.

    Args:
        turn: an opened turn, whose model is asked.
        content: the kept request, without what is left out.
        notes: the paths of the notes whose text is sent, for the ledger.

    Raises:
        ModelError: there is no answer, or it broke off.
        ContextOverflow: the request does not fit the model any more.
        LedgerFailed: the call could not be recorded, so it was not made.
        SpendingLimitReached: the call may pass a limit, and the user did not allow it.
        Cancelled: the turn was cancelled.
    """
    request = prepare_rehearsal(turn, content)
    read = [
        Segment.build(id=path, layer=Layer.L3, kind="passage", source=path, text="")
        for path in notes
    ]
    seen: list[ModelEvent] = []
    for event in open_language_model(turn, turn.model, read).stream(request, turn.cancel):
        seen.append(event)
        if isinstance(event, ModelText):
            yield TextDelta(event.text)
        elif isinstance(event, ModelRetracted):
            yield TextTakenBack()
    answer = collect_answer(iter(seen))
    ended = answer.ended
    if ended.status == "interrupted":
        raise ModelUnavailable(turn.model.host or turn.model.name, reason=ended.reason)
    note = CALLED_TOOLS if answer.has_calls else CUT_OFF if ended.finish == "length" else ""
    call = None if ended.usage is None else CallUsage(request.report, ended.usage)
    return RehearsalAnswer(answer.text, note, call)
