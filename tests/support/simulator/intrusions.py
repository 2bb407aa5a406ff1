"""What another program does in the middle of an act: short changes that must not be lost.

Each returns the entry that it has made, which is then found in the value of its name.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from app.assistant import Assistant
from app.errors import AppError
from tests.support.simulator.disk import Waits
from vault.errors import VaultError
from vault.review.findings import Finding, FindingNote

if TYPE_CHECKING:
    from tests.support.simulator.world import World

__all__ = ["add_intrusion"]


def _remember(program: Assistant, number: int) -> str:
    program.customization.memories.propose(f"Intruded {number}.").apply()
    return f"Intruded {number}."


def _pin(program: Assistant, number: int) -> str:
    return program.pinned.add("open tasks", title=f"Intruded {number}").answer.title


def _dismiss(program: Assistant, number: int) -> str:
    note = FindingNote(f"Intruded {number}.md", "Note")
    finding = Finding("orphan", (note,), "Nothing links to it.", "", 1.0)
    program.review.dismiss(finding)
    return finding.key


def _set(program: Assistant, number: int) -> str:
    program.settings.refresh()
    patterns = (*program.settings.values.vault_exclude, f"intruded{number}/")
    program.settings.set("vault.exclude", [*patterns])
    return patterns[-1]


_INTRUSIONS: Final[dict[str, Callable[[Assistant, int], str]]] = {
    "memories": _remember,
    "pins": _pin,
    "dismissed findings": _dismiss,
    "exclusions": _set,
}
# The values of which an act writes the same file. Of other acts, chance decides.
_OF_ACTS: Final = {
    "remember": "memories",
    "pin": "pins",
    "dismiss": "dismissed findings",
    "exclude": "exclusions",
    "set": "exclusions",
}


def add_intrusion(world: "World", act_name: str, program: Assistant, at: int) -> None:
    """Let another program change something before an operation of the next act.

    Args:
        world: the world, which must have two programs.
        act_name: the name of the act.
        program: the program that does the act.
        at: the number of the operation.
    """
    (other,) = [one for one in world.programs if one is not program]
    name = _OF_ACTS.get(act_name) or world.chance.choice(list(_INTRUSIONS))
    intrude = _INTRUSIONS[name]

    def act() -> None:
        with suppress(AppError, VaultError, Waits):
            entry = intrude(other, world.kept.count())
            world.intruded.append((name, entry))
            world.reached[f"intrusion: {name}"] += 1

    world.disk.intrude, world.disk.intrude_at = act, at
