"""The structure of a Markdown text: front matter, headings, blocks, and what is code.

Only the block structure is parsed (CommonMark and tables); what stands inside a line is left to
those who look for tags, links or sentences.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_FRONT_MATTER_CHARS = 65_536

_PRIVATE_LINE = re.compile(r"^private[ \t]*:[ \t]*['\"]?(?:true|yes|on)\b", re.I | re.M)
_TAG = re.compile(r"(?:^|(?<=[\s(\[,;]))#([^\s#!\"$%&'()*+,.:;<=>?@\[\\\]^`{|}~]+)")
_INLINE_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\](?:\([^()\n]{0,1000}\))?")
_EMPHASIS = re.compile(r"(\*\*|__|~~|==|[*`])(?=\S)(.{1,500}?)(?<=\S)\1")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its place; lines start at 1."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block: its kind, its first and last line, and what is inside it.

    Attributes:
        kind: the name of its opening token, such as `paragraph`, `fence`, `table`, `heading`.
        inner: the lines of items, paragraphs, fences and tables in it; they nest.
    """

    kind: str
    first: int
    last: int
    inner: tuple[tuple[int, int], ...] = ()
    heading: Heading | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text; all lines are those of the file, front matter included.

    Attributes:
        properties: the front matter, empty where there is none or it cannot be read.
        code_lines: lines inside fences and indented code.
        body_line: the first line behind the front matter.
    """

    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    properties: Mapping[str, Any] = field(default_factory=dict)
    code_lines: frozenset[int] = frozenset()
    body_line: int = 1
    has_private_line: bool = False

    @property
    def headings(self) -> tuple[Heading, ...]:
        """List the headings in their order."""
        return tuple(block.heading for block in self.blocks if block.heading is not None)

    def prose_lines(self) -> Iterator[tuple[int, str]]:
        """Give each body line that is no code, with its number; inline code is blanked."""
        for block in self.blocks:
            numbers = [
                number
                for number in range(block.first, block.last + 1)
                if number not in self.code_lines
            ]
            if numbers:
                text = blank_inline_code("\n".join(self.lines[n - 1] for n in numbers))
                yield from zip(numbers, text.split("\n"), strict=True)


def parse_document(text: str) -> Document:
    """Parse a text whose line ends are newlines."""
    lines = tuple(text.split("\n"))
    body_line = _body_line(lines)
    front = "\n".join(lines[1 : body_line - 2]) if body_line > 1 else ""
    body = "\n".join(lines[body_line - 1 :])
    tokens = _parser().parse(body)
    return Document(
        lines=lines,
        blocks=tuple(_blocks(tokens, body_line)),
        properties=load_properties(front),
        code_lines=frozenset(_code_lines(tokens, body_line)),
        body_line=body_line,
        has_private_line=_PRIVATE_LINE.search(front) is not None,
    )


def load_properties(front: str) -> Mapping[str, Any]:
    """Read front matter as plain data; what is no sound YAML mapping counts as none.

    Aliases are refused, since a few lines of them can stand for billions of values.
    """
    import yaml

    if not front.strip() or len(front) > MAX_FRONT_MATTER_CHARS:
        return {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(front, Loader=loader)):
            return {}
        loaded = yaml.load(front, Loader=loader)  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError):
        return {}
    return {str(key): value for key, value in loaded.items()} if isinstance(loaded, dict) else {}


def words_of(value: object, *, splits_blanks: bool) -> tuple[str, ...]:
    """Give a property that may be a list or one text as a tuple of texts."""
    if isinstance(value, str):
        separator = r"[,\s]+" if splits_blanks else r"\s*,\s*"
        return tuple(part for part in re.split(separator, value.strip()) if part)
    if isinstance(value, list):
        return tuple(str(item).strip() for item in value if isinstance(item, str | int | float))
    return ()


def inline_tags(lines: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Collect `#tags` from lines without code, in order, each once; a bare number is no tag."""
    found: dict[str, None] = {}
    for _, line in lines:
        if "#" in line:
            for tag in _TAG.findall(line):
                if not tag.isdigit():
                    found.setdefault(tag.strip("/"))
    return tuple(tag for tag in found if tag)


def blank_inline_code(text: str) -> str:
    """Replace inline code by blanks of the same length, in time linear in the text."""
    if "`" not in text:
        return text
    runs = [(match.start(), match.end()) for match in re.finditer(r"`+", text)]
    later: dict[int, list[int]] = {}
    for index in reversed(range(len(runs))):
        later.setdefault(runs[index][1] - runs[index][0], []).append(index)
    pieces, at, index = [], 0, 0
    while index < len(runs):
        start, end = runs[index]
        closers = later[end - start]
        while closers and closers[-1] <= index:
            closers.pop()
        if closers:
            index = closers[-1]
            close = runs[index][1]
            pieces += [text[at:start], re.sub(r"[^\n]", " ", text[start:close])]
            at = close
        index += 1
    return "".join([*pieces, text[at:]])


def plain_text(markdown: str) -> str:
    """Give one line of Markdown as it reads: links by their label, no emphasis marks."""
    text = re.sub(r"!?\[\[([^\[\]\n]{0,500})\]\]", _wikilink_label, markdown)
    text = _INLINE_LINK.sub(r"\1", text)
    return " ".join(_EMPHASIS.sub(r"\2", text).split())


def _wikilink_label(match: re.Match[str]) -> str:
    return match[1].rpartition("|")[2]


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    return parser.disable(["inline", "text_join", "reference"])


def _body_line(lines: Sequence[str]) -> int:
    if lines[0].rstrip() != "---":
        return 1
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() in {"---", "..."}:
            return number + 1
    return 1


def _blocks(tokens: "Sequence[Token]", body_line: int) -> Iterator[Block]:
    index = 0
    while index < len(tokens):
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
            first, last = _lines_of(token, body_line)
            ranges = tuple(_lines_of(t, body_line) for t in inner[1:] if t.map is not None)
            heading = _heading(inner, first) if token.type == "heading_open" else None
            yield Block(token.type.removesuffix("_open"), first, last, ranges, heading)
        index = end + 1


def _lines_of(token: "Token", body_line: int) -> tuple[int, int]:
    first, behind = token.map or (0, 0)
    return first + body_line, max(behind - 1, first) + body_line


def _heading(tokens: "Sequence[Token]", line: int) -> Heading:
    return Heading(int(tokens[0].tag[1:]), plain_text(tokens[1].content), line)


def _code_lines(tokens: "Sequence[Token]", body_line: int) -> Iterator[int]:
    for token in tokens:
        if token.type in {"fence", "code_block"}:
            first, last = _lines_of(token, body_line)
            yield from range(first, last + 1)
