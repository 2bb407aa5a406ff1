"""The edits of notes that models make: the tools of a run, its changes, and undo."""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from chains.tool import Tool
from chains.tools.edits import build_edit_tools
from vault.edits.editor import NoteEditor
from vault.edits.journal import EditJournal, EditRun
from vault.edits.undo import EditHistory, NetChange, UndoneRun
from vault.errors import UndoRefused
from vault.paths import printable

__all__ = ["NoteEdits"]

_log = logging.getLogger(__name__)


class NoteEdits:
    """The edits of notes, with their journal; every method may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        """Use the journal in a folder, which need not exist."""
        self._journal = EditJournal(folder)
        self._lock = threading.Lock()
        self._runs: dict[str, EditRun] = {}

    def build_tools(
        self,
        root: Path,
        exclude: Callable[[], Sequence[str]],
        session: str,
        outside: Sequence[str] = (),
    ) -> tuple[Tool, ...]:
        """Begin the run of a turn, and build the tools that edit notes.

        Args:
            root: the folder of notes.
            exclude: returns the user's patterns of notes to exclude.
            session: the chat, or empty for a request that is only shown.
            outside: patterns of the notes that are not in the project.
        """
        run = EditRun(token_hex(4), session)
        with self._lock:
            self._runs[session] = run
        return build_edit_tools(NoteEditor(root, self._journal, exclude, outside), run)

    def describe_run(self, session: str) -> dict[str, Any] | None:
        """Return the net changes of a chat's last run as JSON, or None if it changed nothing."""
        with self._lock:
            run = self._runs.get(session)
        return None if run is None else self._describe(run.id)

    def describe_last_run(self, session: str) -> dict[str, Any] | None:
        """Return the net changes of a chat's last run that is not undone, also an earlier one.

        None means that there is none, or that it changed nothing.
        """
        try:
            return self._describe(self._history.find_last_run(session))
        except UndoRefused:
            return None

    def _describe(self, run: str) -> dict[str, Any] | None:
        if not (changes := self._list_changes(run)):
            return None
        notes = [
            {
                "path": printable(change.path),
                "old_path": printable(change.old_path) or None,
                "is_new": change.before is None,
                "diff": change.diff,
            }
            for change in changes
        ]
        return {"run": run, "notes": notes}

    def undo(
        self, *, run: str | None = None, edit: str | None = None, session: str | None = None
    ) -> UndoneRun:
        """Undo one edit, a run, or the last run that is not undone yet.

        Args:
            run: the run; None for the last one.
            edit: an edit by its id, instead of a run.
            session: the chat whose last run is undone; None for the last run of all.

        Raises:
            UndoRefused: there is none, it is undone already, or a note changed since.
            EditFailed: a note could not be written. Another undo continues.
        """
        if edit is not None:
            return self._history.undo_edit(edit)
        return self._history.undo_run(run or self._history.find_last_run(session))

    def remove_leftovers(self) -> None:
        """Remove the temporary files of edits that a killed process did not finish."""
        self._history.remove_leftovers()

    def _list_changes(self, run: str) -> tuple[NetChange, ...]:
        try:
            return self._history.list_net_changes(run)
        except UndoRefused as error:
            _log.warning("The changes of the run %s cannot be listed: %s", run, error)
            return ()

    @property
    def _history(self) -> EditHistory:
        return EditHistory(self._journal)
