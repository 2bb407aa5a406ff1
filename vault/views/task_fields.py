"""Fields of tasks that only the queries of the Tasks plugin know, such as `urgency` and `id`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Final

from vault.errors import ViewNotUnderstood, ViewTooLong
from vault.exclude.obsidian import find_refusal
from vault.notes.tasks import TASK_PRIORITIES, TaskDay, TaskItem, TaskPriority, find_recurrence
from vault.notes.text.inline import find_tags
from vault.views.expressions import LinkValue
from vault.views.values import Value

__all__ = [
    "FILE_NAMES",
    "TASK_READERS",
    "TaskGraph",
    "check_pattern",
    "match_pattern",
    "measure_urgency",
    "read_depended_ids",
    "read_id",
]

FILE_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "path": lambda path: path,
    "pathwithoutextension": lambda path: path.rpartition(".")[0],
    "filename": lambda path: path.rpartition("/")[2],
    "filenamewithoutextension": lambda path: path.rpartition("/")[2].rpartition(".")[0],
    "folder": lambda path: f"{path.rpartition('/')[0]}/",
    "root": lambda path: f"{path.partition('/')[0]}/" if "/" in path else "/",
}
_MATCH_S: Final = 0.2
_DATE: Final = r"\ufe0f?\s*\d{4}-\d\d-\d\d"
_NAMES: Final = r"[A-Za-z0-9_-]+(?:\s*,\s*[A-Za-z0-9_-]+)*"
_ID: Final = re.compile(rf"🆔\ufe0f?\s*({_NAMES})|[\[(]id::\s*({_NAMES})\s*[\])]")
_NEEDED: Final = re.compile(rf"⛔\ufe0f?\s*({_NAMES})|[\[(]dependsOn::\s*({_NAMES})\s*[\])]")
_FIELD: Final = re.compile(
    rf"[📅📆🗓⏳⌛➕🛫✅❌]{_DATE}|[🔺⏫🔼🔽⏬]\ufe0f?|🏁\ufe0f?\s*\w+|(?:🆔|⛔)\ufe0f?\s*{_NAMES}"
    r"|🔁\ufe0f?\s*[A-Za-z0-9, !]+|\^[A-Za-z0-9-]+\s*$"
    r"|[\[(](?:due|scheduled|start|created|completion|cancelled|repeat|priority|id|dependsOn"
    r"|onCompletion)::[^\[\]()\n]*[\])]"
)
_TAG: Final = re.compile(r"(?:^|(?<=\s))#[^\s#]+")
_LINK: Final = re.compile(r"\[\[([^\[\]|#\n]{1,300})[^\[\]\n]{0,300}\]\]")
_PLANNED: Final[tuple[TaskDay, ...]] = ("due", "scheduled", "start")
_RANKS: Final[Mapping[TaskPriority, float]] = {
    "highest": 9.0,
    "high": 6.0,
    "medium": 3.9,
    "none": 1.95,
    "low": 0.0,
    "lowest": -1.8,
}


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """Which open tasks there are that others wait for.

    Attributes:
        open_ids: the ids of all open tasks.
        needed_ids: the ids that an open task waits for.
    """

    open_ids: frozenset[str]
    needed_ids: frozenset[str]


def read_id(task: TaskItem) -> str:
    """Return the id of a task, or an empty string."""
    found = _ID.search(task.text)
    return (found[1] or found[2] or "") if found else ""


def read_depended_ids(task: TaskItem) -> tuple[str, ...]:
    """Return the ids of the tasks that have to be done before a task."""
    found = _NEEDED.search(task.text)
    names = (found[1] or found[2] or "").split(",") if found else []
    return tuple(name.strip() for name in names)


def measure_urgency(task: TaskItem, today: date) -> float:
    """Return how urgent a task is, as the plugin computes it from its priority and its days.

    Source: "Urgency" in the guide of the Tasks plugin.
    """
    urgency = _RANKS[task.priority]
    if (due := task.find_day("due")) is not None:
        late = (today - due).days
        urgency += 12.0 * (
            1.0 if late >= 7 else 0.2 if late < -14 else (late + 14) * 0.8 / 21 + 0.2
        )
    if (scheduled := task.find_day("scheduled")) is not None and scheduled <= today:
        urgency += 5.0
    if (start := task.find_day("start")) is not None and start > today:
        urgency -= 3.0
    return round(urgency, 5)


def _describe(task: TaskItem) -> str:
    return " ".join(_FIELD.sub(" ", task.text).split())


def _find_planned(task: TaskItem) -> date | None:
    return min((day for kind in _PLANNED if (day := task.find_day(kind)) is not None), default=None)


def _count_priority(task: TaskItem) -> float:
    return float(len(TASK_PRIORITIES) - 1 - TASK_PRIORITIES.index(task.priority))


def _name_priority(task: TaskItem) -> str:
    return "Normal" if task.priority == "none" else task.priority.title()


TASK_READERS: Final[Mapping[str, Callable[[TaskItem], Value]]] = {
    "description": _describe,
    "descriptionWithoutTags": lambda task: " ".join(_TAG.sub(" ", _describe(task)).split()),
    "tags": lambda task: tuple(f"#{tag}" for tag in find_tags([(1, task.text)])),
    "outlinks": lambda task: tuple(LinkValue(name) for name in _LINK.findall(task.text)),
    "id": read_id,
    "dependsOn": read_depended_ids,
    "happens": _find_planned,
    "recurrence": lambda task: find_recurrence(task.text),
    "lineNumber": lambda task: float(task.line - 1),
    "priorityNumber": _count_priority,
    "priorityName": _name_priority,
}


def check_pattern(pattern: str, flags: str) -> None:
    """Check that a regular expression can be used.

    Raises:
        ViewNotUnderstood: it cannot.
    """
    if find_refusal(pattern) or _compile_pattern(pattern, flags) is None:
        raise ViewNotUnderstood(f"/{pattern}/{flags}")


def match_pattern(value: Any, pattern: str, flags: str) -> bool:
    """Return whether a regular expression matches anywhere in a text, or in one of a list of texts.

    Raises:
        ViewTooLong: the search takes too long.
    """
    texts = value if isinstance(value, tuple) and not isinstance(value, LinkValue) else (value,)
    compiled = _compile_pattern(pattern, flags)
    try:
        return any(
            compiled.search(str(text), timeout=_MATCH_S) is not None
            for text in texts
            if compiled is not None and text is not None
        )
    except TimeoutError as error:
        raise ViewTooLong from error


@lru_cache(maxsize=64)
def _compile_pattern(pattern: str, flags: str) -> Any:
    import regex

    known = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}
    if not set(flags) <= {*known, "u", "g"}:
        return None
    total = 0
    for flag in flags:
        total |= known.get(flag, 0)
    try:
        return regex.compile(pattern, total)
    except regex.error:
        return None
