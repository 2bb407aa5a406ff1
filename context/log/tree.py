"""The tree of a session log: paths, branches and siblings.

Messages with the same preceding message are siblings: the original and its edited or regenerated
versions. Entries between two messages, such as segments, belong to the branch of the later message.
"""

from collections.abc import Sequence
from functools import cached_property

from context.errors import UnknownEntry
from context.log.entries import Entry, LeafEntry, MessageEntry, SegmentsEntry, is_path_entry


class EntryTree:
    """An immutable tree of all entries in a session log.

    An entry with a missing parent follows the tree entry before it in the log. If an id occurs
    twice, a reference to this id means the nearest earlier entry.
    """

    def __init__(self, entries: Sequence[Entry], links: "_Links | None" = None) -> None:
        """Link entries to their parents.

        Args:
            entries: all entries of the log.
            links: links of another tree with the same first entries, which are reused, or None.
        """
        self._entries = entries
        self._links = links or _Links()
        self._links.add(entries[self._links.count :])

    def with_entries(self, more: Sequence[Entry]) -> "EntryTree":
        """Return a new tree with entries added at the end. Existing links are reused."""
        entries, links = (*self._entries, *more), self._links
        is_last = links.count == len(self._entries)
        is_new = is_last and not any(entry.id in links.places for entry in more)
        return EntryTree(entries, links if is_new else None)

    @cached_property
    def leaf(self) -> str | None:
        """The id of the entry that ends the active path, or None if the path is empty.

        This is the last entry of the tree, unless a `leaf` entry after it names another one.
        """
        at = self._leaf()
        return None if at is None else self._entries[at].id

    def path(self, leaf: str | None = None) -> tuple[Entry, ...]:
        """Return the entries from the root to a leaf, in order.

        Args:
            leaf: the id of the last entry, or None for the active leaf.

        Raises:
            UnknownEntry: when `leaf` is not an entry of the tree.
        """
        at = self._leaf() if leaf is None else self._position(leaf)
        path: list[Entry] = []
        while at is not None:
            path.append(self._entries[at])
            at = self._links.parents[at]
        return tuple(reversed(path))

    def find_place(self, entry_id: str) -> str:
        """Return the id of the tree entry that a log entry belongs to, usually the entry itself.

        An entry that is not part of the tree, such as a usage entry, belongs to its parent.

        Raises:
            UnknownEntry: when the log has no such entry, or the entry precedes all tree entries.
        """
        at = self._find(entry_id)
        if at is None and entry_id in self._links.places:
            above = self._links.places[entry_id]
            at = above if above is not None and above < len(self._entries) else None
        if at is None:
            raise UnknownEntry(f"There is no message {entry_id} in this chat.")
        return self._entries[at].id

    def children(self, message_id: str | None) -> tuple[MessageEntry, ...]:
        """Return the messages that directly follow a message, in the order of the log.

        Args:
            message_id: the id of the message, or None for the first messages of the session.

        Raises:
            UnknownEntry: when the tree has no such message.
        """
        at = None if message_id is None else self._position(message_id)
        return tuple(self._message(child) for child in self._children.get(at, ()))

    def siblings(self, message_id: str) -> tuple[MessageEntry, ...]:
        """Return a message and its other versions, in the order of the log.

        Raises:
            UnknownEntry: when the tree has no such message.
        """
        above = self._message_above(self._position(message_id))
        return tuple(self._message(child) for child in self._children.get(above, ()))

    def find_newest_leaf(self, entry_id: str) -> str:
        """Return the id of the newest entry that descends from an entry, or else its own id.

        Raises:
            UnknownEntry: when the tree has no such entry.
        """
        return self._entries[self._newest[self._position(entry_id)]].id

    def branch_point(self, message_id: str) -> str | None:
        """Return the id of the entry that a new version of a message must follow.

        Segments before a user message belong to that message. Segments after it belong to all of
        its answers. A new version of an answer replaces its first message and everything after it.
        If the new version becomes a root of the tree, return None.

        Raises:
            UnknownEntry: when the tree has no such message.
        """
        at = self._position(message_id)
        if self._role(at) != "user":
            above = self._links.parents[self._answer_start(at)]
            return None if above is None else self._entries[above].id
        above = self._links.parents[at]
        while above is not None and self._is_sent_along(above, at):
            above = self._links.parents[above]
        return None if above is None else self._entries[above].id

    def answer_point(self, user_message_id: str) -> str:
        """Return the id of the entry that a new answer to a user message must follow.

        This is the last entry before the newest answer. If there is no answer, it is the newest
        entry after the user message.

        Raises:
            UnknownEntry: when the tree has no such message.
        """
        after = self.children(user_message_id)
        answers = [message for message in after if message.message.role != "user"]
        if not after:
            return self.find_newest_leaf(user_message_id)
        return self.branch_point((answers or after)[-1].id) or user_message_id

    def _answer_start(self, at: int) -> int:
        above = self._message_above(at)
        while above is not None and self._role(above) != "user":
            at, above = above, self._message_above(above)
        return at

    def _is_sent_along(self, above: int, at: int) -> bool:
        entry = self._entries[above]
        return isinstance(entry, SegmentsEntry) and entry.turn_id == self._message(at).turn_id

    def _role(self, at: int) -> str | None:
        entry = self._entries[at]
        return entry.message.role if isinstance(entry, MessageEntry) else None

    def _position(self, entry_id: str) -> int:
        at = self._find(entry_id)
        if at is None:
            raise UnknownEntry(f"There is no message {entry_id} in this chat.")
        return at

    def _find(self, entry_id: str) -> int | None:
        at = self._links.positions.get(entry_id)
        return at if at is not None and at < len(self._entries) else None

    def _message(self, at: int) -> MessageEntry:
        entry = self._entries[at]
        assert isinstance(entry, MessageEntry)
        return entry

    def _message_above(self, at: int) -> int | None:
        above = self._links.parents[at]
        while above is not None and not isinstance(self._entries[above], MessageEntry):
            above = self._links.parents[above]
        return above

    @property
    def _path_positions(self) -> list[int]:
        return [at for at in self._links.parents if at < len(self._entries)]

    @cached_property
    def _children(self) -> dict[int | None, list[int]]:
        anchors: dict[int, int | None] = {}  # the nearest message at or above each entry
        children: dict[int | None, list[int]] = {}
        for at in self._path_positions:
            parent = self._links.parents[at]
            above = None if parent is None else anchors[parent]
            is_message = isinstance(self._entries[at], MessageEntry)
            anchors[at] = at if is_message else above
            if is_message:
                children.setdefault(above, []).append(at)
        return children

    @cached_property
    def _newest(self) -> dict[int, int]:
        newest = {at: at for at in self._path_positions}
        for at in reversed(self._path_positions):
            parent = self._links.parents[at]
            if parent is not None:
                newest[parent] = max(newest[parent], newest[at])
        return newest

    def _leaf(self) -> int | None:
        for at in range(len(self._entries) - 1, -1, -1):
            entry = self._entries[at]
            if is_path_entry(entry):
                return at
            if isinstance(entry, LeafEntry):
                if entry.target is None:
                    return None
                if (named := self._find(entry.target)) is not None:
                    return named
        return None


class _Links:
    """The links from entries to their parents, shared by trees that begin with the same entries.

    Links are only added, never changed.

    Attributes:
        count: the number of linked entries.
        positions: the index of each tree entry, by id.
        parents: the index of each tree entry's parent, by the entry's own index.
        places: the index of each tree entry, and of the parent of each other entry, by id.
    """

    def __init__(self) -> None:
        self.count = 0
        self.positions: dict[str, int] = {}
        self.parents: dict[int, int | None] = {}
        self.places: dict[str, int | None] = {}
        self._above: int | None = None

    def add(self, entries: Sequence[Entry]) -> None:
        places, above = self.places, self._above
        for at, entry in enumerate(entries, self.count):
            name = entry.parent_id
            parent = None if name is None else places.get(name, above)
            if is_path_entry(entry):
                self.parents[at] = parent
                self.positions[entry.id] = places[entry.id] = above = at
            else:
                places[entry.id] = parent
        self._above = above
        self.count += len(entries)
