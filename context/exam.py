"""Values of the exam of a summary: what a conversation says, and what of it a request still says.

A fact is in a request if it is there word for word. Other forms of a number or a date count too.
"""

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, Self, get_args

from context.carry_forward import find_sentences
from context.json_codec import Record

FactKind = Literal["path", "command", "figure", "date", "name", "decision", "question"]
# In the order of what is lost first where conversations are summarised.
FACT_KINDS: Final[tuple[FactKind, ...]] = get_args(FactKind)
LEAST_SHARE: Final = 0.90
MOST_STORED: Final = 40  # of the facts that are gone, which is also the most searches for them
WORST_RANK: Final = 10  # of a passage that a search finds
_LEAST_COMMON_WORDS: Final = 0.7
_LEAST_WORDS: Final = 2  # that say what a figure is of, to search for it by them
_POINTS: Final = ".,"
_PATH_MARKS: Final = "/\\-"
# Scripts that are written without blanks, or that write endings at figures and foreign words.
_UNSPACED_CHARS: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    r"\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED: Final = re.compile(f"[{_UNSPACED_CHARS}]")
# Letters and digits up to where `find_whole` may end a form of a fact.
_WORD: Final = re.compile(rf"[^\W_{_UNSPACED_CHARS}]+|[^\W_]")


