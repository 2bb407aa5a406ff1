"""User-defined slash commands: Markdown files in `<config>/commands`.

A file's name is the command's name. Its text may contain placeholders:

    {activeNote}    the note that is open in the note panel
    {selection}     the lines that are selected in the open note
    {[[Note]]}      a note by its name
    {#tag}          all notes with a tag

A placeholder is replaced with the note's path or the tag, and the notes are attached to the
message. In this way, models receive their text as data, not as part of the question.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.errors import InvalidRequest, NotFound
from chains.request.ask import Selection

__all__ = ["MessageDraft", "OpenPlace", "UserCommand", "expand_command", "list_user_commands"]

MOST_CHARS: Final = 100_000
_NAME: Final = re.compile(r"[A-Za-z][\w-]*")
_PLACE: Final = re.compile(r"\{(activeNote|selection|\[\[[^\[\]{}\n]+\]\]|#[^\s{}#]+)\}")


@dataclass(frozen=True)
class UserCommand:
    """A user-defined slash command.

    Attributes:
        description: what it does, or an empty string if its text says so.
    """

    name: str
    text: str
    description: str = ""

    @property
    def help(self) -> str:
        """The description of the command, or the first line of its text."""
        return self.description or next(
            (line.strip("# ") for line in self.text.splitlines() if line.strip()), ""
        )


@dataclass(frozen=True)
class OpenPlace:
    """The note that is open in the window.

    Attributes:
        note: the path of the note, or an empty string.
        lines: the first and last selected line, counted from 1, or None.
    """

    note: str = ""
    lines: tuple[int, int] | None = None


@dataclass(frozen=True)
class MessageDraft:
    """A message built from a user-defined command.

    Attributes:
        text: the text of the message.
        attach: the paths of attached notes, and tags with their `#`.
        selections: the attached line ranges.
    """

    text: str
    attach: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = field(default_factory=tuple)


def list_user_commands(folder: Path) -> tuple[UserCommand, ...]:
    """List the user-defined commands in a folder, sorted by file name.

    Files with unsuitable names or without readable text are skipped.
    """
    try:
        files = sorted(folder.glob("*.md"))
    except OSError:
        return ()
    found = []
    for file in files:
        if _NAME.fullmatch(file.stem) and file.is_file():
            try:
                text = file.read_text("utf-8-sig")
            except (OSError, ValueError):
                continue
            found.append(UserCommand(file.stem.lower(), text[:MOST_CHARS].strip()))
    return tuple(command for command in found if command.text)


def expand_command(
    command: UserCommand, argument: str, place: OpenPlace, resolve: Callable[[str], str | None]
) -> MessageDraft:
    """Build the message of a user-defined command.

    Args:
        argument: the text typed after the command's name, which is appended to the message.
        place: the open note and the selected lines.
        resolve: resolves a note name to a path, or returns None.

    Raises:
        InvalidRequest: a placeholder needs an open note or selected lines.
        NotFound: a placeholder names a note that does not exist.
    """
    attach: dict[str, None] = {}
    selections: dict[Selection, None] = {}

    def replace(found: re.Match[str]) -> str:
        wanted = found[1]
        if wanted.startswith("#"):
            attach[wanted] = None
            return wanted
        if wanted == "selection":
            selection = _require_selection(command, place)
            selections[selection] = None
            return f"{selection.path} (lines {selection.first} to {selection.last})"
        path = _find_note(command, wanted, place, resolve)
        attach[path] = None
        return path

    text = _PLACE.sub(replace, command.text)
    text = f"{text}\n\n{argument}" if argument else text
    return MessageDraft(text, tuple(attach), tuple(selections))


def _find_note(
    command: UserCommand, wanted: str, place: OpenPlace, resolve: Callable[[str], str | None]
) -> str:
    if wanted == "activeNote":
        if not place.note:
            raise InvalidRequest(f"/{command.name} needs an open note.", hint="Open one first.")
        return place.note
    name = wanted[2:-2].strip()
    path = resolve(name)
    if path is None:
        raise NotFound(f"/{command.name} names the note {name}, which does not exist.")
    return path


def _require_selection(command: UserCommand, place: OpenPlace) -> Selection:
    if not place.note or place.lines is None:
        raise InvalidRequest(
            f"/{command.name} needs selected lines.", hint="Select lines in the open note first."
        )
    return Selection(place.note, *place.lines)
