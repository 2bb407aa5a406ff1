"""Join German verbs with their particles, which stand apart in most sentences.

In "Wann fängt die Probe an?" the verb is "anfangen". Notes may have it as "angefangen" or "fing".
"""

import re
from itertools import islice
from typing import Final

from vault.notes.irregular_words import PARTICLES, join_verb
from vault.notes.keywords import FUNCTION_WORDS, WORD, find_language, fold

__all__ = ["join_separated"]

_MOST_WORDS: Final = 40


def join_separated(text: str) -> str:
    """Write a verb with its particle, if a German question ends with one.

    The particle stays where it is, so that the words keep their places.
    """
    words = list(islice(WORD.finditer(text), _MOST_WORDS))
    if not words or fold(words[-1][0]) not in PARTICLES or text[words[-1].end() :].strip(" ?.!"):
        return text
    if find_language(text) != "german":
        return text
    particle = fold(words[-1][0])
    for word in words[:-1]:
        if joined := _join(word, particle, is_first=word is words[0]):
            return f"{text[: word.start()]}{joined}{text[word.end() :]}"
    return text


def _join(word: re.Match[str], particle: str, *, is_first: bool) -> str:
    """Join a word with a particle, or return an empty string if it is no verb."""
    is_noun = word[0][0].isupper() and not is_first
    folded = fold(word[0])
    return "" if is_noun or folded in FUNCTION_WORDS else join_verb(folded, particle)
