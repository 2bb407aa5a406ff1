"""The agent loop: call the model, run its tool calls, and call it again with the results.

Each tool call and result is logged before the next request. Steps and time are limited. When a
limit is reached, the model is called once more without tools, so that the turn has an answer.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from chains.concurrency import gather
from chains.errors import Cancelled, ToolFailed
from chains.events import (
    ContextPrepared,
    Event,
    ToolEnded,
    ToolStarted,
    Usage,
    Warned,
)
from chains.llm.incoming.tool_calls import clean_call_id, clean_tool_name
from chains.llm.port import RequestedCall
from chains.request.deferral import build_promotion
from chains.request.draft import prepare_step
from chains.request.open_turn import offer_found_tools
from chains.request.session import SessionPort
from chains.request.turn import Turn
from chains.tool import Proposal
from chains.tools.context_tools import (
    COMPACT_CONTEXT,
    READ_RESULT,
    TOOL_SEARCH,
    FoundTools,
    build_compact_tool,
    build_result_tool,
    build_search_tool,
    describe_compaction,
    offload_result,
)
from chains.tools.listing_tools import LISTING_TOOLS, build_listing_tools
from chains.tools.memory_tools import MEMORY_TOOLS, SessionMemory, build_memory_tools
from chains.tools.notes import NOTE_TOOLS, NumberedSources, build_note_tools
from chains.tools.registry import KIND, ToolOutcome, ToolRegistry, ToolRun
from chains.tools.schema import parse_arguments
from chains.turn.answer import AnswerStream, StoredAnswer
from chains.turn.approved_calls import MOST_PROPOSALS, STILL_CHANGING, ApprovedCalls
from chains.turn.compact import compact, prepare_request
from chains.turn.hooks import run_result_hooks
from chains.turn_answer import MOST_STEP_CHARS, AnswerEnd, ToolStatus, ToolStep
from chains.web.urls import find_named_hosts
from context.assemble.request import Request
from context.history.tool_pairing import READS_ONLY
from context.history.turns import list_turns
from context.layers import Segment
from context.log.entries import MessageEntry
from context.messages import Message, ToolCallPart, ToolDefinition, ToolResultPart
from vault.vault import Vault

__all__ = ["AGENT_TOOLS", "AgentLoop"]

AGENT_TOOLS: Final[tuple[ToolDefinition, ...]] = (
    *NOTE_TOOLS,
    *LISTING_TOOLS,
    READ_RESULT,
    COMPACT_CONTEXT,
    TOOL_SEARCH,
    *MEMORY_TOOLS,
)


ENDED: Final = ToolOutcome(
    "Error: the time for tools was over before this call ended, so its result and effect are not "
    "known. Answer from what you have found.",
    is_error=True,
)


@dataclass(frozen=True)
class _Done:
    """The outcome of a tool call, and how long the call took."""

    outcome: ToolOutcome
    seconds: float


class AgentLoop:
    """Runs the turn of an agent, from the first request to the stored answer."""

    def __init__(self, turn: Turn, notes: Vault, first: Request) -> None:
        self._turn = turn
        self._session = turn.session
        self._settings, self._clock = turn.settings, turn.ports.clock
        read_before = _list_read_sources(turn.session) if turn.is_continued else ()
        self._sources = NumberedSources((*first.segments, *read_before))
        number = self._sources.number
        known = turn.customization.instructions
        tools = build_note_tools(notes, self._sources, known, turn.cancel.raise_if_cancelled)
        self._found = FoundTools(turn.deferred.definitions)
        self._memory = SessionMemory(turn.session)
        self._registry = ToolRegistry(
            (
                *tools,
                *build_listing_tools(notes),
                build_result_tool(turn.session, turn.note_rules),
                build_compact_tool(),
                build_search_tool(self._found),
                *build_memory_tools(self._memory),
                *(tool.cites(number) if tool.cites else tool for tool in turn.extra_tools),
            ),
            notes.root,
        )
        rules = turn.rules.with_hosts(find_named_hosts(turn.ask.question))
        self._approved = ApprovedCalls(replace(turn, rules=rules), self._registry)
        self._first = first
        self._time = turn.tool_time
        self._time.start(turn.settings.agent_max_seconds, turn.cancel, self._clock)
        self._usage: Usage | None = None
        self._calls: dict[str, RequestedCall] = {}
        self._steps: dict[str, ToolStep] = {}
        self._warnings: dict[str, None] = {}

    def run(self) -> Generator[Event, None, StoredAnswer]:
        """Call the model and run its tool calls until the model gives an answer."""
        request, number, is_offered = self._first, 1, True
        while True:
            stream = self._open_stream(request, is_offered and not request.ends_loop)
            stored = yield from stream.stream()
            self._usage = stored.usage.plus(self._usage) if stored.usage else self._usage
            self._warnings |= dict.fromkeys(stored.report.warnings)
            if not stored.calls:
                break
            number += 1
            try:
                yield from self._run_calls(stored.calls)
                self._promote_tools()
                is_offered = number <= self._settings.agent_max_steps and not self._time.is_over
                request = yield from self._prepare_next(request, is_offered)
            except Cancelled:
                answer = replace(stored.answer, end=AnswerEnd("interrupted"))
                stored = replace(stored, entry=self._store_interruption(), answer=answer)
                break
            yield ContextPrepared(request.report)
        steps = tuple(self._steps[id] for id in self._calls if id in self._steps)
        sources = (*stored.answer.sources, *self._sources.all)
        answer = replace(stored.answer, sources=sources, steps=steps)
        return replace(stored, usage=self._usage, answer=answer)

    def _open_stream(self, request: Request, is_offered: bool) -> AnswerStream:
        read = self._sources.all
        if not is_offered:
            return AnswerStream(self._turn, request, full_status="limit", read=read)
        return AnswerStream(self._turn, request, read_calls=self._read_calls, read=read)

    def _promote_tools(self) -> None:
        """Make all later requests include the omitted tools that the model has found."""
        if names := self._found.take():
            self._session.append([build_promotion(self._session, names)])
            self._turn = offer_found_tools(self._turn, names)

    def _prepare_next(self, before: Request, is_offered: bool) -> Generator[Event, None, Request]:
        turn = self._turn if is_offered else replace(self._turn, tools=())
        prepare = partial(prepare_step, before=before, warnings=tuple(self._warnings))
        request, entries = yield from prepare_request(turn, prepare)
        if entries:
            self._session.append(entries)
        return request

    def _read_calls(self, calls: tuple[RequestedCall, ...]) -> tuple[ToolCallPart, ...]:
        used = {
            part.id
            for entry in self._session.path()
            if isinstance(entry, MessageEntry) and not isinstance(entry.message.content, str)
            for part in entry.message.content
            if isinstance(part, ToolCallPart)
        }
        parts = []
        for one in calls:
            id = clean_call_id(one.id) if one.id else ""
            id = id if id and id not in used else f"call_{self._session.new_id()}"
            used.add(id)
            self._calls[id] = replace(one, id=id)
            parts.append(ToolCallPart(id, clean_tool_name(one.name), _read_arguments(one)))
        return tuple(parts)

    def _run_calls(self, calls: Sequence[ToolCallPart]) -> Generator[Event]:
        """Run tool calls in parallel, and store each result when it arrives.

        Calls that need approval are run after the others, and a compaction is run last.
        """
        for one in calls:
            yield ToolStarted(ToolStep(one.id, one.name, one.arguments))
        self._time.begin_calls()
        asking = [one for one in calls if self._registry.asks_first(one.name)]
        calls = [one for one in calls if one not in asking]
        work = [self._build_work(self._find_written(one)) for one in calls]
        compacting: list[ToolCallPart] = []
        for place, done in self._gather(work):
            if calls[place].name == COMPACT_CONTEXT.name and not done.outcome.is_error:
                compacting.append(calls[place])
            else:
                yield from self._finish(calls[place], done)
        yield from self._run_asking(asking)
        if compacting:
            yield from self._compact(compacting)

    def _run_asking(
        self, calls: Sequence[ToolCallPart], tries: int = MOST_PROPOSALS
    ) -> Generator[Event]:
        """Ask the user about tool calls one by one, and run those that are approved.

        Approved calls to other computers run in parallel at the end. The time that the user takes
        does not count towards the turn's time limit.

        Args:
            calls: the tool calls that need approval.
            tries: how often a call may be proposed. It is proposed again if its content changes
                before it is applied.
        """
        approved: list[tuple[ToolCallPart, Proposal]] = []
        for call in calls:
            start, waited_s = self._clock(), self._time.waited_s
            found = yield from self._approved.run(self._find_written(call))
            seconds = self._clock() - start - (self._time.waited_s - waited_s)
            if isinstance(found, ToolOutcome):
                yield from self._finish(call, _Done(found, seconds))
            else:
                approved.append((call, found))
        work = [self._build_apply(call, proposal) for call, proposal in approved]
        for place, done in self._gather(work):
            call = approved[place][0]
            if done.outcome is STILL_CHANGING and tries > 1:
                yield from self._run_asking([call], tries - 1)
            else:
                yield from self._finish(call, done)

    def _gather(self, work: Sequence[Callable[[], _Done]]) -> Iterator[tuple[int, _Done]]:
        """Run calls in parallel, and yield the index and outcome of each as it finishes.

        Calls that have not finished when the time is over are abandoned. They come last, as errors.
        """
        left, start = set(range(len(work))), self._clock()
        for place, done in gather(work, self._turn.cancel, limit=self._time):
            left.remove(place)
            yield place, done
        if left:
            self._time.cancel.cancel()
        for place in sorted(left):
            yield place, _Done(ENDED, self._clock() - start)

    def _build_apply(self, call: ToolCallPart, proposal: Proposal) -> Callable[[], _Done]:
        written = self._find_written(call)

        def run() -> _Done:
            start = self._clock()
            return _Done(self._approved.apply(written, proposal), self._clock() - start)

        return run

    def _compact(self, calls: Sequence[ToolCallPart]) -> Generator[Event]:
        """Compact the turns before this one, and return the outcome to the model as a tool result.

        Args:
            calls: the tool calls with which the model requested the compaction.
        """
        start = self._clock()
        forced = yield from compact(self._turn)
        outcome = ToolOutcome(describe_compaction(forced))
        for call in calls:
            yield from self._finish(call, _Done(outcome, self._clock() - start))

    def _finish(self, call: ToolCallPart, done: _Done) -> Generator[Event]:
        hooks = self._turn.customization.hooks
        outcome, problems = run_result_hooks(call, done.outcome, hooks)
        for problem in problems:
            yield from self._warn(problem)
        step, problem = self._store_result(call, done, outcome)
        self._steps[call.id] = step
        if problem:
            yield from self._warn(problem)
        yield ToolEnded(step)

    def _warn(self, problem: str) -> Generator[Event]:
        self._warnings[problem] = None
        yield Warned(problem)

    def _find_written(self, call: ToolCallPart) -> RequestedCall:
        """Return a tool call with the text of its arguments.

        If no hook has changed the call, this is what the model wrote, with a name that may not be
        valid.
        """
        written = self._calls[call.id]
        name = clean_tool_name(written.name)
        if (name, _read_arguments(written)) == (call.name, call.arguments):
            return written
        return replace(written, name=call.name, arguments=call.arguments_json)

    def _build_work(self, call: RequestedCall) -> Callable[[], _Done]:
        def run() -> _Done:
            start = self._clock()
            return _Done(self._registry.run(call), self._clock() - start)

        return run

    def _store_result(
        self, call: ToolCallPart, done: _Done, outcome: ToolOutcome
    ) -> tuple[ToolStep, str]:
        """Store a tool result. Return the ended step, and a description of any problem."""
        session = self._session
        stored = offload_result(
            call.name, outcome, session, self._settings.result_offload_threshold
        )
        status: ToolStatus = "error" if stored.is_error else "ok"
        if outcome.is_denied:
            status = "denied"
        self._memory.store()
        part = ToolResultPart(call.id, stored.content, stored.is_error)
        result = self._build_entry(Message("tool", (part,)))
        if self._registry.reads_only(call.name):  # known later too, without the tool's server
            result = replace(result, extra={READS_ONLY: True})
        read = self._sources.take_new(done.outcome.content, outcome.content)
        run = ToolRun(call.id, status, done.seconds, stored.ref_id, read)
        session.append([result, run.to_entry(session.new_id(), result.id, result.timestamp)])
        text = stored.content[:MOST_STEP_CHARS]
        place = call.id, call.name, call.arguments
        return ToolStep(*place, status, done.seconds, stored.ref_id, text), stored.problem

    def _store_interruption(self) -> str:
        model = self._turn.model_name
        end = self._build_entry(Message("assistant", ""))
        self._session.append([replace(end, model=model, status="interrupted")])
        return end.id

    def _build_entry(self, message: Message) -> MessageEntry:
        session = self._session
        place = session.new_id(), session.path()[-1].id, session.now()
        return MessageEntry(*place, message, self._turn.id)


def _read_arguments(call: RequestedCall) -> Mapping[str, Any]:
    try:
        return parse_arguments(call)
    except ToolFailed:
        return {}  # the error result of the call describes the problem


def _list_read_sources(session: SessionPort) -> tuple[Segment, ...]:
    """Return the sources that the tools of the last turn have read so far."""
    turns = list_turns(session.path())
    ids = set(turns[-1].entry_ids) if turns else set()
    runs = (ToolRun.from_entry(one) for one in session.custom(KIND) if one.parent_id in ids)
    return tuple(source for run in runs if run is not None for source in run.sources)
