"""Compare two versions of a text line by line and word by word, and count removed text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Final, Literal, cast

__all__ = [
    "DiffHunk",
    "DiffLine",
    "DiffPart",
    "build_diff",
    "count_removed",
    "list_diff_lines",
    "list_hunks",
]

LineKind = Literal["head", "same", "removed", "added", "note"]
_CONTEXT_LINES: Final = 3
_HUNK_CONTEXT_LINES: Final = 1  # so that changes near each other form separate hunks
_MOST_COMPARED: Final = 2_000  # lines or words; comparing takes time quadratic in their number
_SHORT: Final = 100
_WORD: Final = re.compile(r"\d+(?:[.,:]\d+)+|\w+|\s+|[^\w\s]")  # a figure is one word
_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_KINDS: Final[dict[str, LineKind]] = {"@": "head", " ": "same", "\\": "note"}

_Tag = Literal["replace", "delete", "insert", "equal"]
_Opcode = tuple[_Tag, int, int, int, int]


@dataclass(frozen=True, slots=True)
class DiffPart:
    """A changed or unchanged segment of a line in a diff."""

    text: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff, split into changed and unchanged segments.

    Attributes:
        kind: the kind of line. `head` names a file or position, and `note` reports a missing
            newline at the end of the file.
        parts: the segments of the line, in order.
    """

    kind: LineKind
    parts: tuple[DiffPart, ...]

    @property
    def text(self) -> str:
        """The text of the whole diff line."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """A group of neighbouring changes in a file, which can be applied separately.

    Attributes:
        diff: the hunk as a unified diff without file names.
        changes: the replacements as start offset, end offset and new text.
    """

    diff: str
    changes: tuple[tuple[int, int, str], ...]


def list_hunks(before: str, after: str) -> tuple[DiffHunk, ...]:
    r"""Split a change of a text into hunks that can be applied separately.

    Args:
        before: the old text, with `\n` line endings.
        after: the new text, with `\n` line endings.
    """
    old, new = _split_lines(before), _split_lines(after)
    starts = list(accumulate(map(len, old), initial=0))
    hunks = list[DiffHunk]()
    for group in _group_changes(old, new, _HUNK_CONTEXT_LINES):
        lines = "".join(f"{line}\n" for line in _format_hunk(group, old, new))
        changed = [codes for tag, *codes in group if tag != "equal"]
        edits = ((starts[a], starts[b], "".join(new[c:d])) for a, b, c, d in changed)
        hunks.append(DiffHunk(lines, tuple(edits)))
    return tuple(hunks)


def build_diff(path: str, before: str | None, after: str | None, old_path: str = "") -> str:
    """Build a unified diff of a file.

    Args:
        path: the path of the file after the change.
        before: the old text with normalized line endings, or None if the file did not exist.
        after: the new text, or None if the file was deleted.
        old_path: the old path if the file was moved, otherwise an empty string.
    """
    head = [f"rename from {old_path}", f"rename to {path}"] if old_path else []
    old, new = _split_lines(before or ""), _split_lines(after or "")
    hunks = list(_build_hunks(old, new))
    if hunks or not head:
        head.append("--- /dev/null" if before is None else f"--- {old_path or path}")
        head.append("+++ /dev/null" if after is None else f"+++ {path}")
    return "".join(f"{line}\n" for line in (*head, *hunks))


def list_diff_lines(diff: str) -> tuple[DiffLine, ...]:
    """Split a unified diff into lines in which the changed words are marked."""
    lines: list[DiffLine] = []
    changed: dict[str, list[str]] = {"-": [], "+": []}
    for mark, text in [*_mark_roles(diff.removesuffix("\n").split("\n")), ("@", "")]:
        is_next_change = mark == "-" and changed["+"]
        if mark in changed and not is_next_change:
            changed[mark].append(text)
        elif mark != "\\" or not any(changed.values()):
            lines += _pair_lines(changed["-"], changed["+"])
            changed = {"-": [text] if mark == "-" else [], "+": []}
            if mark != "-":
                lines.append(DiffLine(_KINDS[mark], (DiffPart(text, False),)))
    return tuple(lines[:-1])


def _mark_roles(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each line of a diff with its role: `@` for a header, otherwise its first character.

    A removed line such as `-- text` looks like a header. The line counts in the hunk's header
    distinguish the two.
    """
    old = new = 0
    for line in lines:
        if old > 0 or new > 0:
            old -= line[:1] in (" ", "-")
            new -= line[:1] in (" ", "+")
            yield line[:1], line[1:]
        elif line.startswith("\\"):
            yield "\\", line[2:]
        else:
            if counts := _HUNK.match(line):
                old, new = (int(count or 1) for count in counts.groups())
            yield "@", line


