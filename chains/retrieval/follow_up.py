"""A question that leans on the last turn, searched with what that was about; no model is needed.

"And the second one?" says nothing that could be found. Whether a question is of this kind is told
by its words: few of its own, and one that points back or joins on. What is added are the telling
words of the last question, the titles that its answer cites, and the item that an ordinal names.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chains.cancel import CancelToken
from chains.errors import ModelError
from chains.events import Usage
from chains.llm.port import ModelEnded, ModelPort, ModelText
from chains.request.request import SEARCHED, Means, TurnRequest
from context.assemble.request import preamble
from context.budget import room_for
from context.envelope import System
from context.errors import ContextOverflow
from context.fit.guard import PreparedRequest
from context.history.turns import Turn
from context.layers import Segment
from context.prompt import system_parts
from context.report.report import ContextReport
from context.side_calls import prepare_call
from vault.notes.keywords import FUNCTION_WORDS, fold

__all__ = [
    "DEMONSTRATIVES",
    "JOINING",
    "JOINING_PAIRS",
    "ORDINALS",
    "PLACING",
    "PRONOUNS",
    "UNSPACED_POINTING",
    "LastTurn",
    "Rewritten",
    "is_own",
    "last_turn",
    "looked_up",
    "notes_in_play",
    "rewritten",
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


PROMPT: Final = "rewrite"
MOST_TOKENS: Final = 200
MOST_CHARS: Final = 400
MOST_ANSWER_CHARS: Final = 2_000


@dataclass(frozen=True)
class Rewritten:
    """What a model made of a question.

    Attributes:
        query: what is searched; empty where it made nothing of it.
        spent: the call as it was prepared, and what the service counted of it.
        warning: why there is no query.
    """

    query: str = ""
    spent: tuple[ContextReport, Usage] | None = None
    warning: str = ""


def rewritten(
    request: TurnRequest,
    means: Means,
    last: LastTurn,
    model: Callable[[], ModelPort],
    cancel: CancelToken,
) -> Rewritten:
    """Return the question of a turn in words of its own; without them, why there are none.

    Raises:
        Cancelled: the token was cancelled.
    """
    try:
        prepared = _prepared(request, means, last)
        pieces, ended = [], ModelEnded("interrupted")
        for event in model().stream(prepared, cancel):
            if isinstance(event, ModelText):
                pieces.append(event.text)
            elif isinstance(event, ModelEnded):
                ended = event
    except (ModelError, ContextOverflow) as failure:
        return Rewritten(warning=f"The question was searched in its own words: {failure}")
    spent = None if ended.usage is None else (prepared.report, ended.usage)
    query = _line("".join(pieces)) if ended.status == "complete" else ""
    if not query:
        said = "The question was searched in its own words: the model gave no others."
        return Rewritten(spent=spent, warning=said)
    return Rewritten(query, spent)


def _prepared(request: TurnRequest, means: Means, last: LastTurn) -> PreparedRequest:
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    room = room_for(means.counter, *limits)
    system = System(system_parts(PROMPT, means.additions.prompts(PROMPT).sections))
    return prepare_call(
        preamble(system, (), means.counter),
        (),
        _framed(request.question, last),
        replace(room, reserve=min(room.reserve, MOST_TOKENS)),
        model=request.model,
        temperature=0.0,
    )


def _framed(question: str, last: LastTurn) -> str:
    answer = last.answer[:MOST_ANSWER_CHARS]
    said = html.escape(f"User: {last.asked}\n\nAssistant: {answer}", quote=False)
    asked = html.escape(question, quote=False)
    return f"<conversation>\n{said}\n</conversation>\n\n<question>\n{asked}\n</question>"


def _line(text: str) -> str:
    """Return the first line that says something, without marks around it."""
    lines = (line.strip().strip("\"“”'`*") for line in text.splitlines())
    return next((line for line in lines if line), "")[:MOST_CHARS]
