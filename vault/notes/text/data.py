"""Leave out what stands in a note but is no text: pictures as data URIs, drawings, base64.

Such data would fill the index and the model's context, and matches words by accident. A sentence
takes its place, and each line keeps its number. The note on disk is not changed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from typing import Final

from vault.notes.text.document import Document
from vault.notes.text.lines import BLANK, CODE, FENCE_CLOSES, FENCE_OPENS, TEXT

__all__ = ["DRAWING_PROPERTY", "hide_data", "hide_data_in_lines", "hide_drawing"]

_LEAST_URI_CHARS: Final = 64
_LEAST_RUN_CHARS: Final = 1_000  # public keys and tokens are shorter
_LEAST_LINE_CHARS: Final = 56
_LEAST_CHARS_OF_LINES: Final = 200
_LEAST_MINIFIED_CHARS: Final = 1_000
_SHOWN_CHARS: Final = 16
_MAY_HAVE_DATA: Final = re.compile(rf"\S{{{_LEAST_LINE_CHARS}}}")
_URI: Final = re.compile(
    r"(data:[\w.+-]{1,40}/[\w.+-]{1,80}(?:;[\w.+-]{1,40}(?:=[\w.+-]{0,40})?){0,4}),"
    rf"[^\s)\"'<>|]{{{_LEAST_URI_CHARS},}}",
    re.IGNORECASE,
)
_BASE64: Final = r"[A-Za-z0-9+/_-]"
_RUN: Final = re.compile(rf"(?<!{_BASE64}){_BASE64}{{{_LEAST_RUN_CHARS},}}={{0,2}}")
_BASE64_LINE: Final = re.compile(rf"{_BASE64}{{{_LEAST_LINE_CHARS},}}={{0,2}}")
_BASE64_END: Final = re.compile(rf"{_BASE64}{{1,{_LEAST_LINE_CHARS}}}={{0,2}}|=[A-Za-z0-9+/]{{4}}")
_LETTERS_NOT_HEX: Final = (re.compile("[g-z]"), re.compile("[G-Z]"))
_JSON_OR_CSS: Final = re.compile(r"[{}\[\]\":;,]")
_DRAWING: Final = re.compile(r"\s*\{.*?\"type\"\s*:\s*\"excalidraw\"", re.DOTALL)
DRAWING_PROPERTY: Final = "excalidraw-plugin"
_DRAWING_FRAME: Final = re.compile(r"==⚠.*⚠==.*|#+ Excalidraw Data|#+ Text Elements", re.IGNORECASE)
_DRAWING_DATA: Final = re.compile(r"#+ (?:Drawing|Embedded Files|Element Links)\s*$")
_DRAWING_FENCE: Final = "compressed-json"


def hide_data(document: Document) -> Document:
    """Return a document in which sentences take the place of what is no text."""
    lines, kinds = hide_data_in_lines(document.lines, document.kinds), document.kinds
    for first, behind in _find_drawings(document.lines, kinds):
        kinds = f"{kinds[:first]}{TEXT}{BLANK * (behind - first - 1)}{kinds[behind:]}"
    return replace(document, lines=lines, kinds=kinds)


def hide_data_in_lines(lines: Sequence[str], kinds: str = "") -> tuple[str, ...]:
    """Return the lines of a text, in which sentences take the place of what is no text.

    Args:
        kinds: the kinds of the lines, or an empty string if they are unknown.
    """
    hidden = [*lines]
    for find in (partial(_find_drawings, kinds=kinds), _find_base64):
        for first, behind in list(find(hidden)):
            chars = sum(map(len, hidden[first:behind]))
            hidden[first:behind] = [_write_notice(chars), *[""] * (behind - first - 1)]
    return tuple(map(_hide_in_line, hidden))


def hide_drawing(lines: Sequence[str]) -> list[str]:
    """Return the lines of a note of Excalidraw, without those that only the plugin needs.

    What the user wrote and the texts in the drawing stay. The lines keep their places.
    """
    data = (at for at, line in enumerate(lines) if _DRAWING_DATA.match(line))
    end = next(data, len(lines))
    shown = ("" if _DRAWING_FRAME.fullmatch(line.strip()) else line for line in lines[:end])
    return [*shown, *[""] * (len(lines) - end)]


def _write_notice(chars: int) -> str:
    return f"({chars:,} characters of data left out)"


def _find_drawings(lines: Sequence[str], kinds: str) -> Iterator[tuple[int, int]]:
    """Yield the indices of the lines of each drawing of Excalidraw, with its fences."""
    for found in re.finditer(f"{FENCE_OPENS}({CODE}+){FENCE_CLOSES}?", kinds):
        first, behind = found.span(1)
        is_packed = _DRAWING_FENCE in lines[found.start()]
        if is_packed or _DRAWING.match("\n".join(lines[first : min(behind, first + 40)])):
            yield found.span()


def _find_base64(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the indices of consecutive lines that consist of base64 alone."""
    at = 0
    for is_data, group in groupby(lines, _is_base64_line):
        size = sum(1 for _ in group)
        behind = at + size
        if is_data:
            if behind < len(lines) and _BASE64_END.fullmatch(lines[behind].strip(" \t>")):
                behind += 1
            if sum(map(len, lines[at:behind])) >= _LEAST_CHARS_OF_LINES:
                yield at, behind
        at += size


def _is_base64_line(line: str) -> bool:
    bare = line.strip(" \t>")
    return _BASE64_LINE.fullmatch(bare) is not None and _is_random(bare)


def _is_random(text: str) -> bool:
    """Return whether a text looks like base64, unlike a path, a hash in hexadecimal or a rule."""
    sample = text[:400]
    changes = sum(_sort_char(one) != _sort_char(other) for one, other in pairwise(sample))
    least = len(sample) / 20
    has_letters = all(len(letters.findall(sample)) >= least for letters in _LETTERS_NOT_HEX)
    return changes * 3 >= len(sample) and has_letters


def _sort_char(char: str) -> int:
    return 0 if char.islower() else 1 if char.isupper() else 2 if char.isdigit() else 3


def _hide_in_line(line: str) -> str:
    if _MAY_HAVE_DATA.search(line) is None:
        return line
    left_out = 0

    def shorten(show: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
        def shorten_match(match: re.Match[str]) -> str:
            nonlocal left_out
            shown = show(match)
            left_out += len(match[0]) - len(shown)
            return shown

        return shorten_match

    text = _URI.sub(shorten(lambda match: match[1]), line)
    text = _RUN.sub(
        shorten(lambda match: f"{match[0][:_SHOWN_CHARS]}…" if _is_random(match[0]) else match[0]),
        text,
    )
    if _is_minified(text):
        return f"{text[:_SHOWN_CHARS]}… {_write_notice(left_out + len(text) - _SHOWN_CHARS)}"
    return _add_notice(text, _write_notice(left_out)) if left_out else line


def _is_minified(line: str) -> bool:
    """Return whether a line is JSON or CSS without spaces, which no person reads."""
    if len(line) < _LEAST_MINIFIED_CHARS or line.lstrip().startswith("|"):
        return False
    signs = len(_JSON_OR_CSS.findall(line))
    return signs * 12 >= len(line) and line.count(" ") * 25 <= len(line) and "{" in line


def _add_notice(line: str, notice: str) -> str:
    """Add a notice to the end of a line, in a table to its last cell."""
    bare = line.rstrip()
    if bare.endswith("|") and bare.lstrip().startswith("|"):
        return f"{bare[:-1].rstrip()} {notice} |"
    return f"{bare} {notice}"
