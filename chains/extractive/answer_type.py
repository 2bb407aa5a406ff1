"""Find out what type of answer a question expects, and whether a text contains such an answer.

The types are keyboard keys, and values such as a number, a price or a temperature. Most questions
expect none of them.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final, Literal

from chains.extractive.words import list_content_words, measure_match, split_words
from vault.notes.keywords import FUNCTION_WORDS, fold
from vault.notes.units import can_convert, is_known_unit

__all__ = [
    "AnswerType",
    "contains_amount_in",
    "contains_answer_of_type",
    "contains_count",
    "meets_expected_type",
    "mentions_time",
    "read_answer_type",
    "read_asked_unit",
]

AnswerType = Literal[
    "", "keys", "duration", "version", "temperature", "percentage", "price", "number"
]

_NUMBER: Final = r"\b(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|half)"

# What a question contains that expects an answer of a type. The first type that matches counts.
# Gaps between words are limited, so that a long pasted text is searched in little time.
_QUESTIONS: Final[Mapping[AnswerType, re.Pattern[str]]] = {
    "keys": re.compile(
        r"\b(?:keyboard )?short ?cuts?\b|\bhot ?keys?\b|\bkey (?:combination|binding)s?\b"
        r"|\btasten(?:kürzel|kombination|kombinationen)\b|\braccourcis? clavier\b",
        re.IGNORECASE,
    ),
    "duration": re.compile(
        r"\bhow (?:long|often)\b|\bafter how many (?:\w+s)\b|\bwie (?:lange?|oft)\b", re.IGNORECASE
    ),
    "version": re.compile(r"\b(?:which|what)(?: \w+)? version\b", re.IGNORECASE),
    "temperature": re.compile(
        r"\b(?:which|what)\b[^,;?]{0,80}\btemperature\b|\bhow (?:hot|warm|cold)\b"
        r"|\bhow many degrees\b"
        r"|\bwie (?:heiß|heiss|warm|kalt)\b|\bwelche\w*\b[^,;?]{0,80}\btemperatur\b",
        re.IGNORECASE,
    ),
    "percentage": re.compile(
        r"\b(?:which|what) percent(?:age)?\b|\bhow many percent\b|\bwie viel prozent\b",
        re.IGNORECASE,
    ),
    "price": re.compile(
        r"\b(?:which|what)\b[^,;?]{0,80}\bprice\b"
        r"|\bhow (?:much|many)\b[^,;?]{0,80} (?:pay|paid|charge)\b"
        r"|\bwhat (?:do|did|does|will|must|should) \w+ pay\b"
        r"|\bhow much (?:money )?(?:did|do|have|has) \w+ spen[dt]\b"
        r"|\b(?:cost|charge)s?\b[^,;?]{0,80}\b(?:per|a) (?:month|year|week|day|user|person)\b"
        r"|\bcosts? (?:me|us|them)\b|\bin (?:dollars|euros?|pounds|USD|EUR|GBP)\b",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\bhow (?:many|much|big|large|old|far|fast|high|heavy)\b"
        r"|\b(?:which|what)(?: is)?(?: the)?(?: \w+)? (?:number|level|size|port|price|amount|value"
        r"|address|code|limit|maximum|minimum|range|rate|threshold)(?:s|es)?\b"
        r"|\bcosts?\b|^number of\b|\bwie (?:viele?|gro(?:ß|ss)|alt|weit|hoch)\b"
        r"|\bcombien\b|\bcu[aá]nt",
        re.IGNORECASE,
    ),
}
# What a text contains that has an answer of a type.
_ANSWERS: Final[Mapping[AnswerType, re.Pattern[str]]] = {
    "keys": re.compile(
        r"\b(?:Ctrl|Control|Cmd|Command|Alt|Option|Shift|Super|Meta|Strg|Umschalt)\b ?[-+`]"
        r"|\b(?:Esc|Escape|Enter|Return|Tab|Space|F\d{1,2})\b|[⌘⌥⇧⌃]|`[^`\s]`|\b[A-Z]: "
    ),
    "duration": re.compile(
        rf"{_NUMBER}[ -]?(?:ms|s|min|h|d|milli\w*|seconds?|minutes?|hours?|days?|nights?|weeks?"
        r"|months?|years?|blocks?|epochs?|slots?|sekunden?|minuten?|stunden?|tagen?|wochen?"
        r"|monaten?|jahren?)\b|\b\d{1,2}:\d\d\b|\b(?:daily|weekly|monthly|yearly|hourly|twice|every)\b",
        re.IGNORECASE,
    ),
    "version": re.compile(r"\b[vV]?\d+\.\d+"),
    "temperature": re.compile(
        r"\d ?°|\b\d{2,3} ?[CFK]\b|\bdegrees?\b|\bcelsius\b|\bfahrenheit\b|\bgas mark\b|\bgrad\b"
        r"|\b(?:room|body) temperature\b|\b(?:low|medium|high|moderate) heat\b|\bboiling\b"
        r"|\bfreezing\b|\bzimmertemperatur\b",
        re.IGNORECASE,
    ),
    "percentage": re.compile(
        r"%|\bper ?cent\b|\bprozent\b"
        r"|\b(?:half|third|quarter|fifth|tenth|hälfte|drittel|viertel)\b",
        re.IGNORECASE,
    ),
    "price": re.compile(
        r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?|cents?|francs?|franken|bucks"
        r"|free|kostenlos|gratis)\b|\b\d+[.,]\d\d\b",
        re.IGNORECASE,
    ),
    "number": re.compile(rf"\d|{_NUMBER}\b"),
}
# A time of day in words, such as "twenty past seven", "at noon" or "um halb acht".
_HOUR: Final = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|eins?|zwei|drei|vier|fünf"
    r"|sechs|sieben|acht|neun|zehn|elf|zwölf)"
)
_CLOCK: Final = (
    r"o[’']clock\b|uhr\b|(?:noon|midday|midnight|dawn|dusk|sun(?:rise|set)|lunch(?:time)?|bedtime)\b"
    r"|(?:vor|nach)?mittags?\b|mitternacht\b"
    rf"|(?:at|by|from|about|around|past|to|um|ab|gegen|halb|nach|vor) {_HOUR}\b"
)
_DATE: Final = re.compile(
    rf"\b(?:{_CLOCK})"
    r"|\b(?:19|20)\d\d\b|\b\d{1,2}[.:]\d{2}\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"[a-z]*\.? \d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:daily|weekly|monthly|every)\b",
    re.IGNORECASE,
)
# The types without which a text does not answer. Other texts can answer questions for the others.
_NECESSARY: Final = frozenset({"keys", "temperature", "percentage", "price"})
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
# Matches what is counted, such as "new cards" in "How many new cards are there?".
_COUNTED: Final = re.compile(r"\b(?:how many|wie viele) ([\w-]+(?: [\w-]+)?)", re.IGNORECASE)
_NUMERAL: Final = re.compile(
    r"\d\S*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?"
    r"|thousands?|half|single|no|any|unlimited|ein\w*|kein\w*|zwei|drei|vier|fünf|sechs|sieben"
    r"|acht|neun|zehn",
    re.IGNORECASE,
)
WORDS_BESIDE: Final = 4
# The unit that a question asks for, as in "How many kilos of plums".
_ASKED_UNIT: Final = re.compile(
    r"\b(?:how (?:many|much)|wie ?viele?|combien (?:de |d['’])|cu[aá]nt[oa]s) ?([^\W\d_]{2,})\b",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d")
_WITH_UNIT: Final = re.compile(r"\d ?([^\W\d_]{1,12}|[%€$£])(?![^\W\d_])")
_WHEN: Final = re.compile(r"^(?:\w+ )?when\b|^(?:seit )?wann\b", re.IGNORECASE)
_WHEN_ANSWER: Final = re.compile(
    rf"\d|\b(?:{_CLOCK})"
    r"|\bon the (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)\b"
    r"|\b(?:after|before|until|till|since|once|when|whenever|while|during|if|soon|now|later"
    r"|always|never|often|daily|weekly|monthly|yearly|every|each|morning|noon|evening|today"
    r"|(?:(?:mon|tues|wednes|thurs|fri|satur|sun)?day|night|week|month|year|hour|minute)s?"
    r"|tomorrow|yesterday|spring|summer|autumn|winter|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|nach|vor|bis|seit|wenn|sobald|während"
    r"|jede[nrs]?|immer|nie|heute|morgen|gestern|abends?|nachts?|tage?n?|\w+tags?|wochen?"
    r"|monate?n?|jahre?n?|stunden?|minuten?|januar|februar|märz|mai|juni|juli|oktober|dezember"
    r"|frühling|sommer|herbst)\b",
    re.IGNORECASE,
)


def read_answer_type(question: str) -> AnswerType:
    """Return the type of answer that a question expects, or an empty string."""
    return next((kind for kind, asked in _QUESTIONS.items() if asked.search(question)), "")


def contains_answer_of_type(text: str, answer_type: AnswerType) -> bool:
    """Return whether a text contains an answer of a type, which is always true of no type."""
    return not answer_type or _ANSWERS[answer_type].search(text) is not None


def mentions_time(text: str) -> bool:
    """Return whether a text contains a date, a time or a word such as "weekly"."""
    return _DATE.search(text) is not None


def meets_expected_type(question: str, text: str) -> bool:
    """Return whether a text contains what the answer to a question must contain.

    A text without a number does not answer "How many?", a text that mentions no time does not
    answer "When?", and a text without degrees does not answer a question for a temperature. For
    other questions, and for languages other than English and German, the result is always True.
    """
    answer_type = read_answer_type(question)
    if answer_type in _NECESSARY and not contains_answer_of_type(text, answer_type):
        return False
    if _AMOUNT.search(question) and not _AMOUNT_ANSWER.search(text):
        return False
    return not _WHEN.search(question) or _WHEN_ANSWER.search(text) is not None


def contains_count(question: str, text: str) -> bool:
    """Return whether a text contains a number near the word for what a question counts.

    An example is "3 beds" for "How many beds are there?". The result is also True for questions
    that count nothing.
    """
    counted = _COUNTED.search(question)
    if counted is None:
        return True
    wanted = list_content_words(counted[1])
    tokens = text.split()
    for at, token in enumerate(tokens):
        if _NUMERAL.fullmatch(token.strip("*_`~.,;:()[]|")):
            beside = tokens[max(0, at - WORDS_BESIDE) : at + WORDS_BESIDE + 1]
            words = split_words(" ".join(beside))
            if any(measure_match(word, words) for word in wanted):
                return True
    return False


def read_asked_unit(question: str) -> str:
    """Return the unit of the amount that a question asks for, or an empty string."""
    asked = _ASKED_UNIT.search(question)
    if asked is None or fold(asked[1]) in FUNCTION_WORDS or not is_known_unit(asked[1]):
        return ""
    return asked[1]


def contains_amount_in(unit: str, text: str, words: AbstractSet[str]) -> bool:
    """Return whether a text has an amount in a unit, or in another that it can be converted to.

    Args:
        unit: the unit, such as "kilos".
        text: the text, such as "3 kg of plums".
        words: the words of the text and of what is around it, such as the names of columns.
    """
    beside = (match[1] for match in _WITH_UNIT.finditer(text))
    if any(_measures_same(unit, other) for other in beside):
        return True
    around = (word for word in words - FUNCTION_WORDS if len(word) > 1)
    return _DIGIT.search(text) is not None and any(_measures_same(unit, word) for word in around)


def _measures_same(unit: str, other: str) -> bool:
    return is_known_unit(other) and can_convert(unit, other)
