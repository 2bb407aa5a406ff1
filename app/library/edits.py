"""Edit notes on behalf of models and the user, and undo these edits.

An edit run is a group of edits that can be undone together: those of one turn, or a single edit by
the user.
"""

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from app.config.settings_file import SettingsStore
from app.library.open_vault import OpenVault
from app.paths import Paths
from app.relocation.folders import find_inside, find_moved
from chains.events import EditedNote, RunEdits
from chains.tool import Tool
from context.json_codec import Record
from vault.edits.journal import EditJournal, EditRun, EditStep
from vault.errors import EditFailed, EditRefused, NoteExcluded, UndoRefused, VaultError
from vault.notes.kinds import BASE
from vault.paths import identify_folder, printable

if TYPE_CHECKING:  # most turns edit nothing, so the editor is loaded when it is used
    from vault.edits.editor import NoteEditor
    from vault.edits.plan import EditPlan, NoteChange
    from vault.edits.undo import EditHistory, UndoneRun

__all__ = ["NoteEdits", "SavedNote", "TickedTask", "UserEdits"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SavedNote(Record):
    """A note that was made from a chat.

    Attributes:
        session: the chat.
        path: the path of the note.
        run: the id under which the note can be removed again.
    """

    session: str
    path: str
    run: str


@dataclass(frozen=True)
class TickedTask(Record):
    """A task that the user has ticked or unticked.

    Attributes:
        path: the note.
        line: the line of the task, counted from 1.
        status: the character that is in the checkbox now.
        text: the text of the task, as it was.
        run: the id under which the change can be undone.
        diff: the change of the note.
        next_line: the line of the task that follows a recurring one, or None.
        next_day: the day of the task that follows, or the one to which a repeater has moved the
            task, or None.
        is_deleted: whether the task was deleted, since its line says so.
    """

    path: str
    line: int
    status: str
    text: str
    run: str
    diff: str
    next_line: int | None = None
    next_day: str | None = None
    is_deleted: bool = False

    @property
    def old_line(self) -> int:
        """The line in which the task was before."""
        return self.line if self.next_line is None else min(self.line, self.next_line)


class NoteEdits:
    """Manages the edits to notes and their journal. Thread-safe."""

    def __init__(
        self,
        paths: Paths,
        find_vault: Callable[[], Path | None],
        find_projects: Callable[[str], Iterable[Path]],
    ) -> None:
        """Use the edit journal of Strata, which need not exist.

        Edits of a folder that was moved since are undone where it is now, and never in another
        folder that has its path. While a vault is open, only its edits are undone, and those in
        projects outside of the vault.

        Args:
            paths: the folders of Strata.
            find_vault: returns the folder of the open vault, or None.
            find_projects: returns the folders of the listed projects, and that of a chat's project.
        """
        self._paths, self._find_vault, self._find_projects = paths, find_vault, find_projects
        self._folder = paths.edits
        self._journal = EditJournal(paths.edits, self._find_root)
        self._lock = threading.Lock()
        self._runs: dict[str, EditRun] = {}

    def build_tools(
        self,
        root: Path,
        exclude: Callable[[], Sequence[str]],
        session: str,
        outside: Sequence[str] = (),
    ) -> tuple[Tool, ...]:
        """Build the editing tools of a turn.

        All edits that are made with these tools form one edit run, which can be undone as a whole.

        Args:
            root: the folder of the vault or project.
            exclude: returns the user's exclude patterns.
            session: the chat, or an empty string for a preview.
            outside: patterns for notes outside of the project, which must not be edited.
        """
        from chains.tools.edit_tools import build_edit_tools  # most turns have no tools
        from vault.edits.editor import NoteEditor

        run = EditRun(token_hex(4), session)
        with self._lock:
            self._runs[session] = run
        return build_edit_tools(NoteEditor(root, self._journal, exclude, outside), run)

    def build_editor(self, root: Path, exclude: Callable[[], Sequence[str]]) -> "NoteEditor":
        """Build an editor for the notes in a folder. `exclude` returns the exclude patterns."""
        from vault.edits.editor import NoteEditor

        return NoteEditor(root, self._journal, exclude)

    def list_moves(self, root: Path) -> Mapping[str, str]:
        """Return the present paths of the moved notes of a folder, by their earlier paths.

        If the journal cannot be read, no note counts as moved.
        """
        try:
            return self._journal.list_moves(str(root))
        except VaultError as error:
            _log.warning("The journal of edits cannot be read: %s", error)
            return {}

    def describe_run(self, session: str) -> RunEdits | None:
        """Return the changes that a chat's last edit run made to each note.

        An edit run is a group of edits, such as those of one turn. The result is None if the edit
        run changed nothing.
        """
        with self._lock:
            run = self._runs.get(session)
        return None if run is None else self._describe(run.id)

    def find_changes(self, session: str) -> "tuple[NoteChange[str], ...] | None":
        """Return what a chat's last edit run has changed, by the content of the files now.

        The result is None if it cannot be told.
        """
        with self._lock:
            run = self._runs.get(session)
        if run is None:
            return None
        try:
            return self._history.list_changes_now(run.id)
        except VaultError as error:
            _log.warning("The changes of the run %s cannot be told: %s", run.id, error)
            return None

    def describe_last_run(self, session: str) -> RunEdits | None:
        """Return the changes of a chat's last edit run, ignoring edit runs that were undone.

        An edit run is a group of edits, such as those of one turn. The result is None if there is
        no such edit run, or if it changed nothing.
        """
        try:
            return self._describe(self._history.find_last_run(session))
        except UndoRefused:
            return None

    def _describe(self, run: str) -> RunEdits | None:
        if not (changes := self._list_changes(run)):
            return None
        from vault.edits.undo import build_change_diff  # a turn without edits does without it

        notes = (
            EditedNote(
                path=printable(change.path),
                old_path=printable(change.old_path) or None,
                is_new=change.before is None,
                diff=build_change_diff(change),
            )
            for change in changes
        )
        return RunEdits(run, tuple(notes))

    def undo(
        self, *, run: str | None = None, edit: str | None = None, session: str | None = None
    ) -> "UndoneRun":
        """Undo a single edit, an edit run (a group of edits), or the last edit run.

        Args:
            run: the id of the edit run, or None for the last one.
            edit: the id of a single edit to undo instead.
            session: the chat whose last edit run is undone, or None for all chats.

        Raises:
            UndoRefused: nothing can be undone, it was already undone, a note has changed since, or
                the edit is not surely one of the open vault.
            EditFailed: a note could not be written. Call this again to continue.
        """
        is_own = cache(self._is_own)  # a journal has many edits of few folders
        require = partial(_require_own, is_own)
        if edit is not None:
            return self._history.undo_edit(edit, require)
        if run is None and session is None:
            run = self._history.find_last_run(None, lambda step: is_own(step.root, step.session))
        run = run or self._history.find_last_run(session)
        return self._history.undo_run(run, require)

    def _is_own(self, root: str, session: str) -> bool:
        """Return whether edits of a chat in a folder are those of the open vault, if any is."""
        vault = self._find_vault()
        if vault is None or not vault.is_dir():  # it was moved, and is not open where it is now
            return True
        folders = (vault, *self._find_projects(session))
        return any(find_inside(root, str(folder)) is not None for folder in folders)

    def _find_root(self, step: EditStep) -> str | None:
        """Return where the folder of notes of a step is now, or None if that is not certain."""
        own, here, vault = step.folder_id, identify_folder(step.root), self._find_vault()
        if own and here == own:
            return step.root
        if own and vault is not None and identify_folder(vault) == own:
            return str(vault)
        moved = find_moved(self._paths, step.root, datetime.fromisoformat(step.time))
        if moved is not None:
            return moved
        if not own:  # written by an earlier version
            is_moved = find_moved(self._paths, step.root, None) is not None
            return None if here and is_moved else step.root
        # A drive gets another device number each time it is connected.
        is_same = not here or here.partition(":")[2] == own.partition(":")[2]
        return step.root if is_same else None

    def remove_leftovers(self) -> None:
        """Remove temporary files left by killed processes."""
        if os.path.isdir(self._folder):
            self._history.remove_leftovers()

    def prune(self, sessions: Collection[str]) -> int:
        """Remove old edit runs (groups of edits) from the journal, and return their number.

        Edit runs that the user can still undo are kept. Failures are only logged.

        Args:
            sessions: the ids of the existing chats.
        """
        try:
            offered = self._history.list_offered_runs(sessions)
            return self._journal.prune(offered, datetime.now(UTC))
        except (EditFailed, UndoRefused) as error:
            _log.warning("The journal of edits is not pruned: %s", error)
            return 0

    def _list_changes(self, run: str) -> "tuple[NoteChange[bytes], ...]":
        try:
            return self._history.list_net_changes(run)
        except UndoRefused as error:
            _log.warning("The changes of the run %s cannot be listed: %s", run, error)
            return ()

    @property
    def _history(self) -> "EditHistory":
        from vault.edits.undo import EditHistory

        return EditHistory(self._journal)


def _require_own(is_own: Callable[[str, str], bool], step: EditStep) -> None:
    """Check that a step is one of the open vault, if there is one.

    Raises:
        UndoRefused: it is one of another vault.
    """
    if not is_own(step.root, step.session):
        raise UndoRefused(
            f"This edit was made in {step.root}, which is not the open folder of notes. Open "
            "that folder, then undo again."
        )


class UserEdits:
    """Makes the user's edits to notes in the open vault, and records them in the journal.

    `NoteEdits.undo` can undo each of these edits separately.

    Args:
        edits: the journal of edits.
        vault: the open vault.
        settings: the settings, with the exclude patterns.
        find_project: returns the project outside of the vault that contains a file, or None.
    """

    def __init__(
        self,
        edits: NoteEdits,
        vault: OpenVault,
        settings: SettingsStore,
        find_project: Callable[[Path], Path | None],
    ) -> None:
        self._edits, self._vault, self._settings = edits, vault, settings
        self._find_project = find_project

    def create_note(self, path: str, text: str) -> str:
        """Create a note, and return the id under which this edit can be undone.

        Raises:
            VaultNotChosen: no vault is open.
            EditRefused: the note already exists, or its path or text is invalid.
            VaultError: the path is excluded or outside of the vault, or the note cannot be written.
        """
        return self.apply(self.plan_create(path, text))

    def plan_create(self, path: str, text: str) -> "EditPlan":
        """Plan to create a note. Nothing is written. The exceptions are those of `create_note`."""
        return self._editor.plan_create(path, text)

    def plan_base(self, path: str, text: str) -> "EditPlan":
        """Plan to create a base. Nothing is written. The exceptions are those of `create_note`."""
        return self._editor.plan_create(path, text, BASE.suffixes)

    def plan_append(self, path: str, text: str) -> "EditPlan":
        """Plan to append lines to a note. Nothing is written.

        Raises:
            VaultNotChosen: no vault is open.
            EditRefused: the note cannot be edited.
            VaultError: the note cannot be read.
        """
        return self._editor.plan_append(path, text)

    def plan_replacement(self, path: str, old: str, new: str) -> "EditPlan":
        """Plan to replace a text that is in a note once. Nothing is written.

        Raises:
            VaultNotChosen: no vault is open.
            EditRefused: the text is not there once, or the note cannot be edited.
            VaultError: the note cannot be read.
        """
        return self._editor.plan_replacement(path, old, new)

    def plan_related_link(self, path: str, to: str) -> "EditPlan":
        """Plan to append a link to another note. Nothing is written.

        Args:
            path: the note to edit.
            to: the note to link to.

        Raises:
            VaultNotChosen: no vault is open.
            EditRefused: the note already has this link, or cannot be edited.
            VaultError: the note cannot be read.
        """
        links = self._vault.require_vault().build_link_resolver()
        return self._editor.plan_related_link(path, to, links)

    def toggle_task(self, path: str, line: int, version: str = "") -> TickedTask:
        """Tick or untick a task in a note.

        Nothing else in the note changes, except for what the Tasks plugin and Logseq change with
        it: a task with dates gets the day, the next task is inserted above or below a recurring
        one, a repeater moves the date, and a task that says so is deleted.

        Args:
            path: the note, absolute if it is in a project outside of the vault.
            line: the line of the task, counted from 1.
            version: the hash of the content in which the user saw the task, or an empty string.

        Raises:
            VaultNotChosen: no vault is open, and the note is in no project.
            EditOutdated: the note has another content by now.
            EditRefused: the line is no task, its next day cannot be told, it cannot be deleted
                without what belongs to it, or the note is excluded or private.
            EditFailed: the note could not be written. It is unchanged.
            VaultError: the note cannot be read.
        """
        editor, path = self._find_editor(path)
        try:
            tick = editor.plan_toggle(path, line, version)
        except NoteExcluded as error:
            is_private = error.rule == "private"
            why = "marked as private" if is_private else f"excluded ({error.rule})"
            message = f"Strata does not change {error.path}, because it is {why}."
            raise EditRefused(f"{message} Tick the task in another editor.") from error
        run, task = _apply(editor, tick.plan), tick.task
        return TickedTask(
            tick.plan.path,
            task.line,
            task.status,
            task.text,
            run,
            tick.plan.diff,
            tick.next_line,
            None if tick.next_day is None else tick.next_day.isoformat(),
            tick.is_deleted,
        )

    def apply(self, plan: "EditPlan") -> str:
        """Apply a planned edit, and return the id under which the edit can be undone.

        Raises:
            VaultNotChosen: no vault is open.
            EditOutdated: the note has changed since the edit was planned.
            EditFailed: the note could not be written. It is unchanged.
        """
        return _apply(self._editor, plan)

    @property
    def _editor(self) -> "NoteEditor":
        return self._build_editor(self._vault.require_vault().root)

    def _find_editor(self, path: str) -> "tuple[NoteEditor, str]":
        """Return the editor for the folder of notes with a note, and the path of the note in it."""
        file = Path(path)
        project = self._find_project(file) if file.is_absolute() else None
        if project is None:
            return self._editor, path
        return self._build_editor(project), file.relative_to(project).as_posix()

    def _build_editor(self, root: Path) -> "NoteEditor":
        exclude = self._settings.values.vault_exclude
        return self._edits.build_editor(root, lambda: exclude)


def _apply(editor: "NoteEditor", plan: "EditPlan") -> str:
    run = EditRun(token_hex(4))
    editor.apply(plan, run)
    return run.id
