"""The loop of an agent: ask, run the tools that are called, ask again with what they found.

Each call and each result is in the log before the next request is made from it. Steps and time are
limited; at a limit the model is asked once more without tools, so that there is an answer.
"""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from chains.cancel import CancelToken
from chains.concurrency import gather
from chains.errors import Cancelled, ToolFailed
from chains.events import (
    ContextPrepared,
    Event,
    ToolEnded,
    ToolStarted,
    ToolStatus,
    Usage,
    Warned,
)
from chains.llm.port import ModelPort, RequestedCall
from chains.request.request import Means, PreparedTurn, SessionPort, TurnRequest, prepare_step
from chains.tools.context_tools import COMPACT_CONTEXT, ResultStore, describe_compaction, kept
from chains.tools.notes import Sources
from chains.tools.registry import ToolOutcome, ToolRegistry, ToolRun, arguments_of
from chains.turn.answer import RunningTurn
from chains.turn.compact import compact, prepared
from chains.turn.hooks import finished_result
from context.log.entries import MessageEntry
from context.messages import Message, ToolCallPart, ToolResultPart

__all__ = ["AgentLimits", "AgentLoop", "AgentSession"]


class AgentSession(SessionPort, ResultStore, Protocol):
    """A chat in which tools are called."""


@dataclass(frozen=True)
class AgentLimits:
    """How far an agent goes.

    Attributes:
        max_steps: requests that offer tools.
        max_seconds: after these no further request offers tools.
        offload_bytes: a larger result is kept beside the log.
    """

    max_steps: int
    max_seconds: float
    offload_bytes: int


@dataclass(frozen=True)
class _Done:
    """A call that was run."""

    outcome: ToolOutcome
    seconds: float


