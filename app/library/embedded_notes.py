"""Find and read the notes that notes and answers embed, in the vault or outside of it."""

import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import Final

from app.errors import NotFound
from app.library.projects import Projects
from vault.access import PRIVATE, read_allowed
from vault.embeds import EmbeddedPart, cut_part
from vault.errors import NoteExcluded
from vault.notes.kinds import MARKDOWN
from vault.notes.links import LinkResolver
from vault.vault import Vault
from vault.views.blocks import (
    BLOCK_KINDS,
    ComputedBlock,
    ViewBlock,
    compute_block,
    compute_inline,
    find_view_blocks,
)
from vault.views.view import ComputedView

__all__ = ["EmbeddedNotes", "compute_note"]

_IN_NO_PROJECT: Final = "This file is in no project, so no notes are searched for it."


def compute_note(vault: Vault, path: str, view: str, most: int) -> tuple[ComputedBlock, ...]:
    """Compute a base, or the bases and queries in a note.

    Args:
        vault: the notes.
        path: the path of the base or note.
        view: the name of the only view to return, or an empty string for all.
        most: the most rows of each view.

    Raises:
        NotFound: there is no base or query, or no view of this name.
        NoteUnreadable: the note cannot be read.
        UnsafePath: the path leads out of the vault.
    """
    blocks = find_view_blocks(vault.read_note(path))
    if not blocks:
        raise NotFound(f"There is no base or query in {path}.")
    found = tuple(compute_block(vault, block, path, most) for block in blocks)
    if not view:
        return found
    named = (replace(one, views=tuple(_choose_views(one, view))) for one in found)
    chosen = tuple(one for one in named if one.views)
    if not chosen:
        raise NotFound(f"There is no view named {view} in {path}.")
    return chosen


def _choose_views(computed: ComputedBlock, name: str) -> Iterator[ComputedView]:
    for view in computed.views:
        if not isinstance(view, str) and view.view.name.casefold() == name.casefold():
            yield view


def _make_absolute(view: ComputedView, root: Path) -> ComputedView:
    rows = tuple(replace(row, path=str(root / row.path)) for row in view.rows)
    return replace(view, rows=rows)


