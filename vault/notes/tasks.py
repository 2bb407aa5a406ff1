"""Find tasks, list items with a checkbox or a marker, and read their status and dates.

    - [ ] Call the roofer 📅 2026-11-28
    - [x] Order the seeds ✅ 2026-11-20

A task is done if the character in its checkbox is `x`, cancelled if it is `-`, and otherwise open.
What a date means is said by the emoji before it, as in the Tasks plugin for Obsidian, or by a word:

    📅 due    ⏳ scheduled    ➕ created    🛫 start    ✅ completion    ❌ cancelled

Without such a mark, a date is a due date.

In place of a checkbox, the item may begin with a marker in capitals, as in Logseq. The lines below
may have its dates:

    - TODO [#A] Call the roofer
      DEADLINE: <2026-11-28 Sat>
    - DONE Order the seeds

Its priority is said by an emoji, as in the Tasks plugin, by a field such as `[priority:: high]`, as
in Dataview, or by a letter, as above:

    🔺 highest    ⏫ high, [#A]    🔼 medium, [#B]    🔽 low, [#C]    ⏬ lowest

It recurs if it has a rule after an emoji, as in the Tasks plugin, or in a field, as in Dataview:

    - [ ] Water the beds 🔁 every week
    - [ ] Water the beds [repeat:: every week]
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, Literal, get_args

from vault.notes.date_spans import Span
from vault.notes.dates import find_written_spans
from vault.notes.text.inline import ITEM, Line, blank_inline_code
from vault.notes.text.lines import FRONT
from vault.notes.text.markdown_text import MarkdownText

__all__ = [
    "TASK_DAYS",
    "TASK_MARKERS",
    "TASK_PRIORITIES",
    "TaskDay",
    "TaskFormat",
    "TaskItem",
    "TaskKind",
    "TaskPriority",
    "find_marker",
    "find_recurrence",
    "find_tasks",
    "is_line_of_dates",
    "is_task",
    "read_global_filter",
    "read_tasks",
    "toggle_status",
    "write_status",
]

TaskKind = Literal["open", "done", "any"]
TaskDay = Literal["due", "scheduled", "start", "completion", "created"]
TaskFormat = Literal["emoji", "field"]
TaskPriority = Literal["lowest", "low", "none", "medium", "high", "highest"]
# The priorities, the least urgent one first. As in the Tasks plugin, none is more urgent than low.
TASK_PRIORITIES: Final[tuple[TaskPriority, ...]] = get_args(TaskPriority)

# The item may be the first one of others, as in `- 1. [ ] Call`, or of a footnote, as in
# `[^1]: - [ ] Call`. Atomic groups keep this linear.
_FOOTNOTE: Final = r"(?>[ \t>]{0,200}\[\^[^\]\s]{1,100}\]:[ \t]?)?"
_DONE: Final = "xX"
_CANCELLED: Final = "-"
_OPEN: Final = " "
# The status that each marker means. The first marker of a status is the one that ticking writes.
TASK_MARKERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("TODO", "DOING", "NOW", "LATER", "WAITING", "IN-PROGRESS"), _OPEN),
    "DONE": _DONE[0],
    **dict.fromkeys(("CANCELLED", "CANCELED"), _CANCELLED),
}
_MARKER: Final = rf"(?P<marker>{'|'.join(TASK_MARKERS)})[ \t]++(?:\[#[A-C]\](?:[ \t]++|$))?+(?=\S)"
_TASK: Final = re.compile(
    rf"{_FOOTNOTE}(?>{ITEM}){{1,9}}(?:\[(?P<box>.)\][ \t]|{_MARKER})(?P<text>.*)"
)
_MARKED: Final = re.compile(_MARKER)
_NEW_ITEM: Final = re.compile(ITEM)
_DATES_BELOW: Final = re.compile(
    r"[ \t>]*+(?P<dates>(?:(?:SCHEDULED|DEADLINE):[ \t]*+<\d{4}-\d\d-\d\d[^<>]*+>[ \t]*+)++)$"
)
_SIGNS_OF_PRIORITY: Final[Mapping[str, TaskPriority]] = {
    "🔺": "highest",
    "⏫": "high",
    "🔼": "medium",
    "🔽": "low",
    "⏬": "lowest",
    "A": "high",
    "B": "medium",
    "C": "low",
    **{priority: priority for priority in TASK_PRIORITIES},
}
_PRIORITY: Final = re.compile(
    rf"(?P<emoji>[🔺⏫🔼🔽⏬])|^[ \t]*\[#(?P<letter>[A-C])\]"
    rf"|(?:\[|\()priority::[ \t]*(?P<field>{'|'.join(TASK_PRIORITIES)})[ \t]*(?:\]|\))",
    re.IGNORECASE,
)
_DAY: Final = r"[:\s]{0,3}<?\d{4}-\d\d-\d\d"
# Matches a date when a task was created, may be started, was done or cancelled.
_NOT_DUE: Final = re.compile(
    rf"(?:[➕🛫✅❌]\ufe0f?|\b(?:created|start|completion|done|cancelled):?){_DAY}", re.IGNORECASE
)
_DUE: Final = re.compile(rf"(?:[📅📆🗓]\ufe0f?|\bdue:?|(?-i:\bDEADLINE:)){_DAY}", re.IGNORECASE)
_SCHEDULED: Final = re.compile(rf"(?:[⏳⌛]\ufe0f?|\bscheduled:?){_DAY}", re.IGNORECASE)
_COMPLETION: Final = re.compile(rf"(?:✅\ufe0f?|\b(?:completion|done):?){_DAY}", re.IGNORECASE)
TASK_DAYS: Final[Mapping[TaskDay, re.Pattern[str]]] = {
    "due": _DUE,
    "scheduled": _SCHEDULED,
    "start": re.compile(rf"(?:🛫\ufe0f?|\bstart:?){_DAY}", re.IGNORECASE),
    "completion": _COMPLETION,
    "created": re.compile(rf"(?:➕\ufe0f?|\bcreated:?){_DAY}", re.IGNORECASE),
}
_RECURRENCES: Final[Mapping[TaskFormat, re.Pattern[str]]] = {
    "emoji": re.compile(r"🔁\ufe0f?\s*(?P<rule>every\b[A-Za-z0-9, !]*+)", re.IGNORECASE),
    "field": re.compile(
        r"[\[(]repeat::\s*(?P<rule>(?i:every)\b[^\[\]()\n]*+)[\])]",
    ),
}


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A list item with a checkbox or a marker.

    Attributes:
        line: the number of the line, counted from 1.
        status: the character in the checkbox, such as a space for an open task. That of a task with
            a marker is the one that means the same.
        text: the text after the checkbox, or after the marker and the priority.
        dates: the dates in the lines below, with their marks.
        priority: how urgent the task is.
        last: the number of the last line with a date, or None if no line below has one.
    """

    line: int
    status: str
    text: str
    dates: str = ""
    priority: TaskPriority = "none"
    last: int | None = None

    @property
    def dated_text(self) -> str:
        """The text with the dates in the lines below."""
        return f"{self.text} {self.dates}".rstrip()

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
        if self.status in _DONE and (done := _COMPLETION.search(self.dated_text)) is not None:
            return find_written_spans(done[0])
        return find_written_spans(_NOT_DUE.sub(" ", self.dated_text))

    def find_day(self, kind: TaskDay) -> date | None:
        """Return the first date with the mark of a kind, or None if no date has it."""
        marked = TASK_DAYS[kind].search(self.dated_text)
        spans = find_written_spans(marked[0]) if marked else ()
        return spans[0][0] if spans else None

    def list_due_days(self) -> tuple[Span, ...]:
        """Return the dates until which the task is due, each as a range of days.

        If no date is marked as due, those without a mark count, but no scheduled ones.
        """
        marked = " ".join(match[0] for match in _DUE.finditer(self.dated_text))
        return find_written_spans(marked or _SCHEDULED.sub(" ", _NOT_DUE.sub(" ", self.dated_text)))

    def list_scheduled_days(self) -> tuple[Span, ...]:
        """Return the dates that are marked as those for which the task is scheduled."""
        marked = " ".join(match[0] for match in _SCHEDULED.finditer(self.dated_text))
        return find_written_spans(marked)

    def is_overdue(self, today: date) -> bool:
        """Return whether the task is open, and was due before a day."""
        is_late = any(after <= today for _, after in self.list_due_days())
        return is_late and self.is_of_kind("open")


