"""Compact a session during a turn, with summaries written by a model.

The history is compacted when it exceeds its budget, at the end of a turn, when the user or model
requests it, and after a service rejects a request as too long.

If the chat's own model writes the summary, the call repeats the start of the session's last
request, which the provider has cached, followed by the text that was trimmed. Any other model
receives the turns as text. If they are too long, it summarises them in pieces, and then summarises
those summaries.

Source: the design documents "Context Engineering Optimization", section 3.2; "Token Budget
Enforcement", section "Guiding Principles".
"""

import html
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from chains.cancel import CancelToken
from chains.concurrency import Emit, WorkerPool, iterate
from chains.errors import ModelError
from chains.events import CompactionEnded, CompactionStarted, Event
from chains.llm.port import ModelEnded, ModelPort, ModelText
from chains.prompts import SUMMARY_PROMPT
from chains.request.draft import PreparedTurn, build_inputs
from chains.request.request import TurnContext, find_model, open_model
from chains.request.usage import SUMMARY, CallUsage, LogUsage, build_usage_entry
from chains.tokenizer import load_counter
from context.assemble.inputs import GivenSummary, SummaryTask
from context.assemble.request import Preamble, make_preamble
from context.budget import RequestBudget, compute_budget
from context.envelope import System
from context.errors import ContextOverflow, SummaryFailed
from context.fit.compact_session import CompactionReport, compact_if_due, compact_session
from context.fit.guard import PreparedRequest
from context.fit.summaries import SUMMARY_TOKENS, make_outline
from context.history.turns import MeasuredTurn, Turn
from context.log.entries import Entry, UsageEntry
from context.messages import Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from context.pipeline import prepare_call
from context.prompt import PromptSection, make_system_parts
from context.tokens import TokenCounter

__all__ = [
    "BranchSummary",
    "Summariser",
    "add_summaries",
    "compact",
    "compact_at_end",
    "prepare_request",
    "summarise_branch",
]

NO_TURN: Final = ""  # no turn is in progress, so the last turn is part of the history
WORDS_PER_TOKEN: Final = 0.6
MOST_ROUNDS: Final = 6
PIECE_SHARE: Final = 0.98  # joined parts may have slightly more tokens than their sum
_SPEAKERS: Final = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System"}

# Preparing waits for model calls in the shared pool, so it must not occupy the threads of that.
_PREPARING: Final = WorkerPool(4)
_log = logging.getLogger(__name__)

T = TypeVar("T")


def prepare_request(
    context: TurnContext, prepare: Callable[[TurnContext], PreparedTurn]
) -> Generator[Event, None, PreparedTurn]:
    """Prepare a request in the pool, and yield the events of a compaction if there is one."""
    turn, has_begun = yield from _run_announced(prepare, context, "auto")
    actions = turn.request.report.actions
    if actions.compaction is not None:
        reason = "block" if actions.block else "auto"
        yield from _end_compaction(actions.compaction, has_begun, reason)
    return turn


def compact(
    context: TurnContext,
    instructions: str = "",
    *,
    turn: str = NO_TURN,
    reason: Literal["asked", "overflow"] = "asked",
    given: GivenSummary | None = None,
    is_draft: bool = False,
) -> Generator[Event, None, CompactionReport]:
    """Compact a session, and store the result if it frees any tokens.

    Args:
        instructions: the user's additional instructions for the summary.
        given: a finished summary to store instead of asking a model for one.
        is_draft: whether to return the summary without storing it. Token usage is always stored.
        turn: the id of the turn in progress, which is not compacted.
        reason: `asked` summarises everything before the last complete turn. `overflow` compacts the
            history to the usual fraction of its budget.
    """

    def run(context: TurnContext) -> tuple[CompactionReport, list[Entry]]:
        new_entries: list[Entry] = []
        inputs = build_inputs(context, context.session.path(), turn)
        inputs = replace(inputs, summary_instructions=instructions, given_summary=given)
        return compact_session(inputs, context.ports(new_entries, turn), reason), new_entries

    (forced, new_entries), has_begun = yield from _run_announced(run, context, reason)
    if is_draft:
        new_entries = [entry for entry in new_entries if isinstance(entry, UsageEntry)]
    if new_entries:
        context.session.append(new_entries)
    if not is_draft:
        yield from _end_compaction(forced.to_dict(), has_begun, reason)
    return forced


def compact_at_end(context: TurnContext, turn: str) -> Generator[Event]:
    """Compact a session at the end of a turn, if its history is too long."""

    def run(context: TurnContext) -> tuple[CompactionReport | None, list[Entry]]:
        new_entries: list[Entry] = []
        inputs = build_inputs(context, context.session.path(), NO_TURN)
        return compact_if_due(inputs, context.ports(new_entries, turn)), new_entries

    (forced, new_entries), has_begun = yield from _run_announced(run, context, "auto")
    if new_entries:
        context.session.append(new_entries)
    if forced is not None:
        yield from _end_compaction(forced.to_dict(), has_begun, "auto")


