"""The texts that an answer can rest on: what was sent, the user's words, and tool results."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final, Literal, Self

from chains.cancel import CancelToken
from chains.citations.answer_sources import Source
from chains.citations.sentences import split_sentences
from chains.claims.facts import read_clock
from context.layers import Segment
from vault.edits.plan import NoteChange
from vault.notes.date_spans import Span
from vault.notes.dates import LocatedDate, find_date_spans, locate_dates
from vault.notes.keywords import fold, split_words
from vault.notes.kinds import note_name
from vault.notes.name_days import find_name_spans, find_path_spans
from vault.notes.text.markdown_text import read_text
from vault.notes.text.markup import remove_markup
from vault.notes.units import is_known_unit
from vault.review.statements import (
    LocatedNumber,
    Statement,
    find_numbers,
    find_statements,
    list_words,
)

__all__ = [
    "SHARE",
    "CheckEffort",
    "ClaimEvidence",
    "EvidenceText",
    "PlacedStatement",
    "TextIndex",
    "TextOrigin",
    "blank_dates",
    "fold_path",
    "has_helping_verb",
    "list_plain_words",
    "tell_name",
]

TextOrigin = Literal["source", "user", "tool", "edit"]
_TOKEN: Final = re.compile(r"\w+(?:[-_.@:/]\w+)*")
SHARE: Final = re.compile(r"%|per ?cent|prozent|pct|pour cent|por ciento", re.IGNORECASE)
_GROUPS: Final = re.compile(r"(?<!\d)\d+(?:[ /()-]{1,2}\d+)+")
_HELPING: Final = re.compile(r"\b(?:do|does|did)(?: not|n['’]t)\b", re.IGNORECASE)
_MOST_INDEXED: Final = 512
# What is found before an answer is checked.
_PREPARED: Final = (
    "numbers",
    "measured",
    "joined_digits",
    "dates",
    "above_values",
    "above_dates",
    "above_words",
    "forms",
    "tokens",
    "words",
    "small_words",
    "_by_word",
)
# The first texts are those of the turn itself.
_MOST_COMPARED: Final = 16
# Comparisons of a figure or a sentence of an answer with one of a source: about a second.
_MOST_EFFORT: Final = 300_000


@dataclass(frozen=True)
class EvidenceText:
    """A text that an answer can rest on.

    Attributes:
        name: the title of the note, or words that name the text.
        source: the segment that was sent, or None for other texts.
    """

    text: str
    name: str
    origin: TextOrigin = "source"
    source: Segment | None = None

    @classmethod
    def read(cls, segment: Segment) -> Self:
        """Return the text of a segment that was sent, which is empty for a picture."""
        text = "" if segment.kind == "image" else segment.raw_content
        return cls(text, segment.title or note_name(segment.source), source=segment)

    @property
    def path(self) -> str:
        """The path of the note, or an empty string."""
        return self.source.source if self.source else ""

    @cached_property
    def index(self) -> "TextIndex":
        """The figures, dates and words of the text."""
        if self.source is None:
            return _build_index(self.text, "", ())
        above = " ".join((*self.source.heading, self.name, self.path))
        return _build_index(self.text, above, _find_days(self.path, self.name))

    @cached_property
    def folded_names(self) -> tuple[str, str]:
        """The path of the note without its suffix, and its title, normalized for comparison."""
        return fold(self.path).removesuffix(".md"), fold(self.name)

    @cached_property
    def subject(self) -> frozenset[str]:
        """The words of the note's name and of the headings above the text."""
        return list_words(" ".join((self.name, *(self.source.heading if self.source else ()))))

    def place(self, start: int | None = None) -> Source:
        """Return where an offset of the text is in its note. Without an offset, it is the title."""
        if self.source is None:
            return Source(self.name)
        lines = None
        if start is not None and self.source.lines is not None:
            line = self.source.lines[0] + self.index.find_line(start)
            lines = (line, line)
        return Source(self.name, self.path, lines, self.source.number)


