"""Rules that exclude files by path: the user's patterns and Obsidian's filters.

Patterns use `.gitignore` syntax. Each component of a path is matched separately, so that no pattern
is slow.
"""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vault.exclude.obsidian import SETTINGS_PATH, IgnoreFilters, ObsidianSettings, read_settings

DOT_FOLDER: Final = "a folder whose name begins with a dot"


class ExcludeRules:
    """All exclude rules of a vault: the user's patterns and Obsidian's filters."""

    def __init__(
        self, exclude: Sequence[str] = (), obsidian: ObsidianSettings | None = None
    ) -> None:
        self._patterns = ExcludePatterns(exclude)
        self._obsidian = obsidian or ObsidianSettings()
        self._filters = IgnoreFilters(self._obsidian.ignore_filters)

    @classmethod
    def load(cls, root: Path, exclude: Sequence[str] = ()) -> "ExcludeRules":
        """Load the current rules of a vault.

        Args:
            root: the vault's folder, whose `.obsidian/app.json` is read.
            exclude: patterns as in a `.gitignore`.
        """
        return cls(exclude, read_settings(root))

    @property
    def attachment_folder(self) -> str:
        """The attachment folder that is set in Obsidian."""
        return self._obsidian.attachment_folder

    def __bool__(self) -> bool:
        """Return whether there are any exclude rules."""
        return bool(self._patterns or self._filters)

    def find_rule(self, path: str, is_folder: bool) -> str | None:
        """Return the rule that excludes a path, or None if no rule does.

        The rules for the parent folders are not checked here. The caller checks them first.

        Args:
            path: the path relative to the vault.
            is_folder: whether the path is a folder.
        """
        if (pattern := self._patterns.find_rule(path, is_folder)) is not None:
            return f"vault.exclude: {pattern}"
        if (found := self._filters.find_filter(path, is_folder)) is not None:
            return f"Obsidian's excluded files: {found}"
        return None

    def find_rule_on_path(self, path: str) -> str | None:
        """Return the rule that excludes a file or a folder above it, or None if none does."""
        parts = [part for part in path.split("/") if part not in ("", ".")]
        for count in range(1, len(parts) + 1):
            is_folder = count < len(parts)
            if is_folder and parts[count - 1].startswith("."):
                return DOT_FOLDER
            rule = self.find_rule("/".join(parts[:count]), is_folder)
            if rule is not None:
                return rule
        return None

    def list_problems(self) -> tuple[tuple[str, str], ...]:
        """List the rules that could not be used, as pairs of settings file and reason.

        Call this method after a scan, because some problems appear only when a rule is matched.
        """
        reasons = (
            [self._obsidian.problem] if self._obsidian.problem else self._filters.list_problems()
        )
        return ((SETTINGS_PATH, "; ".join(reasons)),) if reasons else ()


@dataclass(frozen=True, slots=True)
class _Pattern:
    text: str
    parts: tuple[re.Pattern[str] | None, ...]  # None means `**`
    is_negated: bool
    is_folder_only: bool


class ExcludePatterns:
    """Patterns as in a `.gitignore` file. If several match a path, the last one applies."""

    def __init__(self, patterns: Sequence[str]):
        self._rules = tuple(
            rule for pattern in patterns if (rule := _parse_pattern(pattern)) is not None
        )

    def __bool__(self) -> bool:
        """Return whether there are any exclude patterns."""
        return bool(self._rules)

    def find_rule(self, path: str, is_folder: bool) -> str | None:
        """Return the pattern that excludes a path, or None if no pattern does.

        The patterns for the parent folders are not checked here. The caller checks them first.

        Args:
            path: the path relative to the vault.
            is_folder: whether the path is a folder.
        """
        parts = path.split("/")
        for rule in reversed(self._rules):
            if (is_folder or not rule.is_folder_only) and _matches(rule.parts, parts):
                return None if rule.is_negated else rule.text
        return None


def _parse_pattern(pattern: str) -> _Pattern | None:
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
    return _Pattern(text, compiled, text.startswith("!"), is_folder_only)


def _matches(pattern: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> bool:
    """Return whether a pattern matches a whole path.

    Args:
        pattern: a regular expression for each path component, or None for `**`.
        parts: the components of the path.
    """
    reachable = {0}
    for index, part in enumerate(pattern):
        if part is not None:
            reachable = {at + 1 for at in reachable if at < len(parts) and part.match(parts[at])}
        elif index == len(pattern) - 1:  # `folder/**` matches the contents, not the folder
            return any(at < len(parts) for at in reachable)
        elif reachable:
            reachable = set(range(min(reachable), len(parts) + 1))
    return len(parts) in reachable
