"""The shared turn: retrieve, prepare, store, stream, check, save."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from chains.events import Mode
from context.entries import Entry
from vault.search import SearchResult

__all__ = ["SearchPort", "SessionPort", "TurnRequest"]


@dataclass(frozen=True)
class TurnRequest:
    """One question and the settings it is asked under.

    Attributes:
        model: `extractive`, or a model's name, with or without its provider's prefix.
        api_base: address of an OpenAI-compatible server; empty for the provider's own.
        threshold: `autoCompactThreshold`.
        offline: refuse every call that would leave this computer.
        dry_run: retrieve and prepare, but send and store nothing.
    """

    question: str
    mode: Mode
    model: str
    api_base: str
    threshold: int
    max_output_tokens: int
    temperature: float
    top_k: int
    offline: bool
    dry_run: bool = False


class SearchPort(Protocol):
    """Finds passages in the open vault."""

    def search(self, query: str, k: int) -> SearchResult:
        """Return the best `k` passages."""


class SessionPort(Protocol):
    """The log of one chat, open for writing."""

    @property
    def id(self) -> str:
        """The chat's id."""

    def path(self) -> tuple[Entry, ...]:
        """Return the active path, from the root to the active leaf."""

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries in one write, and return once they are on disk."""

    def new_id(self) -> str:
        """Return an entry id that is not in use."""

    def now(self) -> str:
        """Return the time, ISO 8601, UTC."""

    def previous_body(self) -> Mapping[str, Any] | None:
        """Return the neutral body of the previous request on this path."""

    def save_request(
        self,
        turn: str,
        request: int,
        report: dict[str, Any],
        body: dict[str, Any],
        wire: dict[str, Any] | None,
    ) -> None:
        """Keep what was sent, for `context --last`; the last request of a turn is kept."""
