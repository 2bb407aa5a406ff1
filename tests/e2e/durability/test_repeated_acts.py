"""What was killed and is done again is on the disk, also if it was there already."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.backup.text_copies import merge_text_copies
from app.errors import AppError
from chains.errors import ChainError
from tests.support.simulator.disk import Disk, Fault, FaultKind, Killed
from tests.support.simulator.promises import read_tree
from tests.support.simulator.world import World
from vault.edits.editor import NoteEditor
from vault.edits.journal import EditJournal, EditRun
from vault.errors import EditFailed, VaultError
from vault.review.findings import Finding, FindingNote

CHAT = (
    b'{"type":"session","version":2,"id":"SESSION","timestamp":"2026-05-14T14:03:00.000Z"}\n'
    b'{"type":"message","id":"aa","parentId":null,"timestamp":"2026-05-14T14:03:01.000Z",'
    b'"role":"user","content":"Why?","turnId":"t"}\n'
)
# What an act is refused with, or fails with.
REFUSALS = (AppError, ChainError, VaultError)
FINDING = Finding("orphan", (FindingNote("Note.md", "Note"),), "Nothing links to it.", "", 1.0)


def find_pin(program: Assistant, title: str) -> str:
    ids = (one.answer.id for one in program.pinned.list() if one.answer.title == title)
    return next(ids, "removed")


def list_pins(program: Assistant) -> list[str]:
    return [one.answer.title for one in program.pinned.list()]


@dataclass(frozen=True)
class RepeatedAct:
    """What is done twice, and what shows that it was done."""

    do: Callable[[Assistant], object]
    read: Callable[[Assistant], object]


ACTS = {
    "set": RepeatedAct(
        lambda one: one.settings.set("autoCompactThreshold", 8_000),
        lambda one: one.settings.get("autoCompactThreshold"),
    ),
    "edit a memory": RepeatedAct(
        lambda one: one.customization.memories.edit(1, "New."),
        lambda one: one.customization.memories.list_memories(),
    ),
    "rename a pin": RepeatedAct(
        lambda one: one.pinned.rename(one.pinned.list()[0].answer.id, "New"), list_pins
    ),
    "move a pin": RepeatedAct(
        lambda one: one.pinned.move(find_pin(one, "Second"), 0),
        list_pins,
    ),
    "dismiss": RepeatedAct(
        lambda one: one.review.dismiss(FINDING),
        lambda one: [file.read_bytes() for file in one.paths.reviews.glob("*.json")],
    ),
    "add a project": RepeatedAct(
        lambda one: one.projects.add("other"),
        lambda one: [project.name for project in one.projects.list()],
    ),
    "rename a project": RepeatedAct(
        lambda one: one.projects.rename("area", "New"),
        lambda one: [project.title for project in one.projects.list()],
    ),
    "exclude from a project": RepeatedAct(
        lambda one: one.projects.change("area", "exclude", ["Old/"]),
        lambda one: one.projects.settings("area").exclude,
    ),
    "write memories of a project": RepeatedAct(
        lambda one: one.projects.memory("area").write("- New.\n"),
        lambda one: one.projects.memory("area").read().text,
    ),
    "remove memories of a project": RepeatedAct(
        lambda one: one.projects.memory("area").write(""),
        lambda one: one.projects.memory("area").read().text,
    ),
    "write instructions of a project": RepeatedAct(
        lambda one: one.projects.instructions("area").write("New.\n"),
        lambda one: one.projects.instructions("area").read().text,
    ),
    "remove a project": RepeatedAct(
        lambda one: one.projects.remove("area"),
        lambda one: [project.name for project in one.projects.list()],
    ),
}


def list_chats(program: Assistant) -> tuple[list[str], list[str]]:
    """Return the chats on the list and in the bin."""
    listed, binned = program.sessions.list(), program.sessions.bin.list_chats()
    return sorted(one.session for one in listed), sorted(one.info.session for one in binned)


# Done again, each of these is refused, since it was done already. Its user takes it for done.
REFUSED = {
    "remember": RepeatedAct(
        lambda one: one.customization.memories.propose("New.").apply(),
        lambda one: one.customization.memories.list_memories(),
    ),
    "forget": RepeatedAct(
        lambda one: one.customization.memories.forget(1),
        lambda one: one.customization.memories.list_memories(),
    ),
    "remove a pin": RepeatedAct(lambda one: one.pinned.remove(find_pin(one, "First")), list_pins),
    "delete a chat": RepeatedAct(lambda one: one.sessions.delete("listed"), list_chats),
    "restore a chat": RepeatedAct(lambda one: one.sessions.bin.restore("binned"), list_chats),
    "delete a chat for good": RepeatedAct(
        lambda one: one.sessions.delete_for_good("binned"), list_chats
    ),
}


@contextmanager
def open_world(root: Path) -> Iterator[World]:
    """Open a world in which there is something to change, all of it flushed."""
    root.mkdir()
    world = World(root, Disk(root))
    (world.notes / "other").mkdir(parents=True)
    with world.open():
        program = world.programs[0]
        for title in ("First", "Second"):
            program.pinned.add("open tasks", title=title)
        program.projects.add("area")
        program.projects.memory("area").write("- Old.\n")
        program.customization.memories.propose("Old.").apply()
        for session in ("listed", "binned"):
            program.sessions.merge(session, CHAT.replace(b"SESSION", session.encode()))
        program.sessions.delete("binned")
        world.disk.adopt()
        yield world


def do_again(world: World, act: RepeatedAct, fault: Fault, seed: int) -> tuple[object, object]:
    """Let an act be killed or fail, do it again, and let the power fail.

    Return what was there before the power failed, and behind it. An act that has fewer operations
    than the one that fails is done once only.
    """
    world.disk.begin(fault, random.Random(seed))
    is_over = False
    with suppress(Killed, *REFUSALS):
        act.do(world.programs[0])
        is_over = True
    if world.disk.is_dead:
        world._restart(world.programs[0])
    else:
        world.disk.end()
    if not is_over:
        with suppress(*REFUSALS):
            act.do(world.programs[0])
    done = act.read(world.programs[0])
    world.disk.cut_power(random.Random(seed))
    world._start_again(world.programs)
    return done, act.read(world.programs[0])


@pytest.mark.parametrize("name", ACTS)
def test_what_is_done_again_after_a_kill_survives_a_power_failure(
    name: str, tmp_path: Path
) -> None:
    """If a killed process had written the same, nothing was written or flushed."""
    for kill_at in range(1, 9):
        for seed in range(3):
            with open_world(tmp_path / f"{kill_at}-{seed}") as world:
                done, left = do_again(world, ACTS[name], Fault("kill", kill_at), seed)
                assert left == done


@pytest.mark.parametrize("name", [*ACTS, *REFUSED])
def test_what_is_done_again_after_a_failed_flush_survives_a_power_failure(
    name: str, tmp_path: Path
) -> None:
    """Whoever was told that a memory is remembered already has lost it: seed 92000018."""
    act = {**ACTS, **REFUSED}[name]
    for at, seed in product(range(1, 20), range(2)):
        with open_world(tmp_path / f"{at}-{seed}") as world:
            done, left = do_again(world, act, Fault("unsynced", at), seed)
            assert left == done
            if not world.disk.fired["unsynced"]:
                return


@pytest.mark.parametrize("kind", ["full", "broken", "unsynced", "kill", "power"])
def test_a_memory_whose_change_has_failed_is_as_before_or_as_after(
    kind: FaultKind, tmp_path: Path
) -> None:
    """Its record counted as of another computer, and took the old one away: seed 92000018."""
    for at, seed in product(range(1, 20), range(2)):
        with open_world(tmp_path / f"{at}-{seed}") as world:
            (world.root / "home/config/memories.forgotten-00000000.json").write_text("{}")
            world.disk.adopt()
            world.disk.begin(Fault(kind, at), random.Random(seed))
            with suppress(Killed, AppError):
                world.programs[0].customization.memories.edit(1, "New.")
            if world.disk.is_dead:
                world._restart(world.programs[0])
            world.disk.end()
            world.disk.cut_power(random.Random(seed))
            world._start_again(world.programs)
            left = world.programs[0].customization.memories.list_memories()
            assert left in [("Old.",), ("New.",)]


def test_a_computer_keeps_its_name_through_a_kill_and_a_power_failure(tmp_path: Path) -> None:
    """Under another name, its own record counted as one of another computer: seed 92000018."""
    for at, seed in product(range(1, 10), range(4)):
        with open_world(tmp_path / f"{at}-{seed}") as world:
            world.disk.begin(Fault("kill", at), random.Random(seed))
            with suppress(Killed):
                world.programs[0].customization.memories.edit(1, "New.")
            if world.disk.is_dead:
                world._restart(world.programs[0])
            world.disk.end()
            world.disk.cut_power(random.Random(seed))
            world._start_again(world.programs)
            assert len([*(world.root / "home/config").glob("memories.forgotten-*.json")]) == 1


@pytest.mark.parametrize("kind", ["full", "broken", "unsynced"])
def test_what_is_taken_out_of_memories_stays_out_though_its_record_could_not_be_written(
    kind: FaultKind, tmp_path: Path
) -> None:
    """Without a note, the next start did not look for what it had to record."""
    for at in range(1, 40):
        with open_world(tmp_path / str(at)) as world:
            program = world.programs[0]
            note = program.projects.memory("area").path
            note.with_name("memory.forgotten-00000000.json").write_text("{}")
            world.disk.adopt()
            world.disk.begin(Fault(kind, at), random.Random(at))
            is_done = False
            with suppress(AppError):
                program.projects.memory("area").write("")
                is_done = True
            world.disk.end()
            world.disk.cut_power(random.Random(at))
            world._start_again(world.programs)
            if is_done:  # then another computer brings it back
                note.write_text("- Old.\n")
                merge_text_copies(program.paths, program.settings)
                assert not note.read_text()
            if not world.disk.fired[kind]:
                return


PLANS = {
    "a change": lambda editor: editor.plan_append("Beds.md", "New."),
    "a new note": lambda editor: editor.plan_create("made/Note.md", "New."),
    "a new name": lambda editor: editor.plan_move("Pump.md", "Well.md"),
    "a moved note": lambda editor: editor.plan_move("area/Plan.md", "other/Plan.md"),
    "a note in a new folder": lambda editor: editor.plan_move("Pump.md", "made/up/Well.md"),
    "a note with a link to it": lambda editor: editor.plan_move("Beds.md", "other/Rows.md"),
}


@pytest.mark.parametrize("name", PLANS)
def test_an_undo_that_failed_and_is_done_again_survives_a_power_failure(
    tmp_path: Path, name: str
) -> None:
    """A note that was moved back was found at both places."""
    again = 0
    for at, seed in product(range(1, 60), range(2)):
        with open_world(tmp_path / f"{at}-{seed}") as world:
            program = world.programs[0]
            (world.notes / "Pump.md").write_text("# Pump\n\nWater the [[Beds]].\n")
            world.disk.adopt()
            before = read_tree(world.notes)
            editor = NoteEditor(world.notes, EditJournal(program.paths.edits))
            editor.apply(PLANS[name](editor), EditRun("run"))
            world.disk.begin(Fault("unsynced", at), random.Random(seed))
            try:
                program.edits.undo(run="run")
            except EditFailed:
                again += 1
                world.disk.end()
                program.edits.undo(run="run")
            world.disk.end()
            world.disk.cut_power(random.Random(seed))
            world._start_again(world.programs)
            assert read_tree(world.notes) == before
            if not world.disk.fired["unsynced"]:
                break
    assert again
