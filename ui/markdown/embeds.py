"""Notes that are embedded in other notes and in answers, as the leaves that are drawn.

An embedded note has a title that opens it. Its text is in a box of its own, and so is the text of
the notes that it embeds.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ui.markdown.blocks import (
    Box,
    CodeLines,
    Embed,
    HeadingLeaf,
    Leaf,
    Paragraph,
    QuietRow,
    Run,
    Style,
    TableRows,
    make_key,
)
from ui.markdown.inline import MORE, NOTE, describe_target

__all__ = [
    "INLINE",
    "NOTE_ICON",
    "PDF_ICON",
    "VIEW_ICON",
    "EmbedFailure",
    "EmbeddedText",
    "draw_embed",
    "enclose",
    "explain_code",
    "find_pdf_page",
    "list_runs",
    "list_view_sources",
    "make_embed_source",
    "make_inline_source",
    "make_view_embed",
    "make_view_embeds",
    "point_more",
    "read_embed_source",
    "renew_boxes",
    "replace_inline",
    "split_view_target",
]

NOTE_ICON = "file-text"
PDF_ICON = "file-pdf"
VIEW_ICON = "table"
_VIEW = "```"  # which no name of a note begins with
_MOST_VIEWS = 20
_MORE_VIEWS = "Further bases and queries stay source here."
_VIEW_LANGUAGES = ("base", "dataview", "tasks")
_EMBEDS = "![["
# In place of the language of a base or query: an inline query of Dataview.
INLINE = "inline"
_NOT_DRAWN = {
    "mermaid": "Diagrams of Mermaid are not drawn here.",
    "query": "Searches of Obsidian are not run here.",
    "dataviewjs": "Scripts are not run here.",
}
_PAGE = re.compile(r"(?:^|&)page=(\d{1,18})\b")


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """The text of an embedded note, or of a part of it.

    Attributes:
        title: the title of the note, and of the part.
        link: the address that opens the note at the part, or an empty string for a base or query.
        leaves: the text. The notes that it embeds are part of it.
        icon: the name of the icon before the title.
    """

    title: str
    link: str
    leaves: tuple[Leaf, ...]
    icon: str = NOTE_ICON


@dataclass(frozen=True, slots=True)
class EmbedFailure:
    """The reason why an embedded note is not shown.

    Attributes:
        message: the reason, as a sentence.
        icon: the name of the icon before the reason.
        link: the address that opens the note, or an empty string if it cannot be opened.
    """

    message: str
    icon: str
    link: str = ""


def make_embed_source(embed: Embed) -> str:
    """Return the key under which an embedded note is requested, unlike that of any image."""
    return _EMBEDS + embed.target


def read_embed_source(source: str) -> str:
    """Return the target of an embedded note by its source, or "" if the source is an image."""
    return source.removeprefix(_EMBEDS) if source.startswith(_EMBEDS) else ""


def make_view_embed(code: Leaf) -> Embed | None:
    """Return what is shown in place of the code of a base or query, or None for other leaves."""
    if not isinstance(code, CodeLines) or code.language not in _VIEW_LANGUAGES or code.is_continued:
        return None
    text = "\n".join("".join(text for _, text in line) for line in code.lines)
    return Embed(f"{_VIEW}{code.language}\n{text}", code.boxes, max(0, code.line - 1), code)


def explain_code(code: Leaf) -> QuietRow | None:
    """Return the row below code that Obsidian draws or runs and Strata does not, or None."""
    if not isinstance(code, CodeLines) or code.language not in _NOT_DRAWN:
        return None
    return QuietRow(_NOT_DRAWN[code.language], "info", None, code.boxes, code.line)


def make_view_embeds(leaves: Sequence[Leaf]) -> tuple[Leaf, ...]:
    """Return the leaves of an answer, of which bases and queries are shown as their results.

    After the first ones, the others stay source, since each may take seconds.
    """
    made, left = list[Leaf](), _MOST_VIEWS
    for leaf in leaves:
        view = make_view_embed(leaf)
        left -= view is not None
        made.append(leaf if view is None or left < 0 else view)
        if row := explain_code(leaf):
            made.append(row)
        if view is not None and left == -1:
            made.append(QuietRow(_MORE_VIEWS, "info", None, leaf.boxes, leaf.line))
    return tuple(made)


def replace_inline(leaf: Leaf, find: Callable[[str], tuple[Run, ...] | None]) -> Leaf:
    """Return a leaf with the results of the inline queries of Dataview in it, such as `= this.due`.

    Args:
        leaf: the leaf as written.
        find: returns the result of an expression, or None if it stays source.
    """
    match leaf:
        case Paragraph(runs=runs) | HeadingLeaf(runs=runs) if _has_inline(runs):
            return replace(leaf, runs=_replace_runs(runs, find))
        case TableRows(rows=rows) if any(_has_inline(cell) for row in rows for cell in row):
            cells = tuple(tuple(_replace_runs(cell, find) for cell in row) for row in rows)
            return replace(leaf, rows=cells)
    return leaf


def _has_inline(runs: tuple[Run, ...]) -> bool:
    return any(run.text.startswith("=") and Style.CODE in run.style for run in runs)


def _replace_runs(
    runs: tuple[Run, ...], find: Callable[[str], tuple[Run, ...] | None]
) -> tuple[Run, ...]:
    made = list[Run]()
    for run in runs:
        found = find(run.text[1:].strip()) if _has_inline((run,)) else None
        style = run.style & ~Style.CODE
        made += [run] if found is None else [replace(one, style=one.style | style) for one in found]
    return tuple(made)


def list_runs(found: object) -> tuple[Run, ...] | None:
    """Return the runs of text of an inline query's result, or None if it is not known."""
    if not isinstance(found, EmbeddedText):
        return None
    return tuple(run for leaf in found.leaves if isinstance(leaf, Paragraph) for run in leaf.runs)


