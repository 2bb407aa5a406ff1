"""Find what a text quotes of notes that models may not read now, and leave it out.

A model repeats what it read: in its answers, its thinking, its notes, the arguments of its tools.
A sentence is left out if it shares one of these with such a note, and with nothing else that the
conversation holds:

    a run of words        "brother hates the blue car", a mail address, eight Chinese characters,
                          ten Thai letters
    a value               a word with a figure, such as a code, or a `snake_case` or camelCase name;
                          a long number, in whatever groups it is written
    two names in a row    "Johanna Feldkamp"
    a marked text         what stands in quotation marks, in backticks or between `**`

A paraphrase in other words is not recognised.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from context.history.words import (
    LEAST_WORD_CHARS,
    QuotableWord,
    join_figures,
    split_name,
    split_quotable,
)
from context.messages import FrozenMapping, freeze

QUOTE_LINE: Final = "[Words of a note that is now excluded were left out.]"
_SENTENCE_END: Final = re.compile(r"[.!?…]['\"”’»)\]}*_,]*(?:\s+|(?=\\n))|[。！？।॥؟۔။។៕།]|\n+|\\n")
_MARKED: Final = re.compile(
    r"“([^“”\n]{2,400})”|„([^„“”\n]{2,400})[“”]|«([^«»\n]{2,400})»|\"([^\"\n]{2,400})\""
    r"|`([^`\n]{2,400})`|\*\*([^*\n]{2,400})\*\*|「([^「」\n]{2,400})」"
)
_CHUNK: Final = re.compile(r"[^\s\"'<>()\[\]{},;]+")
_IN_ADDRESS: Final = re.compile(r"\w[@/\\.:=]\w")
_CITATION: Final = re.compile(r"\[(\d{1,4})\]")
LEAST_ADDRESS_CHARS: Final = 8
LEAST_WEIGHT: Final = 26  # three long words, or two among five, or seven Chinese characters
LEAST_PAIR_WEIGHT: Final = 11
MOST_PIECE_CHARS: Final = 400
REMEMBERED_TEXTS: Final = 2_000


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_grams(text: str) -> frozenset[int]:
    """Return the hashes of all runs of words of a text that are looked up."""
    words = split_quotable(html.unescape(text))
    keys = [word.key for word in words]
    return frozenset(
        hash(tuple(keys[at : at + size]))
        for at, word in enumerate(words)
        for size in range(1, min(word.gram, len(keys) - at) + 1)
    ).union(_hash((number,)) for number in join_figures(words))


@dataclass(frozen=True, eq=False)
class KnownWords:
    """The words that a conversation holds of excluded notes, and those that it has elsewhere.

    Attributes:
        hidden: the runs of words of excluded notes.
        open: the runs of words of other notes, and of what the user typed.
        names: the keys of single words that only excluded notes have, such as their tags.
    """

    hidden: frozenset[int] = frozenset()
    open: frozenset[int] = frozenset()
    names: frozenset[tuple[str, ...]] = frozenset()

    def extend(
        self, hidden: Iterable[str] = (), open: Iterable[str] = (), names: Iterable[str] = ()
    ) -> "KnownWords":
        """Return a copy with more texts."""
        more, others = list(hidden), list(open)
        added = frozenset(word for name in names for word in split_name(name))
        if not (more or others or added - self.names):
            return self
        return KnownWords(
            self.hidden.union(*map(_list_grams, more)),
            self.open.union(*map(_list_grams, others)),
            self.names | added,
        )

    def hide_quotes(self, text: str, numbers: frozenset[str] = frozenset()) -> str:
        """Return a text with a notice in place of the sentences that quote excluded notes.

        Args:
            numbers: the numbers by which the text cites such notes. What cites them is left out.
        """
        if not (self.hidden or self.names or numbers) or not text.strip():
            return text
        pieces = self._read(text, numbers)
        return "".join(piece if kept else f"{QUOTE_LINE}{end}" for piece, kept, end in pieces)

    def list_quotes(self, text: str) -> list[str]:
        """Return the sentences of a text that quote excluded notes."""
        return [piece for piece, kept, _ in self._read(text) if not kept]

    def hide_in_value(self, value: object, kept: frozenset[str] = frozenset()) -> object:
        """Return a JSON value without quotations.

        Args:
            kept: the names of the fields that stay as they are.
        """
        if isinstance(value, str):
            return self.hide_quotes(value)
        if isinstance(value, Mapping):
            fields = value.items()
            hidden = {k: v if k in kept else self.hide_in_value(v, kept) for k, v in fields}
            return value if hidden == dict(fields) else FrozenMapping(hidden)
        if isinstance(value, list | tuple):
            return freeze([self.hide_in_value(item, kept) for item in value])
        return value

    def _read(
        self, text: str, numbers: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, bool, str]]:
        """Yield the pieces of a text: the piece, whether it stays, and the blanks at its end.

        Neighbouring sentences that do not stay are one piece.
        """
        cited = (found.span() for found in _CITATION.finditer(text) if found[1] in numbers)
        quoted = sorted((*self._find_quotes(text), *cited))
        pieces = list(_mark_quoted(_split_pieces(text), quoted))
        at = 0
        while at < len(pieces):
            start, end, is_quoted = pieces[at]
            while is_quoted and at + 1 < len(pieces) and pieces[at + 1][2]:
                at += 1
                end = pieces[at][1]
            piece = text[start:end]
            yield piece, not is_quoted, piece[len(piece.rstrip()) :]
            at += 1

    def _find_quotes(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a text quotes excluded notes, as pairs of start and end."""
        words = split_quotable(text)
        is_shared = self._find_shared(words)
        for first, last in _list_runs(is_shared):
            if _weigh(words[first:last]) >= LEAST_WEIGHT:
                yield words[first].start, words[last - 1].end
        yield from self._find_names(words)
        for word in (*words, *join_figures(words)):
            if word.is_value and self._is_hidden((word,)):
                yield word.start, word.end
        for pair in pairwise(words):
            is_name = all(one.is_name or one.is_value for one in pair)
            if is_name and self._is_hidden(pair) and _weigh(pair) >= LEAST_PAIR_WEIGHT:
                yield pair[0].start, pair[1].end
        addresses = (one for one in _CHUNK.finditer(text) if _IN_ADDRESS.search(one[0]))
        yield from self._find_marked(addresses, LEAST_ADDRESS_CHARS)
        yield from self._find_marked(_MARKED.finditer(text), LEAST_WORD_CHARS)

    def _find_names(self, words: Sequence[QuotableWord]) -> Iterator[tuple[int, int]]:
        for size in {len(name) for name in self.names}:
            for at in range(len(words) - size + 1):
                found = words[at : at + size]
                if tuple(word.key for word in found) in self.names and not self._is_open(found):
                    yield found[0].start, found[-1].end

    def _find_marked(
        self, marked: Iterable[re.Match[str]], least_chars: int
    ) -> Iterator[tuple[int, int]]:
        """Yield where a marked text is one of excluded notes, from its first to its last word."""
        for found in marked:
            words = split_quotable(found[found.lastindex or 0])
            is_long = sum(len(word.key) for word in words) >= least_chars
            if is_long and all(map(self._is_hidden, _list_parts(words))):
                yield found.start(), found.end()

    def _find_shared(self, words: Sequence[QuotableWord]) -> list[bool]:
        """Return for each word whether it is a part of a compared run that is hidden."""
        is_shared = [False] * len(words)
        for at, word in enumerate(words):
            run = words[at : at + word.gram]
            if len(run) == word.gram and self._is_hidden(run):
                is_shared[at : at + len(run)] = [True] * len(run)
        return is_shared

    def _is_hidden(self, words: Sequence[QuotableWord]) -> bool:
        return _hash(words) in self.hidden and not self._is_open(words)

    def _is_open(self, words: Sequence[QuotableWord]) -> bool:
        return _hash(words) in self.open


