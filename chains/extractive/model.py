"""Answer without a language model by showing sections of notes, with citations.

The answer says that no model is configured. If it is doubtful whether the quotations answer the
question, the answer says so. If no quotation is likely to answer it, the answer only lists the
notes that come closest. A question for everything in a period, such as "What did I do last week?",
is answered by the beginnings of the notes with a date in that period.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Final, TypeVar

from chains.cancel import CancelToken
from chains.citations.parser import parse_answer
from chains.citations.sections import ShownSection
from chains.extractive.answerability import Verdict, judge
from chains.extractive.differences import describe_difference
from chains.extractive.excerpts import fold_to_best_line
from chains.extractive.period import FindDays, list_days, list_sources_in_period
from chains.extractive.question import AskedQuestion, read_question
from chains.extractive.ranking import Compare
from chains.extractive.sections import find_beginnings, find_sections
from chains.extractive.writer import escape_markdown, write_item, write_place, write_section
from chains.llm.port import ModelEnded, ModelEvent, ModelQuoted, ModelText, require_sealed
from chains.turn_answer import AnswerKind
from context.assemble.request import Request
from context.layers import Layer, Segment
from vault.quotes.sections import Support
from vault.search.hits import NO_NOTES
from vault.search.query import parse_query

if TYPE_CHECKING:
    from vault.questions.reader import PartlyRead

__all__ = ["LIST_SOURCE", "VALUE_SOURCE", "ExtractiveModel"]

MOST_NAMED: Final = 5
# The most passages that are shown of a period.
MOST_OF_PERIOD: Final = 14
_KINDS: Final[Mapping[Verdict, AnswerKind]] = {
    "answers": "answer",
    "doubtful": "doubt",
    "nothing": "nothing",
    "unrelated": "nothing",
}

FOUND: Final = (
    "No model is set, so here are the passages that fit best, as they stand in your notes.\n"
)
DOUBTFUL: Final = (
    "No model is set, and your notes may not answer this question. These passages come closest:\n"
)
OF_PERIOD: Final = "No model is set, so here is what your notes of that time say.\n"
NO_SENTENCE: Final = "No model is set. The passages that fit best hold no sentence to quote:\n"
NOTHING_FOUND: Final = (
    "No model is set, and nothing in your notes fits this question. Try other words."
)
NOTHING_NAMED: Final = (
    "No model is set, and this message names nothing to look up. Ask about something in your notes."
)
NO_NOTES_FOUND: Final = f"No model is set, and {NO_NOTES}"
NOTHING_ANSWERS: Final = "No model is set. No passage answers this clearly. Closest:\n"
NOT_SEARCHED: Final = (
    "No model is set, and this mode does not look into your notes. "
    "Ask in the mode that does, or set a model."
)


_Placed = TypeVar("_Placed", Segment, ShownSection)

LIST_SOURCE: Final = "every note that fits"
VALUE_SOURCE: Final = "a property of a note"


class ExtractiveModel:
    """A model port that answers with quotations instead of calling a language model.

    Attributes:
        partly: what was understood of a request for a list, if only a part of it was.
    """

    def __init__(
        self,
        question: str,
        *,
        has_searched: bool,
        has_notes: bool = True,
        searched: str = "",
        support: Support | None = None,
        compare: Compare | None = None,
        find_days: FindDays | None = None,
        today: date | None = None,
    ) -> None:
        """Store the question, and what is known about the search for it.

        Args:
            question: the user message.
            searched: the search query if it differs from the user message, otherwise an empty
                string.
            has_searched: whether the notes were searched.
            has_notes: whether there were notes to search.
            support: how well the search results support an answer, or None if it was not measured.
            compare: a function that compares a question with short texts by meaning. If None, only
                words are compared.
            find_days: a function that returns the dates in the properties of notes. If None, these
                dates are not used.
            today: the date that words such as "yesterday" refer to, or None for the current date.
        """
        self._question = question
        self._searched = searched
        self._has_searched = has_searched
        self._has_notes = has_notes
        self._support = support
        self.partly: PartlyRead | None = None
        self._compare = compare
        self._find_days = find_days
        self._today = today
        self._kind: AnswerKind = "answer"
        self._sections: tuple[ShownSection, ...] = ()

    def list_cited(self, sources: Sequence[Segment]) -> tuple[int, ...]:
        """Return the citation numbers in the answer from these sources, in the order of its text.

        Args:
            sources: the numbered sources of the request in the order of the search results.
        """
        groups = parse_answer("".join(self._write_pieces(sources))).numbers
        return tuple(dict.fromkeys(number for group in groups for number in group.numbers))

    def quote(self, sources: Sequence[Segment]) -> tuple[AnswerKind, str, tuple[ShownSection, ...]]:
        """Return the kind of the answer, its text, and the sections of notes that it consists of.

        Args:
            sources: the numbered sources, in the order of the search results.
        """
        text = "".join(self._write_pieces(sources))
        return self._kind, text, self._sections

    def stream(self, request: Request, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the answer in pieces, then `ModelEnded`."""
        require_sealed(request)
        own = [segment for segment in request.segments if segment.layer is Layer.L3]
        for piece in self._write_pieces(own):
            cancel.raise_if_cancelled()
            yield ModelText(piece)
        yield ModelQuoted(self._kind, self._sections)
        yield ModelEnded("complete", "stop")

    def _write_pieces(self, sources: Sequence[Segment]) -> Iterator[str]:
        lists = [source for source in sources if source.source in (LIST_SOURCE, VALUE_SOURCE)]
        if lists:
            self._kind = _find_list_kind(lists[0])
            yield from _write_list(sources)
            return
        question = read_question(self._question, self._searched, self._today)
        if not sources:
            self._kind = "nothing" if question.names_subject else "small_talk"
            yield self._explain_nothing(question) if self._has_searched else NOT_SEARCHED
            return
        leading = _select_sources(question, sources)
        of_period = self._list_sources_in_period(question, leading)
        if of_period and question.period is not None and question.period.has_no_subject:
            self._kind, beginnings = (
                "time",
                find_beginnings(of_period[:MOST_OF_PERIOD], question.period),
            )
            yield OF_PERIOD if beginnings else NO_SENTENCE
            yield from self._write_sections(beginnings)
            yield from () if beginnings else _write_titles(of_period)
            return
        rarity = self._support.weights if self._support is not None else {}
        ranks = {source.number or 0: rank for rank, source in enumerate(sources, start=1)}
        found = find_sections(question, of_period or leading, self._compare, rarity, ranks)
        verdict = judge(question, leading, self._support, found)
        if not found.sections or (verdict == "unrelated" and not of_period):
            self._kind = "nothing" if found.parts else "doubt"
            lead = NOTHING_ANSWERS if found.parts else NO_SENTENCE
            yield _name_understood(lead, self.partly) if found.parts else lead
            yield from _write_titles(_choose_fitting(self.partly, sources))
            return
        self._kind = _KINDS[verdict if verdict != "nothing" or not of_period else "doubtful"]
        sections = found.sections
        if self._kind == "nothing":
            sections = tuple(map(fold_to_best_line, sections))
        if self._kind != "answer":
            sections = tuple(_choose_fitting(self.partly, sections))
        lead = _write_lead(self._kind, question.text, sections)
        yield lead if self._kind == "answer" else _name_understood(lead, self.partly)
        yield from self._write_sections(sections)

    def _list_sources_in_period(
        self, question: AskedQuestion, sources: Sequence[Segment]
    ) -> Sequence[Segment]:
        """Return the sources with a date in the period that a question is about, sorted by date.

        The result is empty if the period is long.
        """
        if question.period is None or not question.period.is_short:
            return ()
        paths = {source.source for source in sources}
        days = {} if self._find_days is None else self._find_days(paths)
        return list_sources_in_period(question.period, sources, days)

    def _explain_nothing(self, question: AskedQuestion) -> str:
        if not question.names_subject:
            return NOTHING_NAMED
        return NOTHING_FOUND if self._has_notes else NO_NOTES_FOUND

    def _write_sections(self, sections: Sequence[ShownSection]) -> Iterator[str]:
        """Yield the sections, each below the title, the headings and the date of its note."""
        days: Mapping[str, Sequence[str]] = {}
        if self._find_days is not None:
            days = self._find_days({section.path for section in sections})
        self._sections = tuple(
            replace(section, day=_find_day(section, days.get(section.path, ())))
            for section in sections
        )
        for section in self._sections:
            place, mark = write_place(section), "" if section.lit else f" [{section.n}]"
            yield f"\n{place}{mark}\n" if place or mark else ""
            yield f"\n{write_section(section)}\n"


