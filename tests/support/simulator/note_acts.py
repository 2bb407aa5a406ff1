"""What is done with settings, memories and notes."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.assistant import Assistant
from chains.ledger import OutgoingCall
from tests.support.simulator.promises import read_tree
from vault.edits.journal import EditJournal
from vault.edits.plan import EditPlan
from vault.errors import EditFailed, UndoRefused

if TYPE_CHECKING:
    from tests.support.simulator.world import World

__all__ = ["NOTE_ACTS"]

_BUDGETS: Final = (4_000, 8_000, 16_000, 100_000)
_SHARE: Final = 3  # one in so many new notes moves another one instead, and one has a link


def _set(world: "World", program: Assistant) -> None:
    value = world.chance.choice(_BUDGETS)
    program.settings.refresh()
    world.promises.change(
        "budget", value, program, lambda: program.settings.set("autoCompactThreshold", value)
    )


def _remember(world: "World", program: Assistant) -> None:
    memories = program.customization.memories
    before = memories.list_memories()
    if not before or world.chance.random() < 0.3:
        text = f"Remembered {world.chance.randrange(1000)}."
        add = memories.propose(text).apply
        world.promises.change("memories", (*before, text), program, add)
        return
    at, text = world.chance.randint(1, len(before)), f"Changed {world.chance.randrange(1000)}."
    if world.chance.random() < 0.5:
        after = (*before[: at - 1], text, *before[at:])
        world.promises.change("memories", after, program, lambda: memories.edit(at, text))
    else:
        after = (*before[: at - 1], *before[at:])
        world.promises.change("memories", after, program, lambda: memories.forget(at))


def _write_note(world: "World", program: Assistant) -> None:
    before, number = read_tree(world.notes), world.chance.randrange(10**6)
    edits = program.user_edits
    own = sorted(path for path in before if path.startswith("own/"))
    if world.chance.random() < 0.5:
        plan = edits.plan_append("Beds.md", f"Line {number}.")
    elif own and number % _SHARE == 0:
        plan = _plan_move(world, program, own[number // _SHARE % len(own)], number)
    else:
        link = f"\nSee [[{own[-1].removesuffix('.md')}]]." if own and number % _SHARE == 1 else ""
        plan = edits.plan_create(f"own/{number}.md", f"Made {number}.{link}")
    try:
        run = edits.apply(plan)
    except EditFailed:
        if not world.disk.is_dead and (left := read_tree(world.notes)) != before:
            world.broken.append(f"a failed edit leaves the notes {left}, not {before}")
        raise
    world.reached["moved by an edit"] += plan.kind == "move"
    world.undoable = (run, before, read_tree(world.notes))


def _plan_move(world: "World", program: Assistant, path: str, number: int) -> EditPlan:
    """Plan to move a note into a new folder, and to change the links to it.

    Its title is the name of its file, which stays: passages keep vectors made with an older title.
    """
    editor = program.edits.build_editor(world.notes, lambda: program.settings.values.vault_exclude)
    return editor.plan_move(path, f"own/{number}/{Path(path).name}")


def _undo(world: "World", program: Assistant) -> None:
    """Undo a run of edits. What was written elsewhere in the meantime stays."""
    if world.undoable is None:
        return
    (run, before, after), now = world.undoable, read_tree(world.notes)
    world.undoable = None
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    is_possible = all(now.get(path) == after.get(path) for path in changed)
    undone = {path: text for path, text in now.items() if path not in changed}
    undone |= {path: text for path, text in before.items() if path in changed}
    if is_possible:
        world.undone = run, undone
    try:
        program.edits.undo(run=run)
    except UndoRefused as error:
        is_sound = is_possible and not world.disk.damaged
        world.broken += [f"an edit cannot be undone: {error}"] if is_sound else []
        raise
    except EditFailed:
        left = read_tree(world.notes)  # of several steps in a note, some may be undone
        trees = (before, after, left)
        world.unsure |= {path: {tree.get(path) for tree in trees} for path in changed}
        raise
    world.undone = None
    world.reached["move undone"] += bool(before.keys() - after) and bool(after.keys() - before)
    for path in changed:
        world.unsure.pop(path, None)
    if is_possible and (left := read_tree(world.notes)) != undone:
        world.broken.append(f"an undo left {left}, not {undone}")


def _write_outside(world: "World", _program: Assistant) -> None:
    with (world.notes / "Beds.md").open("a", encoding="utf-8") as file:
        file.write(f"Outside {world.chance.randrange(1000)}.\n")
    world.disk.adopt_note(world.notes / "Beds.md")


def _look_at_chains(world: "World", program: Assistant) -> None:
    """Record a call, and look for lines that do not follow the one before."""
    program.ledger.record(OutgoingCall("model", "localhost", 1)).finish(1)
    journal = EditJournal(program.paths.edits)
    for file, find in (
        (program.paths.ledger, program.ledger.find_breaks),
        (program.paths.edits / "journal.jsonl", journal.find_breaks),
    ):
        if not file.exists():
            continue
        breaks, info = find(), file.stat()
        damaged_to = world.disk.damaged.get(info.st_ino)
        if breaks and not world.disk.damaged and not world.disk.fired["power"]:
            world.broken.append(f"{file.name} is whole, and line {breaks[0]} is reported")
        if damaged_to is not None and info.st_size > damaged_to:
            world.reached["break"] += bool(breaks)
            if not breaks:
                world.broken.append(f"{file.name} is damaged, and no line is reported")


NOTE_ACTS = {
    _set: 10,
    _remember: 14,
    _write_note: 12,
    _undo: 10,
    _write_outside: 3,
    _look_at_chains: 6,
}
