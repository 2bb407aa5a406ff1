"""Plan and apply the mechanical fixes of what a review finds.

A link gets another target, a copy is merged, a figure or one side of a conflict is kept. A fix is
an edit like an agent's: it is shown as a diff first, recorded in the journal, and can be undone.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from secrets import token_hex
from typing import Final

from context.json_codec import Record
from vault.edits.editor import NoteEditor
from vault.edits.journal import EditRun
from vault.edits.plan import EditPlan
from vault.edits.repairs import NoteRepairs
from vault.errors import EditOutdated, EditRefused
from vault.notes.links import Link
from vault.review.findings import Finding, FindingNote

__all__ = ["AppliedFix", "FindingFix", "FindingFixes"]

_ID_CHARS: Final = 12


@dataclass(frozen=True)
class FindingFix(Record):
    """A fix of a finding that the user can choose.

    Attributes:
        label: what the fix does, such as `Link to House/Cellar.md`.
        plan: the edit.
    """

    label: str
    plan: EditPlan

    json_shape = (
        "id",
        "label",
        "paths = plan.paths",
        "diff = plan.diff",
    )

    @property
    def id(self) -> str:
        """A string that identifies the fix, and what each note is before and after it."""
        whole = f"{self.label}\0{self.plan.changes!r}"
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_CHARS]


@dataclass(frozen=True)
class AppliedFix(Record):
    """A fix that was applied.

    Attributes:
        key: the key of the finding.
        label: what the fix does.
        paths: the notes that it has changed.
        run: the id under which it can be undone.
        diff: the change.
    """

    key: str
    label: str
    paths: tuple[str, ...]
    run: str
    diff: str


class FindingFixes:
    """Plans and applies fixes in a folder of notes."""

    def __init__(self, editor: NoteEditor) -> None:
        self._editor, self._repairs = editor, NoteRepairs(editor)

    def list_fixes(self, finding: Finding) -> tuple[FindingFix, ...]:
        """Return the fixes of a finding. There are none if it takes a person to decide.

        A fix that is not possible by now, because a note has changed, is left out.

        Raises:
            VaultError: a note cannot be read.
        """
        match finding.kind:
            case "broken_link" | "broken_embed":
                found = self._list_links(finding)
            case "contradiction":
                found = self._list_values(finding)
            case "duplicate" | "conflict_copy":
                found = self._list_merges(finding)
            case "git_conflict":
                found = self._list_sides(finding)
            case _:
                found = iter(())
        return tuple(found)

    def apply(self, finding: Finding, choice: str) -> AppliedFix:
        """Apply a fix of a finding.

        Args:
            choice: the id of the fix.

        Raises:
            EditOutdated: a note has changed since the fixes were listed.
            EditFailed: a note could not be written. The notes are unchanged.
        """
        fix = next((each for each in self.list_fixes(finding) if each.id == choice), None)
        if fix is None:
            raise EditOutdated(finding.notes[0].path)
        return AppliedFix(
            finding.key, fix.label, fix.plan.paths, self.carry_out(fix), fix.plan.diff
        )

    def carry_out(self, fix: FindingFix) -> str:
        """Apply a fix as it was planned, and return the id under which it can be undone.

        Raises:
            EditOutdated: a note has changed since the fix was planned.
            EditFailed: a note could not be written. The notes are unchanged.
        """
        run = EditRun(token_hex(4))
        self._editor.apply(fix.plan, run)
        return run.id

    def _list_links(self, finding: Finding) -> Iterator[FindingFix]:
        path = finding.notes[0].path
        target, _, anchor = finding.detail.partition("\0")
        old = Link(target, anchor)
        for new in self._repairs.list_targets(path, target, anchor):
            name = new.target if new.target != target else f"#{new.heading}"
            yield from _plan(f"Link to {name}", self._repairs.plan_relink, path, old, new)

    def _list_values(self, finding: Finding) -> Iterator[FindingFix]:
        first, second = finding.notes
        for kept, changed in ((first, second), (second, first)):
            yield from _plan(
                f"Keep {kept.value}, change {changed.path}",
                self._repairs.plan_value,
                changed.path,
                changed.first,
                changed.value,
                kept.value,
            )

    def _list_merges(self, finding: Finding) -> Iterator[FindingFix]:
        copy, kept = finding.notes
        pairs = [(copy, kept)] if finding.kind == "conflict_copy" else [(copy, kept), (kept, copy)]
        for gone, stays in pairs:
            label = f"Keep {stays.path}, move {gone.path} to the trash"
            yield from _plan(label, self._repairs.plan_merge, gone.path, stays.path)

    def _list_sides(self, finding: Finding) -> Iterator[FindingFix]:
        ours, theirs = finding.notes
        shown = finding.detail.split("\0")
        for side, note in (("ours", ours), ("theirs", theirs)):
            yield from _plan(_name_side(note), self._repairs.plan_side, note.path, side, shown)


def _name_side(note: FindingNote) -> str:
    return f"Keep “{note.quote}”" if note.quote else "Keep nothing of both versions"


def _plan(label: str, plan: Callable[..., EditPlan], *arguments: object) -> Iterator[FindingFix]:
    """Yield the fix that a plan makes, unless it is refused because the note has changed."""
    try:
        yield FindingFix(label, plan(*arguments))
    except EditRefused:
        return
