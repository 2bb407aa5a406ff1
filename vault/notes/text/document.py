"""Parse the block structure of Markdown: front matter, headings, blocks and code.

The syntax is CommonMark with tables. Other modules parse the contents of lines, such as tags and
links.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from vault.notes.properties import describe_fault, find_fault, is_marked_private, load_properties
from vault.notes.text.inline import Line, blank_inline_code, plain_text
from vault.notes.text.lines import (
    FRONT_MARK,
    SECTION_KINDS,
    find_body_line,
    list_paragraphs,
    mark_lines,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_LINES_BETWEEN_CALLS: Final = 500
_PROPERTY: Final = re.compile(r"[A-Za-z][\w -]{0,60}:(?: |$)")
# The marks that Git leaves in a note when two versions of it cannot be merged.
_OPENS: Final = re.compile(r"<{7}(?: .*)?$")
_BASE: Final = re.compile(r"\|{7}(?: .*)?$")
_DIVIDES: Final = re.compile(r"={7}$")
_CLOSES: Final = re.compile(r">{7}(?: .*)?$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its level from 1 to 6, its text and its line number."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block of a Markdown text, with its line range and inner blocks.

    Attributes:
        kind: the block type as the parser names it, such as `paragraph`, `fence`, `table` or
            `heading`.
        first: the number of the first line.
        last: the number of the last line.
        inner: the line ranges of inner list items, paragraphs, code fences and tables, possibly
            nested.
        heading: the heading if the block is one, otherwise None.
    """

    kind: str
    first: int
    last: int
    inner: tuple[tuple[int, int], ...] = ()
    heading: Heading | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed Markdown text. Line numbers include the front matter.

    Attributes:
        properties: the properties in the front matter, empty if missing or invalid.
        body_line: the number of the first line after the front matter.
        is_private: whether the front matter marks the note as private.
        fault: a sentence that says what of the front matter is lost, or an empty string.
        kinds: the kind of each line, a letter as in `vault.notes.text.lines`.
        quoted: how many quotations each line is inside, a digit a line, or empty if there are none.
        is_paged: whether each top-level heading starts a page. Passages then never span two pages.
    """

    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    properties: Mapping[str, Any] = field(default_factory=dict)
    body_line: int = 1
    is_private: bool = False
    fault: str = ""
    is_paged: bool = False
    kinds: str = ""
    quoted: str = ""

    @property
    def front_lines(self) -> Sequence[Line]:
        """The numbered lines of the front matter, without its `---` lines."""
        return list(enumerate(self.lines[1 : max(1, self.body_line - 2)], start=2))

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The headings of the document, in order."""
        return tuple(block.heading for block in self.blocks if block.heading is not None)

    def list_prose_lines(self) -> Iterator[Line]:
        """Yield the numbered lines outside of code blocks. Inline code is replaced with spaces."""
        for first, behind in list_paragraphs(self.kinds, self.body_line - 1):
            text = blank_inline_code("\n".join(self.lines[first:behind]))
            yield from enumerate(text.split("\n"), first + 1)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a note.

    Attributes:
        properties: the properties, or an empty mapping if there is no valid front matter.
        body_line: the number of the first line after the front matter.
        is_private: whether the front matter marks the note as private.
    """

    properties: Mapping[str, Any]
    body_line: int
    is_private: bool


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a note. Missing or invalid front matter has no properties."""
    body_line = find_body_line(lines)
    if body_line == 1:
        return FrontMatter({}, body_line, is_private=False)
    front = "\n".join(lines[1 : body_line - 2])
    properties = load_properties(front)
    return FrontMatter(properties, body_line, is_marked_private(front, properties))


def _find_front_fault(lines: Sequence[str], body_line: int) -> str:
    """Return a sentence that says what of front matter is lost, or an empty string."""
    if body_line > 1:
        return find_fault("\n".join(lines[1 : body_line - 2]))
    is_begun = len(lines) > 1 and lines[0].rstrip() == FRONT_MARK and _PROPERTY.match(lines[1])
    return describe_fault("the line --- at its end is missing") if is_begun else ""


