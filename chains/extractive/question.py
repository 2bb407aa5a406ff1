"""Find out what a question asks for: a fact, a list, instructions, a time, or several things."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Literal

from chains.extractive.words import list_asked_words, split_words
from vault.notes.keywords import find_function_words

__all__ = [
    "DATE",
    "FIGURES",
    "AskedQuestion",
    "Facet",
    "QuestionKind",
    "read_question",
    "split_question",
]

QuestionKind = Literal["fact", "how_to", "list", "time"]

_HOW_TO: Final = re.compile(
    r"\bhow (?:do|does|can|could|should|would|to|must|is|are)\b(?!\s+\w+\s+(?:many|much))"
    r"|\bsteps (?:to|for)\b|\bway to\b|\bwhat (?:do i|has to be|must be) do(?:ne)?\b"
    r"|\bwie (?:kann|mache?|geht|soll|wird|werden|man|\w+ (?:ich|man))\b"
    r"|\bcomment\b|\bc[oó]mo\b|\bcome si\b",
    re.IGNORECASE,
)
_LIST: Final = re.compile(
    r"^(?:please )?(?:list|name|enumerate|show)\b"
    r"|^what can\b|^what (?:do|does|would) \w+ need (?:to|for)\b"
    # Matches a plural noun after "which", but not a verb such as "is" or "marks a …".
    r"|\b(?:which|what)(?: (?!(?:is|was|does|has|this)\b)\w+)?"
    r" (?!(?:is|was|does|has|this|his|its|us|plus|\w+ss)\b)\w+s\b"
    r"(?! (?:is|a|an|the|my|one|you|it)\b)"
    r"|\b(?:which|what)(?: \w+){0,2} (?:are|were|have|went)\b|\bwho are\b|\bwhat are\b"
    r"|\b(?:types|kinds|options|steps|parts|ways|statuses|tools|members) of\b"
    r"|^welche\b|\bliste\b|^quel(?:le)?s\b|^cu[aá]les\b",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"^(?:\w+ )?when\b|[,;:] when\b(?=[^,;]*\?)|\b(?:know|say|tell(?: me)?|since) when\b"
    r"|\b(?:which|what) (?:date|day|month|year|time)\b|\bhow often\b"
    r"|\bwhat time\b|^(?:seit )?wann\b|\bquand\b|\bcu[aá]ndo\b|\bquando\b",
    re.IGNORECASE,
)
_LAST: Final = re.compile(
    r"\b(?:last|latest|newest|most recent|recently|zuletzt|letzte\w*)\b", re.I
)
_FIRST: Final = re.compile(r"\b(?:first|earliest|oldest|zuerst|erste\w*)\b", re.IGNORECASE)
_DEFINITION: Final = re.compile(
    r"^(?:what|who)(?: is| are|'s| was| were) (?!the\b|my\b|in\b|there\b|some\b|all\b)"
    r"|^what(?: is|'s) the (?:(?!of\b|for\b|in\b|to\b|on\b)[\w-]+ ){0,2}[\w-]+ ?\?$"
    r"|^how (?:do|does) \S+(?: \S+){0,5} differ\b|^what(?: is|'s) the difference between\b"
    r"|^what does \S+ (?:do|mean|check|stand for)\b|^what (?:is|are) .*\bfor\?$"
    r"|^was (?:ist|sind) (?!der\b|die\b|das\b)",
    re.IGNORECASE,
)
_JOINING: Final = re.compile(
    r"\b(?:and|or|versus|vs|than|as opposed to|und|oder|et|ou|y|o)\b|[,;&/]", re.IGNORECASE
)
_FIGURE: Final = re.compile(
    r"\bhow (?:many|much|big|large|old|far|fast|high|heavy)\b"
    r"|\b(?:which|what)(?: is)?(?: the)?(?: \w+)? (?:number|level|size|port|price|amount|value"
    r"|address|code|limit|maximum|minimum|range|rate|threshold)(?:s|es)?\b"
    r"|\bcosts?\b|\bwie (?:viele?|gro(?:ß|ss)|alt|weit|hoch)\b|\bcombien\b|\bcu[aá]nt",
    re.IGNORECASE,
)
_DURATION: Final = re.compile(
    r"\bhow (?:long|often)\b|\bafter how many (?:\w+s)\b|\bwie (?:lange?|oft)\b", re.IGNORECASE
)
_VERSION: Final = re.compile(r"\b(?:which|what)(?: \w+)? version\b", re.IGNORECASE)
_KEYS: Final = re.compile(
    r"\b(?:keyboard )?short ?cuts?\b|\bhot ?keys?\b|\bkey (?:combination|binding)s?\b"
    r"|\btasten(?:kürzel|kombination|kombinationen)\b|\braccourcis? clavier\b",
    re.IGNORECASE,
)
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
# What the text that answers a question about a time or a number contains.
DATE: Final = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[.:]\d{2}\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"[a-z]*\.? \d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:daily|weekly|monthly|every)\b",
    re.IGNORECASE,
)
_NUMBER: Final = r"\b(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|half)"
FIGURES: Final = {
    "number": re.compile(rf"\d|{_NUMBER}\b"),
    "duration": re.compile(
        rf"{_NUMBER}[ -]?(?:ms|s|min|h|d|milli\w*|seconds?|minutes?|hours?|days?|nights?|weeks?"
        r"|months?|years?|blocks?|epochs?|slots?|sekunden?|minuten?|stunden?|tagen?|wochen?"
        r"|monaten?|jahren?)\b|\b(?:daily|weekly|monthly|yearly|hourly|twice|every)\b",
        re.IGNORECASE,
    ),
    "version": re.compile(r"\b[vV]?\d+\.\d+"),
    "keys": re.compile(
        r"\b(?:Ctrl|Control|Cmd|Command|Alt|Option|Shift|Super|Meta|Strg|Umschalt)\b ?[-+`]"
        r"|\b(?:Esc|Escape|Enter|Return|Tab|Space|F\d{1,2})\b|[⌘⌥⇧⌃]|`[^`\s]`"
    ),
}
# Questions for an amount and for a time, in English and German, and the words of their answers.
_AMOUNT: Final = re.compile(
    r"\bhow (?:many|much|long)\b|^what\b.*\bcosts?\b|\bwie (?:viele?|lange)\b", re.IGNORECASE
)
_AMOUNT_ANSWER: Final = re.compile(
    rf"\d|{_NUMBER}\b|\b(?:eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety|hundreds?|thousands?|millions?|dozens?|single|once|twice|none|never|always"
    r"|unlimited|infinite|forever|overnight|daily|weekly|monthly|yearly|eine?[nrs]?|zwei|drei"
    r"|vier|fünf|sechs|sieben|acht|neun|zehn|keine?[nrs]?|immer|nie|täglich)\b",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(r"^(?:\w+ )?when\b|^(?:seit )?wann\b", re.IGNORECASE)
_WHEN_ANSWER: Final = re.compile(
    r"\d|\b(?:after|before|until|till|since|once|when|whenever|while|during|if|soon|now|later"
    r"|always|never|often|daily|weekly|monthly|yearly|every|each|morning|noon|evening|today"
    r"|(?:(?:mon|tues|wednes|thurs|fri|satur|sun)?day|night|week|month|year|hour|minute)s?"
    r"|tomorrow|yesterday|spring|summer|autumn|winter|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|nach|vor|bis|seit|wenn|sobald|während"
    r"|jede[nrs]?|immer|nie|heute|morgen|gestern|abends?|nachts?|tage?n?|\w+tags?|wochen?"
    r"|monate?n?|jahre?n?|stunden?|minuten?|januar|februar|märz|mai|juni|juli|oktober|dezember"
    r"|frühling|sommer|herbst)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_]+")


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
        """Return a question without the words that describe only the other things it asks about."""
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
        added: the words of the query that come from the previous question.
        facets: the things that the question asks about, at least one.
        order: `first` or `last` if the question asks for what happened first or last, otherwise an
            empty string.
        defines: whether the question asks for a definition.
        figure: the kind of number, or the keys, that the question asks for, or an empty string.
        asks_for_more: whether the question asks for notes beyond the attached ones.
        asks_for_notes: whether the question asks which notes contain something.
    """

    text: str
    searched: str
    kind: QuestionKind
    words: frozenset[str]
    added: frozenset[str]
    facets: tuple[Facet, ...]
    order: Literal["", "first", "last"] = ""
    defines: bool = False
    figure: Literal["", "number", "duration", "version", "keys"] = ""
    asks_for_more: bool = False
    asks_for_notes: bool = False


