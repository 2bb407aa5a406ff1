"""Split the JSON text of a request into pieces, so that equal pieces of requests are stored once.

A piece that comes from notes names them, so that it can be removed when models may not read such a
note any more. Splitting never changes a text: the pieces together are the text, byte for byte.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from context.history.note_text import find_sources
from context.history.pins import PINNED_SOURCE

__all__ = ["VERSION_CHARS", "KnownText", "NoteRef", "NoteTexts", "Piece", "split_json"]

# Shorter texts stay in the text around them, unless they come from a note.
LEAST_CHARS: Final = 256
LEAST_NOTE_CHARS: Final = 12
VERSION_CHARS: Final = 16  # of the hash of a note, which cannot be compressed
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_PRIOR: Final = re.compile(
    r'<prior_context source="(?P<path>[^"]*)"[^>]*>.*?(?:</prior_context>|\Z)', re.DOTALL
)
_MEMORY: Final = re.compile(r"<memory>\n.*?</memory>", re.DOTALL)  # of a chat, which a model wrote
_WORD: Final = re.compile(r"[a-z]*")  # says nothing alone, and may be a name in the JSON
_NAME: Final = re.compile(r"\w*")
_COLON: Final = re.compile(r"\s*:")
_HEAD_END: Final = ">\n"
_WRITTEN: Final = frozenset({"new", "old", "text"})  # arguments of tools that write notes


@dataclass(frozen=True, slots=True)
class NoteRef:
    """A note that a piece of a request comes from.

    Attributes:
        root: the folder that the path is relative to.
        path: the path of the note, as the chat has it.
        version: the beginning of the hash of the note's content, or an empty string if unknown.
    """

    root: str
    path: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a JSON text.

    Attributes:
        notes: the notes that it comes from.
        is_answer: whether a model or another program wrote it, so that it may quote notes.
    """

    text: str
    notes: tuple[NoteRef, ...] = ()
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class KnownText:
    """A part of the request's strings of which it is known which notes it comes from.

    Attributes:
        paths: the notes, or nothing if a model wrote the text.
    """

    text: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class NoteTexts:
    """Finds the text of notes in the texts of a request.

    Attributes:
        roots: the folders that paths in the request may be relative to.
        versions: the versions of notes by their paths, as far as they are known.
        paths: the paths of notes by the names under which models know them.
        known: texts that come from notes, and do not say so themselves.
        messages: the paths of the notes that whole strings of the request come from.
        answers: the strings that a model or another program wrote, which may quote notes.
    """

    roots: tuple[str, ...]
    versions: Mapping[str, str]
    paths: Mapping[str, str]
    known: tuple[KnownText, ...] = ()
    messages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    answers: frozenset[str] = frozenset()

    def find(self, text: str) -> list[tuple[int, int, tuple[NoteRef, ...]]]:
        """Return where a text contains text of notes, in order and without overlaps.

        A place without notes is what a model wrote, which may quote notes.
        """
        found = [*self._find_known(text), *self._find_written(text)]
        if text not in self.answers:
            found += self._find_marked(text)
        merged: list[tuple[int, int, tuple[NoteRef, ...]]] = []
        for start, end, notes in sorted(found, key=lambda one: (one[0], -one[1])):
            if merged and start < merged[-1][1]:
                first, last, before = merged.pop()
                joined = tuple(dict.fromkeys((*before, *notes)))
                merged.append((first, max(last, end), joined))
            else:
                merged.append((start, end, notes))
        return merged

    def is_whole(self, text: str) -> bool:
        """Return whether a whole string comes from notes, or from a model or another program."""
        return text in self.answers or text in self.messages

    def _find_marked(self, text: str) -> Iterator[tuple[int, int, tuple[NoteRef, ...]]]:
        for piece in find_sources(text):
            notes = self._name([piece.path])
            head = text.find(_HEAD_END, piece.start, piece.end) + len(_HEAD_END)
            # The same passage has another number in another request.
            yield piece.start, head, notes
            yield head, piece.end, notes
        for prior in _PRIOR.finditer(text) if "<prior_context " in text else ():
            yield prior.start(), prior.end(), self._name([html.unescape(prior["path"])])
        for memory in _MEMORY.finditer(text) if "<memory>" in text else ():
            yield *memory.span(), ()

    def _find_known(self, text: str) -> Iterator[tuple[int, int, tuple[NoteRef, ...]]]:
        if (paths := self.messages.get(text)) is not None:
            yield 0, len(text), self._name(paths)
        for known in self.known:
            start = text.find(known.text)
            while start >= 0:
                end = start + len(known.text)
                yield start, end, self._name(known.paths)
                start = text.find(known.text, end)

    def _find_written(self, text: str) -> Iterator[tuple[int, int, tuple[NoteRef, ...]]]:
        """Yield the arguments of a call that writes a note, which some services take as text."""
        if not text.startswith("{"):
            return
        try:
            arguments = json.loads(text)
        except ValueError:
            return
        path = arguments.get("path") if isinstance(arguments, dict) else None
        if isinstance(path, str) and not _WRITTEN.isdisjoint(arguments):
            yield 0, len(text), self._name([path])

    def _name(self, paths: Iterable[str]) -> tuple[NoteRef, ...]:
        named = dict.fromkeys(self.paths.get(path, path) for path in paths)
        return tuple(
            NoteRef(root, path, self.versions.get(path, ""))
            for path in named
            if path != PINNED_SOURCE
            for root in self.roots
        )


