"""What was attached to a question, attached again: notes as they are now, selections as made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.asked import named_in, selections_in
from app.attachments import Attachments, Selection
from app.errors import AppError
from context.entries import MessageEntry
from context.layers import Layer, Segment
from vault.errors import VaultError

__all__ = ["Reattached", "attach_again"]

_Place = tuple[str, tuple[int, int] | None]


@dataclass(frozen=True)
class Reattached:
    """What of a question's attachments is still to be had.

    Attributes:
        segments: numbered from 1.
        attach: what was named, less what is lost.
        selections: the lines that were named, less what is lost.
        lost: one sentence for each thing that is not attached again.
    """

    segments: tuple[Segment, ...]
    attach: tuple[str, ...]
    selections: tuple[Selection, ...]
    lost: tuple[str, ...]


def attach_again(
    attachments: Attachments, question: MessageEntry, sent: Sequence[Segment]
) -> Reattached:
    """Attach what was attached to a question.

    Args:
        attachments: reads what is named.
        question: it says what the user named, unless an older version wrote it.
        sent: what was sent along with it.
    """
    own = [s for s in sent if s.layer is Layer.L3 and s.kind != "passage"]
    made = {(s.source, s.lines): s for s in own if s.kind == "selection"}
    again = _Again(attachments)
    for path in named_in(question) or dict.fromkeys(_named(own)):
        again.attach(path)
    for selection in selections_in(question) or _selections(made.values()):
        again.select(selection, made)
    return again.result


class _Again:
    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments
        self._found: dict[_Place, Segment] = {}
        self._attach: list[str] = []
        self._selections: list[Selection] = []
        self._lost: list[str] = []

    @property
    def result(self) -> Reattached:
        numbered = (replace(s, number=n) for n, s in enumerate(self._found.values(), start=1))
        attach, selections = tuple(self._attach), tuple(self._selections)
        return Reattached(tuple(numbered), attach, selections, tuple(self._lost))

    def attach(self, path: str) -> None:
        try:
            for segment in self._attachments.segments([path]):
                self._found.setdefault((segment.source, None), segment)
        except (AppError, VaultError) as error:
            self._lost.append(f"{path} is not attached again: {error}")
        else:
            self._attach.append(path)

    def select(self, selection: Selection, made: Mapping[_Place, Segment]) -> None:
        """Take the lines as they were when they were selected, if the note may still be read."""
        try:
            (now,) = self._attachments.segments([], [selection])
        except (AppError, VaultError) as error:
            self._lost.append(f"The lines of {selection.path} are not attached again: {error}")
            return
        self._found.setdefault((now.source, now.lines), made.get((now.source, now.lines), now))
        self._selections.append(selection)


def _named(own: Iterable[Segment]) -> Iterator[str]:
    return (segment.source for segment in own if segment.kind != "selection")


def _selections(made: Iterable[Segment]) -> Iterator[Selection]:
    return (Selection(s.source, *s.lines) for s in made if s.lines is not None)
