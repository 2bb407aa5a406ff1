"""Find quotations in a source text.

White space, Markdown markup, HTML escapes, and the style of quotation marks and dashes are ignored.
Words must match in order and case.
"""

import html
import re
import unicodedata
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Final

from context.layers import Segment
from vault.notes.text.markdown_text import MarkdownText, read_text
from vault.notes.text.markup import list_shown_pieces

__all__ = [
    "EscapeRemover",
    "VerbatimText",
    "count_words",
    "normalize_text",
    "read_source_text",
]

_ELLIPSIS: Final = re.compile(r"\[\s?(?:…|\.{3})\s?\]|\(\s?(?:…|\.{3})\s?\)|…|\.{3}")
_ODD_QUOTES: Final = dict.fromkeys(map(ord, '"“”„‟«»″‘’‚‛′`「」『』'), "'")
_DASHES: Final = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_EDGES: Final = "'.,;:!?-。、，；：！？؟،"
# Thai, Lao, Khmer, kana and Han, which have no spaces between words.
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_WORD: Final = re.compile(r"\w+")

# The maximum number of matches that are checked for word boundaries.
MAX_PLACES: Final = 50
SHORTEST_PART_WORDS: Final = 2
# In this order, since `&amp;lt;` is the escape of `&lt;`.
_ESCAPES: Final = ("&lt;", "&gt;", "&amp;")


class VerbatimText:
    """A text that can be searched for quotations."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quote: str) -> tuple[int, int] | None:
        """Return the span of a quotation, or None if the text does not contain it.

        An ellipsis may replace words, the case of the first letter may differ, and the quotation
        may contain HTML escapes from the prompt.
        """
        spans = (self._find(words) for words in dict.fromkeys((quote, html.unescape(quote))))
        return next((span for span in spans if span is not None), None)

    def find_lines(self, span: tuple[int, int], first_line: int) -> tuple[int, int]:
        """Return the first and last line number of a span of the text.

        Args:
            span: the start and end index in the text.
            first_line: the line number at which the text begins.
        """
        above = first_line + self.text.count("\n", 0, span[0])
        return above, above + self.text.count("\n", span[0], span[1])

    def _find(self, quote: str) -> tuple[int, int] | None:
        whole = self._place(quote, 0)
        if whole is not None:
            return self._span(whole)
        parts = [part for part in _ELLIPSIS.split(quote) if normalize_text(part)]
        if len(parts) < 2 or min(map(count_words, parts)) < SHORTEST_PART_WORDS:
            return None
        places: list[tuple[int, int]] = []
        for part in parts:
            place = self._place(part, places[-1][1] if places else 0)
            if place is None:
                return None
            places.append(place)
        return self._span((places[0][0], places[-1][1]))

    def _place(self, quote: str, after: int) -> tuple[int, int] | None:
        needle = normalize_text(quote)
        if not needle:
            return None
        for variant in dict.fromkeys((needle, needle[0].swapcase() + needle[1:])):
            start = self._plain.find(variant, after)
            for _ in range(MAX_PLACES):
                if start < 0:
                    break
                if self._is_between_words(start, start + len(variant)):
                    return start, start + len(variant)
                start = self._plain.find(variant, start + 1)
        return None

    def _is_between_words(self, start: int, end: int) -> bool:
        first, last, text = self._at[start], self._at[end - 1], self.text
        before, behind = text[max(0, first - 1) : first], text[last + 1 : last + 2]
        return not (_joins(before, text[first]) or _joins(text[last], behind))

    def _span(self, place: tuple[int, int]) -> tuple[int, int]:
        return self._at[place[0]], self._at[place[1] - 1] + 1

    @cached_property
    def _reduced(self) -> tuple[str, list[int]]:
        return _reduce(self.text)

    @property
    def _plain(self) -> str:
        return self._reduced[0]

    @property
    def _at(self) -> list[int]:
        return self._reduced[1]


def read_source_text(segment: Segment) -> MarkdownText:
    """Return the text of a source with the kind of each line in its note."""
    starts_note = segment.lines is None or segment.lines[0] == 1
    return read_text(
        segment.raw_content, segment.structure, segment.heading, starts_note=starts_note
    )


def normalize_text(text: str) -> str:
    """Normalize a text for comparison: remove white space, markup and outer punctuation."""
    return _reduce(text)[0].strip(_EDGES)


def count_words(text: str) -> int:
    """Count words. In scripts without spaces, two characters count as a word."""
    unspaced = sum((len(run) + 1) // 2 for run in _UNSPACED.findall(text))
    return unspaced + len(_WORD.findall(_UNSPACED.sub(" ", text)))


def _reduce(text: str) -> tuple[str, list[int]]:
    """Reduce a text to the characters that are compared.

    Returns:
        The characters, and the offset of each one in the original text.
    """
    characters: list[str] = []
    places: list[int] = []

    def add(piece: str, at: int, step: int) -> None:
        for offset, char in enumerate(piece):
            simple = char if char.isascii() and char.isalnum() else _simple(char)
            characters.append(simple)
            places.extend([at + offset * step] * len(simple))

    for piece, at, step in list_shown_pieces(text):
        add(piece, at, step)
    return "".join(characters), places


@cache
def _simple(char: str) -> str:
    if char.isspace() or unicodedata.category(char) == "Cf":
        return ""
    mapped = char.translate(_ODD_QUOTES).translate(_DASHES)
    return "".join(part for part in unicodedata.normalize("NFKD", mapped) if not part.isspace())


def _joins(left: str, right: str) -> bool:
    """Return whether two adjacent characters belong to the same word."""
    return _is_cased(left) and _is_cased(right)


def _is_cased(char: str) -> bool:
    return bool(char) and unicodedata.category(char) in {"Lu", "Ll", "Lt", "Nd"}


class EscapeRemover:
    """Decodes HTML escapes that a model copied from the prompt into its answer.

    Notes are escaped in the prompt, and some models repeat escapes such as `&lt;`. Escapes that
    occur in an original source or in the question are kept.
    """

    def __init__(self, sources: Iterable[Segment], question: str) -> None:
        sent = tuple(sources)
        self._escapes = tuple(
            escape
            for escape in _ESCAPES
            if any(escape in source.content for source in sent)
            and not any(escape in source.raw_content for source in sent)
            and escape not in question
        )
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a piece of the answer, and return the text to show.

        An escape that may be incomplete is held back until the next piece.
        """
        text, self._held = self._held + piece, ""
        escape_start = text.rfind("&")
        if escape_start >= 0 and any(
            escape.startswith(text[escape_start:]) for escape in self._open
        ):
            text, self._held = text[:escape_start], text[escape_start:]
        for escape in self._escapes:
            text = text.replace(escape, html.unescape(escape))
        return text

    def end(self) -> str:
        """End the answer, and return the text that was held back."""
        remaining_text, self._held = self._held, ""
        return remaining_text

    @property
    def _open(self) -> tuple[str, ...]:
        return tuple(escape[:-1] for escape in self._escapes)
