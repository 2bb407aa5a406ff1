"""The properties of a note as a table: tags, links, dates and lists in place of YAML."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ui.markdown.blocks import Run, Style, TableRows, settle_columns
from ui.markdown.inline import TAG, read_inline
from ui.markdown.parser import parser
from vault.notes.properties import load_properties

__all__ = ["draw_properties"]

_TAGS = {"tags", "tag"}
_WORDS = {"true": "Yes", "false": "No"}
_SEPARATED = re.compile(r"[,\s]+")
_KEY_LINE = re.compile(r"""['"]?([^\s#'"-][^:\n]*?)['"]?[ \t]*:(?:[ \t]|$)""")
_MOST_DEPTH = 4
_LEAST_SHARE = 18.0  # of the names, as a percentage of the width
_COMMA = Run(", ", Style.QUIET)


def draw_properties(front: str, line: int) -> tuple[TableRows, ...]:
    """Return the table of a note's properties, or an empty tuple if they cannot be read.

    Args:
        front: the text between the `---` lines.
        line: the number of its first line in the note.
    """
    properties = load_properties(front)
    lines = _find_lines(front, line)
    cells = [
        ((Run(key, Style.QUIET),), _read_value(key, value)) for key, value in properties.items()
    ]
    if not cells:
        return ()
    columns = settle_columns(cells[0], cells, ("start", "start"))
    share = max(_LEAST_SHARE, min(columns.shares[0], 2.0 * max(len(key) for key in properties)))
    columns = replace(columns, shares=(share, 100 - share))
    return tuple(
        TableRows(
            columns,
            (row,),
            is_continued=at > 0,
            is_last=at == len(cells) - 1,
            line=lines.get(row[0][0].text, line),
            has_header=False,
        )
        for at, row in enumerate(cells)
    )


def _find_lines(front: str, first: int) -> Mapping[str, int]:
    """Return the line of each property by its name."""
    found: dict[str, int] = {}
    for number, text in enumerate(front.split("\n"), first):
        if match := _KEY_LINE.match(text):
            found.setdefault(match[1], number)
    return found


def _read_value(key: str, value: Any, depth: int = 0) -> tuple[Run, ...]:
    """Return the text of a value: links and tags act, and a list is separated by commas."""
    if isinstance(value, list):
        return tuple(_join(_read_value(key, one, depth + 1) for one in value))
    if isinstance(value, dict):
        if depth > _MOST_DEPTH:
            return (Run("…"),)
        return tuple(_join(_read_entry(name, one, depth) for name, one in value.items()))
    text = str(value)
    if key.strip().lower() in _TAGS:
        tags = (tag.removeprefix("#") for tag in _SEPARATED.split(text) if tag)
        return tuple(_join((Run(f"#{tag}", link=TAG + tag),) for tag in tags if tag))
    if text in _WORDS:
        return (Run(_WORDS[text]),)
    return _read_text(text)


def _read_entry(name: str, value: Any, depth: int) -> tuple[Run, ...]:
    return (Run(f"{name}: ", Style.QUIET), *_read_value(name, value, depth + 1))


def _read_text(text: str) -> tuple[Run, ...]:
    """Return a text, in which only links are read: a property has no other Markdown."""
    parsed = parser(has_citations=False).parseInline(" ".join(text.split()))
    runs = read_inline(parsed[0].children or ()) if parsed else ()
    if any(run.link and not run.link.startswith(TAG) for run in runs):
        return tuple(Run(run.text, link=run.link) for run in runs)
    return (Run(text),)


def _join(values: Iterable[tuple[Run, ...]]) -> Iterator[Run]:
    for at, value in enumerate(values):
        if at:
            yield _COMMA
        yield from value
