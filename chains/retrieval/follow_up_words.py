"""Words by which a question leans on what was said before it, without case and accents."""

from typing import Final

from vault.notes.stop_words import FUNCTION_WORDS

__all__ = [
    "DEMONSTRATIVES",
    "JOINING",
    "JOINING_PAIRS",
    "ORDINALS",
    "PLACING",
    "PRONOUNS",
    "UNSPACED_POINTING",
    "is_own",
]

_PRONOUNS: Final = """
    it they them he him she her one ones former latter
    er sie ihn ihm ihr ihnen davon dazu damit daran darin daruber dafur dagegen dabei
    ca cela ceci celui celle ceux celles elle ils elles lui leur eso esto aquello ellos ellas
    esso essa isso isto eles elas он она они его ее их
"""
_DEMONSTRATIVES: Final = """
    this that these those dies diese dieser dieses diesem diesen jene jener ce cet cette ces
    ese esa esos esas este esta questo questa quello quella это этот эта эти тот та
"""
_JOINING: Final = "and but or und aber oder et mais ou y pero o e ma и а но или"
_PLACING: Final = """
    in on at for with without after before during im am bei mit ohne nach vor fur dans en avec
    sans pour sin con para senza nel
"""
# These lean on something and say nothing by themselves.
_EMPTY: Final = """
    about much many more details tell explain say says mean means example examples long often again
    other others another else same next previous above then there each both either instead yes no ok
    andere anderen anderer anderes mehr noch genauer beispiel dort lange oft ja nein
    autre autres encore exemple otro otra otros otras mas ejemplo altro altra esempio outro outra
    другой еще там пример
"""
_ORDINALS: Final = """
    first erste ersten erster erstes premier premiere primero primera primo первый первая
    second zweite zweiten zweiter zweites deuxieme segundo segunda secondo второй вторая
    third dritte dritten dritter drittes troisieme tercero tercera terzo третий третья
    fourth vierte vierten vierter quatrieme cuarto quarto четвертый
    fifth funfte funften cinquieme quinto пятый
"""
_LAST: Final = "last letzte letzten letzter dernier derniere ultimo ultima последний"

PRONOUNS: Final = frozenset(_PRONOUNS.split())
DEMONSTRATIVES: Final = frozenset(_DEMONSTRATIVES.split())
JOINING: Final = frozenset(_JOINING.split())
JOINING_PAIRS: Final = frozenset({("what", "about"), ("how", "about"), ("was", "ist")})
PLACING: Final = frozenset(_PLACING.split())
UNSPACED_POINTING: Final = (
    "它|他|她|这|這|那|其|该|第[一二三四五]|另|还有|呢|それ|これ|あれ|その|この|もう|그|이것|저것"
)

# Each with the place that it names, from 0; -1 is the last.
ORDINALS: Final = {
    word: place
    for place, words in [*enumerate(_ORDINALS.strip().split("\n")), (-1, _LAST)]
    for word in words.split()
}
_NOT_OWN: Final = FUNCTION_WORDS.union(
    PRONOUNS, DEMONSTRATIVES, JOINING, PLACING, _EMPTY.split(), ORDINALS
)


def is_own(word: str) -> bool:
    """Tell whether a folded word says something by itself."""
    return word not in _NOT_OWN
