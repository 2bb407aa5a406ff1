"""Tell which tasks have a tag: those with it in their line or a heading, or in a note with it.

A note has a tag in its properties, or in a line of tags alone. A tag that stands in another line,
as in a diary, is not said of the tasks of the note.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vault.catalog import Catalog
from vault.notes.keywords import fold
from vault.notes.properties import split_values
from vault.notes.tasks import TaskItem
from vault.notes.text.inline import find_tags
from vault.notes.text.markdown_text import MarkdownText
from vault.search.conditions import Condition, find_by_tag
from vault.search.filter_kinds import TaskTest, read_task_test

__all__ = ["KEYS_OF_TASKS", "TagClause", "list_task_tags", "read_tag_clause"]

_KEY: Final = "tag"
# The conditions that each task fulfils or not, and not only its note.
KEYS_OF_TASKS: Final = frozenset({_KEY, "task", "due", "date", "task-priority"})
# A line of tags alone, maybe behind a word such as "Tags:". Without possessive quantifiers, the
# time for another line would double with each tag.
_TAG_LINE: Final = re.compile(
    r"^[ \t>*_-]*+(?:\w{1,20}:[*_]*+[ \t]*+)?(?:#[^\s#]++(?:(?:[ ][^\s#]++)++#)?+[ \t,;]*+)++$",
    re.M,
)


@dataclass(frozen=True, slots=True)
class TagClause:
    """Alternative conditions of a query, of which at least one is on a tag or on the task itself.

    Attributes:
        others: the paths of the notes that fulfil one of the other conditions.
        tagged: the paths of the notes that have the tag themselves, by the condition on it.
        tests: what a task must fulfil, by the condition on it, such as `-due:2024`.
    """

    others: frozenset[str]
    tagged: Mapping[Condition, frozenset[str]]
    tests: Mapping[Condition, TaskTest]

    def is_met(self, path: str, task: TaskItem, tags: Collection[str]) -> bool:
        """Return whether a task fulfils one of the conditions.

        Args:
            path: the path of its note.
            tags: the tags in its line and in the headings above it.
        """
        if path in self.others:
            return True
        if any(test.is_met(task) != each.is_negated for each, test in self.tests.items()):
            return True
        return any(
            (path in paths or _has_tag(tags, each.value)) != each.is_negated
            for each, paths in self.tagged.items()
        )


def read_tag_clause(
    clause: Sequence[Condition], others: Collection[int], catalog: Catalog, paths: Mapping[int, str]
) -> tuple[TagClause, set[int]]:
    """Read alternative conditions of a query for tasks, of which one is on a tag or a task.

    Args:
        clause: the conditions.
        others: the file ids of the notes that fulfil one of the other conditions.
        catalog: the catalog of the index.
        paths: the notes to choose from, by file id.

    Returns:
        The conditions for a task, and the file ids of the notes that may have such tasks.
    """
    found, tagged = set(others), dict[Condition, frozenset[str]]()
    for condition in (each for each in clause if each.key == _KEY):
        holding = find_by_tag(condition, catalog, paths) & paths.keys()
        own = _find_tagged_notes(condition, catalog, holding)
        found |= paths.keys() - own if condition.is_negated else holding
        tagged[condition] = frozenset(paths[number] for number in own)
    read = ((each, read_task_test(each)) for each in clause)
    tests = {condition: test for condition, test in read if test is not None}
    if tests:
        found = set(paths)
    return TagClause(frozenset(paths[number] for number in others), tagged, tests), found


def list_task_tags(task: TaskItem, text: MarkdownText, heading: Sequence[str]) -> tuple[str, ...]:
    """Return the tags in the line of a task and in the headings above it.

    Args:
        text: the passage with the task.
        heading: the headings above the passage.
    """
    lines = [*heading, *text.find_headings(task.line - 1), task.text]
    return find_tags(enumerate(lines))


def _has_tag(tags: Collection[str], wanted: str) -> bool:
    """Return whether one of some tags is the wanted one, or stands under it."""
    start = f"{fold(wanted)}/"
    return any(f"{fold(tag)}/".startswith(start) for tag in tags)


def _find_tagged_notes(
    condition: Condition, catalog: Catalog, holding: Collection[int]
) -> frozenset[int]:
    """Return which of the notes that hold a tag have it in their properties, or in a line of tags.

    Args:
        condition: the condition on the tag.
        catalog: the catalog of the index.
        holding: the file ids of the notes that hold the tag somewhere.
    """
    files = (json.dumps(sorted(holding)),)
    named = catalog.rows(
        "SELECT file_id, value FROM properties WHERE name IN ('tags', 'tag')"
        " AND file_id IN (SELECT value FROM json_each(?))",
        files,
    )
    written = catalog.rows(
        "SELECT file_id, text FROM chunks WHERE instr(text, '#')"
        " AND file_id IN (SELECT value FROM json_each(?))",
        files,
    )
    tags = [(number, split_values(value, splits_blanks=True)) for number, value in named]
    tags += [(number, find_tags(enumerate(_TAG_LINE.findall(text)))) for number, text in written]
    return frozenset(
        int(number)
        for number, found in tags
        if _has_tag([tag.strip("#/") for tag in found], condition.value)
    )
