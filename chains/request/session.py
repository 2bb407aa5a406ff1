"""A chat as a turn sees it: what it says so far, and where more of it is written."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from context.log.entries import Entry, OtherEntry, UsageEntry

__all__ = ["ChatPort", "ChatView", "SessionPort"]


class ChatPort(Protocol):
    """One chat as far as a turn is made from it."""

    @property
    def id(self) -> str:
        """The chat's id; empty for one that has not begun."""

    def path(self) -> tuple[Entry, ...]:
        """Return the active path, from the root to the active leaf."""

    def usage(self) -> Sequence[UsageEntry]:
        """Return what services have counted in this chat, oldest first."""

    def custom(self, custom_type: str) -> Sequence[OtherEntry]:
        """Return the custom entries of a kind in this chat, oldest first."""

    def degraded(self) -> Sequence[str]:
        """Return what beside the log does not work, one sentence each."""

    def new_id(self) -> str:
        """Return an entry id that is not in use."""

    def now(self) -> str:
        """Return the time, ISO 8601, UTC."""

    def previous_body(self) -> Mapping[str, Any] | None:
        """Return the neutral body of the previous request on this path."""


class SessionPort(ChatPort, Protocol):
    """The log of one chat, open for writing."""

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries in one write, and return once they are on disk."""

    def save_request(
        self,
        turn: str,
        request: int,
        report: dict[str, Any],
        body: Mapping[str, Any],
        wire: Mapping[str, Any] | None,
    ) -> None:
        """Keep what was sent, for `context --last`; the last request of a turn is kept."""

    def save_report(self, turn: str, request: int, report: dict[str, Any]) -> bool:
        """Keep how a request turned out; return whether the request itself is kept."""


class ChatView:
    """A chat that is only looked at, or has not begun; nothing can be written to it."""

    def __init__(
        self,
        id: str = "",
        path: tuple[Entry, ...] = (),
        usage: Sequence[UsageEntry] = (),
        previous: Mapping[str, Any] | None = None,
        like: ChatPort | None = None,
    ) -> None:
        self.id = id
        self._path = path
        self._usage = usage
        self._previous = previous
        self._like = like
        self._ids = 0

    def path(self) -> tuple[Entry, ...]:
        """Return the path that is looked at."""
        return self._path

    def usage(self) -> Sequence[UsageEntry]:
        """Return what services have counted in this chat, oldest first."""
        return self._usage

    def custom(self, custom_type: str) -> Sequence[OtherEntry]:
        """Return the custom entries of a kind in the chat that this is a view of."""
        return () if self._like is None else self._like.custom(custom_type)

    def degraded(self) -> Sequence[str]:
        """Return what beside the log does not work, one sentence each."""
        return () if self._like is None else self._like.degraded()

    def new_id(self) -> str:
        """Return an id for an entry that will not be stored."""
        self._ids += 1
        return f"{self._ids:08x}"

    def now(self) -> str:
        """Return no time: nothing is stored."""
        return ""

    def previous_body(self) -> Mapping[str, Any] | None:
        """Return the neutral body of the previous request on this path."""
        return self._previous
