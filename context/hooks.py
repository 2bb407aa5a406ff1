"""Hooks: functions of the user or of plugins that change requests and messages.

A context hook reads an envelope (a complete request) and returns a patch. Patches are stored and
replayed, so that the hook does not run again. A message hook reads a finished message before it is
stored, and may return a changed one. Hooks receive immutable values, so that they can affect each
other only through their results.

If a context hook fails, the request is aborted and nothing is stored. If a message hook fails, the
error is reported and the message stays unchanged.

Reasons: ARCHITECTURE.md, "Patches and hooks".
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args, overload

from context.envelope import ContextEnvelope
from context.errors import ContextHookError, ContextPatchError, HookPatchError
from context.messages import (
    FrozenMapping,
    Message,
    Part,
    ToolResultPart,
    freeze,
    list_tool_calls,
    thaw,
)
from context.patches import Op, Phase, apply_patch

ContextReason = Phase
HookKind = Literal["context", "message", "before_agent_start"]
HOOK_ERRORS: Final = (Exception, SystemExit)  # a hook must not end the program
HOOK_KINDS: Final[tuple[str, ...]] = get_args(HookKind)


@dataclass(frozen=True, slots=True)
class ContextEvent:
    """The argument of a context hook: the envelope of a request or of a finished turn.

    Attributes:
        reason: the phase in which the hook runs: `before_request`, `ephemeral` or `turn_end`.
    """

    reason: ContextReason
    envelope: ContextEnvelope


@dataclass(frozen=True, slots=True)
class ContextResult:
    """The changes requested by a context hook.

    Attributes:
        patch: the operations that change the envelope, as JSON. See `context.patches`.
        transformer_name: the name under which the change is stored, by default the hook's name.
        display: how the transcript shows the change, as `{title, summary?, markdown?, rendererId?,
            rendererProps?}`. Programs that know a renderer can show its props; the window lists
            them as they are.
        label: a label for the answer. An empty string removes the label, and None keeps it. Only
            `turn_end` hooks may set a label.
    """

    patch: Sequence[Op] = ()
    transformer_name: str = ""
    display: Mapping[str, object] | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """The argument of a message hook: a finished message that is not stored yet."""

    message: Message


@dataclass(frozen=True, slots=True)
class AgentStartEvent:
    """The argument of a hook that runs at the start of a turn: the user's text."""

    prompt: str


@dataclass(frozen=True, slots=True)
class CustomMessage:
    """A message that a hook adds to a turn. The model sees it as a user message.

    Attributes:
        custom_type: a name for the kind of message, chosen by the hook.
        content: the text or the parts of the message.
        display: how the transcript shows the message, as JSON.
    """

    custom_type: str
    content: str | tuple[Part, ...]
    display: object = None


ContextHandler = Callable[[ContextEvent], ContextResult | None]
MessageHandler = Callable[[MessageEvent], Message | None]
AgentStartHandler = Callable[[AgentStartEvent], CustomMessage | None]


