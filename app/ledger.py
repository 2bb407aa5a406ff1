"""The ledger: a file that lists every outgoing call, written before the call is made.

Each call is a line of JSON in `ledger.log`, and its result is a second line with the same id. Only
the owner can read the file. Several processes can append to it. When it exceeds `MAX_BYTES`, its
older half is removed.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from app.errors import StorageFailed, storage_errors
from app.line_file import LineFile, describe_failure
from chains.errors import LedgerFailed
from chains.ledger import OutgoingCall

__all__ = ["CallGroup", "Ledger", "RecordedCall", "group_calls"]

MAX_BYTES: Final = 4_000_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RecordedCall:
    """A call in the ledger, with its result.

    Attributes:
        at: when the call was recorded, in ISO 8601 and UTC.
        call: the call, with the token count of its result if the service reported one.
        bytes_in: the number of received bytes, or None if no result was recorded.
    """

    at: str
    call: OutgoingCall
    bytes_in: int | None


@dataclass(frozen=True)
class CallGroup:
    """A call in the ledger, or several calls in a row that only ask for models.

    Attributes:
        records: the calls, latest first.
    """

    records: tuple[RecordedCall, ...]

    @property
    def is_probes(self) -> bool:
        """Whether these are calls that only ask for models."""
        return self.records[0].call.is_probe

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts, each once."""
        return tuple(dict.fromkeys(record.call.host for record in self.records))

    @property
    def bytes_out(self) -> int:
        """The bytes that were sent."""
        return sum(record.call.bytes_out for record in self.records)

    @property
    def bytes_in(self) -> int | None:
        """The bytes that were received, or None if no call has a result."""
        found = [record.bytes_in for record in self.records if record.bytes_in is not None]
        return sum(found) if found else None


def group_calls(records: Iterable[RecordedCall]) -> list[CallGroup]:
    """Return the calls, latest first, with calls in a row that only ask for models as one group.

    Args:
        records: the calls, oldest first.
    """
    runs = groupby(reversed(list(records)), key=lambda record: record.call.is_probe)
    groups: list[CallGroup] = []
    for is_probe, run in runs:
        found = tuple(run)
        groups += [CallGroup(found)] if is_probe else [CallGroup((one,)) for one in found]
    return groups


class Ledger:
    """The ledger of outgoing calls. It can be shared by threads and processes."""

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        """Create the ledger. Its file is created when the first call is recorded.

        Args:
            path: the path of the file.
            max_bytes: the size above which the older half of the file is removed.
        """
        self._file = LineFile(path)
        self._max_bytes = max_bytes

    def record(self, call: OutgoingCall) -> "LedgerRecord":
        """Record a call before it is made. See `chains.ledger.LedgerPort`.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        id = token_hex(8)
        try:
            self._append({"id": id, "at": at, **asdict(call)})
        except (OSError, StorageFailed) as error:
            raise LedgerFailed(call.host, describe_failure(self._file.path, error)) from error
        return LedgerRecord(self, id)

    def list_calls(self) -> list[dict[str, Any]]:
        """Return the recorded calls with their results, oldest first.

        Raises:
            StorageFailed: the ledger cannot be read.
        """
        with storage_errors(self._file.path):
            return _join_results(self._file.list_lines())

    def list_records(self) -> list[RecordedCall]:
        """Return the recorded calls as `list_calls` does, but as values."""
        return [_read_record(call) for call in self.list_calls()]

    def find_breaks(self) -> list[int]:
        """Return the numbers of the lines that do not follow the line before them.

        Lines were lost or changed there. All others are listed as usual.

        Raises:
            StorageFailed: the ledger cannot be read.
        """
        with storage_errors(self._file.path), self._file.hold_lock():
            return self._file.find_breaks()

    def add_result(self, id: str, bytes_in: int, tokens: int | None) -> None:
        """Add the result of an outgoing call to the ledger. Failures are only logged.

        Args:
            id: the id of the call in the ledger.
            bytes_in: the number of received bytes.
            tokens: the token count that the service reported, or None.
        """
        try:
            self._append({"id": id, "bytes_in": bytes_in, "tokens": tokens})
        except (OSError, StorageFailed) as error:
            _log.warning("The result of a call is not in the ledger: %s", error)

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._file.hold_lock():
            size = self._file.append(line)
            if size > self._max_bytes:
                self._remove_older_half()

    def _remove_older_half(self) -> None:
        kept: list[Mapping[str, Any]] = []
        size = 0
        for line in reversed(self._file.read()):
            size += len(json.dumps(line)) + 1
            if size > self._max_bytes // 2 and kept:
                break
            kept.append(line)
        self._file.replace(reversed(kept))


class LedgerRecord:
    """The ledger's record of an outgoing call in progress."""

    def __init__(self, ledger: Ledger, id: str) -> None:
        self._ledger = ledger
        self._id = id

    def finish(self, bytes_in: int, tokens: int | None = None) -> None:
        """Add the call's result to the ledger. See `chains.ledger.OpenRecord`."""
        self._ledger.add_result(self._id, bytes_in, tokens)


def _read_record(line: Mapping[str, Any]) -> RecordedCall:
    given = {field.name: line[field.name] for field in fields(OutgoingCall)}
    given |= {"bytes_out": line["bytes_out"] or 0, "notes": tuple(line["notes"])}
    return RecordedCall(line["at"], OutgoingCall(**given), line["bytes_in"])


def _join_results(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one dict for each outgoing call and its result. Missing values are None."""
    calls: dict[str, dict[str, Any]] = {}
    for line in lines:
        id, tokens = line["id"], _read_count(line, "tokens")
        if "host" in line:
            notes = line.get("notes")
            calls[id] = {
                "at": str(line.get("at", "")),
                "host": str(line["host"]),
                "kind": str(line.get("kind", "")),
                "session": line.get("session"),
                "turn": line.get("turn"),
                "bytes_out": _read_count(line, "bytes_out"),
                "bytes_in": None,
                "tokens": tokens,
                "notes": [str(note) for note in notes] if isinstance(notes, list) else [],
            }
        elif id in calls:
            calls[id]["bytes_in"] = _read_count(line, "bytes_in")
            calls[id]["tokens"] = calls[id]["tokens"] if tokens is None else tokens
    return list(calls.values())


def _read_count(line: Mapping[str, Any], key: str) -> int | None:
    """Return a number by its key in a line of the ledger, or None if it is missing or damaged."""
    value = line.get(key)
    return value if isinstance(value, int) else None
