"""The state of the index with its texts, and the notes by state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.widgets.figures import count, plural, rate, span

if TYPE_CHECKING:
    from vault.index import NoteState

__all__ = ["IndexState", "NotesByState"]

_UNCOUNTED = {"seen", "scan"}
_COVERED = "Search covers what is done."


@dataclass(frozen=True)
class IndexState:
    """How the index stands.

    Attributes:
        kind: `none`, `running`, `paused`, `done`, `stopped` or `failed`.
        done: the notes that the present phase has done; `total` is 0 while it is not known.
        notes: notes in the index; `failed` those that could not be read.
        message: what is the matter, in a sentence.
        phase: `seen`, `scan`, `embed` or `store`, of a run.
        per_s: how many notes are done in a second; 0 while it is not known.
        left_s: how long it will take; None while it is not known.
        slow: why the run is slower than it could be: `battery`, `load`, or nothing.
        is_mending: whether the index was damaged, and the run makes it anew.
        is_elsewhere: whether another Strata keeps the index up to date.
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

    @property
    def is_going_on(self) -> bool:
        """Whether there is a run, also one that is paused."""
        return self.kind in {"running", "paused"}

    @property
    def fraction(self) -> float | None:
        """How far the run is; None where that cannot be told."""
        if not self.is_going_on or not self._is_counted:
            return None
        return min(1.0, self.done / self.total)

    @property
    def icon(self) -> tuple[str, str]:
        """The icon of the state and its colour."""
        return _ICONS["problems" if self.failed and self.kind == "done" else self.kind]

    @property
    def text(self) -> str:
        """What is said of it in a line."""
        match self.kind:
            case "running":
                return f"Indexing: {self._place} notes" if self._is_counted else _READING
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
        """The same without the figures that `work` says in particular."""
        if self.work:
            return _TITLES.get(self.kind, self.text)
        return self.text

    @property
    def act(self) -> str:
        """What can be done about it, in a word or two."""
        return _ACTS.get("problems" if self.failed and self.kind == "done" else self.kind, "")

    @property
    def second(self) -> str:
        """What else is worth a line while it goes on."""
        if self.is_mending:
            return "The index was damaged and is being rebuilt. Your notes are untouched."
        return _COVERED if self.kind == "paused" else "You need not wait for this."

    @property
    def work(self) -> str:
        """What the run is at in particular."""
        match self.phase:
            case "seen":
                return f"Looking through the folder: {plural(self.done, 'file')}"
            case "scan" if self.total:
                return f"Reading {self._place} new or changed notes"
            case "embed" if self.total:
                return f"Indexing {self._place} new or changed notes"
            case "store":
                return "Updating the vector store"
        return ""

    @property
    def pace(self) -> str:
        """How fast it is and how long it will take, as far as that is known."""
        if self.kind != "running" or self.left_s is None:
            return ""
        left = f"{span(self.left_s)} left"
        return f"{rate(self.per_s)} a second, {left}" if self.per_s >= 0.05 else left

    @property
    def slowed(self) -> str:
        """Why it is slower than it could be."""
        return _SLOW.get(self.slow, "") if self.kind == "running" else ""

    @property
    def _is_counted(self) -> bool:
        return self.total > 0 and self.phase not in _UNCOUNTED

    @property
    def _place(self) -> str:
        return f"{count(self.done)} of {count(self.total)}"


_TITLES = {"running": "Indexing your notes", "paused": "Paused"}
_READING = "Reading your notes…"
_ACTS = {"problems": "Show them", "stopped": "Continue", "failed": "Look again"}
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
    """The notes by state: `indexed`, `excluded` or `failed`, each list in the order given.

    Args:
        notes: all of them.
        before: how it was; a list that is equal to what it was is the same object.
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
        """Return the notes of one state."""
        return self._notes.get(state, ())

    def filter_notes(self, state: str, words: Sequence[str]) -> "Sequence[NoteState]":
        """Return the notes of a state whose path or reason contains every word, in lower case."""
        notes, keys = self.of(state), self._keys.get(state, [])
        places: Sequence[int] = range(len(keys))
        for word in words:
            places = [place for place in places if word in keys[place]]
        return [notes[place] for place in places]


def _key(note: "NoteState") -> str:
    return f"{note.path}\n{note.reason}".casefold()
