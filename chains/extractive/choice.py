"""Choose the parts of the sources that answer a question, without a language model.

A part (a sentence, a list item, a section) scores higher the more words it shares with the
question, especially rare ones. Words in its headings or in the introduction of its list count less.
The best parts are then compared with the question by meaning. The kind of question decides which
kinds of parts are preferred. A question about several things gets a part for each.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from chains.extractive.parts import Part, PartKind, build_parts, verify_part
from chains.extractive.question import DATE, FIGURES, AskedQuestion, Facet, QuestionKind
from chains.extractive.words import measure_match, split_words, weigh_words
from context.layers import Segment
from vault.notes.keywords import FUNCTION_WORDS

__all__ = ["ChosenParts", "Compare", "choose_parts"]

# Returns the cosine similarity of a question and each of a few texts, or an empty sequence if they
# cannot be compared.
Compare = Callable[[str, Sequence[str]], Sequence[float]]

AROUND_WORTH: Final = 0.55
FIRST_AROUND_WORTH: Final = 0.65
ADDED_WORTH: Final = 0.5
APPENDIX_WORTH: Final = 0.6
RANK_WORTH: Final = 0.3
FACET_OWN: Final = 2.5
FACET_OTHERS: Final = 0.2
DATED_WORTH: Final = 1.2
DEFINING_WORTH: Final = 1.3
DETAIL_WORTH: Final = 0.8
FIGURE_WORTH: Final = 1.2
EXACT_FIGURE_WORTH: Final = 1.4
NAMED_FIRST_WORTH: Final = 1.3
TITLE_WORTH: Final = 1.15
MOST_OF_FACET: Final = 3
MOST_NOTES: Final = 5
LEAST_OF_NOTE: Final = 0.6
SHORT_SECTION_WORDS: Final = 60
CODE_WORTH: Final = 1.12
STEPS_WORTH: Final = 1.1
SINGLE_STEP_WORTH: Final = 0.8
RECORD_WORTH: Final = 0.8
LONG_WORDS: Final = 150
LONG_LIST_WORTH: Final = 0.85
OTHER_COLLECTION_WORTH: Final = 0.8
COLLECTION_WORTH: Final = 0.6
MOST_COMPARED: Final = 20
MOST_COMPARED_OF_SOURCE: Final = 6
MOST_WORDS_COMPARED: Final = 28
# Fitted to the parts that answer 186 questions about three vaults.
MEANING_WORTH: Final = 1.2

_WORTH: Final[Mapping[QuestionKind, Mapping[PartKind, float]]] = {
    "fact": {"sentences": 1.0, "item": 1.0, "row": 1.0, "list": 0.75, "section": 0.55},
    "time": {"sentences": 1.0, "item": 1.0, "row": 1.0, "list": 0.7, "section": 0.55},
    "how_to": {"sentences": 0.9, "item": 1.0, "row": 0.8, "list": 1.05, "section": 0.9},
    "list": {"sentences": 0.95, "item": 0.9, "row": 0.7, "list": 1.15, "section": 0.85},
}
# More parts are quoted while all of them together have only so many words.
MOST_SHORT: Final = 5
MOST_WORDS_SHORT: Final = 100
# The minimum worth of the other parts of an answer relative to the best one.
_LEAST: Final[Mapping[QuestionKind, float]] = {
    "fact": 0.75,
    "time": 0.75,
    "how_to": 0.85,
    "list": 0.8,
}

_DEFINED: Final = re.compile(
    r"(?:(?:the|an?|der|die|das)\s+)?([^.:;\n–—]{2,60}?)[*`_]*"
    r"\s*(?:[:–—]|\s-\s|\s(?:is|are|means?|refers?|stands? for|ist|sind)\s)",
    re.IGNORECASE,
)
_SUMMARY: Final = re.compile(
    r"(?:simple )?(?:summary|abstract|overview|introduction|description|purpose|definitions?"
    r"|zusammenfassung|r[eé]sum[eé]|resumen)\b",
    re.IGNORECASE,
)
_APPENDIX: Final = re.compile(
    r"(?:references?|links?|see also|further reading|sources|footnotes|citations?|quellen)\b",
    re.IGNORECASE,
)
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY: Final = re.compile(
    rf"\b(?:19|20)\d\d-\d\d-\d\d\b|\b\d{{1,2}}\.? {_MONTH} (?:19|20)\d\d\b"
    rf"|\b{_MONTH} \d{{1,2}},? (?:19|20)\d\d\b",
    re.IGNORECASE,
)
_TO_DO: Final = re.compile(r"[ \t]*[-*+•] \[ \] ")
_STEP: Final = re.compile(r"[ \t]*(?:`|~~~|(?:[-*+•]|\d{1,3}[.)]) )")
_ISO_DATE: Final = re.compile(r"\b((?:19|20)\d\d)[-./]?(\d\d)?[-./]?(\d\d)?\b")


@dataclass(frozen=True)
class ChosenParts:
    """The parts of the sources, such as sentences and lists, that answer a question best.

    Attributes:
        parts: the parts, best first, but those below the same headings together. If the question
            asks for the first or last time of something, they are sorted by date.
        closest: the highest cosine similarity between the question and a part, or None if no part
            was compared.
    """

    parts: tuple[Part, ...]
    closest: float | None = None


@dataclass(frozen=True)
class _Scored:
    part: Part
    worth: float
    form: float
    cosine: float | None = None


def choose_parts(
    question: AskedQuestion, sources: Sequence[Segment], compare: Compare | None = None
) -> ChosenParts:
    """Return the parts of the sources that answer a question.

    Args:
        question: the question.
        sources: the sources, the best ones first.
        compare: compares a question with short texts by meaning. If None, only words are compared.
    """
    parts = [part for source in sources for part in build_parts(source)]
    if question.kind == "how_to":
        parts = [*map(_cut_after_steps, parts)]
    small = [part.words | part.words_around for part in parts if part.kind != "section"]
    weights = weigh_words(question.words, small)
    weights |= {word: weights[word] * ADDED_WORTH for word in question.added}
    chosen: list[_Scored] = []
    cosines: list[float] = []
    for facet in question.facets:
        ranked = _rank(question, parts, weights, facet)
        if compare is not None:
            ranked = _rank_by_meaning(facet.leave_out_others(question.searched), ranked, compare)
        cosines += (scored.cosine for scored in ranked if scored.cosine is not None)
        _add_best(question, ranked, chosen)
    found = [_widen(question, scored.part, parts) for scored in chosen]
    found = [part for at, part in enumerate(found) if not any(map(part.overlaps, found[:at]))]
    if question.order:
        found.sort(key=_read_date, reverse=question.order == "last")
    else:  # quotations below the same headings stand together
        places = list(dict.fromkeys(part.place for part in found))
        found.sort(key=lambda part: places.index(part.place))
    return ChosenParts(tuple(found), max(cosines, default=None))


def _widen(question: AskedQuestion, part: Part, parts: Sequence[Part]) -> Part:
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
        and not each.is_collection
        and (shows_code or not each.has_one_code_block)
    )
    short = (each for each in whole if len(each.text.split()) <= SHORT_SECTION_WORDS)
    return next(filter(None, map(verify_part, short)), part)


def _rank(
    question: AskedQuestion, parts: Sequence[Part], weights: Mapping[str, float], facet: Facet
) -> list[_Scored]:
    own = _weigh_facet(weights, facet)
    names = weights.keys() - facet.others
    forms = ((part, _weigh_form(question, part, names)) for part in parts)
    return _sort([_Scored(part, _measure_match(part, own) * form, form) for part, form in forms])


def _sort(scored: Sequence[_Scored]) -> list[_Scored]:
    return sorted(scored, key=lambda each: -each.worth)


def _rank_by_meaning(asked: str, ranked: Sequence[_Scored], compare: Compare) -> list[_Scored]:
    """Rank the best parts again by how similar their text and headings are to a question."""
    best = list(_choose_compared(ranked))
    cosines = compare(asked, [_write_compared(scored.part) for scored in best])
    if not cosines:
        return list(ranked)
    found = [_add_meaning(each, cosine) for each, cosine in zip(best, cosines, strict=True)]
    compared = set(map(id, best))
    return _sort([*found, *(each for each in ranked if id(each) not in compared)])


def _choose_compared(ranked: Sequence[_Scored]) -> Iterator[_Scored]:
    """Choose the parts whose meaning is compared with the question, best first.

    Only a few are taken from each source, because each comparison takes time.
    """
    counts: Counter[int] = Counter()
    for scored in ranked:
        counts[scored.part.number] += 1
        if counts[scored.part.number] <= MOST_COMPARED_OF_SOURCE:
            yield scored
        if sum(min(count, MOST_COMPARED_OF_SOURCE) for count in counts.values()) >= MOST_COMPARED:
            return


def _add_meaning(scored: _Scored, cosine: float) -> _Scored:
    nearness = MEANING_WORTH * max(0.0, cosine)
    return replace(scored, worth=scored.worth + scored.form * nearness, cosine=cosine)


def _write_compared(part: Part) -> str:
    """Return the text of a part for the comparison by meaning: its headings and first words.

    Longer texts take longer to compare, so the rest is left out.
    """
    text = f"{part.place}. {part.text}" if part.place else part.text
    return " ".join(text.split()[:MOST_WORDS_COMPARED])


def _measure_match(part: Part, weights: Mapping[str, float]) -> float:
    """Score a part by the words of the question that it contains and by the rank of its source.

    Args:
        part: the part of a source.
        weights: the weight of each word of the question.
    """
    total = sum(weights.values()) or 1.0
    around = FIRST_AROUND_WORTH if part.is_first else AROUND_WORTH
    matched = sum(
        weight
        * max(measure_match(word, part.words), around * measure_match(word, part.words_around))
        for word, weight in weights.items()
    )
    return matched / total + RANK_WORTH / max(1, part.number)


def _weigh_form(question: AskedQuestion, part: Part, names: AbstractSet[str]) -> float:
    """Return a factor for a part's score, by how well its kind and position suit the question.

    Args:
        question: the question.
        part: the part of a source.
        names: the words of the question. If they include all words of the note's title, the part
            scores higher.
    """
    worth = _WORTH[question.kind][part.kind]
    above = " ".join(part.heading[-1:])
    if question.kind == "time" and DATE.search(part.text):
        worth *= DATED_WORTH
    if question.kind == "how_to":
        worth *= _weigh_instructions(part)
    if question.defines:
        worth *= DEFINING_WORTH if part.is_first or _SUMMARY.match(above) else 1.0
        if _names_first(part, question.words):
            worth *= NAMED_FIRST_WORTH
        elif part.kind in {"item", "row"}:
            worth *= DETAIL_WORTH
    is_list = part.kind in {"list", "section"}
    if is_list and len(part.text.split()) > LONG_WORDS:
        worth *= LONG_LIST_WORTH
    is_named = bool(part.title_words) and part.title_words <= names
    if question.kind == "list" and part.is_collection and not is_named:
        worth *= OTHER_COLLECTION_WORTH
    if question.figure and FIGURES[question.figure].search(part.text):
        worth *= FIGURE_WORTH if question.figure == "number" else EXACT_FIGURE_WORTH
    if is_named:
        worth *= TITLE_WORTH
    return worth * (APPENDIX_WORTH if _APPENDIX.match(above) else 1.0)


def _names_first(part: Part, words: AbstractSet[str]) -> bool:
    """Return whether a part starts with a definition of the term that the question asks about."""
    found = _DEFINED.match(part.text.lstrip(" \t-*+•`>|"))
    named = frozenset() if found is None else split_words(found[1])
    return bool(words) and words <= named <= words | FUNCTION_WORDS


def _weigh_instructions(part: Part) -> float:
    """Return a factor for a part's score, by how well its form suits a request for instructions."""
    if part.is_collection:
        return COLLECTION_WORTH
    if part.is_ordered:
        return STEPS_WORTH
    if _is_record(part):
        return RECORD_WORTH
    if part.kind == "item" and part.is_numbered:
        return SINGLE_STEP_WORTH
    has_code = any("`" in line for piece in part.pieces for line in piece)
    return CODE_WORTH if part.kind == "item" and has_code else 1.0


