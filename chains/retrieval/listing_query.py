"""Convert a request for a list of notes or tasks to a query.

`vault.questions` reads what a message asks for, such as "List every note tagged #seeds". Only where
the last list ended is known here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from vault.search.query import Query, describe_filters, parse_query, split_filter, write_query

if TYPE_CHECKING:  # a search needs no chats
    from context.history.turns import LoggedTurn
    from vault.questions.reader import Reading

__all__ = [
    "LISTED",
    "FilterPart",
    "ListQuery",
    "describe_list",
    "list_filter_parts",
    "list_kinds",
    "read_list_query",
]

LISTED: Final = "listed"


@dataclass(frozen=True)
class FilterPart:
    """A part of the filter of a list.

    Attributes:
        text: the part in words, such as "in the folder “House”".
        without: the message that asks for the list without the part.
    """

    text: str
    without: str


@dataclass(frozen=True)
class ListQuery:
    """A request for a list of notes.

    Attributes:
        query: the query that the notes must match.
        offset: the number of notes on earlier pages of the list.
        is_tentative: whether the message might not ask for a list. If no note or task matches all
            words of the query, an ordinary search is made instead.
        is_of_one: whether the message asks for one of the notes, as the oldest, so that a search is
            always made.
        is_guessed: whether the filter is only likely to be meant. If nothing fulfils it, a usual
            search is made instead.
        left_out: what follows the request in its message and was not read.
    """

    query: str
    offset: int = 0
    is_tentative: bool = False
    is_of_one: bool = False
    is_guessed: bool = False
    left_out: str = ""


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
    if reading is None or reading.operation in ("value", "sum", "mean"):
        return None
    if reading.operation == "more":
        return _continue_list(turns)
    is_of_one = reading.operation == "one"
    is_tentative = is_of_one or reading.operation == "about"
    return ListQuery(
        reading.query,
        is_tentative=is_tentative,
        is_of_one=is_of_one,
        is_guessed=reading.is_guessed,
        left_out=reading.left_out,
    )


def describe_list(listed: ListQuery) -> Mapping[str, object]:
    """Describe the filter of a list: as a query, in words, and part by part.

    Args:
        listed: the list.
    """
    query = parse_query(listed.query)
    parts = [{"text": part.text, "without": part.without} for part in _list_parts(query)]
    return {"query": listed.query, "text": describe_filters(query), "parts": parts}


def list_kinds(query: Query) -> tuple[str, ...]:
    """Return the names of the tags and folders whose notes a query is for, without levels above."""
    conditions = (each for clause in query.clauses for each in clause)
    wanted = (each for each in conditions if each.key in ("tag", "folder") and not each.is_negated)
    kinds = (each.value.strip("/") for each in wanted)
    return tuple(PurePosixPath(kind).name for kind in kinds)


def list_filter_parts(stored_fields: Mapping[str, object]) -> tuple[FilterPart, ...]:
    """Return the parts of the filter of the list that was stored with a turn, if there was one.

    Args:
        stored_fields: the fields that are stored with the turn's segments.
    """
    listed = stored_fields.get(LISTED)
    query = listed.get("query") if isinstance(listed, Mapping) else None
    return _list_parts(parse_query(query)) if isinstance(query, str) else ()


def _list_parts(query: Query) -> tuple[FilterPart, ...]:
    return tuple(FilterPart(text, _write_request(rest)) for text, rest in split_filter(query))


def _write_request(query: Query) -> str:
    """Write the message that asks for a list."""
    words, filters = " ".join(query.words.split()), write_query(replace(query, words=""))
    noun, about = "tasks" if query.task_kind else "notes", f"about {words}" if words else ""
    return " ".join(filter(None, (f"List all {noun}", filters, about)))


def _continue_list(turns: "Sequence[LoggedTurn]") -> ListQuery | None:
    listed = turns[-1].stored_fields.get(LISTED) if turns else None
    if not isinstance(listed, Mapping) or not isinstance(listed.get("next"), int):
        return None
    return ListQuery(str(listed["query"]), int(listed["next"]))
