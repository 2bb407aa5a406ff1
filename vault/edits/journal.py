"""The edit journal, which records every edit on disk before a note is changed.

An edit consists of steps, one for each changed file. `journal.jsonl` contains one line per step,
and one line for each change of a step's status. Each line carries a hash of the line before and
of itself. File contents are stored in files named by hash. A line that was cut off by a crash, or
that no step can be read from, is skipped, and stays in the file. `EditJournal.prune` removes runs
older than 90 days, and the oldest runs if the contents exceed 200 MB.
"""

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from resources.system import calls
from resources.system.files import (
    append_synced,
    make_private_folder,
    open_file,
    remove_leftovers,
    write_atomically,
)
from resources.system.line_chain import encode_chain, find_breaks, move_line, read_last_line
from vault.errors import EditFailed, UndoRefused

__all__ = ["EditJournal", "EditRun", "EditStep", "StepMark", "hash_content", "parse_journal"]

MOST_AGE: Final = timedelta(days=90)
MOST_BYTES: Final = 200_000_000
StepMark = Literal["begun", "done", "failed", "undoing", "undone"]
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_NOT_REQUIRED: Final = ("folders", "folder_id", "mark", "is_found")
_MARKS: Final[tuple[StepMark, ...]] = ("begun", "done", "failed", "undoing", "undone")


@dataclass(frozen=True, slots=True)
class EditRun:
    """A group of edits that are undone together, such as those of one answer.

    Attributes:
        id: the id of the run.
        session: the id of the chat, or an empty string.
    """

    id: str
    session: str = ""


@dataclass(frozen=True, slots=True)
class EditStep:
    """A step in the edit journal: one change to one file.

    Attributes:
        run: the id of the edit run.
        time: the time when the step started, in ISO 8601.
        root: the folder of notes. It is the folder's path at the time in the file, and its present
            path in what `EditJournal.read` returns.
        kind: the kind of edit: `create`, `edit`, `append` or `move`.
        to: the new path of a moved file, otherwise an empty string.
        before: the hash of the content before the step, or None for a new file.
        after: the hash of the content after the step.
        folders: the folders created for the file.
        folder_id: the device and inode number of the folder of notes at the time, or an empty
            string in a journal of an earlier version.
        mark: the status of the step. A `begun` step may or may not have been carried out.
        is_found: whether it is certain where the folder of notes is. If not, the root is the path
            that it had, which may be that of another folder by now. It is not stored.
    """

    id: str
    run: str
    session: str
    time: str
    root: str
    kind: str
    path: str
    to: str
    before: str | None
    after: str
    folders: tuple[str, ...] = ()
    folder_id: str = ""
    mark: StepMark = "begun"
    is_found: bool = True

    @property
    def temporary(self) -> str:
        """The name of the temporary file that this step of an edit uses."""
        return f".strata-{self.id}.tmp"

    @property
    def new_path(self) -> str:
        """The path of the changed file after this step of an edit."""
        return self.to or self.path

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "EditStep":
        """Build a step from a line of the journal, parsed as JSON.

        Raises:
            KeyError: a field is missing.
            TypeError: the line is no object, or the folders are not a list.
            ValueError: a field has a value that no step has, such as a time without a time zone.
        """
        names = [name for name in cls.__dataclass_fields__ if name not in _NOT_REQUIRED]
        folders = tuple(found["folders"])
        folder_id = found.get("folder_id", "")
        step = cls(**{name: found[name] for name in names}, folders=folders, folder_id=folder_id)
        hashes = [step.after] if step.before is None else [step.before, step.after]
        texts = [getattr(step, name) for name in (*names, "folder_id") if name != "before"]
        if not isinstance(found["folders"], list) or not all(
            map(_is_text, texts + found["folders"])
        ):
            raise ValueError("not the texts of a step")
        if datetime.fromisoformat(step.time).tzinfo is None or not all(
            map(_DIGEST.fullmatch, hashes)
        ):
            raise ValueError("not the time or a hash of a step")
        return step


