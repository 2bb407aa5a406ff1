"""Simulations of many steps: from one seed, shrunk to the steps that matter, and with mutations."""

import os
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.simulator.disk import FAULTS, Disk
from tests.support.simulator.world import Step, World

__all__ = ["Outcome", "find_mutation", "list_steps", "run_steps", "shrink", "simulate"]

# A world becomes slower with each chat, since all chats are looked at after each step.
_WORLD_STEPS: Final = 100
_MEMORY: Final = "/dev/shm"  # noqa: S108 - a folder in memory, if the system has one


@dataclass
class Outcome:
    """What a simulation has shown.

    Attributes:
        steps: the steps of the world that failed, up to the one that failed, or nothing.
        broken: what did not hold.
        fired: how often each fault has happened.
        done: how often each event has ended in which way.
        syncs: how often each function has asked for a sync.
        answers: how often the model has given each kind of answer.
        count: the number of steps that were taken.
    """

    steps: tuple[Step, ...] = ()
    broken: tuple[str, ...] = ()
    fired: "Counter[str]" = field(default_factory=Counter)
    done: "Counter[str]" = field(default_factory=Counter)
    syncs: "Counter[str]" = field(default_factory=Counter)
    answers: "Counter[str]" = field(default_factory=Counter)
    count: int = 0

    @property
    def missed(self) -> list[str]:
        """The faults and events that never happened. A fault that never happens proves nothing."""
        kinds = {name.partition(" ")[2] for name in self.done}
        never = [fault for fault in FAULTS if not self.fired[fault]]
        return [*never, *({"done", "killed"} - kinds)]


def list_steps(seed: int, count: int) -> tuple[Step, ...]:
    """Return the steps of a world, which a seed decides."""
    chance = random.Random(seed)
    return tuple(Step(chance.randrange(2**48)) for _ in range(count))


def simulate(seed: int, events: int, skipped: frozenset[str] = frozenset()) -> Outcome:
    """Take a number of steps in worlds of their own, until something does not hold.

    Args:
        seed: decides all steps.
        events: the number of steps.
        skipped: the functions whose syncs are left out.
    """
    whole = Outcome()
    for first in range(0, events, _WORLD_STEPS):
        number = first // _WORLD_STEPS
        steps = list_steps(seed * 1_000_003 + number, min(_WORLD_STEPS, events - first))
        outcome = run_steps(steps, skipped)
        for name in ("fired", "done", "syncs", "answers"):
            getattr(whole, name).update(getattr(outcome, name))
        whole.count += outcome.count
        if outcome.broken:
            whole.steps, whole.broken = outcome.steps, outcome.broken
            break
    return whole


def run_steps(steps: Sequence[Step], skipped: frozenset[str] = frozenset()) -> Outcome:
    """Take steps in a new world, until something does not hold."""
    memory = _MEMORY if os.path.isdir(_MEMORY) else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, dir=memory) as folder:
        disk = Disk(Path(folder).resolve(), skipped=skipped)
        world = World(disk.root, disk)
        count = 0
        with world.open():
            for step in steps:
                world.take(step)
                count += 1
                if world.broken:
                    break
    taken = tuple(steps[:count]) if world.broken else ()
    broken = tuple(world.broken)
    answers = world.provider.answered
    return Outcome(taken, broken, disk.fired, world.done, disk.syncs, answers, count)


def shrink(steps: Sequence[Step], skipped: frozenset[str] = frozenset()) -> tuple[Step, ...]:
    """Return fewer steps after which something does not hold either.

    Ever smaller groups of steps are left out, as long as the rest still fails.
    """
    kept, size = tuple(steps), max(1, len(steps) // 2)
    while size:
        first = 0
        while first < len(kept) - 1:
            fewer = (*kept[:first], *kept[first + size :])
            outcome = run_steps(fewer, skipped)
            if outcome.broken:
                kept = outcome.steps
            else:
                first += size
        size //= 2
    return kept


def find_mutation(caller: str, events: int) -> Outcome:
    """Leave the syncs of a function out, and return the outcome, which should be broken."""
    return simulate(len(caller), events, frozenset({caller}))
