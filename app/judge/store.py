"""The file of the verdicts of a question. What each call gave is one line, written at once.

The file is found by the question, the model and the prompt, and a verdict in it by what the model
saw: the name and content of a note. It holds no text of notes: a quotation is kept as its place.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from app.errors import AppError, storage_errors
from app.line_file import LineFile
from chains.judge.calls import JudgedPieces
from chains.judge.verdicts import Verdict
from context.json_codec import MalformedValue, decode, encode_record
from resources.system.files import acquire_lock, make_private_folder, open_file

__all__ = ["JudgeBusy", "StoredVerdicts", "VerdictStore"]

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


class VerdictStore:
    """The stored verdicts of one question, one model and one prompt. Thread-safe."""

    def __init__(self, folder: Path, question: str, model: str, prompt: str) -> None:
        """Create the object. Nothing is read or written yet.

        Args:
            folder: the folder of these files.
            prompt: the text of the prompt, and all else that the verdicts depend on.
        """
        self._head = {"question": question, "model": model}
        asked = json.dumps([question, model, prompt]).encode()
        digest = hashlib.sha256(asked).hexdigest()[:_HASH_CHARS]
        self.path = folder / f"{digest}.jsonl"
        self._file = LineFile(self.path)

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

    def forget_failures(self) -> None:
        """Forget which notes have failed, so that they are judged again.

        Raises:
            StorageFailed: the file cannot be written.
        """
        if not self.path.exists():
            return
        with storage_errors(self.path), self._file.hold_lock():
            self._file.replace(map(_without_failures, self._file.read()))


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


def _without_failures(line: Mapping[str, Any]) -> Mapping[str, Any]:
    given = line.get("verdicts")
    if not isinstance(given, dict):
        return line
    kept = {
        key: value
        for key, value in given.items()
        if not (isinstance(value, dict) and value.get("outcome") == "failed")
    }
    return {**line, "verdicts": kept}
