"""What every chain can do with a chat beside asking in it, whatever it does differently."""

from collections.abc import Generator

from chains.cancel import CancelToken
from chains.events import Event
from chains.request.session import ChatPort
from chains.retrieval.map_reduce.plan import ReadingCost
from chains.turn.run import (
    Chain,
    SessionPort,
    TurnRequest,
    compact_chat,
    preview,
    reading_cost,
    rebuild,
)
from context.fit.force_compact import Forced
from context.fit.guard import PreparedRequest

__all__ = ["SharedChain"]


class SharedChain:
    """The parts of a chain that follow from what it does differently."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    def _chain_for(
        self,
        request: TurnRequest,  # noqa: ARG002 - for chains that depend on it
        session: ChatPort | None,  # noqa: ARG002
    ) -> Chain:
        """Return the chain as it is in a chat; None is a chat that has not begun."""
        return self._chain

    def compact(
        self,
        request: TurnRequest,
        session: SessionPort,
        cancel: CancelToken,
        instructions: str = "",
    ) -> Generator[Event, None, Forced]:
        """Make a summary of everything before the last complete turn."""
        return compact_chat(
            self._chain_for(request, session), request, session, cancel, instructions
        )

    def preview(self, request: TurnRequest, session: SessionPort | None) -> PreparedRequest:
        """Return what would be sent next; nothing is looked up, stored or called."""
        return preview(self._chain_for(request, session), request, session)

    def reading_cost(self, request: TurnRequest, session: SessionPort | None) -> ReadingCost | None:
        """Return what it takes at most to read what is attached whole; None where all of it fits.

        Raises:
            CannotRead: it cannot be read whole.
        """
        return reading_cost(self._chain_for(request, session), request, session)

    def rebuild(self, request: TurnRequest, session: SessionPort) -> PreparedRequest:
        """Return the first request of a chat's last turn as it is made from the log."""
        return rebuild(self._chain_for(request, session), request, session)