def toggle_status(status: str) -> str:
    """Return the status of a task after it was ticked or unticked.

    A done task becomes open. Any other task becomes done, also one with a status of its own.
    """
    return _OPEN if status in _DONE else _DONE[0]


def is_task(line: str) -> bool:
    """Return whether a line, which must not be code, is a task."""
    return _TASK.match(line) is not None


def is_line_of_dates(line: str) -> bool:
    """Return whether a line below a task has only dates of it, as in Logseq."""
    return _DATES_BELOW.match(line) is not None


def write_status(line: str, status: str) -> tuple[int, int, str] | None:
    """Return what to write where in the line of a task, or None if the line is no task.

    Args:
        status: the new character in the checkbox, or the one that means the same as a new marker.
    """
    match = _TASK.match(line)
    if match is None:
        return None
    if not match["marker"]:
        return *match.span("box"), status
    return *match.span("marker"), _find_marker(status)


def _find_marker(status: str) -> str:
    return next((marker for marker, each in TASK_MARKERS.items() if each == status), "TODO")


def read_tasks(lines: Iterable[Line]) -> Iterator[TaskItem]:
    """Read the tasks in numbered lines, with the dates that follow in the same list item.

    Args:
        lines: the lines, counted from 1, which must not be code.
    """
    task: TaskItem | None = None
    last = 0
    for number, line in lines:
        found, is_next, last = _read_task(number, line), number == last + 1, number
        if found is not None or not is_next or not line.strip() or _NEW_ITEM.match(line):
            if task is not None:
                yield task
            task = found
        elif task is not None and (dates := _DATES_BELOW.match(line)):
            below = f"{task.dates} {dates['dates']}".strip()
            task = replace(task, dates=below, last=number)
    if task is not None:
        yield task