@dataclass(frozen=True)
class ClaimEvidence:
    """All that the claims of an answer are checked against.

    Attributes:
        texts: the texts, in the order in which they were sent.
        changes: the notes that the turn has changed, or None if that is not known.
        can_edit: whether the model had tools that change notes.
        day: the day of the question, or None.
        sources: the citation numbers of the sources that were sent, in order.
        has_images: whether pictures were sent, whose content is not known.
        is_complete: whether nothing else can have been changed. False if another program's tool
            has acted, which may write files too.
    """

    texts: tuple[EvidenceText, ...] = ()
    changes: tuple[NoteChange[str], ...] | None = None
    can_edit: bool = False
    day: date | None = None
    sources: tuple[int, ...] = ()
    has_images: bool = False
    is_complete: bool = True

    @property
    def has_texts(self) -> bool:
        """Whether more than the user's own words was sent."""
        return any(text.origin != "user" for text in self.texts)

    @cached_property
    def current(self) -> tuple[EvidenceText, ...]:
        """The texts that still stand at the end of the turn, but for what it has changed."""
        return tuple(text for text in self.texts if not self.is_outdated(text))

    @property
    def compared(self) -> tuple[EvidenceText, ...]:
        """The texts whose statements are compared with those of an answer: first, the turn's."""
        return self.current[:_MOST_COMPARED]

    def prepare(self, cancel: CancelToken) -> None:
        """Index the texts, which takes longer than a check, until the token is cancelled.

        What is not indexed by then is indexed by the check where it needs it.
        """
        compared = self.compared
        for at, text in enumerate(self.texts):
            if cancel.is_cancelled:
                return
            text.index.prepare()
            if at < len(compared):
                _ = compared[at].index.statements

    @cached_property
    def note_names(self) -> tuple[str, ...]:
        """The names of the notes that were sent or changed, by which answers call them."""
        paths = [text.path for text in self.texts if text.path]
        paths += [path for note in self.changes or () for path in (note.path, note.old_path)]
        return tuple(dict.fromkeys(tell_name(path) for path in paths if path))

    def with_changes(self, notes: Sequence[NoteChange[str]]) -> Self:
        """Return a copy that knows what the turn has changed in notes."""
        return replace(self, changes=tuple(notes))

    def is_outdated(self, text: EvidenceText) -> bool:
        """Return whether a text was read before the turn changed its note."""
        notes = self.changes or ()
        if text.source is None or not notes:
            return False
        path, version = fold_path(text.path), text.source.version
        return any(
            path in (fold_path(note.path), fold_path(note.old_path)) and version != note.after
            for note in notes
            if note.is_change
        )


