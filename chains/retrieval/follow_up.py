"""Build the search query for a follow-up question.

"And the second one?" contains nothing to search for. A question is a follow-up if it has few
content words and refers to the previous turn. Its query is extended with the content words of the
previous question, the titles of cited notes, and the list item that an ordinal refers to.
Optionally, a model rewrites the question instead.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chains.errors import ModelError
from chains.llm.incoming.answer_reader import collect_answer
from chains.prompts import REWRITE_PROMPT, CallSetup
from chains.request.open_turn import open_model
from chains.request.turn import SEARCHED, Turn
from chains.request.usage import CallUsage
from context.assemble.request import Request
from context.errors import ContextOverflow
from context.history.turns import LoggedTurn
from context.layers import Segment
from vault.notes.keywords import FUNCTION_WORDS, fold

__all__ = [
    "LastTurn",
    "RewrittenQuery",
    "expand_query",
    "list_notes_in_play",
    "read_last_turn",
    "rewrite_query",
]

_PRONOUNS_WORDS: Final = """
    it they them he him she her one ones former latter
    er sie ihn ihm ihr ihnen davon dazu damit daran darin daruber dafur dagegen dabei
    ca cela ceci celui celle ceux celles elle ils elles lui leur eso esto aquello ellos ellas
    esso essa isso isto eles elas он она они его ее их
"""
_DEMONSTRATIVES_WORDS: Final = """
    this that these those dies diese dieser dieses diesem diesen jene jener ce cet cette ces
    ese esa esos esas este esta questo questa quello quella это этот эта эти тот та
"""
_JOINING_WORDS: Final = "and but or und aber oder et mais ou y pero o e ma и а но или"
_PLACING_WORDS: Final = """
    in on at for with without after before during im am bei mit ohne nach vor fur dans en avec
    sans pour sin con para senza nel
"""
# Words that refer to something and have no content of their own.
_EMPTY: Final = """
    about all much many more details tell explain say says mean means example examples long often
    again other others another else same next previous above then there each both either instead yes
    no ok
    alle alles andere anderen anderer anderes mehr noch genauer beispiel dort lange oft ja nein
    autre autres encore exemple otro otra otros otras mas ejemplo altro altra esempio outro outra
    другой еще там пример
"""
_ORDINAL_WORDS: Final = """
    first erste ersten erster erstes premier premiere primero primera primo первый первая
    second zweite zweiten zweiter zweites deuxieme segundo segunda secondo второй вторая
    third dritte dritten dritter drittes troisieme tercero tercera terzo третий третья
    fourth vierte vierten vierter quatrieme cuarto quarto четвертый
    fifth funfte funften cinquieme quinto пятый
