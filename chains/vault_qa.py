"""Questions about the notes: passages are looked up, sent as sources, and cited."""

from collections.abc import Iterator

from chains.cancel import CancelToken
from chains.events import Event
from chains.llm_chain import KeyFor
from chains.runner import SearchPort, SessionPort, TurnRequest
from context.pipeline import PreparedRequest


class VaultQAChain:
    """Answers from the notes, with a number behind each claim.

    Args of the constructor: `key_for` returns the key of a provider, or None.
    """

    def __init__(self, key_for: KeyFor, search: SearchPort) -> None:
        self._key_for = key_for
        self._search = search

    def run(
        self, request: TurnRequest, session: SessionPort, cancel: CancelToken
    ) -> Iterator[Event]:
        """Answer one question; the last event is `TurnEnded`."""
        raise NotImplementedError

    def preview(self, request: TurnRequest, session: SessionPort | None) -> PreparedRequest:
        """Return what would be sent next; nothing is looked up, stored or called."""
        raise NotImplementedError
