"""What is done with what Strata stores: backups, synced copies, projects, pins, kept requests."""

import json
import shutil
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.assistant import Assistant
from app.backup.archive import ArchiveWriter
from app.backup.restore import Restorer, RestoreReport
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from tests.support.sessions.synced_folders import make_old
from tests.support.simulator.disk import Killed
from tests.support.simulator.promises import WILD, Promises, leave_out_places, list_sent
from vault.review.findings import Finding, FindingNote

if TYPE_CHECKING:
    from tests.support.simulator.world import World

__all__ = ["EXCLUDED", "HOME_ACTS", "Kept", "start_program", "watch_home"]

EXCLUDED: Final = (f"{WILD}/hidden/",)
_MERGED: Final = ("memories", "pins", "dismissed findings")
_OVERRIDES: Final = {"chat.model": "openai/gpt-4o", "chat.titles": False}


@dataclass
class Backup:
    """A backup, and what it must hold.

    Attributes:
        chats: the lines of each chat.
        values: what `Promises` watches.
        pins: the ids of the pinned answers, whose titles may change.
    """

    path: Path
    chats: Mapping[str, set[bytes]]
    values: Mapping[str, object]
    pins: frozenset[str]


@dataclass
class Kept:
    """What acts remember for others."""

    backups: list[Backup] = field(default_factory=list)
    numbers: int = 0

    def count(self) -> int:
        """Return a number that was not returned before."""
        self.numbers += 1
        return self.numbers


def start_program(home: Path) -> Assistant:
    """Build the program on a home."""
    paths = Paths(home / "config", home / "data", home / "state", home / "cache")
    return build(paths, _OVERRIDES)


def watch_home(promises: Promises) -> None:
    """Promise that what is stored of the user is found again."""
    for name, read, first, place in (
        ("budget", _read_budget, 128_000, "settings_file"),
        (
            "exclusions",
            lambda one: tuple(one.settings.values.vault_exclude),
            EXCLUDED,
            "settings_file",
        ),
        ("memories", lambda one: one.customization.memories.list_memories(), (), "memories"),
        ("pins", lambda one: tuple(pin.answer.title for pin in one.pinned.list()), (), "pinned"),
        ("projects", _read_projects, (), "projects"),
        ("dismissed findings", _read_dismissed, (), "reviews"),
    ):
        promises.watch(name, read, first, attrgetter(place))


def _read_budget(program: Assistant) -> object:
    return program.settings.get("autoCompactThreshold")


def _read_exclusions(program: Assistant) -> object:
    return tuple(program.settings.values.vault_exclude)


def _read_projects(program: Assistant) -> tuple[object, ...]:
    found = ((one, program.projects.settings(one.name)) for one in program.projects.list())
    return tuple((one.name, one.title, settings.exclude) for one, settings in found)


def _read_dismissed(program: Assistant) -> tuple[str, ...]:
    keys: list[str] = []
    for file in program.paths.reviews.glob("*.json"):
        keys += json.loads(file.read_bytes())["dismissed"]
    return tuple(keys)


# Pins, projects, dismissed findings


def _pin(world: "World", program: Assistant) -> None:
    pins, before = program.pinned.list(), world.promises.read("pins", program)
    assert isinstance(before, tuple)
    kind = world.chance.choice(["add", "rename", "move", "remove", "look"]) if pins else "add"
    at, title = world.chance.randrange(len(pins) or 1), f"Pin {world.chance.randrange(1000)}"
    rest = (*before[:at], *before[at + 1 :])
    after, do = {
        "add": ((*before, title), lambda: program.pinned.add("open tasks", title=title)),
        "rename": (
            (*before[:at], title, *before[at + 1 :]),
            lambda: program.pinned.rename(pins[at].answer.id, title),
        ),
        "move": ((*before[at : at + 1], *rest), lambda: program.pinned.move(pins[at].answer.id, 0)),
        "remove": (rest, lambda: program.pinned.remove(pins[at].answer.id)),
        "look": (before, lambda: program.pinned.look(pins[at].answer.id)),
    }[kind]
    if after == before:  # what a killed program has added may be there, and not be flushed
        do()
    else:
        world.promises.change("pins", after, program, do)
    world.reached[f"pin: {kind}"] += 1


