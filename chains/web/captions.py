"""Convert the text of captions and transcripts to plain text without times.

Captions are blocks: a number or name, a line with two times, and the words. Other transcripts have
a time at the beginning of a line, or on a line of its own. Models need the words only.

    .vtt, .srt   00:00:01.000 --> 00:00:02.500
    .sbv         0:00:01.000,0:00:02.500
    .txt         [0:01] the words
"""

import html
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

__all__ = ["drop_times", "has_captions", "is_transcript"]

_SUFFIXES: Final = (".vtt", ".srt", ".sbv", ".txt")

_TIME: Final = r"(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_EXACT: Final = r"\d{1,3}:\d{2}:\d{2}\.\d{3}"
_CUE: Final = re.compile(rf"^\s*(?:{_TIME}\s*-->\s*{_TIME}(?:\s.*)?|{_EXACT},{_EXACT}\s*)$")
# A time at the beginning of a line: `0:20 words`, `[00:01:02] words`, `(1:02) - words`.
_STAMP: Final = re.compile(rf"^\s*(?:\[{_TIME}\]|\({_TIME}\)|{_TIME}(?![\w:.,]))\s*(?:[-–—:|]\s+)?")
_NO_WORDS: Final = re.compile(r"^(?:WEBVTT|NOTE|STYLE|REGION)\b")
_SPEAKER: Final = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_MARK: Final = re.compile(
    r"</?(?:[biuv]|c|ruby|rt|lang|font)(?:[.\s][^>]*)?>|<\d[\d:.,]*>|\{\\[^}]*\}"
)


def is_transcript(name: str) -> bool:
    """Return whether the name of a file is that of captions or of a transcript."""
    return name.lower().endswith(_SUFFIXES)


def has_captions(text: str) -> bool:
    """Return whether a text is captions: blocks with a line of two times."""
    return any(_CUE.match(line) for line in text.split("\n"))


def drop_times(text: str) -> str:
    """Return the words of captions or of a transcript, without times, numbers and marks.

    A line that repeats the one before it is left out, as in captions that scroll. The name of a
    speaker in captions stands before what is said.

    Args:
        text: the text of a file or page. Line breaks are single newlines.
    """
    lines = _list_caption_lines(text) if has_captions(text) else _list_stamped_lines(text)
    found = [line for line, _again in groupby(lines)]
    return "\n".join(found).strip("\n") + "\n" if any(found) else ""


def _list_caption_lines(text: str) -> Iterator[str]:
    """Yield the lines of words. A block without times continues the one before it."""
    for block in re.split(r"\n[ \t]*\n", text.strip("\ufeff \n")):
        lines = block.split("\n")
        at = next((n for n, line in enumerate(lines) if _CUE.match(line)), None)
        if at is None and (_NO_WORDS.match(lines[0]) or lines[0].strip().isdecimal()):
            continue
        for line in lines if at is None else lines[at + 1 :]:
            if words := _read_words(line):
                yield words


def _list_stamped_lines(text: str) -> Iterator[str]:
    """Yield the lines of a transcript. A line with nothing but a time is left out."""
    for line in text.strip("\ufeff").split("\n"):
        words = _STAMP.sub("", line).rstrip()
        if words or not line.strip():
            yield words


def _read_words(line: str) -> str:
    """Return a line of captions without marks, such as those of colours and of single words."""
    named = _SPEAKER.sub(lambda found: f"{found[1].strip()}: ", line)
    return " ".join(html.unescape(_MARK.sub("", named)).split())
