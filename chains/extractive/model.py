"""Answer without a language model by quoting notes, with citations.

The answer says that no model is configured. If the search results are too unlike the question, the
answer says so and lists the nearest notes.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from chains.cancel import CancelToken
from chains.extractive.choice import ChosenParts, Compare, choose_parts
from chains.extractive.parts import Part
from chains.extractive.question import AskedQuestion, can_answer, read_question
from chains.extractive.words import (
    is_unspaced,
    measure_match,
    measure_share,
    split_words,
    weigh_length,
)
from chains.extractive.writer import escape_markdown, write_item, write_text
from chains.llm.port import ModelEnded, ModelEvent, ModelText
from context.fit.guard import PreparedRequest
from context.layers import Layer, Segment
from vault.quotes.sections import Support

__all__ = ["LIST_SOURCE", "ExtractiveModel"]

MOST_NAMED: Final = 5
# Passages with less evidence rarely answer a question. The weights and the limit were chosen by
# cross-validation on 228 questions about three vaults: 31 of the 42 without an answer are refused,
# and 3 of the others. A higher cost refuses questions to small vaults, whose words are all rare.
LEAST_EVIDENCE: Final = 0.93
COVERAGE_WORTH: Final = 0.5
MISSING_COST: Final = 1.0
CLOSEST_WORTH: Final = 1.0
# The similarity that is assumed if none was measured.
USUAL_CLOSEST: Final = 0.5
# Used if no support score was measured: passages that contain a smaller share of the question's
# words rarely answer it.
LEAST_COVERAGE: Final = 0.36

FOUND: Final = (
    "No model is set, so here are the passages that fit best, in your notes' own words.\n"
)
NO_SENTENCE: Final = "No model is set. The passages that fit best hold no sentence to quote:\n"
NOTHING_FOUND: Final = (
    "No model is set, and nothing in your notes fits this question. Try other words."
)
NOTHING_ANSWERS: Final = (
    "No model is set, and nothing in your notes answers this question. "
    "These come closest, and may not answer it:\n"
)
NOT_SEARCHED: Final = (
    "No model is set, and this mode does not look into your notes. "
    "Ask in the mode that does, or set a model."
)


LIST_SOURCE: Final = "every note that fits"

# Returns the dates in the properties of notes as ISO 8601, by path.
FindDays = Callable[[Collection[str]], Mapping[str, Sequence[str]]]


class ExtractiveModel:
    """A model port that answers with quotations instead of calling a language model."""

    def __init__(
        self,
        question: str,
        *,
        has_searched: bool,
        searched: str = "",
        support: Support | None = None,
        compare: Compare | None = None,
        find_days: FindDays | None = None,
    ) -> None:
        """Store the question, and the data about its search.

        Args:
            question: the user message.
            searched: the search query if it differs from the user message, otherwise an empty
                string.
            has_searched: whether the notes were searched.
            support: how well the search results support an answer, or None if it was not measured.
            compare: compares a question with short texts by meaning. If None, only words are
                compared.
            find_days: returns the dates in the properties of notes. If None, no dates are written.
        """
        self._question = question
        self._searched = searched
        self._has_searched = has_searched
        self._support = support
        self._compare = compare
        self._find_days = find_days

    def stream(self, request: PreparedRequest, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the answer in pieces, then `ModelEnded`."""
        own = [segment for segment in request.segments if segment.layer is Layer.L3]
        for piece in self._write_pieces(own):
            cancel.raise_if_cancelled()
            yield ModelText(piece)
        yield ModelEnded("complete", "stop")

    def _write_pieces(self, sources: Sequence[Segment]) -> Iterator[str]:
        if not sources:
            yield NOTHING_FOUND if self._has_searched else NOT_SEARCHED
            return
        if any(source.source == LIST_SOURCE for source in sources):
            yield from _write_list(sources)
            return
        question = read_question(self._question, self._searched)
        leading = _choose_leading(question, sources)
        chosen = choose_parts(question, leading, self._compare)
        may_answer = _may_answer(question, leading, self._support, chosen)
        parts = chosen.parts if may_answer else ()
        yield FOUND if parts else NO_SENTENCE if may_answer else NOTHING_ANSWERS
        yield from self._write_parts(parts, sources) if parts else _write_titles(sources)

    def _write_parts(self, parts: Sequence[Part], sources: Sequence[Segment]) -> Iterator[str]:
        """Yield the quotations, each below the title, the headings and the date of its note."""
        numbers = {part.number for part in parts}
        paths = {each.number: each.source for each in sources if each.number in numbers}
        days: Mapping[str, Sequence[str]] = {}
        if self._find_days is not None:
            days = self._find_days(set(paths.values()))
        above = ""
        for part in parts:
            place = _write_place(part, days.get(paths.get(part.number, ""), ()))
            yield f"\n{place}\n" if place != above else ""
            yield f"\n{_write_quotation(part)}\n"
            above = place


