"""Build the log entries of a turn, and prepare its requests.

The user message is stored first. Retrieved segments and messages from hooks are collected in
memory, and stored together before the first request is sent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from chains.claims.summaries import FACT_READER
from chains.models import EXTRACTIVE
from chains.request.ask import Selection
from chains.request.epochs import (
    THRESHOLD,
    LoggedBreaker,
    build_epoch_entries,
    find_last_sent,
)
from chains.request.turn import SEARCHED, Turn
from chains.request.usage import SUMMARY, CallUsage, build_usage_entry
from context.assemble.apply_hooks import run_turn_end_hooks
from context.assemble.inputs import SummaryTask
from context.assemble.request import Request
from context.errors import BadInputs
from context.layers import Segment
from context.log.entries import Entry, MessageEntry, SegmentsEntry, is_path_entry
from context.messages import FrozenMapping, Message, ToolDefinition, list_tool_calls
from context.pipeline import Mode as PrepareMode
from context.pipeline import Ports, prepare

__all__ = [
    "Prepared",
    "begin_request",
    "build_ports",
    "build_user_message",
    "draft_turn",
    "link_path",
    "prepare_step",
    "prepare_turn",
    "record_names",
    "run_end_hooks",
]


# A request, and the log entries to store in one write before it is sent: segments, messages and
# changes from hooks, and changes to the history.
Prepared = tuple[Request, tuple[Entry, ...]]

NO_TOOL: Final = ToolDefinition(
    "no_tool",
    "No tool can be called now. Answer in text.",
    {"type": "object", "properties": {}},
)


def link_path(entries: Sequence[Entry], parent: str | None) -> tuple[Entry, ...]:
    """Set the parent of each log entry to the entry before it.

    Entries that do not belong to the tree of messages are returned unchanged.

    Args:
        entries: the entries in order.
        parent: the parent of the first entry, or None for the root.
    """
    linked: list[Entry] = []
    for entry in entries:
        if is_path_entry(entry):
            linked.append(replace(entry, parent_id=parent))
            parent = entry.id
        else:
            linked.append(entry)
    return tuple(linked)


def build_user_message(turn: Turn) -> MessageEntry:
    """Build the log entry for a user message."""
    ask, session = turn.ask, turn.session
    path = session.path()
    leaf = path[-1].id if path else None
    id, message = turn.id or session.new_id(), Message("user", ask.question)
    named = record_names(ask.attach, ask.selections)
    stored_fields = {"mode": ask.mode, **named, THRESHOLD: turn.settings.auto_compact_threshold}
    return MessageEntry(session.new_id(), leaf, session.now(), message, id, extra=stored_fields)


def record_names(attach: Sequence[str], selections: Sequence[Selection]) -> dict[str, Any]:
    """Return the log fields that record a question's attachments.

    Return an empty mapping if nothing is attached.
    """
    lines = [{"path": s.path, "first": s.first, "last": s.last} for s in selections]
    named = {"attach": list(attach), "selections": lines}
    return {key: value for key, value in named.items() if value}


def draft_turn(
    turn: Turn,
    segments: Sequence[Segment] | None,
    stored_fields: Mapping[str, object] | None = None,
) -> Turn:
    """Build the log entries of a turn: its user message and its segments.

    Args:
        segments: the retrieved and attached segments, or None to store no entry for them.
        stored_fields: extra fields to store in the log with the segments.
    """
    session = turn.session
    question = turn.user_message or build_user_message(turn)
    turn = replace(turn, id=question.turn_id, user_message=question)
    if segments is None:
        return turn
    searched = {SEARCHED: turn.query.text} if turn.query.text else {}
    place = session.new_id(), question.id, session.now(), turn.id
    extra = FrozenMapping({**searched, **(stored_fields or {})})
    return replace(turn, segments_entry=SegmentsEntry(*place, tuple(segments), extra=extra))


def prepare_turn(turn: Turn, mode: PrepareMode, warnings: Sequence[str] = ()) -> Prepared:
    """Prepare the first request of a drafted turn.

    Args:
        mode: whether the request is sent or previewed.
        warnings: the warnings so far, for the context report.

    Raises:
        ContextOverflow: the user message does not fit into the token budget. There is nothing else
            to store.
        ContextHookError: a hook failed. There is nothing else to store.
    """
    new_entries: list[Entry] = []
    session, question = turn.session, _find_question(turn)
    path = *session.path(), *_list_entries(turn)
    ports = build_ports(turn, new_entries)
    request = prepare(begin_request(turn, ports, path, warnings), mode)
    turn = _keep_segments(turn, request.segments)
    new_question = "" if turn.is_regenerated else question.id
    changes = build_epoch_entries(
        session, turn.model_name, turn.settings.auto_compact_threshold, new_question
    )
    leaf = question.parent_id
    if stored := session.path():
        leaf = stored[-1].id
    entries = link_path((*_list_entries(turn), *new_entries), leaf)
    return request, (*changes, *entries)


def _find_question(turn: Turn) -> MessageEntry:
    if turn.user_message is None:
        raise BadInputs("The turn has no question yet.")
    return turn.user_message


def _list_entries(turn: Turn) -> tuple[Entry, ...]:
    """Return the turn's log entries that are not stored yet, each linked to the previous one."""
    question = _find_question(turn)
    first = () if turn.is_logged else (question,)
    segments = () if turn.segments_entry is None else (turn.segments_entry,)
    return (*first, *link_path((*segments, *turn.added), question.id))


