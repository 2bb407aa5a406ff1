"""Fit attachments into the token budget: search in large ones, or read them with map-reduce.

Attachments and retrieved passages together may use half of the budget.

Reasons: ARCHITECTURE.md, "Attachments".
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from chains.concurrency import call
from chains.errors import CannotRead
from chains.events import Event, Warned
from chains.models import EXTRACTIVE, ModelInfo
from chains.prompts import READING_PROMPT, CallSetup
from chains.request.turn import Turn
from chains.retrieval.excerpts import (
    AttachmentBudget,
    FittedSegments,
    choose_excerpts,
    drop_repeats,
    estimate_excerpts,
    find_large_attachments,
)
from context.assemble.turn_context import TURN_CONTEXT_SHARE, compute_passages_share
from context.draft import make_preamble
from context.envelope import System
from context.layers import Layer, Segment
from context.messages import Message
from context.tokens import count_message, count_segment

if TYPE_CHECKING:  # reading attachments in full is rare
    from chains.retrieval.map_reduce import MapReduceResult
    from chains.retrieval.map_reduce_plan import MapReducePlan, ReadingCost
from vault.coverage import name_count
from vault.vault import Vault

__all__ = [
    "FittedAttachments",
    "estimate_attachments",
    "explain_blindness",
    "find_unseen_images",
    "fit_attachments",
    "measure_list_room",
    "measure_reading_cost",
    "warn_of_blindness",
]

_NOT_READ: Final = "Nothing was read for this: the request is shown as it is without that."
NOTES_SHARE: Final = 0.75  # of the tokens for large attachments; passages need some of them too
HEAD_TOKENS: Final = 120  # tokens of the header in the segment with the notes


@dataclass(frozen=True)
class FittedAttachments:
    """The attachments of a turn, fitted to the token budget.

    Attributes:
        attached: the segments to send.
        unsent: the attachments that are not sent.
        warnings: one sentence for each attachment that is omitted or could not be read.
        read: the result of reading attachments in full by map-reduce, or None if none was read. In
            a dry run, the result contains only the cost.
    """

    attached: tuple[Segment, ...] = ()
    unsent: tuple[Segment, ...] = ()
    warnings: tuple[str, ...] = ()
    read: "MapReduceResult | None" = None


def fit_attachments(
    turn: Turn, retrieved: Sequence[Segment] = ()
) -> Generator[Event, None, FittedAttachments]:
    """Fit the attachments of a turn into their token budget.

    Args:
        retrieved: the passages that are sent in the same request.

    Raises:
        CannotRead: an attachment cannot be read in full.
        ModelError: more than half of the parts of an attachment could not be read.
    """
    if not turn.attached or turn.is_regenerated:
        return FittedAttachments(turn.attached, turn.unsent)
    turn, warnings = _choose_pictures(turn)
    plan = None
    if turn.ask.reads_whole:
        plan = call(lambda: _plan(turn), turn.cancel)
    if plan is None:
        fitted = _fit_by_search(turn, retrieved)
    else:
        fitted = yield from _read_whole(turn, plan, retrieved)
    yield from (*warnings, *map(Warned, fitted.warnings))
    texts = (warned.message for warned in warnings)
    return replace(fitted, warnings=(*texts, *fitted.warnings))


def estimate_attachments(turn: Turn) -> FittedAttachments:
    """Estimate the size of the attachments as they will be sent.

    Unlike in a turn, large attachments are not searched. Images that the model does not accept are
    left out, although a turn with such images would raise an error.
    """
    turn, pictures = _choose_pictures(turn)
    counter = turn.counter
    unseen = find_unseen_images(turn, turn.attached)
    seen = tuple(part for part in turn.attached if part not in unseen)
    warnings = (explain_blindness(turn.model),) if unseen else ()
    warnings = (*(warned.message for warned in pictures), *warnings)
    dropped = (*turn.unsent, *unseen)
    if not seen:
        return FittedAttachments(seen, dropped, warnings)
    budget = _measure_budget(turn)
    attached, repeated = drop_repeats(seen, budget, counter)
    found = estimate_excerpts(attached, budget, counter)
    return FittedAttachments(found.segments, (*dropped, *found.unsent), (*warnings, *repeated))


def measure_list_room(turn: Turn) -> int:
    """Return how many tokens a list may use beside the attachments of a turn.

    Attachments that fit are sent in full. Those that do not are cut, so that the list has room.
    """
    turn, _ = _choose_pictures(turn)
    budget, counter = _measure_budget(turn), turn.counter
    attached, _ = drop_repeats(turn.attached, budget, counter)
    if find_large_attachments(attached, budget, counter).segments:
        return _measure_passages_share(turn)
    total = turn.compute_request_budget(turn.factor).budget
    question = count_message(Message("user", turn.ask.question), counter) + counter.part_overhead
    taken = sum(count_segment(segment, counter) for segment in attached)
    return min(compute_passages_share(total, question), int(total * TURN_CONTEXT_SHARE) - taken)


def find_unseen_images(turn: Turn, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the attached images that the model may not accept.

    This is an empty tuple if the model is known to accept images. Pictures that came with a note
    are not listed, because the note is sent without them.
    """
    if turn.model.sees:
        return ()
    images = (part for part in segments if part.kind == "image" and part.layer is Layer.L3)
    return tuple(part for part in images if not part.is_embedded_image)


def explain_blindness(model: ModelInfo) -> str:
    """Explain why images cannot be sent to a model."""
    if model.name == EXTRACTIVE:
        return "No model is set, and only a model can look at an image."
    if model.sees is None:
        return (
            f"It is not known whether the model {model.name} sees images; if it does, add it to "
            "chat.imageModels."
        )
    return f"The model {model.name} does not see images."


