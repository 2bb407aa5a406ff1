"""Build the shown form of a section: which of its lines are lit, and which are folded.

A section of up to 20 lines is shown whole. Of a longer one, the lit lines and what is next to them
are shown, up to 20 lines. Of the sections below the first, only the heading and the best line are.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from chains.citations.sections import Lines, ShownSection
from chains.extractive.parts import Part
from chains.extractive.spans import SectionSpan
from context.layers import Segment
from vault.notes.text.lines import COMMENT, FRONT, SECTION_KINDS, UNDERLINE
from vault.notes.text.markdown_text import MarkdownText

__all__ = ["find_hidden_lines", "fold_to_best_line", "show_section"]

MOST_SHOWN: Final = 20
# A fold of fewer lines would take as much space as the lines, or hide the only other step.
FEWEST_FOLDED: Final = 3
FEWEST_FOLDED_BELOW: Final = 2
MOST_AROUND: Final = 4


def show_section(
    source: Segment,
    span: SectionSpan,
    highlights: Sequence[Part],
    *,
    is_open: bool = False,
    kept: Iterable[int] = (),
) -> ShownSection:
    """Build the shown form of a section.

    Args:
        source: the source that contains the section.
        span: the lines of the section.
        highlights: the parts to highlight, best first.
        is_open: whether all lit lines are shown with what is around them, not only the best one.
        kept: the indices of the lines that are shown although nothing is lit.
    """
    above = source.lines[0] if source.lines else 1
    end = span.end
    while end > span.first + 1 and not span.text.lines[end - 1].strip():
        end -= 1
    parts = highlights if is_open else highlights[:1]
    lines = sorted({at for part in parts for at in range(part.first, part.end)})
    folded = _find_folds(span.text, (span.first, end), {*lines, *kept}, is_open=is_open)
    return ShownSection(
        source,
        (above + span.first, above + end - 1),
        tuple((above + a, above + b) for a, b in _join_lines(lines)),
        tuple((above + a, above + b) for a, b in folded),
        is_open,
    )


def fold_to_best_line(section: ShownSection) -> ShownSection:
    """Return a section of which only the lit lines are shown."""
    at, last = section.lines
    folded: list[Lines] = []
    for start, end in section.lit:
        folded += [(at, start - 1)] if at < start else []
        at = end + 1
    folded += [(at, last)] if at <= last else []
    return replace(section, folded=tuple(folded), is_open=False)


def find_hidden_lines(text: MarkdownText) -> frozenset[int]:
    """Return the indices of the lines that are never drawn: comments and front matter."""
    return frozenset(at for at, kind in enumerate(text.kinds) if kind in {COMMENT, FRONT})


def _find_folds(
    text: MarkdownText, section: Lines, kept: Collection[int], *, is_open: bool
) -> list[Lines]:
    """Return the ranges of lines to fold, as indices.

    Args:
        text: the text of the source.
        section: the index of the section's first line, and the one behind its last.
        kept: the indices of the lines that are not folded.
        is_open: whether up to 20 lines are shown. If not, only the heading and `kept` are.
    """
    first, end = section
    shown = set(kept) | set(_list_heading_lines(text, first))
    if is_open:
        written = [at for at in range(first, end) if text.lines[at].strip()]
        if len(written) <= MOST_SHOWN:
            return []
        shown |= _list_lines_around(text, section, shown)
    return _list_gaps(text, section, shown, FEWEST_FOLDED if is_open else FEWEST_FOLDED_BELOW)


def _list_heading_lines(text: MarkdownText, first: int) -> range:
    end = first
    while end < len(text.kinds) and text.kinds[end] in SECTION_KINDS | {UNDERLINE}:
        end += 1
        if text.kinds[end - 1] in "123456":
            break
    return range(first, end)


def _list_lines_around(text: MarkdownText, section: Lines, shown: Collection[int]) -> set[int]:
    """Return the lines next to those that are shown, until there are 20 lines."""
    first, end = section
    found = set(shown)
    for distance in range(1, MOST_AROUND + 1):
        for at in sorted(shown):
            for near in (at - distance, at + distance):
                is_inside = first <= near < end and near not in found
                if is_inside and len(found) < MOST_SHOWN and text.lines[near].strip():
                    found.add(near)
    return found


def _list_gaps(
    text: MarkdownText, section: Lines, shown: Collection[int], fewest: int
) -> list[Lines]:
    """Return the ranges between the lines that are shown, without short ones."""
    gaps: list[Lines] = []
    start = None
    for at in range(section[0], section[1] + 1):
        is_hidden = at < section[1] and at not in shown
        if is_hidden and start is None:
            start = at
        elif not is_hidden and start is not None:
            written = [each for each in range(start, at) if text.lines[each].strip()]
            if len(written) >= fewest:
                gaps.append((start, at - 1))
            start = None
    return gaps


def _join_lines(lines: Sequence[int]) -> list[Lines]:
    """Return sorted indices of lines as ranges."""
    found: list[Lines] = []
    for at in lines:
        if found and found[-1][1] + 1 == at:
            found[-1] = found[-1][0], at
        else:
            found.append((at, at))
    return found
