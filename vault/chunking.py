"""Notes cut into passages of the size that the embedding model reads.

Lines are the unit, since they are what a citation names: a passage is a run of whole lines,
except where one line or paragraph alone is too long and is cut between sentences. Fences and
tables stay whole where they fit. Each line's length is counted once, in the model's own tokens,
which add up over lines.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from vault.markdown import Block, Document, Heading
from vault.model_card import MAX_TOKENS, SPECIAL_TOKENS, tokenizer
from vault.notes import Note

CHUNKER_VERSION = "1"

_MAX_CONTEXT_CHARS = 200
_MAX_CONTEXT_TOKENS = 64
_SMALL_TOKENS = 48
_MERGED_TOKENS = 160
_CHARS_PER_TOKEN = 16  # of letters the model does not know, a token may stand for thousands
_LINES_AT_ONCE = 5_000
_SLICE_CHARS = 20_000


@dataclass(frozen=True)
class Chunk:
    """A passage of a note.

    Attributes:
        heading: the headings above it, outermost first.
        lines: first and last line in the file, from 1, inclusive.
        text: the lines as they are, or a part of them where they are too long.
        context: title and headings that the text does not show itself.
    """

    heading: tuple[str, ...]
    lines: tuple[int, int]
    text: str
    context: str
    tokens: int

    @property
    def embedded_text(self) -> str:
        """Give what is embedded: title and headings, but no folder, then the text."""
        return embedded_text(self.context, self.text)

    @cached_property
    def hash(self) -> bytes:
        """Name the embedded text by its SHA-256; equal texts are embedded once."""
        return hashlib.sha256(self.embedded_text.encode("utf-8")).digest()


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines that may become a passage; `text` only where it is less than the lines hold."""

    first: int
    last: int
    tokens: int
    path: tuple[Heading, ...]
    text: str | None = None


def embedded_text(context: str, text: str) -> str:
    """Put a passage behind its title and headings."""
    return f"{context}\n{text}" if context else text


def chunk_note(
    note: Note, document: Document, tick: Callable[[], None] = lambda: None
) -> tuple[Chunk, ...]:
    """Cut a note into passages that together show every line that is not blank.

    Args:
        note: gives the title.
        document: the structure of its text.
        tick: called now and then while a huge note is cut; what it raises ends the work.
    """
    costs = _Costs(document.lines, tick)
    pieces: list[_Piece] = []
    for path, blocks in _sections(document):
        room = MAX_TOKENS - SPECIAL_TOKENS - _tokens(_context(note.title, path))
        pieces += _pack(document, costs, path, blocks, room)
    chunks = (_chunk(note, document, piece) for piece in _join_small(pieces))
    return tuple(chunk for chunk in chunks if chunk is not None)


class _Costs:
    """What each line costs, in tokens of the embedding model."""

    def __init__(self, lines: Sequence[str], tick: Callable[[], None]):
        self._up_to = [0]
        self.tick = tick
        for start in range(0, len(lines), _LINES_AT_ONCE):
            tick()
            for tokens in _count(lines[start : start + _LINES_AT_ONCE]):
                self._up_to.append(self._up_to[-1] + tokens)

    def of_lines(self, first: int, last: int) -> int:
        return self._up_to[last] - self._up_to[first - 1]


