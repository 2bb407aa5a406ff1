"""Run the user's hooks on the user message, at the start of a turn, and on results.

Each hook receives one complete message before it is stored. If a hook fails, this is reported, and
the message stays unchanged. Hooks that change whole requests run in `context.pipeline`.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from chains.request.turn import Turn
from context.hooks import CustomMessage, HookRegistry
from context.log.entries import CustomMessageEntry, Entry
from context.messages import Message, ToolCallPart, ToolResultPart

if TYPE_CHECKING:
    from chains.tools.registry import ToolOutcome

__all__ = [
    "StartHooksResult",
    "run_answer_hooks",
    "run_message_hooks",
    "run_result_hooks",
    "run_start_hooks",
]

ANSWER_CHANGED: Final = (
    "A hook changed this answer after it had been shown as it was written; the chat keeps the "
    "changed one."
)


@dataclass(frozen=True)
class StartHooksResult:
    """The result of the hooks that run at the start of a turn.

    Attributes:
        messages: the messages from the hooks, to add after the user message.
        problems: one sentence for each hook that failed.
    """

    messages: tuple[CustomMessage, ...] = ()
    problems: tuple[str, ...] = ()

    def add_to(self, turn: Turn) -> Turn:
        """Add the messages from the hooks to a drafted turn."""
        session, question = turn.session, turn.user_message
        parent, now = None if question is None else question.id, session.now()
        added: list[Entry] = []
        for one in self.messages:
            message, place = Message("user", one.content), (session.new_id(), parent, now)
            added.append(CustomMessageEntry(*place, one.custom_type, message, one.display))
        return replace(turn, added=tuple(added)) if added else turn


def run_message_hooks(turn: Turn, hooks: HookRegistry | None) -> Turn:
    """Run the message hooks on a user message before it is stored."""
    if hooks is None:
        return turn
    run = hooks.run_message(Message("user", turn.ask.question))
    return replace(turn, ask=replace(turn.ask, question=run.message.text), problems=run.problems)


def run_start_hooks(turn: Turn) -> StartHooksResult:
    """Run the hooks at the start of a turn, except in a dry run or for a regenerated answer.

    When an answer is regenerated, the messages from the hooks are already in the log.
    """
    hooks = turn.customization.hooks
    if hooks is None or turn.ask.dry_run or turn.is_regenerated:
        return StartHooksResult()
    start = hooks.run_agent_start(turn.ask.question)
    return StartHooksResult(start.messages, (*turn.problems, *start.problems))


def run_answer_hooks(
    message: Message, hooks: HookRegistry | None
) -> tuple[Message, tuple[str, ...]]:
    """Run the message hooks on an answer. Return the new answer and any warnings."""
    if hooks is None or not message.content:
        return message, ()
    run = hooks.run_message(message)
    changed = (ANSWER_CHANGED,) if run.message.text != message.text else ()
    return run.message, (*run.problems, *changed)


def run_result_hooks(
    call: ToolCallPart, outcome: "ToolOutcome", hooks: HookRegistry | None
) -> "tuple[ToolOutcome, tuple[str, ...]]":
    """Run the message hooks on a tool result. Return the new result, and any problems."""
    if hooks is None:
        return outcome, ()
    part = ToolResultPart(call.id, outcome.content, outcome.is_error)
    run = hooks.run_message(Message("tool", (part,)))
    (changed,) = (p for p in run.message.content if isinstance(p, ToolResultPart))
    return replace(outcome, content=changed.content, is_error=changed.is_error), run.problems