def _weigh_facet(weights: Mapping[str, float], facet: Facet) -> dict[str, float]:
    def weigh(word: str) -> float:
        return FACET_OWN if word in facet.own else FACET_OTHERS if word in facet.others else 1.0

    return {word: weight * weigh(word) for word, weight in weights.items()}


def _add_best(question: AskedQuestion, ranked: Sequence[_Scored], chosen: list[_Scored]) -> None:
    verified = _verify(ranked)
    best = next(verified, None)
    if best is None:
        return
    most, least = MOST_OF_FACET, best.worth * _LEAST[question.kind]
    if question.asks_for_notes:
        most, least = MOST_NOTES, best.worth * LEAST_OF_NOTE
    if question.kind == "how_to":
        quoted = _widen(question, best.part, [scored.part for scored in ranked])
        if _has_steps(quoted):
            verified = (scored for scored in verified if not _is_record(scored.part))
    added = words = 0
    for scored in chain((best,), verified):
        if added >= max(most, MOST_SHORT) or scored.worth < least or scored.worth <= 0:
            break
        length = len(scored.part.text.split())
        if added >= most and words + length > MOST_WORDS_SHORT:
            continue
        is_known = any(scored.part.overlaps(other.part) for other in chosen)
        repeats = any(_repeats(question, scored.part, other.part) for other in chosen)
        if is_known and len(question.facets) > 1 and not added:
            added += 1  # the part was chosen for another facet, and answers this one too
        if not is_known and not repeats:
            chosen.append(scored)
            added += 1
            words += length