def _read_task(number: int, line: str) -> TaskItem | None:
    match = _TASK.match(line)
    if match is None:
        return None
    status = match["box"] or TASK_MARKERS[match["marker"]]
    end = match.end("marker") if match["marker"] else match.end("box") + 1
    return TaskItem(number, status, match["text"].strip(), priority=_read_priority(line[end:]))


def _read_priority(text: str) -> TaskPriority:
    """Return the priority that the text of a task is marked with, or "none"."""
    match = _PRIORITY.search(text)
    if match is None:
        return "none"
    sign = match["emoji"] or (match["letter"] or "").upper() or match["field"].lower()
    return _SIGNS_OF_PRIORITY[sign]


def find_recurrence(text: str, written_as: TaskFormat | None = None) -> str:
    """Return the rule by which a task recurs, such as "every week", or "" if it does not recur.

    Args:
        text: the text or line of the task. What is in inline code is no rule.
        written_as: the format in which the rule is to be, or None for any.
    """
    shown = blank_inline_code(text)
    patterns = _RECURRENCES.values() if written_as is None else (_RECURRENCES[written_as],)
    found = min(filter(None, (one.search(shown) for one in patterns)), key=_get_start, default=None)
    return found["rule"].strip() if found else ""


def _get_start(found: re.Match[str]) -> int:
    return found.start()


def read_global_filter(settings: Mapping[str, Any]) -> str:
    """Return the text that a list item needs to be a task of the Tasks plugin, such as `#task`.

    Args:
        settings: the settings of the plugin. Without that text, each item is such a task.
    """
    text = settings.get("globalFilter", "")
    return text.strip() if isinstance(text, str) else ""


def find_marker(text: str) -> str:
    """Return the marker that makes a list item a task, such as `TODO`, or "" if it has none.

    Args:
        text: the first line of the item.
    """
    found = _MARKED.match(text)
    return found["marker"] if found else ""


def find_tasks(text: MarkdownText) -> Iterator[TaskItem]:
    """Find the tasks in a note or a passage, including those in callouts.

    Code, comments and front matter are skipped. The lines of the tasks are counted from the start
    of the text, which may be a passage that begins within a list or a code block.
    """
    shown = text.list_shown_lines()
    return read_tasks(line for line in shown if text.kinds[line[0] - 1] != FRONT)
