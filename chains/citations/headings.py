"""Under which heading a place in a passage stands, where the passage holds several sections."""

import re
from typing import Final

from chains.citations.quotes import plain, readable

__all__ = ["heading_at"]

_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(\S[^\n]*)")
_FENCE: Final = re.compile(r" {0,3}(?:`{3,}|~{3,})")


def heading_at(passage: str, place: int, first: tuple[str, ...]) -> tuple[str, ...]:
    """Return the path of headings above a place in a passage.

    Args:
        passage: text of Markdown.
        place: a position in it.
        first: the path of headings that the passage begins under.
    """
    path, level = first, len(first)
    in_fence = False
    end = passage.find("\n", place)
    for at, line in enumerate(passage[: end if end >= 0 else None].split("\n")):
        in_fence = in_fence != (_FENCE.match(line) is not None)
        found = None if in_fence else _HEADING.match(line.rstrip())
        if found is None:
            continue
        title = readable(found[2].rstrip("#").rstrip())
        if at == 0 and path and plain(path[-1]) == plain(title):
            level = len(found[1])
            continue
        # Levels above the present one are taken to follow each other, as `#`, `##`, `###` do.
        kept = max(0, len(path) - 1 - (level - len(found[1])))
        path, level = (*path[:kept], title), len(found[1])
    return path
