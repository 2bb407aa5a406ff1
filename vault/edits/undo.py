"""Undo edits to notes that have not changed since then, and list the net changes of edit runs."""

import os
import posixpath
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from vault.edits.diff import build_diff
from vault.edits.files import (
    flush_folder,
    has_temporary,
    move_file,
    read_file,
    remove_file,
    remove_folders,
    remove_temporary,
    replace_file,
)
from vault.edits.journal import EditJournal, EditStep, hash_content
from vault.edits.plan import NoteChange, read_text
from vault.errors import EditFailed, EditOutdated, EditUnknown, UndoRefused, VaultError
from vault.paths import printable

__all__ = [
    "EditHistory",
    "UndoneRun",
    "build_change_diff",
    "clear_up",
    "is_finished",
    "revert_steps",
]

_MOST_NAMED: Final = 12


def build_change_diff(change: NoteChange[bytes]) -> str:
    """Return a unified diff of a note before and after a run of edits."""
    return build_diff(
        printable(change.path),
        read_text(change.before),
        read_text(change.after),
        printable(change.old_path),
    )


@dataclass(frozen=True, slots=True)
class UndoneRun:
    """The result of an undo.

    Attributes:
        run: the id of the run whose edits were undone.
        steps: the steps that were undone, in the order of the journal.
    """

    run: str
    steps: tuple[EditStep, ...]

    json_shape = (
        "run",
        "undone",
    )

    @property
    def undone(self) -> list[dict[str, str]]:
        """The undone edits, each with its note, in the order of the journal."""
        return [{"path": printable(step.path), "edit": step.id} for step in self.steps]

    def describe(self) -> str:
        """Return a sentence that says how many edits were undone, and in which notes."""
        paths = list(dict.fromkeys(printable(step.path) for step in self.steps))
        shown = ", ".join(paths[:_MOST_NAMED])
        more = f" and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else ""
        edits = "1 edit" if len(self.steps) == 1 else f"{len(self.steps):,} edits"
        return f"{edits} undone: {shown}{more}."


