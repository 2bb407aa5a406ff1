"""Unsent messages: one draft for each chat, restored when the chat is opened."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer

from chains.request.ask import Ask
from ui.chat.composer.attachment import Attachment
from ui.controllers.turns import attach_to, list_attachments
from ui.tasks import LatestWriter

__all__ = ["Draft", "DraftStore", "join_messages"]

_SAVED_AFTER_MS = 1_000
_NOTHING = Ask("")
Kept = dict[str, dict[str, object]]


@dataclass(frozen=True)
class Draft:
    """A message in the composer of a chat.

    Attributes:
        ask: what is asked, or one part of it if the message was split. The chat, the mode and the
            model are those of the chat when the message is sent.
        waiting: the texts of the parts that will be sent after this one. Empty if the message was
            not split.
        parts: the total number of parts, or 0 if the message was not split.
    """

    ask: Ask = _NOTHING
    waiting: tuple[str, ...] = ()
    parts: int = 0

    def follow(self, earlier: Ask) -> "Draft":
        """Put an earlier message in front of this one, and return the result.

        The messages are joined. However, if this one is a part of a split message, it is not
        joined, but becomes the next part to send.
        """
        if not self.parts:
            return replace(self, ask=join_messages(earlier, self.ask))
        text = self.ask.question
        waiting = (text, *self.waiting) if text.strip() else self.waiting
        return Draft(earlier, waiting, self.parts)

    def to_dict(self) -> dict[str, object]:
        """Return the draft as a dict that can be written as JSON."""
        attached = [{"target": a.target, "lines": a.lines} for a in list_attachments(self.ask)]
        optional = {
            "reads_whole": self.ask.reads_whole,
            "waiting": self.waiting,
            "parts": self.parts,
        }
        return {"text": self.ask.question, "attached": attached} | {
            name: value for name, value in optional.items() if value
        }


def join_messages(earlier: Ask, later: Ask) -> Ask:
    """Join two messages, with an empty line between their texts and the attachments of both.

    Everything else is that of the earlier message.
    """
    text = f"{earlier.question}\n\n{later.question}" if later.question.strip() else earlier.question
    attach = dict.fromkeys((*earlier.attach, *later.attach))
    selections = dict.fromkeys((*earlier.selections, *later.selections))
    return replace(earlier, question=text, attach=tuple(attach), selections=tuple(selections))


class DraftStore(QObject):
    """Stores the drafts of all chats, and saves them within a second of each change.

    Args:
        kept: the saved drafts by session ID. The draft of a new chat has the key "".
        writer: writes all drafts to disk.
        parent: the Qt parent.
    """

    def __init__(self, kept: Kept, writer: LatestWriter[Kept], parent: QObject) -> None:
        super().__init__(parent)
        self._drafts = {session: _read(draft) for session, draft in kept.items()}
        self._queued: Mapping[str, Ask] = {}
        self._writer = writer
        self._session = ""
        self._timer = QTimer(self, singleShot=True, interval=_SAVED_AFTER_MS)
        self._timer.timeout.connect(self.save)

    def open(self, session: str | None) -> Draft:
        """Return a chat's draft. Later calls of `keep` update this draft.

        Args:
            session: the session ID of the chat, or None for a new chat.
        """
        self._session = session or ""
        return self._drafts.get(self._session, Draft())

    def move(self, session: str, to: str) -> None:
        """Move the draft of a chat that is not there any more behind that of another one, if any.

        Args:
            session: the session ID of the chat.
            to: the session ID of the other one, or an empty string for a new chat.
        """
        if (moved := self._drafts.pop(session, None)) is not None:
            kept = self._drafts.get(to)
            self._drafts[to] = moved if kept is None else moved.follow(kept.ask)
            self._save_soon()

    def begin(self, session: str) -> None:
        """Discard the draft of the new chat, because the chat now has a session ID."""
        if not self._session:
            self._drafts.pop("", None)
            self._session = session

    def keep(self, draft: Draft) -> None:
        """Store the draft of the open chat. An empty draft is removed."""
        if draft == self._drafts.get(self._session, Draft()):
            return
        if draft == Draft():
            self._drafts.pop(self._session, None)
        else:
            self._drafts[self._session] = draft
        self._save_soon()

    def set_queued(self, queued: Mapping[str, Ask]) -> None:
        """Set the queued messages, by session ID.

        Each one is saved in front of its chat's draft, because a queue does not survive a restart.
        """
        if queued != self._queued:
            self._queued = dict(queued)
            self._save_soon()

    def give_back(self, session: str | None, message: Ask) -> None:
        """Put an unsent message in front of the draft of a chat that is not open.

        Args:
            session: the session ID of the chat, or None for a new chat.
            message: the unsent message.
        """
        later = self._drafts.get(session or "", Draft())
        self._drafts[session or ""] = later.follow(message)
        self._save_soon()

    def forget(self, session: str) -> None:
        """Discard the draft of a chat that has been deleted."""
        if self._drafts.pop(session, None) is not None:
            self._save_soon()

    def save(self) -> None:
        """Save all drafts in the background."""
        self._timer.stop()
        found = dict(self._drafts)
        for session, queued in self._queued.items():
            found[session] = found.get(session, Draft()).follow(queued)
        self._writer.put({session: draft.to_dict() for session, draft in found.items()})

    def _save_soon(self) -> None:
        if not self._timer.isActive():  # otherwise nothing would be saved while the user types
            self._timer.start()

    def finish(self) -> None:
        """Save all drafts and wait until they are written to disk."""
        self.save()
        self._writer.flush()


def _read(kept: dict[str, object]) -> Draft:
    text, found = kept.get("text"), kept.get("attached")
    ask = Ask(text if isinstance(text, str) else "", reads_whole=kept.get("reads_whole") is True)
    items = found if isinstance(found, list) else []
    attached = (_attachment(item) for item in items if isinstance(item, dict))
    waiting, parts = kept.get("waiting"), kept.get("parts")
    return Draft(
        attach_to(ask, tuple(item for item in attached if item is not None)),
        tuple(map(str, waiting)) if isinstance(waiting, list) else (),
        parts if isinstance(parts, int) else 0,
    )


def _attachment(item: dict[str, object]) -> Attachment | None:
    target, lines = item.get("target"), item.get("lines")
    if not isinstance(target, str) or not target:
        return None
    if not isinstance(lines, list) or len(lines) != 2:
        return Attachment(target)
    first, last = lines
    is_range = isinstance(first, int) and isinstance(last, int)
    return Attachment(target, (first, last)) if is_range else None
