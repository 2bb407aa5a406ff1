"""A chat with a model alone: no notes are looked up."""

from collections.abc import Callable, Iterator

from chains.cancel import CancelToken
from chains.events import Event
from chains.runner import SessionPort, TurnRequest
from context.pipeline import PreparedRequest

KeyFor = Callable[[str], str | None]


class LLMChain:
    """Answers from the conversation alone.

    Args of the constructor: `key_for` returns the key of a provider, or None.
    """

    def __init__(self, key_for: KeyFor) -> None:
        self._key_for = key_for

    def run(
        self, request: TurnRequest, session: SessionPort, cancel: CancelToken
    ) -> Iterator[Event]:
        """Answer one question; the last event is `TurnEnded`."""
        raise NotImplementedError

    def preview(self, request: TurnRequest, session: SessionPort | None) -> PreparedRequest:
        """Return what would be sent next; nothing is looked up, stored or called."""
        raise NotImplementedError