@dataclass(frozen=True, slots=True)
class Transform:
    """A patch of a context hook that was checked and applied to an envelope.

    Attributes:
        entry_id: the id of the log entry that stores the patch.
        name: the name under which the change is stored.
        patch: the operations of the patch.
        display: how the transcript shows the change, or None.
        reasons: why the patch invalidates the prompt cache.
    """

    entry_id: str
    name: str
    patch: tuple[Op, ...]
    display: Mapping[str, object] | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextRun:
    """The result of running all context hooks on an envelope.

    Attributes:
        envelope: the envelope after the last hook.
        transforms: the patches of the hooks, in order.
        label: the label for the answer, set by the last hook that provides one, or None.
    """

    envelope: ContextEnvelope
    transforms: tuple[Transform, ...] = ()
    label: str | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons why the hooks invalidate the prompt cache, without duplicates."""
        reasons = (reason for transform in self.transforms for reason in transform.reasons)
        return tuple(dict.fromkeys(reasons))


@dataclass(frozen=True, slots=True)
class MessageRun:
    """The result of running all message hooks on a message.

    Attributes:
        message: the message after the last hook.
        problems: one sentence for each hook that failed.
    """

    message: Message
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentStartRun:
    """The messages that hooks add at the start of a turn.

    Attributes:
        problems: one sentence for each hook that failed.
    """

    messages: tuple[CustomMessage, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Hook:
    name: str
    handler: Callable[[Any], object]


class HookRegistry:
    """The registered hooks of each kind, in the order they run."""

    def __init__(self) -> None:
        self._hooks: dict[str, list[_Hook]] = {kind: [] for kind in HOOK_KINDS}

    @overload
    def on(self, kind: Literal["context"], handler: ContextHandler, name: str = "") -> None: ...
    @overload
    def on(self, kind: Literal["message"], handler: MessageHandler, name: str = "") -> None: ...
    @overload
    def on(
        self, kind: Literal["before_agent_start"], handler: AgentStartHandler, name: str = ""
    ) -> None: ...
    def on(self, kind: HookKind, handler: Callable[[Any], object], name: str = "") -> None:
        """Register a hook.

        Args:
            kind: `context`, `message` or `before_agent_start`.
            handler: the function to call.
            name: the hook's name in reports and errors. Defaults to the function's name.

        Raises:
            ValueError: when the kind is unknown.
        """
        if kind not in self._hooks:
            raise ValueError(f"There is no hook {kind!r}; there are {', '.join(HOOK_KINDS)}.")
        shown = name or getattr(handler, "__name__", type(handler).__name__)
        self._hooks[kind].append(_Hook(shown, handler))

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Remove the hooks that were registered in the `with` block if it raises an exception."""
        before = {kind: list(hooks) for kind, hooks in self._hooks.items()}
        try:
            yield
        except BaseException:
            self._hooks = before
            raise

    def has(self, kind: HookKind) -> bool:
        """Return whether at least one hook of a kind is registered."""
        return bool(self._hooks[kind])

    def run_context(
        self, reason: ContextReason, envelope: ContextEnvelope, new_id: Callable[[], str]
    ) -> ContextRun:
        """Run every context hook, each on the result of the previous one.

        Nothing is stored here. The caller stores the patches of all hooks together.

        Args:
            reason: the phase: `before_request`, `ephemeral` or `turn_end`.
            envelope: the request to change.
            new_id: returns a new id for a log entry.

        Raises:
            ContextHookError: when a hook fails or its patch cannot be applied. If the request was
                cancelled in the meantime, the exception of the cancel token is raised instead.
        """
        transforms: list[Transform] = []
        label: str | None = None
        for hook in self._hooks["context"]:
            result = _run_handler(hook, ContextEvent(reason, envelope))
            if result is None:
                continue
            label = _check_label(hook, result, reason, label)
            if not result.patch:
                continue
            envelope, transform = _apply_result(
                hook, result, ContextEvent(reason, envelope), new_id()
            )
            transforms.append(transform)
        return ContextRun(envelope, tuple(transforms), label)

    def run_message(self, message: Message) -> MessageRun:
        """Run every message hook, each on the result of the previous one.

        The errors of hooks are part of the result.
        """
        problems: list[str] = []
        for hook in self._hooks["message"]:
            try:
                message = _check_result(message, hook.handler(MessageEvent(message)))
            except HOOK_ERRORS as error:  # it is reported, and the original is used
                problems.append(f'The message hook "{hook.name}" failed: {_describe_error(error)}')
        return MessageRun(message, tuple(problems))

    def run_agent_start(self, prompt: str) -> AgentStartRun:
        """Run every `before_agent_start` hook, and return the messages that the hooks add.

        Args:
            prompt: the user's text.
        """
        messages: list[CustomMessage] = []
        problems: list[str] = []
        for hook in self._hooks["before_agent_start"]:
            try:
                added = hook.handler(AgentStartEvent(prompt))
                messages += _check_custom(added)
            except HOOK_ERRORS as error:  # it is reported, and nothing is added
                text = f'The hook "{hook.name}" failed at the start: {_describe_error(error)}'
                problems.append(text)
        return AgentStartRun(tuple(messages), tuple(problems))


