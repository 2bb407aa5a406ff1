"""Unsent messages: one draft for each chat, restored when the chat is opened."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer

from ui.chat.composer.attachment import Attachment
from ui.tasks import LatestWriter

__all__ = ["DraftStore", "UnsentMessage"]

_SAVED_AFTER_MS = 1_000
Kept = dict[str, dict[str, object]]


@dataclass(frozen=True)
class UnsentMessage:
    """A message that was not sent: a draft, or a message whose sending failed.

    Attributes:
        text: the text of the message, or of one part if the message was split.
        attached: the attachments of the message.
        reads_whole: whether attachments that do not fit into a request are read in parts instead of
            being searched.
        waiting: the texts of the parts that will be sent after this one. Empty if the message was
            not split.
        parts: the total number of parts, or 0 if the message was not split.
    """

    text: str = ""
    attached: tuple[Attachment, ...] = ()
    reads_whole: bool = False
    waiting: tuple[str, ...] = ()
    parts: int = 0

    def before(self, later: "UnsentMessage") -> "UnsentMessage":
        """Combine this message with a later one, and return the result.

        The texts are joined by an empty line. However, if the later message is a part of a split
        message, it is not joined, but becomes the next part to send.
        """
        if later.parts:
            waiting = (later.text, *later.waiting) if later.text.strip() else later.waiting
            return replace(self, waiting=waiting, parts=later.parts)
        text = f"{self.text}\n\n{later.text}" if later.text.strip() else self.text
        others = (item for item in later.attached if item not in self.attached)
        return replace(self, text=text, attached=(*self.attached, *others))

    def to_dict(self) -> dict[str, object]:
        """Return the message as a dict that can be written as JSON."""
        attached = [{"target": item.target, "lines": item.lines} for item in self.attached]
        more = {"reads_whole": self.reads_whole, "waiting": self.waiting, "parts": self.parts}
        return {"text": self.text, "attached": attached} | {
            name: value for name, value in more.items() if value
        }


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
        self._queued: Mapping[str, UnsentMessage] = {}
        self._writer = writer
        self._session = ""
        self._timer = QTimer(self, singleShot=True, interval=_SAVED_AFTER_MS)
        self._timer.timeout.connect(self.save)

    def open(self, session: str | None) -> UnsentMessage:
        """Return a chat's draft. Later calls of `keep` update this draft.

        Args:
            session: the session ID of the chat, or None for a new chat.
        """
        self._session = session or ""
        return self._drafts.get(self._session, UnsentMessage())

    def begin(self, session: str) -> None:
        """Discard the draft of the new chat, because the chat now has a session ID."""
        if not self._session:
            self._drafts.pop("", None)
            self._session = session

    def keep(self, message: UnsentMessage) -> None:
        """Store the draft of the open chat. An empty message removes the draft."""
        if message == self._drafts.get(self._session, UnsentMessage()):
            return
        if message == UnsentMessage():
            self._drafts.pop(self._session, None)
        else:
            self._drafts[self._session] = message
        self._save_soon()

    def set_queued(self, queued: Mapping[str, UnsentMessage]) -> None:
        """Set the queued messages, by session ID.

        Each one is saved in front of its chat's draft, because a queue does not survive a restart.
        """
        if queued != self._queued:
            self._queued = dict(queued)
            self._save_soon()

    def give_back(self, session: str | None, message: UnsentMessage) -> None:
        """Put an unsent message in front of the draft of a chat that is not open.

        Args:
            session: the session ID of the chat, or None for a new chat.
            message: the unsent message.
        """
        later = self._drafts.get(session or "", UnsentMessage())
        self._drafts[session or ""] = message.before(later)
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
            found[session] = queued.before(found.get(session, UnsentMessage()))
        self._writer.put({session: message.to_dict() for session, message in found.items()})

    def _save_soon(self) -> None:
        if not self._timer.isActive():  # otherwise nothing would be saved while the user types
            self._timer.start()

    def finish(self) -> None:
        """Save all drafts and wait until they are written to disk."""
        self.save()
        self._writer.flush()


def _read(draft: dict[str, object]) -> UnsentMessage:
    text, found = draft.get("text"), draft.get("attached")
    items = found if isinstance(found, list) else []
    read = (_attachment(item) for item in items if isinstance(item, dict))
    waiting, parts = draft.get("waiting"), draft.get("parts")
    return UnsentMessage(
        text if isinstance(text, str) else "",
        tuple(item for item in read if item is not None),
        draft.get("reads_whole") is True,
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
