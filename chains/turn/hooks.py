"""Where hooks get at a turn: its question and its start, each answer, each result of a tool.

What they change of the path as a whole is the pipeline's affair; here they see one finished message
before it is stored and used. A hook that fails is reported, and the message stays as it was.
"""

from dataclasses import dataclass, replace
from typing import Final

from chains.request.request import ChatPort, DraftedTurn, TurnRequest
from chains.tools.registry import ToolOutcome
from context.hooks import CustomMessage, HookRegistry
from context.log.entries import CustomMessageEntry, Entry
from context.messages import Message, ToolCallPart, ToolResultPart

__all__ = ["Heard", "finished", "finished_result", "hear", "hear_message"]

ANSWER_CHANGED: Final = (
    "A hook changed this answer after it had been shown as it was written; the chat keeps the "
    "changed one."
)


@dataclass(frozen=True)
class Heard:
    """A question as the hooks want it.

    Attributes:
        request: the request of the turn.
        added: messages that stand behind it.
        problems: what went wrong, one sentence each.
    """

    request: TurnRequest
    added: tuple[CustomMessage, ...] = ()
    problems: tuple[str, ...] = ()

    def apply(self, drafted: DraftedTurn, chat: ChatPort) -> DraftedTurn:
        """Return the turn that was drafted for it, with the messages that hooks add."""
        parent, now = drafted.question.id, chat.now()
        added: list[Entry] = []
        for one in self.added:
            said, place = Message("user", one.content), (chat.new_id(), parent, now)
            added.append(CustomMessageEntry(*place, one.custom_type, said, one.display))
        return replace(drafted, added=tuple(added)) if added else drafted


def hear_message(request: TurnRequest, hooks: HookRegistry | None) -> TurnRequest:
    """Return a request with its user message as the message hooks want it, before it is stored."""
    if hooks is None:
        return request
    run = hooks.run_message(Message("user", request.question))
    return replace(request, question=run.message.text, problems=run.problems)


def hear(request: TurnRequest, hooks: HookRegistry | None) -> Heard:
    """Run the hooks for the start of a turn; a dry run runs none.

    A user message that is answered anew was heard when it was stored, and what was added then
    stands behind it.
    """
    if hooks is None or request.dry_run or request.is_again:
        return Heard(request)
    start = hooks.run_agent_start(request.question)
    return Heard(request, start.messages, (*request.problems, *start.problems))


def finished(message: Message, hooks: HookRegistry | None) -> tuple[Message, tuple[str, ...]]:
    """Return an answer as the message hooks want it, and what there is to say about that."""
    if hooks is None or not message.content:
        return message, ()
    run = hooks.run_message(message)
    changed = (ANSWER_CHANGED,) if run.message.text != message.text else ()
    return run.message, (*run.problems, *changed)


def finished_result(
    call: ToolCallPart, outcome: ToolOutcome, hooks: HookRegistry | None
) -> tuple[ToolOutcome, tuple[str, ...]]:
    """Return what a call came to as the message hooks want it, and what went wrong."""
    if hooks is None:
        return outcome, ()
    part = ToolResultPart(call.id, outcome.content, outcome.is_error)
    run = hooks.run_message(Message("tool", (part,)))
    (kept,) = (p for p in run.message.content if isinstance(p, ToolResultPart))
    return replace(outcome, content=kept.content, is_error=kept.is_error), run.problems
