"""Rules that exclude files by path: the user's patterns and Obsidian's filters.

Patterns use `.gitignore` syntax, which `pathspec` reads. What it makes of them is changed so that
no pattern is slow.
"""

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
    expression: re.Pattern[str]
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
        for rule in reversed(self._rules):
            if (is_folder or not rule.is_folder_only) and rule.expression.search(path):
                return None if rule.is_negated else rule.text
        return None


# What `pathspec` writes for parts of a pattern. What a user writes is escaped there.
_FOLDER_OR_END: Final = "(?:(?P<ps_d>/)|$)"
_FOLDER: Final = "(?P<ps_d>/)"
_FIRST_FOLDERS: Final = "^(?:.+/)?"
_FOLDERS: Final = "(?:/.+)?"
_SET: Final = re.compile(r"\\.|\[\^/\]|\[(\^?)(\]?[^\]]*)\]", re.S)
_STARS: Final = re.compile(r"(\[\^/\]\*){2,}")
_STAR_AND_TEXT: Final = re.compile(
    r"\[\^/\]\*((?:\\.|(?:\(\?!/\))?\[\^?\]?(?:\\.|[^\]\\])*\]|[^\[\\/()*])+)(?=\[\^/\]\*)", re.S
)
_MANY_STARS: Final = re.compile(r"(^!?|/)\*{3,}(?=/|$)")
_LAST_BLANK: Final = re.compile(r"(?<!\\) \Z")
_BACKWARDS: Final = re.compile(r"(.)-(.)", re.S)
_WITHOUT_BLANKS: Final = re.compile(r"((?:\\.|[^\\])*?) *", re.S)


def _parse_pattern(pattern: str) -> _Pattern | None:
    """Parse a line of a `.gitignore`, or return None if it matches nothing, as in Git.

    Unlike in Git, leading blanks are dropped: a slip of the hand must not uncover private notes.
    """
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    trimmed = _WITHOUT_BLANKS.fullmatch(pattern.lstrip())
    text = trimmed[1] if trimmed else ""
    body = _MANY_STARS.sub(r"\1**", text.removesuffix("/"))
    try:
        # A blank before the last slash belongs to the name, so that it is kept with a backslash.
        found, includes = GitIgnoreSpecPattern.pattern_to_regex(_LAST_BLANK.sub(r"\\ ", body))
        if found is None:
            return None
        expression = re.compile(_make_exact(found), re.S)
    except (ValueError, re.error):
        return None
    return _Pattern(text, expression, not includes, text.endswith("/"))


def _make_exact(expression: str) -> str:
    """Let an expression of `pathspec` match whole paths only, and take no time for any pattern.

    The first place that fits decides for each `*` and `**` but the last ones, so that a pattern
    with many of them is not tried in all ways.
    """
    exact = expression.replace(_FOLDER_OR_END, r"\Z").replace(_FOLDER, r"/\Z")
    exact = _SET.sub(_write_set, _STARS.sub(r"\1", exact))
    exact = _STAR_AND_TEXT.sub(r"(?>[^/]*?\1)", exact)
    first, *others = exact.split(_FOLDERS)
    if not others:
        return first
    if first.startswith(_FIRST_FOLDERS):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_FIRST_FOLDERS)}(?=/))"
    between = "".join(f"(?>(?:/.+?)??{other}(?=/))" for other in others[:-1])
    return f"{first}{between}{_FOLDERS}{others[-1]}"


def _write_set(found: re.Match[str]) -> str:
    """Return a set of characters that has no slash, with a backslash where `re` asks for one."""
    if found[2] is None:
        return found[0]
    # Of a range whose end is before its start, Git takes the start.
    inside = _BACKWARDS.sub(lambda one: one[0] if one[1] <= one[2] else one[1], found[2])
    inside = re.sub(r"[\[\]&~|]|-(?=-)", r"\\\g<0>", inside)
    return f"(?!/)[{found[1]}{inside}]"
