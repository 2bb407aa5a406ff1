"""Write pinned answers into the vault: as a base, or as a block of a note.

Nothing is written by itself. A change is planned, shown as a diff, and applied when the user has
approved it. It is recorded in the journal of edits and can be undone, as the edits of agents.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import InvalidRequest
from app.library.edits import UserEdits
from app.library.open_vault import OpenVault
from app.pinned.answer import PinnedAnswer
from app.pinned.answers import PinnedAnswers
from app.pinned.block import find_blocks, write_block
from context.json_codec import Record
from vault.notes.kinds import BASE
from vault.search.query import parse_query

if TYPE_CHECKING:
    from vault.edits.plan import EditPlan

__all__ = ["PinnedNotes", "PlannedNote"]

_NOT_IN_NAMES = frozenset('[]#^|\\/:*?"<>.')


@dataclass(frozen=True)
class PlannedNote(Record):
    """A planned change that writes a pinned answer into the vault.

    Attributes:
        id: the pinned answer.
        plan: the change, which has not been made yet.
    """

    id: str
    plan: "EditPlan"

    json_shape = (
        "id",
        "path",
        "diff = plan.diff",
    )

    @property
    def path(self) -> str:
        """The note or base that is written."""
        return self.plan.path

    @property
    def sentence(self) -> str:
        """A sentence that says what the change does."""
        if self.path.endswith(BASE.suffixes):
            return f"{self.path} is created. Obsidian shows the same list in it, always up to date."
        does = {"create": "is created with", "append": "gets", "edit": "has a new state of"}
        return f"{self.path} {does.get(self.plan.kind, 'gets')} the pinned answer."


class PinnedNotes:
    """Writes pinned answers into the open vault."""

    def __init__(self, pinned: PinnedAnswers, edits: UserEdits, vault: OpenVault) -> None:
        self._pinned, self._edits, self._vault = pinned, edits, vault

    def plan(self, id: str, path: str | None = None) -> PlannedNote:
        """Plan to write a pinned answer, as it is now, into the vault.

        Args:
            id: the pinned answer.
            path: the note or base, or None for the one that contains it already. If there is none,
                a base is created if a base can show the same list, otherwise a note.

        Raises:
            NotFound: there is no such pinned answer.
            InvalidRequest: a base cannot show it, or nothing would change.
            EditRefused: the path is invalid, or the note cannot be edited.
            VaultError: the note cannot be read, or it is excluded or private.
        """
        self._pinned.refresh([id])
        answer = self._pinned.find(id).answer
        if answer.kind == "model":
            raise InvalidRequest(
                "An answer of a model is not written as a block.", hint="Save it as a note instead."
            )
        path = path or answer.note or self._choose_path(answer)
        if path.endswith(BASE.suffixes):
            return PlannedNote(id, self._plan_base(answer, path))
        path = path if os.path.splitext(path)[1] else f"{path}.md"
        return PlannedNote(id, self._plan_block(answer, path))

    def apply(self, planned: PlannedNote) -> str:
        """Make a planned change, and return the id under which it can be undone.

        Raises:
            EditOutdated: the note has changed since the change was planned.
            EditFailed: the note could not be written. It is unchanged.
        """
        run = self._edits.apply(planned.plan)
        self._pinned.set_note(planned.id, planned.path)
        return run

    def _plan_base(self, answer: PinnedAnswer, path: str) -> "EditPlan":
        if self._is_there(path):
            raise InvalidRequest(
                f"{path} shows the list by itself, and needs no refresh.",
                hint="Name another path to write a note.",
            )
        base = _write_base(answer)
        if base is None:
            raise InvalidRequest(
                "A base cannot say what this answer lists: words, tasks, dates and projects.",
                hint="Name a note instead, such as LIST.md.",
            )
        return self._edits.plan_base(path, base)

    def _plan_block(self, answer: PinnedAnswer, path: str) -> "EditPlan":
        block = write_block(answer)
        if not self._is_there(path):
            return self._edits.plan_create(path, f"{block}\n")
        text = self._vault.require_vault().read_allowed(path).text
        blocks = (one for one in find_blocks(text) if one.kind == "pinned answer")
        found = next((one for one in blocks if one.id == answer.id), None)
        if found is None:
            return self._edits.plan_append(path, block)
        if found.text == block:
            raise InvalidRequest(f"The block in {path} is up to date.")
        return self._edits.plan_replacement(path, found.text, block)

    def _choose_path(self, answer: PinnedAnswer) -> str:
        """Return a new path at the top of the vault, named after the title."""
        suffix = ".md" if _write_base(answer) is None else BASE.suffixes[0]
        plain = "".join(" " if sign in _NOT_IN_NAMES else sign for sign in answer.title)
        name = " ".join(plain.split())[:60].strip() or "Pinned answer"
        tried = (name, *(f"{name} {number}" for number in range(2, 100)))
        return next(f"{one}{suffix}" for one in tried if not self._is_there(f"{one}{suffix}"))

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(Path(self._vault.require_vault().root, path))


def _write_base(answer: PinnedAnswer) -> str | None:
    """Return the text of a base that shows the list of an answer, or None if a base cannot."""
    if answer.kind != "list" or answer.project:
        return None
    from vault.views.base_writer import write_base  # most answers are written as blocks

    query = parse_query(answer.query)
    names = {each.name for clause in query.clauses for each in clause if each.name}
    return write_base(query, answer.title, ("file.name", *sorted(names)))
