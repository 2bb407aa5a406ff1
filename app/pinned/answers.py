"""Pin questions, find their answers again when notes change, and tell what came and went."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Final

from app.errors import AppError, InvalidRequest, NotFound, describe
from app.library.open_vault import OpenVault
from app.library.projects import Projects
from app.paths import Paths
from app.pinned.answer import MOST_ROWS, AnswerRow, PinnedAnswer
from app.pinned.changes import ChangedRow, RowChanges, compare_rows
from app.pinned.compute import (
    FoundRows,
    UnderstoodQuestion,
    WrittenBlocks,
    find_rows,
    read_again,
    understand,
)
from app.pinned.model_answers import AskedAnswer, ReadChat, find_asked, find_changed_rows
from app.pinned.store import PinnedStore
from context.fixes import Command, Fix
from context.json_codec import Record
from vault.access import find_excluded
from vault.errors import VaultError
from vault.vault import Vault

__all__ = ["Clock", "PinnedAnswers", "ShownAnswer", "measure_wait_for_midnight"]

_MOST_TITLE_CHARS: Final = 100
_MOST_PINNED: Final = 100
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.05, 60.0
_BEING_INDEXED: Final = "Your notes are being indexed. These are the rows from before."

_log = logging.getLogger(__name__)
# Returns the present time with its time zone.
Clock = Callable[[], datetime]
ListMoves = Callable[[Path], Mapping[str, str]]


@dataclass(frozen=True)
class ShownAnswer(Record):
    """A pinned answer with what has changed since it was last looked at.

    Attributes:
        answer: the pinned answer.
        changes: the rows that came, went and changed.
        problem: why the rows are not those of now, such as a folder that is not there, or "".
    """

    answer: PinnedAnswer
    changes: RowChanges
    problem: str = ""

    json_shape = (
        "id = answer.id",
        "title = answer.title",
        "question = answer.question",
        "kind = answer.kind",
        "query = answer.query",
        "project = answer.project or null",
        "summary = answer.summary",
        "total = answer.total",
        "rows = answer.rows",
        "changes",
        "mark = changes.mark",
        "computed = answer.computed",
        "note = answer.note or null",
        "answer = answer.answer unless null",
        "problem or null",
    )


class PinnedAnswers:
    """The pinned answers of the open vault. Thread-safe.

    Each method raises `VaultNotChosen` if no vault is open, and `StorageFailed` if the pinned
    answers cannot be read or written. Methods that take an id raise `NotFound` if there is no such
    pinned answer.

    Attributes:
        clock: returns the present time, whose day questions are read on.
    """

    def __init__(
        self,
        paths: Paths,
        vault: OpenVault,
        projects: Projects,
        list_moves: ListMoves,
        read_chat: ReadChat,
        clock: Clock = lambda: datetime.now().astimezone(),
    ) -> None:
        """Create the object. Nothing is read yet.

        Args:
            paths: the folders and files of Strata itself.
            vault: the open vault.
            projects: opens the notes of projects.
            list_moves: returns the present paths of the notes that Strata moved in a folder.
            read_chat: reads a chat, for its answers and what has changed in their sources.
            clock: returns the present time, whose day questions are read on.
        """
        self._vault, self._projects = vault, projects
        self._store = PinnedStore(paths)
        self._list_moves, self._read_chat, self.clock = list_moves, read_chat, clock
        self._problems: dict[str, str] = {}

    def list(self) -> tuple[ShownAnswer, ...]:
        """Return the pinned answers as they were found last, in the order of the sidebar."""
        return tuple(map(self._show, self._store.read(self._index_dir)))

    def find(self, id: str) -> ShownAnswer:
        """Return a pinned answer as it was found last."""
        return self._show(_find(self._store.read(self._index_dir), id))

    def add(self, question: str, *, title: str = "", project: str | None = None) -> ShownAnswer:
        """Pin a question, with its rows of now.

        Args:
            question: a question, or a query as in the search box.
            title: the name to show, or an empty string for the question.
            project: the project in which it is asked, or None for the whole vault.

        Raises:
            InvalidRequest: the question is blank, or too much is pinned already.
            VaultError: the folder or the index cannot be read.
        """
        named = "" if project is None else self._projects.find_name(project)
        vault, today = self._open(named), self.clock().date()
        vault.require_folder()
        understood = understand(vault, question, today)
        made = PinnedAnswer(
            id=token_hex(4),
            title=_choose_title(title, question),
            question=" ".join(question.split()),
            kind=understood.kind,
            query=understood.query,
            day=today.isoformat(),
            project=named,
        )
        written = WrittenBlocks(vault, made.id)
        made = self._take(made, find_rows(vault, made.question, understood, today, written))
        return self._keep(replace(made, seen=made.rows, seen_total=made.total))

    def add_answer(self, session: str, entry: str) -> ShownAnswer:
        """Pin an answer of a chat, given the id of its log entry.

        An answer of a model is kept as it is. It is not asked for again, but what has changed in
        its sources is told. Of any other answer, the question is pinned.

        Raises:
            NotFound: the active branch of the chat has no such answer.
            InvalidRequest: too much is pinned already.
            VaultError: the folder or the index cannot be read.
        """
        asked = find_asked(self._read_chat(session), entry)
        if asked.is_live:
            return self.add(asked.question, project=asked.project or None)
        made = PinnedAnswer(
            id=token_hex(4),
            title=_choose_title("", asked.question),
            question=asked.question,
            kind="model",
            project=asked.project,
            answer=asked.to_model_answer(session),
        )
        return self._keep(made)

    def find_asked(self, id: str) -> AskedAnswer:
        """Return a pinned answer of a model as it is in its chat, with its question.

        Raises:
            NotFound: the active branch of the chat has no such answer.
        """
        answer = self.find(id).answer.answer
        if answer is None:
            raise InvalidRequest("No model has written this answer.")
        return find_asked(self._read_chat(answer.session), answer.entry)

    def replace_answer(self, id: str, session: str, entry: str) -> ShownAnswer:
        """Put a newer answer of a model in the place of the one that is pinned.

        Raises:
            NotFound: the active branch of the chat has no such answer.
        """
        newer = find_asked(self._read_chat(session), entry).to_model_answer(session)
        return self._change(
            id, lambda one: replace(one, answer=newer, rows=(), total=0, summary="")
        )

    def refresh(self, ids: Collection[str] | None = None) -> tuple[ShownAnswer, ...]:
        """Find the rows of pinned answers again, and return all pinned answers.

        If the folder is not there, or is being indexed, the last rows are kept and the problem is
        named.

        Args:
            ids: the pinned answers to find again, or None for all.
        """
        stored = self._store.read(self._index_dir)
        for id in set(ids or ()):
            _find(stored, id)
        wanted = [one for one in stored if ids is None or one.id in ids]
        found = {one.id: self._find_again(one) for one in wanted}
        if all(found[one.id].is_same(one) for one in wanted):
            return tuple(map(self._show, stored))

        def change(now: tuple[PinnedAnswer, ...]) -> Sequence[PinnedAnswer]:
            return [found[one.id].merge(one) if one.id in found else one for one in now]

        return tuple(map(self._show, self._store.change(self._index_dir, change)))

    def look(self, id: str) -> ShownAnswer:
        """Return a pinned answer with its changes, and take them as seen from now on."""
        shown = self.find(id)

        def change(answer: PinnedAnswer) -> PinnedAnswer:
            return replace(answer, seen=shown.answer.rows, seen_total=shown.answer.total)

        self._change(id, change)
        return shown

    def set_note(self, id: str, path: str) -> ShownAnswer:
        """Remember the note or base that shows a pinned answer."""
        return self._change(id, lambda one: replace(one, note=path))

    def rename(self, id: str, title: str) -> ShownAnswer:
        """Give a pinned answer another title. A blank one restores the question."""
        return self._change(id, lambda one: replace(one, title=_choose_title(title, one.question)))

    def move(self, id: str, place: int) -> tuple[ShownAnswer, ...]:
        """Move a pinned answer to another place in the list, counted from 0."""

        def change(now: tuple[PinnedAnswer, ...]) -> Sequence[PinnedAnswer]:
            moved = _find(now, id)
            others = [one for one in now if one.id != id]
            at = max(0, min(place, len(others)))
            return [*others[:at], moved, *others[at:]]

        return tuple(map(self._show, self._store.change(self._index_dir, change)))

    def remove(self, id: str) -> tuple[PinnedAnswer, int]:
        """Remove a pinned answer, and return it with its place, for `restore`."""
        removed: list[tuple[PinnedAnswer, int]] = []

        def change(now: tuple[PinnedAnswer, ...]) -> Sequence[PinnedAnswer]:
            found = _find(now, id)
            removed[:] = [(found, now.index(found))]
            return [one for one in now if one.id != id]

        self._store.change(self._index_dir, change)
        return removed[0]

    def restore(self, answer: PinnedAnswer, place: int) -> ShownAnswer:
        """Put a removed pinned answer back at its place."""

        def change(now: tuple[PinnedAnswer, ...]) -> Sequence[PinnedAnswer]:
            others = [one for one in now if one.id != answer.id]
            return [*others[:place], answer, *others[place:]]

        self._store.change(self._index_dir, change)
        return self._show(answer)

    @property
    def _index_dir(self) -> Path:
        return self._vault.require_vault().index_dir

    def _open(self, project: str) -> Vault:
        return self._projects.open(project) if project else self._vault.require_vault()

    def _keep(self, answer: PinnedAnswer) -> ShownAnswer:
        def change(now: tuple[PinnedAnswer, ...]) -> Sequence[PinnedAnswer]:
            if len(now) >= _MOST_PINNED:
                raise InvalidRequest(
                    f"{_MOST_PINNED} answers are pinned already.", hint="Remove one of them first."
                )
            return [*now, answer]

        self._store.change(self._index_dir, change)
        return self._show(answer)

    def _change(self, id: str, change: Callable[[PinnedAnswer], PinnedAnswer]) -> ShownAnswer:
        def change_one(now: tuple[PinnedAnswer, ...]) -> Sequence[PinnedAnswer]:
            _find(now, id)
            return [change(one) if one.id == id else one for one in now]

        return self._show(_find(self._store.change(self._index_dir, change_one), id))

    def _find_again(self, answer: PinnedAnswer) -> "_FoundAgain":
        """Find the rows of now, or keep those from before and the problem that prevented it."""
        self._problems.pop(answer.id, None)
        today = self.clock().date()
        try:
            vault = self._open(answer.project)
            vault.require_folder()
            if answer.answer is not None:
                chat = self._read_chat(answer.answer.session)
                return _FoundAgain(
                    self._take(answer, find_changed_rows(chat, answer.answer, vault.find_content))
                )
            query = answer.query
            if answer.day != today.isoformat():
                query = read_again(vault, answer.question, query, today)
            understood = UnderstoodQuestion(answer.kind, query)
            written = WrittenBlocks(vault, answer.id, answer.note)
            found = find_rows(vault, answer.question, understood, today, written)
            vault.require_folder()  # it may have gone away meanwhile, so that no note was there
            hidden = self._find_hidden(vault, answer, found.rows)
            is_whole = found.is_whole and (vault.note_count > 0 or not vault.list_names())
        except (VaultError, AppError) as error:
            _log.warning("A pinned answer was not found again: %s", error)
            self._problems[answer.id] = describe(error).message
            return _FoundAgain(answer)
        if not is_whole:
            self._problems[answer.id] = _BEING_INDEXED
            return _FoundAgain(answer)
        answer = replace(answer, query=query, day=today.isoformat())
        return _FoundAgain(self._take(answer, found), hidden)

    def _take(self, answer: PinnedAnswer, found: FoundRows) -> PinnedAnswer:
        """Return a pinned answer with the rows that were found, and the time if they differ."""
        taken = replace(
            answer, summary=found.summary, total=found.total, rows=found.rows[:MOST_ROWS]
        )
        if taken == answer:
            return answer
        now = self.clock().astimezone(UTC).isoformat(timespec="seconds")
        return replace(taken, computed=now.replace("+00:00", "Z"))

    def _find_hidden(
        self, vault: Vault, answer: PinnedAnswer, rows: Sequence[AnswerRow]
    ) -> frozenset[str]:
        """Return the notes of earlier rows that are excluded or private now.

        Their lines are not shown as gone, but forgotten.
        """
        gone = {row.path for row in answer.seen} - {row.path for row in rows}
        moves = partial(self._list_moves, vault.root)
        return find_excluded(vault.root, gone, vault.exclude, moves) if gone else frozenset()

    def _show(self, answer: PinnedAnswer) -> ShownAnswer:
        root = self._vault.require_vault().root
        if answer.kind == "model":
            edited = RowChanges(changed=tuple(ChangedRow(row, row) for row in answer.rows))
            return ShownAnswer(answer, edited, self._problems.get(answer.id, ""))

        def is_there(path: str) -> bool:
            return (root / path).exists()  # an absolute path, of a project, stays as it is

        if max(answer.total, answer.seen_total) > MOST_ROWS:
            changes = RowChanges(more=answer.total - answer.seen_total)
        else:
            changes = compare_rows(answer.seen, answer.rows, is_there)
        return ShownAnswer(answer, changes, self._problems.get(answer.id, ""))


@dataclass(frozen=True)
class _FoundAgain:
    """A pinned answer whose rows were found again.

    Attributes:
        answer: the answer with its rows of now.
        hidden: the notes of earlier rows that are excluded or private now.
    """

    answer: PinnedAnswer
    hidden: frozenset[str] = frozenset()

    def is_same(self, stored: PinnedAnswer) -> bool:
        """Return whether nothing of a stored answer changes."""
        return self.merge(stored) == stored

    def merge(self, stored: PinnedAnswer) -> PinnedAnswer:
        """Return a stored answer with the rows that were found, and all else as it is stored.

        Another instance may have renamed it or looked at it meanwhile.
        """
        found = self.answer
        return replace(
            stored,
            query=found.query,
            day=found.day,
            summary=found.summary,
            total=found.total,
            rows=found.rows,
            computed=found.computed,
            seen=tuple(row for row in stored.seen if row.path not in self.hidden),
        )


def measure_wait_for_midnight(now: datetime) -> float:
    """Return the seconds to wait before looking whether another day has begun.

    It is at most a minute, because a clock may be set, and a computer may sleep meanwhile.
    """
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
    return max(_SHORTEST_WAIT_S, min(_LONGEST_WAIT_S, (midnight - now).total_seconds()))


def _find(answers: Sequence[PinnedAnswer], id: str) -> PinnedAnswer:
    found = next((one for one in answers if one.id == id), None)
    if found is None:
        listed = Fix("{} lists them.", Command("pinned list"))
        raise NotFound(f"There is no pinned answer {id}.", hint=listed)
    return found


def _choose_title(title: str, question: str) -> str:
    """Return a title on one line. A blank one is replaced by the question."""
    line = " ".join(title.split()) or " ".join(question.split())
    return line if len(line) <= _MOST_TITLE_CHARS else f"{line[: _MOST_TITLE_CHARS - 1]}…"
