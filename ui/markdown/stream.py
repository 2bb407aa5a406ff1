"""Reads a growing Markdown text, of which each part becomes final once.

Only complete lines decide where a block ends, because an incomplete line can still become
anything. All blocks but the last one are final as soon as the last one's first line is complete.
The text before that line is cut off and never read again. The text after the cut is the tail: it is
read and drawn again at each update.
"""

import re
from dataclasses import dataclass

from ui.markdown.blocks import Leaf
from ui.markdown.reader import Resume, Unit, read_units

__all__ = ["Growth", "MarkdownStream"]

_HALF_FENCE = re.compile(r"(?:^|\n)[ ]{0,3}[`~]{1,3}$")
_HALF_CITATION = re.compile(r"\[[\d ,;&–—-]{0,12}$")
_HALF_BOLD = re.compile(r"\*\*(?=\S)(?:(?!\*\*).)+$")
_HALF_CODE = re.compile(r"(?<!`)`(?=[^`\s])[^`]+$")


@dataclass(frozen=True, slots=True)
class Growth:
    """The result of an update.

    Attributes:
        final: leaves that have become final, to be appended once.
        tail: the leaves after all final ones, to be replaced at the next update.
    """

    final: tuple[Leaf, ...]
    tail: tuple[Leaf, ...]


class MarkdownStream:
    """Reads a growing text: `feed` adds text, `update` reads it, `finish` ends it."""

    def __init__(self) -> None:
        self._tail = ""
        self._resume = Resume()
        self._read_chars = 0

    def feed(self, text: str) -> None:
        """Append text that has arrived."""
        self._tail += text

    def update(self) -> Growth:
        """Return the leaves that have become final, and those of the tail."""
        final = self._cut()
        shown = _mend(self._tail, self._resume)
        tail = _leaves(read_units(shown, self._resume, is_final=False)) if shown else ()
        return Growth(final, tail)

    def finish(self) -> tuple[Leaf, ...]:
        """Return the remaining leaves as final; no text may be fed afterwards."""
        rest = _leaves(read_units(self._tail, self._resume, is_final=True))
        self._tail, self._resume = "", Resume()
        return rest

    def _cut(self) -> tuple[Leaf, ...]:
        """Cut the units that have become final off the text, and return their leaves."""
        end = self._tail.rfind("\n") + 1
        if end == self._read_chars:
            return ()
        self._read_chars = end
        units = read_units(self._tail[:end], self._resume, is_final=False)
        if units and units[-1].is_sealed:
            self._drop_lines(units[-1].end, Resume())
            return _leaves(units)
        if len(units) < 2:
            return ()
        self._drop_lines(units[-1].line, units[-1].resume)
        return _leaves(units[:-1])

    def _drop_lines(self, line: int, resume: Resume) -> None:
        """Drop the text before a line; line numbers count the lines of the prefix too."""
        lines = line - self._resume.prefix.count("\n")
        at = 0
        for _ in range(lines):
            at = self._tail.index("\n", at) + 1
        self._tail = self._tail[at:]
        self._resume = resume
        self._read_chars = self._tail.rfind("\n") + 1


def _leaves(units: list[Unit]) -> tuple[Leaf, ...]:
    return tuple(leaf for unit in units for leaf in unit.leaves)


def _mend(text: str, resume: Resume) -> str:
    """Hide or close incomplete markup at the end, so that its marks do not flicker."""
    if _HALF_FENCE.search(text):
        return text[: text.rindex("\n")] if "\n" in text else ""
    if resume.code or "```" in text:
        return text
    line = text[text.rfind("\n") + 1 :]
    if half := _HALF_CITATION.search(line):
        text, line = text[: len(text) - len(half.group())], line[: half.start()]
    if _HALF_CODE.search(line) and line.count("`") % 2:
        return text + "`"
    if _HALF_BOLD.search(line) and line.count("**") % 2:
        return text.rstrip("*") + "**"
    return text