class AgentLoop:
    """One turn of an agent, from the moment its question is stored."""

    def __init__(
        self,
        request: TurnRequest,
        session: AgentSession,
        means: Means,
        registry: ToolRegistry,
        sources: Sources,
        limits: AgentLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._request = request
        self._session = session
        self._means = means
        self._registry = registry
        self._sources = sources
        self._limits = limits
        self._clock = clock
        self._until = clock() + limits.max_seconds
        self._usage: Usage | None = None
        self._calls: dict[str, RequestedCall] = {}
        self._tools: dict[str, dict[str, Any]] = {}
        self._warnings: dict[str, None] = {}

    def answer(
        self, turn: PreparedTurn, model: Callable[[], ModelPort], cancel: CancelToken
    ) -> Iterator[Event]:
        """Work until there is an answer; the last event is `TurnEnded`."""
        number, is_offered = 1, True
        while True:
            running = self._running(turn, is_offered and not turn.request.ends_loop)
            entry = yield from running.exchange(model, cancel)
            self._usage = running.usage.plus(self._usage) if running.usage else self._usage
            self._warnings |= dict.fromkeys(running.warnings)
            if not running.calls:
                break
            number += 1
            try:
                yield from self._run(running.calls, turn.turn, cancel)
                is_offered = number <= self._limits.max_steps and self._clock() < self._until
                turn = yield from self._next(turn, is_offered, cancel)
            except Cancelled:
                entry = self._store_interruption(turn.turn)
                running.interrupt()
                break
            yield ContextPrepared(turn.request.report)
        tools = tuple(self._tools[id] for id in self._calls if id in self._tools)
        yield from running.ending(entry, self._usage, cancel, self._sources.all, tools)

    def _running(self, turn: PreparedTurn, is_offered: bool) -> RunningTurn:
        request, session, means = self._request, self._session, self._means
        read = self._sources.all
        if not is_offered:
            return RunningTurn(request, session, turn, means, full_status="limit", read=read)
        return RunningTurn(request, session, turn, means, read_calls=self._read_calls, read=read)

    def _next(
        self, turn: PreparedTurn, is_offered: bool, cancel: CancelToken
    ) -> Generator[Event, None, PreparedTurn]:
        """Prepare the next request; what stays of that is in the log."""
        means = self._means if is_offered else replace(self._means, tools=())
        warnings = tuple(self._warnings)
        following = yield from prepared(
            lambda means: prepare_step(turn, self._request, self._session, means, warnings),
            means,
            cancel,
        )
        if following.entries:
            self._session.append(following.entries)
        return following

    def _read_calls(self, calls: tuple[RequestedCall, ...]) -> tuple[ToolCallPart, ...]:
        """Name each call so that no two in the chat are alike, and keep what it says."""
        used = {
            part.id
            for entry in self._session.path()
            if isinstance(entry, MessageEntry) and not isinstance(entry.message.content, str)
            for part in entry.message.content
            if isinstance(part, ToolCallPart)
        }
        parts = []
        for one in calls:
            id = one.id if one.id and one.id not in used else f"call_{self._session.new_id()}"
            used.add(id)
            self._calls[id] = replace(one, id=id)
            parts.append(ToolCallPart(id, one.name, _arguments(one)))
        return tuple(parts)

    def _run(
        self, calls: tuple[ToolCallPart, ...], turn: str, cancel: CancelToken
    ) -> Generator[Event]:
        """Run calls side by side, and store each result as it comes; a compaction comes last."""
        for one in calls:
            yield ToolStarted(one.id, one.name, one.arguments)
        work = [self._work(self._requested(one)) for one in calls]
        compacting: list[ToolCallPart] = []
        for place, done in gather(work, cancel):
            if calls[place].name == COMPACT_CONTEXT.name and not done.outcome.is_error:
                compacting.append(calls[place])
            else:
                yield from self._finish(calls[place], done, turn)
        if compacting:
            yield from self._compact(compacting, turn, cancel)

    def _compact(
        self, calls: Sequence[ToolCallPart], turn: str, cancel: CancelToken
    ) -> Generator[Event]:
        """Sum up what was said before this turn, and tell the model what that freed."""
        request, session, means = self._request, self._session, self._means
        start = self._clock()
        forced = yield from compact(request, session, means, cancel, turn=turn)
        outcome = ToolOutcome(describe_compaction(forced))
        for call in calls:
            yield from self._finish(call, _Done(outcome, self._clock() - start), turn)

    def _finish(self, call: ToolCallPart, done: _Done, turn: str) -> Generator[Event]:
        """Let the hooks at a result, and store it."""
        outcome, problems = finished_result(call, done.outcome, self._means.additions.hooks)
        for problem in problems:
            yield from self._warn(problem)
        ended, problem = self._store_result(call, done, outcome, turn)
        if problem:
            yield from self._warn(problem)
        yield ended

    def _warn(self, problem: str) -> Generator[Event]:
        self._warnings[problem] = None
        yield Warned(problem)

    def _requested(self, call: ToolCallPart) -> RequestedCall:
        """What is run: the call as the model wrote it, unless a hook changed that."""
        written = self._calls[call.id]
        if (written.name, _arguments(written)) == (call.name, call.arguments):
            return written
        return replace(written, name=call.name, arguments=call.arguments_json)

    def _work(self, call: RequestedCall) -> Callable[[], _Done]:
        def run() -> _Done:
            start = self._clock()
            return _Done(self._registry.run(call), self._clock() - start)

        return run

    def _store_result(
        self, call: ToolCallPart, done: _Done, outcome: ToolOutcome, turn: str
    ) -> tuple[ToolEnded, str]:
        """Store a result; return what is told of it, and what went wrong with that."""
        session = self._session
        stored = kept(call.name, outcome, session, self._limits.offload_bytes)
        status: ToolStatus = "error" if stored.is_error else "ok"
        part = ToolResultPart(call.id, stored.content, stored.is_error)
        result = self._entry(Message("tool", (part,)), turn)
        read = self._sources.take_new(done.outcome.content, outcome.content)
        run = ToolRun(call.id, status, done.seconds, stored.ref_id, read)
        session.append([result, run.to_entry(session.new_id(), result.id, result.timestamp)])
        ended = ToolEnded(call.id, call.name, status, done.seconds, stored.ref_id)
        self._tools[call.id] = _summary(call, ended)
        return ended, stored.problem

    def _store_interruption(self, turn: str) -> str:
        model = self._request.model
        end = self._entry(Message("assistant", ""), turn)
        self._session.append([replace(end, model=model, status="interrupted")])
        return end.id

    def _entry(self, message: Message, turn: str) -> MessageEntry:
        session = self._session
        return MessageEntry(session.new_id(), session.path()[-1].id, session.now(), message, turn)


def _arguments(call: RequestedCall) -> Mapping[str, Any]:
    try:
        return arguments_of(call)
    except ToolFailed:
        return {}  # its result says what was wrong with them


def _summary(call: ToolCallPart, ended: ToolEnded) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.to_dict()["arguments"],
        "status": ended.status,
        "ref_id": ended.ref_id,
    }
