"""What is sent along with a message, as the user named it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from context.layers import Segment, name_lines
from ui.widgets.figures import plural

__all__ = ["Attachment", "uses_of"]

_NOTE_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True)
class Attachment:
    """A note, a folder, a tag, a text file, or lines of one.

    Attributes:
        target: the path, a folder's with `/` behind it; a tag with its `#`.
        lines: first and last line of a selection, from 1, inclusive.
    """

    target: str
    lines: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """What a chip calls it, such as `Backups.md`, `Prices.md, lines 12–30` or `server`."""
        if self.is_tag:
            return self.target.removeprefix("#")
        name = self.target.rstrip("/").rpartition("/")[2] or self.target
        if self.lines is None:
            return name
        return f"{name}, {name_lines(self.lines)}"

    @property
    def whole_name(self) -> str:
        """The same with all folders."""
        folder = "" if self.is_tag else self.target.rstrip("/").rpartition("/")[0]
        return f"{folder}/{self.name}" if folder else self.name

    @property
    def icon(self) -> str:
        """What kind of thing it is."""
        if self.is_tag:
            return "hash"
        if self.lines is not None:
            return "selection"
        if self.is_folder:
            return "folder"
        return "file-text" if self.target.lower().endswith(_NOTE_SUFFIXES) else "file"

    @property
    def is_tag(self) -> bool:
        """Whether it stands for the notes that carry a tag."""
        return self.target.startswith("#") and self.lines is None

    @property
    def is_folder(self) -> bool:
        """Whether it stands for the notes in a folder."""
        return self.target.endswith("/") and self.lines is None


def uses_of(attached: Iterable[Attachment], sent: Sequence[Segment]) -> Mapping[Attachment, str]:
    """Return what was sent of each thing that was too large to be sent whole."""
    return {item: use for item in attached for use in _use(item, sent)}


def _use(item: Attachment, sent: Sequence[Segment]) -> Iterator[str]:
    own = [part for part in sent if part.source == item.target and item.lines is None]
    passages = sum(part.kind == "passage" for part in own)
    if any(part.derived for part in own):
        yield "read whole"
    elif passages and passages == len(own):
        yield f"{plural(passages, 'passage')} used"
