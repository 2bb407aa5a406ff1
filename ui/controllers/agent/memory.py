"""Offer to remove long-term memories whose message was edited away.

A memory belongs to all chats, so it stays when the message in which a model added it is edited,
when its answer is regenerated, or when the user goes back to an earlier version.
"""

from collections.abc import Sequence
from functools import partial

from app.errors import describe
from app.sessions.abandoned_memory import AbandonedMemory, find_abandoned_memories
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.tasks import LatestOnly
from ui.widgets.buttons import ButtonText
from ui.widgets.formatting import plural

__all__ = ["MemoryController"]

_REMOVE = ButtonText("Remove this memory", "Models are not given it any more, in any chat")
_REMOVE_ALL = ButtonText("Remove these memories", "Models are not given them any more, in any chat")
_Found = tuple[str, frozenset[str], Sequence[AbandonedMemory]]


class MemoryController(ChatController):
    """Asks whether to remove the memories that another version of a message has left behind."""

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self._notifier = self._frame.notifier
        self._paths: dict[str, frozenset[str]] = {}  # the branch that each chat showed last
        self._finds = LatestOnly(self._runner, 0, self)
        self._finds.answered.connect(self._on_found)
        session.loaded.connect(self._on_loaded)

    def _on_loaded(self, _transcript: object, _is_new: bool) -> None:
        """Look for memories that were left behind since the chat was shown before."""
        if (session := self._session.session) is not None:
            shown = self._paths.get(session, frozenset())
            self._finds.ask(partial(self._find, session, shown), now=True)

    def _find(self, session: str, shown: frozenset[str]) -> _Found:
        chat = self._assistant.sessions.read(session)
        path = frozenset(entry.id for entry in chat.path())
        left = find_abandoned_memories(chat, self._assistant.customization, shown - path)
        return session, path, left

    def _on_found(self, found: _Found) -> None:
        session, path, memories = found
        self._paths[session] = path
        if not memories:
            return
        question = "Remove this memory? " + memories[0].reason
        button = _REMOVE
        if len(memories) > 1:
            count = plural(len(memories), "memory", "memories")
            question = f"Remove {count}? The messages in which they were added were edited away."
            button = _REMOVE_ALL
        self._notifier.toast(question, (button, partial(self._remove, session, memories)))

    def _remove(self, session: str, memories: Sequence[AbandonedMemory]) -> None:
        task = self._runner.call(lambda: self._forget(session, memories))
        task.yielded.connect(self._on_removed)
        task.failed.connect(self._on_failed)
        task.start()

    def _forget(self, session: str, memories: Sequence[AbandonedMemory]) -> int:
        """Remove the memories that are still there, and return their number."""
        texts = {memory.text for memory in memories}
        note = self._assistant.customization.find_memories(memories[0].project)
        known = list(enumerate(note.list_memories(), start=1))
        found = [number for number, text in reversed(known) if text in texts]
        for number in found:
            note.forget(number)
        return len(found)

    def _on_removed(self, count: int) -> None:
        self._notifier.toast(f"Removed {plural(count, 'memory', 'memories')}.")

    def _on_failed(self, error: Exception) -> None:
        self._notifier.toast(describe(error).message)
