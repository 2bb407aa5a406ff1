"""The report's short names in the words of the window."""

from ui.widgets.controls import one_line

__all__ = ["in_words", "reason_in_words"]

_REASONS = {
    "room": "Dropped: history over its room",
    "tail": "Left out this once, for a long message or many passages",
    "share": "Lowest rank: over the room for passages",
    "budget": "Over the budget",
    "work": "Shortened: results of earlier steps",
    "shortened": "Shortened to its beginning",
    "hook": "Taken out by a hook",
    "excluded": "Excluded from the vault now",
    "gone": "Gone from the vault",
    "history_guarantee_broken": "Even your previous question had to be left out to make room.",
}


def in_words(name: str) -> str:
    """Return a name of a program as a word, such as `Task context` for `task_context`."""
    words = one_line(name.replace("_", " "))
    return words[:1].upper() + words[1:]


def reason_in_words(reason: str | None) -> str:
    """Return why something was left out."""
    return _REASONS.get(reason or "", in_words(reason or ""))
