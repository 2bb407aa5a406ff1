"""List every note or task that matches a query, page by page.

A listing contains every note that matches the filters and contains all words of the query. Each
note is shown with one of its lines. If no note contains all words, the listing contains the notes
with the most words. Notes that are only listed by the time of their change are sorted by it.

If the query has a filter for tasks, the listing contains the tasks instead of the notes.
"""

import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from vault.catalog import Catalog
from vault.coverage import find_gap
from vault.listing.inventory import find_note_paths
from vault.listing.tasks import describe_order, list_tasks
from vault.notes.amounts import contains_money, cut_money, find_money, list_spellings
from vault.notes.keywords import (
    WORD,
    build_query_terms,
    find_function_words,
    fold,
    match_any,
    match_measure,
    match_phrase,
)
from vault.notes.tasks import TaskItem
from vault.notes.text.stems import WordStems
from vault.notes.units import cut_measures, find_measures, match_measures
from vault.quotes.lines import choose_best_line
from vault.quotes.spelling import write_as_in_notes
from vault.scope import WHOLE, Scope
from vault.search.conditions import ANY_VALUE, Condition
from vault.search.filter_kinds import TaskFilter
from vault.search.filters import ChosenPassages, choose_passages, is_only_scheduled
from vault.search.hits import WORDS, Hit, SearchResult, build_hit
from vault.search.passages import KeepCurrent, Passage, Passages
from vault.search.query import Query, describe_filters, parse_query

__all__ = ["list_notes"]

_PARTLY = "No {} holds all of the words; those that hold the most are listed."
_MOST_TERMS = 16
_MAX_LINE_CHARS = 240
# What is listed and counted, by the filter for tasks.
_UNITS: Mapping[TaskFilter, str] = {
    "": "note",
    "open": "open task",
    "done": "done task",
    "any": "task",
}

_RANKED = """
SELECT chunks.id, bm25(words, 3.0, 1.5, 1.0) AS cost, file_id
FROM words JOIN chunks ON chunks.id = words.rowid
WHERE words MATCH :terms AND file_id IN (SELECT value FROM json_each(:files))
ORDER BY cost, chunks.id
"""

_FIRST_BY_PATH = """
SELECT chunks.id, file_id FROM chunks JOIN files ON files.id = file_id ORDER BY path, chunks.id
"""
_FIRST_BY_CHANGE = """
SELECT chunks.id, file_id FROM chunks JOIN files ON files.id = file_id
ORDER BY mtime_ns DESC, path, chunks.id
"""


def list_notes(
    catalog: Catalog,
    keep_current: KeepCurrent,
    text: str,
    limit: int,
    offset: int = 0,
    scope: Scope = WHOLE,
) -> SearchResult:
    """List the notes that match a query, best matches first, or the tasks if it has such a filter.

    Args:
        keep_current: yields the given passages that still exist, with current line numbers.
        text: the words to search for, and filters.
        limit: the maximum number of notes or tasks.
        offset: the number of notes or tasks on previous pages.
        scope: the part of the vault to search.

    Returns:
        One hit per note with its best line, or one per task, their number, and the next offset.

    Raises:
        IndexUnusable: the catalog cannot be read.
    """
    began = time.perf_counter()
    query, passages = _read_query(catalog, text), Passages(catalog)
    chosen = choose_passages(query, catalog, passages, scope)
    if query.task_kind:
        found, is_partial = _list_chosen_tasks(query, chosen, passages, keep_current)
    else:
        found, is_partial = _build_note_hits(catalog, query, chosen, keep_current)
    literal = None if is_partial else _put_literal_first(catalog, query, found)
    unit, end, gap = _UNITS[query.task_kind], offset + limit, find_gap(catalog)
    return SearchResult(
        text,
        tuple(found[offset:end]),
        time.perf_counter() - began,
        query.filters(),
        (*chosen.warnings, _PARTLY.format(unit)) if is_partial else chosen.warnings,
        total=len(found),
        next=end if end < len(found) else None,
        searched=_count_searched(catalog, scope),
        is_whole=gap is None or gap.by_words >= gap.notes,
        is_partial=is_partial,
        unit=unit,
        filter=_describe_lacked(query, catalog, scope, found) or describe_filters(query),
        order=describe_order(query),
        literal=literal,
        by=(WORDS,) if query.words.strip() else (),
        scheduled=_count_scheduled(query, catalog, keep_current, scope, is_partial=is_partial),
    )


