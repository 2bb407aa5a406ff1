"""A vault's notes and images as a tree of folders, which is rebuilt after each change.

Building the tree of a large vault in the GUI thread would block the window. Therefore, the tree
consists of plain values, which any thread can build. If only the states of notes have changed, the
nodes of the new tree have the same numbers as before, so a view can keep its rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault.records import NoteState

__all__ = ["ROOT", "Folders", "Node"]

ROOT = 0
_NUMBER = re.compile(r"(\d+)")


@dataclass
class Node:
    """A folder, note or image in the tree.

    Attributes:
        number: the node's index in the list of all nodes.
        parent: the number of the parent folder, or -1 for the root.
        place: the node's row within its parent folder, from 0.
        note: the note, or None for a folder or an image.
        is_image: whether the node is an image.
        children: the numbers of the child nodes: folders first, then by name. Digits in names are
            compared as numbers, so `Chapter 9` is before `Chapter 10`.
        notes: the number of notes in the folder and its subfolders.
        problems: how many of these notes could not be read.
    """

    name: str
    number: int
    parent: int
    place: int = 0
    note: "NoteState | None" = None
    children: list[int] = field(default_factory=list)
    notes: int = 0
    problems: int = 0
    is_image: bool = False

    @property
    def is_file(self) -> bool:
        """Whether the node is a note or an image."""
        return self.is_image or self.note is not None

    @property
    def appearance(self) -> str:
        """A string that changes whenever the node has to be drawn again.

        It consists of a folder's counts, or of the state and reason of a note that is excluded or
        could not be read. For other notes and for images, it is constant.
        """
        if self.note is None:
            return f"{self.notes} {self.problems}"
        is_marked = self.note.state in {"excluded", "failed"}
        return f"{self.note.state} {self.note.reason}" if is_marked else ""


class Folders:
    """A vault's folders, notes and images as a list of nodes. The first node is the vault."""

    def __init__(self, notes: "Sequence[NoteState]" = (), images: Sequence[str] = ()) -> None:
        self.notes, self.images = tuple(notes), tuple(images)
        self.nodes = [Node("", ROOT, -1)]
        self._folders = {"": ROOT}
        for note in self.notes:
            self._add(note)
        for path in self.images:
            above, _, name = path.rpartition("/")
            self.nodes[self._make(name, self._folder(above))].is_image = True
        self._sort()
        self._paths = (*(note.path for note in self.notes), "", *self.images)
        self._appearances = [node.appearance for node in self.nodes]

    def has_same_paths(self, other: "Folders") -> bool:
        """Return whether another tree has the same notes and images with the same numbers."""
        return self._paths == other._paths

    def list_changed_nodes(self, before: "Folders") -> list[int]:
        """Return the numbers of the nodes that look different from those in an earlier tree.

        Args:
            before: the earlier tree, which must have the same paths.
        """
        pairs = zip(before._appearances, self._appearances, strict=True)
        return [number for number, (old, new) in enumerate(pairs) if old != new]

    def path(self, number: int) -> str:
        """Return the path of a node, relative to the vault."""
        names, node = list[str](), self.nodes[number]
        while node.parent >= 0:
            names.append(node.name)
            node = self.nodes[node.parent]
        return "/".join(reversed(names))

    def depth(self, number: int) -> int:
        """Return the depth of a node in the tree. Children of the root have depth 0."""
        depth, node = 0, self.nodes[number]
        while node.parent > ROOT:
            node = self.nodes[node.parent]
            depth += 1
        return depth

    def find(self, path: str) -> Node | None:
        """Return the node at a path relative to the vault, or None if there is no such node."""
        above, _, name = path.rpartition("/")
        folder = self._folders.get(above)
        if not path or folder is None:
            return None
        below = (self.nodes[number] for number in self.nodes[folder].children)
        return next((node for node in below if node.name == name), None)

    def _add(self, note: "NoteState") -> None:
        above, _, name = note.path.rpartition("/")
        number = self._make(name, self._folder(above))
        self.nodes[number].note = note
        while (number := self.nodes[number].parent) >= 0:
            self.nodes[number].notes += 1
            self.nodes[number].problems += note.state == "failed"

    def _folder(self, path: str) -> int:
        if path not in self._folders:
            above, _, name = path.rpartition("/")
            self._folders[path] = self._make(name, self._folder(above))
        return self._folders[path]

    def _make(self, name: str, parent: int) -> int:
        self.nodes.append(Node(name, len(self.nodes), parent))
        self.nodes[parent].children.append(self.nodes[-1].number)
        return self.nodes[-1].number

    def _sort(self) -> None:
        nodes = self.nodes
        for node in nodes:
            node.children.sort(key=lambda n: (nodes[n].is_file, _build_sort_key(nodes[n].name)))
            for place, child in enumerate(node.children):
                nodes[child].place = place


def _build_sort_key(name: str) -> list[str | int]:
    """Return a sort key that compares digits as numbers, so "Note 2" comes before "Note 10"."""
    parts = _NUMBER.split(name.casefold())
    return [int(part) if at % 2 else part for at, part in enumerate(parts)]
