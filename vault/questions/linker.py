"""Link the items of a question to conditions on notes, days, and kinds of tasks."""

import posixpath
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final, Literal, get_args

from vault.notes.date_spans import Span
from vault.notes.keywords import fold
from vault.notes.kinds import drop_note_suffix
from vault.questions.days import LIMITS, limit_spans
from vault.questions.tokens import Item
from vault.questions.vocabulary import Name
from vault.questions.words import are_alike, find_roles
from vault.search.conditions import Comparison, Condition, parse_property

__all__ = ["Links", "link_items"]

_SIGNS: Final[dict[str, Comparison]] = {
    "at_least": ">=",
    "at_most": "<=",
    "above": ">",
    "below": "<",
    "exactly": "=",
}
# What is said behind a value, as in "4 or more".
_SIGNS_BEHIND: Final[dict[str, Comparison]] = {"or_more": ">=", "or_less": "<="}
_Mark = Literal["tag", "folder", "link", "linked_from", "links"]
_MARKS: Final = get_args(_Mark)
# What a note has or lacks if no name follows, as in "without tags".
_PARTS: Final = {"tag": "tag", "links": "link"}
# What may be named that the vault does not have.
_FREE: Final[dict[str, Literal["tag", "folder"]]] = {"tag": "tag", "folder": "folder"}
_STATES: Final = frozenset({"open", "done", "due", "overdue"})
# Roles that may stand between "not" or "or" and the condition that it is said of.
_ANNOUNCING: Final = frozenset({"not", "or", "and", "in", "tasks", *_STATES, *_MARKS})


@dataclass(slots=True)
class Links:
    """What the items of a question are linked to.

    Attributes:
        clauses: the conditions on notes. Of each clause, at least one must be fulfilled.
        heads: how many conditions say what is asked for, as "recipes" in "How many recipes".
        notes: the notes that are named, but not as the target of a link.
        properties: the properties that are named without a value.
        asked: words for properties that the question asks for.
        roles: the roles of all phrases.
        spans: the days that a note must be dated with.
        words: the words that a note must hold.
        states: the words for the state of tasks.
        left: the words that are linked to nothing and have no role.
        subject: what the question asks for first, "notes" or "tasks", or an empty string.
        is_without_tasks: whether "no" is said of the tasks.
        is_unclear: whether the question says something that no condition can say, such as "not" of
            a day, or "or" between words.
    """

    clauses: list[tuple[Condition, ...]] = field(default_factory=list)
    heads: int = 0
    notes: list[Name] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    spans: list[Span] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    subject: Literal["", "notes", "tasks"] = ""
    is_without_tasks: bool = False
    is_unclear: bool = False


def link_items(items: Sequence[Item], spans: Sequence[Span], dated: Collection[str] = ()) -> Links:
    """Link the items of a question.

    Args:
        items: the items.
        spans: the dates that the question names, as ranges of days.
        dated: the properties that hold days.
    """
    return _Linker(items, spans, dated).link()


