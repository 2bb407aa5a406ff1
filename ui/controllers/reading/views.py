"""Convert the results of bases and queries to leaves: tables, lists and tasks, with their source.

The views of a base are tabs, of which one is shown. The source is folded below them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from ui.markdown.blocks import (
    Box,
    CodeLines,
    Leaf,
    Paragraph,
    QuietRow,
    Run,
    TabbedPages,
    TableRows,
    TabPage,
    settle_columns,
)
from ui.markdown.embeds import VIEW_ICON, EmbeddedText, EmbedFailure
from ui.markdown.inline import MORE, NOTE, TASK
from ui.markdown.note_parts import NotePart, read_part
from vault.coverage import name_count
from vault.views.blocks import ComputedBlock, describe_empty, write_markdown
from vault.views.view import ComputedView, ViewRow

__all__ = ["MOST_VIEW_ROWS", "draw_block", "draw_inline", "split_task_link"]

MOST_VIEW_ROWS: Final = 200
_NAMES: Final = {"base": "Base", "dataview": "Query", "tasks": "Query"}
_COLORS: Final = {"base": "yaml", "dataview": "sql", "tasks": ""}
_UNREAD: Final = "Without notes, nothing is shown here."
# The keys of boxes, which are the same each time, so that the same result is recognised.
_SOURCE_KEY, _ITEM_KEY = -1, -1_000


def draw_block(
    computed: ComputedBlock | None, language: str, text: str, name: str = ""
) -> EmbeddedText | EmbedFailure:
    """Return what is shown in place of a base or query, or why it stays source.

    Args:
        computed: its results, or None without a vault.
        language: `base`, `dataview` or `tasks`.
        text: its source.
        name: the name of the only view that is shown, or an empty string for all. A name that no
            view has shows all.
    """
    if computed is None or not computed.is_understood:
        reasons = [view for view in computed.views if isinstance(view, str)] if computed else []
        return EmbedFailure(" ".join(reasons) or _UNREAD, "info")
    views = [view for view in computed.views if not isinstance(view, str)]
    named = [view for view in views if name and view.view.name.casefold() == name.casefold()]
    problems = [] if named else [view for view in computed.views if isinstance(view, str)]
    views = named or views
    title = _describe(views[0], language) if len(views) == 1 else _name_views(views, language)
    leaves = [
        *(_draw_view(views[0]) if len(views) == 1 else [_draw_tabs(views)]),
        *(QuietRow(problem, "info") for problem in problems),
        *_draw_source(language, text),
    ]
    return EmbeddedText(title, "", tuple(leaves), VIEW_ICON)


def draw_inline(value: str | None) -> EmbeddedText | EmbedFailure:
    """Return the result of an inline query of Dataview as a paragraph, or that it stays source.

    Args:
        value: the result as Markdown, or None if the query is not understood.
    """
    if value is None:
        return EmbedFailure("", "info")
    leaves = read_part(NotePart(1, value))
    is_text = len(leaves) == 1 and isinstance(leaves[0], Paragraph) and not leaves[0].boxes
    return EmbeddedText("", "", tuple(leaves) if is_text else (Paragraph((Run(value),)),))


def split_task_link(address: str) -> tuple[str, str, int] | None:
    """Return the path, the version and the line of a link to a task, or None for another link."""
    line, _, rest = address.removeprefix(TASK).partition(":")
    version, _, path = rest.partition(":")
    if not address.startswith(TASK) or not line.isdecimal() or not path:
        return None
    return path, version, int(line)


def _describe(view: ComputedView, language: str) -> str:
    named = view.view.name or _NAMES[language]
    return f"{named} · {name_count(view.total, _find_unit(view))}"


def _find_unit(view: ComputedView) -> str:
    return "task" if view.view.shape == "task" else "note"


def _name_views(views: list[ComputedView], language: str) -> str:
    return f"{_NAMES[language]} · {name_count(len(views), 'view')}"


def _draw_tabs(views: Sequence[ComputedView]) -> TabbedPages:
    """Return the views as tabs, each with a name of its own."""
    names = _name_tabs([view.view.name for view in views])
    return TabbedPages(
        tuple(
            TabPage(name, f"{view.total:,}", tuple(_draw_view(view)))
            for name, view in zip(names, views, strict=True)
        )
    )


def _name_tabs(names: Sequence[str]) -> Iterator[str]:
    """Yield unlike names for tabs. One without a name, or with the name of another, has a number.

    It is its place, or the next number that leaves the name to no other tab.
    """
    taken = set(names)
    for number, name in enumerate(names, 1):
        if name and name not in names[: number - 1]:
            yield name
            continue
        numbered = (f"{name} ({n})" if name else f"View {n}" for n in count(number))
        shown = next(shown for shown in numbered if shown not in taken)
        taken.add(shown)
        yield shown


def _draw_view(view: ComputedView) -> Iterator[Leaf]:
    for leaf in _draw_rows(view):
        yield replace(leaf, line=0)
    if view.more > 0:
        words = f"{len(view.rows):,} of {name_count(view.total, _find_unit(view))} are shown."
        yield QuietRow(words, VIEW_ICON, Run("Show more", link=MORE))
    yield from (QuietRow(problem, "info") for problem in view.view.problems)


def _draw_rows(view: ComputedView) -> Iterator[Leaf]:
    if not view.rows:
        yield QuietRow(describe_empty(view), VIEW_ICON)
        return
    rows = iter(view.rows)
    keys: dict[int, int] = {}
    shown = replace(view, total=len(view.rows))  # how many more there are is said below them
    for leaf in _fit_columns(read_part(NotePart(1, write_markdown(shown)))):
        is_task = view.view.shape == "task" and any(box.key not in keys for box in leaf.boxes)
        linked = _link_task(leaf, next(rows, None)) if is_task else leaf
        boxes = (
            replace(box, key=keys.setdefault(box.key, _ITEM_KEY - len(keys))) for box in leaf.boxes
        )
        yield replace(linked, boxes=tuple(boxes))


def _fit_columns(leaves: Sequence[Leaf]) -> Iterator[Leaf]:
    """Yield the leaves with columns as wide as all rows of the tables need, not the first ones."""
    tables = [leaf for leaf in leaves if isinstance(leaf, TableRows)]
    headers = [leaf.rows[0] for leaf in tables if not leaf.is_continued]
    rows = [row for leaf in tables for row in leaf.rows[not leaf.is_continued :]]
    columns = settle_columns(headers[0], rows, [""] * len(headers[0])) if headers else None
    for leaf in leaves:
        yield replace(leaf, columns=columns) if isinstance(leaf, TableRows) and columns else leaf


def _link_task(leaf: Leaf, row: ViewRow | None) -> Leaf:
    """Return the line of a task whose last link, the one to the note, leads to the task in it."""
    if row is None or row.task is None or not isinstance(leaf, Paragraph):
        return leaf
    address = f"{TASK}{row.task.line}:{row.version}:{row.path}"
    places = [n for n, run in enumerate(leaf.runs) if run.link.startswith(NOTE)]
    runs = list(leaf.runs)
    for place in places[-1:]:
        runs[place] = replace(runs[place], link=address)
    return replace(leaf, runs=tuple(runs))


def _draw_source(language: str, text: str) -> Iterator[Leaf]:
    box = Box("embed", _SOURCE_KEY, icon="code", fold="-")
    yield Paragraph((Run(f"Source of the {_NAMES[language].lower()}"),), (box,), is_title=True)
    colors = _COLORS[language]
    for leaf in read_part(NotePart(1, f"~~~~{colors}\n{text}\n~~~~")):
        shown = replace(leaf, language=language) if isinstance(leaf, CodeLines) else leaf
        yield replace(shown, boxes=(box,), line=0)
