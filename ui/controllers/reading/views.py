"""Convert the results of bases and queries to leaves: tables, lists and tasks, with their source.

Each view of a base can be folded, and only the first one is open. The source is folded below them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ui.markdown.blocks import Box, CodeLines, Leaf, Paragraph, QuietRow, Run
from ui.markdown.embeds import VIEW_ICON, EmbeddedText, EmbedFailure
from ui.markdown.inline import NOTE, TASK
from ui.markdown.note_parts import NotePart, read_part
from vault.coverage import name_count
from vault.views.blocks import ComputedBlock, describe_empty, write_markdown
from vault.views.view import ComputedView, ViewRow

__all__ = ["MOST_VIEW_ROWS", "draw_block", "split_task_link"]

MOST_VIEW_ROWS: Final = 200
_NAMES: Final = {"base": "Base", "dataview": "Query"}
_UNREAD: Final = "Without notes, nothing is shown here."
# The keys of boxes, which are the same each time, so that the same result is recognised.
_SOURCE_KEY, _VIEW_KEY, _ITEM_KEY = -1, -10, -1_000


def draw_block(
    computed: ComputedBlock | None, language: str, text: str, name: str = ""
) -> EmbeddedText | EmbedFailure:
    """Return what is shown in place of a base or query, or why it stays source.

    Args:
        computed: its results, or None without a vault.
        language: `base` or `dataview`.
        text: its source.
        name: the name of the only view that is shown, or an empty string for all. A name that no
            view has shows all.
    """
    if computed is None or not computed.is_understood:
        reasons = [view for view in computed.views if isinstance(view, str)] if computed else []
        return EmbedFailure(" ".join(reasons) or _UNREAD, "info")
    views = [view for view in computed.views if not isinstance(view, str)]
    named = [view for view in views if name and view.view.name.casefold() == name.casefold()]
    shown: Sequence[ComputedView | str] = named or computed.views
    views, is_alone = named or views, len(shown) == 1
    title = _describe(views[0], language) if is_alone else _name_views(views, language)
    leaves = [
        leaf
        for number, view in enumerate(shown)
        for leaf in _draw_view(view, number, language, is_alone=is_alone)
    ]
    return EmbeddedText(title, "", (*leaves, *_draw_source(language, text)), VIEW_ICON)


def split_task_link(address: str) -> tuple[str, str, int] | None:
    """Return the path, the version and the line of a link to a task, or None for another link."""
    line, _, rest = address.removeprefix(TASK).partition(":")
    version, _, path = rest.partition(":")
    if not address.startswith(TASK) or not line.isdecimal() or not path:
        return None
    return path, version, int(line)


def _describe(view: ComputedView, language: str) -> str:
    unit = "task" if view.view.shape == "task" else "note"
    return f"{view.view.name or _NAMES[language]} · {name_count(view.total, unit)}"


def _name_views(views: list[ComputedView], language: str) -> str:
    return f"{_NAMES[language]} · {name_count(len(views), 'view')}"


def _draw_view(
    view: ComputedView | str, number: int, language: str, *, is_alone: bool
) -> Iterator[Leaf]:
    if isinstance(view, str):
        yield QuietRow(view, "info")
        return
    box = Box("embed", _VIEW_KEY - number, icon=VIEW_ICON, fold="-" if number else "+")
    boxes = () if is_alone else (box,)
    if boxes:
        yield Paragraph((Run(_describe(view, language)),), boxes, is_title=True)
    for leaf in _draw_rows(view):
        yield replace(leaf, boxes=(*boxes, *leaf.boxes), line=0)
    yield from (QuietRow(problem, "info", boxes=boxes) for problem in view.view.problems)


def _draw_rows(view: ComputedView) -> Iterator[Leaf]:
    if not view.rows:
        yield QuietRow(describe_empty(view), VIEW_ICON)
        return
    rows = iter(view.rows)
    keys: dict[int, int] = {}
    for leaf in read_part(NotePart(1, write_markdown(view))):
        is_task = view.view.shape == "task" and any(box.key not in keys for box in leaf.boxes)
        shown = _link_task(leaf, next(rows, None)) if is_task else leaf
        boxes = (
            replace(box, key=keys.setdefault(box.key, _ITEM_KEY - len(keys))) for box in leaf.boxes
        )
        yield replace(shown, boxes=tuple(boxes))


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
    colors = "yaml" if language == "base" else "sql"
    for leaf in read_part(NotePart(1, f"~~~~{colors}\n{text}\n~~~~")):
        shown = replace(leaf, language=language) if isinstance(leaf, CodeLines) else leaf
        yield replace(shown, boxes=(box,), line=0)
