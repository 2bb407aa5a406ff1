"""Run `strata table`: print what the bases and queries of a note show."""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from app.assistant import Assistant
from app.cli.output import Output, readable
from app.hidden_characters import escape_text
from app.wiring import open_vault
from context.json_codec import encode
from vault.coverage import name_count
from vault.views.blocks import ComputedBlock, describe_empty
from vault.views.view import ComputedView, ViewRow

__all__ = ["show_table"]

_NAMES: Final = {"base": "Base", "dataview": "Query", "tasks": "Query"}
_LINK: Final = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_GAP: Final = "  "
_MOST_WIDTH: Final = 40
_ROWS: Final = 50


def show_table(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata table`, and return the exit code."""
    open_vault(assistant, args.vault)
    path = readable(args.path)
    most = args.k or (sys.maxsize if output.is_json else _ROWS)
    blocks = assistant.compute_views(path, view=readable(args.view or ""), most=most)
    shown = {"path": path, "blocks": encode(blocks)}
    output.show(lambda: shown, map(escape_text, _describe_blocks(blocks)))
    return 0


def _describe_blocks(blocks: Sequence[ComputedBlock]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        yield from [""] if number else []
        first, last = block.block.lines
        yield f"{_NAMES[block.block.kind]} in lines {first}-{last}"
        for view in block.views:
            yield ""
            yield from [view] if isinstance(view, str) else _describe_view(view)


def _describe_view(computed: ComputedView) -> Iterator[str]:
    """Yield the lines of a view: what it counts, its rows, and what of it is not shown."""
    view = computed.view
    if not computed.rows:
        yield describe_empty(computed)
        return
    counted = name_count(computed.total, "task" if view.shape == "task" else "note")
    yield f"{view.name} ({counted})" if view.name else counted
    for group in dict.fromkeys(row.group for row in computed.rows):
        rows = [row for row in computed.rows if row.group == group]
        yield from [] if view.group is None else ["", f"{group or 'None'}:"]
        yield from _write_table(computed, rows) if view.shape == "table" else map(_write_row, rows)
    if computed.more > 0:
        yield f"and {computed.more:,} more; with -k {computed.total}, all are shown"
    yield from view.problems


def _write_row(row: ViewRow) -> str:
    first, *others = map(_simplify, row.cells)
    if row.task is not None:
        return f"[{row.task.status}] {first}  {row.path}:{row.task.line}"
    rest = ", ".join(filter(None, others))
    return f"- {first}: {rest}" if rest else f"- {first}"


def _write_table(computed: ComputedView, rows: Sequence[ViewRow]) -> Iterator[str]:
    """Yield the header and the rows of a table, in columns of one width."""
    head = [column.name for column in computed.view.columns]
    lines = [head, *([_simplify(cell) for cell in row.cells] for row in rows)]
    widths = [min(_MOST_WIDTH, max(map(len, column))) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield _GAP.join(padded).rstrip()


def _simplify(cell: str) -> str:
    """Return a cell with the names of links in place of the links."""
    return _LINK.sub(r"\1", cell)
