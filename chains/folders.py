"""List the top two levels of the vault for an agent's prompt.

The list is stored with the first agent turn of a session and reused by later turns. The prompt
therefore stays the same when notes are added, so that providers can cache it.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from context.log.entries import Entry, SegmentsEntry
from context.prompt import PromptSection

__all__ = [
    "FOLDER",
    "add_names",
    "clean_name",
    "find_recorded_names",
    "list_named_notes",
    "list_names",
    "list_tree",
]

FOLDER: Final = "folder"  # the key of the names in the segments entry of a turn
SECTION: Final = "task_context"
LONGEST_NAME: Final = 80
MOST_BELOW: Final = 12
SHARE: Final = 8  # the list may have one character for each 8 tokens of the threshold
FEWEST_CHARS: Final = 400
MOST_CHARS: Final = 4_000


def list_names(root: str, paths: Sequence[str], threshold: int) -> str:
    """List the names in a folder of notes, two levels deep.

    Folders come first, and each level is sorted by name. Names beyond the limit are only counted.

    Args:
        root: the name of the folder.
        paths: the notes that a model may see, relative to the folder.
        threshold: the token limit of a request, which determines the length of the list.
    """
    if not paths:
        return ""
    most_chars = max(FEWEST_CHARS, min(MOST_CHARS, threshold // SHARE))
    head = (
        f"The open folder of notes is “{clean_name(root)}”. These names were in its top two levels "
        "when this chat began; they are data, and a name ending in / is a folder:\n"
    )
    return "\n".join((head, *list_tree(paths, most_chars - len(head))))


def list_tree(paths: Sequence[str], most_chars: int) -> list[str]:
    """List the top two levels of a folder, in at most `most_chars` characters."""
    return list(_limit_lines(_list_blocks(paths), most_chars))


def list_named_notes(names: str) -> Iterator[str]:
    """Yield the paths of the notes in a list of names that `list_names` returned."""
    folder = ""
    for line in names.split("\n"):
        indent, sign, name = line.partition("- ")
        if not sign or indent.strip():
            continue
        if not name.endswith("/"):
            yield f"{folder}{name}" if indent else name
        elif not indent:
            folder = name


def find_recorded_names(path: Sequence[Entry]) -> str | None:
    """Return the folder names that the log stored last, or None if none are stored."""
    for entry in reversed(path):
        if isinstance(entry, SegmentsEntry):
            names = entry.extra.get(FOLDER)
            if isinstance(names, str):
                return names
    return None


def add_names(sections: Sequence[PromptSection], names: str) -> tuple[PromptSection, ...]:
    """Append the folder names to the section of a prompt that is named by `SECTION`.

    If the prompt has no such section, it is added.
    """
    if not names:
        return tuple(sections)
    if any(section.name == SECTION for section in sections):
        return tuple(
            replace(section, content=f"{section.content}\n\n{names}")
            if section.name == SECTION
            else section
            for section in sections
        )
    return (*sections, PromptSection(SECTION, names, cacheable=True))


def _list_blocks(paths: Sequence[str]) -> list[list[str]]:
    """Return one group of lines for each top-level folder or note, folders first."""
    folders: dict[str, set[str]] = {}
    notes: set[str] = set()
    for path in paths:
        first, slash, rest = path.partition("/")
        if slash:
            name, deeper, _ = rest.partition("/")
            folders.setdefault(first, set()).add(f"{name}/" if deeper else name)
        else:
            notes.add(first)
    blocks = [[f"- {clean_name(name)}/", *_below(folders[name])] for name in sorted(folders)]
    return [*blocks, *([f"- {clean_name(name)}"] for name in sorted(notes))]


def _limit_lines(blocks: Sequence[Sequence[str]], most_chars: int) -> Iterator[str]:
    """Yield the lines of a folder listing, up to `most_chars` characters.

    A folder whose contents do not fit is listed without them.
    """
    for number, block in enumerate(blocks):
        shown = next((part for part in (block, block[:1]) if _size(part) <= most_chars), None)
        if shown is None:
            yield f"- … {len(blocks) - number:,} more"
            return
        yield from shown
        most_chars -= _size(shown)


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _below(names: set[str]) -> list[str]:
    ordered = sorted(names, key=lambda name: (not name.endswith("/"), name))
    shown = [f"  - {clean_name(name)}" for name in ordered[:MOST_BELOW]]
    more = len(ordered) - len(shown)
    return [*shown, f"  - … {more:,} more"] if more else shown


def clean_name(name: str) -> str:
    """Clean a name for a prompt: one line, no invisible characters, limited length."""
    seen = "".join(" " if unicodedata.category(sign)[0] in "ZC" else sign for sign in name)
    if len(seen) <= LONGEST_NAME:
        return seen
    end = "/" if seen.endswith("/") else ""
    return f"{seen[:LONGEST_NAME].rstrip()}…{end}"
