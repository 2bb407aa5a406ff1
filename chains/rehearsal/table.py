"""What came of an automatic rehearsal: ranked sources, and which source carried which sentence."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from chains.rehearsal.plan import UNCHANGED_CALLS, RehearsalPlan
from context.json_codec import Record
from context.kept.parts import order_keys

__all__ = ["CarriedSentence", "RankedSource", "RehearsalTable", "make_table"]

NOTHING_STABLE: Final = (
    "The two answers to the unchanged request have no sentence in common, so that nothing can be "
    "said about its sources."
)


@dataclass(frozen=True)
class RankedSource(Record):
    """A note, or notes of which each is enough, without which sentences fell.

    Attributes:
        keys: the keys of what was left out.
        names: the paths of the notes.
        fallen: the sentences that fell.
        is_apart: whether each of several notes was left out alone too, so that one of them is
            enough for these sentences. Otherwise, which of them carries them is not known.
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]
    fallen: tuple[str, ...]
    is_apart: bool = True

    json_shape = (
        "keys",
        "names",
        "fallen",
        "apart = is_apart",
    )

    def name(self) -> str:
        """Return the notes for people: `Barrel.md or Copy.md, each is enough`."""
        if len(self.names) == 1:
            return self.names[0]
        if self.is_apart:
            return f"{' or '.join(self.names)}, each is enough"
        return f"one or more of {', '.join(self.names)}"


@dataclass(frozen=True)
class CarriedSentence(Record):
    """A sentence of the answer, and what carried it.

    Attributes:
        carriers: the keys of each source without which the sentence fell. Several keys in one place
            are sources of which each is enough.
        varies: whether the sentence differs between the unchanged answers, so that nothing is known
            of it.
    """

    text: str
    carriers: tuple[tuple[str, ...], ...]
    varies: bool = False

    def name_carriers(self) -> str:
        """Return the keys for people: `1 and 3`, `1 or 3`, `varies`, or `no source`."""
        if self.varies:
            return "varies"
        return " and ".join(" or ".join(keys) for keys in self.carriers) or "no source"


@dataclass(frozen=True)
class RehearsalTable(Record):
    """What came of an automatic rehearsal.

    Attributes:
        calls: the number of answers that it rests on.
        noise: how many sentences differ between the two unchanged answers.
        ranking: the sources that carry sentences, most sentences first.
        untested: the notes that were not left out, because the calls were used up or it was
            stopped.
        is_complete: whether nothing more is asked.
        note: what else is to be said, or an empty string.
    """

    calls: int
    noise: int
    sentences: tuple[CarriedSentence, ...]
    ranking: tuple[RankedSource, ...]
    untested: tuple[str, ...] = ()
    is_complete: bool = True
    note: str = ""

    json_shape = (
        "calls",
        "noise",
        "sentences",
        "ranking",
        "untested",
        "complete = is_complete",
        "note",
    )

    def describe_noise(self) -> str:
        """Return a sentence that says what varies by itself."""
        total = len(self.sentences)
        if not self.noise:
            return f"Asked twice unchanged, all {total:,} sentences were the same."
        verb = "sentence differed" if self.noise == 1 else "sentences differed"
        return (
            f"Asked twice unchanged, {self.noise:,} {verb}. A source counts only if more than that "
            f"fall without it."
        )


def make_table(plan: RehearsalPlan) -> RehearsalTable:
    """Return what is known after the answers so far."""
    if len(plan.unchanged) < UNCHANGED_CALLS:
        return RehearsalTable(plan.calls, 0, (), (), is_complete=False)
    least = _list_least(plan.counted)
    sentences = tuple(
        CarriedSentence(
            one.text,
            tuple(tuple(order_keys(keys)) for keys in least if at in least[keys]),
            at not in plan.stable,
        )
        for at, one in enumerate(plan.sentences)
    )
    note = "" if plan.stable else NOTHING_STABLE
    ranking = tuple(_rank(plan))
    untested = tuple(_list_untested(plan)) if plan.stable else ()
    is_complete = plan.choose_next() is None
    return RehearsalTable(plan.calls, plan.noise, sentences, ranking, untested, is_complete, note)


def _list_least(
    counted: dict[frozenset[str], frozenset[int]],
) -> dict[frozenset[str], frozenset[int]]:
    """Return for each set of keys the sentences that fall without it, and without no part of it."""
    return {
        keys: frozenset(
            at
            for at in fallen
            if not any(other < keys and at in others for other, others in counted.items())
        )
        for keys, fallen in sorted(counted.items(), key=lambda item: order_keys(item[0]))
    }


def _rank(plan: RehearsalPlan) -> Iterator[RankedSource]:
    """Yield the notes without which sentences fall, and those of which each is enough."""
    alone = {note.keys for note in plan.notes}
    found: list[tuple[frozenset[str], frozenset[int]]] = []
    for keys, fallen in plan.counted.items():
        if any(keys < note for note in alone):  # a passage
            continue
        smaller = [other for other in plan.counted if other < keys and keys not in alone]
        if left := fallen.difference(*(plan.counted[other] for other in smaller)):
            found.append((keys, left))
    found.sort(key=lambda one: (-len(one[1]), order_keys(one[0])))
    for keys, fallen in found:
        members = [note for note in plan.notes if note.keys <= keys]
        yield RankedSource(
            tuple(order_keys(keys)),
            tuple(note.name for note in members),
            tuple(plan.sentences[at].text for at in sorted(fallen)),
            all(note.keys in plan.changed for note in members),
        )


def _list_untested(plan: RehearsalPlan) -> Iterator[str]:
    """Yield the notes that were left out neither alone, nor with others without any effect."""
    for note in plan.notes:
        wide = [keys for keys in plan.changed if note.keys <= keys]
        if not any(keys == note.keys or keys not in plan.counted for keys in wide):
            yield note.name