def make_inline_source(expression: str) -> str:
    """Return the key under which the result of an inline query is requested."""
    return f"{_EMBEDS}{_VIEW}{INLINE}\n{expression}"


def list_view_sources(sources: Iterable[str]) -> list[str]:
    """Return those of some embedded sources that are bases or queries, whose results may change."""
    return [one for one in sources if split_view_target(read_embed_source(one)) is not None]


def point_more(leaf: Leaf, source: str) -> Leaf:
    """Return a leaf whose link to more rows names what they are rows of.

    Args:
        leaf: a leaf of an embedded note, base or query.
        source: its source, as from `make_embed_source`.
    """
    if not isinstance(leaf, QuietRow) or leaf.action is None or leaf.action.link != MORE:
        return leaf
    return replace(leaf, action=replace(leaf.action, link=MORE + source))


def split_view_target(target: str) -> tuple[str, str] | None:
    """Return the language and the text of a base or query, or None for the name of a note."""
    if not target.startswith(_VIEW):
        return None
    language, _, text = target.removeprefix(_VIEW).partition("\n")
    return language, text


def find_pdf_page(name: str, place: str) -> int | None:
    """Return the page of a PDF file that is shown, or None if the file is no PDF file.

    The file may have no such page.

    Args:
        name: the path or name of the file.
        place: what follows after `#`, such as `page=3`. Without it, the first page is shown.
    """
    if not name.lower().endswith(".pdf"):
        return None
    found = _PAGE.search(place)
    return int(found[1]) if found else 1


def draw_embed(
    embed: Embed, found: EmbeddedText | EmbedFailure | None, *, can_load: bool
) -> tuple[Leaf, ...]:
    """Return the leaves to draw in place of an embedded note.

    Args:
        embed: the embedded note as written.
        found: its text, the reason why it is not shown, or None if it has not been read.
        can_load: whether embedded notes are read here. If not, a link opens the note.
    """
    if isinstance(found, EmbeddedText):
        return enclose(found.leaves, found.title, found.link, found.icon, embed.boxes, embed.line)
    if embed.code is not None:
        words = "Looking for notes…" if found is None else found.message
        icon = VIEW_ICON if found is None else found.icon
        row = QuietRow(words, icon, None, embed.boxes, embed.line)
        return (row,) if found is None and can_load else (embed.code, row)
    if found is None:
        title, link = describe_target(embed.target), NOTE + embed.target
        state = "Loading note" if can_load else "Note"
        found = EmbedFailure(f"{state}: {title}", NOTE_ICON, "" if can_load else link)
    action = Run("Open note", link=found.link) if found.link else None
    return (QuietRow(found.message, found.icon, action, embed.boxes, embed.line),)


def enclose(
    leaves: Sequence[Leaf], title: str, link: str, icon: str, boxes: tuple[Box, ...], line: int
) -> tuple[Leaf, ...]:
    """Put leaves into a box with a title that is a link.

    Args:
        leaves: the leaves of another text. They lose their lines, and get the line of the title.
        title: the title of the box.
        link: the address that the title opens.
        icon: the name of the icon before the title.
        boxes: the boxes around the new box.
        line: the source line of the title.
    """
    outer = (*boxes, Box("embed", make_key(), icon=icon))
    keys: dict[int, int] = {}
    head = Paragraph((Run(title, link=link),), outer, is_title=True, line=line)
    inner = (
        replace(leaf, boxes=(*outer, *renew_boxes(leaf.boxes, keys)), line=0) for leaf in leaves
    )
    return (head, *inner)


def renew_boxes(boxes: tuple[Box, ...], keys: dict[int, int]) -> tuple[Box, ...]:
    """Return boxes with keys of their own, because the same text can be embedded twice.

    Args:
        boxes: the boxes around a leaf.
        keys: maps the keys that were replaced before. New ones are added.
    """
    return tuple(replace(box, key=keys.setdefault(box.key, make_key())) for box in boxes)
