"""Write the table of an exhaustive answer as Markdown, for a note, or as CSV."""

import csv
import io
from collections.abc import Iterator
from typing import Final

from app.judge.table import JudgeRow, JudgeTable

__all__ = ["write_csv", "write_markdown"]

_COLUMNS: Final = ("note", "verdict", "quotation", "lines", "by", "reason")
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def write_csv(table: JudgeTable) -> str:
    """Return all rows of a table as CSV.

    Texts that a spreadsheet would run as a formula begin with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in table.rows:
        cells = (row.path, row.shown_verdict, row.quote, _name_lines(row), row.by, row.reason)
        writer.writerow([_disarm(cell) for cell in cells])
    return out.getvalue()


def write_markdown(table: JudgeTable) -> str:
    """Return a table as a note: the question, the coverage, and the rows without those of a no."""
    return "\n".join(_write_lines(table))


def _write_lines(table: JudgeTable) -> Iterator[str]:
    yield f"# {_escape(' '.join(table.question.split()))}"
    yield ""
    yield table.coverage
    if table.scope:
        yield f"Notes: `{table.scope.replace('`', chr(39))}`."
    shown = [row for row in table.rows if row.verdict != "no"]
    if shown:
        yield ""
        yield "| Note | Verdict | Quotation | Lines | By |"
        yield "|---|---|---|---|---|"
    for row in shown:
        quote = _escape(" ".join(row.quote.split()))
        said = f"“{quote}”" if quote else _escape(row.reason)
        cells = (_link(row.path), row.shown_verdict, said, _name_lines(row), row.by)
        yield f"| {' | '.join(cells)} |"
    yield ""


def _link(path: str) -> str:
    """Return a link to a note, which holds no character that would end it."""
    if any(char in path for char in "[]|#^\n"):
        return _escape(path)
    return f"[[{path.removesuffix('.md')}]]"


def _name_lines(row: JudgeRow) -> str:
    if row.lines is None:
        return ""
    first, last = row.lines
    return str(first) if first == last else f"{first}-{last}"


def _escape(text: str) -> str:
    """Return a text that is neither markup nor a link nor the end of a table's cell."""
    for char in "\\|`*_[]<>#$":
        text = text.replace(char, f"\\{char}")
    return text.replace("\n", " ")


def _disarm(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
