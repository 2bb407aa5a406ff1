"""Limit a vault to a part of its notes, such as those of a project."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from vault.exclude.rules import ExcludePatterns

__all__ = ["WHOLE", "Scope"]


@dataclass(frozen=True)
class Scope:
    """A part of a vault: the notes in a folder that match patterns.

    Attributes:
        folder: the path of the folder in the vault, or an empty string for the vault's own folder.
        include: patterns in `.gitignore` syntax, relative to the folder, for the notes to use. If
            there are none, all notes in the folder are used.
        exclude: patterns in `.gitignore` syntax, relative to the folder, for notes to leave out.
        has_full_paths: whether the notes have absolute paths, so that they can be opened from
            other vaults.
    """

    folder: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    has_full_paths: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether this is the whole vault, which no project limits."""
        return self == WHOLE

    @property
    def prefix(self) -> str:
        """The start of the paths of all notes in the scope, such as `a/b/`."""
        return "" if self.folder in ("", ".") else f"{self.folder}/"

    def covers(self, path: str) -> bool:
        """Return whether the scope covers the note at a path in the vault."""
        if not path.startswith(self.prefix):
            return False
        relative = path[len(self.prefix) :]
        if _matches(self._excluded, relative):
            return False
        return not self._included or _matches(self._included, relative)

    def covers_file(self, root: Path, path: str) -> bool:
        """Return whether the scope covers a note, and the file that its path leads to.

        Args:
            root: the folder of the vault.
            path: the path in the vault. It may be a symbolic link, or contain `..`.
        """
        if self.is_whole:
            return True
        file = root / path
        places = (Path(os.path.normpath(file)), file.resolve())  # the second differs for a link
        return all(self.covers(os.path.relpath(place, root)) for place in places)

    def name_path(self, root: Path, path: str) -> str:
        """Convert a path in the vault to the path that chats use for the note.

        Args:
            root: the folder of the vault.
            path: the path in the vault.
        """
        return f"{root}/{path}" if self.has_full_paths else path

    def find_path(self, root: Path, named: str) -> str:
        """Convert the path that models, tools or chats use for a note to its path in the vault.

        This is the inverse of `name_path`.

        Args:
            root: the folder of the vault.
            named: the path to convert.
        """
        return named.removeprefix(f"{root}/") if self.has_full_paths else named

    def list_edit_patterns(self) -> tuple[str, ...]:
        """Return patterns in `.gitignore` syntax that exclude all notes outside of the scope."""
        found: list[str] = []
        above = ""
        for name in filter(None, self.prefix.split("/")):
            found += (f"{above}/*", f"!{above}/{name}/")
            above += f"/{name}"
        if self.include:
            found.append(f"{above}/**/*.*")
        for pattern in self.include:
            anchored = _anchor(above, pattern)
            found += (f"!{anchored}", f"!{anchored.rstrip('/')}/**")
        return (*found, *(_anchor(above, pattern) for pattern in self.exclude))

    @cached_property
    def _included(self) -> ExcludePatterns:
        return ExcludePatterns(self.include)

    @cached_property
    def _excluded(self) -> ExcludePatterns:
        return ExcludePatterns(self.exclude)


WHOLE: Final = Scope()


def _anchor(folder: str, pattern: str) -> str:
    """Convert a pattern that is relative to a scope's folder to one relative to the vault.

    Args:
        folder: the folder's path in the vault, such as `/a/b`, or an empty string for the vault.
        pattern: a pattern in `.gitignore` syntax.
    """
    between = "/" if "/" in pattern.rstrip("/") else "/**/"
    return f"{folder}{between}{pattern.removeprefix('/')}"


def _matches(patterns: ExcludePatterns, path: str) -> bool:
    parts: Sequence[str] = path.split("/")
    return any(
        patterns.find_rule("/".join(parts[:count]), count < len(parts)) is not None
        for count in range(1, len(parts) + 1)
    )
