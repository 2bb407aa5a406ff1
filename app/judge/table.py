"""The values of an exhaustive answer: rows, counts, costs, progress; a table as Markdown or CSV."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

from app.pinned.block import escape_comments, write_marks
from chains.judge.sample import CONFIDENCE, SampledKind, compute_bounds
from chains.models import EXTRACTIVE
from context.json_codec import Record
from vault.coverage import name_count

__all__ = [
    "DEFAULT_SAMPLE",
    "JudgeCost",
    "JudgeCounts",
    "JudgeProgress",
    "JudgeRequest",
    "JudgeRow",
    "JudgeTable",
    "RowOutcome",
    "SampleCheck",
    "say_model",
    "say_time",
    "write_csv",
    "write_markdown",
]

RowOutcome = Literal["yes", "no", "cannot_tell", "failed", "too_long", "unreadable", "waiting"]

# The rows in the order of a table, and how they are named.
OUTCOMES: Final[Mapping[RowOutcome, str]] = {
    "yes": "yes",
    "cannot_tell": "cannot tell",
    "failed": "failed",
    "too_long": "too long",
    "unreadable": "unreadable",
    "waiting": "not judged yet",
    "no": "no",
}
_ORDER: Final = {outcome: place for place, outcome in enumerate(OUTCOMES)}

DEFAULT_SAMPLE: Final = 100
_COLUMNS: Final = ("note", "verdict", "quotation", "lines", "by", "reason")
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class JudgeRequest:
    """A question about every note of a scope.

    Attributes:
        scope: a filter as in the search box, or an empty string for all notes.
        project: the folder of the project whose notes are judged, or None for the vault.
        model: the model, or None for the configured one.
        first: the number of notes to judge now, or None for all.
        retries: whether to judge notes again that have failed before.
        sample_model: the model that judges a sample again, or None for no sample.
        sample: the number of notes in the sample.
    """

    question: str
    scope: str = ""
    project: str | None = None
    model: str | None = None
    first: int | None = None
    retries: bool = False
    sample_model: str | None = None
    sample: int = DEFAULT_SAMPLE


@dataclass(frozen=True)
class JudgeRow(Record):
    """A note with its verdict.

    Attributes:
        path: the note, as chats name it.
        by: what gave the verdict: `rule`, `model`, or an empty string if there is none.
        quote: the quotation that proves a yes, or an empty string.
        lines: the lines of the quotation, or None.
        reason: the rule, or why there is no verdict, or an empty string.
    """

    path: str
    verdict: RowOutcome
    by: Literal["rule", "model", ""] = ""
    quote: str = ""
    lines: tuple[int, int] | None = None
    reason: str = ""

    @property
    def shown_verdict(self) -> str:
        """The verdict in words, such as "cannot tell"."""
        return OUTCOMES[self.verdict]

    @property
    def shown_lines(self) -> str:
        """The lines of the quotation, such as "3-4", or an empty string."""
        if self.lines is None:
            return ""
        first, last = self.lines
        return str(first) if first == last else f"{first}-{last}"

    @property
    def order(self) -> tuple[int, str]:
        """The key that sorts rows: a yes first, a no last, and within them by path."""
        return _ORDER[self.verdict], self.path


@dataclass(frozen=True)
class JudgeCounts(Record):
    """How many notes of a scope were judged, and why the others were not.

    Attributes:
        notes: the notes in the scope. All others but the verdicts add up to it.
        waiting: the notes that a model has not judged yet.
    """

    notes: int
    by_rule: int
    by_model: int
    failed: int
    unreadable: int
    too_long: int
    private: int
    excluded: int
    waiting: int
    yes: int
    no: int
    cannot_tell: int

    @property
    def judged(self) -> int:
        """The number of notes with a verdict."""
        return self.by_rule + self.by_model

    @property
    def left_out(self) -> tuple[tuple[str, int], ...]:
        """The notes without a verdict for good, by why."""
        named = (
            ("failed", self.failed),
            ("unreadable", self.unreadable),
            ("too long", self.too_long),
            ("private", self.private),
            ("excluded", self.excluded),
        )
        return tuple((name, count) for name, count in named if count)

    @property
    def is_closed(self) -> bool:
        """Whether each note of the scope is counted exactly once."""
        others = sum(count for _, count in self.left_out) + self.waiting
        verdicts = self.yes + self.no + self.cannot_tell
        return self.judged + others == self.notes and verdicts == self.judged


@dataclass(frozen=True)
class JudgeCost(Record):
    """What judging the notes that are left takes, estimated.

    Attributes:
        notes: the number of notes that a model has to judge.
        calls: the number of calls, if no note has to be asked about again.
        sent: the tokens of the requests.
        answered: the tokens of the answers.
        price: the price in dollars, or None if it is not known.
        seconds: the time, or None before the model has judged any notes.
        is_local: whether the model runs on this computer.
    """

    notes: int = 0
    calls: int = 0
    sent: int = 0
    answered: int = 0
    price: float | None = 0.0
    seconds: float | None = 0.0
    is_local: bool = False

    json_shape = (
        "notes",
        "calls",
        "prompt_tokens = sent",
        "output_tokens = answered",
        "price",
        "seconds",
        "is_local",
    )

    @property
    def sentence(self) -> str:
        """A sentence that says what the notes take, as far as it is known."""
        if not self.notes:
            return "No note is left for a model."
        calls = name_count(self.calls, "call")
        tokens = f"{self.sent:,} tokens sent, {self.answered:,} answered"
        time = "the time is known after the first notes"
        if self.seconds is not None:
            time = f"about {say_time(self.seconds)}"
        notes = name_count(self.notes, "note")
        return f"{notes} for the model: about {calls}, {tokens}; {self._say_price()}; {time}."

    def _say_price(self) -> str:
        if self.price is None:
            return "the model's price is not known"
        if not self.price:
            return "free on this computer" if self.is_local else "free of charge"
        return "less than $0.01" if self.price < 0.01 else f"about ${self.price:,.2f}"


@dataclass(frozen=True)
class JudgeProgress(Record):
    """How far a run is.

    Attributes:
        done: the notes that this run has judged or given up.
        total: the notes that this run judges.
        seconds_left: the time for the others, or None if it is not known yet.
    """

    done: int
    total: int
    yes: int = 0
    cannot_tell: int = 0
    failed: int = 0
    seconds_left: float | None = None
    is_paused: bool = False

    @property
    def sentence(self) -> str:
        """A line that says how far the run is."""
        found = f"{self.yes:,} yes, {self.cannot_tell:,} cannot tell"
        failed = f", {self.failed:,} failed" if self.failed else ""
        left = "" if self.seconds_left is None else f"; about {say_time(self.seconds_left)} left"
        paused = "Paused. " if self.is_paused else ""
        done = f"{self.done:,} of {name_count(self.total, 'note')} judged"
        return f"{paused}{done}: {found}{failed}{left}"


@dataclass(frozen=True)
class SampleCheck(Record):
    """What a sample of the verdicts says of all of them, since another model judged it again.

    Attributes:
        model: the model that judges the sample.
        kinds: the notes of each verdict, with the sample from them.
        agreed: how many notes of the sample got the same verdict.
        failed: the notes of the sample on which the model gave no verdict.
        waiting: the notes of the sample that it has not judged yet.
    """

    model: str
    kinds: tuple[SampledKind, ...]
    agreed: int
    failed: int = 0
    waiting: int = 0

    @property
    def notes(self) -> int:
        """The number of notes from which the sample is."""
        return sum(kind.notes for kind in self.kinds)

    @property
    def sampled(self) -> int:
        """The number of notes of the sample with a verdict."""
        return sum(kind.sampled for kind in self.kinds)

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The least and the most notes that the model would say yes to, with `CONFIDENCE`."""
        return compute_bounds(self.kinds)

    def describe(self, first_model: str) -> str:
        """Return the sentence that says what is known by the sample.

        Args:
            first_model: the model whose verdicts the sample is from.
        """
        model = say_model(self.model)
        if self.waiting:
            return f"{name_count(self.waiting, 'note')} of a sample for {model} to judge again."
        failed = f" {self.failed:,} more of the sample failed." if self.failed else ""
        if not self.sampled:
            return f"{model} gave no verdict on a sample of the notes.{failed.replace(' more', '')}"
        first = say_model(first_model)
        if self.notes == 1:
            agreed = "agreed" if self.agreed else "did not agree"
            return f"{model} judged the note that {first} judged, and {agreed}."
        low, high = self.bounds
        estimate = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        sure = "" if self.sampled == self.notes else f"with {CONFIDENCE:.0%} confidence, "
        return (
            f"{model} judged {self.sampled:,} of the {self.notes:,} notes that {first} judged, "
            f"and agreed on {self.agreed:,}: {sure.replace('%', ' %')}it would say yes "
            f"to {estimate} of these {self.notes:,}.{failed}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the check as a JSON object."""
        low, high = self.bounds
        return {
            "model": self.model,
            "kinds": [kind.to_dict() for kind in self.kinds],
            "agreed": self.agreed,
            "failed": self.failed,
            "waiting": self.waiting,
            "confidence": CONFIDENCE,
            "least": low,
            "most": high,
        }


@dataclass(frozen=True)
class JudgeTable(Record):
    """The verdicts on the notes of a scope.

    Attributes:
        request: the question and its scope.
        model: the model that judges what rules do not decide.
        rules: what rules decide, in words, or an empty string.
        cost: what is left to do, estimated.
        calls: the calls of the run that made this table.
        sample: what a sample says that another model judged again, or None.
    """

    request: JudgeRequest
    model: str
    rules: str
    rows: tuple[JudgeRow, ...] = field(repr=False)
    private: int = 0
    excluded: int = 0
    cost: JudgeCost = JudgeCost()
    calls: int = 0
    sample: SampleCheck | None = None

    json_shape = (
        "question = request.question",
        "scope = request.scope",
        "project = request.project",
        "model",
        "rules",
        "coverage",
        "is_complete",
        "counts",
        "cost",
        "calls",
        "rows",
        "sample",
    )

    @cached_property
    def counts(self) -> JudgeCounts:
        """How many notes there are of each kind."""
        outcomes = Counter(row.verdict for row in self.rows)
        judged = Counter(row.by for row in self.rows if row.by)
        return JudgeCounts(
            notes=len(self.rows) + self.private + self.excluded,
            by_rule=judged["rule"],
            by_model=judged["model"],
            failed=outcomes["failed"],
            unreadable=outcomes["unreadable"],
            too_long=outcomes["too_long"],
            private=self.private,
            excluded=self.excluded,
            waiting=outcomes["waiting"],
            yes=outcomes["yes"],
            no=outcomes["no"],
            cannot_tell=outcomes["cannot_tell"],
        )

    def name_judge(self, row: JudgeRow) -> str:
        """Return what gave the verdict of a row: "rule", the model, or an empty string."""
        return say_model(self.model) if row.by == "model" else row.by

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to judge, so that the counts may be claimed."""
        return self.counts.waiting == 0 and self.counts.is_closed

    @property
    def coverage(self) -> str:
        """The sentences that say how many notes were judged, by what, with which result."""
        return " ".join(self._cover())

    def _cover(self) -> Iterator[str]:
        counts = self.counts
        if not counts.notes:
            yield "No notes are in this scope."
            return
        if not counts.is_closed:
            yield "The figures do not add up, so nothing is claimed."
            return
        so_far = " so far" if counts.waiting else ""
        by = [f"{counts.by_rule:,} by rule"] if counts.by_rule else []
        by += [f"{counts.by_model:,} by {say_model(self.model)}"] if counts.by_model else []
        found = f"{counts.yes:,} yes, {counts.cannot_tell:,} cannot tell"
        named = f": {', '.join(by)}; {found}" if by else ""
        yield f"{counts.judged:,} of {counts.notes:,} judged{so_far}{named}."
        if counts.left_out:
            others = ", ".join(f"{count:,} {name}" for name, count in counts.left_out)
            yield f"Without a verdict: {others}."
        if counts.waiting and self.model == EXTRACTIVE:
            need = "needs" if counts.waiting == 1 else "need"
            yield f"{name_count(counts.waiting, 'note')} {need} a model, and no model is set."
        elif counts.waiting:
            yield f"Not judged yet: {counts.waiting:,}."
        if self.sample is not None:
            yield self.sample.describe(self.model)


def say_time(seconds: float) -> str:
    """Return a time in words, such as "40 s" or "12 min"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{round(minutes / 60)} h"


def say_model(model: str) -> str:
    """Return the name of a model without its provider."""
    return model.rpartition("/")[2] or model


def write_csv(table: JudgeTable) -> str:
    """Return all rows of a table as CSV.

    Texts that a spreadsheet would run as a formula begin with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in table.rows:
        cells = (
            row.path,
            row.shown_verdict,
            row.quote,
            row.shown_lines,
            table.name_judge(row),
            row.reason,
        )
        writer.writerow([_disarm(cell) for cell in cells])
    return out.getvalue()


def write_markdown(table: JudgeTable) -> str:
    """Return a table as a note: the question, the coverage, and the rows except those judged no.

    All of it is a marked block, so that the note is not judged as one of the user's.
    """
    request = table.request
    asked = "\n".join((request.question, request.scope, request.project or "", table.model))
    id = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    start, end = write_marks("table of verdicts", id)
    return "\n".join((start, *_write_lines(table), end, ""))


def _write_lines(table: JudgeTable) -> Iterator[str]:
    yield f"# {_escape(' '.join(table.request.question.split()))}"
    yield ""
    yield table.coverage
    if table.request.scope:
        yield f"Notes: `{table.request.scope.replace('`', chr(39))}`."
    shown = [row for row in table.rows if row.verdict not in ("no", "waiting")]
    if shown:
        yield ""
        yield "| Note | Verdict | Quotation | Lines | By |"
        yield "|---|---|---|---|---|"
    for row in shown:
        quote = _escape(" ".join(row.quote.split()))
        quote_or_reason = f"“{quote}”" if quote else _escape(row.reason)
        cells = (
            _link(row.path),
            row.shown_verdict,
            quote_or_reason,
            row.shown_lines,
            _escape(table.name_judge(row)),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _link(path: str) -> str:
    """Return a link to a note, which holds no character that would end it."""
    if escape_comments(path) != path or any(char in path for char in "[]|#^\n"):
        return _escape(path)
    return f"[[{path.removesuffix('.md')}]]"


def _escape(text: str) -> str:
    """Return a text that is neither markup, a link, a comment nor the end of a table's cell."""
    for char in "\\|`*_[]<>#$":
        text = text.replace(char, f"\\{char}")
    return escape_comments(text).replace("\n", " ")


def _disarm(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