def _describe_lacked(query: Query, catalog: Catalog, scope: Scope, found: Sequence[Hit]) -> str:
    """Describe the notes of a query of which none has a property that it limits, or return "".

    "No film with a duration above 2 hours" would say that all are shorter.
    """
    limited = next((each for each in query.clauses if all(map(_is_limited, each))), None)
    others = tuple(clause for clause in query.clauses if clause is not limited)
    if found or limited is None or not others or query.task_kind or query.words.strip():
        return ""
    having = tuple(replace(each, value=ANY_VALUE, comparison="=", also=None) for each in limited)
    rest = replace(query, clauses=others)
    owners = replace(query, clauses=(*others, having))
    if find_note_paths(catalog, scope, owners) or not find_note_paths(catalog, scope, rest):
        return ""
    names = " or ".join(dict.fromkeys(each.name for each in limited))
    return f"{describe_filters(rest)} has the property {names}"


def _is_limited(condition: Condition) -> bool:
    """Return whether a condition is on the value of a property, which notes may lack."""
    return bool(condition.name) and not condition.is_negated and condition.value != ANY_VALUE


def _read_query(catalog: Catalog, text: str) -> Query:
    """Parse a query, with its words written as in the notes."""
    query = parse_query(text)
    if query.phrases:
        return query
    return replace(query, words=write_as_in_notes(catalog, query.words))


def _list_chosen_tasks(
    query: Query,
    chosen: ChosenPassages,
    passages: Passages,
    keep_current: KeepCurrent,
    is_listed: Callable[[TaskItem], bool] = lambda _: True,
) -> tuple[list[Hit], bool]:
    boxed = passages.details(chosen.passages or ())
    return list_tasks(query, boxed, keep_current, chosen.tag_clauses, is_listed)


def _count_scheduled(
    query: Query, catalog: Catalog, keep_current: KeepCurrent, scope: Scope, *, is_partial: bool
) -> int:
    """Return how many open tasks are scheduled in the time that a query limits due dates to.

    Those that are due in that time are left out.

    Args:
        is_partial: whether no task that is due has all words of the query. Otherwise, the others
            must have all words too.
    """
    if query.task_kind != "open" or not query.due:
        return 0
    undated, passages = replace(query, due=()), Passages(catalog)
    chosen = choose_passages(undated, catalog, passages, scope)
    hits, is_part = _list_chosen_tasks(
        undated,
        chosen,
        passages,
        keep_current,
        lambda task: is_only_scheduled(task, query.due),
    )
    return len(hits) if is_partial or not is_part else 0


def _build_note_hits(
    catalog: Catalog, query: Query, chosen: ChosenPassages, keep_current: KeepCurrent
) -> tuple[list[Hit], bool]:
    """Build the hits of all notes that match a query, best matches first.

    Returns:
        One hit for each note with its best line, and whether no note contains all words.
    """
    terms, stems = _choose_terms(query.words), WordStems(query.words)
    files = _list_files(catalog, chosen)
    found, is_partial = _find_passages(catalog, query, terms, files, chosen)
    read = Passages(catalog).details(found)
    current_passages = keep_current((number, read[number]) for number in found if number in read)
    hits = [_build_line_hit(passage, found[number], stems) for number, passage in current_passages]
    return hits, is_partial


def _put_literal_first(catalog: Catalog, query: Query, hits: list[Hit]) -> int | None:
    """Sort notes with the words of a query as they are written first, and return their number.

    Return None if the query has no words, or lists tasks.
    """
    if query.task_kind or not query.words.strip():
        return None
    literal = _find_literal(catalog, query, hits)
    hits.sort(key=lambda hit: hit.path not in literal)
    return len(literal)


def _find_literal(catalog: Catalog, query: Query, hits: Sequence[Hit]) -> frozenset[str]:
    """Return which of the listed notes contain the words of a query as they are written.

    The currency of an amount of money may be written in another way, and blanks may stand around
    an ampersand, as in "R & D".
    """
    left_out, money = find_function_words(query.words), find_money(query.words)
    measures, rest = match_measures(query.words), cut_measures(cut_money(query.words))
    plain = (fold(word).strip('?.,;:!"“”') for word in rest.split())
    wanted = [word for word in plain if word not in left_out and WORD.search(word)]
    forms = (r"\s*&\s*".join(map(re.escape, word.split("&"))) for word in wanted)
    words = [*measures, *(re.compile(rf"(?<!\w){form}(?!\w)") for form in forms)]
    rows = catalog.rows(
        "SELECT path, title, text FROM chunks JOIN notes USING (file_id)"
        " JOIN files ON files.id = file_id WHERE path IN (SELECT value FROM json_each(?))",
        (json.dumps([hit.path for hit in hits]),),
    )
    texts: dict[str, list[str]] = defaultdict(list)
    for path, title, text in rows:
        texts[path] += [path, title, text]
    whole = {hit.path: "\n".join(texts[hit.path]) for hit in hits}
    return frozenset(
        path
        for path, text in whole.items()
        if all(word.search(fold(text)) for word in words) and contains_money(text, money)
    )