NO_WORDS: Final = KnownWords()


def _hash(words: Sequence[QuotableWord]) -> int:
    return hash(tuple(word.key for word in words))


def _weigh(words: Iterable[QuotableWord]) -> int:
    return sum(word.weight for word in words)


def _list_parts(words: Sequence[QuotableWord]) -> list[Sequence[QuotableWord]]:
    """Return the runs of words that are compared, or the words if there are fewer."""
    parts = [words[at : at + word.gram] for at, word in enumerate(words)]
    return [part for part in parts if len(part) == part[0].gram] or [words]


def _list_runs(is_shared: Sequence[bool]) -> Iterator[tuple[int, int]]:
    start = None
    for at, shared in enumerate([*is_shared, False]):
        if shared and start is None:
            start = at
        elif not shared and start is not None:
            yield start, at
            start = None


def _split_pieces(text: str) -> Iterator[tuple[int, int]]:
    """Split a text into its sentences. Long ones are split between words."""
    start = 0
    for end in (*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)):
        while end - start > MOST_PIECE_CHARS:
            blank = text.rfind(" ", start + 1, start + MOST_PIECE_CHARS)
            cut = blank + 1 if blank > 0 else start + MOST_PIECE_CHARS
            yield start, cut
            start = cut
        if start < end:
            yield start, end
        start = end


