"""Build the log entries of a turn, and prepare its requests.

The user message is stored first. Retrieved segments and messages from hooks are collected in
memory, and stored together before the first request is sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chains.models import EXTRACTIVE
from chains.request.epochs import THRESHOLD, build_epoch_entries, find_last_sent
from chains.request.request import SEARCHED, TurnContext, TurnRequest
from chains.request.session import SessionPort
from context.assemble.apply_hooks import run_turn_end_hooks
from context.assemble.request import Request
from context.layers import Segment
from context.log.entries import Entry, MessageEntry, SegmentsEntry, is_path_entry
from context.messages import FrozenMapping, Message, ToolDefinition, list_tool_calls
from context.pipeline import Mode as PrepareMode
from context.pipeline import Ports, prepare

__all__ = [
    "DraftedTurn",
    "PreparedTurn",
    "begin_request",
    "build_user_message",
    "draft_turn",
    "link_path",
    "prepare_step",
    "prepare_turn",
    "run_end_hooks",
]


NO_TOOL: Final = ToolDefinition(
    "no_tool",
    "No tool can be called now. Answer in text.",
    {"type": "object", "properties": {}},
)


@dataclass(frozen=True)
class DraftedTurn:
    """A turn with log entries that are not stored yet.

    Attributes:
        question: the user message, which is already stored, except in a dry run or preview.
        segments: the retrieved and attached segments, or None if none are stored.
        is_stored: whether the user message is in the log.
        is_regenerated: whether the answer is regenerated with the stored segments.
        added: the messages added by hooks.
    """

    turn: str
    question: MessageEntry
    segments: SegmentsEntry | None
    is_stored: bool = False
    is_regenerated: bool = False
    added: tuple[Entry, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The turn's log entries in order, each linked to the previous one."""
        question = () if self.is_stored else (self.question,)
        segments = () if self.segments is None else (self.segments,)
        return (*question, *link_path((*segments, *self.added), self.question.id))

    def as_sent(self, segments: tuple[Segment, ...], session: SessionPort) -> "DraftedTurn":
        """Return a copy of the turn with the segments that its request actually contains.

        Args:
            segments: the segments that are left after the request was fitted to its token budget.
            session: the session, which provides an entry id if the segments have no log entry yet.
        """
        if self.segments is not None:
            return replace(self, segments=replace(self.segments, segments=segments))
        if self.is_regenerated or not segments:
            return self
        place = session.new_id(), self.question.id, session.now(), self.turn
        return replace(self, segments=SegmentsEntry(*place, segments))


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


@dataclass(frozen=True)
class PreparedTurn:
    """A turn whose request fits its token budget.

    Attributes:
        entries: the entries to store before sending, in one write: segments, messages and changes
            from hooks, and changes to the history.
    """

    turn: str
    request: Request
    entries: tuple[Entry, ...]


def build_user_message(session: SessionPort, request: TurnRequest) -> MessageEntry:
    """Build the log entry for a user message."""
    path = session.path()
    leaf = path[-1].id if path else None
    turn, message = request.turn or session.new_id(), Message("user", request.question)
    stored_fields = {"mode": request.mode, **request.named, THRESHOLD: request.threshold}
    return MessageEntry(session.new_id(), leaf, session.now(), message, turn, extra=stored_fields)


def draft_turn(
    context: TurnContext,
    segments: Sequence[Segment] | None,
    stored_fields: Mapping[str, object] | None = None,
) -> DraftedTurn:
    """Build the log entries of a turn: its user message and its segments.

    Args:
        segments: the retrieved and attached segments, or None to store no entry for them.
        stored_fields: extra fields to store in the log with the segments.
    """
    request, session = context.request, context.session
    question = request.user_message or build_user_message(session, request)
    entry = None
    if segments is not None:
        searched = {SEARCHED: request.searched} if request.searched else {}
        place = session.new_id(), question.id, session.now(), question.turn_id
        extra = FrozenMapping({**searched, **(stored_fields or {})})
        entry = SegmentsEntry(*place, tuple(segments), extra=extra)
    is_stored = request.user_message is not None
    return DraftedTurn(question.turn_id, question, entry, is_stored)


