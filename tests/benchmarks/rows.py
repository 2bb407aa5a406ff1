"""The rows of the page's tables, as text and as values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.benchmarks.measure import Ratio

__all__ = ["HEAD", "Row", "Rows", "parse_rows", "write_row"]

HEAD: Final = """| measured | ratio | goal | result | Strata against the baseline |
|---|---:|---|---|---|"""
_MISSED: Final = "**missed**"
_ROW: Final = re.compile(
    r"^\| (?P<name>[^|]+?) \| \**(?P<value>-?[\d,.]+)\** \| (?P<goal>[^|]*?) ?\|"
    r" (?P<result>[^|]*?) ?\| (?P<detail>[^|]*?) ?\|$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Row:
    """A row of a table: what was measured, the ratio, its goal, and what both sides reached."""

    name: str
    value: float
    goal: str
    is_missed: bool
    detail: str


Rows = Mapping[str, Row]


def write_row(ratio: Ratio) -> str:
    """Write a ratio as a row. A missed goal is bold."""
    goal = f"≤ {ratio.at_most:g}" if ratio.at_most is not None else ""
    goal = f"≥ {ratio.at_least:g}" if ratio.at_least is not None else goal
    result = "" if not goal else "met" if ratio.is_met else _MISSED
    value = f"{ratio.value:,.3f}" if ratio.is_met else f"**{ratio.value:,.3f}**"
    cells = (ratio.name, value, goal, result, ratio.detail)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def parse_rows(table: str) -> Rows:
    """Parse the rows of a table, keyed by what was measured."""
    return {
        found["name"]: Row(
            found["name"],
            float(found["value"].replace(",", "")),
            found["goal"],
            found["result"] == _MISSED,
            found["detail"],
        )
        for found in _ROW.finditer(table)
    }
