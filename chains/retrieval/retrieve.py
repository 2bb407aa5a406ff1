"""The retrieval step of a turn: build the query, search the vault, number the passages."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, partial
from typing import Any, Final

from chains.concurrency import call
from chains.events import Event, Step, Warned
from chains.models import EXTRACTIVE
from chains.request.request import SEARCHED, TurnContext
from chains.request.usage import CallUsage
from chains.retrieval.follow_up import (
    RewrittenQuery,
    expand_query,
    list_notes_in_play,
    read_last_turn,
    rewrite_query,
)
from chains.retrieval.listing import build_page, build_value_page, find_property_line
from chains.retrieval.listing_query import read_list_query
from chains.retrieval.passages import build_passages
from chains.retrieval.period_search import MOST_PASSAGES_OF_PERIOD, PeriodSearch, mix_results
from context.assemble.turn_context import TURN_CONTEXT_SHARE, compute_passages_share
from context.history.turns import LoggedTurn, list_turns
from context.layers import Segment
from context.tokens import count_segment
from vault.questions.reader import Reading
from vault.quotes.sections import Support
from vault.search.hits import SearchResult
from vault.vault import Vault

__all__ = ["RetrievalResult", "read_ways", "retrieve"]

SUPPORT: Final = "support"
SUPPORT_WEIGHTS: Final = "supportWeights"
MOST_LISTED: Final = 500
# Only a few lines of each passage are quoted, so for a quoted answer, this many times as many
# passages are searched for.
# Of 186 questions about three vaults, the evidence was found for 159 with 8, and for 170 with 20.
QUOTED_TIMES: Final = 2.5
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
        searched: the search query, or an empty string if the query is the user message itself.
        support: how well the passages support an answer made of quotations, or None if it was not
            measured.
        has_notes: whether there were notes to search.
        segments: the passages found, or one page of a list of notes. Their numbers continue after
            those of the attachments.
        warnings: one sentence for each problem.
        stored_fields: extra fields to store in the log with the segments.
        calls: the usage of the calls that rewrote the query.
        by: the ways of searching that were used: `words`, `meaning`, or both.
        filter: the filter of a list, as a query and in words, or None.
    """

    searched: str = ""
    support: Support | None = None
    has_notes: bool = True
    segments: tuple[Segment, ...] = ()
    warnings: tuple[str, ...] = ()
    stored_fields: Mapping[str, Any] = field(default_factory=dict)
    calls: tuple[CallUsage, ...] = ()
    by: tuple[str, ...] = ()
    filter: Mapping[str, str] | None = None

    def shift_numbers(self, more: int) -> tuple[Segment, ...]:
        """Return the segments with `more` added to their citation numbers."""
        return tuple(
            segment if segment.number is None else replace(segment, number=segment.number + more)
            for segment in self.segments
        )


def retrieve(context: TurnContext) -> Generator[Event, None, RetrievalResult]:
    """Search the vault for a user message. Chains without retrieval return an empty result.

    When an answer is regenerated, the query and segments are read from the log instead.
    """
    search, request = context.chain.search, context.request
    if search is None:
        return RetrievalResult()
    if request.is_regenerated:
        sent = list_turns(context.session.path())
        return _read_earlier(sent[-1].stored_fields) if sent else RetrievalResult()
    vault = context.chain.vault
    read = cache(_read_nothing if vault is None else vault.read_question)
    before = _list_turns_before(context)
    query = yield from _choose_query(context, before, read)
    context = context.with_query(query.text)
    found = yield from _list_notes(context, search, before, read)
    if found is None:
        found = _tell_property(context, search, read)
    if found is None:
        found = yield from _search(context, search, before)
    warnings = (*query.warnings, *found.warnings)
    searched = found.searched or query.text
    return replace(found, searched=searched, warnings=warnings, calls=query.calls)


def _read_nothing(_question: str) -> None:
    return None  # no vault is open


def _choose_query(
    context: TurnContext, before: tuple[LoggedTurn, ...], read: ReadQuestion
) -> Generator[Event, None, RewrittenQuery]:
    """Choose the search query for a user message, and yield progress events.

    Args:
        context: the values shared by the steps of the turn.
        before: the earlier turns of the session.
        read: reads a question against the vault.

    Returns:
        The query. Its text is empty if the user message itself is the query.
    """
    request = context.request
    last, rewritten = read_last_turn(before), RewrittenQuery()
    if last is not None and _is_rewritten(context, before, read):
        yield Step("search", "Putting the question into words to search for")
        rewritten = call(lambda: rewrite_query(context, last), context.cancel)
    yield from map(Warned, rewritten.warnings)
    text = rewritten.text or expand_query(request.question, last)
    return replace(rewritten, text="" if text == request.question else text)


def _is_rewritten(context: TurnContext, before: tuple[LoggedTurn, ...], read: ReadQuestion) -> bool:
    request = context.request
    is_wanted = request.rewrites and not request.dry_run and request.model != EXTRACTIVE
    return is_wanted and read_list_query(request.question, before, read=read) is None


