"""Build the parts of a source that can be quoted: sentences, items, rows, lists, sections.

A list includes the sentence that introduces it, a list item includes nested items and code, and a
table row includes the table header. Sentences that cannot answer a question, such as greetings and
licence notices, are skipped.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import PurePath
from typing import Final

from chains.citations.quotes import VerbatimText, count_words, read_source_text, remove_markup
from chains.citations.sentences import join_paragraph, split_paragraph
from chains.extractive.blocks import PassageBlock, list_blocks, list_properties
from chains.extractive.parts import Part, PartKind, is_link_alone
from chains.extractive.writer import write_code, write_lines, write_row, write_text
from context.layers import Segment
from vault.notes.text.markdown_text import MarkdownText

__all__ = ["build_parts"]

SHORTEST_WORDS: Final = 3
MOST_WORDS: Final = 260
MOST_LINES: Final = 40
MOST_INTRO_WORDS: Final = 60
LONGEST_CHARS: Final = 700
# A paragraph up to this length is quoted whole.
SHORT_PARAGRAPH_WORDS: Final = 45
SHORT_PARAGRAPH_CHARS: Final = 300

_GAP_CELL: Final = " … |"
_NO_ANSWER: Final = re.compile(
    r"copyright and related rights|all rights reserved|licen[sc]ed under|\bMIT license\b"
    r"|^(?:thank you|thanks|hello|hi|dear|best|regards|cheers)\b[^.]{0,40}[.!,]?$"
    r"|^more info(?:rmation)?:|^(?:jump|back|go) to\b.{0,30}(?:top|contents|tests)?\W*$"
    r"|^see also:|^see(?: also)?:? (?:(?:\S+ ){0,4}\S+|how to\b[^.]*|the [^.]*)[.]?$",
    re.IGNORECASE,
)
# Properties that say nothing about the subject of a note.
_OTHER_PROPERTY_NAMES: Final = """
    alias aliases banner cssclass cssclasses icon id layout permalink publish tag tags title uid
