"""Serve requests that back up everything that Strata has stored, and that restore it.

The events `backup_progress` and `restore_progress` tell after each file how many are done, and how
many there are. `abort` with the id of the request stops it between two files: a stopped backup
leaves no file, and a stopped restore can be requested again, and continues.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from app.assistant import Assistant
from app.backup.archive import ArchiveWriter, BackupReport, FileProgress
from app.backup.restore import Restorer, RestoreReport
from app.errors import InvalidRequest
from app.rpc.requests import Handlers, RpcRequest, Slow
from app.rpc.wire import Json, Wire
from chains.cancel import CancelToken

__all__ = ["BackupRequests"]


class Backup(RpcRequest):
    """Write everything that Strata has stored into a new archive, given its absolute path."""

    path: str


class Restore(RpcRequest):
    """Restore an archive.

    Attributes:
        path: the archive.
        merge: whether to restore also where Strata has stored something else.
        vaults: where folders of notes and projects are now, by their paths in the archive.
    """

    path: str
    merge: bool = False
    vaults: dict[str, str] = Field(default_factory=dict)


class BackupRequests:
    """Serves the requests `backup` and `restore`. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, wire: Wire) -> None:
        """Create the functions.

        Args:
            assistant: provides what is backed up and restored.
            wire: writes the progress.
        """
        self._assistant, self._wire = assistant, wire
        self.handlers: Handlers = {
            "backup": Slow(Backup, self._back_up),
            "restore": Slow(Restore, self._restore),
        }

    def _back_up(self, request: Backup, cancel: CancelToken) -> Json:
        assistant = self._assistant
        writer = ArchiveWriter(assistant.paths, assistant.settings, assistant.sessions.state)
        report = self._follow(request, writer.write(_read_path(request.path), cancel))
        assert isinstance(report, BackupReport)
        return report.to_dict()

    def _restore(self, request: Restore, cancel: CancelToken) -> Json:
        assistant, chats = self._assistant, self._assistant.sessions
        restorer = Restorer(assistant.paths, assistant.settings, chats, chats.state)
        source = _read_path(request.path)
        moved = {old: _read_path(new) for old, new in request.vaults.items()}
        events = restorer.restore(source, merges=request.merge, cancel=cancel, moved=moved)
        report = self._follow(request, events)
        assert isinstance(report, RestoreReport)
        assistant.remove_excluded()  # an older backup may have their text
        return report.to_dict()

    def _follow(self, request: RpcRequest, events: Iterable[object]) -> object:
        """Write the progress, and return the report, which is the last event.

        Args:
            request: the request, whose id and type the events have.
            events: the progress and the report of a backup or a restore.
        """
        event = None
        for event in events:
            if isinstance(event, FileProgress):
                name = f"{request.type}_progress"
                self._wire.event(name, request.id, request.session, event.to_dict())
        return event


def _read_path(path: str) -> Path:
    """Return a path, which is absolute, as the server's folder is not known.

    Raises:
        InvalidRequest: the path is relative.
    """
    found = os.path.expanduser(path)
    if not os.path.isabs(found):
        raise InvalidRequest(f"The path {path} is not absolute.", hint="Give the whole path.")
    return Path(found)