def _run_announced(
    run: Callable[[TurnContext], T], context: TurnContext, reason: str
) -> Generator[Event, None, tuple[T, bool]]:
    """Run a function in the pool, and yield `CompactionStarted` before a model writes a summary.

    Args:
        run: the function, which receives the context to use.
        context: the values shared by the steps of the turn.
        reason: the reason for the compaction.

    Returns:
        The result of the function, and whether the event was yielded.
    """
    results: list[T] = []
    has_begun = False

    def produce(emit: Emit[Event]) -> None:
        results.append(run(_announce(context, emit, reason)))

    for event in iterate(produce, context.cancel, _PREPARING):
        has_begun = True
        yield event
    return results[0], has_begun


def _end_compaction(result: Mapping[str, object], has_begun: bool, reason: str) -> Iterator[Event]:
    if not has_begun:
        yield CompactionStarted(reason)
    yield CompactionEnded(result)


def _announce(context: TurnContext, emit: Emit[Event], reason: str) -> TurnContext:
    """Return a copy of the context that emits `CompactionStarted` before each model summary."""
    summarise = context.summarise
    if summarise is None:
        return context

    def summarise_announced(task: SummaryTask, log_usage: LogUsage) -> str:
        emit(CompactionStarted(reason))
        return summarise(task, log_usage)

    return replace(context, summarise=summarise_announced)


def add_summaries(context: TurnContext) -> TurnContext:
    """Return a copy of the context in which a model, if one is set, writes the summaries."""
    name = context.request.summarised_by
    if not name:
        return context

    def summarise(task: SummaryTask, log_usage: LogUsage) -> str:
        chain, request = context.chain, context.request
        model, is_own = find_model(chain, request, name), name == request.model
        counter = context.counter if is_own else load_counter(name)
        limits = request.threshold, model.input_limit, request.max_output_tokens
        return Summariser(
            name=name,
            model=open_model(context, model),
            counter=counter,
            request_budget=task.request_budget if is_own else compute_budget(counter, *limits),
            sections=context.customization.prompts(SUMMARY_PROMPT).sections,
            cancel=context.cancel,
            temperature=request.temperature,
            takes_marks=model.takes_marks,
            log_usage=log_usage,
        )(task)

    return replace(context, summarise=summarise)


@dataclass(frozen=True)
class BranchSummary:
    """The summary of a branch, and the usage of the model calls that wrote it."""

    text: str
    usage: tuple[UsageEntry, ...] = ()


def summarise_branch(context: TurnContext, branch: Sequence[Turn]) -> BranchSummary:
    """Summarise an abandoned branch, or build an outline of it if no model is available.

    Only the settings of the request are used, not its user message.

    Raises:
        Cancelled: the token was cancelled.
    """
    counter, summarise = context.counter, add_summaries(context).summarise
    turns = tuple(MeasuredTurn.measure(turn, turn.messages, counter) for turn in branch)
    task = SummaryTask(
        said=turns,
        sent=(),
        preamble=make_preamble(System(), (), counter),
        request_budget=context.compute_request_budget(),
        model=context.request.model,
        session=None,
        most_tokens=SUMMARY_TOKENS,
    )
    usage: list[UsageEntry] = []

    def log(call: CallUsage) -> None:
        usage.append(build_usage_entry(context.session, "", call, purpose=SUMMARY))

    text = ""
    try:
        if summarise is not None:
            text = summarise(task, log).strip()
    except SummaryFailed as failure:
        _log.warning("An outline stands for a summary of a branch: %s", failure)
    return BranchSummary(text or make_outline(turns, SUMMARY_TOKENS, counter), tuple(usage))


