"""The retrieval step of a turn: build the query, search the vault, number the passages."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, partial
from pathlib import PurePosixPath
from typing import Any, Final

from chains.concurrency import call
from chains.events import Event, Step, Warned
from chains.models import EXTRACTIVE
from chains.request.turn import SEARCHED, SearchedQuery, Turn
from chains.request.usage import CallUsage
from chains.retrieval.attachments import measure_list_room
from chains.retrieval.follow_up import (
    RewrittenQuery,
    expand_query,
    list_notes_in_play,
    read_last_turn,
    rewrite_query,
)
from chains.retrieval.listing import build_page
from chains.retrieval.listing_query import (
    LISTED,
    describe_list,
    list_kinds,
    read_list_query,
)
from chains.retrieval.passages import build_passages
from chains.retrieval.period_search import MOST_PASSAGES_OF_PERIOD, PeriodSearch, mix_results
from chains.retrieval.table_rows import find_fitting_rows
from chains.retrieval.totals import tell_rows, tell_total, tell_value
from chains.tokenizer import load_counter
from context.assemble.turn_context import compute_passages_share
from context.history.exclusion import hide_in_last_turn
from context.history.turns import LoggedTurn, list_turns
from context.layers import Segment
from context.messages import Message
from context.tokens import count_message, count_segment
from vault.notes.keywords import fold
from vault.options import SearchOptions
from vault.questions.reader import PartlyRead, Reading
from vault.questions.words import are_alike
from vault.quotes.sections import Support
from vault.search.hits import SearchResult
from vault.search.query import describe_filters, parse_query, write_query
from vault.vault import Vault

__all__ = ["RetrievalResult", "estimate_passages", "read_ways", "retrieve"]

SUPPORT: Final = "support"
SUPPORT_WEIGHTS: Final = "supportWeights"
MOST_LISTED: Final = 500
# Only a few lines of each passage are quoted, so for a quoted answer, this many times as many
# passages are searched for.
# Of 186 questions about three vaults, the evidence was found for 159 with 8, and for 170 with 20.
QUOTED_TIMES: Final = 2.5
# Of so many notes that fulfil what was understood of a question, all are shown.
FEW_NOTES: Final = 8
# A question for everything in a period gets this many times as many passages.
PERIOD_TIMES: Final = 5
# The lines between two passages of a note are blank: the index leaves out nothing else.
BLANK_LINES: Final = 1
SEARCHED_BY: Final = "searchedBy"

# Reads a question against the vault.
ReadQuestion = Callable[[str], Reading | None]


@dataclass(frozen=True)
class RetrievalResult:
    """The result of retrieval.

    Attributes:
        query: what was searched for, and how good the results are.
        segments: the passages found, or one page of a list of notes. Their numbers continue after
            those of the attachments.
        warnings: one sentence for each problem.
        stored_fields: extra fields to store in the log with the segments.
        calls: the usage of the calls that rewrote the query.
        by: the ways of searching that were used: `words`, `meaning`, or both.
        filter: the filter of a list, as a query and in words, or None.
    """

    query: SearchedQuery = field(default_factory=SearchedQuery)
    segments: tuple[Segment, ...] = ()
    warnings: tuple[str, ...] = ()
    stored_fields: Mapping[str, Any] = field(default_factory=dict)
    calls: tuple[CallUsage, ...] = ()
    by: tuple[str, ...] = ()
    filter: Mapping[str, object] | None = None

    def shift_numbers(self, more: int) -> tuple[Segment, ...]:
        """Return the segments with `more` added to their citation numbers."""
        return tuple(
            segment if segment.number is None else replace(segment, number=segment.number + more)
            for segment in self.segments
        )


def retrieve(turn: Turn) -> Generator[Event, None, RetrievalResult]:
    """Search the vault for a user message. Chains without retrieval return an empty result.

    When an answer is regenerated, the query and segments are read from the log instead.
    """
    search = turn.search
    if search is None:
        return RetrievalResult()
    if turn.is_regenerated:
        sent = list_turns(turn.session.path())
        return _read_earlier(sent[-1].stored_fields) if sent else RetrievalResult()
    vault = turn.vault
    read_question = _read_nothing if vault is None else vault.read_question
    read = cache(partial(read_question, today=turn.asked_on))
    before = _list_turns_before(turn)
    query = yield from _choose_query(turn, before, read)
    turn = replace(turn, query=SearchedQuery(query.text))
    found = yield from _list_notes(turn, search, before, read)
    if found is None:
        found = _tell_property(turn, search, read)
    partly = None
    if found is None:
        partly = _find_understood(turn, search, before, read)
        found = yield from _search(turn, search, before, partly)
    warnings = (*query.warnings, *found.warnings)
    searched = replace(found.query, text=found.query.text or query.text, partly=partly)
    return replace(found, query=searched, warnings=warnings, calls=query.calls)


def estimate_passages(turn: Turn, notes: Vault, budget: int) -> tuple[int, int]:
    """Estimate the passages of the next request: their number, and their token count together.

    Nothing is searched. Passages of the usual size in this vault are counted instead.

    Args:
        turn: the turn with the text typed so far. It need not be open.
        notes: the notes that will be searched.
        budget: the token limit of the request.
    """
    is_quoted = turn.model_name == EXTRACTIVE
    counter, most = load_counter(turn.model_name), _count_wanted(turn)
    samples = notes.draw_passages(most, is_quoted=is_quoted)
    gap = BLANK_LINES if is_quoted else 0
    built = [build_passages(hits, gap=gap)[:most] for hits in samples if hits]
    sizes = [[count_segment(passage, counter) for passage in passages] for passages in built]
    if not sizes:
        return 0, 0
    number = sum(map(len, sizes)) / len(sizes)
    tokens = sum(map(sum, sizes)) / len(sizes)
    question = count_message(Message("user", turn.ask.question), counter)
    share = min(1.0, compute_passages_share(budget, question) / tokens)
    return max(1, int(number * share)), int(tokens * share)


def _count_wanted(turn: Turn) -> int:
    """Return the most passages that a search for a user message yields."""
    top_k = turn.settings.retrieval_top_k
    return int(top_k * QUOTED_TIMES) if turn.model_name == EXTRACTIVE else top_k


def _read_nothing(_question: str, today: date | None = None) -> None:  # noqa: ARG001
    return None  # no vault is open


def _choose_query(
    turn: Turn, before: tuple[LoggedTurn, ...], read: ReadQuestion
) -> Generator[Event, None, RewrittenQuery]:
    """Choose the search query for a user message, and yield progress events.

    Args:
        before: the earlier turns of the session.
        read: reads a question against the vault.

    Returns:
        The query. Its text is empty if the user message itself is the query.
    """
    if turn.query.text:  # as it was put when the question was asked
        return RewrittenQuery(turn.query.text)
    last, rewritten = read_last_turn(_hide_excluded(turn, before)), RewrittenQuery()
    if last is not None and _is_rewritten(turn, before, read):
        yield Step("search", "Putting the question into words to search for")
        rewritten = call(lambda: rewrite_query(turn, last), turn.cancel)
    yield from map(Warned, rewritten.warnings)
    text = rewritten.text or expand_query(turn.ask.question, last)
    return replace(rewritten, text="" if text == turn.ask.question else text)


def _hide_excluded(turn: Turn, before: tuple[LoggedTurn, ...]) -> tuple[LoggedTurn, ...]:
    """Return the earlier turns without the text of excluded notes in the last one."""
    rules = turn.note_rules
    if not before or rules is None:
        return before
    return (*before[:-1], hide_in_last_turn(before, rules, turn.counter))


def _is_rewritten(turn: Turn, before: tuple[LoggedTurn, ...], read: ReadQuestion) -> bool:
    has_model = turn.model_name != EXTRACTIVE and not turn.ask.dry_run
    is_wanted = turn.settings.retrieval_rewrite and has_model
    return is_wanted and read_list_query(turn.ask.question, before, read) is None


def _search(
    turn: Turn,
    search: Callable[[], Vault],
    before: tuple[LoggedTurn, ...],
    partly: PartlyRead | None,
) -> Generator[Event, None, RetrievalResult]:
    yield Step("search", f"Searching for “{turn.query.text}”" if turn.query.text else "Searching…")
    query = turn.query.text or turn.ask.question
    session_notes = list_notes_in_play(before, turn.attached)
    reranks = not turn.ask.dry_run or turn.asked_on is not None
    is_quoted = turn.model_name == EXTRACTIVE
    # Quoted answers consist only of passages, so they need passages from all notes.
    known = () if is_quoted else turn.customization.instructions
    top_k, most = turn.settings.retrieval_top_k, _count_wanted(turn)
    # Passages of notes in the system message are left out, so more are searched for.
    wanted = most * (2 if turn.is_in_project else 1)

    options = SearchOptions(
        session_notes,
        reranks=reranks,
        is_quoted=is_quoted,
        rebuilds=True,
        today=turn.asked_on,
        on_wait=turn.cancel.raise_if_cancelled,
    )

    def find(text: str, k: int) -> SearchResult:
        return search().search(text, k, options)

    today = turn.asked_on or date.today()
    dated = PeriodSearch(find, lambda paths: search().find_days(paths), today)

    def find_all() -> tuple[SearchResult, int]:
        of_period = MOST_PASSAGES_OF_PERIOD if is_quoted else PERIOD_TIMES * top_k
        if (whole := dated.list_period(query, of_period)) is not None:
            return whole, of_period
        find_one = partial(dated.search, k=wanted)
        return _search_to_quote(find_one, query, partly) if is_quoted else find_one(query), most

    result, most = call(find_all, turn.cancel)
    gap = BLANK_LINES if is_quoted else 0
    found = build_passages(result.hits, turn.attached, known, gap)[:most]
    yield from map(Warned, result.warnings)
    corrected = "" if result.query == query else result.query
    ways = {SEARCHED_BY: list(result.by)} if result.by else {}
    stored_fields = {**ways, **_store_support(result.support)}
    searched = SearchedQuery(corrected, result.support, result.has_notes)
    return RetrievalResult(searched, found, result.warnings, stored_fields, by=result.by)


def _search_to_quote(
    find: Callable[[str], SearchResult], message: str, partly: PartlyRead | None
) -> SearchResult:
    """Search for the subject of a message, and for each of the things that it asks about.

    If no hit fulfils the filter that was understood, or not all of the few notes that do are found,
    these notes are searched as well. If a message such as "Thanks!" names nothing to look up, and
    no folder, the result has no hits.
    """
    # Its regular expressions take long to compile, and most searches do without them.
    from chains.extractive import question

    result = find(question.extract_subject(message))
    if not question.can_be_looked_up(result.query, (hit.title for hit in result.hits)):
        return _search_folder(find, result)
    mixed = mix_results([result, *map(find, question.split_question(result.query))])
    found = {hit.path for hit in mixed.hits}
    is_few = partly is not None and len(partly.paths) <= FEW_NOTES
    if partly is None or (found >= partly.paths if is_few else found & partly.paths):
        return mixed
    return mix_results([mixed, find(f"{partly.query} {partly.left}")])


def _search_folder(find: Callable[[str], SearchResult], result: SearchResult) -> SearchResult:
    """Search the folder that has the name that was searched for, such as "People".

    If no note that was found is in such a folder, the result has no hits.
    """
    paths = (PurePosixPath(hit.path).parent for hit in result.hits)
    folders = (name for path in paths for name in path.parts)
    wanted = fold(result.query.strip("?!. "))
    named = next((name for name in folders if fold(name) == wanted), None)
    if named is None:
        return replace(result, hits=())
    return replace(find(f'folder:"{named}"'), query=result.query)


def _read_earlier(stored_fields: Mapping[str, Any]) -> RetrievalResult:
    """Read the query of an earlier search and the quality of its results from the log."""
    text, support = str(stored_fields.get(SEARCHED, "")), _read_support(stored_fields)
    return RetrievalResult(SearchedQuery(text, support), by=read_ways(stored_fields))


def _store_support(support: Support | None) -> Mapping[str, Any]:
    """Return the log fields that store how well passages support a quoted answer."""
    if support is None:
        return {}
    weights = {word: round(weight, 3) for word, weight in support.weights.items()}
    return {SUPPORT: round(support.score, 3), SUPPORT_WEIGHTS: weights}


def _read_support(stored_fields: Mapping[str, Any]) -> Support | None:
    """Read the fields that `_store_support` returned.

    Return None if they are missing, or if an older version of Strata stored them without weights.
    """
    score, weights = stored_fields.get(SUPPORT), stored_fields.get(SUPPORT_WEIGHTS)
    if not isinstance(score, int | float) or not isinstance(weights, Mapping):
        return None
    known = {str(word): weight for word, weight in weights.items() if _is_number(weight)}
    return Support(float(score), known)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _list_notes(
    turn: Turn,
    search: Callable[[], Vault],
    before: tuple[LoggedTurn, ...],
    read: ReadQuestion,
) -> Generator[Event, None, RetrievalResult | None]:
    """List what a message asks for, or return None if the message is to be searched for."""
    listed = read_list_query(turn.ask.question, before, read)
    if listed is None or listed.is_of_one:
        return None
    query = listed.query
    yield Step("search", f"Listing “{query}”" if query else "Listing all notes")

    def list_page() -> SearchResult:
        return search().list_notes(query, MOST_LISTED, listed.offset, rebuilds=True)

    result = call(list_page, turn.cancel)
    if listed.is_tentative and (result.is_partial or not result.hits or result.literal == 0):
        return None
    if listed.is_tentative and turn.model_name == EXTRACTIVE and _is_collection(result, query):
        return None
    if not result.total:
        rows = call(lambda: find_fitting_rows(search(), parse_query(query)), turn.cancel)
        if rows.lines and turn.model_name == EXTRACTIVE:
            row_page = tell_rows(rows, result.describe_total(), turn.attached)
            # Its filter can be changed in the window, as that of a list.
            stored_fields = {LISTED: {"query": query, "next": None, "total": 0}}
            filters = describe_list(listed)
            return RetrievalResult(
                segments=row_page.segments, stored_fields=stored_fields, filter=filters
            )
        if rows.is_any or listed.is_guessed:
            return None
    page = build_page(result, listed, turn.attached, measure_list_room(turn), turn.counter)
    # A quoted answer begins with the summary itself.
    is_told = turn.model_name == EXTRACTIVE
    warnings = result.warnings if is_told else (*result.warnings, page.summary)
    yield from map(Warned, warnings)
    return RetrievalResult(
        segments=page.segments,
        warnings=warnings,
        stored_fields=page.stored_fields,
        filter=describe_list(listed),
    )


def _is_collection(result: SearchResult, query: str) -> bool:
    """Return whether only the note is found that has the name of the things asked for.

    "Which setting makes it dark?" does not ask for the note "Settings", but for a line of it.
    """
    kinds = list_kinds(parse_query(query))
    return result.total == 1 and any(are_alike(result.hits[0].title, kind) for kind in kinds)


def _find_understood(
    turn: Turn,
    search: Callable[[], Vault],
    before: tuple[LoggedTurn, ...],
    read: ReadQuestion,
) -> PartlyRead | None:
    """Return what was understood of a request for a list that is searched for, or None.

    Only a quoted answer says it.
    """
    listed = read_list_query(turn.ask.question, before, read)
    if turn.model_name != EXTRACTIVE or listed is None or not listed.is_tentative:
        return None
    query = parse_query(listed.query)
    filters, left = replace(query, words=""), " ".join(query.words.split())
    if query.task_kind or not left or not (understood := describe_filters(filters)):
        return None
    fitting = call(lambda: search().list_notes(write_query(filters), MOST_LISTED), turn.cancel)
    paths = frozenset(hit.path for hit in fitting.hits)
    return PartlyRead(write_query(filters), understood, left, paths)


def _tell_property(
    turn: Turn, search: Callable[[], Vault], read: ReadQuestion
) -> RetrievalResult | None:
    """Return the property that a message asks for, or a sum, for a quoted answer, or None."""
    reading = read(turn.ask.question)
    if turn.model_name != EXTRACTIVE or reading is None:
        return None
    if reading.operation in ("sum", "mean"):
        total = call(lambda: tell_total(search(), reading, turn.attached), turn.cancel)
        told_filter = {"query": reading.query, "text": ""}
        return (
            None if total is None else RetrievalResult(segments=total.segments, filter=told_filter)
        )
    if reading.operation != "value":
        return None
    stop = turn.cancel.raise_if_cancelled
    page = call(lambda: tell_value(search(), reading, turn.attached, stop), turn.cancel)
    told_filter = {"query": reading.query, "text": ""}
    return None if page is None else RetrievalResult(segments=page.segments, filter=told_filter)


def _list_turns_before(turn: Turn) -> tuple[LoggedTurn, ...]:
    found, message = list_turns(turn.session.path()), turn.user_message
    if message is None:
        return found
    return tuple(one for one in found if one.user is None or one.user.id != message.id)


def read_ways(stored_fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the ways in which notes were searched for a turn, as the log has them.

    Args:
        stored_fields: the fields that are stored with the turn's segments.
    """
    ways = stored_fields.get(SEARCHED_BY)
    return tuple(map(str, ways)) if isinstance(ways, Sequence) and not isinstance(ways, str) else ()
