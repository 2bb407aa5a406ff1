"""The layers of a request, and segments: typed pieces of context that belong to a layer.

A segment's text is escaped when the segment is built, so that a note may contain any tag or fence.
Rendered text is never parsed back into segments.
"""

import html
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Final, Literal, Self, TypeVar, cast, get_args

from context.carry_forward import wrap_prior
from context.errors import MalformedEntry

Piece = TypeVar("Piece")
SegmentKind = Literal["note", "selection", "folder", "tag", "url", "file", "image", "passage"]
SEGMENT_KINDS: Final[tuple[str, ...]] = get_args(SegmentKind)
_PRIOR_TYPES: Final = {"folder": "note", "tag": "note", "passage": "note", "image": "file"}
_FENCE: Final = re.compile(r"[ \t]{0,20}(?:`{3,}|~{3,})")
# A block id at the end of a line, and an embedded image such as `![[plus.svg#icon]]`.
_MARK: Final = re.compile(
    r"[ \t]+\^[A-Za-z0-9-]{1,40}[ \t]*$"
    r"|^\^[A-Za-z0-9-]{1,40}[ \t]*$"
    r"|[ \t]?!\[\[[^\[\]\n]{0,300}\.(?:avif|bmp|gif|ico|jpe?g|png|svg|webp)"
    r"(?:[#|][^\[\]\n]{0,300})?\]\]",
    re.IGNORECASE,
)


class Layer(StrEnum):
    """A layer of a request, such as the tool definitions (T) or the history (L4)."""

    T = "T"
    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4 = "L4"
    L5 = "L5"
    E = "E"
    W = "W"


_LAYERS: Final[Mapping[str, Layer]] = {str(layer): layer for layer in Layer}
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
class ImageData:
    """An image as it is sent: its media type, such as `image/png`, and its bytes as base64."""

    media_type: str
    data: str

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Build an image from its JSON object in a session log.

        Raises:
            MalformedEntry: when a field is missing or is not text.
        """
        return cls(_read_text(data, "media_type"), _read_text(data, "data"))

    def to_dict(self) -> dict[str, object]:
        """Return the image as a new JSON object. This is the inverse of `from_dict`."""
        return {"media_type": self.media_type, "data": self.data}


@dataclass(frozen=True)
class Segment:
    """A typed piece of context with a stable id.

    Attributes:
        source: the path relative to the vault, or a URL.
        lines: the first and the last line of the text in its source, counted from 1, or None if the
            segment has no line range.
        version: a hash of the source's content when it was read, or None if there is no hash.
        content: the escaped text.
        number: the number with which answers cite the source, or None if it has no number.
        derived: how the text was made from its source, such as `map_reduce`, or an empty string for
            the source's own text.
        whole_tokens: the token count of the whole attachment if the segment is an excerpt of it;
            else None. An excerpt is a passage found in the attachment. In a preview, it is a text
            of about the size that will be sent.
        image: the image that is sent with the text, or None for a segment without one. The log
            stores it only on L3, since the L2 segments of all later turns can repeat the same
            image.
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
    ) -> Self:
        """Build a segment from raw text. The text is escaped here and nowhere else."""
        content = html.escape(text, quote=False)
        place = (id, layer, kind, source, lines, version)
        made = cls(*place, content, pinned, title, tuple(heading), number, derived)
        return replace(made, image=image)

    @property
    def is_excerpt(self) -> bool:
        """Whether the segment is a passage of an attachment that was too large to be sent whole."""
        return self.kind == "passage" and self.whole_tokens is not None

    @property
    def is_retrieved(self) -> bool:
        """Whether the segment is a retrieved passage, not an excerpt of an attachment."""
        return self.kind == "passage" and self.whole_tokens is None

    @property
    def is_whole(self) -> bool:
        """Whether the segment is sent unchanged or not at all, like a selection or an image."""
        return self.kind in ("selection", "image")

    @property
    def raw_content(self) -> str:
        """The text of the segment as it is in its source, not escaped."""
        text = self.content.replace("&lt;", "<").replace("&gt;", ">")
        return text.replace("&amp;", "&")

    @cached_property
    def token_counts(self) -> dict[Hashable, int]:
        """The cached token counts, one for each token counter; see `context.tokens`."""
        return {}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Build a segment from its JSON object in a session log.

        Raises:
            MalformedEntry: when a required field is missing or has the wrong type.
        """
        number = data.get("number")
        version = data.get("version")
        whole = data.get("wholeTokens")
        image = data.get("image")
        return cls(
            id=_read_text(data, "id"),
            layer=_read_layer(data),
            kind=_read_kind(data),
            source=_read_text(data, "source"),
            lines=_read_lines(data.get("lines")),
            version=version if isinstance(version, str) else None,
            content=_read_text(data, "content"),
            pinned=data.get("pinned") is True,
            title=_read_text(data, "title", default=""),
            heading=_read_heading(data.get("heading", ())),
            number=number if isinstance(number, int) else None,
            derived=_read_text(data, "derived", default=""),
            whole_tokens=whole if isinstance(whole, int) else None,
            image=ImageData.from_dict(image) if isinstance(image, Mapping) else None,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the segment as a new JSON object. This is the inverse of `from_dict`."""
        made: dict[str, object] = {"derived": self.derived} if self.derived else {}
        if self.is_excerpt:
            made["wholeTokens"] = self.whole_tokens
        if self.image is not None and self.layer is Layer.L3:
            made["image"] = self.image.to_dict()
        return {
            "id": self.id,
            "layer": str(self.layer),
            "kind": self.kind,
            "source": self.source,
            "lines": list(self.lines) if self.lines else None,
            "version": self.version,
            "content": self.content,
            "pinned": self.pinned,
            "title": self.title,
            "heading": list(self.heading),
            "number": self.number,
            **made,
        }

    def render(self) -> str:
        """Render the segment for the model: its text in an XML element that names its source.

        Block ids and the names of embedded images are left out: they mean nothing to a reader.
        """
        source, content = replace_surrogates(self.source), _remove_marks(self.content)
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
    """Return a Markdown text without block ids and embedded images, except in code blocks."""
    if "^" not in text and "![[" not in text:
        return text
    lines, in_fence = text.split("\n"), False
    for at, line in enumerate(lines):
        in_fence = in_fence != (_FENCE.match(line) is not None)
        if not in_fence:
            lines[at] = _MARK.sub("", line)
    return "\n".join(lines)


