"""A world: a home, a folder of notes, the programs that use them, and what goes wrong."""

import logging
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Final
from unittest import mock

from app.assistant import Assistant
from app.customize.hooks import GROUP as HOOK_GROUP
from app.errors import AppError, StorageFailed, TurnFailed
from chains.errors import ChainError, LedgerFailed
from context.errors import ContextError
from tests.support.simulator.acts import Act, Mix, make_mix, may_intrude, name_act
from tests.support.simulator.clock import Clock
from tests.support.simulator.disk import BEHIND_LOCKS, LOUD_FAULTS, Disk, Fault, FaultKind, Killed
from tests.support.simulator.home_acts import EXCLUDED, Kept, start_program, watch_home
from tests.support.simulator.intrusions import add_intrusion
from tests.support.simulator.listings import list_tree, shuffle_listings
from tests.support.simulator.process_memory import forget_all, remember_nothing
from tests.support.simulator.promises import WILD, Promises, read_tree
from tests.support.simulator.provider import SECRET, Provider
from tests.support.simulator.scheduler import Scheduler
from tests.support.simulator.workers import Workers
from vault.edits.journal import EditJournal
from vault.errors import EditFailed, IndexUnusable, UndoRefused, VaultError

__all__ = ["Step", "World"]

_URANDOM: Final = os.urandom
EXPECTED: Final = (AppError, ChainError, ContextError, VaultError)
_STORAGE_ERRORS: Final = (EditFailed, IndexUnusable, LedgerFailed, StorageFailed)
_NOTES: Final = {
    "Beds.md": "# Beds\n\nBeans grow.\n",
    "Pump.md": "# Pump\n\nWater the Beds.\n",
    "Private.md": f"---\nprivate: true\n---\n{SECRET}\n",
    "area/Plan.md": "# Plan\n\nBeans grow.\n",
    f"{WILD}/hidden/Excluded.md": f"# Excluded\n\n{SECRET}\n",
}


@dataclass(frozen=True)
class Step:
    """One event. Its own seed decides all of it, so that steps before it can be left out.

    With an odd seed, nothing is damaged silently. In a world of such events, nothing may be missed.

    Attributes:
        seed: decides the event, among what its mix has.
        mix_seed: decides how often what happens, or 0 for as often as usual.
    """

    seed: int
    mix_seed: int = 0

    @property
    def mix(self) -> Mix:
        """How often what happens."""
        return make_mix(self.mix_seed)

    @property
    def fault(self) -> Fault | None:
        """What goes wrong in the event, or None in most."""
        chance = random.Random(f"fault {self.seed}")
        if chance.random() < 1 - self.mix.fault_share:
            return None
        kinds = [one for one in self.mix.faults if one in LOUD_FAULTS or not self.seed % 2]
        kind: FaultKind = chance.choice(kinds or LOUD_FAULTS)
        return Fault(kind, 1 if kind == "short" else 1 + int(chance.expovariate(self.mix.early)))

    @property
    def second_fault(self) -> Fault | None:
        """What goes wrong behind a fault that happens once, so many operations after it."""
        chance = random.Random(f"second fault {self.seed}")
        kind: FaultKind = chance.choice(("power", "kill"))
        is_any = chance.random() < self.mix.second_share
        return Fault(kind, 1 + int(chance.expovariate(0.25))) if is_any else None

    @property
    def fault_again(self) -> Fault | None:
        """What goes wrong in the event if what was killed before is done again in it."""
        chance = random.Random(f"fault again {self.seed}")
        kind: FaultKind = chance.choice(("unsynced", "unsynced", "power", "kill"))
        is_any = chance.random() < 0.8
        return Fault(kind, 1 + int(chance.expovariate(0.25))) if is_any else None

    def cuts_power(self, *, is_often: bool) -> bool:
        """Return whether the power fails behind the event, if it has not failed in it.

        Args:
            is_often: whether it fails in each third event, so that syncs that are left out are
                found sooner.
        """
        return (self.fault is not None and self.fault.kind == "power") or (
            (is_often and self.seed % 3 == 0)
            or random.Random(f"cut {self.seed}").random() < self.mix.power_share
        )

    @property
    def kills_before_syncs(self) -> bool:
        """Whether a program is killed before some syncs, if others are left out."""
        return self.seed % 2 == 1  # in every other world

    @property
    def opens_chats(self) -> bool:
        """Whether the chats that have changed are opened behind the event."""
        return self.seed % 6 < 2

    @property
    def may_repeat(self) -> bool:
        """Whether the event is what was killed before, done again."""
        return random.Random(f"again {self.seed}").random() < 0.5

    @property
    def may_lose_again(self) -> bool:
        """Whether the power fails behind what is done again."""
        return random.Random(f"power again {self.seed}").random() < 0.5

    @property
    def intrude_at(self) -> int:
        """Before which operation another program does something, or 0 in most events."""
        chance = random.Random(f"intrusion {self.seed}")
        is_any = chance.random() < self.mix.intrusion_share
        return 1 + int(chance.expovariate(0.4)) if is_any else 0

    @property
    def kills_child(self) -> bool:
        """Whether a child process dies in the event."""
        return random.Random(f"child {self.seed}").random() < self.mix.death_share


