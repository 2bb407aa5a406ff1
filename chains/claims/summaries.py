"""Read the facts of a chat's messages, and find what a summary of them has changed.

Figures, dates, names and paths are read as in answers. Commands are code, and decisions and open
questions are sentences with words such as "decided" and "still open". A summary has changed a fact
if what it replaces says another one of the same thing. A fact that nobody said in this form is only
new: it may be a translation, another form, or a sum.

An exam of a summary is made while a request is prepared, where there is no time to search. What the
summary lost is searched for in the notes when the exam is shown: by words alone, so that no model
is loaded and equal notes give equal results.
"""

import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, repeat
from threading import Lock
from typing import Final

from chains.cancel import CancelToken
from chains.claims.check import check_claims
from chains.claims.evidence import ClaimEvidence, EvidenceText
from chains.claims.facts import AnswerSentence, Figure, list_sentences
from context.exam import (
    WORST_RANK,
    ChangedFact,
    ChatFact,
    FactKind,
    FactReader,
    NotePassage,
    SummaryExam,
    find_whole,
    normalize,
)
from context.fit.summary_facts import read_fields
from context.history.exclusion import FindExcluded
from context.history.outline import remove_head
from vault.notes.dates import LocatedDate, write_date_forms
from vault.notes.text.lines import CODE, FENCE_OPENS
from vault.notes.text.markdown_text import read_text
from vault.notes.units import is_known_unit
from vault.options import SearchOptions
from vault.review.statements import (
    LEAST_OVERLAP,
    QUALIFIERS,
    Statement,
    list_words,
    measure_overlap,
)
from vault.vault import Vault

__all__ = ["FACT_READER", "FactSearcher", "find_changed", "list_facts"]

_log = logging.getLogger(__name__)
_MOST_KEPT: Final = 400  # of the searches for facts
_SearchKey = tuple[str, str, str, str]
_MOST_CHARS: Final = 20_000
_MOST_SUMMARIES: Final = 8
_LINE_CHARS: Final = 32  # of the words before a figure that say what it is of
_MOST_LINE_CHARS: Final = 160
_LEAST_TELLING_DIGITS: Final = 3
_DIGIT: Final = re.compile(r"\d")
_SEPARATORS: Final = re.compile(r"(?<=\d)[.,'’\u00a0\u202f\u2009 ](?=\d{3}(?!\d))")
_QUOTE_MARK: Final = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "shell", "console", "powershell", "fish"})
_CODE: Final = re.compile(r"(?<!`)`([^`\n]{4,160})`(?!`)")
_COMMAND: Final = re.compile(r"[\w./~-]+(?:[ \t]+\S+)+")
_PROMPT: Final = re.compile(r"^[ \t]*[$#%>][ \t]+")
_DECISION: Final = re.compile(
    r"\b(?:decided?|decision|agreed|(?:we|i)(?:['’]ll| will| shall) (?:use|take|keep|go|not|stay)"
    r"|let['’]s (?:use|take|keep|go|stay|not)|settled on|chose|going with|from now on"
    r"|entschieden|entscheidung|beschlossen|vereinbart|wir (?:nehmen|bleiben|machen|verwenden)"
    r"|décidé|décision|convenu|nous (?:prenons|gardons)|decidido|decisión|acordado|quedamos)\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:still open|remains? open|open question|to be (?:decided|clarified|checked|confirmed)"
    r"|tbd|not (?:yet )?(?:decided|clear|known)|needs? to be (?:decided|checked|confirmed)"
    r"|noch offen|offene frage|noch zu klären|ungeklärt|reste à|question ouverte"
    r"|queda por|pregunta abierta|pendiente)\b",
    re.IGNORECASE,
)
_OPEN_FIELDS: Final = ("open", "known unknowns")
# A figure of one thing is seldom said with more values than these.
_MOST_CORRECTED: Final = 2
_SAID: Final = "what was said"
_NOT_SAID: Final = "not in what was said"
_KINDS: Final = frozenset({"figure", "date", "name", "path"})
_DOUBTFUL: Final = frozenset({"unsupported", "contradicted"})
# Words with a capital letter that summaries use of the chat itself.
_ROLES: Final = frozenset({"user", "assistant", "summary", "notes", "note", "tool", "chat"})