def read_question(text: str, searched: str = "") -> AskedQuestion:
    """Find out what a question asks for.

    Args:
        text: the question.
        searched: the search query if it differs from the question, for example because of corrected
            spelling or words taken over from the previous turn.
    """
    asked = searched.split()[: len(text.split())]
    text = " ".join(asked) if asked else text
    words = list_asked_words(searched or text)
    added = words - split_words(text)
    defines = _DEFINITION.search(text) is not None
    kind: QuestionKind = "fact" if defines else _read_kind(text)
    order: Literal["", "first", "last"] = ""
    if kind == "time":
        order = "last" if _LAST.search(text) else "first" if _FIRST.search(text) else ""
    facets = tuple(_list_facets(text)) or (Facet(),)
    asks_for_more = _MORE.search(text) is not None
    figure = _read_figure(text)
    asks_for_notes = _NOTES.search(text) is not None
    asked_for = (kind, words, added, facets, order, defines, figure, asks_for_more, asks_for_notes)
    return AskedQuestion(text, searched or text, *asked_for)


def can_answer(question: AskedQuestion, text: str) -> bool:
    """Return whether a text has what a question for an amount or a time asks for.

    A text without a number does not answer "How many?", a text that mentions no time does not
    answer "When?", and a text that names no key is no keyboard shortcut. Other questions, and other
    languages than English and German, are not examined.
    """
    if _AMOUNT.search(question.text) and not _AMOUNT_ANSWER.search(text):
        return False
    if question.figure == "keys" and not FIGURES["keys"].search(text):
        return False
    return not _WHEN.search(question.text) or _WHEN_ANSWER.search(text) is not None


