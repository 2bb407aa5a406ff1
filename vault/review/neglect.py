"""Find what waits for its author: overdue tasks, and drafts that were not changed for a year."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from vault.catalog import Catalog
from vault.notes.keywords import WORD, fold
from vault.notes.tasks import TaskItem, read_tasks
from vault.review.findings import Check, Finding, FindingNote, shorten_quote
from vault.review.texts import NoteInfo, NoteLine

__all__ = ["DraftRule", "OverdueRule", "read_drafts"]

_WORDS: Final = ("draft", "drafts", "entwurf", "entwürfe", "brouillon", "borrador", "bozza")
_DRAFT_WORDS: Final = frozenset(map(fold, _WORDS))
_DRAFTS: Final = """
    WITH words AS (SELECT value AS word FROM json_each(?))
    SELECT path FROM files WHERE id IN (
        SELECT file_id FROM tags WHERE lower(ltrim(tag, '#')) IN (SELECT word FROM words)
        UNION SELECT file_id FROM properties WHERE lower(name) IN (SELECT word FROM words)
            AND lower(value) IN ('true', 'yes', '1')
        UNION SELECT file_id FROM properties WHERE lower(name) IN ('status', 'state', 'stage')
            AND lower(value) IN (SELECT word FROM words)
    )
"""
_CHANGE_DAYS: Final = """
    SELECT path, max(value) FROM properties JOIN files ON files.id = file_id
    WHERE lower(name) IN ('updated', 'modified', 'last_modified', 'date_modified', 'changed')
    GROUP BY path
"""
_UNTOUCHED: Final = timedelta(days=365)


class OverdueRule:
    """Collects the notes with open tasks that were due before a day.

    Args:
        today: the day.
    """

    def __init__(self, today: date) -> None:
        self._today = today
        self._found: list[Finding] = []

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Check a note.

        Args:
            lines: the lines of the note that are not code.
        """
        tasks = read_tasks((line.number, line.raw) for line in lines if line.kind == "text")
        overdue = [task for task in tasks if task.is_overdue(self._today)]
        if overdue:
            oldest = min(overdue, key=_find_due_day)
            day = _write_day(_find_due_day(oldest))
            reason = (
                f"This task was due on {day}."
                if len(overdue) == 1
                else f"{len(overdue):,} open tasks are overdue, the oldest since {day}."
            )
            line = oldest.line
            place = FindingNote(note.path, note.title, line, line, shorten_quote(oldest.text))
            detail = "\0".join(task.dated_text for task in overdue)
            self._found.append(Finding("overdue", (place,), reason, detail, float(len(overdue))))

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each note.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        for finding in self._found:
            check()
            yield finding


class DraftRule:
    """Finds the drafts that were not changed for a year.

    Args:
        drafts: the paths of drafts by tag or property, as returned by `read_drafts`, with the day
            of the last change that a property states, if any.
        today: the day from which the year is counted.
    """

    def __init__(self, drafts: dict[str, str], today: date) -> None:
        self._drafts, self._today = drafts, today
        self._found: list[Finding] = []

    def add(self, note: NoteInfo, _lines: Sequence[NoteLine]) -> None:
        """Check a note."""
        words = {fold(word) for word in WORD.findall(note.path)}
        is_draft = note.path in self._drafts or not words.isdisjoint(_DRAFT_WORDS)
        if not is_draft or note.changed_ns < 0:
            return
        day = _read_day(self._drafts.get(note.path, "")) or (
            datetime.fromtimestamp(note.changed_ns / 10**9, UTC).astimezone().date()
        )
        age = self._today - day
        if age >= _UNTOUCHED:
            reason = f"This draft was last changed on {_write_day(day)}."
            place = FindingNote(note.path, note.title)
            self._found.append(Finding("draft", (place,), reason, note.version, float(age.days)))

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each draft.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        for finding in self._found:
            check()
            yield finding


def read_drafts(catalog: Catalog) -> dict[str, str]:
    """Return the paths of the notes that a tag or property calls a draft.

    Returns:
        The day of the last change that a property states, or an empty string, by path.
    """
    days: dict[str, str] = dict(catalog.rows(_CHANGE_DAYS))
    return {path: days.get(path, "") for (path,) in catalog.rows(_DRAFTS, [json.dumps(_WORDS)])}


def _find_due_day(task: TaskItem) -> date:
    return min(first for first, _ in task.list_due_days())


def _read_day(written: str) -> date | None:
    try:
        return date.fromisoformat(written[:10])
    except ValueError:
        return None


def _write_day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
