"""The base of a request: its path replayed, then shaped by the hooks of this run.

What a `before_request` hook changes is stored and replayed from then on. What an `ephemeral` hook
changes belongs to this request alone: its patch is replayed once and forgotten.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from context.conversation import Conversation, read_path, shape_base
from context.entries import Entry, EphemeralEntry, MessageEntry, TransformEntry
from context.envelope import ContextEnvelope, Messages, RequestMeta, System
from context.frozen import FrozenMapping
from context.hooks import HookRegistry, Transform
from context.inputs import Ports, PrepareInputs
from context.messages import Message, Part, TextPart, ToolDefinition
from context.report import Room


@dataclass(frozen=True)
class Shaped:
    """What a request is made from, once everything has had its say.

    Attributes:
        envelope: instructions, tools, options and the uncached messages.
        transforms: those that are replayed from now on.
        new: what is to be stored when the request is sent.
        reasons: why the prompt cache is broken since the previous request.
    """

    reading: Conversation
    envelope: ContextEnvelope
    transforms: tuple[TransformEntry, ...]
    new: tuple[Entry, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def shape(inputs: PrepareInputs, ports: Ports, room: Room, is_sent: bool) -> Shaped:
    """Replay the path of a request, and let the hooks at it where it is sent.

    Raises:
        ContextHookError: when a hook fails; nothing was stored.
    """
    reading = read_path(inputs.path, ports.counter)
    reasons = _recent_reasons(inputs.path)
    shaped = Shaped(
        reading, _base(inputs, ports, room, reading), reading.transforms, reasons=reasons
    )
    if is_sent and ports.hooks is not None and ports.hooks.has("context"):
        shaped = _hooked(shaped, inputs, ports, ports.hooks, room)
    envelope = shaped.envelope
    runnable, warnings = _runnable(envelope.tools, inputs.tools)
    options = _options(envelope.options, room)
    return replace(
        shaped,
        envelope=replace(envelope, tools=runnable, options=options),
        warnings=(*shaped.reading.problems, *warnings),
    )


def uncached_message(texts: Iterable[str], messages: Iterable[Message]) -> Message | None:
    """Return everything that belongs to one request alone as one message; None for nothing."""
    parts: list[Part] = [TextPart(text) for text in texts if text]
    for message in messages:
        content = message.content
        parts += [TextPart(content)] if isinstance(content, str) else content
    if not parts:
        return None
    words = [part.text for part in parts if isinstance(part, TextPart)]
    return Message("user", "\n\n".join(words) if len(words) == len(parts) else tuple(parts))


def _hooked(
    shaped: Shaped, inputs: PrepareInputs, ports: Ports, hooks: HookRegistry, room: Room
) -> Shaped:
    if ports.cancel is not None:
        ports.cancel.raise_if_cancelled()
    envelope = envelope_of(inputs, ports, room, shaped.reading)
    lasting = hooks.run_context("before_request", envelope, ports.new_id)
    stored = transform_entries(lasting.transforms, inputs.path[-1].id, ports.now())
    path = (*inputs.path, *stored)
    reading = read_path(path, ports.counter)
    transforms = reading.transforms
    passing = hooks.run_context(
        "ephemeral", envelope_of(inputs, ports, room, reading), ports.new_id
    )
    once = transform_entries(passing.transforms, path[-1].id, "")
    if any(transform.patch for transform in once):
        reading = read_path((*path, *once), ports.counter)
    uncached = passing.envelope.messages.uncached
    envelope = replace(_base(inputs, ports, room, reading), messages=Messages(uncached=uncached))
    log = (EphemeralEntry(ports.new_id(), path[-1].id, ports.now(), uncached),) if uncached else ()
    reasons = dict.fromkeys((*shaped.reasons, *lasting.reasons, *passing.reasons))
    return Shaped(reading, envelope, transforms, (*log, *stored), tuple(reasons))


def transform_entries(
    transforms: Iterable[Transform], parent: str | None, now: str
) -> tuple[TransformEntry, ...]:
    """Return what patches do to the cached part, one entry behind the other."""
    entries: list[TransformEntry] = []
    for transform in transforms:
        cached = tuple(op for op in transform.patch if op.get("scope") == "cached")
        place = transform.entry_id, parent, now
        entries.append(TransformEntry(*place, transform.name, cached, transform.display))
        parent = transform.entry_id
    return tuple(entries)


def envelope_of(
    inputs: PrepareInputs, ports: Ports, room: Room, reading: Conversation
) -> ContextEnvelope:
    """Return the envelope that hooks look at: the base of a request with its cached messages."""
    return replace(_base(inputs, ports, room, reading), messages=Messages(reading.messages))


def _base(
    inputs: PrepareInputs, ports: Ports, room: Room, reading: Conversation
) -> ContextEnvelope:
    """The envelope without its messages, which only hooks ask for."""
    base = ContextEnvelope(
        system=System(inputs.system),
        tools=inputs.tools,
        options=FrozenMapping({"temperature": inputs.temperature, "maxTokens": room.reserve}),
        meta=RequestMeta(inputs.model, room.budget, inputs.turn, inputs.request, ports.cancel),
    )
    return shape_base(base, reading.transforms)


def _recent_reasons(path: tuple[Entry, ...]) -> tuple[str, ...]:
    """Why the cache is broken by what was stored since the last answer."""
    reasons: list[str] = []
    for entry in reversed(path):
        if isinstance(entry, MessageEntry) and entry.message.role == "assistant":
            break
        if isinstance(entry, TransformEntry):
            reasons += [str(op.get("invalidateCacheReason", "")) for op in reversed(entry.patch)]
    return tuple(dict.fromkeys(reason for reason in reversed(reasons) if reason))


def _runnable(
    shaped: tuple[ToolDefinition, ...], given: tuple[ToolDefinition, ...]
) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...]]:
    """A patch can describe a tool, but not bring the code that runs it."""
    names = {tool.name for tool in given}
    missing = (tool.name for tool in shaped if tool.name not in names)
    warnings = (
        f"The tool {name} was added by a hook, but nothing here runs it." for name in missing
    )
    return tuple(tool for tool in shaped if tool.name in names), tuple(warnings)


def _options(options: Mapping[str, object], room: Room) -> FrozenMapping:
    """An answer may be shorter than its reserve, never longer."""
    wanted = options.get("maxTokens")
    is_number = isinstance(wanted, int) and not isinstance(wanted, bool) and wanted > 0
    most = min(wanted, room.reserve) if is_number and isinstance(wanted, int) else room.reserve
    return FrozenMapping({**options, "maxTokens": most})
