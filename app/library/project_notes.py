"""The notes of a project: part of the open vault, or a folder with its own index.

Notes of a project in the vault have paths relative to the vault. Otherwise they have absolute
paths, so that they can be opened from other vaults.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.library.instructions import FILE_NAME
from app.library.library import Library
from chains.request.project import ProjectFile
from context.layers import Segment
from vault.errors import NoteUnreadable
from vault.exclude.rules import ExcludePatterns
from vault.index import NoteState
from vault.notes.links import LinkResolver
from vault.notes.note import Note
from vault.questions.reader import Reading
from vault.search.hits import Hit
from vault.search.search import SearchResult

__all__ = ["ProjectNotes"]


class ProjectNotes:
    """The notes of a project.

    Models and tools use a project only through this object, so they cannot reach other notes.
    """

    def __init__(
        self, library: Library, inside: str | None, include: Sequence[str], exclude: Sequence[str]
    ) -> None:
        """Select the notes of a project from a library.

        Args:
            library: the open vault, or the project's own index.
            inside: the path of the project's folder in the vault, or None if it is outside the
                vault.
            include: patterns in `.gitignore` syntax for the project's notes. If there are none, all
                notes in the folder belong to the project.
            exclude: patterns in `.gitignore` syntax for notes to leave out.
        """
        self.library = library
        self._is_own = inside is None
        self._prefix = "" if inside in (None, ".", "") else f"{inside}/"
        self._included, self._excluded = tuple(include), tuple(exclude)
        self._include = ExcludePatterns(include)
        self._exclude = ExcludePatterns(exclude)

    @property
    def root(self) -> Path:
        """The vault's folder, or the project's folder if the project is outside the vault.

        The library's paths are relative to this folder.
        """
        return self.library.root

    @property
    def folder(self) -> Path:
        """The folder of the project."""
        return self.library.root / self._prefix

    @property
    def name(self) -> str:
        """The name of the project's folder."""
        return self.folder.name

    @property
    def instructions_path(self) -> str:
        """The path of the project's AGENTS.md, relative to `root`."""
        return f"{self._prefix}{FILE_NAME}"

    def covers(self, path: str) -> bool:
        """Return whether the note at a path belongs to the project."""
        if not path.startswith(self._prefix):
            return False
        relative = path[len(self._prefix) :]
        if _matches(self._exclude, relative):
            return False
        return not self._include or _matches(self._include, relative)

    def search(
        self,
        query: str,
        k: int,
        *,
        in_play: Collection[str] = (),
        reranks: bool = True,
        is_quoted: bool = False,
    ) -> SearchResult:
        """Return the `k` passages of the project that best match a query.

        The other arguments are the same as for `Searcher.search`.
        """
        own = tuple(map(self._find_library_path, in_play))
        search = partial(self.library.search, in_play=own, covers=self.covers)
        return self._show(search(query, k, reranks=reranks, is_quoted=is_quoted))

    def excerpts(self, query: str, k: int) -> SearchResult:
        """Return the best `k` excerpts in the project, as `Library.excerpts` does."""
        return self._show(self.library.excerpts(query, k, self.covers))

    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:
        """Return one page of the project's notes that match a query."""
        return self._show(self.library.list_notes(query, limit, offset, covers=self.covers))

    def read_question(self, text: str) -> Reading | None:
        """Read a question against the notes of the project, or return None."""
        return self.library.read_question(text, self.covers)

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Return the `k` passages of attachments that best match a query.

        The attachments may be outside of the project.
        """
        return self.library.search_within(segments, query, k)

    def measure_cosines(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the cosine similarity between a query and each of several short texts.

        The result is empty if the index has no vectors or the embedding model cannot be used.
        """
        return self.library.measure_cosines(query, texts)

    def find_days(self, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Map the paths of the given notes to the dates in their properties, in ISO 8601."""
        found = self.library.find_days([*map(self._find_library_path, paths)])
        return {self.name_path(path): days for path, days in found.items()}

    def notes(self) -> tuple[NoteState, ...]:
        """Return the state of every note in the project."""
        return tuple(note for note in self.library.notes() if self.covers(note.path))

    def tags(self) -> Mapping[str, Sequence[str]]:
        """Map each tag, without its leading `#`, to the paths of the project notes that have it."""
        inside = {
            tag: tuple(path for path in paths if self.covers(path))
            for tag, paths in self.library.tags().items()
        }
        return {tag: paths for tag, paths in inside.items() if paths}

    def build_link_resolver(self) -> LinkResolver:
        """Build a link resolver for all indexed notes, including those outside the project."""
        return self.library.build_link_resolver()

    def list_edit_patterns(self) -> tuple[str, ...]:
        """Return patterns in `.gitignore` syntax that exclude all notes outside of the project."""
        found: list[str] = []
        above = ""
        for name in filter(None, self._prefix.split("/")):
            found += (f"{above}/*", f"!{above}/{name}/")
            above += f"/{name}"
        if self._include:
            found.append(f"{above}/**/*.*")
        for pattern in self._included:
            anchored = _anchor(above, pattern)
            found += (f"!{anchored}", f"!{anchored.rstrip('/')}/**")
        return (*found, *(_anchor(above, pattern) for pattern in self._excluded))

    def still_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the given paths, except those outside the project or excluded from models."""
        return self.library.still_allowed([path for path in paths if self.covers(path)])

    def read_allowed(self, path: str) -> Note:
        """Read the current version of a project note.

        Raises:
            NoteUnreadable: the note is not in the project, or cannot be read.
            NoteExcluded: the note is excluded by a rule or marked as private.
        """
        own = self._find_library_path(path)
        file = self.library.root / own
        places = [Path(os.path.normpath(file)), file.resolve()]  # the second one differs for a link
        if not all(self.covers(os.path.relpath(place, self.library.root)) for place in places):
            raise NoteUnreadable(path, "it is not in this project")
        note = self.library.read_allowed(own)
        return replace(note, path=self.name_path(own))

    def list_newest(self) -> Sequence[ProjectFile]:
        """List the project's notes that models may read, most recently changed first."""
        known = [note.path for note in self.notes() if note.state == "indexed"]
        allowed = self.still_allowed(known) - {self.instructions_path}
        found: list[tuple[int, ProjectFile]] = []
        for path in allowed:
            relative = path[len(self._prefix) :]
            try:
                stat = (self.library.root / path).stat()
            except OSError:  # deleted meanwhile
                continue
            file = ProjectFile(self.name_path(path), relative, stat.st_size)
            found.append((stat.st_mtime_ns, file))
        return [file for _, file in sorted(found, key=lambda one: (-one[0], one[1].relative))]

    def _show(self, found: SearchResult) -> SearchResult:
        if not self._is_own:
            return found
        base = str(self.library.root)
        hits = (replace(hit, path=self.name_path(hit.path), base=base) for hit in found.hits)
        return replace(found, hits=tuple(hits))

    def name_path(self, path: str) -> str:
        """Convert a path in the library to the path that chats use for the note.

        For a project outside of the vault, this is the absolute path. Models and tools use the path
        in the project.
        """
        return f"{self.library.root}/{path}" if self._is_own else path

    def _find_library_path(self, path: str) -> str:
        """Convert the path that models, tools or chats use for a note to its path in the library.

        This is the inverse of `name_path`.
        """
        return path.removeprefix(f"{self.library.root}/") if self._is_own else path


def _anchor(folder: str, pattern: str) -> str:
    """Convert a pattern that is relative to a project to one relative to the vault.

    Args:
        folder: the project's path in the vault, such as `/a/b`, or an empty string for the vault.
        pattern: a pattern in `.gitignore` syntax.
    """
    between = "/" if "/" in pattern.rstrip("/") else "/**/"
    return f"{folder}{between}{pattern.removeprefix('/')}"


def _matches(patterns: ExcludePatterns, path: str) -> bool:
    parts = path.split("/")
    return any(
        patterns.find_rule("/".join(parts[:count]), count < len(parts)) is not None
        for count in range(1, len(parts) + 1)
    )
