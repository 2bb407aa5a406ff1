"""Read which notes a rule decides: by the filter of a question, or by a literal that it asks for.

A rule decides only what is provable, so a question is read by a grammar that knows each of its
words: a filter at its beginning, a named tag, folder, link, date or task, or a text in quotation
marks. Whatever the grammar does not know, such as a "should", a "not" or an "or", leaves the
question to a model, and all its notes with it.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from chains.judge.proofs import find_proof
from chains.judge.verdicts import Verdict, find_place
from vault.notes.keywords import fold
from vault.notes.text.markup import list_shown_pieces
from vault.search.query import Query, describe_filters, parse_query

__all__ = ["QuestionRules", "read_rules"]

_WITHOUT: Final = Query("")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_MARKS: Final = {**{ord(mark): '"' for mark in "“”„«»"}, ord("¿"): None, ord("¡"): None}
_MOST_WORDS: Final = 60

# How a question begins that asks for notes, in English, German, Spanish and French.
_HEAD: Final = (
    r"(?:(?:which|what|how many|list|show(?: me)?|find|count|all|every|the|of|my|"
    r"welche|wie viele|liste|zeige?(?: mir)?|finde|z[aä]hle|alle|die|meine[rn]?|"
    r"qu[eé]|cu[aá]les|cu[aá]ntas|lista|muestra|busca|cuenta|todas|las|mis|"
    r"quelles|combien de|liste[rz]?|montre[rz]?|trouve[rz]?|compte[rz]?|toutes|les|mes) )*"
    r"(?:(?:notes?|notiz(?:en)?|notas?) (?:(?:that|which|die|que|qui) )?)?"
)
_SAYS: Final = (
    r"(?:contain(?:s|ing)?|mention(?:s|ing)?|say(?:s|ing)?|ha(?:ve|s)|with|"
    r"enth(?:[aä]lt|alten)|erw[aä]hn(?:t|en)|sagt|sagen|"
    r"contienen?|mencionan?|dicen?|contien(?:t|nent)|mentionne(?:nt)?|dit|disent)"
)
_NOUN: Final = (
    r"(?: (?:the|das|den|die|la|las|le|les))?"
    r"(?: (?:words?|phrase|text|w[oö]rt(?:er)?|satz|palabras?|frase|texto|mots?|texte))?"
)
_NEEDS_NOUN: Final = re.compile(r"^(?:.* )?(?:ha(?:ve|s)|with)(?: the)? \"", re.IGNORECASE)
_LITERAL: Final = re.compile(
    rf'{_HEAD}{_SAYS}{_NOUN}:? " ?(?P<literal>[^"]+?) ?"[ ?.!]*', re.IGNORECASE
)
# What is named with a word that says what it is, and the filter that means it.
_NAME: Final = r'(?:"(?P<quoted>[^"]+)"|(?P<plain>{plain}))'
_TAG: Final = _NAME.format(plain=r"#[\w/-]*\w")
_FOLDER: Final = _NAME.format(plain=r"(?-i:[A-ZÀ-ÞΑ-ΩА-Я0-9])[\w/-]*|[\w-]+/[\w/-]*")
_LINK: Final = r'\[\[(?P<plain>[^\[\]"|#]+)\]\](?P<quoted>)'
_DATE: Final = r"(?P<plain>\d{4}(?:-\d\d){0,2})(?P<quoted>)"
_ARE: Final = r"(?:(?:are|is|lie|liegen|liegt|sind|ist|est[aá]n?|sont|est|se trouvent) )?"
_HAVE: Final = (
    r"(?:have|has|with|carry|haben|hat|tragen|mit|tienen?|con|llevan|ont|a|avec|portent) "
)
_TASKS: Final = (
    rf"{_HAVE}(?:{{before}}) (?:tasks?|aufgaben)|"
    rf"{_HAVE}(?:des )?(?:tareas|t[aâ]ches) (?:{{behind}})"
)
_FILTERS: Final[Sequence[tuple[str, str]]] = (
    (
        'tag:"{}"',
        rf"(?:{_HAVE}(?:(?:the|a|den|das|dem|la|le) )?"
        rf"(?:tag|hashtag|schlagwort|etiqueta|[eé]tiquette)|{_HAVE}l['’][eé]tiquette|"
        rf"{_ARE}(?:tagged|getaggt|etiquetadas|[eé]tiquet[eé]es)(?: (?:with|mit|con|avec))?)"
        rf" {_TAG}",
    ),
    (
        'folder:"{}"',
        rf"{_ARE}(?:in(?: the)? folder|im ordner|en la carpeta|dans le dossier) {_FOLDER}",
    ),
    (
        'link:"{}"',
        rf"(?:links? to|linking to|verlinken auf|enlazan a|renvoient vers) {_LINK}",
    ),
    (
        'date:"{}"',
        rf"{_ARE}(?:dated|datiert(?: auf)?|fechadas|dat[eé]es)(?: (?:in|on|en|de))? {_DATE}",
    ),
    (
        "has:open-task",
        _TASKS.format(before="open|offenen?", behind="abiertas|pendientes|ouvertes"),
    ),
    (
        "has:done-task",
        _TASKS.format(
            before="done|finished|completed|erledigten?", behind="hechas|terminadas|termin[eé]es"
        ),
    ),
)
_NAMED: Final = [
    (wanted, re.compile(rf"{_HEAD}(?:{phrase})[ ?.!]*", re.IGNORECASE))
    for wanted, phrase in _FILTERS
]
# Punctuation at the end of a value without quotation marks, of which nobody can tell whether it
# belongs to the name or to the sentence.
_UNSURE_END: Final = re.compile(r"[,;:)?!.](?=\s|$)")


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
        if not (_may_hold(text, self.phrase) or _may_hold(name, self.phrase)):
            return Verdict("no")
        span = find_proof(text, self.phrase)
        is_same = span is not None and (len(self.phrase) > 1 or text[slice(*span)] == self.phrase)
        return Verdict("yes", find_place(text, span)) if span is not None and is_same else None


def read_rules(question: str) -> QuestionRules:
    """Read the rules of a question, which may begin with filters as in the search box."""
    asked = " ".join(question.translate(_MARKS).split())
    query, rest = _split_filters(asked)
    if not rest:
        return QuestionRules(query, is_whole=query.has_filter)
    if literal := _find_literal(rest):
        return QuestionRules(query, literal, is_whole=True)
    if query.has_filter:  # of which the rest may be an exception: "tag:garden apart from roses"
        return QuestionRules()
    return next(filter(None, (_read_named(rest, *named) for named in _NAMED)), QuestionRules())


def _split_filters(asked: str) -> tuple[Query, str]:
    """Return the filters at the beginning of a question, and the rest of it."""
    ends = [found.start() for found in re.finditer(r" |$", asked)][:_MOST_WORDS]
    for end in reversed(ends):
        query = parse_query(asked[:end])
        if query.has_filter and not (query.words.strip() or query.phrases or query.problems):
            if _UNSURE_END.search(re.sub(r'"[^"]*"', '""', asked[:end])):
                break
            return replace(query, words=""), asked[end:].strip()
    return _WITHOUT, asked


def _find_literal(asked: str) -> str:
    """Return the text in quotation marks, if notes are asked for that contain it, and no more."""
    found = _LITERAL.fullmatch(asked)
    if found is None or (_NEEDS_NOUN.match(asked) is not None):
        return ""
    literal = found["literal"]
    # An ellipsis may leave words out, and signs at the ends are not compared.
    is_plain = literal[0].isalnum() and literal[-1].isalnum()
    return literal if is_plain and "…" not in literal and "..." not in literal else ""


def _read_named(asked: str, wanted: str, pattern: re.Pattern[str]) -> QuestionRules | None:
    found = pattern.fullmatch(asked)
    if found is None:
        return None
    groups = found.groupdict()
    value = groups.get("quoted") or groups.get("plain") or ""
    query = parse_query(wanted.format(value.removeprefix("#").strip()))
    return QuestionRules(query, is_whole=True) if query.has_filter else None


def _may_hold(text: str, phrase: str) -> bool:
    """Return whether a text may contain a phrase, regardless of case, markup and white space."""
    wanted = _squash(phrase)
    shown = "".join(piece for piece, _, _ in list_shown_pieces(text))
    return any(wanted in _squash(each) for each in (text, html.unescape(text), shown))


def _squash(text: str) -> str:
    return _NO_LETTERS.sub("", fold(text))