class World:
    """A home, a folder of notes and up to two programs that use them.

    Attributes:
        disk: the disk below the folder.
        provider, clock, workers, scheduler: the doubles of what a computer has besides.
        promises: what must be found again.
        notes, backups: the folders of notes and of backups.
        programs: the programs that run.
        chance: decides what an act does.
        broken: what did not hold, one sentence each.
        done: how often each act has ended in which way.
        history: what was done, one line for each event, by which two runs can be compared.
        reached: how often what an act is for has happened.
        undoable: a run of edits that can be undone, and the notes before and after it.
        undone: the run that is being undone, and the notes without it.
        unsure: the contents that a note may have since an undo of it has failed, by its path.
            What could not be flushed is taken back by a power failure.
        intruded: what another program has added in the middle of the act, by its name.
        added: what else another program has done then, and whether it is found afterwards.
        is_kill_planned: whether the program is to be killed in the event.
        before: the notes before the event, or before the last turn of it.
        storm_files: how many files a sync program writes at once.
        kept: what acts remember for others, such as the backups that were made.
    """

    def __init__(self, root: Path, disk: Disk) -> None:
        self.root, self.disk = root, disk
        self.notes, self.backups = root / "notes", root / "backups"
        self.clock, self.workers, self.promises = Clock(), Workers(), Promises()
        self.provider, disk.pass_time = Provider(self.clock.wait), self.clock.wait
        self.scheduler = Scheduler(self.provider.time.wait_for)
        self.programs: list[Assistant] = []
        self.chance = random.Random(0)
        self.broken: list[str] = []
        self.done: Counter[str] = Counter()
        self.history: list[str] = []
        self.reached: Counter[str] = Counter()
        self.undoable: tuple[str, dict[str, bytes], dict[str, bytes]] | None = None
        self.undone: tuple[str, dict[str, bytes]] | None = None
        self.unsure: dict[str, set[bytes | None]] = {}
        self.before: dict[str, bytes] = {}
        self.storm_files = 30
        self.kept = Kept()
        self.intruded: list[tuple[str, str]] = []
        self.added: list[tuple[str, Callable[[], bool]]] = []
        self.is_kill_planned = False
        self._fired = 0  # the number of faults before the act
        self._killed: int | None = None  # what decided the act that was killed last
        self._order, self._ids = random.Random(1), random.Random(1)
        self._thread = threading.get_ident()

    @contextmanager
    def open(self) -> Iterator["World"]:
        """Make the notes and start the program."""
        self.backups.mkdir()
        for name, text in _NOTES.items():
            (self.notes / name).parent.mkdir(parents=True, exist_ok=True)
            (self.notes / name).write_text(text, "utf-8")
        with ExitStack() as stack:
            self._install(stack)
            watch_home(self.promises)
            self.start().settings.set("vault.exclude", [*EXCLUDED])
            self.start()
            try:
                yield self
            finally:
                while self.programs:
                    with suppress(Exception, Killed):
                        self.programs.pop().close()

    def _install(self, stack: ExitStack) -> None:
        for double in (
            remember_nothing(),
            self.disk.install(),
            self.clock.install(),
            self.workers.install(),
            self.scheduler.install(),
            shuffle_listings(self.root, lambda: self._order),
            self.provider.install(),
            mock.patch("threading.excepthook", self._note_thread),
            mock.patch("app.customize.hooks.entry_points", return_value=_list_offers()),
            mock.patch("os.urandom", self._make_bytes),  # all ids are made of these two
            mock.patch("random._urandom", self._make_bytes),
        ):
            stack.enter_context(double)
        for name in ("app.faults", "chains.concurrency", "app.requests.keep"):
            logging.getLogger(name).addFilter(self._note_record)
            stack.callback(logging.getLogger(name).removeFilter, self._note_record)

    def take(self, step: Step) -> None:
        """Do one step, and look at what it left.

        The user may do again what was killed before.
        """
        again, self._killed = self._killed if step.may_repeat else None, None
        act_seed = step.seed if again is None else again
        self.chance = self.provider.chance = random.Random(act_seed)
        self.scheduler.chance = random.Random(f"order {step.seed}")
        self.workers.chance = random.Random(f"deaths {step.seed}")
        self._order = random.Random(f"listings {step.seed}")
        self._ids = random.Random(f"ids {step.seed}")
        self.undone = None
        act = step.mix.choose_act(self.chance)
        program = self.chance.choice(self.programs)
        name = name_act(act)
        fault = step.fault if again is None else step.fault_again
        how = self._do(name, act, program, step, fault)
        self.done[f"{name}: {how}"] += 1
        sent = sum(map(len, self.provider.bodies))
        self.history.append(f"{name}: {how} {self.clock.now_s:.3f} {sent} {self.disk.trace:08x}")
        self.broken += [f"{name} {how}: {one}" for one in self.provider.failures]
        self.provider.failures.clear()
        self._look(f"after {name} ({how})", how, opens_chats=step.opens_chats)
        self.promises.note_chats(is_done=how == "done")
        if how == "killed":
            self._killed = act_seed
        elif step.cuts_power(is_often=self.disk.skips_syncs) or (
            again is not None and step.may_lose_again
        ):
            self.reached["power failure behind what was done again"] += again is not None
            self._cut_power(name, random.Random(f"power {step.seed}"))

    def look_at_all(self) -> None:
        """Look for broken promises in everything."""
        self._look("at the end")

    def _look(self, when: str, how: str = "killed", *, opens_chats: bool = True) -> None:
        """Look for broken promises in what has changed since the last look.

        Args:
            when: when this is.
            how: how the last act has ended. Behind a kill, everything is looked at.
            opens_chats: whether to open the chats that have changed. Behind a kill, all are opened.
        """
        program, promises = self.programs[0], self.promises
        is_all = how == "killed"
        found = promises.find_broken(
            program,
            self.notes,
            None if is_all else self.disk.touched,
            opens_chats=opens_chats or is_all,
            is_done=how == "done",
        )
        self.disk.touched.clear()
        if len([one for one in self.programs if _keeps_index(one)]) > 1:
            found.append("two programs keep the index up to date")
        self.broken += [f"{when}: {one}" for one in found]

    def _cut_power(self, name: str, chance: random.Random) -> None:
        """Let the power fail behind an act. What was acknowledged is on the disk."""
        before = read_tree(self.notes)
        self.disk.cut_power(chance)
        self._start_again(self.programs)
        self.reached["power failure behind an act"] += 1
        now = read_tree(self.notes)
        if not self._are_as(now, before):
            self.broken.append(f"a power failure behind {name} leaves {now}, not {before}")
        when = f"after a power failure behind {name}"
        self._look(when)
        if not self.disk.damaged:
            lost = self.promises.find_lost_requests(self.programs[0])
            left = self.promises.find_remaining_requests(self.programs[0])
            texts = self._find_lost_texts()
            self.broken += [f"{when}: {one}" for one in (*lost, *left, *texts)]

    def _are_as(self, now: Mapping[str, bytes], before: Mapping[str, bytes]) -> bool:
        """Return whether each note is as before, or what it may be since an undo has failed."""
        different = {one for one in now.keys() | before.keys() if now.get(one) != before.get(one)}
        return all(now.get(one) in self.unsure.get(one, ()) for one in different)

    def _forget_rewritten_notes(self) -> None:
        """Be sure again of the notes that were written since an undo of them has failed."""
        before, unsure = self.before, self.unsure
        self.unsure = {path: texts for path, texts in unsure.items() if before.get(path) in texts}

    def _find_lost_texts(self) -> Iterator[str]:
        """Find the texts that are missing to undo an edit. Without them, no undo is possible."""
        journal = EditJournal(self.programs[0].paths.edits)
        for step in journal.read():
            if step.mark not in ("failed", "undone"):
                for text in filter(None, (step.before, step.after)):
                    try:
                        journal.load(text)
                    except UndoRefused as error:
                        yield f"the edit of {step.path} cannot be undone: {error}"

    def _do(self, name: str, act: Act, program: Assistant, step: Step, fault: Fault | None) -> str:
        """Do an act, and return how it ended."""
        self.before, fired = read_tree(self.notes), self.disk.fired.total()
        self._forget_rewritten_notes()
        self._fired = fired
        self.disk.begin(
            fault,
            random.Random(f"disk {step.seed}"),
            step.second_fault,
            kills_before_syncs=step.kills_before_syncs,
        )
        self.workers.dying = step.kills_child
        faults = filter(None, (fault, step.second_fault))
        self.is_kill_planned = self.disk.skips_syncs or any(
            one.kind in ("kill", "power") for one in faults
        )
        at = step.intrude_at or (BEHIND_LOCKS if self.disk.skips_locks else 0)
        if at and len(self.programs) > 1 and may_intrude(act):
            add_intrusion(self, name, program, at)
        try:
            act(self, program)
            self.scheduler.run_all()
            how = "done"
        except Killed:
            how = "killed"
        except EXPECTED as error:
            how = type(error).__name__
            if self._is_unexpected(error, fired):
                self.broken.append(f"{name} fails, though nothing went wrong: {error}")
        except Exception as error:  # noqa: BLE001 - each one is a bug
            how = "bug"
            if not self.disk.is_dead:
                self.broken.append(f"{name}: {type(error).__name__}: {error}")
        if self.disk.is_dead:
            how = "killed"
            self._restart(program)
        self.disk.end()
        if not self.programs:  # the start of the only one has failed
            self.start()
        self.workers.dying = False
        for value, entry in self.intruded:
            self.promises.add(value, entry)
        self.broken += [f"{name}: {one} is lost" for one, is_there in self.added if not is_there()]
        self.intruded.clear()
        self.added.clear()
        self.scheduler.drop_all()
        self.broken += [f"{name}: a task: {error!r}" for error in self.scheduler.failures]
        self.scheduler.failures.clear()
        return how

    def _is_unexpected(self, error: Exception, fired: int) -> bool:
        """Return whether a failure of the disk was reported, and none has happened.

        Args:
            error: what was reported.
            fired: the number of faults before the act.
        """
        reason = error.reason if isinstance(error, TurnFailed) else error
        is_sound = self.disk.fired.total() == fired and not self.disk.damaged
        return isinstance(reason, _STORAGE_ERRORS) and is_sound and not self.disk.is_dead

    def _note_thread(self, ended: threading.ExceptHookArgs) -> None:
        """Note a bug in a thread of the program. Threads of a killed one end as they should."""
        if not issubclass(ended.exc_type, Killed):
            self.broken.append(f"a thread: {ended.exc_type.__name__}: {ended.exc_value}")

    def _note_record(self, record: logging.LogRecord) -> bool:
        """Note a bug that the program has logged, and leave out that a thread was killed."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Killed) or self.disk.is_dead:
            return False
        is_sound = self.disk.fired.total() == self._fired and not self.disk.damaged
        is_lost = record.name == "app.requests.keep" and is_sound  # what was sent is always kept
        if record.levelno >= logging.ERROR or is_lost:
            self.broken.append(f"{record.getMessage()}: {type(error).__name__}: {error}")
        return True

    def _make_bytes(self, count: int) -> bytes:
        """Make the bytes of an id. A thread that an earlier test has left takes none of them."""
        is_ours = threading.get_ident() == self._thread
        return self._ids.randbytes(count) if is_ours else _URANDOM(count)

    # Starts and ends

    def start(self) -> Assistant:
        """Start a program, and open the notes."""
        home = self.root / "home"
        program = start_program(home)
        left = [one.name for one in list_tree(str(self.notes))[0] if _is_left(one.name)]
        if left and not self.disk.damaged:  # or the journal may lack the line that names the file
            self.broken.append(f"a start leaves {left[0]} in the notes")
        program.agents.connect(None, "all")
        self.programs.append(program)
        program.open_vault(self.notes, remember=False)
        return program

    def _restart(self, killed: Assistant) -> None:
        """Go on after a kill, with the programs that a power failure or the kill has left."""
        self._start_again(self.programs if self.disk.fault == "power" else [killed])
        self._check_edits()

    def _start_again(self, ended: list[Assistant]) -> None:
        """Start as many programs as were killed, on what they have left."""
        chats = str(self.root / "home" / "data" / "sessions")
        doubtful = (file for file in self.disk.list_doubtful() if str(file).startswith(chats))
        self.promises.torn |= {file.name.partition(".")[0] for file in doubtful}
        count = len(self.programs) or 1  # a kill at the start of the only one has left none
        for program in ended:
            with suppress(Exception, Killed):
                program.close()
        self.programs = [one for one in self.programs if one not in ended]
        self.scheduler.drop_all()
        self.disk.settle()
        forget_all()
        while len(self.programs) < count:
            self.start()

    def _check_edits(self) -> None:
        """Undo the edits of a killed event, or go on with its undo. All is as before then."""
        run, before = self.undone or (None, self.before)
        self.undone = None
        if self._are_as(now := read_tree(self.notes), before):
            self._doubt_unflushed(now)
            return
        try:
            self.programs[-1].edits.undo(run=run)
        except VaultError as error:
            if self.disk.damaged:
                return
            self.broken.append(f"the edits of a killed event cannot be undone: {error}")
        if run is None and self._has_lost_edit():  # so another run was undone
            return
        if not self._are_as(now := read_tree(self.notes), before):
            self.broken.append(f"undoing a killed event leaves the notes {now}, not {before}")

    def _doubt_unflushed(self, now: Mapping[str, bytes]) -> None:
        """Mark the notes that a killed undo has changed as unsure: it may not have flushed them.

        Args:
            now: the notes after the kill.
        """
        for path in self.before.keys() | now.keys():
            texts = {self.before.get(path), now.get(path)}
            if len(texts) > 1:
                self.unsure[path] = self.unsure.get(path, set()) | texts

    def _has_lost_edit(self) -> bool:
        """Return whether the journal reports that the disk has damaged a line of it."""
        journal = EditJournal(self.programs[-1].paths.edits)
        return bool(self.disk.damaged) and bool(journal.find_breaks())


@cache
def _list_offers() -> EntryPoints:
    """Return the hooks that packages offer. Reading all packages takes 10 ms."""
    return entry_points(group=HOOK_GROUP)


def _is_left(name: str) -> bool:
    """Return whether a file is a temporary one of an edit."""
    return name.startswith(".strata-") and name.endswith(".tmp")


def _keeps_index(program: Assistant) -> bool:
    vault = program.library.vault if program.library else None
    return vault is not None and vault._handle._owner_lock is not None
