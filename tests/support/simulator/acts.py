"""All acts of a simulation with their weights, and what happens how often in a world.

In half of all worlds, that is as usual. In the others, chance has made a mix: it leaves some acts
and faults out and does others more often, so that two of them meet that are both rare elsewhere.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from app.assistant import Assistant
from tests.support.simulator.chat_acts import CHAT_ACTS
from tests.support.simulator.disk import FAULTS, FaultKind
from tests.support.simulator.home_acts import HOME_ACTS
from tests.support.simulator.index_acts import INDEX_ACTS
from tests.support.simulator.note_acts import NOTE_ACTS

if TYPE_CHECKING:
    from tests.support.simulator.world import World

__all__ = ["ACTS", "Act", "Mix", "make_mix", "may_intrude", "name_act"]

Act = Callable[["World", Assistant], None]
# How much more often than usual an act is done in a mix.
_TIMES: Final = (0, 0, 1, 1, 1, 4, 12)


def _close(world: "World", program: Assistant) -> None:
    world.programs.remove(program)
    program.close()
    if not world.programs:
        world.start()


def _open_second(world: "World", _program: Assistant) -> None:
    if len(world.programs) < 2:
        world.start()


def _turn_clock(world: "World", _program: Assistant) -> None:
    world.reached[f"clock {world.clock.jump(world.chance)}"] += 1


ACTS: Final[dict[Act, int]] = {
    **CHAT_ACTS,
    **NOTE_ACTS,
    **HOME_ACTS,
    **INDEX_ACTS,
    _close: 4,
    _open_second: 12,
    _turn_clock: 10,
}


def may_intrude(act: Act) -> bool:
    """Return whether another program may change something in the middle of an act.

    A backup is compared with what was stored before it.
    """
    return name_act(act) not in ("back up", "restore elsewhere")


def name_act(act: Act) -> str:
    """Return the name of an act, such as `write note`."""
    return act.__name__.strip("_").replace("_", " ")


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

    def choose_act(self, chance: random.Random) -> Act:
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
    mix = Mix(
        weights if any(weights) else Mix.weights,
        faults or FAULTS,
        fault_share=chance.choice([0.2, 0.6, 0.9]),
        early=chance.choice([0.1, 0.25, 0.6]),
        second_share=chance.choice([0.0, 0.5]),
        intrusion_share=chance.choice([0.0, 0.3, 0.8]),
        death_share=chance.choice([0.0, 0.1, 0.5]),
        power_share=chance.choice([0.0, 0.0, 0.2, 0.5]),
    )
    is_late = chance.random() < 0.25  # or nothing would go wrong in the second half of a turn
    return replace(mix, early=mix.early / 10) if is_late else mix
