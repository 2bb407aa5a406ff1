"""Replace segments of a note's text without changing any other bytes.

The encoding, the byte-order mark and existing line endings are kept. New lines use the note's most
common line ending.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from vault.errors import EditRefused, ReadingFailed
from vault.notes.encodings import DecodedText, decode_text, normalize_line_ends

__all__ = ["EditableText", "Replacement", "count_common"]


class Replacement(NamedTuple):
    """A replacement of a segment of a note's text.

    Attributes:
        start: the offset of the segment's start. Each line ending counts as one character.
        end: the offset after the segment.
        text: the new text of the segment.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class EditableText:
    r"""A note's text. Editing it does not change any other bytes of the note.

    Attributes:
        path: the note's path, for error messages.
        decoded: the text with its original line endings, and its encoding.
        text: the text with `\n` line endings, as models see it.
    """

    path: str
    decoded: DecodedText
    text: str

    @classmethod
    def decode(cls, path: str, data: bytes) -> "EditableText":
        """Decode the bytes of a note.

        Raises:
            EditRefused: the bytes are not text, or their encoding is unclear.
        """
        try:
            decoded = decode_text(data)
        except ReadingFailed as error:
            raise EditRefused(f"{path} cannot be edited: {error.reason}.") from error
        return cls(path, decoded, normalize_line_ends(decoded.text))

    @property
    def data(self) -> bytes:
        """The note's current content as bytes."""
        return self.decoded.mark + self.decoded.text.encode(self.decoded.encoding)

    def replace(self, replacements: Sequence[Replacement]) -> bytes:
        """Return the note's content as bytes, with segments of the text replaced.

        Args:
            replacements: the replacements, in order and without overlaps.

        Raises:
            EditRefused: a replacement cannot be stored in the note's encoding.
        """
        source, pieces, at = self.decoded.text, [], 0
        for start, end, text in map(self._narrow, replacements):
            pieces += [source[at : self._find_source(start)], text.replace("\n", self._line_end)]
            at = self._find_source(end)
        return self._encode(_join([*pieces, source[at:]]))

    def _narrow(self, replacement: Replacement) -> Replacement:
        """Remove unchanged text from the start and end of a replacement."""
        old, new = self.text[replacement.start : replacement.end], replacement.text
        head = count_common(old, new)
        tail = count_common(old[head:][::-1], new[head:][::-1])
        return Replacement(
            replacement.start + head, replacement.end - tail, new[head : len(new) - tail]
        )

    def _encode(self, text: str) -> bytes:
        name = self.decoded.encoding
        try:
            data = self.decoded.mark + text.encode(name)
            is_kept = decode_text(data).text == text
        except UnicodeEncodeError as error:
            sign = text[error.start]
            if "\ud800" <= sign <= "\udfff":
                raise EditRefused(
                    "The new text contains half a character. Write it anew."
                ) from error
            raise EditRefused(
                f"{self.path} is stored as {name}, which has no “{sign}”. "
                "Save the note as UTF-8 first, or leave the character out."
            ) from error
        except ReadingFailed as error:
            raise EditRefused(f"The new text cannot be stored: {error.reason}.") from error
        if not is_kept:
            raise EditRefused(
                f"{self.path} is stored as {name} without a mark for it, so the new text could not "
                "be read again. Save the note as UTF-8 first."
            )
        return data

    def _find_source(self, offset: int) -> int:
        """Convert an offset in the normalized text to an offset in the original text."""
        return offset + bisect_left(self._wide_line_ends, offset)

    @cached_property
    def _wide_line_ends(self) -> tuple[int, ...]:
        r"""The offsets of all line endings that were originally `\r\n`."""
        parts = self.decoded.text.split("\r\n")
        offsets, at = [], 0
        for part in parts[:-1]:
            at += len(part)
            offsets.append(at)
            at += 1
        return tuple(offsets)

    @cached_property
    def _line_end(self) -> str:
        text = self.decoded.text
        wide = text.count("\r\n")
        counts = {"\n": text.count("\n") - wide, "\r\n": wide, "\r": text.count("\r") - wide}
        return max(counts, key=lambda end: counts[end])


def _join(pieces: Sequence[str]) -> str:
    r"""Join pieces of text, keeping a `\r` and a `\n` from different pieces as two line endings."""
    filled = [piece for piece in pieces if piece]
    joined = [
        # `\r\r\n` is read as two line endings, `\r\n` as one.
        f"{one}\r" if one.endswith("\r") and other.startswith("\n") else one
        for one, other in pairwise(filled)
    ]
    return "".join([*joined, *filled[-1:]])


def count_common(one: str, other: str) -> int:
    """Return how many first characters two texts have in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