class EditJournal:
    """A journal of edits, stored in a folder that several processes may use at the same time."""

    def __init__(
        self,
        folder: Path,
        find_root: Callable[["EditStep"], str | None] = lambda step: step.root,
    ) -> None:
        """Use the journal in a folder, which need not exist.

        Args:
            folder: the folder of the journal.
            find_root: returns the present path of the folder of notes of a step, given the step as
                it was written, or None if it is not certain which folder that is.
        """
        self._folder, self._find_root = folder, find_root
        self._file = folder / "journal.jsonl"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait for other edits to finish, and block new ones within the `with` block.

        Raises:
            EditFailed: the journal's folder cannot be written.
        """
        with self._convert_errors():
            make_private_folder(self._folder)
            handle = open_file(self._folder / "lock", os.O_RDWR | os.O_CREAT)
        try:
            calls.lock_file(handle, waits=True)
            yield
        finally:
            os.close(handle)

    def read(self) -> list[EditStep]:
        """Return all steps in the journal in order, each with its latest status.

        The steps of a folder that was moved have its present path.
        """
        found = ((step, self._find_root(step)) for step in self._read_stored())
        return [
            replace(step, is_found=False)
            if root is None
            else (step if root == step.root else replace(step, root=root))
            for step, root in found
        ]

    def _read_stored(self) -> list[EditStep]:
        return parse_journal(self._read_content())

    def find_breaks(self) -> list[int]:
        """Return the numbers of the lines that do not follow the line before them.

        Lines were lost or changed there, by a disk or by another program. All steps that can be
        read are still offered, since an undo checks the contents of the notes.
        """
        return find_breaks(self._read_content())

    def list_doubtful(self) -> frozenset[str]:
        """Return the ids of the steps in those lines, which may not be what was written."""
        content = self._read_content()
        lines = content.split(b"\n")
        found = parse_journal(b"\n".join(lines[number - 1] for number in find_breaks(content)))
        return frozenset(step.id for step in found)

    def list_moves(self, root: str) -> dict[str, str]:
        """Return the present path of each file of a folder that was moved, by its earlier paths.

        Args:
            root: the folder of notes.
        """
        moves: dict[str, str] = {}
        for step in self.read():
            is_other = step.root != root or not step.is_found
            if is_other or not step.to or step.mark in ("failed", "undone"):
                continue
            for earlier in [old for old, new in moves.items() if new == step.path]:
                moves[earlier] = step.to
            moves[step.path] = step.to
            moves.pop(step.to, None)  # moved back
        return moves

    def begin(self, steps: Sequence[EditStep], contents: Iterable[bytes]) -> None:
        """Store steps and file contents in the journal before the notes are changed.

        When this returns, everything has been flushed to disk.

        Args:
            steps: the steps of an edit.
            contents: the contents of the files before and after the edit.

        Raises:
            EditFailed: the journal cannot be written.
        """
        with self._convert_errors():
            for content in contents:
                self._store(content)
            self._append(map(_write_step, steps))

    def mark(self, steps: Iterable[EditStep], mark: StepMark) -> None:
        """Record a new status for steps of the journal.

        Raises:
            EditFailed: the journal cannot be written.
        """
        if ids := [step.id for step in steps]:
            with self._convert_errors():
                self._append([{"mark": mark, "steps": ids}])

    def merge(self, other: Iterable[EditStep]) -> bool:
        """Add the steps of another journal in the order of their times, and return if any is new.

        A step that both have gets the later status of both. Their contents are stored elsewhere.

        Args:
            other: the steps of a backup, or of another machine.

        Raises:
            EditFailed: the journal cannot be written.
        """
        with self.lock(), self._convert_errors():
            own = self._read_stored()
            steps = {step.id: step for step in own}
            for step in other:
                known = steps.get(step.id)
                if known is None or _MARKS.index(known.mark) < _MARKS.index(step.mark):
                    steps[step.id] = step if known is None else replace(known, mark=step.mark)
            merged = sorted(steps.values(), key=lambda step: step.time)
            if is_new := list(steps.values()) != own:
                self._write(merged)
        return is_new

    def prune(self, offered: Collection[str], now: datetime) -> int:
        """Remove old runs of edits with their contents, and return the number of removed runs.

        Args:
            offered: the ids of runs that the user can still undo. These runs and unfinished runs
                are kept.
            now: the current time, with its time zone.

        Raises:
            EditFailed: the journal cannot be written.
        """
        if not self._file.exists():
            return 0
        with self.lock(), self._convert_errors():
            steps = self._read_stored()
            runs = {step.run for step in steps}
            kept = self._select_runs(steps, offered, now)
            if kept == runs:
                return 0
            self._rewrite([step for step in steps if step.run in kept])
            return len(runs - kept)

    def _select_runs(
        self, steps: Sequence[EditStep], offered: Collection[str], now: datetime
    ) -> set[str]:
        kept = {s.run for s in steps if s.run in offered or s.mark in ("begun", "undoing")}
        by_run: dict[str, list[EditStep]] = {}
        for step in reversed(steps):
            by_run.setdefault(step.run, []).append(step)
        size, counted = 0, set[str]()
        for run, own in by_run.items():
            new = _list_digests(own) - counted
            counted |= new
            size += sum(self._measure(digest) for digest in new)
            age = now - datetime.fromisoformat(own[0].time)
            if age <= MOST_AGE and size <= MOST_BYTES:
                kept.add(run)
        return kept

    def _rewrite(self, steps: Sequence[EditStep]) -> None:
        """Rewrite the journal with only the given steps, and remove unused contents."""
        self._write(steps)
        remove_leftovers(self._folder)
        needed = _list_digests(steps)
        for file in (self._folder / "contents").iterdir():
            if file.name not in needed:
                calls.remove_path(file)

    def _write(self, steps: Sequence[EditStep]) -> None:
        lines = [_write_step(step) for step in steps]
        lines += [{"mark": s.mark, "steps": [s.id]} for s in steps if s.mark != "begun"]
        content = encode_chain(lines)
        for unread in _read_lines(self._read_content())[1]:
            content += move_line(unread, content[:-1].rpartition(b"\n")[2]) + b"\n"
        write_atomically(self._file, content)

    def _measure(self, digest: str) -> int:
        try:
            return self._find_content(digest).stat().st_size
        except FileNotFoundError:
            return 0

    def load(self, digest: str) -> bytes:
        """Load a file's content from the journal by its hash.

        Raises:
            UndoRefused: the content is missing, unreadable or damaged.
        """
        try:
            content = self._find_content(digest).read_bytes()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UndoRefused(f"The earlier text cannot be read: {reason}.") from error
        if hash_content(content) != digest:
            raise UndoRefused(f"The earlier text in {self._find_content(digest)} is damaged.")
        return content

    def _read_content(self) -> bytes:
        try:
            return self._file.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UndoRefused(f"{self._file} cannot be read: {reason}.") from error

    def _find_content(self, digest: str) -> Path:
        return self._folder / "contents" / digest

    def _store(self, content: bytes) -> None:
        file = self._find_content(hash_content(content))
        with suppress(OSError):
            if file.read_bytes() == content:
                calls.sync_folder(file.parent)  # its name may be of a process that was killed
                return
        make_private_folder(file.parent)
        write_atomically(file, content)

    def _append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        before, is_cut_off = _read_end(self._file) if self._file.exists() else (b"", False)
        start = b"\n" if is_cut_off else b""
        append_synced(self._file, start + encode_chain(lines, before, is_cut_off=is_cut_off))

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            advice = "Free some space or change the permissions."
            if error.errno == errno.EROFS:
                advice = "Make its disk writable."
            raise EditFailed(
                f"The journal of edits in {self._folder} cannot be written ({reason}), "
                f"so no note was changed. {advice}"
            ) from error


def parse_journal(content: bytes) -> list[EditStep]:
    """Return the steps in the content of a journal, in order, each with its latest status.

    Lines that cannot be read are skipped.
    """
    return _read_lines(content)[0]


def _read_lines(content: bytes) -> tuple[list[EditStep], list[bytes]]:
    """Return the steps in the content of a journal, and the lines that cannot be read."""
    steps: dict[str, EditStep] = {}
    unread = []
    for line in filter(bytes.strip, content.split(b"\n")):
        try:
            found = json.loads(line)
            if "mark" in found and found["mark"] in _MARKS:
                for id in found["steps"]:
                    steps[id] = replace(steps[id], mark=found["mark"])
            else:
                step = EditStep.from_dict(found)
                steps[step.id] = step
        except (ValueError, KeyError, TypeError, RecursionError):
            unread.append(line)
    return list(steps.values()), unread


def _is_text(value: object) -> bool:
    """Return whether a value is a text that can be part of a path."""
    if not isinstance(value, str) or "\0" in value:
        return False
    os.fsencode(value)  # raises an error for a character that is none
    return True


def _write_step(step: EditStep) -> dict[str, Any]:
    not_stored = ("mark", "is_found")
    return {name: value for name, value in asdict(step).items() if name not in not_stored}


def _list_digests(steps: Iterable[EditStep]) -> set[str]:
    return {digest for step in steps for digest in (step.before, step.after) if digest}


def hash_content(content: bytes) -> str:
    """Return the SHA-256 of a file's content as hexadecimal text."""
    return hashlib.sha256(content).hexdigest()


def _read_end(file: Path) -> tuple[bytes, bool]:
    """Return the last line of a file, and whether a crash has cut it off."""
    handle = open_file(file, os.O_RDONLY)
    try:
        size = os.fstat(handle).st_size
        is_cut_off = bool(size) and calls.read_at(handle, 1, size - 1) != b"\n"
        return read_last_line(handle), is_cut_off
    finally:
        os.close(handle)