def prepare_turn(
    context: TurnContext,
    drafted: DraftedTurn,
    mode: PrepareMode,
    warnings: Sequence[str] = (),
) -> PreparedTurn:
    """Prepare the first request of a drafted turn.

    Args:
        warnings: the warnings so far, for the context report.

    Raises:
        ContextOverflow: the user message does not fit into the token budget. There is nothing else
            to store.
        ContextHookError: a hook failed. There is nothing else to store.
    """
    new_entries: list[Entry] = []
    session, request = context.session, context.request
    path = *session.path(), *drafted.entries
    ports = context.ports(new_entries, drafted.turn)
    prepared = prepare(begin_request(context, ports, path, drafted.turn, warnings), mode)
    drafted = drafted.as_sent(prepared.segments, session)
    question = "" if drafted.is_regenerated else drafted.question.id
    changes = build_epoch_entries(session, request.model, request.threshold, question)
    leaf = drafted.question.parent_id
    if stored := session.path():
        leaf = stored[-1].id
    entries = link_path((*drafted.entries, *new_entries), leaf)
    return PreparedTurn(drafted.turn, prepared, (*changes, *entries))


def prepare_step(
    context: TurnContext,
    before: PreparedTurn,
    warnings: Sequence[str] = (),
    *,
    replaces_last: bool = False,
) -> PreparedTurn:
    """Prepare the next request of a turn from the tool calls and results in the log.

    Args:
        before: the previous request of the turn.
        replaces_last: whether the request replaces the previous one, for example after an overflow.
        warnings: the warnings of the turn so far, for the context report.

    Raises:
        ContextOverflow: the request does not fit into the token budget.
        ContextHookError: a hook failed. There is nothing to store.
    """
    new_entries: list[Entry] = []
    ports, path = context.ports(new_entries, before.turn), context.session.path()
    following = begin_request(context, ports, path, before.turn, warnings)
    number = before.request.number + (not replaces_last)
    prepared = prepare(replace(following, number=number))
    return PreparedTurn(before.turn, prepared, tuple(new_entries))


def run_end_hooks(context: TurnContext, turn: str) -> tuple[Entry, ...]:
    """Run the `turn_end` hooks on a turn whose answer is in the log, and return the new entries.

    Raises:
        ContextHookError: a hook failed. There is nothing to store.
    """
    ports, path = context.ports([], turn), context.session.path()
    return run_turn_end_hooks(begin_request(context, ports, path, turn))


def begin_request(
    context: TurnContext,
    ports: Ports,
    path: tuple[Entry, ...],
    turn: str,
    warnings: Sequence[str] | None = None,
) -> Request:
    """Build a new request, which `context.pipeline` prepares.

    Args:
        ports: the ports of the request.
        path: the log entries that the request contains.
        turn: the id of the current turn, or an empty string if no turn is in progress.
        warnings: the warnings so far, or None if no context report is needed.
    """
    chain, request, session = context.chain, context.request, context.session
    placeholders = _list_placeholders(context, path)
    return Request(
        ports,
        context.compute_request_budget(context.factor),
        session=session.id or None,
        model=request.model,
        takes_marks=None if context.model.takes_marks else False,
        temperature=request.temperature,
        system=context.customization.system(chain.prompt),
        instructions=context.customization.instructions,
        unsent=request.unsent,
        sees=context.model.sees,
        path=path,
        turn=turn,
        tools=chain.tools or placeholders,
        end_tools=placeholders,
        previous=find_last_sent(session, path, turn) or session.previous_body(),
        is_cached=_has_answered(path, request.model),
        warnings=() if warnings is None else (*warnings, *_list_degraded(context)),
        history_policy=request.history_policy,
        deferral=chain.deferred.to_inputs(),
        reading_tools=chain.reading_tools,
    )


def _list_placeholders(context: TurnContext, path: Sequence[Entry]) -> tuple[ToolDefinition, ...]:
    """Return a tool that does nothing if the model's service needs one for earlier tool calls.

    It is offered for as long as the path has tool calls, so that the cached prefix does not change.
    Otherwise the client library would add a tool of its own, which is not counted.
    """
    if not context.model.needs_tools:
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


def _list_degraded(context: TurnContext) -> list[str]:
    """Return a sentence for each component that does not work, or works with less accuracy."""
    found = list(context.session.list_degraded())
    if context.counter.name == "bytes":
        found.append("No tokenizer was found, so tokens are estimated from bytes.")
    return found
