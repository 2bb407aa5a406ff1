"""Tools that edit notes: create_note, edit_note, append_to_note and move_note.

Each call proposes an edit with a diff. A call is refused if it would write a truncation marker into
a note, because the model never saw the text that the marker replaces.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from chains.errors import ProposalOutdated, ToolFailed
from chains.tool import Proposal, Tool
from chains.tools.schema import build_arguments_schema, build_text_schema
from context.compaction import HEAD
from context.messages import ToolDefinition
from context.trimming import TRIMMED
from vault.edits.diff import DiffHunk, count_removed
from vault.edits.editor import NoteEditor
from vault.edits.journal import EditRun
from vault.edits.plan import ContentChange, EditPlan, FileMove, NoteChange, read_text
from vault.errors import EditOutdated
from vault.paths import printable

__all__ = ["EDIT_TOOLS", "build_edit_tools", "check_markers"]

MOST_NOTES: Final = 10
MOST_REMOVED: Final = 0.1
_MARKERS: Final = (TRIMMED, "[Content truncated", "[Tool result stored — ", HEAD)
_HUNK: Final = re.compile(r"@@ -(\d+)")
_CREATE: Final = ToolDefinition(
    "create_note",
    "Create a note. The user sees it first, and may refuse. Link to other notes as [[Name]].",
    build_arguments_schema(
        {
            "path": build_text_schema("The path of the new note, such as Folder/Name.md."),
            "text": build_text_schema("The whole text, in Markdown."),
        }
    ),
)
_EDIT: Final = ToolDefinition(
    "edit_note",
    "Replace a text in a note by another one. Read the note first. The user sees the change first, "
    "and may refuse.",
    build_arguments_schema(
        {
            "path": build_text_schema("The note's path."),
            "old": build_text_schema(
                "The text to replace, exactly as in the note. It has to be in the note once: give "
                "as much text around it as that takes."
            ),
            "new": build_text_schema("The new text; empty to remove the old one."),
        }
    ),
)
_APPEND: Final = ToolDefinition(
    "append_to_note",
    "Add lines at the end of a note. The user sees them first, and may refuse.",
    build_arguments_schema(
        {
            "path": build_text_schema("The note's path."),
            "text": build_text_schema("The lines to add, in Markdown."),
        }
    ),
)
_MOVE: Final = ToolDefinition(
    "move_note",
    "Move or rename a note. Links to it in other notes follow. The user sees the change first, and "
    "may refuse.",
    build_arguments_schema(
        {
            "path": build_text_schema("The note's path."),
            "to": build_text_schema("The new path, such as Folder/Name.md, or a folder."),
        }
    ),
)
EDIT_TOOLS: Final = (_CREATE, _EDIT, _APPEND, _MOVE)


def build_edit_tools(editor: NoteEditor, run: EditRun) -> tuple[Tool, ...]:
    """Build the tools that edit notes.

    Args:
        editor: plans and applies the edits.
        run: the edit run, which groups the edits of a turn so that they can be undone together.
    """
    edits = _ProposedEdits(editor, run)
    plans: Mapping[str, Callable[[Mapping[str, Any]], EditPlan]] = {
        _CREATE.name: lambda a: editor.plan_create(a["path"], a["text"]),
        _EDIT.name: lambda a: editor.plan_replacement(a["path"], a["old"], a["new"]),
        _APPEND.name: lambda a: editor.plan_append(a["path"], a["text"]),
        _MOVE.name: lambda a: editor.plan_move(a["path"], a["to"]),
    }

    def build(definition: ToolDefinition) -> Tool:
        def propose(arguments: Mapping[str, Any]) -> Proposal:
            check_markers(arguments)
            return edits.propose(plans[definition.name](arguments))

        return Tool(definition, propose=propose)

    return tuple(build(definition) for definition in EDIT_TOOLS)


def check_markers(arguments: Mapping[str, str]) -> None:
    """Reject new text that contains a marker of left-out text, in capitals or not.

    Raises:
        ToolFailed: the new text has a marker that the old text does not have.
    """
    new = arguments.get("text", arguments.get("new", "")).casefold()
    old = arguments.get("old", "").casefold()
    for marker in _MARKERS:
        if new.count(marker.casefold()) > old.count(marker.casefold()):
            raise ToolFailed(
                f"The text contains “{marker.strip()}”, which marks text that was left out of your "
                "context. It is not part of any note. Read the note or the result again, and write "
                "the whole text."
            )


@dataclass(frozen=True)
class _ProposedEdits:
    """Converts planned edits to proposals.

    Attributes:
        editor: applies the edits.
        run: the edit run, which groups the edits of a turn.
    """

    editor: NoteEditor
    run: EditRun

    def propose(self, plan: EditPlan) -> Proposal:
        hunks = plan.list_hunks()
        return Proposal(
            "write",
            _summarise(plan),
            lambda: self._apply(plan),
            diff=plan.diff,
            warnings=tuple(self._list_warnings(plan)),
            hunks=tuple(hunk.diff for hunk in hunks),
            keep=(lambda kept: self._keep(plan, hunks, kept)) if hunks else None,
        )

    def _keep(self, plan: EditPlan, hunks: Sequence[DiffHunk], kept: Collection[int]) -> Proposal:
        """Build the proposal for an edit that applies only some of its hunks.

        Args:
            plan: the complete edit.
            hunks: the hunks of the edit.
            kept: the indexes of the hunks to apply.
        """
        rejected = [hunk.diff for number, hunk in enumerate(hunks) if number not in kept]

        def apply() -> str:
            done = self._apply(plan.keep_hunks(kept))
            return f"{done}{_describe_rejected(len(hunks), rejected)}" if rejected else done

        return Proposal("write", _summarise(plan), apply, diff=plan.diff)

    def _apply(self, plan: EditPlan) -> str:
        try:
            self.editor.apply(plan, self.run)
        except EditOutdated as error:
            raise ProposalOutdated(str(error)) from error
        return f"Done: {_summarise(plan)}"

    def _list_warnings(self, plan: EditPlan) -> Iterator[str]:
        history = self.editor.history
        notes = {*history.list_changed_paths(self.run.id), *plan.paths}
        if len(notes) > MOST_NOTES:
            yield f"This answer changes {len(notes):,} notes with this edit."
        before = {change.path: change for change in history.list_net_changes(self.run.id)}
        for change in plan.changes:
            if isinstance(change, ContentChange) and change.before is not None:
                yield from _warn_of_removal(change, before.get(change.path))
        if plan.is_out_of_reach:
            yield "The new place is excluded or outside the project: agents lose sight of the note."


def _warn_of_removal(change: ContentChange, earlier: NoteChange[bytes] | None) -> Iterator[str]:
    """Yield a warning if an edit removes much of the text that a note had before the turn.

    Args:
        change: the planned change of the note.
        earlier: what the turn has already changed in the note, or None.
    """
    before = read_text(change.before if earlier is None else earlier.before) or ""
    removed = count_removed(before, read_text(change.after) or "")
    if before and removed > len(before) * MOST_REMOVED:
        share = max(1, round(100 * removed / len(before)))
        yield f"{share} % of the text of {printable(change.path)} is removed."


def _describe_rejected(total: int, rejected: Sequence[str]) -> str:
    return (
        f"\nThe user accepted {total - len(rejected)} of {total} parts of the change. The note "
        "does not have the following, which the user rejected. Do not propose it again.\n"
        + "".join(rejected)
    )


def _summarise(plan: EditPlan) -> str:
    path = printable(plan.path)
    match plan.kind:
        case "create":
            return f"Create the note {path}."
        case "append":
            return f"Append to {path}."
        case "edit":
            return f"Edit {path}{_name_lines(plan.diff)}."
        case "move":
            return _summarise_move(plan.changes)


def _name_lines(diff: str) -> str:
    """Return the lines of the note that an edit changes, such as `, lines 3–5`.

    Where the edit only adds text, this is the line above which the text is added.
    """
    number, removed, added = 0, list[int](), list[int]()
    for line in diff.splitlines():
        if hunk := _HUNK.match(line):
            number = int(hunk[1])
        elif number and line.startswith("+"):
            added.append(number)
        elif number and line.startswith(("-", " ")):
            removed += [number] if line.startswith("-") else []
            number += 1
    changed = removed or added
    if not changed:
        return ""
    first, last = changed[0], changed[-1]
    return f", line {first:,}" if first == last else f", lines {first:,}–{last:,}"


def _summarise_move(changes: Sequence[ContentChange | FileMove]) -> str:
    move = next(change for change in changes if isinstance(change, FileMove))
    others = len(changes) - 1
    links = f", and change links in {others:,} {'note' if others == 1 else 'notes'}"
    return f"Move {printable(move.path)} to {printable(move.to)}{links if others else ''}."
