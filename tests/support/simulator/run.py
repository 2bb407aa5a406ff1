"""Simulations of many steps: from one seed, shrunk to the steps that matter, and with mutations."""

import gc
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.behaviours import ROWS
from tests.support.simulator.acts import ACTS, name_act
from tests.support.simulator.bugs import install_bug
from tests.support.simulator.disk import FAULTS, Disk
from tests.support.simulator.intrusions import INTRUSIONS
from tests.support.simulator.provider import ANSWERS
from tests.support.simulator.world import Step, World

__all__ = [
    "Outcome",
    "find_bug",
    "find_kinds",
    "find_mutation",
    "list_mutations",
    "list_steps",
    "run_steps",
    "shrink",
    "simulate",
]

# A world becomes slower with each chat.
_WORLD_STEPS: Final = 60
_REACHED: Final = (
    *(f"intrusion: {name}" for name in INTRUSIONS),
    *(f"clock {kind}" for kind in ("forward", "back", "midnight", "zone")),
    *(f"{name} asked" for name in ("embed_worker", "vector_worker", "parser_worker")),
    *(f"pin: {kind}" for kind in ("add", "rename", "move", "remove", "look")),
    *("break", "child died", "copy merged", "found", "index compared", "kept request", "merged"),
    *("moved away", "moved back", "moved by an edit", "moved file", "moved folder"),
    *("move undone", "restored", "storm"),
    *("deleted for good", "restored from the bin"),
    *("storm is over", "power failure behind an act", "power failure behind what was done again"),
)
_ROWS: Final = tuple(f"row: {row.name}" for row in ROWS)
# From so many events on, each row of the table of behaviours must have been met.
_LONG: Final = 20_000
# The files of a storm in the first world of each long run. Its index takes a millisecond for each.
_GREAT_STORM: Final = 20_000
_MEMORY: Final = "/dev/shm"
# When something was found not to hold, and what differs between two failures of one kind: what is
# quoted or listed, and names and numbers with a digit or a dot in them.
_WHEN: Final = re.compile(
    r"after a power failure behind [\w ]+: |after [\w ]+ \(\w+\): |at the end: "
)
_DETAILS: Final = re.compile(
    r"b?'(?:[^'\\]|\\.)*'|b?\"(?:[^\"\\]|\\.)*\"|[(\[{][^()\[\]{}]*[)\]}]|\S*[\d./]\S*"
)


@dataclass
class Outcome:
    """What a simulation has shown.

    Attributes:
        steps: the steps of the world that failed, up to the one that failed, or nothing.
        broken: what did not hold.
        fired: how often each fault has happened.
        done: how often each act has ended in which way.
        reached: how often what acts are for has happened.
        syncs: how often each function has asked for a sync.
        answers: how often the model has given each kind of answer.
        count: the number of steps that were taken.
        history: what was done in the last world, one line for each event.
    """

    steps: tuple[Step, ...] = ()
    broken: tuple[str, ...] = ()
    fired: "Counter[str]" = field(default_factory=Counter)
    done: "Counter[str]" = field(default_factory=Counter)
    syncs: "Counter[str]" = field(default_factory=Counter)
    answers: "Counter[str]" = field(default_factory=Counter)
    reached: "Counter[str]" = field(default_factory=Counter)
    count: int = 0
    history: tuple[str, ...] = ()

    @property
    def missed(self) -> list[str]:
        """What never happened: faults, acts that were done, answers, and what acts are for.

        A fault that never happens proves nothing. A long run must meet each behaviour of servers.
        """
        done = {name.partition(":")[0] for name in self.done if name.endswith(": done")}
        return [
            *(fault for fault in FAULTS if not self.fired[fault]),
            *(name for act in ACTS if (name := name_act(act)) not in done),
            *(kind for kind in ANSWERS if not self.answers[kind]),
            *(name for name in _REACHED if not self.reached[name]),
            *(name for name in _ROWS if self.count >= _LONG and not self.reached[name]),
        ]


def list_steps(seed: int, count: int, mix_seed: int | None = None) -> tuple[Step, ...]:
    """Return the steps of a world, which a seed decides.

    In every other one, all are odd. Of four in a row, two are as usual, and two have a mix.

    Args:
        seed: decides the steps.
        count: the number of steps.
        mix_seed: decides the mix of the world instead, or None.
    """
    chance = random.Random(seed)
    if mix_seed is None:
        mix_seed = seed if seed // 2 % 2 else 0
    return tuple(Step(chance.randrange(2**48) * 2 + seed % 2, mix_seed) for _ in range(count))