def list_facts(text: str) -> tuple[ChatFact, ...]:
    """Return the facts of a message, in order."""
    shown = _QUOTE_MARK.sub("", text[:_MOST_CHARS])
    found = [*_list_commands(shown), *_list_fields(shown)]
    for sentence in list_sentences(shown):
        found += _list_sentence_facts(sentence)
    return tuple(found)


def _list_commands(text: str) -> Iterator[ChatFact]:
    markdown, commands, prose = read_text(text), list[str](), list[str]()
    language = ""
    for at, kind in enumerate(markdown.kinds):
        line = markdown.strip_quotes(at)
        if kind == FENCE_OPENS:
            language = line.strip("`~ \t").lower().partition(" ")[0]
        elif kind == CODE and language in _SHELLS:
            commands.append(_PROMPT.sub("", line))
        elif not markdown.is_code(at):
            prose.append(line)
    spans = (match[1] for match in _CODE.finditer("\n".join(prose)))
    for command in (*commands, *(span for span in spans if _COMMAND.fullmatch(span.strip()))):
        if form := normalize(command):
            yield ChatFact("command", command.strip(), f"`{command.strip()}`", (form,))


def _list_fields(text: str) -> Iterator[ChatFact]:
    """Yield the decisions and open points that an earlier summary lists."""
    fields = read_fields(text)
    for line in fields.get("decisions", ()):
        yield _build_sentence("decision", line)
    for name in _OPEN_FIELDS:
        yield from (_build_sentence("question", line) for line in fields.get(name, ()))


def _list_sentence_facts(sentence: AnswerSentence) -> Iterator[ChatFact]:
    for path in sentence.list_paths():
        yield ChatFact("path", path, path, (normalize(path),))
    if _DIGIT.search(sentence.masked):
        yield from (_build_date(day, sentence) for day in sentence.dates)
        figures = (each for each in sentence.figures if not each.is_count)
        yield from (_build_figure(each, sentence) for each in figures)
    for name in sentence.list_names():
        if normalize(name) not in _ROLES:
            yield ChatFact("name", name, name, (normalize(name),))
    if _DECISION.search(sentence.masked) and not sentence.is_question:
        yield _build_sentence("decision", sentence.text)
    if _OPEN.search(sentence.masked):
        yield _build_sentence("question", sentence.text)


def _build_sentence(kind: FactKind, text: str) -> ChatFact:
    line = " ".join(text.split())[:_MOST_LINE_CHARS]
    return ChatFact(kind, line, line, (normalize(line),), list_words(line))


def _build_date(found: LocatedDate, sentence: AnswerSentence) -> ChatFact:
    start, end = found.start - sentence.start, found.end - sentence.start
    text = sentence.text[start:end]
    forms = write_date_forms(found.span) if found.has_year else []
    forms = [normalize(form) for form in (text, *forms)]
    return ChatFact("date", text, _add_words(sentence.text, start, text), tuple(forms))


def _build_figure(figure: Figure, sentence: AnswerSentence) -> ChatFact:
    """Build the fact of a figure. A number of few digits counts only with its unit."""
    start = figure.start - sentence.start
    number = sentence.text[start : figure.number.end - sentence.start]
    forms = [normalize(figure.written)]
    if sum(map(str.isdecimal, number)) >= _LEAST_TELLING_DIGITS or not figure.unit:
        bare = _SEPARATORS.sub("", number)
        whole = bare.split(".")[0].split(",")[0]
        forms += [normalize(number), normalize(bare)]
        if whole.isdecimal():
            rest = bare[len(whole) :]
            forms += [f"{int(whole):,}{rest}", f"{int(whole):,}".replace(",", ".") + rest]
    line = _add_words(sentence.text, start, figure.written)
    return ChatFact("figure", figure.written, line, tuple(dict.fromkeys(forms)))


