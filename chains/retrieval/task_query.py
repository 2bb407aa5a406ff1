"""Recognise questions about tasks, such as "What do I still have to do for the roof?".

They are answered with a list of the tasks in the notes, which are list items with a checkbox.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from vault.notes.date_spans import Span, move_ahead
from vault.notes.dates import find_date_spans, remove_dates
from vault.notes.keywords import FUNCTION_WORDS, fold
from vault.search.filter_kinds import TaskFilter, write_date_filter

__all__ = ["TaskQuestion", "read_task_question"]

_TASKS: Final = (
    r"(?:tasks?|to-?dos?|to do list|todo (?:items?|list)|action (?:items?|points?)"
    r"|open (?:items|points)|aufgaben?|aufgabenliste|t[âa]ches|tareas)"
)
_STATE: Final = (
    r"(?P<state>open|unfinished|undone|pending|outstanding|remaining|incomplete|due|overdue|done"
    r"|finished|completed|closed|offene[nrs]?|unerledigte[nr]?|erledigte[nr]?"
    r"|(?:[üu]ber)?f[äa]llige[nr]?)"
)
_HEAD: Final = (
    r"(?P<head>(?:please |bitte )?(?:list|show|give|find|what are|what's|whats|what is|what|which"
    r"|do i have|are there|liste|zeige?|welche|was sind|quelles sont|cu[aá]les son)(?: me| mir)? )?"
    r"(?:(?:any|the|my|our|of|on|meine|die|mes|les|mis|las|(?P<all>all|every|alle)) )*"
)
# Words after "tasks" that begin a description of them, as in "tasks for the roof".
_JOIN: Final = (
    r"about|are|before|by|did|do|due|for|from|have|i|in|is|left|next|of|on|open|overdue|related"
    r"|regarding|still|tagged|that|this|today|tomorrow|until|was|we|were|which|with|aus|bis|bei|diese\w*"
    r"|f[üu]r|heute|im|ist|morgen|noch|sind|vom|von|zu[mr]?|pour|de|para"
)
_REST: Final = rf"(?P<rest>(?: (?:{_JOIN})\b.*)?)[?.!]*"
# Each matches a whole question.
_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"^{_HEAD}(?:{_STATE} )?(?:my )?{_TASKS}{_REST}$",
        r"^(?P<head>what|which)(?:'s| is| are) (?:still )?(?P<state>due|overdue|left to do)"
        rf"{_REST}$",
        r"^(?P<head>was) (?:ist|wird) (?:noch )?(?P<state>(?:[üu]ber)?f[äa]llig|offen|zu tun)"
        rf"{_REST}$",
        r"^what (?:do|must|should) (?:i|we)(?: (?P<state>still))? (?:have|need) to (?:get )?"
        rf"do(?:ne)?{_REST}$",
        rf"^what (?:must|should) (?:i|we)(?: (?P<state>still))? do{_REST}$",
        rf"^what have (?:i|we)(?: (?P<state>still))? (?:got|left) to do{_REST}$",
        r"^what does (?P<rest>[\w .-]{2,40}?)(?: (?P<state>still))? (?:have|need) to (?:get )?"
        r"do(?:ne)?[?.!]*$",
        r"^was (?:muss|m[üu]ssen|soll(?:en)?) (?:ich|wir)(?P<rest>.*?) (?:tun|machen|erledigen)"
        r"[?.!]*$",
    )
)
_DONE: Final = re.compile(
    r"\b(?:done|finish(?:ed)?|completed?|closed|ticked off|erledigte?[nr]?)\b", re.IGNORECASE
)
_DUE: Final = re.compile(r"\b(?:due|overdue|f[äa]llige?[nr]?)\b", re.IGNORECASE)
_OVERDUE: Final = re.compile(r"\b(?:overdue|[üu]berf[äa]llige?[nr]?)\b", re.IGNORECASE)
_STILL: Final = re.compile(r"\b(?:still|left|open|offen|noch)\b", re.IGNORECASE)
_WEEKDAYS: Final = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
)
_WEEKDAY: Final = re.compile(rf"\b(?:{_WEEKDAYS})\b", re.IGNORECASE)
# Matches a weekday without a word such as "on", as in "due Friday".
_WEEKDAY_ALONE: Final = re.compile(
    rf"(^|\b(?:due|by|before|until|till|bis|vor|f[äa]llig))\s*\b({_WEEKDAYS})\b", re.IGNORECASE
)
_LIMIT: Final = re.compile(r"\b(before|by|until|till|bis|vor)\b", re.IGNORECASE)
_PAST: Final = re.compile(
    r"\b(?:last|past|previous|ago|since|yesterday|were|was|letzte\w*|vergangene\w*|gestern|seit)\b",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_TAG: Final = re.compile(r"(?<!\S)#[\w/-]+")
_WORD: Final = re.compile(r"[\w'’-]+")
# Words of questions about tasks that say nothing about the subject of a task.
_OTHER_WORDS: Final = """
    about before done due finish finished completed complete closed got have left list meeting
    meetings need next note notes off offen open overdue regarding related remaining still tagged
    there these ticked till today tomorrow until we which bei bis erledigt fallig noch uberfallig
    vor
