"""The state of the index with the texts that describe it, and the notes grouped by state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.widgets.buttons import ButtonText
from ui.widgets.formatting import count, plural, rate, span

if TYPE_CHECKING:
    from vault.records import NoteState

__all__ = ["OPENING", "IndexState", "NotesByState"]

_COVERED = "Search covers what is done."


@dataclass(frozen=True)
class IndexState:
    """The state of the index and of the current indexing run, with texts that describe it.

    Attributes:
        kind: `none`, `running`, `paused`, `done`, `stopped` or `failed`.
        done: the number of notes processed in the current phase.
        total: the number of notes in the current phase, or 0 if unknown.
        notes: the number of notes in the index.
        failed: the number of notes that could not be read.
        message: a sentence about the problem or the current step.
        phase: the phase of the indexing run: `seen`, `scan`, `embed` or `store`.
        per_s: the speed in notes per second, or 0 if unknown.
        left_s: the estimated remaining time in seconds, or None if unknown.
        slow: why the indexing run is throttled: `battery` or `load`, or an empty string if it is
            not throttled.
        is_mending: whether the indexing run is rebuilding a damaged index.
        is_elsewhere: whether another Strata process is updating the index.
        is_missing: whether the run failed because the folder of notes was not there.
    """

    kind: str = "none"
    done: int = 0
    total: int = 0
    notes: int = 0
    failed: int = 0
    message: str = ""
    phase: str = ""
    per_s: float = 0.0
    left_s: float | None = None
    slow: str = ""
    is_mending: bool = False
    is_elsewhere: bool = False
    is_missing: bool = False

    @property
    def is_going_on(self) -> bool:
        """Whether an indexing run is active or paused."""
        return self.kind in {"running", "paused"}

    @property
    def fraction(self) -> float | None:
        """The completed fraction of the indexing run, from 0 to 1, or None if it is unknown."""
        if not self.is_going_on or not self._is_counted:
            return None
        return min(1.0, self.done / self.total)

    @property
    def icon(self) -> tuple[str, str]:
        """The name of the icon for this state, and the name of the icon's colour."""
        return _ICONS["problems" if self.failed and self.kind == "done" else self.kind]

    @property
    def text(self) -> str:
        """A one-line description of this state."""
        match self.kind:
            case "running":
                does = "Reading" if self.phase == "scan" else "Indexing"
                return f"{does}: {self._place} notes" if self._is_counted else _READING
            case "paused":
                return f"Paused at {self._place} notes" if self._is_counted else "Paused"
            case "stopped":
                at = f" at {self._place} notes" if self._is_counted else ""
                return f"Indexing stopped{at}. {_COVERED}"
            case "failed":
                return self.message
            case "none":
                return self.message or "No notes are open"
        indexed = f"{plural(self.notes, 'note')} indexed"
        return f"{indexed}, {count(self.failed)} could not be read" if self.failed else indexed

    @property
    def title(self) -> str:
        """The heading of the index panel. It omits the counts if `work` contains them."""
        if self.work:
            return _TITLES.get(self.kind, self.text)
        return self.text

    @property
    def act(self) -> ButtonText | None:
        """The texts of the button offered in this state, or None for no button."""
        return _ACTS.get("problems" if self.failed and self.kind == "done" else self.kind)

    @property
    def second(self) -> str:
        """The text below the progress of an indexing run.

        It names the current phase, or says that the run is paused or that a damaged index is being
        rebuilt.
        """
        if self.is_mending:
            return "The index was damaged and is being rebuilt. Your notes are untouched."
        if self.kind == "paused":
            return _COVERED
        return _PHASES.get(self.phase, "You need not wait for this.")

    @property
    def work(self) -> str:
        """A description of the current step of the indexing run, with its counts.

        Empty if the step is not known.
        """
        match self.phase:
            case "seen":
                return f"Looking through the folder: {plural(self.done, 'file')}"
            case "scan" | "embed" if self.total:
                does = "By words" if self.phase == "scan" else "By meaning"
                return f"{does}: {self._place} new or changed notes"
            case "store":
                return "Updating the vector store"
        return ""

    @property
    def speed(self) -> str:
        """The speed of the indexing run and its remaining time, as text.

        Empty if the remaining time is not known.
        """
        if self.kind != "running" or self.left_s is None:
            return ""
        left = f"{span(self.left_s)} left"
        return f"{rate(self.per_s)} a second, {left}" if self.per_s >= 0.05 else left

    @property
    def slowed(self) -> str:
        """A sentence that explains why the indexing run is throttled.

        Empty if the run is not throttled.
        """
        return _SLOW.get(self.slow, "") if self.kind == "running" else ""

    @property
    def _is_counted(self) -> bool:
        return self.total > 0 and self.phase != "seen"

    @property
    def _place(self) -> str:
        return f"{count(self.done)} of {count(self.total)}"


_TITLES = {"running": "Indexing your notes", "paused": "Paused"}
_READING = "Reading your notes…"
_PHASES = {"scan": "Words first, then meaning.", "embed": "Words done, now meaning."}
_ACTS = {
    "problems": ButtonText(
        "Show them", "Show the notes that could not be read, with the reasons", "toggle_index"
    ),
    "stopped": ButtonText("Continue", "Go on where it stopped"),
    "failed": ButtonText("Look again", "Try to read the notes again"),
}
_SLOW = {
    "battery": "Slower, since the computer runs on its battery.",
    "load": "Slower, since other programs are busy.",
}
_ICONS = {
    "none": ("books", "text.tertiary"),
    "running": ("books", "accent.base"),
    "paused": ("pause-circle", "text.secondary"),
    "done": ("check-circle", "success.graphic"),
    "problems": ("warning", "amber.graphic"),
    "stopped": ("warning", "amber.graphic"),
    "failed": ("warning", "amber.graphic"),
}


class NotesByState:
    """The notes of a vault, grouped by their state of indexing, such as `indexed` or `failed`.

    Args:
        notes: all notes of the vault. Each group keeps their order.
        before: the previous object. Unchanged groups are taken from it, so that they can be
            compared by identity.
    """

    def __init__(
        self, notes: "Sequence[NoteState]" = (), before: "NotesByState | None" = None
    ) -> None:
        self._notes: dict[str, list[NoteState]] = {}
        for note in notes:
            self._notes.setdefault(note.state, []).append(note)
        self._keys = {state: [_key(note) for note in of] for state, of in self._notes.items()}
        for state, of in before._notes.items() if before is not None else ():
            if of == self._notes.get(state):
                self._notes[state] = of

    def of(self, state: str) -> "Sequence[NoteState]":
        """Return all notes in a state, such as `failed`."""
        return self._notes.get(state, ())

    def filter_notes(self, state: str, words: Sequence[str]) -> "Sequence[NoteState]":
        """Return the notes in a state whose path or reason contains all of the words.

        Args:
            state: the state: `indexed`, `excluded` or `failed`.
            words: the words, in lower case.
        """
        notes, keys = self.of(state), self._keys.get(state, [])
        places: Sequence[int] = range(len(keys))
        for word in words:
            places = [place for place in places if word in keys[place]]
        return [notes[place] for place in places]


def _key(note: "NoteState") -> str:
    return f"{note.path}\n{note.reason}".casefold()


# The state from the opening of a vault until its index is known.
OPENING = IndexState(message="Loading…")
