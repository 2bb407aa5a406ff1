"""Find the ends of sentences in a paragraph, in notes and in answers.

A dot after an abbreviation, an initial or an ordinal number ends no sentence. In German,
an ordinal number such as "3." in "am 3. Mai" is found by the word before it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

__all__ = [
    "find_sentence_ends",
    "find_sentences",
    "join_lines",
    "list_whole_sentences",
    "split_sentences",
]

_END: Final = re.compile(
    # A run of signs is tried at its first sign alone, or a long one takes quadratic time.
    r"(?:(?<![.!?…؟])[.!?…؟]+[\"'”’»)\]*_]{0,4}(?=\s)|[。！？]+[」』”’»）)*_]{0,4})(?P<blank>\s*)"
)
_SHORT: Final = re.compile(
    # An initial, but not a unit; the number of a list item; an ordinal number in German.
    r"(?:(?<![\d°])(?<!\d )\b[^\W\d]"
    r"|(?:^|\n)[ \t]*\d{1,2}"
    r"|\b(?:ab|am|bis|das|de[mnrs]|die|eine?n?|im|jede[nrs]?|nach|seit|und|vo[mr]|zu[mr])\s\d{1,2}"
    r"|\b(?:e\.g|i\.e|z\. ?B|d\. ?h|u\. ?a|etc|dr|mrs?|ms|prof|vs|cf|ca|bzw|usw|pp?|nr|fig|vol))"
    r"\.$",
    re.IGNORECASE,
)
# An abbreviation that does not end a sentence before a number, as in "customer no. 55".
_BEFORE_NUMBER: Final = re.compile(
    r"\b(?:no|nos|art|tel|abs|kap|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$", re.IGNORECASE
)
_LONGEST_SHORT: Final = 12
_LONGEST_END: Final = 6
_UNSPACED_END: Final = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]$")


def find_sentence_ends(
    text: str, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield where each sentence ends, but the last one, and where the next one starts.

    Quotation marks, brackets and emphasis around the end belong to the sentence.

    Args:
        text: the text, maybe of several paragraphs.
        start: the offset at which to begin.
        end: the offset at which to stop, or None for the end of the text.
    """
    for match in _END.finditer(text, start, len(text) if end is None else end):
        if _ends_here(text, match):
            yield match.start("blank"), match.end()


def find_sentences(paragraph: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the sentences in a paragraph, without surrounding white space."""
    start = 0
    for end in (*(after for _, after in find_sentence_ends(paragraph)), len(paragraph)):
        if sentence := paragraph[start:end].strip():
            first = paragraph.index(sentence, start)
            yield first, first + len(sentence)
        start = end


def split_sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph."""
    return [paragraph[start:end] for start, end in find_sentences(paragraph)]


def list_whole_sentences(text: str, shortest: int, longest: int) -> list[str]:
    """Return the sentences within the lines of a text that end with a mark.

    Args:
        text: the text. A sentence that goes on in the next line is left out.
        shortest: the minimum number of characters.
        longest: the maximum number of characters.
    """
    sentences = (sentence for line in text.split("\n") for sentence in split_sentences(line))
    return [
        sentence
        for sentence in sentences
        if shortest <= len(sentence) <= longest and _END.search(f"{sentence[-_LONGEST_END:]}\n")
    ]


def join_lines(lines: Sequence[str]) -> str:
    """Return the lines of a paragraph as one, without spaces in scripts that have none."""
    text = lines[0]
    for line in lines[1:]:
        text += line if _UNSPACED_END.search(text) else f" {line}"
    return text


def _ends_here(text: str, match: re.Match[str]) -> bool:
    if not match.group().startswith("."):
        return True
    behind = text[match.end() : match.end() + 1]
    start, end = max(0, match.start() - _LONGEST_SHORT), match.start() + 1
    if behind.isdecimal() and _BEFORE_NUMBER.search(text, start, end):
        return False
    return not behind.islower() and not _SHORT.search(text, start, end)
