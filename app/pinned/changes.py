"""Compare the rows of a pinned answer with those that were last looked at.

A note that was renamed or moved is the same note: it is recognised by its content, or else by the
lines that its rows have in common. A line that was edited is one changed row, and not one that went
and one that came.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Final

from app.pinned.answer import AnswerRow
from context.json_codec import Record

__all__ = ["ChangedRow", "RowChanges", "compare_rows"]

# Lines of one note that are at least so similar are the same line before and after an edit.
_SIMILAR: Final = 0.6
# Checkboxes, and days with their signs, are alike in all tasks, so they do not tell whether two
# lines are one.
_ALIKE: Final = re.compile(r"^\s*[-*+]\s+\[.\]|[^\w\s]?\ufe0f?\s*\d{4}-\d\d-\d\d")
# Of a note with more unmatched lines, each would be compared with each.
_MOST_COMPARED: Final = 60


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A row whose line was edited.

    Attributes:
        before: the row when the answer was last looked at.
        after: the row now.
    """

    before: AnswerRow
    after: AnswerRow


@dataclass(frozen=True)
class RowChanges(Record):
    """What came, went and changed since a pinned answer was last looked at.

    Attributes:
        new: the rows that came, as they are now.
        gone: the rows that went, as they were.
        changed: the rows whose line was edited.
        moved: the earlier paths of notes that were renamed or moved, by their present paths.
        more: the change in the number of rows, if there are too many to be compared.
    """

    new: tuple[AnswerRow, ...] = ()
    gone: tuple[AnswerRow, ...] = ()
    changed: tuple[ChangedRow, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    more: int = 0

    json_shape = (
        "new",
        "gone",
        "changed",
        "moved",
    )

    @property
    def mark(self) -> str:
        """The changes in short, such as "+2 −1", or an empty string if nothing has changed."""
        came, went = len(self.new) + max(0, self.more), len(self.gone) + max(0, -self.more)
        counts = (("+", came), ("\N{MINUS SIGN}", went), ("~", len(self.changed)))
        return " ".join(f"{sign}{number:,}" for sign, number in counts if number)

    @property
    def sentence(self) -> str:
        """The changes in words, such as "2 new, 1 gone", or an empty string."""
        came, went = len(self.new) + max(0, self.more), len(self.gone) + max(0, -self.more)
        counts = ((came, "new"), (went, "gone"), (len(self.changed), "changed"))
        return ", ".join(f"{number:,} {word}" for number, word in counts if number)


def compare_rows(
    before: Sequence[AnswerRow], after: Sequence[AnswerRow], is_there: Callable[[str], bool]
) -> RowChanges:
    """Compare the rows of an answer with earlier ones.

    Args:
        before: the earlier rows.
        after: the rows now.
        is_there: returns whether there is a file at a path of an earlier row.
    """
    moves = _find_moves(before, after, is_there)
    left, came = _drop_equal([_follow(row, moves) for row in before], after)
    by_note = defaultdict[str, list[AnswerRow]](list)
    for row in left:
        by_note[row.path].append(row)
    came_by_note, changed = _group(came), list[ChangedRow]()
    for path, rows in by_note.items():
        changed += _pair_edited(rows, came_by_note.get(path, ()))
    edited = {id(one.before) for one in changed} | {id(one.after) for one in changed}
    return RowChanges(
        tuple(row for row in came if id(row) not in edited),
        tuple(row for row in left if id(row) not in edited),
        tuple(sorted(changed, key=lambda one: (one.after.path, one.after.line))),
        {new: old for old, new in moves.items()},
    )


def _follow(row: AnswerRow, moves: Mapping[str, str]) -> AnswerRow:
    return replace(row, path=moves.get(row.path, row.path))


def _find_moves(
    before: Sequence[AnswerRow], after: Sequence[AnswerRow], is_there: Callable[[str], bool]
) -> Mapping[str, str]:
    """Return the present paths of notes that were renamed or moved, by their earlier paths."""
    old, new = _group(before), _group(after)
    gone = [path for path in old if path not in new and not is_there(path)]
    unknown = [path for path in new if path not in old]
    likely, taken, moves = _Likely(unknown, new), set[str](), dict[str, str]()
    for path in gone:
        names = likely.find(old[path], taken)
        rated = [(_rate_move(old[path], new[to]), to) for to in names]
        best = max(rated, default=(0.0, ""))
        if best[0] > 0 and sum(rating == best[0] for rating, _ in rated) == 1:
            moves[path] = best[1]
            taken.add(best[1])
    return moves


class _Likely:
    """Finds the notes that an earlier note may be: those of its content, or with a line of it.

    A folder of many notes may have been renamed. To rate each of them for each would take long.
    """

    def __init__(self, paths: Sequence[str], rows: Mapping[str, Sequence[AnswerRow]]) -> None:
        self._paths = defaultdict[str, set[str]](set)
        for path in paths:
            for row in rows[path]:
                self._paths[row.version].add(path)
                self._paths[row.text].add(path)

    def find(self, rows: Sequence[AnswerRow], taken: Set[str]) -> Set[str]:
        """Return the paths of the notes that may be the one with these rows, and are not taken."""
        same = self._paths[rows[0].version] - taken if rows[0].version else set[str]()
        return same or set[str]().union(*(self._paths[row.text] for row in rows)) - taken


def _group(rows: Iterable[AnswerRow]) -> Mapping[str, list[AnswerRow]]:
    found = defaultdict[str, list[AnswerRow]](list)
    for row in rows:
        found[row.path].append(row)
    return found


def _rate_move(old: Sequence[AnswerRow], new: Sequence[AnswerRow]) -> float:
    """Return how likely the rows are those of one note, or 0 if they are not."""
    name = PurePosixPath(old[0].path).name == PurePosixPath(new[0].path).name
    if old[0].version and old[0].version == new[0].version:
        return 3.0 + name
    texts = Counter(row.text for row in old)
    shared = (texts & Counter(row.text for row in new)).total() / max(len(old), len(new))
    return shared + name if 2 * shared >= 1 or (name and shared) else 0.0


def _drop_equal(
    before: Sequence[AnswerRow], after: Sequence[AnswerRow]
) -> tuple[list[AnswerRow], list[AnswerRow]]:
    """Return the rows before and after without those that are in both, whatever their lines."""
    counts = Counter((row.path, row.shown) for row in after)
    left: list[AnswerRow] = []
    for row in before:
        if counts[row.path, row.shown] > 0:
            counts[row.path, row.shown] -= 1
        else:
            left.append(row)
    came: list[AnswerRow] = []
    for row in reversed(after):
        if counts[row.path, row.shown] > 0:
            counts[row.path, row.shown] -= 1
            came.append(row)
    return left, came[::-1]


def _pair_edited(before: Sequence[AnswerRow], after: Sequence[AnswerRow]) -> list[ChangedRow]:
    """Pair the rows of a note before and after an edit, the most similar ones first."""
    if len(before) == len(after) == 1 and before[0].is_note and after[0].is_note:
        return [ChangedRow(before[0], after[0])]
    if not after or max(len(before), len(after)) > _MOST_COMPARED:
        return []
    rated = sorted(
        (
            (-_measure(old.text, new.text), abs(old.line - new.line), a, b)
            for a, old in enumerate(before)
            for b, new in enumerate(after)
        ),
    )
    taken_before, taken_after, found = set[int](), set[int](), list[ChangedRow]()
    for likeness, _, a, b in rated:
        if -likeness >= _SIMILAR and a not in taken_before and b not in taken_after:
            taken_before.add(a)
            taken_after.add(b)
            found.append(ChangedRow(before[a], after[b]))
    return found


def _measure(old: str, new: str) -> float:
    """Return how similar two lines are, as they are written and without what is alike in tasks."""
    one, other = (_ALIKE.sub("", text).strip() for text in (old, new))
    if not one or not other:
        return _compare(old, new)
    return 1.0 if one == other else min(_compare(old, new), _compare(one, other))


def _compare(old: str, new: str) -> float:
    return SequenceMatcher(None, old, new, autojunk=False).ratio()
