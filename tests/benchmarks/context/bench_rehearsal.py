"""Whether an automatic rehearsal names the sources that carried each sentence of an answer.

Requests have eight passages of real notes, chosen with the seed 33. A scripted model says four
sentences: two that one passage has, one that two passages have, and one of its own. So it is known
what carries what. The unsteady model leaves each sentence out of an answer now and then, as small
models do. `STRATA_BENCH_REHEARSALS` is the number of requests.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from chains.rehearsal.plan import MOST_CALLS, RehearsalPlan
from chains.rehearsal.table import RehearsalTable, make_table
from context.requests.layout import BodyPlace, LayerText
from context.requests.parts import RequestPart
from tests.benchmarks.context.planted_chats import read_sentences
from tests.benchmarks.measure import Ratio, unpack_vault

_VAULTS: Final = ("tasks-demo", "eips")
_SEED: Final = 33
_REQUESTS: Final = int(os.environ.get("STRATA_BENCH_REHEARSALS", "60"))
_PASSAGES: Final = 8
_SENTENCES: Final = 5  # of a passage
_UNSTEADY: Final = 0.08  # how often a sentence is left out
_OWN: Final = "Please tell me if anything else in these notes should be looked at."


@dataclass(frozen=True)
class _Planted:
    """A request, the sentences of its answer, and the sources that carry each of them."""

    parts: tuple[RequestPart, ...]
    carried: dict[str, frozenset[str]]


def run(folder: Path) -> list[Ratio]:
    """Rehearse answers of a steady model and of an unsteady one."""
    folders = [unpack_vault(name, folder / name) for name in _VAULTS]
    rng = Random(_SEED)
    sentences = [each for one in folders for each in read_sentences(one)]
    planted = [_plant(sentences, rng) for _ in range(_REQUESTS)]
    return [
        ratio
        for name, unsteady in (("steady", 0.0), ("unsteady", _UNSTEADY))
        for ratio in _measure(name, planted, unsteady)
    ]


def _plant(sentences: Sequence[str], rng: Random) -> _Planted:
    chosen = rng.sample(sentences, _PASSAGES * _SENTENCES)
    texts = [chosen[at::_PASSAGES] for at in range(_PASSAGES)]
    first, second, third, fourth = rng.sample(range(_PASSAGES), 4)
    carried: dict[str, frozenset[str]] = {}
    for place in (first, second):
        carried[rng.choice(texts[place])] = frozenset((str(place + 1),))
    shared = rng.choice(texts[third])
    texts[fourth].insert(rng.randrange(_SENTENCES), shared)
    carried[shared] = frozenset((str(third + 1), str(fourth + 1)))
    carried[_OWN] = frozenset()
    return _Planted(tuple(map(_make_part, range(_PASSAGES), texts)), carried)


def _make_part(at: int, sentences: Sequence[str]) -> RequestPart:
    place = BodyPlace("messages", 0, 0, (at, at + 1))
    path = f"Note {at + 1}.md"
    text = LayerText("L3", "source", " ".join(sentences), place, path, "", at + 1)
    return RequestPart(str(at + 1), "source", "L3", path, (text,), (place,))


def _measure(name: str, planted: Sequence[_Planted], unsteady: float) -> list[Ratio]:
    counted: Counter[str] = Counter()
    calls = list[int]()
    rng = Random(_SEED)
    for one in planted:
        table = _rehearse(one, unsteady, rng)
        calls.append(table.calls)
        for sentence in table.sentences:
            expected = one.carried.get(sentence.text)
            found = {frozenset(keys) for keys in sentence.carriers}
            counted["sentences"] += 1
            counted["varies"] += sentence.varies
            counted["named"] += len(found)
            counted["wrong"] += sum(not expected or not keys <= expected for keys in found)
            counted["right"] += found == ({expected} if expected else set())
    return [
        Ratio(
            f"rehearsal, {name}: sentences with the right sources",
            counted["right"] / counted["sentences"],
            at_least=None if unsteady else 0.95,
            detail=f"{counted['right']} of {counted['sentences']}; {counted['varies']} vary",
        ),
        Ratio(
            f"rehearsal, {name}: sources named wrongly",
            counted["wrong"] / max(1, counted["named"]),
            at_most=None if unsteady else 0.02,
            detail=f"{counted['wrong']} of {counted['named']}",
        ),
        Ratio(
            f"rehearsal, {name}: most calls",
            max(calls),
            at_most=MOST_CALLS,
            detail=f"{sum(calls) / len(calls):.1f} on average",
        ),
    ]


def _rehearse(planted: _Planted, unsteady: float, rng: Random) -> RehearsalTable:
    """Ask until the plan ends."""
    unchanged: list[str] = []
    changed: dict[frozenset[str], str] = {}
    while True:
        plan = RehearsalPlan(planted.parts, "What do they say?", tuple(unchanged), dict(changed))
        if (keys := plan.choose_next()) is None:
            return make_table(plan)
        said = _answer(planted, keys, unsteady, rng)
        if keys:
            changed[keys] = said
        else:
            unchanged.append(said)


def _answer(planted: _Planted, left_out: frozenset[str], unsteady: float, rng: Random) -> str:
    said = [
        sentence
        for sentence, carriers in planted.carried.items()
        if (not carriers or carriers - left_out) and rng.random() >= unsteady
    ]
    return "\n\n".join(said) or "The notes do not say anything about it."