def _cut_after_steps(part: Part) -> Part:
    """Remove the paragraphs at the end of a section that tell what happened on a day.

    They do not belong to the steps or commands before them.
    """
    if part.kind != "section" or not _has_steps(part):
        return part
    pieces = list(part.pieces)
    while not _STEP.match(pieces[-1][0]) and _DAY.search(" ".join(pieces[-1])):
        pieces.pop()
    return replace(part, pieces=tuple(pieces))


def _has_steps(part: Part) -> bool:
    """Return whether a part is a list or section that contains steps or commands."""
    is_long = part.kind in {"list", "section"}
    return is_long and any(_STEP.match(piece[0]) for piece in part.pieces)


def _is_record(part: Part) -> bool:
    """Return whether each line of a part tells what happened on a day, or what is to be done."""
    lines = [line for piece in part.pieces for line in piece if line.strip()]
    return all(_TO_DO.match(line) or _DAY.search(line) for line in lines)


def _verify(ranked: Sequence[_Scored]) -> Iterator[_Scored]:
    """Yield the parts that can be quoted, limited to text that occurs verbatim in their source."""
    for scored in ranked:
        if (part := verify_part(scored.part)) is not None:
            yield replace(scored, part=part)


def _repeats(question: AskedQuestion, part: Part, other: Part) -> bool:
    """Return whether a part adds nothing to another part, which was already chosen."""
    is_of_note = question.asks_for_notes and part.title == other.title
    return is_of_note or part.pieces == other.pieces


def _read_date(part: Part) -> str:
    found = [match.group() for match in _ISO_DATE.finditer(part.text)]
    return max(found, default="")
