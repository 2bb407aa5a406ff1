"""Split notes into passages that fit into the embedding model's input.

Passages consist of whole lines, because citations refer to lines. Only lines or paragraphs that are
too long are split between sentences. Code fences and tables stay whole if they fit. Each line is
tokenized only once, since the token counts of lines can be added up.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from vault.embedding.models import (
    CHARS_PER_TOKEN,
    MAX_TOKENS,
    SPECIAL_TOKENS,
    count_tokens,
    load_tokenizer,
)
from vault.notes.note import Note
from vault.notes.text.document import Block, Document, Heading
from vault.notes.text.markdown_text import MarkdownText

if TYPE_CHECKING:
    from semantic_text_splitter import TextSplitter

CHUNKER_VERSION = "4"

_MAX_CONTEXT_CHARS = 200
_MAX_CONTEXT_TOKENS = 64
_SMALL_TOKENS = 48
_MERGED_TOKENS = 160
_LINES_AT_ONCE = 5_000

# Returns the number of tokens of each text.
CountTokens = Callable[[Sequence[str]], Sequence[int]]
_SLICE_CHARS = 5_000
_SENTENCE_ENDS = (". ", "? ", "! ", "。", "।", " ")
_LEADING_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")


@dataclass(frozen=True)
class Chunk:
    """A passage of a note.

    Attributes:
        heading: the headings above the passage, outermost first.
        lines: the first and last line in the file, counted from 1.
        text: the original lines, or part of them if they are too long.
        context: the note's title and headings, except those already in the text.
        tokens: the token count of the text.
        structure: what the lines of the passage are, as `vault.notes.text.markdown_text` writes it.
    """

    heading: tuple[str, ...]
    lines: tuple[int, int]
    text: str
    context: str
    tokens: int
    structure: str = ""

    @property
    def embedded_text(self) -> str:
        """The text to embed: the note's title and headings, then the passage."""
        return build_embedded_text(self.context, self.text)

    @cached_property
    def hash(self) -> bytes:
        """The SHA-256 of the passage's embedded text. Equal texts are embedded only once."""
        return hashlib.sha256(self.embedded_text.encode("utf-8")).digest()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A span of a note's text that may become a passage.

    Attributes:
        start: the character offset of the start.
        end: the character offset after the end.
        tokens: the token count of the span.
        path: the headings above the span, outermost first.
        is_heading: whether the span contains only headings.
    """

    start: int
    end: int
    tokens: int
    path: tuple[Heading, ...]
    is_heading: bool = False


def build_embedded_text(context: str, text: str) -> str:
    """Return the text to embed for a passage.

    Args:
        context: the note's title and headings, or an empty string.
        text: the text of the passage.
    """
    return f"{context}\n{text}" if context else text


def chunk_note(
    note: Note,
    document: Document,
    tick: Callable[[], None] = lambda: None,
    count: CountTokens = count_tokens,
) -> tuple[Chunk, ...]:
    """Split a note into passages that cover every non-blank line.

    Args:
        note: the note with its title and text.
        document: the structure of the note's text.
        tick: called regularly while a large note is split. It can raise an exception to stop.
        count: counts the tokens of texts. Passages that are not embedded can do with an estimate.
    """
    text = _Text(note.text, document.lines, tick, count)
    pieces: list[_Piece] = []
    above = 0  # the tokens of the headings that have no text of their own
    for path, blocks in _split_sections(document):
        room = _count_room(note.title, path)
        packed = list(_pack(text, path, blocks, max(room - above, room // 2)))
        are_headings = all(piece.is_heading for piece in packed)
        above = above + sum(piece.tokens for piece in packed) if are_headings else 0
        pieces += packed
    if not document.is_paged:  # a passage must not span pages
        pieces = _join_small(note.title, pieces)
    whole = MarkdownText.from_document(document)
    chunks = (_build_chunk(note, text, piece, whole) for piece in pieces)
    return tuple(chunk for chunk in chunks if chunk.text)


class _Text:
    """A note's text, and the offset and token count of each line."""

    def __init__(
        self, text: str, lines: Sequence[str], tick: Callable[[], None], count: CountTokens
    ):
        self.text = text
        self.tick = tick
        self.count = count
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self._up_to = [0]
        for start in range(0, len(lines), _LINES_AT_ONCE):
            tick()
            for tokens in count(lines[start : start + _LINES_AT_ONCE]):
                self._up_to.append(self._up_to[-1] + tokens)

    def piece(self, first: int, last: int, path: tuple[Heading, ...]) -> _Piece:
        """Return the span of text from line `first` to line `last`, both counted from 1.

        Args:
            first: the number of the first line.
            last: the number of the last line.
            path: the headings above the span, outermost first.
        """
        tokens = self._up_to[last] - self._up_to[first - 1]
        return _Piece(self._starts[first - 1], self._starts[last] - 1, tokens, path)

    def find_lines(self, start: int, end: int) -> tuple[int, int]:
        """Return the numbers of the first and last line of a span of characters."""
        return bisect_right(self._starts, start), bisect_right(self._starts, max(start, end - 1))


