"""The answer of a turn: one value from the log to the command line and the window."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, get_args

from chains.citations.check import Citation, CitationReport
from chains.citations.sections import ShownSection
from chains.citations.sources import insert_numbers, name_share
from chains.claims.check import check_claims
from chains.claims.evidence import ClaimEvidence
from chains.claims.report import ClaimReport
from context.json_codec import Record
from context.layers import Segment

__all__ = [
    "MOST_STEP_CHARS",
    "AnswerEnd",
    "AnswerKind",
    "Status",
    "Thinking",
    "ToolStatus",
    "ToolStep",
    "TurnAnswer",
    "describe_ending",
]

AnswerKind = Literal["answer", "doubt", "nothing", "list", "time", "tasks", "small_talk"]
Status = Literal["complete", "interrupted", "limit", "error"]
ToolStatus = Literal["running", "ok", "error", "denied"]
# How much of a result, and of the text before a tool call, a step has.
MOST_STEP_CHARS: Final = 2_000
_MOST_STATUS_CHARS: Final = 40
# A chat is read again after each turn, and an answer with its evidence may have 100 kB.
_MOST_REPORTS: Final = 64


@dataclass(frozen=True)
class ToolStep(Record):
    """A tool call that a model makes before its answer, with its outcome so far.

    Attributes:
        id: the id of the tool call.
        name: the name of the tool.
        arguments: the arguments of the call, by name.
        status: `running`, or the outcome.
        seconds: the duration, or None if it was not recorded.
        ref_id: the reference to a large result that is stored outside of the log, or None.
        text: the beginning of the result, or an empty string.
        text_before: the text that the model wrote before the call, which may be empty.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    status: ToolStatus = "running"
    seconds: float | None = None
    ref_id: str | None = None
    text: str = ""
    text_before: str = ""

    json_shape = (
        "id",
        "name",
        "arguments",
        "status",
        "ref_id",
    )

    @property
    def is_cut(self) -> bool:
        """Whether the result is longer than `text`."""
        return self.ref_id is not None


@dataclass(frozen=True)
class AnswerEnd:
    """How an answer ended.

    Attributes:
        status: `complete`, `interrupted`, `limit` or `error`, or what another program has written.
        reason: why the answer is missing or incomplete, or an empty string if it is complete or the
            user stopped it. If the status is `complete`, this is a sentence, such as one about the
            length limit.
        error_code: the code of the error that ended the answer, or an empty string.
    """

    status: str = "complete"
    reason: str = ""
    error_code: str = ""


@dataclass(frozen=True)
class Thinking:
    """What a model thought before its answer. It is no part of the answer.

    Attributes:
        text: the thoughts as Markdown, or an empty string if the model showed none.
        seconds: how long it thought, or None if unknown.
    """

    text: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class TurnAnswer:
    """The answer of a turn, with its sources and how it came about.

    Attributes:
        model: the name of the model, or an empty string if unknown.
        seconds: the time from the question to the end of the answer, or None if unknown.
        sources: the numbered sources that were sent with the question or read by tools.
        steps: the tool calls, in order. Only agents make any.
        checked: the citations, and what could not be verified.
        kind: the kind of the answer.
        sections: the sections of notes that an answer without a model shows, best first.
        searched_by: the ways in which notes were searched: `words`, `meaning`, or both. It is empty
            if none were searched.
        evidence: what the claims of the answer are checked against, or None if no model wrote it.
        thinking: what the model thought before the answer, and before its tool calls.
    """

    text: str
    model: str
    end: AnswerEnd = field(default_factory=AnswerEnd)
    seconds: float | None = None
    sources: tuple[Segment, ...] = ()
    steps: tuple[ToolStep, ...] = ()
    checked: CitationReport = field(default_factory=CitationReport)
    kind: AnswerKind = "answer"
    sections: tuple[ShownSection, ...] = ()
    searched_by: tuple[str, ...] = ()
    thinking: Thinking = field(default_factory=Thinking)
    evidence: ClaimEvidence | None = None

    @cached_property
    def claims(self) -> ClaimReport:
        """The checked claims of the answer, which are none if no model wrote it."""
        if self.evidence is None:
            return ClaimReport()
        return _check_once(self.text, self.evidence, self.checked.citations)

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """The checked citations, with what the passages have of the sentences that cite them."""
        found = {cited.n: cited.found for cited in self.claims.coverage.cited}
        return tuple(
            replace(one, found=found[one.n]) if one.quote is None and one.n in found else one
            for one in self.checked.citations
        )

    @property
    def has_claims(self) -> bool:
        """Whether the claims have been checked, which may take some time."""
        return "claims" in self.__dict__

    @property
    def shown_text(self) -> str:
        """The answer's text, with the citation numbers that Strata added."""
        found = self.checked.citations
        return insert_numbers(self.text, found) if self.checked.sentences else self.text

    @property
    def sources_sentence(self) -> str:
        """A sentence about the sources that Strata found, or an empty string if it found none."""
        found, sentences = self.checked.citations, self.checked.sentences
        return name_share(found, sentences) if found and sentences else ""

    @property
    def ending(self) -> str:
        """Sentences that say why the answer is incomplete, or "" if it is complete."""
        if self.end.status == "interrupted":
            return describe_ending(self.end.reason, bool(self.text.strip() or self.steps))
        reason = " ".join(self.end.reason.split()).rstrip(".")
        if self.end.status not in get_args(Status):
            return _describe_unknown_status(self.end.status, reason)
        sentence = f"No answer arrived: {reason}" if self.end.status == "error" else reason
        limit = self._describe_limit() if self.end.status == "limit" else ""
        return " ".join(filter(None, (limit, f"{sentence}." if reason else "")))

    def _describe_limit(self) -> str:
        steps = "1 step" if len(self.steps) == 1 else f"{len(self.steps):,} steps"
        answer = "This is the answer from what was found." if self.text.strip() else ""
        return f"Stopped after {steps}. {answer}".rstrip()


@lru_cache(maxsize=_MOST_REPORTS)
def _check_once(text: str, evidence: ClaimEvidence, citations: tuple[Citation, ...]) -> ClaimReport:
    """Return the checked claims of an answer, which are kept for when its chat is read again."""
    return check_claims(text, evidence, citations)


def _describe_unknown_status(status: str, reason: str) -> str:
    """Return a sentence about an answer with a status that this version of Strata does not know."""
    shown = " ".join(status.split())[:_MOST_STATUS_CHARS]
    sentence = f"Another program has stored this answer with the unknown status “{shown}”"
    return f"{sentence}: {reason}." if reason else f"{sentence}."


def describe_ending(reason: str, has_arrived: bool) -> str:
    """Return a sentence that says why an answer ended early.

    Args:
        reason: the reason, or an empty string if the user stopped the answer.
        has_arrived: whether any text or tool call of the answer has arrived.
    """
    if reason:
        why = " ".join(reason.split()).rstrip(".")
        if not has_arrived:
            return f"No answer arrived: {why}."
        return f"The answer broke off: {why}. What had arrived is kept."
    return (
        "Stopped. What had arrived is kept." if has_arrived else "Stopped before anything arrived."
    )
