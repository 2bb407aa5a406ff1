"""Find sources for an answer without citations, sentence by sentence.

A passage is the source of a sentence in two cases:

- The passage contains the sentence verbatim.
- One sentence of the passage, or a pair of adjacent sentences, contains nearly all words of the
  answer's sentence in the same order, all of its numbers, and as many negations.

Sentences that only repeat the question have no source. If several passages contain a sentence, the
one that also contains most of the answer's other sentences is chosen.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

from chains.citations.check import Citation, CitationReport, check_citations
from chains.citations.matching import measure_order
from chains.citations.parser import parse_answer
from chains.citations.quotes import VerbatimText, count_words, normalize_text, read_source_text
from chains.citations.sections import ShownSection, cite_sections
from chains.citations.sentences import locate_sentences, split_sentences
from context.layers import Segment
from vault.notes.keywords import FUNCTION_WORDS, fold, split_words
from vault.notes.text.markup import remove_markup

__all__ = ["check_answer", "count_negations", "insert_numbers", "name_share"]

MOST_SENTENCES: Final = 200
SHORTEST_WORDS: Final = 3
LEAST_TELLING: Final = 2
# The fractions of a sentence's content words, and of all its words in order, that its source must
# contain.
TELLING_SHARE: Final = 0.8
ORDER_SHARE: Final = 0.7
LEAST_TELLING_NEAR: Final = 4
# The minimum length of a short sentence, relative to the sentence of the source that contains it.
# Otherwise, a name in a note or heading would be the source of anything that the answer says about
# it.
FRAGMENT_SHARE: Final = 0.5

_NEGATION: Final = re.compile(
    r"\b(?:not|no|none|never|without|cannot|nicht|kein\w*|nie|niemals|ohne|pas|jamais|sans|nunca"
    r"|sin|(?<![\d.] )mai|senza)\b|n['’]t\b"
)


def check_answer(
    answer: str,
    sources: Sequence[Segment],
    question: str = "",
    sections: Sequence[ShownSection] = (),
    *,
    has_project_text: bool = False,
    has_model: bool = True,
) -> CitationReport:
    """Check the citations of an answer, or find its sources if it has no citations.

    Args:
        sources: the passages that were sent, each with its number.
        question: the user message, and the notes that are used as instructions. Words quoted
            from them need no source.
        sections: the sections that an answer without a model shows. Their lit lines are its
            citations.
        has_project_text: whether the text of project notes was sent, which has no numbers.
        has_model: whether a model wrote the answer. If not, Strata chose all that it cites, and its
            own words between quotation marks need no source.
    """
    if sections:
        return CitationReport(cite_sections(sections))
    report = check_citations(answer, sources, question, has_project_text=has_project_text)
    if not has_model:
        # What Strata quotes of a note has a number. The rest is its own words, as for a filter.
        unverified = tuple(one for one in report.unverified if one.n is not None)
        cited = tuple(_cite_listed(answer, sources, report))
        return replace(report, citations=cited, unverified=unverified)
    if parse_answer(answer).numbers:
        return report
    numbered = [_Passage(source) for source in sources if source.number and not source.derived]
    if not numbered:
        return report
    asked = frozenset(split_words(question))
    spans = locate_sentences(answer)[:MOST_SENTENCES]
    sentences = [answer[start:end] for start, end in spans]
    sentences = [one for one in sentences if count_words(one) >= SHORTEST_WORDS]
    candidates = [_find_candidates(sentence, numbered, asked) for sentence in sentences]
    shares = Counter(passage.number for each in candidates for passage in each.verbatim)
    found = (_choose_source(each, shares) for each in candidates)
    citations = tuple(citation for citation in found if citation is not None)
    return replace(report, citations=citations, sentences=len(sentences))


def _cite_listed(
    answer: str, sources: Sequence[Segment], report: CitationReport
) -> Iterator[Citation]:
    """Yield the citations of an answer without a model, with the lines that a list quotes."""
    written = normalize_text(answer)
    texts = {source.number: source.raw_content.strip() for source in sources}
    for cited in report.citations:
        quote, verified = cited.quote, cited.verified
        text = texts[cited.n]
        is_listed = any(normalize_text(each) in written for each in (text, _join_cells(text)))
        if quote is None and text and is_listed:
            quote, verified = text, True
        yield replace(cited, quote=quote, verified=verified, found_by="strata")


def _join_cells(text: str) -> str:
    """Return a row of a table as a list shows it, or another text as it is."""
    if not text.startswith("|"):
        return text
    return " · ".join(cell.strip() for cell in text.strip("|").split("|") if cell.strip())


def insert_numbers(answer: str, citations: Sequence[Citation]) -> str:
    """Insert citation numbers that the model did not write into an answer, behind the sentences."""
    pieces, at = [], 0
    for citation in citations:
        start = answer.find(citation.sentence, at) if citation.sentence else -1
        if start >= 0:
            end = start + len(citation.sentence)
            pieces.append(f"{answer[at:end]} [{citation.n}]")
            at = end
    return "".join((*pieces, answer[at:]))


def name_share(citations: Sequence[Citation], sentences: int) -> str:
    """Write a sentence that says how many sentences of an answer have a source.

    Args:
        citations: the citations that Strata added, one per sentence.
        sentences: the number of sentences for which Strata searched for a source.
    """
    noun = "sentence" if sentences == 1 else "sentences"
    return (
        f"The model cited no note. Strata found sources for {len(citations):,} of "
        f"{sentences:,} {noun}."
    )


class _Passage:
    """A passage that was sent, split into sentences and words."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.number = segment.number or 0

    @cached_property
    def text(self) -> VerbatimText:
        return VerbatimText(self.segment.raw_content)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(split_words(self.segment.raw_content))

    @cached_property
    def headings(self) -> frozenset[str]:
        """The words of the note's title and of the headings above the passage."""
        return frozenset(split_words(" ".join((self.segment.title, *self.segment.heading))))

    @cached_property
    def windows(self) -> list[tuple[str, list[str]]]:
        """The sentences of the passage and all pairs of adjacent ones, each with its words."""
        found = split_sentences(read_source_text(self.segment))
        pairs = (f"{one} {other}" for one, other in pairwise(found))
        return [(text, split_words(text)) for text in (*found, *pairs)]

    def cite(self, sentence: str, window: str, *, is_verbatim: bool) -> Citation:
        segment = self.segment
        span = self.text.find(window)
        lines, heading = segment.lines, segment.heading
        if span is not None:
            line = self.text.text.count("\n", 0, span[0])
            heading = read_source_text(segment).find_headings(line)
            lines = self.text.find_lines(span, lines[0]) if lines else None
        quote = remove_markup(sentence) if is_verbatim else None
        place = (self.number, segment.source, heading, lines)
        return Citation(*place, quote, is_verbatim, sentence, "strata")