class EmbeddedNotes:
    """Finds and reads embedded notes.

    Excluded notes of the vault are read, since exclusion hides them only from models. Private notes
    are not read: the user has to open them on purpose.

    Args:
        vault: the open vault, or None if no vault is open.
        projects: the projects, whose folders may be outside of the vault.
    """

    def __init__(self, vault: Vault | None, projects: Projects) -> None:
        self._vault, self._projects = vault, projects
        self._inline: dict[tuple[str, str], str | None] = {}

    @cached_property
    def _names(self) -> LinkResolver:
        """The names of the vault's notes that are on disk."""
        notes = () if self._vault is None else self._vault.list_names()
        return LinkResolver((note.path, ()) for note in notes)

    @cached_property
    def _aliases(self) -> LinkResolver:
        """The names, aliases and titles of the vault's notes that are in the index."""
        return LinkResolver(()) if self._vault is None else self._vault.build_link_resolver()

    def resolve(self, target: str, source: str) -> str | None:
        """Return the path of the note that a link leads to, or None if there is none.

        Args:
            target: the name or path in the link, without heading. It may be empty for a link within
                a note.
            source: the path of the note with the link. For a link in an answer, this is the folder
                of a project outside the vault, or otherwise an empty string.
        """
        if not target:
            return source or None
        if PurePath(source).is_absolute():
            found = self._projects.resolve_link(target, source)
            if found is not None or not Path(source).is_dir():
                return found
            source = ""
        found = self._names.resolve(target, source) or self._aliases.resolve(target, source)
        return found or self._find_excluded(target, source)

    def _find_excluded(self, target: str, source: str) -> str | None:
        """Return the path of a note on disk that is not among the names, by its exact path."""
        if self._vault is None:
            return None
        suffix = "" if target.lower().endswith(MARKDOWN.suffixes) else MARKDOWN.suffixes[0]
        for folder in (posixpath.dirname(source), ""):
            path = posixpath.normpath(posixpath.join(folder, target.lstrip("/") + suffix))
            if not path.startswith("../") and os.path.isfile(self._vault.root / path):
                return path
        return None

    def compute_view(self, language: str, text: str, path: str, most: int) -> ComputedBlock | None:
        """Compute a base or query of a note from the index, or return None without a vault.

        One of a project outside of the vault is computed from the notes of the project, whose paths
        are absolute.

        Args:
            language: `base`, `dataview` or `tasks`.
            text: the base or query.
            path: the path of the note, or as `source` for `resolve`.
            most: the most rows of each view.

        Raises:
            NotFound: the folder of the project does not exist.
            VaultUnreadable: the folder cannot be read.
            InvalidRequest: the project's settings file is damaged.
            StorageFailed: the project's index cannot be written.
        """
        block = ViewBlock(BLOCK_KINDS[language], text, (1, 1))
        if PurePath(path).is_absolute():
            return self._compute_outside(block, Path(path), most)
        return None if self._vault is None else compute_block(self._vault, block, path, most)

    def prepare_inline(self, texts: Sequence[str], path: str) -> None:
        """Compute inline queries of Dataview together, which takes little more time than one.

        Args:
            texts: the expressions, such as `this.due`.
            path: the path of the note that contains them, absolute if it is outside of the vault.

        Raises:
            VaultUnreadable: the folder cannot be read.
            InvalidRequest: the project's settings file is damaged.
            StorageFailed: the project's index cannot be written.
        """
        unknown = [text for text in dict.fromkeys(texts) if (path, text) not in self._inline]
        found = self._compute_inline(unknown, path)
        self._inline.update({(path, text): one for text, one in zip(unknown, found, strict=True)})

    def compute_inline(self, text: str, path: str) -> str | None:
        """Compute an inline query as `prepare_inline`, or return None if it is not understood."""
        self.prepare_inline([text], path)
        return self._inline[path, text]

    def _compute_inline(self, texts: Sequence[str], path: str) -> list[str | None]:
        if not texts:
            return []
        if not PurePath(path).is_absolute():
            unknown: list[str | None] = [None] * len(texts)
            return unknown if self._vault is None else compute_inline(self._vault, texts, path)
        root = self._projects.find_folder_around(Path(path))
        if root is None:
            return [None] * len(texts)
        project = self._projects.open(str(root))
        return compute_inline(project, texts, Path(path).relative_to(root).as_posix())

    def _compute_outside(self, block: ViewBlock, file: Path, most: int) -> ComputedBlock:
        root = self._projects.find_folder_around(file)
        if root is None:
            return ComputedBlock(block, (_IN_NO_PROJECT,))
        project = self._projects.open(str(root))
        computed = compute_block(project, block, file.relative_to(root).as_posix(), most)
        views = tuple(
            view if isinstance(view, str) else _make_absolute(view, root) for view in computed.views
        )
        return replace(computed, views=views)

    def read(self, path: str, anchor: str = "") -> EmbeddedPart | None:
        """Return a note or a part of it, or None if the note has no such part.

        Args:
            path: the path of the note, absolute if it is outside of the vault.
            anchor: the heading or `^block`, or an empty string for the whole note.

        Raises:
            NoteExcluded: the note is marked as private, or is outside of the vault and excluded.
            NoteUnreadable: the file cannot be read as text.
            UnsafePath: the path leads out of the vault.
        """
        file = Path(path)
        if self._vault is None or file.is_absolute():
            return cut_part(read_allowed(file.parent, file.name), anchor)
        note = self._vault.read_note(path)
        if note.is_private:
            raise NoteExcluded(path, PRIVATE)
        return cut_part(note, anchor)
