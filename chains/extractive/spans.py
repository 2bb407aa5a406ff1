"""Choose the sections of notes that an answer shows, by the scores of their parts.

A section goes from its heading to the next one of the same or a higher level. The section of the
best part comes first. Those below it score nearly as high, and are about the question.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from chains.extractive.parts import Part
from chains.extractive.question import AskedQuestion
from chains.extractive.ranking import ScoredPart
from chains.extractive.words import measure_match
from vault.notes.keywords import WORD, fold
from vault.notes.text.markdown_text import MarkdownText

__all__ = ["SectionSpan", "SpanChoice", "choose_spans"]

MOST_SECTIONS: Final = 3
# A section with more lines ends at the next heading of any level.
MOST_LINES: Final = 60
# The most parts whose scores count for a section.
MOST_POOLED: Final = 4
# How much lower than the best section another one may score and be shown below it.
MARGIN_OF_OTHERS: Final = 4.0
# A part without a word of the question is about it if it is as similar as this.
LEAST_COSINE: Final = 0.3


@dataclass(frozen=True)
class SectionSpan:
    """The lines of a section in its source, as indices."""

    n: int
    first: int
    end: int
    text: MarkdownText = field(compare=False, repr=False)

    def covers(self, part: Part) -> bool:
        """Return whether a part begins in this section."""
        return part.number == self.n and self.first <= part.first < self.end

    def repeats(self, other: "SectionSpan") -> bool:
        """Return whether this section has lines of another one, or the same text."""
        if self.n == other.n and self.first < other.end and other.first < self.end:
            return True
        lines, others = self.text.lines[self.first : self.end], other.text.lines
        return lines == others[other.first : other.end]


SpanChoice = tuple[SectionSpan, Sequence[ScoredPart], bool]


def choose_spans(
    question: AskedQuestion,
    rankings: Sequence[Sequence[ScoredPart]],
    texts: Mapping[int, MarkdownText],
    leading: int = 0,
) -> Iterator[SpanChoice]:
    """Yield the best sections, each once, with its ranking, and whether it is shown open.

    A question about several things gets an open section for each of them, otherwise only the first
    one is open. One section is of the first search result, if it is about the question.
    Of 246 questions, one more is answered with it, but fewer with one of the second result too.

    Args:
        rankings: the ranked parts, for each thing that the question is about.
        texts: the text of each source, keyed by citation number.
        leading: the citation number of the first search result, or 0 if there is none.
    """
    chosen: list[SectionSpan] = []
    ordered = [_rank_spans(question, ranked, texts) for ranked in rankings]
    for ranked, spans in zip(rankings, ordered, strict=True):
        best = [span for _, span in spans[:1] if span not in chosen]
        chosen += best
        yield from ((span, ranked, True) for span in best)
    whole = list(chain.from_iterable(rankings))
    spans = list(chain.from_iterable(ordered))
    first = _find_of_leading(question, whole, spans, leading)
    for span in (*first, *_list_others(question, whole, spans)):
        if len(chosen) >= MOST_SECTIONS:
            return
        if not any(span.repeats(known) for known in chosen):
            chosen.append(span)
            yield span, whole, len(rankings) > 1


def _find_of_leading(
    question: AskedQuestion,
    ranked: Sequence[ScoredPart],
    spans: Sequence[tuple[float, SectionSpan]],
    leading: int,
) -> Sequence[SectionSpan]:
    """Return the best section of the first search result, if it is about the question."""
    own = [each for each in spans if each[1].n == leading]
    if question.order or not own:
        return ()
    _, best = max(own, key=lambda each: each[0])
    inside = (each for each in ranked if best.covers(each.part))
    return (best,) if any(_is_related(question, each) for each in inside) else ()


def _list_others(
    question: AskedQuestion,
    ranked: Sequence[ScoredPart],
    spans: Sequence[tuple[float, SectionSpan]],
) -> Iterator[SectionSpan]:
    """Yield the sections that may be shown below the best ones, best first.

    They score nearly as high as the best one, and their text or headings are about the question.
    """
    ordered = spans if question.order else sorted(spans, key=lambda each: -each[0])
    least = max((score for score, _ in spans), default=0.0) - MARGIN_OF_OTHERS
    for score, span in ordered:
        inside = (each for each in ranked if span.covers(each.part))
        if score >= least and any(_is_related(question, each) for each in inside):
            yield span


def _is_related(question: AskedQuestion, scored: ScoredPart) -> bool:
    is_near = scored.cosine is not None and scored.cosine >= LEAST_COSINE
    return is_near or any(measure_match(word, scored.part.known_words) for word in question.words)


def _rank_spans(
    question: AskedQuestion, ranked: Sequence[ScoredPart], texts: Mapping[int, MarkdownText]
) -> list[tuple[float, SectionSpan]]:
    """Return the sections of the parts with their scores, best first.

    A section scores as its best part does. If the question asks for a list or instructions, its
    score is based on all its parts: the odds that one of them answers. If the question is only the
    name of a note or a heading, such as "Anna Berg", the sections below it come first.
    """
    scores: dict[SectionSpan, list[float]] = {}
    named: set[SectionSpan] = set()
    for scored in ranked:
        part = scored.part
        known = next((span for span in scores if span.covers(part)), None)
        span = known or _find_span(part, texts[part.number])
        scores.setdefault(span, []).append(scored.score)
        if _is_name_of(question.text, part):
            named.add(span)
    if question.order:
        return [(part_scores[0], span) for span, part_scores in scores.items()]
    is_whole = question.kind in {"how_to", "list"}
    pooled = [
        (_pool(part_scores) if is_whole else max(part_scores), span)
        for span, part_scores in scores.items()
    ]
    return sorted(pooled, key=lambda each: (each[1] not in named, -each[0]))


def _is_name_of(text: str, part: Part) -> bool:
    """Return whether a question is only the title of a part's note, or the heading above it."""
    words, heading = WORD.findall(fold(text)), " ".join(part.heading[-1:])
    title = part.source.title
    names = (title, heading, f"{title} {heading}")
    return bool(words) and any(words == WORD.findall(fold(name)) for name in names)


def _pool(scores: Sequence[float]) -> float:
    best, *others = sorted(scores, reverse=True)[:MOST_POOLED]
    return best + math.log(1 + sum(math.exp(each - best) for each in others))


def _find_span(part: Part, text: MarkdownText) -> SectionSpan:
    """Return the section of a part: from its heading to the next of the same or a higher level."""
    if part.property_name:
        return SectionSpan(part.number, part.first, part.end, text)
    headings = list(text.list_headings())
    above = [(at, heading.level) for at, heading in headings if at <= part.first]
    first, level = above[-1] if above else (_find_body(text), 0 if not headings else 7)
    behind = [(at, heading.level) for at, heading in headings if at > part.first]
    end = next((at for at, each in behind if each <= level), len(text.lines))
    if end - first > MOST_LINES and behind:
        end = behind[0][0]
    return SectionSpan(part.number, first, end, text)


def _find_body(text: MarkdownText) -> int:
    return next((at for at in range(len(text.lines)) if not text.is_front(at)), 0)
