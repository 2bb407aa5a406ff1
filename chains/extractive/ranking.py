"""Rank the parts of sources by how well they answer a question.

The score of a part is a weighted sum of a few numbers, such as the fraction of the question's words
that the part contains, and how similar it is to the question in meaning. The weights were fitted by
logistic regression, so that a part that answers the question scores higher than the other parts.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from chains.extractive.answer_type import contains_answer_of_type, mentions_time
from chains.extractive.parts import Part, PartKind
from chains.extractive.period import list_days
from chains.extractive.question import AskedQuestion, Facet, QuestionKind
from chains.extractive.words import (
    list_pairs,
    measure_match,
    measure_share,
    split_words,
    weigh_by_subject,
    weigh_words,
)
from vault.notes.amounts import contains_money
from vault.notes.date_spans import Span
from vault.notes.dates import find_written_spans
from vault.notes.keywords import FUNCTION_WORDS

__all__ = [
    "Compare",
    "ScoredPart",
    "find_days_of_part",
    "list_matched_words",
    "rank_parts",
    "sort_dated",
]

# Returns the cosine similarity of a question and each of a few texts, or an empty sequence if they
# cannot be compared.
Compare = Callable[[str, Sequence[str]], Sequence[float]]

_NUMBER: Final = re.compile(r"\d+")
# Fitted to the parts of the sources that were found for 372 questions about five folders of notes,
# then adjusted by hand. In a sixth folder, of recipes, the first part was right less often.
WORDS_WEIGHT: Final = 4.7
PAIRS_WEIGHT: Final = 4.3
MEANING_WEIGHT: Final = 6.0
RANK_WEIGHT: Final = 0.6
FIRST_WEIGHT: Final = 0.46
TYPE_WEIGHT: Final = 1.7
FORM_WEIGHT: Final = 3.2
# An amount such as "20 EUR" is written in one note or in none, unlike the words beside it. Of 24
# questions for the amounts in the first vault of the bench of lives, such as "What did I pay 20 EUR
# for?", the first section shown has the amount in 10 without this weight, and in 12 with any of 1
# to 4. In the second vault, it changes none of 23.
MONEY_WEIGHT: Final = 3.0
_KIND_SCORES: Final[Mapping[QuestionKind, Mapping[PartKind, float]]] = {
    "fact": {"item": -0.1, "row": -0.2, "property": -0.2, "code": -0.6},
    "time": {"item": -0.1, "row": -0.2, "property": -0.2, "code": -0.6},
    "how_to": {"sentence": -0.6, "row": -1.0, "property": -1.0},
    "list": {"code": -0.6},
}
# The similarity that is assumed for all parts if meanings cannot be compared.
USUAL_COSINE: Final = 0.4
MOST_COMPARED: Final = 32
# The best parts by words are compared first. Then those are that could still be shown if they were
# as similar to the question as this. Of 189 answers, one changed, and a quarter fewer parts were
# compared, in some vaults half as many.
COMPARED_FIRST: Final = 12
HIGH_COSINE: Final = 0.65
# How much lower than the best part another one may score and be shown, as in another section.
MARGIN_OF_SHOWN: Final = 4.0
# The least weight of a word of the question, even if all notes contain it, and the weight of a
# word whose frequency in the vault is unknown.
LEAST_RARITY: Final = 0.02
USUAL_RARITY: Final = 0.5
APPENDIX_WORTH: Final = 0.6
DATED_WORTH: Final = 1.2
PERIOD_WEIGHT: Final = 1.0
DEFINING_WORTH: Final = 1.3
NAMED_FIRST_WORTH: Final = 1.7
TITLE_WORTH: Final = 1.3
STEPS_WORTH: Final = 1.35
ADDED_WORTH: Final = 0.5
FACET_OWN: Final = 2.5
FACET_OTHERS: Final = 0.2
MOST_WORDS_COMPARED: Final = 28
# How much lower than the best part with a date another one may score and be shown first.
MARGIN_OF_DATED: Final = 3.0

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
_STEPS: Final = re.compile(
    r"(?:directions?|instructions?|steps?|methods?|procedure|preparation|usage|how to"
    r"|anleitung|zubereitung|vorgehen)\b",
    re.IGNORECASE,
)
_APPENDIX: Final = re.compile(
    r"(?:references?|links?|see also|further reading|(?:\w+ )?resources|sources|footnotes"
    r"|citations?|quellen)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ScoredPart:
    """A part of a source with its score.

    Attributes:
        score: the score. If the scores of two parts differ by 1, the odds that the higher one
            answers the question are about three times as high.
        cosine: the cosine similarity of the part and the question, or None if they were not
            compared.
    """

    part: Part
    score: float
    cosine: float | None = None


def rank_parts(
    question: AskedQuestion,
    parts: Sequence[Part],
    *,
    facet: Facet,
    rarity: Mapping[str, float],
    compare: Compare | None,
    ranks: Mapping[int, int] = MappingProxyType({}),
) -> list[ScoredPart]:
    """Rank the parts by how well they answer a question, best first.

    Of the parts that match best by words, those are compared by meaning and returned that could be
    shown, because each comparison takes time.

    Args:
        parts: the parts of the sources.
        facet: which of the things in the question the parts are ranked for.
        rarity: a weight from 0 to 1 for each word, which is higher if the word is rarer in the
            vault. If empty, the weights are estimated from the parts.
        compare: a function that compares a question with short texts by meaning. If None, only
            words are compared.
        ranks: the rank of each source in the search results, keyed by citation number. The default
            is the number.
    """
    weights = _weigh_question(question, parts, facet, rarity)
    pairs = list_pairs(question.searched)
    by_words = [
        _score_words(part, weights, pairs) + _score_rank(ranks.get(part.number, part.number))
        for part in parts
    ]
    order = sorted(_list_suitable(question, parts), key=lambda at: -by_words[at])
    asked = facet.leave_out_others(question.searched)
    named = weights.keys() - facet.others
    best = [
        ScoredPart(parts[at], by_words[at] + _score_form(question, parts[at], named))
        for at in order[:MOST_COMPARED]
    ]
    scored = _add_meaning(best[:COMPARED_FIRST], asked, compare)
    least = max((each.score for each in scored), default=0.0) - MARGIN_OF_SHOWN
    rest = [
        each
        for each in best[COMPARED_FIRST:]
        if compare is None or each.score + MEANING_WEIGHT * HIGH_COSINE >= least
    ]
    scored += _add_meaning(rest, asked, compare)
    return sorted(scored, key=lambda each: -each.score)


def _add_meaning(
    parts: Sequence[ScoredPart], asked: str, compare: Compare | None
) -> list[ScoredPart]:
    """Return parts with their similarity to the question, and with what it adds to their scores."""
    texts = [_write_compared(each.part) for each in parts]
    cosines = compare(asked, texts) if compare is not None and texts else ()
    measured: Sequence[float | None] = cosines or [None] * len(parts)
    return [
        ScoredPart(
            each.part,
            each.score + MEANING_WEIGHT * (USUAL_COSINE if cosine is None else cosine),
            cosine,
        )
        for each, cosine in zip(parts, measured, strict=True)
    ]


def sort_dated(question: AskedQuestion, ranked: Sequence[ScoredPart]) -> list[ScoredPart]:
    """Move the dated parts among the best matches to the front, sorted by date.

    The latest one is first if the question asks for the last time of something. Otherwise, a
    question such as "When did I last plant peas?" could be answered with an earlier date.

    Args:
        question: the question. If it does not ask for the first or last time of something, the
            order is not changed.
        ranked: the parts, best first.
    """
    dated = [scored for scored in ranked if question.order and find_days_of_part(scored.part)]
    if not dated:
        return list(ranked)
    matched_words = list_matched_words(question, dated[0].part)
    least = dated[0].score - MARGIN_OF_DATED
    near = [
        scored
        for scored in dated
        if scored.score >= least and matched_words <= list_matched_words(question, scored.part)
    ]
    by_date = sorted(near, key=lambda scored: _rank_date(question, scored.part))
    return [*by_date, *(scored for scored in ranked if scored not in near)]


def _list_suitable(question: AskedQuestion, parts: Sequence[Part]) -> list[int]:
    """Return the indices of the parts that are suitable as an answer to a question.

    A suitable part contains a word that the question does not. A link alone defines nothing. A
    property answers only a question that names it, such as "What is Anna's birthday?".
    """
    return [
        at
        for at, part in enumerate(parts)
        if (part.property_name or _adds_words(question, part))
        and not part.leads
        and not (question.asks_for_definition and part.is_link)
        and (not part.property_name or _names_property(question, part.property_name))
    ]


def _names_property(question: AskedQuestion, name: str) -> bool:
    """Return whether a question contains all words of a property's name, maybe in another form."""
    words = split_words(name) - FUNCTION_WORDS
    return bool(words) and _match_all(words, question.words)


