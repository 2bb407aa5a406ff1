"""Tell what an item of a question means by what stands around it."""

from collections.abc import Collection, Sequence
from typing import Final

from vault.notes.keywords import fold
from vault.questions.links import STATES
from vault.questions.tokens import Item
from vault.questions.vocabulary import Name
from vault.questions.words import (
    begins_with_in,
    find_languages,
    find_roles,
    list_named_states,
    list_wish_words,
    split_words,
)
from vault.search.conditions import Comparison

__all__ = ["SIGNS", "Surroundings", "asks_in_which"]

SIGNS: Final[dict[str, Comparison]] = {
    "at_least": ">=",
    "at_most": "<=",
    "above": ">",
    "below": "<",
    "exactly": "=",
    "unequal": "!=",
}
_EXCEPTING: Final = frozenset({"except", "excepting"})
# Roles that end the words before an exception, as that of "of" in "except those of Sofia".
_ENDS: Final = _EXCEPTING | {"in", "from", "towards", "having"}
_NO_ROLES: Final = frozenset[str]()


def asks_in_which(items: Sequence[Item]) -> bool:
    """Return whether a question begins or ends with a word such as "in".

    "In which notes is Anna mentioned" and "Which notes is Anna mentioned in" ask for the notes that
    mention her, and not for those that her note mentions.

    Args:
        items: the items of the question.
    """
    return bool(items) and (begins_with_in(items[0].text) or "in" in items[-1].roles)


