"""Read which notes a rule decides: by the filter of a question, or by a literal that it asks for.

A rule says no only where that is provable: the note does not match a filter that was understood,
or a text in quotation marks that was asked for as such is nowhere in it. It says yes only if the
whole question is that filter or literal. All other notes are left to a model.
"""

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from chains.citations.quotes import VerbatimText
from chains.judge.verdicts import Verdict, find_place
from vault.notes.keywords import fold
from vault.search.query import Query, describe_filters, parse_query
from vault.vault import Vault

__all__ = ["QuestionRules", "read_rules"]

# Verbs that ask for words as they are written. "About" does not.
_LITERALLY: Final = re.compile(
    r"\b(?:contain(?:s|ing)?|mention(?:s|ing)?|say(?:s|ing)?|ha(?:ve|s) the words?|"
    r"with the words?|enth[aä]lt|enthalten|erw[aä]hn(?:t|en)|contien(?:e|en|nent|t)|"
    r"mencionan?|mentionne(?:nt)?)\W{1,3}\"[^\"\n]+\"",
    re.IGNORECASE,
)
_WITHOUT: Final = Query("")
_NO_LETTERS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class QuestionRules:
    """The part of a question that rules decide.

    Attributes:
        query: the filter. Notes that do not match it do not fulfil the question.
        phrase: the literal that the notes must contain, or an empty string.
        is_whole: whether a note that matches the filter and has the literal fulfils the question.
    """

    query: Query = _WITHOUT
    phrase: str = ""
    is_whole: bool = False

    @property
    def description(self) -> str:
        """The rules in words, such as "with the tag #recipe", or an empty string."""
        literal = f"containing “{self.phrase}”" if self.phrase else ""
        return ", ".join(filter(None, (describe_filters(self.query), literal)))

    @property
    def has_any(self) -> bool:
        """Whether rules decide about any note."""
        return self.is_whole or self.query.has_filter or bool(self.phrase)

    def decide_literal(self, name: str, text: str) -> Verdict | None:
        """Return the verdict on a note that matches the filter, or None if a model has to decide.

        Args:
            name: the name of the note.
            text: the text of the note.
        """
        if not self.phrase:
            return Verdict("yes") if self.is_whole else None
        span = VerbatimText(text).find(self.phrase) if _holds(text, self.phrase) else None
        if span is not None:
            return Verdict("yes", find_place(text, span)) if self.is_whole else None
        is_absent = not (_holds(text, self.phrase) or _holds(name, self.phrase))
        return Verdict("no") if is_absent else None


def read_rules(vault: Vault, question: str, today: date) -> QuestionRules:
    """Read the rules of a question against the notes.

    Args:
        vault: the notes.
        question: the question, which may contain filters as in the search box.
        today: the date that words such as "yesterday" refer to.
    """
    asked = " ".join(question.split())
    reading = vault.read_question(asked, today)
    given = parse_query(asked)
    if reading is not None and reading.operation in ("list", "count"):
        query = parse_query(reading.query)
        words, literal = query.words.strip(), _find_literal(asked)
        without = replace(query, words="", phrases=())
        if not words:
            return QuestionRules(without, is_whole=True)
        if literal and fold(literal) == fold(words):
            return QuestionRules(without, literal, is_whole=True)
        return QuestionRules(without)
    if not given.has_filter or given.problems:
        return QuestionRules()
    is_whole = not given.words.strip()
    return QuestionRules(replace(given, words="", phrases=()), is_whole=is_whole)


def _find_literal(question: str) -> str:
    """Return the only text in quotation marks, if the question asks for it as it is written."""
    phrases = parse_query(question).phrases
    is_asked = len(phrases) == 1 and _LITERALLY.search(question) is not None
    return phrases[0] if is_asked else ""


def _holds(text: str, phrase: str) -> bool:
    """Return whether a text may contain a phrase, regardless of case, markup and white space."""
    wanted = _NO_LETTERS.sub("", fold(phrase))
    return not wanted or wanted in _NO_LETTERS.sub("", fold(text))