"""
_LAST: Final = "last letzte letzten letzter dernier derniere ultimo ultima последний"

_PRONOUNS: Final = frozenset(_PRONOUNS_WORDS.split())
_DEMONSTRATIVES: Final = frozenset(_DEMONSTRATIVES_WORDS.split())
_JOINING: Final = frozenset(_JOINING_WORDS.split())
_JOINING_PAIRS: Final = frozenset({("what", "about"), ("how", "about"), ("was", "ist")})
_PLACING: Final = frozenset(_PLACING_WORDS.split())
_UNSPACED_POINTING: Final = re.compile(
    "它|他|她|这|這|那|其|该|第[一二三四五]|另|还有|呢|それ|これ|あれ|その|この|もう|그|이것|저것"
)

# The index that each ordinal refers to, from 0. The last item is -1.
_ORDINALS: Final = {
    word: place
    for place, words in [*enumerate(_ORDINAL_WORDS.strip().split("\n")), (-1, _LAST)]
    for word in words.split()
}
_NOT_OWN: Final = FUNCTION_WORDS.union(
    _PRONOUNS, _DEMONSTRATIVES, _JOINING, _PLACING, _EMPTY.split(), _ORDINALS
)


def _has_own_meaning(word: str) -> bool:
    """Return whether a word is a content word."""
    return word not in _NOT_OWN


_MOST_WORDS: Final = 12
_MOST_OWN_JOINED: Final = 4
_MOST_OWN_POINTING: Final = 2
_MOST_TERMS: Final = 8
_MOST_TITLES: Final = 2
_MOST_LETTERS: Final = 20

_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NAMING: Final = re.compile(
    r"\"[^\"]+\"|“[^”]+”|\[\[|(?:^|\s)#\w|\b(?:path|file|tag|after|before):\S"
)
_WORD: Final = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+(\S.*)$", re.MULTILINE)
_CITED: Final = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True)
class LastTurn:
    """The turn that a follow-up question refers to.

    Attributes:
        question: the search query of that turn if it differs from its user message, otherwise the
            user message.
        answer: the text of the answer.
        cited: the titles of the cited notes, in citation order.
    """

    question: str
    answer: str = ""
    cited: tuple[str, ...] = ()


def read_last_turn(turns: Sequence[LoggedTurn]) -> LastTurn | None:
    """Return the turn that a follow-up question can refer to, or None if there is none."""
    last = _find_last_turn(turns)
    if last is None or last.user is None:
        return None
    searched = last.stored_fields.get(SEARCHED)
    cited = (segment.title for segment in _list_cited(last))
    return LastTurn(
        str(searched or last.user.message.text),
        _join_answers(last),
        tuple(title for title in dict.fromkeys(cited) if title),
    )


def list_notes_in_play(turns: Sequence[LoggedTurn], attached: Sequence[Segment]) -> tuple[str, ...]:
    """Return the paths of notes that are attached now, or were attached or cited in the last turn.

    Args:
        turns: the turns before the question.
        attached: the attachments of the question.
    """
    last = _find_last_turn(turns)
    before = [] if last is None else [*_list_attached(last), *_list_cited(last)]
    return tuple(dict.fromkeys(segment.source for segment in (*attached, *before)))


def expand_query(question: str, last: LastTurn | None) -> str:
    """Build the search query for a question.

    If the question is a follow-up, words from the previous turn are added.
    """
    if last is None or not _is_follow_up(question):
        return question
    known = set(_fold_words(question))
    added = (word for word in _list_added_words(question, last) if fold(word) not in known)
    return " ".join((question, *dict.fromkeys(added)))


def _find_last_turn(turns: Sequence[LoggedTurn]) -> LoggedTurn | None:
    return next((turn for turn in reversed(turns) if turn.user is not None), None)


def _join_answers(turn: LoggedTurn) -> str:
    return "\n".join(
        answer.message.text for answer in turn.answers if answer.message.role != "tool"
    )


def _list_attached(turn: LoggedTurn) -> Iterator[Segment]:
    return (segment for segment in turn.segments if segment.kind != "passage")


def _list_cited(turn: LoggedTurn) -> Iterator[Segment]:
    numbered = {segment.number: segment for segment in turn.segments}
    found = (numbered.get(int(number)) for number in _CITED.findall(_join_answers(turn)))
    return (segment for segment in found if segment is not None)


def _is_follow_up(question: str) -> bool:
    """Return whether a question is too vague to search for on its own."""
    if _NAMING.search(question):
        return False
    if letters := _UNSPACED.findall(question):
        return len(letters) <= _MOST_LETTERS and bool(_UNSPACED_POINTING.search(question))
    words = _fold_words(question)
    own = [at for at, word in enumerate(words) if _has_own_meaning(word)]
    if not words or len(words) > _MOST_WORDS:
        return False
    if words[0] in _JOINING or tuple(words[:2]) in _JOINING_PAIRS:
        return len(own) <= _MOST_OWN_JOINED
    if not own or (len(own) == 1 and words[0] in _PLACING):
        return True
    return (
        len(own) <= _MOST_OWN_POINTING
        and _points_back(words, own)
        and not _names_something(question)
    )


def _points_back(words: Sequence[str], own: Sequence[int]) -> bool:
    """Return whether a pronoun in a question refers to something outside of the question.

    Args:
        words: the words of the question.
        own: the indexes of its content words.
    """
    return any(
        (word in _PRONOUNS and sum(place < at for place in own) <= 1)
        or (word in _DEMONSTRATIVES and at < own[0])
        for at, word in enumerate(words)
    )


def _list_added_words(question: str, last: LastTurn) -> Iterator[str]:
    """Yield the words to add from the previous turn, the most important first."""
    names_itself = _names_something(question)
    if not names_itself:
        yield from _list_telling_words(_find_item(question, last))[:_MOST_TERMS]
    asked = _list_telling_words(last.question)
    kept = [word for word in asked if not (names_itself and _is_name(word))]
    yield from kept[:_MOST_TERMS]
    if not names_itself:
        for title in last.cited[:_MOST_TITLES]:
            yield from _list_telling_words(title)[:_MOST_TERMS]


def _find_item(question: str, last: LastTurn) -> str:
    numbers = [_ORDINALS[word] for word in _fold_words(question) if word in _ORDINALS]
    items = _ITEM.findall(last.answer) or list(last.cited)
    if not numbers or not items or numbers[0] >= len(items):
        return ""
    return str(items[numbers[0]])


def _list_telling_words(text: str) -> list[str]:
    if _UNSPACED.search(text):
        return [text[:_MOST_LETTERS]]
    return [word for word in _WORD.findall(text) if _has_own_meaning(fold(word)) and len(word) > 1]


def _names_something(question: str) -> bool:
    """Return whether a question contains a number or a capitalized word."""
    return any(_is_name(word) for word in _WORD.findall(question)[1:])


def _is_name(word: str) -> bool:
    return any(char.isdigit() for char in word) or (word[0].isupper() and word != "I")


def _fold_words(text: str) -> list[str]:
    return [fold(word) for word in _WORD.findall(text)]


MOST_TOKENS: Final = 200
MOST_CHARS: Final = 400
MOST_ANSWER_CHARS: Final = 2_000


@dataclass(frozen=True)
class RewrittenQuery:
    """The search query that replaces a follow-up question.

    Attributes:
        text: the query, or an empty string if the question itself is the query.
        warnings: if the model returned no query, one sentence that says why.
        calls: the usage of the model call.
    """

    text: str = ""
    warnings: tuple[str, ...] = ()
    calls: tuple[CallUsage, ...] = ()


def rewrite_query(turn: Turn, last: LastTurn) -> RewrittenQuery:
    """Ask a model to rewrite a question so that it makes sense on its own.

    Raises:
        Cancelled: the token was cancelled.
    """
    try:
        prepared = _prepare_rewrite(turn, last)
        answer = collect_answer(open_model(turn).stream(prepared, turn.cancel))
    except (ModelError, ContextOverflow) as failure:
        return RewrittenQuery("", (f"The question was searched in its own words: {failure}",))
    ended = answer.ended
    calls = () if ended.usage is None else (CallUsage(prepared.report, ended.usage),)
    query = _first_line(answer.text) if ended.status == "complete" else ""
    if not query:
        warning = "The question was searched in its own words: the model gave no others."
        return RewrittenQuery("", (warning,), calls)
    return RewrittenQuery(query, (), calls)


def _prepare_rewrite(turn: Turn, last: LastTurn) -> Request:
    setup = CallSetup(
        REWRITE_PROMPT,
        turn.customization.prompts(REWRITE_PROMPT).sections,
        turn.model_name,
        turn.counter,
        turn.compute_request_budget(),
        turn.lowest_temperature,
    )
    return setup.prepare(_frame_question(turn.ask.question, last), most_tokens=MOST_TOKENS)


def _frame_question(question: str, last: LastTurn) -> str:
    answer = last.answer[:MOST_ANSWER_CHARS]
    before = html.escape(f"User: {last.question}\n\nAssistant: {answer}", quote=False)
    question = html.escape(question, quote=False)
    return f"<conversation>\n{before}\n</conversation>\n\n<question>\n{question}\n</question>"


def _first_line(text: str) -> str:
    """Return the first non-blank line, without surrounding quotation marks and markup."""
    lines = (line.strip().strip("\"“”'`*") for line in text.splitlines())
    return next((line for line in lines if line), "")[:MOST_CHARS]
