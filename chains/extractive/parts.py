"""Split a source into the parts that can be lit: sentences, list items, table rows, code.

A list item includes what is nested in it, and its code. What introduces an item or a row, such as
the sentence above the list or the header of the table, belongs to its context.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Final, Literal

from chains.citations.quotes import read_source_text
from chains.citations.sentences import join_paragraph
from chains.extractive.blocks import PassageBlock, list_blocks, list_properties
from chains.extractive.words import split_words
from context.layers import Segment
from vault.notes.text.markup import remove_markup
from vault.notes.text.sentences import find_sentences

__all__ = ["Part", "PartKind", "build_parts"]

PartKind = Literal["sentence", "item", "row", "code", "property"]

MOST_INTRO_CHARS: Final = 200
# Properties that say nothing about the subject of a note.
_OTHER_PROPERTY_NAMES: Final = """
    alias aliases banner cssclass cssclasses icon id layout permalink publish tag tags title uid
"""
_OTHER_PROPERTIES: Final = frozenset(_OTHER_PROPERTY_NAMES.split())
_STRUCK: Final = re.compile(r"~~(?=[^\s~])[^~\n]{1,300}(?<=[^\s~])~~")
_RULE: Final = "|-: \t"
# Matches a text that is only a link.
_LINK: Final = re.compile(r"\W*(?:\[\[[^\]]+\]\]|\[[^\]]+\]\([^)]*\)|<?https?://\S+?>?)\W*")


@dataclass(frozen=True)
class Part:
    """A part of a source that can answer a question, such as a sentence or a table row.

    Attributes:
        first: the index of the first line in the source.
        end: the index after the last line.
        text: the part's text, which is compared with the question.
        around: what the part is about beside its headings: the sentence before it, or what
            introduces it.
        columns: the header of the table, if the part is a row.
        heading: the headings above the part.
        property_name: the name of the property if the part is a line of the front matter.
        leads: whether the part introduces the list, table or code behind it.
        is_link: whether the part is a sentence that consists only of a link.
    """

    source: Segment
    kind: PartKind
    first: int
    end: int
    text: str
    around: str = ""
    columns: str = ""
    heading: tuple[str, ...] = ()
    property_name: str = ""
    leads: bool = False
    is_link: bool = False

    @property
    def number(self) -> int:
        """The citation number of the source, or 0 if it has none."""
        return self.source.number or 0

    @cached_property
    def words(self) -> frozenset[str]:
        """The words in the text of this part of a source."""
        return split_words(self.text)

    @cached_property
    def known_words(self) -> frozenset[str]:
        """The words of the part, of its columns, and of what introduces and is above it."""
        return self.words | split_words(" ".join((self.around, self.columns, *self.names)))

    @cached_property
    def title_words(self) -> frozenset[str]:
        """The words in the note's title."""
        return split_words(self.source.title)

    @property
    def place(self) -> str:
        """The title of the part's note and the headings above the part."""
        names = (self.source.title, *self.heading)
        return ". ".join(dict.fromkeys(name for name in names if name))

    @property
    def names(self) -> tuple[str, ...]:
        """The title and the path of the part's note, and the headings above the part."""
        return (self.source.title, self.source.source, *self.heading)


def build_parts(source: Segment) -> list[Part]:
    """Build the parts of a source, in their order."""
    text = read_source_text(source)
    found = [
        Part(source, "property", at, at + 1, line, property_name=name)
        for at, line, name in list_properties(text)
        if name.lower() not in _OTHER_PROPERTIES
    ]
    return [*found, *_Builder(source, list(list_blocks(text))).build()]


class _Builder:
    """Builds the parts of one source."""

    def __init__(self, source: Segment, blocks: Sequence[PassageBlock]) -> None:
        self._source = source
        self._blocks = blocks

    def build(self) -> Iterator[Part]:
        for _, group in groupby(self._blocks, key=lambda block: block.heading):
            blocks = list(group)
            for at, block in enumerate(blocks):
                if block.kind == "text" and not block.is_code_line:
                    yield from self._build_sentences(blocks, at)
                elif block.kind == "item":
                    yield self._build_item(blocks, at)
                elif block.kind == "table":
                    yield from self._build_rows(block)
                else:
                    yield self._make(
                        "code", block, block.end, _write(block), _find_intro(blocks, at)
                    )

    def _build_sentences(self, blocks: Sequence[PassageBlock], at: int) -> Iterator[Part]:
        block, before = blocks[at], ""
        behind = blocks[at + 1 : at + 2]
        spans = list(_locate_sentences(block.lines))
        for number, (sentence, first, last) in enumerate(spans, start=1):
            leads = number == len(spans) and bool(behind) and _ends_in_colon(sentence)
            text = _strip(sentence)
            if text:
                place = block.first + first, block.first + last + 1
                part = self._make(
                    "sentence", block, place[1], text, before, first=place[0], leads=leads
                )
                yield replace(part, is_link=_LINK.fullmatch(sentence) is not None)
            before = text

    def _build_item(self, blocks: Sequence[PassageBlock], at: int) -> Part:
        end = _find_item_end(blocks, at)
        text = "\n".join(map(_write, blocks[at:end]))
        return self._make("item", blocks[at], blocks[end - 1].end, text, _find_intro(blocks, at))

    def _build_rows(self, table: PassageBlock) -> Iterator[Part]:
        has_rule = len(table.lines) > 1 and not table.lines[1].strip(_RULE)
        columns = _strip(table.lines[0]) if has_rule else ""
        for at, row in enumerate(table.lines):
            if row.strip(_RULE) and (at or not has_rule):
                first = table.first + at
                yield self._make("row", table, first + 1, _strip(row), columns=columns, first=first)

    def _make(
        self,
        kind: PartKind,
        block: PassageBlock,
        end: int,
        text: str,
        around: str = "",
        *,
        columns: str = "",
        first: int | None = None,
        leads: bool = False,
    ) -> Part:
        start = block.first if first is None else first
        place = (self._source, kind, start, end)
        return Part(*place, text, around, columns, block.heading, leads=leads)


def _locate_sentences(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the sentences of a paragraph, with the indices of their first and last line."""
    text = "\n".join(lines)
    for start, end in find_sentences(text):
        sentence = join_paragraph(text[start:end].split("\n"))
        yield sentence, text.count("\n", 0, start), text.count("\n", 0, end)


def _write(block: PassageBlock) -> str:
    if block.kind == "code":
        return "\n".join(block.lines[1:-1])
    return _strip("\n".join(block.lines))


def _strip(text: str) -> str:
    """Return a text without markup, and without what is struck out: it is no longer true."""
    return remove_markup(_STRUCK.sub("", text)).strip()


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


def _find_intro(blocks: Sequence[PassageBlock], at: int) -> str:
    """Return the text that introduces an item or code: its parent items and the paragraph above."""
    found: list[str] = []
    indent = blocks[at].indent
    for block in reversed(blocks[:at]):
        if block.kind == "item" and block.indent < indent:
            found.append(_strip(block.lines[0]))
            indent = block.indent
        elif block.kind == "text" and not block.is_code_line:
            found.append(_strip(" ".join(block.lines))[-MOST_INTRO_CHARS:])
            break
        elif block.kind != "item" and blocks[at].kind != "item":
            break
    return " ".join(found)


def _ends_in_colon(text: str) -> bool:
    return text.rstrip().rstrip("*_").endswith((":", "："))
