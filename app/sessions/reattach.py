"""What was attached to a question, attached again: notes as they are now, selections as made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.errors import AppError
from app.library.attachments import Attachments, Selection
from app.sessions.user_messages import named_in, selections_in
from context.layers import Layer, Segment
from context.log.entries import MessageEntry
from vault.errors import VaultError

__all__ = ["Reattached", "attach_again", "names_again"]

_Place = tuple[str, tuple[int, int] | None]


@dataclass(frozen=True)
class Reattached:
    """What of a question's attachments is still to be had.

    Attributes:
        segments: numbered from 1.
        lost: one sentence for each thing that is not attached again.
    """

    segments: tuple[Segment, ...]
    lost: tuple[str, ...] = ()


def names_again(
    question: MessageEntry, sent: Sequence[Segment]
) -> tuple[tuple[str, ...], tuple[Selection, ...]]:
    """Return the names and the lines that were attached to a question; nothing is read.

    Args:
        question: it says what the user named, unless an older version wrote it.
        sent: what was sent along with it.
    """
    own = _attached(sent)
    attach = named_in(question) or tuple(dict.fromkeys(_named(own)))
    return attach, selections_in(question) or tuple(_selections(_selected(own).values()))


def attach_again(
    attachments: Attachments, question: MessageEntry, sent: Sequence[Segment]
) -> Reattached:
    """Attach what was attached to a question.

    Args:
        attachments: reads what is named.
        question: as for `names_again`.
        sent: what was sent along with it.
    """
    made = _selected(_attached(sent))
    again = _Again(attachments)
    attach, selections = names_again(question, sent)
    for path in attach:
        again.attach(path)
    for selection in selections:
        again.select(selection, made)
    return again.result


class _Again:
    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments
        self._found: dict[_Place, Segment] = {}
        self._lost: list[str] = []

    @property
    def result(self) -> Reattached:
        numbered = (replace(s, number=n) for n, s in enumerate(self._found.values(), start=1))
        return Reattached(tuple(numbered), tuple(self._lost))

    def attach(self, path: str) -> None:
        try:
            for segment in self._attachments.segments([path]):
                self._found.setdefault((segment.source, None), segment)
        except (AppError, VaultError) as error:
            self._lost.append(f"{path} is not attached again: {error}")

    def select(self, selection: Selection, made: Mapping[_Place, Segment]) -> None:
        """Take the lines as they were when they were selected, if the note may still be read."""
        try:
            (now,) = self._attachments.segments([], [selection])
        except (AppError, VaultError) as error:
            self._lost.append(f"The lines of {selection.path} are not attached again: {error}")
            return
        self._found.setdefault((now.source, now.lines), made.get((now.source, now.lines), now))


def _attached(sent: Iterable[Segment]) -> list[Segment]:
    return [s for s in sent if s.layer is Layer.L3 and s.kind != "passage"]


def _selected(own: Iterable[Segment]) -> dict[_Place, Segment]:
    return {(s.source, s.lines): s for s in own if s.kind == "selection"}


def _named(own: Iterable[Segment]) -> Iterator[str]:
    return (segment.source for segment in own if segment.kind != "selection")


def _selections(made: Iterable[Segment]) -> Iterator[Selection]:
    return (Selection(s.source, *s.lines) for s in made if s.lines is not None)
