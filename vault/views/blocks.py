"""Find the computed views of a note, compute them, and write them as Markdown.

    ```base            a `.base` file, or            the rows from the index
    ```dataview   →    the blocks of a note     →    as `ComputedView`s     →    Markdown

Private and excluded notes are not in the index, and are never part of a result.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Final, Literal

from vault.catalog import Catalog
from vault.errors import ViewNotUnderstood, ViewTooLong
from vault.notes.note import Note
from vault.notes.text.lines import CODE, FENCE_CLOSES, FENCE_OPENS
from vault.notes.text.markdown_text import MarkdownText
from vault.notes.text.scan import scan_kinds
from vault.search.conditions import find_property_mark
from vault.search.staleness import StalenessFilter
from vault.vault import Vault
from vault.views.base import read_base
from vault.views.compute import ViewComputer, find_row
from vault.views.dataview import read_dataview
from vault.views.evaluate import Evaluator
from vault.views.expressions import Constant, ListOf, parse_expression
from vault.views.tasks import read_tasks_query, read_tasks_settings
from vault.views.values import write_value
from vault.views.view import ComputedView, Shape, View, ViewRow

__all__ = [
    "BLOCK_KINDS",
    "MOST_ROWS",
    "ComputedBlock",
    "ViewBlock",
    "compute_block",
    "compute_inline",
    "describe_empty",
    "find_view_blocks",
    "read_with_results",
    "write_markdown",
]

BlockKind = Literal["base", "dataview", "tasks"]
BLOCK_KINDS: Final[dict[str, BlockKind]] = {
    "base": "base",
    "dataview": "dataview",
    "tasks": "tasks",
}
_NAMES: Final = {"base": "base", "dataview": "query", "tasks": "query"}
MOST_ROWS: Final = 1_000
_ROWS_FOR_MODELS: Final = (50, 10)
_MOST_CHARS_FOR_MODELS: Final = 12_000
_TOO_LONG: Final = "[The result of the {} in lines {}-{} is too long to be shown here.]"
_HINT: Final = "Its result is at the end."


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

    json_shape = (
        "kind = block.kind",
        "lines = block.lines",
        "views = named_views",
    )

    @property
    def named_views(self) -> list[object]:
        """Each result, or the sentence that says why there is none, by its name."""
        return [{"problem": view} if isinstance(view, str) else view for view in self.views]

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
        if language in BLOCK_KINDS:
            quoted = len(lines[at]) - len(lines[at].lstrip("> \t"))
            text = "\n".join(_unquote(line, quoted) for line in lines[at + 1 : end])
            yield ViewBlock(BLOCK_KINDS[language], text, (at + 1, end + is_closed))
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
        this = find_row(catalog, path, vault.root)
        read = _READERS[block.kind]
        if block.kind == "tasks":
            read = partial(read_tasks_query, settings=read_tasks_settings(vault.root))
        keep = StalenessFilter(vault.root, vault.exclude).keep_current
        computer = ViewComputer(catalog, vault.root, keep, vault.scope, this, time)

        def show(view: View | str) -> ComputedView | str:
            if isinstance(view, str):
                return view
            try:
                return computer.compute(view, vault.filter_allowed, most)
            except ViewTooLong as error:
                return f"{view.name}: {error}" if view.name else str(error)

        return tuple(map(show, read(block.text, this, time)))

    found = vault.read_index(compute)
    return ComputedBlock(block, ("These notes are not indexed yet.",) if found is None else found)


def compute_inline(
    vault: Vault, texts: Sequence[str], path: str, now: datetime | None = None
) -> list[str | None]:
    """Compute inline queries of Dataview, such as `this.due` behind `=`, as Markdown.

    Args:
        vault: the notes.
        texts: the expressions.
        path: the path of the note that contains them, which `this` stands for.
        now: the time that `now()` and `today()` stand for, or None for the present.

    Returns:
        The values. Each is `-` if there is none, as in Dataview, or None if the expression is not
        understood, the note is not indexed, or there is nothing to compute.
    """

    def compute(catalog: Catalog) -> list[str | None]:
        if (this := find_row(catalog, path, vault.root)) is None:
            return [None] * len(texts)
        find_mark = cache(partial(find_property_mark, catalog=catalog))
        time = now or datetime.now()
        return [
            _compute_expression(text, Evaluator("dataview", {}, this, time, find_mark))
            for text in texts
        ]

    return vault.read_index(compute) or [None] * len(texts)


def _compute_expression(text: str, evaluator: Evaluator) -> str | None:
    try:
        expression = parse_expression(text, "dataview")
        evaluator.check(expression)
        value, is_known = evaluator.evaluate_constant(expression)
    except (ViewNotUnderstood, ViewTooLong):
        return None
    is_written = isinstance(expression, Constant | ListOf)
    return write_value(value) or "-" if is_known and not is_written else None


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


def read_with_results(
    vault: Vault, note: Note, lines: tuple[int, int] | None = None
) -> tuple[str, str]:
    """Return the text of a note as models get it, and its structure as in `Note.find_structure`.

    The source of each base and query is replaced with a hint, and their results follow at the end,
    so that all other lines keep their numbers. What is not understood stays source.

    Args:
        vault: the notes. Only those that models may read are part of a result.
        lines: the first and the last line to return, or None for the whole note.
    """
    written = note.text.removesuffix("\n").split("\n")
    first, last = lines or (1, len(written))
    results = list[str]()
    for block in find_view_blocks(note):
        if block.lines[0] > last or block.lines[1] < first:
            continue
        left = _MOST_CHARS_FOR_MODELS - sum(map(len, results))
        if result := _compute_within(vault, block, note.path, left):
            results += ["", *result.split("\n")]
            inner = range(block.lines[0], block.lines[1] - 1)
            written[inner.start : inner.stop] = [_HINT, *[""] * len(inner)][: len(inner)]
    if not results and lines is None:
        return note.text, ""
    text = "\n".join([*written[first - 1 : last], *results])
    if not results or note.markdown is None:
        return text, note.find_structure(first, last) if lines else ""
    cut = note.markdown.cut(first - 1, last)
    kinds = cut.kinds + scan_kinds(results, starts_note=False)
    quoted = cut.quoted + "0" * len(results) if cut.quoted else ""
    whole = MarkdownText(tuple(text.split("\n")), kinds, quoted, cut.above)
    return text, whole.structure if lines else ""


def _compute_within(vault: Vault, block: ViewBlock, path: str, most_chars: int) -> str:
    """Write the results of a block with as many rows as there is room for, as `_write_result`."""
    for most in _ROWS_FOR_MODELS:
        result = _write_result(compute_block(vault, block, path, most))
        if len(result) <= most_chars:
            return result
    return _TOO_LONG.format(_NAMES[block.kind], *block.lines)


def _write_result(computed: ComputedBlock) -> str:
    """Write the results of a block for a model, or return "" if it stays source."""
    if not computed.is_understood:
        return ""
    kind, (first, last) = _NAMES[computed.block.kind], computed.block.lines
    parts = [f"[Result of the {kind} in lines {first}-{last}, found in the index now:]"]
    for view in computed.views:
        if isinstance(view, str):
            parts.append(view)
            continue
        name = f"**{view.view.name}**\n\n" if view.view.name else ""
        parts.append(name + write_markdown(view))
    return "\n\n".join(parts)


def describe_empty(computed: ComputedView) -> str:
    """Return a sentence that names the filter that no note or task matches.

    The lines of a query of the Tasks plugin are no formula, so they are not named as one.
    """
    unit = "task" if computed.view.shape == "task" else "note"
    if not computed.filter:
        return f"There is no {unit}."
    if computed.view.dialect == "tasks":
        return "No task matches this query."
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


_READERS: Final[dict[BlockKind, Callable[..., tuple[View | str, ...]]]] = {
    "base": read_base,
    "dataview": read_dataview,
    "tasks": read_tasks_query,
}
_BAR: Final = re.compile(r"(?<!\\)\|")
_WRITERS: Final[dict[Shape, Callable[[ComputedView, Sequence[ViewRow]], Iterator[str]]]] = {
    "table": _write_table,
    "list": _write_list,
    "task": _write_tasks,
}
