"""Exclude patterns, written as in a `.gitignore` file.

Patterns are matched part by part, so that no pattern, however odd, can take long.
"""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Rule:
    text: str
    parts: tuple[re.Pattern[str] | None, ...]  # None stands for `**`
    is_negated: bool
    is_folder_only: bool


class ExcludeRules:
    """Tells which pattern, if any, keeps a path out; the last one that fits decides."""

    def __init__(self, patterns: Sequence[str]):
        self._rules = tuple(rule for pattern in patterns if (rule := _parse(pattern)) is not None)

    def __bool__(self) -> bool:
        """Tell whether there is any pattern."""
        return bool(self._rules)

    def rule_for(self, path: str, is_folder: bool) -> str | None:
        """Give the pattern that excludes this path, or None when it stays in.

        The folders above it are asked about on their own, before it.
        """
        parts = path.split("/")
        for rule in reversed(self._rules):
            if (is_folder or not rule.is_folder_only) and _fits(rule.parts, parts):
                return None if rule.is_negated else rule.text
        return None


def _parse(pattern: str) -> _Rule | None:
    text = pattern.strip()
    body = text.removeprefix("!")
    is_folder_only = body.endswith("/")
    body = body.rstrip("/")
    if not body or text.startswith("#"):
        return None
    is_anchored = "/" in body
    parts = [part for part in body.split("/") if part]
    if not is_anchored:
        parts.insert(0, "**")
    compiled = tuple(None if p == "**" else re.compile(fnmatch.translate(p)) for p in parts)
    return _Rule(text, compiled, text.startswith("!"), is_folder_only)


def _fits(pattern: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> bool:
    """Match a whole path; `reachable` holds how many path parts each prefix can have eaten."""
    reachable = {0}
    for index, part in enumerate(pattern):
        if part is not None:
            reachable = {at + 1 for at in reachable if at < len(parts) and part.match(parts[at])}
        elif index == len(pattern) - 1:  # `folder/**` means what is in it, not the folder
            return any(at < len(parts) for at in reachable)
        elif reachable:
            reachable = set(range(min(reachable), len(parts) + 1))
    return len(parts) in reachable
