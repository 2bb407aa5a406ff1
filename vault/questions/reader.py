"""Decide which operation a question asks for, and write its query."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, Literal

from vault.notes.tasks import TaskKind
from vault.questions.linker import Links, link_items
from vault.questions.tokens import find_spans, list_items
from vault.questions.vocabulary import VaultNames
from vault.search.conditions import Condition
from vault.search.query import Query, parse_query, write_query

__all__ = ["Operation", "Reading", "read_question"]

Operation = Literal["list", "count", "value", "about"]

_MOST_CHARS: Final = 400


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
    if len(text) > _MOST_CHARS or "\n" in text.strip():
        return None
    given = parse_query(text)
    vocabulary = read_names()
    items = list_items(given.words, vocabulary, today)
    links = link_items(items, find_spans(given.words, today))
    if not given.has_filter and (value := _read_value(links, vocabulary)) is not None:
        return value
    return _read_list(given, links)


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
    has_head = "notes" in roles or (links.heads and len(clauses) > 1)
    is_short = has_head and "what" not in roles and is_filtered
    asks = bool(roles & {"list", "count"}) or is_short
    asks_what = "what" in roles and (task or roles & {"folder", "link"})
    is_marked = bool(clauses and roles & {"tag", "folder", "link"})
    has_subject = task or "notes" in roles or links.heads or is_marked
    if task and links.subject == "notes":
        return None  # notes with tasks are asked for, and not the tasks
    if links.is_unclear or not ((asks or asks_what) and has_subject):
        return None
    if links.properties or (links.notes and not task):
        links.left += [*links.properties, *(name.value for name in links.notes)]
    if task and not is_filtered and "count" not in roles:
        return None
    words = " ".join((*links.words, *links.left))
    days = tuple(dict.fromkeys((*given.days, *links.spans)))
    query = replace(given, words=words, clauses=clauses, days=days, problems=())
    query = replace(query, task=given.task or task)
    if links.left:
        return Reading("about", write_query(query)) if is_filtered else None
    return Reading("count" if "count" in roles else "list", write_query(query))


def _choose_task(links: Links) -> TaskKind | Literal[""]:
    """Return the kind of tasks that a question asks for, or an empty string for notes."""
    roles = links.roles
    if "tasks" not in roles and (links.heads or "notes" in roles or not roles & {"open", "done"}):
        links.left += links.states
        return ""
    if "tasks" not in roles and not roles & {"list", "count", "what"}:
        return ""
    if "done" in roles and "open" not in roles:
        return "done"
    return "open" if "open" in roles else "any"


def _find_task_notes(links: Links, task: str) -> tuple[tuple[Condition, ...], ...]:
    """Return a clause for the notes whose tasks are asked for, if notes are named."""
    named = tuple(Condition("path", name.value) for name in links.notes)
    return (named,) if task and named else ()