def warn_of_blindness(model: ModelInfo, pictures: int) -> Warned:
    """Build the warning for pictures of notes that a model is not sent, because it may be blind."""
    left_out = f"{name_count(pictures, 'embedded picture')} left out."
    message = f"{explain_blindness(model)} {left_out}"
    blind = "" if model.name == EXTRACTIVE else model.name
    return Warned(message, topic=f"blind {model.name}", blind_model=blind)


def measure_reading_cost(turn: Turn) -> "ReadingCost | None":
    """Return the maximum cost of reading the attachments in full, or None if all of them fit.

    No model is called.

    Raises:
        CannotRead: an attachment cannot be read in full.
    """
    turn, _ = _choose_pictures(turn)
    plan = _plan(turn)
    return None if plan is None else plan.measure_cost(turn.model)


def _choose_pictures(turn: Turn) -> tuple[Turn, tuple[Warned, ...]]:
    """Leave out the pictures of attached notes that the model does not see, or that do not fit.

    Returns:
        The turn with the other attachments, and a warning if a picture is left out.
    """
    pictures = [part for part in turn.attached if part.is_embedded_image]
    if not pictures:
        return turn, ()
    counter = turn.counter
    kept = [part for part in turn.attached if not part.is_embedded_image]
    unfit: list[Segment] = []
    left = _measure_budget(turn).share - sum(count_segment(part, counter) for part in kept)
    for picture in pictures if turn.model.sees else ():
        left -= count_segment(picture, counter)
        (kept if left >= 0 else unfit).append(picture)
    turn = replace(turn, attached=tuple(kept), unsent=(*turn.unsent, *unfit))
    if unfit:
        text = f"{name_count(len(unfit), 'embedded picture')} left out to make room."
        return turn, (Warned(text),)
    if turn.model.sees:
        return turn, ()
    return turn, (warn_of_blindness(turn.model, len(pictures)),)


def _read_whole(
    turn: Turn, plan: "MapReducePlan", retrieved: Sequence[Segment]
) -> Generator[Event, None, FittedAttachments]:
    """Let the model read large attachments part by part. In a dry run, compute only the cost."""
    from chains.retrieval.map_reduce import MapReduceResult, map_reduce

    if turn.ask.dry_run:
        cost = plan.measure_cost(turn.model).to_dict() | {"done": None}
        searched = _fit_by_search(turn, retrieved)
        read = MapReduceResult(searched.attached, cost)
        return replace(searched, warnings=(_NOT_READ,), read=read)
    read = yield from map_reduce(turn, plan)
    return FittedAttachments(read.attached, turn.unsent, read.warnings, read)


def _fit_by_search(turn: Turn, retrieved: Sequence[Segment]) -> FittedAttachments:
    counter, vault = turn.counter, turn.vault
    budget = _measure_budget(turn)
    attached, warnings = drop_repeats(turn.attached, budget, counter)
    if find_large_attachments(attached, budget, counter).segments:
        beside = sum(count_segment(segment, counter) for segment in retrieved)
        beside = min(beside, _measure_passages_share(turn))
        budget = replace(budget, share=budget.share - beside)
    found = call(lambda: _search_within(turn, vault, attached, budget), turn.cancel)
    return FittedAttachments(found.segments, found.unsent, warnings)


def _search_within(
    turn: Turn,
    vault: Vault | None,
    attached: Sequence[Segment],
    budget: AttachmentBudget,
) -> FittedSegments:
    question = turn.query.text or turn.ask.question
    return choose_excerpts(attached, question, budget, turn.counter, vault)


def _plan(turn: Turn) -> "MapReducePlan | None":
    """Plan how a model reads large attachments part by part, or return None if all attachments fit.

    Raises:
        CannotRead: no model is set, the token budget is too small, or there would be too many
            calls.
    """
    from chains.retrieval.map_reduce_plan import MapReduceSetup, plan_map_reduce

    budget, counter = _measure_budget(turn), turn.counter
    if turn.search is not None:
        budget = replace(budget, share=budget.share - _measure_passages_share(turn))
    large = find_large_attachments(turn.attached, budget, counter)
    if not large.segments:
        return None
    if turn.model_name == EXTRACTIVE:
        raise CannotRead(
            "Reading an attachment whole takes a model, and no model is set. Set one, or have it "
            "searched for what is closest to the question."
        )
    call = CallSetup(
        READING_PROMPT,
        turn.customization.prompts(READING_PROMPT).sections,
        turn.model_name,
        counter,
        turn.compute_request_budget(turn.factor),
        turn.temperature,
    )
    setup = MapReduceSetup(turn.ask.question, call, turn.session.id or None)
    notes_tokens_left = int(large.tokens_left * NOTES_SHARE) - HEAD_TOKENS * len(large.segments)
    return plan_map_reduce(large.segments, large.sizes, notes_tokens_left, setup)


def _measure_budget(turn: Turn) -> AttachmentBudget:
    """Return the token budget for attachments.

    This is half of the request's token budget, or less if other content is large.
    """
    counter = turn.counter
    budget = turn.compute_request_budget(turn.factor).budget
    system = System(turn.customization.system(turn.mode_rules.prompt))
    before = make_preamble(system, turn.tools, counter)
    question = count_message(Message("user", turn.ask.question), counter)
    others = before.tool_tokens + before.system_tokens + question + 2 * counter.part_overhead
    most = budget - others
    share = min(int(budget * TURN_CONTEXT_SHARE), most) - counter.part_overhead
    return AttachmentBudget(share, most)


def _measure_passages_share(turn: Turn) -> int:
    """Return how many tokens passages may use if the attachments do not fit in full."""
    budget = turn.compute_request_budget(turn.factor).budget
    return compute_passages_share(budget, turn.counter.count(turn.ask.question)) // 2