def _choose_terms(words: str) -> tuple[str, ...]:
    """Return search terms for the words of a query, without function words such as "the".

    If the query contains only function words, they are used.
    """
    left_out = find_function_words(words)
    without_money = cut_money(words)
    plain = cut_measures(without_money).split()
    kept = " ".join(word for word in plain if fold(word).strip("?.,;:!") not in left_out)
    money = (
        match_any([match_phrase(each) for each in list_spellings(amount)])
        for amount in find_money(words)
    )
    measures = map(match_measure, find_measures(without_money))
    amounts = (*(f"({each})" for each in dict.fromkeys(money)), *measures)
    terms = build_query_terms(kept or ("" if amounts else words))
    return (*amounts, *terms)[:_MOST_TERMS]


def _find_passages(
    catalog: Catalog,
    query: Query,
    terms: Sequence[str],
    files: Collection[int],
    chosen: ChosenPassages,
) -> tuple[Mapping[int, float], bool]:
    """Find the best passage of each matching note, or the first one if there are no terms.

    Args:
        catalog: the catalog of the index.
        terms: the search terms of the query.
        files: the file ids of the notes to search.
        chosen: the passages to search.

    Returns:
        The score of each passage by passage id, best first, and whether no note contains all of the
        terms.
    """
    if not terms:
        return _find_first_passages(catalog, files, chosen, query), False
    counts = Counter(
        file for term in terms for file in _find_files_with(catalog, term) if file in files
    )
    most = max(counts.values(), default=0)
    wanted = [file for file, count in counts.items() if count == most]
    rows = catalog.rows(_RANKED, {"terms": match_any(terms), "files": json.dumps(wanted)})
    best: dict[int, tuple[int, float]] = {}
    for number, cost, file in rows:
        if chosen.passages is None or number in chosen.passages:
            best.setdefault(file, (int(number), -float(cost)))
    return dict(best.values()), 0 < most < len(terms)


def _count_searched(catalog: Catalog, scope: Scope) -> int:
    """Return the number of indexed notes that a listing searches.

    Args:
        catalog: the catalog of the index.
        scope: the part of the vault to search.
    """
    if scope.is_whole:
        return int(catalog.rows("SELECT count(*) FROM notes")[0][0])
    rows = catalog.rows("SELECT path FROM notes JOIN files ON files.id = file_id")
    return sum(scope.covers(path) for (path,) in rows)


def _list_files(catalog: Catalog, chosen: ChosenPassages) -> frozenset[int]:
    if chosen.passages is None:
        return frozenset(row[0] for row in catalog.rows("SELECT DISTINCT file_id FROM chunks"))
    rows = catalog.rows(
        "SELECT DISTINCT file_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(chosen.passages)),),
    )
    return frozenset(row[0] for row in rows)


def _find_files_with(catalog: Catalog, term: str) -> Iterator[int]:
    statement = (
        "SELECT DISTINCT file_id FROM chunks"
        " WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?)"
    )
    return (row[0] for row in catalog.rows(statement, (term,)))


def _find_first_passages(
    catalog: Catalog, files: Collection[int], chosen: ChosenPassages, query: Query
) -> Mapping[int, float]:
    """Return the first passage of each matching note. All scores are 1.

    The notes are sorted by path, or by the time of their last change if the query limits that.
    """
    is_by_change = query.after is not None or query.before is not None
    rows = catalog.rows(_FIRST_BY_CHANGE if is_by_change else _FIRST_BY_PATH)
    first: dict[int, int] = {}
    for number, file in rows:
        if file in files and (chosen.passages is None or number in chosen.passages):
            first.setdefault(file, int(number))
    return dict.fromkeys(first.values(), 1.0)


def _build_line_hit(passage: Passage, score: float, stems: WordStems) -> Hit:
    """Build a hit that shows only the line of a passage that contains the most stems.

    A note of properties alone is shown by its title.
    """
    best = choose_best_line(passage.markdown_text, stems)
    if best is None:
        place = passage.lines[0]
        return build_hit(replace(passage, lines=(place, place), text=""), score, {})
    place = min(passage.lines[0] + best, passage.lines[1])
    line = passage.markdown_text.cut(best, best + 1)
    text, structure = _shorten(line.lines[0].strip()), line.structure
    return build_hit(
        replace(passage, lines=(place, place), text=text, structure=structure), score, {}
    )


def _shorten(line: str) -> str:
    """Truncate a long line at the end of a word."""
    if len(line) <= _MAX_LINE_CHARS:
        return line
    cut = line[:_MAX_LINE_CHARS]
    blank = cut.rfind(" ")
    return cut[:blank] if blank > _MAX_LINE_CHARS // 2 else cut
