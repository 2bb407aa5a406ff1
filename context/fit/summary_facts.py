"""Keep what a summary says was decided, and the notes it names, in the memory of the session.

A summary is shortened or left out where a request has no room for it, and the next compaction
writes another one. The facts in the memory stay. They are read from the summary's own fields, so no
further call of a model is needed; those of the summary before give way to them.

Source: "Context Engineering Optimization Spec", 3.2.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from context.compaction import HEAD
from context.history.memory import read_memory
from context.log.entries import Entry, MemoryUpdateEntry, TransformEntry
from context.tokens import TokenCounter

_FIELD: Final = re.compile(
    r"[\s#*_>-]*(?P<name>Decisions|Done|Open|Known unknowns|Sources|Also said)[*_]*\s*:?[*_]*\s*"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_BULLET: Final = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
_SEPARATOR: Final = re.compile(r"[,;]\s+")
_SOURCES: Final = "Notes that earlier answers rested on: "


def read_fields(summary: str) -> dict[str, list[str]]:
    """Return the lines below each heading of a summary, by the heading in lower case."""
    fields: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in summary.removeprefix(HEAD).splitlines():
        text = line.strip()
        if (head := _FIELD.fullmatch(line)) is not None and _is_heading(line, head):
            lines = fields.setdefault(head["name"].lower(), [])
            text = head["rest"].strip()
        if lines is not None and (item := _BULLET.sub("", text, count=1).strip()):
            lines.append(item)
    return fields


def _is_heading(line: str, head: re.Match[str]) -> bool:
    """Return whether a line that begins with the name of a field is its heading."""
    return ":" in line[: head.start("rest")] or not head["rest"]


def read_facts(summary: str) -> tuple[str, ...]:
    """Return the decisions in a summary, and a last fact that names its sources."""
    fields = read_fields(summary)
    facts = [" ".join(line.split()) for line in fields.get("decisions", ())]
    names = (name for line in fields.get("sources", ()) for name in _SEPARATOR.split(line))
    paths = dict.fromkeys(filter(None, (name.strip(" `[]\"'.") for name in names)))
    return tuple(dict.fromkeys([*facts, *([_SOURCES + ", ".join(paths)] if paths else [])]))


def keep_facts(
    path: Sequence[Entry],
    summary: str,
    most_tokens: int,
    counter: TokenCounter,
    place: tuple[str, str | None, str],
) -> tuple[MemoryUpdateEntry, ...]:
    """Return the log entry that puts the facts of a summary into the memory, if they change it.

    Args:
        path: the log entries up to the compaction.
        summary: the new summary, as it is sent.
        most_tokens: the tokens that the facts of the summary may have together. Those that do not
            fit are left out, the last ones first.
        counter: counts the tokens.
        place: the id, the parent's id and the time of the log entry.
    """
    known = read_memory(path).facts
    replaced = {fact for text in _list_summaries(path) for fact in read_facts(text)}
    found, left = [], most_tokens
    for fact in read_facts(summary):
        left -= counter.count(fact)
        if left < 0:
            break
        found.append(fact)
    kept = (fact for fact in known if fact not in replaced)
    facts = tuple(dict.fromkeys((*kept, *found)))
    return (MemoryUpdateEntry(*place, facts=facts),) if facts != known else ()


def _list_summaries(path: Sequence[Entry]) -> Iterator[str]:
    for entry in path:
        if isinstance(entry, TransformEntry):
            summaries: Iterator[Any] = (op.get("summary") for op in entry.patch)
            yield from (text for text in summaries if isinstance(text, str))
