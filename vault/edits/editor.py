"""Plan, check and apply edits to notes."""

import os
import posixpath
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from secrets import token_hex
from typing import Final

from resources.system.names import fold_name
from vault.access import HIDDEN, is_hidden, read_as_tool
from vault.edits.completion import (
    is_deleted_when_done,
    read_tick_settings,
    write_box,
    write_reopened,
    write_ticked,
)
from vault.edits.files import (
    NOTE_SUFFIXES,
    check_name,
    convert_errors,
    create_file,
    find_missing_folders,
    move_file,
    read_file,
    remove_folders,
    replace_file,
)
from vault.edits.journal import EditJournal, EditRun, EditStep, hash_content
from vault.edits.links import plan_link_changes
from vault.edits.plan import (
    ContentChange,
    EditPlan,
    FileMove,
    plan_append,
    plan_create,
    plan_related_link,
    plan_replacement,
    plan_task,
    read_text,
)
from vault.edits.recurrence import write_next_task, write_repeated_task
from vault.edits.undo import EditHistory, clear_up, is_finished, revert_steps
from vault.errors import EditFailed, EditOutdated, EditRefused, NoteExcluded, VaultError
from vault.exclude.rules import DOT_FOLDER, ExcludeRules
from vault.notes.kinds import drop_note_suffix
from vault.notes.links import LinkResolver, find_links, list_lines_with_links
from vault.notes.note import Note, parse_note
from vault.notes.tasks import TaskItem, is_line_of_dates, is_task, toggle_status
from vault.notes.text.document import parse_document
from vault.notes.text.inline import HEADING_MARKS, ITEM
from vault.notes.text.lines import hide_comment
from vault.paths import identify_folder, printable, resolve_safe_path

__all__ = ["NoteEditor", "PlannedTick"]

# What ends a list item in the line below it: another item, or a heading.
_ENDS_ITEM: Final = re.compile(rf"{ITEM}|[ \t>]*+{HEADING_MARKS}")
_NOT_IN_LINKS: Final = frozenset("[]#^|\n")


@dataclass(frozen=True, slots=True)
class PlannedTick:
    """An edit that ticks or unticks a task.

    Attributes:
        task: the task with its new line and status. Its text is the one before the edit.
        next_line: the first line of the task that follows a recurring one, or None.
        next_day: the day of the task that follows, or the one to which a repeater moves the task,
            or None.
        is_deleted: whether the task is deleted, since its line says so.
    """

    plan: EditPlan
    task: TaskItem
    next_line: int | None = None
    next_day: date | None = None
    is_deleted: bool = False


