"""Convert the parser's block tokens to leaves, grouped into units that become final one by one.

A unit is a top-level block, an item of a top-level list, a group of rows of a top-level table, or
the lines of a code block that is still open. Each unit has a `Resume`: the state needed to read the
text from the unit's first line on. Therefore, text that grows never has to be read again from its
beginning.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ui.markdown.blocks import (
    GROUP_ROWS,
    Box,
    Cells,
    CodeLines,
    ColumnLayout,
    Embed,
    FormulaLeaf,
    HeadingLeaf,
    Leaf,
    Missing,
    Paragraph,
    Rule,
    Run,
    Style,
    TableRows,
    make_key,
    settle_columns,
)
from ui.markdown.code_colors import AT_ONCE_CHARS, CHUNK_LINES, Line, color_lines, list_plain_lines
from ui.markdown.embeds import PDF_ICON, enclose, find_pdf_page
from ui.markdown.inline import FOOTNOTE_MARK, NOTE, cut_embeds, describe_target, read_inline
from ui.markdown.parser import parse_callout, parser, read_references

__all__ = ["Resume", "Unit", "read_units"]

_ALIGN = re.compile(r"text-align:(\w+)")


@dataclass(frozen=True, slots=True)
class Resume:
    """The state needed to continue reading in the middle of a block.

    Attributes:
        prefix: lines to parse before the text, such as a table's header. They produce no output.
        number: the number of the next list item, or None outside a numbered list.
        columns: the column layout of the table to be continued, or None outside a table.
        code: the earlier lines of the code block to be continued, each with its line end.
    """

    prefix: str = ""
    number: int | None = None
    columns: ColumnLayout | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """Blocks of parsed Markdown (leaves) that become final together.

    Attributes:
        line: the index of the unit's first line in the parsed text, including the prefix.
        end: the index of the first line after the unit.
        leaves: the leaves of the unit.
        resume: the state needed to read the text again from this unit on.
        is_sealed: whether the unit is final regardless of the text that follows.
    """

    line: int
    end: int
    leaves: tuple[Leaf, ...]
    resume: Resume = field(default_factory=Resume)
    is_sealed: bool = False


def read_units(
    text: str,
    resume: Resume,
    *,
    is_final: bool,
    has_citations: bool = True,
    references: str = "",
) -> list[Unit]:
    """Parse Markdown into units: groups of blocks that become final together.

    Args:
        text: the text, starting where `resume` continues.
        resume: the state to continue from.
        is_final: whether the text is complete.
        has_citations: whether to parse `[1]` as a citation, as in answers.
        references: lines elsewhere in a note that define addresses, such as `[name]: address`.
    """
    known = {"references": dict(read_references(references))} if references else {}
    whole = resume.prefix + text
    markdown = parser(has_citations=has_citations)
    reader = _Reader(whole.split("\n"), resume, is_final, markdown)
    return list(reader.read(markdown.parse(whole, known)))


class _Reader:
    """Converts the parser's tokens to units: groups of blocks that become final together."""

    def __init__(
        self, lines: list[str], resume: Resume, is_final: bool, markdown: MarkdownIt
    ) -> None:
        self._lines = lines
        self._resume = resume
        self._is_final = is_final
        self._markdown = markdown

    def read(self, tokens: Sequence[Token]) -> Iterator[Unit]:
        """Yield the units of the parsed text in order.

        If the text continues an earlier block, the first units contain the rest of that block.

        Args:
            tokens: the parser's tokens of the text.
        """
        for group in _group_siblings(tokens):
            yield from self._units(group)
            self._resume = Resume()

    def _units(self, group: Sequence[Token]) -> Iterator[Unit]:
        first = group[0]
        start, end = first.map or (0, 0)
        if first.type in {"bullet_list_open", "ordered_list_open"}:
            yield from self._items(group)
        elif first.type == "table_open":
            yield from self._row_groups(group, ())
        elif first.type == "fence":
            yield from self._fence(first)
        else:
            leaves = tuple(self._leaves(group, ()))
            yield Unit(start, end, leaves, is_sealed=bool(first.meta.get("is_closed")))

    def _items(self, group: Sequence[Token]) -> Iterator[Unit]:
        """Yield a unit for each item of a list.

        If earlier text began the list, the prefix repeats the start of the last earlier item. That
        item is skipped.

        Args:
            group: the parser's tokens of the list.
        """
        resume = self._resume
        number = _first_number(group[0]) if resume.number is None else resume.number
        for index, item in enumerate(_group_siblings(group[1:-1])):
            start, end = item[0].map or (0, 0)
            if index == 0 and resume.prefix:
                previous = start
                continue
            if index > 0 and not (index == 1 and resume.prefix):
                resume = Resume(self._lines[previous] + "\n", number)
            yield Unit(start, end, tuple(self._item_leaves(item, number, ())), resume)
            previous = start
            number = _after(number)

    def _item_leaves(
        self, item: Sequence[Token], number: int | None, boxes: tuple[Box, ...]
    ) -> Iterator[Leaf]:
        box = Box("item", make_key(), _marker(item[0], number))
        found = list(self._leaves(item[1:-1], (*boxes, box)))
        yield from found or [Paragraph((), (*boxes, box), line=_find_line(item[0]))]

    def _leaves(self, tokens: Sequence[Token], boxes: tuple[Box, ...]) -> Iterator[Leaf]:
        for group in _group_siblings(tokens):
            yield from self._block(group, boxes)

    def _block(self, group: Sequence[Token], boxes: tuple[Box, ...]) -> Iterator[Leaf]:
        first = group[0]
        match first.type:
            case "paragraph_open":
                yield from _text(group[1].children or (), boxes, _find_line(group[1]))
            case "heading_open":
                runs = read_inline(group[1].children or ())
                yield HeadingLeaf(int(first.tag[1]), runs, boxes, _find_line(first))
            case "bullet_list_open" | "ordered_list_open":
                yield from self._read_nested_items(group, boxes)
            case "blockquote_open" | "details_open" | "footnote_reference_open":
                yield from self._container(group, boxes)
            case "math_block":
                yield from self._formula(first, boxes)
            case "fence" | "code_block":
                yield _code(first, boxes)
            case "table_open":
                for unit in self._row_groups(group, boxes):
                    yield from unit.leaves
            case "hr":
                yield Rule(boxes, _find_line(first))

    def _read_nested_items(self, group: Sequence[Token], boxes: tuple[Box, ...]) -> Iterator[Leaf]:
        number = _first_number(group[0])
        for item in _group_siblings(group[1:-1]):
            yield from self._item_leaves(item, number, boxes)
            number = _after(number)

    def _container(self, group: Sequence[Token], boxes: tuple[Box, ...]) -> Iterator[Leaf]:
        match group[0].type:
            case "blockquote_open":
                yield from self._quote(group, boxes)
            case "details_open":
                yield from self._read_details(group, boxes)
            case _:
                label = str(group[0].meta["label"])
                box = Box("footnote", make_key(), label)
                yield from _add_way_back(list(self._leaves(group[1:-1], (*boxes, box))), label)

    def _quote(self, group: Sequence[Token], boxes: tuple[Box, ...]) -> Iterator[Leaf]:
        inner = group[1:-1]
        is_text = bool(inner) and inner[0].type == "paragraph_open"
        callout = parse_callout(inner[1].content) if is_text else None
        if callout is None:
            yield from self._leaves(inner, (*boxes, Box("quote", make_key())))
            return
        box = Box("callout", make_key(), "", callout.tone, callout.icon, callout.fold)
        line = _find_line(inner[0])
        yield Paragraph(self._read_runs(callout.title), (*boxes, box), is_title=True, line=line)
        if callout.rest.strip():
            parsed = self._markdown.parseInline(callout.rest)
            yield from _text(parsed[0].children or (), (*boxes, box), line + 1)
        yield from self._leaves(inner[3:], (*boxes, box))

    def _formula(self, token: Token, boxes: tuple[Box, ...]) -> Iterator[Leaf]:
        """Yield a formula that stands alone, unless its end has not arrived yet."""
        tex = token.content.strip()
        is_whole = token.meta.get("is_closed") or (token.map or (0, 0))[1] < len(self._lines) - 1
        if tex and (is_whole or self._is_final):
            yield FormulaLeaf(tex, boxes, _find_line(token))

    def _read_details(self, group: Sequence[Token], boxes: tuple[Box, ...]) -> Iterator[Leaf]:
        """Yield the leaves of `<details>`, which look like a callout that can be folded."""
        about, line = group[0].meta, _find_line(group[0])
        fold = "+" if about["is_open"] else "-"
        box = Box("callout", make_key(), "", "neutral", "list-bullets", fold)
        yield Paragraph(self._read_runs(about["title"]), (*boxes, box), is_title=True, line=line)
        if about["text"]:
            yield Paragraph(self._read_runs(about["text"]), (*boxes, box), line=line)
        yield from self._leaves(group[1:-1], (*boxes, box))

    def _read_runs(self, text: str) -> tuple[Run, ...]:
        parsed = self._markdown.parseInline(text)
        return read_inline(parsed[0].children or ()) if parsed else ()

    def _fence(self, token: Token) -> Iterator[Unit]:
        """Yield the lines of a code block, as one unit if the block is closed.

        The last line of an open code block is a separate unit, because it may still grow.

        Args:
            token: the parser's token of the code block.
        """
        start, end = token.map or (0, 0)
        resume = self._resume
        content = token.content.removesuffix("\n")
        count_lines = content.count("\n") + 1
        is_closed = end - start - 1 > token.content.count("\n") + (token.content[-1:] not in "\n")
        language, lines = _language(token), content.split("\n")
        if is_closed or self._is_final:
            leaf = replace(_close_code(resume.code, content, language), line=start + 2)
            yield Unit(start, end, (leaf,), resume, is_closed)
            return
        colored = _newest(resume.code, lines, language)
        if count_lines < 2:
            leaf = CodeLines(language, colored, is_continued=bool(resume.code))
            yield Unit(start, end, (leaf,), resume, is_closed)
            return
        yield Unit(
            start,
            end - 1,
            (CodeLines(language, colored[:-1], is_continued=bool(resume.code)),),
            resume,
        )
        code = resume.code + "".join(f"{line}\n" for line in lines[:-1])
        last = CodeLines(language, colored[-1:], is_continued=True)
        yield Unit(end - 1, end, (last,), Resume(self._lines[start] + "\n", code=code))

    def _row_groups(self, group: Sequence[Token], boxes: tuple[Box, ...]) -> Iterator[Unit]:
        """Yield the rows of a table in groups. The first group begins with the header.

        Args:
            group: the parser's tokens of the table.
            boxes: the boxes that the table is nested in.
        """
        start, _ = group[0].map or (0, 0)
        rows = [_row(tokens) for tokens in _rows(group)]
        places = [(tokens[0].map or (0, 0)) for tokens in _rows(group)]
        header, body, places = rows[0], rows[1:], places[1:]
        is_continued = not boxes and self._resume.columns is not None
        columns = self._resume.columns if is_continued else None
        columns = columns or settle_columns(header, body[:GROUP_ROWS], _read_aligns(group))
        prefix = "".join(f"{line}\n" for line in self._lines[start : start + 2])
        later = Resume(prefix, columns=columns)
        for index in range(0, max(len(body), 1), GROUP_ROWS):
            goes_on = is_continued or index > 0
            some = body[index : index + GROUP_ROWS]
            shown = tuple(some if goes_on else [header, *some])
            is_last = index + GROUP_ROWS >= len(body)
            line = places[index][0] if goes_on and places else start
            leaf = TableRows(columns, shown, boxes, goes_on, is_last, line + 1)
            end = places[index + len(some) - 1][1] if some else start + 2
            leaves = (leaf,) if shown else ()
            yield Unit(line, end, leaves, later if goes_on else Resume())


