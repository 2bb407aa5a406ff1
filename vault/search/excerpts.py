"""Shorten long passages to the sentences that match a query.

Passages are as long as the embedding model allows, because meaning depends on context. However,
often only two of their sentences answer a query. The best passages of long notes are therefore cut
into excerpts, which are ranked by the rank of their passage and by matching words. Short notes and
lower-ranked hits are shown as whole passages. Code fences and tables are never cut.
"""

import hashlib
import math
import re
import time
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from typing import NamedTuple

from vault.notes.keywords import fold
from vault.notes.text.markdown_text import MarkdownText
from vault.notes.text.sentences import find_sentence_ends
from vault.notes.text.stems import WordStems
from vault.search.hits import Hit, SearchResult
from vault.search.passages import Passages
from vault.search.query import Query, parse_query

__all__ = [
    "FEWEST_PASSAGES",
    "LONG_NOTE_PASSAGES",
    "cut_excerpts",
    "drop_irrelevant",
    "shorten_hits",
]

LONG_NOTE_PASSAGES = 4
FEWEST_PASSAGES = 10
# Chosen on questions about three long texts: 200 loses answers, 400 adds text that is no answer.
_EXCERPT_CHARS = 300
_LONGEST_SENTENCE_CHARS = 450
_MOST_OF_A_PASSAGE = 4

# A hit that contains no word of the query must be similar in meaning, and almost as similar as the
# closest hit.
_LEAST_COSINE = 0.2
_LEAST_SHARE = 0.75

_LINE_ENDS = re.compile(r"\n+")


class _Span(NamedTuple):
    """A span of a passage, and the stems of the query that it contains.

    Attributes:
        start: the character offset of the start.
        end: the character offset after the end.
        matched_stems: the stems of the query that occur in the span.
    """

    start: int
    end: int
    matched_stems: frozenset[str]


_Ranked = Sequence[tuple[float, _Span]]


def shorten_hits(found: SearchResult, passages: Passages, query: str, k: int) -> SearchResult:
    """Keep the `k` best hits, and shorten the passages of long notes to excerpts.

    Args:
        found: the best passages, at least `FEWEST_PASSAGES` if there are so many.
        passages: reads passages from the catalog.
        query: the words to search for, and filters.
        k: the maximum number of hits. Irrelevant hits are dropped.
    """
    began = time.perf_counter()
    relevant = drop_irrelevant(found.hits)
    counts = passages.counts({hit.path for hit in relevant})
    long_notes = {path for path, count in counts.items() if count >= LONG_NOTE_PASSAGES}
    hits = cut_excerpts(relevant, parse_query(query), long_notes, k)
    return replace(found, hits=tuple(hits), seconds=found.seconds + time.perf_counter() - began)


