"""A chat with a model alone: no notes are looked up."""

from collections.abc import Iterator, Sequence

from chains.cancel import CancelToken
from chains.events import Event
from chains.llm.port import KeyFor
from chains.model import Pause, wait_or_cancel
from chains.prompts import NOTHING_ADDED, Additions
from chains.request.session import ChatPort
from chains.retrieval.attachments import WithinPort
from chains.turn.branch_summary import BranchSummary, summarise_branch
from chains.turn.run import Chain, SessionPort, TurnRequest, run_turn
from chains.turn.shared_chain import SharedChain
from context.assemble.attachments import Resolve
from context.history.turns import Turn

__all__ = ["LLMChain"]


class LLMChain(SharedChain):
    """Answers from the conversation alone."""

    def __init__(
        self,
        key_for: KeyFor,
        *,
        pause: Pause = wait_or_cancel,
        resolve: Resolve | None = None,
        additions: Additions = NOTHING_ADDED,
        within: WithinPort | None = None,
    ) -> None:
        super().__init__(
            Chain("chat", key_for, pause=pause, resolve=resolve, additions=additions, within=within)
        )

    def run(
        self, request: TurnRequest, session: SessionPort, cancel: CancelToken
    ) -> Iterator[Event]:
        """Answer one question, as `runner.run_turn` does."""
        return run_turn(self._chain, request, session, cancel)

    def summarise_branch(
        self, request: TurnRequest, branch: Sequence[Turn], chat: ChatPort, cancel: CancelToken
    ) -> BranchSummary:
        """Return what was said in a branch that was left, as `branch_summary` does."""
        return summarise_branch(self._chain, request, branch, chat, cancel)