def parse_document(text: str, on_wait: Callable[[], None] = lambda: None) -> Document:
    """Parse a Markdown text, whose line endings must be normalized.

    Args:
        text: the whole text, including the front matter.
        on_wait: called regularly. It can raise an exception to stop.
    """
    lines = tuple(text.split("\n"))
    front = read_front_matter(lines)
    body_line = front.body_line
    marks = _list_conflict_marks(lines, body_line)
    body = "\n".join(_blank_lines(lines[body_line - 1 :], [mark - body_line for mark in marks]))
    tokens = _build_parser().parse(body, {"on_wait": on_wait, "calls_at": 0})
    kinds, quoted = mark_lines(tokens, lines, body_line)
    return Document(
        lines=lines,
        blocks=tuple(_add_marks(_build_blocks(tokens, kinds, body_line, on_wait), marks)),
        properties=front.properties,
        body_line=body_line,
        is_private=front.is_private,
        fault=_find_front_fault(lines, body_line),
        kinds=kinds,
        quoted=quoted,
    )


class Conflict(NamedTuple):
    """The numbers of the lines with the marks of a conflict.

    Attributes:
        base: the mark above the common origin of both versions, or the number of the dividing mark.
    """

    opens: int
    base: int
    divides: int
    closes: int


def find_conflicts(lines: Iterable[tuple[int, str]]) -> Iterator[Conflict]:
    """Yield each complete conflict.

    Args:
        lines: numbered lines.
    """
    opens = base = divides = 0
    for number, raw in lines:
        line = raw.rstrip()
        if _OPENS.match(line):
            opens, base, divides = number, 0, 0
        elif opens and not divides and _BASE.match(line):
            base = number
        elif opens and not divides and _DIVIDES.match(line):
            divides = number
        elif divides and _CLOSES.match(line):
            yield Conflict(opens, base or divides, divides, number)
            opens = base = divides = 0


def _list_conflict_marks(lines: Sequence[str], body_line: int) -> list[int]:
    """Return the numbers of the lines with the marks of conflicts."""
    if not any(line.startswith("<<<<<<<") for line in lines):
        return []
    body = islice(enumerate(lines, start=1), body_line - 1, None)
    return sorted({number for conflict in find_conflicts(body) for number in conflict})


def _blank_lines(lines: Sequence[str], indices: Sequence[int]) -> Sequence[str]:
    """Return lines in which empty ones are in the place of the marks of conflicts.

    To Markdown, the line of equals signs would make a heading of the line above it, and the mark at
    the end a quotation.
    """
    blanked = list(lines)
    for index in indices:
        blanked[index] = ""
    return blanked


def _add_marks(blocks: Iterable[Block], marks: Sequence[int]) -> Iterator[Block]:
    """Yield blocks, and one for each mark of a conflict that is in none, so that none is lost."""
    waiting = deque(marks)
    for block in blocks:
        while waiting and waiting[0] < block.first:
            mark = waiting.popleft()
            yield Block("paragraph", mark, mark)
        while waiting and waiting[0] <= block.last:
            waiting.popleft()
        yield block
    yield from (Block("paragraph", mark, mark) for mark in waiting)


@cache
def _build_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.block.ruler.before("table", "call_on_wait", _call_on_wait)
    return parser.disable(["inline", "text_join", "reference"])


def _call_on_wait(state: "StateBlock", line: int, _end: int, _is_silent: bool) -> bool:
    """Call `on_wait` every few hundred lines. This is a parser rule that matches no block."""
    if line >= state.env["calls_at"]:
        state.env["calls_at"] = line + _LINES_BETWEEN_CALLS
        state.env["on_wait"]()
    return False


def _build_blocks(
    tokens: "Sequence[Token]", kinds: str, body_line: int, on_wait: Callable[[], None]
) -> Iterator[Block]:
    index = 0
    while index < len(tokens):
        on_wait()
        token = tokens[index]
        end = index
        if token.nesting == 1:
            end = next(
                later
                for later in range(index + 1, len(tokens))
                if tokens[later].level == token.level and tokens[later].nesting == -1
            )
        if token.map is not None:
            inner = tokens[index : end + 1]
            first, last = _find_lines(token, body_line)
            ranges = tuple(_find_lines(t, body_line) for t in inner[1:] if t.map is not None)
            is_heading = kinds[first - 1] in SECTION_KINDS  # unless it is in a comment
            heading = _build_heading(inner, first) if is_heading else None
            yield Block(token.type.removesuffix("_open"), first, last, ranges, heading)
        index = end + 1


def _find_lines(token: "Token", body_line: int) -> tuple[int, int]:
    first, behind = token.map or (0, 0)
    return first + body_line, max(behind - 1, first) + body_line


def _build_heading(tokens: "Sequence[Token]", line: int) -> Heading:
    return Heading(int(tokens[0].tag[1:]), plain_text(tokens[1].content), line)
