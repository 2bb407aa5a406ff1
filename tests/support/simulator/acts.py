"""All acts of a simulation with their weights."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from app.assistant import Assistant
from tests.support.simulator.chat_acts import CHAT_ACTS
from tests.support.simulator.home_acts import HOME_ACTS
from tests.support.simulator.index_acts import INDEX_ACTS
from tests.support.simulator.note_acts import NOTE_ACTS

if TYPE_CHECKING:
    from tests.support.simulator.world import World

__all__ = ["ACTS", "Act", "may_intrude", "name_act"]

Act = Callable[["World", Assistant], None]


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
