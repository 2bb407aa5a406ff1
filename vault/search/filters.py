"""Select the passages to search, using a query's filters."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault.catalog import UNFINISHED, Catalog, Row
from vault.notes.date_spans import Span, is_in_ranges
from vault.notes.keywords import build_query_terms, fold, match_all
from vault.notes.tasks import TaskItem, find_tasks
from vault.scope import WHOLE, Scope
from vault.search.conditions import Condition
from vault.search.filter_kinds import FILTERS, TaskTest
from vault.search.metadata import MetadataReader
from vault.search.passages import Passage, Passages
from vault.search.query import Query
from vault.search.task_tags import KEYS_OF_TASKS, TagClause, list_task_tags, read_tag_clause

__all__ = [
    "ChosenPassages",
    "choose_passages",
    "find_files",
    "find_matching",
    "has_notes_to_search",
    "is_only_scheduled",
    "list_matching_tasks",
    "warn_missing_phrase",
]

_MAX_PHRASE_PASSAGES = 5_000


@dataclass(frozen=True, slots=True)
class ChosenPassages:
    """The passages to search.

    Attributes:
        passages: the text hashes of the passages to search, keyed by passage id, or None for all
            passages.
        warnings: sentences about filters that were ignored.
        tag_clauses: the conditions on tags that a task must fulfil, if tasks are chosen.
        missing_phrases: the phrases that no passage contains.
    """

    passages: Mapping[int, bytes] | None = None
    warnings: tuple[str, ...] = ()
    tag_clauses: tuple[TagClause, ...] = ()
    missing_phrases: tuple[str, ...] = ()


def choose_passages(
    query: Query, catalog: Catalog, passages: Passages, scope: Scope = WHOLE
) -> ChosenPassages:
    """Find the passages that match a query's filters and phrases.

    A phrase that no passage contains is ignored, with a warning.

    Args:
        query: the parsed query.
        catalog: the catalog of the index.
        passages: reads passages from the catalog.
        scope: the part of the vault to search.
    """
    chosen: Mapping[int, bytes] | None = None
    tag_clauses: tuple[TagClause, ...] = ()
    if query.has_filter or not scope.is_whole:
        files, tag_clauses = _find_files(query, catalog, scope)
        chosen = passages.find_in_files(files)
    if query.task_kind and chosen is not None:
        chosen = _keep_with_task(query, passages, chosen, tag_clauses)
    elif query.days and chosen is not None:
        dated = MetadataReader(catalog).find_by_day(query.days)
        chosen = {number: hash for number, hash in chosen.items() if number in dated}
    missing: list[str] = []
    for phrase in query.phrases:
        holding = _find_phrase(phrase, passages, chosen)
        if holding:
            chosen = holding
        else:
            missing.append(phrase)
    warnings = (*query.problems, *map(warn_missing_phrase, missing))
    return ChosenPassages(chosen, warnings, tag_clauses, tuple(missing))


def warn_missing_phrase(phrase: str) -> str:
    """Return the warning that no passage contains a phrase."""
    return f"No passage holds “{phrase}” word for word; its words were searched."


def list_matching_tasks(
    query: Query, passage: Passage, tag_clauses: Sequence[TagClause] = ()
) -> Iterator[TaskItem]:
    """Yield the tasks in a passage that match the task filters of a query.

    Args:
        query: a query with a filter for tasks, and maybe for their dates and priorities.
        tag_clauses: the conditions on tags that the tasks must fulfil.
    """
    text = passage.markdown_text
    test = TaskTest(query.task_kind, query.days, query.due, query.priorities)
    for task in find_tasks(text):
        if test.is_met(task):
            tags = list_task_tags(task, text, passage.heading) if tag_clauses else ()
            if all(clause.is_met(passage.path, task, tags) for clause in tag_clauses):
                yield task


def is_only_scheduled(task: TaskItem, days: Collection[Span]) -> bool:
    """Return whether a task is scheduled for one of several ranges of days, but not due then."""
    is_scheduled = _is_in_days(task.list_scheduled_days(), days)
    return is_scheduled and not _is_in_days(task.list_due_days(), days)


def has_notes_to_search(catalog: Catalog, scope: Scope = WHOLE) -> bool:
    """Return whether a search could find any note, also one that an update has yet to read.

    Args:
        catalog: the catalog of the index.
        scope: the part of the vault to search.
    """
    if catalog.meta(UNFINISHED):
        return True
    rows = catalog.rows("SELECT path FROM files WHERE state = 'indexed'")
    return any(scope.is_whole or scope.covers(path) for (path,) in rows)


def find_files(query: Query, catalog: Catalog, scope: Scope) -> set[int]:
    """Return the ids of the files that match the conditions and times of a query."""
    return _find_files(query, catalog, scope)[0]


def _find_files(
    query: Query, catalog: Catalog, scope: Scope
) -> tuple[set[int], tuple[TagClause, ...]]:
    """Return the ids of the files that match a query, and what their tasks must fulfil.

    If tasks are chosen, the files are those that may have such tasks.
    """
    rows = catalog.rows("SELECT id, path, mtime_ns FROM files WHERE state = 'indexed'")
    if not scope.is_whole:  # compared once, and not for each of many thousand notes
        rows = [row for row in rows if scope.covers(row[1])]
    if query.after is not None or query.before is not None:
        rows = [row for row in rows if _is_in_time(query, row)]
    paths = {int(row[0]): str(row[1]) for row in rows}
    found, tag_clauses = set(paths), list[TagClause]()
    for clause in query.clauses:
        if query.task_kind and any(each.key in KEYS_OF_TASKS for each in clause):
            others = [each for each in clause if each.key not in KEYS_OF_TASKS]
            fulfilled = find_matching(others, catalog, paths)
            tag_clause, matching = read_tag_clause(clause, fulfilled, catalog, paths)
            tag_clauses.append(tag_clause)
        else:
            matching = find_matching(clause, catalog, paths)
        found &= matching
    return found, tuple(tag_clauses)


def find_matching(
    clause: Sequence[Condition], catalog: Catalog, paths: Mapping[int, str]
) -> set[int]:
    """Return the file ids of the notes that fulfil at least one of several conditions."""
    found = set[int]()
    for condition in clause:
        kind = FILTERS[condition.key]
        find = kind.find or kind.find_other
        matching = paths.keys() & find(condition, catalog, paths) if find is not None else set()
        found |= paths.keys() - matching if condition.is_negated else matching
    return found


def _is_in_time(query: Query, row: Row) -> bool:
    changed_s = row[2] / 1e9
    return (query.after is None or changed_s >= query.after.timestamp()) and (
        query.before is None or changed_s < query.before.timestamp()
    )


def _is_in_days(spans: Iterable[Span], days: Collection[Span]) -> bool:
    return any(is_in_ranges(span, days) for span in spans)


def _keep_with_task(
    query: Query,
    passages: Passages,
    chosen: Mapping[int, bytes],
    tag_clauses: Sequence[TagClause],
) -> Mapping[int, bytes]:
    """Return the passages that contain a task which matches the filters for tasks."""
    boxed = passages.find_with_tasks() & chosen.keys()
    texts = passages.details(boxed)
    return {
        number: chosen[number]
        for number in sorted(boxed)
        if number in texts and any(list_matching_tasks(query, texts[number], tag_clauses))
    }


def _find_phrase(
    phrase: str, passages: Passages, chosen: Mapping[int, bytes] | None
) -> Mapping[int, bytes]:
    terms = build_query_terms(phrase)
    if not terms:
        return {}
    found = passages.find_matching(match_all(terms), _MAX_PHRASE_PASSAGES)
    if chosen is not None:
        found &= chosen.keys()
    wanted = fold(" ".join(phrase.split()))
    texts = passages.details(found)
    return {
        chunk_id: passage.text_hash
        for chunk_id, passage in texts.items()
        if wanted in fold(" ".join(passage.text.split()))
    }
