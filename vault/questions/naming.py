"""Name the properties of a question as the notes name them that it asks for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vault.notes.keywords import fold
from vault.notes.units import is_known_unit
from vault.questions.vocabulary import VaultNames
from vault.questions.words import list_property_names
from vault.search.conditions import ANY_VALUE, Condition

__all__ = ["name_as_in_notes"]

_Clause = tuple[Condition, ...]


def name_as_in_notes(clauses: Sequence[_Clause], vocabulary: VaultNames) -> list[_Clause]:
    """Look for the values of properties under the names that the notes asked for give them.

    In "Which tools cost more than 100", tools may have a price, while "cost" is a property of
    other notes.

    Args:
        clauses: the conditions of a question.
        vocabulary: the names in the vault.
    """
    kinds = [clause for clause in clauses if all(map(_is_of_kind, clause))]
    if not kinds:
        return list(clauses)
    own = set[str]()
    for path, named in vocabulary.properties.items():
        if all(_has_kind(path, clause, vocabulary) for clause in kinds):
            own.update(named)
    return [tuple(_rename(clause, own, vocabulary)) for clause in clauses]


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


def _is_of_kind(condition: Condition) -> bool:
    return condition.key in ("tag", "folder") and not condition.is_negated


def _has_kind(path: str, clause: _Clause, vocabulary: VaultNames) -> bool:
    texts = {"tag": vocabulary.tags.get(path, ()), "folder": [path.rpartition("/")[0]]}
    return any(
        f"/{fold(each.value).strip('/')}/" in f"/{fold(text)}/"
        for each in clause
        for text in texts[each.key]
    )