def count_removed(before: str, after: str) -> int:
    """Count the characters that a change removes from a text.

    For short replacements, such as single words, only the difference in length counts.
    """
    old, new = _split_lines(before), _split_lines(after)
    return sum(
        _count_removed_words(
            _list_words("".join(old[first:last])), _list_words("".join(new[start:end]))
        )
        for tag, first, last, start, end in _compare(old, new)
        if tag != "equal"
    )


def _count_removed_words(old: Sequence[str], new: Sequence[str]) -> int:
    count = removed = added = 0
    for tag, first, last, start, end in (*_compare(old, new), ("equal", 0, 0, 0, 0)):
        text = "".join(old[first:last])
        if tag == "equal" and (text.strip() or not text):
            count += removed if removed > _SHORT else max(0, removed - added)
            removed = added = 0
        elif removed or added or tag != "equal":  # blanks between changed words count with them
            removed += len(text)
            added += len("".join(new[start:end]))
    return count


def _pair_lines(removed: Sequence[str], added: Sequence[str]) -> Iterator[DiffLine]:
    """Compare removed lines with added lines word by word, and yield them as lines of a diff.

    The removed lines come first.
    """
    if not removed or not added:
        yield from (DiffLine("removed", (DiffPart(line, True),)) for line in removed)
        yield from (DiffLine("added", (DiffPart(line, True),)) for line in added)
        return
    old, new = _list_words("\n".join(removed)), _list_words("\n".join(added))
    opcodes = _compare(old, new)
    gone = [("".join(old[a:b]), tag != "equal") for tag, a, b, _, _ in opcodes]
    come = [("".join(new[a:b]), tag != "equal") for tag, _, _, a, b in opcodes]
    yield from (DiffLine("removed", parts) for parts in _break_lines(gone))
    yield from (DiffLine("added", parts) for parts in _break_lines(come))


def _break_lines(parts: Iterable[tuple[str, bool]]) -> Iterator[tuple[DiffPart, ...]]:
    line: list[DiffPart] = []
    for text, is_changed in parts:
        first, *others = text.split("\n")
        line.append(DiffPart(first, is_changed))
        for other in others:
            yield tuple(part for part in line if part.text)
            line = [DiffPart(other, is_changed)]
    yield tuple(part for part in line if part.text)


def _build_hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for group in _group_changes(old, new, _CONTEXT_LINES):
        yield from _format_hunk(group, old, new)


def _group_changes(
    old: Sequence[str], new: Sequence[str], context_lines: int
) -> Iterator[Sequence[_Opcode]]:
    """Group the changes of a diff into hunks, each with unchanged lines around it.

    Args:
        old: the old lines.
        new: the new lines.
        context_lines: the number of unchanged lines before and after each change.
    """
    opcodes = _compare(old, new)
    if any(tag != "equal" for tag, *_ in opcodes):
        for group in _KnownOpcodes(opcodes).get_grouped_opcodes(context_lines):
            yield cast("list[_Opcode]", group)


def _format_hunk(group: Sequence[_Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = group[0], group[-1]
    before, after = _format_range(first[1], last[2]), _format_range(first[3], last[4])
    yield f"@@ -{before} +{after} @@"
    for tag, a, b, c, d in group:
        if tag == "equal":
            yield from _mark_lines(" ", old[a:b])
        else:
            yield from _mark_lines("-", old[a:b])
            yield from _mark_lines("+", new[c:d])


class _KnownOpcodes(SequenceMatcher[str]):
    """A `SequenceMatcher` that groups given opcodes instead of comparing two sequences."""

    def __init__(self, opcodes: list[_Opcode]) -> None:
        super().__init__()
        self._known = opcodes

    def get_opcodes(self) -> list[_Opcode]:
        return self._known


def _format_range(start: int, end: int) -> str:
    """Format a line range for the header of a hunk.

    For an empty range, the result contains the number of the line before it.

    Args:
        start: the index of the first line, counted from 0.
        end: the index after the last line.
    """
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _mark_lines(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line.removesuffix(chr(10))}"
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _split_lines(text: str) -> list[str]:
    """Split a text at line feeds only, keeping them at the end of each line."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]


def _list_words(text: str) -> list[str]:
    return _WORD.findall(text)


def _compare(old: Sequence[str], new: Sequence[str]) -> list[_Opcode]:
    """Return the differences between two sequences as the opcodes of `SequenceMatcher`.

    The common beginning and end are not compared, which saves time.
    """
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
    a, b = len(old) - tail, len(new) - tail
    found: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
    found += [
        (tag, first + head, last + head, start + head, end + head)
        for tag, first, last, start, end in _compare_middle(old[head:a], new[head:b])
    ]
    return [*found, ("equal", a, len(old), b, len(new))] if tail else found


def _compare_middle(old: Sequence[str], new: Sequence[str]) -> list[_Opcode]:
    if not old and not new:
        return []
    if not old or not new or max(len(old), len(new)) > _MOST_COMPARED:
        tag: _Tag = "insert" if not old else "delete" if not new else "replace"
        return [(tag, 0, len(old), 0, len(new))]
    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