def _search(
    context: TurnContext, search: Callable[[], Vault], before: tuple[LoggedTurn, ...]
) -> Generator[Event, None, RetrievalResult]:
    request = context.request
    yield Step(
        "search", f"Searching for “{request.searched}”" if request.searched else "Searching…"
    )
    query = request.searched or request.question
    in_play = list_notes_in_play(before, request.attached)
    reranks = not request.dry_run
    is_quoted = request.model == EXTRACTIVE
    # Quoted answers consist only of passages, so they need passages from all notes.
    known = () if is_quoted else context.customization.instructions
    most = int(request.top_k * QUOTED_TIMES) if is_quoted else request.top_k
    # Passages of notes in the system message are left out, so more are searched for.
    wanted = most * (1 if context.chain.project is None else 2)

    def find(text: str, k: int) -> SearchResult:
        return search().search(
            text, k, in_play=in_play, reranks=reranks, is_quoted=is_quoted, rebuilds=True
        )

    dated = PeriodSearch(find, lambda paths: search().find_days(paths), date.today())

    def find_all() -> tuple[SearchResult, int]:
        of_period = MOST_PASSAGES_OF_PERIOD if is_quoted else PERIOD_TIMES * request.top_k
        if (whole := dated.list_period(query, of_period)) is not None:
            return whole, of_period
        find_one = partial(dated.search, k=wanted)
        return _search_to_quote(find_one, query) if is_quoted else find_one(query), most

    result, most = call(find_all, context.cancel)
    gap = BLANK_LINES if is_quoted else 0
    found = build_passages(result.hits, request.attached, known, gap)[:most]
    yield from map(Warned, result.warnings)
    corrected = "" if result.query == query else result.query
    ways = {SEARCHED_BY: list(result.by)} if result.by else {}
    stored_fields = {**ways, **_store_support(result.support)}
    quality = corrected, result.support, result.has_notes
    return RetrievalResult(*quality, found, result.warnings, stored_fields, by=result.by)


def _search_to_quote(find: Callable[[str], SearchResult], message: str) -> SearchResult:
    """Search for the subject of a message, and for each of the things that it asks about.

    If a message such as "Thanks!" names nothing to look up, the result has no hits.
    """
    # Its regular expressions take long to compile, and most searches do without them.
    from chains.extractive import question

    result = find(question.extract_subject(message))
    if not question.can_be_looked_up(result.query, (hit.title for hit in result.hits)):
        return replace(result, hits=())
    return mix_results([result, *map(find, question.split_question(result.query))])


def _read_earlier(stored_fields: Mapping[str, Any]) -> RetrievalResult:
    """Read the query of an earlier search and the quality of its results from the log."""
    by = read_ways(stored_fields)
    return RetrievalResult(
        str(stored_fields.get(SEARCHED, "")), _read_support(stored_fields), by=by
    )


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
    context: TurnContext,
    search: Callable[[], Vault],
    before: tuple[LoggedTurn, ...],
    read: ReadQuestion,
) -> Generator[Event, None, RetrievalResult | None]:
    """List what a message asks for, or return None if the message is to be searched for."""
    listed = read_list_query(context.request.question, before, read=read)
    if listed is None:
        return None
    query = listed.query
    yield Step("search", f"Listing “{query}”" if query else "Listing all notes")

    def list_page() -> SearchResult:
        return search().list_notes(query, MOST_LISTED, listed.offset, rebuilds=True)

    result = call(list_page, context.cancel)
    if listed.is_tentative and (result.is_partial or not result.hits):
        return None
    attached = context.request.attached
    page = build_page(result, listed, attached, _measure_list_tokens(context), context.counter)
    # A quoted answer begins with the summary itself.
    is_told = context.request.model == EXTRACTIVE
    warnings = result.warnings if is_told else (*result.warnings, page.summary)
    yield from map(Warned, warnings)
    return RetrievalResult(
        segments=page.segments,
        warnings=warnings,
        stored_fields=page.stored_fields,
        filter={"query": query, "text": result.filter},
    )


def _tell_property(
    context: TurnContext, search: Callable[[], Vault], read: ReadQuestion
) -> RetrievalResult | None:
    """Return the property that a message asks for, for a quoted answer, or None."""
    reading = read(context.request.question)
    if context.request.model != EXTRACTIVE or reading is None or reading.operation != "value":
        return None
    result = call(
        lambda: search().search(reading.query, MOST_LISTED, rebuilds=True), context.cancel
    )
    hits = [hit for hit in result.hits if reading.property in hit.text.lower()]
    told = find_property_line(hits, reading.property)
    if told is None:
        return None
    page = build_value_page(told, reading.property, context.request.attached)
    return RetrievalResult(segments=page.segments, filter={"query": reading.query, "text": ""})


def _list_turns_before(context: TurnContext) -> tuple[LoggedTurn, ...]:
    found, message = list_turns(context.session.path()), context.request.user_message
    if message is None:
        return found
    return tuple(turn for turn in found if turn.user is None or turn.user.id != message.id)


def _measure_list_tokens(context: TurnContext) -> int:
    request, counter = context.request, context.counter
    budget = context.compute_request_budget(context.factor).budget
    attached = sum(count_segment(segment, counter) for segment in request.attached)
    share = compute_passages_share(budget, counter.count(request.question))
    return max(min(share, int(budget * TURN_CONTEXT_SHARE) - attached), share // 2)


def read_ways(stored_fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the ways in which notes were searched for a turn, as the log has them.

    Args:
        stored_fields: the fields that are stored with the turn's segments.
    """
    ways = stored_fields.get(SEARCHED_BY)
    return tuple(map(str, ways)) if isinstance(ways, Sequence) and not isinstance(ways, str) else ()