def drop_irrelevant(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Drop hits that contain no word of the query and are not semantically similar to it.

    If other hits contain words of the query, a hit without such words is kept only if it is almost
    as similar as the closest hit. Hits without a semantic score are kept.
    """
    nearest = max((hit.signals["dense"] or 0.0 for hit in hits), default=0.0)
    has_words = any(hit.signals["words"] for hit in hits)
    least = max(_LEAST_COSINE, _LEAST_SHARE * nearest if has_words else 0.0)
    return [
        hit
        for hit in hits
        if hit.signals["words"] or (dense := hit.signals["dense"]) is None or dense >= least
    ]


def cut_excerpts(
    hits: Sequence[Hit], query: Query, long_notes: Collection[str], k: int
) -> list[Hit]:
    """Return the `k` best hits: excerpts of long notes, and whole passages of others.

    Args:
        hits: passages, best first, at least `FEWEST_PASSAGES` if available.
        query: the query. If no excerpt contains its phrases, the passage is shown whole.
        long_notes: the paths of the notes whose passages are cut.
        k: the maximum number of hits.
    """
    stems = WordStems(query.words)
    cut = {
        at: [
            part
            for part in _split_parts(hit.markdown_text, stems)
            if _has_phrases(hit.text, part, query.phrases)
        ]
        for at, hit in enumerate(hits[:FEWEST_PASSAGES])
        if hit.path in long_notes
    }
    worth = _weigh_stems([part for parts in cut.values() for part in parts], stems)
    ranked = {at: _rank_parts(parts, worth) for at, parts in cut.items()}
    if not any(ranked.values()):
        return list(hits[:k])
    first, rest = hits[:FEWEST_PASSAGES], hits[FEWEST_PASSAGES:]
    placed = _keep_note_order(first, sorted(_score_places(first, ranked), key=lambda p: -p[0]))
    placed += ((hit.score, hit) for hit in rest)
    least = accumulate((score for score, _ in placed), min)
    return [
        replace(hit, score=round(score / 2, 4))
        for score, (_, hit) in zip(islice(least, k), placed, strict=False)
    ]


def _keep_note_order(
    hits: Sequence[Hit], placed: Sequence[tuple[float, Hit]]
) -> list[tuple[float, Hit]]:
    """Order excerpts so that their notes stay in the same order as the passages.

    Each passage is replaced with the next best excerpt of its note. The words of the query
    therefore affect only the order of the excerpts within a note. Any remaining excerpts come last.

    Args:
        hits: the passages, best first.
        placed: pairs of score and excerpt, best first.
    """
    waiting: dict[str, deque[tuple[float, Hit]]] = defaultdict(deque)
    for place in placed:
        waiting[place[1].path].append(place)
    kept = [waiting[hit.path].popleft() for hit in hits if waiting[hit.path]]
    others = [place for places in waiting.values() for place in places]
    return [*kept, *sorted(others, key=lambda place: -place[0])]


def _split_parts(passage: MarkdownText, stems: WordStems) -> list[_Span]:
    """Split a passage into groups of whole sentences. Code fences and tables are not cut.

    Args:
        passage: the text of the passage.
        stems: the stems of the query.
    """
    if not stems:
        return []
    spans: list[tuple[int, int]] = []
    text = "\n".join(passage.lines)
    for start, end in _split_units(passage, text):
        if spans and end - spans[-1][0] <= _EXCERPT_CHARS:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [_Span(start, end, stems.find(text[start:end])) for start, end in spans]


def _has_phrases(text: str, part: _Span, phrases: Collection[str]) -> bool:
    shown = fold(" ".join(text[part.start : part.end].split())) if phrases else ""
    return all(fold(phrase) in shown for phrase in phrases)


def _split_units(passage: MarkdownText, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a text that should not be cut: code blocks, tables and sentences.

    A very long sentence is yielded as several spans.
    """
    starts = [0, *accumulate(len(line) + 1 for line in passage.lines)]
    line = at = 0
    while line < len(passage.lines):
        end = passage.find_solid_end(line)
        if end > line:
            yield from _split_sentences(text, at, starts[line])
            yield starts[line], starts[end] - 1
            at = starts[end] - 1
        line = max(end, line + 1)
    yield from _split_sentences(text, at, len(text))


def _split_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    lines = (match.span() for match in _LINE_ENDS.finditer(text, start, end))
    ends = sorted((*find_sentence_ends(text, start, end), *lines))
    for mark, after in (*ends, (end, end)):
        while mark - start > _LONGEST_SENTENCE_CHARS:
            blank = text.rfind(" ", start + _EXCERPT_CHARS // 2, start + _EXCERPT_CHARS)
            cut = blank if blank > 0 else start + _EXCERPT_CHARS
            yield start, cut
            start = cut
        if text[start:mark].strip():
            yield start, mark
        start = max(start, after)


def _weigh_stems(parts: Sequence[_Span], stems: WordStems) -> dict[str, float]:
    """Return the weight of each stem. Rare stems weigh more, and the weights add up to 1.

    Args:
        parts: the groups of sentences in which the stems are counted.
        stems: the stems of the query.
    """
    having = {stem: sum(stem in part.matched_stems for part in parts) for stem in stems.names}
    rarity = {
        stem: math.log(1 + (len(parts) - count + 0.5) / (count + 0.5))
        for stem, count in having.items()
    }
    every = sum(rarity.values())
    return {stem: value / every for stem, value in rarity.items()}


def _rank_parts(parts: Sequence[_Span], worth: Mapping[str, float]) -> _Ranked:
    """Return the best parts of a passage that contain stems of the query, best first.

    Args:
        parts: the groups of sentences of the passage.
        worth: the weight of each stem.
    """
    shares = [(sum(worth[stem] for stem in part.matched_stems), part) for part in parts]
    shares.sort(key=lambda pair: (-pair[0], pair[1].start))
    return [pair for pair in shares[:_MOST_OF_A_PASSAGE] if pair[0]]


def _score_places(
    hits: Sequence[Hit], ranked: Mapping[int, _Ranked]
) -> Iterator[tuple[float, Hit]]:
    """Yield each hit with its score, as a whole passage or as one or more excerpts.

    The weight of the query's words in an excerpt is added to its score. For passages of short
    notes, an average weight is added.

    Args:
        hits: the passages, best first.
        ranked: the excerpts of passages, by the index of the passage.
    """
    best = [parts[0][0] for parts in ranked.values() if parts]
    usual = sum(best) / len(best)
    for at, hit in enumerate(hits):
        if not ranked.get(at):
            yield hit.score + (0.0 if at in ranked else usual), hit
        for share, part in ranked.get(at, ()):
            yield hit.score + share, _build_excerpt(hit, part)


def _build_excerpt(hit: Hit, part: _Span) -> Hit:
    span = hit.text[part.start : part.end]
    text = span.strip()
    start = part.start + span.index(text)
    first = min(hit.lines[0] + hit.text.count("\n", 0, start), hit.lines[1])
    lines = (first, min(first + text.count("\n"), hit.lines[1]))
    id = hashlib.sha256(f"{hit.id}\0{text}".encode("utf-8", "replace")).hexdigest()[:16]
    above = hit.text.count("\n", 0, start)
    structure = hit.markdown_text.cut(above, above + text.count("\n") + 1).structure
    return replace(hit, id=id, lines=lines, text=text, structure=structure)