class NoteEditor:
    """Plans and applies edits for a model. Excluded, private and hidden notes are rejected."""

    def __init__(
        self,
        root: Path,
        journal: EditJournal,
        exclude: Callable[[], Sequence[str]] = lambda: (),
        outside: Sequence[str] = (),
    ) -> None:
        """Create the editor. Nothing is read yet.

        Args:
            root: the folder of notes.
            journal: the journal that records every edit before it is made.
            exclude: a function that returns the user's exclude patterns.
            outside: patterns that exclude all notes outside the current project, or an empty
                sequence if no project is open.
        """
        self._root, self._named_root = root.resolve(), str(root)
        self._journal = journal
        self._exclude = exclude
        self._outside = ExcludeRules(outside) if outside else None

    @property
    def root(self) -> Path:
        """The folder of notes, with symbolic links resolved."""
        return self._root

    @property
    def history(self) -> EditHistory:
        """The history of all edits in the journal, which may belong to several folders of notes."""
        return EditHistory(self._journal)

    def plan_create(
        self, path: str, text: str, suffixes: tuple[str, ...] = NOTE_SUFFIXES
    ) -> EditPlan:
        """Plan an edit that creates a note.

        Args:
            path: the path of the new note. `.md` is added if it has no suffix.
            text: the text of the note.
            suffixes: the suffixes that the path may have.

        Raises:
            EditRefused: the note already exists, or its path or text is invalid.
            NoteExcluded: a rule excludes the path.
            UnsafePath: the path is outside of the folder.
        """
        target = self._check_new_path(path, suffixes)
        if self._is_outside(target):
            raise EditRefused(f"{printable(target)} is not in this project. Choose a path in it.")
        if (rule := self._load_rules().find_rule_on_path(target)) is not None:
            raise NoteExcluded(printable(target), rule)
        self._check_is_free(target)
        return plan_create(target, text)

    def plan_replacement(self, path: str, old: str, new: str) -> EditPlan:
        """Plan an edit that replaces a text that occurs exactly once in a note.

        Raises:
            EditRefused: the old text does not occur exactly once, or the new text cannot be stored.
            VaultError: the note cannot be read, or a model may not read it.
        """
        target, before = self.read(path)
        return plan_replacement(target, before, old, new)

    def plan_append(self, path: str, text: str) -> EditPlan:
        """Plan an edit that appends lines to a note.

        Raises:
            EditRefused: the text is empty, or cannot be stored in the note's encoding.
            VaultError: the note cannot be read, or a model may not read it.
        """
        target, before = self.read(path)
        return plan_append(target, before, text)

    def plan_toggle(
        self, path: str, line: int, version: str = "", today: date | None = None
    ) -> PlannedTick:
        """Plan an edit that ticks or unticks a task.

        Above a recurring task that is ticked, the next one is inserted, or below it if the Tasks
        plugin is set so. A task with a repeater stays open, and its date moves.

        Args:
            path: the note.
            line: the line of the task, counted from 1.
            version: the hash of the content in which the line was seen, or an empty string.
            today: the day on which the task is done, or None for the present one.

        Raises:
            EditOutdated: the note has another content by now.
            EditRefused: the line is no task, its next day cannot be told, or it would be deleted
                and leave what belongs to it.
            VaultError: the note cannot be read, or is excluded.
        """
        target, before = self.read(path)
        if version and hash_content(before) != version:
            raise EditOutdated(printable(target))
        note, _ = parse_note(target, before)
        if (task := next((one for one in note.tasks if one.line == line), None)) is None:
            raise EditRefused(f"Line {line} of {printable(target)} is no task.")
        lines, today = _TaskLines.read(note, before, task), today or date.today()
        settings, is_done = read_tick_settings(self._root), task.is_of_kind("done")
        if not is_done and (moved := write_repeated_task(lines.shown, today)) is not None:
            return _plan_repeated(target, before, task, lines, *moved)
        status, first = toggle_status(task.status), lines.shown[0]
        if settings.global_filter not in task.text:
            return _plan_status(target, before, task, lines, write_box(first, status))
        if is_done:
            return _plan_status(target, before, task, lines, write_ticked(first, status, None))
        following, next_day = write_next_task(lines.shown, today, settings) or ("", None)
        if is_deleted_when_done(first, settings.written_as):
            return _plan_deletion(target, before, task, lines, following, next_day)
        ticked = write_ticked(first, status, today, settings)
        place = settings.is_next_below
        return _plan_status(target, before, task, lines, ticked, following, next_day, place)

    def plan_related_link(self, path: str, to: str, links: LinkResolver) -> EditPlan:
        """Plan an edit that adds a link to another note under the heading "Related".

        Args:
            path: the note to edit.
            to: the note to link to.
            links: resolves links.

        Raises:
            EditRefused: the link already exists, or the name of the other note cannot be used in a
                link.
            VaultError: the note cannot be read, or a model may not read it.
        """
        source, before = self.read(path)
        lines = list_lines_with_links(parse_document(read_text(before) or ""))
        if any(links.resolve(link.target, source) == to for link in find_links(lines)):
            raise EditRefused(f"{printable(source)} has a link to {printable(to)} already.")
        whole = drop_note_suffix(to)
        for name in (posixpath.basename(whole), whole, f"/{whole}", to):
            if links.resolve(name, source) == to and not _NOT_IN_LINKS & set(name):
                return plan_related_link(source, before, f"[[{name}]]")
        raise EditRefused(f"No link can name {printable(to)}. Rename that note first.")

    def plan_move(self, path: str, to: str) -> EditPlan:
        """Plan an edit that moves or renames a note, and updates all links that would break.

        Args:
            path: the path of the note.
            to: the new path of the note, or the folder to move it to. A path that ends with `/` is
                a folder.

        Raises:
            EditRefused: the new path is invalid or already exists.
            VaultError: the note cannot be read, or a model may not read it.
        """
        source, content = self.read(path)
        to = self._find_relative(to)
        if to.endswith("/") or self._is_folder(to):
            to = posixpath.join(to, posixpath.basename(source))
        elif not posixpath.splitext(to)[1]:
            to += posixpath.splitext(source)[1]
        target = self._check_new_path(to)
        if target == source:
            raise EditRefused(f"{printable(source)} is there already. Name another path.")
        self._check_is_free(target, old_path=source)
        rule = self._load_rules().find_rule_on_path(target)
        move = FileMove(source, target, content)
        links = plan_link_changes(self._root, source, target)
        is_out_of_reach = rule is not None or self._is_outside(target)
        return EditPlan("move", source, (move, *links), is_out_of_reach)

    def apply(self, plan: EditPlan, run: EditRun) -> tuple[EditStep, ...]:
        """Apply an edit completely or not at all, and return its steps in the journal.

        Args:
            plan: the edit.
            run: the group of edits that this edit belongs to.

        Raises:
            EditOutdated: a note has changed since the edit was planned.
            EditFailed: the edit could not be written. The notes are unchanged.
        """
        self.history.remove_leftovers()
        with self._journal.lock():
            self._check_unchanged(plan)
            steps = tuple(self._build_step(plan, change, run) for change in plan.changes)
            self._journal.begin(steps, _list_contents(plan))
            self._carry_out(plan, steps)
            with suppress(EditFailed):  # the edit can be undone without this status
                self._journal.mark(filter(is_finished, steps), "done")
        return steps

    def _carry_out(self, plan: EditPlan, steps: Sequence[EditStep]) -> None:
        for number, (change, step) in enumerate(zip(plan.changes, steps, strict=True)):
            try:
                self._make(change, step)
            except (OSError, VaultError) as error:
                remove_folders(self._root, step.folders)
                # A file that has its new name or content may only not be flushed.
                is_perhaps_made = isinstance(error, EditFailed)
                revert_steps(self._journal, steps[: number + is_perhaps_made])
                with suppress(EditFailed):
                    self._journal.mark(filter(clear_up, steps), "failed")
                raise

    def _make(self, change: ContentChange | FileMove, step: EditStep) -> None:
        if isinstance(change, FileMove):
            move_file(self._root, change.path, change.to, change.content)
        elif change.before is None:
            create_file(self._root, change.path, change.after, step.temporary)
        else:
            replace_file(self._root, change.path, change.before, change.after, step.temporary)

    def _build_step(
        self, plan: EditPlan, change: ContentChange | FileMove, run: EditRun
    ) -> EditStep:
        to = change.to if isinstance(change, FileMove) else ""
        before = change.content if isinstance(change, FileMove) else change.before
        after = change.content if isinstance(change, FileMove) else change.after
        return EditStep(
            id=token_hex(4),
            run=run.id,
            session=run.session,
            time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            root=str(self._root),
            kind=plan.kind,
            path=change.path,
            to=to,
            before=None if before is None else hash_content(before),
            after=hash_content(after),
            folders=find_missing_folders(self._root, to or change.path),
            folder_id=identify_folder(self._root),
        )

    def _check_unchanged(self, plan: EditPlan) -> None:
        """Check that no file has changed since the edit was planned.

        Raises:
            EditOutdated: a file has changed.
        """
        moved = {change.to: change.path for change in plan.changes if isinstance(change, FileMove)}
        for change in plan.changes:
            expected = change.content if isinstance(change, FileMove) else change.before
            if read_file(self._root, moved.get(change.path, change.path)) != expected:
                raise EditOutdated(printable(change.path))

    def read(self, path: str) -> tuple[str, bytes]:
        """Check that a model may edit a note, and return its resolved path and content.

        Raises:
            EditRefused: the note is outside the project, or not a text note.
            EditOutdated: the note changed while it was read.
            VaultError: the note cannot be read, or a model may not read it.
        """
        path = self._find_relative(path)
        real = resolve_safe_path(self._root, path).relative_to(self._root).as_posix()
        if self._is_outside(real):
            raise EditRefused(
                f"{printable(real)} is not in this project. Only its notes are edited."
            )
        note = read_as_tool(self._root, path, self._exclude())
        if not real.lower().endswith(NOTE_SUFFIXES):
            raise EditRefused(
                f"{printable(real)} cannot be edited. Only text notes can: .md, .txt."
            )
        content = read_file(self._root, real)
        if content is None or hash_content(content) != note.version:
            raise EditOutdated(printable(real))
        return real, content

    def _is_outside(self, path: str) -> bool:
        return self._outside is not None and self._outside.find_rule_on_path(path) is not None

    def _is_folder(self, path: str) -> bool:
        with suppress(OSError, ValueError):  # the name is too long, or has a NUL; checked later
            return (self._root / path).is_dir()
        return False

    def _find_relative(self, path: str) -> str:
        """Return a path relative to the folder of notes.

        Absolute paths in the folder are accepted.
        """
        for root in (self._named_root, str(self._root)):
            path = path.removeprefix(f"{root}/")
        return path

    def _check_new_path(self, path: str, suffixes: tuple[str, ...] = NOTE_SUFFIXES) -> str:
        """Check that a note may be created at a path, and return the path with links resolved.

        Raises:
            EditRefused: a component of the path is not a valid file name.
            NoteExcluded: a name in the path begins with a dot.
            UnsafePath: the path leads out of the folder.
        """
        path = self._find_relative(path)
        path = path if posixpath.splitext(path)[1] else f"{path}.md"
        with convert_errors(path):
            real = resolve_safe_path(self._root, path).relative_to(self._root).as_posix()
            folders = find_missing_folders(self._root, real)
        for name in (path, real):
            if any(part.startswith(".") and part not in (".", "..") for part in name.split("/")):
                raise NoteExcluded(printable(path), HIDDEN if is_hidden(name) else DOT_FOLDER)
        check_name(real, folders, suffixes)
        self._check_is_in_folder(real, folders)
        return real

    def _check_is_in_folder(self, path: str, folders: Sequence[str]) -> None:
        """Check that a new note is not to be stored below a file.

        Args:
            path: the path of the new note.
            folders: the folders that have to be created for it.

        Raises:
            EditRefused: a folder in the path is a file.
        """
        above = posixpath.dirname(folders[0] if folders else path)
        if above and not (self._root / above).is_dir():
            raise EditRefused(
                f"{printable(above)} is a file, and not a folder. Choose a path in a folder."
            )

    def _check_is_free(self, path: str, old_path: str = "") -> None:
        """Check that a path is not used by another file.

        Args:
            path: the path of a new or moved note.
            old_path: the current path of a note that is moved, or an empty string for a new note.

        Raises:
            EditRefused: another file uses the path.
        """
        if (existing := self._find_same_name(path)) not in (None, old_path):
            raise EditRefused(
                f"There is already a note {printable(existing)}. Choose another name or edit it."
            )

    def _find_same_name(self, path: str) -> str | None:
        """Find an existing file at a path, ignoring the case and Unicode normalization of its name.

        Return the actual path of the file, or None if there is no such file.
        """
        folder, _, name = path.rpartition("/")
        with suppress(FileNotFoundError, NotADirectoryError):
            for other in sorted(os.listdir(self._root / folder)):
                if fold_name(other) == fold_name(name):
                    return posixpath.join(folder, other)
        return None

    def _load_rules(self) -> ExcludeRules:
        return ExcludeRules.load(self._root, self._exclude())