def _count(texts: Sequence[str]) -> list[int]:
    encodings = tokenizer().encode_batch_fast(list(texts), add_special_tokens=False)
    return [
        max(len(encoding), -(-len(text) // _CHARS_PER_TOKEN))
        for encoding, text in zip(encodings, texts, strict=True)
    ]


def _tokens(text: str) -> int:
    return _count([text])[0]


def _sections(document: Document) -> Iterator[tuple[tuple[Heading, ...], list[Block]]]:
    """Give each heading's path with its own blocks, the heading's block among them."""
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


def _context(title: str, path: Sequence[Heading]) -> str:
    """Join title and headings, each once, within a quarter of what the model reads."""
    names = list(dict.fromkeys([title, *(heading.text for heading in path)]))
    context = " > ".join(name for name in names if name)[:_MAX_CONTEXT_CHARS]
    while _tokens(context) > _MAX_CONTEXT_TOKENS:
        context = context[: len(context) // 2]
    return context.encode("utf-8", "replace").decode("utf-8")


def _pack(
    document: Document,
    costs: _Costs,
    path: tuple[Heading, ...],
    blocks: Sequence[Block],
    room: int,
) -> Iterator[_Piece]:
    """Fill passages with a section's blocks, in order; a heading stays with what follows it."""
    heading_tokens = sum(costs.of_lines(b.first, b.last) for b in blocks if b.heading is not None)
    unit_room = max(room - heading_tokens, room // 2)
    current: _Piece | None = None
    for block in blocks:
        for unit in _units(document, costs, path, block, unit_room):
            joined = _joined(current, unit, path)
            if joined is not None and joined.tokens <= room:
                current = joined
            else:
                if current is not None:
                    yield current
                current = unit
    if current is not None:
        yield current


def _units(
    document: Document, costs: _Costs, path: tuple[Heading, ...], block: Block, room: int
) -> Iterator[_Piece]:
    """Give a block as the largest parts that fit: itself, what is inside it, lines, sentences."""
    tokens = costs.of_lines(block.first, block.last)
    if tokens <= room:
        yield _Piece(block.first, block.last, tokens, path)
        return
    if block.kind == "paragraph":
        yield from _sentences(document, costs, path, block.first, block.last, room)
        return
    ends: dict[int, list[int]] = {}
    for first, last in block.inner:
        ends.setdefault(first, []).append(last)
    at = block.first
    while at <= block.last:
        fitting = [end for end in ends.get(at, []) if costs.of_lines(at, end) <= room]
        last = max(fitting, default=at)
        tokens = costs.of_lines(at, last)
        if tokens <= room:
            yield _Piece(at, last, tokens, path)
        else:
            yield from _sentences(document, costs, path, at, at, room)
        at = last + 1


def _sentences(
    document: Document,
    costs: _Costs,
    path: tuple[Heading, ...],
    first: int,
    last: int,
    room: int,
) -> Iterator[_Piece]:
    """Cut lines that are too long between sentences, or between words where it must be."""
    from semantic_text_splitter import TextSplitter

    splitter = TextSplitter.from_callback(_tokens, room)
    text = "\n".join(document.lines[first - 1 : last])
    for start, part in _slices(text):
        costs.tick()
        line = first + text.count("\n", 0, start)
        for offset, piece in splitter.chunk_indices(part):
            begin = line + part.count("\n", 0, offset)
            end = begin + piece.count("\n")
            yield _Piece(begin, end, _tokens(piece), path, piece)


def _slices(text: str) -> Iterator[tuple[int, str]]:
    """Hand a very long text to the splitter in parts, each ending behind a blank if it can."""
    start = 0
    while len(text) - start > _SLICE_CHARS:
        end = text.rfind(" ", start + _SLICE_CHARS // 2, start + _SLICE_CHARS) + 1
        end = end or start + _SLICE_CHARS
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def _join_small(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Put small sections together with their neighbours, so that none is a heading alone."""
    joined: list[_Piece] = []
    for piece in pieces:
        together = _joined(joined[-1], piece, None) if joined else None
        if together is not None and _belong(joined[-1], piece, together.tokens):
            joined[-1] = together
        else:
            joined.append(piece)
    return joined


def _belong(above: _Piece, below: _Piece, tokens: int) -> bool:
    parents = above.path[:-1]
    is_small = min(above.tokens, below.tokens) < _SMALL_TOKENS
    return is_small and tokens <= _MERGED_TOKENS and below.path[: len(parents)] == parents


def _joined(above: _Piece | None, below: _Piece, path: tuple[Heading, ...] | None) -> _Piece | None:
    """Join two runs of whole lines; without a path the larger one gives it."""
    if above is None or above.text is not None or below.text is not None:
        return None
    larger = above if above.tokens > below.tokens else below
    tokens = above.tokens + below.tokens
    return _Piece(above.first, below.last, tokens, larger.path if path is None else path)


def _chunk(note: Note, document: Document, piece: _Piece) -> Chunk | None:
    first, last = piece.first, piece.last
    lines = document.lines
    while last > first and not lines[last - 1].strip():
        last -= 1
    while first < last and not lines[first - 1].strip():
        first += 1
    text = "\n".join(lines[first - 1 : last]) if piece.text is None else piece.text
    if not text.strip():
        return None
    shown = {heading.text for heading in document.headings if first <= heading.line <= last}
    hidden = [heading for heading in piece.path if heading.text not in shown]
    context = _context("" if note.title in shown else note.title, hidden)
    heading = tuple(heading.text for heading in piece.path)
    return Chunk(heading, (first, last), text, context, piece.tokens)
