"""Questions about the notes: passages are looked up, sent as sources, and cited."""

from collections.abc import Iterator

from chains.cancel import CancelToken
from chains.events import Event
from chains.llm.port import KeyFor
from chains.model import Pause, wait_or_cancel
from chains.prompts import NOTHING_ADDED, Additions
from chains.retrieval.attachments import WithinPort
from chains.retrieval.passages import SearchPort
from chains.turn.run import Chain, SessionPort, TurnRequest, run_turn
from chains.turn.shared_chain import SharedChain
from context.assemble.attachments import Resolve

__all__ = ["VaultQAChain"]


class VaultQAChain(SharedChain):
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
        super().__init__(
            Chain("vault_qa", key_for, search, pause, resolve, additions=additions, within=within)
        )

    def run(
        self, request: TurnRequest, session: SessionPort, cancel: CancelToken
    ) -> Iterator[Event]:
        """Answer one question, as `runner.run_turn` does."""
        return run_turn(self._chain, request, session, cancel)
