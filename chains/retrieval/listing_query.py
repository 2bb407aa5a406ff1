"""Recognise questions such as "List every note tagged #seeds", and convert them to a query.

"How many notes mention compost?", "Which notes did I change last week?" and "What are my open
tasks?" are also answered with a list. "More" continues the last list.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from chains.retrieval.task_query import read_task_question
from vault.notes.dates import find_date_spans, remove_dates
from vault.notes.keywords import FUNCTION_WORDS, fold

if TYPE_CHECKING:  # a search needs no chats
    from context.history.turns import Turn

__all__ = ["LISTED", "ListQuery", "read_list_query"]

LISTED: Final = "listed"

_NOTES: Final = r"(?:notes?|pages?|files|documents?)"
_HAVING: Final = (
    r"mention|contain|hold|have\s+the\s+(?:tag|words?)|are\s+(?:tagged|about|there|in\s+the\s+folder)"
    r"|do\s+i\s+have|talk|speak|deal|about|with\s+the\s+tag|tagged|in\s+the\s+folder"
)
_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"^(?:please\s+)?(?:list|show|name|give|find|enumerate)(?:\s+me)?\s+(?:all|every|each)"
        rf"(?:\s+of)?(?:\s+the|\s+my)?\s+{_NOTES}\b(?P<rest>.*)$",
        r"^(?:which|what)(?:\s+of)?(?:\s+the|\s+my)?\s+(?:notes|pages|files)\s+"
        r"(?P<rest>(?:mention|contain|are\s+tagged|have\s+the\s+tag|are\s+in\s+the\s+folder)\b.*)$",
        r"^(?:please\s+)?(?:how\s+many|count)(?:\s+of)?(?:\s+(?:all|every))?(?:\s+(?:the|my))?"
        rf"\s+{_NOTES}(?P<rest>(?:\s+(?:{_HAVING})\b.*)?)[?.!]*$",
        r"^in\s+how\s+many(?:\s+of)?(?:\s+(?:the|my))?\s+(?:notes|pages|files)\s+"
        r"(?:is|are|do|does)\s+(?P<rest>.*?)(?:\s+(?:mentioned|named|occur|appear)s?)?[?.!]*$",
        r"^wie\s+viele(?:\s+meiner)?\s+notizen\s+(?P<rest>(?:erwähnen|enthalten|handeln)\b.*)$",
        r"^combien\s+de\s+(?:mes\s+)?notes\s+(?P<rest>(?:mentionnent|contiennent|parlent)\b.*)$",
        r"^¿?cu[aá]ntas(?:\s+de\s+mis)?\s+notas\s+(?P<rest>(?:mencionan|contienen|hablan)\b.*)$",
        r"^(?:bitte\s+)?(?:liste|zeige?|nenne?|finde|gib)(?:\s+mir)?\s+(?:alle|jede|sämtliche)"
        r"(?:\s+meine)?\s+(?:notizen?|seiten?|dateien)\b(?P<rest>.*?)(?:\s+auf)?[.!?]?$",
        r"^(?:liste[rz]?|montre[rz]?|donne[rz]?|trouve[rz]?)(?:-moi)?\s+(?:toutes\s+(?:les|mes)"
        r"|chaque)\s+(?:notes?|pages?)\b(?P<rest>.*)$",
        r"^(?:lista|enumera|muestra|dame|encuentra)(?:me)?\s+(?:todas\s+(?:las|mis)|cada)\s+"
        r"(?:notas?|páginas?)\b(?P<rest>.*)$",
    )
)
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
_TAG: Final = re.compile(r"(?<!\S)#(?P<tag>[\w/-]*[^\W\d][\w/-]*)")
_TAGGED: Final = re.compile(
    r"\b(?:tagged(?:\s+(?:with|as))?|with\s+the\s+tag|have\s+the\s+tag|mit\s+dem\s+tag"
    r"|avec\s+le\s+tag|con\s+la\s+etiqueta)\s+[\"“]?(?P<tag>[\w/-]+)[\"”]?",
    re.IGNORECASE,
)
_FOLDER: Final = re.compile(
    r"\bin\s+(?:(?:the|my|dem|im)\s+)?(?:folder|directory|ordner)\s+[\"“]?(?P<path>[\w/ -]+?)[\"”]?"
    r"(?=$|[.?!]|\s+(?:that|which|with|about|die)\b)",
    re.IGNORECASE,
)
_SAYING_WORDS: Final = """
    are tagged mention mentions mentioning contain contains containing talk talks speak speaks deal
    deals about hold holds having word words erwahnen enthalten handeln
    mentionnent contiennent parlent mencionan contienen hablan
"""
_SAYING: Final = frozenset(_SAYING_WORDS.split())


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
    question: str, turns: "Sequence[Turn]", today: date | None = None
) -> ListQuery | None:
    """Convert a request for a list of notes to a query, or return None for any other message.

    Args:
        question: the user message.
        turns: the earlier turns. The last one may contain a list that "More" continues.
        today: the date that words such as "yesterday" refer to, or None for the current date.
    """
    text = " ".join(question.split())
    if _MORE.match(text):
        return _continue_list(turns)
    if (changed := _CHANGED.match(text)) is not None:
        return _list_changed(changed, today or date.today())
    if (asked := read_task_question(text, today or date.today())) is not None:
        return ListQuery(asked.query, is_tentative=not asked.is_certain)
    found = next((match for form in _FORMS if (match := form.match(text))), None)
    return None if found is None else ListQuery(_query(found["rest"].strip(" :.?!")))


def _list_changed(asked: re.Match[str], today: date) -> ListQuery | None:
    """Return a query for the notes that were changed in a period, or None if none is named."""
    when = asked["when"] or ""
    spans = find_date_spans(when, today)
    if asked["recent"] or _RECENTLY.search(when):
        spans = ((today - timedelta(days=RECENT_DAYS), today + timedelta(days=1)),)
    if not spans:
        return None
    first, after = min(spans)[0], max(after for _, after in spans)
    subject = _query(remove_dates(_RECENTLY.sub(" ", when)).strip(" :.?!"))
    query = f"after:{first} before:{after} {subject}".strip()
    return ListQuery(query, is_tentative=bool(subject))


def _continue_list(turns: "Sequence[Turn]") -> ListQuery | None:
    listed = turns[-1].stored_fields.get(LISTED) if turns else None
    if not isinstance(listed, Mapping) or not isinstance(listed.get("next"), int):
        return None
    return ListQuery(str(listed["query"]), int(listed["next"]))


def _query(rest: str) -> str:
    """Build a query from the words that follow "every note" in a question."""
    filters: list[str] = []
    for form, key in ((_TAG, "tag"), (_TAGGED, "tag"), (_FOLDER, "path")):
        filters += [f'{key}:"{found[key]}"' for found in form.finditer(rest)]
        rest = form.sub(" ", rest)
    return " ".join((*filters, *_subject(rest.split())))


def _subject(words: Sequence[str]) -> Iterator[str]:
    """Yield the words that a list is about, without the function words and verbs before them."""
    is_begun = False
    for word in words:
        plain = fold(word).strip(".,;:!?")
        is_begun = is_begun or not (plain in FUNCTION_WORDS or plain in _SAYING)
        if is_begun:
            yield word