def _list_contents(plan: EditPlan) -> list[bytes]:
    contents: list[bytes] = []
    for change in plan.changes:
        if isinstance(change, FileMove):
            contents.append(change.content)
        else:
            contents += [c for c in (change.before, change.after) if c is not None]
    return contents


def _measure_indent(line: str) -> int:
    """Return the width of what is before a text or list item, with marks of quotes."""
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" >"))


def _plan_status(
    path: str,
    before: bytes,
    task: TaskItem,
    lines: "_TaskLines",
    ticked: str | None,
    following: str = "",
    next_day: date | None = None,
    is_next_below: bool = False,
) -> PlannedTick:
    """Plan an edit that sets the status of a task, with the lines of the one that follows."""
    if ticked is None or not is_task(lines.whole[0]):
        raise EditRefused(f"Line {task.line} of {printable(path)} is no task.")
    # A comment that goes on below the task would hide the next one.
    is_below = is_next_below and lines.shown == lines.whole
    above, below = ("", following) if is_below else (following, "")
    place = range(task.line, task.line + len(lines.whole))
    after = [*lines.write([ticked]), *lines.whole[1:]]
    plan = plan_task(path, before, place, after, above, below)
    moved = replace(
        task,
        status=toggle_status(task.status),
        line=task.line + above.count("\n") + bool(above),
    )
    next_line = (place.stop if is_below else task.line) if following else None
    return PlannedTick(plan, moved, next_line, next_day)