def _adds_words(question: AskedQuestion, part: Part) -> bool:
    """Return whether a part contains a word or a number that is not in the question.

    Otherwise it is only a label, such as "The beds of the garden".
    """
    numbers = set(_NUMBER.findall(part.text)) - set(_NUMBER.findall(question.searched))
    return bool(numbers) or not part.words <= question.words | FUNCTION_WORDS


def _weigh_question(
    question: AskedQuestion, parts: Sequence[Part], facet: Facet, rarity: Mapping[str, float]
) -> dict[str, float]:
    """Return the weight of each word of a question. Rare words have higher weights."""
    if rarity:
        known = {
            word: weigh_by_subject(word) * (LEAST_RARITY + rarity.get(word, USUAL_RARITY))
            for word in question.words
        }
    else:
        small = [part.known_words for part in parts]
        known = weigh_words(question.words, small)

    def weigh(word: str) -> float:
        own = FACET_OWN if word in facet.own else FACET_OTHERS if word in facet.others else 1.0
        return own * (ADDED_WORTH if word in question.added else 1.0)

    return {word: weight * weigh(word) for word, weight in known.items()}


def _score_words(
    part: Part, weights: Mapping[str, float], pairs: AbstractSet[tuple[str, str]]
) -> float:
    shared = len(pairs & list_pairs(part.text)) / max(1, len(pairs))
    share = measure_share(weights, part.known_words)
    return WORDS_WEIGHT * share + PAIRS_WEIGHT * shared