def _write_lead(kind: AnswerKind, question: str, sections: Sequence[ShownSection]) -> str:
    """Return the line above the sections. It says if two notes differ in what is asked.

    It is one line because the window keeps the first line above the sections that it draws.
    """
    if kind not in {"answer", "doubt"}:
        return NOTHING_ANSWERS
    differing = describe_difference(question, sections, is_doubtful=kind == "doubt")
    if kind == "answer":
        return f"{FOUND.rstrip()} {differing}\n" if differing else FOUND
    beginning, blank, rest = DOUBTFUL.partition(" These passages")
    return f"{beginning} {differing}{blank}{rest}" if differing else DOUBTFUL


def _name_understood(lead: str, partly: "PartlyRead | None") -> str:
    """Return the line above what comes closest, with what was understood of a request for a list.

    Nothing is counted, and nothing is said of all notes.
    """
    if partly is None:
        return lead
    beginning = lead.partition(" These passages")[0].partition(" Closest")[0].rstrip()
    understood = escape_markdown(f"“{partly.understood}” was understood, not “{partly.left}”")
    return f"{beginning} Only {understood}. The nearest:\n"


def _choose_fitting(partly: "PartlyRead | None", found: Sequence[_Placed]) -> Sequence[_Placed]:
    """Return what is of notes that fulfil the filter that was understood, or all if nothing is."""
    if partly is None:
        return found
    paths = partly.paths
    return [
        each
        for each in found
        if (each.path if isinstance(each, ShownSection) else each.source) in paths
    ] or found