def _plan_repeated(
    path: str,
    before: bytes,
    task: TaskItem,
    lines: "_TaskLines",
    moved: Sequence[str],
    next_day: date,
) -> PlannedTick:
    """Plan an edit that moves the dates of a task, which stays open."""
    opened = write_reopened(moved[0]) if is_task(lines.whole[0]) else None
    if opened is None:
        raise EditRefused(f"Line {task.line} of {printable(path)} is no task.")
    place = range(task.line, task.line + len(lines.whole))
    plan = plan_task(path, before, place, lines.write([opened, *moved[1:]]))
    return PlannedTick(plan, replace(task, status=" "), None, next_day)


def _plan_deletion(
    path: str,
    before: bytes,
    task: TaskItem,
    lines: "_TaskLines",
    following: str,
    next_day: date | None,
) -> PlannedTick:
    """Plan an edit that deletes a task, in whose place the one that follows comes, if any."""
    is_cut = lines.shown != lines.whole
    if is_cut or (not following and lines.has_more()):
        what = "a comment would stay open" if is_cut else "other text belongs to it"
        raise EditRefused(f"This task is deleted when it is done, but {what}. Delete it yourself.")
    place = range(task.line, task.line + len(lines.whole))
    plan = plan_task(path, before, place, following.split("\n") if following else ())
    done = replace(task, status=toggle_status(task.status))
    return PlannedTick(plan, done, task.line if following else None, next_day, is_deleted=True)


