"""What keeps files out by their names: the user's patterns, and Obsidian's filters."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vault.exclude.ignore_filters import IgnoreFilters
from vault.exclude.obsidian import SETTINGS_PATH, ObsidianSettings, read_settings
from vault.exclude.patterns import ExcludeRules

DOT_FOLDER: Final = "a folder whose name begins with a dot"


class Rules:
    """What keeps a path out, as it can stand in a list beside the path."""

    def __init__(
        self, exclude: Sequence[str] = (), obsidian: ObsidianSettings | None = None
    ) -> None:
        self._patterns = ExcludeRules(exclude)
        self._obsidian = obsidian or ObsidianSettings()
        self._filters = IgnoreFilters(self._obsidian.ignore_filters)

    @classmethod
    def of(cls, root: Path, exclude: Sequence[str] = ()) -> "Rules":
        """Take the rules of a vault as they are now.

        Args:
            root: the vault's folder, whose `.obsidian/app.json` is read.
            exclude: patterns as in a `.gitignore`.
        """
        return cls(exclude, read_settings(root))

    def __bool__(self) -> bool:
        """Tell whether there is any rule."""
        return bool(self._patterns or self._filters)

    def rule_for(self, path: str, is_folder: bool) -> str | None:
        """Give the rule that keeps out this path, or None when it stays in.

        The folders above it are asked about on their own, before it.
        """
        if (pattern := self._patterns.rule_for(path, is_folder)) is not None:
            return f"vault.exclude: {pattern}"
        if (found := self._filters.filter_for(path, is_folder)) is not None:
            return f"Obsidian's excluded files: {found}"
        return None

    def rule_along(self, path: str) -> str | None:
        """Give the rule that keeps out a file or a folder above it."""
        parts = [part for part in path.split("/") if part not in ("", ".")]
        for count in range(1, len(parts) + 1):
            is_folder = count < len(parts)
            if is_folder and parts[count - 1].startswith("."):
                return DOT_FOLDER
            rule = self.rule_for("/".join(parts[:count]), is_folder)
            if rule is not None:
                return rule
        return None

    def problems(self) -> tuple[tuple[str, str], ...]:
        """Say of which file which rules could not be used, and why, after they were applied."""
        reasons = [self._obsidian.problem] if self._obsidian.problem else self._filters.problems()
        return ((SETTINGS_PATH, "; ".join(reasons)),) if reasons else ()
