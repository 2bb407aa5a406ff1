"""The user's long-term memories: a note with one list item per memory.

The note is included in every request. A model adds memories with the tool `remember`, and the user
must approve each of them. The user can list, edit and delete memories, or edit the file directly.
"""

import difflib
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Final

from app.errors import AppError, InvalidRequest, NotFound, storage_errors
from app.library.user_texts import UserText, UserTextFile
from chains.errors import ProposalOutdated, ToolFailed
from chains.tool import Proposal
from context.fixes import Command, Fix
from resources.system.files import lock_folder, make_private_folder

__all__ = ["ALREADY_REMEMBERED", "MemoryNote"]

_ITEM: Final = re.compile(r"[-*+] +(?P<text>.*\S)")
_HEADING: Final = "# Memories\n\n"
ALREADY_REMEMBERED: Final = "This is remembered already."


class MemoryNote:
    """Reads and changes a note with long-term memories. Thread-safe.

    Each list item is a memory. All other lines are preserved.

    Attributes:
        file: the file of the note, which need not exist.
    """

    def __init__(self, file: UserTextFile, where: str = "in all chats") -> None:
        """Create the object. The note is not read yet.

        Args:
            file: the file of the note, which need not exist.
            where: a phrase that names the chats in which the note is used, such as "in all chats".
        """
        self.file = file
        self._where = where
        self._lock = threading.Lock()

    def list_memories(self) -> tuple[str, ...]:
        """Return the long-term memories in the note, in order.

        Raises:
            InvalidRequest: the note cannot be read.
        """
        return tuple(text for _, text in _find_items(self._read().text))

    def propose(self, text: str) -> Proposal:
        """Propose to add a long-term memory to the note.

        Raises:
            ToolFailed: the memory is blank or already exists, or the note cannot be read.
        """
        memory = " ".join(text.split())
        try:
            before = self._read().text
            is_known = any(known == memory for _, known in _find_items(before))
            if is_known:
                self.file.flush()  # whoever wrote it may have failed to
        except AppError as error:
            raise ToolFailed(str(error)) from error
        if not memory:
            raise ToolFailed("There is nothing to remember.")
        if is_known:
            raise ToolFailed(ALREADY_REMEMBERED)
        start = before if before.strip() else _HEADING
        after = f"{start.rstrip()}{_choose_gap(start)}- {memory}\n"
        return Proposal(
            "memory",
            f"Remember {self._where}: {memory}",
            partial(self._apply, before, after),
            _compare(before, after, self.file.path.name),
        )

    def edit(self, number: int, text: str) -> None:
        """Replace the memory with the given number, counted from 1.

        Raises:
            NotFound: there is no memory with this number.
            InvalidRequest: the text is blank, or the note is too long or unreadable.
            StorageFailed: the note cannot be written.
        """
        if not text.strip():
            raise InvalidRequest("There is nothing to remember.")
        self._replace(number, f"- {' '.join(text.split())}")

    def forget(self, number: int) -> None:
        """Remove the memory with the given number, counted from 1.

        Raises:
            NotFound: there is no memory with this number.
            InvalidRequest: the note cannot be read.
            StorageFailed: the note cannot be written.
        """
        self._replace(number, None)

    def _replace(self, number: int, line: str | None) -> None:
        with self._lock_file():
            text = self._read().text
            items, lines = _find_items(text), text.split("\n")
            if not 1 <= number <= len(items):
                self.file.flush()  # whoever took it out may have failed to
                raise NotFound(
                    f"There is no memory {number}.",
                    hint=Fix("{} shows all.", Command("memory list")),
                )
            at = items[number - 1][0]
            lines[at : at + 1] = [] if line is None else [line]
            rest = "\n".join(lines)
            self.file.write("" if rest.strip() == _HEADING.strip() else rest)

    def _apply(self, before: str, after: str) -> str:
        try:
            with self._lock_file():
                if self._read().text != before:
                    raise ProposalOutdated
                self.file.write(after)
        except AppError as error:
            raise ToolFailed(str(error)) from error
        return "Remembered. Later turns begin with it."

    @contextmanager
    def _lock_file(self) -> Iterator[None]:
        """Prevent other threads and processes from changing memories during the `with` block."""
        folder = self.file.path.parent
        with self._lock, ExitStack() as stack:
            with storage_errors(self.file.path):
                make_private_folder(folder)
                stack.enter_context(lock_folder(folder))
            yield

    def _read(self) -> UserText:
        found = self.file.read()
        if found.problem:
            raise InvalidRequest(found.problem)
        return found


def _find_items(text: str) -> Sequence[tuple[int, str]]:
    lines = enumerate(text.split("\n"))
    return [(at, found["text"]) for at, line in lines if (found := _ITEM.fullmatch(line.rstrip()))]


def _choose_gap(text: str) -> str:
    """Return the line breaks to insert between text and the list item after it."""
    last = text.rstrip().rpartition("\n")[2]
    return "\n" if _ITEM.fullmatch(last) else "\n\n"


def _compare(before: str, after: str, name: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return "\n".join(lines)
