"""Tell whether function words of a question, such as "a" or "die", name something of the vault.

A folder may be named "A". A question that says "a score above 4" does not mean it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from vault.questions.vocabulary import VaultNames
from vault.questions.words import Phrase, Word, list_filler_words

__all__ = ["WEAK_ROLES", "can_be_name"]

# Roles of phrases that say little by themselves, so that a name of the vault is preferred.
WEAK_ROLES: Final = frozenset(
    {
        "filler",
        "what",
        "in",
        "from",
        "towards",
        "between",
        "to",
        "until",
        "yes_no",
        "having",
        "explain",
        "extreme",
    }
)
_FUNCTION_ROLES: Final = WEAK_ROLES | {"and", "or", "not", "list"}
_MARKS: Final = frozenset({"tag", "folder", "property", "link", "linked_from"})
_JOINS: Final = frozenset({"and", "or"})


def can_be_name(
    words: Sequence[Word],
    first: int,
    end: int,
    phrases: Mapping[int, Phrase],
    vocabulary: VaultNames,
) -> bool:
    """Return whether words of a question can be a name in the vault.

    Function words can only behind a word such as "folder" or the name of a property, or if they
    are capitalised within a sentence that is not written like a title.

    Args:
        words: the words of the question.
        first, end: the range of the words, without `end`.
        phrases: the phrases of the question that have roles, by their first word.
        vocabulary: the names in the vault.
    """
    nouns = list_filler_words("nouns")
    if not all(_is_function_word(words[at], phrases.get(at), nouns) for at in range(first, end)):
        return True
    is_marked = _is_marked(words, first, phrases, vocabulary)
    if is_marked and _is_end(words, end, phrases):
        return True
    word = words[first]
    is_capital = word.text[:1].isupper() and not word.is_first
    if not is_capital or word.folded in list_filler_words("capitals"):
        return False
    return is_marked or not _is_in_title(words, first, end)


def _is_function_word(word: Word, phrase: Phrase | None, nouns: frozenset[str]) -> bool:
    return phrase is not None and phrase.roles <= _FUNCTION_ROLES and word.folded not in nouns


def _is_marked(
    words: Sequence[Word], first: int, phrases: Mapping[int, Phrase], vocabulary: VaultNames
) -> bool:
    """Return whether a word such as "folder", or the name of a property, stands before words."""
    before = (phrase for phrase in phrases.values() if phrase.end == first)
    if any(not phrase.roles.isdisjoint(_MARKS) for phrase in before):
        return True
    names = vocabulary.find([words[first - 1].folded]) if first else ()
    return any(name.kind == "property" for name in names)


def _is_end(words: Sequence[Word], end: int, phrases: Mapping[int, Phrase]) -> bool:
    """Return whether no word follows that words such as "a" could belong to."""
    if end == len(words) or words[end].is_apart:
        return True
    return end in phrases and not phrases[end].roles.isdisjoint(_JOINS)


def _is_in_title(words: Sequence[Word], first: int, end: int) -> bool:
    """Return whether the words beside some are capitalised too, as in a title."""
    beside = [words[at] for at in (first - 1, end) if 0 <= at < len(words)]
    texts = [word.text for word in beside if not word.is_first and word.text[0].isalpha()]
    return bool(texts) and all(text[0].isupper() for text in texts)
