"""The values of pinned answers: the question, its rows now, and its rows when it was last seen.

A pinned answer is stored as a JSON object. Fields that this version does not know are kept.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal, TypeVar, get_args, get_type_hints

__all__ = ["MOST_ROWS", "AnswerRow", "ModelAnswer", "PinKind", "PinnedAnswer"]

# How the rows are found: `list` of notes or tasks, the `value` of a property or a sum of values,
# `quotes` from notes, or the sources of an answer of a `model`.
PinKind = Literal["list", "value", "quotes", "model"]

# The rows that are stored and compared. Of a longer list, the rest is only counted.
MOST_ROWS: Final = 1_000


@dataclass(frozen=True, slots=True)
class AnswerRow:
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

    @property
    def shown(self) -> str:
        """The values of the properties if the question names some, otherwise the line."""
        return self.values or self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the row as a JSON-serializable dict."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as a JSON-serializable dict."""
        return asdict(self)


@dataclass(frozen=True)
class PinnedAnswer:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the pinned answer as it is stored."""
        stored = asdict(self)
        others: dict[str, Any] = stored.pop("others")
        return {**others, **stored}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "PinnedAnswer":
        """Read a stored pinned answer.

        Raises:
            ValueError: a field is missing or has a wrong type, or the kind is unknown.
        """
        known = {one.name for one in fields(cls)} - {"others"}
        values = {name: value for name, value in stored.items() if name in known}
        if values.get("kind") not in get_args(PinKind):
            raise ValueError("the kind is unknown")
        try:
            for name in ("rows", "seen"):
                values[name] = tuple(_read_row(row) for row in _check_list(values.get(name, [])))
            values["answer"] = _read_answer(values.get("answer"))
            others = {name: value for name, value in stored.items() if name not in known}
            return _check(cls(**values, others=others))
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(str(error)) from error


_Read = TypeVar("_Read", AnswerRow, ModelAnswer, PinnedAnswer)


def _read_row(stored: Mapping[str, Any]) -> AnswerRow:
    names = [one.name for one in fields(AnswerRow) if one.name in stored]
    return _check(AnswerRow(**{name: stored[name] for name in names}))


def _read_answer(stored: Mapping[str, Any] | None) -> ModelAnswer | None:
    if stored is None:
        return None
    names = [one.name for one in fields(ModelAnswer) if one.name in stored]
    return _check(ModelAnswer(**{name: stored[name] for name in names}))


def _check_list(stored: Any) -> list[Any]:
    if not isinstance(stored, list):
        raise TypeError("the rows are no list")
    return stored


def _check(read: _Read) -> _Read:
    """Return an object whose texts, numbers and truth values are such."""
    for name, kind in get_type_hints(type(read)).items():
        value = getattr(read, name)
        if kind in (str, int, bool) and (type(value) is not kind or (kind is int and value < 0)):
            raise TypeError(f"{name} is no {kind.__name__}")
    return read