def _keep_segments(turn: Turn, segments: tuple[Segment, ...]) -> Turn:
    """Return the turn with the segments that its request contains after it was fitted."""
    if turn.segments_entry is not None:
        return replace(turn, segments_entry=replace(turn.segments_entry, segments=segments))
    if turn.is_regenerated or not segments:
        return turn
    session = turn.session
    place = session.new_id(), _find_question(turn).id, session.now(), turn.id
    return replace(turn, segments_entry=SegmentsEntry(*place, segments))


def prepare_step(
    turn: Turn, before: Request, warnings: Sequence[str] = (), *, replaces_last: bool = False
) -> Prepared:
    """Prepare the next request of a turn from the tool calls and results in the log.

    Args:
        before: the previous request of the turn.
        warnings: the warnings of the turn so far, for the context report.
        replaces_last: whether the request replaces the previous one, for example after an overflow.

    Raises:
        ContextOverflow: the request does not fit into the token budget.
        ContextHookError: a hook failed. There is nothing to store.
    """
    new_entries: list[Entry] = []
    ports = build_ports(turn, new_entries)
    following = begin_request(turn, ports, turn.session.path(), warnings)
    number = before.number + (not replaces_last)
    return prepare(replace(following, number=number)), tuple(new_entries)


def run_end_hooks(turn: Turn) -> tuple[Entry, ...]:
    """Run the `turn_end` hooks on a turn whose answer is in the log, and return the new entries.

    Raises:
        ContextHookError: a hook failed. There is nothing to store.
    """
    ports, path = build_ports(turn, []), turn.session.path()
    return run_turn_end_hooks(begin_request(turn, ports, path))


def build_ports(turn: Turn, new_entries: list[Entry]) -> Ports:
    """Build the ports for preparing a request.

    Args:
        new_entries: the list to which log entries are added, such as those for token usage. The
            caller stores them.
    """
    session = turn.session
    return Ports(
        turn.counter,
        new_entries.extend,
        session.new_id,
        session.now,
        hooks=turn.customization.hooks,
        resolve=turn.resolve,
        cancel=turn.cancel,
        summarise=_log_summaries(turn, new_entries),
        breaker=LoggedBreaker(session, new_entries),
        find_excluded=turn.ports.find_excluded and cache(turn.ports.find_excluded),
        facts=FACT_READER,
        searches_notes=turn.mode_rules.searches_notes,
        load_result=session.load_result,
        hidden_notes=turn.ports.hidden_notes and turn.ports.hidden_notes.remember(),
    )


def _log_summaries(turn: Turn, new_entries: list[Entry]) -> Callable[[SummaryTask], str] | None:
    summarise, session = turn.summarise, turn.session
    if summarise is None:
        return None

    def log(call: CallUsage) -> None:
        new_entries.append(build_usage_entry(session, turn.id, call, purpose=SUMMARY))

    return lambda task: summarise(task, log)


def begin_request(
    turn: Turn,
    ports: Ports,
    path: tuple[Entry, ...],
    warnings: Sequence[str] | None = None,
    *,
    is_ended: bool = False,
) -> Request:
    """Build a new request, which `context.pipeline` prepares.

    Args:
        ports: the ports of the request.
        path: the log entries that the request contains.
        warnings: the warnings so far, or None if no context report is needed.
        is_ended: whether the turn has its answer, so that it is part of the history.
    """
    session, model = turn.session, turn.model
    id = "" if is_ended else turn.id
    placeholders = _list_placeholders(turn, path)
    return Request(
        ports,
        turn.compute_request_budget(turn.factor),
        session=session.id or None,
        model=turn.model_name,
        takes_marks=None if model.takes_marks else False,
        temperature=turn.temperature,
        system=turn.customization.system(turn.mode_rules.prompt),
        instructions=turn.customization.instructions,
        unsent=turn.unsent,
        sees=model.sees,
        path=path,
        turn=id,
        tools=turn.tools or placeholders,
        end_tools=placeholders,
        previous=find_last_sent(session, path, id) or session.find_previous_body(),
        is_cached=_has_answered(path, turn.model_name),
        warnings=() if warnings is None else (*warnings, *_list_degraded(turn)),
        history_policy=turn.history_policy,
        deferral=turn.deferred.to_inputs(),
        reading_tools=turn.reading_tools,
    )


def _list_placeholders(turn: Turn, path: Sequence[Entry]) -> tuple[ToolDefinition, ...]:
    """Return a tool that does nothing if the model's service needs one for earlier tool calls.

    It is offered for as long as the path has tool calls, so that the cached prefix does not change.
    Otherwise the client library would add a tool of its own, which is not counted.
    """
    if not turn.model.needs_tools:
        return ()
    messages = (entry.message for entry in path if isinstance(entry, MessageEntry))
    return (NO_TOOL,) if any(map(list_tool_calls, messages)) else ()


def _has_answered(path: Sequence[Entry], model: str) -> bool:
    """Return whether the provider may have cached the prefix of the next request.

    This is the case if the model gave the last answer without an error, or if there is no answer
    yet. It is never the case without a language model.
    """
    answers = (e for e in reversed(path) if isinstance(e, MessageEntry) and e.status)
    last = next(answers, None)
    is_same = last is None or (last.model == model and last.status != "error")
    return is_same and model != EXTRACTIVE


def _list_degraded(turn: Turn) -> list[str]:
    """Return a sentence for each component that does not work, or works with less accuracy."""
    found = list(turn.session.list_degraded())
    if turn.counter.name == "bytes":
        found.append("No tokenizer was found, so tokens are estimated from bytes.")
    return found