"""
_OTHERS: Final = FUNCTION_WORDS | frozenset(_OTHER_WORDS.split())


@dataclass(frozen=True)
class TaskQuestion:
    """A question about tasks.

    Attributes:
        query: the query that the tasks must match.
        is_certain: whether the question is certainly about tasks. A question such as "What do I
            have to do for a refund?" may ask for instructions.
    """

    query: str
    is_certain: bool


def read_task_question(text: str, today: date) -> TaskQuestion | None:
    """Read a question about tasks, or return None for any other message.

    Args:
        text: the message.
        today: the date that words such as "tomorrow" refer to.
    """
    found = next((match for form in _FORMS if (match := form.match(text))), None)
    if found is None:
        return None
    named = found.groupdict()
    state, rest = named.get("state") or "", found["rest"].strip(" ?.!")
    rest = _WEEKDAY_ALONE.sub(r"\1 on \2", rest)
    said = f"{state} {rest}"
    words = _list_subject(rest)
    days = _read_days(said, words, today)
    kind = _read_kind(said, is_all=bool(named.get("all")))
    parts = [f"task:{kind}", *(f"date:{write_date_filter(span)}" for span in days), *words]
    asks = bool(named.get("head") or state or _STILL.search(rest) or _DUE.search(rest))
    return TaskQuestion(" ".join(parts), is_certain=asks and not words)


def _read_kind(said: str, *, is_all: bool) -> TaskFilter:
    if _DONE.search(said):
        return "done"
    return "any" if is_all and not said.strip() else "open"


def _read_days(said: str, words: list[str], today: date) -> tuple[Span, ...]:
    """Return the dates of the tasks that are asked for, as ranges of days.

    If the question says "due" without a date, tasks with any date are asked for. A date beside
    other words is ignored unless the question says "due" or "done". It may be a part of a name, as
    in "tasks from the meeting of 5 May".
    """
    if _OVERDUE.search(said):
        return ((date.min, today),)
    if _DONE.search(said):
        return find_date_spans(said, today)
    is_due = _DUE.search(said) is not None
    days = _find_due_days(said, today) if is_due or not words else ()
    return days or (((date.min, date.max),) if is_due else ())


def _find_due_days(said: str, today: date) -> tuple[Span, ...]:
    """Return the ranges of days in which tasks are due, such as all days up to a date.

    Weekdays, and dates without a year, are in the future here, unlike in other questions.
    """
    days = find_date_spans(said, today)
    if not (_PAST.search(said) or _YEAR.search(said)):
        is_weekday = _WEEKDAY.search(said) is not None
        days = tuple(move_ahead(span, today, is_weekday=is_weekday) for span in days)
    limit = _LIMIT.search(said)
    if limit is None or len(days) != 1:
        return days
    ((first, after),) = days
    return ((date.min, first if limit[1].lower() in {"before", "vor"} else after),)


def _list_subject(rest: str) -> list[str]:
    """Return a filter for each tag, and the words that describe the subject of the tasks."""
    tags = [f'tag:"{tag[1:]}"' for tag in _TAG.findall(rest)]
    words = _WORD.findall(remove_dates(_TAG.sub(" ", rest)))
    return [*tags, *(word for word in words if fold(word) not in _OTHERS)]
