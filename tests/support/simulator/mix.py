"""What happens how often in a world: in half of all worlds as usual, in the others a mix by chance.

A mix leaves some acts and faults out and does others more often. So two of them meet that are both
rare among all others.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from tests.support.simulator.acts import ACTS
from tests.support.simulator.disk import FAULTS, FaultKind

__all__ = ["Mix", "make_mix"]

# How much more often than usual an act is done in a mix.
_TIMES: Final = (0, 0, 1, 1, 1, 4, 12)


@dataclass(frozen=True)
class Mix:
    """How often what happens.

    Attributes:
        weights: how often each act is done, in the order of `ACTS`.
        faults: the faults that happen.
        fault_share: in how many of the events one happens.
        early: how soon in an event it happens: at the operation 1 / `early` on average.
        second_share: behind how many of those that happen once the program is killed.
        intrusion_share: in how many events another program does something.
        death_share: in how many events a child process dies.
        power_share: behind how many events the power fails, besides those in which it does.
    """

    weights: tuple[int, ...] = tuple(ACTS.values())
    faults: tuple[FaultKind, ...] = FAULTS
    fault_share: float = 0.6
    early: float = 0.25
    second_share: float = 0.0
    intrusion_share: float = 0.3
    death_share: float = 0.1
    power_share: float = 0.0

    def choose_act(self, chance: random.Random) -> Callable[..., Any]:
        """Return an act that chance decides."""
        return chance.choices(list(ACTS), self.weights)[0]


@cache
def make_mix(seed: int) -> Mix:
    """Return the mix that a seed decides, or for 0 the usual one."""
    if not seed:
        return Mix()
    chance = random.Random(f"mix {seed}")
    weights = tuple(weight * chance.choice(_TIMES) for weight in ACTS.values())
    faults = tuple(one for one in FAULTS if chance.random() < 0.5)
    return Mix(
        weights if any(weights) else Mix.weights,
        faults or FAULTS,
        fault_share=chance.choice([0.2, 0.6, 0.9]),
        early=chance.choice([0.1, 0.25, 0.6]),
        second_share=chance.choice([0.0, 0.5]),
        intrusion_share=chance.choice([0.0, 0.3, 0.8]),
        death_share=chance.choice([0.0, 0.1, 0.5]),
        power_share=chance.choice([0.0, 0.0, 0.2, 0.5]),
    )
