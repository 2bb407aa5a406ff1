"""Find the notes that fulfil the conditions of a query."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from vault.catalog import Catalog
from vault.notes.keywords import fold
from vault.notes.links import fold_link_name
from vault.records import Records
from vault.search.conditions import Condition, ConditionKey, compare_values

__all__ = ["find_matching_files"]


def find_matching_files(
    clause: Sequence[Condition], catalog: Catalog, paths: Mapping[int, str]
) -> set[int]:
    """Return the file ids of the notes that fulfil at least one of several conditions.

    Args:
        clause: the conditions.
        catalog: the catalog of the index.
        paths: the paths of the notes to choose from, keyed by file id.
    """
    found = set[int]()
    for condition in clause:
        matching = _FINDERS[condition.key](condition, catalog, paths) & paths.keys()
        found |= paths.keys() - matching if condition.is_negated else matching
    return found


def _find_by_path(condition: Condition, _catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    wanted = fold(condition.value)
    return {number for number, path in paths.items() if wanted in fold(path)}


def _find_by_folder(condition: Condition, catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes in a folder of this name, or with this text in the path if there is none."""
    wanted = f"/{fold(condition.value).strip('/')}/"
    found = {
        number for number, path in paths.items() if wanted in f"/{fold(path).rpartition('/')[0]}/"
    }
    return found or _find_by_path(condition, catalog, paths)


def _find_by_name(condition: Condition, _catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    wanted = fold(condition.value)
    return {
        number for number, path in paths.items() if wanted in fold(path).rsplit("/", maxsplit=1)[-1]
    }


def _find_by_tag(condition: Condition, catalog: Catalog, _paths: Mapping[int, str]) -> set[int]:
    wanted = fold(condition.value)
    rows = catalog.rows("SELECT file_id, tag FROM tags")
    return {int(row[0]) for row in rows if f"{fold(row[1])}/".startswith(f"{wanted}/")}


def _find_by_link(condition: Condition, catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes that link to a note, or that use this name if there is no such note."""
    records = Records(catalog)
    own = fold_link_name(condition.value)
    links = catalog.rows("SELECT file_id, target FROM links")
    folded = {target: fold_link_name(target) for _, target in links}
    resolver = records.resolve_links_among({own}, "/")
    wanted = resolver.resolve(condition.value)
    names = {own} if wanted is None else {own, *records.list_names(wanted)}
    among = records.resolve_links_among(names, "/")
    return {
        int(number)
        for number, target in links
        if folded[target] in names
        and (wanted is None or among.resolve(target, paths.get(number, "")) == wanted)
    }


def _find_by_property(
    condition: Condition, catalog: Catalog, _paths: Mapping[int, str]
) -> set[int]:
    rows = catalog.rows("SELECT file_id, value FROM properties WHERE name = ?", (condition.name,))
    return {int(number) for number, value in rows if compare_values(value, condition)}


_FINDERS: Final[
    Mapping[ConditionKey, Callable[[Condition, Catalog, Mapping[int, str]], set[int]]]
] = {
    "path": _find_by_path,
    "folder": _find_by_folder,
    "file": _find_by_name,
    "tag": _find_by_tag,
    "link": _find_by_link,
    "property": _find_by_property,
}
