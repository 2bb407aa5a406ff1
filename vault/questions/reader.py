"""Decide which operation a question asks for, and write its query."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice, takewhile
from typing import Final, Literal

from vault.notes.amounts import parse_amount
from vault.notes.dates import is_weekday
from vault.notes.keywords import WORD, fold
from vault.notes.tasks import TaskKind
from vault.notes.units import can_convert, convert_amount, is_known_unit
from vault.questions.days import find_due_spans, name_weekdays
from vault.questions.linker import link_items
from vault.questions.links import STATES, Links
from vault.questions.naming import has_kind, is_of_kind, list_own_values, name_as_in_notes
from vault.questions.pieces import cut_other_questions, write_filters, write_properties
from vault.questions.priority import write_priorities
from vault.questions.surroundings import asks_in_which
from vault.questions.tokens import Item, find_spans, list_items, names_tag, write_stars
from vault.questions.vocabulary import Name, VaultNames
from vault.questions.words import are_alike, find_roles, list_property_names
from vault.search.conditions import ANY_VALUE, TICKED, Condition, is_comparable
from vault.search.filter_kinds import write_date_filter
from vault.search.query import Query, parse_query, write_query

__all__ = ["Operation", "PartlyRead", "Reading", "read_question"]

Operation = Literal["list", "count", "value", "sum", "mean", "about", "one", "more"]

_MOST_CHARS: Final = 400
_ASKING: Final = frozenset({"tasks", "more"})
_DUE: Final = frozenset({"due", "overdue"})
_JOINING: Final = frozenset({"and", "or", "not"})
_PLACES: Final = frozenset({"folder", "tag"})
_THINGS_ASKED: Final = frozenset({"notes", "tasks", "tag", "folder", "property", "link"})
_MORE_OF_NOTES: Final = frozenset({"tag", "folder", "link", "tasks", "changed", "created", "not"})
_OF_SEVERAL: Final = frozenset({"total", "mean"})
_RECENT: Final = timedelta(days=30)
# The path of a file, without a word beside it.
_PATH: Final = re.compile(r"[^\s/\\]*(?:[/\\][^\s/\\]*)+")


@dataclass(frozen=True)
class Reading:
    """What a question asks for.

    Attributes:
        operation: `list` and `count` ask for all notes or tasks that match the query, and `value`
            for a property of a note. `sum` and `mean` ask for those of a property of the notes that
            match the query, or of a column in their tables. `more` asks to go on with the last
            list. `one` asks for one of the notes that match the query, such as the oldest, which no
            filter can tell. All other questions are `about` something.
        query: the query with the filters that the question names, and the words that are left over.
        path: the note that a `value` is asked of, or an empty string.
        property: the property that is asked for, or an empty string.
        names: the properties or columns that a `sum` or `mean` may be asked of. The first of them
            that is there is meant.
        is_guessed: whether the filter of a `list` or `count` is only likely to be meant, so that
            nothing is to be told of finding none.
        left_out: what follows the question of a `list` or `count` in its message, which was not
            read, such as "and when is the next one due?".
    """

    operation: Operation
    query: str
    path: str = ""
    property: str = ""
    names: tuple[str, ...] = ()
    is_guessed: bool = field(default=False, compare=False)
    left_out: str = field(default="", compare=False)


@dataclass(frozen=True)
class PartlyRead:
    """A request for a list or count of which only a part was understood.

    Attributes:
        query: the filter that was understood.
        understood: the filter in words, such as "with the tag #recipe".
        left: the words that were not understood.
        paths: the notes that fulfil the filter.
    """

    query: str
    understood: str
    left: str
    paths: frozenset[str] = frozenset()


def read_question(text: str, read_names: Callable[[], VaultNames], today: date) -> Reading | None:
    """Read a question against the vault.

    Args:
        text: the question.
        read_names: reads the names in the vault. It is called only if the text can be a question.
        today: the date that words such as "yesterday" refer to.

    Returns:
        The reading, or None if the question names no filter and asks for no list. Of several
        questions, only the first is read.
    """
    if len(text) > _MOST_CHARS or "\n" in text.strip():
        return None
    first = cut_other_questions(text)
    reading = _read_one(first, read_names, today)
    left_out = text.strip().removeprefix(first).lstrip(" ,;")
    if not left_out:
        return reading
    if reading is not None and reading.operation in ("list", "count"):
        return replace(reading, left_out=left_out)
    whole = _read_one(text, read_names, today)
    is_claimed = whole is not None and whole.operation in ("list", "count")
    return replace(whole, operation="one") if whole is not None and is_claimed else whole


def _read_one(text: str, read_names: Callable[[], VaultNames], today: date) -> Reading | None:
    """Read one question against the vault."""
    text = write_stars(text)
    given = parse_query(write_filters(text))
    if not (given.clauses or given.task_kind or _can_ask(text)):
        return None
    words = name_weekdays(given.words)
    vocabulary = read_names()
    written, is_of_urgent = write_priorities(write_properties(text, vocabulary), vocabulary)
    if written != text:
        given = parse_query(write_filters(written))
        words = name_weekdays(given.words)
    items = _put_active(_name_tasks(list_items(words, vocabulary, today)))
    if _asks_for_more(items):
        return Reading("more", "")
    if _asks_to_act(items):
        return None
    spans = find_spans(words, today)
    if any("due" in item.roles for item in items):
        spans = find_due_spans(words, spans, today)
    if _is_of_filters(given, items):
        items = _begin_filters(items)
    links = link_items(items, spans, vocabulary)
    links.clauses = name_as_in_notes(links.clauses, vocabulary)
    links.is_unclear = links.is_unclear or not _can_compare(links, vocabulary)
    links.is_unclear = links.is_unclear or _asks_who_has_thing(items, links, vocabulary)
    links.is_unclear = links.is_unclear or _has_value_of_others(items, links, vocabulary)
    if any(map(is_weekday, links.left)):
        return None  # a weekday without a word such as "on", which is not known to be a date
    _read_times(links, today)
    if is_of_urgent and "done" not in links.roles:
        links.roles.add("open")
    if not given.has_filter and (value := _read_value(links, vocabulary)) is not None:
        return value
    reading = _read_total(given, links, items, vocabulary) or _read_list(given, links)
    return replace(reading, is_guessed=True) if reading is not None and is_of_urgent else reading


def _is_of_filters(given: Query, items: Sequence[Item]) -> bool:
    """Return whether a message only names filters, as "#bees and not #hive" or "folder:House".

    Before them may stand the state of tasks, as in "open folder House".
    """
    has_filter = bool(given.clauses or given.task_kind) or names_tag(given.words)
    has_state, marks = any(item.roles & STATES for item in items[:1]), _JOINING
    if has_state:
        marks = marks | STATES | _PLACES
        has_filter = has_filter or any(item.roles & _PLACES for item in items)
    is_of_names = all(
        item.is_given or item.roles & marks or (has_state and item.list_names("folder"))
        for item in items
    )
    return has_filter and is_of_names and not given.phrases


def _begin_filters(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items of a message that only names filters, behind the subject that they imply.

    A state such as "done" is that of tasks, unless it is a value of a property in the vault.
    """
    first, others = items[:1], items[1:]
    has_state = any(item.roles & STATES for item in first)
    if any(item.list_names("value") for item in first) and has_state:
        first, has_state = [replace(item, roles=frozenset()) for item in first], False
    subject = "tasks" if has_state else "notes"
    return (Item(subject, frozenset({"list", subject})), *first, *others)


