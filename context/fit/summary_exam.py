"""Examine a summary: what of the turns it replaces is still in the request, or within reach.

Being in the request and one call away are told apart, since only the first is remembered for
certain. What only a tool shows counts as within reach only if the chat has the tool. What a search
of the notes finds is not known here: it takes time, so `SummaryExam.search` finds it out later.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from context.exam import (
    ChangedFact,
    ChatFact,
    FactReader,
    FactTexts,
    SaidText,
    SummaryExam,
    list_newest,
)
from context.history.outline import remove_head
from context.history.turns import MeasuredTurn
from context.layers import Segment
from context.messages import Message, TextPart, ToolCallPart, ToolResultPart
from context.offload import READ_RESULT_NAME

__all__ = ["SummaryExaminer", "describe_faults"]

READ_NOTE: Final = "read_note"
_FACTS: Final = "facts"
_SAID_FACTS: Final = "said facts"
_TEXTS: Final = "texts"
_EXAMINERS: Final = "examiners"
_MOST_EXAMS: Final = 8  # of different summaries of the same turns
_MOST_NAMED: Final = 24
_MOST_NAMED_CHARS: Final = 900


@dataclass(frozen=True)
class SummaryExaminer:
    """Examines summaries of the same turns.

    Attributes:
        reader: reads facts.
        leaving: the turns that requests no longer contain, with their full text.
        kept: the turns that stay behind the summary, as they are sent.
        others: other texts that requests contain, such as the memory.
        tools: the names of the tools that the model has.
        can_read_chat: whether the summary says how to read the turns that it replaces.
        searches_notes: whether the chat searches notes, which may say what is gone.
    """

    reader: FactReader
    leaving: Sequence[MeasuredTurn]
    kept: Sequence[MeasuredTurn]
    others: Sequence[str] = ()
    tools: frozenset[str] = frozenset()
    can_read_chat: bool = False
    searches_notes: bool = False
    sizes: dict[Hashable, int] = field(default_factory=dict, compare=False)

    def find_same(self) -> "SummaryExaminer":
        """Return the examiner of the last exam of this chat if it examines the same turns.

        While a message is written, each preview examines the summary of the same turns. What was
        read for the last exam stays with the first message that leaves.
        """
        first = next((one for turn in self.leaving for one in turn.messages), None)
        if first is None:
            return self
        kept: list[SummaryExaminer] = first.compute_once((_EXAMINERS, self.reader), lambda _: [])
        last = next(iter(kept), None)
        if last == self:
            return last
        kept[:] = [self if last is None else replace(self, sizes=last.sizes)]
        return kept[0]

    def examine(self, summary: str, *, may_change: bool = True) -> SummaryExam:
        """Examine a summary.

        Args:
            may_change: whether it may say other facts than the turns. An outline may not.
        """
        key = remove_head(summary), may_change
        if key not in self._exams:
            while len(self._exams) >= _MOST_EXAMS:
                self._exams.pop(next(iter(self._exams)), None)
            self._exams[key] = self._examine(*key)
        return self._exams[key]

    @cached_property
    def _exams(self) -> dict[tuple[str, bool], SummaryExam]:
        return {}

    def _examine(self, text: str, may_change: bool) -> SummaryExam:
        own = FactTexts((SaidText(text),), self.reader.list_words)
        left = [fact for fact in self._left if not own.has(fact)]
        in_request = len(self._facts) - len(left)
        near, gone = _divide(left, self._find_one_call(text))
        found = self._find_changed(text) if may_change else ()
        changed = tuple(fact for fact in found if fact.is_wrong)
        new = tuple(fact for fact in found if not fact.is_wrong)
        counts = len(self._facts), in_request, len(near), 0
        unsearched = len(gone) if self.searches_notes else 0
        exam = SummaryExam(*counts, tuple(gone), changed, away=tuple(near), new=new)
        return replace(exam, not_checked=unsearched)

    @cached_property
    def _facts(self) -> Sequence[ChatFact]:
        messages = (message for turn in self.leaving for message in turn.messages)
        return list_newest(fact for one in messages for fact in _read_facts(one, self.reader))

    @cached_property
    def _left(self) -> Sequence[ChatFact]:
        """The facts that only the summary can keep in the request."""
        texts = [*_list_said(self.kept), *map(SaidText, self.others)]
        kept = FactTexts(texts, self.reader.list_words)
        return [fact for fact in self._facts if not kept.has(fact)]

    def _find_one_call(self, summary: str) -> Callable[[ChatFact], bool]:
        """Return what finds facts that a tool shows with one call, as far as the request says."""
        texts: list[SaidText] = []
        if self.can_read_chat and READ_RESULT_NAME in self.tools:
            return self._is_said
        if READ_NOTE in self.tools:
            request_texts = SaidText(summary), *_list_said(self.kept)
            request = FactTexts(request_texts, self.reader.list_words)
            found = (one for one in self._segments if request.has_path(one.source))
            texts = [SaidText(one.raw_content) for one in found]
        return FactTexts(texts, self.reader.list_words).has

    def _is_said(self, fact: ChatFact) -> bool:
        """Return whether the turns say a fact. Nearly all are where they were read."""
        return fact in self._said_facts or self._leaving_texts.has(fact)

    @cached_property
    def _said_facts(self) -> frozenset[ChatFact]:
        messages = (message for turn in self.leaving for message in turn.messages)
        return frozenset().union(*(_find_said_facts(one, self.reader) for one in messages))

    @cached_property
    def _leaving_texts(self) -> FactTexts:
        texts = tuple(map(SaidText, _list_turn_texts(self.leaving)))
        return FactTexts(texts, self.reader.list_words)

    @cached_property
    def _segments(self) -> Sequence[Segment]:
        return [one for turn in self.leaving for one in turn.turn.segments if one.kind != "image"]

    def _find_changed(self, summary: str) -> Sequence[ChangedFact]:
        segments = [one.raw_content for one in self._segments]
        sources = [one.shown_source for one in self._segments]
        replaced_texts = [*segments, *sources, *map(remove_head, _list_turn_texts(self.leaving))]
        later = [*_list_turn_texts(self.kept), *self.others]
        return self.reader.find_changed(summary, replaced_texts, later)


def _read_facts(message: Message, reader: FactReader) -> Sequence[ChatFact]:
    """Return the facts that a message says, in order. Each message is read once."""

    def read(message: Message) -> Sequence[ChatFact]:
        texts = map(remove_head, _list_texts(message))
        facts = (fact for text in texts for fact in reader.list_facts(text))
        return tuple(replace(fact, entry=message.id or "") for fact in facts)

    return message.compute_once((_FACTS, reader), read)


def _find_said_facts(message: Message, reader: FactReader) -> frozenset[ChatFact]:
    """Return the facts of a message that it says word for word, and not only in another form."""

    def find(message: Message) -> frozenset[ChatFact]:
        texts = FactTexts(tuple(map(SaidText, _list_texts(message))), reader.list_words)
        return frozenset(filter(texts.has, _read_facts(message, reader)))

    return message.compute_once((_SAID_FACTS, reader), find)


def _list_said(turns: Iterable[MeasuredTurn]) -> Iterator[SaidText]:
    """Yield the texts of turns, in which facts are looked up again with each request."""

    def read(message: Message) -> Sequence[SaidText]:
        return tuple(map(SaidText, _list_texts(message)))

    for turn in turns:
        for message in turn.messages:
            yield from message.compute_once(_TEXTS, read)


def _divide(
    facts: Sequence[ChatFact], has: Callable[[ChatFact], bool]
) -> tuple[list[ChatFact], list[ChatFact]]:
    """Return the facts that are found, and the others."""
    found_flags = [has(fact) for fact in facts]
    return (
        [fact for fact, is_found in zip(facts, found_flags, strict=True) if is_found],
        [fact for fact, is_found in zip(facts, found_flags, strict=True) if not is_found],
    )


def describe_faults(exam: SummaryExam) -> str:
    """Return what is wrong with a summary, for the model that is asked once more.

    Return an empty string if nothing is wrong.
    """
    if exam.is_good:
        return ""
    faults = []
    if exam.changed:
        faults.append(f"It says what nobody said: {_join(one.text for one in exam.changed)}.")
    if exam.gone:
        faults.append(f"It lacks: {_join(fact.line for fact in exam.gone)}.")
    return " ".join(faults)


def _join(texts: Iterable[str]) -> str:
    named, left = [], _MOST_NAMED_CHARS
    for text in list(texts)[:_MOST_NAMED]:
        left -= len(text)
        if left < 0:
            break
        named.append(text)
    return "; ".join(named)


def _list_turn_texts(turns: Iterable[MeasuredTurn]) -> Iterator[str]:
    for turn in turns:
        for message in turn.messages:
            yield from _list_texts(message)


def _list_texts(message: Message) -> Iterator[str]:
    """Yield the texts of a message that are sent again with later requests."""
    if isinstance(message.content, str):
        yield message.content
        return
    for part in message.content:
        if isinstance(part, TextPart):
            yield part.text
        elif isinstance(part, ToolCallPart):
            yield part.arguments_json
        elif isinstance(part, ToolResultPart):
            yield part.content
