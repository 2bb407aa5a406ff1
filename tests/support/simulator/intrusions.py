"""What another program does in the middle of an act: short changes that must not be lost.

Some add an entry, which is then found in the value of its name. Others do something else, and say
afterwards whether it is found.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from app.assistant import Assistant
from app.errors import AppError
from chains.errors import ChainError
from chains.ledger import OutgoingCall
from tests.support.simulator.chat_acts import forget_chat
from tests.support.simulator.disk import Waits
from tests.support.simulator.home_acts import start_program
from tests.support.simulator.promises import WILD
from vault.edits.journal import EditJournal
from vault.errors import VaultError
from vault.review.findings import Finding, FindingNote

if TYPE_CHECKING:
    from tests.support.simulator.world import World

__all__ = ["INTRUSIONS", "add_intrusion"]

Check = Callable[[], bool]


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


def _rename_chat(world: "World", program: Assistant, number: int) -> Check | None:
    """Rename a chat that the act may write to, delete or take a copy of."""
    files = program.paths.sessions.glob("*.jsonl")
    if not (chats := sorted(file.stem for file in files if file.stem.isalnum())):
        return None
    session, title = world.chance.choice(chats), f"Intruded {number}"
    program.branches.rename(session, title)
    folder = program.paths.sessions

    def is_there() -> bool:
        found = [*folder.glob(f"{session}*.jsonl"), *folder.glob(f"bin/{session}*.jsonl")]
        is_gone = session in world.promises.gone
        return is_gone or any(title.encode() in file.read_bytes() for file in found)

    return is_there


def _purge_chat(world: "World", program: Assistant, _number: int) -> Check | None:
    """Delete a chat for good that the act may read or write to."""
    files = program.paths.sessions.rglob("*.jsonl")
    if not (chats := sorted({file.name.partition(".")[0] for file in files})):
        return None
    session = world.chance.choice(chats)
    if session.isalnum():
        forget_chat(world, program, session)
    return None


def _record_call(world: "World", program: Assistant, number: int) -> Check | None:
    """Record a call. The ledger need not survive a power failure."""
    breaks = len(program.ledger.find_breaks())
    program.ledger.record(OutgoingCall("model", "intruded", number)).finish(1)
    if world.is_kill_planned:
        return None

    def is_there() -> bool:
        if world.disk.damaged:  # by this event, perhaps
            return True
        ledger = world.programs[0].ledger
        numbers = {one["bytes_out"] for one in ledger.list_calls() if one["host"] == "intruded"}
        return number in numbers and len(ledger.find_breaks()) <= breaks

    return is_there


def _learn(world: "World", program: Assistant, number: int) -> Check | None:
    """Learn how much a model takes, as from a request that it has refused. This may fail."""
    owner, limit = f"intruded {number}", 1_000 + number

    def is_there() -> bool:
        return world.programs[0]._learned.find_limit(owner, None) == limit

    program._learned.learn_limit(owner, limit, None)
    return is_there if program._learned.find_limit(owner, None) == limit else None


def _create_note(world: "World", program: Assistant, number: int) -> Check | None:
    """Create a note. Not in an event whose edits are undone because of a kill."""
    if world.is_kill_planned:
        return None
    path, journal = f"{WILD}/intruded/{number}.md", EditJournal(program.paths.edits)
    breaks = len(journal.find_breaks())
    program.user_edits.apply(program.user_edits.plan_create(path, f"Made {number}."))

    def is_there() -> bool:
        has_more = not world.disk.damaged and len(journal.find_breaks()) > breaks
        return (world.notes / path).exists() and not has_more

    return is_there


def _start_third(world: "World", _program: Assistant, _number: int) -> Check | None:
    """Start and end another program, which removes what killed ones have left."""
    start_program(world.root / "home").close()
    return None


# What adds an entry to a value that is promised.
_ENTRIES: Final[dict[str, Callable[[Assistant, int], str]]] = {
    "memories": _remember,
    "pins": _pin,
    "dismissed findings": _dismiss,
    "exclusions": _set,
}
_OTHERS: Final[dict[str, Callable[["World", Assistant, int], Check | None]]] = {
    "chat": _rename_chat,
    "purge": _purge_chat,
    "calls": _record_call,
    "note": _create_note,
    "learned": _learn,
    "start": _start_third,
}
INTRUSIONS: Final = (*_ENTRIES, *_OTHERS)
_CHATS: Final = ("chat", "chat", "purge", "calls", "learned", "start")
_EDITS: Final = ("note", "note", "start")
# What writes the same files as an act. Of other acts, chance decides.
_OF_ACTS: Final = {
    "remember": ("memories", "memories", "start"),
    "pin": ("pins", "pins", "start"),
    "dismiss": ("dismissed findings", "dismissed findings", "start"),
    "exclude": ("exclusions", "exclusions", "start"),
    "set": ("exclusions", "exclusions", "start"),
    "merge backup": ("memories", "pins", "dismissed findings", "chat", "calls", "start"),
    "write note": _EDITS,
    "undo": _EDITS,
    "look at chains": ("calls", "note"),
    "index": ("memories", "calls", "start"),  # a new note may come too late for it
    **dict.fromkeys(("ask", "edit", "regenerate", "compact", "fork", "rename"), _CHATS),
    **dict.fromkeys(("delete", "restore", "purge", "sync chat"), _CHATS),
}


def add_intrusion(world: "World", act_name: str, program: Assistant, at: int) -> None:
    """Let another program change something before an operation of the next act.

    Args:
        world: the world, which must have two programs.
        program: the program that does the act.
        at: the number of the operation.
    """
    (other,) = [one for one in world.programs if one is not program]
    name = world.chance.choice(_OF_ACTS.get(act_name, INTRUSIONS))

    def act() -> None:
        with suppress(AppError, ChainError, VaultError, Waits):
            number = world.kept.count()
            if name in _ENTRIES:
                world.intruded.append((name, _ENTRIES[name](other, number)))
            elif is_there := _OTHERS[name](world, other, number):
                world.added.append((f"{name} {number} of another program", is_there))
            world.reached[f"intrusion: {name}"] += 1

    world.disk.intrude, world.disk.intrude_at = act, at
