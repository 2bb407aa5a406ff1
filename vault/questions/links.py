"""What a question is linked to: conditions on notes, days, words, and kinds of tasks."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

from vault.notes.date_spans import Span
from vault.notes.keywords import fold
from vault.notes.kinds import drop_note_suffix
from vault.questions.tokens import Item
from vault.questions.vocabulary import Name
from vault.questions.words import are_alike
from vault.search.conditions import Condition, compare_values

__all__ = [
    "MARKS",
    "STATES",
    "Links",
    "Mark",
    "join_limits",
    "link_from",
    "link_to",
    "list_bare_values",
    "list_conditions",
]

Mark = Literal["tag", "folder", "link", "linked_from", "links", "property"]
MARKS: Final[tuple[Mark, ...]] = get_args(Mark)
STATES: Final = frozenset({"open", "done", "due", "overdue"})


@dataclass(slots=True)
class Links:
    """What the items of a question are linked to.

    Attributes:
        clauses: the conditions on notes. Of each clause, at least one must be fulfilled.
        heads: how many conditions say what is asked for, as "recipes" in "How many recipes".
        notes: the notes that are named, but not as the target of a link.
        texts: the words that name each note, and each property without a value.
        properties: the properties that are named without a value. Of several that one word may
            mean, any is meant.
        asked: words for properties that the question asks for.
        unknown: the words of the question for properties that no note has.
        roles: the roles of all phrases.
        spans: the days that a note must be dated with.
        words: the words that a note must hold.
        states: the words for the state of tasks.
        left: the words that are linked to nothing and have no role.
        subject: what the question asks for first, "notes" or "tasks", or an empty string.
        is_translated: whether a tag is meant by another word, as "rezept" by "recipes".
        is_of_other: whether a state may be said of a word that is linked to nothing.
        is_dated: whether the days are those of a property, as in "a birthday in May".
        asks_for_day: whether a verb such as "born" names that property.
        names_unknown: whether a tag or folder is named that the vault does not have.
        is_without_tasks: whether "no" is said of the tasks.
        is_unclear: whether the question says something that no condition can say, such as "not" of
            a day, or "or" between words.
        asks_to_explain: whether the question begins with a word such as "how" or "why", or is an
            order such as "sort", which does not say what of.
        asks_tags: whether the tags are asked for that something has.
        is_negated: whether "not" waits for the condition that it is said of.
        is_alternative: whether "or" waits for the condition that it joins to the last one.
    """

    clauses: list[tuple[Condition, ...]] = field(default_factory=list)
    heads: int = 0
    notes: list[Name] = field(default_factory=list)
    texts: dict[Name, str] = field(default_factory=dict)
    properties: list[tuple[str, ...]] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)
    roles: set[str] = field(default_factory=set)
    spans: list[Span] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    subject: Literal["", "notes", "tasks"] = ""
    is_translated: bool = False
    is_of_other: bool = False
    is_dated: bool = False
    asks_for_day: bool = False
    names_unknown: bool = False
    is_without_tasks: bool = False
    is_unclear: bool = False
    asks_to_explain: bool = False
    asks_tags: bool = False
    is_negated: bool = False
    is_alternative: bool = False

    def add(self, *conditions: Condition) -> None:
        """Add alternative conditions. After "not", the notes must fulfil none of them."""
        if self.is_negated:
            self.is_negated = False
            self.clauses += [(replace(each, is_negated=True),) for each in conditions]
            return
        before = self.clauses.pop() if self.is_alternative and self.clauses else ()
        self.clauses.append((*before, *conditions))
        self.is_alternative = False


def join_limits(clauses: Sequence[tuple[Condition, ...]]) -> list[tuple[Condition, ...]]:
    """Join two limits of a property, as in "above 3 and below 5", which one value must fulfil."""
    joined = list[tuple[Condition, ...]]()
    for clause in clauses:
        pairs = (_join_limits(other, clause) for other in joined)
        at, pair = next(
            ((at, each) for at, each in enumerate(pairs) if each), (len(joined), clause)
        )
        joined[at : at + 1] = [pair]
    return joined


def _join_limits(
    clause: Sequence[Condition], other: Sequence[Condition]
) -> tuple[Condition, ...] | None:
    """Return the ranges between two limits, or None if they are not the two ends of ranges."""
    if [each.name for each in clause] != [each.name for each in other]:
        return None
    ranges = tuple(_join_ends(*pair) for pair in zip(clause, other, strict=True))
    known = tuple(each for each in ranges if each is not None)
    return known if len(known) == len(ranges) else None


def _join_ends(first: Condition, last: Condition) -> Condition | None:
    low, high = sorted((first, last), key=lambda each: each.comparison, reverse=True)
    is_pair = low.comparison[0] == ">" and high.comparison[0] == "<"
    if not is_pair or low.is_negated or high.is_negated or low.also or high.also:
        return None
    return replace(low, also=high) if compare_values(high.value, low) else None


def link_to(name: Name) -> Condition:
    """Return the condition that a note links to a named one."""
    return Condition("link", _cut_stem(name))


def link_from(name: Name) -> Condition:
    """Return the condition that a named note links to a note."""
    return Condition("linked-from", _cut_stem(name))


def _cut_stem(name: Name) -> str:
    return posixpath.basename(drop_note_suffix(name.value))


def list_conditions(item: Item, mark: str, names: Sequence[Name]) -> tuple[Condition, ...]:
    """Return alternative conditions for the things of one kind that an item may name.

    Args:
        mark: the kind of condition, such as `tag`.
        names: what the item names of this kind.
    """
    if mark == "link":
        return (link_to(names[0]),)
    if mark == "linked_from":
        return (link_from(names[0]),)
    if mark == "folder":
        is_own = any(are_alike(item.text, posixpath.basename(name.value)) for name in names)
        values = [item.text] if is_own and len(names) > 1 else [name.value for name in names]
        return tuple(Condition("folder", value) for value in values)
    exact = [name for name in names if fold(name.value) == fold(item.text)]
    return tuple(Condition("tag", name.value) for name in exact or names)


def list_bare_values(item: Item) -> tuple[Condition, ...]:
    """Return the conditions for a value whose property is not named, if it is of only one."""
    values = () if item.is_given else item.list_names("value")
    if len({each.property for each in values}) != 1 or item.is_number:
        return ()
    return tuple(Condition("property", each.value, each.property) for each in values)
