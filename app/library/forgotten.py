"""Remember which lines of memories the user took out, so that no copy brings them back.

Two computers may keep the folder of memories alike. Beside a note such as `memories.md`, each of
them writes a file `memories.forgotten-COMPUTER.json`, which no other one changes. It has a hash and
a number for each line that was taken out, and for each that was put back afterwards. Of two files,
the higher number counts, and for equal ones the line stays. Headings are no memories.

Only what the user takes out in Strata counts. A line that is missing for another reason, such as a
file that a sync program replaced, is not forgotten.

The file says what was done, so it is written after the note. Before the note, what is about to be
done is written to a file that is not synced. If the change fails or is killed, the note shows
afterwards how much of that was done. Otherwise, a line that is still there, because the note could
not be written, would count as one that another computer has brought back, and would be lost.
"""

import hashlib
import json
import logging
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from resources.system.files import (
    flush_file,
    lock_folder,
    make_private_folder,
    read_file,
    remove_if_there,
    remove_leftovers,
    write_atomically,
)

__all__ = ["ForgottenLines"]

_log = logging.getLogger(__name__)
_NAME: Final = re.compile(r"[0-9a-f]{8}")
_DAMAGE: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


class _Mark(NamedTuple):
    """What was decided last about a line. The higher mark counts.

    Attributes:
        number: how often the line was taken out or put back.
        is_kept: whether it was put back.
    """

    number: int
    is_kept: bool


_Marks = dict[str, _Mark]


class ForgottenLines:
    """The lines of a note that were taken out on this computer or another one."""

    def __init__(self, note: Path, computer_file: Path) -> None:
        """Create the object. Nothing is read yet.

        Args:
            note: the note with memories, which need not exist.
            computer_file: the file with the name of this computer, which is not synced. It is made
                when the name is first needed.
        """
        self._note = note
        self._computer_file = computer_file

    @contextmanager
    def record_change(self, before: str, after: str) -> Iterator[None]:
        """Record the lines that a `with` block takes out of the note, or puts back.

        If the block fails, only what it has done is recorded, by the next change or the next start.

        Args:
            before: the text of the note.
            after: its text from now on.

        Raises:
            OSError: what is about to be done cannot be written, and the block was not entered.
        """
        self._finish()
        planned = self._plan(before, after)
        if planned:
            _write(self._planned_file, planned)
        yield
        if planned:
            try:
                self._finish()
            except OSError as error:
                _log.warning("What was forgotten is recorded at the next start: %s", error)

    def _plan(self, before: str, after: str) -> _Marks:
        old, new = (_hash_lines(text.encode("utf-8", "replace")) for text in (before, after))
        marks = self._read_all()
        gone = {line: _Mark(_count(marks, line) + 1, is_kept=False) for line in old - new}
        back = {
            line: _Mark(_count(marks, line) + 1, is_kept=True)
            for line in new - old
            if _is_gone(marks, line)
        }
        return {**gone, **back}

    def _finish(self) -> None:
        """Record what a change has done of what it was about to do."""
        if not self._planned_file.exists():
            return
        here, planned = self._hash_note(), _read(self._planned_file)
        if done := {line: one for line, one in planned.items() if one.is_kept == (line in here)}:
            # Not all that is known by now, because it may not have been applied here yet.
            self._record(_join(_read(self._find_own_file()), done))
        remove_if_there(self._planned_file)

    def is_forgotten(self, line: bytes) -> bool:
        """Return whether a line was taken out on any computer."""
        return _is_gone(self._read_all(), _hash(line))

    def apply(self) -> None:
        """Take out of the note what was taken out on another computer.

        A line that was taken out and is there again was put back with another program, if all
        computers know that it was taken out. Otherwise, one that does not know has brought it.

        Raises:
            OSError: the note or the record cannot be read or written.
        """
        if not (self._note.exists() or self._list_files() or self._planned_file.exists()):
            return
        with lock_folder(self._note.parent):
            remove_leftovers(self._note.parent, frozenset({self._find_own_file().name}))
            self._finish()
            marks, here = self._read_all(), self._hash_note()
            for line in here:
                if _is_gone(marks, line) and self._is_known_everywhere(line, marks[line]):
                    marks[line] = _Mark(marks[line].number + 1, is_kept=True)
            if any(_is_gone(marks, line) for line in here):
                kept = (
                    line
                    for line in read_file(self._note).splitlines(keepends=True)
                    if not _is_gone(marks, _hash(line))
                )
                write_atomically(self._note, b"".join(kept))
            self._record(marks)

    def _hash_note(self) -> set[str]:
        return _hash_lines(read_file(self._note)) if self._note.exists() else set()

    def _is_known_everywhere(self, line: str, mark: _Mark) -> bool:
        others = (_read(file).get(line) for file in self._list_files())
        return all(known is not None and known >= mark for known in others)

    def _list_files(self) -> list[Path]:
        return sorted(self._note.parent.glob(f"{self._note.stem}.forgotten-*.json"))

    def _read_all(self) -> _Marks:
        marks: _Marks = {}
        for file in self._list_files():
            marks = _join(marks, _read(file))
        return marks

    def _record(self, marks: _Marks) -> None:
        """Write the file of this computer, which tells the others what was applied here."""
        file = self._find_own_file()
        if not file.exists() or _read(file) != marks:
            flush_file(self._computer_file)  # under another name, the file would be of another one
            _write(file, marks)

    @property
    def _planned_file(self) -> Path:
        """The file with what a change is about to do. No other computer sees it."""
        name = hashlib.sha256(os.fsencode(self._note.absolute())).hexdigest()[:16]
        return self._computer_file.with_name(f"forgetting-{name}.json")

    def _find_own_file(self) -> Path:
        return self._note.with_name(f"{self._note.stem}.forgotten-{self._name_computer()}.json")

    def _name_computer(self) -> str:
        try:
            name = read_file(self._computer_file).decode("ascii", "replace")
        except FileNotFoundError:
            name = ""
        if not _NAME.fullmatch(name):
            name = secrets.token_hex(4)
            make_private_folder(self._computer_file.parent)
            write_atomically(self._computer_file, name.encode())
        return name


def _read(file: Path) -> _Marks:
    try:
        found = json.loads(read_file(file))
        return {line: _Mark(int(number), bool(kept)) for line, (number, kept) in found.items()}
    except FileNotFoundError:
        return {}
    except _DAMAGE as error:
        _log.warning("What was forgotten cannot be read from %s: %s", file, error)
        return {}


def _write(file: Path, marks: _Marks) -> None:
    make_private_folder(file.parent)
    write_atomically(file, json.dumps(dict(sorted(marks.items()))).encode())


def _join(some: Mapping[str, _Mark], others: Mapping[str, _Mark]) -> _Marks:
    """Return all marks, and for each line the higher one."""
    return {line: max(some.get(line, mark), mark) for line, mark in {**some, **others}.items()}


def _count(marks: _Marks, line: str) -> int:
    return marks[line].number if line in marks else 0


def _is_gone(marks: _Marks, line: str) -> bool:
    return line in marks and not marks[line].is_kept


def _hash_lines(content: bytes) -> set[str]:
    lines = map(bytes.strip, content.splitlines())
    return {_hash(line) for line in lines if line and not line.startswith(b"#")}


def _hash(line: bytes) -> str:
    return hashlib.sha256(line.strip()).hexdigest()[:16]