def _name_tasks(items: Sequence[Item]) -> tuple[Item, ...]:
    """Take a word such as "items" for tasks beside their state, as in "items due this week"."""
    has_state = any(item.roles & STATES and not item.is_silent for item in items)
    return tuple(
        replace(item, roles=frozenset({"tasks"})) if has_state and "items" in item.roles else item
        for item in items
    )


def _put_active(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items of a passive question in the order of an active one.

    "In which notes is the price mentioned" is read as "Which notes mention the price". What says
    more of the notes, such as a day or a tag, keeps the question as it is.
    """
    roles = [item.roles for item in items]
    first = next((at for at, each in enumerate(roles) if "notes" in each), -1)
    last = next((at for at, item in reversed([*enumerate(items)]) if not item.is_silent), -1)
    between = items[first + 1 : last]
    is_passive = first > 0 and asks_in_which(items) and "mention" in roles[last]
    if not (is_passive and between and "in" not in between[0].roles):
        return tuple(items)
    if any(item.is_date or item.roles & _MORE_OF_NOTES for item in between):
        return tuple(items)
    return (*items[: first + 1], items[last], *between, *items[last + 1 :])


def _asks_who_has_thing(items: Sequence[Item], links: Links, vocabulary: VaultNames) -> bool:
    """Return whether a question asks who has a thing, as "Does anybody have a dog".

    The notes with a tag "dog" are no answer, except where they are about people.
    """
    first_items = list(takewhile(lambda item: not item.names or item.is_silent, items))
    asks_who = any("who" in item.roles for item in first_items)
    if not asks_who or links.is_dated or links.notes or links.roles & _THINGS_ASKED:
        return False
    kinds = [each for clause in links.clauses for each in clause if each.key in ("tag", "folder")]
    return any(not _is_of_people(each, vocabulary) for each in kinds)


def _has_value_of_others(items: Sequence[Item], links: Links, vocabulary: VaultNames) -> bool:
    """Return whether a word names only the value of a property that no note asked for has.

    In "Which books are open?", the `fee: open` of members is not meant.
    """
    kinds = [clause for clause in links.clauses if is_of_kind(clause)]
    property_names = {name.value for item in items for name in item.list_names("property")}
    bare = [
        {each.name for each in clause}
        for clause in links.clauses
        if all(each.name and _is_word(each) for each in clause)
    ]
    unnamed = [names for names in bare if names.isdisjoint(property_names)]
    if not (kinds and unnamed):
        return False
    own = list_own_values(kinds, vocabulary).keys()
    return any(names.isdisjoint(own) for names in unnamed)


def _is_word(condition: Condition) -> bool:
    """Return whether a property is to have a value that is neither a number nor true or false."""
    value = condition.value
    is_equal = condition.comparison == "=" and value not in (ANY_VALUE, TICKED)
    return is_equal and not value[:1].isdecimal()


def _is_of_people(condition: Condition, vocabulary: VaultNames) -> bool:
    wanted = f"{fold(condition.value).strip('/')}/"
    if condition.key == "folder":
        having = {path for path in vocabulary.names_of if f"/{wanted}" in f"/{fold(path)}"}
    else:
        tagged = vocabulary.tags.items()
        having = {
            path for path, tags in tagged if any(f"{fold(tag)}/".startswith(wanted) for tag in tags)
        }
    return having <= vocabulary.people


def _can_compare(links: Links, vocabulary: VaultNames) -> bool:
    """Return whether all values of a property have units that its limits can be compared with."""
    named = (condition for clause in links.clauses for condition in clause if condition.name)
    compared = ((each, vocabulary.list_values(each.name)) for each in named)
    return all(
        is_comparable(each, values) and not _lacks_unit_of_time(each, values)
        for each, values in compared
    )


def _lacks_unit_of_time(condition: Condition, values: Collection[str]) -> bool:
    """Return whether a limit such as "2 hours" meets plain numbers, which may be minutes.

    They are not if the property has the name of the unit, as "hours".
    """
    limit, name, one = parse_amount(condition.value), condition.name, Decimal(1)
    if limit is None or not (is_known_unit(limit.unit) and can_convert(limit.unit, "min")):
        return False
    if is_known_unit(name) and convert_amount(one, name, limit.unit) == one:
        return False
    amounts = [amount for value in values if (amount := parse_amount(value)) is not None]
    return bool(amounts) and not any(amount.unit for amount in amounts)


def _can_ask(text: str) -> bool:
    """Return whether a text can be a question.

    A single word, or the path of a file, is none, except a tag such as "#bees", and a word such as
    "todos" or "more".
    """
    is_single = next(islice(WORD.finditer(text), 1, None), None) is None
    is_single = is_single or _PATH.fullmatch(text.strip()) is not None
    return not is_single or names_tag(text) or bool(find_roles(text) & _ASKING)


def _asks_for_more(items: Sequence[Item]) -> bool:
    """Return whether a message only asks to go on, as "more" or "show me the rest"."""
    is_only = all(item.is_silent or item.roles & {"more", "list", "notes", "and"} for item in items)
    return is_only and any("more" in item.roles for item in items)


def _asks_to_act(items: Sequence[Item]) -> bool:
    """Return whether a message asks to change the notes, as "Create a tag recipe".

    "Make a list of my recipes" asks for a list. An order may end with its verb in German. A note
    "Mark" makes "mark" a name, but a property "created" does not make "create" one.
    """
    relevant_items = [item for item in items if "act" in item.roles or not item.is_silent]
    first, others = relevant_items[:1], relevant_items[1:]
    begins = any("act" in item.roles and _is_no_name(item) for item in first)
    begins = begins and not any("a_list" in item.roles for item in others[:1])
    return begins or any("act_behind" in item.roles for item in relevant_items[-1:])


def _is_no_name(item: Item) -> bool:
    return item.names == item.list_names("property")


def _read_times(links: Links, today: date) -> None:
    """Read the days that are not named: of tasks that are overdue, and of recent changes."""
    roles = links.roles
    if "tasks" in roles or (roles & {"due", "overdue"} and not links.heads):
        if "overdue" in roles and not links.spans:
            links.spans = [(date.min, today)]
        elif "due" in roles and not links.spans:
            links.spans = [(date.min, date.max)]
    elif "recent" in roles and not links.spans and not (links.words and "changed" not in roles):
        roles.add("changed")
        links.spans = [(today - _RECENT, today + timedelta(days=1))]


def _read_value(links: Links, vocabulary: VaultNames) -> Reading | None:
    """Return the property that a question asks for, or None if it asks for something else."""
    paths = _choose_named(links, vocabulary)
    if len(paths) != 1:
        return None
    if links.left or links.words or ("count" in links.roles and not links.properties):
        return None
    if links.is_unclear or links.is_negated:
        return None
    (path,) = paths
    if links.asks_tags:
        return Reading("value", f'path:"{path}"', path, "tags")
    own = vocabulary.properties.get(path, {})
    named = [name for names in links.properties for name in names if name in own]
    named += [] if named else [name for name in own if name in links.asked]
    asks_for_several = links.roles & _OF_SEVERAL
    if len(named) != 1 or (asks_for_several and not find_roles(named[0]) & asks_for_several):
        return None
    return Reading("value", f'path:"{path}"', path, named[0])


def _choose_named(links: Links, vocabulary: VaultNames) -> set[str]:
    """Return the named notes of which all holds that the question says besides.

    An example is "the board meeting", of a note in the folder "Meetings".
    """
    paths = set[str]() if links.spans else {name.value for name in links.notes}
    if any(each.key not in _PLACES for clause in links.clauses for each in clause):
        return set()
    if any(each.is_negated for clause in links.clauses for each in clause):
        return set()
    kinds = links.clauses
    return {path for path in paths if all(has_kind(path, kind, vocabulary) for kind in kinds)}


def _read_total(
    given: Query, links: Links, items: Sequence[Item], vocabulary: VaultNames
) -> Reading | None:
    """Return the sum or mean that a question asks for, or None if it asks for something else.

    The words that are left over may name a column, if a note is named that may have a table.
    """
    roles, notes = links.roles, dict.fromkeys(name.value for name in links.notes)
    if not roles & _OF_SEVERAL or "tasks" in roles or links.is_unclear or links.words:
        return None
    if roles >= _OF_SEVERAL or links.is_negated or _names_several(links, items):
        return None
    groups = reversed(links.properties)  # the last one is named, as in "Wie hoch ist das Budget"
    names = [name for group in groups for name in group] or sorted(links.asked)
    asked = links.asked.union(*(item.asked for item in items))
    own = {name for group in links.properties for name in group}
    is_named = any(_is_written(sorted(own), item) for item in items)
    if names and asked >= list_property_names(["price"]) and not is_named:
        names += sorted(vocabulary.money)  # as a cost is named "amount"
    if notes and not names:
        names = [fold(" ".join(links.left))] if links.left else []
    elif links.left:
        return None
    if not names or len(notes) > 1:
        return None
    paths = [(Condition("path", path),) for path in notes]
    clauses = (*given.clauses, *links.clauses, *paths)
    days = tuple(dict.fromkeys((*given.days, *links.spans)))
    query = replace(given, words="", clauses=clauses, days=days, problems=())
    operation: Operation = "mean" if "mean" in roles else "sum"
    return Reading(operation, write_query(query), names=tuple(dict.fromkeys(names)))


def _names_several(links: Links, items: Sequence[Item]) -> bool:
    """Return whether a question names several properties, of which a sum would tell only one.

    Words that begin the question may mean another one, as in "Wie hoch ist das Budget". A name that
    is no more than a filler elsewhere, such as "stars", counts behind "and".
    """
    groups = list(links.properties)
    first_names = {name.value for name in items[0].list_names("property")} if items else set()
    if len(groups) > 1 and first_names & {*groups[0]} and not _is_written(groups[0], items[0]):
        groups = groups[1:]
    named = set(groups[-1]) if groups else set()
    if any(named.isdisjoint(group) for group in groups):
        return True
    is_joined = False
    for item in items:
        names = {name.value for name in item.list_names("property")}
        if item.is_silent and names - named and (is_joined or item.is_apart):
            return True
        is_joined = bool(item.roles & {"and", "or"})
    return False


def _is_written(names: Sequence[str], item: Item) -> bool:
    return any(are_alike(item.text, name) for name in names)


def _read_list(given: Query, links: Links) -> Reading | None:
    """Return the list or count that a question asks for, or None if it asks for something else."""
    links.left += links.unknown
    asks_who = _asks_who_has_value(links)
    if asks_who:  # "who has not paid" are those of whom it is known
        links.clauses = [tuple(map(_say_other, clause)) for clause in links.clauses]
    roles, task = links.roles, _choose_task(links, given)
    if links.subject == "notes" and "tasks" in roles:
        given = replace(given, priorities=())
    clauses = (*given.clauses, *links.clauses, *_find_task_notes(links, task))
    is_filtered = bool(clauses or links.spans or given.has_filter)
    asks = asks_who or _asks_for_list(links, task, clauses, is_filtered=is_filtered)
    if _is_not_said(links, task) or not asks:
        return None
    if links.properties or (links.notes and not task):
        properties = (Name("property", names[0]) for names in links.properties)
        links.left += [links.texts.get(name, name.value) for name in properties]
        links.left += dict.fromkeys(links.texts[name] for name in links.notes)
    words = " ".join((*links.words, *links.left))
    days = tuple(dict.fromkeys((*given.days, *links.spans)))
    query = replace(given, words=words, clauses=clauses, days=days, problems=())
    if "changed" in roles:
        query = _limit_changes(query)
    query = replace(query, task=given.task or task)
    if task and roles & _DUE:
        query = replace(query, days=given.days, due=(*given.due, *links.spans))
    if links.left or _is_day_of_tasks(links, task):
        is_known = is_filtered or (task and roles & STATES)
        operation: Operation = "one" if "extreme" in roles or links.is_of_other else "about"
        return Reading(operation, write_query(query)) if is_known else None
    listing: Operation = "count" if "count" in roles else "list"
    return Reading(listing, write_query(query), is_guessed=_is_guessed(links, task))


def _asks_for_list(
    links: Links,
    task: str,
    clauses: Sequence[tuple[Condition, ...]],
    *,
    is_filtered: bool,
) -> bool:
    """Return whether a question asks for all notes or tasks that fulfil its conditions."""
    roles = links.roles
    has_head = bool("notes" in roles or task or (links.heads and (len(clauses) > 1 or links.spans)))
    is_whole = is_filtered or bool(links.words) or bool(task and not links.left)
    is_short = has_head and "what" not in roles and is_whole
    asks = bool(roles & {"list", "count"}) or is_short
    is_of_place = bool(roles & {"folder", "link", "linked_from"}) and not links.left
    asks_what = "what" in roles and bool(task or is_of_place)
    asks_what = asks_what or bool("which_things" in roles and links.heads and has_head)
    if task == "any" and not (asks or is_filtered):
        return False  # as "What is a task?"
    is_marked = bool(clauses and roles & {"tag", "folder", "link", "linked_from", "property"})
    names_only = is_marked and not (links.left or links.names_unknown or "what" in roles)
    names_only = names_only and bool(roles & {"tag", "folder"})  # as "tag garden", "folder House"
    if links.is_dated and not links.left and (asks or _asks_who(links)):
        return True
    return names_only or bool((asks or asks_what) and (has_head or links.heads or is_marked))


def _asks_who_has_value(links: Links) -> bool:
    """Return whether a question asks who has a value of a property, as "Who has paid the fee"."""
    if "who" not in links.roles or links.left or links.notes or links.properties or links.words:
        return False
    conditions = [each for clause in links.clauses for each in clause]
    return bool(conditions) and all(each.name and each.value != ANY_VALUE for each in conditions)


def _say_other(condition: Condition) -> Condition:
    """Return a condition that a value is another one, if it says that it is not this one."""
    if not (condition.is_negated and condition.comparison == "="):
        return condition
    return replace(condition, comparison="!=", is_negated=False)


def _asks_who(links: Links) -> bool:
    """Return whether those are asked for who have a property, as "Who has a birthday in May"."""
    return "who" in links.roles and ("having" in links.roles or links.asks_for_day)


def _is_not_said(links: Links, task: str) -> bool:
    """Return whether no query can say what a question asks for."""
    if links.is_unclear or links.is_without_tasks or links.asks_to_explain:
        return True
    if task and links.subject == "notes" and links.spans:
        return True
    if task == "done" and "tasks" not in links.roles and links.spans:
        return True  # a question for what was done on a day, which a diary answers
    if links.roles >= {"tasks", "recent"}:
        return True  # no task says when it was changed
    if (task and _lacks_part(links)) or _may_lack_other_day(links):
        return True  # the tasks may be meant, and not their notes
    if task and _limits_priority(links):
        return True  # each task has a priority of its own, which a note's property does not tell
    if "mean" in links.roles:
        return True  # a mean of what is not known, which no list or count tells
    return "changed" in links.roles and (bool(task) or len(links.spans) != 1)


def _lacks_part(links: Links) -> bool:
    """Return whether a property or a tag must not be there, as in "tasks without a place"."""
    denied = (each for clause in links.clauses for each in clause if each.is_negated)
    return any(each.key == "has" or each.value == ANY_VALUE for each in denied)


def _may_lack_other_day(links: Links) -> bool:
    """Return whether a task without a due date may be meant among others of a note, or of a day."""
    denied = (each for clause in links.clauses for each in clause if each.is_negated)
    is_of_others = links.subject == "notes" or bool(links.spans)
    return is_of_others and any(each.key == "due" for each in denied)


def _limits_priority(links: Links) -> bool:
    """Return whether a condition is on the priority of notes, as in "tasks with high priority"."""
    names = list_property_names(["priority"])
    return any(fold(each.name) in names for clause in links.clauses for each in clause)


def _is_day_of_tasks(links: Links, task: str) -> bool:
    """Return whether a day may be meant for which no task is noted, as "What should I do today"."""
    return bool(task and links.spans) and not links.roles & {"tasks", "due", "overdue"}


def _is_guessed(links: Links, task: str) -> bool:
    """Return whether a filter is only likely to be meant.

    That is so of "How many books did I finish?", where "Books" is a note that may have tasks, and
    of a tag that is another word for what was written. In "Which races are in 2027?", a table in
    another note may have them, and no note with the tag be of that year.
    """
    roles = links.roles
    is_of_note = bool(task and links.notes) and not roles & {"tasks", "due", "overdue"}
    is_of_days = bool(links.heads and links.spans) and not (task or roles & {"notes", "changed"})
    return is_of_note or is_of_days or links.is_translated


def _limit_changes(query: Query) -> Query:
    """Return a query for the notes that were changed on its days."""
    ((first, after),) = query.days
    return replace(
        query,
        days=(),
        after=None if first == date.min else datetime.combine(first, time(), UTC),
        before=None if after == date.max else datetime.combine(after, time(), UTC),
    )


def _choose_task(links: Links, given: Query) -> TaskKind | Literal[""]:
    """Return the kind of tasks that a question asks for, or an empty string for notes."""
    roles = links.roles
    is_of_tasks = "tasks" in roles or not (links.heads or "notes" in roles)
    if not is_of_tasks or not roles & {"tasks", *STATES}:
        links.left += links.states
        return ""
    if links.subject == "notes":
        return _take_tasks_as_part(links, given)
    if "tasks" not in roles and not roles & {"list", "count", "what"}:
        links.left += links.states
        return ""
    if "done" in roles and "open" not in roles:
        return "done"
    return "open" if roles & {"open", "due", "overdue"} else "any"


def _take_tasks_as_part(links: Links, given: Query) -> Literal[""]:
    """Add the condition that notes have tasks, as in "Which notes have tasks due tomorrow"."""
    roles = links.roles
    is_open = bool(roles & {"open", *_DUE})
    kind = "done-task" if "done" in roles else "open-task" if is_open else "task"
    limits = [f"task-priority:{value}" for value in given.priorities]
    if roles & _DUE and "tasks" in roles:
        limits += [f"due:{write_date_filter(span)}" for span in links.spans]
        links.spans = []
    part = Condition("has", " ".join((kind, *limits)), is_negated=links.is_without_tasks)
    links.clauses.append((part,))
    links.is_without_tasks = False
    # Days and words may be those of the tasks, as in "notes with no tasks about plumbing".
    links.is_unclear = links.is_unclear or bool(links.spans or links.words)
    return ""


def _find_task_notes(links: Links, task: str) -> tuple[tuple[Condition, ...], ...]:
    """Return a clause for the notes whose tasks are asked for, if notes are named."""
    named = tuple(Condition("path", name.value) for name in links.notes)
    return (named,) if task and named else ()
