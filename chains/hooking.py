"""Where hooks get at a turn: its question and its start, each answer, each result of a tool.

What they change of the path as a whole is the pipeline's affair; here they see one finished message
before it is stored and used. One that fails is told of, and the message stays as it was.
"""

from dataclasses import dataclass, replace
from typing import Final

from chains.tools.registry import ToolOutcome
from chains.turn import ChatPort, DraftedTurn, TurnRequest
from context.entries import CustomMessageEntry
from context.hooks import CustomMessage, HookRegistry
from context.messages import Message, ToolCallPart, ToolResultPart

__all__ = ["Heard", "finished", "finished_result", "hear"]

ANSWER_CHANGED: Final = (
    "A hook changed this answer after it had been shown as it was written; the chat keeps the "
    "changed one."
)


@dataclass(frozen=True)
class Heard:
    """A question as the hooks want it.

    Attributes:
        request: asks what is left of the question.
        message: the question in full.
        added: messages that stand behind it.
        problems: what went wrong, one sentence each.
    """

    request: TurnRequest
    message: Message
    added: tuple[CustomMessage, ...] = ()
    problems: tuple[str, ...] = ()

    def apply(self, drafted: DraftedTurn, chat: ChatPort) -> DraftedTurn:
        """Return the turn that was drafted for it, as it is to be stored."""
        question = drafted.question
        if not drafted.is_asked:
            question = replace(question, message=self.message)
        drafted = replace(drafted, question=question)
        before = (*chat.path(), *drafted.entries)[-1].id
        return replace(drafted, added=self._entries(before, chat.now(), chat))

    def _entries(self, parent: str, now: str, chat: ChatPort) -> tuple[CustomMessageEntry, ...]:
        entries = []
        for one in self.added:
            message = Message("user", one.content)
            entry = CustomMessageEntry(
                chat.new_id(), parent, now, one.custom_type, message, one.display
            )
            parent = entry.id
            entries.append(entry)
        return tuple(entries)


def hear(request: TurnRequest, hooks: HookRegistry | None) -> Heard:
    """Let the hooks at a question before anything is done with it; a dry run runs none.

    A question that is answered anew was heard when it was asked, and what was added then stands
    behind it.
    """
    asked = Message("user", request.question)
    if hooks is None or request.dry_run or request.is_again:
        return Heard(request, asked)
    run = hooks.run_message(asked)
    start = hooks.run_agent_start(run.message.text)
    request = replace(request, question=run.message.text)
    return Heard(request, run.message, start.messages, (*run.problems, *start.problems))


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
