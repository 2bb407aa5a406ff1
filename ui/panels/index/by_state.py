"""The notes by how they stand, made beside the interface since there may be very many."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault.index import NoteState

__all__ = ["NotesByState"]


class NotesByState:
    """Lists of the notes that are `indexed`, `excluded` or `failed`, each in its order.

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

    def fitting(self, state: str, words: Sequence[str]) -> "Sequence[NoteState]":
        """Return those of them in whose path or reason every word occurs, in lower case."""
        notes, keys = self.of(state), self._keys.get(state, [])
        places: Sequence[int] = range(len(keys))
        for word in words:
            places = [place for place in places if word in keys[place]]
        return [notes[place] for place in places]


def _key(note: "NoteState") -> str:
    return f"{note.path}\n{note.reason}".casefold()
