"""Decide whether quotations are likely to answer a question.

The decision is made by a number, the evidence. It is higher if the search results support an answer
well, if the sources contain many of the question's words, and if a quotation is similar to the
question in meaning. It is lower if the quotations lack a rare word or a name of the question, or if
they have no number near what the question counts. No language model reads the quotations, so a
quotation that is about the subject of a question, but does not answer it, can be accepted.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from chains.extractive.answer_type import (
    contains_amount_in,
    contains_count,
    meets_expected_type,
    read_asked_unit,
)
from chains.extractive.period import list_days
from chains.extractive.question import AskedQuestion, cut_background
from chains.extractive.ranking import find_days_of_part
from chains.extractive.sections import Found
from chains.extractive.words import (
    is_unspaced,
    list_compared_words,
    list_names,
    measure_match,
    measure_share,
    split_words,
    weigh_by_length,
    weigh_by_subject,
)
from context.layers import Segment
from vault.notes.amounts import contains_money, find_money
from vault.notes.date_spans import do_overlap
from vault.notes.dates import find_written_spans
from vault.notes.keywords import WORD
from vault.quotes.sections import Support

__all__ = ["Verdict", "judge"]

# The limits were chosen on 640 questions about six vaults, 108 of them without an answer. Below the
# first limit are 71 % of those and 4 % of the others, below the second 87 % and 16 %. Between the
# limits, half of the quotations answer the question.
LEAST_EVIDENCE: Final = 0.97
SURE_EVIDENCE: Final = 1.4
# Below this, the passages are not even about the subject of the question.
RELATED_EVIDENCE: Final = 0.5
COVERAGE_WORTH: Final = 0.5
MISSING_COST: Final = 1.0
# Quotations that lack two words with a larger share of the question than this are no sure answer.
MOST_MISSING: Final = 0.65
NAME_COST: Final = 1.0
COUNT_COST: Final = 0.7
CLOSEST_WORTH: Final = 1.0
PERIOD_WORTH: Final = 0.3
OTHER_TIME_COST: Final = 0.4
# The similarity that is assumed if none was measured.
USUAL_CLOSEST: Final = 0.5
# Used if no support score was measured: passages that contain a smaller share of the question's
# words rarely answer it.
LEAST_COVERAGE: Final = 0.36
# Below this, they are not even about its subject.
RELATED_COVERAGE: Final = 0.18

_POSSESSIVE: Final = re.compile(r"\w['’]s\b")

Verdict = Literal["answers", "doubtful", "nothing", "unrelated"]


def judge(
    question: AskedQuestion,
    sources: Sequence[Segment],
    support: Support | None,
    chosen: Found,
) -> Verdict:
    """Judge whether the lit parts answer a question: they do, it is doubtful, or nothing does.

    The result is always `answers` if a source is attached, and if the question is in a script
    without spaces, because the weights of its words are unknown.

    Args:
        sources: the sources that may be quoted.
        support: how well the search results support an answer, or None if it was not measured.
        chosen: the parts of the sources that would be quoted.
    """
    if any(map(is_unspaced, question.words)) or not all(each.is_retrieved for each in sources):
        return "answers"
    verdict = _weigh(question, sources, support, chosen)
    is_doubted = question.excludes or _lacks_all_but_name(question, chosen)
    return "doubtful" if verdict == "answers" and is_doubted else verdict


def _weigh(
    question: AskedQuestion,
    sources: Sequence[Segment],
    support: Support | None,
    chosen: Found,
) -> Verdict:
    """Judge by the evidence, and by what the parts must have."""
    quoted = " ".join(f"{part.place} {part.text}" for part in chosen.parts)
    asked = cut_background(question.text)
    lacks_type = quoted and question.kind != "how_to" and not meets_expected_type(asked, quoted)
    if lacks_type or _has_no_part_in_period(question, chosen):
        return "nothing"
    if _finds_all_compared(question, chosen):
        return "answers"
    is_dated = _is_of_period(question, chosen)
    if is_dated and question.period is not None:
        question = replace(question, words=question.words - question.period.words)
    if question.money and contains_money(quoted, question.money):
        question = replace(question, words=question.words - _list_money_words(question.text))
    unit = _find_unit(asked, quoted, chosen)
    question = replace(question, words=question.words - split_words(unit))
    coverage = _measure_coverage(question, sources)
    if support is None:
        if coverage >= LEAST_COVERAGE:
            return "answers"
        return "nothing" if coverage >= RELATED_COVERAGE else "unrelated"
    nearness = USUAL_CLOSEST if chosen.highest_cosine is None else chosen.highest_cosine
    evidence = support.score + COVERAGE_WORTH * coverage + CLOSEST_WORTH * nearness
    missing = _weigh_missing_words(question, support, chosen)
    evidence -= MISSING_COST * sum(missing[:1])
    evidence -= NAME_COST * _weigh_missing_name(question, support, chosen)
    evidence -= 0.0 if unit or contains_count(asked, quoted) else COUNT_COST
    evidence += PERIOD_WORTH if is_dated else 0.0
    evidence -= OTHER_TIME_COST if _is_of_other_time(question, chosen) else 0.0
    if evidence < LEAST_EVIDENCE:
        if _has_day_of_named(question, chosen):
            return "doubtful"
        return "nothing" if evidence >= RELATED_EVIDENCE else "unrelated"
    is_sure = evidence >= SURE_EVIDENCE and sum(missing[:2]) < MOST_MISSING
    return "answers" if is_sure else "doubtful"


def _lacks_all_but_name(question: AskedQuestion, chosen: Found) -> bool:
    """Return whether the parts have a name, but no word for what is asked of it.

    An example is a note about Klara without the word, for "When is Klara's birthday?". The day that
    the note itself is of is no answer then.
    """
    if question.kind != "time" and not _POSSESSIVE.search(question.text):
        return False
    names = list_names(question.text) & question.words
    asked, part_words = question.words - question.added - names, _list_words(chosen)
    return bool(names and asked) and not any(measure_match(word, part_words) for word in asked)


def _find_unit(asked: str, quoted: str, chosen: Found) -> str:
    """Return the unit that a question asks for, if the parts have an amount in such a unit.

    "How many kilos" is answered by "3 kg", which has no word for "kilos".
    """
    unit = read_asked_unit(asked)
    return unit if unit and contains_amount_in(unit, quoted, _list_words(chosen)) else ""


def _list_money_words(text: str) -> frozenset[str]:
    """Return the words of the amounts of money in a text."""
    return frozenset().union(*(split_words(str(each)) for each in find_money(text)))


def _finds_all_compared(question: AskedQuestion, chosen: Found) -> bool:
    """Return whether each thing to compare is found with what the question asks about it.

    A thing is found in a table row that contains its name, and in a note of its name. What is
    asked, such as the price in "Compare the price of A and B", must be said of each of them.
    """
    if not question.is_comparison or len(question.facets) == 1:
        return False
    wanted = [facet.own for facet in question.facets]
    asked = list_compared_words(question.words - question.added).difference(*wanted)
    return all(own and _finds_compared(own, asked, chosen) for own in wanted)


def _finds_compared(own: frozenset[str], asked: frozenset[str], chosen: Found) -> bool:
    """Return whether the parts about a thing contain all that is asked about it."""
    about = [
        part
        for part in chosen.parts
        if own <= (part.words if part.kind == "row" else part.title_words)
    ]
    part_words = _list_words(Found(parts=tuple(about)))
    return bool(about) and all(measure_match(word, part_words) for word in asked)


def _has_no_part_in_period(question: AskedQuestion, chosen: Found) -> bool:
    """Return whether a question asks for everything in a period, but no part is from it.

    A part that mentions the period counts as well.

    "Last week" in a note is another week than in the question, so the words of the question must
    include a number, a month or a season.
    """
    period = question.period
    if period is None or not (period.has_no_subject and period.is_short):
        return False
    is_fixed = any(word.isdecimal() or find_written_spans(f"{word} 2000") for word in period.words)
    return not any(
        period.covers_names(part.names)
        or period.covers(find_written_spans(part.text))
        or (is_fixed and period.words <= part.known_words)
        for part in chosen.parts
    )


def _is_of_period(question: AskedQuestion, chosen: Found) -> bool:
    """Return whether the best part is from a note or section of the time that is asked about."""
    best = chosen.parts[:1]
    return question.period is not None and any(
        question.period.covers_names(part.names) for part in best
    )


def _is_of_other_time(question: AskedQuestion, chosen: Found) -> bool:
    """Return whether a question names a period, but the best part only has dates outside of it."""
    if question.period is None or not chosen.parts:
        return False
    best = chosen.parts[0]
    days = {*list_days(best.names), *find_written_spans(best.text)}
    asked = question.period.spans
    return bool(days) and not any(do_overlap(day, span) for day in days for span in asked)


def _has_day_of_named(question: AskedQuestion, chosen: Found) -> bool:
    """Return whether the best part has a date and the name in a question for the last time.

    In "When did I last meet Anna?", notes rarely say "meet": they have her name on a day.
    """
    best = chosen.parts[:1]
    if not question.order or not best:
        return False
    later = WORD.findall(question.text)[1:]
    named = split_words(" ".join(word for word in later if word[0].isupper())) & question.words
    part_words, is_dated = _list_words(Found(parts=best)), bool(find_days_of_part(best[0]))
    return (
        is_dated and bool(named) and all(measure_match(name, part_words) == 1.0 for name in named)
    )


def _weigh_missing_words(
    question: AskedQuestion, support: Support, chosen: Found
) -> Sequence[float]:
    """Return the weights of the words of a question that the best part lacks, the rarest first.

    If the notes say nothing about the subject of a question, the word for it is often the only one
    that is missing. If the question is about several things, or about the first or last time of
    something, a word counts as missing only if no part contains it.

    Returns:
        The weights as fractions of the weight of all words, or nothing if no word has a weight.
    """
    weights = {word: support.weights.get(word, 0.0) for word in question.words}
    total = sum(weights.values())
    if not (total and chosen.parts):
        return ()
    counts_all = len(question.facets) > 1 or question.order
    part_words = _list_words(chosen if counts_all else Found(parts=chosen.parts[:1]))
    lacks = (
        weigh_by_subject(word) * weights[word] * (1.0 - measure_match(word, part_words))
        for word in weights
    )
    return sorted((lack / total for lack in lacks), reverse=True)


def _weigh_missing_name(question: AskedQuestion, support: Support, chosen: Found) -> float:
    """Return the weight of the rarest name in a question that no quotation contains, from 0 to 1.

    A text that answers a question can use other words, but rarely another name.
    """
    names = list_names(question.text) & question.words if chosen.parts else frozenset[str]()
    part_words = _list_words(chosen)
    lacks = (
        support.weights.get(name, 0.0) * (1.0 - measure_match(name, part_words)) for name in names
    )
    return max(lacks, default=0.0)


def _list_words(chosen: Found) -> frozenset[str]:
    """Return the words of the chosen parts, including those of titles and headings."""
    return frozenset[str]().union(*(part.known_words for part in chosen.parts))


def _measure_coverage(question: AskedQuestion, sources: Sequence[Segment]) -> float:
    """Return the highest fraction of the question's words that one source contains."""
    weights = {word: weigh_by_length(word) for word in question.words}

    def cover(source: Segment) -> float:
        words = split_words(" ".join((source.title, *source.heading, source.raw_content)))
        return measure_share(weights, words)

    return max(map(cover, sources), default=0.0)