def split_question(text: str) -> list[str]:
    """Split a question about several things into one query for each.

    Return an empty list if the question is about a single thing.
    """
    return [facet.leave_out_others(text) for facet in _list_facets(text)]


def _read_kind(text: str) -> QuestionKind:
    if _TIME.search(text):
        return "time"
    if _HOW_TO.search(text) and not re.search(
        r"\bhow (?:many|much|big|long|old|far)\b", text, re.I
    ):
        return "how_to"
    return "list" if _LIST.search(text) else "fact"


def _read_figure(text: str) -> Literal["", "number", "duration", "version", "keys"]:
    if _KEYS.search(text):
        return "keys"
    if _DURATION.search(text):
        return "duration"
    if _VERSION.search(text):
        return "version"
    return "number" if _FIGURE.search(text) else ""


def _list_facets(text: str) -> Iterator[Facet]:
    """Yield the things that a question asks about, if there are at least two."""
    left_out = find_function_words(text)
    pieces = [_list_telling(piece, left_out) for piece in _JOINING.split(text)]
    pieces = [piece for piece in pieces if piece]
    if not 2 <= len(pieces) <= 4:
        return
    # The words before the first thing and after the last one belong to all things.
    shortest = min(map(len, pieces[1:]))
    named = [pieces[0][-shortest:], *pieces[1:-1], pieces[-1][:shortest]]
    for at, own in enumerate(named):
        others = {word for other in (*named[:at], *named[at + 1 :]) for word in other}
        yield Facet(frozenset(own) - others, frozenset(others) - frozenset(own))


def _list_telling(text: str, left_out: AbstractSet[str]) -> Sequence[str]:
    """Return the words of a text in order, without function words.

    Args:
        text: the text.
        left_out: more words to leave out.
    """
    known = split_words(text) - left_out
    folded = (next(iter(split_words(word)), "") for word in _WORD.findall(text))
    return [word for word in folded if word in known]
