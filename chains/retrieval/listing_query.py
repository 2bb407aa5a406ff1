"""Recognise requests for a list of notes or tasks, and convert them to a query.

Most of them, such as "List every note tagged #seeds", are read against the vault by
`vault.questions`. Questions for the notes that were changed in some time, for tasks that are due,
and for "more" of the last list are recognised here.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from chains.retrieval.task_query import read_task_question
from vault.notes.dates import find_date_spans, remove_dates
from vault.notes.keywords import FUNCTION_WORDS, fold

if TYPE_CHECKING:  # a search needs no chats
    from context.history.turns import LoggedTurn
    from vault.questions.reader import Reading

__all__ = ["LISTED", "ListQuery", "read_list_query"]

LISTED: Final = "listed"

_NOTES: Final = r"(?:notes?|pages?|files|documents?)"
# Matches a question for notes by the time of their last change.
_CHANGED: Final = re.compile(
    r"^(?:please\s+)?(?:which|what|(?:show|list|give)(?:\s+me)?)(?:\s+of)?(?:\s+(?:all|the|my))*\s+"
    rf"{_NOTES}\s+(?:(?:that\s+)?(?:did|have|were|was)\s+)?(?:(?:that\s+)?i\s+)?"
    r"(?:add|chang|creat|edit|modif|updat)\w*\b(?P<when>.*)$"
    r"|^(?:(?:show|list|give)(?:\s+me)?\s+|what\s+are\s+)?(?:(?:all|the|my)\s+)*"
    rf"(?P<recent>recent(?:ly\s+\w+)?|latest|newest)\s+{_NOTES}[?.!]*$",
    re.IGNORECASE,
)
_RECENTLY: Final = re.compile(r"\b(?:recently|lately)\b", re.IGNORECASE)
RECENT_DAYS: Final = 30
_MORE: Final = re.compile(
    r"^(?:and\s+)?(?:(?:show|list|give)(?:\s+me)?\s+)?(?:the\s+)?"
    r"(?:more|next(?:\s+(?:page|ones))?|rest|others|go\s+on|continue|weiter|mehr|den\s+rest"
    r"|la\s+suite|plus|más|siguientes?|还有|続き)(?:\s+(?:notes|please|bitte))?[.!?？]?$",
    re.IGNORECASE,
)


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
    today: date | None = None,
    read: Callable[[str], "Reading | None"] = lambda _question: None,
) -> ListQuery | None:
    """Convert a request for a list of notes to a query, or return None for any other message.

    Args:
        question: the user message.
        turns: the earlier turns. The last one may contain a list that "More" continues.
        today: the date that words such as "yesterday" refer to, or None for the current date.
        read: reads a question against the vault.
    """
    text = " ".join(question.split())
    if _MORE.match(text):
        return _continue_list(turns)
    if (changed := _CHANGED.match(text)) is not None:
        return _list_changed(changed, today or date.today())
    reading = read(text)
    if reading is not None and reading.operation in ("list", "count"):
        return ListQuery(reading.query)
    if (asked := read_task_question(text, today or date.today())) is not None:
        return ListQuery(asked.query, is_tentative=not asked.is_certain)
    if reading is not None and reading.operation == "about":
        return ListQuery(reading.query, is_tentative=True)
    return None


def _list_changed(asked: re.Match[str], today: date) -> ListQuery | None:
    """Return a query for the notes that were changed in a period, or None if none is named."""
    when = asked["when"] or ""
    spans = find_date_spans(when, today)
    if asked["recent"] or _RECENTLY.search(when):
        spans = ((today - timedelta(days=RECENT_DAYS), today + timedelta(days=1)),)
    if not spans:
        return None
    first, after = min(spans)[0], max(after for _, after in spans)
    about = remove_dates(_RECENTLY.sub(" ", when)).strip(" :.?!")
    subject = " ".join(_drop_question_words(about.split()))
    query = f"after:{first} before:{after} {subject}".strip()
    return ListQuery(query, is_tentative=bool(subject))


def _continue_list(turns: "Sequence[LoggedTurn]") -> ListQuery | None:
    listed = turns[-1].stored_fields.get(LISTED) if turns else None
    if not isinstance(listed, Mapping) or not isinstance(listed.get("next"), int):
        return None
    return ListQuery(str(listed["query"]), int(listed["next"]))


def _drop_question_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the words that a list is about, without the function words before them."""
    is_begun = False
    for word in words:
        plain = fold(word).strip(".,;:!?")
        is_begun = is_begun or plain not in FUNCTION_WORDS | {"about"}
        if is_begun:
            yield word