def split_json(text: str, notes: NoteTexts) -> list[Piece]:
    """Split a JSON text into the pieces that are stored.

    The long strings in it are pieces, and so is each part of a string that comes from notes.

    Args:
        text: the JSON.
        notes: finds the text of notes.
    """
    pieces: list[Piece] = []
    end = 0
    for found in _STRING.finditer(text):
        inner = found[0][1:-1]
        if len(inner) < LEAST_NOTE_CHARS and "\\" not in inner and not notes.is_whole(inner):
            continue
        is_key = _COLON.match(text, found.end()) is not None
        if _WORD.fullmatch(inner) or (is_key and _NAME.fullmatch(inner)):
            continue
        parts = _split_string(inner, notes)
        if len(inner) < LEAST_CHARS and not any(part.notes or part.is_answer for part in parts):
            continue
        pieces += (Piece(text[end : found.start() + 1]), *parts)
        end = found.end() - 1
    return [*pieces, Piece(text[end:])]


def _split_string(inner: str, notes: NoteTexts) -> list[Piece]:
    """Split a JSON string, given without its quotation marks."""
    try:
        text = json.loads(f'"{inner}"', strict=False)
    except ValueError:
        return [Piece(inner)]
    found, is_answer = notes.find(text), text in notes.answers
    if not found:
        return [Piece(inner, is_answer=is_answer)]
    for is_ascii in (False, True):
        pieces = list(_cut(text, found, is_ascii, is_answer))
        if "".join(piece.text for piece in pieces) == inner:
            return pieces
    named = tuple(dict.fromkeys(note for _start, _end, some in found for note in some))
    return [Piece(inner, named, not named)]  # escaped in another way, so that it is one piece


def _cut(
    text: str,
    found: Sequence[tuple[int, int, tuple[NoteRef, ...]]],
    is_ascii: bool,
    is_answer: bool,
) -> Iterator[Piece]:
    at = 0
    for start, end, notes in found:
        if start > at:
            yield Piece(_escape(text[at:start], is_ascii), is_answer=is_answer)
        yield Piece(_escape(text[start:end], is_ascii), notes, not notes)
        at = end
    if at < len(text):
        yield Piece(_escape(text[at:], is_ascii), is_answer=is_answer)


def _escape(text: str, is_ascii: bool) -> str:
    return json.dumps(text, ensure_ascii=is_ascii)[1:-1]