class Surroundings:
    """The items of a question, with what stands before and behind each of them."""

    def __init__(self, items: Sequence[Item]):
        self._items = items
        self.roles = _NO_ROLES.union(*(item.roles for item in items))
        self.languages = find_languages(split_words(" ".join(item.text for item in items)))

    def list_roles(self, at: int) -> frozenset[str]:
        """Return the roles of the item at a position, or none where there is no item."""
        return self._items[at].roles if 0 <= at < len(self._items) else _NO_ROLES

    def find_behind(self, at: int) -> Item | None:
        """Return the item behind a position, or None."""
        return self._items[at + 1] if at + 1 < len(self._items) else None

    def asks_yes_or_no(self) -> bool:
        """Return whether the question begins with a verb, as in "Is every task done"."""
        first = self.list_roles(0)
        return "yes_no" in first and "list" not in first

    def asks_to_explain(self) -> bool:
        """Return whether the question begins with a word such as "how" or "why".

        "How many" counts, and "how big" asks for a value.
        """
        first = next((item for item in self._items if "and" not in item.roles), None)
        if first is None or first.roles & {"list", "count"}:
            return False
        if "explain" in first.roles:
            return True
        return bool(first.asked) and "explain" in find_roles(first.text.partition(" ")[0])

    def is_half_range(self) -> bool:
        """Return whether only the first of two years is read as a date: "from 2024 to 2025"."""
        return any(
            item.is_date and "to" in self.list_roles(at + 1) and self._items[at + 2].is_number
            for at, item in enumerate(self._items[:-2])
        )

    def asks_to_arrange(self) -> bool:
        """Return whether the question begins or ends with an order such as "sort"."""
        ends = (*self._items[:1], *self._items[-1:])
        return any("arrange" in item.roles for item in ends)

    def asks_for_targets(self) -> bool:
        """Return whether the notes are asked for that a note links to, as "to which notes"."""
        return "towards" in self.list_roles(0) and "link" in self.roles

    def is_source(self, at: int) -> bool:
        """Return whether the notes are asked for that a named note links to."""
        return "from" in self.list_roles(at - 1) or self.asks_for_targets()

    def is_behind_folder(self, at: int, mark: str) -> bool:
        """Return whether the name stands before its mark, as in "the House folder"."""
        before = self._items[at - 2] if at >= 2 else None
        return mark == "folder" and before is not None and bool(before.list_names("folder"))

    def is_before_name(self, at: int) -> bool:
        """Return whether a name follows an item, maybe after words that say nothing."""
        item = self.find_telling(at)
        return item is not None and bool(item.names)

    def is_before_note(self, at: int) -> bool:
        """Return whether the name of a note, and of nothing else, follows an item."""
        item = self.find_telling(at)
        return item is not None and {name.kind for name in item.names} == {"note"}

    def find_telling(self, at: int) -> Item | None:
        """Return the next item behind a position that is not silent, or None."""
        behind = at + 1
        while behind < len(self._items) and self.is_plain_silent(behind):
            behind += 1
        return self._items[behind] if behind < len(self._items) else None

    def is_excepted(self, at: int) -> bool:
        """Return whether a word such as "except" stands before an item, as in "except the Plan"."""
        before = at - 1
        while before > 0 and self.is_plain_silent(before) and not self._items[before].roles & _ENDS:
            before -= 1
        return not self.list_roles(before).isdisjoint(_EXCEPTING)

    def is_plain_silent(self, at: int) -> bool:
        """Return whether an item says nothing, and names nothing in the vault."""
        return self._items[at].is_silent and not self._items[at].names

    def is_before_tasks(self, at: int) -> bool:
        """Return whether a word for tasks follows an item."""
        return any("tasks" in item.roles for item in self._items[at + 1 : at + 3])

    def is_before_thing(self, at: int) -> bool:
        """Return whether the name of a tag or folder follows an item, as in "finished projects"."""
        after = self.find_behind(at)
        return after is not None and bool(after.list_names("tag") or after.list_names("folder"))

    def is_compared(self, at: int) -> bool:
        """Return whether a comparison or a number follows an item."""
        for item in self._items[at + 1 : at + 3]:
            if item.is_number or (not item.is_date and item.roles & SIGNS.keys()):
                return not item.list_names("folder")
            if not item.is_silent:
                return False
        return False

    def names_note(self) -> bool:
        """Return whether the question names a note, and not a word or folder of the same form."""
        return any(
            item.list_names("note") and not (item.roles or item.list_names("folder"))
            for item in self._items
        )

    def is_had(self, at: int) -> bool:
        """Return whether a word such as "with" or "have" stands before an item."""
        before = at - 1
        while before >= 0 and self._items[before].is_silent:
            if "having" in self._items[before].roles:
                return True
            before -= 1
        return before >= 0 and "having" in self._items[before].roles

    def is_not(self, at: int) -> bool:
        """Return whether "not" stands at a position."""
        return "not" in self.list_roles(at) and "filler" not in self.list_roles(at)

    def is_place(self, at: int) -> bool:
        """Return whether an item names a folder and follows a word such as "in"."""
        if not self._items[at].list_names("folder"):
            return False
        before = at - 1
        while before >= 0 and self._items[before].is_silent:
            if "in" in self._items[before].roles:
                return True
            before -= 1
        return before >= 0 and bool(self._items[before].roles & {"in", "folder"})

    def is_head(self, at: int) -> bool:
        """Return whether an item says what is asked for, as "recipes" in "How many recipes".

        A word such as "finished" may stand between, as in "Are there any finished projects".
        """
        before = at - 1
        while before >= 0 and (self._items[before].is_silent or self._is_state_of(before, at)):
            if "in" in self._items[before].roles:  # but "of" in "which of my recipes"
                return before > 0 and bool(self._items[before - 1].roles & {"list", "count"})
            before -= 1
        return before < 0 or bool(self._items[before].roles & {"list", "count", "what"})

    def _is_state_of(self, before: int, at: int) -> bool:
        """Return whether a word such as "finished" before a name is said of what it names."""
        is_beside = before == at - 1 and self._items[before].roles <= {"open", "done"}
        return is_beside and bool(self._items[before].roles) and "tasks" not in self.roles

    def is_wished_state(self, at: int) -> bool:
        """Return whether an item is a state that is only wished, as in "books to read"."""
        if not self._is_state(at):
            return False
        before, wishes = at - 1, list_wish_words()
        while before >= 0 and self._items[before].is_silent:
            if fold(self._items[before].text) in wishes:
                return True
            before -= 1
        return before >= 0 and fold(self._items[before].text) in wishes

    def is_state_of_other(self, at: int) -> bool:
        """Return whether a word that says nothing of the vault follows a state at once."""
        after = self.find_behind(at)
        if after is None or after.is_apart or after.is_date or after.is_number:
            return False
        return not (after.roles or after.names or after.asked) and self._is_state(at)

    def _is_state(self, at: int) -> bool:
        """Return whether an item is a word for a state, such as "read", and no name but of it."""
        item = self._items[at]
        is_word = not (item.is_given or item.is_date or item.asked) and item.roles <= STATES
        if not is_word or "tasks" in self.roles or any(n.kind != "value" for n in item.names):
            return False
        words = [word.folded for word in split_words(item.text)]
        return bool(list_named_states(words, self.languages))

    def is_linked(self, at: int) -> bool:
        """Return whether an item names a note whose links are asked for, as in "What does A link".

        In "Which recipes link to A", the first name says what is asked for.
        """
        before = self.list_roles(at - 1)
        return "link" in self.roles and bool(before) and before.isdisjoint({"list", "count"})

    def choose_name(self, at: int) -> Name | None:
        """Choose which of the names of an item is meant."""
        item = self._items[at]
        order = ["note", "tag", "folder", "property", "value"]
        after = self.find_behind(at)
        is_before_folder = after is not None and "folder" in after.roles and not item.is_given
        if is_before_folder or self.is_place(at):
            order.insert(0, "folder")
        elif self.is_head(at):
            order = ["tag", "folder", "property", "note", "value"]
            if self.is_linked(at):
                order.insert(0, "note")
        elif item.list_names("property") and not item.list_names("note"):
            order.insert(0, "property")
        by_kind = (name for kind in order for name in item.list_names(kind))
        return next(by_kind, None)

    def is_state_named(self, at: int, dated: Collection[str], *, has_days: bool) -> bool:
        """Return whether an item with a role names the property of the same form.

        Args:
            at: the position of the item.
            dated: the properties that hold days.
            has_days: whether the question names days.
        """
        item = self._items[at]
        if not any(fold(item.text) == fold(name.value) for name in item.list_names("property")):
            return False
        if item.roles & STATES:
            return "tasks" not in self.roles and fold(item.text) in dated and has_days
        return self.is_compared(at) or self.names_note()
