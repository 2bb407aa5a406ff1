"""Obsidian's callouts: which kinds there are, and how each looks.

Amber and red are kept for what is the matter; every other kind is neutral.
"""

import re
from typing import NamedTuple

__all__ = ["Callout", "callout_of"]

_HEAD = re.compile(r"^\[!([A-Za-z][\w-]*)\][+-]?[ \t]*([^\n]*)(?:\n|$)")
_LOOKS = {
    "amber": ("warning caution attention", "warning"),
    "danger": ("danger error bug failure fail missing important", "warning-octagon"),
    "success": ("success check done", "check-circle"),
}
_ICONS = {
    "info": "info",
    "note": "note-pencil",
    "todo": "check-square",
    "tip": "lightbulb",
    "hint": "lightbulb",
    "abstract": "clipboard-text",
    "summary": "clipboard-text",
    "tldr": "clipboard-text",
    "question": "question",
    "help": "question",
    "faq": "question",
    "example": "list-bullets",
    "quote": "quotes",
    "cite": "quotes",
}


class Callout(NamedTuple):
    """The first line of a callout, read.

    Attributes:
        title: Markdown; the kind's name where none is written.
        rest: the Markdown that follows in the same paragraph.
    """

    tone: str
    icon: str
    title: str
    rest: str


def callout_of(paragraph: str) -> Callout | None:
    """Return the callout that a quote's first paragraph opens, or None for a plain quote."""
    match = _HEAD.match(paragraph)
    if match is None:
        return None
    kind = match.group(1).lower()
    tone, icon = _look(kind)
    title = match.group(2).strip() or kind.replace("-", " ").capitalize()
    return Callout(tone, icon, title, paragraph[match.end() :])


def _look(kind: str) -> tuple[str, str]:
    for tone, (kinds, icon) in _LOOKS.items():
        if kind in kinds.split():
            return tone, icon
    return "neutral", _ICONS.get(kind, "info")
