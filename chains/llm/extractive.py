"""Answer without a language model: quote up to five sentences of the notes, with citations.

Sentences are ranked by the words that they share with the question, with more weight on rare words,
and by the rank of their passage. The answer states that no model is set.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from chains.cancel import CancelToken
from chains.citations.quotes import VerbatimText, count_words, normalize_text
from chains.citations.sentences import split_sentences
from chains.llm.port import ModelEnded, ModelEvent, ModelText
from context.fit.guard import PreparedRequest
from context.layers import Layer, Segment
from vault.notes.keywords import FUNCTION_WORDS

__all__ = ["ExtractiveModel"]

MOST_SENTENCES: Final = 5
MOST_OF_ONE_PASSAGE: Final = 2
SHORTEST_WORDS: Final = 3
LONGEST_CHARS: Final = 320
# A sentence with less than this share of the best score is not quoted.
WORTH_SHARE: Final = 0.45
RANK_WORTH: Final = 0.3
HEADING_WORTH: Final = 0.15
# The weight of a word that only begins like a word of the question, such as "indexing" and "index".
LIKE_WORTH: Final = 0.7
SHORTEST_STEM: Final = 3

FOUND: Final = (
    "No model is set, so here are the passages that fit best, in your notes' own words.\n"
)
NO_SENTENCE: Final = "No model is set. The passages that fit best hold no sentence to quote:\n"
NOTHING_FOUND: Final = (
    "No model is set, and nothing in your notes fits this question. Try other words."
)
NOT_SEARCHED: Final = (
    "No model is set, and this mode does not look into your notes. "
    "Ask in the mode that does, or set a model."
)


LIST_SOURCE: Final = "every note that fits"


class ExtractiveModel:
    """A model port that answers with quotations from the sources instead of a language model."""

    def __init__(self, question: str, *, has_searched: bool) -> None:
        self._question = question
        self._has_searched = has_searched

    def stream(self, request: PreparedRequest, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the pieces of the answer, and `ModelEnded` at the end."""
        own = [segment for segment in request.segments if segment.layer is Layer.L3]
        for piece in _write_pieces(self._question, own, self._has_searched):
            cancel.raise_if_cancelled()
            yield ModelText(piece)
        yield ModelEnded("complete", "stop")


def _write_pieces(question: str, sources: Sequence[Segment], has_searched: bool) -> Iterator[str]:
    if not sources:
        yield NOTHING_FOUND if has_searched else NOT_SEARCHED
        return
    if any(source.source == LIST_SOURCE for source in sources):
        yield from _write_list(sources)
        return
    chosen = _choose_sentences(question, sources)
    yield FOUND if chosen else NO_SENTENCE
    for sentence in chosen:
        yield f"\n> {_escape_markdown(sentence.text)} [{sentence.number}]\n"
    if not chosen:
        for source in sources[:MOST_SENTENCES]:
            yield f"\n- {_escape_markdown(source.title or source.source)} [{source.number}]"


def _write_list(sources: Sequence[Segment]) -> Iterator[str]:
    """Yield a page of a note list: its summary, then a line for each note."""
    for source in sources:
        if source.source == LIST_SOURCE:
            yield f"{source.raw_content}\n"
        elif source.kind == "passage":
            title, text = (
                _escape_markdown(source.title or source.source),
                _escape_markdown(source.raw_content),
            )
            yield f"\n- {title}: {text} [{source.number}]"


@dataclass(frozen=True)
class _Sentence:
    text: str
    number: int
    words: frozenset[str]
    heading: frozenset[str]