class EditHistory:
    """The history of edits in a journal, with methods to find, undo and describe runs of edits."""

    def __init__(self, journal: EditJournal) -> None:
        self._journal = journal

    def find_last_run(
        self,
        session: str | None = None,
        is_meant: Callable[[EditStep], bool] = lambda _: True,
    ) -> str:
        """Return the id of the last run of edits that has not been undone.

        Args:
            session: the id of a chat, to consider only its edits, or None for all edits.
            is_meant: returns whether a step is to be considered.

        Raises:
            EditUnknown: there is no run that can be undone.
        """
        for step in reversed(self._journal.read()):
            is_there = step.mark not in ("failed", "undone") and session in (None, step.session)
            if is_there and is_meant(step):
                return step.run
        where = "" if session is None else " in this chat"
        raise EditUnknown(f"There is no edit{where} to undo.")

    def list_offered_runs(self, sessions: Collection[str]) -> frozenset[str]:
        """Return the ids of the runs of edits that the user can undo.

        These are the most recent run overall, and the most recent run of each given session.
        """
        last: dict[str, str] = {}
        newest = ""
        for step in self._journal.read():
            if step.mark not in ("failed", "undone"):
                newest = last[step.session] = step.run
        session_runs = (run for session, run in last.items() if not session or session in sessions)
        return frozenset(filter(None, (newest, *session_runs)))

    def undo_run(self, run: str, check: Callable[[EditStep], None] = lambda _: None) -> UndoneRun:
        """Undo all edits of a run, the latest first, or none of them.

        Args:
            run: the id of the run.
            check: raises an error for a step that may not be undone. Then nothing is.

        Raises:
            EditUnknown: the journal has no run with this id.
            UndoRefused: the run was already undone, or a note has changed since.
            EditFailed: a note could not be written. Calling this method again continues the undo.
        """
        return self._undo(lambda step: step.run == run, f"run {run}", check)

    def undo_edit(self, edit: str, check: Callable[[EditStep], None] = lambda _: None) -> UndoneRun:
        """Undo a single edit of a run.

        Args:
            edit: the id of the edit.
            check: raises an error for a step that may not be undone. Then nothing is.

        Raises:
            EditUnknown: the journal has no edit with this id.
            UndoRefused: the edit was already undone, or a note has changed since.
            EditFailed: a note could not be written. Calling this method again continues the undo.
        """
        return self._undo(lambda step: step.id == edit, f"edit {edit}", check)

    def list_net_changes(self, run: str) -> tuple[NoteChange[bytes], ...]:
        """List the net change of a run to each note, sorted by path.

        Edits that were undone are not included.

        Args:
            run: the id of the run.

        Raises:
            UndoRefused: a file content stored in the journal is damaged.
        """
        first: dict[str, tuple[str, str | None]] = {}
        last: dict[str, str] = {}
        for step in self._list_valid_steps(run):
            origin = first.pop(step.path, (step.path if step.before else "", step.before))
            first[step.new_path] = origin
            last.pop(step.path, None)
            last[step.new_path] = step.after
        return tuple(
            NoteChange(
                path,
                origin if origin != path else "",
                None if before is None else self._journal.load(before),
                self._journal.load(last[path]),
            )
            for path, (origin, before) in sorted(first.items())
            if origin != path or before != last[path]
        )

    def list_changes_now(self, run: str) -> tuple[NoteChange[str], ...]:
        """List what a run has changed, by the contents that the files have now.

        Args:
            run: the id of the run.

        Raises:
            VaultError: a file or the journal cannot be read.
        """
        steps = self._list_valid_steps(run)
        _check_roots(steps)
        roots = {step.new_path: Path(step.root) for step in steps}
        return tuple(
            NoteChange(
                change.path,
                change.old_path,
                _hash(change.before),
                _hash(read_file(roots[change.path], change.path)),
            )
            for change in self.list_net_changes(run)
        )

    def list_changed_paths(self, run: str) -> tuple[str, ...]:
        """List the distinct paths of the notes that a run of edits has changed so far."""
        return tuple(dict.fromkeys(step.new_path for step in self._list_valid_steps(run)))

    def remove_leftovers(self) -> None:
        """Remove temporary files that a killed process left behind."""
        if any(step.mark in ("begun", "undoing") for step in self._journal.read()):
            with suppress(EditFailed), self._journal.lock():
                _remove_leftovers(self._journal)

    def _list_valid_steps(self, run: str) -> list[EditStep]:
        steps = (step for step in self._journal.read() if step.run == run)
        return [step for step in steps if step.mark not in ("failed", "undone")]

    def _undo(
        self, is_meant: Callable[[EditStep], bool], name: str, check: Callable[[EditStep], None]
    ) -> UndoneRun:
        with self._journal.lock():
            _remove_leftovers(self._journal)
            known = [step for step in self._journal.read() if is_meant(step)]
            steps = [step for step in known if step.mark not in ("failed", "undone")]
            if not known:
                raise EditUnknown(f"The {name} is not in the journal of edits.")
            if not steps:
                raise UndoRefused(f"The {name} was undone already.")
            _check_roots(steps)
            for step in steps:
                check(step)
            _check_unchanged(steps, self._journal.list_doubtful())
            self._journal.mark(steps, "undoing")
            revert_steps(self._journal, steps)
            _flush(steps)
            with suppress(EditFailed):  # the notes are as before; undoing again changes nothing
                self._journal.mark(steps, "undone")
        return UndoneRun(steps[0].run, tuple(steps))


def revert_steps(journal: EditJournal, steps: Sequence[EditStep]) -> None:
    """Restore files to their state before the given steps of the journal.

    Steps that were not carried out are skipped.

    Raises:
        UndoRefused: a note was changed after its step.
        EditFailed: a file could not be written.
    """
    for step in reversed(steps):
        try:
            _revert(journal, step)
        except EditOutdated as error:
            raise _build_refusal([step]) from error


def _revert(journal: EditJournal, step: EditStep) -> None:
    root = Path(step.root)
    content = journal.load(step.after)
    current = read_file(root, step.new_path)
    is_before = step.before == _hash(current)
    if step.to:
        if current is not None:
            move_file(root, step.to, step.path, content)
    elif step.before is None:
        if current is not None:
            remove_file(root, step.path, content)
    elif not is_before:
        replace_file(root, step.path, content, journal.load(step.before), step.temporary)
    remove_folders(root, step.folders)


def _flush(steps: Sequence[EditStep]) -> None:
    """Flush the folders of steps that are undone. An undo before may have failed to flush some.

    Raises:
        EditFailed: a folder could not be flushed.
    """
    paths = ((step.root, path) for step in steps for path in (step.path, step.new_path))
    for root, folder in dict.fromkeys((root, posixpath.dirname(path)) for root, path in paths):
        flush_folder(Path(root), folder)


