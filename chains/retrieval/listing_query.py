"""Convert a request for a list of notes or tasks to a query.

`vault.questions` reads what a message asks for, such as "List every note tagged #seeds". Only where
the last list ended is known here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # a search needs no chats
    from context.history.turns import LoggedTurn
    from vault.questions.reader import Reading

__all__ = ["LISTED", "ListQuery", "read_list_query"]

LISTED: Final = "listed"


@dataclass(frozen=True)
class ListQuery:
    """A request for a list of notes.

    Attributes:
        query: the query that the notes must match.
        offset: the number of notes on earlier pages of the list.
        is_tentative: whether the message might not ask for a list. If no note or task matches all
            words of the query, an ordinary search is made instead.
    """

    query: str
    offset: int = 0
    is_tentative: bool = False


def read_list_query(
    question: str,
    turns: "Sequence[LoggedTurn]",
    read: Callable[[str], "Reading | None"],
) -> ListQuery | None:
    """Convert a request for a list of notes to a query, or return None for any other message.

    Args:
        question: the user message.
        turns: the earlier turns. The last one may contain a list that "More" continues.
        read: reads a question against the vault.
    """
    reading = read(" ".join(question.split()))
    if reading is None or reading.operation == "value":
        return None
    if reading.operation == "more":
        return _continue_list(turns)
    return ListQuery(reading.query, is_tentative=reading.operation == "about")


def _continue_list(turns: "Sequence[LoggedTurn]") -> ListQuery | None:
    listed = turns[-1].stored_fields.get(LISTED) if turns else None
    if not isinstance(listed, Mapping) or not isinstance(listed.get("next"), int):
        return None
    return ListQuery(str(listed["query"]), int(listed["next"]))