def _run_handler(hook: _Hook, event: ContextEvent) -> ContextResult | None:
    try:
        result = hook.handler(event)
    except HOOK_ERRORS as error:
        cancel = event.envelope.meta.cancel
        if cancel is not None:
            cancel.raise_if_cancelled()  # a hook that stops when cancelled has not failed
        raise ContextHookError(hook.name, event.reason, _describe_error(error)) from error
    if result is not None and not isinstance(result, ContextResult):
        found = f"it returned {type(result).__name__} instead of ContextResult or None"
        raise ContextHookError(hook.name, event.reason, found)
    return result


def _apply_result(
    hook: _Hook, result: ContextResult, event: ContextEvent, entry_id: str
) -> tuple[ContextEnvelope, Transform]:
    name = result.transformer_name or hook.name
    try:
        # In the form that is stored, so that a replay gives the same result.
        patch = tuple(_freeze_json(op) for op in result.patch)
        patched = apply_patch(
            event.envelope,
            patch,
            phase=event.reason,
            transformer_name=name,
            entry_id=entry_id,
        )
        display = None if result.display is None else _freeze_json(result.display)
    except ContextPatchError as error:
        raise HookPatchError(hook.name, event.reason, str(error)) from error
    except (TypeError, AttributeError, ValueError) as error:
        raise HookPatchError(hook.name, event.reason, "its patch is not JSON") from error
    return patched.envelope, Transform(entry_id, name, patch, display, tuple(patched.reasons))


def _freeze_json(fields: Mapping[str, object]) -> FrozenMapping:
    """Return an immutable copy of a JSON object.

    Raises:
        TypeError: when a value has a type that JSON does not support.
        ValueError: when a number is infinite or NaN.
    """
    frozen = FrozenMapping(fields)
    json.dumps(thaw(frozen), allow_nan=False)
    return frozen


def _copy_message(message: Message) -> Message:
    """Return a copy of a message that a hook made, or raise an exception if it is not JSON."""
    return Message.from_dict(_freeze_json(message.to_dict()))


def _check_label(
    hook: _Hook, result: ContextResult, reason: ContextReason, earlier: str | None
) -> str | None:
    """Return the label that a hook sets, as a single line, or else the earlier label.

    Raises:
        HookPatchError: when the hook must not set a label, or the label is not text.
    """
    if result.label is None:
        return earlier
    if reason != "turn_end":
        raise HookPatchError(hook.name, reason, "only a turn_end hook may set a label")
    if not isinstance(result.label, str):
        raise HookPatchError(hook.name, reason, "its label is not text")
    return " ".join(result.label.split())


def _check_result(message: Message, result: object) -> Message:
    if result is None:
        return message
    if not isinstance(result, Message):
        raise TypeError(f"it returned {type(result).__name__} instead of Message or None")
    result = _copy_message(result)
    if result.role != message.role:
        raise ValueError(f"it changed the role from {message.role} to {result.role}")
    if _list_answered_calls(result) != _list_answered_calls(message):
        raise ValueError("it removed a tool result, or added one")
    calls = {call.id for call in list_tool_calls(message)}
    if not {call.id for call in list_tool_calls(result)} <= calls:
        raise ValueError("it added a tool call")
    return replace(result, id=message.id)


def _list_answered_calls(message: Message) -> list[str]:
    if isinstance(message.content, str):
        return []
    parts = (part for part in message.content if isinstance(part, ToolResultPart))
    return sorted(part.tool_call_id for part in parts)


def _check_custom(added: object) -> Iterator[CustomMessage]:
    if added is None:
        return
    if not isinstance(added, CustomMessage):
        raise TypeError(f"it returned {type(added).__name__} instead of CustomMessage or None")
    content = _copy_message(Message("user", added.content)).content
    yield CustomMessage(str(added.custom_type), content, freeze(added.display))


def _describe_error(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "it tried to end the program"
    return str(error) or type(error).__name__