def _add_words(sentence: str, start: int, text: str) -> str:
    """Return a figure or a date behind the words before it, which say what it is of."""
    before = " ".join(sentence[:start].replace("`", "").split())
    if len(before) > _LINE_CHARS:
        before = before[-_LINE_CHARS:].partition(" ")[2]
    return f"{before} {text}".strip()


def find_changed(
    summary: str, replaced_texts: Sequence[str], later: Sequence[str]
) -> tuple[ChangedFact, ...]:
    """Return the facts of a summary that what it replaces contradicts, or does not say.

    Args:
        replaced_texts: the texts that it replaces, oldest first.
        later: the texts that stay behind it.
    """
    # The same summary is examined before and after it is chosen.
    return _find_changed(remove_head(summary).rstrip(), tuple(replaced_texts), tuple(later))


@lru_cache(_MOST_SUMMARIES)
def _find_changed(
    text: str, replaced_texts: tuple[str, ...], later: tuple[str, ...]
) -> tuple[ChangedFact, ...]:
    evidence = ClaimEvidence(
        tuple(EvidenceText(one, _SAID, "tool") for one in (*replaced_texts, *later))
    )
    claims = [
        claim
        for claim in check_claims(text, evidence).claims
        if claim.kind in _KINDS and claim.verdict in _DOUBTFUL
    ]
    wrong = [claim for claim in claims if claim.verdict == "contradicted"]
    changed = [_place(each.sentence, text, each.text, each.start, each.reason) for each in wrong]
    unsaid = [each for each in claims if each.verdict == "unsupported"]
    changed += _find_replaced(text, evidence.texts, frozenset(each.text for each in unsaid))
    new = [
        replace(_place(each.sentence, text, each.text, each.start, _NOT_SAID), is_wrong=False)
        for each in unsaid
        if normalize(each.text) not in _ROLES
    ]
    # What is wrong with a figure is told once, as it was found first.
    found: dict[tuple[int, str], ChangedFact] = {}
    for fact in (*changed, *new):
        found.setdefault((fact.start, fact.text), fact)
    return tuple(found.values())


def _place(sentence: str, summary: str, text: str, at: int, reason: str) -> ChangedFact:
    """Return a fact with the part of its sentence that is on its line of the summary."""
    first = summary.rfind(sentence, 0, at + len(sentence))
    start = max(first, summary.rfind("\n", 0, at) + 1)
    part = summary[start : first + len(sentence)].partition("\n")[0]
    return ChangedFact(text, reason, part, start)


def _find_replaced(
    summary: str, texts: Sequence[EvidenceText], unsaid: frozenset[str]
) -> Iterator[ChangedFact]:
    """Yield the figures of which the texts say another one, later or at all.

    Args:
        unsaid: the figures that no text says. A summary is shorter than what it replaces, so they
            are also compared with sentences that say more.
    """
    for sentence in list_sentences(summary):
        for own in sentence.statements:
            text, phrase = own.quantities[0].written, "was said later"
            other = _find_newest(own, texts, _are_alike)
            if text in unsaid and (other is None or not _differs(own, other)):
                other, phrase = _find_newest(own, texts, _is_shortened), "was said"
            is_other = other is not None and _differs(own, other)
            if other is not None and is_other and not _numbers_things(own, texts):
                at = sentence.start + next(find_whole(sentence.text, text), 0)
                reason = f"{other.quantities[0].written} {phrase}"
                yield _place(sentence.text, summary, text, at, reason)