@dataclass(frozen=True, slots=True)
class ChatFact:
    """A name, figure, date, path, command, decision or open question of a conversation.

    Attributes:
        text: the fact as written.
        line: the fact with the words around it that say what it is of.
        forms: how it may be written, normalized by `normalize`.
        words: the words of a decision or a question, which may be in another order. Empty for other
            facts.
        entry: the id of the message that says it, or an empty string.
    """

    kind: FactKind
    text: str
    line: str
    forms: tuple[str, ...]
    words: frozenset[str] = frozenset()
    entry: str = ""

    json_shape = ("kind", "text", "line", "entry")

    def to_dict(self) -> dict[str, str]:
        """Return what the log keeps of the fact."""
        return {"kind": self.kind, "text": self.text, "line": self.line, "entry": self.entry}


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact that a summary says, and that nothing that it replaces says, or something else.

    Attributes:
        text: the fact as the summary says it.
        reason: what is wrong with it, such as "not in what was said".
        passage: the sentence of the summary that says it, or an empty string if that is not known.
        start: the offset of the sentence in the summary, below its head.
        is_wrong: whether something else was said of the same thing, or later. Otherwise the fact is
            only new: it may be a translation, another form, or a sum.
    """

    text: str
    reason: str
    passage: str = ""
    start: int = 0
    is_wrong: bool = True

    json_shape = ("text", "reason", "passage", "start")

    def to_dict(self) -> dict[str, object]:
        """Return what the log keeps of the fact."""
        place = {"passage": self.passage, "start": self.start}
        return {"text": self.text, "reason": self.reason, **place}


@dataclass(frozen=True, slots=True)
class FactReader:
    """The functions that read facts. They are outside of `context`, which knows no languages.

    Attributes:
        list_facts: returns the facts of a text, in order.
        list_words: returns the words of a text by which sentences are compared.
        find_changed: returns the facts of a summary that are not in the texts that it replaces, or
            that these texts contradict, or later ones of them or of the other texts have replaced.
    """

    list_facts: Callable[[str], Sequence[ChatFact]]
    list_words: Callable[[str], frozenset[str]]
    find_changed: Callable[[str, Sequence[str], Sequence[str]], Sequence[ChangedFact]]


@dataclass(frozen=True, slots=True)
class NotePassage:
    """A passage that a search of the notes found.

    Attributes:
        path: the path of the note.
        lines: the first and last line, counted from 1.
        text: the text of the passage.
    """

    path: str
    lines: tuple[int, int]
    text: str


# Returns the passages of the notes that some words find, best first.
FindPassages = Callable[[str], Sequence[NotePassage]]


@dataclass(frozen=True, slots=True)
class FoundFact(Record):
    """A fact that is not in the request, and the passage of a note that a search finds with it."""

    fact: ChatFact
    passage: NotePassage

    json_shape = (
        "kind = fact.kind",
        "text = fact.text",
        "line = fact.line",
        "entry = fact.entry",
        "path = passage.path",
        "lines = passage.lines",
    )

    def describe(self) -> str:
        """Return where the fact stands, such as "Home/Backups.md, line 16"."""
        return f"{self.passage.path}, line {self.passage.lines[0]:,}"


@dataclass(frozen=True)
class SummaryExam:
    """What a request says, after a compaction, of what left it.

    Attributes:
        facts: the number of facts of what left.
        in_request: how many of them the request says word for word.
        one_call: how many others a tool of the chat shows with one call.
        findable: how many others a search of the notes finds.
        gone: facts that are not within reach as far as is known. The log keeps up to `MOST_STORED`
            of them.
        away: the facts within reach that are not in the request. The log does not keep them.
        changed: the facts that the summary has changed.
        new: the facts of the summary that were not said, at least not in this form.
        is_asked_again: whether the model was asked for the summary once more.
        not_checked: how many of the facts that are not within reach were not searched for in the
            notes, although the chat searches them.
        found: the facts that a search of the notes found. They are found again each time.
    """

    facts: int
    in_request: int
    one_call: int = 0
    findable: int = 0
    gone: tuple[ChatFact, ...] = ()
    changed: tuple[ChangedFact, ...] = ()
    is_asked_again: bool = False
    away: tuple[ChatFact, ...] = ()
    new: tuple[ChangedFact, ...] = ()
    not_checked: int = 0
    found: tuple[FoundFact, ...] = ()

    json_shape = (
        "facts",
        "in_request",
        "one_call",
        "findable",
        "gone = stored_gone",
        "changed",
        "asked_again = is_asked_again",
        "new",
        "not_checked if not_checked",
        "found if found",
    )

    @property
    def stored_gone(self) -> tuple[ChatFact, ...]:
        """The facts that are gone and that are stored."""
        return self.gone[:MOST_STORED]

    @property
    def within_reach(self) -> int:
        """How many facts a tool of the chat shows or finds, beside those in the request."""
        return self.one_call + self.findable

    @property
    def gone_count(self) -> int:
        """How many facts are not within reach, also those that the log does not keep."""
        return self._missing - self.not_checked

    @property
    def _missing(self) -> int:
        """How many facts are not within reach as far as is known."""
        return self.facts - self.in_request - self.within_reach

    @property
    def share(self) -> float:
        """The fraction of facts that are in the request or known to be within reach."""
        return 1 - self._missing / self.facts if self.facts else 1.0

    @property
    def is_good(self) -> bool:
        """Whether the summary may be used as it is."""
        return self.share >= LEAST_SHARE and not self.changed

    def describe(self) -> str:
        """Return the figures as a sentence without its full stop."""
        parts = [f"{self.in_request:,} in the request", f"{self.within_reach:,} within reach"]
        parts.append(f"{self.gone_count:,} gone")
        parts += [f"{self.not_checked:,} not checked"] if self.not_checked else []
        parts += [f"{len(self.new):,} new"] if self.new else []
        return ", ".join([*parts, f"{len(self.changed):,} changed"])

    def search(self, find: FindPassages, reader: FactReader) -> Self:
        """Return the exam after the notes were searched for the facts that are not within reach.

        A fact is findable if one of the first passages says it. There is one search for each line
        of the listed facts, so `MOST_STORED` at most; the other facts stay unchecked.

        Args:
            find: searches the notes. It may raise an exception to stop.
            reader: reads the facts again, of which the log keeps only the text.
        """
        if not self.not_checked:
            return self
        lines = dict.fromkeys(build_query(fact) for fact in self.stored_gone)
        passages = {line: tuple(find(line))[:WORST_RANK] for line in lines}
        found, gone = list[FoundFact](), list[ChatFact]()
        for fact in self.stored_gone:
            place = _find_saying(fact, passages[build_query(fact)], reader)
            if place is None:
                gone.append(fact)
            else:
                found.append(FoundFact(fact, place))
        return replace(
            self,
            findable=self.findable + len(found),
            gone=tuple(gone),
            not_checked=self._missing - len(found) - len(gone),
            found=tuple(found),
        )

    def after_edit(self, before: str, after: str) -> Self | None:
        """Return the exam after the user edited the summary, by the facts that it lists.

        Args:
            before: the summary that was examined.
            after: the edited summary.

        Returns:
            None if the edit took more away than sentences with listed facts: what else they said
            is not known any more.
        """
        listed = (*self.changed, *self.new)
        for first, last in find_sentences(before):
            sentence = before[first:last]
            is_listed = any(has_whole(sentence, one.text) for one in listed)
            if not is_listed and sentence not in after:
                return None
        edited_texts = FactTexts((SaidText(after),), lambda _line: frozenset())
        gone = tuple(one for one in self.gone if not edited_texts.has_text(one.text))
        changed, new = (
            tuple(one for one in facts if edited_texts.has_text(one.text))
            for facts in (self.changed, self.new)
        )
        kept = self.in_request + len(self.gone) - len(gone)
        exam = replace(self, in_request=kept, gone=gone, changed=changed, new=new)
        return replace(exam, not_checked=min(self.not_checked, exam._missing))

    def list_losses(self) -> list[tuple[str, ChatFact | ChangedFact | FoundFact]]:
        """Return what is said of each fact that is changed, new or gone, with the fact."""
        losses: list[tuple[str, ChatFact | ChangedFact | FoundFact]] = []
        losses += [(f"Changed: {one.text} ({one.reason})", one) for one in self.changed]
        losses += [(f"New: {one.text} ({one.reason})", one) for one in self.new]
        word = "Gone" if self.gone_count else "Not checked"
        losses += [(f"{word}: {fact.line}", fact) for fact in self.stored_gone]
        losses += [(f"Findable: {one.fact.line} ({one.describe()})", one) for one in self.found]
        return losses

    @property
    def rest(self) -> str:
        """A sentence with the number of the facts out of reach that are not listed, or none."""
        left = self._missing - len(self.stored_gone)
        return f"And {left:,} more." if left else ""

    def list_lines(self) -> list[str]:
        """Return the figures as a line, and a line for each fact that is changed, new or gone.

        Return an empty list if the summary replaced no facts.
        """
        if not self.facts:
            return []
        losses = [f"- {' '.join(loss.split())}" for loss, _fact in self.list_losses()]
        return [self.describe(), *losses, *([self.rest] if self.rest else [])]

    def find_gone(self, text: str) -> tuple[ChatFact, ...]:
        """Return the facts that are gone and that a text names, by the fact or by its line.

        Facts with the same line are one.
        """
        wanted = normalize(text)
        for read in (_read_text, _read_line):
            found = {normalize(fact.line): fact for fact in self.gone if read(fact) == wanted}
            if found:
                return tuple(found.values())
        return ()

    def find_altered(self, text: str) -> tuple[ChangedFact, ...]:
        """Return the changed and new facts that a text names, by the fact or by its sentence."""
        wanted, facts = normalize(text), (*self.changed, *self.new)
        found = tuple(one for one in facts if normalize(one.text) == wanted)
        return found or tuple(one for one in facts if normalize(one.passage) == wanted)

    def to_dict(self) -> dict[str, object]:
        """Return the exam as JSON, for the log and for reports."""
        return {
            "facts": self.facts,
            "in_request": self.in_request,
            "one_call": self.one_call,
            "findable": self.findable,
            "gone": [fact.to_dict() for fact in self.stored_gone],
            "changed": [one.to_dict() for one in self.changed],
            "asked_again": self.is_asked_again,
            "new": [one.to_dict() for one in self.new],
            **({"not_checked": self.not_checked} if self.not_checked else {}),
            **({"found": [one.to_dict() for one in self.found]} if self.found else {}),
        }

    @classmethod
    def read(cls, data: object) -> Self | None:
        """Read an exam from the log, or return None if there is none or it is damaged."""
        if not isinstance(data, Mapping) or not isinstance(data.get("facts"), int):
            return None
        keys = "gone", "changed", "new", "found"
        lists = {key: one for key in keys if (one := _read_list(data, key)) is not None}
        if len(lists) < len(keys):
            return None
        return cls(
            _read_count(data, "facts"),
            _read_count(data, "in_request"),
            _read_count(data, "one_call"),
            _read_count(data, "findable"),
            tuple(map(_read_fact, lists["gone"])),
            tuple(_read_changed(one, is_wrong=True) for one in lists["changed"]),
            data.get("asked_again") is True,
            new=tuple(_read_changed(one, is_wrong=False) for one in lists["new"]),
            not_checked=_read_count(data, "not_checked"),
            found=tuple(map(_read_found, lists["found"])),
        )


def _read_count(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key)
    return value if isinstance(value, int) else 0


def _read_list(data: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]] | None:
    """Return a list of mappings, or None if it is something else. A missing list is empty."""
    value = data.get(key, ())
    is_list = isinstance(value, list | tuple) and all(isinstance(one, Mapping) for one in value)
    return value if is_list else None


def _read_changed(data: Mapping[str, Any], *, is_wrong: bool) -> ChangedFact:
    text, reason, passage = (str(data.get(key, "")) for key in ("text", "reason", "passage"))
    return ChangedFact(text, reason, passage, _read_count(data, "start"), is_wrong)


def _read_fact(data: Mapping[str, Any]) -> ChatFact:
    kind = data.get("kind")
    known: FactKind = kind if kind in FACT_KINDS else "name"
    text, line = str(data.get("text", "")), str(data.get("line", ""))
    return ChatFact(known, text, line, (), entry=str(data.get("entry", "")))


def _read_found(data: Mapping[str, Any]) -> FoundFact:
    numbers = [one for one in data.get("lines") or () if isinstance(one, int)]
    first, last = numbers if len(numbers) == 2 else (1, 1)
    return FoundFact(_read_fact(data), NotePassage(str(data.get("path", "")), (first, last), ""))


def build_query(fact: ChatFact) -> str:
    """Return the words by which the notes are searched for a fact.

    A figure or a date is searched by the words before it: whoever has lost it cannot search for it.
    """
    if fact.kind in ("figure", "date"):
        words = _WORD.findall(fact.line.removesuffix(fact.text))
        if sum(word.isalpha() for word in words) >= _LEAST_WORDS:
            return " ".join(words)
    return " ".join(_WORD.findall(fact.line))


def _find_saying(
    fact: ChatFact, passages: Iterable[NotePassage], reader: FactReader
) -> NotePassage | None:
    """Return the first passage that says a fact.

    A figure or a date may be of something else: most words before it must be there too.
    """
    wanted = fact if fact.forms else _restore(fact, reader)
    is_value = fact.kind in ("figure", "date")
    before = reader.list_words(fact.line.removesuffix(fact.text)) if is_value else frozenset[str]()

    def is_said(passage: NotePassage) -> bool:
        if not FactTexts((SaidText(passage.text),), reader.list_words).has(wanted):
            return False
        known = reader.list_words(f"{passage.path}\n{passage.text}")
        return len(before & known) >= len(before) * _LEAST_COMMON_WORDS

    found = next(filter(is_said, passages), None)
    return None if found is None else _narrow(found, wanted, before, reader)


def _narrow(
    passage: NotePassage, fact: ChatFact, before: frozenset[str], reader: FactReader
) -> NotePassage:
    """Return the line of a passage that says a fact, or the passage if that is not one line.

    Args:
        before: the words before the fact. Of several lines, that with most of them is the one.
        reader: reads the words of a line.
    """
    lines = passage.text.split("\n")
    if passage.lines[1] - passage.lines[0] + 1 != len(lines):
        return passage
    saying = [
        at
        for at, line in enumerate(lines)
        if FactTexts((SaidText(line),), reader.list_words).has(fact)
    ]
    if not saying:
        return passage
    best = max(saying, key=lambda at: len(before & reader.list_words(lines[at])))
    number = passage.lines[0] + best
    return replace(passage, lines=(number, number), text=lines[best])


def _restore(fact: ChatFact, reader: FactReader) -> ChatFact:
    """Return a fact that was read from the log with its forms and words."""
    name = fact.kind, fact.text
    same = (one for one in reader.list_facts(fact.line) if (one.kind, one.text) == name)
    plain = replace(fact, forms=(normalize(fact.text),))
    known = next(same, plain)
    is_sentence = fact.kind in ("decision", "question")
    words = reader.list_words(fact.line) if is_sentence else frozenset[str]()
    return replace(fact, forms=known.forms, words=words)


def _read_text(fact: ChatFact) -> str:
    return normalize(fact.text)


def _read_line(fact: ChatFact) -> str:
    return normalize(fact.line)


def normalize(text: str) -> str:
    """Return a text as facts are looked up in it: in lower case, with single blanks."""
    return " ".join(text.casefold().split())


@dataclass(frozen=True)
class SaidText:
    """A text in which facts are looked up. What it consists of is read once."""

    text: str

    @cached_property
    def folded(self) -> str:
        """The text as facts are looked up in it."""
        return normalize(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the folded text, each once."""
        return tuple(map(sys.intern, dict.fromkeys(_WORD.findall(self.folded))))

    def list_lines(self, list_words: Callable[[str], frozenset[str]]) -> Sequence[frozenset[str]]:
        """Return the words of each line.

        Args:
            list_words: returns the words of a line.
        """
        if list_words not in self._lines:
            self._lines[list_words] = [list_words(line) for line in self.text.splitlines()]
        return self._lines[list_words]

    @cached_property
    def _lines(self) -> dict[Callable[[str], frozenset[str]], Sequence[frozenset[str]]]:
        return {}


