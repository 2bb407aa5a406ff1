"""Find out what a question asks for: a fact, a list, instructions, a time, or several things.

Whether a question can be looked up at all is decided here too, by `can_be_looked_up`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final, Literal

from chains.extractive.answer_type import AnswerType, read_answer_type
from chains.extractive.period import Period, read_period
from chains.extractive.words import (
    asks_for_total,
    is_comparison,
    list_content_words,
    list_subject_words,
    split_words,
)
from vault.notes.amounts import Amount, find_money
from vault.notes.keywords import WORD, find_function_words
from vault.questions.words import asks_to_exclude, list_order_words

__all__ = [
    "AskedQuestion",
    "Facet",
    "QuestionKind",
    "can_be_looked_up",
    "cut_background",
    "extract_subject",
    "read_question",
    "split_question",
]

QuestionKind = Literal["fact", "how_to", "list", "time"]

_HOW_TO: Final = re.compile(
    r"\bhow (?:do|does|can|could|should|would|to|must|is|are)\b(?!\s+\w+\s+(?:many|much))"
    r"|\bsteps (?:to|for)\b|\bway to\b|\bwhat (?:do i|has to be|must be) do(?:ne)?\b"
    r"|\bwhat (?:do|should|can) (?:i|you|we) (?:type|enter|press|click|run)\b"
    r"|\bstep by step\b|\bwalk me through\b|[,;:] (?:how|steps)\W*$"
    r"|^(?:adding|changing|configuring|creating|installing|making|removing|setting up|turning off"
    r"|turning on) "
    r"|\bwie (?:kann|mache?|geht|soll|wird|werden|man|\w+ (?:ich|man))\b"
    r"|\bcomment\b|\bc[oó]mo\b|\bcome si\b",
    re.IGNORECASE,
)
# Matches a request that begins with a verb, such as "pin a note" or "export notes to PDF".
_REQUEST: Final = re.compile(
    r"^(?:add|adjust|assign|attach|bake|block|build|change|check|choose|clear|close|configure"
    r"|connect|convert|cook|copy|create|customi[sz]e|define|delete|disable|download|edit|embed"
    r"|enable|export|filter|find|fix|format|get|group|hide|import|insert|install|link|make|merge"
    r"|move|open|pin|prevent|print|publish|remove|rename|replace|reset|restore|run|save|schedule"
    r"|select|send|set|share|sort|split|start|stop|switch|sync|turn|undo|uninstall|update|upgrade"
    r"|upload|use|write)"
    r" (?:(?:a|all|an|it|my|off|on|our|out|some|the|them|this|up|your)\b"
    r"|[\w ]+ (?:as|by|for|from|in|into|on|show|to|using|with)\b)",
    re.IGNORECASE,
)
_LIST: Final = re.compile(
    r"^(?:please )?(?:compare|list|name|enumerate|show)\b"
    r"|^what can\b|^what (?:do|does|would) \w+ need (?:to|for)\b"
    # Matches a plural noun after "which", but not a verb such as "is" or "marks a …".
    r"|\b(?:which|what)(?: (?!(?:is|was|does|has|this)\b)\w+)?"
    r" (?!(?:is|was|does|has|this|his|its|us|plus|\w+ss)\b)\w+s\b"
    r"(?! (?:is|a|an|the|my|one|you|it)\b)"
    r"|\b(?:which|what)(?: \w+){0,2} (?:are|were|have|went)\b|\bwho are\b|\bwhat are\b"
    r"|\b(?:types|kinds|options|steps|parts|ways|statuses|tools|members) of\b"
    # Matches a plural noun at the start, as in "ingredients for bread".
    r"|^(?!(?:are|can|could|did|do|does|has|have|how|i|if|is|number|should|was|why|will|wh\w+)\b)"
    r"(?:[\w-]+ ){0,3}?(?!does|\w*(?:is|ss|us|as)\b)[a-z]{3,}s"
    r" (?:available|for|in|of|on|that|where|which)\b"
    r"|^welche\b|\bliste\b|^quel(?:le)?s\b|^cu[aá]les\b",
    re.IGNORECASE,
)
_AMOUNT: Final = re.compile(r"\bhow (?:many|much|big|long|old|far)\b", re.IGNORECASE)
_TIME: Final = re.compile(
    r"^(?:\w+ )?when\b|[,;:] when\b(?=[^,;]*\?)|\b(?:know|say|tell(?: me)?|since) when\b"
    r"|\b(?:which|what) (?:date|day|month|year|time)\b|\bhow often\b"
    r"|\bwhat time\b|^(?:seit )?wann\b|\bquand\b|\bcu[aá]ndo\b|\bquando\b",
    re.IGNORECASE,
)
_DEFINITION: Final = re.compile(
    r"^(?:what|who)(?: is| are|'s| was| were) (?!the\b|my\b|in\b|there\b|some\b|all\b)"
    r"|^what(?: is|'s) the (?:(?!of\b|for\b|in\b|to\b|on\b)[\w-]+ ){0,2}[\w-]+ ?\?$"
    r"|^how (?:do|does) \S+(?: \S+){0,5} differ\b|^what(?: is|'s) the difference between\b"
    r"|^what does \S+ (?:do|mean|check|stand for)\b|^what (?:is|are) .*\bfor\?$"
    r"|^was (?:ist|sind) (?!der\b|die\b|das\b)",
    re.IGNORECASE,
)
_JOINING: Final = re.compile(
    r"\b(?:and|or|versus|vs|than|as opposed to|und|oder|et|ou|y|o)\b|[&/]", re.IGNORECASE
)
_COMPARED_WITH: Final = re.compile(rf"{_JOINING.pattern}|\b(?:with|to|mit|avec|con)\b", re.I)
_CONDITION: Final = re.compile(r"^(?:if|when|since|because|after|before|while|wenn) [^,]*, ", re.I)
_MORE: Final = re.compile(
    r"\b(?:other|all|any|my|our|which|else\w*) (?:\w+ )?notes?\b|\belsewhere\b"
    r"|\bin (?:the|my) vault\b"
    r"|\b(?:andere|alle|meine)\w* notizen\b|\b(?:autres|mes) notes\b|\b(?:otras|mis) notas\b",
    re.IGNORECASE,
)
_NOTES: Final = re.compile(
    r"^(?:where|in which|which|what)\b.{0,30}\bnotes?\b|\bin (?:which|what) notes?\b"
    r"|^(?:wo|in welchen|welche)\b.{0,30}\bnotizen\b",
    re.IGNORECASE,
)
_BACKGROUND: Final = re.compile(
    r".*[.!]\s+(?=(?:and |but |so )?(?:are|can|could|did|do|does|how|is|should|wann|warum|was|wer"
    r"|what|when|where|which|who|whose|why|wie|will|wo)\b[^.!]*\?\s*$)",
    re.IGNORECASE | re.DOTALL,
)
# Matches the words before the subject in a request for what the notes say about it.
_ABOUT: Final = re.compile(
    r"^(?:please )?(?:(?:can|could|would|will) you )?(?:please )?(?:"
    r"(?:describe|explain|summari[sz]e|sum up)(?: to me)?"
    r"(?: (?:all )?(?:my|the) notes (?:about|on))?"
    r"|tell me(?: (?:all|everything|more|something))? about"
    r"|give me (?:an?|the) (?:\w+ )?(?:introduction|overview|summary) (?:about|of|on|to)"
    r"(?: my notes (?:about|on))?"
    r"|what (?:are|do|did|have) (?:i|my notes)(?: (?:know|learned|say|write|written))? (?:about|on)"
    r"|(?:find|search|show(?: me)?) (?:my |the )?notes (?:about|on)"
    r"|(?:beschreibe?|erkl[äa]re?)(?: mir| uns)?"
    r"|was (?:steht in meinen notizen|wei[ßs]s? ich) [üu]ber"
    r"|explique(?:-moi|r)?|r[ée]sume(?:r|z)? mes notes sur|que disent mes notes sur"
    r"|expl[íi]ca(?:me)?|resume mis notas sobre|qu[ée] dicen mis notas sobre"
    r") (?=\S)",
    re.IGNORECASE,
)
# Matches a request for the meaning of a term.
_MEANING: Final = re.compile(
    r"(?:the )?(?:meaning|definition) of (.*\w)\W*"
    r"|(?!what\b)(\S+(?: \S+){0,3}?),? (?:meaning|definition)\W*",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"^(?:are|can|could|did|do|does|has|have|how|if|is|should|wann|warum|was|were|what|when|where"
    r"|which|who|whose|why|wie|will|wo)\b|\?\s*$",
    re.IGNORECASE,
)
MOST_WORDS_OF_SUBJECT: Final = 4


@dataclass(frozen=True)
class Facet:
    """One of several things that a question asks about.

    Attributes:
        own: the words that describe only this thing.
        others: the words that describe only the other things.
    """

    own: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    def leave_out_others(self, text: str) -> str:
        """Return a question about this thing alone: without the words for the other things."""
        if not self.others:
            return text
        return " ".join(word for word in text.split() if not split_words(word) & self.others)


@dataclass(frozen=True)
class AskedQuestion:
    """An analysed question.

    Attributes:
        searched: the search query. It is the question with corrected spelling, and may contain
            words from the previous question.
        words: the words of the question, without function words.
        added: the words of the query that come from the previous question, or from the sentences
            before the question.
        facets: the things that the question asks about, at least one.
        order: `first` or `last` if the question asks for what happened first or last, otherwise an
            empty string.
        asks_for_definition: whether the question asks for a definition.
        answer_type: the type of answer that the question expects, or an empty string.
        asks_for_total: whether the question asks for the total of several figures.
        asks_for_more: whether the question asks for notes beyond the attached ones.
        asks_for_notes: whether the question asks which notes contain something.
        is_comparison: whether the question compares things.
        names_subject: whether any word of the question could be looked up. It is False for messages
            such as "Thanks!" and "What can you do?".
        period: the period that the question is about, or None if it names no date.
        money: the amounts of money that the question names.
        excludes: whether the question asks for notes without something, as "not about rain".
    """

    text: str
    searched: str
    kind: QuestionKind
    words: frozenset[str]
    added: frozenset[str]
    facets: tuple[Facet, ...]
    order: Literal["", "first", "last"] = ""
    asks_for_definition: bool = False
    answer_type: AnswerType = ""
    asks_for_total: bool = False
    asks_for_more: bool = False
    asks_for_notes: bool = False
    is_comparison: bool = False
    names_subject: bool = True
    period: Period | None = None
    money: tuple[Amount, ...] = ()
    excludes: bool = False


def read_question(text: str, searched: str = "", today: date | None = None) -> AskedQuestion:
    """Find out what a question asks for.

    Args:
        text: the question.
        searched: the search query if it differs from the question, for example because the spelling
            was corrected or words were carried over from the previous question.
        today: the date that words such as "yesterday" refer to, or None for the current date.
    """
    whole, text = text, extract_subject(text)
    corrected = searched.split()[: len(text.split())]
    text = " ".join(corrected) if corrected else text
    asked = cut_background(text)
    words = list_content_words(searched or text)
    is_definition = _DEFINITION.search(asked) is not None
    kind: QuestionKind = "fact" if is_definition else _read_kind(asked)
    order = _find_order(asked) if kind == "time" else ""
    if order:  # the notes rarely say which time was the last one
        words -= split_words(" ".join(_match_order(order).findall(asked)))
    return AskedQuestion(
        text,
        searched or text,
        kind,
        words,
        added=words - split_words(asked),
        facets=tuple(_list_facets(asked)) or (Facet(),),
        order=order,
        asks_for_definition=is_definition or (kind == "fact" and _is_subject(asked)),
        answer_type="" if kind == "how_to" else read_answer_type(asked),
        asks_for_total=asks_for_total(asked),
        asks_for_more=_MORE.search(whole) is not None,
        asks_for_notes=_NOTES.search(asked) is not None,
        is_comparison=is_comparison(asked),
        names_subject=bool(list_subject_words(searched or text)),
        period=read_period(asked, today or date.today()),
        money=find_money(asked),
        excludes=asks_to_exclude(asked),
    )


def split_question(text: str) -> list[str]:
    """Split a question about several things into one query for each.

    Return an empty list if the question is about a single thing.
    """
    return [facet.leave_out_others(text) for facet in _list_facets(text)]


def can_be_looked_up(text: str, titles: Iterable[str]) -> bool:
    """Return whether a message names a subject or contains a word from the title of a note.

    Args:
        text: the message.
        titles: the titles of the notes that were found.
    """
    named = split_words(text) - find_function_words(text)
    return bool(list_subject_words(text)) or any(named & split_words(title) for title in titles)


def extract_subject(text: str) -> str:
    """Return the subject of a request such as "Summarise my notes about compost" or "LCP meaning".

    Any other text is returned unchanged.
    """
    if (found := _ABOUT.match(text)) is not None:
        return text[found.end() :]
    meaning = _MEANING.fullmatch(text)
    return text if meaning is None else meaning[1] or meaning[2]


def cut_background(text: str) -> str:
    """Return a question without the statements before it, as in "I have A. How do I get B?"."""
    found = _BACKGROUND.match(text)
    return text[found.end() :] if found else text


def _find_order(text: str) -> Literal["", "first", "last"]:
    """Return whether a question asks for the last or the first time of something."""
    kinds: tuple[Literal["first", "last"], ...] = ("last", "first")
    return next((kind for kind in kinds if _match_order(kind).search(text)), "")


@cache
def _match_order(kind: str) -> re.Pattern[str]:
    words = sorted(list_order_words(kind), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)


def _is_subject(text: str) -> bool:
    """Return whether a text only names a subject, such as "docker compose"."""
    return len(text.split()) <= MOST_WORDS_OF_SUBJECT and _ASKING.search(text) is None


def _read_kind(text: str) -> QuestionKind:
    if _TIME.search(text):
        return "time"
    amount, instructions = _AMOUNT.search(text), _HOW_TO.search(text)
    asks_amount_first = amount and instructions and amount.start() < instructions.start()
    if _REQUEST.search(text) or (instructions and not asks_amount_first):
        return "how_to"
    return "list" if _LIST.search(text) else "fact"


def _list_facets(text: str) -> Iterator[Facet]:
    """Yield the things that a question asks about, if there are at least two."""
    text = _CONDITION.sub("", cut_background(text))
    joining = _COMPARED_WITH if is_comparison(text) else _JOINING
    if not joining.search(text):
        return
    left_out = find_function_words(text)
    split = (piece for clause in joining.split(text) for piece in re.split("[,;]", clause))
    pieces = [words for piece in split if (words := _list_words_in_order(piece, left_out))]
    if not 2 <= len(pieces) <= 4:
        return
    # The words before the first thing and after the last one belong to all things.
    shortest = min(map(len, pieces[1:]))
    named = [pieces[0][-shortest:], *pieces[1:-1], pieces[-1][:shortest]]
    for at, own in enumerate(named):
        others = {word for other in (*named[:at], *named[at + 1 :]) for word in other}
        yield Facet(frozenset(own) - others, frozenset(others) - frozenset(own))


def _list_words_in_order(text: str, left_out: AbstractSet[str]) -> Sequence[str]:
    """Return the words of a text in order.

    Args:
        left_out: the words to leave out, such as function words.
    """
    known = split_words(text) - left_out
    folded = (next(iter(split_words(word)), "") for word in WORD.findall(text))
    return [word for word in folded if word in known]