def _check_roots(steps: Sequence[EditStep]) -> None:
    """Check that the folder of notes of each step is there, and is surely the same one.

    Raises:
        UndoRefused: it is not there, or another folder may have its path now.
    """
    for root, is_found in {(step.root, step.is_found): None for step in steps}:
        if not is_found:
            raise UndoRefused(
                f"The folder at {root} may be another one than the folder of this edit, so nothing "
                "was undone. Open the folder of the edit where it is now and undo again, or change "
                "the text by hand."
            )
        if not os.path.isdir(root):
            raise UndoRefused(f"The folder {root} is not there. Mount its drive, then undo again.")


def _check_unchanged(steps: Sequence[EditStep], doubtful: Set[str]) -> None:
    """Check that all steps can be reverted. Nothing is written.

    Args:
        doubtful: the ids of those that may not be what was written to the journal.

    Raises:
        UndoRefused: a note was changed after its step, or a note without a change may not be the
            one that the step changed.
    """
    files = _Files(doubtful)
    changed = [step for step in reversed(steps) if not files.revert(step)]
    if any(step.id in doubtful for step in changed):
        raise UndoRefused(
            "The record of this edit was damaged, so that it may name another note. Nothing was "
            "undone. Undo other edits one by one, or change the text by hand."
        )
    if changed:
        raise _build_refusal(changed[::-1])


class _Files:
    """Simulates an undo by keeping the hash that each file would have after the undo."""

    def __init__(self, doubtful: Set[str]) -> None:
        self._hashes: dict[tuple[str, str], str | None] = {}
        self._doubtful = doubtful

    def revert(self, step: EditStep) -> bool:
        """Revert a step in the simulation, and return whether the step can be reverted on disk.

        A step that is reverted already can be, unless it is doubtful.
        """
        now, then = self._find(step.root, step.new_path), self._find(step.root, step.path)
        if step.to:
            is_there = now == step.after and (then is None or _is_one_file(step))
            is_reverted = now is None and then == step.before
            self._hashes[step.root, step.to] = None
        else:
            is_there, is_reverted = now == step.after, now == step.before
        self._hashes[step.root, step.path] = step.before
        is_sure = step.mark == "undoing" or step.id not in self._doubtful
        return is_there or (is_reverted and is_sure)

    def _find(self, root: str, path: str) -> str | None:
        if (root, path) not in self._hashes:
            try:
                self._hashes[root, path] = _hash(read_file(Path(root), path))
            except VaultError:
                self._hashes[root, path] = "unreadable"
        return self._hashes[root, path]


def _is_one_file(step: EditStep) -> bool:
    """Return whether both paths of a move lead to the same file, as may happen after a crash."""
    with suppress(OSError):
        return os.path.samefile(Path(step.root, step.path), Path(step.root, step.to))
    return False


def _build_refusal(changed: Iterable[EditStep]) -> UndoRefused:
    paths = tuple(dict.fromkeys(printable(step.new_path) for step in changed))
    verb = "has" if len(paths) == 1 else "have"
    return UndoRefused(
        f"{', '.join(paths)} {verb} changed since this edit. Nothing was undone, so that no newer "
        "text is lost. Undo other edits one by one, or change the text by hand.",
        paths,
    )


def _remove_leftovers(journal: EditJournal) -> None:
    """Remove the temporary files of a killed process.

    Also record which steps of its edits were completed.
    """
    found = [step for step in journal.read() if step.is_found]
    unfinished = [step for step in found if step.mark in ("begun", "undoing")]
    unfinished = [*filter(clear_up, unfinished)]
    failed = [step for step in unfinished if _find_mark(step) == "failed"]
    for step in reversed(failed):
        remove_folders(Path(step.root), step.folders)
    if failed:
        journal.mark(failed, "failed")
    if done := [step for step in unfinished if step not in failed]:
        journal.mark(done, "done")


def is_finished(step: EditStep) -> bool:
    """Return whether a step has left no temporary file, so that nobody has to look for it."""
    return not has_temporary(Path(step.root), step.path, step.temporary)


def clear_up(step: EditStep) -> bool:
    """Remove the temporary file of a step, and return whether it is gone for good."""
    return remove_temporary(Path(step.root), step.path, step.temporary)


def _find_mark(step: EditStep) -> Literal["done", "failed"]:
    root = Path(step.root)
    with suppress(VaultError):
        if step.mark == "begun" and step.to and read_file(root, step.to) is None:
            return "failed"
        content = read_file(root, step.path)
        if step.mark == "begun" and not step.to and _hash(content) == step.before:
            return "failed"
    return "done"


def _hash(content: bytes | None) -> str | None:
    return None if content is None else hash_content(content)
