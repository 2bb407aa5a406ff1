"""A patched list of messages, told apart into turns again.

A patch may replace, hide and bring in whatever it likes. What it kept stays with its turn; what it
brought in joins what stands before it, or begins a turn of its own where that has been answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from context.history.tool_pairing import is_final
from context.messages import Message


@dataclass
class Group:
    """Neighbouring messages that belong together; `turn` is None for what a patch brought in."""

    turn: int | None
    messages: list[Message] = field(default_factory=list)


def group_messages(
    messages: Sequence[Message], owners: Mapping[str, int], last: int, question: Message | None
) -> tuple[list[Group], tuple[Message, ...]]:
    """Return the earlier messages in groups, and those of the last turn.

    Args:
        owners: which turn each id belonged to before the patch.
        last: the last turn, which everything from its first message on belongs to.
        question: of the last turn, to know it again where a patch has taken the ids away.
    """
    start = _start_of_last(messages, owners, last, question)
    groups: list[Group] = []
    for message in messages[:start]:
        owner = None if message.id is None else owners.get(message.id)
        if not groups or _begins(groups[-1], message, owner):
            groups.append(Group(owner))
        groups[-1].messages.append(message)
    return groups, tuple(messages[start:])


def _start_of_last(
    messages: Sequence[Message], owners: Mapping[str, int], last: int, question: Message | None
) -> int:
    for at, message in enumerate(messages):
        if message.id is not None and owners.get(message.id) == last:
            return at
    if question is not None:
        for at in range(len(messages) - 1, -1, -1):
            if messages[at].role == "user" and messages[at].content == question.content:
                return at
    return len(messages)


def _begins(group: Group, message: Message, owner: int | None) -> bool:
    if owner is not None:
        return owner != group.turn
    is_answered = any(is_final(earlier) for earlier in group.messages)
    return message.role == "user" and is_answered
