"""The interface through which a turn accesses a session, and a read-only view of a session."""

from collections.abc import Callable, Mapping, Sequence
from io import UnsupportedOperation
from typing import Any, Protocol

from context.assemble.request import Request
from context.log.entries import Entry, MessageEntry, OtherEntry, UsageEntry

__all__ = ["SessionPort", "SessionView"]


class SessionPort(Protocol):
    """A session: its active path, log, stored requests and tool results."""

    @property
    def id(self) -> str:
        """The session id, or an empty string if the session has not started."""

    def path(self) -> tuple[Entry, ...]:
        """Return the log entries of the active path, from the root to the active leaf."""

    def usage(self) -> Sequence[UsageEntry]:
        """Return the usage entries of the session, oldest first."""

    def custom(self, custom_type: str) -> Sequence[OtherEntry]:
        """Return the session's log entries of one custom type, oldest first."""

    def list_degraded(self) -> Sequence[str]:
        """Return a sentence for each broken store of the session, not counting the log."""

    def new_id(self) -> str:
        """Return an unused entry id."""

    def now(self) -> str:
        """Return the current time in UTC as ISO 8601."""

    def find_previous_body(self) -> Mapping[str, Any] | None:
        """Return the previous request in provider-neutral form, or None if there is none."""

    def append(self, entries: Sequence[Entry]) -> None:
        """Append entries to the log in one write, and flush them to disk."""

    def save_request(
        self,
        turn: str,
        request: int,
        report: dict[str, Any],
        body: Mapping[str, Any],
        wire: Mapping[str, Any] | None,
    ) -> None:
        """Store a sent request, which `strata context --last` shows.

        Only a turn's last request is kept.

        Args:
            turn: the id of the turn.
            request: the number of the request within the turn, counted from 1.
            report: the context report of the request.
            body: the request in provider-neutral form.
            wire: the data as it was sent to the provider, or None.
        """

    def keep_sent(
        self, request: Request, wire: Mapping[str, Any] | None
    ) -> Callable[[], str | None]:
        """Store a request for as long as its answer exists, in the background.

        Args:
            wire: the data as it was sent to the provider, or None if nothing was sent.

        Returns:
            A function that waits for the end, and returns the reference, or None on failure.
        """

    def keep_result(self, tool: str, content: str) -> str | None:
        """Store a tool result on disk. Return a reference to the result, or None on failure."""

    def load_result(self, ref_id: str) -> str | None:
        """Return a stored tool result, or None if it does not exist."""

    def save_report(self, turn: str, request: int, report: dict[str, Any]) -> bool:
        """Store a request's final report. Return whether the request itself is stored."""

    def save_partial(self, entry: MessageEntry) -> None:
        """Save an unfinished answer outside of the log, in case the process is killed."""

    def forget_partial(self) -> None:
        """Delete the saved unfinished answer, because the log now contains the answer."""


class SessionView:
    """A read-only view of a session, or of an empty one. Writes raise `UnsupportedOperation`."""

    def __init__(
        self,
        id: str = "",
        path: tuple[Entry, ...] = (),
        usage: Sequence[UsageEntry] = (),
        previous: Mapping[str, Any] | None = None,
        like: SessionPort | None = None,
    ) -> None:
        self.id = id
        self._path = path
        self._usage = usage
        self._previous = previous
        self._like = like
        self._ids = 0

    def path(self) -> tuple[Entry, ...]:
        """Return the log entries of the viewed path, from the root to the leaf."""
        return self._path

    def usage(self) -> Sequence[UsageEntry]:
        """Return the usage entries of the session, oldest first."""
        return self._usage

    def custom(self, custom_type: str) -> Sequence[OtherEntry]:
        """Return the viewed session's log entries of one custom type."""
        return () if self._like is None else self._like.custom(custom_type)

    def list_degraded(self) -> Sequence[str]:
        """Return a sentence for each broken store of the session, not counting the log."""
        return () if self._like is None else self._like.list_degraded()

    def new_id(self) -> str:
        """Return an entry id for a preview, which is never stored."""
        self._ids += 1
        return f"{self._ids:08x}"

    def now(self) -> str:
        """Return an empty string, because nothing is stored."""
        return ""

    def find_previous_body(self) -> Mapping[str, Any] | None:
        """Return the previous request in provider-neutral form, or None if there is none."""
        return self._previous

    def append(self, entries: Sequence[Entry]) -> None:  # noqa: ARG002
        """Raise `UnsupportedOperation`, because the view is read-only."""
        raise UnsupportedOperation("A session that is only viewed stores no entries.")

    def save_request(
        self,
        turn: str,  # noqa: ARG002
        request: int,  # noqa: ARG002
        report: dict[str, Any],  # noqa: ARG002
        body: Mapping[str, Any],  # noqa: ARG002
        wire: Mapping[str, Any] | None,  # noqa: ARG002
    ) -> None:
        """Raise `UnsupportedOperation`, because the view is read-only."""
        raise UnsupportedOperation("A session that is only viewed keeps no requests.")

    def keep_sent(
        self,
        request: Request,  # noqa: ARG002
        wire: Mapping[str, Any] | None,  # noqa: ARG002
    ) -> Callable[[], str | None]:
        """Raise `UnsupportedOperation`, because the view is read-only."""
        raise UnsupportedOperation("A session that is only viewed keeps no requests.")

    def save_report(self, turn: str, request: int, report: dict[str, Any]) -> bool:  # noqa: ARG002
        """Store nothing and return False."""
        return False

    def save_partial(self, entry: MessageEntry) -> None:  # noqa: ARG002
        """Raise `UnsupportedOperation`, because the view is read-only."""
        raise UnsupportedOperation("A session that is only viewed keeps no answers.")

    def forget_partial(self) -> None:
        """Do nothing, since no partial answer is stored."""

    def keep_result(self, tool: str, content: str) -> str | None:  # noqa: ARG002
        """Store nothing and return None."""
        return None

    def load_result(self, ref_id: str) -> str | None:
        """Return a stored tool result of the viewed session, or None if it does not exist."""
        return None if self._like is None else self._like.load_result(ref_id)