def sort_by_wire(pieces: Mapping[Layer, Piece]) -> Iterator[tuple[Layer, Piece]]:
    """Yield the layers of a mapping with their values, in the order in which they are sent."""
    return ((layer, pieces[layer]) for layer in WIRE_ORDER if layer in pieces)


def name_lines(lines: tuple[int, int]) -> str:
    """Format a range of lines for a sentence, such as `line 3` or `lines 3–9`."""
    first, last = lines
    return f"line {first}" if first == last else f"lines {first}–{last}"


def render_segments(segments: Iterable[Segment]) -> str:
    """Render segments for the model, in the given order, and join them with newlines."""
    return "\n".join(segment.render() for segment in segments)


def _read_text(data: Mapping[str, object], key: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise MalformedEntry(f"A segment's {key!r} is missing or is not text.")
    return value


def _read_layer(data: Mapping[str, object]) -> Layer:
    layer = _LAYERS.get(_read_text(data, "layer"))
    if layer is None:
        raise MalformedEntry(f"A segment's layer is one of {', '.join(Layer)}.")
    return layer


def _read_kind(data: Mapping[str, object]) -> SegmentKind:
    kind = _read_text(data, "kind")
    if kind not in SEGMENT_KINDS:
        raise MalformedEntry(f"A segment's kind is one of {', '.join(SEGMENT_KINDS)}.")
    return cast(SegmentKind, kind)


def _read_lines(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    if isinstance(value, list | tuple) and len(value) == 2:
        first, last = value
        if isinstance(first, int) and isinstance(last, int):
            return first, last
    raise MalformedEntry("A segment's lines are two numbers.")


def _read_heading(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise MalformedEntry("A segment's heading is a list of texts.")


def replace_surrogates(text: str) -> str:
    """Replace each lone surrogate with U+FFFD, so that a text can be written as UTF-8.

    The two halves of a surrogate pair are joined to one character.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