"""
_OTHER_PROPERTIES: Final = frozenset(_OTHER_PROPERTY_NAMES.split())
_UNENDED: Final = re.compile(r"[\w,][*_]{0,4}$")
_MARK: Final = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])[ \t]+")


def build_parts(source: Segment) -> list[Part]:
    """Build the parts of a source. Only those that `verify_part` accepts can be quoted."""
    text = read_source_text(source)
    parts = list(_Builder(source, list(list_blocks(text))).build())
    return [*_build_properties(source, text), *parts]


def _build_properties(source: Segment, text: MarkdownText) -> Iterator[Part]:
    """Yield a part for each line of the front matter that has a property with a value."""
    for at, line, name in list_properties(text):
        if name.lower() not in _OTHER_PROPERTIES:
            yield Part(
                source.number or 0,
                "row",
                at,
                at + 1,
                ((write_text(line),),),
                line,
                source.title,
                (),
                source.title,
                source.source,
                property_name=name,
                origin=VerbatimText(source.raw_content),
            )


class _Builder:
    """Builds the parts of one source."""

    def __init__(self, source: Segment, blocks: Sequence[PassageBlock]) -> None:
        self._source = source
        self._blocks = blocks
        self._origin = VerbatimText(source.raw_content)

    def build(self) -> Iterator[Part]:
        for _, group in groupby(self._blocks, key=lambda block: block.heading):
            blocks = list(group)
            yield from self._build_texts(blocks)
            yield from self._build_items(blocks)
            yield from self._build_lists(blocks)
            for block in blocks:
                if block.kind == "table":
                    yield from self._build_rows(block)
            start, end = _trim(blocks)
            if end - start > 1 or _is_code_of_heading(blocks[start:end]):
                yield from self._build_run("section", blocks, start, end)

    def _build_texts(self, blocks: Sequence[PassageBlock]) -> Iterator[Part]:
        for at, block in enumerate(blocks):
            if block.kind != "text" or block.is_code_line:
                continue
            behind = blocks[at + 1 : at + 2]
            is_example = bool(behind) and (behind[0].kind == "code" or behind[0].is_code_line)
            if is_example and _introduces(block):
                yield from self._build_run("sentences", blocks, at, at + 2)
            else:
                sentences = split_paragraph(block.lines)
                if behind and behind[0].kind == "item" and _UNENDED.search(sentences[-1]):
                    sentences.pop()
                for part in self._build_sentences(block, sentences, is_first=at == 0):
                    yield replace(part, paragraph=self._build_paragraph(block, sentences))

    def _build_paragraph(self, block: PassageBlock, sentences: Sequence[str]) -> Part | None:
        """Build a part of a whole paragraph, or return None if it is long or has no answers."""
        text = join_paragraph(block.lines)
        is_short = count_words(text) <= SHORT_PARAGRAPH_WORDS and len(text) <= SHORT_PARAGRAPH_CHARS
        is_whole = len(sentences) > 1 and not _ends_in_colon(text)
        if not (is_short and is_whole and text.endswith(sentences[-1])):
            return None
        if any(map(_is_no_answer, sentences)) or _is_question(sentences[-1]):
            return None
        return self._make("sentences", block, block.end, [[write_text(text)]], text, "")

    def _build_sentences(
        self, block: PassageBlock, found: Sequence[str], *, is_first: bool
    ) -> Iterator[Part]:
        is_link = all(map(is_link_alone, block.lines))
        for at, sentence in enumerate(found):
            is_question = _is_question(sentence)
            shown = found[at : at + 2] if is_question else [sentence]
            if _is_no_answer(sentence) or (is_question and len(shown) < 2):
                continue
            if count_words(sentence) >= SHORTEST_WORDS and not _ends_in_colon(sentence):
                text = " ".join(shown)
                around = " ".join(found[max(0, at - 1) : at])
                part = self._make("sentences", block, block.end, [[_shorten(text)]], text, around)
                yield replace(part, is_first=is_first and at == 0, sentence=at, is_link=is_link)

    def _build_items(self, blocks: Sequence[PassageBlock]) -> Iterator[Part]:
        for at, block in enumerate(blocks):
            if block.kind == "item":
                end = _find_item_end(blocks, at)
                intro = _find_intro(blocks, at)
                is_link = all(is_link_alone(block.lines[0]) for block in blocks[at:end])
                for part in self._build_run("item", blocks, at, end, intro):
                    yield replace(part, is_link=is_link)

    def _build_lists(self, blocks: Sequence[PassageBlock]) -> Iterator[Part]:
        at = 0
        while at < len(blocks):
            end = _find_list_end(blocks, at)
            if end > at + 1 and not all(is_link_alone(block.lines[0]) for block in blocks[at:end]):
                has_intro = at > 0 and blocks[at - 1].kind == "text" and _fits_intro(blocks[at - 1])
                whole = list(self._build_run("list", blocks, at - has_intro, end))
                yield from whole or self._build_outline(blocks, at - has_intro, end)
            at = max(end, at + 1)

    def _build_outline(
        self, blocks: Sequence[PassageBlock], start: int, end: int
    ) -> Iterator[Part]:
        """Yield an outline of a list that is too long to quote: its outer items, shortened."""
        run = blocks[start:end]
        least = min(block.indent for block in run if block.kind == "item")
        kept = [0, *(at for at in range(1, len(run)) if _is_outer(run[at], least))]
        ends = [*kept[1:], len(run)]
        pieces = [[_shorten_blocks(run[at:end])] for at, end in zip(kept, ends, strict=True)]
        text = "\n".join(line for piece in pieces for line in piece)
        if count_words(text) <= MOST_WORDS and 1 < len(pieces) <= MOST_LINES:
            yield self._make("list", run[0], run[-1].end, pieces, text, "")

    def _build_rows(self, table: PassageBlock) -> Iterator[Part]:
        head, body = _split_table(table)
        rows = [line for line in body if line.strip("|-: \t")]
        if len(rows) > 1 and len(table.lines) <= MOST_LINES:
            shown = [write_row(line) for line in table.lines]
            yield self._make("list", table, table.end, [shown], " ".join(rows), " ".join(head[:1]))
        for at, row in enumerate(body):
            if row.strip("|-: \t"):
                gap = ["|" + _GAP_CELL * max(1, row.strip("| \t").count("|") + 1)] * (at > 0)
                shown = [*map(write_row, head), *gap, write_row(row)]
                yield self._make("row", table, table.end, [shown], row, " ".join(head[:1]))

    def _build_run(
        self, kind: PartKind, blocks: Sequence[PassageBlock], start: int, end: int, intro: str = ""
    ) -> Iterator[Part]:
        """Yield a part made of `blocks[start:end]`, unless it is too short or too long."""
        run = blocks[start:end]
        least = min((block.indent for block in run if block.kind == "item"), default=0)
        pieces = [_write_block(block, least) for block in run]
        for at, block in enumerate(run[1:]):
            pieces[at] += [""] * (block.first > run[at].end)  # as in the note
        length = sum(map(len, pieces))
        text = "\n".join(line for block in run for line in block.lines)
        words = count_words(text)
        is_too_long = words > MOST_WORDS or length > MOST_LINES
        if (
            is_too_long
            or words < SHORTEST_WORDS - (kind == "item")
            or _is_no_answer(run[-1].lines[-1])
        ):
            return
        if kind == "item" and _is_unanswered(run):
            return
        yield self._make(kind, run[0], run[-1].end, pieces, remove_markup(text), intro)

    def _make(
        self,
        kind: PartKind,
        block: PassageBlock,
        end: int,
        pieces: Sequence[Sequence[str]],
        text: str,
        intro: str,
    ) -> Part:
        source = self._source
        heading = block.heading
        around = " ".join((source.title, PurePath(source.source).stem, *heading, intro))
        shown = tuple(map(tuple, pieces))
        place = (source.number or 0, kind, block.first, end)
        note = source.title, source.source
        return Part(*place, shown, text, around, heading, *note, origin=self._origin)


def _write_block(block: PassageBlock, least: int = 0) -> list[str]:
    """Format a block for quoting. List items lose the first `least` columns of indentation."""
    if block.kind == "code":
        return write_code(block.lines)
    if block.kind == "table":
        return [write_row(line) for line in block.lines]
    lead = " " * max(0, block.indent - least)
    return [f"{lead}{line}" for line in write_lines(block.lines)]


def _is_outer(block: PassageBlock, indent: int) -> bool:
    return block.kind == "item" and block.indent == indent


def _shorten_blocks(blocks: Sequence[PassageBlock]) -> str:
    """Return the first sentence of a list item or paragraph, including its list marker.

    If more sentences or blocks follow, an ellipsis takes their place.
    """
    first, *more = blocks[0].lines
    mark = _MARK.match(first.lstrip())
    sentences = split_paragraph([_MARK.sub("", first.lstrip()), *more]) or [""]
    text = (f"{mark[0].strip()} " if mark else "") + _shorten(sentences[0])
    is_cut = len(sentences) > 1 or len(blocks) > 1
    return f"{text} …" if is_cut and not text.endswith("…") else text


def _split_table(table: PassageBlock) -> tuple[list[str], list[str]]:
    has_rule = len(table.lines) > 1 and not table.lines[1].strip("|-: \t")
    return (list(table.lines[:2]), list(table.lines[2:])) if has_rule else ([], list(table.lines))


def _find_item_end(blocks: Sequence[PassageBlock], at: int) -> int:
    """Return the index after the list item `blocks[at]`, its nested items and its code."""
    item, end = blocks[at], at + 1
    while end < len(blocks):
        block = blocks[end]
        is_below = block.kind == "item" and block.indent > item.indent
        is_own_code = block.kind == "code" or block.is_code_line
        is_own_text = block.kind == "text" and block.lines[0].startswith((" ", "\t"))
        if not (is_below or is_own_code or is_own_text):
            break
        end += 1
    return end


def _find_list_end(blocks: Sequence[PassageBlock], at: int) -> int:
    end = at
    while end < len(blocks) and blocks[end].kind == "item":
        end = _find_item_end(blocks, end)
    return end


def _find_intro(blocks: Sequence[PassageBlock], at: int) -> str:
    """Return the text that introduces a list item: its parent items and the paragraph above."""
    found: list[str] = []
    indent = blocks[at].indent
    for block in reversed(blocks[:at]):
        if block.kind == "item" and block.indent < indent:
            found.append(block.lines[0])
            indent = block.indent
        elif block.kind == "text" and not block.is_code_line:
            found.append(" ".join(block.lines)[-200:])
            break
    return " ".join(found)


def _introduces(block: PassageBlock) -> bool:
    return _ends_in_colon(block.lines[-1])


def _ends_in_colon(text: str) -> bool:
    return text.rstrip().rstrip("*_").endswith((":", "："))


def _fits_intro(block: PassageBlock) -> bool:
    text = " ".join(block.lines)
    return _introduces(block) or count_words(text) <= MOST_INTRO_WORDS


def _is_no_answer(sentence: str) -> bool:
    return _NO_ANSWER.search(sentence.strip("*_> \t")) is not None


def _is_unanswered(run: Sequence[PassageBlock]) -> bool:
    """Return whether the blocks consist of a single question without an answer."""
    return len(run) == 1 and _is_question(run[-1].lines[-1])


def _is_question(text: str) -> bool:
    return text.rstrip().rstrip("*_").rstrip().endswith(("?", "？"))


def _trim(blocks: Sequence[PassageBlock]) -> tuple[int, int]:
    """Return the range of blocks that is left without those at both ends that answer nothing."""
    start, end = 0, len(blocks)
    while start < end and _is_no_answer(blocks[start].lines[0]):
        start += 1
    while end > start and (
        _is_no_answer(blocks[end - 1].lines[0]) or _needs_following_text(blocks[end - 1])
    ):
        end -= 1
    return start, end


def _needs_following_text(block: PassageBlock) -> bool:
    """Return whether a paragraph is a question or introduces the text that follows."""
    return block.kind == "text" and (_is_question(block.lines[-1]) or _introduces(block))


def _is_code_of_heading(blocks: Sequence[PassageBlock]) -> bool:
    """Return whether the blocks are a single code block whose heading states its purpose."""
    return len(blocks) == 1 and blocks[0].kind == "code" and len(blocks[0].heading) > 1


def _shorten(sentence: str) -> str:
    """Truncate a sentence if it is very long."""
    if len(sentence) > LONGEST_CHARS:
        cut = sentence[:LONGEST_CHARS]
        blank = cut.rfind(" ")
        sentence = f"{cut[:blank] if blank > LONGEST_CHARS // 2 else cut}…"
    return write_text(sentence)