@dataclass(frozen=True, slots=True)
class _TaskLines:
    """The lines of a task.

    Attributes:
        whole: the lines as they are.
        shown: the lines without a comment that begins there and ends further below.
        below: the lines of the note that follow.
    """

    whole: Sequence[str]
    shown: Sequence[str]
    below: Sequence[str]

    @classmethod
    def read(cls, note: Note, content: bytes, task: TaskItem) -> "_TaskLines":
        """Read the lines of a task of a note."""
        first, end = task.line - 1, task.last or task.line
        lines = (read_text(content) or "").split("\n")
        kinds = note.markdown.kinds[first:] if note.markdown else ""
        whole = lines[first:end]
        shown = [hide_comment(text, kind) for text, kind in zip(whole, kinds, strict=False)]
        return cls(whole, shown, lines[end:])

    def write(self, shown: Sequence[str]) -> list[str]:
        """Return the lines with other shown parts, and with the comments as they are."""
        pairs = zip(self.whole, self.shown, shown, strict=False)
        return [after + whole.removeprefix(before) for whole, before, after in pairs]

    def has_more(self) -> bool:
        """Return whether more than the task would go or stay alone: text, a list or a footnote."""
        has_text = not all(map(is_line_of_dates, self.whole[1:]))
        return has_text or self.whole[0].lstrip("> \t").startswith("[^") or self._has_children()

    def _has_children(self) -> bool:
        """Return whether what follows belongs to the task: text in it, or a list below it."""
        indent = _measure_indent(self.whole[0])
        for number, line in enumerate(self.below):
            if not line.strip(" \t>"):
                continue
            is_apart = number > 0 or _ENDS_ITEM.match(line) is not None
            return _measure_indent(line) > indent or not is_apart
        return False
