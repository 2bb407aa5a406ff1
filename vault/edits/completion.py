"""Write the line of a task that is ticked or unticked, as the Tasks plugin for Obsidian does.

    - [ ] Water the beds 📅 2026-11-27        →   - [x] Water the beds 📅 2026-11-27 ✅ 2026-11-28
    - [ ] Call home [due:: 2026-11-27]        →   - [x] … [completion:: 2026-11-28]
    - [ ] Air the room 🔁 every day 🏁 delete →   (deleted)

The plugin writes the day to every task. Here only a task that has dates or a rule of the plugin
gets one, so that the lists of those who do not use it stay as they are. If the plugin has a global
filter, each task with it gets one, and of an item without it only the checkbox changes, as for the
plugin. A task that is open again loses the day.

Sources: "Dates", "On Completion", "Global Filter" and "Recurring Tasks" in the guide of the Tasks
plugin.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final, Literal

from vault.notes.day_formats import TASKS_SETTINGS, load_settings
from vault.notes.tasks import TaskFormat, read_global_filter, write_status
from vault.notes.text.inline import blank_inline_code, remove_comments

__all__ = [
    "TickSettings",
    "is_deleted_when_done",
    "place_at_end",
    "read_tick_settings",
    "write_box",
    "write_day",
    "write_reopened",
    "write_ticked",
]

_OPEN: Final = " "
_WAITING: Final = ("TODO", "LATER", "WAITING")
_EARLIER: Final = {"NOW": "LATER"}
_DATE: Final = r"\d{4}-\d\d-\d\d"
_CLOSED: Final = re.compile(
    rf"[✅❌]\ufe0f?\s*{_DATE}|[\[(](?:completion|cancelled)::[^\[\]()\n]*[\])]"
)
_SIGNS: Final = re.compile(
    rf"[📅📆🗓⏳⌛➕🛫✅❌]\ufe0f?\s*{_DATE}|🔁\ufe0f?\s*every\b|🏁\ufe0f?\s*(?:delete|keep)\b",
    re.IGNORECASE,
)
_FIELDS: Final = re.compile(
    rf"[\[(](?:(?:due|scheduled|start|created|completion|cancelled)::\s*{_DATE}"
    r"|repeat::\s*every\b|onCompletion::\s*(?:delete|keep)\b)",
    re.IGNORECASE,
)
# As for the plugin, the signs are at the end of the line. Within a sentence, they are text.
_AT_END: Final = (
    rf"(?:\s++|[📅📆🗓⏳⌛➕🛫✅❌]\ufe0f?\s*{_DATE}|[🔺⏫🔼🔽⏬]\ufe0f?|#[^\s#]++|\^[A-Za-z0-9-]++$"
    r"|🔁\ufe0f?\s*every\b[A-Za-z0-9, !]*+|(?:🆔|⛔)\ufe0f?\s*[\w-]++(?:\s*,\s*[\w-]++)*+|"
    r"[\[(]\w++::[^\[\]()\n]*+[\])])*+$"
)
_DELETED: Final[Mapping[TaskFormat, re.Pattern[str]]] = {
    "emoji": re.compile(rf"🏁\ufe0f?\s*delete\b{_AT_END}", re.IGNORECASE),
    "field": re.compile(r"[\[(]onCompletion::\s*delete\s*[\])]", re.IGNORECASE),
}
# What stays at the end of the line: the name of the block, and blanks, which may break the line.
_END: Final = re.compile(r"(?:(?<![ \t])[ \t]++\^[A-Za-z0-9-]++)?(?<![ \t])[ \t]*+$")
_FORMATS: Final[Mapping[object, TaskFormat]] = {"tasksPluginEmoji": "emoji", "dataview": "field"}


@dataclass(frozen=True, slots=True)
class TickSettings:
    """What the settings of the Tasks plugin say about a task that is ticked.

    Attributes:
        global_filter: the text that a list item needs to be a task of the plugin, or an empty
            string if each item is one.
        written_as: the format of dates and rules, or None if each is understood, and a new day is
            written as the others of the task are.
        writes_done_day: whether a task gets the day on which it is done.
        writes_created_day: whether the next task of a recurring one gets the day on which it is
            written. If it is None, that day replaces the one of the task that is done, if any.
        is_next_below: whether the next task is written below the one that is done, not above it.
        drops_scheduled_day: whether the next task has no scheduled day if it has another one.
    """

    global_filter: str = ""
    written_as: TaskFormat | None = None
    writes_done_day: bool = True
    writes_created_day: bool | None = None
    is_next_below: bool = False
    drops_scheduled_day: bool = False


def read_tick_settings(root: Path) -> TickSettings:
    """Read the settings of the Tasks plugin. Missing and bad ones are those without the plugin.

    Args:
        root: the folder of notes.
    """
    loaded = load_settings(root, TASKS_SETTINGS)
    created = loaded.get("setCreatedDate")
    return TickSettings(
        read_global_filter(loaded),
        _FORMATS.get(str(loaded.get("taskFormat"))),
        loaded.get("setDoneDate") is not False,
        created if isinstance(created, bool) else None,
        loaded.get("recurrenceOnNextLine") is True,
        loaded.get("removeScheduledDateOnRecurrence") is True,
    )


_NO_SETTINGS: Final = TickSettings()


def write_ticked(
    line: str, status: str, done: date | None, settings: TickSettings = _NO_SETTINGS
) -> str | None:
    """Write the line of a task with another status, or return None if the line is no task.

    Args:
        status: the new character in the checkbox, or the one that means the same as a new marker.
        done: the day on which the task is done, or None if it is open again.
        settings: what the Tasks plugin is set to.
    """
    change = write_status(line, status)
    if change is None:
        return None
    ticked = _write(line, *change)
    if done is None or not settings.writes_done_day:
        return ticked
    shown = blank_inline_code(line)
    is_dated = _SIGNS.search(shown) or _FIELDS.search(shown)
    if not is_dated and not settings.global_filter:
        return ticked
    return place_at_end(ticked, write_day("done", done, line, settings))


def write_box(line: str, status: str) -> str | None:
    """Write the line of a task with another status and nothing else changed, or return None."""
    change = write_status(line, status)
    return None if change is None else f"{line[: change[0]]}{change[2]}{line[change[1] :]}"


def write_reopened(line: str) -> str | None:
    """Write the line of a task that a repeater opens again, or return None if it is no task.

    A marker stays unless it says that the task is under way: then the one before it is written.
    """
    change = write_status(line, _OPEN)
    if change is None:
        return None
    start, end, written = change
    marker = line[start:end]
    kept = marker if marker in _WAITING else _EARLIER.get(marker, written)
    return _write(line, start, end, kept)


def is_deleted_when_done(line: str, written_as: TaskFormat | None = None) -> bool:
    """Return whether the line of a task says that the task is deleted when it is done.

    Args:
        written_as: the format in which it is to say so, or None for any.
    """
    shown = blank_inline_code(remove_comments(line))
    patterns = _DELETED.values() if written_as is None else (_DELETED[written_as],)
    return any(pattern.search(shown) for pattern in patterns)


def write_day(
    kind: Literal["done", "created"], day: date, line: str, settings: TickSettings
) -> str:
    """Write a day of a task, in the format of the settings, or else in that of its line."""
    shown = blank_inline_code(line)
    is_field = not _SIGNS.search(shown) and _FIELDS.search(shown) is not None
    if settings.written_as == "field" or (settings.written_as is None and is_field):
        return f"  [{'completion' if kind == 'done' else kind}:: {day.isoformat()}]"
    return f" {'✅' if kind == 'done' else '➕'} {day.isoformat()}"


def place_at_end(line: str, mark: str) -> str:
    """Return the line of a task with a mark at its end, before the name of its block."""
    at = end.start() if (end := _END.search(line)) else len(line)
    return f"{line[:at]}{mark}{line[at:]}"


def _write(line: str, start: int, end: int, status: str) -> str:
    """Return a line with another status, without the days on which the task was done or cancelled.

    Blanks before such a day go with it, but not the one that ends the checkbox or marker.
    """
    first = end + 1 + line.startswith("]", end)
    shown = blank_inline_code(line)
    pieces, at = [f"{line[:start]}{status}{line[end:first]}"], first
    for found in _CLOSED.finditer(shown, first):
        pieces.append(line[at : found.start()].rstrip(" \t"))
        at = found.end()
    return "".join([*pieces, line[at:]])