def _choose_sentences(question: str, sources: Sequence[Segment]) -> list[_Sentence]:
    candidates = [sentence for source in sources for sentence in _list_sentences(source)]
    worth = _score_sentences(question, candidates)
    ranked = sorted(range(len(candidates)), key=lambda at: -worth[at])
    least = worth[ranked[0]] * WORTH_SHARE if ranked else 0.0
    chosen: list[_Sentence] = []
    for at in ranked:
        sentence = candidates[at]
        same_passage = [other for other in chosen if other.number == sentence.number]
        repeats = any(
            normalize_text(other.text) == normalize_text(sentence.text) for other in chosen
        )
        if worth[at] < least or len(chosen) == MOST_SENTENCES:
            break
        if not repeats and len(same_passage) < MOST_OF_ONE_PASSAGE:
            chosen.append(sentence)
    return chosen


def _list_sentences(source: Segment) -> Iterator[_Sentence]:
    """Yield the sentences of a passage that can be quoted and verified."""
    heading = _split_words(" ".join((source.title, *source.heading)))
    text = VerbatimText(source.raw_content)
    for sentence in split_sentences(source.raw_content):
        quote = _shorten_sentence(sentence)
        introduces = sentence.endswith((":", "："))  # it introduces the lines after it
        long_enough = count_words(quote) >= SHORTEST_WORDS
        if long_enough and not introduces and text.find(quote) is not None:
            yield _Sentence(quote, source.number or 0, _split_words(sentence), heading)


def _score_sentences(question: str, candidates: Sequence[_Sentence]) -> list[float]:
    words = _split_words(question)
    asked = words - FUNCTION_WORDS or words
    weights = {word: _measure_rarity(word, candidates) for word in asked}
    total = sum(weights.values()) or 1.0

    def share(words: frozenset[str]) -> float:
        return sum(weight * _measure_match(word, words) for word, weight in weights.items()) / total

    return [
        share(sentence.words)
        + HEADING_WORTH * share(sentence.heading)
        + RANK_WORTH / max(1, sentence.number)
        for sentence in candidates
    ]


def _measure_rarity(word: str, candidates: Sequence[_Sentence]) -> float:
    having = sum(1 for sentence in candidates if _measure_match(word, sentence.words))
    # In languages with spaces, most short words occur in every text.
    length = 1.0 if _is_unspaced(word) else min(1.0, len(word) / 6)
    return length * (1.0 + math.log((len(candidates) + 1) / (having + 1)))


def _measure_match(word: str, words: frozenset[str]) -> float:
    if word in words:
        return 1.0
    if len(word) < SHORTEST_STEM or _is_unspaced(word):
        return 0.0
    return LIKE_WORTH if any(_is_like(word, other) for other in words) else 0.0


def _is_like(word: str, other: str) -> bool:
    """Return whether two words share a beginning of at least half of the longer word."""
    shared = max(SHORTEST_STEM, (max(len(word), len(other)) + 1) // 2)
    return len(other) >= SHORTEST_STEM and word[:shared] == other[:shared]


_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


@cache
def _is_unspaced(word: str) -> bool:
    return _UNSPACED.match(word) is not None


def _split_words(text: str) -> frozenset[str]:
    """Return the words without case and accents, or character pairs in scripts without spaces."""
    simple = "".join(
        char
        for char in unicodedata.normalize("NFKD", text.casefold())
        if not unicodedata.combining(char)
    )
    words = {word for word in _WORD.findall(_UNSPACED.sub(" ", simple)) if len(word) > 1}
    for run in _UNSPACED.findall(simple):
        words.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    return frozenset(words)


def _shorten_sentence(sentence: str) -> str:
    if len(sentence) <= LONGEST_CHARS:
        return sentence
    cut = sentence[:LONGEST_CHARS]
    blank = cut.rfind(" ")
    return f"{cut[:blank] if blank > LONGEST_CHARS // 2 else cut}…"


_SPECIAL: Final = re.compile(
    r"[\\`*\[\]<>]|(?<![^\W_])_|_(?![^\W_])|~~|^[#+-](?= )|^\d{1,3}[.)](?= )"
)


def _escape_markdown(text: str) -> str:
    """Escape a text for Markdown, so that no part of it is read as a citation."""
    return _SPECIAL.sub(lambda match: f"\\{match.group()}", text)
