"""What the program has acknowledged, and what must hold after each step.

A step that succeeded must be found later. After one that failed or was killed, its object is as
before or as after, and never anything else.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from app.assistant import Assistant
from app.errors import AppError
from app.paths import Paths
from tests.support.simulator.listings import list_tree

__all__ = ["WILD", "Promises", "leave_out_places", "list_sent", "read_tree"]

WILD: Final = "wild"  # the folder of notes in which other programs write

_LINE: Final = re.compile(
    r"(Line|Made|Outside) \d+\.|# \w+|Water the Beds\.|(Beans|Peas) grow\.|See \[\[[\w/]+]]\.|"
)


class Promises:
    """What must be found again.

    Attributes:
        lines: the lines of each chat's file that were there after a successful step.
        gone: the chats that were deleted for good.
        gone_sent: the requests that were sent for them.
        chats: the lines of each chat's file at the last look.
        binned: whether a chat is in the bin, if that is sure.
        torn: the chats of which a line that nobody has acknowledged may be damaged: it was not
            flushed when the power failed, or could not be, and its process was killed.
        copied: the chats beside which another version may be. When both are merged, one place in
            the chat counts.
    """

    def __init__(self) -> None:
        self.lines: dict[str, set[bytes]] = defaultdict(set)
        self.gone: set[str] = set()
        self.gone_sent: set[str] = set()
        self.chats: dict[str, set[bytes]] = {}
        self.binned: dict[str, bool] = {}
        self.copied: set[str] = set()
        self.torn: set[str] = set()
        self._seen: dict[str, set[bytes]] = defaultdict(set)
        self._values: dict[str, _Value] = {}

    def watch(
        self,
        name: str,
        read: Callable[[Assistant], object],
        first: object,
        find_place: Callable[[Paths], Path],
    ) -> None:
        """Promise that a value is what the steps have made of it.

        Args:
            name: the name of the value.
            read: returns the value.
            first: the value at the beginning.
            find_place: returns the file or folder that holds it.
        """
        self._values[name] = _Value(read, find_place, [first])

    def read(self, name: str, program: Assistant) -> Any:
        """Return the present value of a name."""
        program.settings.refresh()
        return self._values[name].read(program)

    def read_all(self, program: Assistant) -> dict[str, object]:
        """Return the present values of all names."""
        program.settings.refresh()
        return {name: value.read(program) for name, value in self._values.items()}

    def allow(self, name: str, *values: object, least: Iterable[object] = ()) -> None:
        """Say what a value may be. Without values, it may be any collection with some entries.

        Args:
            name: the name of the value.
            values: the values that it may have.
            least: the entries that it must have.
        """
        value = self._values[name]
        value.allowed, value.least, value.is_new = list(values), frozenset(least), True

    def add(self, name: str, entry: object) -> None:
        """Promise an entry that another program has added while a value changed."""
        self.allow(name, least={*self.find_sure(name), entry})

    def find_sure(self, name: str) -> set[object]:
        """Return the entries of a value that it must have, whatever else it may be."""
        value = self._values[name]
        kept = [set(one) for one in value.allowed if isinstance(one, tuple)]
        return set.intersection(*kept) if kept else set(value.least)

    def change(
        self, name: str, after: object, program: Assistant, do: Callable[[], object]
    ) -> None:
        """Do what changes a value. If it fails, the value is as before or as after."""
        before = self.read(name, program)
        self.allow_also(name, before, after)
        do()
        self.allow(name, after)

    def allow_also(self, name: str, *values: object) -> None:
        """Accept other values, too, because a step has not succeeded yet.

        Where any collection with certain entries was accepted, an entry stays certain only if all
        the other values have it.
        """
        value = self._values[name]
        if value.allowed:
            self.allow(name, *value.allowed, *values)
        else:
            collections = [frozenset(one) for one in values if isinstance(one, tuple)]
            self.allow(name, least=value.least.intersection(*collections))

    def note_chats(self, *, is_done: bool) -> None:
        """Take the lines that the last step has written into chats as acknowledged.

        Args:
            is_done: whether the step has succeeded. What one that failed or was killed has written
                may not be on the disk.
        """
        for session, lines in self.chats.items():
            new = lines - self._seen[session]
            self._seen[session] |= new
            if is_done:
                self.lines[session] |= new

    def find_broken(
        self,
        assistant: Assistant,
        notes: Path,
        touched: Collection[str] | None,
        *,
        opens_chats: bool = True,
        is_done: bool = False,
    ) -> list[str]:
        """Return one sentence for each promise that does not hold.

        Args:
            assistant: a program.
            notes: the folder of notes.
            touched: the files that have changed since the last look, or None if all may have.
            opens_chats: whether to open the chats that have changed, which takes the most time.
            is_done: whether the last step has succeeded, so that what it has changed is promised.
        """
        assistant.settings.refresh()
        paths, is_all = assistant.paths, touched is None
        chats = [path for path in touched or () if path.startswith(str(paths.sessions))]
        broken = self._read_changed(assistant, chats, opens_chats) if chats or is_all else []
        for name, value in self._values.items():
            if is_all or value.may_differ(paths, touched or ()):
                broken += value.find_broken(name, assistant, is_done=is_done)
        return [*broken, *_find_halves(notes)]

    def _read_changed(
        self, assistant: Assistant, changed: Iterable[str], opens_chats: bool
    ) -> list[str]:
        """Read and open the chats whose files have changed, or all if none is named."""
        named = {Path(path).name.partition(".")[0] for path in changed}
        before, self.chats = self.chats, _read_chats(assistant, named)
        if named:
            kept = {one: lines for one, lines in before.items() if one not in named}
            self.chats = {**kept, **self.chats}
        opened = _list_chats(assistant, named) if opens_chats else []
        return [
            *self._find_lost_lines(self.chats),
            *self._find_remains(assistant.paths.sessions),
            *self._find_misplaced(assistant),
            *_find_unreadable(assistant, opened, self.torn),
        ]

    def _find_lost_lines(self, chats: Mapping[str, set[bytes]]) -> list[str]:
        broken = list[str]()
        for session, lines in self.lines.items():
            promised = leave_out_places(lines) if session in self.copied else lines
            lost = promised - chats.get(session, set())
            if lost and session not in self.gone:
                broken.append(f"chat {session} has lost {len(lost)} lines: {min(lost)[:200]!r}")
        return [*broken, *(f"chat {one} came back" for one in self.gone & chats.keys())]

    def _find_remains(self, folder: Path) -> Iterator[str]:
        """Find what is left of the chats that were deleted for good."""
        if self.gone:
            for file in list_tree(str(folder))[0]:
                if file.name.partition(".")[0] in self.gone:
                    yield f"of a chat that was deleted for good, {file.name} is left"

    def _find_misplaced(self, assistant: Assistant) -> Iterator[str]:
        """Find the chats that are on the list instead of in the bin, or in the bin instead."""
        for session, is_binned in self.binned.items():
            is_listed = (assistant.paths.sessions / f"{session}.jsonl").exists()
            if is_listed is is_binned and session not in self.gone:
                place, wrong = ("bin", "list") if is_binned else ("list", "bin")
                yield f"chat {session} was put into the {place}, and is on the {wrong}"

    def find_remaining_requests(self, assistant: Assistant) -> list[str]:
        """Return one sentence for each request of a deleted chat alone that is kept."""
        files = list_tree(str(assistant.paths.sessions))[0] if self.gone_sent else []
        held = b"".join(Path(file.path).read_bytes() for file in files)
        sent = assistant.sessions.sent
        gone = (one for one in sorted(self.gone_sent) if one.encode() not in held)
        left = [one for one in gone if sent.load(one) is not None]
        return (
            [f"{len(left)} requests of deleted chats are left, such as {left[0]}"] if left else []
        )

    def find_lost_requests(self, assistant: Assistant) -> list[str]:
        """Return one sentence for each request that a chat refers to and that is not kept."""
        wanted = {one for lines in self.lines.values() for one in list_sent(lines)}
        sent = assistant.sessions.sent
        lost = [one for one in sorted(wanted) if sent.load(one) is None]
        return [f"{len(lost)} kept requests are lost, such as {lost[0]}"] if lost else []


@dataclass
class _Value:
    """A value that a program stores, and what it may be.

    Attributes:
        is_new: whether it was not looked at since what it may be has changed.
    """

    read: Callable[[Assistant], object]
    find_place: Callable[[Paths], Path]
    allowed: list[object]
    least: frozenset[object] = frozenset()
    is_new: bool = True

    def may_differ(self, paths: Paths, touched: Collection[str]) -> bool:
        """Return whether a look may find something else than the last one."""
        place = str(self.find_place(paths))
        return self.is_new or any(path.startswith(place) for path in touched)

    def find_broken(self, name: str, program: Assistant, *, is_done: bool) -> Iterator[str]:
        is_promised, self.is_new = self.is_new and is_done, False
        try:
            value = self.read(program)
        except (AppError, ValueError) as error:  # of a file that is read as it is
            yield f"the {name} cannot be read: {error}"
            return
        if self.allowed and value not in self.allowed:
            yield f"the {name}: {value!r} is none of {self.allowed!r}"
        elif not self.allowed:
            assert isinstance(value, tuple)
            if lost := self.least - set(value):
                yield f"the {name}: {value!r} lacks {lost!r}"
            if is_promised:  # what a failed step has written may not be on the disk
                self.allowed = [value]


def _list_chats(assistant: Assistant, named: Collection[str]) -> list[str]:
    """Return the chats that are listed, or those of some names whose files are there."""
    if named:  # a copy that was restored lately is merged later, and no chat of its own
        folder = assistant.paths.sessions
        chats = [one for one in named if " " not in one]
        return sorted(one for one in chats if (folder / f"{one}.jsonl").exists())
    return sorted({info.session for info in assistant.list_sessions()})


def _find_unreadable(
    assistant: Assistant, sessions: Iterable[str], torn: Collection[str]
) -> Iterator[str]:
    for session in sessions:
        try:
            problems = assistant.sessions.read(session).problems
            deque(assistant.history.transcript(session).items, maxlen=0)
        except AppError as error:
            yield f"chat {session} does not open: {error}"
        else:
            if problems and session not in torn:
                yield f"chat {session} has problems: {problems}"


def leave_out_places(lines: Iterable[bytes]) -> set[bytes]:
    """Return lines of a chat without its places: of those in two versions, the newest counts."""
    return {line for line in lines if b'"type":"leaf"' not in line}


def list_sent(lines: Iterable[bytes]) -> set[str]:
    """Return the references to kept requests in the lines of a chat."""
    key = b'"sent":"'
    return {line.partition(key)[2][:32].decode() for line in lines if key in line}


def read_tree(notes: Path) -> dict[str, bytes]:
    """Return the files of a folder with their contents, without those of `WILD`."""
    found, length = {}, len(str(notes)) + 1
    for path in (file.path for file in list_tree(str(notes), (WILD,))[0]):
        if not path.endswith(".tmp"):
            with open(path, "rb") as file:
                found[path[length:]] = file.read()
    return found


def _read_chats(assistant: Assistant, named: Collection[str]) -> dict[str, set[bytes]]:
    """Return the whole lines of chats, on the list and in the bin. Without names, of all."""
    found: dict[str, set[bytes]] = defaultdict(set)
    folder = assistant.paths.sessions
    for path in [*folder.glob("*.jsonl"), *folder.glob("bin/*.jsonl")]:
        session = path.name.partition(".")[0]
        is_chat = not path.name.endswith(".gone.jsonl") and " " not in path.name  # or a copy
        if is_chat and (not named or session in named):
            whole = path.read_bytes().rpartition(b"\n")[0]  # the last line may be cut off
            # Zeros may stand before a line, for one that nobody has acknowledged.
            found[session] |= {line.lstrip(b"\0") for line in whole.splitlines()}
    return dict(found)


@lru_cache(maxsize=1_000)
def _find_wrong_line(content: bytes) -> str:
    """Return a line that no step can have written into a note, or nothing."""
    lines = content.decode("utf-8", "replace").split("\n")
    return next((line for line in lines if not _LINE.fullmatch(line)), "")


def _find_halves(notes: Path) -> list[str]:
    """Return what no step can have written into the notes."""
    broken = []
    for name, content in read_tree(notes).items():
        if name.endswith(".md") and name != "Private.md":
            wrong = _find_wrong_line(content)
            broken += [f"{name} holds half a line: {wrong!r}"] if wrong else []
        elif not name.endswith((".md", ".tmp")):  # the next edit or start removes what is left
            broken.append(f"{name} is left in the notes")
    return broken