class CheckEffort:
    """What is left of the comparisons that the check of one answer may make.

    Work is counted, not time, so that the same answer has the same report on any machine.
    """

    def __init__(self) -> None:
        self._left = _MOST_EFFORT

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left. What is not checked by then can not be told."""
        return self._left <= 0

    def spend(self, count: int) -> None:
        """Count comparisons that are made."""
        self._left -= count


@dataclass(frozen=True)
class PlacedStatement:
    """A sentence with a number, and the offset of its line in the text."""

    statement: Statement
    start: int


@dataclass(frozen=True, eq=False)
class TextIndex:
    """The figures, dates and words of a text, each found on first use.

    Attributes:
        text: the text.
        above: the title, the headings and the path of the note.
        days: the days that the name of the note means.
    """

    text: str
    above: str
    days: tuple[Span, ...]

    def prepare(self) -> None:
        """Find what most checks use."""
        for name in _PREPARED:
            getattr(self, name)

    @cached_property
    def numbers(self) -> Mapping[float, Sequence[LocatedNumber]]:
        """The numbers of the text by their possible values."""
        found: dict[float, list[LocatedNumber]] = defaultdict(list)
        for number in find_numbers(self.text):
            clock = read_clock(self.text, number)
            values = number.quantity.values if clock is None else number.quantity.values | {clock}
            for value in values:
                found[value].append(number)
        return found

    @cached_property
    def joined_digits(self) -> frozenset[str]:
        """The numbers of the text that are written in groups, without what is between these."""
        return frozenset(re.sub(r"\D", "", each) for each in _GROUPS.findall(self.text))

    @cached_property
    def measured(self) -> Mapping[str, Sequence[LocatedNumber]]:
        """The numbers of the text whose unit can be converted, by their units."""
        found: dict[str, list[LocatedNumber]] = defaultdict(list)
        for number in dict.fromkeys(each for some in self.numbers.values() for each in some):
            if is_known_unit(number.quantity.unit):
                found[number.quantity.unit].append(number)
        return found

    @cached_property
    def dates(self) -> Sequence[LocatedDate]:
        """The dates of the text, and those that its beginning names relative to its note's day."""
        found = locate_dates(self.text)
        if self.days:
            spans = find_date_spans(" ".join(self.text.split()), self.days[0][0])
            found += [LocatedDate(span, 0, 0, has_year=True) for span in spans]
        return found

    @cached_property
    def above_values(self) -> frozenset[float]:
        """The values of the numbers in the title, the headings and the path."""
        return frozenset(
            value for number in find_numbers(self.above) for value in number.quantity.values
        )

    @cached_property
    def above_dates(self) -> Sequence[LocatedDate]:
        """The dates in the title, the headings and the path of the note."""
        named = [LocatedDate(span, 0, 0, has_year=True) for span in self.days]
        return [*named, *locate_dates(self.above)]

    @cached_property
    def above_words(self) -> frozenset[str]:
        """The words of the title, the headings and the path of the note."""
        return list_words(self.above)

    @cached_property
    def folded(self) -> str:
        """The text with what stands above it, normalized for comparison."""
        return fold(f"{self.above}\n{remove_markup(self.text)}")

    @cached_property
    def forms(self) -> tuple[str, str]:
        """The normalized text without its markup, and with it: a link names a path too."""
        return self.folded, fold(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the text and of what stands above it, without function words."""
        return list_words(self.folded)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """The words of the text and of what stands above it, alone and joined as written."""
        joined = _TOKEN.findall(self.folded)
        return frozenset((*joined, *(part for word in joined for part in re.split(r"\W", word))))

    @cached_property
    def small_words(self) -> frozenset[str]:
        """The words of the text that do not begin with a capital letter."""
        return frozenset(
            fold(word) for word in re.findall(r"\w+", self.text) if not word[0].isupper()
        )

    @cached_property
    def statements(self) -> Sequence[PlacedStatement]:
        """The sentences of the text that contain numbers."""
        found, start = list[PlacedStatement](), 0
        for line in self.text.split("\n"):
            if not line.lstrip().startswith("|"):
                shown = remove_markup(line)
                found += [PlacedStatement(each, start) for each in find_statements(shown)]
            start += len(line) + 1
        return found

    @cached_property
    def sentences(self) -> Sequence[tuple[str, Sequence[str]]]:
        """The sentences of the text without markup, each with its words but for dates."""
        found = split_sentences(read_text(self.text))
        return [(each, list_plain_words(each)) for each in found]

    @cached_property
    def _by_word(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, (_said, words) in enumerate(self.sentences):
            for word in dict.fromkeys(words):
                found[word].append(number)
        return found

    @cached_property
    def sorted_tokens(self) -> Sequence[str]:
        """The words of the text and of what stands above it, in order."""
        return sorted(self.tokens)

    @cached_property
    def _lines(self) -> Sequence[str]:
        return self.text.split("\n")

    @cached_property
    def _line_starts(self) -> Sequence[int]:
        return list(accumulate((len(line) + 1 for line in self._lines), initial=0))

    @cached_property
    def _line_words(self) -> dict[int, frozenset[str]]:
        return {}

    @cached_property
    def _shares(self) -> dict[int, bool]:
        return {}

    def may_have_share(self, start: int) -> bool:
        """Return whether the line at an offset has a sign of a share, or is a row of a table."""
        number = self.find_line(start)
        if number not in self._shares:
            line = self._lines[number]
            is_row = line.lstrip().startswith("|")
            self._shares[number] = is_row or SHARE.search(line) is not None
        return self._shares[number]

    def find_line(self, start: int) -> int:
        """Return the number of the line at an offset, counted from 0."""
        return bisect_right(self._line_starts, start, hi=len(self._lines)) - 1

    def list_with_all(self, words: Iterable[str]) -> Sequence[int]:
        """Return the numbers of the sentences that have all of some words, in order."""
        first, *others = sorted((self._by_word.get(word, ()) for word in words), key=len)
        if not first:
            return ()
        both = set(first).intersection(*others)
        return [number for number in first if number in both]

    def list_with_many(self, words: Iterable[str], least: float) -> Sequence[int]:
        """Return the numbers of the sentences that have at least so many of some words, in order.

        Args:
            words: distinct words.
            least: how many of them a sentence must have.
        """
        counts: Counter[int] = Counter()
        for word in words:
            counts.update(self._by_word.get(word, ()))
        return sorted(number for number, count in counts.items() if count >= least)

    def list_line_words(self, start: int) -> frozenset[str]:
        """Return the words of the line at an offset, and of what stands above the text."""
        line = self.find_line(start)
        if line not in self._line_words:
            self._line_words[line] = list_words(self._lines[line]) | self.above_words
        return self._line_words[line]


def has_helping_verb(text: str) -> bool:
    """Return whether a text is denied with a verb that only helps, as in "does not take"."""
    return _HELPING.search(text) is not None


@lru_cache(_MOST_INDEXED)
def list_plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a sentence but for its dates and denials such as "does not"."""
    return tuple(split_words(_HELPING.sub(" ", blank_dates(text))))


def blank_dates(text: str) -> str:
    """Return a text with blanks in the place of its dates."""
    pieces, end = list[str](), 0
    for found in locate_dates(text):
        pieces += text[end : found.start], " " * (found.end - found.start)
        end = found.end
    return "".join((*pieces, text[end:]))


@lru_cache(_MOST_INDEXED)
def _find_days(path: str, name: str) -> tuple[Span, ...]:
    """Return the days that the path or the name of a note means."""
    return find_path_spans(path) or find_name_spans(name)


@lru_cache(_MOST_INDEXED)
def _build_index(text: str, above: str, days: tuple[Span, ...]) -> TextIndex:
    return TextIndex(text, above, days)


def fold_path(path: str) -> str:
    """Return one form of a path, however it is spelt: its case, its slashes and its extension."""
    parts = fold(path.strip().strip("`\"'[]")).replace("\\", "/").split("/")
    kept = "/".join(part for part in parts if part not in ("", "."))
    return kept.removesuffix(".md").removesuffix(".markdown")


def tell_name(path: str) -> str:
    """Return the name of a note by which answers call it."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")
