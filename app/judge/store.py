"""The file of the verdicts of a question. What each call gave is one line, written at once.

The file is found by the question, the model and the prompt, and a verdict in it by what the model
saw: the name and content of a note. It holds no text of notes: a quotation is kept as its place.
"""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from app.errors import AppError, storage_errors
from app.line_file import LineFile
from chains.judge.calls import JudgedPieces
from chains.judge.verdicts import GIVEN, Verdict
from context.json_codec import MalformedValue, Record, decode, encode_record
from resources.system.files import acquire_lock, make_private_folder, open_file, remove_if_there
from vault.coverage import name_count

__all__ = [
    "JudgeBusy",
    "JudgedQuestion",
    "StoredVerdicts",
    "VerdictStore",
    "count_stored",
    "say_stored",
]

_QUESTION: Final = "question"
_CALL: Final = "call"
_HASH_CHARS: Final = 24


class JudgeBusy(AppError):
    """The same question is being judged, by this or another process."""

    code = "busy"


@dataclass
class StoredVerdicts:
    """The verdicts that are stored for a question.

    Attributes:
        verdicts: the verdicts by key.
        notes: the number of notes that calls have judged.
        seconds: how long these calls took together.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    notes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class JudgedQuestion(Record):
    """A question with stored verdicts.

    Attributes:
        at: when the first verdict was given, in ISO 8601 and UTC.
        verdicts: the number of notes, and parts of long ones, with a verdict.
        failures: the number of those on which the model gave none.
    """

    question: str
    model: str
    at: str
    verdicts: int
    failures: int = 0

    @property
    def sentence(self) -> str:
        """A line that says what is stored."""
        counts = say_stored(self.verdicts, self.failures)
        return f"{counts} by {self.model}: {self.question}"


def count_stored(questions: Iterable[JudgedQuestion]) -> tuple[int, int]:
    """Return the number of verdicts and of failures on several questions."""
    found = tuple(questions)
    return sum(one.verdicts for one in found), sum(one.failures for one in found)


def say_stored(verdicts: int, failures: int) -> str:
    """Return how many verdicts and failures are stored, such as "5 verdicts, 7 failures"."""
    failed = f", {name_count(failures, 'failure')}" if failures else ""
    return f"{name_count(verdicts, 'verdict')}{failed}"


class VerdictStore:
    """The stored verdicts of one question, one model and one prompt. Thread-safe."""

    def __init__(self, path: Path, question: str = "", model: str = "") -> None:
        """Create the object. Nothing is read or written yet.

        Args:
            path: the file.
            question: the question, for a file that does not exist yet.
            model: the model that judges, for such a file.
        """
        self._head = {"question": question, "model": model}
        self.path = path
        self._file = LineFile(path)

    @classmethod
    def locate(cls, folder: Path, question: str, model: str, prompt: str) -> Self:
        """Return the store of a question.

        Args:
            folder: the folder of the stored verdicts.
            model: the model that judges.
            prompt: the text of the prompt, and all else that the verdicts depend on.
        """
        asked = json.dumps([question, model, prompt]).encode()
        digest = hashlib.sha256(asked).hexdigest()[:_HASH_CHARS]
        return cls(folder / f"{digest}.jsonl", question, model)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other runs from judging the same question in a `with` block.

        Raises:
            JudgeBusy: another run is judging it.
            StorageFailed: the folder cannot be written.
        """
        name = self.path.with_suffix(".running")
        with storage_errors(name):
            make_private_folder(name.parent)
            handle = open_file(name, os.O_RDONLY | os.O_CREAT)
        try:
            with storage_errors(name):
                try:
                    acquire_lock(handle, name, 0.0)
                except TimeoutError:
                    raise JudgeBusy(
                        "This question is being judged already.",
                        hint="Wait until it has ended, or stop it there.",
                    ) from None
            yield
        finally:
            os.close(handle)

    def load(self) -> StoredVerdicts:
        """Return all stored verdicts, the newest of each note.

        Raises:
            StorageFailed: the file cannot be read.
        """
        found = StoredVerdicts()
        if not self.path.exists():
            return found
        with storage_errors(self.path), self._file.hold_lock():
            lines = self._file.read()
        for line in lines:
            if line["id"] == _CALL:
                _take_line(line, found)
        return found

    def add(self, judged: JudgedPieces) -> None:
        """Store what a call gave, in one write.

        Raises:
            StorageFailed: the file cannot be written.
        """
        line = {
            "id": _CALL,
            "seconds": round(judged.seconds, 3),
            "verdicts": {key: encode_record(one) for key, one in judged.verdicts.items()},
        }
        with storage_errors(self.path), self._file.hold_lock():
            if not self.path.exists():
                at = datetime.now(UTC).isoformat(timespec="seconds")
                self._file.append({"id": _QUESTION, **self._head, "at": at})
            self._file.append(line)

    def describe(self) -> JudgedQuestion | None:
        """Return what is stored, or None if there is nothing.

        Raises:
            StorageFailed: the file cannot be read.
        """
        with storage_errors(self.path):
            lines = self._file.list_lines()
        head = next((line for line in lines if line["id"] == _QUESTION), None)
        if head is None:
            return None
        question, model, at = (str(head.get(key, "")) for key in ("question", "model", "at"))
        newest = {key: one for line in lines for key, one in _list_verdicts(line).items()}
        given = sum(one.get("outcome") in GIVEN for one in newest.values())
        return JudgedQuestion(question, model, at, given, len(newest) - given)

    def delete(self) -> None:
        """Delete all verdicts.

        Raises:
            JudgeBusy: the question is being judged.
            StorageFailed: the file cannot be deleted.
        """
        with self.hold(), storage_errors(self.path), self._file.hold_lock():
            remove_if_there(self.path)

    def forget_failures(self) -> None:
        """Forget which notes have failed, so that they are judged again.

        Raises:
            StorageFailed: the file cannot be written.
        """
        self.forget(lambda _key, verdict: verdict.get("outcome") == "failed")

    def forget(self, is_forgotten: Callable[[str, Mapping[str, Any]], bool]) -> int:
        """Forget some verdicts, and return how many.

        Args:
            is_forgotten: returns whether a verdict is forgotten, given its key and its fields.

        Raises:
            StorageFailed: the file cannot be written.
        """
        if not self.path.exists():
            return 0
        with storage_errors(self.path), self._file.hold_lock():
            lines = self._file.read()
            gone = [
                {key for key, value in _list_verdicts(line).items() if is_forgotten(key, value)}
                for line in lines
            ]
            if any(gone):
                self._file.replace(map(_remove_verdicts, lines, gone))
        return len(frozenset().union(*gone))


def _take_line(line: Mapping[str, Any], found: StoredVerdicts) -> None:
    """Add the verdicts of a line. A verdict that cannot be read counts as not given."""
    given = line.get("verdicts")
    if not isinstance(given, dict):
        return
    for key, value in given.items():
        try:
            found.verdicts[key] = decode(Verdict, value)
        except MalformedValue:
            continue
    seconds = line.get("seconds")
    if isinstance(seconds, int | float) and seconds > 0:
        found.notes += len(given)
        found.seconds += seconds


def _list_verdicts(line: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the verdicts of a line by their keys."""
    given = line.get("verdicts")
    if not isinstance(given, dict):
        return {}
    return {key: value for key, value in given.items() if isinstance(value, dict)}


def _remove_verdicts(line: Mapping[str, Any], keys: Collection[str]) -> Mapping[str, Any]:
    if not keys:
        return line
    kept = {key: value for key, value in line["verdicts"].items() if key not in keys}
    return {**line, "verdicts": kept}
