"""Read Markdown text that grows, and parse each finished part only once.

Only complete lines decide where a block ends, because an incomplete line can still turn into any
kind of block. All blocks but the last are final as soon as the last block's first line is complete.
The text before that line is cut off and never read again. The text after the cut is the tail, which
is read and drawn again at each update.
"""

import re
from dataclasses import dataclass

from ui.markdown.blocks import Leaf
from ui.markdown.parser import CITATION
from ui.markdown.reader import Resume, Unit, read_units
from vault.notes.text.scan import has_open_fence, may_become_fence

__all__ = ["Growth", "MarkdownStream"]

_HALF_CITATION = re.compile(r"\[[\d ,;&–—-]{0,12}$")
# A link or image whose end has not arrived yet. The second group is its visible text.
_HALF_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{0,200})\]?$")
_HALF_LINK = re.compile(r"(!?)\[(?!\[)([^\[\]\n]{1,200})\](?:\([^()\s]{0,2000})?$")
_OPEN_LINK = re.compile(r"(!?)\[(?![\[\d ^!])([^\[\]\n]{1,200})$")
# A formula whose end has not arrived yet. A price is not a formula.
_HALF_FORMULA = re.compile(r"(?<![\\$\w])\$(?![\s\d$])[^$\n]{0,120}$|\\\((?:(?!\\\)).){0,300}$")
_TASK = re.compile(r"\s*(?:[-*+]|\d+[.)]) \[.?\]?$")
_HALF_DELIMITER = re.compile(r"\s*\|?[\s:|-]*$")
_HALF_BOLD = re.compile(r"\*\*(?=\S)(?:(?!\*\*).)+$")
_HALF_CODE = re.compile(r"(?<!`)`(?=[^`\s])[^`]+$")


@dataclass(frozen=True, slots=True)
class Growth:
    """The blocks of Markdown (leaves) that one update produces.

    Attributes:
        final: new leaves that later text can no longer change.
        tail: the leaves at the end that may still change. The next update replaces them.
    """

    final: tuple[Leaf, ...]
    tail: tuple[Leaf, ...]


class MarkdownStream:
    """Parses Markdown text that grows: `feed` adds text, `update` parses it, `finish` ends it."""

    def __init__(self) -> None:
        self._tail = ""
        self._pending_return = ""  # a carriage return at the end, which a line feed may follow
        self._resume = Resume()
        self._read_chars = 0

    def feed(self, text: str) -> None:
        """Append newly arrived text, which the next call of `update` reads.

        Each of the line ends of other systems is one line feed, as for the parser.
        """
        text = self._pending_return + text
        self._pending_return = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        self._tail += text

    def update(self) -> Growth:
        """Parse the text that has arrived, and return the resulting blocks."""
        final = self._cut()
        shown = _mend(self._tail, self._resume)
        tail = _leaves(read_units(shown, self._resume, is_final=False)) if shown else ()
        return Growth(final, tail)

    def finish(self) -> tuple[Leaf, ...]:
        """Return all remaining blocks as final. `feed` must not be called afterwards."""
        self._tail += "\n" if self._pending_return else ""
        rest = _leaves(read_units(self._tail, self._resume, is_final=True))
        self._tail, self._pending_return, self._resume = "", "", Resume()
        return rest

    def _cut(self) -> tuple[Leaf, ...]:
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
        """Remove the text before a line, because it is final and will not be parsed again.

        Args:
            line: the index of the line, including the lines of the prefix that is parsed before the
                text.
            resume: the state needed to read the text from this line on.
        """
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
    """Hide or complete unfinished Markdown at the end of streamed text, to prevent flicker.

    Args:
        text: the end of the streamed text.
        resume: the state in which this text is parsed.
    """
    if may_become_fence(text[text.rfind("\n") + 1 :]):
        return text[: text.rindex("\n")] if "\n" in text else ""
    if resume.code or has_open_fence(text):
        return text
    text = _mend_table(text)
    line = text[text.rfind("\n") + 1 :]
    if shorter := _mend_link(line):
        text, line = text[: len(text) - len(line)] + shorter[0], shorter[0]
    if (half := _HALF_FORMULA.search(line)) and not line.count("`") % 2:
        text, line = text[: len(text) - len(half.group())], line[: half.start()]
    if half := _HALF_CITATION.search(line):
        text, line = text[: len(text) - len(half.group())], line[: half.start()]
    if _HALF_CODE.search(line) and line.count("`") % 2:
        return text + "`"
    if _HALF_BOLD.search(line) and line.count("**") % 2:
        return text.rstrip("*") + "**"
    return text


def _mend_link(line: str) -> tuple[str] | None:
    """Replace an incomplete link at the end of a line with the visible text of the link.

    Return None if the line does not end with an incomplete link. Otherwise, the new line is the
    only item of the returned tuple.
    """
    if _TASK.match(line) or line.count("`") % 2:
        return None
    for kind in (_HALF_WIKILINK, _HALF_LINK, _OPEN_LINK):
        if (half := kind.search(line)) and not CITATION.fullmatch(half.group()):
            words = "" if half.group(1) else half.group(2).rpartition("|")[2]
            return (line[: half.start()] + words,)
    return None


def _mend_table(text: str) -> str:
    """Remove the header of an incomplete table at the end of streamed text.

    If the delimiter line below the header has begun, complete that line instead.
    """
    body, _, last = text.rpartition("\n")
    if last.lstrip().startswith("|") and not body.rpartition("\n")[2].lstrip().startswith("|"):
        return body
    above, _, head = body.rpartition("\n")
    is_second = head.lstrip().startswith("|") and not above.rpartition("\n")[2].startswith("|")
    if not is_second or not _HALF_DELIMITER.match(last):
        return text
    if "-" not in last:
        return above
    columns = head.strip().removeprefix("|").removesuffix("|").count("|") + 1
    return f"{body}\n{'|---' * columns}|"