def _score_rank(rank: int) -> float:
    """Return a score that is higher if a source ranks higher in the search results."""
    rank = max(1, rank)
    return FIRST_WEIGHT / rank - RANK_WEIGHT * math.log(rank)


def _score_form(question: AskedQuestion, part: Part, named: AbstractSet[str]) -> float:
    """Return a score for how well the form of a part suits the question.

    Args:
        part: the part of a source.
        named: the words that name what the question is about. If they include all words of the
            note's title, the part scores higher.
    """
    score = _KIND_SCORES[question.kind].get(part.kind, 0.0)
    if question.period is not None and question.period.covers_names(part.names):
        score += PERIOD_WEIGHT
    if question.answer_type:
        has_answer = contains_answer_of_type(part.text, question.answer_type)
        score += TYPE_WEIGHT if has_answer else -TYPE_WEIGHT
    if question.money:
        has_all = contains_money(part.text, question.money)
        score += MONEY_WEIGHT if has_all else -MONEY_WEIGHT
    return score + FORM_WEIGHT * math.log(_weigh_position_and_form(question, part, named))


def _write_compared(part: Part) -> str:
    """Return the text of a part for the comparison by meaning: its headings and first words.

    Longer texts take longer to compare, so the rest is left out.
    """
    text = f"{part.place}. {part.text}" if part.place else part.text
    return " ".join(text.split()[:MOST_WORDS_COMPARED])


def _weigh_position_and_form(question: AskedQuestion, part: Part, named: AbstractSet[str]) -> float:
    """Return a factor for the score of a part, based on its form and its position in the note."""
    worth = 1.0
    above = " ".join(part.heading[-1:])
    if question.kind == "time" and mentions_time(part.text):
        worth *= DATED_WORTH
    if question.kind == "how_to" and _STEPS.match(above):
        worth *= STEPS_WORTH
    if question.asks_for_definition:
        worth *= DEFINING_WORTH if _SUMMARY.match(above) else 1.0
        if _starts_with_definition(part, question.words):
            worth *= NAMED_FIRST_WORTH
    is_named = bool(part.title_words) and part.title_words <= named
    if is_named:
        worth *= TITLE_WORTH
    return worth * (APPENDIX_WORTH if _APPENDIX.match(above) else 1.0)


def _starts_with_definition(part: Part, words: frozenset[str]) -> bool:
    """Return whether a part starts with a definition of the term that the question asks about."""
    found = _DEFINED.match(part.text.lstrip(" \t-*+•`>|"))
    named = frozenset() if found is None else split_words(found[1]) - FUNCTION_WORDS
    return bool(words) and _match_all(words, named) and _match_all(named, words)


def _match_all(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether each word has another with the same beginning, such as its plural."""
    return all(measure_match(word, others) for word in words)


def list_matched_words(question: AskedQuestion, part: Part) -> frozenset[str]:
    """Return the words of a question that a part contains, maybe in another form."""
    return frozenset(word for word in question.words if measure_match(word, part.words))


def _rank_date(question: AskedQuestion, part: Part) -> int:
    """Return the sort key of a part with a date."""
    days = [first.toordinal() for first, _ in find_days_of_part(part)]
    return -max(days) if question.order == "last" else min(days)


def find_days_of_part(part: Part) -> Collection[Span]:
    """Return the dates in the text of a part, or else in the names of its note and headings."""
    return find_written_spans(part.text) or list_days(part.names)
