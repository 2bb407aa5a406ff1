"""Find tasks, which are list items with a checkbox, and read their status and dates.

    - [ ] Call the roofer 📅 2026-11-28
    - [x] Order the seeds ✅ 2026-11-20

A task is done if the character in its checkbox is `x`, cancelled if it is `-`, and otherwise open.
What a date means is said by the emoji before it, as in the Tasks plugin for Obsidian, or by a word:

    📅 due    ⏳ scheduled    ➕ created    🛫 start    ✅ completion    ❌ cancelled

Without such a mark, a date is a due date.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from vault.notes.date_spans import Span
from vault.notes.dates import find_written_spans
from vault.notes.text.inline import ITEM
from vault.notes.text.lines import FRONT
from vault.notes.text.markdown_text import MarkdownText

__all__ = [
    "TASK_DAYS",
    "TaskDay",
    "TaskItem",
    "TaskKind",
    "find_checkbox",
    "find_tasks",
    "read_task",
    "toggle_status",
]

TaskKind = Literal["open", "done", "any"]
TaskDay = Literal["due", "scheduled", "start", "completion", "created"]

# The item may be the first one of others, as in `- 1. [ ] Call`, or of a footnote, as in
# `[^1]: - [ ] Call`. Atomic groups keep this linear.
_FOOTNOTE: Final = r"(?>[ \t>]{0,200}\[\^[^\]\s]{1,100}\]:[ \t]?)?"
_TASK: Final = re.compile(rf"{_FOOTNOTE}(?>{ITEM}){{1,9}}\[(.)\][ \t](.*)")
_DONE: Final = "xX"
_CANCELLED: Final = "-"
_DAY: Final = r"[:\s]{0,3}\d{4}-\d\d-\d\d"
# Matches a date when a task was created, may be started, was done or cancelled.
_NOT_DUE: Final = re.compile(
    rf"(?:[➕🛫✅❌]\ufe0f?|\b(?:created|start|completion|done|cancelled):?){_DAY}", re.IGNORECASE
)
_DUE: Final = re.compile(rf"(?:[📅📆🗓]\ufe0f?|\bdue:?){_DAY}", re.IGNORECASE)
_SCHEDULED: Final = re.compile(rf"(?:[⏳⌛]\ufe0f?|\bscheduled:?){_DAY}", re.IGNORECASE)
_COMPLETION: Final = re.compile(rf"(?:✅\ufe0f?|\b(?:completion|done):?){_DAY}", re.IGNORECASE)
TASK_DAYS: Final[Mapping[TaskDay, re.Pattern[str]]] = {
    "due": _DUE,
    "scheduled": _SCHEDULED,
    "start": re.compile(rf"(?:🛫\ufe0f?|\bstart:?){_DAY}", re.IGNORECASE),
    "completion": _COMPLETION,
    "created": re.compile(rf"(?:➕\ufe0f?|\bcreated:?){_DAY}", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A list item with a checkbox.

    Attributes:
        line: the number of the line, counted from 1.
        status: the character in the checkbox, such as a space for an open task.
        text: the text after the checkbox.
    """

    line: int
    status: str
    text: str

    def is_of_kind(self, kind: TaskKind) -> bool:
        """Return whether the task is of a kind. A cancelled task is neither open nor done."""
        if kind == "any":
            return True
        is_done = self.status in _DONE
        return is_done if kind == "done" else not is_done and self.status != _CANCELLED

    def list_days(self) -> tuple[Span, ...]:
        """Return the dates of the task, each as a range of days.

        The date of a done task is its completion date, if it has one. Otherwise, all dates in the
        text of the task count, such as due and scheduled dates, except for those that say when it
        was created, started, done or cancelled.
        """
        if self.status in _DONE and (done := _COMPLETION.search(self.text)) is not None:
            return find_written_spans(done[0])
        return find_written_spans(_NOT_DUE.sub(" ", self.text))

    def find_day(self, kind: TaskDay) -> date | None:
        """Return the first date with the mark of a kind, or None if no date has it."""
        marked = TASK_DAYS[kind].search(self.text)
        spans = find_written_spans(marked[0]) if marked else ()
        return spans[0][0] if spans else None

    def list_due_days(self) -> tuple[Span, ...]:
        """Return the dates until which the task is due, each as a range of days.

        If no date is marked as due, those without a mark count, but no scheduled ones.
        """
        marked = " ".join(match[0] for match in _DUE.finditer(self.text))
        return find_written_spans(marked or _SCHEDULED.sub(" ", _NOT_DUE.sub(" ", self.text)))

    def list_scheduled_days(self) -> tuple[Span, ...]:
        """Return the dates that are marked as those for which the task is scheduled."""
        marked = " ".join(match[0] for match in _SCHEDULED.finditer(self.text))
        return find_written_spans(marked)

    def is_overdue(self, today: date) -> bool:
        """Return whether the task is open, and was due before a day."""
        is_late = any(after <= today for _, after in self.list_due_days())
        return is_late and self.is_of_kind("open")


def toggle_status(status: str) -> str:
    """Return the status of a task after it was ticked or unticked.

    A done task becomes open. Any other task becomes done, also one with a status of its own.
    """
    return " " if status in _DONE else _DONE[0]


def find_checkbox(line: str) -> int | None:
    """Return the position of the character in a line's checkbox, or None if it has none."""
    match = _TASK.match(line)
    return None if match is None else match.start(1)


def read_task(number: int, line: str) -> TaskItem | None:
    """Return the task in a line, or None if it has none.

    Args:
        number: the number of the line, counted from 1.
        line: the line, which must not be code.
    """
    match = _TASK.match(line)
    return None if match is None else TaskItem(number, match[1], match[2].strip())


def find_tasks(text: MarkdownText) -> Iterator[TaskItem]:
    """Find the tasks in a note or a passage, including those in callouts.

    Code, comments and front matter are skipped. The lines of the tasks are counted from the start
    of the text, which may be a passage that begins within a list or a code block.
    """
    for number, line in text.list_shown_lines():
        if text.kinds[number - 1] != FRONT and (task := read_task(number, line)):
            yield task