def _find_newest(
    own: Statement, texts: Sequence[EvidenceText], is_same: Callable[[Statement, Statement], bool]
) -> Statement | None:
    for text in reversed(texts):
        if own.words <= text.index.words:
            for placed in reversed(text.index.statements):
                if is_same(own, placed.statement):
                    return placed.statement
    return None


def _numbers_things(own: Statement, texts: Sequence[EvidenceText]) -> bool:
    """Return whether a figure without a unit tells several things apart, as in "entry 22"."""
    unit = own.quantities[0].unit
    if is_known_unit(unit) or (unit and not unit.isalpha()):
        return False
    alike = (
        placed.statement
        for text in texts
        if own.words <= text.index.words
        for placed in text.index.statements
        if _are_alike(own, placed.statement)
    )
    return len({each.quantities[0].values for each in alike}) > _MOST_CORRECTED


def _are_alike(own: Statement, other: Statement) -> bool:
    return measure_overlap(own, other) >= LEAST_OVERLAP


def _is_shortened(own: Statement, other: Statement) -> bool:
    """Return whether a statement only leaves out words of another one, and none that limits it."""
    return (
        bool(own.words) and own.words <= other.words and not (other.words - own.words) & QUALIFIERS
    )


def _differs(own: Statement, other: Statement) -> bool:
    """Return whether two statements have one figure each, of the same unit, that differ."""
    if len(own.quantities) != 1 or len(other.quantities) != 1:
        return False
    (one,), (another,) = own.quantities, other.quantities
    return one.unit == another.unit and one.contradicts(another)


FACT_READER: Final = FactReader(list_facts, list_words, find_changed)


@dataclass(frozen=True)
class FactSearcher:
    """Searches notes for what summaries lost. Thread-safe.

    The results are kept for as long as the index stays the same, but notes that are excluded or
    private by now are left out of them.
    """

    _kept: OrderedDict[_SearchKey, tuple[NotePassage, ...]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def check(
        self,
        exam: SummaryExam,
        notes: Vault | None,
        cancel: CancelToken,
        find_excluded: FindExcluded | None = None,
    ) -> SummaryExam:
        """Return an exam with the facts that the notes of a chat say.

        If the chat searches no notes, or none that are indexed, the exam is returned as it is, with
        its facts not checked.

        Args:
            exam: the exam of the summary.
            notes: the notes that the chat searches, or None if it searches none.
            cancel: stops the search.
            find_excluded: returns those of the given paths whose notes models may not read now. If
                None, no note is excluded.

        Raises:
            VaultError: the index cannot be searched.
            Cancelled: the search was stopped.
        """
        if notes is None or notes.indexed_at is None:
            _log.info("The facts of a summary were not searched for: no notes are indexed")
            return exam
        state = repr(notes.index_state)
        hidden = find_excluded(self._list_kept_paths(state)) if find_excluded else ()

        options = SearchOptions(reranks=False, by_meaning=False, on_wait=cancel.raise_if_cancelled)
        later = repeat(replace(options, catches_up=False))
        chosen = chain([options], later)  # the first search waits for the latest changes, for all

        def find(words: str) -> list[NotePassage]:
            cancel.raise_if_cancelled()
            found = self._find(notes, state, words, chosen)
            return [passage for passage in found if passage.path not in hidden]

        return exam.search(find, FACT_READER)

    def _list_kept_paths(self, state: str) -> frozenset[str]:
        """Return the paths of the notes that earlier searches of an index found."""
        with self._lock:
            kept = [found for key, found in self._kept.items() if key[2] == state]
        return frozenset(passage.path for found in kept for passage in found)

    def _find(
        self, notes: Vault, state: str, words: str, chosen: Iterator[SearchOptions]
    ) -> tuple[NotePassage, ...]:
        key = str(notes.root), repr(notes.scope), state, words
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        hits = notes.search(words, WORST_RANK, next(chosen)).hits if words else ()
        found = tuple(NotePassage(hit.path, hit.lines, hit.text) for hit in hits)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found
