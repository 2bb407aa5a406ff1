"""The table on top of the page: ten lines that somebody would choose by.

Each line takes its figures from rows of the page, by their names. Nothing is written by hand, so a
row that was renamed or not measured is missing here too, and a test fails.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.benchmarks.rows import Row, Rows

__all__ = ["TOP_LINES", "TopLine", "write_top_lines"]

_HEAD: Final = """| what you would choose by | Strata | goal | best peer, or bare |
|---|---:|---|---|"""
_ABSENT: Final = "not measured yet"
_NO_PEER: Final = "none measured"
_PLACE: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class TopLine:
    """A line of the table.

    Attributes:
        title: what is measured, as a user would say it.
        bench: the bench of the rows.
        row: the name of the row with the figure and its goal.
        figure: the text of the figure. `{value}` and `{percent}` are those of the row, `{share}` is
            the row's value divided by that of `beside`, and other names are groups of `pattern`.
        goal: the text of the goal, in which `{goal}` is that of the row.
        peer: the text of the peer's figure, with the same names, and `{other}` for `beside`.
        pattern: matches the detail of the row.
        beside: the name of a second row, or an empty string.
    """

    title: str
    bench: str
    row: str
    figure: str
    goal: str = "{goal}"
    peer: str = _NO_PEER
    pattern: str = ""
    beside: str = ""

    def write(self, rows: Rows) -> str:
        """Write the line with the figures of the rows of its bench."""
        row, other = rows.get(self.row), rows.get(self.beside)
        if row is None or (self.beside and other is None):
            return f"| {self.title} | {_ABSENT} | | |"
        names = self._read_names(row, other)
        figure = _fill(self.figure, names)
        shown = f"**{figure}**" if row.is_missed else figure
        goal = _fill(self.goal, names) + (", **missed**" if row.is_missed else "")
        return f"| {self.title} | {shown} | {goal} | {_fill(self.peer, names)} |"

    def _read_names(self, row: Row, other: Row | None) -> Mapping[str, str]:
        found = re.search(self.pattern, row.detail)
        names = {name: text or "" for name, text in found.groupdict().items()} if found else {}
        names |= {
            "goal": row.goal,
            "value": f"{row.value:,.3g}",
            "percent": f"{row.value:.0%}".replace("%", " %"),
        }
        if other is not None:
            names |= {"other": f"{other.value:,.3g}", "share": f"{row.value / other.value:.2f}"}
        return names


_CHAT: Final = "chat 230 a turn, 0 of passages, 32,000"
TOP_LINES: Final[Sequence[TopLine]] = (
    TopLine(
        "Questions answered right without a model",
        "answers",
        "answers: open, right",
        "{percent}",
    ),
    TopLine(
        "All evidence for a question is in the request, at 8,000 tokens",
        "evidence",
        "evidence: dated talks, all, 8,000",
        "{percent}",
        "{goal}, words alone",
        "{words} by words alone",
        r"words alone (?P<words>[\d.]+ %)",
    ),
    TopLine(
        "Requests over their budget",
        "guard",
        "guard: requests over their budget",
        "{value} of {all}",
        pattern=r"(?P<all>[\d,]+) requests",
    ),
    TopLine(
        "Price of a chat of 2,000 turns, against a sliding window",
        "price",
        f"{_CHAT}: price",
        "{share}",
        "{goal} × dropping whole turns",
        "1",
        beside=f"{_CHAT}: price of a sliding window",
    ),
    TopLine(
        "A search among 100,000 passages, p95",
        "search",
        "search: p95 / raw parts, 100,001 chunks",
        "{ours}",
        "{goal} × its parts",
        "{bare}, its parts alone",
        r"(?P<ours>[\d.]+ ms) against (?P<bare>[\d.]+ ms)",
    ),
    TopLine(
        "A changed note is found after",
        "change",
        "change: found / 150 ms",
        "{ours}",
        "{goal} × 150 ms",
        pattern=r"(?P<ours>[\d.]+ ms)",
    ),
    TopLine(
        "The window is there after",
        "start",
        "start: window / bare Qt window",
        "{ours}",
        "{goal} × an empty window",
        "{bare}, an empty Qt window",
        r"(?P<ours>[\d.]+ s) against (?P<bare>[\d.]+ s)",
    ),
    TopLine(
        "First text of an answer without a model, after Enter",
        "first_text",
        "first text: warm / 0.3 s",
        "{ours}",
        "{goal} × 0.3 s",
        "{bare} without a window",
        r"(?P<ours>[\d.]+ s) against (?P<bare>[\d.]+ s)",
    ),
    TopLine(
        "Indexing 300 long notes",
        "index",
        "index: throughput / bare model",
        "{ours}",
        "{goal} × the model's speed",
        "{bare}, the model alone",
        r"(?P<ours>[\d.]+ s) against (?P<bare>[\d.]+ s)",
    ),
    TopLine(
        "Memory of the program while it indexes, and of its model",
        "memory",
        "memory: program",
        "{value} and {other} MB",
        "{goal} MB for the program",
        beside="memory: vault.embed_worker",
    ),
)


def write_top_lines(tables: Mapping[str, Rows]) -> str:
    """Write the table from the rows of each bench."""
    lines = [line.write(tables.get(line.bench, {})) for line in TOP_LINES]
    return "\n".join([_HEAD, *lines, ""])


def _fill(text: str, names: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: names.get(match[1], "?"), text)
