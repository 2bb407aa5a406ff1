"""Find the rows of a pinned answer in the index, without a model.

What a question asks for is understood once, when it is pinned. Later only its days are read again:
"overdue" follows the calendar, and a new tag in the vault does not make it another question.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from app.errors import InvalidRequest
from app.pinned.answer import MOST_ROWS, AnswerRow, PinKind
from app.pinned.block import MarkedBlock, find_blocks, may_have_blocks
from chains.citations.sections import ShownSection
from chains.extractive.model import ExtractiveModel
from chains.retrieval.listing_query import ListQuery, read_list_query
from chains.retrieval.passages import build_passages
from chains.retrieval.totals import tell_total, tell_value
from context.layers import Segment
from resources.system.files import read_file
from vault.coverage import name_count
from vault.errors import VaultError
from vault.notes.kinds import MARKDOWN, TEXT, find_kind
from vault.options import SearchOptions
from vault.search.hits import Hit
from vault.search.query import Query, parse_query, write_query
from vault.vault import Vault

__all__ = [
    "FoundRows",
    "UnderstoodQuestion",
    "WrittenBlocks",
    "find_rows",
    "read_again",
    "understand",
]

_MOST_PASSAGES: Final = 20
_BLANK_LINES: Final = 1
_NO_VALUE: Final = "This value is not in your notes any more."


@dataclass(frozen=True)
class UnderstoodQuestion:
    """What a pinned question asks for.

    Attributes:
        kind: how its rows are found.
        query: the filters and words.
    """

    kind: PinKind
    query: str


class WrittenBlocks:
    """The blocks that Strata wrote into notes, which are no source of an answer."""

    def __init__(self, vault: Vault, id: str, note: str = "") -> None:
        """Create the object. A note is read when its lines are asked for.

        Args:
            vault: the notes.
            id: the pinned answer that is found.
            note: the note that shows it, which is not in its own list, or an empty string.
        """
        self._vault, self._id, self._note = vault, id, note
        self._blocks = dict[str, tuple[MarkedBlock, ...]]()

    def hold(self, path: str, first: int, last: int, *, is_note: bool = False) -> bool:
        """Return whether lines are in a block, or stand for a note that shows the answer."""
        if is_note and path == self._note:
            return True
        if path not in self._blocks:
            self._blocks[path] = self._read(path)
        return any(
            (is_note and block.id == self._id)
            or (first <= block.lines[1] and block.lines[0] <= last)
            for block in self._blocks[path]
        )

    def _read(self, path: str) -> tuple[MarkedBlock, ...]:
        """Read the blocks of a note. A note that is gone or hidden has none."""
        if find_kind(path) not in (MARKDOWN, TEXT):
            return ()
        try:
            if not may_have_blocks(read_file(self._vault.root / path)):
                return ()
            return tuple(find_blocks(self._vault.read_allowed(path).text))
        except (OSError, VaultError):
            return ()


@dataclass(frozen=True)
class FoundRows:
    """The rows of a question in the index.

    Attributes:
        summary: a sentence with the result.
        total: the number of rows, of which at most `MOST_ROWS` are returned.
        is_whole: whether the index covers all notes. If not, rows may be missing.
        describe: writes the summary for another number of rows, or None if it says no number.
    """

    summary: str
    rows: tuple[AnswerRow, ...]
    total: int
    is_whole: bool = True
    describe: Callable[[int], str] | None = None

    def without(self, left_out: Collection[AnswerRow]) -> "FoundRows":
        """Return the result without some of its rows."""
        if not left_out:
            return self
        rows = tuple(row for row in self.rows if row not in left_out)
        total = self.total - len(left_out)
        summary = self.summary if self.describe is None else self.describe(total)
        return replace(self, rows=rows, total=total, summary=summary)


def understand(vault: Vault, question: str, today: date) -> UnderstoodQuestion:
    """Decide how a question is answered without a model.

    A question that asks for no list is answered by quotes from notes. Text with filters, as in the
    search box, is a list of what fits.

    Args:
        vault: the notes.
        question: the question, or a query.
        today: the date that words such as "overdue" refer to.

    Raises:
        InvalidRequest: the question is blank, or asks to go on with an earlier list.
    """
    question = " ".join(question.split())
    reading = vault.read_question(question, today)
    if not question or (reading is not None and reading.operation == "more"):
        raise InvalidRequest("There is no question to pin.", hint="Write the whole question.")
    if reading is not None and reading.operation in ("value", "sum", "mean"):
        return UnderstoodQuestion("value", reading.query)
    listed = read_list_query(question, (), lambda _text: reading)
    if listed is not None and _is_list(vault, listed):
        return UnderstoodQuestion("list", listed.query)
    if parse_query(question).has_filter:
        return UnderstoodQuestion("list", question)
    return UnderstoodQuestion("quotes", question)


def _is_list(vault: Vault, listed: ListQuery) -> bool:
    """Return whether a list is asked for: that is not sure if no note fits all of the query."""
    if listed.is_of_one or not listed.is_tentative:
        return not listed.is_of_one
    found = vault.list_notes(listed.query, 1)
    return bool(found.hits) and not found.is_partial and found.literal != 0


def read_again(vault: Vault, question: str, query: str, today: date) -> str:
    """Return the query of a question on another day: the filters as they were, with its days now.

    Args:
        vault: the notes.
        query: the query as it was understood before.
        today: the present day.
    """
    reading = vault.read_question(" ".join(question.split()), today)
    known = parse_query(query)
    if reading is None or not _has_days(known):
        return query
    now = parse_query(reading.query)
    if not _has_days(now):
        return query
    days = replace(known, days=now.days, due=now.due, after=now.after, before=now.before)
    return write_query(days)


def _has_days(query: Query) -> bool:
    return bool(query.days or query.due or query.after or query.before)


def find_rows(
    vault: Vault,
    question: str,
    understood: UnderstoodQuestion,
    today: date,
    written: WrittenBlocks,
) -> FoundRows:
    """Find the present rows of a question. No model is called, and none is loaded.

    Args:
        vault: the notes.
        question: the question as it was asked.
        understood: what the question asks for.
        today: the present day.
        written: the blocks of pinned answers, whose lines are left out.

    Raises:
        VaultError: the folder or the index cannot be read.
    """
    if understood.kind == "value":
        found = _find_value(vault, question, understood.query, today)
    elif understood.kind == "quotes":
        found = _find_quotes(vault, question, today, written)
    else:
        found = _find_listed(vault, understood.query)
    return found.without(
        [
            row
            for row in found.rows
            if written.hold(row.path, row.line, row.line, is_note=row.is_note)
        ]
    )


def _find_listed(vault: Vault, query: str) -> FoundRows:
    found = vault.list_notes(query, MOST_ROWS)
    parsed = parse_query(query)
    names = {each.name for clause in parsed.clauses for each in clause if each.name}
    values = vault.find_values([hit.path for hit in found.hits], names) if names else {}
    rows = tuple(
        AnswerRow(
            hit.path,
            hit.lines[0],
            hit.text.strip(),
            hit.title,
            hit.version or "",
            values.get(hit.path, ""),
            is_note=not parsed.task_kind,
        )
        for hit in found.hits
    )
    is_whole = found.is_whole and found.searched is not None

    def describe(total: int) -> str:
        return replace(found, total=total, literal=None).describe_total()

    return FoundRows(found.describe_total(), rows, found.total or 0, is_whole, describe)


def _find_value(vault: Vault, question: str, query: str, today: date) -> FoundRows:
    """Find the property that a question asks for, or the lines that a sum is made of."""
    reading = vault.read_question(" ".join(question.split()), today)
    page = None
    if reading is not None and reading.operation == "value":
        page = tell_value(vault, reading, ())
    elif reading is not None and reading.operation in ("sum", "mean"):
        page = tell_total(vault, replace(reading, query=query), ())
    if page is None:
        return FoundRows(_NO_VALUE, (), 0)
    head, *lines = page.segments
    rows = tuple(_make_row(line.source, line.lines, line.raw_content, line) for line in lines)
    return FoundRows(head.raw_content, rows, len(rows))


def _find_quotes(vault: Vault, question: str, today: date, written: WrittenBlocks) -> FoundRows:
    """Find the lines of notes that answer a question, by words alone."""
    for most in (_MOST_PASSAGES, 2 * _MOST_PASSAGES):
        found = vault.search(question, most, SearchOptions(is_quoted=True, by_meaning=False))
        hits = [hit for hit in found.hits if not written.hold(hit.path, *hit.lines)]
        if len(hits) == len(found.hits):
            break
    passages = build_passages(hits, gap=_BLANK_LINES)[:_MOST_PASSAGES]
    searched = "" if found.query == question else found.query
    model = ExtractiveModel(
        question,
        has_searched=True,
        has_notes=found.has_notes,
        searched=searched,
        support=found.support,
        find_days=vault.find_days,
        today=today,
    )
    kind, _, sections = model.quote(passages)
    rows = tuple(row for section in sections for row in _make_section_rows(section))
    is_sure = kind in ("answer", "time")

    def describe(total: int) -> str:
        if not total:
            return "Nothing in your notes answers this clearly."
        one = "s" if total == 1 else ""
        does = f"answer{one} this" if is_sure else f"come{one} closest"
        # Not by meaning: to load the model for it takes seconds.
        return f"{name_count(total, 'line')} of your notes {does}, by words alone."

    return FoundRows(describe(len(rows)), rows, len(rows), describe=describe)


def _make_section_rows(section: ShownSection) -> Iterator[AnswerRow]:
    for lines in section.lit or (section.lines,):
        if text := section.cut_lines(lines):
            yield _make_row(section.path, lines, text, section.source)


def _make_row(
    path: str, lines: tuple[int, int] | None, text: str, found: Hit | Segment
) -> AnswerRow:
    first = lines[0] if lines else 1
    return AnswerRow(path, first, text.strip(), found.title, found.version or "")
