"""Choose the parts of the sources that answer a question, without a language model.

The best part is quoted, together with other parts that score nearly as high. A short section is
quoted as a whole. A question about several things gets a part for each.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from types import MappingProxyType
from typing import Final

from chains.extractive.part_builder import build_parts
from chains.extractive.parts import Part, verify_part
from chains.extractive.period import Period, list_days
from chains.extractive.question import AskedQuestion, QuestionKind
from chains.extractive.ranking import Compare, ScoredPart, rank_parts
from chains.extractive.words import measure_match
from context.layers import Segment
from vault.notes.date_spans import Span
from vault.notes.dates import find_written_spans
from vault.notes.text.markdown_text import list_inner_headings

__all__ = ["ChosenParts", "choose_beginnings", "choose_parts", "list_sources_in_period"]

MOST_OF_FACET: Final = 3
MOST_NOTES: Final = 5
MARGIN_OF_NOTE: Final = 4.0
SHORT_SECTION_WORDS: Final = 60

# More parts are quoted while all of them together have only so many words.
MOST_SHORT: Final = 5
MOST_WORDS_SHORT: Final = 100
# A part without a word of the question is quoted beside others only if it is as similar as this.
LEAST_COSINE: Final = 0.3
# The most words that are quoted for one of the things that a question asks about. The best part is
# quoted even if it is longer.
_MOST_WORDS: Final[Mapping[QuestionKind, int]] = {
    "fact": 110,
    "time": 110,
    "how_to": 200,
    "list": 250,
}
# How much lower than the best part the other parts of an answer may score.
_MARGINS: Final[Mapping[QuestionKind, float]] = {
    "fact": 2.0,
    "time": 2.0,
    "how_to": 2.0,
    "list": 1.5,
}

# The most words that are quoted for a period, and the fewest that each of its notes gets. So if
# there are many notes, more words are quoted.
MOST_WORDS_OF_PERIOD: Final = 260
LEAST_WORDS_OF_NOTE: Final = 30

# How much lower than the best part with a date another one may score and be quoted first.
MARGIN_OF_DATED: Final = 3.0


@dataclass(frozen=True)
class ChosenParts:
    """The parts of the sources, such as sentences and lists, that answer a question best.

    Attributes:
        parts: the parts, best first, with those below the same headings grouped together. If the
            question asks for the first or last time of something, they are sorted by date.
        quoted: the chosen parts as they appear in the answer. A sentence from a short paragraph is
            replaced with the whole paragraph.
        highest_cosine: the highest cosine similarity between the question and a part, or None if no
            part was compared.
    """

    parts: tuple[Part, ...]
    quoted: tuple[Part, ...] = ()
    highest_cosine: float | None = None


def choose_parts(
    question: AskedQuestion,
    sources: Sequence[Segment],
    compare: Compare | None = None,
    rarity: Mapping[str, float] = MappingProxyType({}),
) -> ChosenParts:
    """Return the parts of the sources that answer a question.

    Args:
        question: the question.
        sources: the sources, best first.
        compare: a function that compares a question with short texts by meaning. If None, only
            words are compared.
        rarity: a weight from 0 to 1 for each word, which is higher if the word is rarer in the
            vault.
    """
    parts = [part for source in sources for part in build_parts(source)]
    if question.kind == "how_to":
        parts = [part.cut_after_steps() for part in parts]
    chosen: list[ScoredPart] = []
    cosines: list[float] = []
    for facet in question.facets:
        ranked = rank_parts(question, parts, facet=facet, rarity=rarity, compare=compare)
        cosines += (scored.cosine for scored in ranked if scored.cosine is not None)
        _add_best(question, _sort_dated(question, ranked) if question.order else ranked, chosen)
    found = _drop_overlapping([_widen_to_section(question, each.part, parts) for each in chosen])
    if question.order:
        found.sort(key=lambda part: _rank_date(question, part))
    else:
        found = _group_by_place(question, found)
    quoted = _drop_overlapping([*map(_widen_to_paragraph, found)])
    return ChosenParts(tuple(found), tuple(quoted), max(cosines, default=None))


def _group_by_place(question: AskedQuestion, parts: Sequence[Part]) -> list[Part]:
    """Group the parts below the same headings.

    Sentences of a paragraph are in their order. If the question asks for a list or instructions, so
    are all parts below the same headings.
    """
    places = list(dict.fromkeys(part.place for part in parts))
    blocks = list(dict.fromkeys((part.number, part.first) for part in parts))
    if question.kind in {"how_to", "list"}:
        blocks.sort()

    def find_position(part: Part) -> tuple[int, int, int]:
        block = blocks.index((part.number, part.first))
        return places.index(part.place), block, part.sentence or 0

    return sorted(parts, key=find_position)


def _drop_overlapping(parts: Sequence[Part]) -> list[Part]:
    return [part for at, part in enumerate(parts) if not any(map(part.overlaps, parts[:at]))]


def list_sources_in_period(
    period: Period, sources: Sequence[Segment], days: Mapping[str, Sequence[str]]
) -> list[Segment]:
    """Return the sources whose notes are dated within a period, sorted by date.

    Args:
        period: the period that the question is about.
        sources: the sources that may be quoted.
        days: the dates in the properties of notes as ISO 8601, by path.
    """
    dated: list[tuple[date, str, int, Segment]] = []
    for source in sources:
        inner = list_inner_headings(source.raw_content, source.structure)
        names = (source.title, source.source, *source.heading, *inner)
        day = period.find_first_day(names, days.get(source.source, ()))
        if day is not None:
            dated.append((day, source.source, source.lines[0] if source.lines else 0, source))
    return [source for *_, source in sorted(dated, key=lambda each: each[:3])]


def choose_beginnings(sources: Sequence[Segment], period: Period) -> tuple[Part, ...]:
    """Choose the first parts of each note. All notes get an equal share of the limit of words.

    Front matter, and parts below a heading that is dated outside the period, are left out.

    Args:
        sources: the sources to quote, at least one.
        period: the period that the question is about.
    """
    share = max(
        LEAST_WORDS_OF_NOTE, MOST_WORDS_OF_PERIOD // len({source.source for source in sources})
    )
    left: dict[str, int] = {}
    chosen: list[Part] = []
    for source in sources:
        for part in _list_in_order(source):
            length = len(part.text.split())
            rest = left.setdefault(source.source, share)
            is_least = rest == share and part.kind in {"sentences", "item"}
            days = list_days(part.heading)
            if days and not period.covers(days):
                continue
            if (is_least or length <= rest) and not any(map(part.overlaps, chosen)):
                chosen.append(part)
                left[source.source] = rest - length
    return tuple(chosen)


def _list_in_order(source: Segment) -> Iterator[Part]:
    """Yield the parts of a source in their order, longer ones before those within them.

    Properties and long parts are skipped.
    """
    built = (part for part in build_parts(source) if not part.property_name)
    parts = sorted(built, key=lambda part: (part.first, -part.end))
    short = (part for part in parts if len(part.text.split()) <= MOST_WORDS_OF_PERIOD)
    return filter(None, map(verify_part, short))


def _widen_to_paragraph(part: Part) -> Part:
    """Return the paragraph of a sentence if the paragraph is short, otherwise the part itself."""
    return verify_part(part.paragraph) or part if part.paragraph is not None else part


def _widen_to_section(question: AskedQuestion, part: Part, parts: Sequence[Part]) -> Part:
    """Return the section that contains a part if it is short enough to quote, otherwise the part.

    A section with a single code block is returned only if the question asks for instructions or
    about several things.
    """
    if part.kind in {"list", "row"}:
        return part
    shows_code = question.kind == "how_to" or len(question.facets) > 1
    whole = (
        each
        for each in parts
        if each.kind == "section"
        and each.overlaps(part)
        and not each.is_command_collection
        and (shows_code or not each.has_one_code_block)
    )
    short = (each for each in whole if len(each.text.split()) <= SHORT_SECTION_WORDS)
    return next(filter(None, map(verify_part, short)), part)


def _add_best(
    question: AskedQuestion, ranked: Sequence[ScoredPart], chosen: list[ScoredPart]
) -> None:
    verified = _verify(ranked)
    best = next(verified, None)
    if best is None:
        return
    most, least = MOST_OF_FACET, best.score - _MARGINS[question.kind]
    if question.asks_for_notes:
        most, least = MOST_NOTES, best.score - MARGIN_OF_NOTE
    if question.kind == "how_to":
        quoted = _widen_to_section(question, best.part, [scored.part for scored in ranked])
        if quoted.has_steps:
            verified = (scored for scored in verified if not scored.part.is_record)
    added = words = 0
    for scored in chain((best,), verified):
        if added >= max(most, MOST_SHORT) or scored.score < least:
            break
        length = len(scored.part.text.split())
        limit = _MOST_WORDS[question.kind] if added < most else MOST_WORDS_SHORT
        if added and (words + length > limit or not _is_related(question, scored)):
            continue
        is_known = any(scored.part.overlaps(other.part) for other in chosen)
        repeats = any(_repeats(question, scored.part, other.part) for other in chosen)
        if is_known and len(question.facets) > 1 and not added:
            added += 1  # the part was chosen for another facet, and answers this one too
        if not is_known and not repeats:
            chosen.append(scored)
            added += 1
            words += length


def _is_related(question: AskedQuestion, scored: ScoredPart) -> bool:
    """Return whether the text of a part, not only the headings above it, is about a question."""
    is_near = scored.cosine is not None and scored.cosine >= LEAST_COSINE
    return is_near or any(measure_match(word, scored.part.words) for word in question.words)


def _verify(ranked: Sequence[ScoredPart]) -> Iterator[ScoredPart]:
    """Yield the parts that can be quoted, limited to text that occurs verbatim in their source."""
    for scored in ranked:
        if (part := verify_part(scored.part)) is not None:
            yield replace(scored, part=part)


def _repeats(question: AskedQuestion, part: Part, other: Part) -> bool:
    """Return whether a part adds nothing to a part that was already chosen."""
    is_of_note = question.asks_for_notes and part.title == other.title
    return is_of_note or part.pieces == other.pieces


def _sort_dated(question: AskedQuestion, ranked: Sequence[ScoredPart]) -> Sequence[ScoredPart]:
    """Move the dated parts among the best matches to the front, sorted by date.

    The latest one is first if the question asks for the last time of something. Otherwise, a
    question such as "When did I last plant peas?" could be answered with an earlier date.
    """
    dated = [scored for scored in ranked if _find_days(scored.part)]
    if not dated:
        return ranked
    held, least = _list_matched(question, dated[0].part), dated[0].score - MARGIN_OF_DATED
    near = [
        scored
        for scored in dated
        if scored.score >= least and held <= _list_matched(question, scored.part)
    ]
    by_date = sorted(near, key=lambda scored: _rank_date(question, scored.part))
    return [*by_date, *(scored for scored in ranked if scored not in near)]


def _list_matched(question: AskedQuestion, part: Part) -> frozenset[str]:
    """Return the words of a question that a part contains, maybe in another form."""
    return frozenset(word for word in question.words if measure_match(word, part.words))


def _rank_date(question: AskedQuestion, part: Part) -> tuple[bool, int]:
    """Return the sort key of a part for a question about the first or last time of something.

    Parts without a date are last.
    """
    days = [first.toordinal() for first, _ in _find_days(part)]
    if question.order == "last":
        return not days, -max(days, default=0)
    return not days, min(days, default=0)


def _find_days(part: Part) -> Collection[Span]:
    """Return the dates in the text of a part, or else in the names of its note and headings."""
    return find_written_spans(part.text) or list_days(part.names)
