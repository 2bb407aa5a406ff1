"""Link the items of a question to conditions on notes, days, and kinds of tasks."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, Literal

from vault.notes.date_spans import Span
from vault.notes.keywords import FUNCTION_WORDS, fold
from vault.questions.date_links import DateLinker
from vault.questions.days import LIMITS
from vault.questions.links import (
    MARKS,
    STATES,
    Links,
    Mark,
    join_limits,
    link_from,
    link_to,
    list_bare_values,
    list_conditions,
)
from vault.questions.naming import is_of_kind, list_own_values
from vault.questions.surroundings import SIGNS, Surroundings, asks_in_which
from vault.questions.tokens import Item
from vault.questions.values import ValueLinker
from vault.questions.vocabulary import Name, VaultNames
from vault.questions.words import (
    are_alike,
    list_date_words,
    list_nothing_words,
    list_opposites,
    list_same_states,
)
from vault.search.conditions import (
    ANY_DAY,
    ANY_VALUE,
    TICKED,
    Condition,
)

__all__ = ["link_items"]

# What a note has or lacks if no name follows, as in "without tags".
_PARTS: Final = {"tag": "tag", "links": "link"}
# What may be named that the vault does not have.
_FREE: Final[dict[str, Literal["tag", "folder"]]] = {"tag": "tag", "folder": "folder"}
# Roles that may stand between "not" or "or" and the condition that it is said of.
_ANNOUNCING: Final = frozenset({"not", "or", "and", "in", "tasks", *STATES, *MARKS})
_MOST_IN_DUE_DATE: Final = 3


def link_items(items: Sequence[Item], spans: Sequence[Span], vocabulary: VaultNames) -> Links:
    """Link the items of a question.

    Args:
        spans: the dates that the question names, as ranges of days.
        vocabulary: the names in the vault.
    """
    return _Linker(items, spans, vocabulary).link()


class _Linker:
    """Links items one by one, keeping what the ones before them announce."""

    def __init__(self, items: Sequence[Item], spans: Sequence[Span], vocabulary: VaultNames):
        self._items = items
        self._spans = spans
        self._vocabulary = vocabulary
        self._around = Surroundings(items)
        self._links = Links(asks_to_explain=self._around.asks_to_explain())
        self._values = ValueLinker(items, self._around, self._links, vocabulary)
        self._mark: Mark | None = None
        self._is_asked = False
        self._mentions = False
        self._mentioned: list[Item] = []
        self._is_carried = False
        self._is_shared = False
        self._last_mark: Mark | None = None
        self._last_added = -1

    def link(self) -> Links:
        at = 0
        while at < len(self._items):
            at += self._take_in_scope(at)
        self._end_mark()
        links = self._links
        DateLinker(self._items, self._spans, self._around, links, self._vocabulary).link()
        links.clauses = join_limits(links.clauses)
        is_waiting = links.is_negated or links.is_alternative or self._mark is not None
        is_waiting = is_waiting or self._values.is_waiting
        if is_waiting or self._has_lone_comparison() or self._around.asks_yes_or_no():
            links.is_unclear = True
        self._link_words()
        if self._around.asks_to_arrange() and not (links.clauses or links.spans):
            links.asks_to_explain = True  # as "Sort notes by date"
        return links

    def _link_words(self) -> None:
        """Link the words behind one such as "mention"."""
        links = self._links
        while self._mentioned and self._mentioned[-1].is_silent:
            self._mentioned.pop()
        while self._mentioned and self._mentioned[0].is_silent:
            self._mentioned.pop(0)
        links.words = [item.text for item in self._mentioned]
        if self._mentions and not links.words:  # as in "In how many notes is … mentioned?"
            links.words, links.left = links.left, []
        if self._mentions and not links.words and links.notes and asks_in_which(self._items):
            links.is_unclear = True  # as in "In which notes of May is Anna mentioned?"
        elif self._mentions and not links.words and links.notes:
            links.add(link_from(links.notes.pop()))  # "Which notes does Plan mention?"

    def _end_mark(self) -> None:
        """Link a word such as "tags" that no name follows: the notes have it, or do not."""
        links = self._links
        if self._mark == "tag" and self._is_asked:
            links.asks_tags, self._mark = True, None
        if self._is_carried and self._mark in _PARTS:
            self._mark = None  # as in "links or tasks": the word was not said again
        if self._mark in _PARTS and (links.subject or links.heads):
            links.is_unclear |= self._is_shared
            links.add(Condition("has", _PARTS[self._mark]))
            self._mark = None

    def _take_in_scope(self, at: int) -> int:
        """Link the item at a position, and return how many items were used.

        "Not" and "or" are said of the condition that follows them at once, perhaps behind a word
        such as "tag". If something else follows, nothing can be claimed of the question.
        """
        links, item = self._links, self._items[at]
        pending, before = (links.is_negated, links.is_alternative), list(links.clauses)
        is_announcing = item.is_silent or bool(item.roles.intersection(_ANNOUNCING))
        used = self._take(at)
        if links.clauses != before:
            self._check_joined(at, before)
            self._last_added = at
        elif any(pending) and pending == (links.is_negated, links.is_alternative):
            is_named = bool(links.properties) and not item.roles
            links.is_unclear = links.is_unclear or not (is_announcing or is_named)
        return used

    def _check_joined(self, at: int, before: Sequence[tuple[Condition, ...]]) -> None:
        """Make a question unclear that does not say how a new condition belongs to the last one.

        That is so for names in a row, as in "in A, B or C", and for "and" behind "not". Of tags in
        a row without a comma, as in "vegan recipes", the notes have all.

        Args:
            at: the position of the item with the new condition.
            before: the clauses without the new condition.
        """
        if not before:
            return
        item, last, new = self._items[at], before[-1][-1], self._links.clauses[-1][-1]
        joins = self._around.list_roles(at - 1)
        is_in_a_row = self._last_added == at - 1 and last.key == new.key and not item.is_given
        is_in_a_row = is_in_a_row and (item.is_apart or new.key != "tag")
        is_in_a_row = is_in_a_row and not (last.name == new.name and new.comparison == "!=")
        is_in_a_row = is_in_a_row and new.key != "path"  # as in "except A, B and C"
        is_after_not = last.is_negated and not new.is_negated and "and" in joins
        is_other_value = self._excludes(last, new)
        is_other_value = is_other_value and "and" in joins and not item.is_given
        is_of_folder = last.key == "folder" and not joins.isdisjoint(("and", "or"))
        is_other = is_of_folder and ("and" in joins or new.key != "folder")
        is_other = (is_other and not last.is_negated) or is_other_value
        if is_in_a_row or is_after_not or is_other:
            self._links.is_unclear = True

    def _excludes(self, last: Condition, new: Condition) -> bool:
        """Return whether no note fulfils two conditions, as in "trips and books"."""
        if last.is_negated or new.is_negated:
            return False
        if last.key == new.key == "tag" and "tag" not in self._links.roles:
            return not self._vocabulary.has_both_tags(last.value, new.value)
        is_equal = last.comparison == new.comparison == "=" and not (last.also or new.also)
        is_same = bool(new.name) and last.name == new.name
        return is_equal and is_same and self._vocabulary.is_of_one_value(new.name)

    def _has_lone_comparison(self) -> bool:
        """Return whether a comparison, or a date beside a property, became no condition."""
        links = self._links
        is_compared = any(self._is_lone_sign(item) for item in self._items)
        is_compared = is_compared or "other_sign" in self._around.roles
        is_timed = bool(links.roles & LIMITS - {"until", "since"}) and not links.spans
        is_timed = is_timed or ("created" in links.roles and bool(links.spans))
        return is_compared or is_timed or bool(links.properties and links.spans)

    def _is_lone_sign(self, item: Item) -> bool:
        """Return whether an item is a comparison that was not used. "Under" may mean a folder."""
        if self._links.roles.isdisjoint(item.roles.intersection(SIGNS)):
            return False
        if "mention" in item.roles and self._mentions:
            return False  # as the German "über"
        has_property = any(each.name for clause in self._links.clauses for each in clause)
        return "in" not in item.roles or has_property

    def _take(self, at: int) -> int:
        """Link the item at a position, and return how many items were used."""
        item = self._items[at]
        if item.is_date:
            return 1
        if self._take_mentioned(at):
            return 1
        if self._mark in _PARTS and self._around.is_place(at):
            self._end_mark()
        if self._mark and (used := self._take_marked(at)):
            return used
        if used := self._take_undated(at) or self._values.take(at):
            return used
        if self._around.is_wished_state(at):
            self._links.left.append(item.text)
            return 1
        is_of_other = self._around.is_state_of_other(at)
        self._links.is_of_other |= is_of_other
        self._links.is_unclear |= is_of_other and self._links.is_negated
        name = self._choose_name(at)
        if name is not None and self._takes_name(at, name):
            self._add_name(at, name)
            return 1
        return self._take_opposite(at) or self._take_role(at)

    def _take_undated(self, at: int) -> int:
        """Link the words for a due date that tasks do not have, as in "tasks without a due date".

        Return 0 if there is none.
        """
        links, dates = self._links, list_date_words("due_date")
        if not (links.is_negated and "tasks" in self._around.roles):
            return 0
        folded = [fold(item.text) for item in self._items[at : at + _MOST_IN_DUE_DATE]]
        used = next((n for n in range(len(folded), 0, -1) if " ".join(folded[:n]) in dates), 0)
        if used:
            links.add(Condition("due", ANY_DAY))
            if "done" not in self._around.roles:
                links.roles.add("open")
        return used

    def _take_opposite(self, at: int) -> int:
        """Link a word whose opposite the vault has, as "not paid" or "unpaid" to "paid: false".

        A value of a property may say the same in another language, as "paid" for the German
        "bezahlt". After "not", one may say the opposite, as "unpaid". Return 0 if there is none.
        """
        item, links = self._items[at], self._links
        if self._is_state_of_notes(at) and self._take_state(at):
            return 1
        if item.roles or item.names or not (links.heads or links.subject or self._is_summed(at)):
            return 0
        names = self._find_all(list_opposites(item.text))
        ticked = {each.value for each in names if each.kind == "property"}
        if ticked and self._vocabulary.ticked.issuperset(ticked):
            links.is_negated = not links.is_negated
            links.add(*(Condition("property", TICKED, name) for name in sorted(ticked)))
            return 1
        if self._take_state(at):
            return 1
        if not links.is_negated:
            return 0
        links.is_negated = False
        links.is_negated = not self._add_state(names, at)
        return int(not links.is_negated)

    def _is_state_of_notes(self, at: int) -> bool:
        """Return whether a word is said of the notes asked for, as in "finished projects".

        A word such as "finished" is also said of tasks, and with a day of what was done on it.
        """
        item, links = self._items[at], self._links
        if item.names or item.asked or not item.roles <= STATES:
            return False
        if not item.roles:
            return self._around.is_before_thing(at)
        is_of_notes = bool(links.heads) or self._around.is_before_thing(at)
        return is_of_notes and "tasks" not in self._around.roles and not self._spans

    def _take_state(self, at: int) -> int:
        """Link a word that says a value of a property in other words. Return 0 if there is none."""
        is_head = self._around.is_head(at)
        same = list_same_states(self._items[at].text, self._around.languages)
        if not self._add_state(self._find_all(same), at):
            return 0
        self._links.heads += is_head
        self._links.is_translated = True
        return 1

    def _find_all(self, texts: Collection[tuple[str, ...]]) -> list[Name]:
        return [name for words in sorted(texts) if words for name in self._vocabulary.find(words)]

    def _add_state(self, names: Sequence[Name], at: int) -> bool:
        """Add a condition for the values among some names, if one property has all of them.

        Of several, it must be the only one that the notes asked for have.
        """
        values = {each for each in names if each.kind == "value"}
        if len({each.property for each in values}) > 1:
            own = self._list_own_properties(at)
            values = {each for each in values if each.property in own}
        if len({each.property for each in values}) != 1:
            return False
        found = sorted(values, key=lambda each: each.value)
        self._links.add(*(Condition("property", each.value, each.property) for each in found))
        return True

    def _list_own_properties(self, at: int) -> set[str]:
        """Return the properties of the notes that a word may be said of, before or behind it."""
        kinds = [clause for clause in self._links.clauses if is_of_kind(clause)]
        if self._around.is_before_thing(at):
            item = self._items[at + 1]
            kind = "tag" if item.list_names("tag") else "folder"
            kinds.append(list_conditions(item, kind, item.list_names(kind)))
        return {*list_own_values(kinds, self._vocabulary)} if kinds else set()

    def _take_mentioned(self, at: int) -> bool:
        """Take an item as one of the words that notes mention, and return whether it is one."""
        item, links = self._items[at], self._links
        is_begun = not all(each.is_silent for each in self._mentioned)
        if self._mentions and not is_begun and "folder" in item.roles:
            self._mentioned.clear()
            self._mentions = False  # as in "How many notes does the folder … contain"
        if self._mentions and is_begun and item.roles.intersection(MARKS):
            self._mentions = False  # the words end, as in "mention Kiel with the tag person"
        if not self._mentions or self._around.is_place(at):
            return False
        is_joined = bool(item.roles & {"or", "unequal"})
        is_joined = is_joined or ("not" in item.roles and "filler" not in item.roles)
        links.is_unclear = links.is_unclear or is_joined
        self._mentioned.append(item)
        return True

    def _take_role(self, at: int) -> int:
        item, links = self._items[at], self._links
        roles = self._negate_state(at)
        for subject in ("notes", "tasks"):
            if subject in roles and not links.subject:
                links.subject = subject
        links.roles |= roles
        links.asked |= item.asked
        links.unknown += [item.text] if item.asked and not (item.names or roles) else []
        links.states += [item.text] if roles & STATES and not item.is_silent else []
        is_open = not (self._is_asked or self._is_carried or self._around.is_before_name(at))
        if is_open and (item.is_apart or roles & {"or", "and", "lacking"}):
            self._end_mark()  # as in "links, tags and tasks"
        if roles & {"or", "and"} and "filler" not in roles - {"and"}:
            if not ("or" in roles and self._is_between_dates(at)):
                self._join(roles)
        else:
            self._take_mark(at, roles)
        if "link" in roles and links.notes and not self._around.is_before_name(at):
            self._link_to_name_before()
        self._is_shared = self._may_share_negation(roles)
        links.is_unclear |= self._is_doubtful(at, roles)
        if "not" in roles and links.is_negated:
            self._end_mark()  # as in "no tags and no links"
        is_exception = "except" in roles and self._around.is_before_note(at)
        is_not = is_exception or ("not" in roles and "filler" not in roles)
        links.is_negated = links.is_negated or is_not
        self._mentions = self._mentions or "mention" in roles
        if "mention" in roles:
            links.is_unclear = links.is_unclear or links.is_negated
            self._mark = None
        if (roles <= {"more"} and not item.asked) or "extreme" in roles:
            links.left.append(item.text)
        return 1

    def _may_share_negation(self, roles: frozenset[str]) -> bool:
        """Return whether "not" may be said of the next part too, as in "without tags and links"."""
        if "and" in roles and self._links.clauses:
            last = self._links.clauses[-1][-1]
            return last.is_negated and last.key == "has"
        return self._is_shared and roles.isdisjoint(("having", "not"))

    def _is_doubtful(self, at: int, roles: frozenset[str]) -> bool:
        """Return whether it is not said what is excluded, as by "but" in "all notes but books"."""
        around = self._around
        is_before_other = around.is_before_name(at) and not around.is_before_note(at)
        return ("except" in roles and is_before_other) or (self._is_shared and "tasks" in roles)

    def _take_mark(self, at: int, roles: frozenset[str]) -> None:
        """Take a word such as "tag" or "links to", which announces a name.

        A verb such as the German "verlinkt" has the note before it that links, or that is linked
        to. With a name behind it, that note links.
        """
        marked = next((mark for mark in MARKS if mark in roles), None)
        if marked is None:
            return
        if marked == "link" and "linked_from" in roles and self._around.is_before_name(at):
            marked = "linked_from"
        is_behind = self._around.is_behind_folder(at + 1, marked)
        self._mark = None if is_behind else marked
        self._is_asked = self._around.is_head(at)
        self._last_mark, self._is_carried = marked, False

    def _negate_state(self, at: int) -> frozenset[str]:
        """Return the roles of an item. "Not done" means open, and "no tasks" is kept."""
        roles, links = self._items[at].roles, self._links
        if not links.is_negated:
            return roles
        if "tasks" in roles:
            links.is_without_tasks, links.is_negated = True, False
        elif "done" in roles and not self._around.is_before_tasks(at):
            links.is_negated = False
            return roles - {"done"} | {"open"}
        return roles

    def _is_between_dates(self, at: int) -> bool:
        """Return whether an item stands between dates, of which one is enough in any case."""
        behind = next((item for item in self._items[at + 1 :] if not item.is_silent), None)
        is_behind_one = at > 0 and self._items[at - 1].is_date
        return is_behind_one and behind is not None and behind.is_date

    def _join(self, roles: frozenset[str]) -> None:
        """Take "or" or "and": the word that announced the last condition holds for the next one.

        After "not A", "or B" means that neither is wanted. Whether "and B" is wanted is not said.
        """
        links = self._links
        if not links.clauses:
            links.is_unclear = links.is_unclear or "or" in roles
            return
        last = links.clauses[-1][-1]
        self._mark = "folder" if last.key == "folder" else self._last_mark
        self._is_carried = True
        if "or" in roles and last.is_negated:
            links.is_negated = True
        elif "or" in roles:
            links.is_alternative = True

    def _link_to_name_before(self) -> None:
        """Take a name before "link", as in the German "die auf Plan verlinken"."""
        links = self._links
        name = links.notes.pop()
        links.notes.clear()
        at = next((at for at, item in enumerate(self._items) if name in item.names), 0)
        is_target = "towards" in self._around.list_roles(at - 1) and at > 1
        links.add(link_to(name) if is_target else link_from(name))
        self._mark = None

    def _take_marked(self, at: int) -> int:
        """Link the item that a word such as "tag" announces. Return 0 if it does not."""
        item, mark = self._items[at], self._mark
        if mark is None:
            return 0
        kind = "note" if mark in ("link", "linked_from") else mark
        if self._is_carried and self._around.is_place(at) and mark != "folder":
            self._mark = None
            return 0
        if names := item.list_names(kind):
            self._mark = None
            self._add_marked(at, mark, names)
            return 1
        if item.is_silent or item.roles or item.is_given:
            return 0
        if mark == "tag" and self._is_asked:
            self._end_mark()  # as in "Which tags does the oven have?"
            return 0
        self._mark = None
        if mark == "links" or self._is_carried or self._around.is_behind_folder(at, mark):
            return 0
        # As in "tags although no links".
        is_joining = fold(item.text) in FUNCTION_WORDS or "not" in self._around.list_roles(at + 1)
        key = None if is_joining else _FREE.get(mark)
        if key is None:  # a note that is not there, or another word
            self._links.is_unclear = True
            return 0
        self._links.names_unknown = True
        self._links.add(Condition(key, item.text))
        return 1

    def _add_marked(self, at: int, mark: Mark, names: Sequence[Name]) -> None:
        """Add what a word such as "tag" announces."""
        if mark == "property":
            self._add_property(at)
            return
        if mark == "tag":
            self._mark_translated(at)
        if mark == "link" and self._around.is_source(at):
            mark = "linked_from"
        self._links.add(*list_conditions(self._items[at], mark, names))

    def _is_excepted(self, at: int) -> bool:
        """Return whether an item is an exception, as the last words of "all films except Tenet"."""
        links, joins = self._links, self._around.list_roles(at - 1) & {"and", "or"}
        last = links.clauses[-1][-1] if links.clauses else None
        is_next = last is not None and last.key == "path" and last.is_negated
        is_next = is_next and bool(joins or self._items[at].is_apart)
        return is_next or (links.is_negated and self._around.is_excepted(at))

    def _except_notes(self, names: Sequence[Name]) -> None:
        """Leave out some notes by their paths, or claim nothing if others have them in theirs."""
        links, paths = self._links, self._vocabulary.names_of
        links.is_negated = links.is_alternative = False
        for name in names:
            links.clauses.append((Condition("path", name.value, is_negated=True),))
            links.is_unclear |= sum(fold(name.value) in fold(path) for path in paths) > 1

    def _choose_name(self, at: int) -> Name | None:
        """Choose which of the names of an item is meant.

        A note that is a value too, as a person in "Which meetings did Sofia attend", is one where
        notes are asked for by it, or summed up, as in "the total of the bills of Sofia".
        """
        item, roles = self._items[at], self._around.roles
        is_of_several = bool(self._links.clauses) and not roles.isdisjoint(("total", "mean"))
        is_of_notes = (self._links.heads or is_of_several) and "link" not in roles
        is_of_notes = is_of_notes and not self._is_excepted(at)
        name = self._around.choose_name(at)
        if name is None or name.kind != "note" or not is_of_notes:
            return name
        values = item.list_names("value")
        return values[0] if values and list_bare_values(item) else name

    def _takes_name(self, at: int, name: Name) -> bool:
        """Return whether a name is meant, and not a word of the same form that has a role."""
        item = self._items[at]
        if not item.roles:
            return True
        if name.kind == "folder" and self._around.is_place(at):
            return True
        if name.kind == "value":
            is_state = bool(item.roles & STATES) and "tasks" not in self._around.roles
            return is_state and (bool(self._links.heads) or self._around.is_before_thing(at))
        if name.kind != "property":
            return False
        if item.roles <= {"filler"} and (self._around.is_had(at) or self._links.is_negated):
            return True
        return self._around.is_state_named(at, self._vocabulary.dated, has_days=bool(self._spans))

    def _add_name(self, at: int, name: Name) -> None:
        item, links = self._items[at], self._links
        match name.kind:
            case "tag":
                links.heads += not item.is_given and self._around.is_head(at)
                self._mark_translated(at)
                conditions = list_conditions(item, "tag", item.list_names("tag"))
                links.add(*conditions, *list_bare_values(item))
            case "folder":
                links.heads += self._around.is_head(at)
                links.add(*list_conditions(item, "folder", item.list_names("folder")))
            case "note" if self._is_excepted(at):
                self._except_notes(item.list_names("note"))
            case "note":
                links.notes += item.list_names("note")
                links.texts |= dict.fromkeys(item.list_names("note"), item.text)
            case "property":
                self._add_property(at)
            case "value":
                self._add_bare_value(at)

    def _mark_translated(self, at: int) -> None:
        """Note that no tag has the name that is written, but only another word for it."""
        item = self._items[at]
        levels = (name.value.split("/")[-1] for name in item.list_names("tag"))
        is_own = item.is_given or any(are_alike(item.text, level) for level in levels)
        links = self._links
        links.is_translated = links.is_translated or not is_own

    def _add_property(self, at: int) -> None:
        """Add a property, whose value may follow. Else notes have it, or lack it."""
        named = self._items[at].list_names("property")
        names = tuple(dict.fromkeys(each.value for each in named))
        if self._is_part(at, names):
            is_marked = "property" in self._around.list_roles(at - 1)
            is_ticked = not is_marked and self._vocabulary.ticked.issuperset(names)
            is_half = not (is_marked or self._vocabulary.half_ticked.isdisjoint(names))
            self._links.is_unclear = self._links.is_unclear or is_half  # as "read: no" and a day
            # As in "a published year before 1900".
            is_followed = at + 1 < len(self._items) and self._items[at + 1].list_names("property")
            self._links.is_unclear |= bool(is_followed)
            if is_marked or is_ticked:
                value = TICKED if is_ticked else ANY_VALUE
                self._links.add(*(Condition("property", value, name) for name in names))
            else:
                self._add_having(names)
        else:
            self._links.properties.append(names)
            self._links.texts[named[0]] = self._items[at].text

    def _add_having(self, names: Sequence[str]) -> None:
        """Add the condition that notes have a property, or lack it.

        A note with `children: none` has none.
        """
        links, nothing = self._links, list_nothing_words()
        is_negated, links.is_negated = links.is_negated, False
        having = [Condition("property", ANY_VALUE, name) for name in names]
        lacking = [
            Condition("property", value, name)
            for name in names
            for value in sorted(self._vocabulary.list_values(name))
            if fold(value) in nothing
        ]
        if not is_negated:
            links.add(*having)
            links.clauses += [(replace(each, is_negated=True),) for each in lacking]
            return
        links.is_alternative = False
        for each in having:
            same = (other for other in lacking if other.name == each.name)
            links.clauses.append((replace(each, is_negated=True), *same))

    def _is_part(self, at: int, names: Sequence[str]) -> bool:
        """Return whether notes are asked for that have a property, or lack it.

        Args:
            at: the position of its name.
            names: the properties that it may name.
        """
        if self._values.is_awaited(at, names) or self._around.names_note():
            return False
        if self._spans and any(map(self._vocabulary.holds_days, names)):
            return False
        is_named = "property" in self._around.list_roles(at - 1) or self._links.is_negated
        is_true = bool(self._links.heads) and self._vocabulary.ticked.issuperset(names)
        return is_named or is_true or self._around.is_had(at)

    def _is_verb(self, at: int) -> bool:
        """Return whether a word behind "what" is only like a value, as "pay" is like "payé"."""
        text = fold(self._items[at].text)
        values = self._items[at].list_names("value")
        return "what" in self._links.roles and all(fold(each.value) != text for each in values)

    def _is_summed(self, at: int) -> bool:
        """Return whether an item stands before the notes of which a sum or mean is asked."""
        is_of_several = not self._around.roles.isdisjoint(("total", "mean"))
        return is_of_several and self._around.is_before_thing(at)

    def _add_bare_value(self, at: int) -> None:
        """Add a value whose property is not named, such as "Jane Austen"."""
        item, links = self._items[at], self._links
        is_head = self._around.is_head(at) and not self._is_verb(at)
        is_asked = item.text[:1].isupper() or links.heads or links.subject or is_head
        is_asked = is_asked or self._is_summed(at)  # as in "What do the unpaid bills cost in all"
        values = list_bare_values(item)
        if item.is_state and "tasks" in self._around.roles:
            values = ()  # as in "tasks in progress", which no property of a note tells
        if not is_asked or not values:
            links.left.append(item.text)
            return
        links.is_translated |= item.is_state
        links.heads += is_head
        links.add(*values)
