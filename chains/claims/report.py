"""The checked claims of an answer, and which of its sentences rest on which source."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from chains.citations.answer_sources import Source
from context.json_codec import Record

__all__ = [
    "TOOL_RESULT",
    "YOUR_WORDS",
    "AnswerClaim",
    "AnswerCoverage",
    "CitedFacts",
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
_LOOKED_UP: Final[tuple[ClaimKind, ...]] = ("figure", "date", "name", "path")


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
    """A sentence of an answer, and the citation numbers of the sources that it rests on.

    Attributes:
        is_sourced: whether it cites a source, or Strata found its words in one. Otherwise only a
            figure, a date or a name of it is in the sources, perhaps of another thing.
        is_statement: whether it is long enough to have a source, and no row of a table.
    """

    text: str
    sources: tuple[int, ...] = ()
    is_sourced: bool = False
    is_statement: bool = True

    json_shape = (
        "text",
        "sources",
    )


@dataclass(frozen=True)
class CitedFacts(Record):
    """The figures, dates and names of the sentences that cite a source, as far as it has them.

    Attributes:
        n: the citation number of the source.
        found: the figures, dates and names that its passage has, as the answer writes them.
    """

    n: int
    found: tuple[str, ...]


@dataclass(frozen=True)
class AnswerCoverage(Record):
    """Which sentences of an answer rest on which source.

    Attributes:
        sentences: the sentences of the answer, in order.
        unused: the citation numbers of the sources that were sent and that no sentence rests on.
        is_sent: whether sources were sent, which sentences could cite.
        cited: for each source, what its passage has of the sentences that cite it.
    """

    sentences: tuple[CoveredSentence, ...] = ()
    unused: tuple[int, ...] = ()
    is_sent: bool = False
    cited: tuple[CitedFacts, ...] = ()

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
        total = len(self._statements)
        if not total:
            return ""
        bare = self._list_unsourced()
        text = f"{total - len(bare):,} of {_count(total, 'sentence')} {_have(total)} a source"
        if shared := sum(bool(sentence.sources) for sentence in bare):
            verb = "shares" if shared == 1 else "share"
            text += f", {shared:,} without one {verb} only a figure, date or name with a source"
        unused = f"; {_count(len(self.unused), 'source')} sent and not used" if self.unused else ""
        return f"{text}{unused}."

    @property
    def doubt(self) -> str:
        """How many sentences have no source, or an empty string if each has one or none was sent.

        A figure that is also somewhere in a source does not make it the source of the sentence.
        """
        if not self.is_sent or not self.sentences:
            return ""
        if not any(sentence.is_sourced for sentence in self.sentences):
            return "the answer cites no source"
        left, total = len(self._list_unsourced()), len(self._statements)
        return f"{left:,} of {_count(total, 'sentence')} {_have(left)} no source" if left else ""

    @property
    def _statements(self) -> list[CoveredSentence]:
        return [sentence for sentence in self.sentences if sentence.is_statement]

    def _list_unsourced(self) -> list[CoveredSentence]:
        return [sentence for sentence in self._statements if not sentence.is_sourced]


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
        return " · ".join(filter(None, (self.findings, self.accusation)))

    @property
    def findings(self) -> str:
        """The summary without the number of contradicted claims.

        It names what was looked for, since neither a figure that is somewhere in the notes, nor a
        right sum, makes an answer right, and it says how many sentences have no source.
        """
        found = (self._tell_looked_up(), self._tell_sums(), self._tell_acts())
        parts = [part for part in found if part]
        if not parts and not self.accusation:
            return ""
        return " · ".join(filter(None, (*parts, self.coverage.doubt)))

    @property
    def accusation(self) -> str:
        """How many claims are contradicted, or an empty string if none is."""
        contradicted = self.count("contradicted")
        return f"{contradicted:,} contradicted" if contradicted else ""

    def _list_checked(self, *kinds: ClaimKind) -> list[AnswerClaim]:
        return [one for one in self.claims if one.kind in kinds and one.verdict != "unchecked"]

    def _tell_looked_up(self) -> str:
        checked = self._list_checked(*_LOOKED_UP)
        if not checked:
            return ""
        kinds = [kind for kind in _LOOKED_UP if any(one.kind == kind for one in checked)]
        *first, last = [kind if len(checked) == 1 else f"{kind}s" for kind in kinds]
        nouns = f"{', '.join(first)} and {last}" if first else last
        verb = "is" if len(checked) == 1 else "are"
        return f"{_share(checked)} {nouns} {verb} somewhere in what was sent"

    def _tell_sums(self) -> str:
        checked = self._list_checked("sum")
        return f"{_share(checked)} {_decline(len(checked), 'sum')} right" if checked else ""

    def _tell_acts(self) -> str:
        checked = self._list_checked("act")
        return f"{_share(checked)} {_decline(len(checked), 'change')} made" if checked else ""


def _share(claims: Sequence[AnswerClaim]) -> str:
    supported = sum(claim.verdict == "supported" for claim in claims)
    return f"{supported:,} of {len(claims):,}"


def _decline(number: int, noun: str) -> str:
    """Return a noun with the verb behind it, in the number of what is counted."""
    return f"{noun} is" if number == 1 else f"{noun}s are"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