def _change_project(world: "World", program: Assistant) -> None:
    projects, number = program.projects, world.chance.randrange(1000)
    settings = projects.settings("area")
    title, excluded = settings.title or "area", settings.exclude
    kind = world.chance.choice(["title", "exclude", "remove"]) if settings.is_listed else "add"
    do = {
        "add": lambda: projects.add("area"),
        "title": lambda: projects.rename("area", f"Area {number}"),
        "exclude": lambda: projects.change("area", "exclude", [f"Old{number}/"]),
        "remove": lambda: projects.remove("area"),
    }[kind]
    if kind == "title":
        title = f"Area {number}"
    elif kind == "exclude":
        excluded = (f"Old{number}/",)
    after = () if kind == "remove" else (("area", title, excluded),)
    world.promises.change("projects", after, program, do)


def _dismiss(world: "World", program: Assistant) -> None:
    before = world.promises.read("dismissed findings", program)
    assert isinstance(before, tuple)
    note = FindingNote(f"Note {world.chance.randrange(20)}.md", "Note")
    finding = Finding("orphan", (note,), "Nothing links to it.", "", 1.0)
    rest = tuple(key for key in before if key != finding.key)
    if finding.key in before:
        world.promises.change(
            "dismissed findings", rest, program, lambda: program.review.restore([finding])
        )
    else:
        after = (*before, finding.key)
        world.promises.change(
            "dismissed findings", after, program, lambda: program.review.dismiss(finding)
        )


# Backups


def _back_up(world: "World", program: Assistant) -> None:
    path = world.backups / f"{world.kept.count()}.zip"
    chats = {session: set(lines) for session, lines in world.promises.chats.items()}
    backup = Backup(path, chats, world.promises.read_all(program), _list_pins(program))
    writer = ArchiveWriter(program.paths, program.settings, program.sessions.state)
    deque(writer.write(path, CancelToken()), maxlen=0)
    world.kept.backups = [*world.kept.backups[-2:], backup]


def _pick_backup(world: "World") -> Backup | None:
    for backup in world.kept.backups:
        if not backup.path.exists():
            world.broken.append(f"the backup {backup.path.name} is lost")
    return world.chance.choice(world.kept.backups) if world.kept.backups else None


def _restore_elsewhere(world: "World", program: Assistant) -> None:
    """Restore a backup into a new home, which is then equal to what was backed up."""
    if (backup := _pick_backup(world)) is None:
        return
    home = world.root / f"other{world.kept.count()}"
    other = start_program(home)
    try:
        report = _restore(other, backup.path, merges=False)
        other.open_vault(world.notes, remember=False)
        if not report.failed and not world.disk.is_dead:
            world.reached["restored"] += 1
            _compare(world, other, backup)
    finally:
        with suppress(Exception, Killed):
            other.close()
        shutil.rmtree(home, ignore_errors=True)  # a failure may have left none
        world.disk.forget(home)


def _restore(program: Assistant, archive: Path, *, merges: bool) -> RestoreReport:
    chats = program.sessions
    restorer = Restorer(program.paths, program.settings, chats, chats.state)
    *_, report = restorer.restore(archive, merges=merges, cancel=CancelToken())
    assert isinstance(report, RestoreReport)
    return report


def _compare(world: "World", other: Assistant, backup: Backup) -> None:
    stored = Promises()
    stored.find_broken(other, world.notes, None)
    for session, lines in backup.chats.items():
        if lost := lines - stored.chats.get(session, set()):
            world.broken.append(f"a restored chat {session} lacks {min(lost)[:200]!r}")
    other.settings.reload()
    for name, value in world.promises.read_all(other).items():
        if value != backup.values[name]:
            world.broken.append(f"restored {name}: {value!r}, not {backup.values[name]!r}")


