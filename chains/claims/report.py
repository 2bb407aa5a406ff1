"""The checked claims of an answer, and which of its sentences rest on which source."""

from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from chains.citations.answer_sources import Source
from context.json_codec import Record

__all__ = [
    "TOOL_RESULT",
    "YOUR_WORDS",
    "AnswerClaim",
    "AnswerCoverage",
    "ClaimKind",
    "ClaimReport",
    "ClaimVerdict",
    "CoveredSentence",
]

ClaimKind = Literal["figure", "date", "name", "path", "sum", "act", "negation"]
ClaimVerdict = Literal["supported", "unsupported", "contradicted", "unchecked"]
# Where a claim stands that is in no note.
YOUR_WORDS: Final = "your message"
TOOL_RESULT: Final = "a tool result"


@dataclass(frozen=True)
class AnswerClaim(Record):
    """A claim of an answer that was checked.

    Attributes:
        text: the figure, date, name, path or sentence that was checked.
        sentence: the sentence of the answer that makes the claim.
        start: the offset of `text` in the answer.
        reason: says why, in the words of a reader, such as "in Backups, line 16".
        places: where the claim stands in what was sent, or what speaks against it, best first.
    """

    kind: ClaimKind
    text: str
    sentence: str
    start: int
    verdict: ClaimVerdict
    reason: str
    places: tuple[Source, ...] = ()


@dataclass(frozen=True)
class CoveredSentence(Record):
    """A sentence of an answer, and the citation numbers of the sources that it rests on."""

    text: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True)
class AnswerCoverage(Record):
    """Which sentences of an answer rest on which source.

    Attributes:
        sentences: the sentences of the answer, in order.
        unused: the citation numbers of the sources that were sent and that no sentence rests on.
    """

    sentences: tuple[CoveredSentence, ...] = ()
    unused: tuple[int, ...] = ()

    json_shape = (
        "sentences",
        "on_none = bare",
        "unused",
    )

    @property
    def bare(self) -> int:
        """The number of sentences that rest on no source."""
        return sum(not sentence.sources for sentence in self.sentences)

    def describe(self) -> str:
        """Return the coverage in words, or an empty string if the answer has no sentences."""
        total = len(self.sentences)
        if not total:
            return ""
        verb = "rests" if total == 1 else "rest"
        said = f"{total - self.bare:,} of {_count(total, 'sentence')} {verb} on a source"
        unused = f"; {_count(len(self.unused), 'source')} sent and not used" if self.unused else ""
        return f"{said}{unused}."


@dataclass(frozen=True)
class ClaimReport(Record):
    """The checked claims of an answer, in order."""

    claims: tuple[AnswerClaim, ...] = ()
    coverage: AnswerCoverage = field(default_factory=AnswerCoverage)

    json_shape = (
        "summary",
        "counts",
        "claims",
        "coverage",
    )

    def count(self, verdict: ClaimVerdict) -> int:
        """Return how many claims have a verdict."""
        return sum(claim.verdict == verdict for claim in self.claims)

    @property
    def counts(self) -> dict[str, int]:
        """The number of claims with each verdict."""
        return {verdict: self.count(verdict) for verdict in get_args(ClaimVerdict)}

    @property
    def summary(self) -> str:
        """One line about the claims, or an empty string if none could be checked."""
        checked = sum(claim.verdict != "unchecked" for claim in self.claims)
        if not checked:
            return ""
        verb = "is" if checked == 1 else "are"
        said = f"{self.count('supported'):,} of {_count(checked, 'claim')} {verb} in what was sent"
        contradicted = self.count("contradicted")
        return f"{said} · {contradicted:,} contradicted" if contradicted else said


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
