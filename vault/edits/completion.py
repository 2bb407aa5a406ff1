"""Write the line of a task that is ticked or unticked, as the Tasks plugin for Obsidian does.

    - [ ] Water the beds 📅 2026-11-27        →   - [x] Water the beds 📅 2026-11-27 ✅ 2026-11-28
    - [ ] Call home [due:: 2026-11-27]        →   - [x] … [completion:: 2026-11-28]
    - [ ] Air the room 🔁 every day 🏁 delete →   (deleted)

The plugin writes the day to every task. Here only a task that has dates or a rule of the plugin
gets one, so that the lists of those who do not use it stay as they are. None is written if the
setting "Set done date" of the plugin is off. A task that is open again loses the day.

Source: "Dates" and "On Completion" in the guide of the Tasks plugin.
"""

import re
from datetime import date
from pathlib import Path
from typing import Final

from vault.notes.day_formats import TASKS_SETTINGS, load_settings
from vault.notes.tasks import write_status
from vault.notes.text.inline import blank_inline_code, remove_comments

__all__ = ["is_deleted_when_done", "may_write_done_day", "write_reopened", "write_ticked"]

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
_DELETED: Final = re.compile(
    rf"🏁\ufe0f?\s*delete\b{_AT_END}|[\[(]onCompletion::\s*delete\s*[\])]", re.IGNORECASE
)
# What stays at the end of the line: the name of the block, and blanks, which may break the line.
_END: Final = re.compile(r"(?:(?<![ \t])[ \t]++\^[A-Za-z0-9-]++)?(?<![ \t])[ \t]*+$")


def write_ticked(line: str, status: str, done: date | None) -> str | None:
    """Write the line of a task with another status, or return None if the line is no task.

    Args:
        line: the line.
        status: the new character in the checkbox, or the one that means the same as a new marker.
        done: the day on which the task is done, or None if it is open again or has no such day.
    """
    change = write_status(line, status)
    if change is None:
        return None
    ticked = _write(line, *change)
    mark = _find_mark(line, done) if done is not None else ""
    at = end_of_text.start() if (end_of_text := _END.search(ticked)) else len(ticked)
    return f"{ticked[:at]}{mark}{ticked[at:]}"


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


def is_deleted_when_done(line: str) -> bool:
    """Return whether the line of a task says that the task is deleted when it is done."""
    shown = blank_inline_code(remove_comments(line))
    return _DELETED.search(shown) is not None


def may_write_done_day(root: Path) -> bool:
    """Return whether the settings of the Tasks plugin, if there are any, allow days of completion.

    Args:
        root: the folder of notes.
    """
    return load_settings(root, TASKS_SETTINGS).get("setDoneDate", True) is not False


def _find_mark(line: str, done: date) -> str:
    """Return the day of completion in the form that the line uses, or "" if it has no such form."""
    plain = blank_inline_code(line)
    if _SIGNS.search(plain):
        return f" ✅ {done.isoformat()}"
    return f"  [completion:: {done.isoformat()}]" if _FIELDS.search(plain) else ""


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