@dataclass
class Summariser:
    """Summarises turns with a model.

    Attributes:
        name: the name of the model, as in the settings.
        model: the port that calls the model.
        request_budget: the token budget of the model's requests.
        sections: the sections of the prompt.
        log_usage: records the usage of each call.
    """

    name: str
    model: ModelPort
    counter: TokenCounter
    request_budget: RequestBudget
    sections: Sequence[PromptSection]
    cancel: CancelToken
    log_usage: LogUsage
    temperature: float = 0.0
    takes_marks: bool = False

    def __call__(self, task: SummaryTask) -> str:
        """Summarise the turns of a task.

        Raises:
            SummaryFailed: the model returned no summary.
            Cancelled: the token was cancelled.
        """
        try:
            if task.continues and task.model == self.name:
                return self._continue_session(task)
            return self._sum_up(task)
        except (ModelError, ContextOverflow) as failure:
            raise SummaryFailed(f"No summary could be made: {failure}") from failure

    def _continue_session(self, task: SummaryTask) -> str:
        """Ask for the summary in a message that follows the session's last request."""
        prompt = [section.render() for section in self.sections]
        wanted = _write_task(task, "the conversation up to here")
        question = "\n\n".join([*prompt, *_list_shortened(task), wanted])
        try:
            return self._ask(task, task.preamble, task.sent, question)
        except ContextOverflow:
            return self._sum_up(task)

    def _sum_up(self, task: SummaryTask) -> str:
        texts = [text for turn in task.said for text in _render_turn(turn)]
        bare = make_preamble(
            System(make_system_parts(SUMMARY_PROMPT, self.sections)), (), self.counter
        )
        for _ in range(MOST_ROUNDS):
            pieces = self._join_texts(texts, task, bare)
            texts = [
                self._ask(task, bare, (), _frame_conversation(piece, task)) for piece in pieces
            ]
            if len(texts) == 1:
                return texts[0]
        raise SummaryFailed("The conversation is too long to be summed up.")

    def _join_texts(self, texts: Iterable[str], task: SummaryTask, bare: Preamble) -> list[str]:
        """Join texts into as few pieces as possible, each small enough for one call."""
        frame = self.counter.count(_frame_conversation("", task)) + self.counter.message_overhead
        most = int((self.request_budget.budget - bare.system_tokens - frame) * PIECE_SHARE)
        pieces: list[str] = []
        tokens = 0
        for text in (part for whole in texts for part in self._halve(whole, most)):
            size = self.counter.count(html.escape(text, quote=False)) + 2
            if pieces and tokens + size <= most:
                pieces[-1] += f"\n\n{text}"
                tokens += size
            else:
                pieces.append(text)
                tokens = size
        return pieces

    def _halve(self, text: str, most: int) -> Iterator[str]:
        """Halve a text repeatedly until each piece has at most `most` tokens."""
        if most < 1:
            raise SummaryFailed("The budget has no room for making a summary.")
        if len(text) < 2 or self.counter.count(html.escape(text, quote=False)) + 2 <= most:
            yield text
            return
        middle = len(text) // 2
        at = text.rfind("\n", 0, middle) + 1 or middle
        yield from self._halve(text[:at], most)
        yield from self._halve(text[at:], most)

    def _ask(
        self, task: SummaryTask, start: Preamble, turns: Sequence[MeasuredTurn], question: str
    ) -> str:
        request = prepare_call(
            start,
            turns,
            question,
            self.request_budget,
            model=self.name,
            session=task.session,
            temperature=self.temperature,
            takes_marks=self.takes_marks,
        )
        text = self._answer(request)
        if not text.strip():
            raise SummaryFailed("The model gave no summary.")
        return text

    def _answer(self, request: PreparedRequest) -> str:
        pieces = []
        for event in self.model.stream(request, self.cancel):
            if isinstance(event, ModelText):
                pieces.append(event.text)
            elif isinstance(event, ModelEnded):
                if event.usage is not None:
                    self.log_usage(CallUsage(request.report, event.usage))
                if event.status == "interrupted":
                    raise SummaryFailed(f"The summary broke off: {event.reason}.")
        return "".join(pieces)


def _frame_conversation(conversation: str, task: SummaryTask) -> str:
    text = html.escape(conversation, quote=False)
    return f"<conversation>\n{text}\n</conversation>\n\n{_write_task(task, 'this conversation')}"


def _list_shortened(task: SummaryTask) -> Iterator[str]:
    """Yield the full text of the messages that the request contains only in shortened form."""
    if texts := [text for turn in task.shortened for text in _render_turn(turn)]:
        text = html.escape("\n\n".join(texts), quote=False)
        yield f"What is shortened above was, in full:\n\n<shortened>\n{text}\n</shortened>"


def _write_task(task: SummaryTask, what: str) -> str:
    words = max(20, int(task.most_tokens * WORDS_PER_TOKEN))
    more = f" {task.instructions.strip()}" if task.instructions.strip() else ""
    return f"Write down what has to be remembered of {what}, in at most {words} words.{more}"


def _render_turn(turn: MeasuredTurn) -> Iterator[str]:
    for message in turn.messages:
        yield f"{_SPEAKERS[message.role]}: {_render_message(message)}"
    if names := dict.fromkeys(segment.source for segment in turn.turn.segments):
        yield f"Notes that were sent along: {', '.join(names)}"


def _render_message(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = []
    for part in message.content:
        if isinstance(part, TextPart | ReasoningPart):
            texts.append(part.text)
        elif isinstance(part, ToolCallPart):
            texts.append(f"[calls {part.name} with {part.arguments_json}]")
        elif isinstance(part, ToolResultPart):
            texts.append(part.content)
        else:
            texts.append("[a picture]")
    return "\n".join(texts)
