"""The direction and script of text, and plain text for the clipboard, for names and for hints.

Importing this module does not import Qt, so that Markdown can be read without Qt.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtGui import QTextCursor

    from app.errors import ErrorInfo
    from context.fixes import Fix, Place

__all__ = [
    "END_ISOLATE",
    "ISOLATE",
    "clean_selection",
    "count_units",
    "escape_hidden",
    "find_units",
    "from_left",
    "has_rtl",
    "has_tall_letters",
    "is_rtl",
    "one_line",
    "read_selection",
    "word_error",
    "word_hint",
    "word_message",
]

_MARK = "\N{LEFT-TO-RIGHT MARK}"
# Scripts with letters that are too tall for a line of fixed height.
_TALL = re.compile(
    "[\u0600-\u109f\u1780-\u18af\u1950-\u1cff\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00011000-\U00011fff]"
)
_RTL_LETTER = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# Keep a citation together inside right-to-left text.
ISOLATE = "\N{LEFT-TO-RIGHT ISOLATE}"
END_ISOLATE = "\N{POP DIRECTIONAL ISOLATE}"

# Qt separates blocks, lines and cells with characters that other programs do not understand.
_INNER = str.maketrans(
    {
        "\N{PARAGRAPH SEPARATOR}": "\n",
        "\N{LINE SEPARATOR}": "\n",
        "\N{NO-BREAK SPACE}": " ",
        "\N{OBJECT REPLACEMENT CHARACTER}": "",
        "\N{WORD JOINER}": "",
        ISOLATE: "",
        END_ISOLATE: "",
        "\ufdd0": "\n",
        "\ufdd1": "\n",
    }
)


def is_rtl(text: str) -> bool:
    """Return whether text is written from right to left.

    This depends on the first letter that has a strong direction, as defined by Unicode.
    """
    for char in text:
        direction = unicodedata.bidirectional(char)
        if direction in {"R", "AL"}:
            return True
        if direction == "L":
            return False
    return False


def from_left(sentence: str) -> str:
    """Make a sentence of the user interface read from left to right.

    A sentence that starts with a name in a right-to-left script would otherwise be displayed from
    right to left. A left-to-right mark is added before the sentence in this case.
    """
    return f"{_MARK}{sentence}" if is_rtl(sentence) else sentence


def has_tall_letters(text: str) -> bool:
    """Return whether text contains letters that are too tall for a fixed line height."""
    return _TALL.search(text) is not None


def has_rtl(text: str) -> bool:
    """Return whether text contains at least one right-to-left letter."""
    return _RTL_LETTER.search(text) is not None


def read_selection(cursor: "QTextCursor") -> str:
    """Return the selected text as plain text, for the clipboard.

    Formatting and the direction marks around citations are removed, and Qt's own separators become
    plain line breaks and spaces.
    """
    return clean_selection(cursor.selectedText())


def clean_selection(text: str) -> str:
    """Return a selected text without direction marks, and with plain line breaks and spaces."""
    return text.translate(_INNER)


def count_units(text: str) -> int:
    """Count the UTF-16 code units of a text, in which Qt measures places in a document."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def find_units(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each span of a text, in the UTF-16 code units in which Qt counts.

    Args:
        spans: the start and end of each span in characters. None begins before the last one ends.
    """
    if max(text, default="") <= "\uffff":
        yield from spans
        return
    at = units = 0
    for first, last in spans:
        start = units + count_units(text[at:first])
        at, units = last, start + count_units(text[first:last])
        yield start, units


def escape_hidden(text: str) -> str:
    """Escape control characters, invisible characters and lone surrogates in a line of text.

    Joiners that emoji and some scripts need are kept.
    """
    if text.isprintable():
        return text
    from app.hidden_characters import escape_text  # its tables of characters are rarely needed

    return escape_text(text).encode("utf-8", "backslashreplace").decode("utf-8")


def one_line(text: str) -> str:
    """Convert text to a single line, and escape control characters and invisible characters."""
    return escape_hidden(" ".join(text.split()))


def word_hint(hint: "Sequence[Fix]") -> str:
    """Word an error's ways out for the window: settings by their labels, and no commands."""
    from context.fixes import Setting

    shown = (fix for fix in hint if all(isinstance(at, Setting | str) for at in fix.places))
    return " ".join(fix.word(_word_setting) for fix in shown)


def word_message(info: "ErrorInfo") -> str:
    """Word what an error says for the window: settings by their labels."""
    from app.config.schema import use_labels  # loads the settings: not before the first paint

    return use_labels(info.message)


def word_error(info: "ErrorInfo") -> str:
    """Word what an error says, and its ways out, in one line of text for the window."""
    return " ".join(filter(None, (word_message(info), word_hint(info.hint))))


def _word_setting(place: "Place") -> str:
    from app.config.schema import schema  # loads the settings: not before the first paint

    return f'"{schema()[str(place)].label}"'
