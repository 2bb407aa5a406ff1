"""The values of pinned answers: the question, its rows now, and its rows when it was last seen.

A pinned answer is stored as a JSON object. Fields that this version does not know are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from context.json_codec import Record

__all__ = ["MOST_ROWS", "AnswerRow", "ModelAnswer", "PinKind", "PinnedAnswer"]

# How the rows are found: `list` of notes or tasks, the `value` of a property or a sum of values,
# `quotes` from notes, or the sources of an answer of a `model`.
PinKind = Literal["list", "value", "quotes", "model"]

# The most rows that are stored and compared. Of a longer list, the rest is only counted.
MOST_ROWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class AnswerRow(Record):
    """A row of a pinned answer: a line of a note, or a few lines that belong together.

    Attributes:
        line: the first line in the note, counted from 1.
        text: the line or lines as they stand in the note.
        title: the title of the note.
        version: the hash of the note's content.
        values: the properties that the question names, such as "rating: 4", or an empty string.
        is_note: whether the row stands for the whole note, of which it shows one line.
    """

    path: str
    line: int
    text: str
    title: str = ""
    version: str = ""
    values: str = ""
    is_note: bool = False

    def __post_init__(self) -> None:
        _check_counts(self.line)

    @property
    def shown(self) -> str:
        """The values of the properties if the question names some, otherwise the line."""
        return self.values or self.text


@dataclass(frozen=True, slots=True)
class ModelAnswer(Record):
    """An answer of a model.

    Attributes:
        text: the answer as Markdown.
        model: the name of the model.
        session: the chat that contains the answer.
        entry: the id of the answer's log entry.
        written: when the answer was written, as ISO 8601 UTC.
        sources: the number of sources that it cites.
    """

    text: str
    model: str
    session: str = ""
    entry: str = ""
    written: str = ""
    sources: int = 0

    def __post_init__(self) -> None:
        _check_counts(self.sources)


@dataclass(frozen=True)
class PinnedAnswer(Record):
    """A question whose answer is kept in the sidebar.

    Attributes:
        id: identifies the pinned answer.
        title: the name that is shown.
        question: the question as it was asked.
        kind: how the answer is found.
        query: the filters and words that were understood. Later, only its days are read again.
        day: the day on which the question was read, as ISO 8601.
        project: the project in which it was asked, or an empty string.
        summary: a sentence with the result, such as "3 open tasks; searched all 12 notes."
        total: the number of rows, of which at most `MOST_ROWS` are stored.
        rows: the rows now. Those of an answer of a model are its sources that have changed, each
            with the changed lines as a diff.
        seen: the rows when the answer was last looked at.
        seen_total: the number of rows then.
        computed: when the rows were found, as ISO 8601 UTC.
        note: the note that contains the answer as a block, or an empty string.
        answer: the answer of a model, which is not asked for again by itself, or None.
        others: fields of a later version of Strata, which are kept.
    """

    id: str
    title: str
    question: str
    kind: PinKind
    query: str = ""
    day: str = ""
    project: str = ""
    summary: str = ""
    total: int = 0
    rows: tuple[AnswerRow, ...] = ()
    seen: tuple[AnswerRow, ...] = ()
    seen_total: int = 0
    computed: str = ""
    note: str = ""
    answer: ModelAnswer | None = None
    others: Mapping[str, Any] = field(default_factory=dict)

    json_rest = "others"

    def __post_init__(self) -> None:
        _check_counts(self.total, self.seen_total)


def _check_counts(*counts: int) -> None:
    if min(counts) < 0:
        raise ValueError("a number is negative")
