"""Decide which operation a question asks for, and write its query."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Final, Literal

from vault.notes.keywords import WORD, fold
from vault.notes.tasks import TaskKind
from vault.questions.days import find_due_spans
from vault.questions.linker import Links, link_items
from vault.questions.tokens import find_spans, list_items
from vault.questions.vocabulary import VaultNames
from vault.questions.words import list_date_words
from vault.search.conditions import Condition
from vault.search.query import Query, parse_query, write_query

__all__ = ["Operation", "Reading", "read_question"]

Operation = Literal["list", "count", "value", "about"]

_MOST_CHARS: Final = 400
_RECENT: Final = timedelta(days=30)
# A range of days as in a filter, also without its beginning or end.
_RANGE: Final = re.compile(r"(?<!\S)(?:[\d-]{4,10}\.\.[\d-]{0,10}|\.\.[\d-]{4,10})(?=[\s?!,]|$)")


@dataclass(frozen=True)
class Reading:
    """What a question asks for.

    Attributes:
        operation: `list` and `count` ask for all notes or tasks that match the query, and `value`
            for a property of a note. All other questions are `about` something.
        query: the query with the filters that the question names, and the words that are left over.
        path: the note that a `value` is asked of, or an empty string.
        property: the property that is asked for, or an empty string.
    """

    operation: Operation
    query: str
    path: str = ""
    property: str = ""


def read_question(text: str, read_names: Callable[[], VaultNames], today: date) -> Reading | None:
    """Read a question against the vault.

    Args:
        text: the question.
        read_names: reads the names in the vault. It is called only if the text can be a question.
        today: the date that words such as "yesterday" refer to.

    Returns:
        The reading, or None if the question names no filter and asks for no list.
    """
    if len(text) > _MOST_CHARS or "\n" in text.strip() or not _has_two_words(text):
        return None
    given = parse_query(_RANGE.sub(lambda found: f"date:{found[0]}", text))
    vocabulary = read_names()
    items = list_items(given.words, vocabulary, today)
    spans = find_spans(given.words, today)
    if any("due" in item.roles for item in items):
        spans = find_due_spans(given.words, spans, today)
    links = link_items(items, spans, vocabulary.dated)
    if list_date_words("weekday") & set(map(fold, links.left)):
        return None  # a weekday without a word such as "on", which is not known to be a date
    _read_times(links, today)
    if not given.has_filter and (value := _read_value(links, vocabulary)) is not None:
        return value
    return _read_list(given, links)


def _has_two_words(text: str) -> bool:
    """Return whether a text can be a question. A word says what is asked for, or a condition."""
    return next(islice(WORD.finditer(text), 1, None), None) is not None


def _read_times(links: Links, today: date) -> None:
    """Read the days that are not named: of tasks that are overdue, and of recent changes."""
    roles = links.roles
    if "tasks" in roles or (roles & {"due", "overdue"} and not links.heads):
        if "overdue" in roles and not links.spans:
            links.spans = [(date.min, today)]
        elif "due" in roles and not links.spans:
            links.spans = [(date.min, date.max)]
    elif "recent" in roles and not links.spans:
        roles.add("changed")
        links.spans = [(today - _RECENT, today + timedelta(days=1))]


def _read_value(links: Links, vocabulary: VaultNames) -> Reading | None:
    """Return the property that a question asks for, or None if it asks for something else."""
    if len({name.value for name in links.notes}) != 1 or links.clauses or links.spans:
        return None
    if links.left or links.words or ("count" in links.roles and not links.properties):
        return None
    path = links.notes[0].value
    own = vocabulary.properties.get(path, {})
    named = [name for name in links.properties if name in own]
    named += [] if named else [name for name in own if name in links.asked]
    if len(named) != 1:
        return None
    return Reading("value", f'path:"{path}"', path, named[0])


def _read_list(given: Query, links: Links) -> Reading | None:
    """Return the list or count that a question asks for, or None if it asks for something else."""
    roles = links.roles
    task = _choose_task(links)
    clauses = (*given.clauses, *links.clauses, *_find_task_notes(links, task))
    is_filtered = bool(clauses or links.spans or given.has_filter)
    has_head = "notes" in roles or task or (links.heads and (len(clauses) > 1 or links.spans))
    is_short = has_head and "what" not in roles and is_filtered
    asks = bool(roles & {"list", "count"}) or is_short
    asks_what = "what" in roles and (task or roles & {"folder", "link", "linked_from"})
    is_marked = bool(clauses and roles & {"tag", "folder", "link", "linked_from"})
    has_subject = task or "notes" in roles or links.heads or is_marked
    if links.is_without_tasks or (task and links.subject == "notes" and links.spans):
        return None
    if "changed" in roles and (task or len(links.spans) != 1):
        return None
    if links.is_unclear or not ((asks or asks_what) and has_subject):
        return None
    if links.properties or (links.notes and not task):
        links.left += [*links.properties, *(name.value for name in links.notes)]
    if task and not is_filtered and "count" not in roles:
        return None
    words = " ".join((*links.words, *links.left))
    days = tuple(dict.fromkeys((*given.days, *links.spans)))
    query = replace(given, words=words, clauses=clauses, days=days, problems=())
    if "changed" in roles:
        query = _limit_changes(query)
    query = replace(query, task=given.task or task)
    if links.left:
        return Reading("about", write_query(query)) if is_filtered else None
    return Reading("count" if "count" in roles else "list", write_query(query))


def _limit_changes(query: Query) -> Query:
    """Return a query for the notes that were changed on its days."""
    ((first, after),) = query.days
    return replace(
        query,
        days=(),
        after=None if first == date.min else datetime.combine(first, time(), UTC),
        before=None if after == date.max else datetime.combine(after, time(), UTC),
    )


def _choose_task(links: Links) -> TaskKind | Literal[""]:
    """Return the kind of tasks that a question asks for, or an empty string for notes."""
    roles = links.roles
    is_of_tasks = "tasks" in roles or not (links.heads or "notes" in roles)
    if not is_of_tasks or not roles & {"tasks", "open", "done", "due", "overdue"}:
        links.left += links.states
        return ""
    if links.subject == "notes":
        return _take_tasks_as_part(links)
    if "tasks" not in roles and not roles & {"list", "count", "what"}:
        return ""
    if "done" in roles and "open" not in roles:
        return "done"
    return "open" if roles & {"open", "due", "overdue"} else "any"


def _take_tasks_as_part(links: Links) -> Literal[""]:
    """Add the condition that notes have tasks, as in "Which notes have open tasks"."""
    roles = links.roles
    kind = "done-task" if "done" in roles else "open-task" if "open" in roles else "task"
    links.clauses.append((Condition("has", kind, is_negated=links.is_without_tasks),))
    links.is_without_tasks = False
    # Days and words may be those of the tasks, as in "notes with no tasks about plumbing".
    links.is_unclear = links.is_unclear or bool(links.spans or links.words)
    return ""


def _find_task_notes(links: Links, task: str) -> tuple[tuple[Condition, ...], ...]:
    """Return a clause for the notes whose tasks are asked for, if notes are named."""
    named = tuple(Condition("path", name.value) for name in links.notes)
    return (named,) if task and named else ()
