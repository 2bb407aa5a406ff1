"""What the program has acknowledged, and what must hold after each step.

A step that succeeded must be found later. After one that failed or was killed, its object is as
before or as after, and never anything else.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
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
    _opened: dict[str, set[bytes]] = field(default_factory=dict)

    def note_chats(self, assistant: Assistant) -> None:
        """Take everything that the files of the chats hold as acknowledged."""
        for session, lines in _read_chats(assistant).items():
            self.lines[session] |= lines

    def open_all_again(self) -> None:
        """Open all chats at the next look, and not only those that have changed."""
        self._opened.clear()

    def find_broken(self, assistant: Assistant, notes: Path) -> list[str]:
        """Return one sentence for each promise that does not hold."""
        assistant.settings.refresh()
        chats = _read_chats(assistant)
        broken = [*self._find_lost_lines(chats), *self._find_unreadable(assistant, chats)]
        for key, allowed in self.settings.items():
            if (value := assistant.settings.get(key)) not in allowed:
                broken.append(f"the setting {key} is {value!r} and not one of {allowed!r}")
        memories = assistant.customization.memories.list_memories()
        if memories not in self.memories:
            broken.append(f"the memories are {memories} and none of {self.memories}")
        return [*broken, *_find_halves(notes)]

    def _find_lost_lines(self, chats: Mapping[str, set[bytes]]) -> list[str]:
        broken = list[str]()
        for session, lines in self.lines.items():
            lost = lines - chats.get(session, set())
            if lost and session not in self.gone:
                broken.append(f"chat {session} has lost {len(lost)} lines: {min(lost)[:200]!r}")
        return [*broken, *(f"chat {one} came back" for one in self.gone & chats.keys())]

    def _find_unreadable(
        self, assistant: Assistant, chats: Mapping[str, set[bytes]]
    ) -> Iterator[str]:
        """Open the chats on the list that have changed."""
        for session in [info.session for info in assistant.list_sessions()]:
            if self._opened.get(session) == chats.get(session):
                continue
            self._opened[session] = chats.get(session, set())
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


def _read_chats(assistant: Assistant) -> dict[str, set[bytes]]:
    """Return the whole lines of all chats, on the list and in the bin."""
    found: dict[str, set[bytes]] = defaultdict(set)
    folder = assistant.paths.sessions
    for path in [*folder.glob("*.jsonl"), *folder.glob("bin/*.jsonl")]:
        if not path.name.endswith(".gone.jsonl"):
            whole = path.read_bytes().rpartition(b"\n")[0]  # the last line may be cut off
            found[path.name.partition(".")[0]] |= set(whole.splitlines())
    return found


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
