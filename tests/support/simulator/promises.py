"""What the program has acknowledged, and what must hold after each step.

A step that succeeded must be found later. After one that failed or was killed, its object is as
before or as after, and never anything else.
"""

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.assistant import Assistant
from app.errors import AppError

__all__ = ["Promises", "read_tree"]

_LINE: Final = re.compile(r"(Line|Made|Outside) \d+\.|# \w+|Water the Beds\.|(Beans|Peas) grow\.|")


@dataclass
class Promises:
    """What must be found again.

    Attributes:
        lines: the lines of each chat's file that were there after a successful step.
        gone: the chats that were deleted for good.
        settings: what each setting may be: one value, or two after a step that failed.
        memories: what the list of memories may be.
    """

    lines: dict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    gone: set[str] = field(default_factory=set)
    settings: dict[str, list[object]] = field(default_factory=dict)
    memories: list[tuple[str, ...]] = field(default_factory=lambda: [()])
    _chats: dict[str, set[bytes]] = field(default_factory=dict)

    def note_chats(self) -> None:
        """Take everything that the files of the chats hold as acknowledged."""
        for session, lines in self._chats.items():
            self.lines[session] |= lines

    def find_broken(
        self, assistant: Assistant, notes: Path, touched: Collection[str] | None
    ) -> list[str]:
        """Return one sentence for each promise that does not hold.

        Args:
            assistant: a program.
            notes: the folder of notes.
            touched: the files that have changed since the last look, or None if all may have.
        """
        assistant.settings.refresh()
        folder = str(assistant.paths.sessions)
        changed = [path for path in touched or () if path.startswith(folder)]
        broken = self._read_changed(assistant, changed) if changed or touched is None else []
        for key, allowed in self.settings.items():
            if (value := assistant.settings.get(key)) not in allowed:
                broken.append(f"the setting {key} is {value!r} and not one of {allowed!r}")
        memories = assistant.customization.memories.list_memories()
        if memories not in self.memories:
            broken.append(f"the memories are {memories} and none of {self.memories}")
        return [*broken, *_find_halves(notes)]

    def _read_changed(self, assistant: Assistant, changed: Iterable[str]) -> list[str]:
        """Read and open the chats whose files have changed, or all if none is named."""
        named = {Path(path).name.partition(".")[0] for path in changed}
        before, self._chats = self._chats, _read_chats(assistant, named)
        if named:
            kept = {one: lines for one, lines in before.items() if one not in named}
            self._chats = {**kept, **self._chats}
        listed = {info.session for info in assistant.list_sessions()}
        opened = sorted(listed & named if named else listed)
        return [*self._find_lost_lines(self._chats), *_find_unreadable(assistant, opened)]

    def _find_lost_lines(self, chats: Mapping[str, set[bytes]]) -> list[str]:
        broken = list[str]()
        for session, lines in self.lines.items():
            lost = lines - chats.get(session, set())
            if lost and session not in self.gone:
                broken.append(f"chat {session} has lost {len(lost)} lines: {min(lost)[:200]!r}")
        return [*broken, *(f"chat {one} came back" for one in self.gone & chats.keys())]


def _find_unreadable(assistant: Assistant, sessions: Iterable[str]) -> Iterator[str]:
    for session in sessions:
        try:
            problems = assistant.sessions.read(session).problems
            deque(assistant.history.transcript(session).items, maxlen=0)
        except AppError as error:
            yield f"chat {session} does not open: {error}"
        else:
            if problems:
                yield f"chat {session} has problems: {problems}"


def read_tree(notes: Path) -> dict[str, bytes]:
    """Return the files of a folder with their contents."""
    return {
        path.relative_to(notes).as_posix(): path.read_bytes()
        for path in sorted(notes.rglob("*"))
        if path.is_file() and path.suffix != ".tmp"
    }


def _read_chats(assistant: Assistant, named: Collection[str]) -> dict[str, set[bytes]]:
    """Return the whole lines of chats, on the list and in the bin. Without names, of all."""
    found: dict[str, set[bytes]] = defaultdict(set)
    folder = assistant.paths.sessions
    for path in [*folder.glob("*.jsonl"), *folder.glob("bin/*.jsonl")]:
        session = path.name.partition(".")[0]
        if not path.name.endswith(".gone.jsonl") and (not named or session in named):
            whole = path.read_bytes().rpartition(b"\n")[0]  # the last line may be cut off
            found[session] |= set(whole.splitlines())
    return dict(found)


def _find_halves(notes: Path) -> list[str]:
    """Return what no step can have written into the notes."""
    broken = []
    for name, content in read_tree(notes).items():
        lines = content.decode("utf-8", "replace").split("\n")
        if name.endswith(".md") and name != "Private.md":
            wrong = [line for line in lines if not _LINE.fullmatch(line)]
            broken += [f"{name} holds half a line: {wrong[0]!r}"] if wrong else []
        elif not name.endswith((".md", ".tmp")):  # the next edit or start removes what is left
            broken.append(f"{name} is left in the notes")
    return broken
