"""The page that a passage of a paged file stands on, told from what its reader made of the file.

Such a file has no lines of its own: those of a passage are of the text that was taken out of it,
and mean nothing to whoever has the file open.
"""

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["heading_of_page", "page_of"]

_PAGED: Final = (".pdf",)
_PAGE: Final = re.compile(r"Page (\d+)")


def heading_of_page(number: int | str) -> str:
    """Return the heading that stands above the text of a page."""
    return f"Page {number}"


def page_of(path: str, heading: Sequence[str]) -> int | None:
    """Return the page that a passage stands on; None where its file has none.

    Args:
        path: of the file.
        heading: the headings above the passage, the uppermost first.
    """
    if not heading or not path.lower().endswith(_PAGED):
        return None
    found = _PAGE.fullmatch(heading[0])
    return int(found[1]) if found else None
