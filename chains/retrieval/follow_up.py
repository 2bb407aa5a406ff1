"""A question that leans on the last turn, searched with what that was about; no model is needed.

"And the second one?" says nothing that could be found. Whether a question is of this kind is told
by its words: few of its own, and one that points back or joins on. What is added are the telling
words of the last question, the titles that its answer cites, and the item that an ordinal names.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chains.request.request import SEARCHED
from chains.retrieval.follow_up_words import (
    DEMONSTRATIVES,
    JOINING,
    JOINING_PAIRS,
    ORDINALS,
    PLACING,
    PRONOUNS,
    UNSPACED_POINTING,
    is_own,
)
from context.history.turns import Turn
from context.layers import Segment
from vault.notes.keywords import fold

__all__ = ["LastTurn", "last_turn", "looked_up", "notes_in_play"]


_MOST_WORDS: Final = 12
_MOST_OWN_JOINED: Final = 4
_MOST_OWN_POINTING: Final = 2
_MOST_TERMS: Final = 8
_MOST_TITLES: Final = 2
_MOST_LETTERS: Final = 20

_UNSPACED_POINTING: Final = re.compile(UNSPACED_POINTING)
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NAMING: Final = re.compile(
    r"\"[^\"]+\"|“[^”]+”|\[\[|(?:^|\s)#\w|\b(?:path|file|tag|after|before):\S"
)
_WORD: Final = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+(\S.*)$", re.MULTILINE)
_CITED: Final = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True)
class LastTurn:
    """What a question may lean on.

    Attributes:
        asked: the last question, with what was added to it in turn.
        answer: what was answered.
        cited: the titles of the notes that the answer cites, in its order.
    """

    asked: str
    answer: str = ""
    cited: tuple[str, ...] = ()


def last_turn(turns: Sequence[Turn]) -> LastTurn | None:
    """Return what the next question may lean on; None where nothing was asked."""
    asked = _last_asked(turns)
    if asked is None or asked.user is None:
        return None
    searched = asked.noted.get(SEARCHED)
    cited = (segment.title for segment in _cited(asked))
    return LastTurn(
        str(searched or asked.user.message.text),
        _answer(asked),
        tuple(title for title in dict.fromkeys(cited) if title),
    )


def notes_in_play(turns: Sequence[Turn], attached: Sequence[Segment]) -> tuple[str, ...]:
    """Return the paths of the notes that a question is beside: attached, or cited just before.

    Args:
        turns: those before the question.
        attached: what goes with the question.
    """
    asked = _last_asked(turns)
    before = [] if asked is None else [*_attached(asked), *_cited(asked)]
    return tuple(dict.fromkeys(segment.source for segment in (*attached, *before)))


def looked_up(question: str, last: LastTurn | None) -> str:
    """Return what is searched for a question: itself, or with what it leans on behind it."""
    if last is None or not _leans(question):
        return question
    known = set(_folded(question))
    added = (word for word in _added(question, last) if fold(word) not in known)
    return " ".join((question, *dict.fromkeys(added)))


def _last_asked(turns: Sequence[Turn]) -> Turn | None:
    return next((turn for turn in reversed(turns) if turn.user is not None), None)


def _answer(turn: Turn) -> str:
    return "\n".join(said.message.text for said in turn.answers if said.message.role != "tool")


def _attached(turn: Turn) -> Iterator[Segment]:
    return (segment for segment in turn.segments if segment.kind != "passage")


def _cited(turn: Turn) -> Iterator[Segment]:
    """Give what the answer of a turn cites, in its order."""
    numbered = {segment.number: segment for segment in turn.segments}
    found = (numbered.get(int(number)) for number in _CITED.findall(_answer(turn)))
    return (segment for segment in found if segment is not None)


def _leans(question: str) -> bool:
    """Tell whether a question says too little by itself, and joins on or points back."""
    if _NAMING.search(question):
        return False
    if letters := _UNSPACED.findall(question):
        return len(letters) <= _MOST_LETTERS and bool(_UNSPACED_POINTING.search(question))
    words = _folded(question)
    own = [at for at, word in enumerate(words) if is_own(word)]
    if not words or len(words) > _MOST_WORDS:
        return False
    if words[0] in JOINING or tuple(words[:2]) in JOINING_PAIRS:
        return len(own) <= _MOST_OWN_JOINED
    if not own or (len(own) == 1 and words[0] in PLACING):
        return True
    return len(own) <= _MOST_OWN_POINTING and _points_back(words, own) and not _names(question)


def _points_back(words: Sequence[str], own: Sequence[int]) -> bool:
    """Tell whether a word stands for something that the question has not named before it."""
    return any(
        (word in PRONOUNS and sum(place < at for place in own) <= 1)
        or (word in DEMONSTRATIVES and at < own[0])
        for at, word in enumerate(words)
    )


def _added(question: str, last: LastTurn) -> Iterator[str]:
    """Give the words that a question leans on, the most telling first."""
    names_itself = _names(question)
    if not names_itself:
        yield from _telling(_item(question, last))[:_MOST_TERMS]
    asked = _telling(last.asked)
    kept = [word for word in asked if not (names_itself and _is_name(word))]
    yield from kept[:_MOST_TERMS]
    if not names_itself:
        for title in last.cited[:_MOST_TITLES]:
            yield from _telling(title)[:_MOST_TERMS]


def _item(question: str, last: LastTurn) -> str:
    """Give the item of the last answer that an ordinal names, or the note that it cites there."""
    numbers = [ORDINALS[word] for word in _folded(question) if word in ORDINALS]
    items = _ITEM.findall(last.answer) or list(last.cited)
    if not numbers or not items or numbers[0] >= len(items):
        return ""
    return str(items[numbers[0]])


def _telling(text: str) -> list[str]:
    if _UNSPACED.search(text):
        return [text[:_MOST_LETTERS]]
    return [word for word in _WORD.findall(text) if is_own(fold(word)) and len(word) > 1]


def _names(question: str) -> bool:
    """Tell whether a question names a thing of its own, by a number or a capital letter."""
    return any(_is_name(word) for word in _WORD.findall(question)[1:])


def _is_name(word: str) -> bool:
    return any(char.isdigit() for char in word) or (word[0].isupper() and word != "I")


def _folded(text: str) -> list[str]:
    return [fold(word) for word in _WORD.findall(text)]