class _Linker:
    """Links items one by one, keeping what the ones before them announce."""

    def __init__(self, items: Sequence[Item], spans: Sequence[Span], dated: Collection[str]):
        self._items = items
        self._spans = spans
        self._dated = dated
        self._roles = frozenset[str]().union(*(item.roles for item in items))
        self._links = Links()
        self._mark: _Mark | None = None
        self._sign: Comparison = "="
        self._is_negated = False
        self._mentions = False
        self._mentioned: list[Item] = []
        self._is_alternative = False
        self._is_carried = False
        self._last_mark: _Mark | None = None
        self._last_added = -1

    def link(self) -> Links:
        at = 0
        while at < len(self._items):
            at += self._take_in_scope(at)
        self._end_mark()
        self._link_dates()
        is_waiting = self._is_negated or self._is_alternative or self._mark is not None
        if is_waiting or self._has_lone_comparison():
            self._links.is_unclear = True
        if self._asks_yes_or_no():
            self._links.is_unclear = True
        while self._mentioned and self._mentioned[-1].is_silent:
            self._mentioned.pop()
        while self._mentioned and self._mentioned[0].is_silent:
            self._mentioned.pop(0)
        self._links.words = [item.text for item in self._mentioned]
        if self._mentions and not self._links.words:  # as in "In how many notes is … mentioned?"
            self._links.words, self._links.left = self._links.left, []
        if self._mentions and not self._links.words and self._links.notes:
            self._add(_link_from(self._links.notes.pop()))  # "Which notes does Plan mention?"
        return self._links

    def _end_mark(self) -> None:
        """Link a word such as "tags" that no name follows: the notes have it, or do not."""
        if self._mark in _PARTS and (self._links.subject or self._links.heads):
            self._add(Condition("has", _PARTS[self._mark]))
            self._mark = None

    def _link_dates(self) -> None:
        """Link the dates of a question: to a property that holds days, or to the notes."""
        links, spans = self._links, limit_spans(self._items, self._spans)
        if "created" in links.roles and spans and not links.properties:
            links.properties += self._find_created()[:1]
        if len(spans) != 1 or len(links.properties) != 1 or links.properties[0] not in self._dated:
            links.spans = spans
            return
        name, ((first, after),) = links.properties.pop(), spans
        tests = [f">={first}"] if first != date.min else []
        tests += [f"<{after}"] if after != date.max else []
        for test in tests:
            condition = parse_property(name, test)
            links.clauses += [] if condition is None else [(condition,)]
        self._spans = ()
        links.roles -= LIMITS

    def _find_created(self) -> list[str]:
        """Return the properties with the day on which a note was created."""
        return [name for name in sorted(self._dated) if "created" in find_roles(name)]

    def _take_in_scope(self, at: int) -> int:
        """Link the item at a position, and return how many items were used.

        "Not" and "or" are said of the condition that follows them at once, perhaps behind a word
        such as "tag". If something else follows, nothing can be claimed of the question.
        """
        links, item = self._links, self._items[at]
        pending, before = (self._is_negated, self._is_alternative), list(links.clauses)
        is_announcing = item.is_silent or bool(item.roles.intersection(_ANNOUNCING))
        used = self._take(at)
        if links.clauses != before:
            self._check_joined(at, before)
            self._last_added = at
        elif any(pending) and pending == (self._is_negated, self._is_alternative):
            is_named = bool(links.properties) and not item.roles
            links.is_unclear = links.is_unclear or not (is_announcing or is_named)
        return used

    def _check_joined(self, at: int, before: Sequence[tuple[Condition, ...]]) -> None:
        """Make a question unclear that does not say how a new condition belongs to the last one.

        That is so for names in a row, as in "in A, B or C", and for "and" behind "not".

        Args:
            at: the position of the item with the new condition.
            before: the clauses without the new condition.
        """
        if not before:
            return
        item, last, new = self._items[at], before[-1][-1], self._links.clauses[-1][-1]
        joins = self._items[at - 1].roles if at > 0 else frozenset()
        is_in_a_row = self._last_added == at - 1 and last.key == new.key and not item.is_given
        is_after_not = last.is_negated and not new.is_negated and "and" in joins
        is_of_folder = last.key == "folder" and not joins.isdisjoint(("and", "or"))
        is_other = is_of_folder and ("and" in joins or new.key != "folder")
        if is_in_a_row or is_after_not or (is_other and not last.is_negated):
            self._links.is_unclear = True

    def _has_lone_comparison(self) -> bool:
        """Return whether a comparison, or a date beside a property, became no condition."""
        links = self._links
        is_compared = any(self._is_lone_sign(item) for item in self._items)
        is_timed = bool(links.roles & LIMITS - {"until", "since"}) and not links.spans
        is_timed = is_timed or ("created" in links.roles and bool(links.spans))
        return is_compared or is_timed or bool(links.properties and links.spans)

    def _is_lone_sign(self, item: Item) -> bool:
        """Return whether an item is a comparison that was not used. "Under" may mean a folder."""
        if item.roles.isdisjoint(_SIGNS) or item.roles.isdisjoint(self._links.roles):
            return False
        if "mention" in item.roles and self._mentions:
            return False  # as the German "über"
        has_property = any(each.name for clause in self._links.clauses for each in clause)
        return "in" not in item.roles or has_property

    def _asks_yes_or_no(self) -> bool:
        first = self._items[0].roles if self._items else frozenset()
        return "yes_no" in first and "list" not in first

    def _asks_for_targets(self) -> bool:
        """Return whether the notes are asked for that a note links to, as "to which notes"."""
        return bool(self._items) and "towards" in self._items[0].roles and "link" in self._roles

    def _take(self, at: int) -> int:
        """Link the item at a position, and return how many items were used."""
        item, links = self._items[at], self._links
        if item.is_date:
            return 1
        is_begun = not all(each.is_silent for each in self._mentioned)
        if self._mentions and not is_begun and "folder" in item.roles:
            self._mentioned.clear()
            self._mentions = False  # as in "How many notes does the folder … contain"
        if self._mentions and is_begun and item.roles.intersection(_MARKS):
            self._mentions = False  # the words end, as in "mention Kiel with the tag person"
        if self._mentions and not self._is_place(at):
            is_joined = "or" in item.roles or ("not" in item.roles and "filler" not in item.roles)
            links.is_unclear = links.is_unclear or is_joined
            self._mentioned.append(item)
            return 1
        if self._mark in _PARTS and self._is_place(at):
            self._end_mark()
        if self._mark and (used := self._take_marked(at)):
            return used
        if links.properties and (used := self._take_value(at)):
            return used
        if used := self._take_measure(at) or self._take_value_before(at):
            return used
        name = self._choose_name(at)
        if name is not None and self._takes_name(at, name):
            self._add_name(at, name)
            return 1
        return self._take_role(at)

    def _take_role(self, at: int) -> int:
        item, links = self._items[at], self._links
        roles = self._negate_state(at)
        for subject in ("notes", "tasks"):
            if subject in roles and not links.subject:
                links.subject = subject
        links.roles |= roles
        links.asked |= item.asked
        links.states += [item.text] if roles & _STATES and not item.is_silent else []
        if roles & {"or", "and"} and "filler" not in roles - {"and"}:
            self._join(roles)
        elif marked := next((mark for mark in _MARKS if mark in roles), None):
            is_behind = self._has_heads_before(at + 1, marked)
            self._mark = None if is_behind else marked
            self._last_mark, self._is_carried = marked, False
        if "link" in roles and links.notes and not self._follows_name(item):
            self._link_to_name_before()
        self._is_negated = self._is_negated or ("not" in roles and "filler" not in roles)
        self._mentions = self._mentions or "mention" in roles
        if "mention" in roles:
            links.is_unclear = self._is_negated
            self._mark = None
        if not roles and not item.asked:
            links.left.append(item.text)
        return 1

    def _negate_state(self, at: int) -> frozenset[str]:
        """Return the roles of an item. "Not done" means open, and "no tasks" is kept."""
        roles, links = self._items[at].roles, self._links
        if not self._is_negated:
            return roles
        if "tasks" in roles:
            links.is_without_tasks, self._is_negated = True, False
        elif "done" in roles and not self._has_tasks_behind(at):
            self._is_negated = False
            return roles - {"done"} | {"open"}
        return roles

    def _has_tasks_behind(self, at: int) -> bool:
        return any("tasks" in item.roles for item in self._items[at + 1 : at + 3])

    def _join(self, roles: frozenset[str]) -> None:
        """Take "or" or "and": the word that announced the last condition holds for the next one.

        After "not A", "or B" means that neither is wanted. Whether "and B" is wanted is not said.
        """
        clauses = self._links.clauses
        if not clauses:
            self._links.is_unclear = self._links.is_unclear or "or" in roles
            return
        is_folder = clauses[-1][-1].key == "folder"
        self._mark, self._is_carried = "folder" if is_folder else self._last_mark, True
        if "or" in roles and clauses[-1][-1].is_negated:
            self._is_negated = True
        elif "or" in roles:
            self._is_alternative = True

    def _link_to_name_before(self) -> None:
        """Take a name before "link", as in the German "die auf Plan verlinken"."""
        links = self._links
        name = links.notes.pop()
        links.notes.clear()
        at = next((at for at, item in enumerate(self._items) if name in item.names), 0)
        before = self._items[at - 1].roles if at else frozenset()
        is_target = "towards" in before and at > 1
        self._add(_link_to(name) if is_target else _link_from(name))
        self._mark = None

    def _follows_name(self, item: Item) -> bool:
        """Return whether a name follows an item, maybe after words that say nothing."""
        at = next(at for at, each in enumerate(self._items) if each is item) + 1
        while at < len(self._items) and self._items[at].is_silent and not self._items[at].names:
            at += 1
        return at < len(self._items) and bool(self._items[at].names)

    def _take_marked(self, at: int) -> int:
        """Link the item that a word such as "tag" announces. Return 0 if it does not."""
        item, mark = self._items[at], self._mark
        if mark is None:
            return 0
        kind = "note" if mark in ("link", "linked_from") else mark
        if self._is_carried and self._is_place(at) and mark != "folder":
            self._mark = None
            return 0
        if names := item.list_names(kind):
            self._mark = None
            if mark == "link" and self._is_source(at):
                mark = "linked_from"
            self._add(*self._name_conditions(item, mark, names))
            return 1
        if item.is_silent or item.roles or item.is_given:
            return 0
        self._mark = None
        if mark == "links":
            return 0
        if self._is_carried or self._has_heads_before(at, mark):
            return 0
        if (key := _FREE.get(mark)) is None:  # a note that is not there, or another word
            self._links.is_unclear = True
            return 0
        self._add(Condition(key, item.text))
        return 1

    def _is_source(self, at: int) -> bool:
        """Return whether the notes are asked for that a named note links to."""
        before = self._items[at - 1].roles if at else frozenset()
        return "from" in before or self._asks_for_targets()

    def _has_heads_before(self, at: int, mark: str) -> bool:
        """Return whether the name stands before its mark, as in "the House folder"."""
        before = self._items[at - 2] if at >= 2 else None
        return mark == "folder" and before is not None and bool(before.list_names("folder"))

    def _take_value(self, at: int) -> int:
        """Link a value of the property that was named last. Return 0 if the item is none."""
        item, links = self._items[at], self._links
        for role, sign in _SIGNS.items():
            if role in item.roles:
                self._sign = sign
                return 1
        name = links.properties[-1]
        known = [each for each in item.list_names("value") if each.property == name]
        if item.text[0].isdecimal():
            number, used = self._read_number(at)
            return self._add_value(at, name, known[0].value if known else number, used)
        return self._add_value(at, name, known[0].value, 1) if known else 0

    def _take_measure(self, at: int) -> int:
        """Link a number before its property, as in "more than 4 servings". Return 0 if not so."""
        signs = [sign for role, sign in _SIGNS.items() if role in self._items[at].roles]
        number = at + 1 if signs else at
        behind = number + 1
        while behind < len(self._items) and self._items[behind].is_silent:
            behind += 1
        if behind >= len(self._items) or not self._items[number].text[0].isdecimal():
            return 0
        item = self._items[behind]
        is_thing = bool(item.list_names("tag") or item.list_names("folder"))
        if self._items[number].is_date or is_thing or not (named := item.list_names("property")):
            return 0
        self._sign = signs[0] if signs else "="
        self._links.properties.append(named[0].value)
        used = self._add_value(number, named[0].value, self._items[number].text, 1)
        return behind + used - at

    def _take_value_before(self, at: int) -> int:
        """Link a value before its property, as in "with active status". Return 0 if not so."""
        values = self._items[at].list_names("value")
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        named = after.list_names("property") if after is not None else ()
        for value in values:
            if any(name.value == value.property for name in named):
                self._links.properties.append(value.property)
                return 1 + self._add_value(at, value.property, value.value, 1)
        return 0

    def _read_number(self, at: int) -> tuple[str, int]:
        """Return a number with the unit behind it, and how many items they are."""
        item = self._items[at]
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        has_unit = after is not None and not (after.roles or after.names or after.is_date)
        return (f"{item.text} {after.text}", 2) if has_unit and after else (item.text, 1)

    def _add_value(self, at: int, name: str, value: str, used: int) -> int:
        """Add a condition on a property, with "or more" behind the value, and return its length."""
        after = self._items[at + used].roles if at + used < len(self._items) else frozenset()
        for role, sign in _SIGNS_BEHIND.items():
            if role in after:
                self._sign, used = sign, used + 1
        condition = parse_property(name, f"{self._sign}{value}", is_negated=self._is_negated)
        self._links.properties.pop()
        self._sign = "="
        if condition is not None:
            self._is_negated = False
            self._add_clause((condition,))
        return used

    def _name_conditions(
        self, item: Item, mark: str, names: Sequence[Name]
    ) -> tuple[Condition, ...]:
        """Return alternative conditions for the things of one kind that an item may name."""
        if mark == "link":
            return (_link_to(names[0]),)
        if mark == "linked_from":
            return (_link_from(names[0]),)
        if mark == "folder":
            is_own = any(are_alike(item.text, posixpath.basename(name.value)) for name in names)
            values = [item.text] if is_own and len(names) > 1 else [name.value for name in names]
            return tuple(Condition("folder", value) for value in values)
        exact = [name for name in names if fold(name.value) == fold(item.text)]
        return tuple(Condition("tag", name.value) for name in exact or names)

    def _choose_name(self, at: int) -> Name | None:
        """Choose which of the names of an item is meant by what stands around it."""
        item = self._items[at]
        order = ["note", "tag", "folder", "property", "value"]
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        if (after is not None and "folder" in after.roles and not item.is_given) or self._is_place(
            at
        ):
            order.insert(0, "folder")
        elif self._is_head(at):
            order = ["tag", "folder", "property", "note", "value"]
            if self._is_linked(at):
                order.insert(0, "note")
        elif item.list_names("property") and not item.list_names("note"):
            order.insert(0, "property")
        by_kind = (name for kind in order for name in item.list_names(kind))
        return next(by_kind, None)

    def _takes_name(self, at: int, name: Name) -> bool:
        """Return whether a name is meant, and not a word of the same form that has a role."""
        item = self._items[at]
        if not item.roles:
            return True
        if name.kind == "folder" and self._is_place(at):
            return True
        if name.kind == "value":
            is_state = bool(item.roles & _STATES) and "tasks" not in self._roles
            return is_state and bool(self._links.heads)
        if name.kind != "property" or fold(item.text) != fold(name.value):
            return False
        if item.roles & _STATES:
            return "tasks" not in self._roles and name.value in self._dated and bool(self._spans)
        return self._is_compared(at) or any(
            each.list_names("note") and not (each.roles or each.list_names("folder"))
            for each in self._items
        )

    def _is_linked(self, at: int) -> bool:
        """Return whether an item names a note whose links are asked for, as in "What does A link".

        In "Which recipes link to A", the first name says what is asked for.
        """
        before = self._items[at - 1].roles if at else frozenset()
        return "link" in self._roles and bool(before) and before.isdisjoint({"list", "count"})

    def _is_compared(self, at: int) -> bool:
        """Return whether a comparison or a number follows an item."""
        for item in self._items[at + 1 : at + 3]:
            if not item.is_date and (item.text[0].isdecimal() or item.roles & _SIGNS.keys()):
                return not item.list_names("folder")
            if not item.is_silent:
                return False
        return False

    def _is_place(self, at: int) -> bool:
        """Return whether an item names a folder and follows a word such as "in"."""
        if not self._items[at].list_names("folder"):
            return False
        before = at - 1
        while before >= 0 and self._items[before].is_silent:
            if "in" in self._items[before].roles:
                return True
            before -= 1
        return before >= 0 and bool(self._items[before].roles & {"in", "folder"})

    def _is_head(self, at: int) -> bool:
        """Return whether an item says what is asked for, as "recipes" in "How many recipes"."""
        before = at - 1
        while before >= 0 and self._items[before].is_silent:
            if "in" in self._items[before].roles:  # but "of" in "which of my recipes"
                return before > 0 and bool(self._items[before - 1].roles & {"list", "count"})
            before -= 1
        return before < 0 or bool(self._items[before].roles & {"list", "count", "what"})

    def _add_name(self, at: int, name: Name) -> None:
        item, links = self._items[at], self._links
        match name.kind:
            case "tag":
                links.heads += not item.is_given and self._is_head(at)
                conditions = self._name_conditions(item, "tag", item.list_names("tag"))
                self._add(*conditions, *self._list_bare_values(item))
            case "folder":
                links.heads += self._is_head(at)
                self._add(*self._name_conditions(item, "folder", item.list_names("folder")))
            case "note":
                links.notes += item.list_names("note")
            case "property":
                links.properties.append(name.value)
            case "value":
                self._add_bare_value(at)

    def _add_bare_value(self, at: int) -> None:
        """Add a value whose property is not named, such as "Jane Austen"."""
        item, links = self._items[at], self._links
        is_asked = item.text[:1].isupper() or links.heads or links.subject or self._is_head(at)
        if not is_asked or not (values := self._list_bare_values(item)):
            links.left.append(item.text)
            return
        links.heads += self._is_head(at)
        self._add(*values)

    def _list_bare_values(self, item: Item) -> tuple[Condition, ...]:
        """Return the conditions for a value whose property is not named, if it is of only one."""
        values = () if item.is_given else item.list_names("value")
        if len({each.property for each in values}) != 1 or item.text[:1].isdecimal():
            return ()
        return tuple(Condition("property", each.value, each.property) for each in values)

    def _add(self, *conditions: Condition) -> None:
        """Add alternative conditions. After "not", the notes must fulfil none of them."""
        if not self._is_negated:
            self._add_clause(conditions)
            return
        self._is_negated = False
        for condition in conditions:
            self._links.clauses.append((replace(condition, is_negated=True),))

    def _add_clause(self, clause: tuple[Condition, ...]) -> None:
        before = self._links.clauses.pop() if self._is_alternative and self._links.clauses else ()
        self._links.clauses.append((*before, *clause))
        self._is_alternative = False


def _link_to(name: Name) -> Condition:
    stem = posixpath.basename(drop_note_suffix(name.value))
    return Condition("link", stem)


def _link_from(name: Name) -> Condition:
    return Condition("linked-from", posixpath.basename(drop_note_suffix(name.value)))
