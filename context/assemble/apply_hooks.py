"""Rebuild the conversation from the log, and apply the registered hooks to it.

Patches from `before_request` hooks are stored and applied again in later requests. Patches from
`ephemeral` hooks apply only to the current request.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from context.assemble.inputs import Ports, PrepareInputs, RequestSetup
from context.budget import RequestBudget
from context.envelope import ContextEnvelope, Messages, RequestMeta, System
from context.history.replay import ReplayedPath, apply_request_ops, replay_path
from context.hooks import Transform
from context.log.entries import (
    Entry,
    EphemeralEntry,
    LabelEntry,
    MessageEntry,
    TransformEntry,
)
from context.messages import FrozenMapping, Message, Part, TextPart, ToolDefinition


@dataclass(frozen=True)
class HookedPath:
    """The conversation so far, including the changes made by hooks.

    Attributes:
        reading: the turns and other state that were rebuilt from the log.
        envelope: the instructions, tools, options and uncached messages of the request.
        transforms: the stored changes by hooks and compactions, which later requests repeat.
        new: the log entries to store when the request is sent, such as the hooks' patches.
        decided: the changes by hooks and compactions since the previous request.
        warnings: one sentence for each patch or tool that cannot be used.
    """

    reading: ReplayedPath
    envelope: ContextEnvelope
    transforms: tuple[TransformEntry, ...]
    new: tuple[Entry, ...] = ()
    decided: tuple[TransformEntry, ...] = ()
    warnings: tuple[str, ...] = ()


def replay_with_hooks(request: RequestSetup, is_sent: bool) -> HookedPath:
    """Replay the conversation, and run `before_request` hooks if the request will be sent.

    Args:
        request: the setup of the request.
        is_sent: whether the request will be sent, and not only previewed.

    Raises:
        ContextHookError: when a hook fails. Nothing is stored.
    """
    reading = replay_path(request.inputs.path, request.counter)
    recent = _find_new_entries(request.inputs.path)
    hooked_path = _make_hooked_path(request, reading, decided=recent)
    if not is_sent or request.ports.hooks is None or not request.ports.hooks.has("context"):
        return hooked_path
    if request.ports.cancel is not None:
        request.ports.cancel.raise_if_cancelled()
    envelope = make_hook_envelope(request, reading)
    run = request.ports.hooks.run_context("before_request", envelope, request.ports.new_id)
    stored = make_transform_entries(run.transforms, request.inputs.path[-1].id, request.ports.now())
    return add_entries(hooked_path, stored, request)


def add_entries(
    hooked_path: HookedPath, entries: Sequence[Entry], request: RequestSetup
) -> HookedPath:
    """Replay the conversation with new log entries at its end. The entries are not stored yet."""
    if not entries:
        return hooked_path
    new = (
        *hooked_path.new,
        *link_entries(entries, (hooked_path.new or request.inputs.path)[-1].id),
    )
    reading = replay_path((*request.inputs.path, *new), request.counter)
    return _make_hooked_path(request, reading, new=new, decided=entries, earlier=hooked_path)


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


def apply_ephemeral_hooks(hooked_path: HookedPath, request: RequestSetup) -> HookedPath:
    """Run the `ephemeral` hooks, whose changes apply only to this request.

    Raises:
        ContextHookError: when a hook fails. Nothing is stored.
    """
    if request.ports.hooks is None or not request.ports.hooks.has("context"):
        return hooked_path
    path = (*request.inputs.path, *hooked_path.new)
    envelope = make_hook_envelope(request, hooked_path.reading)
    run = request.ports.hooks.run_context("ephemeral", envelope, request.ports.new_id)
    once = make_transform_entries(run.transforms, path[-1].id, "")
    reading = hooked_path.reading
    if any(transform.patch for transform in once):
        reading = replay_path((*path, *once), request.counter)
    uncached = run.envelope.messages.uncached
    log = (
        (EphemeralEntry(request.ports.new_id(), path[-1].id, request.ports.now(), uncached),)
        if uncached
        else ()
    )
    new = (*log, *hooked_path.new)
    found = _make_hooked_path(request, reading, new=new, decided=once, earlier=hooked_path)
    envelope = replace(found.envelope, messages=Messages(uncached=uncached))
    return replace(found, envelope=envelope, transforms=hooked_path.transforms)


def _make_hooked_path(
    request: RequestSetup,
    reading: ReplayedPath,
    *,
    new: tuple[Entry, ...] = (),
    decided: Iterable[Entry] = (),
    earlier: HookedPath | None = None,
) -> HookedPath:
    transforms = tuple(entry for entry in decided if isinstance(entry, TransformEntry))
    if earlier is not None:
        transforms = (*earlier.decided, *transforms)
    envelope = _make_envelope(request, reading)
    runnable, warnings = _keep_runnable(envelope.tools, request.inputs.tools)
    envelope = replace(
        envelope, tools=runnable, options=_limit_options(envelope.options, request.budget)
    )
    return HookedPath(
        reading=reading,
        envelope=envelope,
        transforms=reading.transforms,
        new=new,
        decided=transforms,
        warnings=(*reading.problems, *warnings),
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


def make_hook_envelope(request: RequestSetup, reading: ReplayedPath) -> ContextEnvelope:
    """Build the envelope that is passed to hooks, with all messages that can be cached."""
    return replace(_make_envelope(request, reading), messages=Messages(reading.messages))


def _make_envelope(request: RequestSetup, reading: ReplayedPath) -> ContextEnvelope:
    base = ContextEnvelope(
        system=System(request.inputs.system),
        tools=request.inputs.tools,
        options=FrozenMapping(
            {"temperature": request.inputs.temperature, "maxTokens": request.budget.reserve}
        ),
        meta=RequestMeta(
            request.inputs.model,
            request.budget_tokens,
            request.inputs.turn,
            request.inputs.request,
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
    hooked_path: tuple[ToolDefinition, ...], given: tuple[ToolDefinition, ...]
) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...]]:
    """Return the tools that can run, and a warning for each tool that has no code to run.

    A hook's patch can describe a new tool, but it cannot add the code that runs the tool.

    Args:
        hooked_path: contains the tools, as changed by hooks.
        given: the tools that can run.
    """
    names = {tool.name for tool in given}
    missing = (tool.name for tool in hooked_path if tool.name not in names)
    warnings = (
        f"The tool {name} was added by a hook, but nothing here runs it." for name in missing
    )
    return tuple(tool for tool in hooked_path if tool.name in names), tuple(warnings)


def _limit_options(options: Mapping[str, object], budget: RequestBudget) -> FrozenMapping:
    wanted = options.get("maxTokens")
    is_number = isinstance(wanted, int) and not isinstance(wanted, bool) and wanted > 0
    most = min(wanted, budget.reserve) if is_number and isinstance(wanted, int) else budget.reserve
    return FrozenMapping({**options, "maxTokens": most})


def run_turn_end_hooks(inputs: PrepareInputs, ports: Ports) -> tuple[Entry, ...]:
    """Run `turn_end` hooks on a finished turn, and store their patches and label in one write.

    Return the log entries that were stored.

    Args:
        inputs: the inputs of the turn's requests. The path must end with the last answer.
        ports: the ports that were used for the turn's requests.

    Raises:
        ContextHookError: when a hook fails. Nothing is stored.
    """
    if ports.hooks is None or not ports.hooks.has("context"):
        return ()
    reading = replay_path(inputs.path, ports.counter)
    envelope = make_hook_envelope(RequestSetup.build(inputs, ports), reading)
    run = ports.hooks.run_context("turn_end", envelope, ports.new_id)
    now = ports.now()
    answer = next(e.id for e in reversed(inputs.path) if isinstance(e, MessageEntry))
    entries: tuple[Entry, ...] = make_transform_entries(run.transforms, answer, now)
    if run.label is not None:
        entries += (LabelEntry(ports.new_id(), answer, now, answer, run.label or None),)
    if entries:
        ports.append(entries)
    return entries
