"""What came of an automatic rehearsal: ranked sources, and which source carried which sentence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chains.rehearsal.plan import UNCHANGED_CALLS, RehearsalPlan
from context.json_codec import Record
from context.requests.parts import order_keys

__all__ = ["CarriedSentence", "RankedSource", "RehearsalTable", "make_table"]

NOTHING_STABLE: Final = (
    "The two answers to the unchanged request have no sentence in common, so that nothing can be "
    "said about its sources."
)


@dataclass(frozen=True)
class RankedSource(Record):
    """A note, or notes together, without which sentences fell.

    Attributes:
        keys: the keys of what was left out.
        names: the paths of the notes.
        fallen: the sentences that fell.
        is_apart: whether it is one note, or two of which each is enough for these sentences, since
            they stayed without either. Otherwise, which of them carries them is not known.
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
        carriers: the keys of what was left out when the sentence fell. Several keys in one place
            were left out together.
        varies: whether the sentence differs between the unchanged answers, so that nothing is known
            of it.
        is_apart: for each of `carriers`, whether it is one source, or two of which each is enough.
        within_noise: the keys of what was left out when the sentence fell, but no more sentences
            than differ by themselves.
        reworded: the keys of what was left out when the sentence was worded differently.
        is_tested: whether every note was left out, alone or with others.
    """

    text: str
    carriers: tuple[tuple[str, ...], ...]
    varies: bool = False
    is_apart: tuple[bool, ...] = ()
    within_noise: tuple[tuple[str, ...], ...] = ()
    reworded: tuple[tuple[str, ...], ...] = ()
    is_tested: bool = True

    json_shape = (
        "text",
        "carriers",
        "varies",
        "apart = is_apart",
        "within_noise",
        "reworded",
        "tested = is_tested",
    )

    def name_carriers(self) -> str:
        """Return the keys for people: `1 and 3`, `1 or 3`, `varies`, or `no source`."""
        if self.varies:
            return "varies"
        if self.carriers:
            return " and ".join(self._list_carriers())
        if self.within_noise:
            return f"fell {_name_without(self.within_noise)}, within the noise"
        if self.reworded:
            return f"worded differently {_name_without(self.reworded)}"
        return "no source" if self.is_tested else "not tested"

    def _list_carriers(self) -> Iterator[str]:
        for keys, is_apart in zip(self.carriers, self.is_apart, strict=True):
            name = " or ".join(keys) if is_apart else f"one or more of {', '.join(keys)}"
            yield f"({name})" if len(keys) > 1 < len(self.carriers) else name


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
        if not total:
            return "Asked twice unchanged, the answer had no sentence."
        if not self.noise:
            same = "the one sentence was" if total == 1 else f"all {total:,} sentences were"
            return f"Asked twice unchanged, {same} the same."
        verb = "sentence differed" if self.noise == 1 else "sentences differed"
        return (
            f"Asked twice unchanged, {self.noise:,} {verb}. A source counts only if more than that "
            f"fall without it."
        )

    def describe_no_ranking(self) -> str:
        """Return a sentence that says what fell if no source counts."""
        if any(one.within_noise for one in self.sentences):
            return "No more sentences fell than differ by themselves. Those that fell are below."
        if any(one.reworded for one in self.sentences):
            return "No sentence fell, but some were worded differently: they are below."
        return "No sentence fell, whatever was left out."


def make_table(plan: RehearsalPlan) -> RehearsalTable:
    """Return what is known after the answers so far."""
    if len(plan.unchanged) < UNCHANGED_CALLS:
        return RehearsalTable(plan.calls, 0, (), (), is_complete=False)
    sentences = tuple(_describe_all(plan))
    note = "" if plan.stable else NOTHING_STABLE
    ranking = tuple(_rank(plan))
    untested = tuple(_list_untested(plan)) if plan.stable else ()
    is_complete = plan.choose_next() is None
    return RehearsalTable(plan.calls, plan.noise, sentences, ranking, untested, is_complete, note)


def _describe_all(plan: RehearsalPlan) -> Iterator[CarriedSentence]:
    """Yield what is known of each sentence."""
    carried = _list_least(plan.counted)
    fallen = _list_least(
        {keys: one.fallen for keys, one in plan.effects.items() if keys not in plan.counted}
    )
    reworded = _list_least({keys: one.reworded for keys, one in plan.effects.items()})
    left_out: frozenset[str] = frozenset().union(*plan.tested)
    is_tested = all(note.keys <= left_out for note in plan.notes)
    for at, one in enumerate(plan.sentences):
        carriers = _find_keys(carried, at)
        yield CarriedSentence(
            one.text,
            _order(carriers),
            at not in plan.stable,
            tuple(_is_apart(plan, keys, [at]) for keys in carriers),
            _order(_find_keys(fallen, at)),
            _order(_find_keys(reworded, at)),
            is_tested,
        )


def _find_keys(least: Mapping[frozenset[str], frozenset[int]], at: int) -> list[frozenset[str]]:
    return [keys for keys, found in least.items() if at in found]


def _order(sets: Sequence[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(order_keys(keys)) for keys in sets)


def _name_without(sets: Sequence[Sequence[str]]) -> str:
    return " or ".join(f"without {' and '.join(keys)}" for keys in sets)


def _list_least(
    found: Mapping[frozenset[str], frozenset[int]],
) -> dict[frozenset[str], frozenset[int]]:
    """Return for each set of keys the sentences that it has, and no part of it."""
    least = dict[frozenset[str], frozenset[int]]()
    for keys, sentences in sorted(found.items(), key=lambda item: order_keys(item[0])):
        parts = (others for other, others in found.items() if other < keys)
        least[keys] = sentences.difference(*parts)
    return least


def _is_apart(plan: RehearsalPlan, keys: frozenset[str], sentences: Iterable[int]) -> bool:
    """Return whether it is one source, or two without either of which the sentences stayed."""
    members = [note.keys for note in plan.notes if note.keys <= keys]
    if len(members) < 2:  # a note, whose passages count, or a passage
        members = [frozenset([key]) for key in keys]
    if len(members) == 1:
        return True
    stayed = set(sentences).isdisjoint
    return len(members) == 2 and all(
        (one := plan.effects.get(member)) is not None and stayed(one.fallen | one.reworded)
        for member in members
    )


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
            len(members) == 1 or _is_apart(plan, keys, fallen),
        )


def _list_untested(plan: RehearsalPlan) -> Iterator[str]:
    """Yield the notes that were left out neither alone, nor with others without any effect."""
    for note in plan.notes:
        wide = [keys for keys in plan.tested if note.keys <= keys]
        if not any(keys == note.keys or not plan.effects[keys].fallen for keys in wide):
            yield note.name