@dataclass(frozen=True)
class FactTexts:
    """Texts in which facts are looked up by their words.

    A fact is only searched in the texts with the rarest of its words, and a decision only in the
    lines with some of its rarest words. A chat has many facts, and many texts.

    Attributes:
        texts: the texts.
        list_words: returns the words of a line.
    """

    texts: Sequence[SaidText]
    list_words: Callable[[str], frozenset[str]] = field(compare=False)

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """The indexes of the texts that contain a word."""
        return _list_places(text.words for text in self.texts)

    @cached_property
    def _lines(self) -> Sequence[frozenset[str]]:
        return [line for text in self.texts for line in text.list_lines(self.list_words)]

    @cached_property
    def _line_places(self) -> Mapping[str, Sequence[int]]:
        """The indexes of the lines that contain a word."""
        return _list_places(self._lines)

    def has_text(self, text: str) -> bool:
        """Return whether one of the texts says a text word for word."""
        return self._has_form(normalize(text))

    def has_path(self, path: str) -> bool:
        """Return whether one of the texts names a path, not only as the end of a longer one."""
        return self._has_form(normalize(path), _PATH_MARKS)

    def has(self, fact: ChatFact) -> bool:
        """Return whether one of the texts says a fact."""
        return any(map(self._has_form, fact.forms)) or self._has_line(fact.words)

    def _has_form(self, form: str, marks: str = "") -> bool:
        """Return whether one of the texts contains a form of a fact as a whole."""
        places = (self._places.get(word, ()) for word in _WORD.findall(form))
        rarest = min(places, key=len, default=range(len(self.texts)))
        return any(has_whole(self.texts[at].folded, form, marks) for at in rarest)

    def _has_line(self, words: frozenset[str]) -> bool:
        """Return whether a line has most of some words.

        It then has one of any words that are more than it may lack, so of the rarest ones too.
        """
        least = len(words) * _LEAST_COMMON_WORDS
        places = sorted((self._line_places.get(word, ()) for word in words), key=len)
        able = {at for found in places[: len(words) - math.ceil(least) + 1] for at in found}
        return any(len(words & self._lines[at]) >= least for at in able)


