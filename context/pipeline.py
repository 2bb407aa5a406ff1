"""Build a request from the log entries of a session.

The steps are: replay the log → run hooks → apply stored trims and drops → add the turn's context,
carry-forward and memory → count tokens → trim → compact → run ephemeral hooks → add a note on usage
→ check the budget → compare with the previous request → report → place cache marks → seal. Each
step fills in a part of one `Request`. Only compaction calls a model. A preview writes nothing, runs
no hook, and uses an outline in place of a model's summary.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from context.accounting import make_report, measure_layers
from context.assemble.apply_hooks import add_entries, apply_ephemeral_hooks, replay_with_hooks
from context.assemble.builder import draft_request
from context.assemble.inputs import Ports
from context.assemble.request import Request
from context.budget import RequestBudget
from context.draft import CacheMark, Preamble, RequestDraft, Tail, make_preamble
from context.envelope import ContextEnvelope, System, SystemPart
from context.errors import ContextOverflow
from context.fit.cache import Continuation, hash_prefix
from context.fit.compact import PlannedCompaction, compact_history, make_history, preview_compaction
from context.fit.drop import make_drop_entry
from context.fit.guard import can_fit, enforce_budget, enforce_with_note, seal
from context.fit.marks import place_marks
from context.fit.policy import Why, decide_compaction, decide_trim, measure_usage
from context.history.turn_list import TurnList, count_summaries
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import Layer
from context.log.entries import Entry
from context.messages import FrozenMapping, Message, ToolDefinition
from context.report.report import Actions, ContextReport, Prefix
from context.requests.content import KeptContent
from context.tokens import TokenCounter

__all__ = ["Mode", "Ports", "Request", "prepare", "prepare_again", "prepare_call"]

Mode = Literal["send", "preview"]


def prepare(request: Request, mode: Mode = "send") -> Request:
    """Make a new request fit its token budget, and seal it, with a report of its content.

    New log entries (patches of hooks, a trim, a compaction or a drop) are stored in one write.

    Args:
        request: the new request: the session's log, the context of the turn and the settings.
        mode: "send", or "preview" to store nothing and run no hook.

    Raises:
        ContextOverflow: when instructions, tools and the user message alone exceed the budget.
            Nothing is stored.
        ContextHookError: when a hook fails. Nothing is stored.
        BadInputs: when the path does not end with this turn's user message or its tool calls.
    """
    is_sent = mode == "send"
    request = draft_request(replay_with_hooks(request, is_sent))
    request = _trim_and_compact(request, is_sent)
    if is_sent and (changed := apply_ephemeral_hooks(request)) is not request:
        request = draft_request(changed)
    request = enforce_with_note(request)
    report = make_report(request, "last" if is_sent else "next")
    if request.state == "refused":
        raise _make_overflow(report)
    if not is_sent:
        report = report.for_preview(request.draft.tail.question)
    sealed = seal(request, report, _place_marks(request))
    if is_sent:
        _append(sealed)
    return sealed


def _trim_and_compact(request: Request, is_sent: bool) -> Request:
    """Shorten old messages and compact the history, as the history policy decides.

    A request stays unchanged if its required content alone exceeds the budget. If shortening
    messages does not free enough tokens, the history is compacted. The compaction then decides
    which of the remaining messages are shortened.

    Args:
        request: the drafted request.
        is_sent: whether the request is sent, and not only previewed.
    """
    if not can_fit(request):
        return request
    trimmed, why = request, decide_compaction(request)
    if trims := decide_trim(request, why):
        trimmed = draft_request(replace(add_entries(request, trims), actions=Actions(trim=True)))
        why = decide_compaction(trimmed)
    if why is None:
        return trimmed
    compact = compact_history if is_sent else preview_compaction
    compacted = compact(make_history(request, trimmed), measure_usage(trimmed), request, why)
    if compacted is None:
        return trimmed
    actions = _describe_compaction(compacted, why)
    return draft_request(replace(add_entries(request, compacted.entries), actions=actions))


def _describe_compaction(compacted: PlannedCompaction, why: Why) -> Actions:
    return Actions(
        trim=compacted.has_trimmed,
        compact=True,
        block=why == "block",
        warnings=compacted.report.warnings,
        compaction=compacted.report.to_dict(),
    )


def _place_marks(request: Request) -> tuple[CacheMark, ...]:
    if request.takes_marks is False:
        return ()
    head = (turn for turn in request.draft.history[:1] if turn.turn.user is None)
    summary = next((message.id for turn in head for message in turn.messages), None)
    return place_marks(request.draft, request.model, summary)


def _append(request: Request) -> None:
    new = list(request.new_entries)
    if request.cut:
        new.append(_make_drop(request, (new or request.path)[-1].id))
    if new:
        request.ports.append(new)


def _make_drop(request: Request, parent: str) -> Entry:
    before = request.unguarded.history
    first = count_summaries(before)
    kept = before.without(first, first + request.cut)
    place = request.ports.new_id(), parent, request.ports.now()
    return make_drop_entry(place, kept[first], (before.tokens, kept.tokens), request.epoch)


def _make_overflow(report: ContextReport) -> ContextOverflow:
    layers = report.layers
    needed = layers[Layer.L5].tokens
    free = max(0, report.budget - (report.used - needed))
    return ContextOverflow(
        f"Your message has {needed:,} tokens, but only {free:,} are free for it: raise "
        "autoCompactThreshold, shorten the message or split it.",
        report.to_dict(),
    )


def prepare_call(
    preamble: Preamble,
    history: Sequence[MeasuredTurn],
    question: str,
    request_budget: RequestBudget,
    *,
    model: str,
    session: str | None = None,
    temperature: float | None = 0.0,
    takes_marks: bool = False,
) -> Request:
    """Build a request for a single model call outside of any turn, such as a summary.

    Nothing is left out of the request.

    Args:
        preamble: the tools and instructions.
        history: the turns to send.
        question: the text of the user message.
        request_budget: the token budget of the request.
        model: the name of the model.
        session: the id of the session, or None.
        temperature: the temperature of the model, or None to send none.
        takes_marks: whether the provider accepts cache marks.

    Raises:
        ContextOverflow: when the request exceeds its budget.
    """
    tail = Tail((), Message("user", question), preamble.counter)
    draft = RequestDraft(preamble, TurnList.of(history), tail)
    place = Ports.build_for_call(preamble.counter), request_budget, session, model, temperature
    request = _draft_call(Request(*place), draft)
    marks = place_marks(draft, model) if takes_marks else ()
    # No later request continues a call, so its user message needs no cache mark.
    return _seal_whole(request, tuple(mark for mark in marks if mark.layer != Layer.W))


def prepare_again(
    content: KeptContent,
    counter: TokenCounter,
    request_budget: RequestBudget,
    *,
    model: str,
    session: str | None = None,
    temperature: float | None = 0.0,
) -> Request:
    """Build a request from one that was kept, so that it can be sent once more.

    Apart from what is left out of it and the temperature, it is what was sent. Nothing else is left
    out, and no hook runs.

    Args:
        content: the kept request, without what is left out.
        counter: counts the tokens.
        request_budget: the token budget of the request.
        model: the name of the model.
        session: the id of the session, or None.
        temperature: the temperature of the model, or None to send none.

    Raises:
        ContextOverflow: when the request exceeds its budget.
    """
    body = content.body
    system = System(tuple(SystemPart(name, text) for name, text in content.system_parts))
    tools = tuple(map(ToolDefinition.from_dict, body["tools"]))
    preamble = make_preamble(system, tools, counter)
    draft = _draft_kept(content, preamble)
    options = FrozenMapping({**body["options"], "temperature": temperature})
    place = Ports.build_for_call(counter), request_budget, session, model, temperature
    request = _draft_call(Request(*place), draft)
    request = replace(request, base=replace(request.base, options=options))
    return _seal_whole(request, tuple(CacheMark.from_dict(mark) for mark in body["marks"]))


def _draft_kept(content: KeptContent, preamble: Preamble) -> RequestDraft:
    messages = [Message.from_dict(message) for message in content.body["messages"]]
    counter, at = preamble.counter, content.history
    turn = MeasuredTurn.measure(LoggedTurn("", (), None), messages[:at], counter)
    history = TurnList.of([turn] if at else ())
    last = messages.pop() if content.has_uncached else None
    tail = Tail((), messages[at], counter)
    return RequestDraft(preamble, history, tail, tuple(messages[at + 1 :]), last)


def _seal_whole(request: Request, marks: tuple[CacheMark, ...]) -> Request:
    """Seal a drafted request if the guard leaves nothing out of it.

    Raises:
        ContextOverflow: when the request exceeds its budget.
    """
    guarded = enforce_budget(request)
    report = _make_call_report(request)
    if guarded.state == "refused" or guarded.left_out:
        raise ContextOverflow(
            f"This call has {request.draft.used:,} tokens where {request.budget_tokens:,} fit.",
            report.to_dict(),
        )
    return seal(guarded, report, marks)


def _draft_call(request: Request, draft: RequestDraft) -> Request:
    """Return a copy of a new request with its whole content, for a call outside of any turn."""
    preamble, most_tokens = draft.preamble, request.budget.reserve
    options = FrozenMapping({"temperature": request.temperature, "maxTokens": most_tokens})
    base = ContextEnvelope(system=preamble.system, tools=preamble.tools, options=options)
    lasting = preamble.tool_tokens + preamble.system_tokens + draft.tail.total
    request = replace(request, state="drafted", base=base, lasting_tokens=lasting)
    return replace(request, draft=draft, unguarded=draft)


def _make_call_report(request: Request) -> ContextReport:
    draft = request.draft
    continued = Continuation(Prefix(hash_prefix(draft)))
    return ContextReport(
        session=request.session,
        when="last",
        request=1,
        model=request.model,
        request_budget=request.budget,
        layers=measure_layers(draft, continued),
        prefix=continued.prefix,
        tools=tuple(tool.name for tool in draft.preamble.tools),
    )
