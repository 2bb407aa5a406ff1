"""Rebuild the conversation from the log, and apply the registered hooks to it.

Patches from `before_request` hooks are stored and applied again in later requests. Patches from
`ephemeral` hooks apply only to the current request.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from context.assemble.request import Request
from context.budget import RequestBudget
from context.envelope import ContextEnvelope, Messages, RequestMeta, System
from context.history.replay import ReplayedPath, apply_request_ops
from context.hooks import Transform
from context.log.entries import (
    Entry,
    EphemeralEntry,
    LabelEntry,
    MessageEntry,
    TransformEntry,
)
from context.messages import FrozenMapping, Message, Part, TextPart, ToolDefinition


def replay_with_hooks(request: Request, is_sent: bool) -> Request:
    """Replay the conversation, and run `before_request` hooks if the request will be sent.

    Args:
        request: the new request.
        is_sent: whether the request will be sent, and not only previewed.

    Raises:
        ContextHookError: when a hook fails. Nothing is stored.
    """
    reading = request.ports.replay(request.path)
    request = _with_conversation(request, reading, _find_new_entries(request.path))
    hooks, cancel = request.ports.hooks, request.ports.cancel
    if not is_sent or hooks is None or not hooks.has("context"):
        return request
    if cancel is not None:
        cancel.raise_if_cancelled()
    envelope = make_hook_envelope(request, reading)
    run = hooks.run_context("before_request", envelope, request.ports.new_id)
    stored = make_transform_entries(run.transforms, request.path[-1].id, request.ports.now())
    return add_entries(request, stored)


def add_entries(request: Request, entries: Sequence[Entry]) -> Request:
    """Replay the conversation with new log entries at its end. The entries are not stored yet."""
    if not entries:
        return request
    last = (request.new_entries or request.path)[-1].id
    request = replace(request, new_entries=(*request.new_entries, *link_entries(entries, last)))
    reading = request.ports.replay((*request.path, *request.new_entries))
    return _with_conversation(request, reading, entries)


def link_entries(entries: Iterable[Entry], parent: str) -> tuple[Entry, ...]:
    """Link log entries into a chain by setting their parent ids.

    Args:
        entries: the entries in order.
        parent: the parent id of the first entry.
    """
    chain: list[Entry] = []
    for entry in entries:
        chain.append(replace(entry, parent_id=chain[-1].id if chain else parent))
    return tuple(chain)


def apply_ephemeral_hooks(request: Request) -> Request:
    """Run the `ephemeral` hooks, whose changes apply only to this request.

    Raises:
        ContextHookError: when a hook fails. Nothing is stored.
    """
    ports, reading = request.ports, request.reading
    if ports.hooks is None or not ports.hooks.has("context"):
        return request
    path = (*request.path, *request.new_entries)
    envelope = make_hook_envelope(request, reading)
    run = ports.hooks.run_context("ephemeral", envelope, ports.new_id)
    once = make_transform_entries(run.transforms, path[-1].id, "")
    if any(transform.patch for transform in once):
        reading = request.ports.replay((*path, *once))
    changed = _with_conversation(request, reading, once)
    changed = replace(changed, transforms=request.transforms)  # those of this request are not kept
    uncached = run.envelope.messages.uncached
    if not uncached:
        return changed
    entry = EphemeralEntry(ports.new_id(), path[-1].id, ports.now(), uncached)
    base = replace(changed.base, messages=Messages(uncached=uncached))
    return replace(changed, base=base, new_entries=(entry, *request.new_entries))


def _with_conversation(
    request: Request, reading: ReplayedPath, decided: Iterable[Entry]
) -> Request:
    """Return a copy of a request with the conversation that was rebuilt from the log.

    Args:
        reading: the turns and other state that were rebuilt from the log.
        decided: the new log entries. Those of hooks and compactions are added to the decisions
            since the previous request.
    """
    transforms = (entry for entry in decided if isinstance(entry, TransformEntry))
    base = _make_envelope(request, reading)
    runnable, warnings = _keep_runnable(base.tools, request.tools)
    options = _limit_options(base.options, request.budget)
    return replace(
        request,
        reading=reading,
        base=replace(base, tools=runnable, options=options),
        transforms=reading.transforms,
        decided=(*request.decided, *transforms),
        hook_warnings=(*reading.problems, *warnings),
    )


def make_uncached_message(texts: Iterable[str], messages: Iterable[Message]) -> Message | None:
    """Join texts and messages that are sent with only one request into a single message.

    Return None if there is nothing to send.
    """
    parts: list[Part] = [TextPart(text) for text in texts if text]
    for message in messages:
        content = message.content
        parts += [TextPart(content)] if isinstance(content, str) else content
    if not parts:
        return None
    words = [part.text for part in parts if isinstance(part, TextPart)]
    return Message("user", "\n\n".join(words) if len(words) == len(parts) else tuple(parts))


def make_transform_entries(
    transforms: Iterable[Transform], parent: str | None, now: str
) -> tuple[TransformEntry, ...]:
    """Build log entries that store the changes made by hooks.

    Args:
        transforms: the changes.
        parent: the parent id of the first new entry, or None.
        now: the current time in ISO 8601 and UTC.
    """
    entries: list[TransformEntry] = []
    for transform in transforms:
        cached = tuple(op for op in transform.patch if op.get("scope") == "cached")
        place = transform.entry_id, parent, now
        entries.append(TransformEntry(*place, transform.name, cached, transform.display))
        parent = transform.entry_id
    return tuple(entries)


def make_hook_envelope(request: Request, reading: ReplayedPath) -> ContextEnvelope:
    """Build the envelope that is passed to hooks, with all messages that can be cached."""
    return replace(_make_envelope(request, reading), messages=Messages(reading.messages))


def _make_envelope(request: Request, reading: ReplayedPath) -> ContextEnvelope:
    base = ContextEnvelope(
        system=System(request.system),
        tools=request.tools,
        options=FrozenMapping(
            {"temperature": request.temperature, "maxTokens": request.budget.reserve}
        ),
        meta=RequestMeta(
            request.model,
            request.budget_tokens,
            request.turn,
            request.number,
            request.ports.cancel,
        ),
    )
    return apply_request_ops(base, reading.transforms)


def _find_new_entries(path: tuple[Entry, ...]) -> list[Entry]:
    since: list[Entry] = []
    for entry in reversed(path):
        if isinstance(entry, MessageEntry) and entry.message.role == "assistant":
            break
        since.append(entry)
    return since[::-1]


def _keep_runnable(
    tools: tuple[ToolDefinition, ...], given: tuple[ToolDefinition, ...]
) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...]]:
    """Return the tools that can run, and a warning for each tool that has no code to run.

    A hook's patch can describe a new tool, but it cannot add the code that runs the tool.

    Args:
        tools: the tools, as changed by hooks.
        given: the tools that can run.
    """
    names = {tool.name for tool in given}
    missing = (tool.name for tool in tools if tool.name not in names)
    warnings = (
        f"The tool {name} was added by a hook, but nothing here runs it." for name in missing
    )
    return tuple(tool for tool in tools if tool.name in names), tuple(warnings)


def _limit_options(options: Mapping[str, object], budget: RequestBudget) -> FrozenMapping:
    wanted = options.get("maxTokens")
    is_number = isinstance(wanted, int) and not isinstance(wanted, bool) and wanted > 0
    most = min(wanted, budget.reserve) if is_number and isinstance(wanted, int) else budget.reserve
    return FrozenMapping({**options, "maxTokens": most})


def run_turn_end_hooks(request: Request) -> tuple[Entry, ...]:
    """Run `turn_end` hooks on a finished turn, and store their patches and label in one write.

    Return the log entries that were stored.

    Args:
        request: a new request of the turn. The path must end with the last answer.

    Raises:
        ContextHookError: when a hook fails. Nothing is stored.
    """
    ports, path = request.ports, request.path
    if ports.hooks is None or not ports.hooks.has("context"):
        return ()
    envelope = make_hook_envelope(request, ports.replay(path))
    run = ports.hooks.run_context("turn_end", envelope, ports.new_id)
    now = ports.now()
    answer = next(e.id for e in reversed(path) if isinstance(e, MessageEntry))
    entries: tuple[Entry, ...] = make_transform_entries(run.transforms, answer, now)
    if run.label is not None:
        entries += (LabelEntry(ports.new_id(), answer, now, answer, run.label or None),)
    if entries:
        ports.append(entries)
    return entries
