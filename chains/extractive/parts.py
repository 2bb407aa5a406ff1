"""The parts of a source that can be quoted, such as sentences, list items, lists and sections.

Parts are quoted verbatim.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

from chains.citations.quotes import VerbatimText
from chains.extractive.words import split_words

__all__ = ["Part", "PartKind", "is_link_alone", "verify_part"]

PartKind = Literal["sentences", "item", "row", "list", "section"]

_NUMBERED: Final = re.compile(r"\d{1,3}[.)] ")
_STEP: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]) ")
_TO_DO: Final = re.compile(r"[ \t]*[-*+•] \[.\] ")
# Matches a line that is only a link, maybe as a list item.
_LINK: Final = re.compile(
    r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?"
    r"\W*(?:\[\[[^\]]+\]\]|\[[^\]]+\]\([^)]*\)|<?https?://\S+?>?)\W*"
)
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY: Final = re.compile(
    rf"\b(?:19|20)\d\d-\d\d-\d\d\b|\b\d{{1,2}}\.? {_MONTH} (?:19|20)\d\d\b"
    rf"|\b{_MONTH} \d{{1,2}},? (?:19|20)\d\d\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Part:
    """A part of a source that can be quoted, such as a sentence, a list or a section.

    Attributes:
        number: the citation number of the source.
        first: the index of the first line in the source.
        end: the index after the last line.
        pieces: the Markdown to quote, in pieces of one or more lines. Once the part is verified,
            each piece occurs verbatim in the source.
        text: the part's text, which is compared with the question.
        around: the context of the part: the note's title, the headings, and the sentence before it.
        heading: the headings above the part.
        title: the title of the note.
        path: the path of the note, or the name of another source.
        is_first: whether this is the first sentence below a heading.
        sentence: the index of the sentence in its paragraph, or None if the part is no sentence.
        paragraph: the paragraph that contains the sentence, if it is short and every sentence of it
            can be quoted, otherwise None.
        is_link: whether the part is a sentence or list item that consists only of a link.
        property_name: the name of the property if the part is a line of the front matter.
        origin: the text of the source, which the quotation is compared with.
    """

    number: int
    kind: PartKind
    first: int
    end: int
    pieces: tuple[tuple[str, ...], ...]
    text: str
    around: str
    heading: tuple[str, ...]
    title: str = ""
    path: str = ""
    is_first: bool = False
    sentence: int | None = None
    paragraph: "Part | None" = None
    is_link: bool = False
    property_name: str = ""
    origin: VerbatimText = field(
        default_factory=lambda: VerbatimText(""), repr=False, compare=False
    )

    @cached_property
    def words(self) -> frozenset[str]:
        """The words in the text of this part of a source."""
        return split_words(self.text)

    @cached_property
    def words_around(self) -> frozenset[str]:
        """The words in the context of the part: note title, headings and previous sentence."""
        return split_words(self.around)

    @cached_property
    def is_command_collection(self) -> bool:
        """Whether several items of the part contain code, as in a list of commands."""
        coded = sum(_starts_code(line) for piece in self.pieces for line in piece)
        is_long = self.kind in {"list", "section"}
        is_collection = coded > 1 and not self.has_numbered_items
        return is_long and is_collection and not self.has_one_code_block

    @property
    def has_one_code_block(self) -> bool:
        """Whether the part contains exactly one code block, such as the commands for one task."""
        coded = [line for piece in self.pieces for line in piece if _starts_code(line)]
        first = coded[0].strip() if coded else ""
        return len(coded) == 2 and first[:3] in {"```", "~~~"} and "`" not in first.strip("`")

    @property
    def place(self) -> str:
        """The title of the part's note and the headings above the part."""
        return ". ".join(dict.fromkeys(name for name in (self.title, *self.heading) if name))

    @property
    def names(self) -> tuple[str, ...]:
        """The title and the path of the part's note, and the headings above the part."""
        return (self.title, self.path, *self.heading)

    @cached_property
    def title_words(self) -> frozenset[str]:
        """The words in the note's title."""
        return split_words(self.title)

    @property
    def has_numbered_items(self) -> bool:
        """Whether the part contains several numbered list items."""
        lines = [line for piece in self.pieces for line in piece]
        return sum(_NUMBERED.match(line) is not None for line in lines) > 1

    @property
    def starts_with_number(self) -> bool:
        """Whether the part starts with a numbered list item."""
        return _NUMBERED.match(self.pieces[0][0]) is not None

    @cached_property
    def has_steps(self) -> bool:
        """Whether the part is a list or section that contains steps or commands."""
        is_long = self.kind in {"list", "section"}
        return is_long and any(map(_is_step, self.pieces))

    @cached_property
    def is_record(self) -> bool:
        """Whether each line of the part is a dated log entry or a to-do item."""
        lines = [line for piece in self.pieces for line in piece if line.strip()]
        return all(_TO_DO.match(line) or _DAY.search(line) for line in lines)

    def cut_after_steps(self) -> "Part":
        """Return the part without the dated log entries at its end.

        They do not belong to the steps or commands before them. A part without steps is returned
        unchanged.
        """
        if self.kind != "section" or not self.has_steps:
            return self
        pieces = list(self.pieces)
        while not _is_step(pieces[-1]) and _DAY.search(" ".join(pieces[-1])):
            pieces.pop()
        return replace(self, pieces=tuple(pieces))

    def overlaps(self, other: "Part") -> bool:
        """Return whether two parts share lines. Two different sentences never overlap."""
        if self.number != other.number or self.first >= other.end or other.first >= self.end:
            return False
        return None in (self.sentence, other.sentence) or self.sentence == other.sentence


def _is_step(piece: Sequence[str]) -> bool:
    return _starts_code(piece[0]) or _STEP.match(piece[0]) is not None


def _starts_code(line: str) -> bool:
    """Return whether a line starts with inline code, or is a fence of a code block."""
    return line.lstrip().startswith(("`", "~~~"))


def is_link_alone(line: str) -> bool:
    """Return whether a line consists only of a link, maybe as a list item."""
    return _LINK.fullmatch(line) is not None


def verify_part(part: Part) -> Part | None:
    """Limit a part to the text that occurs verbatim in the source, or return None if none does.

    If a list or section does not occur as a whole, only the blocks that do are kept. Consecutive
    blocks become one piece, so that they share a citation. Verifying a part takes as long as
    building it, so verify only parts that will be quoted.
    """
    whole = tuple(line for piece in part.pieces for line in piece)
    if _occurs(part, whole):
        return replace(part, pieces=(whole,))
    if part.kind not in {"list", "section"}:
        return None
    pieces: list[tuple[str, ...]] = []
    for piece in part.pieces:
        if pieces and _occurs(part, joined := (*pieces[-1], *piece)):
            pieces[-1] = joined
        elif _occurs(part, piece):
            pieces.append(piece)
    return replace(part, pieces=tuple(pieces)) if pieces else None


def _occurs(part: Part, lines: Sequence[str]) -> bool:
    return part.origin.find("\n".join(lines)) is not None
