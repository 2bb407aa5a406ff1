"""Join notes to blocks for a model, and build the request for a block.

A block has whole notes. A note that is too long for a block is judged in parts, each alone.
"""

import hashlib
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from chains.errors import CannotRead
from chains.prompts import CallSetup
from chains.retrieval.map_reduce_plan import split_text
from context.assemble.request import Request
from context.layers import Layer, Segment

__all__ = [
    "MOST_NOTES",
    "MOST_PARTS",
    "NAME_KEY_CHARS",
    "JudgeNote",
    "JudgePiece",
    "JudgeSetup",
    "hash_name",
    "join_pieces",
    "make_key",
    "name_note",
]

MOST_NOTES: Final = 10
MOST_PARTS: Final = 20
MOST_BLOCK_TOKENS: Final = 6_000
LEAST_BLOCK_TOKENS: Final = 300
NAME_TOKENS: Final = 60
NAME_CHARS: Final = 60
NAME_KEY_CHARS: Final = 6
_KEY_CHARS: Final = 18
FILLED: Final = 0.98  # joined texts may have slightly more tokens than their sum


@dataclass(frozen=True)
class JudgeNote:
    """A note as it is read to be judged.

    Attributes:
        path: the path of the note, for the ledger.
        name: its name without the folder, which the model sees.
    """

    path: str
    name: str
    version: str
    text: str

    @property
    def key(self) -> str:
        """The key of the verdict on the whole note."""
        return make_key(self.name, self.version)


@dataclass(frozen=True)
class JudgePiece:
    """A note, or a part of a long one, as a model sees it.

    Attributes:
        key: the key of its verdict.
        first_line: the number of its first line in the note.
    """

    note: JudgeNote
    key: str
    text: str
    first_line: int
    tokens: int

    @property
    def lines(self) -> tuple[int, int]:
        """The first and last line in the note."""
        return self.first_line, self.first_line + self.text.count("\n")

    def build_segment(self) -> Segment:
        """Build the source of a call, which the ledger names."""
        return Segment.build(
            id=self.key,
            layer=Layer.L3,
            kind="note",
            source=self.note.path,
            text=self.text,
            lines=self.lines,
            version=self.note.version,
            title=self.note.name,
        )


@dataclass(frozen=True)
class JudgeSetup:
    """What all calls about a question share.

    Attributes:
        question: what is asked of each note.
        call: the model, the prompt and the budget of each call.
    """

    question: str
    call: CallSetup

    @cached_property
    def frame_tokens(self) -> int:
        """The tokens of a call without the notes."""
        counter = self.call.counter
        framed = counter.count(_frame_notes("", self.question))
        return framed + self.call.preamble.system_tokens + counter.message_overhead

    @cached_property
    def block_tokens(self) -> int:
        """The most tokens of the notes of a block.

        Raises:
            CannotRead: too few tokens are available.
        """
        free = int((self.call.request_budget.budget - self.frame_tokens) * FILLED)
        if free < LEAST_BLOCK_TOKENS:
            raise CannotRead(
                "The limit leaves no room for judging notes. Raise autoCompactThreshold, or "
                "shorten the question."
            )
        return min(free, MOST_BLOCK_TOKENS)

    def divide(self, note: JudgeNote) -> list[JudgePiece]:
        """Return a note as one piece, or as the parts in which a long one is judged."""
        whole = self._build_piece(note, note.key, note.text, 1)
        if whole.tokens <= self.block_tokens:
            return [whole]
        most = self.block_tokens - NAME_TOKENS
        parts = split_text(note.text, 1, most, self.call.counter)
        keys = [
            make_key(note.name, note.version, f"{number}/{len(parts)} {most}")
            for number in range(1, len(parts) + 1)
        ]
        return [
            self._build_piece(note, key, part.text, part.lines[0])
            for key, part in zip(keys, parts, strict=True)
        ]

    def prepare(self, pieces: Sequence[JudgePiece]) -> Request:
        """Build the request that asks a model for the verdicts on a block.

        Raises:
            ContextOverflow: the request exceeds its budget.
        """
        notes = "\n\n".join(
            _frame_note(number, piece.note.name, piece.text)
            for number, piece in enumerate(pieces, start=1)
        )
        return self.call.prepare(_frame_notes(notes, self.question))

    def _build_piece(self, note: JudgeNote, key: str, text: str, first_line: int) -> JudgePiece:
        tokens = self.call.counter.count(_frame_note(MOST_NOTES, note.name, text)) + 2
        return JudgePiece(note, key, text, first_line, tokens)


def join_pieces(pieces: Iterator[JudgePiece], most_tokens: int) -> Iterator[list[JudgePiece]]:
    """Join the pieces of whole notes to blocks."""
    block: list[JudgePiece] = []
    for piece in pieces:
        size = sum(other.tokens for other in block)
        if block and (len(block) == MOST_NOTES or size + piece.tokens > most_tokens):
            yield block
            block = []
        block.append(piece)
    if block:
        yield block


def _frame_note(number: int, name: str, text: str) -> str:
    shown = html.escape(name[:NAME_CHARS])
    return f'<note n="{number}" name="{shown}">\n{html.escape(text, quote=False)}\n</note>'


def _frame_notes(notes: str, question: str) -> str:
    asked = html.escape(question, quote=False)
    return (
        f"<question>\n{asked}\n</question>\n\n{notes}\n\n"
        "Give the verdict on each note above, as JSON."
    )


def name_note(path: str) -> str:
    """Return the name of a note without its folder, which the model sees."""
    return path.rpartition("/")[2].removesuffix(".md")


def make_key(name: str, version: str, part: str = "") -> str:
    """Return the key of what a model is shown of a note: its name and its content, or a part of it.

    It begins with the hash of the name. The key of a part begins with that of its note.

    Args:
        name: the name of the note without its folder, which the model sees.
        version: the hash of the note's content.
        part: which part of the note it is, or an empty string for the whole note.
    """
    key = hash_name(name) + _hash(f"{name}\n{version}", _KEY_CHARS)
    return f"{key}-{_hash(part, NAME_KEY_CHARS)}" if part else key


def hash_name(name: str) -> str:
    """Return what the keys of all notes of a name begin with."""
    return _hash(name, NAME_KEY_CHARS)


def _hash(text: str, chars: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:chars]
