"""The events of a simulation, and the program that they are done with."""

import logging
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final
from unittest import mock

from app.assistant import Assistant
from app.customize.hooks import GROUP as HOOK_GROUP
from app.errors import AppError
from app.paths import Paths
from app.sessions.transcript import AnswerItem, UserItem
from app.wiring import build
from chains.cancel import CancelToken
from chains.errors import ChainError
from chains.events import Event, Mode, TurnEnded
from chains.request.ask import Ask
from context.errors import ContextError
from tests.support.simulator.disk import FAULTS, Disk, Fault, FaultKind, Killed
from tests.support.simulator.promises import Promises, read_tree
from tests.support.simulator.provider import SECRET, Provider
from tests.support.simulator.scheduler import Scheduler
from vault.errors import UndoRefused, VaultError

__all__ = ["Step", "World"]

EXPECTED: Final = (AppError, ChainError, ContextError, VaultError)
_NOTES: Final = {
    "Beds.md": "# Beds\n\nBeans grow.\n",
    "Pump.md": "# Pump\n\nWater the Beds.\n",
    "Private.md": f"---\nprivate: true\n---\n{SECRET}\n",
}
_BUDGETS: Final = (4_000, 8_000, 16_000, 100_000)


@dataclass(frozen=True)
class Step:
    """One event. Its own seed decides all of it, so that steps before it can be left out."""

    seed: int

    @property
    def fault(self) -> Fault | None:
        """What goes wrong in the event, or None in most."""
        chance = random.Random(f"fault {self.seed}")
        if chance.random() < 0.4:
            return None
        kind: FaultKind = chance.choice(FAULTS)
        return Fault(kind, 1 if kind == "short" else 1 + int(chance.expovariate(0.25)))


