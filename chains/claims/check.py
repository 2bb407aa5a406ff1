"""Check the claims of an answer against what was sent.

A cautious sentence ("probably", "as far as I can see"), or one that says that something is missing,
is never reported as wrong. A claim in it that no source contains counts as not checkable.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from chains.citations.answer_sources import Source
from chains.citations.check import Citation
from chains.citations.quotes import count_words
from chains.citations.sources import SHORTEST_WORDS, count_negations
from chains.claims.acts import are_acts_read, check_act
from chains.claims.differences import (
    AlignedSentence,
    SourceDifference,
    find_contradiction,
    find_denial,
    find_differing_sources,
    find_other_pairing,
    list_aligned,
)
from chains.claims.evidence import CheckEffort, ClaimEvidence
from chains.claims.facts import AnswerSentence, Figure, is_hedged, list_sentences
from chains.claims.finder import (
    find_date,
    find_facts,
    find_figure,
    find_name,
    find_path,
    is_same_date,
)
from chains.claims.opposites import OtherWord, find_other_name, find_other_word
from chains.claims.report import (
    AnswerClaim,
    AnswerCoverage,
    CitedFacts,
    ClaimKind,
    ClaimReport,
    ClaimVerdict,
    CoveredSentence,
)
from chains.claims.totals import ComputedFigure, check_computed, list_equations
from vault.notes.date_spans import build_day_span, do_overlap
from vault.notes.dates import LocatedDate, find_weekday
from vault.notes.keywords import fold

__all__ = ["check_claims"]

NOT_SENT: Final = "not in what was sent"
_SIGN: Final = "its sign is not checked"
_TOO_MANY: Final = "too many claims to check"
_MOST_SENTENCES: Final = 200
# No model writes so much that means anything, and one that repeats itself is not waited for.
MOST_CHARS: Final = 100_000
_MOST_FIGURES: Final = 400
_MOST_IN_SENTENCE: Final = 40
_MOST_BEFORE: Final = 10
_BEFORE_DATE: Final = re.compile(r"\b([^\W\d_]{4,10}),?\s(?:the\s|den\s|le\s|el\s)?$")
_MOST_BEFORE_DATE: Final = 17  # characters, with the end of a line
_AFTER_DATE: Final = re.compile(r",?\s?\(?([^\W\d_]{4,10})\b")


def check_claims(
    answer: str, evidence: ClaimEvidence, citations: Sequence[Citation] = ()
) -> ClaimReport:
    """Check the figures, dates, names, paths, sums and acts of an answer.

    Only the first `MOST_CHARS` characters are checked.

    Args:
        answer: the text of the answer, as Markdown.
        evidence: what was sent, and what the turn has changed.
        citations: the citations that the model wrote or Strata found.
    """
    whole, answer = answer, answer[:MOST_CHARS]
    sentences = list_sentences(answer)
    if whole != answer:
        del sentences[-1:]  # it is cut
    sentences = sentences[:_MOST_SENTENCES]
    figures, left_out = _divide([sentence.figures for sentence in sentences])
    walk = _AnswerWalk(evidence, figures, left_out, are_acts_read(answer))
    claims: list[AnswerClaim] = []
    covered: list[CoveredSentence] = []
    cited: dict[int, dict[str, None]] = {}
    for at, sentence in enumerate(sentences):
        found = list(walk.check(at, sentence))
        claims += found
        for number, fact in _find_cited(sentence, figures[at], found, evidence):
            cited.setdefault(number, {})[fact] = None
        covered.append(_cover(sentence, found, citations, evidence.sources))
    used = {number for sentence in covered for number in sentence.sources}
    used |= {citation.n for citation in citations}
    unused = tuple(number for number in evidence.sources if number not in used)
    facts = tuple(CitedFacts(number, tuple(cited[number])) for number in sorted(cited))
    is_sent = bool(evidence.sources)
    return ClaimReport(tuple(claims), AnswerCoverage(tuple(covered), unused, is_sent, facts))


def _find_cited(
    sentence: AnswerSentence,
    figures: Sequence[Figure],
    claims: Sequence[AnswerClaim],
    evidence: ClaimEvidence,
) -> Iterator[tuple[int, str]]:
    """Yield what the passages that a sentence cites have of it, each with the citation number.

    Nothing is yielded of a sentence with a claim that was not sent, or that a source contradicts.
    """
    doubted = [claim for claim in claims if claim.verdict != "supported"]
    if sentence.is_question or any(claim.verdict != "unchecked" for claim in doubted):
        return
    uncertain = {claim.text for claim in doubted}
    for number in sentence.cited:
        own = (one for one in evidence.texts if one.source and one.source.number == number)
        for fact in find_facts(sentence, figures, replace(evidence, texts=tuple(own))):
            if fact not in uncertain:
                yield number, fact


def _divide(figures: Sequence[list[Figure]]) -> tuple[list[list[Figure]], list[list[Figure]]]:
    """Split the figures of each sentence into those that are checked and those that are not."""
    checked, left_out, left = list[list[Figure]](), list[list[Figure]](), _MOST_FIGURES
    for some in figures:
        count = min(_MOST_IN_SENTENCE, left)
        checked.append(some[:count])
        left_out.append(some[count:])
        left -= len(checked[-1])
    return checked, left_out


def _cover(
    sentence: AnswerSentence,
    claims: Sequence[AnswerClaim],
    citations: Sequence[Citation],
    sent: Sequence[int],
) -> CoveredSentence:
    """Return the sources that a sentence rests on: cited, found by matching, or by its claims."""
    matched = [each.n for each in citations if each.sentence and each.sentence in sentence.text]
    numbers = [
        claim.places[0].number
        for claim in claims
        if claim.verdict == "supported" and claim.places and claim.places[0].number is not None
    ]
    known = {*sent, *(each.n for each in citations)}
    is_sourced = bool(matched) or not known.isdisjoint(sentence.cited)
    found = dict.fromkeys((*sentence.cited, *matched, *numbers))
    is_statement = not sentence.is_row and count_words(sentence.masked) >= SHORTEST_WORDS
    return CoveredSentence(sentence.text, tuple(found), is_sourced, is_statement)


@dataclass
class _AnswerWalk:
    """Checks the sentences of one answer in order.

    Attributes:
        figures: the figures of each sentence that are checked.
        is_read: whether the answer is in a language in which acts are read.
        left_out: the other figures of each sentence, of which there are too many.
    """

    evidence: ClaimEvidence
    figures: Sequence[Sequence[Figure]]
    left_out: Sequence[Sequence[Figure]]
    is_read: bool = True
    _effort: CheckEffort = field(default_factory=CheckEffort)
    _seen: set[tuple[ClaimKind, str]] = field(default_factory=set)
    _computed: list[ComputedFigure] = field(default_factory=list)

    def check(self, at: int, sentence: AnswerSentence) -> Iterator[AnswerClaim]:
        """Yield the checked claims of a sentence."""
        if sentence.is_question:
            return
        act = check_act(sentence, self.evidence)
        if act is not None:
            yield act
        aligned = list_aligned(sentence, self.evidence, self._effort)
        other = find_other_pairing(sentence, self.evidence, self._effort)
        found = [*self._check_dates(sentence, aligned), *self._check_figures(at, sentence, aligned)]
        if other is not None:
            found = [_doubt_pair(claim, other) for claim in found]
        is_found = all(claim.verdict == "supported" for claim in found)
        if is_found and (denied := find_denial(sentence, aligned)) is not None:
            found.append(_deny(sentence, denied))
        elif is_found and (word := self._find_word(sentence)) is not None:
            found = [claim for claim in found if not _has_word(claim, word)]
            found.append(_tell_word(sentence, word))
        if act is None:  # the names and paths of an act are checked with it
            found += [*self._check_paths(sentence), *self._check_names(sentence)]
        if act is None:
            found = self._replace_name(sentence, found)
        # A source that says the same words is hedged by itself.
        is_doubt = sentence.is_hedged and not any(is_hedged(each.written) for each in aligned)
        for claim in sorted(found, key=lambda claim: claim.start):
            yield self._soften(claim, is_doubt=is_doubt)

    def _find_word(self, sentence: AnswerSentence) -> OtherWord | None:
        return find_other_word(sentence, self.evidence.current, self._effort)

    def _replace_name(
        self,
        sentence: AnswerSentence,
        claims: list[AnswerClaim],
    ) -> list[AnswerClaim]:
        """Accuse a name in whose place a source has another one, where all else is supported."""
        if any(claim.verdict != "supported" for claim in claims):
            return claims
        name = find_other_name(sentence, self.evidence.current, self._effort)
        if name is None:
            return claims
        kept = [claim for claim in claims if not _has_word(claim, name)]
        return [*kept, _tell_word(sentence, name)]

    def _soften(self, claim: AnswerClaim, *, is_doubt: bool) -> AnswerClaim:
        """Accuse no sentence that is hedged, nor one that may tell what a picture shows."""
        if claim.verdict in ("unsupported", "contradicted") and is_doubt:
            return replace(claim, verdict="unchecked", reason="the sentence is not certain")
        if claim.verdict == "unsupported" and self.evidence.has_images:
            return replace(claim, verdict="unchecked", reason="it may be in a picture")
        if claim.verdict == "unsupported" and not self.evidence.has_texts:
            return replace(claim, verdict="unchecked", reason="no notes were sent")
        if claim.verdict == "supported" and claim.places and self._is_outdated(claim.places[0]):
            return replace(claim, reason=f"{claim.reason}, as read before the change")
        return claim

    def _is_outdated(self, place: Source) -> bool:
        if not self.evidence.changes:
            return False
        own = (text for text in self.evidence.texts if text.path and text.path == place.path)
        return any(self.evidence.is_outdated(text) for text in own)

    def _check_dates(
        self, sentence: AnswerSentence, aligned: Sequence[AlignedSentence]
    ) -> Iterator[AnswerClaim]:
        dates, dated = sentence.dates, [each for each in aligned if each.dates]
        for claimed in dates:
            text = sentence.text[claimed.start - sentence.start : claimed.end - sentence.start]
            claim = AnswerClaim("date", text, sentence.text, claimed.start, "unsupported", NOT_SENT)
            is_said = any(is_same_date(claimed, day) for each in dated for day in each.dates)
            if (wrong := self._check_weekday(claimed, sentence)) is not None:
                yield replace(claim, verdict="contradicted", reason=wrong)
                continue
            if dated and not is_said:
                yield _tell_aligned_date(claim, dated, is_alone=len(dates) == 1)
            elif places := find_date(claimed, sentence, self.evidence):
                yield _support("date", text, sentence, claimed.start, places)
            elif self._is_today(claimed):
                yield replace(claim, verdict="supported", reason="the day of the question")
            else:
                yield claim

    def _check_weekday(self, claimed: LocatedDate, sentence: AnswerSentence) -> str | None:
        """Return what is wrong with the weekday beside a date, or None.

        Nothing is wrong if what was sent has the same weekday there.
        """
        day, after = claimed.span
        start, end = claimed.start - sentence.start, claimed.end - sentence.start
        before = max(0, start - _MOST_BEFORE_DATE)
        beside = _BEFORE_DATE.search(sentence.masked, before, start) or _AFTER_DATE.match(
            sentence.masked, end
        )
        named = None if beside is None else find_weekday(beside[1])
        is_day = claimed.has_year and (after - day).days == 1
        if beside is None or named is None or not is_day or named == day.weekday():
            return None
        weekday = fold(beside[1])
        if any(weekday in text.index.tokens for text in self.evidence.texts):
            return None
        return f"{sentence.text[start:end]} is a {day:%A}"

    def _is_today(self, claimed: LocatedDate) -> bool:
        day: date | None = self.evidence.day
        return day is not None and do_overlap(build_day_span(day), claimed.span)

    def _check_figures(
        self, at: int, sentence: AnswerSentence, aligned: Sequence[AlignedSentence]
    ) -> Iterator[AnswerClaim]:
        figures = self.figures[at]
        computed = {each.figure: each for each in list_equations(sentence, figures)}
        self._computed += computed.values()
        for figure in figures:
            if figure in computed:
                yield _tell_computed(computed[figure], sentence)
            elif claim := self._check_in_bounds(at, sentence, figure, aligned):
                yield claim
        for figure in self.left_out[at]:
            if not figure.is_count:
                yield _skip("figure", figure.written, sentence, figure.start)

    def _check_in_bounds(
        self,
        at: int,
        sentence: AnswerSentence,
        figure: Figure,
        aligned: Sequence[AlignedSentence],
    ) -> AnswerClaim | None:
        """Check a figure, unless too much would be compared: what is half checked is not told."""
        claim = None
        if not self._effort.is_spent:
            claim = self._check_figure(at, sentence, figure, aligned)
        if self._effort.is_spent:
            return _skip("figure", figure.written, sentence, figure.start)
        return claim

    def _check_figure(
        self,
        at: int,
        sentence: AnswerSentence,
        figure: Figure,
        aligned: Sequence[AlignedSentence],
    ) -> AnswerClaim | None:
        evidence = self.evidence
        claimed: tuple[ClaimKind, str, str, int]
        claimed = "figure", figure.written, sentence.text, figure.start
        numbered = [each for each in aligned if each.numbers]
        places = find_figure(figure, sentence, evidence)
        if figure.is_negative and not places:
            return AnswerClaim(*claimed, "unchecked", _SIGN)
        # Another note may say it of another thing. A small number stands in many notes by chance.
        is_same = any(
            each.text.path == place.path and each.has_same_words(sentence)
            for place in places[:1]
            for each in numbered
        )
        is_elsewhere = bool(places) and figure.is_telling and not is_same
        if figure.values and numbered and not is_elsewhere:
            is_said = any(each.has(figure, self.figures[at]) for each in numbered)
            if not is_said and (
                claim := _tell_aligned(claimed, figure, self.figures[at], numbered)
            ):
                return claim
        if places:
            figures = [each for some in self.figures for each in some]
            differing = find_differing_sources(figure, figures, evidence, self._effort)
            if differing:
                source_values = ", ".join(
                    f"{each.place.title} {each.written}" for each in differing
                )
                found = tuple(each.place for each in differing)
                reason = f"two sources differ: {source_values}"
                return AnswerClaim(*claimed, "contradicted", reason, found)
            return _support("figure", figure.written, sentence, figure.start, places)
        if (computed := self._compute(at, sentence, figure)) is not None:
            return _tell_computed(computed, sentence)
        if (other := find_contradiction(figure, sentence, evidence, self._effort)) is not None:
            return _contradict(claimed, figure, other)
        if figure.is_count or figure.near:
            return None
        return _refuse("figure", figure.written, sentence, figure.start)

    def _compute(self, at: int, sentence: AnswerSentence, figure: Figure) -> ComputedFigure | None:
        """Check a figure as a result, which may be told again later in the answer."""
        for known in self._computed:
            if known.figure.values == figure.values and figure.values:
                return replace(known, figure=figure)
        found = check_computed(figure, sentence, *self._list_operands(at, figure))
        self._computed += [] if found is None else [found]
        return found

    def _list_operands(
        self, at: int, figure: Figure
    ) -> tuple[list[Figure], list[Figure], list[Figure]]:
        """Return the figures beside a figure, before its sentence, and of the list before it."""
        beside = [each for each in self.figures[at] if each is not figure]
        before = [each for some in self.figures[max(0, at - _MOST_BEFORE) : at] for each in some]
        column: list[Figure] = []
        for some in reversed(self.figures[:at]):
            if len(some) != 1:
                break
            column.insert(0, some[0])
        return beside, before, column

    def _check_paths(self, sentence: AnswerSentence) -> Iterator[AnswerClaim]:
        for path in sentence.list_paths():
            start = sentence.start + max(0, sentence.text.find(path))
            if self._is_new("path", path):
                places = find_path(path, self.evidence)
                if places and self._may_be_act(sentence):
                    reason = "it is not known whether the sentence says that it was changed"
                    yield AnswerClaim("path", path, sentence.text, start, "unchecked", reason)
                elif places:
                    yield _support("path", path, sentence, start, places)
                else:
                    yield _refuse("path", path, sentence, start)

    def _may_be_act(self, sentence: AnswerSentence) -> bool:
        """Return whether a sentence may claim a change in a language in which acts are not read."""
        evidence = self.evidence
        is_changed = any(note.is_change for note in evidence.changes or ())
        is_idle = evidence.can_edit and evidence.changes is not None and not is_changed
        return is_idle and not (self.is_read or are_acts_read(sentence.masked))

    def _check_names(self, sentence: AnswerSentence) -> Iterator[AnswerClaim]:
        paths = list(sentence.list_paths()) if self._may_be_act(sentence) else []
        for name in sentence.list_names():
            if any(name in path for path in paths):
                continue  # the note was checked as a path
            start = sentence.start + max(0, sentence.text.find(name))
            if self._is_new("name", name):
                places = find_name(name, self.evidence)
                if places:
                    yield _support("name", name, sentence, start, places)
                else:
                    yield _refuse("name", name, sentence, start)

    def _is_new(self, kind: ClaimKind, text: str) -> bool:
        """Return whether a name is met for the first time, so that it counts once."""
        is_new = (kind, text) not in self._seen
        self._seen.add((kind, text))
        return is_new


def _support(
    kind: ClaimKind,
    text: str,
    sentence: AnswerSentence,
    start: int,
    places: tuple[Source, ...],
) -> AnswerClaim:
    reason = f"in {places[0].describe()}"
    return AnswerClaim(kind, text, sentence.text, start, "supported", reason, places)


def _skip(kind: ClaimKind, text: str, sentence: AnswerSentence, start: int) -> AnswerClaim:
    return AnswerClaim(kind, text, sentence.text, start, "unchecked", _TOO_MANY)


def _refuse(kind: ClaimKind, text: str, sentence: AnswerSentence, start: int) -> AnswerClaim:
    return AnswerClaim(kind, text, sentence.text, start, "unsupported", NOT_SENT)


def _tell_aligned_date(
    claim: AnswerClaim, aligned: Sequence[AlignedSentence], *, is_alone: bool
) -> AnswerClaim:
    """Judge a date that no source has in the words of its sentence."""
    first, place = aligned[0].dates[0], aligned[0].place
    if not is_alone or any(day.span != first.span for each in aligned for day in each.dates):
        return claim
    reason = f"{place.describe()} says {aligned[0].written[first.start : first.end]}"
    return replace(claim, verdict="contradicted", reason=reason, places=(place,))


def _tell_aligned(
    claimed: tuple[ClaimKind, str, str, int],
    figure: Figure,
    figures: Sequence[Figure],
    aligned: Sequence[AlignedSentence],
) -> AnswerClaim | None:
    """Judge a figure that no source has in the words of its sentence.

    If several sources have these words with other numbers, they may be of several things.

    Args:
        claimed: the claim of the figure.
        figures: all figures of the sentence.
        aligned: the sentences of sources with the same words.
    """
    if len({each.numbers for each in aligned}) > 1:
        return AnswerClaim(*claimed, "unsupported", NOT_SENT)
    missing = aligned[0].list_missing(figures)
    if len(missing) != 1:
        return None
    near = "" if figure.near in aligned[0].written.casefold() else figure.near
    other = SourceDifference(missing[0].written, aligned[0].place)
    return _contradict(claimed, replace(figure, near=near), other)


def _contradict(
    claimed: tuple[ClaimKind, str, str, int], figure: Figure, other: SourceDifference
) -> AnswerClaim:
    reason = f"{other.place.describe()} says {other.written}"
    verdict: ClaimVerdict = "unchecked" if figure.near else "contradicted"
    return AnswerClaim(*claimed, verdict, reason, (other.place,))


def _doubt_pair(claim: AnswerClaim, place: Source) -> AnswerClaim:
    if claim.verdict != "supported":
        return claim
    reason = f"{place.describe()} pairs it with something else"
    return replace(claim, verdict="unchecked", reason=reason, places=(place,))


def _deny(sentence: AnswerSentence, place: Source) -> AnswerClaim:
    preposition = "without" if count_negations(sentence.text) else "with"
    reason = f"{place.describe()} says it {preposition} “not”"
    text = sentence.text
    return AnswerClaim("negation", text, text, sentence.start, "contradicted", reason, (place,))


def _has_word(claim: AnswerClaim, word: OtherWord) -> bool:
    """Return whether a claim is about a word."""
    is_inside = claim.start <= word.start < claim.start + len(claim.text)
    return is_inside or word.start <= claim.start < word.start + len(word.text)


def _tell_word(sentence: AnswerSentence, word: OtherWord) -> AnswerClaim:
    reason = f"{word.place.describe()} says {word.written}"
    verdict: ClaimVerdict = "contradicted" if word.is_certain else "unsupported"
    claim_fields = word.kind, word.text, sentence.text, word.start
    return AnswerClaim(*claim_fields, verdict, reason, (word.place,))


def _tell_computed(computed: ComputedFigure, sentence: AnswerSentence) -> AnswerClaim:
    figure = computed.figure
    verdict: ClaimVerdict = "supported" if computed.is_right else "contradicted"
    if not computed.is_right and figure.near:
        verdict = "unchecked"
    return AnswerClaim("sum", figure.written, sentence.text, figure.start, verdict, computed.reason)
