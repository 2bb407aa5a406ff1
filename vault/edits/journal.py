"""The journal of edits: every edit is on disk here before the note is changed.

`journal.jsonl` has one line for each step of an edit and for each later mark of it. The contents
before and after are files named by their hash. A line that a crash cut off is skipped.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from vault.errors import EditFailed, UndoRefused

__all__ = ["EditJournal", "EditRun", "EditStep", "StepMark", "hash_content"]

StepMark = Literal["begun", "done", "failed", "undoing", "undone"]
_MARKS: Final[tuple[StepMark, ...]] = ("begun", "done", "failed", "undoing", "undone")


@dataclass(frozen=True, slots=True)
class EditRun:
    """The edits that belong together and are undone together, such as those of one answer."""

    id: str
    session: str = ""


@dataclass(frozen=True, slots=True)
class EditStep:
    """One change of one file in the journal.

    Attributes:
        run: the run that the edit belongs to.
        time: when it was made, in ISO 8601.
        root: the folder of notes.
        kind: the kind of the edit: `create`, `edit`, `append` or `move`.
        to: the new path of a file that is moved, else empty.
        before: the hash of the content before; None if the file was created.
        after: the hash of the content after.
        folders: the folders that were made for the file.
        mark: how far the step came. A step that is `begun` may or may not have happened.
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
    mark: StepMark = "begun"

    @property
    def temporary(self) -> str:
        """The name of the temporary file that is written beside the note."""
        return f".strata-{self.id}.tmp"

    @property
    def new_path(self) -> str:
        """The path of the file after the step."""
        return self.to or self.path

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "EditStep":
        """Build a step from a line of the journal.

        Raises:
            KeyError: a field is missing.
        """
        fields = {name: found[name] for name in cls.__dataclass_fields__ if name != "mark"}
        return cls(**{**fields, "folders": tuple(found["folders"])})


class EditJournal:
    """The journal of edits in a folder, which may be shared by several processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "journal.jsonl"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait until no other edit or undo is running, and keep others from starting.

        Raises:
            EditFailed: the folder of the journal cannot be written.
        """
        with self._convert_errors():
            _make_private_folder(self._folder)
            handle = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def read(self) -> list[EditStep]:
        """Return all steps in order, each with its last mark."""
        steps: dict[str, EditStep] = {}
        for line in self._read_lines():
            with suppress(ValueError, KeyError, TypeError):
                found = json.loads(line)
                if "mark" in found and found["mark"] in _MARKS:
                    for id in found["steps"]:
                        steps[id] = replace(steps[id], mark=found["mark"])
                else:
                    step = EditStep.from_dict(found)
                    steps[step.id] = step
        return list(steps.values())

    def begin(self, steps: Sequence[EditStep], contents: Iterable[bytes]) -> None:
        """Store steps with their contents, and return once all of it is on disk.

        Raises:
            EditFailed: it cannot be written.
        """
        with self._convert_errors():
            for content in contents:
                self._store(content)
            lines = ({k: v for k, v in asdict(step).items() if k != "mark"} for step in steps)
            self._append(lines)

    def mark(self, steps: Iterable[EditStep], mark: StepMark) -> None:
        """Mark steps.

        Raises:
            EditFailed: it cannot be written.
        """
        with self._convert_errors():
            self._append([{"mark": mark, "steps": [step.id for step in steps]}])

    def load(self, digest: str) -> bytes:
        """Return a content by its hash.

        Raises:
            UndoRefused: it is not there any more, or is damaged.
        """
        try:
            content = self._find_content(digest).read_bytes()
        except OSError as error:
            raise UndoRefused(f"The earlier text cannot be read: {error}.") from error
        if hash_content(content) != digest:
            raise UndoRefused(f"The earlier text in {self._find_content(digest)} is damaged.")
        return content

    def _read_lines(self) -> list[bytes]:
        try:
            return self._file.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UndoRefused(f"The journal of edits cannot be read: {error}.") from error

    def _find_content(self, digest: str) -> Path:
        return self._folder / "contents" / digest

    def _store(self, content: bytes) -> None:
        file = self._find_content(hash_content(content))
        with suppress(OSError):
            if file.read_bytes() == content:
                return
        _make_private_folder(file.parent)
        new = file.with_name(f"{file.name}.new")
        new.unlink(missing_ok=True)
        try:
            _write_synced(new, content, os.O_EXCL)
            os.replace(new, file)
        finally:
            new.unlink(missing_ok=True)
        _sync_folder(file.parent)

    def _append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        is_new = not self._file.exists()
        start = b"" if is_new or _ends_a_line(self._file) else b"\n"
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        _write_synced(self._file, start + text.encode("ascii"), os.O_APPEND)
        if is_new:
            _sync_folder(self._folder)

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise EditFailed(
                f"The journal of edits in {self._folder} cannot be written ({reason}), "
                "so no note was changed. Free some space or change the permissions."
            ) from error


def hash_content(content: bytes) -> str:
    """Return the SHA-256 of a content in hex."""
    return hashlib.sha256(content).hexdigest()


def _ends_a_line(file: Path) -> bool:
    """Return whether a file is empty or ends with a line end, so that a line may follow."""
    with file.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - 1))
        return opened.read() in (b"", b"\n")


def _write_synced(file: Path, content: bytes, flag: int) -> None:
    """Write to a file, and return once it is on disk; on an error nothing is added to it."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flag, 0o600)
    try:
        size = os.fstat(handle).st_size
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)


def _make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents for their owner only, and sync them to disk."""
    if folder.is_dir():
        return
    _make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