def _list_places(groups: Iterable[Iterable[str]]) -> Mapping[str, Sequence[int]]:
    places: dict[str, list[int]] = {}
    for at, words in enumerate(groups):
        for word in words:
            places.setdefault(word, []).append(at)
    return places


def has_whole(text: str, form: str, marks: str = "") -> bool:
    """Return whether `find_whole` finds a form of a fact in a text."""
    return next(find_whole(text, form, marks), None) is not None


def find_whole(text: str, form: str, marks: str = "") -> Iterator[int]:
    """Yield the offsets of a form of a fact that is no part of a longer word or number.

    Args:
        text: the text, in the same case as the form.
        form: the form of the fact.
        marks: characters that belong to a word beside letters and digits.
    """
    at = text.find(form) if form else -1
    while at >= 0:
        end = at + len(form)
        before, after = text[max(0, at - 2) : at][::-1], text[end : end + 2]
        if not _continues(form[0], before, marks) and not _continues(form[-1], after, marks):
            yield at
        at = text.find(form, at + 1)


def _continues(edge: str, beside: str, marks: str) -> bool:
    """Return whether the characters beside the edge of a word belong to the word."""
    if not beside or not edge.isalnum():
        return False
    if beside[0].isalnum():
        # Words of these scripts follow each other without a mark, so any place may be an edge.
        return not (_UNSPACED.match(edge) or _UNSPACED.match(beside[0]))
    if beside[0] == "_" or beside[0] in marks:
        return True
    if marks and beside[0] == ".":
        return beside[1:].isalnum()
    return edge.isdecimal() and beside[0] in _POINTS and beside[1:].isdecimal()


def list_newest(facts: Iterable[ChatFact]) -> list[ChatFact]:
    """Return each fact once, as it was said last, the newest first."""
    found: dict[tuple[FactKind, str], ChatFact] = {}
    for fact in reversed(list(facts)):
        found.setdefault((fact.kind, fact.forms[0]), fact)
    return list(found.values())
