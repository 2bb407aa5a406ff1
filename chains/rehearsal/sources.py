"""Find which sources may carry a sentence of an answer, before anything is asked again."""

from collections.abc import Sequence
from dataclasses import dataclass

from chains.citations.sources import check_answer
from chains.rehearsal.sentences import SpokenSentence
from context.layers import Layer, Segment
from context.requests.parts import RequestPart

__all__ = ["RehearsedNote", "find_carriers", "group_notes", "list_notes"]


@dataclass(frozen=True)
class RehearsedNote:
    """The sources of a request that come from one note, page or file.

    Attributes:
        name: its path or address.
        parts: its passages.
    """

    name: str
    parts: tuple[RequestPart, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The keys of its passages."""
        return frozenset(part.key for part in self.parts)


def list_notes(parts: Sequence[RequestPart]) -> list[RehearsedNote]:
    """Return the notes that the sources of a request come from, in the order of the request."""
    found: dict[str, list[RequestPart]] = {}
    for part in parts:
        if part.kind == "source":
            found.setdefault(part.source or part.key, []).append(part)
    return [RehearsedNote(name, tuple(some)) for name, some in found.items()]


def find_carriers(
    notes: Sequence[RehearsedNote], sentences: Sequence[SpokenSentence], question: str
) -> list[frozenset[int]]:
    """Return for each note the indexes of the sentences that it may carry.

    A sentence may be carried by the sources that it cites, and by those that say it in their own
    words.

    Args:
        sentences: the sentences of the answer.
        question: what the answer answers.
    """
    return [_find_carried(note, sentences, question) for note in notes]


def _find_carried(
    note: RehearsedNote, sentences: Sequence[SpokenSentence], question: str
) -> frozenset[int]:
    numbers = {part.number for part in note.parts if part.number is not None}
    found = {at for at, one in enumerate(sentences) if numbers.intersection(one.cited)}
    answer = "\n\n".join(one.plain.strip() for one in sentences)
    for part in note.parts:
        segment = Segment.build(
            id=part.key, layer=Layer.L3, kind="passage", source=note.name, text=part.text, number=1
        )
        matched = {one.sentence for one in check_answer(answer, [segment], question).citations}
        for at, one in enumerate(sentences):
            if any(sentence and sentence in one.plain for sentence in matched):
                found.add(at)
    return frozenset(found)


def group_notes(carried: Sequence[frozenset[int]]) -> list[list[int]]:
    """Group the notes that may carry the same sentence, most sentences first.

    Two notes with the same fact would each carry nothing alone, since the other one is still there.
    Notes that carry nothing are in no group.

    Args:
        carried: the sentences that each note may carry.

    Returns:
        The indexes of the notes of each group.
    """
    groups: list[tuple[set[int], list[int]]] = []
    for at, sentences in enumerate(carried):
        if not sentences:
            continue
        joined, members = set(sentences), [at]
        for group in [group for group in groups if group[0] & sentences]:
            groups.remove(group)
            joined |= group[0]
            members = [*group[1], *members]
        groups.append((joined, members))
    groups.sort(key=lambda group: (-len(group[0]), group[1]))
    return [members for _sentences, members in groups]