def _select_sources(question: AskedQuestion, sources: Sequence[Segment]) -> Sequence[Segment]:
    """Return the attached sources if the question is about them alone, otherwise all sources."""
    attached = [source for source in sources if not source.is_retrieved]
    return attached if attached and not question.asks_for_more else sources


def _find_day(section: ShownSection, days: Sequence[str]) -> str:
    """Return the day of a section's note, or an empty string if its names contain it.

    The day is the one in the name of the file, or else the one in the note's properties.

    Args:
        days: the dates in the properties of the note as ISO 8601.
    """
    day = _find_day_of_file(section.path) or (days[0] if len(days) == 1 else "")
    names = section.names
    is_named = any(day in name for name in names)
    return "" if is_named or day in {first.isoformat() for first, _ in list_days(names)} else day


def _write_titles(sources: Sequence[Segment]) -> Iterator[str]:
    """Yield one line for each note: its title, and the headings above its best passage."""
    best: dict[str, Segment] = {}
    for source in sources:
        best.setdefault(source.source, source)
    for source in list(best.values())[:MOST_NAMED]:
        names = dict.fromkeys((source.title or source.source, *source.heading))
        place = " › ".join(escape_markdown(name) for name in names if name)
        yield f"\n- {place} [{source.number}]"


def _find_list_kind(head: Segment) -> AnswerKind:
    """Return the kind of a list by its head: of notes, of tasks, or the property of a note."""
    if head.source == VALUE_SOURCE:
        return "answer"
    return "tasks" if parse_query(head.title).task_kind else "list"


def _write_list(sources: Sequence[Segment]) -> Iterator[str]:
    """Yield one page of a list: a summary, then one line per note.

    If a note has several tasks in the list, the tasks are grouped below the names of their notes.
    """
    heads = (LIST_SOURCE, VALUE_SOURCE)
    yield from (f"{each.raw_content}\n" for each in sources if each.source in heads)
    listed = [each for each in sources if each.kind == "passage" and each.source not in heads]
    if len({each.source for each in listed}) == len(listed):
        for each in listed:
            shown = write_item(each.raw_content)
            yield f"\n- {_name_note(each)}{f': {shown}' if shown else ''} [{each.number}]"
        return
    above = ""
    for each in listed:
        lead = "\n\n" if above else "\n"
        yield f"{lead}*{_name_note(each)}*\n" if each.source != above else ""
        yield f"\n- {write_item(each.raw_content)} [{each.number}]"
        above = each.source


def _name_note(source: Segment) -> str:
    """Return the title of a note, with the day in the name of its file if the title lacks it."""
    title = escape_markdown(source.title or source.source)
    day = _find_day_of_file(source.source)
    is_named = day in {first.isoformat() for first, _ in list_days([source.title])}
    return title if not day or is_named else f"{title} · {day}"


def _find_day_of_file(path: str) -> str:
    """Return the day in the name of a file as ISO 8601, or an empty string if there is not one."""
    days = [first.isoformat() for first, after in list_days([path]) if (after - first).days == 1]
    return days[0] if len(days) == 1 else ""