def _count_tokens(text: str) -> int:
    return count_tokens([text])[0]


def _count_room(title: str, path: Sequence[Heading]) -> int:
    """Return the maximum number of tokens of a passage below the given headings.

    The note's title and the headings are part of the model's input, so they reduce this number.
    """
    return MAX_TOKENS - SPECIAL_TOKENS - _count_tokens(_build_context(title, path))


def _split_sections(document: Document) -> Iterator[tuple[tuple[Heading, ...], list[Block]]]:
    """Yield each section of a document as its headings, outermost first, and its blocks."""
    path: tuple[Heading, ...] = ()
    blocks: list[Block] = []
    if document.body_line > 1:
        blocks.append(Block("front_matter", 1, document.body_line - 1))
    for block in document.blocks:
        if block.heading is not None:
            yield path, blocks
            level = block.heading.level
            path = (*(above for above in path if above.level < level), block.heading)
            blocks = []
        blocks.append(block)
    yield path, blocks


def _build_context(title: str, path: Sequence[Heading]) -> str:
    """Join a note's title and headings without repetition, for the embedded text of a passage.

    The result is limited to a quarter of the embedding model's input.
    """
    names = list(dict.fromkeys([title, *(heading.text for heading in path)]))
    context = " > ".join(name for name in names if name)[:_MAX_CONTEXT_CHARS]
    while _count_tokens(context) > _MAX_CONTEXT_TOKENS:
        context = context[: len(context) // 2]
    return context.encode("utf-8", "replace").decode("utf-8")


def _pack(
    text: _Text, path: tuple[Heading, ...], blocks: Sequence[Block], room: int
) -> Iterator[_Piece]:
    """Combine the blocks of a section into passages. A heading stays with the next block.

    Args:
        text: the text of the note.
        path: the headings above the blocks, outermost first.
        blocks: the blocks of the section.
        room: the maximum number of tokens of a passage.
    """
    heading_tokens = sum(
        text.piece(block.first, block.last, path).tokens
        for block in blocks
        if block.heading is not None
    )
    unit_room = max(room - heading_tokens, room // 2)
    current: _Piece | None = None
    for block in blocks:
        for unit in _split_block(text, path, block, unit_room):
            if current is None:
                current = unit
            elif current.tokens + unit.tokens <= room:
                current = _join(current, unit)
            else:
                yield current
                current = unit
    if current is not None:
        yield current


def _split_block(
    text: _Text, path: tuple[Heading, ...], block: Block, room: int
) -> Iterator[_Piece]:
    """Split a block into the largest units that fit into a passage.

    The units are inner blocks, lines or sentences.

    Args:
        text: the text of the note.
        path: the headings above the block, outermost first.
        block: the block to split.
        room: the maximum number of tokens of a unit.
    """
    whole = text.piece(block.first, block.last, path)
    if whole.tokens <= room:
        yield replace(whole, is_heading=block.heading is not None)
        return
    if block.kind == "paragraph":
        yield from _split_sentences(text, whole, room)
        return
    ends: dict[int, list[int]] = {}
    for first, last in block.inner:
        ends.setdefault(first, []).append(last)
    at = block.first
    while at <= block.last:
        fitting = [end for end in ends.get(at, []) if text.piece(at, end, path).tokens <= room]
        last = max(fitting, default=at)
        part = text.piece(at, last, path)
        if part.tokens <= room:
            yield part
        else:
            yield from _split_sentences(text, part, room)
        at = last + 1


def _split_sentences(text: _Text, piece: _Piece, room: int) -> Iterator[_Piece]:
    """Split a long span between sentences, or between words if a sentence is too long.

    Args:
        text: the text of the note.
        piece: the span to split.
        room: the maximum number of tokens of each part.
    """
    most_chars = room * CHARS_PER_TOKEN
    for slice_start, part in _slice(text.text[piece.start : piece.end]):
        text.tick()
        for offset, cut in _build_splitter(room, text.count).chunk_indices(part):
            start = piece.start + slice_start + offset
            for at in range(0, len(cut), most_chars):
                (tokens,) = text.count([cut[at : at + most_chars]])
                end = min(at + most_chars, len(cut))
                yield _Piece(start + at, start + end, tokens, piece.path)


@lru_cache(maxsize=64)
def _build_splitter(room: int, count: CountTokens) -> "TextSplitter":
    from semantic_text_splitter import TextSplitter

    if count is not count_tokens:
        return TextSplitter.from_callback(lambda text: count([text])[0], room)
    # Given the tokenizer itself, each splitter would make its own copy, which takes 0.1 s.
    return TextSplitter.from_callback(_count_all_tokens, room)


def _count_all_tokens(text: str) -> int:
    return len(load_tokenizer().encode(text, add_special_tokens=False))


def _slice(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while len(text) - start > _SLICE_CHARS:
        earliest, latest = start + _SLICE_CHARS // 2, start + _SLICE_CHARS
        ends = (text.rfind(mark, earliest, latest) + len(mark) for mark in _SENTENCE_ENDS)
        end = next((end for end in ends if end > earliest), latest)
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def _join_small(title: str, pieces: Sequence[_Piece]) -> list[_Piece]:
    """Merge small sections with their neighbours, and headings with the text below them."""
    joined: list[_Piece] = []
    for piece in pieces:
        if joined and _belong_together(joined[-1], piece):
            joined[-1] = _join(joined[-1], piece)
        elif joined and _introduces(title, joined[-1], piece):
            joined[-1] = replace(_join(joined[-1], piece), path=piece.path)
        else:
            joined.append(piece)
    return joined


def _belong_together(above: _Piece, below: _Piece) -> bool:
    is_small = min(above.tokens, below.tokens) < _SMALL_TOKENS
    fits = above.tokens + below.tokens <= _MERGED_TOKENS
    return is_small and fits and _is_inside(above, below)


def _introduces(title: str, above: _Piece, below: _Piece) -> bool:
    """Return whether headings without text can be joined with the text below them.

    Args:
        title: the title of the note.
        above: a span, which may consist of headings only.
        below: the next span.
    """
    if not above.is_heading or not _is_inside(above, below):
        return False
    # Many headings may not fit: see the space that `chunk_note` keeps free.
    return above.tokens + below.tokens <= _count_room(title, below.path)


def _is_inside(above: _Piece, below: _Piece) -> bool:
    """Return whether two adjacent spans are in the same parent section.

    Args:
        above: the first span.
        below: the second span.
    """
    parents = above.path[:-1]
    return below.path[: len(parents)] == parents


def _join(above: _Piece, below: _Piece) -> _Piece:
    """Join two spans and the text between them, under their common headings."""
    common = [one for one, other in zip(above.path, below.path, strict=False) if one == other]
    path = tuple(common) if above.path and below.path else above.path or below.path
    tokens, is_heading = above.tokens + below.tokens, above.is_heading and below.is_heading
    return _Piece(above.start, below.end, tokens, path, is_heading)


def _build_chunk(note: Note, text: _Text, piece: _Piece, whole: MarkdownText) -> Chunk:
    span = text.text[piece.start : piece.end].rstrip()
    blank = _LEADING_BLANK_LINES.match(span)
    shown_text = span[blank.end() :] if blank else span
    start = piece.start + len(span) - len(shown_text)
    first, last = text.find_lines(start, piece.start + len(span))
    shown = {heading.text for heading in note.headings if first <= heading.line <= last}
    hidden = [heading for heading in piece.path if heading.text not in shown]
    return Chunk(
        heading=tuple(heading.text for heading in piece.path),
        lines=(first, last),
        text=shown_text,
        context=_build_context("" if note.title in shown else note.title, hidden),
        tokens=piece.tokens,
        structure=whole.cut(first - 1, last).structure,
    )