def _mark_quoted(
    pieces: Iterable[tuple[int, int]], quoted: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, bool]]:
    """Yield each piece of a text with whether it holds a part of a quotation.

    Args:
        pieces: where the pieces start and end, in order.
        quoted: where the quotations start and end, sorted.
    """
    at = reach = 0
    for start, end in pieces:
        while at < len(quoted) and quoted[at][0] < end:
            reach = max(reach, quoted[at][1])
            at += 1
        yield start, end, reach > start


@dataclass(frozen=True, slots=True)
class HiddenNote:
    """A note that models may not read now, with its present text."""

    path: str
    text: str


@dataclass(frozen=True)
class HiddenNotes:
    """Looks up the notes that models may not read now, whether or not the conversation names them.

    Attributes:
        list_notes: returns the excluded and private notes.
        find_missing: returns those of the given paths where no file is.
        find_tags: returns those of the given tags that only such notes have.
    """

    list_notes: Callable[[], Sequence[HiddenNote]]
    find_missing: Callable[[frozenset[str]], frozenset[str]]
    find_tags: Callable[[frozenset[str]], frozenset[str]]

    def remember(self) -> "HiddenNotes":
        """Return a copy that lists the notes once, for a single request."""
        return replace(self, list_notes=cache(self.list_notes))

    def find_moved(self, texts: Mapping[str, Sequence[str]]) -> frozenset[str]:
        """Return those paths of missing notes whose text such a note has.

        Args:
            texts: the texts of the missing notes in the conversation, by their paths.
        """
        notes = [_list_line_runs(one.text) for one in self.list_notes()]
        line_runs = {path: map(_list_line_runs, map(html.unescape, texts[path])) for path in texts}
        return frozenset(
            path for path, runs in line_runs.items() if _is_of_one(frozenset().union(*runs), notes)
        )


def find_quoted(notes: Sequence[HiddenNote], text: str) -> list[HiddenNote]:
    """Return the notes of which a text holds a short line, or a run of words."""
    grams = _list_telling(text) if notes else frozenset()
    return [one for one in notes if not grams.isdisjoint(_list_lines(one.text))]


MOVED_SHARE: Final = 0.5


def _is_of_one(grams: frozenset[int], notes: Sequence[frozenset[int]]) -> bool:
    return any(len(grams & note) >= MOVED_SHARE * len(grams) for note in notes) if grams else False


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_telling(text: str) -> frozenset[int]:
    """Return the hashes of the runs of words of a text that say enough to know it."""
    words = split_quotable(html.unescape(text))
    return frozenset(
        _hash(run)
        for at, word in enumerate(words)
        for size in range(2, min(word.run, len(words) - at) + 1)
        if _tells(run := words[at : at + size])
    )


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_line_runs(text: str) -> frozenset[int]:
    """Return the hashes of the runs of words in each line, and of its shorter lines."""
    lines = filter(None, map(split_quotable, text.splitlines()))
    return frozenset(_hash(run) for line in lines for run in (_list_full_runs(line) or [line]))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_lines(text: str) -> frozenset[int]:
    """Return the hashes of all runs of words of a note, and of its shorter lines."""
    runs = _list_full_runs(split_quotable(text))
    lines = (split_quotable(line) for line in text.splitlines())
    short = (line for line in lines if 2 <= len(line) < line[0].run)
    return frozenset(_hash(run) for run in (*runs, *short) if _tells(run))


def _list_full_runs(words: Sequence[QuotableWord]) -> list[Sequence[QuotableWord]]:
    runs = (words[at : at + word.run] for at, word in enumerate(words))
    return [run for run in runs if len(run) == run[0].run]


def _tells(words: Sequence[QuotableWord]) -> bool:
    """Return whether some words tell of which note they are."""
    if len(words) < words[0].run:
        return any(word.is_value for word in words)
    return _weigh(words) >= LEAST_WEIGHT