def _group_siblings(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of each top-level block, from its first to its last token."""
    depth = start = 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1


def _text(tokens: Sequence[Token], boxes: tuple[Box, ...], line: int) -> Iterator[Leaf]:
    """Yield the leaves of a paragraph: its text, and its images and embedded notes in between.

    Args:
        tokens: the inline tokens of the paragraph.
        boxes: the boxes around the paragraph.
        line: the number of its first line, or 0 if it is unknown.
    """
    for piece, breaks in cut_embeds(tokens):
        at = line + breaks if line else 0
        if isinstance(piece, Missing):
            yield replace(piece, boxes=boxes, line=at)
        elif isinstance(piece, Embed):
            yield from _embed(piece.target, boxes, at)
        else:
            yield Paragraph(_trim(read_inline(piece)), boxes, line=at)


def _add_way_back(leaves: list[Leaf], label: str) -> list[Leaf]:
    """Add a link back to the mark of a footnote, if its text ends with a paragraph."""
    if leaves and isinstance(last := leaves[-1], Paragraph):
        back = Run("\N{NO-BREAK SPACE}↩", Style.SAME, FOOTNOTE_MARK + label)
        leaves[-1] = replace(last, runs=(*last.runs, back))
    return leaves


def _trim(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Return the runs of a paragraph without the space at its ends, where an image was cut out."""
    if not runs:
        return runs
    first = replace(runs[0], text=runs[0].text.lstrip(" "))
    runs = (first, *runs[1:])
    return (*runs[:-1], replace(runs[-1], text=runs[-1].text.rstrip(" ")))


def _embed(target: str, boxes: tuple[Box, ...], line: int) -> Iterator[Leaf]:
    if find_pdf_page(*target.partition("#")[::2]) is None:
        yield Embed(target, boxes, line)
        return
    page = Missing(describe_target(target), "", "", (), 0, target)
    yield from enclose((page,), describe_target(target), NOTE + target, PDF_ICON, boxes, line)


def _find_line(token: Token) -> int:
    """Return the number of a block's first line, counted from 1, or 0 if it is unknown."""
    return token.map[0] + 1 if token.map else 0


def _first_number(token: Token) -> int | None:
    if token.type == "bullet_list_open":
        return None
    return int(token.attrs.get("start", 1))


def _after(number: int | None) -> int | None:
    return None if number is None else number + 1


def _marker(item: Token, number: int | None) -> str:
    if "checked" in item.meta:
        return "[x]" if item.meta["checked"] else "[ ]"
    if "status" in item.meta:
        return f"[{item.meta['status']}]"
    return "•" if number is None else f"{number}{item.markup}"


def _language(token: Token) -> str:
    words = token.info.split()
    return words[0].strip("{}.").lower() if words else ""


def _code(token: Token, boxes: tuple[Box, ...]) -> CodeLines:
    content, line = token.content.removesuffix("\n"), _find_line(token)
    line += token.type == "fence"
    language = _language(token) if token.type == "fence" else ""
    return replace(_close_code("", content, language), boxes=boxes, line=line)


def _close_code(before: str, content: str, language: str) -> CodeLines:
    """Return the lines of a closed code block that have not been drawn yet.

    Args:
        before: the code that has already been drawn, or an empty string.
        content: the rest of the code.
        language: the language of the code.
    """
    code = before + content
    if len(code) > AT_ONCE_CHARS:
        is_short = bool(before) and len(content) <= AT_ONCE_CHARS
        lines = (
            _newest(before, content.split("\n"), language)
            if is_short
            else list_plain_lines(content)
        )
        return CodeLines(language, lines, is_continued=bool(before), later=code)
    whole = color_lines(code, language)
    lines = whole[-content.count("\n") - 1 :]
    return CodeLines(language, lines, (), whole if before else (), bool(before))


def _newest(code: str, lines: list[str], language: str) -> tuple[Line, ...]:
    """Return the newest lines of a code block with their colours.

    Some earlier lines are also highlighted internally, because they can determine the colours of
    later lines.

    Args:
        code: the code before the newest lines.
        lines: the newest lines.
        language: the language of the code.
    """
    final = code.split("\n")[:-1]
    since = len(final) - len(final) % CHUNK_LINES
    text = "\n".join([*final[since:], *lines])
    return color_lines(text, language)[-len(lines) :]


def _rows(group: Sequence[Token]) -> list[Sequence[Token]]:
    starts = [i for i, token in enumerate(group) if token.type == "tr_open"]
    ends = [i for i, token in enumerate(group) if token.type == "tr_close"]
    return [group[start : end + 1] for start, end in zip(starts, ends, strict=True)]


def _row(tokens: Sequence[Token]) -> Cells:
    return tuple(read_inline(t.children or ()) for t in tokens if t.type == "inline")


def _read_aligns(group: Sequence[Token]) -> list[str]:
    cells = [token for token in _rows(group)[0] if token.type == "th_open"]
    found = [_ALIGN.search(str(cell.attrGet("style") or "")) for cell in cells]
    return [match.group(1) if match else "" for match in found]