def _choose_leading(question: AskedQuestion, sources: Sequence[Segment]) -> Sequence[Segment]:
    """Return the attached sources if the question is about them alone, otherwise all sources."""
    attached = [source for source in sources if not source.is_retrieved]
    return attached if attached and not question.asks_for_more else sources


def _may_answer(
    question: AskedQuestion,
    sources: Sequence[Segment],
    support: Support | None,
    chosen: ChosenParts,
) -> bool:
    """Return whether the sources are likely to answer a question.

    The result is always true if a source is attached, and for questions in scripts without spaces,
    because their words cannot be compared.

    Args:
        question: the question.
        sources: the sources that may be quoted.
        support: how well the search results support an answer, or None if it was not measured.
        chosen: the parts of the sources that would be quoted.
    """
    if any(map(is_unspaced, question.words)) or not all(each.is_retrieved for each in sources):
        return True
    quoted = " ".join(f"{part.place} {part.text}" for part in chosen.parts)
    if quoted and not can_answer(question, quoted):
        return False
    coverage = _measure_coverage(question, sources)
    if support is None:
        return coverage >= LEAST_COVERAGE
    nearness = USUAL_CLOSEST if chosen.closest is None else chosen.closest
    evidence = support.score + COVERAGE_WORTH * coverage + CLOSEST_WORTH * nearness
    return evidence - MISSING_COST * _measure_missing(question, support, chosen) >= LEAST_EVIDENCE


def _measure_missing(question: AskedQuestion, support: Support, chosen: ChosenParts) -> float:
    """Return the weight of the rarest word of a question that the best part does not contain.

    If the notes do not mention the subject of a question, often only the word for it is missing. If
    the question is about several things, or about the first or last time of something, the word
    must be missing in all parts.

    Returns:
        The weight as a fraction of the weight of all words, or 0 if no word is missing.
    """
    weights = {word: support.weights.get(word, 0.0) for word in question.words}
    total = sum(weights.values())
    if not (total and chosen.parts):
        return 0.0
    counts_all = len(question.facets) > 1 or question.order
    best = chosen.parts if counts_all else chosen.parts[:1]
    held = frozenset[str]().union(*(part.words | part.words_around for part in best))
    return max(weights[word] * (1.0 - measure_match(word, held)) for word in weights) / total


def _write_place(part: Part, days: Sequence[str]) -> str:
    """Format the title of a part's note, the headings above the part, and the date of the note.

    If the properties of the note contain several dates, none is written, because the meaning of
    each date is unknown.
    """
    names = dict.fromkeys(name for name in (part.title, *part.heading) if name)
    place = f"*{' › '.join(map(write_text, names))}*" if names else ""
    day = days[0] if len(days) == 1 else ""
    return place if not place or day in place else f"{place} · {day}"


def _write_titles(sources: Sequence[Segment]) -> Iterator[str]:
    for source in sources[:MOST_NAMED]:
        yield f"\n- {escape_markdown(source.title or source.source)} [{source.number}]"


def _write_quotation(part: Part) -> str:
    """Format a part as a block quotation with citation numbers."""
    lines: list[str] = []
    for piece in part.pieces:
        shown = list(piece)
        while shown and not shown[-1]:
            shown.pop()
        lines += _add_number(shown, part.number)
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _add_number(lines: Sequence[str], number: int) -> list[str]:
    last = lines[-1]
    if last.endswith("|") and last.startswith("|"):
        return [*lines[:-1], f"{last[:-1].rstrip()} [{number}] |"]
    if last.lstrip().startswith(("```", "~~~")):
        return [*lines, f"[{number}]"]
    return [*lines[:-1], f"{last} [{number}]"]


def _write_list(sources: Sequence[Segment]) -> Iterator[str]:
    """Yield a page of a note list: a summary, then one line per note."""
    for source in sources:
        if source.source == LIST_SOURCE:
            yield f"{source.raw_content}\n"
        elif source.kind == "passage":
            title = escape_markdown(source.title or source.source)
            yield f"\n- {title}: {write_item(source.raw_content)} [{source.number}]"


def _measure_coverage(question: AskedQuestion, sources: Sequence[Segment]) -> float:
    """Return the highest fraction of the question's words that one source contains."""
    weights = {word: weigh_length(word) for word in question.words}

    def cover(source: Segment) -> float:
        words = split_words(" ".join((source.title, *source.heading, source.raw_content)))
        return measure_share(weights, words)

    return max(map(cover, sources), default=0.0)
