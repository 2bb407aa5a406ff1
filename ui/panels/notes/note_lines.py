"""Choose the lines of a note for its source view, describe them, and find them after a change."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from context.layers import name_place
from ui.markdown.note_parts import count_common
from ui.widgets.formatting import count
from vault.notes.kinds import find_page

if TYPE_CHECKING:
    from vault.notes.note import Note

__all__ = ["SourceCut", "cut_source", "describe_place", "find_lines_again", "follow_line"]

_MOST_LINES: Final = 4_000
_MOST_CHARS: Final = 400_000
_LONGEST_LINE: Final = 10_000  # Qt lays out a line at once: one of 400,000 characters took 2 to 4 s
_LINES_TO_TRY: Final = 20
_SHORTENED: Final = (
    f"Only the first {count(_LONGEST_LINE)} characters of a line are shown here. "
    "Without its source, the note is shown whole."
)


@dataclass(frozen=True)
class SourceCut:
    """The part of a note that the source view shows.

    Attributes:
        start: the number of the first line.
        text: the text of the lines. Very long lines are shortened.
        total: the number of lines in the whole note.
        is_shortened: whether any line is shortened.
    """

    start: int
    text: str
    total: int
    is_shortened: bool = False

    def describe(self) -> str:
        """Return a sentence about the omitted lines, or an empty string if nothing is omitted."""
        sentences, end = list[str](), self.start + self.text.count("\n")
        if self.start > 1 or end < self.total:
            lines = f"{count(self.start)} to {count(end)} of {count(self.total)}"
            sentences.append(f"Lines {lines} are shown here.")
        if self.is_shortened:
            sentences.append(_SHORTENED)
        return " ".join(sentences)


def cut_source(text: str, line: int) -> SourceCut:
    """Return the part of a note around a line, for the source view.

    Unless the note is very large, this is the whole note. Very long lines are shortened.

    Args:
        text: the text of the note.
        line: the number of the line, or 0 for the beginning of the note.
    """
    lines = text.removesuffix("\n").split("\n")
    shown = [one[:_LONGEST_LINE] for one in lines]
    start, end = _choose_lines([len(one) for one in shown], line)
    is_shortened = any(len(one) > _LONGEST_LINE for one in lines[start:end])
    return SourceCut(start + 1, "\n".join(shown[start:end]), len(lines), is_shortened)


def _choose_lines(sizes: list[int], line: int) -> tuple[int, int]:
    """Return the range of lines around a given line that the source view shows.

    Args:
        sizes: the number of characters of each line.
        line: the number of the given line, counted from 1, or 0 for the beginning of the note.

    Returns:
        The zero-based index of the first line, and the index after the last line.
    """
    start = end = min(max(line, 1), len(sizes)) - 1
    chars = 0
    for share in (2, 1):  # half above the line first, then what is left of the limit
        while start > 0 and end - start < _MOST_LINES // share and chars < _MOST_CHARS // share:
            start -= 1
            chars += sizes[start]
        while end < len(sizes) and end - start < _MOST_LINES and chars < _MOST_CHARS:
            chars += sizes[end]
            end += 1
    return start, end


def describe_place(note: "Note", first: int, last: int) -> str:
    """Return a note's path with line numbers, or with the page number if the file has pages.

    Args:
        note: the open note.
        first: the first line, or 0 for no line numbers.
        last: the last line.
    """
    lines = (first, max(first, last)) if first else None
    above = [heading.text for heading in note.headings if heading.line <= first]
    return name_place(note.path, lines, find_page(note.path, above[-1:]))


def find_lines_again(before: str, now: str, lines: tuple[int, int]) -> tuple[int, int] | None:
    """Return the first and last line number of some lines after the note has changed.

    Return None if the lines no longer exist, or if they have moved and occur more than once.

    Args:
        before: the text of the note before the change.
        now: the text of the note after the change.
        lines: the first and last line number before the change.
    """
    first, last = lines
    old, new = before.split("\n"), now.split("\n")
    wanted = old[first - 1 : last]
    if new[first - 1 : last] == wanted:
        return lines
    places = [at for at in range(len(new)) if new[at : at + len(wanted)] == wanted]
    return (places[0] + 1, places[0] + len(wanted)) if len(places) == 1 else None


def follow_line(before: str, now: str, line: int) -> int:
    """Return where a line of a note is after the note has changed, or a line near it.

    Args:
        before: the text of the note before the change.
        now: the text of the note after the change.
        line: the line number before the change.
    """
    old, new = before.split("\n"), now.split("\n")
    above = count_common(old, new)
    if line <= above:
        return line
    below = count_common(old[above:][::-1], new[above:][::-1])
    if line > len(old) - below:
        return line + len(new) - len(old)
    changed = range(above, len(new) - below)
    for at in range(line - 1, max(above, line - _LINES_TO_TRY) - 1, -1):
        places = [place for place in changed if new[place] == old[at] and new[place].strip()]
        if places:
            return min(places, key=lambda place: abs(place - at)) + line - at
    return min(line, len(new) - below + 1, len(new))
