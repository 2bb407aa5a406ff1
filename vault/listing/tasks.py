"""List every task in the notes that matches a query, such as `task:open roof`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from vault.notes.tasks import TASK_PRIORITIES, TaskItem
from vault.notes.text.stems import WordStems
from vault.search.filter_kinds import list_priorities
from vault.search.filters import list_matching_tasks
from vault.search.hits import Hit, build_hit
from vault.search.passages import KeepCurrent, Passage
from vault.search.query import Query
from vault.search.task_tags import TagClause

__all__ = ["describe_order", "list_tasks"]


_LEAST_TO_SORT: Final = 2
_LOW: Final = frozenset(("low", "lowest"))


@dataclass(frozen=True, slots=True)
class _FoundTask:
    """A task with the passage that contains it.

    Attributes:
        matched_stems: the stems of the query that occur in the task, in the headings above it, or
            in the title of its note.
    """

    passage: Passage
    task: TaskItem
    matched_stems: frozenset[str]

    @property
    def line(self) -> int:
        """The number of the task's line in the file, counted from 1."""
        return self.passage.lines[0] + self.task.line - 1

    @property
    def place(self) -> tuple[str, int]:
        """The path of the note and the line, for sorting."""
        return self.passage.path, self.line

    def find_day(self, query: Query) -> date:
        """Return the first date of the task by which it is sorted, or the earliest possible one."""
        if not (query.days or query.due or query.priorities):
            return date.min
        has_other_days = bool(query.days) and not query.due
        days = self.task.list_days() if has_other_days else self.task.list_due_days()
        return min((first for first, _ in days), default=date.max)

    def rank_priority(self, query: Query) -> int:
        """Return the rank of the task by its priority if a query limits that, or else 0."""
        if not query.priorities:
            return 0
        rank = TASK_PRIORITIES.index(self.task.priority)
        return rank if _begins_with_least(query) else -rank

    def build_hit(self) -> Hit:
        """Build a hit that shows only the line of the task, and those below with its dates."""
        passage, last = self.passage, self.task.last or self.task.line
        shown = passage.markdown_text.cut(self.task.line - 1, last)
        text, structure = "\n".join(shown.lines).strip(), shown.structure
        place = (self.line, self.line + last - self.task.line)
        return build_hit(replace(passage, lines=place, text=text, structure=structure), 1.0, {})


def describe_order(query: Query) -> str:
    """Describe how the tasks of a query are sorted if it is by priority, or return ""."""
    found = {each for value in query.priorities for each in list_priorities(value)}
    if len(found) < _LEAST_TO_SORT:
        return ""
    return "least urgent first" if _begins_with_least(query) else "most urgent first"


def _begins_with_least(query: Query) -> bool:
    """Return whether a query asks for tasks of low priority alone."""
    found = {each for value in query.priorities for each in list_priorities(value)}
    return found <= _LOW


def list_tasks(
    query: Query,
    passages: Mapping[int, Passage],
    keep_current: KeepCurrent,
    tag_clauses: Sequence[TagClause] = (),
    is_listed: Callable[[TaskItem], bool] = lambda _: True,
) -> tuple[list[Hit], bool]:
    """List the tasks that match a query, by note and line.

    If the query limits the priorities or dates of tasks, they are sorted by these.

    Args:
        query: a query with a filter for tasks.
        passages: the passages that contain such tasks, by id.
        keep_current: yields the given passages that still exist, with current line numbers.
        tag_clauses: the conditions on tags that the tasks must fulfil.
        is_listed: tells which of these tasks to list.

    Returns:
        One hit for each task, and whether no task has all words of the query. Then the tasks with
        the most words are listed.
    """
    stems = WordStems(query.words)
    found = [
        each
        for _, passage in keep_current(passages.items())
        for each in _find_tasks(query, passage, stems, tag_clauses)
        if is_listed(each.task)
    ]
    most = max((len(each.matched_stems) for each in found), default=0)
    found = [each for each in found if len(each.matched_stems) == most and (most or not stems)]
    found.sort(key=lambda each: (each.rank_priority(query), each.find_day(query), each.place))
    return [each.build_hit() for each in found], 0 < most < len(stems)


def _find_tasks(
    query: Query, passage: Passage, stems: WordStems, tag_clauses: Sequence[TagClause]
) -> Iterator[_FoundTask]:
    if not stems:
        yield from (
            _FoundTask(passage, task, frozenset())
            for task in list_matching_tasks(query, passage, tag_clauses)
        )
        return
    text = passage.markdown_text
    around = stems.find(" ".join((passage.title, *passage.heading)))
    for task in list_matching_tasks(query, passage, tag_clauses):
        above = " ".join(text.find_headings(task.line - 1)[-1:])
        yield _FoundTask(passage, task, around | stems.find(f"{above} {task.text}"))