def simulate(seed: int, events: int, skipped: frozenset[str] = frozenset()) -> Outcome:
    """Take a number of steps in worlds of their own, until something does not hold.

    If syncs or locks are left out, every third world has the mix that has met them most often.

    Args:
        seed: decides all steps.
        events: the number of steps.
        skipped: the functions whose syncs are left out.
    """
    whole, best, most_skips = Outcome(), None, 0.0
    for first in range(0, events, _WORLD_STEPS):
        number = first // _WORLD_STEPS
        mix_seed = best if number % 3 == 2 else None
        steps = list_steps(seed * 1_000_003 + number, min(_WORLD_STEPS, events - first), mix_seed)
        is_great = events >= _LONG and first % _LONG == 0
        outcome = run_steps(steps, skipped, _GREAT_STORM if is_great else None)
        for name in ("fired", "done", "syncs", "answers", "reached"):
            getattr(whole, name).update(getattr(outcome, name))
        whole.count += outcome.count
        calls = {name for name in outcome.syncs if skipped & {name, name.partition(":")[0]}}
        skips = sum(outcome.syncs[name] for name in calls) / outcome.count
        if skips > most_skips:
            best, most_skips = steps[0].mix_seed, skips
        if outcome.broken:
            whole.steps, whole.broken = outcome.steps, outcome.broken
            break
    return whole


def run_steps(
    steps: Sequence[Step],
    skipped: frozenset[str] = frozenset(),
    storm_files: int | None = None,
) -> Outcome:
    """Take steps in a new world, until something does not hold.

    Args:
        skipped: the functions whose syncs are left out.
        storm_files: how many files a sync program writes at once, or None for some.
    """
    memory = _MEMORY if os.path.isdir(_MEMORY) else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, dir=memory) as folder:
        disk = Disk(Path(folder).resolve(), skipped=skipped)
        world = World(disk.root, disk)
        world.storm_files = storm_files or world.storm_files
        count = 0
        with world.open(), _collect_rarely():
            for step in steps:
                world.take(step)
                count += 1
                if world.broken:
                    break
            else:
                world.look_at_all()
    taken = tuple(steps[:count]) if world.broken else ()
    broken = tuple(world.broken)
    answers, history = world.provider.answered, tuple(world.history)
    world.reached["child died"] += world.workers.died
    world.reached.update({f"{name} asked": times for name, times in world.workers.asked.items()})
    return Outcome(
        taken,
        broken,
        disk.fired,
        world.done,
        disk.syncs,
        answers,
        world.reached,
        count,
        history,
    )


@contextmanager
def _collect_rarely() -> Iterator[None]:
    """Collect garbage less often: it takes a fifth of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def find_kinds(broken: Iterable[str]) -> frozenset[str]:
    """Return what kinds of failure there are: their words, without when, where and with what."""
    kinds = set[str]()
    for text in broken:
        words, count = _WHEN.sub("", text, count=1), 1
        while count:  # of what is listed in a list, the inner one first
            words, count = _DETAILS.subn("", words)
        kinds.add(" ".join(re.findall(r"\w+", words)))
    return frozenset(kinds)


def shrink(steps: Sequence[Step], skipped: frozenset[str] = frozenset()) -> tuple[Step, ...]:
    """Return fewer steps after which the same kind of thing does not hold either.

    Ever smaller groups of steps are left out, as long as the rest still fails in this way.
    """
    wanted = find_kinds(run_steps(steps, skipped).broken)
    kept, size = tuple(steps), max(1, len(steps) // 2)
    while size:
        first = 0
        while first < len(kept) - 1:
            fewer = (*kept[:first], *kept[first + size :])
            outcome = run_steps(fewer, skipped)
            if wanted & find_kinds(outcome.broken):
                kept = outcome.steps
            else:
                first += size
        size //= 2
    return kept


def list_mutations() -> list[str]:
    """Return the names of all calls for a sync or a lock that simulations make."""
    return sorted(simulate(1, 3_000).syncs)


def find_mutation(caller: str, events: int) -> Outcome:
    """Leave the syncs or locks of a function out. The outcome should be broken."""
    return simulate(len(caller), events, frozenset({caller}))


def find_bug(name: str, events: int) -> Outcome:
    """Put a bug into the product. The outcome should be broken."""
    with install_bug(name):
        return simulate(len(name), events)
