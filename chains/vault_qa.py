"""Questions about the notes: passages are looked up, sent as sources, and cited."""

from collections.abc import Generator, Iterator

from chains.additions import NOTHING_ADDED, Additions
from chains.cancel import CancelToken
from chains.events import Event
from chains.model import Pause, wait_or_cancel
from chains.model_port import KeyFor
from chains.oversize import WithinPort
from chains.retrieval import SearchPort
from chains.runner import Chain, SessionPort, TurnRequest, compact_chat, preview, rebuild, run_turn
from context.force import Forced
from context.guard import PreparedRequest
from context.prior import Resolve

__all__ = ["VaultQAChain"]


class VaultQAChain:
    """Answers from the notes, with a number behind each claim."""

    def __init__(
        self,
        key_for: KeyFor,
        search: SearchPort,
        *,
        pause: Pause = wait_or_cancel,
        resolve: Resolve | None = None,
        additions: Additions = NOTHING_ADDED,
        within: WithinPort | None = None,
    ) -> None:
        self._chain = Chain(
            "vault_qa", key_for, search, pause, resolve, additions=additions, within=within
        )

    def run(
        self, request: TurnRequest, session: SessionPort, cancel: CancelToken
    ) -> Iterator[Event]:
        """Answer one question, as `runner.run_turn` does."""
        return run_turn(self._chain, request, session, cancel)

    def compact(
        self,
        request: TurnRequest,
        session: SessionPort,
        cancel: CancelToken,
        instructions: str = "",
    ) -> Generator[Event, None, Forced]:
        """Make a summary of everything before the last complete turn."""
        return compact_chat(self._chain, request, session, cancel, instructions)

    def preview(self, request: TurnRequest, session: SessionPort | None) -> PreparedRequest:
        """Return what would be sent next; nothing is looked up, stored or called."""
        return preview(self._chain, request, session)

    def rebuild(self, request: TurnRequest, session: SessionPort) -> PreparedRequest:
        """Return the last request of a chat as it is made from the log."""
        return rebuild(self._chain, request, session)
