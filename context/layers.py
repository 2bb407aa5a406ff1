"""The layers of a request, and the segments that they consist of.

A layer is a kind of content, and a segment is a single source, such as a note. The text of a
segment is escaped when the segment is created, so that notes may contain any XML tag. Rendered text
is never parsed back into segments.
"""

import html
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, Literal, Self, TypeVar

from context.carry_forward import update_fence, wrap_prior
from context.errors import MalformedEntry
from context.json_codec import Record

Piece = TypeVar("Piece")
SegmentKind = Literal["note", "selection", "folder", "tag", "url", "file", "image", "passage"]
MOST_LEVELS: Final = 100  # Python cannot copy a JSON value with some 300 levels
MOST_ARGUMENT_LEVELS: Final = 64  # of a tool call, to which a line of the log adds its own levels
_PRIOR_TYPES: Final = {"folder": "note", "tag": "note", "passage": "note", "image": "file"}
# A block id at the end of a line, and an embedded image such as `![[plus.svg#icon]]`.
_MARK: Final = re.compile(
    r"[ \t]+\^[A-Za-z0-9-]{1,40}[ \t]*$"
    r"|^\^[A-Za-z0-9-]{1,40}[ \t]*$"
    r"|[ \t]?!\[\[[^\[\]\n]{0,300}\.(?:avif|bmp|gif|ico|jpe?g|png|svg|webp)"
    r"(?:[#|][^\[\]\n]{0,300})?\]\]",
    re.IGNORECASE,
)


class Layer(StrEnum):
    """A layer of a request: a kind of content with its own position and lifetime.

    `T` contains the tool definitions, `L1` the instructions, `L2` the context carried forward from
    earlier turns, `L3` the context of this turn, `L4` the history, and `L5` the user message. `E`
    contains ephemeral texts, which are not repeated, and `W` the tool calls of the turn in
    progress.
    """

    T = "T"
    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4 = "L4"
    L5 = "L5"
    E = "E"
    W = "W"


EMBED: Final = "embed"  # how a picture came with a note, in `Segment.derived`
# The order of the layers in a request and in its report, applied by `sort_by_wire`.
# Tools and instructions always come first in the interfaces of the providers.
WIRE_ORDER: Final[tuple[Layer, ...]] = (
    Layer.T,
    Layer.L1,
    Layer.L4,
    Layer.L2,
    Layer.L3,
    Layer.E,
    Layer.L5,
    Layer.W,
)


@dataclass(frozen=True, slots=True)
class ImageData(Record):
    """An image as it is sent to a model.

    Attributes:
        media_type: the media type, such as `image/png`.
        data: the image, encoded as base64.
    """

    media_type: str
    data: str

    json_error = MalformedEntry


_ABSOLUTE: Final = re.compile(r"/|\\\\|[A-Za-z]:[/\\]")


def name_source(source: str) -> str:
    """Return the name of a source for use in a sentence: a vault path, a URL or a file name.

    For a file outside the vault, this is the file name alone. For example, users do not know the
    folder of pasted images.
    """
    if not _ABSOLUTE.match(source):
        return source
    return re.split(r"[/\\]", source.rstrip("/\\"))[-1] or source


