"""Decode text files, using only encodings that can be detected reliably.

The accepted encodings are UTF-8, and UTF-16 and UTF-32 with a byte-order mark. Windows-1252
(including Latin-1) is accepted only if the result looks like Western text. In all other cases, an
error names the first invalid byte.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Final

from vault.errors import ReadingFailed

_MARKS: Final = (  # UTF-32's begin with those of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffe\uffff]")
_UTF8_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH = re.compile(r"[^\x00-\x7f]")
_LETTER = re.compile(r"[^\W\d_]")
_SIGN_IN_WORD = re.compile(r"(?<=[^\W\d_])(?:[^\x00-\x7f\w‘’–—…·\xad]|[²³¹])(?=[^\W\d_])")
_NEVER_TOGETHER: Final = (  # letters of other alphabets become these; no language has both
    ("ðþý", "çü"),  # Turkish
    ("ø", "ìòù"),  # Czech
    ("šž", "ìèùòøæð"),  # Czech, Slovak, Croatian, Slovenian
    ("õ", "û"),  # Hungarian
    ("þ", "ãâî"),  # Romanian
)
_SAMPLE: Final = 200_000
_MOST_HIGH_LETTERS: Final = 0.4
_MOST_SIGNS_IN_WORDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A decoded text and its encoding.

    Attributes:
        text: the text with its original line endings.
        encoding: the encoding's name in Python.
        mark: the byte-order mark, or empty bytes. `mark + text.encode(encoding)` restores the
            original bytes.
    """

    text: str
    encoding: str
    mark: bytes = b""


def decode_text(data: bytes) -> DecodedText:
    """Detect the encoding of a file's content, and decode the content.

    Raises:
        ReadingFailed: the bytes are not text, or their encoding is unclear.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return DecodedText(_decode_strictly(data[len(mark) :], encoding), encoding, mark)
    if encoding := _detect_utf16(data):
        return DecodedText(_decode_strictly(data, encoding), encoding)
    if b"\0" in data:
        raise ReadingFailed("it holds NUL bytes, so it is not text")
    try:
        return DecodedText(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        return DecodedText(_decode_western(data, error.start), "cp1252")


def normalize_line_ends(text: str) -> str:
    r"""Normalize the line endings of a text to `\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode_strictly(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
        raise ReadingFailed(
            f"its {name} is damaged ({_describe_byte(data, error.start)}); save it as UTF-8"
        ) from error
    if "\0" in text:
        raise ReadingFailed("it holds NUL bytes, so it is not text")
    return text


def _detect_utf16(data: bytes) -> str:
    """Detect UTF-16 without a byte-order mark. In Western text, every other byte is then zero.

    Return the name of the encoding, or an empty string for any other encoding.
    """
    sample = data[:4096]
    if len(data) % 2 or not sample:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > len(sample) * 0.35 and not others:
            return encoding
    return ""


def _decode_western(data: bytes, first_bad: int) -> str:
    """Decode Windows-1252 if the result looks like Western text.

    If text in another encoding is decoded as Windows-1252, the result has words made of accented
    letters, or symbols within words.

    Args:
        data: the bytes to decode.
        first_bad: the offset of the first byte that is not valid UTF-8, for the error message.

    Raises:
        ReadingFailed: the result does not look like Western text, or the bytes are damaged UTF-8.
    """
    high_bytes = sum(1 for byte in data[:_SAMPLE] if byte > 0x7F)
    in_sequences = sum(len(found) for found in _UTF8_SEQUENCE.findall(data[:_SAMPLE]))
    if in_sequences * 2 >= high_bytes > 0:
        raise ReadingFailed(
            f"its UTF-8 is damaged ({_describe_byte(data, first_bad)}); save it as UTF-8 anew"
        )
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise _unknown_encoding(data, error.start) from error
    if _NO_TEXT.search(text) or not _reads_as_western(text[:_SAMPLE]):
        raise _unknown_encoding(data, first_bad)
    return text


def _reads_as_western(text: str) -> bool:
    letters = _LETTER.findall(text)
    high_letters = sum(1 for letter in letters if letter > "\x7f")
    signs = len(_SIGN_IN_WORD.findall(text))
    if high_letters > _MOST_HIGH_LETTERS * len(letters):
        return False
    if signs > _MOST_SIGNS_IN_WORDS * len(_HIGH.findall(text)):
        return False
    used = set(text.lower())
    return not any(used & set(some) and used & set(others) for some, others in _NEVER_TOGETHER)


def _unknown_encoding(data: bytes, at: int) -> ReadingFailed:
    return ReadingFailed(
        f"its encoding cannot be told for certain ({_describe_byte(data, at)}); save it as UTF-8"
    )


def _describe_byte(data: bytes, at: int) -> str:
    line = data.count(b"\n", 0, at) + 1
    return f"byte 0x{data[at]:02x} on line {line}"
