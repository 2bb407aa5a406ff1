"""Tell Windows-1252 from the encodings of Central Europe, whose bytes are other letters there.

A text that no Western language could have, but one of Central Europe could, is read as that
language if enough of its letters say so. If only few do, and signs stand where no Western language
has them, its encoding is not certain.
"""

import re
from collections.abc import Iterable, Set
from typing import Final, NamedTuple

__all__ = ["CentralText", "read_as_central"]

_ENCODINGS: Final = ("iso8859_2", "cp1250")
_WESTERN: Final = tuple(
    map(
        frozenset,
        (
            *("àâæçéèêëîïôœùûüÿ", "äöüß", "áéíñóúü", "áâãàçéêíóôõúü", "àèéìîòù", "æøåéèêóòô"),
            *("åäöéàü", "äåöšž", "áðéíóúýþæö", "áäçèéëêíïóöúû", "àçèéíïòóúü", "äöõüšž", "áðíóúýæø"),
        ),
    )
)
_HUNGARIAN: Final = frozenset("áéíóöőúüű")
_CENTRAL: Final = (
    *map(frozenset, ("áčďéěíňóřšťúůýž", "ąćęłńóśźż", "čćđšž", "áäčďéíĺľňóôŕšťúýž", "ăâîşţ")),
    _HUNGARIAN,
)
_LETTER: Final = re.compile(r"[^\x00-\x7f\W\d_]")
# Signs beside letters where no Western language has them: they are letters in other encodings.
_ODD_SIGN: Final = re.compile(
    r"(?<=[^\W\d_])[±¶¦¬¯¥£¡¿¼¾]|[±¶¦¬¯¥£¹²³¼¾©®ªº](?=[^\W\d_])|(?<=[^\W\d_])[¹²³»](?=[^\W\d_])"
)
# Portuguese has õ before e and in õs alone, and ã at the end of a syllable alone.
_NOT_PORTUGUESE: Final = re.compile(r"õ(?![es])|ã[bcdfghjklpqrtvxz]")
_NO_SIGNS: Final = re.compile(r"[\x80-\x9f˘¤¨´¸˛ˇ˝˙]")
_SURE_LETTERS: Final = 3  # that differ between the two readings


class CentralText(NamedTuple):
    """A text as an encoding of Central Europe reads it.

    Attributes:
        is_sure: whether enough of its letters tell that the encoding is right.
    """

    text: str
    encoding: str
    is_sure: bool


def read_as_central(data: bytes, sample: bytes) -> CentralText | None:
    """Read bytes as a language of Central Europe, or return None if a Western one is as likely.

    Args:
        data: the bytes, which are not UTF-8.
        sample: the beginning of the bytes, which is looked at.
    """
    western = sample.decode("cp1252", "replace")
    has_odd_signs = bool(_ODD_SIGN.search(western))
    if not has_odd_signs and _is_western(western):
        return None
    found = {read.text: read for read in _read_all(data)}
    if not found:
        return None
    read = next(iter(found.values()))
    shown = sample.decode(read.encoding)
    differing = {one for one, other in zip(shown, western, strict=True) if one != other}
    is_hungarian = _list_letters(shown) <= _HUNGARIAN
    is_sure = len(found) == 1 and len(differing) >= (2 if is_hungarian else _SURE_LETTERS)
    # Without odd signs, a text that mixes Western languages is as likely: "Søren's naïve fête".
    # Of the letters that would differ, õ alone is rare in them, and ő is common in Hungarian.
    is_likely = has_odd_signs or (is_hungarian and "ő" in differing)
    if not differing or not (is_sure or is_likely):
        return None
    return read._replace(is_sure=is_sure)


def _read_all(data: bytes) -> Iterable[CentralText]:
    for encoding in _ENCODINGS:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        letters = _list_letters(text)
        has_odd_signs = _NO_SIGNS.search(text) or _ODD_SIGN.search(text)
        if letters and not has_odd_signs and any(letters <= one for one in _CENTRAL):
            yield CentralText(text, encoding, is_sure=False)


def _is_western(text: str) -> bool:
    letters = _list_letters(text)
    fitting = [language for language in _WESTERN if letters <= language]
    if _NOT_PORTUGUESE.search(text.lower()):
        fitting = [language for language in fitting if "ã" not in language]
    return bool(fitting)


def _list_letters(text: str) -> Set[str]:
    return set(_LETTER.findall(text.lower()))