@dataclass(frozen=True)
class Segment(Record):
    """A piece of context with a stable id, such as an attached note or a passage.

    Attributes:
        source: a path relative to the vault, an absolute path outside the vault, or a URL.
        lines: the first and last line in the source, counted from 1, or None.
        version: a hash of the source's content when it was read, or None.
        content: the escaped text.
        number: the number that answers use to cite the source, or None.
        derived: how the text was produced, such as `map_reduce` for notes that a model wrote while
            reading, or `embed` for a picture that an attached note embeds. An empty string for the
            original text.
        whole_tokens: the token count of the whole attachment if this segment is an excerpt of it,
            otherwise None. In a preview, an excerpt only has about the size of the text that will
            be sent.
        structure: what the lines of the text are in their note, such as code or headings, written
            and read by `vault.notes.text.markdown_text`. An empty string if unknown.
        base: the folder of a project outside the vault, or an empty string. Models see the path of
            the source relative to it.
        image: the image sent with the text, or None. The log stores it only for the turn in which
            it was attached (L3), because later turns (L2) repeat the same image.
    """

    id: str
    layer: Layer
    kind: SegmentKind
    source: str
    lines: tuple[int, int] | None
    version: str | None
    content: str
    pinned: bool = False
    title: str = ""
    heading: tuple[str, ...] = ()
    number: int | None = None
    derived: str = ""
    whole_tokens: int | None = None
    image: ImageData | None = None
    structure: str = ""
    base: str = ""

    json_shape = (
        "id",
        "layer",
        "kind",
        "source",
        "lines or null",
        "version",
        "content",
        "pinned",
        "title",
        "heading",
        "number",
        "derived if derived",
        "structure if structure",
        "base if base",
        "wholeTokens = whole_tokens if is_excerpt",
        "image if keeps_image",
    )
    json_lenient = ("version", "pinned", "number", "whole_tokens", "image")
    json_error = MalformedEntry

    def __post_init__(self) -> None:
        # `source` stays as it is, since a file whose name is not UTF-8 is found by it.
        object.__setattr__(self, "content", replace_surrogates(self.content))
        object.__setattr__(self, "title", replace_surrogates(self.title))
        object.__setattr__(self, "heading", tuple(map(replace_surrogates, self.heading)))

    @classmethod
    def build(  # noqa: PLR0913 - the fields of a segment, by name only
        cls,
        *,
        id: str,
        layer: Layer,
        kind: SegmentKind,
        source: str,
        text: str,
        lines: tuple[int, int] | None = None,
        version: str | None = None,
        pinned: bool = False,
        title: str = "",
        heading: Iterable[str] = (),
        number: int | None = None,
        derived: str = "",
        image: ImageData | None = None,
        structure: str = "",
    ) -> Self:
        """Build a segment from text that is not escaped yet.

        Args:
            text: the text, which this method escapes. The other arguments are the attributes of the
                segment.
        """
        content = html.escape(text, quote=False)
        place = (id, layer, kind, source, lines, version)
        made = cls(*place, content, pinned, title, tuple(heading), number, derived)
        return replace(made, image=image, structure=structure)

    @property
    def is_excerpt(self) -> bool:
        """Whether the segment is a passage from an attachment that is too large to send in full."""
        return self.kind == "passage" and self.whole_tokens is not None

    @property
    def is_retrieved(self) -> bool:
        """Whether the segment is a search result, rather than an excerpt of an attachment."""
        return self.kind == "passage" and self.whole_tokens is None

    @property
    def is_web(self) -> bool:
        """Whether the source is a web page, and no file that can be moved, changed or excluded."""
        return self.kind == "url" or self.source.lower().startswith(("http://", "https://"))

    @property
    def is_whole(self) -> bool:
        """Whether the segment is always sent completely, because it is a selection or an image."""
        return self.kind in ("selection", "image")

    @property
    def is_embedded_image(self) -> bool:
        """Whether the segment is a picture that came with a note, and is left out if need be."""
        return self.kind == "image" and self.derived == EMBED

    @property
    def keeps_image(self) -> bool:
        """Whether the log stores the image with the segment."""
        return self.image is not None and self.layer is Layer.L3

    @property
    def shown_source(self) -> str:
        """The name of the source for models and for use in a sentence, never an absolute path.

        For a note of a project outside the vault, this is its path in the project. See also
        `name_source`.
        """
        inside = self.source.removeprefix(f"{self.base}/") if self.base else self.source
        return name_source(inside)

    def name_below(self, folder: str) -> "Segment":
        """Return the segment with `folder` as its base, if its source is an absolute path in it."""
        return replace(self, base=folder) if self.source.startswith(f"{folder}/") else self

    @property
    def raw_content(self) -> str:
        """The original text of the segment, without escapes."""
        text = self.content.replace("&lt;", "<").replace("&gt;", ">")
        return text.replace("&amp;", "&")

    @cached_property
    def token_counts(self) -> dict[Hashable, int]:
        """Cached token counts of the segment, by token counter. See `context.tokens`."""
        return {}

    def render(self) -> str:
        """Render the segment for the model, as an XML element that names its source.

        Block ids, embedded image names and folders outside the vault are removed, because models
        cannot use them.
        """
        source, content = replace_surrogates(self.shown_source), _remove_marks(self.content)
        if self.layer is Layer.L2:
            return wrap_prior(source, _PRIOR_TYPES.get(self.kind, self.kind), content)
        lines = f"{self.lines[0]}-{self.lines[1]}" if self.lines else None
        number = None if self.number is None else str(self.number)
        attributes = {"n": number, "title": self.title, "path": source, "lines": lines}
        shown = "".join(
            f' {name}="{html.escape(value)}"' for name, value in attributes.items() if value
        )
        return f"<source{shown}>\n{content}\n</source>"


def _remove_marks(text: str) -> str:
    """Remove block ids and embedded images from Markdown, except in code blocks."""
    if "^" not in text and "![[" not in text:
        return text
    lines, fence = text.split("\n"), ""
    for at, line in enumerate(lines):
        before, fence = fence, update_fence(line.lstrip(), fence)
        if not (before or fence):
            lines[at] = _MARK.sub("", line)
    return "\n".join(lines)


def sort_by_wire(pieces: Mapping[Layer, Piece]) -> Iterator[tuple[Layer, Piece]]:
    """Yield the items of a mapping in the order in which their layers are sent to the model."""
    return ((layer, pieces[layer]) for layer in WIRE_ORDER if layer in pieces)


def name_lines(lines: tuple[int, int]) -> str:
    """Format a line range for use in a sentence, such as `line 3` or `lines 3–9`."""
    first, last = lines
    return f"line {first}" if first == last else f"lines {first}–{last}"


def name_place(path: str, lines: Sequence[int] | None, page: int | None = None) -> str:
    """Format a path with its lines or page, such as `Inbox.md, lines 3–9`.

    Args:
        path: the path of a note or file.
        lines: the line numbers, of which the first and the last are shown, or None.
        page: the page number, which is shown in place of the lines, or None.
    """
    if page is not None:
        return f"{path}, page {page}"
    if not lines:
        return path
    return f"{path}, {name_lines((lines[0], lines[-1]))}"


def render_segments(segments: Iterable[Segment]) -> str:
    """Render segments for the model, and join them with newlines."""
    return "\n".join(segment.render() for segment in segments)


def is_nested_too_deep(value: object, most_levels: int = MOST_LEVELS) -> bool:
    """Return whether a JSON value has more than `most_levels` levels of lists and objects."""
    level: list[Any] = [[value]]
    for _ in range(most_levels + 1):
        items = (item.values() if isinstance(item, dict) else item for item in level)
        level = [child for item in items for child in item if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates with U+FFFD, so that the text can be encoded as UTF-8.

    A surrogate pair is replaced with the character that it encodes.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
