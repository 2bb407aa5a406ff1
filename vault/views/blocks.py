"""Find the computed views of a note, compute them, and write them as Markdown.

    ```base            a `.base` file, or            the rows from the index
    ```dataview   →    the blocks of a note     →    as `ComputedView`s     →    Markdown

Private and excluded notes are not in the index, and are never part of a result.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from vault.catalog import Catalog
from vault.notes.note import Note
from vault.notes.text.lines import CODE, FENCE_CLOSES, FENCE_OPENS
from vault.search.staleness import StalenessFilter
from vault.vault import Vault
from vault.views.base import read_base
from vault.views.compute import ViewComputer, find_row
from vault.views.dataview import read_dataview
from vault.views.view import ComputedView, Shape, View, ViewRow

__all__ = [
    "MOST_ROWS",
    "ComputedBlock",
    "ViewBlock",
    "compute_block",
    "describe_empty",
    "find_view_blocks",
    "write_markdown",
]

BlockKind = Literal["base", "dataview"]
_KINDS: Final[dict[str, BlockKind]] = {"base": "base", "dataview": "dataview"}
MOST_ROWS: Final = 1_000


@dataclass(frozen=True, slots=True)
class ViewBlock:
    """A base or query in a note.

    Attributes:
        text: the base or query, without fences.
        lines: the first and the last line in the note, with the fences.
    """

    kind: BlockKind
    text: str
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ComputedBlock:
    """The results of a block, one for each of its views.

    Attributes:
        views: each result, or the sentence that says why there is none.
    """

    block: ViewBlock
    views: tuple[ComputedView | str, ...]

    @property
    def is_understood(self) -> bool:
        """Whether at least one view has a result."""
        return any(not isinstance(view, str) for view in self.views)


def find_view_blocks(note: Note) -> tuple[ViewBlock, ...]:
    """Return the bases and queries of a note. A base file is one block."""
    return tuple(_find_fenced(note.text.split("\n"), note.kinds))


def _find_fenced(lines: Sequence[str], kinds: str) -> Iterator[ViewBlock]:
    at = 0
    while (at := kinds.find(FENCE_OPENS, at)) >= 0:
        language = lines[at].strip("`~> \t").partition(" ")[0].lower()
        end = at + 1
        while end < len(kinds) and kinds[end] == CODE:
            end += 1
        is_closed = end < len(kinds) and kinds[end] == FENCE_CLOSES
        if language in _KINDS:
            quoted = len(lines[at]) - len(lines[at].lstrip("> \t"))
            text = "\n".join(_unquote(line, quoted) for line in lines[at + 1 : end])
            yield ViewBlock(_KINDS[language], text, (at + 1, end + is_closed))
        at = end


def _unquote(line: str, chars: int) -> str:
    return line[chars:] if not line[:chars].strip("> \t") else line.lstrip("> \t")


def compute_block(
    vault: Vault, block: ViewBlock, path: str, most: int = MOST_ROWS, now: datetime | None = None
) -> ComputedBlock:
    """Compute the views of a block from the index.

    Args:
        vault: the notes.
        block: the base or query.
        path: the path of the note that contains it, which `this` stands for.
        most: the most rows of each view. The others are only counted.
        now: the time that `now()` and `today()` stand for, or None for the present.
    """

    def compute(catalog: Catalog) -> tuple[ComputedView | str, ...]:
        time = now or datetime.now()
        this = find_row(catalog, path)
        read = read_base if block.kind == "base" else read_dataview
        keep = StalenessFilter(vault.root, vault.exclude).keep_current
        computer = ViewComputer(catalog, keep, vault.scope, this, time)
        return tuple(
            _compute(vault, computer, view, most) if isinstance(view, View) else view
            for view in read(block.text, this, time)
        )

    found = vault.read_index(compute)
    return ComputedBlock(block, ("These notes are not indexed yet.",) if found is None else found)


def _compute(vault: Vault, computer: ViewComputer, view: View, most: int) -> ComputedView:
    paths = [row.path for row in computer.find_notes(view).values()]
    return computer.compute(view, vault.filter_allowed(paths), most)


def write_markdown(computed: ComputedView) -> str:
    """Write a result as Markdown: a table, a list or tasks, or a sentence if it is empty."""
    if not computed.rows:
        return describe_empty(computed)
    parts = []
    groups = dict.fromkeys(row.group for row in computed.rows)
    for group in groups:
        rows = [row for row in computed.rows if row.group == group]
        if computed.view.group is not None:
            parts.append(f"**{group or 'None'}**")
        parts.append("\n".join(_WRITERS[computed.view.shape](computed, rows)))
    if computed.more > 0:
        parts.append(f"And {computed.more:,} more.")
    return "\n\n".join(parts)


def describe_empty(computed: ComputedView) -> str:
    """Return a sentence that says what no note or task matches."""
    unit = "task" if computed.view.shape == "task" else "note"
    if not computed.filter:
        return f"There is no {unit}."
    return f"No {unit} matches: {computed.filter}."


def _write_table(computed: ComputedView, rows: Sequence[ViewRow]) -> Iterator[str]:
    columns = [column.name for column in computed.view.columns]
    yield _join_cells(columns)
    yield _join_cells(["---"] * len(columns))
    yield from (_join_cells(row.cells) for row in rows)


def _join_cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escape(cell) for cell in cells)} |"


def _escape(cell: str) -> str:
    return _BAR.sub(r"\|", cell)


def _write_list(_computed: ComputedView, rows: Sequence[ViewRow]) -> Iterator[str]:
    for row in rows:
        first, *others = row.cells
        rest = ", ".join(cell for cell in others if cell)
        yield f"- {first}: {rest}" if rest else f"- {first}"


def _write_tasks(_computed: ComputedView, rows: Sequence[ViewRow]) -> Iterator[str]:
    for row in rows:
        status = " " if row.task is None else row.task.status
        yield f"- [{status}] {row.cells[0]} ({row.cells[1]})"


_BAR: Final = re.compile(r"(?<!\\)\|")
_WRITERS: Final[dict[Shape, Callable[[ComputedView, Sequence[ViewRow]], Iterator[str]]]] = {
    "table": _write_table,
    "list": _write_list,
    "task": _write_tasks,
}
