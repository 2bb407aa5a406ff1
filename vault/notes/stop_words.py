"""Words that ask or join and say nothing of the subject, without case and accents."""

from typing import Final

__all__ = ["FUNCTION_WORDS"]

# Of languages in which many of them are long; others are told by how common they are.
_WORDS: Final = """
    a an and are at be by can could did do does for from give had has have how i if in is it its
    me my of on or please should show tell that the their there they this to was we were what when
    where which who whose why will with would you your
    als am an auf aus bei das dem den der des die du ein eine einem einen einer es fur hat ich im
    in ist kann man mein meine mit nach oder sich sie sind soll und von wann warum was welche
    welcher wer wie wird wo worin zu zum zur
    au aux avec ce ces comment dans de du elle en est et il je la le les leur ma mes mon on ou par
    pour pourquoi quand que quel quelle quelles quels quoi qui sa se ses son sont sur un une vous
    como con cual cuales cuando del donde el ella en es esta este la las lo los mi mis para pero
    por porque que quien se son su sus un una unas unos y
    che chi ci come con cosa da dei della delle di dove e gli i il io la le mi mia mio nel nella
    non o per perche quale quali quando quanto si sono sul un una
"""
FUNCTION_WORDS: Final = frozenset(_WORDS.split())