@dataclass(frozen=True)
class _Candidates:
    """A sentence of an answer, and the passages that may be its source.

    Attributes:
        words: the words of the sentence in order.
        content_words: the words of the sentence that carry meaning, as opposed to function words.
        asked: the words in `content_words` that the question also contains.
        near: the passages that contain most of the words in `content_words`.
        verbatim: the passages in `near` that contain the sentence word for word.
    """

    sentence: str
    words: Sequence[str] = ()
    content_words: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    near: Sequence[_Passage] = ()
    verbatim: Sequence[_Passage] = ()


def _find_candidates(
    sentence: str, passages: Sequence[_Passage], asked: frozenset[str]
) -> _Candidates:
    words = split_words(remove_markup(sentence))
    content_words = frozenset(word for word in words if word not in FUNCTION_WORDS)
    if len(content_words) < LEAST_TELLING or content_words <= asked:
        return _Candidates(sentence)
    near = [one for one in passages if _share(content_words, one.words) >= TELLING_SHARE]
    verbatim = [one for one in near if one.text.find(sentence) is not None]
    if len(content_words) < LEAST_TELLING_NEAR:
        verbatim = [one for one in verbatim if _is_sentence_of(words, one)]
    return _Candidates(sentence, words, content_words, content_words & asked, near, verbatim)


def _is_sentence_of(words: Sequence[str], passage: _Passage) -> bool:
    """Return whether one sentence of a passage contains all the given words and few others."""
    known = set(words)
    return any(
        known <= set(others) and len(words) >= FRAGMENT_SHARE * len(others)
        for _, others in passage.windows
    )


def _choose_source(found: _Candidates, shares: Mapping[int, int]) -> Citation | None:
    """Return a citation of the most likely source of a sentence, or None if none is likely enough.

    Args:
        found: the sentence and its possible sources.
        shares: how many sentences of the answer each passage contains, keyed by citation number.
    """
    if found.verbatim:
        passage = max(found.verbatim, key=lambda one: shares[one.number])  # the first of equals
        return passage.cite(found.sentence, found.sentence, is_verbatim=True)
    if len(found.content_words) < LEAST_TELLING_NEAR:
        return None
    scored = [
        (score, shares[passage.number], -at, passage, window)
        for at, passage in enumerate(found.near)
        for score, window in _score_windows(found, passage)
    ]
    if not scored:
        return None
    *_, passage, window = max(scored, key=lambda each: each[:3])
    return passage.cite(found.sentence, window, is_verbatim=False)


def _score_windows(found: _Candidates, passage: _Passage) -> Iterator[tuple[float, str]]:
    """Yield the sentences of a passage that nearly match a sentence of the answer.

    Pairs of adjacent sentences are compared too.

    Yields:
        The score of the match, where higher is better, and the matching text.
    """
    sentence, words, content_words = found.sentence, found.words, found.content_words
    numbers = {word for word in words if any(map(str.isdigit, word))}
    negations = count_negations(sentence)
    for window, its_words in passage.windows:
        known = frozenset(its_words)
        share = _share(content_words, known)
        if share < TELLING_SHARE or not numbers <= known:
            continue
        if not found.asked <= known | passage.headings:
            continue  # the source says this about another subject than the question
        if count_negations(window) != negations:
            continue
        order = measure_order(words, its_words)
        if order >= ORDER_SHARE:
            yield share + order - len(its_words) / 1_000, window


def _share(content_words: frozenset[str], known: frozenset[str]) -> float:
    return len(content_words & known) / len(content_words)


def count_negations(text: str) -> int:
    """Return how many words of a text, such as "not", deny what it says."""
    return len(_NEGATION.findall(fold(text)))