def _merge_backup(world: "World", program: Assistant) -> None:
    """Restore a backup into the home. What was deleted since comes back."""
    if (backup := _pick_backup(world)) is None:
        return
    promises = world.promises
    promises.gone -= backup.chats.keys()
    promises.gone_sent.clear()
    promises.binned.clear()
    for session in backup.chats:  # of the places in two versions of a chat, only the newest counts
        promises.lines[session] = leave_out_places(promises.lines[session])
    before = promises.read_all(program)
    for name in filter(backup.values.get, _MERGED):  # of the others, the backup says nothing
        promises.allow(name, least=promises.find_sure(name))
    for name in ("projects", "budget"):
        promises.allow_also(name, before[name], backup.values[name])
    promises.allow("exclusions", least=promises.find_sure("exclusions"))
    report = _restore(program, backup.path, merges=True)
    if report.failed or world.disk.is_dead:
        return
    world.reached["merged"] += 1
    if lost := backup.pins - _list_pins(program):
        world.broken.append(f"merged pins lack {lost!r}")
    for name in ("memories", "dismissed findings"):
        wanted = {*_as_entries(before[name]), *_as_entries(backup.values[name])}
        if gone := wanted - set(_as_entries(promises.read(name, program))):
            world.broken.append(f"merged {name} lack {gone!r}")
    for session, lines in backup.chats.items():
        promises.lines[session] |= leave_out_places(lines)


def _list_pins(program: Assistant) -> frozenset[str]:
    return frozenset(pin.answer.id for pin in program.pinned.list())


def _as_entries(value: Any) -> Iterable[object]:
    assert isinstance(value, tuple)
    return value


def _sync_chat(world: "World", program: Assistant) -> None:
    """Let a sync program put the version of another machine beside a chat, and list the chats."""
    files = [one for one in program.paths.sessions.glob("*.jsonl") if one.stem.isalnum()]
    if not files:
        return
    file = world.chance.choice(sorted(files))
    whole = file.read_bytes().rpartition(b"\n")[0]  # the last line may be cut off
    lines = [line + b"\n" for line in whole.split(b"\n")]
    at = next((n for n in range(len(lines) - 1, 0, -1) if b'"type":"message"' in lines[n]), 0)
    if not at:
        return
    entry = json.loads(lines[at])
    entry["id"] = f"{world.chance.randrange(1 << 32):08x}"
    other = json.dumps(entry, separators=(",", ":"), ensure_ascii=False).encode()
    copy = file.with_name(f"{file.stem} (conflicted copy {world.kept.count()}).jsonl")
    promises = world.promises
    promises.copied.add(file.stem)
    copy.write_bytes(b"".join([*lines[:at], other, b"\n"]))
    make_old(copy)
    world.disk.adopt_note(copy)
    program.list_sessions()
    files = [one for one in file.parent.rglob(f"{file.stem}*") if one.is_file()]  # or in the bin
    merged = b"".join(one.read_bytes() for one in files if one.exists())
    if entry["id"].encode() not in merged and file.stem not in promises.gone:
        world.broken.append(f"a copy of {file.name} went without its entry {entry['id']}")
    if len([*file.parent.rglob(f"{file.stem}*.jsonl")]) <= 1:  # or two versions are in the bin
        promises.lines[file.stem] = leave_out_places(promises.lines[file.stem])
        promises.copied.discard(file.stem)
    world.reached["copy merged"] += not copy.exists()


def _look_at_sent(world: "World", program: Assistant) -> None:
    """Read kept requests again. Each is what the provider received.

    A line that nobody has acknowledged, as of a copy that failed, may name one that is gone.
    """
    promises = world.promises
    references = [one for lines in promises.chats.values() for one in list_sent(lines)]
    promised = {one for lines in promises.lines.values() for one in list_sent(lines)}
    for reference in world.chance.sample(sorted(references), min(3, len(references))):
        found = program.sessions.sent.load(reference)
        if found is None or not found.is_exact:
            is_lost = reference in promised and (found is None or not found.gone)
            if is_lost and not world.disk.damaged:
                world.broken.append(f"the kept request {reference} is lost")
        elif found.wire is None:
            world.reached["kept request that was not sent"] += 1
        elif found.wire.text not in world.provider.bodies:
            world.broken.append(f"the kept request {reference} is not what was sent")
        else:
            world.reached["kept request"] += 1


HOME_ACTS = {
    _pin: 12,
    _change_project: 8,
    _dismiss: 9,
    _back_up: 5,
    _restore_elsewhere: 4,
    _merge_backup: 8,
    _sync_chat: 6,
    _look_at_sent: 6,
}
