"""Name the properties of a question as the notes name them that it asks for."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from vault.notes.keywords import fold
from vault.notes.units import is_known_unit
from vault.questions.vocabulary import VaultNames, fold_levels
from vault.questions.words import (
    are_alike,
    list_opposites,
    list_property_names,
    list_same_states,
)
from vault.search.conditions import ANY_VALUE, TICKED, Condition, compare_values

__all__ = ["has_kind", "is_of_kind", "list_own_values", "name_as_in_notes"]

_Clause = tuple[Condition, ...]


def name_as_in_notes(clauses: Sequence[_Clause], vocabulary: VaultNames) -> list[_Clause]:
    """Look for the values of properties under the names that the notes asked for give them.

    In "Which tools cost more than 100", tools may have a price, while "cost" is a property of
    other notes.

    Args:
        clauses: the conditions of a question.
        vocabulary: the names in the vault.
    """
    kinds = [clause for clause in clauses if is_of_kind(clause)]
    if not kinds:
        return list(clauses)
    own = list_own_values(kinds, vocabulary)
    named_anew = (tuple(_rename(clause, {*own}, vocabulary)) for clause in clauses)
    reworded_clauses = (
        (_say_state(each, own, vocabulary) for each in clause) for clause in named_anew
    )
    return [tuple(dict.fromkeys(clause)) for clause in reworded_clauses]


def list_own_values(
    kinds: Sequence[_Clause], vocabulary: VaultNames
) -> Mapping[str, Collection[str]]:
    """Return the properties of the notes of some kinds, each with its values."""
    own = defaultdict[str, set[str]](set)
    for path, named in vocabulary.properties.items():
        if all(has_kind(path, clause, vocabulary) for clause in kinds):
            for name, values in named.items():
                own[name].update(values)
    return own


def _say_state(
    condition: Condition, own: Mapping[str, Collection[str]], vocabulary: VaultNames
) -> Condition:
    """Return a condition on a state in the words of the notes asked for, if they lack its property.

    Of notes with `status: unpaid`, that is said by "not paid", although `paid` is a property of
    other notes.
    """
    is_state = condition.key == "property" and condition.comparison == "=" and not condition.also
    if not is_state or condition.value == ANY_VALUE:
        return condition
    if condition.name in own:
        return _say_in_own_words(condition, own[condition.name])
    state = condition.name if condition.name in vocabulary.ticked else condition.value
    if state == condition.value and not list_same_states(state):
        return condition  # a number or a name says nothing without its property
    opposites = [" ".join(words) for words in list_opposites(state)]
    for is_opposite, texts in ((False, [state]), (True, opposites)):
        for name, value, text in _list_states(own, vocabulary):
            if any(are_alike(text, each) for each in texts):
                is_negated = condition.is_negated != is_opposite
                return Condition("property", value, name, is_negated=is_negated)
    return condition


def _say_in_own_words(condition: Condition, own: Collection[str]) -> Condition:
    """Return a condition with the only value of the notes asked for that says the same as its own.

    Their status may be "planned" where that of other notes is "geplant".
    """
    if any(compare_values(value, replace(condition, is_negated=False)) for value in own):
        return condition
    same = [" ".join(words) for words in list_same_states(condition.value)]
    values = [value for value in own if any(are_alike(value, each) for each in same)]
    return replace(condition, value=values[0]) if len(values) == 1 else condition


def _list_states(
    own: Mapping[str, Collection[str]], vocabulary: VaultNames
) -> Iterator[tuple[str, str, str]]:
    """Yield the properties of notes, with each value and the words that say it."""
    for name, values in own.items():
        if name in vocabulary.ticked:
            yield name, TICKED, name
        else:
            yield from ((name, value, value) for value in sorted(values))


def _rename(clause: _Clause, own: set[str], vocabulary: VaultNames) -> Iterator[Condition]:
    """Yield the conditions of a clause, with each property that the notes lack renamed.

    They are kept if the notes have no property of the same meaning.

    Args:
        clause: the conditions.
        own: the properties of the notes that are asked for.
        vocabulary: the names in the vault.
    """
    if not all(map(_has_value, clause)):
        yield from clause
        return
    kept = [each for each in clause if each.name in own]
    renamed = [] if kept else [new for each in clause for new in _name_anew(each, own, vocabulary)]
    yield from kept or dict.fromkeys(renamed) or clause


def _name_anew(condition: Condition, own: set[str], vocabulary: VaultNames) -> Iterator[Condition]:
    name = fold(condition.name)
    meant = list_property_names(name.split())
    yield from (_name(condition, each) for each in sorted(own) if fold(each) in meant)
    if is_known_unit(name):  # which is the name of a property of other notes
        measured = own.intersection(vocabulary.find_measured(name))
        yield from (_name(condition, each, unit=name) for each in sorted(measured))


def _name(condition: Condition, name: str, unit: str = "") -> Condition:
    also = None if condition.also is None else _name(condition.also, name, unit)
    value = f"{condition.value} {unit}".strip()
    return replace(condition, name=name, value=value, also=also)


def _has_value(condition: Condition) -> bool:
    return bool(condition.name) and condition.value != ANY_VALUE and not condition.is_negated


def is_of_kind(clause: _Clause) -> bool:
    """Return whether a clause says in which folders notes are, or which tags they have."""
    return all(each.key in ("tag", "folder") and not each.is_negated for each in clause)


def has_kind(path: str, clause: _Clause, vocabulary: VaultNames) -> bool:
    """Return whether a note has one of several tags, or is in one of several folders."""
    texts = {"tag": vocabulary.tags.get(path, ()), "folder": [path.rpartition("/")[0]]}
    return any(
        fold_levels(each.value) in fold_levels(text) for each in clause for text in texts[each.key]
    )
