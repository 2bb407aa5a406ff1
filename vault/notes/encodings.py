"""Decode text files, using only encodings that can be detected reliably.

The accepted encodings are UTF-8, and UTF-16 and UTF-32 with a byte-order mark. Windows-1252
(including Latin-1) is accepted only if the result looks like Western text, and an older encoding of
another script, such as GBK or KOI8-R, only if charset-normalizer is sure of it. The encodings of
Central Europe are accepted if enough of a text's letters tell them from Windows-1252. In all other
cases, an error names the first invalid byte.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Final

from vault.errors import ReadingFailed
from vault.notes.code_pages import read_as_central

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
# The older encodings that are told apart. A text that could be in one of `_RIVALS` is refused,
# because those differ in few letters.
_OTHER_SCRIPTS: Final = (
    *("gb18030", "big5", "cp932", "euc_jp", "cp949", "koi8_r", "koi8_u", "cp1251", "iso8859_5"),
    *("cp866", "cp1253", "cp1255", "cp1256", "cp874"),
)
_RIVALS: Final = ("cp1250", "cp1252", "cp1254", "cp1257", "iso8859_2", "mac_roman")
_MOST_CHAOS: Final = 0.05  # charset-normalizer's measure of signs that do not belong together
_LEAST_COHERENCE: Final = 0.1  # its measure of how well the letters fit a language
_LEAST_HIGH_BYTES: Final = 40  # of a text that fits one encoding alone, in no language for certain
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
        _refuse_damaged_utf8(data, error.start)
        central = read_as_central(data, data[:_SAMPLE])
        if central is not None:
            if central.is_sure:
                return DecodedText(central.text, central.encoding)
            raise _unknown_encoding(data, error.start) from error
        if (western := _decode_western(data)) is not None:
            return DecodedText(western, "cp1252")
        if (other := _decode_other_script(data)) is not None:
            return other
        raise _unknown_encoding(data, error.start) from error


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


def _refuse_damaged_utf8(data: bytes, first_bad: int) -> None:
    """Raise `ReadingFailed` if most of the bytes above 0x7F are valid UTF-8.

    Args:
        data: the bytes.
        first_bad: the offset of the first byte that is not valid UTF-8, for the error message.
    """
    high_bytes = _count_high_bytes(data[:_SAMPLE])
    in_sequences = sum(len(found) for found in _UTF8_SEQUENCE.findall(data[:_SAMPLE]))
    if in_sequences * 2 >= high_bytes > 0:
        raise ReadingFailed(
            f"its UTF-8 is damaged ({_describe_byte(data, first_bad)}); save it as UTF-8 anew"
        )


def _decode_western(data: bytes) -> str | None:
    """Decode Windows-1252, or return None if the result does not look like Western text.

    If text in another encoding is decoded as Windows-1252, the result has words made of accented
    letters, or symbols within words.
    """
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    return text if not _NO_TEXT.search(text) and _reads_as_western(text[:_SAMPLE]) else None


def _decode_other_script(data: bytes) -> DecodedText | None:
    """Decode an older encoding of a script that is not Latin, or return None if it is not certain.

    Short texts and texts that fit several encodings are not certain.
    """
    from charset_normalizer import from_bytes  # a library of 60 ms, for few files

    sample = data[: max(data.rfind(b"\n", 0, _SAMPLE), 0) or _SAMPLE]
    found = [
        match
        for match in from_bytes(sample, cp_isolation=[*_OTHER_SCRIPTS, *_RIVALS])
        if match.chaos <= _MOST_CHAOS
    ]
    if not found or found[0].encoding not in _OTHER_SCRIPTS:
        return None
    best, *others = found
    is_alone = not others and _count_high_bytes(sample) >= _LEAST_HIGH_BYTES
    is_best = best.coherence >= _LEAST_COHERENCE and all(
        other.coherence < best.coherence / 2 or str(other) == str(best) for other in others
    )
    if not (is_alone or is_best):
        return None
    try:
        text = data.decode(best.encoding)
    except UnicodeDecodeError:
        return None
    is_exact = not _NO_TEXT.search(text) and text.encode(best.encoding) == data
    return DecodedText(text, best.encoding) if is_exact else None


def _count_high_bytes(data: bytes) -> int:
    return sum(byte > 0x7F for byte in data)


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