class World:
    """A home, a folder of notes and up to two programs that use them.

    Attributes:
        disk: the disk below the folder.
        broken: what did not hold, one sentence each.
        done: how often each event has ended in which way.
    """

    def __init__(self, root: Path, disk: Disk) -> None:
        self.root, self.disk = root, disk
        self.notes = root / "notes"
        self.provider, self.promises = Provider(), Promises()
        self._scheduler = Scheduler()
        self.broken: list[str] = []
        self.done: Counter[str] = Counter()
        self._programs: list[Assistant] = []
        self._undoable: tuple[str, dict[str, bytes], dict[str, bytes]] | None = None
        self._undone: tuple[str, dict[str, bytes]] | None = None  # while an undo is under way
        self._chance, self._ids = random.Random(0), random.Random(1)

    @contextmanager
    def open(self) -> Iterator["World"]:
        """Make the notes and start the program."""
        self.notes.mkdir(parents=True)
        for name, text in _NOTES.items():
            (self.notes / name).write_text(text, "utf-8")
        with ExitStack() as stack:
            stack.enter_context(self.disk.install())
            stack.enter_context(mock.patch("chains.model.LiteLLMModel", self.provider.open))
            stack.enter_context(mock.patch("app.library.library.Library.freshen", _keep_index))
            stack.enter_context(mock.patch("threading.excepthook", self._note_thread))
            for name in ("app.faults", "chains.concurrency"):
                logging.getLogger(name).addFilter(self._note_record)
                stack.callback(logging.getLogger(name).removeFilter, self._note_record)
            stack.enter_context(self._scheduler.install())
            offers = entry_points(group=HOOK_GROUP)  # reading all packages takes 10 ms
            find = mock.patch("app.customize.hooks.entry_points", lambda **_options: offers)
            stack.enter_context(find)
            for place in ("os.urandom", "random._urandom"):  # all ids are made of it
                stack.enter_context(mock.patch(place, self._make_bytes))
            self._start()
            try:
                yield self
            finally:
                self._end_all()

    def take(self, step: Step) -> None:
        """Do one step, and look at what it left."""
        self._chance = self.provider.chance = random.Random(step.seed)
        self._scheduler.chance = random.Random(f"order {step.seed}")
        self._ids = random.Random(f"ids {step.seed}")
        self._undone = None
        name, event = _choose(self._chance)
        program = self._chance.choice(self._programs)
        how = self._do(name, event, program, step)
        self.done[f"{name} {how}"] += 1
        self.broken += [f"{name} {how}: {one}" for one in self.provider.failures]
        self.provider.failures.clear()
        touched = None if how == "killed" else self.disk.touched
        found = self.promises.find_broken(self._programs[0], self.notes, touched)
        self.disk.touched.clear()
        self.broken += [f"after {name} ({how}): {one}" for one in found]
        self.promises.note_chats()

    def _do(
        self, name: str, event: Callable[["World", Assistant], None], program: Assistant, step: Step
    ) -> str:
        """Do an event, and return how it ended."""
        tree = read_tree(self.notes)
        self.disk.begin(step.fault, random.Random(f"disk {step.seed}"))
        try:
            event(self, program)
            self._scheduler.run_all()
            how = "done"
        except Killed:
            how = "killed"
        except EXPECTED as error:
            how = "killed" if self.disk.is_dead else type(error).__name__
        except Exception as error:  # noqa: BLE001 - each one is a bug
            how = "killed" if self.disk.is_dead else "bug"
            if how == "bug":
                self.broken.append(f"{name}: {type(error).__name__}: {error}")
        if self.disk.is_dead:
            how = "killed"
            self._restart(program, tree)
        self.disk.end()
        self._scheduler.drop_all()
        self.broken += [f"{name}: a task: {error!r}" for error in self._scheduler.failures]
        self._scheduler.failures.clear()
        return how

    def _note_thread(self, ended: threading.ExceptHookArgs) -> None:
        """Note a bug in a thread of the program. Threads of a killed one end as they should."""
        if not issubclass(ended.exc_type, Killed):
            self.broken.append(f"a thread: {ended.exc_type.__name__}: {ended.exc_value}")

    def _note_record(self, record: logging.LogRecord) -> bool:
        """Note a bug that the program has logged, and leave out that a thread was killed."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Killed):
            return False
        if record.levelno >= logging.ERROR:
            self.broken.append(f"{record.getMessage()}: {type(error).__name__}: {error}")
        return True

    def _make_bytes(self, count: int) -> bytes:
        return self._ids.randbytes(count)

    # Starts and ends

    def _start(self) -> Assistant:
        home = self.root / "home"
        paths = Paths(home / "config", home / "data", home / "state", home / "cache")
        overrides = {"chat.model": "openai/gpt-4o", "chat.titles": False, "privacy.offline": True}
        program = build(paths, overrides)
        if left := [*self.notes.rglob(".strata-*.tmp")]:
            self.broken.append(f"a start leaves {left[0].name} in the notes")
        program.agents.connect(None, "all")
        self._programs.append(program)
        program.open_vault(self.notes, remember=False)
        return program

    def _end_all(self) -> None:
        while self._programs:
            with suppress(Exception, Killed):
                self._programs.pop().close()

    def _restart(self, killed: Assistant, tree: dict[str, bytes]) -> None:
        """Go on after a kill, with the programs that a power failure or the kill has left."""
        fault = self.disk.fault
        ended = self._programs if fault == "power" else [killed]
        for program in ended:
            with suppress(Exception, Killed):
                program.close()
        self._programs = [one for one in self._programs if one not in ended]
        self.disk.settle()
        self._start()
        self._check_edits(tree)

    def _check_edits(self, tree: dict[str, bytes]) -> None:
        """Undo the edits of a killed event, or go on with its undo. All is as before then."""
        run, before = self._undone or (None, tree)
        self._undone = None
        if read_tree(self.notes) == before:
            return
        try:
            self._programs[-1].edits.undo(run=run)
        except VaultError as error:
            self.broken.append(f"the edits of a killed event cannot be undone: {error}")
        if (now := read_tree(self.notes)) != before:
            self.broken.append(f"undoing a killed event leaves the notes {now}, not {before}")

    # Chats

    def _pick(self, program: Assistant) -> str | None:
        files = program.paths.sessions.glob("*.jsonl")
        chats = sorted(path.stem for path in files if "." not in path.stem)
        return self._chance.choice(chats) if chats else None

    def _pick_entry(self, program: Assistant, session: str, role: str) -> str | None:
        items = program.history.transcript(session).items
        kind = UserItem if role == "user" else AnswerItem
        found = [item.entry for item in items if isinstance(item, kind) and item.entry]
        return self._chance.choice(found) if found else None

    def _ask(self, program: Assistant) -> None:
        session = self._pick(program) if self._chance.random() < 0.8 else None
        mode: Mode = self._chance.choice(["chat", "chat", "agent"])
        question = f"How acid is bed {self._chance.randrange(100)}? " * self._chance.choice([1, 40])
        attach = self._chance.choice([(), (), ("Beds.md",), ("Pump.md",)])
        ask = Ask(question, mode, session=session, attach=attach)
        self._run_turn(program, program.ask(ask, CancelToken()))

    def _edit(self, program: Assistant) -> None:
        if (session := self._pick(program)) and (
            entry := self._pick_entry(program, session, "user")
        ):
            events = program.edit(session, entry, "And the other bed?", CancelToken())
            self._run_turn(program, events)

    def _regenerate(self, program: Assistant) -> None:
        if (session := self._pick(program)) and (
            entry := self._pick_entry(program, session, "assistant")
        ):
            self._run_turn(program, program.regenerate(session, entry, CancelToken()))

    def _run_turn(self, program: Assistant, events: Iterator[Event]) -> None:
        """Run a turn to its end. Its model may change notes and add memories."""
        tree, memories = read_tree(self.notes), program.customization.memories
        before = memories.list_memories()
        self._undoable = None
        try:
            *_, last = events
        finally:
            with suppress(AppError, Killed):
                now = memories.list_memories()
                if now[: len(before)] == before:
                    self.promises.memories = [now, before]
        assert isinstance(last, TurnEnded)
        self.promises.memories = [memories.list_memories()]
        if last.result.edits is not None:
            self._undoable = (last.result.edits.run, tree, read_tree(self.notes))

    def _compact(self, program: Assistant) -> None:
        if session := self._pick(program):
            for _ in program.compact(session, CancelToken()):
                pass

    def _fork(self, program: Assistant) -> None:
        if session := self._pick(program):
            program.branches.fork(session)

    def _rename(self, program: Assistant) -> None:
        if session := self._pick(program):
            program.branches.rename(session, f"Chat {self._chance.randrange(1000)}")

    def _delete(self, program: Assistant) -> None:
        if session := self._pick(program):
            program.sessions.delete(session)

    def _restore(self, program: Assistant) -> None:
        if binned := program.sessions.bin.list_chats():
            program.sessions.bin.restore(self._chance.choice(binned).info.session)

    def _purge(self, program: Assistant) -> None:
        if binned := program.sessions.bin.list_chats():
            session = self._chance.choice(binned).info.session
            self._forget(session)
            program.sessions.delete_for_good(session)
            self.promises.gone.add(session)

    def _forget(self, session: str) -> None:
        """No longer promise a chat that is about to be deleted for good."""
        self.promises.lines.pop(session, None)

    # Settings, memories, notes

    def _set(self, program: Assistant) -> None:
        value = self._chance.choice(_BUDGETS)
        key = "autoCompactThreshold"
        program.settings.refresh()
        self.promises.settings[key] = [program.settings.get(key), value]
        program.settings.set(key, value)
        self.promises.settings[key] = [value]

    def _remember(self, program: Assistant) -> None:
        memories = program.customization.memories
        before = memories.list_memories()
        number = self._chance.randrange(1000)
        kind = self._chance.choice(["edit", "forget"]) if before else ""
        at = self._chance.randint(1, len(before)) if before else 0
        changed = [f"Changed {number}."] if kind == "edit" else []
        after = (*before[: at - 1], *changed, *before[at:]) if before else ()
        self.promises.memories = [before, after]
        if kind == "edit":
            memories.edit(at, changed[0])
        elif kind == "forget":
            memories.forget(at)
        self.promises.memories = [after]

    def _write_note(self, program: Assistant) -> None:
        before, number = read_tree(self.notes), self._chance.randrange(10**6)
        edits = program.user_edits
        if self._chance.random() < 0.5:
            plan = edits.plan_append("Beds.md", f"Line {number}.")
        else:
            plan = edits.plan_create(f"own/{number}.md", f"Made {number}.")
        run = edits.apply(plan)
        self._undoable = (run, before, read_tree(self.notes))

    def _undo(self, program: Assistant) -> None:
        if self._undoable is None:
            return
        (run, before, after), now = self._undoable, read_tree(self.notes)
        self._undoable = None
        if now == after:
            self._undone = run, before
        try:
            program.edits.undo(run=run)
        except UndoRefused as error:
            self.broken += [f"an edit cannot be undone: {error}"] if now == after else []
            raise
        self._undone = None
        if now == after and read_tree(self.notes) != before:
            self.broken.append(f"an undo left {read_tree(self.notes)}, not {before}")

    def _write_outside(self, _program: Assistant) -> None:
        with (self.notes / "Beds.md").open("a", encoding="utf-8") as file:
            file.write(f"Outside {self._chance.randrange(1000)}.\n")
        self.disk.adopt_note(self.notes / "Beds.md")

    # Programs

    def _close(self, program: Assistant) -> None:
        self._programs.remove(program)
        program.close()
        if not self._programs:
            self._start()

    def _open_second(self, _program: Assistant) -> None:
        if len(self._programs) < 2:
            self._start()


def _keep_index(*_arguments: object, **_options: object) -> Iterator[Event]:
    """Take the place of updating the index, which is not simulated."""
    return iter(())


_EVENTS: Final = {
    World._ask: 30,
    World._edit: 6,
    World._regenerate: 6,
    World._compact: 5,
    World._fork: 3,
    World._rename: 4,
    World._delete: 5,
    World._restore: 4,
    World._purge: 2,
    World._set: 5,
    World._remember: 5,
    World._write_note: 8,
    World._undo: 6,
    World._write_outside: 2,
    World._close: 4,
    World._open_second: 3,
}


def _choose(chance: random.Random) -> tuple[str, Callable[[World, Assistant], None]]:
    event = chance.choices(list(_EVENTS), list(_EVENTS.values()))[0]
    return event.__name__.strip("_"), event
